use abide_schema::Element;

use crate::calendar::{dated, is_before_protobuf, parse_date};
use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};
use crate::wording::backtick;

pub(super) static RULE: Rule = Rule {
    id: "deprecation-version-malformed",
    summary: "a deprecation version that is neither a version nor a day",
    group: Group::Lifecycle,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("deprecation-version-malformed.md"),
    check: Check::Annotated(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Some((text, place)) =
        element.deprecated_since().filter(|_| !context.is_frozen(element.package()))
    else {
        return;
    };
    let is_day = parse_date(text).is_some_and(|it| !is_before_protobuf(it));
    if is_day || dated(text).is_some() {
        return;
    }
    let (name, noun) = (element.full_name(), element.noun());
    let message = format!(
        "{noun} `{name}` has the malformed deprecation version {text}",
        text = backtick(text)
    );
    sink.report(place, element.package().name(), name, message)
        .why("how long it must still be served is counted from that version")
        .help("write a version, such as `3.4.0` or `3.4`, or a day, such as `2026-03-31`")
        .fact(text);
}
