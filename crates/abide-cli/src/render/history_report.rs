//! Renders a history as a table, as JSON Lines or as an HTML page.

use abide_lint::{Severity, pluralize};
use abide_source::printable::escape_unprintable;
use serde_json::{Map, Value, json};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::context::{Style, write_styled};
use super::element_lives;
use super::json_object::insert;
use super::release_history;
use crate::history::{CommitRow, PackageRow, PackageVerdict, TreeHistory, VerdictReason};

mod page;

pub(super) use page::render_html;

/// The number of reasons that are shown per row without `--verbose`.
const REASONS: usize = 3;

/// A moment in UTC, in the format of RFC 3339.
fn format_moment(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds).unwrap_or_default().to_string()
}

/// The start of a commit id, long enough to be unique in any repository.
fn shorten_id(id: &str) -> &str {
    id.get(..10).unwrap_or(id)
}

/// The table: the newest commit first, with its packages below it.
pub(super) fn render_human(history: &TreeHistory, style: Style) -> Vec<u8> {
    if let Some(releases) = &history.releases {
        return release_history::render_human(releases, style);
    }
    if let Some(lives) = &history.lives {
        return element_lives::render_human(lives, element_lives::EARLIER, style).into_bytes();
    }
    let mut out = String::new();
    let names = history
        .commits
        .iter()
        .flat_map(|commit| &commit.packages)
        .filter(|row| is_shown(row, style));
    let names = names.map(|row| format_name(row).width()).max().unwrap_or(0);
    // A name that does not fit into the column gets a line of its own.
    let column = names.min(style.width.saturating_sub(44).max(16));
    for commit in history.commits.iter().rev() {
        let mut rows = commit.packages.iter().filter(|row| is_shown(row, style)).peekable();
        if rows.peek().is_none() {
            continue;
        }
        let date = &format_moment(commit.seconds)[..10];
        let head = format!("{} {date} ", shorten_id(&commit.id));
        let rest = style.width.saturating_sub(head.len());
        write_styled(&mut out, style.color, "33", shorten_id(&commit.id));
        out.push_str(&format!(
            " {date} {}\n",
            truncate_to_width(&escape_unprintable(&commit.subject), rest)
        ));
        for row in rows {
            write_row(&mut out, row, column, style);
        }
    }
    if !style.quiet {
        out.push_str(&render_total(history));
    }
    out.into_bytes()
}

/// Returns true if people see the row.
fn is_shown(row: &PackageRow, style: Style) -> bool {
    match row.verdict {
        PackageVerdict::None => style.verbose || row.from != row.to,
        PackageVerdict::Compatible | PackageVerdict::Breaking => !style.quiet,
        PackageVerdict::Refused | PackageVerdict::Unlinked => true,
    }
}

fn format_name(row: &PackageRow) -> String {
    if row.package.is_empty() {
        "(no package)".to_owned()
    } else {
        escape_unprintable(&row.package)
    }
}

fn write_row(out: &mut String, row: &PackageRow, column: usize, style: Style) {
    let package = format_name(row);
    out.push_str("  ");
    out.push_str(&package);
    if package.width() > column {
        out.push_str("\n  ");
        out.push_str(&" ".repeat(column));
    } else {
        out.push_str(&" ".repeat(column - package.width()));
    }
    let code = match row.verdict {
        PackageVerdict::None => "2",
        PackageVerdict::Compatible => "32",
        PackageVerdict::Breaking => "33;1",
        PackageVerdict::Refused => "31;1",
        PackageVerdict::Unlinked => "35;1",
    };
    out.push_str("  ");
    write_styled(out, style.color, code, &format!("{:<10}", row.verdict.word()));
    out.push_str(&format!("  {}", format_versions(row)));
    out.push('\n');
    let grave = matches!(
        row.verdict,
        PackageVerdict::Breaking | PackageVerdict::Refused | PackageVerdict::Unlinked
    );
    let reasons: Vec<&VerdictReason> = row
        .reasons
        .iter()
        .filter(|reason: &&VerdictReason| {
            style.verbose || grave && (reason.severity == Severity::Error || reason.breaks)
        })
        .collect();
    let most = if style.verbose { reasons.len() } else { REASONS };
    for reason in reasons.iter().take(most) {
        let text = format!("{}: {}", reason.rule, escape_unprintable(&reason.message));
        out.push_str(&format!(
            "      {}\n",
            truncate_to_width(&text, style.width.saturating_sub(6))
        ));
    }
    if reasons.len() > most {
        out.push_str(&format!("      and {} more\n", reasons.len() - most));
    }
}

