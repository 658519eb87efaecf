//! Proves breaks with values that are carried across a pair of types.
//!
//! A value is written with the types of one side and read with those of the
//! other. If the reader rejects, loses or misreads it, that is an effect, and the
//! value is its witness. No effect on an encoding is claimed without a witness.
//! The tried values cover every way in which two readings of a field can differ:
//! zeros, signs, the ends of ranges, bytes that are not UTF-8, undeclared enum
//! values, several elements, and absence.

mod cache;
mod carriers;
mod carry;
mod compare;
mod crossing;
mod exchange;
mod notation;
mod probe;
mod smallest;

use abide_schema::{Enum, EnumValue, Field, Presence};

pub(crate) use self::cache::ProofCache;
use self::notation::write;
use crate::change::Change;
use crate::diff::Diff;
use crate::show::to_one_line;
use crate::surface::{Direction, Surface};
use crate::witness::Proof;

/// Proves what changes between two trees break: the pairs of their elements, and what earlier proofs
/// found.
#[derive(Clone, Copy, Debug)]
pub struct Prover<'d, 't> {
    diff: &'d Diff<'t>,
    cache: &'d ProofCache,
}

impl<'d, 't> Prover<'d, 't> {
    /// A prover that keeps in `cache` what many proofs need. A cache belongs to one pair of trees.
    pub(crate) fn new(diff: &'d Diff<'t>, cache: &'d ProofCache) -> Prover<'d, 't> {
        Prover { diff, cache }
    }

    /// Returns what happens to values of a field when they cross, in each encoding and
    /// direction. For a field that only one side has, its values are tried, and its
    /// absence. For a field that both have, absence is not tried: it does not depend
    /// on name or number.
    pub fn prove_field(self, change: Change<Field<'t>>) -> Proof {
        let mut proof = Proof::default();
        for (crossing, writer, reader) in self.start_transfers(change.old(), change.new()) {
            crossing.prove_field(writer, reader, &mut proof);
        }
        proof
    }

    /// The same for a field that both sides have, with its absence, in the encodings
    /// in which both find the field. A changed name or number breaks the other
    /// encodings, which is a separate change.
    pub fn prove_kept(self, old: Field<'t>, new: Field<'t>) -> Proof {
        let surfaces: Vec<Surface> =
            Surface::NOTATIONS.iter().copied().filter(|it| is_found_by(*it, old, new)).collect();
        let mut proof = self.prove_absence(old, new);
        for (crossing, writer, reader) in self.start_transfers(old, new) {
            crossing.prove_field(Some(writer), Some(reader), &mut proof);
        }
        proof.on(&surfaces)
    }

    /// Returns what readers do with values of a field if another field has its number: even
    /// a value that fits is read as something else.
    pub fn prove_replaced(self, old: Field<'t>, new: Field<'t>) -> Proof {
        let mut proof = self.prove_field(Change::Both { old, new });
        for (crossing, writer, reader) in self.start_transfers(old, new) {
            crossing.prove_mistaken(writer, reader, &mut proof);
        }
        proof
    }

    /// Returns what happens to values of a field that became an extension with the same number, or
    /// of an extension that became a field: the wire may not notice, but JSON and text format write
    /// another name. `are_two` says that the two share nothing but the number.
    pub fn prove_converted(self, old: Field<'t>, new: Field<'t>, are_two: bool) -> Proof {
        let mut proof = self.prove_absence(old, new).on(&[Surface::Wire]);
        for (crossing, writer, reader) in self.start_transfers(old, new) {
            let on_wire = crossing.on(Surface::Wire);
            on_wire.prove_field(Some(writer), Some(reader), &mut proof);
            if are_two {
                on_wire.prove_mistaken(writer, reader, &mut proof);
            }
        }
        for change in [Change::Removed(old), Change::Added(new)] {
            let named = self.prove_field(change).on(&[Surface::Json, Surface::Text]);
            named.witnesses.into_iter().for_each(|it| proof.add(it));
        }
        proof
    }

    /// Returns what happens in JSON and text format, which know fields by their names, to a
    /// field whose name another field has now.
    pub fn prove_namesakes(self, old: Field<'t>, new: Field<'t>) -> Proof {
        let mut proof = self.prove_kept(old, new);
        for witness in self.prove_presence(old, new).witnesses {
            proof.add(witness);
        }
        proof.on(&[Surface::Json, Surface::Text])
    }

    /// Returns what happens if a field that both sides have is absent.
    pub fn prove_absence(self, old: Field<'t>, new: Field<'t>) -> Proof {
        let mut proof = Proof::default();
        for (crossing, writer, reader) in self.start_transfers(old, new) {
            crossing.prove_absence(writer, reader, &mut proof);
        }
        proof
    }

