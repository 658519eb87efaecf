use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::{Element, Field, Message, Part};

use crate::checks::{conversions, reserved};
use crate::finding::{Severity, aliases, of_message};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-removed",
    summary: "a field that was removed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:FIELD_NO_DELETE", "google:FIELD_REMOVAL"],
    aliases_by_case: &[
        aliases::OF_LOST_ENTRIES,
        &[
            "buf:FIELD_NO_DELETE_UNLESS_NAME_RESERVED",
            "buf:FIELD_NO_DELETE_UNLESS_NUMBER_RESERVED",
            "buf:MESSAGE_SAME_REQUIRED_FIELDS",
            "protolock:NoRemovingFieldsWithoutReserve",
        ],
    ],
    spares_work_in_progress: true,
    page: include_str!("field-removed.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Change::Removed(old) = change else { return };
    // A field removed with its message is part of that finding.
    let Some(holder) = old.containing_message().and_then(|it| diff.new_message(it)) else { return };
    if old.is_extension() {
        return;
    }
    if let Some(new) = diff.find_converted_new(old) {
        let aliases = collect_aliases(old, holder);
        conversions::report_converted(diff, old, new, sink).aliases(&aliases);
        return;
    }
    let in_range =
        (holder.extension_ranges().iter()).any(|it| (it.start..it.end).contains(&old.number()));
    // A number that extensions may have can only be reserved by a declaration.
    let number = match in_range {
        true => !reserved::allows_extension(holder, old.number()),
        false => holder.is_reserved_number(old.number()),
    };
    let name = holder.reserves_name(old.name());
    // A field that replaced another one may have its name.
    let moved = holder.field_named(old.name());
    let what = match moved {
        Some(new) => format!("moved from number {} to {}", old.number(), new.number()),
        None => "was removed".to_owned(),
    };
    let missing = match (number, name || moved.is_some()) {
        (true, true) => "",
        (true, false) => ", and its name is not reserved",
        (false, true) if moved.is_some() => ", and its old number is not reserved",
        (false, true) => ", and its number is not reserved",
        (false, false) => ", and neither its number nor its name is reserved",
    };
    let field = old.relative_name();
    let message = format!("field `{field}` {what}{missing}");
    let finding = sink.change(diff, change.map(Element::Field), Part::Whole, message);
    finding.fact(old.number().to_string()).fact(old.name());
    reserved::add_reuse_facts(finding, number, name || moved.is_some());
    finding.proven(diff.prover().prove_field(change));
    match moved {
        Some(new) => {
            finding.source(diff, Change::Both { old, new }.map(Element::Field));
            finding.breaks(Effects::backward(&[Surface::Wire]));
            finding.proven(diff.prover().prove_namesakes(old, new));
            finding.label(new.place(Part::Name), "this field now has the name");
            if let Some(gone) = finding.change.as_mut().and_then(|it| it.gone.as_mut()) {
                gone.put_back = format!("give `{}` its number {} back", new.name(), old.number());
                let taken = old.containing_message().and_then(|it| it.field_numbered(new.number()));
                if let Some(other) = taken.filter(|it| holder.field_named(it.name()).is_none()) {
                    gone.put_back += &format!(", and put `{}` back", other.name());
                }
            }
        }
        None => {
            finding.source(diff, change.map(Element::Field));
            // Parsers of JSON and text format reject the unknown name. Only the text-format
            // parsers in C++ and Go skip a name that is reserved.
            finding.breaks(Effects::backward(&[Surface::Json, Surface::Text]));
        }
    }
    if !number {
        // A field that reuses the number would read old data as its own.
        finding.breaks(Effects::backward(&[Surface::Wire]));
    }
    if !(number && name) {
        let number = (!number).then(|| old.number());
        let name = (!name && moved.is_none()).then(|| old.name());
        if let Some(help) = reserved::suggest_reservation(holder, number, name) {
            finding.help(help);
            let before = old.containing_message();
            let before = before.filter(|_| !holder.allows_extension(old.number()));
            finding.fix(before.and_then(|it| of_message(it, holder)));
        }
    }
    finding.aliases(&collect_aliases(old, holder));
}

/// The rules of other tools that report a field that its message no longer has.
fn collect_aliases<'t>(old: Field<'t>, holder: Message<'t>) -> Vec<&'static str> {
    let (number, name) =
        (holder.is_reserved_number(old.number()), holder.reserves_name(old.name()));
    let mut aliases = RULE.aliases.to_vec();
    if !number {
        aliases.push("buf:FIELD_NO_DELETE_UNLESS_NUMBER_RESERVED");
    }
    if !name {
        aliases.push("buf:FIELD_NO_DELETE_UNLESS_NAME_RESERVED");
    }
    if !(number && name) {
        aliases.push("protolock:NoRemovingFieldsWithoutReserve");
    }
    if aliases::is_labelled_required(old) {
        aliases.push("buf:MESSAGE_SAME_REQUIRED_FIELDS");
    }
    aliases.extend(aliases::of_lost_entry(old, holder));
    aliases
}
