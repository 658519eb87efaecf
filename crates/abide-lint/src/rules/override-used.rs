use std::collections::BTreeMap;

use crate::finding::Severity;
use crate::inputs::InstanceSet;
use crate::instances::{deprecated_uses, override_places};
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};
use crate::wording::pluralize;

pub(super) static RULE: Rule = Rule {
    id: "override-used",
    summary: "an override that decides about a deprecated element",
    group: Group::Instance,
    severity: Some(Severity::Note),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("override-used.md"),
    check: Check::Instance(InstanceCheck::Run(check)),
};

fn check<'t>(context: &InstanceContext<'t>, set: &'t InstanceSet<'t>, sink: &mut Sink) {
    let places = override_places(set);
    if places.is_empty() {
        return;
    }
    let mut decided: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for used in deprecated_uses(context, set) {
        if let Some((key, setting)) = used.decision.by {
            let place = (key, setting.file, setting.span.start);
            decided.entry(place).or_default().push(used);
        }
    }
    for place in places {
        let key = (place.key, place.setting.file, place.setting.span.start);
        let Some(uses) = decided.get(&key) else { continue };
        let verb = if uses[0].decision.is_allowed { "allows" } else { "refuses" };
        let mut names: Vec<String> = uses.iter().map(|it| it.element.full_name()).collect();
        names.sort();
        names.dedup();
        let many = pluralize(uses.len(), "use");
        let text = format!("the runtime key `{}` {verb} {many} of what is deprecated", place.key);
        let finding = sink.report(place.location, "", place.key, text);
        finding.why(format!("it decides about `{}`", names.join("`, `")));
    }
}
