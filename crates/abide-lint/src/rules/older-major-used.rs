use crate::finding::Severity;
use crate::inputs::InstanceSet;
use crate::instances::{Successors, named_types};
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "older-major-used",
    summary: "an instance of a type that a newer major replaces",
    group: Group::Instance,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("older-major-used.md"),
    check: Check::Instance(InstanceCheck::Run(check)),
};

fn check<'t>(context: &InstanceContext<'t>, set: &InstanceSet<'t>, sink: &mut Sink) {
    let successors = Successors::of(context.tree);
    for (ty, location) in named_types(context.tree, set) {
        let Some(newer) = successors.newest(ty) else { continue };
        let (name, package) = (ty.full_name(), ty.file().package().name());
        let text = format!("message `{name}` is of an older major");
        let finding = sink.report(location, package, &*name, text);
        let newer = newer.full_name();
        finding.help(format!("use `{newer}`, or take the older one with `--allow-previous-major`"));
        finding.why("readers drop an older major before the one that replaces it");
    }
}
