use abide_change::OptionOwner;
use abide_schema::{Cardinality, Element};

use crate::checks::{Resource, exempts};
use crate::rule::{Check, Context, Group, Rule, Sink};

const LIST: [&str; 2] = ["aip:203", "api-linter:core::0203::unordered-list-repeated"];
const IDENTIFIER: [&str; 2] = ["aip:203", "api-linter:core::0203::resource-identifier-only"];
const OPTIONAL: [&str; 2] = ["aip:203", "api-linter:core::0203::optional-conflict"];
const BOTH: [&str; 2] = ["aip:203", "api-linter:core::0203::required-and-optional"];

pub(super) static RULE: Rule = Rule {
    id: "field-behavior-misused",
    summary: "a `google.api.field_behavior` that contradicts its field or another one",
    group: Group::Aip,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&LIST, &IDENTIFIER, &OPTIONAL, &BOTH],
    spares_work_in_progress: true,
    page: include_str!("field-behavior-misused.md"),
    check: Check::Annotated(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::Field(field) = element else { return };
    let set: Vec<&str> = field.behaviors().map(|(it, _)| it).collect();
    let is_name = field.parent().is_some_and(|it| {
        Resource::of(it).is_some_and(|resource| resource.name_field == field.name())
    });
    let mut mistakes: Vec<(&str, &str, &[&'static str; 2])> = Vec::new();
    if set.contains(&"UNORDERED_LIST") && field.cardinality() != Cardinality::Repeated {
        mistakes.push(("UNORDERED_LIST", "is an `UNORDERED_LIST`, but not repeated", &LIST));
    }
    if set.contains(&"IDENTIFIER") && !is_name {
        mistakes.push((
            "IDENTIFIER",
            "is an `IDENTIFIER`, but not the name of a resource",
            &IDENTIFIER,
        ));
    }
    if set.contains(&"OPTIONAL") && set.contains(&"REQUIRED") {
        mistakes.push(("OPTIONAL", "is both `REQUIRED` and `OPTIONAL`", &BOTH));
    } else if set.contains(&"OPTIONAL") && set.contains(&"OUTPUT_ONLY") {
        mistakes.push(("OPTIONAL", "is both `OUTPUT_ONLY` and `OPTIONAL`", &OPTIONAL));
    }
    for (behavior, mistake, aliases) in mistakes {
        if exempts(context, element, aliases) {
            continue;
        }
        let place = field.behaviors().find(|(it, _)| *it == behavior).map(|(_, place)| place);
        let place = place.unwrap_or_else(|| OptionOwner::Element(element).place(None));
        let message = format!("field `{}` {mistake}", field.relative_name());
        sink.report(place, field.package().name(), field.full_name(), message)
            .why("clients and documents are generated from the behavior")
            .help(format!("remove `{behavior}`, or what contradicts it"))
            .fact(behavior)
            .aliases(aliases);
    }
}
