use crate::finding::Severity;
use crate::inputs::InstanceSet;
use crate::instances::override_places;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};
use crate::wording::find_nearest;

pub(super) static RULE: Rule = Rule {
    id: "runtime-guard-unknown",
    summary: "a runtime guard that this release of Envoy does not have",
    group: Group::Envoy,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("runtime-guard-unknown.md"),
    check: Check::Instance(InstanceCheck::Run(check)),
};

/// What the names of guards begin with.
const PREFIXES: [&str; 2] = ["envoy.reloadable_features.", "envoy.restart_features."];

fn check<'t>(context: &InstanceContext<'t>, set: &InstanceSet<'t>, sink: &mut Sink) {
    let Some(guards) = context.options.guards else { return };
    for place in override_places(set) {
        let is_guard = PREFIXES.iter().any(|it| place.key.starts_with(it));
        if !is_guard || guards.contains(place.key) {
            continue;
        }
        let text = format!("no guard of this release has the name `{}`", place.key);
        let finding = sink.report(place.location, "", place.key, text);
        finding.why("Envoy logs an error with a stack trace, and is going to refuse such files");
        match find_nearest(place.key, guards.iter().map(String::as_str)) {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None => finding.help("remove it: what it guarded holds in this release, or is gone"),
        };
    }
}
