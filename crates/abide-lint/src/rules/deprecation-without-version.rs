use abide_schema::Element;

use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "deprecation-without-version",
    summary: "a deprecated element whose deprecation version is missing",
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
    // This name replaces a removed zero value, and was never in use.
    let was_used = !name.ends_with(".DEPRECATED_AND_UNAVAILABLE_DO_NOT_USE");
    let is_member = matches!(element, Element::Field(_) | Element::EnumValue(_));
    if is_member && was_used && element.deprecated_since().is_none() {
        let message = format!("deprecated {noun} `{name}` has no deprecation version");
        sink.report(place, package, name, message)
            .why("how long it must still be served is counted from that version")
            .help("annotate it with the version that deprecates it, such as `3.4.0`");
    }
}
