use abide_change::{Change, Comparison};
use abide_schema::{Element, Message};

use crate::checks::full_names;
use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "message-added",
    summary: "a message that was added",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("message-added.md"),
    check: Check::Change(ChangeCheck::Message(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Message<'t>>, sink: &mut Sink) {
    full_names::report_added(diff, change.map(Element::Message), sink);
}
