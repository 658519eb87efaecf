//! The list of what is deprecated: for people, as JSON Lines and as Markdown.

use std::collections::BTreeSet;
use std::fmt::Write;

use abide_lint::{Deprecated, DeprecationList, Phase, Replacement, Unknown, pluralize};
use abide_source::printable::escape_unprintable;
use jiff::civil::Date;
use serde_json::{Map, Value, json};

use super::context::{Style, describe_users, write_styled};
use super::json_lines::build_user;
use super::json_object::insert_some;
use super::markdown_text::MarkdownText;

/// The title of the file of the list.
pub(crate) const TITLE: &str = "Deprecated elements";

/// The list, and the day of its phases.
pub(crate) struct DeprecationReport<'a, 't> {
    /// The list.
    pub(crate) list: &'a DeprecationList<'t>,
    /// The day.
    pub(crate) as_of: Date,
}

/// For people: each element with its phase on the day.
pub(super) fn render_human(report: &DeprecationReport<'_, '_>, style: Style) -> Vec<u8> {
    let mut text = String::new();
    for (package, entries) in report.list.by_package() {
        write_styled(&mut text, style.color, "1", &package_title(package));
        text.push('\n');
        for entry in entries {
            // Writing to a string cannot fail.
            let _ = write!(text, "  {}", escape_unprintable(&entry.holder.phrase()));
            if let Some(phases) = entry.phases {
                let phase = phases.on(report.as_of);
                text.push_str(": ");
                write_styled(&mut text, style.color, choose_color(phase), describe_phase(phase));
            }
            let successor = match describe_replacement(entry) {
                ReplacementText::Element(name, note) => format!("use {name}{note}"),
                ReplacementText::Advice(advice) => advice.to_owned(),
                ReplacementText::None(phrase) => phrase.to_owned(),
            };
            let _ =
                writeln!(text, "\n    {}; {}", format_since(entry), escape_unprintable(&successor));
            let ahead = list_days_ahead(entry, report.as_of);
            if !ahead.is_empty() {
                let _ = writeln!(text, "    {}", ahead.join(", "));
            }
            if let Some(users) = describe_users(&entry.users) {
                let _ = writeln!(text, "    used by {}", escape_unprintable(&users));
            }
            if let Some(reason) = describe_unknown_days(report.list, entry) {
                let _ = writeln!(text, "    {}", escape_unprintable(&reason));
            }
        }
    }
    if !style.quiet {
        let entries = report.list.entries.len();
        let packages = report.list.by_package().len();
        text += &match entries {
            0 => "nothing is deprecated\n".to_owned(),
            _ => format!(
                "{} in {}\n",
                pluralize(entries, "deprecated element"),
                pluralize(packages, "package")
            ),
        };
    }
    text.into_bytes()
}

/// The colour of a phase: the nearer the end, the more urgent.
const fn choose_color(phase: Phase) -> &'static str {
    match phase {
        Phase::Deprecated => "32",
        Phase::Warned => "33;1",
        Phase::Disallowed | Phase::Removed => "31;1",
    }
}

fn package_title(package: &str) -> String {
    if package.is_empty() { "(no package)".to_owned() } else { escape_unprintable(package) }
}

fn format_since(entry: &Deprecated<'_>) -> String {
    match (entry.since, entry.day) {
        (Some(text), Some(day)) if text != day.to_string() => {
            format!("deprecated since {} ({day})", escape_unprintable(text))
        }
        (Some(text), _) => format!("deprecated since {}", escape_unprintable(text)),
        (None, _) => "deprecated since an unknown day".to_owned(),
    }
}

/// The replacement of an element.
enum ReplacementText<'t> {
    /// Its name, and what to know about it.
    Element(&'t str, &'static str),
    /// The advice in its comment.
    Advice(&'t str),
    /// A phrase that says there is none.
    None(&'static str),
}

fn describe_replacement<'t>(entry: &'t Deprecated<'_>) -> ReplacementText<'t> {
    if entry.replacement == Replacement::Nothing {
        return ReplacementText::None("nothing replaces it");
    }
    let note = match entry.replacement {
        Replacement::NoEquivalent => ", which is not equivalent",
        Replacement::Equivalent | Replacement::Nothing => "",
    };
    match (&entry.replaced_by, &entry.advice) {
        (Some(full), _) => ReplacementText::Element(strip_package(entry, full), note),
        (None, Some(advice)) => ReplacementText::Advice(advice),
        (None, None) => ReplacementText::None("no replacement is named"),
    }
}

/// A full name without the package that both elements are in.
fn strip_package<'n>(entry: &Deprecated<'_>, full: &'n str) -> &'n str {
    let rest = full.trim_start_matches('.');
    let own = rest.strip_prefix(entry.package()).and_then(|rest| rest.strip_prefix('.'));
    own.unwrap_or(rest)
}

/// Lists the phases that are still to come on a day.
fn list_days_ahead(entry: &Deprecated<'_>, as_of: Date) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(phases) = entry.phases {
        let days = [
            (Phase::Warned, Some(phases.warned)),
            (Phase::Disallowed, phases.disallowed),
            (Phase::Removed, phases.removed),
        ];
        for (phase, day) in days {
            match day {
                Some(day) if day > as_of => {
                    parts.push(format!("{} from {day}", describe_phase(phase)))
                }
                None if phase == Phase::Removed && entry.waits_for_major => {
                    parts.push("removed in the next major".to_owned());
                }
                _ => {}
            }
        }
    }
    parts.extend(entry.served_until.map(|day| match (entry.is_retired, day < as_of) {
        (true, true) => format!("was served until {day}"),
        (true, false) => format!("served until {day}"),
        (false, true) => "served until the next major has replaced this one".to_owned(),
        (false, false) => format!("served at least until {day}"),
    }));
    parts
}

