//! Draws the package DAG as SVG 1.1, with CSS that follows the viewer's theme, and
//! without scripts or external resources.

use std::fmt::{self, Display, Write};

use abide_schema::{DependencyLevel, Package};

use super::placement::{Placement, Route, lay_out};
use super::{COLOURS, Drawing, DrawnEdge, class, label};

/// The space around everything.
const MARGIN: i64 = 32;
/// The height of the part above the boxes: the count and the legend.
const HEAD: i64 = 76;
/// The base lines of both.
const COUNT: i64 = -58;
const LEGEND: i64 = -32;
/// The most columns in a line of a box.
const COLUMNS: usize = 36;
/// The most lines before the last one.
const LINES: usize = 3;
/// The height of the lines of a box, and of the space above and below them.
const LINE: i64 = 13;
const LAST_LINE: i64 = 17;
const PADDING: i64 = 8;
/// Where text starts in a box, after the bar that shows the stability.
const INDENT: i64 = 14;

const STYLE: &str = include_str!("svg.css");

impl<'t, 'r> Drawing<'t, 'r> {
    /// With `for_script`, boxes and edges are numbered for a script.
    pub(super) fn svg(&self, out: &mut String, for_script: bool) -> fmt::Result {
        let names: Vec<BoxName<'_>> = self.packages.iter().map(|&it| BoxName::of(it)).collect();
        let width = names.iter().map(BoxName::width).max().unwrap_or(0);
        let heights: Vec<i64> = names.iter().map(BoxName::height).collect();
        let index = |package: &Package<'t>| self.packages.binary_search(package).ok();
        let edges: Vec<(usize, usize, &DrawnEdge<'t, 'r>)> = self
            .edges
            .iter()
            .filter_map(|edge| Some((index(&edge.from)?, index(&edge.to)?, edge)))
            .collect();
        let ends: Vec<(usize, usize)> = edges.iter().map(|&(from, to, _)| (from, to)).collect();
        let layout = lay_out(width, &heights, &ends);

        let count = format!(
            "{} and {}",
            counted(self.packages.len(), "package", "packages"),
            counted(self.edges.len(), "dependency", "dependencies"),
        );
        let legend = self.legend(&layout);
        // A drawing that is narrower than the head is centred below it.
        let head = legend.right.max(columns(&count) as i64 * 10);
        let overhang = (head - (layout.right - layout.left)).max(0);
        let start = layout.left - overhang / 2;
        let (left, top) = (start - MARGIN, -HEAD - MARGIN);
        let across = layout.right - layout.left + overhang + 2 * MARGIN;
        let down = layout.bottom + MARGIN - top;
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{left} {top} {across} {down}\" \
             width=\"{across}\" height=\"{down}\" role=\"img\" aria-label=\"{count}\">",
        )?;
        write!(out, "<style>\n{STYLE}</style>\n<defs>\n")?;
        for marker in ["tip", "tip-closes", "tip-broken"] {
            writeln!(
                out,
                "<marker id=\"{marker}\" class=\"{marker}\" viewBox=\"0 0 8 8\" refX=\"7.5\" \
                 refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" \
                 orient=\"auto\"><path d=\"M0 .8L8 4L0 7.2z\"/></marker>",
            )?;
        }
        out.push_str("</defs>\n");
        writeln!(
            out,
            "<rect class=\"page\" x=\"{left}\" y=\"{top}\" width=\"{across}\" height=\"{down}\"/>",
        )?;
        writeln!(out, "<g transform=\"translate({start})\">")?;
        writeln!(out, "<text class=\"count\" y=\"{COUNT}\">{count}</text>\n{}</g>", legend.text)?;
        out.push_str("<g class=\"edges\">\n");
        let (mut uses, mut used) = (vec![0; names.len()], vec![0; names.len()]);
        for (&(from, to, edge), route) in edges.iter().zip(&layout.routes) {
            (uses[from], used[to]) = (uses[from] + 1, used[to] + 1);
            let (x, y) = layout.boxes[from];
            let ends = for_script.then_some((from, to));
            self.edge(out, (edge, ends), route, (x + width, y + heights[from] / 2))?;
        }
        out.push_str("</g>\n<g class=\"boxes\">\n");
        for (index, (name, &(x, y))) in names.iter().zip(&layout.boxes).enumerate() {
            let counts = (uses[index], used[index]);
            name.draw(out, (x, y, width), counts, for_script.then_some(index))?;
        }
        out.push_str("</g>\n</svg>\n");
        Ok(())
    }

    /// Draws an edge; an edge from a box to itself is at the right end of the box.
    fn edge(
        &self,
        out: &mut String,
        (edge, ends): (&DrawnEdge<'_, '_>, Option<(usize, usize)>),
        route: &Route,
        (right, middle): (i64, i64),
    ) -> fmt::Result {
        let classes = [
            ("idle", edge.is_idle()),
            ("closes", route.closes),
            ("broken", !edge.broken.is_empty()),
        ];
        let classes: Vec<&str> = classes.iter().filter(|it| it.1).map(|it| it.0).collect();
        out.push_str("<path");
        if !classes.is_empty() {
            write!(out, " class=\"{}\"", classes.join(" "))?;
        }
        if let Some((from, to)) = ends {
            write!(out, " data-from=\"{from}\" data-to=\"{to}\"")?;
        }
        out.push_str(" d=\"");
        if route.runs.is_empty() {
            let (out_at, in_at, far) = (middle - 5, middle + 5, right + 20);
            write!(
                out,
                "M{right} {out_at}C{far} {} {far} {} {right} {in_at}",
                out_at - 8,
                in_at + 8
            )?;
        } else {
            way(out, route)?;
        }
        write!(out, "\"><title>{} \u{2192} {}", Xml(label(edge.from)), Xml(label(edge.to)))?;
        if route.closes {
            out.push_str("\ncloses a cycle");
        }
        for reason in &edge.broken {
            write!(out, "\nbreaks the policy: {}", Xml(reason))?;
        }
        for (level, count, used) in &edge.levels {
            let place = used.place();
            let decl = self.tree.file(place.file).decl();
            write!(out, "\n{}: {}", level.word(), Xml(&decl.display))?;
            if let Some((start, _)) = decl.line_range(place.span) {
                write!(out, ":{}:{}", start.line, start.column)?;
            }
            if *level != DependencyLevel::Import {
                write!(out, " {}", Xml(&used.user()))?;
            }
            write!(out, " \u{2192} {}", Xml(&used.target()))?;
            if *count > 1 {
                write!(out, ", and {} more", count - 1)?;
            }
        }
        out.push_str("</title></path>\n");
        Ok(())
    }

    /// Returns what the colours and the dashes of this drawing mean.
    fn legend(&self, layout: &Placement) -> Legend {
        let mut legend = Legend::default();
        for (word, _) in COLOURS {
            if self.packages.iter().any(|&package| class(package) == word) {
                legend.node(word, word);
            }
        }
        if self.packages.iter().any(|package| !package.is_judged()) {
            legend.node("imported", "only imported");
        }
        if self.edges.iter().any(DrawnEdge::is_idle) {
            legend.edge("idle", "unused import");
        }
        if layout.routes.iter().any(|route| route.closes) {
            legend.edge("closes", "closes a cycle");
        }
        if self.edges.iter().any(|edge| !edge.broken.is_empty()) {
            legend.edge("broken", "breaks the policy");
        }
        legend
    }
}

