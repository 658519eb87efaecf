use crate::finding::Severity;
use crate::inputs::InstanceSet;
use crate::instances::{near_key, override_places};
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "override-misspelt",
    summary: "an override whose key is nearly one that counts",
    group: Group::Instance,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("override-misspelt.md"),
    check: Check::Instance(InstanceCheck::Run(check)),
};

fn check<'t>(context: &InstanceContext<'t>, set: &InstanceSet<'t>, sink: &mut Sink) {
    for place in override_places(set) {
        let Some(near) = near_key(context.tree, place.key) else { continue };
        let text = format!("the runtime key `{}` means nothing", place.key);
        sink.report(place.location, "", place.key, text)
            .help(format!("did you mean `{near}`?"))
            .why("readers look for exact names, so the key decides nothing");
    }
}
