use crate::finding::Severity;
use crate::inputs::InstanceSet;
use crate::instances::{Successors, named_types};
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};
use std::collections::BTreeMap;

pub(super) static RULE: Rule = Rule {
    id: "mixed-majors",
    summary: "an instance with types of two majors of one API",
    group: Group::Instance,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("mixed-majors.md"),
    check: Check::Instance(InstanceCheck::Run(check)),
};

fn check<'t>(context: &InstanceContext<'t>, set: &InstanceSet<'t>, sink: &mut Sink) {
    let successors = Successors::of(context.tree);
    let types = named_types(context.tree, set);
    // The packages that each document names.
    let mut packages: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (ty, location) in &types {
        packages.entry(location.origin).or_default().push((*ty, *location));
    }
    for (ty, location) in &types {
        let Some(newer) = successors.newest(*ty) else { continue };
        let package = newer.file().package();
        let others = packages.get(&location.origin).into_iter().flatten();
        let Some((other, place)) = { others }.find(|(it, _)| it.file().package() == package) else {
            continue;
        };
        let (name, package) = (ty.full_name(), ty.file().package().name());
        let text = format!("`{name}` stands beside `{}` of a newer major", other.full_name());
        let finding = sink.report(*location, package, &*name, text);
        finding.label(*place, "the newer major");
        finding.why("two definitions of one API in one object exclude each other in some readers");
        finding.help(format!("use `{}`", newer.full_name()));
    }
}