/// A route as path data, in the direction of the edge.
fn way(out: &mut String, route: &Route) -> fmt::Result {
    let runs = route.runs.iter().map(|run| (run.x, run.top, run.bottom));
    let runs: Vec<(i64, i64, i64)> = if route.closes {
        runs.rev().map(|(x, top, bottom)| (x, bottom, top)).collect()
    } else {
        runs.collect()
    };
    let mut pen = None;
    for (x, start, end) in runs {
        match pen {
            None => write!(out, "M{x} {start}")?,
            Some((from, y)) => {
                let middle = (y + start) / 2;
                write!(out, "C{from} {middle} {x} {middle} {x} {start}")?;
            }
        }
        if start != end {
            write!(out, "V{end}")?;
        }
        pen = Some((x, end));
    }
    Ok(())
}

/// A package as its box shows it: the enclosing packages in small letters, and
/// below them its own part of the name.
struct BoxName<'t> {
    package: Package<'t>,
    lines: Vec<String>,
    own: String,
    version: String,
}

impl<'t> BoxName<'t> {
    fn of(package: Package<'t>) -> BoxName<'t> {
        let name = label(package);
        let version = package.version().map_or("", |version| version.text.as_str());
        let (unversioned, version) = match name.strip_suffix(version) {
            Some(rest) if rest.ends_with('.') => (rest, version),
            _ => (name, ""),
        };
        let own = unversioned.trim_end_matches('.').rfind('.').map_or(0, |dot| dot + 1);
        let (outer, own) = unversioned.split_at(own);
        let mut lines = lines(outer);
        if lines.len() > LINES {
            let left_out = lines.len() - LINES + 1;
            lines.splice(..left_out, ["\u{2026}".to_owned()]);
        }
        let room = COLUMNS.saturating_sub(columns(version));
        BoxName {
            package,
            lines,
            own: shortened(own, room),
            version: shortened(version, COLUMNS / 2),
        }
    }

    /// Its width, for a usual font with columns six tenths as wide as high.
    fn width(&self) -> i64 {
        let outer = self.lines.iter().map(|line| columns(line) * 60).max().unwrap_or(0);
        let own = (columns(&self.own) + columns(&self.version)) * 75;
        (outer.max(own) / 10) as i64 + INDENT + 12
    }

    fn height(&self) -> i64 {
        self.lines.len() as i64 * LINE + LAST_LINE + 2 * PADDING
    }

    fn draw(
        &self,
        out: &mut String,
        (x, y, width): (i64, i64, i64),
        (uses, used): (usize, usize),
        number: Option<usize>,
    ) -> fmt::Result {
        let (class, height) = (class(self.package), self.height());
        let imported = if self.package.is_judged() { "" } else { " imported" };
        let name = Xml(label(self.package));
        write!(out, "<g class=\"{class}{imported}\"")?;
        if let Some(number) = number {
            write!(out, " data-node=\"{number}\" data-name=\"{name}\"")?;
        }
        writeln!(out, "><title>{name}")?;
        match self.package.version() {
            Some(version) => write!(out, "{}, {}", Xml(&version.text), version.stability)?,
            None => out.push_str(class),
        }
        let imported = if self.package.is_judged() { "" } else { ", only imported" };
        writeln!(out, "{imported}\nuses {uses}, used by {used}</title>")?;
        writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"5\"/>\
             <path d=\"M{} {}v{}\"/>",
            x + 6,
            y + 7,
            height - 14,
        )?;
        out.push_str("<text>");
        let left = x + INDENT;
        let mut base = y + PADDING - 3;
        for line in &self.lines {
            base += LINE;
            write!(out, "<tspan x=\"{left}\" y=\"{base}\">{}</tspan>", Xml(line))?;
        }
        base += LAST_LINE - 1;
        write!(out, "<tspan class=\"own\" x=\"{left}\" y=\"{base}\">{}</tspan>", Xml(&self.own))?;
        if !self.version.is_empty() {
            write!(out, "<tspan class=\"version\">{}</tspan>", Xml(&self.version))?;
        }
        out.push_str("</text></g>\n");
        Ok(())
    }
}

