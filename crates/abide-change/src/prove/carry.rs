//! Sends the values of one field from writer to reader and records what is lost, rejected or
//! misread.

use abide_schema::value::{self, Codec, Entry, Value, default_of};
use abide_schema::{EnumValue, Field, FieldId, Message, Oneof, Presence};

use super::cache::{OneofMember, OneofMembers};
use super::crossing::{Probed, Transfer};
use super::notation::{Rejection, parse, read, remove_spans, replace_name, write};
use super::{probe, smallest};
use crate::surface::{Direction, Surface};
use crate::witness::Proof;

impl OneofMembers {
    fn of<'t>(crossing: Transfer<'_, 't>, oneof: Oneof<'t>) -> OneofMembers {
        let fields = oneof.fields().filter_map(|field| crossing.find_writer_field(field));
        let member = |it: Field<'t>| OneofMember {
            field: it.id,
            oneof: it.oneof().map(|it| it.id),
            next: 0,
        };
        let mut members: Vec<OneofMember> = fields.map(member).collect();
        let mut next = members.len();
        let mut after = None;
        for (at, member) in members.iter_mut().enumerate().rev() {
            if after != Some(member.oneof) {
                next = at + 1;
            }
            (member.next, after) = (next, Some(member.oneof));
        }
        OneofMembers(members)
    }
}

/// The result for a field by itself, without its siblings.
struct FieldOutcome {
    /// True if it is rejected, not misread.
    refused: bool,
    words: String,
}

