use abide_change::{Change, Comparison};
use abide_schema::{Element, Method, Part};

use crate::checks::full_names;
use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "method-removed",
    summary: "a method that was removed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:RPC_NO_DELETE", "protolock:NoRemovingRPCs", "google:METHOD_REMOVAL"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("method-removed.md"),
    check: Check::Change(ChangeCheck::Method(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Method<'t>>, sink: &mut Sink) {
    let Change::Removed(old) = change else { return };
    // A method removed with its service is part of that finding.
    if diff.new_service(old.service()).is_none() {
        return;
    }
    let change = change.map(Element::Method);
    let message = format!("method `{}` was removed", old.relative_name());
    full_names::add_effects(sink.change(diff, change, Part::Whole, message), diff, change);
}
