//! One direction of a comparison: the writing tree, the reading tree, and the counterpart of each
//! element.

use abide_schema::value::{self, Codec, Value};
use abide_schema::{Field, Message, Tree, Type};

use super::notation::Rejection;
use super::{ProofCache, Prover, smallest};
use crate::diff::{Diff, find_named};
use crate::show::to_one_line;
use crate::surface::{Direction, Surface};
use crate::witness::{Proof, Witness};

/// The field that a value is about, on the writing side and on the reading side.
pub(super) type Probed<'t> = (Option<Field<'t>>, Option<Field<'t>>);

/// One direction of a pair: which side writes and which side reads.
#[derive(Clone, Copy)]
pub(super) struct Transfer<'d, 't> {
    pub(super) diff: &'d Diff<'t>,
    pub(super) cache: &'d ProofCache,
    pub(super) direction: Direction,
    /// The encoding, if it matters.
    pub(super) surface: Option<Surface>,
}

impl<'d, 't> Prover<'d, 't> {
    pub(super) fn start_transfer(self, direction: Direction) -> Transfer<'d, 't> {
        Transfer { diff: self.diff, cache: self.cache, direction, surface: None }
    }

    /// Both directions of a pair, backward first, with the writing and the reading
    /// side.
    pub(super) fn start_transfers<T: Copy>(
        self,
        old: T,
        new: T,
    ) -> impl Iterator<Item = (Transfer<'d, 't>, T, T)> {
        let backward = (self.start_transfer(Direction::Backward), old, new);
        [backward, (self.start_transfer(Direction::Forward), new, old)].into_iter()
    }
}

impl<'d, 't> Transfer<'d, 't> {
    /// The same crossing in one encoding.
    pub(super) fn on(self, surface: Surface) -> Self {
        Transfer { surface: Some(surface), ..self }
    }

    pub(super) fn writer(self) -> &'t Tree {
        match self.direction {
            Direction::Backward => self.diff.old,
            Direction::Forward => self.diff.new,
        }
    }

    pub(super) fn reader(self) -> &'t Tree {
        match self.direction {
            Direction::Backward => self.diff.new,
            Direction::Forward => self.diff.old,
        }
    }

    pub(super) fn find_message(self, writer: Message<'t>) -> Option<Message<'t>> {
        match self.direction {
            Direction::Backward => self.diff.new_message(writer),
            Direction::Forward => self.diff.old_message(writer),
        }
    }

    pub(super) fn find_reader_field(self, writer: Field<'t>) -> Option<Field<'t>> {
        if self.is_by_name()
            && let Some(holder) = writer.containing_message().and_then(|it| self.find_message(it))
            && let Some(namesake) = find_named(holder, writer)
        {
            return Some(namesake);
        }
        match self.direction {
            Direction::Backward => self.new_field(writer),
            Direction::Forward => self.find_old_field(writer),
        }
    }

    pub(super) fn find_writer_field(self, reader: Field<'t>) -> Option<Field<'t>> {
        if self.is_by_name()
            && let Some(holder) = reader.containing_message()
            && let Some(holder) = self.find_writer_message(holder)
            && let Some(namesake) = find_named(holder, reader)
        {
            return Some(namesake);
        }
        match self.direction {
            Direction::Backward => self.find_old_field(reader),
            Direction::Forward => self.new_field(reader),
        }
    }

    /// The message of the writing side that a message of the reading side was.
    fn find_writer_message(self, reader: Message<'t>) -> Option<Message<'t>> {
        match self.direction {
            Direction::Backward => self.diff.old_message(reader),
            Direction::Forward => self.diff.new_message(reader),
        }
    }

    /// The wire knows fields by their numbers alone, whether they are extensions or not.
    fn new_field(self, old: Field<'t>) -> Option<Field<'t>> {
        self.diff.new_field(old).or_else(|| match self.surface {
            Some(Surface::Wire) => self.diff.find_converted_new(old),
            _ => None,
        })
    }

    fn find_old_field(self, new: Field<'t>) -> Option<Field<'t>> {
        self.diff.old_field(new).or_else(|| match self.surface {
            Some(Surface::Wire) => self.diff.find_converted_old(new),
            _ => None,
        })
    }

    /// Returns true if fields are identified by their names, not by their numbers.
    pub(super) fn is_by_name(self) -> bool {
        matches!(self.surface, Some(Surface::Json | Surface::Text))
    }

    /// Returns true if it is about this encoding.
    pub(super) fn is_on(self, surface: Surface) -> bool {
        self.surface.is_none_or(|it| it == surface)
    }

    /// Returns true if nothing is left to prove: each encoding that matters has its witness.
    pub(super) fn is_proven(self, proof: &Proof) -> bool {
        let mut surfaces = Surface::NOTATIONS.iter().filter(|it| self.is_on(**it));
        surfaces.all(|&it| proof.effects.contains(it, self.direction))
    }

    /// The smallest valid message that holds these values of a field.
    pub(super) fn wrap_values(
        self,
        field: Field<'t>,
        values: Vec<Value>,
    ) -> Option<value::Message> {
        let holder = field.containing_message()?;
        let message = smallest::build_minimal(self.writer(), holder.id, 0)?;
        Some(smallest::replace_values(message, field, values))
    }

    pub(super) fn describe_rejection(self, refusal: Rejection) -> String {
        let reader = self.direction.reader();
        format!("the {reader} reader rejects it: {}", refusal.reason(self.reader()))
    }

    pub(super) fn build_witness(
        self,
        surface: Surface,
        (value, reads): (&value::Message, Message<'t>),
        bytes: Vec<u8>,
        observed: String,
    ) -> Witness {
        let tree = self.writer();
        let shown = match surface {
            Surface::Wire => Codec::new(tree).to_text(value),
            _ => String::from_utf8_lossy(&bytes).into_owned(),
        };
        Witness {
            surface,
            direction: self.direction,
            message: tree.message(value.ty).full_name(),
            reader: reads.full_name(),
            value: to_one_line(&shown),
            bytes,
            observed,
        }
    }

    /// Returns true if the reader has the same field of a scalar type.
    pub(super) fn is_kept(self, field: Field<'t>) -> bool {
        let place = |field: Field<'t>| (field.number(), field.name(), field.json_name());
        let kind = |field: Field<'t>| (field.ty(), field.cardinality(), field.presence());
        matches!(field.ty(), Type::Scalar(_))
            && self
                .find_reader_field(field)
                .is_some_and(|twin| place(field) == place(twin) && kind(field) == kind(twin))
    }

    pub(super) fn is_same_type(self, writer: Field<'t>, reader: Field<'t>) -> bool {
        self.are_paired(writer.ty(), reader.ty())
    }

    pub(super) fn are_paired(self, writer: Type, reader: Type) -> bool {
        match self.direction {
            Direction::Backward => self.diff.is_same_type(writer, reader),
            Direction::Forward => self.diff.is_same_type(reader, writer),
        }
    }
}
