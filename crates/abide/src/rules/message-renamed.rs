use abide_schema::{Element, Message, Part};

use crate::change::{Change, Diff};
use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};
use crate::surface::{Effects, Surface};

pub(super) static RULE: Rule = Rule {
    id: "message-renamed",
    summary: "a message of another full name",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:MESSAGE_NO_DELETE", "google:MESSAGE_REMOVAL"],
    spares_work_in_progress: true,
    page: include_str!("message-renamed.md"),
    check: Check::Change(ChangeCheck::Message(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Diff<'t>, change: Change<Message<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    let (was, is) = (old.full_name(), new.full_name());
    if was == is {
        return;
    }
    let message = format!("message `{was}` is called `{is}` now");
    let finding = sink.change(diff, change.map(Element::Message), Part::Name, message);
    finding.fact(was).breaks(Effects::both(&[Surface::TypeUrl]));
    finding.source(diff, change.map(Element::Message));
}
