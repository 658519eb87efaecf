use abide_change::{Change, Comparison};
use abide_schema::{Element, Message};

use crate::checks::full_names;
use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "message-moved",
    summary: "a message that moved to another file",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[full_names::MESSAGE_DELETIONS],
    spares_work_in_progress: true,
    page: include_str!("message-moved.md"),
    check: Check::Change(ChangeCheck::Message(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Message<'t>>, sink: &mut Sink) {
    full_names::report_moved(diff, change.map(Element::Message), sink);
}
