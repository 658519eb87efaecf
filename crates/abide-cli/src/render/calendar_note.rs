//! Renders the calendar: release dates, windows, and what happens next.

use std::fmt::Write;

use abide_lint::{Deprecation, Phase, PhaseFreeze, Retirement, Status};
use abide_source::printable::escape_unprintable;
use jiff::civil::Date;
use serde_json::{Map, Value, json};

use super::context::Style;
use super::json_object::insert_some;

/// The number of deprecations that are shown without `--verbose`.
const DEPRECATIONS: usize = 5;

/// The calendar for people; empty if none is configured.
pub(super) fn render_human(status: &Status<'_>, style: Style) -> String {
    let mut text = String::new();
    if style.quiet || !status.is_configured() {
        return text;
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "calendar as of {}:", status.as_of);
    let releases = [("client", status.client_release), ("API", status.api_release)];
    for (what, day) in releases {
        let _ = day.map(|day| writeln!(text, "  next {what} release: {day}"));
    }
    if let Some(window) = status.major_window {
        let _ = match status.major_may_rise() {
            true => writeln!(text, "  window for new majors: open until {}", window.closes),
            false => {
                writeln!(text, "  window for new majors: {} to {}", window.opens, window.closes)
            }
        };
    }
    for Retirement { package, successor, since, end } in &status.retirements {
        let (name, next) =
            (escape_unprintable(package.name()), escape_unprintable(successor.name()));
        let today = status.as_of;
        let ends = if *end < today { "was" } else { "is" };
        let follows = if *since > today { "will be stable on" } else { "has been stable since" };
        let _ = writeln!(text, "  {name} {ends} supported until {end}: {next} {follows} {since}");
    }
    let count = if style.verbose { status.deprecations.len() } else { DEPRECATIONS };
    if let Some(freeze) = status.freeze {
        let until = freeze.until.map(|day| format!(" until {day}")).unwrap_or_default();
        let _ = writeln!(text, "  frozen{until}: nothing more becomes disallowed by default");
    }
    for it in status.deprecations.iter().take(count) {
        let name = it.element.full_name();
        let retired = status.retirements.iter().find(|of| of.package == it.element.package());
        let successor = retired.map(|of| of.successor.name());
        let _ = write!(
            text,
            "  {}: {}",
            escape_unprintable(&name),
            describe_next_phase(it, successor, status.as_of)
        );
        let _ = write!(text, ", deprecated since {}", it.phases.deprecated);
        let _ = it.served_until.map(|day| write!(text, ", served until {day}"));
        text.push('\n');
    }
    if status.deprecations.len() > count {
        let _ = writeln!(text, "  and {} more (-v)", status.deprecations.len() - count);
    }
    text
}

/// Says what happens next to a deprecated element, or what has happened. `successor` is the next
/// major version of its package, if there is one.
fn describe_next_phase(it: &Deprecation<'_>, successor: Option<&str>, as_of: Date) -> String {
    if let Some((phase, day)) = it.phases.next(as_of) {
        return format!("{} from {day}", phase.words());
    }
    let phase = it.phases.on(as_of);
    match (phase, it.phases.removed) {
        (Phase::Removed, Some(day)) => format!("due for removal since {day}"),
        (Phase::Disallowed, _) if it.waits_for_major => {
            let next = successor.map_or_else(|| "the next major".to_owned(), escape_unprintable);
            format!("{}, removed in {next}", phase.words())
        }
        _ => phase.words().to_owned(),
    }
}

/// The report of `abide calendar` for people: everything, or where to begin.
pub(super) fn render_report(status: &Status<'_>, style: Style) -> Vec<u8> {
    match status.is_configured() {
        true => render_human(status, Style { quiet: false, verbose: true, ..style }).into_bytes(),
        false => {
            let text = "no calendar: set `client-releases` and `api-releases` in [calendar] of \
                        abide.toml\n";
            text.as_bytes().to_vec()
        }
    }
}

/// The report of `abide calendar` as one line of JSON.
pub(super) fn render_line(status: &Status<'_>, _: Style) -> Vec<u8> {
    format!("{}\n", build_object(status)).into_bytes()
}

/// The calendar as a JSON object; `None` if none is configured.
pub(super) fn render_json(status: &Status<'_>) -> Option<Value> {
    status.is_configured().then(|| build_object(status))
}

fn build_object(status: &Status<'_>) -> Value {
    let mut object = Map::new();
    object.insert("kind".to_owned(), "calendar".into());
    object.insert("as_of".to_owned(), day_value(status.as_of));
    insert_some(&mut object, "client_release", status.client_release.map(day_value));
    insert_some(&mut object, "api_release", status.api_release.map(day_value));
    insert_some(
        &mut object,
        "major_window",
        status.major_window.map(
            |it: abide_lint::Window| json!({"opens": day_value(it.opens), "closes": day_value(it.closes)}),
        ),
    );
    insert_some(
        &mut object,
        "freeze",
        status.freeze.map(|it: PhaseFreeze| {
            let days = [("from", it.from), ("until", it.until)].into_iter();
            days.filter_map(|(key, day)| Some((key.to_owned(), day_value(day?))))
                .collect::<Map<_, _>>()
                .into()
        }),
    );
    insert_some(&mut object, "major_may_rise", Some(status.major_may_rise().into()));
    insert_some(
        &mut object,
        "retirements",
        Some(
            status
                .retirements
                .iter()
                .map(|it: &Retirement<'_>| {
                    json!({
                        "package": it.package.name(),
                        "successor": it.successor.name(),
                        "since": day_value(it.since),
                        "end": day_value(it.end),
                    })
                })
                .collect(),
        ),
    );
    insert_some(
        &mut object,
        "deprecations",
        Some(status.deprecations.iter().map(|it| build_deprecation(it, status.as_of)).collect()),
    );
    Value::Object(object)
}

fn build_deprecation(it: &Deprecation<'_>, as_of: Date) -> Value {
    let mut object = Map::new();
    object.insert("element".to_owned(), it.element.full_name().into());
    object.insert("since".to_owned(), day_value(it.phases.deprecated));
    object.insert("phase".to_owned(), it.phases.on(as_of).word().into());
    if let Some((phase, day)) = it.phases.next(as_of) {
        object.insert("next_phase".to_owned(), phase.word().into());
        object.insert("next_on".to_owned(), day_value(day));
    }
    if it.waits_for_major {
        object.insert("removal".to_owned(), "next-major".into());
    }
    object.extend(it.served_until.map(|day| ("served_until".to_owned(), day_value(day))));
    Value::Object(object)
}

fn day_value(day: Date) -> Value {
    day.to_string().into()
}
