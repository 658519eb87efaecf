use abide_change::{Change, Comparison};
use abide_schema::{Element, EnumValue};

use crate::checks::reserved;
use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "enum-number-reused",
    summary: "an enum value that takes a reserved or formerly used number or name",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[
        "protolock:NoUsingReservedFields",
        "protolock:NoRemovingReservedFields",
        "buf:RESERVED_ENUM_NO_DELETE",
    ],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("enum-number-reused.md"),
    check: Check::Change(ChangeCheck::EnumValue(check)),
};

fn check<'t>(
    _: &Context<'t>,
    diff: &Comparison<'t>,
    change: Change<EnumValue<'t>>,
    sink: &mut Sink,
) {
    let Some(new) = change.new() else { return };
    let Some(holder) = diff.old_enum(new.parent()) else { return };
    let reserves = (holder.is_reserved_number(new.number()), holder.is_reserved_name(new.name()));
    let was = change.old().map(|old| (old.number(), old.name()));
    reserved::report_reused(
        diff,
        Element::EnumValue(new),
        was,
        (new.number(), new.name()),
        reserves,
        sink,
    );
}
