use abide_instance::{Item, WalkItem};

use crate::finding::Severity;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "lua-filter-used",
    summary: "a filter that runs Lua code",
    group: Group::Instance,
    severity: Some(Severity::Note),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("lua-filter-used.md"),
    check: Check::Instance(InstanceCheck::Visit(check)),
};

fn check<'t>(context: &InstanceContext<'t>, visit: WalkItem<'t, '_>, sink: &mut Sink) {
    let Item::Message(message) = visit.met else { return };
    let ty = context.tree.message(message.ty);
    let package = ty.file().package().name();
    let packages = ["envoy.extensions.filters.http.lua.", "envoy.config.filter.http.lua."];
    if ty.name() == "Lua" && packages.iter().any(|it| package.starts_with(it)) {
        let text = "a Lua filter runs its code for every request, in the thread of the proxy";
        sink.report(context.at(visit.span), package, ty.full_name(), text)
            .why("no schema describes the code, so no check finds what a release changes for it");
    }
}