/// Says what happens to an element when a phase begins.
const fn describe_phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Removed => "removed from clients",
        phase => phase.words(),
    }
}

/// Says why the days of an entry are not known, where the policy would count from them.
fn describe_unknown_days(list: &DeprecationList<'_>, entry: &Deprecated<'_>) -> Option<String> {
    let reason = entry.unknown().filter(|_| list.has_phases)?;
    Some(match reason {
        Unknown::Since => "its days are unknown: nothing says since when it is deprecated; set \
                           `deprecated_at`"
            .to_owned(),
        Unknown::DayOf(version) => format!(
            "its days are unknown: write the day of `{version}` into `version-dates` of [calendar]"
        ),
    })
}

/// JSON Lines: one object per element, then a summary.
pub(super) fn render_json(report: &DeprecationReport<'_, '_>, _: Style) -> Vec<u8> {
    let mut out = String::new();
    for entry in &report.list.entries {
        let _ = writeln!(out, "{}", build_object(report, entry));
    }
    let summary = json!({
        "kind": "summary",
        "as_of": report.as_of.to_string(),
        "deprecations": report.list.entries.len(),
        "packages": report.list.by_package().len(),
        "deprecated": count_in(report, Phase::Deprecated),
        "warned": count_in(report, Phase::Warned),
        "disallowed": count_in(report, Phase::Disallowed),
        "removed": count_in(report, Phase::Removed),
        "unknown": report.list.entries.iter().filter(|it| it.unknown().is_some()).count(),
    });
    let _ = writeln!(out, "{summary}");
    out.into_bytes()
}

fn build_object(report: &DeprecationReport<'_, '_>, entry: &Deprecated<'_>) -> Value {
    let mut object = Map::new();
    let file = entry.holder.file();
    insert_some(&mut object, "kind", Some("deprecation".into()));
    insert_some(
        &mut object,
        "package",
        Some(entry.package()).filter(|it| !it.is_empty()).map(Value::from),
    );
    insert_some(&mut object, "element", Some(entry.holder.full_name().into()));
    insert_some(&mut object, "path", Some((*file.decl().display).into()));
    if let Some((start, _)) = file.decl().line_range(entry.place.span) {
        insert_some(
            &mut object,
            "start",
            Some(json!({ "line": start.line, "column": start.column })),
        );
    }
    insert_some(&mut object, "since", entry.since.map(Value::from));
    insert_some(&mut object, "since_day", entry.day.map(day_value));
    insert_some(&mut object, "replaced_by", entry.replaced_by.as_deref().map(Value::from));
    insert_some(&mut object, "advice", entry.advice.as_deref().map(Value::from));
    let is_named = entry.replaced_by.is_some() || entry.advice.is_some();
    let replacement = match entry.replacement {
        Replacement::Equivalent => is_named.then_some("equivalent"),
        Replacement::NoEquivalent => Some("no-equivalent"),
        Replacement::Nothing => Some("nothing"),
    };
    insert_some(&mut object, "replacement", replacement.map(Value::from));
    if let Some(phases) = entry.phases {
        insert_some(&mut object, "phase", Some(phases.on(report.as_of).word().into()));
        insert_some(&mut object, "warned_on", Some(day_value(phases.warned)));
        insert_some(&mut object, "disallowed_on", phases.disallowed.map(day_value));
        insert_some(&mut object, "removed_on", phases.removed.map(day_value));
    }
    insert_some(&mut object, "removal", entry.waits_for_major.then(|| "next-major".into()));
    let served = if entry.is_retired { "served_until" } else { "served_at_least_until" };
    insert_some(&mut object, served, entry.served_until.map(day_value));
    if !entry.users.is_empty() {
        let users = entry.users.iter().map(build_user).collect();
        insert_some(&mut object, "users", Some(users));
    }
    insert_some(&mut object, "unknown", describe_unknown_days(report.list, entry).map(Value::from));
    Value::Object(object)
}

/// Counts the elements in a phase.
fn count_in(report: &DeprecationReport<'_, '_>, phase: Phase) -> usize {
    let phases = report.list.entries.iter().filter_map(|entry| entry.phases);
    phases.filter(|phases| phases.on(report.as_of) == phase).count()
}

fn day_value(day: Date) -> Value {
    day.to_string().into()
}

/// The whole list as Markdown. It names days and no phase of today.
pub(super) fn render_markdown(report: &DeprecationReport<'_, '_>, _: Style) -> Vec<u8> {
    format!("# {TITLE}\n\n{}", render_tables(report.list)).into_bytes()
}

