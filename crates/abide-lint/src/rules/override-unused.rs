use std::collections::BTreeSet;

use crate::finding::Severity;
use crate::inputs::{FEATURE, InstanceSet};
use crate::instances::{deprecated_uses, near_key, override_places};
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "override-unused",
    summary: "an override of an element that no instance uses",
    group: Group::Instance,
    severity: Some(Severity::Note),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("override-unused.md"),
    check: Check::Instance(InstanceCheck::Run(check)),
};

fn check<'t>(context: &InstanceContext<'t>, set: &'t InstanceSet<'t>, sink: &mut Sink) {
    let places = override_places(set);
    if places.is_empty() {
        return;
    }
    let used: BTreeSet<String> =
        deprecated_uses(context, set).iter().map(|it| it.element.full_name()).collect();
    for place in places {
        let Some(name) = place.key.strip_prefix(FEATURE) else { continue };
        if used.contains(name) || near_key(context.tree, place.key).is_some() {
            continue;
        }
        let text = match context.tree.element_named(name) {
            None => format!("the runtime key `{}` names nothing in the API", place.key),
            Some(element) if element.deprecated().is_none() => {
                format!("`{name}` is not deprecated, so its runtime key decides nothing")
            }
            Some(_) => format!("nothing here uses `{name}`, which a runtime key is about"),
        };
        sink.report(place.location, "", place.key, text)
            .help("remove the key, unless a resource from elsewhere uses the element");
    }
}