fn format_versions(row: &PackageRow) -> String {
    let recorded = if row.recorded { " (recorded)" } else { "" };
    match (&row.from, &row.to) {
        (Some(from), Some(to)) if from == to => format!("{to}{recorded}"),
        (Some(from), Some(to)) => format!("{from} → {to}{recorded}"),
        (None, Some(to)) => format!("+ {to}{recorded}"),
        (Some(from), None) => format!("{from} → gone"),
        (None, None) => String::new(),
    }
}

/// The start of a text that fits the width.
fn truncate_to_width(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let mut start: String = text
        .chars()
        .take_while(|c: &char| {
            let wide = c.width().unwrap_or(0);
            let fits = wide <= left;
            left = left.saturating_sub(wide);
            fits
        })
        .collect();
    start.push('…');
    start
}

fn count(history: &TreeHistory, verdict: PackageVerdict) -> usize {
    let rows = history.commits.iter().flat_map(|commit| &commit.packages);
    rows.filter(|row| row.verdict == verdict).count()
}

fn count_packages(history: &TreeHistory) -> usize {
    let rows = history.commits.iter().flat_map(|commit| &commit.packages);
    rows.map(|row| &row.package).collect::<std::collections::BTreeSet<_>>().len()
}

/// The summary line.
fn render_total(history: &TreeHistory) -> String {
    let verdicts = [
        PackageVerdict::Refused,
        PackageVerdict::Breaking,
        PackageVerdict::Unlinked,
        PackageVerdict::Compatible,
    ];
    let found: Vec<String> = verdicts
        .into_iter()
        .filter(|verdict| count(history, *verdict) > 0)
        .map(|verdict| format!("{} {}", count(history, verdict), verdict.word()))
        .collect();
    let found = if found.is_empty() { "no change of meaning".to_owned() } else { found.join(", ") };
    format!(
        "{} of {} affected {}: {found}\n",
        history.commits.len(),
        pluralize(history.walked, "commit"),
        pluralize(count_packages(history), "package"),
    )
}

/// JSON Lines: the oldest commit first, each followed by its packages, then the summary.
pub(super) fn render_json(history: &TreeHistory, _: Style) -> Vec<u8> {
    if let Some(releases) = &history.releases {
        return release_history::render_json(releases);
    }
    if let Some(lives) = &history.lives {
        return element_lives::render_json(lives).into_bytes();
    }
    let mut lines: Vec<Value> = Vec::new();
    for commit in &history.commits {
        lines.push(json!({
            "kind": "commit",
            "commit": commit.id,
            "date": format_moment(commit.seconds),
            "subject": commit.subject,
            "packages": commit.packages.len(),
        }));
        for row in &commit.packages {
            lines.push(build_package(commit, row));
        }
    }
    let mut summary = Map::new();
    summary.insert("kind".to_owned(), "summary".into());
    summary.insert("walked".to_owned(), history.walked.into());
    summary.insert("commits".to_owned(), history.commits.len().into());
    summary.insert("packages".to_owned(), count_packages(history).into());
    for verdict in PackageVerdict::ALL {
        summary.insert(verdict.word().to_owned(), count(history, verdict).into());
    }
    lines.push(Value::Object(summary));
    lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}

fn build_package(commit: &CommitRow, row: &PackageRow) -> Value {
    let mut object = Map::new();
    insert(&mut object, "kind", "package".into());
    insert(&mut object, "commit", commit.id.as_str().into());
    insert(&mut object, "package", row.package.as_str().into());
    insert(&mut object, "verdict", row.verdict.word().into());
    insert(&mut object, "required", row.required.name().into());
    for (key, version) in [("from", &row.from), ("to", &row.to)] {
        if let Some(version) = version {
            insert(&mut object, key, version.to_string().into());
        }
    }
    if row.recorded {
        insert(&mut object, "recorded", true.into());
    }
    for (keys, hashes) in
        [(["own_old", "closure_old"], row.before), (["own", "closure"], row.after)]
    {
        if let Some(hashes) = hashes {
            insert(&mut object, keys[0], hashes.own.to_string().into());
            insert(&mut object, keys[1], hashes.closure.to_string().into());
        }
    }
    let reasons: Vec<Value> = row.reasons.iter().map(build_reason).collect();
    if !reasons.is_empty() {
        insert(&mut object, "reasons", reasons.into());
    }
    Value::Object(object)
}

fn build_reason(reason: &VerdictReason) -> Value {
    let mut value = json!({
        "rule": reason.rule,
        "severity": reason.severity.word(),
        "element": reason.element,
        "message": reason.message,
    });
    if let Value::Object(object) = &mut value {
        if let Some(bump) = reason.bump {
            object.insert("bump".to_owned(), bump.name().into());
        }
        if reason.breaks {
            object.insert("breaks".to_owned(), true.into());
        }
    }
    value
}
