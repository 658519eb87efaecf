use abide_schema::{Element, Part};
use abide_upgrade::find_unconverted;

use crate::calendar::Replacement;
use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "conversion-missing",
    summary: "an element that the next major drops without a conversion of its values",
    group: Group::Lifecycle,
    severity: Some(Severity::Note),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("conversion-missing.md"),
    check: Check::Tree(check),
};

fn check<'t>(context: &Context<'t>, sink: &mut Sink) {
    for found in find_unconverted(context.upgrade_basis()) {
        let element = found.element;
        let name = element.full_name();
        // Nobody expects a conversion of what is dropped.
        let class = context.policy.deprecation.replacement(&name);
        if class != Replacement::Equivalent {
            continue;
        }
        let (noun, package) = (element.noun(), element.package().name());
        let message = format!("no conversion is known for the {noun} `{name}`: {}", found.reason);
        let finding = sink.report(element.place(Part::Name), package, name, message);
        finding.why("`abide release` refuses to remove it, since users would lose what they set");
        let (annotation, replacement) = match element {
            Element::Field(_) => ("field", "a field of the same message with the same type"),
            Element::EnumValue(_) => ("enum_value", "a value of the same enum"),
            other => (other.noun(), "what to use instead"),
        };
        finding.help(format!(
            "name {replacement} in its comment, as in `Deprecated: use NAME`; or in its \
             `{annotation}_policy`, set `replaced_by` to that, or `lossy` to the reason why values \
             get lost; or list it in `lossy` of [upgrade]"
        ));
        if let Some(place) = element.deprecated() {
            finding.label(place, "the next major version does not have it");
        }
    }
}