impl<'t> Transfer<'_, 't> {
    /// Finds a value on the wire that the reader has in another field.
    pub(super) fn prove_mistaken(self, writer: Field<'t>, reader: Field<'t>, proof: &mut Proof) {
        if proof.effects.contains(Surface::Wire, self.direction) {
            return;
        }
        // A field of the same name may happen to have the same value.
        let mut by_chance = None;
        for values in probe::list_occurrences(self, writer, Some(reader)) {
            let Some(value) = self.wrap_values(writer, values) else { continue };
            let Some(target) = self.find_message(self.writer().message(value.ty)) else { return };
            let bytes = Codec::new(self.writer()).encode(&value);
            let Ok(read) = read(Surface::Wire, self.reader(), target.id, &bytes) else { continue };
            let taken: Vec<&Value> = read.entries_of(reader.id).map(|entry| &entry.value).collect();
            let observed =
                self.compare_values(None, reader, &[], &taken).filter(|_| !taken.is_empty());
            let Some(observed) = observed else { continue };
            let namesake = self.writer().message(value.ty).field_named(reader.name());
            let is_chance = namesake.is_some_and(|it| {
                let was: Vec<&Value> = value.entries_of(it.id).map(|entry| &entry.value).collect();
                self.compare_values(Some(it), reader, &was, &taken).is_none()
            });
            let witness = self.build_witness(Surface::Wire, (&value, target), bytes, observed);
            if !is_chance {
                return proof.add(witness);
            }
            by_chance.get_or_insert(witness);
        }
        if let Some(witness) = by_chance {
            proof.add(witness);
        }
    }

    /// Finds a zero that is no longer set after the reader writes it again.
    pub(super) fn prove_forgotten(self, writer: Field<'t>, reader: Field<'t>, proof: &mut Proof) {
        let zero = default_of(reader).filter(|_| self.is_same_type(writer, reader));
        let Some(value) = zero.and_then(|zero| self.wrap_values(writer, vec![zero])) else {
            return;
        };
        let Some(target) = self.find_message(self.writer().message(value.ty)) else { return };
        let is_set = |value: &value::Message| value.entries_of(writer.id).next().is_some();
        for &surface in Surface::NOTATIONS {
            let Some(bytes) = write(surface, self.writer(), &value) else { continue };
            let read_back = |bytes: &[u8]| read(surface, self.writer(), value.ty, bytes).ok();
            // A value that the writer itself cannot read back proves nothing.
            let sets = read_back(&bytes).is_some_and(|it| is_set(&it));
            let Ok(read) = read(surface, self.reader(), target.id, &bytes) else { continue };
            let again = write(surface, self.reader(), &read).and_then(|it| read_back(&it));
            if sets && again.is_some_and(|it| !is_set(&it)) {
                let observed = format!(
                    "the {} reader treats it as unset and does not write `{}` again",
                    self.direction.reader(),
                    reader.name(),
                );
                proof.add(self.build_witness(surface, (&value, target), bytes, observed));
            }
        }
    }

    pub(super) fn prove_absence(self, writer: Field<'t>, reader: Field<'t>, proof: &mut Proof) {
        // Nobody writes a message without a field that its type requires.
        if writer.presence() == Presence::LegacyRequired {
            return;
        }
        if let Some(absent) = self.wrap_values(writer, Vec::new()) {
            self.transfer(&absent, (Some(writer), Some(reader)), None, proof);
        }
    }

    pub(super) fn prove_field(
        self,
        writer: Option<Field<'t>>,
        reader: Option<Field<'t>>,
        proof: &mut Proof,
    ) {
        let holder = match (writer, reader) {
            (Some(writer), _) => writer.containing_message(),
            (None, Some(reader)) => {
                reader.containing_message().and_then(|it| match self.direction {
                    Direction::Backward => self.diff.old_message(it),
                    Direction::Forward => self.diff.new_message(it),
                })
            }
            (None, None) => None,
        };
        let Some(holder) = holder.filter(|it| self.find_message(*it).is_some()) else { return };
        let probed = writer.zip(reader);
        // The absence of the field is tried too.
        if probed.is_none()
            && let Some(mut absent) = smallest::build_minimal(self.writer(), holder.id, 0)
        {
            absent.entries.retain(|entry| Some(entry.field) != writer.map(|it| it.id));
            self.transfer(&absent, (writer, reader), None, proof);
        }
        let Some(writer) = writer else { return };
        if self.is_proven(proof) {
            return;
        }
        for values in probe::list_occurrences(self, writer, reader) {
            if let Some(message) = self.wrap_values(writer, values) {
                self.transfer(&message, (Some(writer), reader), None, proof);
                if self.is_proven(proof) {
                    return;
                }
            }
        }
        let Some((writer, reader)) = probed else { return };
        let mut others = self.collect_joined(writer, reader).peekable();
        if others.peek().is_none() {
            return;
        }
        let first = |field| probe::list_occurrences(self, field, None).into_iter().next();
        let Some(alone) = first(writer).and_then(|it| self.wrap_values(writer, it)) else { return };
        for other in others {
            if self.is_proven(proof) {
                return;
            }
            if let Some(values) = first(other) {
                let values = values.into_iter().map(|value| Entry::new(other.id, value));
                let mut message = alone.clone();
                message.entries.extend(values);
                self.transfer(&message, (Some(writer), Some(reader)), None, proof);
            }
        }
    }

    /// The fields that can be set together with this one on the writing side, but
    /// not on the reading side, where they are members of the same oneof.
    fn collect_joined(
        self,
        writer: Field<'t>,
        reader: Field<'t>,
    ) -> impl Iterator<Item = Field<'t>> {
        let oneof = reader.oneof().filter(|it| !it.is_synthetic());
        let members = oneof.map(|oneof| {
            let key = (self.direction, self.surface, oneof.id);
            self.cache.joined.get_or_compute(key, || OneofMembers::of(self, oneof))
        });
        let group = writer.oneof().map(|it| it.id);
        let mut at = 0;
        let others = std::iter::from_fn(move || {
            let members = members.as_ref()?;
            loop {
                let member = members.0.get(at)?;
                // Members of the same oneof are not set together on this side either.
                if group.is_some() && member.oneof == group {
                    at = member.next;
                    continue;
                }
                at += 1;
                if member.field != writer.id {
                    return Some(member.field);
                }
            }
        });
        others.map(move |id| self.writer().field(id))
    }

    /// Writes a value on one side and reads it on the other, in each encoding. The
    /// value is about one field; what happens to its siblings proves nothing.
    pub(super) fn transfer(
        self,
        value: &value::Message,
        probed: Probed<'t>,
        spelling: Option<(EnumValue<'t>, &str)>,
        proof: &mut Proof,
    ) {
        let (writer, reader) = (self.writer(), self.reader());
        let Some(target) = self.find_message(writer.message(value.ty)) else { return };
        if self.is_proven(proof) {
            return;
        }
        let value = value.normalize(writer);
        if spelling.is_none() && self.is_nothing(&value, target, probed) {
            return;
        }
        for &surface in Surface::NOTATIONS {
            if proof.effects.contains(surface, self.direction) || !self.is_on(surface) {
                continue;
            }
            let written = |value: &value::Message| {
                let bytes = write(surface, writer, value)?;
                match spelling {
                    Some((printed, name)) => {
                        let own = printed.json_text().filter(|_| surface == Surface::Json);
                        replace_name(&bytes, own.unwrap_or(printed.name()), name)
                    }
                    None => Some(bytes),
                }
            };
            let Some(bytes) = written(&value) else { continue };
            // A value that the writer itself cannot read back proves nothing.
            let Ok(again) = read(surface, writer, value.ty, &bytes) else { continue };
            let again = remove_spans(&again);
            if spelling.is_none() && again != remove_spans(&value) {
                continue;
            }
            let value = again;
            let (observed, is_missed) = match read(surface, reader, target.id, &bytes) {
                Err(refusal) => {
                    let missed = match &refusal {
                        Rejection::Missing(field) => {
                            !self.is_to_blame(probed, &value, target, *field)
                        }
                        Rejection::Malformed(_) => false,
                    };
                    (Some(self.describe_rejection(refusal)), missed)
                }
                Ok(read) => (self.on(surface).describe_difference(&value, &read, probed), false),
            };
            let Some(observed) = observed else { continue };
            let observed = if !is_missed && self.carries_required_siblings(surface, &value, probed)
            {
                Some(observed)
            } else {
                let mut part = value.clone();
                part.entries.retain(|entry| Some(entry.field) == probed.0.map(|it| it.id));
                let alone = written(&part).and_then(|bytes| {
                    self.transfer_alone(surface, (&part, target), &bytes, probed)
                });
                // A rejection because of a sibling proves nothing about the field.
                alone.map(|alone| if is_missed && !alone.refused { observed } else { alone.words })
            };
            if let Some(observed) = observed {
                proof.add(self.build_witness(surface, (&value, target), bytes, observed));
            }
        }
    }

    /// Returns what happens to a field by itself, whatever else its message must hold.
    fn transfer_alone(
        self,
        surface: Surface,
        (value, target): (&value::Message, Message<'t>),
        bytes: &[u8],
        probed: Probed<'t>,
    ) -> Option<FieldOutcome> {
        let read = match parse(surface, self.reader(), target.id, bytes) {
            Ok(read) => read,
            Err(refusal) => {
                return Some(FieldOutcome {
                    refused: true,
                    words: self.describe_rejection(refusal),
                });
            }
        };
        if let Some(to) = probed.1 {
            let required = to.presence() == Presence::LegacyRequired;
            let mut inside = read.entries_of(to.id).filter_map(|entry| entry.value.as_message());
            let missing = match probed.0 {
                _ if required && read.entries_of(to.id).next().is_none() => Some(to),
                Some(from) if !self.is_same_type(from, to) => {
                    inside.find_map(|it| it.find_missing_required(self.reader()))
                }
                _ => None,
            };
            if let Some(missing) = missing {
                let words = self.describe_rejection(Rejection::Missing(missing.id));
                return Some(FieldOutcome { refused: true, words });
            }
        }
        let words = self.on(surface).describe_difference(value, &read, probed)?;
        Some(FieldOutcome { refused: false, words })
    }

    /// Returns true if a value is empty and the reader requires nothing. It is then written
    /// as nothing in each encoding, or as a pair of braces in JSON, and read as
    /// nothing again. JSON of some well-known types is different.
    fn is_nothing(self, value: &value::Message, target: Message<'t>, probed: Probed<'t>) -> bool {
        let own = |it: Message<'t>| it.package().name() != "google.protobuf";
        value.entries.is_empty()
            && value.unknown.is_empty()
            && probed.0.zip(probed.1).is_none()
            && own(target)
            && own(self.writer().message(value.ty))
            && target.required_fields().next().is_none()
    }

    /// Returns true if a required field is missing because of the probed field: it is that
    /// field, or it is inside a type that the other side does not have there.
    fn is_to_blame(
        self,
        probed: Probed<'t>,
        value: &value::Message,
        target: Message<'t>,
        missing: FieldId,
    ) -> bool {
        let field = self.reader().field(missing);
        let beside = field.containing_message() == Some(target)
            && self
                .find_writer_field(field)
                .is_none_or(|it| value.entries_of(it.id).next().is_none());
        match probed {
            (_, Some(to)) if to.id == missing => true,
            (Some(from), Some(to)) => !beside && !self.is_same_type(from, to),
            _ => false,
        }
    }

    /// Returns true if the required siblings of the probed field cross unchanged.
    fn carries_required_siblings(
        self,
        surface: Surface,
        value: &value::Message,
        probed: Probed<'t>,
    ) -> bool {
        let Some(mut rest) = smallest::build_minimal(self.writer(), value.ty, 0) else {
            return false;
        };
        rest.entries.retain(|entry| Some(entry.field) != probed.0.map(|it| it.id));
        let target = self.find_message(self.writer().message(value.ty));
        let (Some(target), false) = (target, rest.entries.is_empty()) else { return true };
        let Some(bytes) = write(surface, self.writer(), &rest) else { return false };
        match read(surface, self.reader(), target.id, &bytes) {
            Err(Rejection::Missing(field)) => Some(field) == probed.1.map(|it| it.id),
            Err(Rejection::Malformed(_)) => false,
            Ok(mut read) => {
                read.entries.retain(|entry| Some(entry.field) != probed.1.map(|it| it.id));
                self.on(surface).describe_difference(&rest, &read, (None, None)).is_none()
            }
        }
    }
}
