//! Where code uses elements: for people, as JSON Lines, and as a file of uses.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use abide_change::CodeUse;
use abide_lint::pluralize;
use abide_source::printable::escape_unprintable;
use jiff::civil::Date;
use serde_json::{Map, Value, json};

use super::context::{Style, write_styled};
use super::json_object::insert_some;

/// The uses of elements in code.
pub(crate) struct UsesReport<'a> {
    /// The files of code, in the order of their paths.
    pub(crate) files: &'a [FileUses<'a>],
    /// The release of the client.
    pub(crate) release: Option<&'a str>,
    /// The last day on which the code runs.
    pub(crate) last: Option<Date>,
}

/// The uses in a file.
pub(crate) struct FileUses<'a> {
    /// Its path.
    pub(crate) path: &'a str,
    /// The client that it belongs to.
    pub(crate) client: &'a str,
    /// The uses, in the order of the lines.
    pub(crate) uses: BTreeSet<CodeUse>,
}

impl UsesReport<'_> {
    fn iter(&self) -> impl Iterator<Item = (&FileUses<'_>, &CodeUse)> {
        self.files.iter().flat_map(|file| file.uses.iter().map(move |it| (file, it)))
    }

    fn count_elements(&self) -> usize {
        self.iter().map(|(_, it)| it.element.as_str()).collect::<BTreeSet<&str>>().len()
    }
}

/// For people: each place with its element.
pub(super) fn render_human(report: &UsesReport<'_>, style: Style) -> Vec<u8> {
    let mut text = String::new();
    for (file, found) in report.iter() {
        let place = escape_unprintable(&format!("{}:{}", file.path, found.line));
        write_styled(&mut text, style.color, "1", &place);
        // Writing to a string cannot fail.
        let _ = writeln!(text, ": {} ({})", found.element, escape_unprintable(&found.symbol));
    }
    if !style.quiet {
        let _ = writeln!(
            text,
            "{} of {} in {}",
            pluralize(report.iter().count(), "use"),
            pluralize(report.count_elements(), "element"),
            pluralize(report.files.len(), "file")
        );
    }
    text.into_bytes()
}

/// JSON Lines: an object for each place, then a summary.
pub(super) fn render_json(report: &UsesReport<'_>, _: Style) -> Vec<u8> {
    let mut text = String::new();
    for (file, found) in report.iter() {
        let object = json!({
            "kind": "use",
            "element": found.element,
            "client": file.client,
            "path": file.path,
            "line": found.line,
            "symbol": found.symbol,
        });
        let _ = writeln!(text, "{object}");
    }
    let summary = json!({
        "kind": "summary",
        "uses": report.iter().count(),
        "elements": report.count_elements(),
        "files": report.files.len(),
    });
    let _ = writeln!(text, "{summary}");
    text.into_bytes()
}

/// The file of uses that `[usage] files` reads: an object for each element and client.
pub(super) fn render_lines(report: &UsesReport<'_>, _: Style) -> Vec<u8> {
    let mut counts: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for (file, found) in report.iter() {
        *counts.entry((&found.element, file.client)).or_default() += 1;
    }
    let mut text = String::new();
    for ((element, client), count) in counts {
        let mut object = Map::new();
        insert_some(&mut object, "element", Some(element.into()));
        insert_some(&mut object, "client", Some(client.into()));
        insert_some(&mut object, "release", report.release.map(Value::from));
        insert_some(&mut object, "last", report.last.map(|it| it.to_string().into()));
        insert_some(&mut object, "count", Some(count.into()));
        let _ = writeln!(text, "{}", Value::Object(object));
    }
    text.into_bytes()
}
