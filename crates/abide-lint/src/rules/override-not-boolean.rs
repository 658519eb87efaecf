use crate::finding::Severity;
use crate::inputs::{ENABLE_ALL, FAIL_ON_ANY, FEATURE, InstanceSet};
use crate::instances::override_places;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "override-not-boolean",
    summary: "an override of a deprecated element that is no boolean",
    group: Group::Instance,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("override-not-boolean.md"),
    check: Check::Instance(InstanceCheck::Run(check)),
};

fn check<'t>(_: &InstanceContext<'t>, set: &InstanceSet<'t>, sink: &mut Sink) {
    for place in override_places(set) {
        let (key, setting) = (place.key, place.setting);
        let is_override = key.starts_with(FEATURE) || [ENABLE_ALL, FAIL_ON_ANY].contains(&key);
        if setting.boolean.is_some() || !is_override {
            continue;
        }
        let text = format!("the runtime key `{key}` is {}, which is no boolean", setting.written);
        let finding = sink.report(place.location, "", key, text);
        finding.why("the key counts as not set, and hides the layers below");
        finding.help("write `true` or `false` without quotes");
    }
}
