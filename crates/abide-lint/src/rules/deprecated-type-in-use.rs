use abide_schema::{Element, Part};

use crate::finding::Severity;
use crate::lifecycle::is_deprecated;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "deprecated-type-in-use",
    summary: "a field or method that uses a deprecated type but is not deprecated itself",
    group: Group::Lifecycle,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("deprecated-type-in-use.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    for (used, part) in collect_used_types(element).into_iter().flatten() {
        if !is_deprecated(used) || is_deprecated(element) || context.is_frozen(element.package()) {
            continue;
        }
        let (name, noun, target) = (element.full_name(), element.noun(), used.full_name());
        let message = format!("{noun} `{name}` uses the deprecated type `{target}`");
        let finding = sink.report(element.place(part), element.package().name(), name, message);
        finding.why(format!("users of the {noun} cannot stop using the type")).fact(target);
        finding.help(format!("deprecate the {noun} too, and add one with another type"));
        if let Some(place) = used.deprecated() {
            finding.label(place, "deprecated here");
        }
        if !context.has_candidate(element.package()) {
            finding.severity = Severity::Warning;
            finding.severity_reason = Some("its package has no candidate yet".to_owned());
        }
    }
}

/// The types that an element refers to, and which part of it names them.
fn collect_used_types(element: Element<'_>) -> [Option<(Element<'_>, Part)>; 2] {
    match element {
        Element::Field(field) if field.parent().is_some_and(|it| it.is_map_entry()) => [None, None],
        Element::Field(field) => {
            let entry = field.message_type().filter(|_| field.is_map());
            let value = entry.and_then(|entry| entry.field_numbered(2)).unwrap_or(field);
            let message = value.message_type().map(Element::Message);
            let used = message.or(value.enum_type().map(Element::Enum));
            [used.map(|used| (used, Part::Type)), None]
        }
        Element::Method(method) => [(method.input(), Part::Input), (method.output(), Part::Output)]
            .map(|(ty, part)| Some((Element::Message(ty?), part))),
        _ => [None, None],
    }
}
