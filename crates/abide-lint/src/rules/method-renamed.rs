use abide_change::{Change, Comparison};
use abide_schema::{Element, Method, Part};

use crate::checks::full_names;
use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "method-renamed",
    summary: "a method that was renamed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:RPC_NO_DELETE", "protolock:NoRemovingRPCs", "google:METHOD_REMOVAL"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("method-renamed.md"),
    check: Check::Change(ChangeCheck::Method(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Method<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    if old.name() == new.name() {
        return;
    }
    let change = change.map(Element::Method);
    let was = old.relative_name();
    let message = format!("`{was}` was renamed to `{}`", new.name());
    let finding = sink.change(diff, change, Part::Name, message);
    finding.fact(old.name());
    full_names::add_effects(finding, diff, change);
}