/// A name as lines that end at dots, where that is possible.
fn lines(name: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut room = 0;
    for part in name.split_inclusive('.') {
        let part = shortened(part, COLUMNS);
        let needed = columns(&part);
        match lines.last_mut() {
            Some(line) if needed <= room => line.push_str(&part),
            _ => {
                room = COLUMNS;
                lines.push(part);
            }
        }
        room -= needed;
    }
    lines
}

/// As much of a text as fits.
fn shortened(text: &str, room: usize) -> String {
    if columns(text) <= room {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut taken = 1;
    for character in text.chars() {
        taken += column(character);
        if taken > room {
            break;
        }
        short.push(character);
    }
    short.push('\u{2026}');
    short
}

fn columns(text: &str) -> usize {
    text.chars().map(column).sum()
}

/// Names are ASCII; other characters in a descriptor set are at most twice as
/// wide.
fn column(character: char) -> usize {
    if character.is_ascii() { 1 } else { 2 }
}

/// Entries from the left to the right.
#[derive(Default)]
struct Legend {
    text: String,
    right: i64,
}

impl Legend {
    fn node(&mut self, class: &str, word: &str) {
        let (x, y) = (self.right, LEGEND - 11);
        let rect = format!("<rect x=\"{x}\" y=\"{y}\" width=\"20\" height=\"14\" rx=\"3\"/>");
        self.entry(&format!("<g class=\"boxes\"><g class=\"{class}\">{rect}</g></g>"), word);
    }

    fn edge(&mut self, class: &str, word: &str) {
        let (x, y) = (self.right, LEGEND - 4);
        let path = format!("<path class=\"{class}\" d=\"M{x} {y}h22\"/>");
        self.entry(&format!("<g class=\"edges\">{path}</g>"), word);
    }

    fn entry(&mut self, sign: &str, word: &str) {
        let x = self.right + 28;
        self.text +=
            &format!("{sign}<text class=\"word\" x=\"{x}\" y=\"{LEGEND}\">{word}</text>\n");
        self.right = x + columns(word) as i64 * 7 + 22;
    }
}

/// A text in XML 1.0. A mark replaces the characters that XML cannot hold (section
/// 2.2) and those that change the direction of the text after them.
struct Xml<'a>(&'a str);

impl Display for Xml<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\u{fffe}' | '\u{ffff}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                    f.write_char(char::REPLACEMENT_CHARACTER)?;
                }
                c if c.is_control() => f.write_char(char::REPLACEMENT_CHARACTER)?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
