//! What each release breaks of those before it: for people, and as JSON Lines.

use std::fmt::Write;

use abide_lint::{Finding, Severity, pluralize};
use abide_source::printable::escape_unprintable;
use serde_json::{Map, Value, json};

use super::context::{Style, write_styled};
use super::json_object::insert_some;
use crate::history::ReleaseRow;

/// The releases that a finding is about; one that names none is about the one before.
fn list_broken<'f>(finding: &'f Finding, before: &'f str) -> Vec<&'f str> {
    let names = finding.baselines.iter().map(|it| it.name.strip_prefix("git:").unwrap_or(&it.name));
    let names: Vec<&str> = names.collect();
    if names.is_empty() { vec![before] } else { names }
}

/// Each release with the one before it.
fn iter_with_last(rows: &[ReleaseRow]) -> impl DoubleEndedIterator<Item = (&ReleaseRow, &str)> {
    let last = |at: usize| at.checked_sub(1).map_or("", |it| rows[it].name.as_str());
    rows.iter().enumerate().map(move |(at, row)| (row, last(at)))
}

fn count_all(rows: &[ReleaseRow], severity: Severity) -> usize {
    rows.iter().map(|it| it.count(severity)).sum()
}

/// For people: the newest release first, with what it breaks.
pub(super) fn render_human(rows: &[ReleaseRow], style: Style) -> Vec<u8> {
    let mut text = String::new();
    for (row, before) in iter_with_last(rows).rev() {
        write_styled(&mut text, style.color, "33", &escape_unprintable(&row.name));
        // Writing to a string cannot fail.
        let _ = match row.day {
            Some(day) => writeln!(text, " {day}"),
            None => writeln!(text),
        };
        for finding in &row.findings {
            let color = if finding.severity == Severity::Error { "31;1" } else { "33;1" };
            text.push_str("  ");
            write_styled(&mut text, style.color, color, finding.severity.word());
            let since = list_broken(finding, before).join(", ");
            let said = format!("{}: {}", finding.rule, finding.message);
            let _ = writeln!(
                text,
                "  {} (breaks {})",
                escape_unprintable(&said),
                escape_unprintable(&since)
            );
        }
    }
    if !style.quiet {
        let _ = writeln!(
            text,
            "{}: {}, {}",
            pluralize(rows.len(), "release"),
            pluralize(count_all(rows, Severity::Error), "error"),
            pluralize(count_all(rows, Severity::Warning), "warning")
        );
    }
    text.into_bytes()
}

/// JSON Lines: the oldest release first, each followed by its findings, then a summary.
pub(super) fn render_json(rows: &[ReleaseRow]) -> Vec<u8> {
    let mut lines: Vec<Value> = Vec::new();
    for (row, before) in iter_with_last(rows) {
        let mut object = Map::new();
        insert_some(&mut object, "kind", Some("release".into()));
        insert_some(&mut object, "release", Some(row.name.as_str().into()));
        insert_some(&mut object, "date", row.day.map(|it| it.to_string().into()));
        insert_some(&mut object, "errors", Some(row.count(Severity::Error).into()));
        insert_some(&mut object, "warnings", Some(row.count(Severity::Warning).into()));
        lines.push(object.into());
        lines.extend(row.findings.iter().map(|finding| {
            json!({
                "kind": "release-break",
                "release": row.name,
                "package": finding.package,
                "element": finding.element,
                "rule": finding.rule,
                "severity": finding.severity.word(),
                "message": finding.message,
                "baselines": list_broken(finding, before),
            })
        }));
    }
    lines.push(json!({
        "kind": "summary",
        "releases": rows.len(),
        "errors": count_all(rows, Severity::Error),
        "warnings": count_all(rows, Severity::Warning),
    }));
    lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}
