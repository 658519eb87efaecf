//! Proves that one side rejects a value of the other, or the absence of a field.

use abide_schema::value::{self, Codec};
use abide_schema::{Element, Tree};
use abide_validate::{Violation, evaluate};

use crate::show::to_one_line;
use crate::surface::{Direction, Surface};
use crate::witness::{Proof, Witness};

/// A value that one side accepts, as a witness that the other side rejects it.
pub fn prove_rejection(
    direction: Direction,
    writer: &Tree,
    value: &value::Message,
    reader: &Tree,
    of: Element<'_>,
) -> Proof {
    let holder = match of {
        Element::Field(field) => field.containing_message(),
        Element::Oneof(oneof) => Some(oneof.message()),
        Element::Message(message) => Some(message),
        Element::Enum(_) | Element::EnumValue(_) | Element::Service(_) | Element::Method(_) => None,
    };
    let Some(holder) = holder else { return Proof::default() };
    let bytes = Codec::new(writer).encode(value);
    let read = Codec::new(reader).decode(holder.id, &bytes).ok();
    let violations = read.map(|read| evaluate(reader, &read).violations).unwrap_or_default();
    // The value may also violate other changed rules, which have their own findings.
    let is_own = |it: &Violation| match of {
        Element::Field(field) => it.field == Some(field.id),
        Element::Oneof(oneof) => it.path == oneof.name(),
        _ => true,
    };
    let own = violations.iter().find(|it| is_own(it));
    let Some(violation) = own.or(violations.first()) else { return Proof::default() };
    let side = direction.reader();
    let path =
        if violation.path.is_empty() { String::new() } else { format!("`{}`: ", violation.path) };
    Proof::of(Witness {
        surface: Surface::Validation,
        direction,
        message: writer.message(value.ty).full_name(),
        reader: holder.full_name(),
        value: to_one_line(&Codec::new(writer).to_text(value)),
        bytes,
        observed: format!("the {side} side rejects it: {path}{}", violation.reason),
    })
}