    /// Returns what happens to a zero that was set, if the reader's field has no presence:
    /// the reader treats it as unset.
    pub fn prove_presence(self, old: Field<'t>, new: Field<'t>) -> Proof {
        let mut proof = Proof::default();
        for (crossing, writer, reader) in self.start_transfers(old, new) {
            let forgets = (writer.presence(), reader.presence());
            if forgets == (Presence::Explicit, Presence::Implicit) {
                crossing.prove_forgotten(writer, reader, &mut proof);
            }
        }
        proof
    }

    /// Returns what happens to these values of an enum when they cross, in each kind of field
    /// that holds the enum. `numbers` are the values that the old side and the new
    /// side write.
    pub fn prove_enum(self, old: Enum<'t>, new: Enum<'t>, numbers: [&[i32]; 2]) -> Proof {
        let mut proof = Proof::default();
        for (crossing, writer, reader) in self.start_transfers(old, new) {
            let numbers = numbers[crossing.direction as usize];
            for (crossing, from, to) in crossing.list_carriers(writer, reader) {
                for &number in numbers {
                    if crossing.is_proven(&proof) {
                        break;
                    }
                    if let Some(value) = crossing.wrap_enum_value(from, number) {
                        crossing.transfer(&value, (Some(from), Some(to)), None, &mut proof);
                    }
                }
            }
        }
        proof
    }

    /// Returns what happens if a field is absent whose default is the first value of its
    /// enum.
    pub fn prove_enum_default(self, old: Enum<'t>, new: Enum<'t>) -> Proof {
        let mut proof = Proof::default();
        for (crossing, writer, reader) in self.start_transfers(old, new) {
            for (crossing, from, to) in crossing.list_carriers(writer, reader) {
                crossing.prove_absence(from, to, &mut proof);
            }
        }
        proof
    }

    /// Returns what happens to JSON and text in which a value is written by this name, which
    /// may be any of its names on either side, not only the printed one.
    pub fn prove_value_name(
        self,
        (old, new): (Enum<'t>, Enum<'t>),
        value: Change<EnumValue<'t>>,
    ) -> Proof {
        let mut proof = Proof::default();
        for (crossing, writer, reader) in self.start_transfers(old, new) {
            let named = match crossing.direction {
                Direction::Backward => value.old(),
                Direction::Forward => value.new(),
            };
            // A zero in a field without presence is not printed, so another value
            // takes its place.
            let printed = writer.values().find(|it| it.number() != 0);
            let (Some(named), Some(printed)) = (named, printed) else { continue };
            let spelling = Some((printed, named.name()));
            for (crossing, from, to) in crossing.list_carriers(writer, reader) {
                if let Some(value) = crossing.wrap_enum_value(from, printed.number()) {
                    crossing.transfer(&value, (Some(from), Some(to)), spelling, &mut proof);
                }
            }
        }
        proof
    }

    /// Returns what happens if JSON and text print another name for a number of an enum.
    /// Users that compare printed text break in both directions, even if every
    /// protobuf reader knows both names.
    pub fn prove_printed_name(self, old: Enum<'t>, new: Enum<'t>, number: i32) -> Proof {
        let mut proof = Proof::default();
        for (crossing, writer, reader) in self.start_transfers(old, new) {
            for (crossing, from, to) in crossing.list_carriers(writer, reader) {
                // The same value with the reader's types.
                let back = self.start_transfer(crossing.direction.other());
                let values =
                    crossing.wrap_enum_value(from, number).zip(back.wrap_enum_value(to, number));
                let Some((ours, theirs)) = values else { continue };
                for surface in [Surface::Json, Surface::Text] {
                    if !crossing.is_on(surface) {
                        continue;
                    }
                    let printed = write(surface, crossing.writer(), &ours);
                    let other = write(surface, crossing.reader(), &theirs);
                    if let (Some(printed), Some(other)) = (printed, other)
                        && printed != other
                    {
                        let side = crossing.direction.reader();
                        let other = to_one_line(&String::from_utf8_lossy(&other));
                        let observed = format!("the {side} side prints it as `{other}`");
                        let reads = crossing.reader().message(theirs.ty);
                        proof.add(crossing.build_witness(
                            surface,
                            (&ours, reads),
                            printed,
                            observed,
                        ));
                    }
                }
            }
        }
        proof
    }
}

/// Returns true if an encoding finds both fields by the same number or name.
fn is_found_by(surface: Surface, old: Field<'_>, new: Field<'_>) -> bool {
    match surface {
        Surface::Wire => old.number() == new.number(),
        Surface::Json if !old.is_extension() => old.json_name() == new.json_name(),
        _ => quote_field_name(old) == quote_field_name(new),
    }
}

/// The name of a field in text format; of an extension, its full name.
fn quote_field_name(field: Field<'_>) -> String {
    if field.is_extension() { field.full_name() } else { field.name().to_owned() }
}
