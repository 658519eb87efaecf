//! Drawings in the languages of other tools: Graphviz, Mermaid, JSON.

use std::fmt::{self, Display, Write};

use abide_schema::format_api_name;

use super::{COLOURS, Drawing, class, colour, label};

impl Drawing<'_, '_> {
    pub(super) fn dot(&self, out: &mut String) -> fmt::Result {
        out.push_str("digraph packages {\n  rankdir=LR;\n");
        out.push_str("  node [shape=box, style=filled, fontname=\"sans-serif\"];\n");
        for (index, (api, packages)) in self.clusters().into_iter().enumerate() {
            let indent = if api.is_some() { "    " } else { "  " };
            if let Some(api) = &api {
                writeln!(out, "  subgraph cluster_{index} {{\n    label={};", Quoted(api))?;
            }
            for package in packages {
                let (fill, dashed) =
                    (colour(package), if package.is_judged() { "" } else { ",dashed" });
                writeln!(
                    out,
                    "{indent}{} [fillcolor=\"{fill}\", style=\"filled{dashed}\"];",
                    Quoted(label(package)),
                )?;
            }
            if api.is_some() {
                out.push_str("  }\n");
            }
        }
        for edge in &self.edges {
            let style = if edge.is_idle() { ", style=dashed" } else { "" };
            let colour = if edge.broken.is_empty() { "" } else { ", color=\"#d1242f\"" };
            let said = [&[&*edge.words()], &*edge.broken].concat().join("; ");
            writeln!(
                out,
                "  {} -> {} [tooltip={}{style}{colour}];",
                Quoted(label(edge.from)),
                Quoted(label(edge.to)),
                Quoted(&said),
            )?;
        }
        out.push_str("}\n");
        Ok(())
    }

    pub(super) fn mermaid(&self, out: &mut String) -> fmt::Result {
        out.push_str("flowchart LR\n");
        for (index, (api, packages)) in self.clusters().into_iter().enumerate() {
            let indent = if api.is_some() { "    " } else { "  " };
            if let Some(api) = &api {
                writeln!(out, "  subgraph api{index} [\"{}\"]", Entities(api))?;
            }
            for package in packages {
                let (id, class) = (package.id.0, class(package));
                writeln!(out, "{indent}p{id}[\"{}\"]:::{class}", Entities(label(package)))?;
            }
            if api.is_some() {
                out.push_str("  end\n");
            }
        }
        for edge in &self.edges {
            let arrow = if edge.is_idle() { "-.->" } else { "-->" };
            writeln!(out, "  p{} {arrow} p{}", edge.from.id.0, edge.to.id.0)?;
        }
        for (number, edge) in self.edges.iter().enumerate() {
            if !edge.broken.is_empty() {
                writeln!(out, "  linkStyle {number} stroke:#d1242f")?;
            }
        }
        for (class, colour) in COLOURS {
            writeln!(out, "  classDef {class} fill:{colour},stroke:#555,color:#111;")?;
        }
        Ok(())
    }

    pub(super) fn json(&self, out: &mut String) -> fmt::Result {
        out.push_str("{\"packages\":[");
        for (index, &package) in self.packages.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(out, "{comma}\n{{\"name\":{}", Json(package.name()))?;
            if let Some(version) = package.version() {
                write!(
                    out,
                    ",\"version\":{},\"stability\":\"{}\"",
                    Json(&version.text),
                    version.stability,
                )?;
            }
            if let Some(api) = format_api_name(package.name()) {
                write!(out, ",\"api\":{}", Json(&api))?;
            }
            write!(out, ",\"judged\":{}}}", package.is_judged())?;
        }
        out.push_str("],\n\"edges\":[");
        for (index, edge) in self.edges.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let (from, to) = (Json(edge.from.name()), Json(edge.to.name()));
            write!(out, "{comma}\n{{\"from\":{from},\"to\":{to}")?;
            for (level, count, used) in &edge.levels {
                let place = used.place();
                let decl = self.tree.file(place.file).decl();
                let path = Json(&decl.display);
                write!(out, ",\"{}\":{{\"count\":{count},\"path\":{path}", level.word())?;
                if let Some((start, _)) = decl.line_range(place.span) {
                    let (line, column) = (start.line, start.column);
                    write!(out, ",\"start\":{{\"line\":{line},\"column\":{column}}}")?;
                }
                let (user, target) = (used.user(), used.target());
                write!(out, ",\"element\":{},\"target\":{}}}", Json(&user), Json(&target))?;
            }
            if !edge.broken.is_empty() {
                let reasons: Vec<String> =
                    edge.broken.iter().map(|it| Json(it).to_string()).collect();
                write!(out, ",\"breaks_policy\":[{}]", reasons.join(","))?;
            }
            out.push('}');
        }
        out.push_str("]}\n");
        Ok(())
    }
}

/// A string of the DOT language, in which only the quote and the backslash need
/// escapes.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' | '\r' => f.write_char(' ')?,
                _ => f.write_char(character)?,
            }
        }
        f.write_char('"')
    }
}

/// A label of Mermaid, with entity codes for special characters.
struct Entities<'a>(&'a str);

impl Display for Entities<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            if character.is_alphanumeric() || matches!(character, '.' | '_' | ' ' | '(' | ')' | '*')
            {
                f.write_char(character)?;
            } else {
                write!(f, "#{};", u32::from(character))?;
            }
        }
        Ok(())
    }
}

/// A string of JSON (RFC 8259, section 7).
struct Json<'a>(&'a str);

impl Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                c if c < ' ' => write!(f, "\\u{:04x}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}