/// Returns true if [`render_tables`] may write such a line: an edit is none.
pub(crate) fn is_of_tables(line: &str) -> bool {
    let starts = ["## ", "|", NOTHING, SINCE_UNKNOWN, DAY_UNKNOWN];
    starts.into_iter().any(|it| line.starts_with(it))
}

const NOTHING: &str = "Nothing is deprecated.";
const SINCE_UNKNOWN: &str = "Nothing says since when some of them are deprecated";
const DAY_UNKNOWN: &str = "The day of ";

/// A table for each package.
pub(crate) fn render_tables(list: &DeprecationList<'_>) -> String {
    if list.entries.is_empty() {
        return format!("{NOTHING}\n");
    }
    let is_served = list.entries.iter().any(|it| it.served_until.is_some());
    let mut head = vec!["element", "since", "replacement"];
    if list.has_phases {
        head.extend([
            "warned about from",
            "disallowed by default from",
            "removed from clients from",
        ]);
    }
    if is_served {
        head.push("served at least until");
    }
    let is_used = list.entries.iter().any(|it| !it.users.is_empty());
    if is_used {
        head.push("used by");
    }
    let mut out = MarkdownText::new();
    for (at, (package, entries)) in list.by_package().into_iter().enumerate() {
        out.add_markup(if at > 0 { "\n## " } else { "## " });
        match package {
            "" => out.add_markup("Files without a package"),
            name => out.add_code(name),
        };
        out.add_markup("\n\n").add_row(head.iter().map(|title| cell(title))).add_markup("|");
        for _ in &head {
            out.add_markup("---|");
        }
        out.add_markup("\n");
        let mut reasons = BTreeSet::new();
        for entry in entries {
            let mut cells = vec![name_cell(entry), since_cell(entry), replacement_cell(entry)];
            if list.has_phases {
                cells.extend(phase_cells(entry).iter().map(|words| cell(words)));
            }
            if is_served {
                let day = entry.served_until.map(|it| it.to_string());
                cells.push(cell(day.as_deref().unwrap_or("unknown")));
            }
            if is_used {
                cells.push(cell(&describe_users(&entry.users).unwrap_or_default()));
            }
            out.add_row(cells);
            reasons.extend(entry.unknown().filter(|_| list.has_phases).map(render_reason));
        }
        for reason in reasons {
            out.add_markup("\n").add(reason).add_markup("\n");
        }
    }
    out.into_text()
}

/// Says why days are unknown, for the elements of a table.
fn render_reason(unknown: Unknown<'_>) -> MarkdownText {
    let mut out = MarkdownText::new();
    match unknown {
        Unknown::Since => out.add_markup(SINCE_UNKNOWN).add_markup(": set `deprecated_at`."),
        Unknown::DayOf(version) => {
            out.add_markup(DAY_UNKNOWN).add_code(version);
            out.add_markup(" is unknown: write it into `version-dates` of `[calendar]`.")
        }
    };
    out
}

/// A cell with these words.
fn cell(words: &str) -> MarkdownText {
    let mut cell = MarkdownText::new_cell();
    cell.add_words(words);
    cell
}

/// The days on which clients warn, refuse and remove an element.
fn phase_cells(entry: &Deprecated<'_>) -> [String; 3] {
    let Some(phases) = entry.phases else { return std::array::from_fn(|_| "unknown".to_owned()) };
    let removed = match phases.removed {
        None if entry.waits_for_major => "in the next major".to_owned(),
        day => day_or_held(day),
    };
    [phases.warned.to_string(), day_or_held(phases.disallowed), removed]
}

/// A day; without one, an end to deprecations holds it back.
fn day_or_held(day: Option<Date>) -> String {
    day.map_or_else(|| "held back".to_owned(), |day| day.to_string())
}

fn name_cell(entry: &Deprecated<'_>) -> MarkdownText {
    let mut cell = MarkdownText::new_cell();
    match entry.holder {
        abide_change::OptionOwner::File(file) => cell.add_markup("file ").add_code(file.path()),
        abide_change::OptionOwner::Element(it) => {
            cell.add_words(it.noun()).add_markup(" ").add_code(&it.relative_name())
        }
    };
    cell
}

fn since_cell(entry: &Deprecated<'_>) -> MarkdownText {
    let mut cell = MarkdownText::new_cell();
    cell.add_prose(entry.since.unwrap_or("unknown"));
    if let (Some(text), Some(day)) = (entry.since, entry.day.map(|it| it.to_string()))
        && text != day
    {
        cell.add_markup(" (").add_words(&day).add_markup(")");
    }
    cell
}

fn replacement_cell(entry: &Deprecated<'_>) -> MarkdownText {
    let mut cell = MarkdownText::new_cell();
    match describe_replacement(entry) {
        ReplacementText::Element(name, note) => {
            cell.add_markup("use ").add_code(name).add_markup(note)
        }
        ReplacementText::Advice(advice) => cell.add_prose(advice),
        ReplacementText::None(phrase) => cell.add_markup(phrase),
    };
    cell
}
