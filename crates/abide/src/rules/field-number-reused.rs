use abide_schema::{Element, Field, Part};

use crate::change::{Change, Diff};
use crate::finding::Severity;
use crate::reserved;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};
use crate::surface::{Effects, Surface};

pub(super) static RULE: Rule = Rule {
    id: "field-number-reused",
    summary: "a field with a number or a name that was reserved",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[
        "protolock:NoUsingReservedFields",
        "protolock:NoRemovingReservedFields",
        "buf:RESERVED_MESSAGE_NO_DELETE",
    ],
    spares_work_in_progress: true,
    page: include_str!("field-number-reused.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Diff<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Some(new) = change.new().filter(|it| !it.is_extension()) else { return };
    let holder = new.containing_message().and_then(|it| diff.old_message(it));
    let Some(holder) = holder else { return };
    let old = change.old();
    let renumbered = old.is_none_or(|old| old.number() != new.number());
    let renamed = old.is_none_or(|old| old.name() != new.name());
    let number = renumbered && reserved::number_of_message(holder, new.number());
    let name = renamed && reserved::name_of_message(holder, new.name());
    let (part, what, surfaces): (_, String, &[Surface]) = match (number, name) {
        (false, false) => return,
        (true, false) => (Part::Number, format!("number {}", new.number()), &[Surface::Wire]),
        (false, true) => {
            (Part::Name, format!("name `{}`", new.name()), &[Surface::Json, Surface::Text])
        }
        (true, true) => {
            (Part::Number, format!("number {} and its name", new.number()), Surface::NOTATIONS)
        }
    };
    let were = if number && name { "were" } else { "was" };
    let message = format!("field `{}` takes the {what}, which {were} reserved", new.name());
    let added = Change::Added(Element::Field(new));
    let finding = sink.change(diff, added, part, message);
    finding.fact(what).breaks(Effects::backward(surfaces));
    let old = if number { "number" } else { "name" };
    finding.why(format!("what was written when another field had the {old} is read as this field"));
    finding.help("give it one that was never used");
}
