use abide_schema::{Element, EnumValue, Part};

use crate::change::{Change, Diff};
use crate::finding::Severity;
use crate::reserved;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};
use crate::surface::{Effects, Surface};

pub(super) static RULE: Rule = Rule {
    id: "enum-number-reused",
    summary: "an enum value with a number or a name that was reserved",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[
        "protolock:NoUsingReservedFields",
        "protolock:NoRemovingReservedFields",
        "buf:RESERVED_ENUM_NO_DELETE",
    ],
    spares_work_in_progress: true,
    page: include_str!("enum-number-reused.md"),
    check: Check::Change(ChangeCheck::EnumValue(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Diff<'t>, change: Change<EnumValue<'t>>, sink: &mut Sink) {
    let Some(new) = change.new() else { return };
    let Some(holder) = diff.old_enum(new.parent()) else { return };
    let old = change.old();
    let renumbered = old.is_none_or(|old| old.number() != new.number());
    let renamed = old.is_none_or(|old| old.name() != new.name());
    let number = renumbered && reserved::number_of_enum(holder, new.number());
    let name = renamed && reserved::name_of_enum(holder, new.name());
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
    let message = format!("enum value `{}` takes the {what}, which {were} reserved", new.name());
    let added = Change::Added(Element::EnumValue(new));
    let finding = sink.change(diff, added, part, message);
    finding.fact(what).breaks(Effects::backward(surfaces));
    let old = if number { "number" } else { "name" };
    finding.why(format!("what was written when another value had the {old} is read as this value"));
    finding.help("give it one that was never used");
}
