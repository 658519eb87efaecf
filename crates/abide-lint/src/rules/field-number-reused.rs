use abide_change::{Change, Comparison};
use abide_schema::{Element, Field};

use crate::checks::reserved;
use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-number-reused",
    summary: "a field that takes a number or name that was reserved, or that a removed field had",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[
        "protolock:NoUsingReservedFields",
        "protolock:NoRemovingReservedFields",
        "buf:RESERVED_MESSAGE_NO_DELETE",
    ],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("field-number-reused.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Some(new) = change.new().filter(|it| !it.is_extension()) else { return };
    let holder = new.containing_message().and_then(|it| diff.old_message(it));
    let Some(holder) = holder else { return };
    let reserves = (holder.is_reserved_number(new.number()), holder.reserves_name(new.name()));
    let was = change.old().map(|old| (old.number(), old.name()));
    reserved::report_reused(
        diff,
        Element::Field(new),
        was,
        (new.number(), new.name()),
        reserves,
        sink,
    );
}
