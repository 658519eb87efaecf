use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::{Element, File, Message, Part};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "message-set-changed",
    summary: "a message whose `message_set_wire_format` changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("message-set-changed.md"),
    check: Check::Change(ChangeCheck::Message(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Message<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    let (was, is) = (is_message_set(old), is_message_set(new));
    if was == is {
        return;
    }
    let name = new.full_name();
    let message = if is {
        format!("message `{name}` became a message set")
    } else {
        format!("message `{name}` is no longer a message set")
    };
    let finding = sink.change(diff, change.map(Element::Message), Part::Name, message);
    // A message set encodes each extension as a group.
    finding.breaks(Effects::both(&[Surface::Wire]));
    let fields = diff.old.files().flat_map(File::all_fields);
    for extension in fields.filter(|it| it.extendee() == Some(old)) {
        if let Some(twin) = diff.new_field(extension) {
            finding.proven(diff.prover().prove_field(Change::Both { old: extension, new: twin }));
        }
    }
    finding.source(diff, change.map(Element::Message));
}

fn is_message_set(message: Message<'_>) -> bool {
    let options = message.options();
    options.is_some_and(|it| it.get_bool(message.tree, "message_set_wire_format") == Some(true))
}
