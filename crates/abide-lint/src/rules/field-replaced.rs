use abide_change::{Change, Comparison, Direction, Effects, Surface, find_namesake};
use abide_schema::{Element, Field, Part};

use super::field_type_changed::describe_type;
use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(crate) static RULE: Rule = Rule {
    id: "field-replaced",
    summary: "a field that reuses the number of another field",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("field-replaced.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    if !diff.is_replaced(old, new) {
        return;
    }
    let (number, was, is) = (new.number(), describe_type(old), describe_type(new));
    let (old_name, new_name) = (name_in_text(old), name_in_text(new));
    let shown = if new.is_extension() { new_name.clone() } else { new.relative_name() };
    let message =
        format!("`{shown}` (type `{is}`) reuses number {number} of `{old_name}` (type `{was}`)");
    let finding = sink.change(diff, change.map(Element::Field), Part::Name, message);
    finding.fact(&old_name).fact(&was).fact(&new_name).fact(is);
    // The old name is not lost where another field has it.
    let moved = find_namesake(old, new);
    let successor = moved.unwrap_or(new);
    finding.source(diff, Change::Both { old, new: successor }.map(Element::Field));
    let came = find_namesake(new, old);
    let proof = diff.prover().prove_replaced(old, new);
    let absent = diff.prover().prove_absence(old, new);
    if moved.is_none() && came.is_none() {
        finding.proven(proof).proven(absent);
    } else {
        finding.proven(proof.on(&[Surface::Wire])).proven(absent.on(&[Surface::Wire]));
        // JSON and text format find the field that has the name, if there is one.
        let named = |change| diff.prover().prove_field(change).on(&[Surface::Json, Surface::Text]);
        finding.proven(match moved {
            Some(moved) => diff.prover().prove_namesakes(old, moved),
            None => named(Change::Removed(old)),
        });
        if came.is_none() {
            finding.proven(named(Change::Added(new)));
        }
    }
    for (direction, field, reader) in
        [(Direction::Backward, old, new), (Direction::Forward, new, old)]
    {
        let is_known = find_namesake(field, reader).is_some();
        let in_json = match field.is_extension() {
            true => is_known,
            false => reader
                .containing_message()
                .is_some_and(|it| it.find_field_by_json_name(&field.json_name()).is_some()),
        };
        if !in_json {
            finding.breaks(Effects::of(&[Surface::Json], &[direction]));
        }
        if !is_known {
            finding.breaks(Effects::of(&[Surface::Text], &[direction]));
        }
    }
    finding.why(format!("data written as `{old_name}` is read as `{new_name}`"));
    match moved {
        Some(moved) => {
            finding.label(moved.place(Part::Name), "this field now has the name");
            // Where numbers kept their types, the names were swapped.
            let part = if describe_type(moved) == was { "number" } else { "name" };
            finding.help(format!("give each field its old {part} back"));
        }
        None => {
            // A field cannot have a number that is left to extensions.
            let first = match new.is_extension() && !old.is_extension() {
                true => format!("take {number} out of `extensions`, "),
                false => String::new(),
            };
            let number = match came {
                Some(_) => "its old number back",
                None => "a number that was never used",
            };
            finding.help(format!("{first}give `{new_name}` {number}, and put `{old_name}` back"));
        }
    }
}

/// Returns the name of a field as JSON and text format write it: that of an extension in full.
fn name_in_text(field: Field<'_>) -> String {
    match field.is_extension() {
        true => field.full_name(),
        false => field.name().to_owned(),
    }
}
