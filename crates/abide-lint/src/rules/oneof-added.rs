use abide_change::{Change, Comparison};
use abide_schema::{Element, Oneof, Part};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "oneof-added",
    summary: "a oneof that was added",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("oneof-added.md"),
    check: Check::Change(ChangeCheck::Oneof(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Oneof<'t>>, sink: &mut Sink) {
    let Change::Added(new) = change else { return };
    if diff.old_message(new.message()).is_none() {
        return;
    }
    let name = new.relative_name();
    let message = format!("oneof `{name}` was added");
    let finding = sink.change(diff, change.map(Element::Oneof), Part::Name, message);
    finding.fact(new.name()).source(diff, change.map(Element::Oneof));
}
