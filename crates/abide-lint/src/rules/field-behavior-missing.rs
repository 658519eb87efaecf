use std::collections::BTreeSet;

use abide_schema::{Element, Message, Package, Part};

use crate::checks::{Resource, exempts};
use crate::rule::{Check, Context, Group, Rule, Sink};

const REQUIRED: [&str; 2] = ["aip:203", "api-linter:core::0203::field-behavior-required"];

pub(super) static RULE: Rule = Rule {
    id: "field-behavior-missing",
    summary: "a field of a request without `google.api.field_behavior`",
    group: Group::Aip,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&REQUIRED],
    spares_work_in_progress: true,
    page: include_str!("field-behavior-missing.md"),
    check: Check::Package(check),
};

/// One of these says whether a caller may or must set the field.
const SUFFICIENT: [&str; 4] = ["OPTIONAL", "REQUIRED", "OUTPUT_ONLY", "IMMUTABLE"];

fn check<'t>(context: &Context<'t>, package: Package<'t>, sink: &mut Sink) {
    let judged = package.files().filter(|file| file.is_judged());
    let methods = judged.flat_map(|file| file.services()).flat_map(|it| it.methods());
    let mut open: Vec<Message<'t>> = methods.filter_map(|method| method.input()).collect();
    open.reverse();
    let mut seen = BTreeSet::new();
    while let Some(message) = open.pop() {
        // Types of other packages are theirs to document.
        if message.package().id != package.id || !seen.insert(message.id) {
            continue;
        }
        for field in message.fields() {
            let inner = field.message_type().filter(|it| !it.is_map_entry());
            open.extend(inner);
            // The name of a resource is its identity, and its `etag` is never required.
            let excused =
                Resource::of(message).is_some() && matches!(field.name(), "name" | "etag");
            let says = field.behaviors().any(|(it, _)| SUFFICIENT.contains(&it));
            let element = Element::Field(field);
            if excused
                || says
                || field.oneof().is_some()
                || !field.file().is_judged()
                || exempts(context, element, &REQUIRED)
            {
                continue;
            }
            let name = field.relative_name();
            let message = format!("field `{name}` does not say whether a request must set it");
            sink.report(field.place(Part::Name), package.name(), field.full_name(), message)
                .why("a field that is required later breaks callers that never set it")
                .help(
                    "set `(google.api.field_behavior)` to `REQUIRED`, `OPTIONAL` or `OUTPUT_ONLY`",
                )
                .aliases(&REQUIRED);
        }
    }
}
