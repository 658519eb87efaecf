use abide_schema::Element;

use crate::dates::parse_date;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "deprecation-without-version",
    summary: "a deprecated element whose deprecation version is missing or malformed",
    group: Group::Lifecycle,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("deprecation-without-version.md"),
    check: Check::Annotated(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Some(place) = element.deprecated().filter(|_| !context.is_frozen(element.package())) else {
        return;
    };
    let (name, noun, package) = (element.full_name(), element.noun(), element.package().name());
    match element.deprecated_since() {
        Some((text, place)) if !is_minor_version(text) && parse_date(text).is_none() => {
            let message = format!(
                "deprecated {noun} `{name}` has the malformed deprecation version `{text}`"
            );
            sink.report(place, package, name, message)
                .help("write a minor version, such as `3.4`, or a date, such as `2026-03-31`")
                .fact(text);
        }
        // This name replaces a removed zero value, and was never in use.
        None if name.ends_with(".DEPRECATED_AND_UNAVAILABLE_DO_NOT_USE") => {}
        None if matches!(element, Element::Field(_) | Element::EnumValue(_)) => {
            let message = format!("deprecated {noun} `{name}` has no deprecation version");
            sink.report(place, package, name, message)
                .why("how long it must still be served is counted from that version")
                .help("annotate it with the minor version that deprecates it, such as `3.4`");
        }
        _ => {}
    }
}

/// `X.Y`, where `X` is at least 1.
fn is_minor_version(text: &str) -> bool {
    let number =
        |text: &str| text.bytes().all(|it| it.is_ascii_digit()).then(|| text.parse().ok())?;
    let (major, minor): (Option<u32>, Option<u32>) = match text.split_once('.') {
        Some((major, minor)) => (number(major), number(minor)),
        None => return false,
    };
    major.is_some_and(|it| it > 0) && minor.is_some()
}
