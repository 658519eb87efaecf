use abide_schema::Element;
use abide_validate::find_facet_places;

use crate::lifecycle::is_deprecated;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "string-length-in-bytes",
    summary: "a string whose minimum length is given in bytes (`min_bytes`)",
    group: Group::Style,
    severity: None,
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("string-length-in-bytes.md"),
    check: Check::Annotated(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let Element::Field(field) = element else { return };
    let (name, package) = (field.full_name(), field.package());
    for place in find_facet_places(field, "min_bytes") {
        if context.is_frozen(package) || is_deprecated(element) {
            return;
        }
        let shown = field.relative_name();
        let message = format!("the minimum length of string field `{shown}` is in bytes");
        sink.report(place, package.name(), name.as_str(), message)
            .why("a limit in bytes says little about a text: a character takes one to four bytes")
            .help("use `min_len`, which counts characters; for 1 both mean the same");
    }
}
