use std::collections::BTreeSet;

use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::{Element, File, NumberRanges, Part, ReservedNameDecl};

use crate::finding::{Severity, with_reserved};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};
use crate::wording::backtick;

pub(super) static RULE: Rule = Rule {
    id: "reserved-removed",
    summary: "numbers and names that are no longer reserved",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&[
        "buf:RESERVED_ENUM_NO_DELETE",
        "buf:RESERVED_MESSAGE_NO_DELETE",
        "protolock:NoRemovingReservedFields",
    ]],
    spares_work_in_progress: true,
    page: include_str!("reserved-removed.md"),
    check: Check::Change(ChangeCheck::File(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<File<'t>>, sink: &mut Sink) {
    let Some(new) = change.new() else { return };
    for it in new.all_messages() {
        if let Some(old) = diff.old_message(it) {
            let numbers =
                NumberRanges::from(old.reserved_ranges()).without(&it.reserved_ranges().into());
            let (was, is) = (old.reserved_names(), it.reserved_names());
            let mut names = find_missing_names(old.file(), was, it.file(), is);
            // A number or name that a field takes is reported at the field.
            let taken = it.fields().map(|it| i64::from(it.number()));
            let numbers = numbers.without(&NumberRanges::from_numbers(taken));
            names.retain(|name| it.field_named(name).is_none());
            let pair = Change::Both { old, new: it }.map(Element::Message);
            report(diff, pair, numbers, names, "buf:RESERVED_MESSAGE_NO_DELETE", sink);
        }
    }
    for it in new.all_enums() {
        if let Some(old) = diff.old_enum(it) {
            let numbers = NumberRanges::from_ranges(old.reserved_ranges())
                .without(&NumberRanges::from_ranges(it.reserved_ranges()));
            let (was, is) = (old.reserved_names(), it.reserved_names());
            let mut names = find_missing_names(old.file(), was, it.file(), is);
            let taken = it.values().map(|it| i64::from(it.number()));
            let numbers = numbers.without(&NumberRanges::from_numbers(taken));
            names.retain(|name| it.values().all(|it| it.name() != *name));
            let pair = Change::Both { old, new: it }.map(Element::Enum);
            report(diff, pair, numbers, names, "buf:RESERVED_ENUM_NO_DELETE", sink);
        }
    }
}

fn report<'t>(
    diff: &Comparison<'t>,
    change: Change<Element<'t>>,
    numbers: NumberRanges,
    names: Vec<&str>,
    alias: &'static str,
    sink: &mut Sink,
) {
    let Some(new) = change.new() else { return };
    let freed: Vec<String> = (!numbers.is_empty())
        .then(|| numbers.to_string())
        .into_iter()
        .chain(names.iter().map(backtick))
        .collect();
    if freed.is_empty() {
        return;
    }
    let freed = freed.join(", ");
    let message = format!("{} `{}` no longer reserves {freed}", new.noun(), new.full_name());
    let finding = sink.change(diff, change, Part::Whole, message);
    finding.fact(freed).aliases(&[alias, "protolock:NoRemovingReservedFields"]);
    if !numbers.is_empty() {
        // A field that takes the number reads old data as its own.
        finding.breaks(Effects::backward(&[Surface::Wire]));
    }
    let of_extensions = match new {
        Element::Message(new) => numbers.without(&new.extension_ranges().into()) != numbers,
        _ => false,
    };
    if of_extensions {
        finding.help(
            "take the numbers out of `extensions` and reserve them again, because old data may still \
             have them",
        );
        return;
    }
    finding.help("reserve them again, because old data may still have them");
    finding.fix(with_reserved(new, &numbers, &names));
}

/// Old names that the new side does not reserve.
fn find_missing_names<'t>(
    old: File<'t>,
    was: &[ReservedNameDecl],
    new: File<'t>,
    is: &[ReservedNameDecl],
) -> Vec<&'t str> {
    let kept: BTreeSet<&str> = is.iter().map(|it| new.decl().str(it.name)).collect();
    let names = was.iter().map(|it| old.decl().str(it.name));
    names.filter(|name| !kept.contains(name)).collect()
}
