//! The difference of two instances and its cost: for people, as JSON Lines and Markdown.

use std::fmt::Write;

use abide_instance::diff::{ChangeCost, DifferenceKind, InstanceDifference};
use abide_instance::{Notation, REDACTED};
use abide_lint::pluralize;
use abide_schema::Tree;
use abide_source::printable::escape_unprintable;
use abide_syntax::{LineIndex, Position, Span};
use serde_json::{Value, json};

use super::context::{Style, write_styled};
use super::markdown_text::MarkdownText;

/// The report of `abide config diff`.
pub(crate) struct DiffReport<'a> {
    /// The tree with the type of both.
    pub(crate) tree: &'a Tree,
    /// The old file.
    pub(crate) old: DiffSide<'a>,
    /// The new file.
    pub(crate) new: DiffSide<'a>,
    /// The differences.
    pub(crate) differences: &'a [InstanceDifference],
}

/// One of the two files.
pub(crate) struct DiffSide<'a> {
    name: &'a str,
    /// Its text; empty if it is none.
    text: &'a [u8],
    index: LineIndex,
    /// The places of secrets in the text, in their order.
    secrets: Vec<Span>,
}

/// As much of a value is shown as fits beside the other one.
const MAX_SHOWN: usize = 40;

impl<'a> DiffSide<'a> {
    /// A file. Bytes that are no text are not shown, and neither are secrets.
    pub(crate) fn new(
        name: &'a str,
        notation: Notation,
        bytes: &'a [u8],
        secrets: Vec<Span>,
    ) -> DiffSide<'a> {
        let text = if notation == Notation::Binary { &[] } else { bytes };
        DiffSide { name, text, index: LineIndex::new(text), secrets }
    }

    fn position(&self, offset: u32) -> Position {
        self.index.position(self.text, offset.min(self.text.len() as u32))
    }

    /// The file with line and column, if it is a text.
    fn format_place(&self, span: Span) -> String {
        if self.text.is_empty() {
            return escape_unprintable(self.name);
        }
        let start = self.position(span.start);
        format!("{}:{}:{}", escape_unprintable(self.name), start.line, start.column)
    }

    /// Returns the text at a place, without its secrets.
    fn get_redacted_text(&self, span: Span) -> Option<String> {
        let mut text = String::new();
        let mut at = span.start;
        let is_inside = |it: &&Span| it.start < span.end && span.start < it.end;
        for secret in self.secrets.iter().filter(is_inside) {
            if secret.end <= at {
                continue;
            }
            let before = Span { start: at, end: secret.start.max(at) };
            text += &String::from_utf8_lossy(self.text.get(before.range())?);
            if !text.ends_with(REDACTED) {
                text += REDACTED;
            }
            at = secret.end.min(span.end);
        }
        text += &String::from_utf8_lossy(self.text.get(at as usize..span.end as usize)?);
        Some(text)
    }

    /// Returns the text at a place, on one line.
    fn get_text(&self, span: Span) -> Option<String> {
        let text = self.get_redacted_text(span)?;
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ");
        let short: String = text.chars().take(MAX_SHOWN).collect();
        match (text.is_empty(), short.len() < text.len()) {
            (true, _) => None,
            (false, true) => Some(format!("{short}…")),
            (false, false) => Some(short),
        }
    }

    /// The text at a place and the place; an empty cell if the side has no such value.
    fn render_cell(&self, span: Span, has_value: bool) -> MarkdownText {
        let mut cell = MarkdownText::new_cell();
        if has_value {
            if let Some(text) = self.get_text(span) {
                cell.add_code(&text).add_markup("<br>");
            }
            cell.add_words(&self.format_place(span));
        }
        cell
    }

    fn build_json(&self, span: Span, has_text: bool) -> Value {
        let mut side = json!({"path": self.name});
        if !self.text.is_empty() {
            for (key, offset) in [("start", span.start), ("end", span.end)] {
                let position = self.position(offset);
                side[key] = json!({"line": position.line, "column": position.column});
            }
        }
        if let Some(text) = self.get_text(span).filter(|_| has_text) {
            side["text"] = json!(text);
        }
        side
    }
}

/// Returns true for each side that has what differs; the place of the other is what is around it.
fn has_sides(kind: DifferenceKind) -> (bool, bool) {
    (kind != DifferenceKind::Added, kind != DifferenceKind::Removed)
}

fn describe_cost(difference: &InstanceDifference) -> Option<String> {
    let cost = difference.cost?;
    let mut phrase = cost.phrase().to_owned();
    if cost == ChangeCost::HotRestart {
        let services = difference.services.iter();
        let services = services.map(|(service, cost)| format!("by {service} it {}", cost.phrase()));
        let services: Vec<String> = services.collect();
        if !services.is_empty() {
            let _ = write!(phrase, "; {}", services.join("; "));
        }
    }
    Some(phrase)
}

const fn choose_color(cost: ChangeCost) -> &'static str {
    match cost {
        ChangeCost::Nothing | ChangeCost::Live => "32",
        ChangeCost::WarmsCluster | ChangeCost::DrainsFilterChain | ChangeCost::DrainsListener => {
            "33;1"
        }
        ChangeCost::HotRestart => "31;1",
    }
}

