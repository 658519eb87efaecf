use abide_schema::{Element, Part};
use abide_upgrade::find_name_clashes;

use crate::finding::Severity;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "migration-name-taken",
    summary: "a migration to a name that is already taken",
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
    if !context.standings().can_be_upgraded(element.file()) {
        return;
    }
    for clash in find_name_clashes(element) {
        let (noun, name) = (clash.element.noun(), clash.element.full_name());
        let message = format!(
            "{noun} `{}` migrates to the name `{}`, which is taken in the next version by {}",
            clash.element.relative_name(),
            clash.name,
            clash.holder,
        );
        let package = element.package().name();
        let finding = sink.report(clash.place, package, name, message);
        finding.why("the next major version would not compile").fact(clash.name);
        // A migration is reported at its option, the zero of an enum at its name.
        finding.help(match clash.element {
            Element::EnumValue(it) if it.place(Part::Name) == clash.place => {
                "remove `deprecated` from one of the two zero values"
            }
            _ => "choose another name",
        });
        if let Some(place) = clash.holder_place {
            finding.label(place, "the name is taken here");
        }
    }
}
