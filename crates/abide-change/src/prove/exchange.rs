//! Proves breaks with values of one type that are read as another, such as the
//! requests of methods.

use abide_schema::value::{self, Value};
use abide_schema::{Field, Message};

use super::crossing::Transfer;
use super::notation::{read, remove_spans, write};
use super::{Prover, probe, smallest};
use crate::surface::Surface;
use crate::witness::Proof;

impl<'t> Prover<'_, 't> {
    /// Returns what happens to values of one type when they are read as another, such as the
    /// requests of a method, in these encodings. Fields are matched by number,
    /// whatever the names of the types.
    pub fn prove_payload(self, old: Message<'t>, new: Message<'t>, notations: &[Surface]) -> Proof {
        let mut proof = Proof::default();
        for (crossing, writer, reader) in self.start_transfers(old, new) {
            let minimal = smallest::build_minimal(crossing.writer(), writer.id, 0);
            let probes = writer.fields().flat_map(|field| {
                let twin = reader.field_numbered(field.number());
                let tried = probe::list_occurrences(crossing, field, twin).into_iter();
                tried.filter_map(move |values| crossing.wrap_values(field, values))
            });
            let is_proven = |proof: &Proof| {
                notations.iter().all(|it| proof.effects.contains(*it, crossing.direction))
            };
            // A reader without fields expects nothing.
            let is_known = |it: Field<'_>| reader.field_numbered(it.number()).is_some();
            let shares = reader.fields().next().is_none() || writer.fields().any(is_known);
            for value in minimal.into_iter().chain(probes) {
                if is_proven(&proof) {
                    break;
                }
                for &surface in notations {
                    crossing.exchange_payload(surface, &value, (reader, shares), &mut proof);
                }
            }
        }
        proof
    }
}

impl<'t> Transfer<'_, 't> {
    /// Writes a value of one type and reads it as another. `shares` says whether the
    /// reader has any field of the writer, or none at all.
    fn exchange_payload(
        self,
        surface: Surface,
        value: &value::Message,
        (target, shares): (Message<'t>, bool),
        proof: &mut Proof,
    ) {
        let writer = self.writer();
        if proof.effects.contains(surface, self.direction) {
            return;
        }
        let value = value.normalize(writer);
        let Some(bytes) = write(surface, writer, &value) else { return };
        // A value that the writer itself cannot read back proves nothing.
        if !read(surface, writer, value.ty, &bytes)
            .is_ok_and(|it| remove_spans(&it) == remove_spans(&value))
        {
            return;
        }
        let observed = match read(surface, self.reader(), target.id, &bytes) {
            Err(refusal) => Some(self.describe_rejection(refusal)),
            Ok(_) if !shares && !value.entries.is_empty() => {
                let reader = self.direction.reader();
                Some(format!("all of it is lost: the {reader} reader has none of its fields"))
            }
            Ok(read) => self.find_difference_by_number(&value, &read, target),
        };
        if let Some(observed) = observed {
            proof.add(self.build_witness(surface, (&value, target), bytes, observed));
        }
    }

    /// Returns how a field of the reader differs in meaning from the writer's field with the
    /// same number. The reader skips fields that it does not have, which is not a
    /// break as long as it has any field of the writer.
    fn find_difference_by_number(
        self,
        wrote: &value::Message,
        read: &value::Message,
        target: Message<'t>,
    ) -> Option<String> {
        let written = self.writer().message(wrote.ty);
        let wrote_to = wrote
            .entries
            .iter()
            .filter_map(|entry| target.field_numbered(self.writer().field(entry.field).number()));
        // What is absent on both sides is equal.
        let taken = read.entries.iter().map(|entry| self.reader().field(entry.field));
        let mut set: Vec<Field<'t>> =
            wrote_to.chain(taken).filter(|it| !it.is_extension()).collect();
        set.sort_unstable();
        set.dedup();
        set.into_iter().find_map(|to| {
            let from: Option<Field<'t>> = written.field_numbered(to.number());
            let was: Vec<&Value> = from
                .into_iter()
                .flat_map(|it| wrote.entries_of(it.id))
                .map(|it| &it.value)
                .collect();
            let is: Vec<&Value> = read.entries_of(to.id).map(|it| &it.value).collect();
            if was.is_empty() && is.is_empty() {
                return None;
            }
            self.compare_values(from, to, &was, &is)
        })
    }
}
