//! The package DAG as text: for Graphviz, for Mermaid, as JSON, as a drawing.

mod layout;
mod svg;

use std::collections::BTreeMap;
use std::fmt::{self, Display, Write};

use abide_schema::{Graph, Level, Package, Stability, Tree, Use, api_name};

/// What a drawing of the packages shows.
#[derive(Clone, Copy, Debug, Default)]
pub struct GraphView {
    /// Also the packages that are not judged, as far as judged ones reach them.
    pub imported: bool,
}

/// What is drawn: packages, and the edges between them.
struct Drawing<'t> {
    tree: &'t Tree,
    packages: Vec<Package<'t>>,
    edges: Vec<Edge<'t>>,
}

struct Edge<'t> {
    from: Package<'t>,
    to: Package<'t>,
    /// How often, and the first evidence, at each level that there is.
    levels: Vec<(Level, u32, Use<'t>)>,
}

impl Edge<'_> {
    fn words(&self) -> String {
        let words: Vec<&str> = self.levels.iter().map(|(level, ..)| level.word()).collect();
        words.join(", ")
    }

    /// Whether nothing of what is imported is used.
    fn is_idle(&self) -> bool {
        self.levels.iter().all(|(level, ..)| *level == Level::Import)
    }
}

impl GraphView {
    fn drawing<'t>(self, graph: &Graph<'t>) -> Drawing<'t> {
        let tree = graph.tree();
        let judged = tree.packages().filter(|it| it.is_judged());
        let shown = if self.imported {
            let mut shown = vec![false; tree.packages().len()];
            let mut open: Vec<Package<'t>> = judged.collect();
            while let Some(package) = open.pop() {
                if !std::mem::replace(&mut shown[package.id.0 as usize], true) {
                    open.extend(graph.edges_of(package).map(|edge| edge.to));
                }
            }
            tree.packages().filter(|it| shown[it.id.0 as usize]).collect()
        } else {
            judged.collect::<Vec<_>>()
        };
        let edges = shown.iter().flat_map(|&package| graph.edges_of(package));
        let edges = edges.filter(|edge| shown.binary_search(&edge.to).is_ok()).map(|edge| {
            let level = |level| Some((level, edge.counts().at(level), edge.evidence(level)?));
            Edge {
                from: edge.from,
                to: edge.to,
                levels: Level::ALL.into_iter().filter_map(level).collect(),
            }
        });
        Drawing { tree, edges: edges.collect(), packages: shown }
    }

    /// For Graphviz: a cluster for each API, colours by stability.
    pub fn dot(self, graph: &Graph<'_>) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.drawing(graph).dot(&mut text);
        text
    }

    /// For Mermaid, as GitHub draws it: a subgraph for each API.
    pub fn mermaid(self, graph: &Graph<'_>) -> String {
        let mut text = String::new();
        let _ = self.drawing(graph).mermaid(&mut text);
        text
    }

    /// As one JSON object: packages, and edges with their evidence.
    pub fn json(self, graph: &Graph<'_>) -> String {
        let mut text = String::new();
        let _ = self.drawing(graph).json(&mut text);
        text
    }

    /// As a drawing in SVG, light or dark as its viewer is, which needs nothing
    /// else: who depends stands above what it depends on, and each edge tells its
    /// first evidence.
    pub fn svg(self, graph: &Graph<'_>) -> String {
        let mut text = String::new();
        let _ = self.drawing(graph).svg(&mut text);
        text
    }
}

impl<'t> Drawing<'t> {
    /// The packages by API, in the order of names; those of an API with a
    /// single version, and those without one, stand alone.
    fn clusters(&self) -> Vec<(Option<String>, Vec<Package<'t>>)> {
        let mut apis: BTreeMap<String, Vec<Package<'t>>> = BTreeMap::new();
        let mut alone = Vec::new();
        for &package in &self.packages {
            match api_name(package.name()) {
                Some(api) => apis.entry(api).or_default().push(package),
                None => alone.push((None, vec![package])),
            }
        }
        let clusters = apis.into_iter().map(|(api, packages)| {
            let several = packages.len() > 1;
            (several.then_some(api), packages)
        });
        clusters.chain(alone).collect()
    }

    fn dot(&self, out: &mut String) -> fmt::Result {
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
            writeln!(
                out,
                "  {} -> {} [tooltip={}{style}];",
                Quoted(label(edge.from)),
                Quoted(label(edge.to)),
                Quoted(&edge.words()),
            )?;
        }
        out.push_str("}\n");
        Ok(())
    }

    fn mermaid(&self, out: &mut String) -> fmt::Result {
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
        for (class, colour) in COLOURS {
            writeln!(out, "  classDef {class} fill:{colour},stroke:#555,color:#111;")?;
        }
        Ok(())
    }

    fn json(&self, out: &mut String) -> fmt::Result {
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
            if let Some(api) = api_name(package.name()) {
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
                if let Some((start, _)) = decl.lines(place.span) {
                    let (line, column) = (start.line, start.column);
                    write!(out, ",\"start\":{{\"line\":{line},\"column\":{column}}}")?;
                }
                let (user, target) = (used.user(), used.target());
                write!(out, ",\"element\":{},\"target\":{}}}", Json(&user), Json(&target))?;
            }
            out.push('}');
        }
        out.push_str("]}\n");
        Ok(())
    }
}

/// What a package is called in a drawing.
fn label(package: Package<'_>) -> &str {
    if package.name().is_empty() { "(no package)" } else { package.name() }
}

const COLOURS: [(&str, &str); 4] =
    [("stable", "#b7e1cd"), ("beta", "#fde9a9"), ("alpha", "#f6b8a6"), ("unversioned", "#e0e0e0")];

fn class(package: Package<'_>) -> &'static str {
    match package.version().map(|version| version.stability) {
        Some(Stability::Stable) => "stable",
        Some(Stability::Beta) => "beta",
        Some(Stability::Alpha) => "alpha",
        None => "unversioned",
    }
}

fn colour(package: Package<'_>) -> &'static str {
    let class = class(package);
    COLOURS.iter().find(|(name, _)| *name == class).map_or("white", |(_, colour)| colour)
}

/// A string of the DOT language, whose only escapes that count are those of
/// the quote and the backslash.
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

/// A label of Mermaid: what is not plain is an entity code.
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
