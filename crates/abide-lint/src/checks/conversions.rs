//! Reports about fields that became extensions, and extensions that became fields.
//!
//! The wire knows the number alone, so both are one there. JSON, text format and generated code know
//! a field by its name and an extension by its full name.

use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::{Element, Field, Part};

use crate::finding::{Finding, Location};
use crate::rule::Sink;

/// Reports a field that became an extension with the same number, or the reverse.
pub(crate) fn report_converted<'t, 's>(
    diff: &Comparison<'t>,
    old: Field<'t>,
    new: Field<'t>,
    sink: &'s mut Sink,
) -> &'s mut Finding {
    let (was, is) = (phrase(old), phrase(new));
    let has_other_type =
        old.is_map() != new.is_map() || !diff.find_differing_types(old, new).is_empty();
    let are_two = old.name() != new.name() && has_other_type;
    let message = match are_two {
        true => format!("{was} was removed, and {is} reuses its number {}", new.number()),
        false => format!("{was} became {is}"),
    };
    let change = Change::Removed(Element::Field(old));
    let finding = sink.change(diff, change, Part::Whole, message);
    if let Some(facts) = &mut finding.change {
        // Nothing is left to reserve: the number is in use.
        facts.gone = None;
    }
    finding.fact(old.number().to_string()).fact(old.name()).fact(new.full_name());
    finding.proven(diff.prover().prove_converted(old, new, are_two)).source(diff, change);
    finding.breaks(Effects::both(&[Surface::Json, Surface::Text]));
    if new.file().is_judged() {
        finding.location = Location::tree(new.place(Part::Name));
    }
    if are_two {
        finding.why(format!("data written as `{}` is read as `{}`", old.name(), new.name()));
    } else {
        finding.why("JSON, text format and generated code know an extension by its full name");
    }
    let kind = if old.is_extension() { "an extension" } else { "a field" };
    finding.help(format!("declare `{}` as {kind} again, with number {}", old.name(), old.number()))
}

fn phrase(field: Field<'_>) -> String {
    match field.is_extension() {
        true => format!("extension `{}`", field.full_name()),
        false => format!("field `{}`", field.relative_name()),
    }
}
