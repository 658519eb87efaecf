use abide_change::{Change, Diff, Direction, Effects, Surface};
use abide_schema::{Element, Field, Part};

use super::field_type_changed::type_name;
use crate::finding::Severity;
use crate::reserved;
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

fn check<'t>(_: &Context<'t>, diff: &Diff<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    let holders = old.containing_message().zip(new.containing_message());
    let Some((was_in, is_in)) = holders.filter(|_| diff.is_replaced(old, new)) else { return };
    let (number, was, is) = (new.number(), type_name(old), type_name(new));
    let message = format!(
        "`{}` (type `{is}`) reuses number {number} of `{}` (type `{was}`)",
        new.relative_name(),
        old.name(),
    );
    let finding = sink.change(diff, change.map(Element::Field), Part::Name, message);
    finding.fact(old.name()).fact(was).fact(new.name()).fact(is);
    // The old name is not lost where another field has it.
    let moved = is_in.field_named(old.name());
    let namesake = moved.unwrap_or(new);
    finding.source(diff, Change::Both { old, new: namesake }.map(Element::Field));
    let came = was_in.field_named(new.name());
    let proof = diff.prove_replaced(old, new);
    let absent = diff.prove_absence(old, new);
    if moved.is_none() && came.is_none() {
        finding.proven(proof).proven(absent);
    } else {
        finding.proven(proof.on(&[Surface::Wire])).proven(absent.on(&[Surface::Wire]));
        // JSON and text format find the field that has the name, if there is one.
        let named = |change| diff.prove_field(change).on(&[Surface::Json, Surface::Text]);
        finding.proven(match moved {
            Some(moved) => diff.prove_namesakes(old, moved),
            None => named(Change::Removed(old)),
        });
        if came.is_none() {
            finding.proven(named(Change::Added(new)));
        }
    }
    for (direction, field, reader) in
        [(Direction::Backward, old, is_in), (Direction::Forward, new, was_in)]
    {
        if reader.field_in_json(&field.json_name()).is_none() {
            finding.breaks(Effects::of(&[Surface::Json], &[direction]));
        }
        if reader.field_named(field.name()).is_none() {
            finding.breaks(Effects::of(&[Surface::Text], &[direction]));
        }
    }
    finding.why(format!("data written as `{}` is read as `{}`", old.name(), new.name()));
    match moved {
        Some(moved) => {
            finding.label(moved.place(Part::Name), "this field now has the name");
            finding.help("give each field its old number back");
        }
        None => {
            let reserved = reserved::statements(new.file(), Some(number), Some(old.name()));
            finding.help(format!(
                "give `{}` a number that was never used, and write `{reserved}`",
                new.name()
            ));
        }
    }
}
