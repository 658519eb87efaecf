use abide_change::{Change, Comparison};
use abide_schema::{Element, Oneof, Part};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "oneof-removed",
    summary: "a oneof that was removed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:ONEOF_NO_DELETE"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("oneof-removed.md"),
    check: Check::Change(ChangeCheck::Oneof(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Oneof<'t>>, sink: &mut Sink) {
    let Change::Removed(old) = change else { return };
    // A oneof that is removed with its message is reported by `message-removed`.
    if diff.new_message(old.message()).is_none() {
        return;
    }
    let name = old.relative_name();
    let message = format!("oneof `{name}` was removed");
    let finding = sink.change(diff, change.map(Element::Oneof), Part::Whole, message);
    finding.fact(old.name()).source(diff, change.map(Element::Oneof));
}
