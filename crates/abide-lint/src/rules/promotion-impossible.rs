use abide_schema::{Element, Migration};
use abide_upgrade::find_promotion_fault;

use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "promotion-impossible",
    summary: "a field that cannot become a member of the oneof it is promoted to",
    group: Group::Lifecycle,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("promotion-impossible.md"),
    check: Check::Annotated(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    let promotion = element
        .migrations()
        .into_iter()
        .find(|(migration, _)| matches!(migration, Migration::PromoteToOneof(_)));
    let Some((Migration::PromoteToOneof(oneof), place)) = promotion else { return };
    let fault = match element {
        Element::Field(field) => find_promotion_fault(field),
        _ => Some("only fields can be members of a oneof".to_owned()),
    };
    let Some(fault) = fault.filter(|_| context.standings().can_be_upgraded(element.file())) else {
        return;
    };
    let (noun, package) = (element.noun(), element.package());
    let name = element.relative_name();
    let message = format!("{noun} `{name}` cannot be promoted to oneof `{oneof}`: {fault}");
    let finding = sink.report(place, package.name(), element.full_name(), message);
    finding.why("the next major version would not compile").fact(oneof);
    finding.help("remove `promote_to_oneof`, or change what prevents the promotion");
}
