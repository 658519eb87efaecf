use abide_change::{Change, Comparison};
use abide_schema::{Element, Method, Part};

use crate::checks::full_names;
use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "method-added",
    summary: "a method that was added",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("method-added.md"),
    check: Check::Change(ChangeCheck::Method(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Method<'t>>, sink: &mut Sink) {
    let Change::Added(new) = change else { return };
    if diff.old_service(new.service()).is_none() {
        return;
    }
    let change = change.map(Element::Method);
    let message = format!("method `{}` was added", new.relative_name());
    full_names::add_effects(sink.change(diff, change, Part::Name, message), diff, change);
}
