use crate::finding::Severity;
use crate::inputs::InstanceSet;
use crate::instances::references;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};
use crate::wording::find_nearest;

pub(super) static RULE: Rule = Rule {
    id: "reference-dangling",
    summary: "a name of another resource that no file declares",
    group: Group::Instance,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("reference-dangling.md"),
    check: Check::Instance(InstanceCheck::Run(check)),
};

fn check<'t>(context: &InstanceContext<'t>, set: &InstanceSet<'t>, sink: &mut Sink) {
    let all = references(context.tree, set);
    for used in &all.uses {
        let Some(declared) = all.declared(used.kind) else { continue };
        if declared.contains(used.name.as_str()) {
            continue;
        }
        let (name, kind) = (&used.name, used.kind.noun());
        let text = format!("no {kind} here has the name `{name}`");
        let finding = sink.report(used.location, &used.package, &*used.element, text);
        finding.fact(name.clone());
        if !used.is_checked {
            finding
                .at_most(Severity::Warning, "the reader takes the file, and what needs it fails");
        }
        if let Some(near) = find_nearest(name, declared.iter().map(String::as_str)) {
            finding.help(format!("did you mean `{near}`?"));
        }
    }
}
