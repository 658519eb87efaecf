use abide_change::{Change, Comparison};
use abide_schema::{Element, Message};

use crate::checks::full_names;
use crate::finding::{Severity, aliases};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "message-renamed",
    summary: "a message whose full name changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[full_names::MESSAGE_DELETIONS, aliases::OF_TYPES, aliases::OF_METHODS],
    spares_work_in_progress: true,
    page: include_str!("message-renamed.md"),
    check: Check::Change(ChangeCheck::Message(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Message<'t>>, sink: &mut Sink) {
    full_names::report_renamed(diff, change.map(Element::Message), sink);
}
