use abide_schema::Element;
use abide_upgrade::clashes;

use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "migration-name-taken",
    summary: "a migration to a name that something else has",
    group: Group::Lifecycle,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("migration-name-taken.md"),
    check: Check::Element(check),
};

fn check<'t>(context: &Context<'t>, element: Element<'t>, sink: &mut Sink) {
    if !context.standings().concerns(element.file()) {
        return;
    }
    for clash in clashes(element) {
        let (noun, name) = (clash.element.noun(), clash.element.full_name());
        let message = format!(
            "the {noun} `{name}` migrates to the name `{}`, which {} has in the next version",
            clash.name, clash.holder,
        );
        let package = element.package().name();
        let finding = sink.report(clash.place, package, name, message);
        finding.why("the next major version would not compile").fact(clash.name);
        finding.help("choose another name");
        if let Some(place) = clash.holder_place {
            finding.label(place, "the name is taken here");
        }
    }
}