/// For people: each change with both places and its cost.
pub(super) fn render_human(report: &DiffReport<'_>, style: Style) -> String {
    let mut out = String::new();
    for difference in report.differences {
        let (has_old, has_new) = has_sides(difference.kind);
        let path = if difference.path.is_empty() { "the whole value" } else { &difference.path };
        write_styled(&mut out, style.color, "1", &escape_unprintable(path));
        // Writing to a string cannot fail.
        let _ = write!(out, " {}", difference.kind.name());
        let old = report.old.get_text(difference.old).filter(|_| has_old);
        let new = report.new.get_text(difference.new).filter(|_| has_new);
        let _ = match (difference.kind, old, new) {
            (DifferenceKind::Changed, Some(old), Some(new)) => {
                write!(out, ": {} to {}", escape_unprintable(&old), escape_unprintable(&new))
            }
            _ => Ok(()),
        };
        let places = [
            has_old.then(|| report.old.format_place(difference.old)),
            has_new.then(|| report.new.format_place(difference.new)),
        ];
        let places: Vec<String> = places.into_iter().flatten().collect();
        let _ = writeln!(out, "\n  {}", places.join(", "));
        if let (Some(cost), Some(phrase)) = (difference.cost, describe_cost(difference)) {
            out.push_str("  ");
            write_styled(&mut out, style.color, choose_color(cost), &phrase);
            out.push('\n');
        }
    }
    if !style.quiet {
        if !report.differences.is_empty() {
            out.push('\n');
        }
        out.push_str(&render_total(report));
        out.push('\n');
    }
    out
}

/// One line about all differences.
fn render_total(report: &DiffReport<'_>) -> String {
    if report.differences.is_empty() {
        return match report.old.text == report.new.text && !report.old.text.is_empty() {
            true => "the files are the same".to_owned(),
            false => "no value changed".to_owned(),
        };
    }
    let changes = pluralize(report.differences.len(), "change");
    match find_worst_cost(report) {
        None => changes,
        Some(cost) if report.differences.len() == 1 => {
            format!("{changes}, which {}", cost.phrase())
        }
        Some(cost) => {
            let count = report.differences.iter().filter(|it| it.cost == Some(cost)).count();
            let all = count == report.differences.len();
            let who = if all { "each".to_owned() } else { format!("{count} of them") };
            let phrase =
                if count == 1 || all { cost.phrase().to_owned() } else { pluralize_cost(cost) };
            format!("{changes}; {who} {phrase}")
        }
    }
}

/// The phrase of a cost after a number of changes.
fn pluralize_cost(cost: ChangeCost) -> String {
    let phrase = cost.phrase();
    match phrase.split_once(' ') {
        Some((verb, rest)) => format!("{} {rest}", verb.strip_suffix('s').unwrap_or(verb)),
        None => phrase.to_owned(),
    }
}

fn find_worst_cost(report: &DiffReport<'_>) -> Option<ChangeCost> {
    report.differences.iter().filter_map(|it| it.cost).max()
}

/// JSON Lines: an `InstanceChange` for each difference, then an `InstanceDiffSummary`.
pub(super) fn json(report: &DiffReport<'_>, _: Style) -> String {
    let mut out = String::new();
    for difference in report.differences {
        let (has_old, has_new) = has_sides(difference.kind);
        let mut line = json!({
            "kind": "change",
            "change": difference.kind.name(),
            "path": difference.path,
        });
        if let Some(field) = difference.field {
            line["element"] = json!(report.tree.field(field).full_name());
        }
        line["old"] = report.old.build_json(difference.old, has_old);
        line["new"] = report.new.build_json(difference.new, has_new);
        if let Some(cost) = difference.cost {
            line["cost"] = json!(cost.name());
        }
        let services = difference.services.iter();
        let services = services.map(|(name, cost)| json!({"service": name, "cost": cost.name()}));
        line["services"] = services.collect();
        let _ = writeln!(out, "{line}");
    }
    let mut summary = json!({"kind": "summary", "changes": report.differences.len()});
    if let Some(cost) = find_worst_cost(report) {
        summary["cost"] = json!(cost.name());
    }
    let _ = writeln!(out, "{summary}");
    out
}

/// A table for a pull request.
pub(super) fn render_markdown(report: &DiffReport<'_>, _: Style) -> String {
    let mut out = MarkdownText::new();
    if !report.differences.is_empty() {
        out.add_markup("| change | old | new | cost |\n|---|---|---|---|\n");
    }
    for difference in report.differences {
        let (has_old, has_new) = has_sides(difference.kind);
        let mut change = MarkdownText::new_cell();
        change.add_words(difference.kind.name()).add_markup(" ").add_code(&difference.path);
        let old = report.old.render_cell(difference.old, has_old);
        let new = report.new.render_cell(difference.new, has_new);
        let mut cost = MarkdownText::new_cell();
        cost.add_words(&describe_cost(difference).unwrap_or_default());
        out.add_row([change, old, new, cost]);
    }
    if !report.differences.is_empty() {
        out.add_markup("\n");
    }
    out.add_words(&render_total(report)).add_markup("\n");
    out.into_text()
}
