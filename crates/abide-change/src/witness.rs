//! Values carried across a pair of types: the proof of a break.
//!
//! A value is written with the types of one side and read with those of the
//! other. What the reader refuses, loses or takes for something else is an
//! effect, and the value is its witness; no effect on a notation is claimed
//! without one. The values that are tried cover each way in which two readings
//! of one field can part: zeros, signs, the ends of ranges, bytes that are not
//! UTF-8, undeclared enum values, several elements, absence.

use abide_schema::value::{self, Entry, Undeclared, Value, default_of};
use abide_schema::{
    Cardinality, Edition, Enum, EnumId, EnumValue, Field, FieldId, Message, MessageId, Presence,
    Tree, Type,
};

use crate::change::Change;
use crate::diff::Diff;
use crate::element::held_enum;
use crate::surface::{Direction, Effects, Surface};

mod payload;
mod sample;

/// A value that shows a break, replayed before it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// Where it shows.
    pub surface: Surface,
    /// Who wrote it: the old side for backward, the new side for forward.
    pub direction: Direction,
    /// The full name of its type on the side that wrote it.
    pub message: String,
    /// The full name of its type on the side that reads it.
    pub reader: String,
    /// The value, in JSON on the surface `json` and in text format elsewhere.
    pub value: String,
    /// Its bytes as they were read: the wire encoding on `wire` and
    /// `validation`, else the text.
    pub bytes: Vec<u8>,
    /// What the reader makes of it: one lower-case phrase.
    pub observed: String,
}

impl Witness {
    /// The value as a report for people shows it: short, with what repeats
    /// counted.
    pub fn shown(&self) -> String {
        shortened(&self.value)
    }
}

/// Effects on notations, each with a witness.
#[derive(Clone, Debug, Default)]
pub struct Proof {
    /// What was shown.
    pub effects: Effects,
    /// The smallest value for each of them: backward before forward, and the
    /// wire before JSON before text.
    pub witnesses: Vec<Witness>,
}

impl Proof {
    /// The proof that this witness is.
    pub fn of(witness: Witness) -> Proof {
        let mut proof = Proof::default();
        proof.add(witness);
        proof
    }

    fn add(&mut self, witness: Witness) {
        if self.effects.contains(witness.surface, witness.direction) {
            return;
        }
        self.effects.insert(witness.surface, witness.direction);
        let rank = |it: &Witness| (it.direction, it.surface);
        let at = self.witnesses.partition_point(|known| rank(known) < rank(&witness));
        self.witnesses.insert(at, witness);
    }

    /// The same proof on some of its surfaces.
    #[must_use]
    pub fn on(mut self, surfaces: &[Surface]) -> Proof {
        self.witnesses.retain(|it| surfaces.contains(&it.surface));
        Proof { effects: self.effects.on(surfaces), ..self }
    }
}

/// The field that a value is about, on the side that writes it and on the side
/// that reads it.
type Probed<'t> = (Option<Field<'t>>, Option<Field<'t>>);

/// One direction of a pair: who writes and who reads.
#[derive(Clone, Copy)]
pub(crate) struct Crossing<'d, 't> {
    diff: &'d Diff<'t>,
    direction: Direction,
    /// The notation, where it matters.
    surface: Option<Surface>,
}

impl<'t> Diff<'t> {
    /// What happens to values of a field when they cross, in each notation and
    /// direction. Of a field that one side lacks, the values of the other are
    /// tried, and its absence. What absence means of a field that both have is
    /// not for its name or number to tell.
    pub fn prove_field(&self, change: Change<Field<'t>>) -> Proof {
        let mut proof = Proof::default();
        for (crossing, writer, reader) in self.crossings(change.old(), change.new()) {
            crossing.field(writer, reader, &mut proof);
        }
        proof
    }

    /// The same for a field that both sides have and its absence, in the notations
    /// in which both find it: what another name or number does elsewhere is a
    /// change of its own.
    pub fn prove_kept(&self, old: Field<'t>, new: Field<'t>) -> Proof {
        let name = |field: Field<'t>| match field.is_extension() {
            true => field.full_name(),
            false => field.name().to_owned(),
        };
        let kept = |surface: &Surface| match surface {
            Surface::Wire => old.number() == new.number(),
            Surface::Json if old.is_extension() => name(old) == name(new),
            Surface::Json => old.json_name() == new.json_name(),
            _ => name(old) == name(new),
        };
        let surfaces: Vec<Surface> =
            Surface::NOTATIONS.iter().copied().filter(|it| kept(it)).collect();
        let mut proof = self.prove_absence(old, new);
        for (crossing, writer, reader) in self.crossings(old, new) {
            crossing.field(Some(writer), Some(reader), &mut proof);
        }
        proof.on(&surfaces)
    }

    /// What readers make of values of a field where another field has its number:
    /// even what fits is taken for something that it is not.
    pub fn prove_replaced(&self, old: Field<'t>, new: Field<'t>) -> Proof {
        let mut proof = self.prove_field(Change::Both { old, new });
        for (crossing, writer, reader) in self.crossings(old, new) {
            crossing.mistaken(writer, reader, &mut proof);
        }
        proof
    }

    /// What becomes of a field that both sides have where it is absent.
    pub fn prove_absence(&self, old: Field<'t>, new: Field<'t>) -> Proof {
        let mut proof = Proof::default();
        for (crossing, writer, reader) in self.crossings(old, new) {
            crossing.absence(writer, reader, &mut proof);
        }
        proof
    }

    /// What becomes of a zero that somebody set where the reader's field has no
    /// presence: it comes and goes as if nobody had.
    pub fn prove_presence(&self, old: Field<'t>, new: Field<'t>) -> Proof {
        let mut proof = Proof::default();
        for (crossing, writer, reader) in self.crossings(old, new) {
            let forgets = (writer.presence(), reader.presence());
            if forgets == (Presence::Explicit, Presence::Implicit) {
                crossing.forgotten(writer, reader, &mut proof);
            }
        }
        proof
    }

    /// Whether two values of a field, the one old and the other new, are of one
    /// kind and do not mean the same.
    pub fn differ(&self, fields: (Field<'t>, Field<'t>), was: &Value, is: &Value) -> bool {
        let kind = |value: &Value| (number(value).is_some(), value.as_bytes().is_some());
        let crossing = self.crossing(Direction::Backward);
        kind(was) == kind(is) && !crossing.equal(fields.0.ty(), fields.1.ty(), was, is)
    }

    /// What happens to these values of an enum when they cross, in each kind of
    /// field that holds it. Numbers are tried in the direction of the side that
    /// writes them: the old side's first.
    pub fn prove_enum(&self, old: Enum<'t>, new: Enum<'t>, numbers: [&[i32]; 2]) -> Proof {
        let mut proof = Proof::default();
        for (crossing, writer, reader) in self.crossings(old, new) {
            let numbers = numbers[crossing.direction as usize];
            for (crossing, from, to) in crossing.carriers(writer, reader) {
                for &number in numbers {
                    if let Some(value) = crossing.around_enum(from, number) {
                        crossing.carry(&value, (Some(from), Some(to)), None, &mut proof);
                    }
                }
            }
        }
        proof
    }

    /// What becomes of the absence of a field whose default is that of its
    /// enum: the first value.
    pub fn prove_enum_default(&self, old: Enum<'t>, new: Enum<'t>) -> Proof {
        let mut proof = Proof::default();
        for (crossing, writer, reader) in self.crossings(old, new) {
            for (crossing, from, to) in crossing.carriers(writer, reader) {
                crossing.absence(from, to, &mut proof);
            }
        }
        proof
    }

    /// What happens to JSON and text in which somebody wrote a value by this
    /// name of either side, which need not be the one that is printed.
    pub fn prove_value_name(
        &self,
        (old, new): (Enum<'t>, Enum<'t>),
        value: Change<EnumValue<'t>>,
    ) -> Proof {
        let mut proof = Proof::default();
        for (crossing, writer, reader) in self.crossings(old, new) {
            let named = match crossing.direction {
                Direction::Backward => value.old(),
                Direction::Forward => value.new(),
            };
            // A zero that a field without presence holds is not printed:
            // another value keeps its place.
            let printed = writer.values().find(|it| it.number() != 0);
            let (Some(named), Some(printed)) = (named, printed) else { continue };
            let spelling = Some((printed.name(), named.name()));
            for (crossing, from, to) in crossing.carriers(writer, reader) {
                if let Some(value) = crossing.around_enum(from, printed.number()) {
                    crossing.carry(&value, (Some(from), Some(to)), spelling, &mut proof);
                }
            }
        }
        proof
    }

    /// The names by which JSON and text print one number of an enum, where they
    /// are not the same on both sides. Who compares what is printed is broken
    /// in both directions, even if every reader of protobuf knows both names.
    pub fn prove_printed_name(&self, old: Enum<'t>, new: Enum<'t>, number: i32) -> Proof {
        let mut proof = Proof::default();
        for (crossing, writer, reader) in self.crossings(old, new) {
            for (crossing, from, to) in crossing.carriers(writer, reader) {
                // The same value with the types of the reader.
                let back = self.crossing(crossing.direction.other());
                let values = crossing.around_enum(from, number).zip(back.around_enum(to, number));
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
                        let other = one_line(&String::from_utf8_lossy(&other));
                        let observed = format!("the {side} side prints it as `{other}`");
                        let reads = crossing.reader().message(theirs.ty);
                        proof.add(crossing.witness(surface, (&ours, reads), printed, observed));
                    }
                }
            }
        }
        proof
    }

    fn crossing(&self, direction: Direction) -> Crossing<'_, 't> {
        Crossing { diff: self, direction, surface: None }
    }

    /// Both directions of a pair, backward first, with the side that writes and
    /// the side that reads.
    fn crossings<T: Copy>(&self, old: T, new: T) -> impl Iterator<Item = (Crossing<'_, 't>, T, T)> {
        let crossing = |direction| self.crossing(direction);
        let backward = (crossing(Direction::Backward), old, new);
        [backward, (crossing(Direction::Forward), new, old)].into_iter()
    }
}

impl<'d, 't> Crossing<'d, 't> {
    /// The same crossing in one notation.
    fn on(self, surface: Surface) -> Self {
        Crossing { surface: Some(surface), ..self }
    }

    fn writer(self) -> &'t Tree {
        match self.direction {
            Direction::Backward => self.diff.old,
            Direction::Forward => self.diff.new,
        }
    }

    fn reader(self) -> &'t Tree {
        match self.direction {
            Direction::Backward => self.diff.new,
            Direction::Forward => self.diff.old,
        }
    }

    fn message(self, writer: Message<'t>) -> Option<Message<'t>> {
        match self.direction {
            Direction::Backward => self.diff.new_message(writer),
            Direction::Forward => self.diff.old_message(writer),
        }
    }

    fn reader_field(self, writer: Field<'t>) -> Option<Field<'t>> {
        let namesake = || self.message(writer.parent()?)?.field_named(writer.name());
        self.by_name(writer).then(namesake).flatten().or_else(|| match self.direction {
            Direction::Backward => self.diff.new_field(writer),
            Direction::Forward => self.diff.old_field(writer),
        })
    }

    fn writer_field(self, reader: Field<'t>) -> Option<Field<'t>> {
        let holder = |holder| match self.direction {
            Direction::Backward => self.diff.old_message(holder),
            Direction::Forward => self.diff.new_message(holder),
        };
        let namesake = || holder(reader.parent()?)?.field_named(reader.name());
        self.by_name(reader).then(namesake).flatten().or_else(|| match self.direction {
            Direction::Backward => self.diff.old_field(reader),
            Direction::Forward => self.diff.new_field(reader),
        })
    }

    /// Whether a field is what its name says, whatever its number.
    fn by_name(self, field: Field<'t>) -> bool {
        matches!(self.surface, Some(Surface::Json | Surface::Text)) && !field.is_extension()
    }

    /// Whether it is about this notation.
    fn is_on(self, surface: Surface) -> bool {
        self.surface.is_none_or(|it| it == surface)
    }

    /// Fields of the writer's side that hold this enum, and of the reader's that
    /// are the same but for what the enum itself is, with the crossing in which
    /// they are: one of each kind. A field that got another name is the same on
    /// the wire alone.
    fn carriers(self, item: Enum<'t>, twin: Enum<'t>) -> Vec<(Self, Field<'t>, Field<'t>)> {
        let (writer, reader) = (self.writer(), self.reader());
        let proto2 = |field: Field<'t>| field.file().decl().edition == Edition::Proto2;
        let kind = |field: Field<'t>| (field.cardinality(), field.presence(), proto2(field));
        let mut kinds = Vec::new();
        let mut carriers = Vec::new();
        for surface in [None].into_iter().chain(Surface::NOTATIONS.iter().copied().map(Some)) {
            let crossing = Crossing { surface, ..self };
            let is_one_place = |from: Field<'t>, to: Field<'t>| match surface {
                Some(Surface::Wire) => from.number() == to.number(),
                Some(Surface::Text) => from.name() == to.name(),
                Some(_) => from.json_name() == to.json_name(),
                None => {
                    let place = |it: Field<'t>| (it.number(), it.name(), it.json_name());
                    place(from) == place(to)
                }
            };
            for from in self.diff.users(self.direction, item.id) {
                let from = writer.field(from);
                let Some(to) = crossing.reader_field(from) else { continue };
                let known = |at| kinds.contains(&(at, kind(from), kind(to)));
                // What costs something is asked last: an enum may have many users.
                let paired = || {
                    from.containing_message().is_some_and(|it| {
                        self.message(it).is_some() && sample::minimal(writer, it.id, 0).is_some()
                    })
                };
                if held_enum(to).map(|id| reader.enumeration(id)) == Some(twin)
                    && is_one_place(from, to)
                    && from.cardinality() == to.cardinality()
                    && !known(None)
                    && !known(surface)
                    && paired()
                {
                    kinds.push((surface, kind(from), kind(to)));
                    carriers.push((crossing, from, to));
                }
            }
        }
        carriers
    }

    /// The smallest valid message that holds this value of an enum in a field,
    /// for a map in an entry of it.
    fn around_enum(self, field: Field<'t>, number: i32) -> Option<value::Message> {
        let value = Value::Enum(number);
        let value = match field.message_type() {
            None => value,
            Some(entry) => sample::entry(entry, value)?,
        };
        self.around(field, vec![value])
    }

    /// The smallest valid message that holds these values of a field.
    fn around(self, field: Field<'t>, values: Vec<Value>) -> Option<value::Message> {
        let holder = field.containing_message()?;
        let message = sample::minimal(self.writer(), holder.id, 0)?;
        Some(sample::with(message, field, values))
    }

    /// The first value on the wire that the reader has in another field.
    fn mistaken(self, writer: Field<'t>, reader: Field<'t>, proof: &mut Proof) {
        if proof.effects.contains(Surface::Wire, self.direction) {
            return;
        }
        for values in sample::occurrences(self, writer, Some(reader)) {
            let Some(value) = self.around(writer, values) else { continue };
            let Some(target) = self.message(self.writer().message(value.ty)) else { return };
            let bytes = value.encode(self.writer());
            let Ok(read) = read(Surface::Wire, self.reader(), target.id, &bytes) else { continue };
            let taken: Vec<&Value> = read.of(reader.id).map(|entry| &entry.value).collect();
            let observed = self.values(None, reader, &[], &taken).filter(|_| !taken.is_empty());
            if let Some(observed) = observed {
                proof.add(self.witness(Surface::Wire, (&value, target), bytes, observed));
                return;
            }
        }
    }

    /// A zero that is set no more once the reader has written it again.
    fn forgotten(self, writer: Field<'t>, reader: Field<'t>, proof: &mut Proof) {
        let zero = default_of(reader).filter(|_| self.same_type(writer, reader));
        let Some(value) = zero.and_then(|zero| self.around(writer, vec![zero])) else { return };
        let Some(target) = self.message(self.writer().message(value.ty)) else { return };
        let is_set = |value: &value::Message| value.of(writer.id).next().is_some();
        for &surface in Surface::NOTATIONS {
            let Some(bytes) = write(surface, self.writer(), &value) else { continue };
            let read_back = |bytes: &[u8]| read(surface, self.writer(), value.ty, bytes).ok();
            // What the writer itself does not take back proves nothing.
            let sets = read_back(&bytes).is_some_and(|it| is_set(&it));
            let Ok(read) = read(surface, self.reader(), target.id, &bytes) else { continue };
            let again = write(surface, self.reader(), &read).and_then(|it| read_back(&it));
            if sets && again.is_some_and(|it| !is_set(&it)) {
                let observed = format!(
                    "the {} reader takes it for no value, and does not write `{}` again",
                    self.direction.reader(),
                    reader.name(),
                );
                proof.add(self.witness(surface, (&value, target), bytes, observed));
            }
        }
    }

    fn absence(self, writer: Field<'t>, reader: Field<'t>, proof: &mut Proof) {
        if let Some(absent) = self.around(writer, Vec::new()) {
            self.carry(&absent, (Some(writer), Some(reader)), None, proof);
        }
    }

    fn field(self, writer: Option<Field<'t>>, reader: Option<Field<'t>>, proof: &mut Proof) {
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
        let Some(holder) = holder.filter(|it| self.message(*it).is_some()) else { return };
        let probed = writer.zip(reader);
        // Nothing said is a value, too.
        if probed.is_none()
            && let Some(mut absent) = sample::minimal(self.writer(), holder.id, 0)
        {
            absent.entries.retain(|entry| Some(entry.field) != writer.map(|it| it.id));
            self.carry(&absent, (writer, reader), None, proof);
        }
        let Some(writer) = writer else { return };
        for values in sample::occurrences(self, writer, reader) {
            if let Some(message) = self.around(writer, values) {
                self.carry(&message, (Some(writer), reader), None, proof);
            }
        }
        let Some((writer, reader)) = probed else { return };
        for other in self.joined(writer, reader) {
            let first = |field| sample::occurrences(self, field, None).into_iter().next();
            if let (Some(mut message), Some(values)) =
                (first(writer).and_then(|it| self.around(writer, it)), first(other))
            {
                let values = values.into_iter().map(|value| Entry::new(other.id, value));
                message.entries.extend(values);
                self.carry(&message, (Some(writer), Some(reader)), None, proof);
            }
        }
    }

    /// The fields that can be set together with this one on the writer's side,
    /// but not on the reader's: members of one oneof there.
    fn joined(self, writer: Field<'t>, reader: Field<'t>) -> Vec<Field<'t>> {
        let Some(oneof) = reader.oneof().filter(|it| !it.is_synthetic()) else {
            return Vec::new();
        };
        let others = oneof.fields().filter_map(|field| self.writer_field(field));
        others
            .filter(|other| other.id != writer.id)
            .filter(|other| other.oneof().is_none() || other.oneof() != writer.oneof())
            .collect()
    }

    /// Writes a value on one side and reads it on the other, in each notation.
    /// The value is about one field; what befalls its siblings proves nothing.
    fn carry(
        self,
        value: &value::Message,
        probed: Probed<'t>,
        spelling: Option<(&str, &str)>,
        proof: &mut Proof,
    ) {
        let (writer, reader) = (self.writer(), self.reader());
        let Some(target) = self.message(writer.message(value.ty)) else { return };
        let value = value.normalized(writer);
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
                    Some((printed, name)) => respelled(&bytes, printed, name),
                    None => Some(bytes),
                }
            };
            let Some(bytes) = written(&value) else { continue };
            // What the writer itself does not take back proves nothing.
            let Ok(again) = read(surface, writer, value.ty, &bytes) else { continue };
            let again = bare(&again);
            if spelling.is_none() && again != bare(&value) {
                continue;
            }
            let value = again;
            let (observed, is_missed) = match read(surface, reader, target.id, &bytes) {
                Err(refusal) => {
                    let missed = match &refusal {
                        Refusal::Missing(field) => !self.blames(probed, &value, target, *field),
                        Refusal::Malformed(_) => false,
                    };
                    (Some(self.refused(refusal)), missed)
                }
                Ok(read) => (self.on(surface).difference(&value, &read, probed), false),
            };
            let Some(observed) = observed else { continue };
            let observed = if !is_missed && self.siblings_cross(surface, &value, probed) {
                Some(observed)
            } else {
                let mut part = value.clone();
                part.entries.retain(|entry| Some(entry.field) == probed.0.map(|it| it.id));
                let alone = written(&part)
                    .and_then(|bytes| self.alone(surface, (&part, target), &bytes, probed));
                // A reader that refuses the value for a sibling takes it for nothing.
                alone.map(|alone| if is_missed && !alone.refused { observed } else { alone.words })
            };
            if let Some(observed) = observed {
                proof.add(self.witness(surface, (&value, target), bytes, observed));
            }
        }
    }

    /// What befalls a field by itself, whatever else its message must hold.
    fn alone(
        self,
        surface: Surface,
        (value, target): (&value::Message, Message<'t>),
        bytes: &[u8],
        probed: Probed<'t>,
    ) -> Option<Alone> {
        let read = match parse(surface, self.reader(), target.id, bytes) {
            Ok(read) => read,
            Err(refusal) => return Some(Alone { refused: true, words: self.refused(refusal) }),
        };
        if let Some(to) = probed.1 {
            let required = to.presence() == Presence::LegacyRequired;
            let mut inside = read.of(to.id).filter_map(|entry| entry.value.as_message());
            let missing = match probed.0 {
                _ if required && read.of(to.id).next().is_none() => Some(to),
                Some(from) if !self.same_type(from, to) => {
                    inside.find_map(|it| it.missing_required(self.reader()))
                }
                _ => None,
            };
            if let Some(missing) = missing {
                let words = self.refused(Refusal::Missing(missing.id));
                return Some(Alone { refused: true, words });
            }
        }
        let words = self.on(surface).difference(value, &read, probed)?;
        Some(Alone { refused: false, words })
    }

    fn refused(self, refusal: Refusal) -> String {
        let reader = self.direction.reader();
        format!("the {reader} reader refuses it: {}", refusal.reason(self.reader()))
    }

    /// Whether a value says nothing, and the reader asks for nothing: what is
    /// written is empty in each notation, a pair of braces in JSON, and what is
    /// read is nothing again. JSON of some of the well-known types is another.
    fn is_nothing(self, value: &value::Message, target: Message<'t>, probed: Probed<'t>) -> bool {
        let own = |it: Message<'t>| it.package().name() != "google.protobuf";
        value.entries.is_empty()
            && value.unknown.is_empty()
            && probed.0.zip(probed.1).is_none()
            && own(target)
            && own(self.writer().message(value.ty))
            && target.fields().all(|it| it.presence() != Presence::LegacyRequired)
    }

    fn witness(
        self,
        surface: Surface,
        (value, reads): (&value::Message, Message<'t>),
        bytes: Vec<u8>,
        observed: String,
    ) -> Witness {
        let tree = self.writer();
        let shown = match surface {
            Surface::Wire => value.to_text(tree),
            _ => String::from_utf8_lossy(&bytes).into_owned(),
        };
        Witness {
            surface,
            direction: self.direction,
            message: tree.message(value.ty).full_name(),
            reader: reads.full_name(),
            value: one_line(&shown),
            bytes,
            observed,
        }
    }

    /// Whether it is for the probed field that a required one is missing: it is
    /// that field, or one inside of a type that the other side has not there.
    fn blames(
        self,
        probed: Probed<'t>,
        value: &value::Message,
        target: Message<'t>,
        missing: FieldId,
    ) -> bool {
        let field = self.reader().field(missing);
        let beside = field.containing_message() == Some(target)
            && self.writer_field(field).is_none_or(|it| value.of(it.id).next().is_none());
        match probed {
            (_, Some(to)) if to.id == missing => true,
            (Some(from), Some(to)) => !beside && !self.same_type(from, to),
            _ => false,
        }
    }

    /// Whether what must stand beside the probed field crosses unharmed.
    fn siblings_cross(self, surface: Surface, value: &value::Message, probed: Probed<'t>) -> bool {
        let Some(mut rest) = sample::minimal(self.writer(), value.ty, 0) else { return false };
        rest.entries.retain(|entry| Some(entry.field) != probed.0.map(|it| it.id));
        let target = self.message(self.writer().message(value.ty));
        let (Some(target), false) = (target, rest.entries.is_empty()) else { return true };
        let Some(bytes) = write(surface, self.writer(), &rest) else { return false };
        match read(surface, self.reader(), target.id, &bytes) {
            Err(Refusal::Missing(field)) => Some(field) == probed.1.map(|it| it.id),
            Err(Refusal::Malformed(_)) => false,
            Ok(mut read) => {
                read.entries.retain(|entry| Some(entry.field) != probed.1.map(|it| it.id));
                self.on(surface).difference(&rest, &read, (None, None)).is_none()
            }
        }
    }

    /// Whether the reader has the same field of a scalar type.
    fn kept(self, field: Field<'t>) -> bool {
        let place = |field: Field<'t>| (field.number(), field.name(), field.json_name());
        let kind = |field: Field<'t>| (field.ty(), field.cardinality(), field.presence());
        matches!(field.ty(), Type::Scalar(_))
            && self
                .reader_field(field)
                .is_some_and(|twin| place(field) == place(twin) && kind(field) == kind(twin))
    }

    fn same_type(self, writer: Field<'t>, reader: Field<'t>) -> bool {
        self.are_paired(writer.ty(), reader.ty())
    }

    fn are_paired(self, writer: Type, reader: Type) -> bool {
        match self.direction {
            Direction::Backward => self.diff.same_type(writer, reader),
            Direction::Forward => self.diff.same_type(reader, writer),
        }
    }

    /// How the reader's value means something else than the writer's.
    fn difference(
        self,
        wrote: &value::Message,
        read: &value::Message,
        probed: Probed<'t>,
    ) -> Option<String> {
        let (writer, reader) = (self.writer(), self.reader());
        let mut pairs: Vec<(Option<Field<'t>>, Field<'t>)> = Vec::new();
        for entry in &wrote.entries {
            let field = writer.field(entry.field);
            // A field that the reader never had is skipped, which is no break.
            if let Some(twin) = self.reader_field(field) {
                pairs.push((Some(field), twin));
            }
        }
        for entry in &read.entries {
            let field = reader.field(entry.field);
            pairs.push((self.writer_field(field), field));
        }
        if let (Some(from), Some(to)) = probed {
            pairs.push((Some(from), to));
        }
        pairs.sort_by_key(|(_, reader)| reader.number());
        pairs.dedup_by_key(|(_, reader)| reader.id);
        pairs.into_iter().find_map(|(from, to)| {
            let was: Vec<&Value> =
                from.into_iter().flat_map(|it| wrote.of(it.id)).map(|it| &it.value).collect();
            let is: Vec<&Value> = read.of(to.id).map(|entry| &entry.value).collect();
            self.values(from, to, &was, &is)
        })
    }

    fn values(
        self,
        from: Option<Field<'t>>,
        to: Field<'t>,
        was: &[&Value],
        is: &[&Value],
    ) -> Option<String> {
        let name = to.name();
        let reader = self.direction.reader();
        let Some(from) = from else {
            let value = shown_all(to, is);
            return Some(format!("the {reader} reader takes it for `{name}` = {value}"));
        };
        let (before, after) = (meant(from, was), meant(to, is));
        // A message has no default, and the zeros of two types are alike.
        let nothing = |values: &[Value]| values.is_empty() || is_zero(values);
        if was.is_empty() && is.is_empty() && nothing(&before) && nothing(&after) {
            return None;
        }
        let singular = |field: Field<'_>| field.cardinality() == Cardinality::Singular;
        // Between one value and many, a zero that is not there is no value.
        if singular(from) != singular(to) && nothing(&before) && nothing(&after) {
            return None;
        }
        if self.equal_lists(from, to, &before, &after) {
            return None;
        }
        let refs = |field: Field<'t>, values: &[Value]| -> String {
            shown_all(field, &values.iter().collect::<Vec<_>>())
        };
        Some(match (is.is_empty(), was.is_empty()) {
            (true, false) => format!("`{name}` is lost: the {reader} reader sees none"),
            _ if matches!((&before[..], &after[..]), ([Value::F64(_)], [Value::F32(_)])) => {
                let wrote = refs(from, &before);
                format!("the {reader} reader takes `{name}` for the nearest float to {wrote}")
            }
            _ => format!(
                "the {reader} reader takes `{name}` for {} instead of {}",
                refs(to, &after),
                refs(from, &before),
            ),
        })
    }

    /// Whether the values of a field mean the same, in their order; the pairs
    /// of maps in any order.
    fn equal_lists(
        self,
        from: Field<'t>,
        to: Field<'t>,
        before: &[Value],
        after: &[Value],
    ) -> bool {
        let equal = |was: &Value, is: &Value| self.equal(from.ty(), to.ty(), was, is);
        if before.len() != after.len() {
            return false;
        }
        if !from.is_map() && !to.is_map() {
            return before.iter().zip(after).all(|(was, is)| equal(was, is));
        }
        let mut left: Vec<&Value> = after.iter().collect();
        before.iter().all(|was| {
            let found = left.iter().position(|is| equal(was, is));
            found.map(|at| left.remove(at)).is_some()
        })
    }

    /// Whether two values of two types mean the same.
    fn equal(self, from: Type, to: Type, was: &Value, is: &Value) -> bool {
        match (was, is) {
            (Value::Message(was), Value::Message(is)) => {
                // Of two types that are no pair, fields go by their numbers.
                let twin = self.message(self.writer().message(was.ty));
                if twin.is_some_and(|it| it.id == is.ty) {
                    self.difference(was, is, (None, None)).is_none()
                } else {
                    self.equal_apart(was, is)
                }
            }
            (Value::Enum(was), Value::Enum(is)) => self.equal_enum(from, to, *was, *is),
            (Value::Message(message), other) => {
                let wrapped = wrapped(self.writer(), message);
                wrapped.is_some_and(|(ty, was)| self.equal(ty, to, &was, other))
                    || other.as_bytes().is_some_and(|it| message.encode(self.writer()) == it)
            }
            (other, Value::Message(message)) => {
                let wrapped = wrapped(self.reader(), message);
                let decoded = |bytes| value::Message::decode(self.reader(), message.ty, bytes);
                wrapped.is_some_and(|(ty, is)| self.equal(from, ty, other, &is))
                    || other
                        .as_bytes()
                        .is_some_and(|it| decoded(it).is_ok_and(|it| it == **message))
            }
            // The shortest decimal of a float is the same number as a double.
            (Value::F32(was), Value::F64(is)) => was.to_bits() == (*is as f32).to_bits(),
            _ => match (number(was), number(is)) {
                (Some(was), Some(is)) => was == is,
                (None, None) => match (was.as_bytes(), is.as_bytes()) {
                    (Some(was), Some(is)) => was == is,
                    _ => false,
                },
                _ => false,
            },
        }
    }

    /// The same for values of two types that are no pair: fields go by their
    /// numbers, or by their names where these are what is written.
    fn equal_apart(self, was: &value::Message, is: &value::Message) -> bool {
        let (from, to) = (self.writer().message(was.ty), self.reader().message(is.ty));
        let twin = |field: Field<'t>| match self.by_name(field) {
            true => to.field_named(field.name()),
            false => to.field_numbered(field.number()),
        };
        fn values<'m>(message: &'m value::Message, field: Field<'_>) -> Vec<&'m Value> {
            message.of(field.id).map(|entry| &entry.value).collect()
        }
        let mut shared = false;
        for field in from.fields() {
            // What the reader's type lacks is skipped.
            let Some(twin) = twin(field) else { continue };
            shared = true;
            let (was, is) = (values(was, field), values(is, twin));
            if self.values(Some(field), twin, &was, &is).is_some() {
                return false;
            }
        }
        // With nothing in common, all of the value is lost.
        let nothing = |message: &value::Message| message.entries.is_empty();
        shared || nothing(was) == nothing(is)
    }

    /// An enum value that both sides have is the same; a number that only one
    /// of them knows stays what it is.
    fn equal_enum(self, from: Type, to: Type, was: i32, is: i32) -> bool {
        let (Type::Enum(from), Type::Enum(to)) = (from, to) else { return was == is };
        let values = self.writer().enumeration(from).values().filter(|it| it.number() == was);
        let mut paired = values
            .filter_map(|it| match self.direction {
                Direction::Backward => self.diff.new_value(it),
                Direction::Forward => self.diff.old_value(it),
            })
            .filter(|it| it.parent().id == to)
            .peekable();
        match paired.peek() {
            // Of several names for one number, nobody can tell which is meant.
            Some(_) => paired.any(|it| it.number() == is),
            // Values of other enums are the same where notations name them alike.
            None if self.surface.is_some_and(|it| it != Surface::Wire)
                && self.share_name(from, to, was, is) =>
            {
                true
            }
            None if was != is => false,
            // The number may have gone to another value.
            None if self.are_paired(Type::Enum(from), Type::Enum(to)) => {
                !self.was_elsewhere(from, to, is)
            }
            None => self.mean_the_same(from, to, is),
        }
    }

    /// Whether a number means the same in two enums that are no pair: by a name
    /// that both have for it, whatever all names of the one and of the other
    /// begin with. A number that only one of them knows stays what it is, and
    /// zero is no value.
    fn mean_the_same(self, from: EnumId, to: EnumId, number: i32) -> bool {
        let was = short_names(self.writer().enumeration(from), number);
        let is = short_names(self.reader().enumeration(to), number);
        number == 0 || was.is_empty() || is.is_empty() || was.iter().any(|it| is.contains(it))
    }

    /// Whether a value of the writer's enum and one of the reader's have a name in
    /// common.
    fn share_name(self, from: EnumId, to: EnumId, was: i32, is: i32) -> bool {
        let of = |tree: &'t Tree, id, number| {
            tree.enumeration(id).values().filter(move |it| it.number() == number)
        };
        of(self.writer(), from, was)
            .any(|was| of(self.reader(), to, is).any(|is| is.name() == was.name()))
    }

    /// Whether the value that the reader has for a number is one that the
    /// writer has for another.
    fn was_elsewhere(self, from: EnumId, to: EnumId, number: i32) -> bool {
        let mut values = self.reader().enumeration(to).values().filter(|it| it.number() == number);
        let paired = match self.direction {
            Direction::Backward => values.find_map(|it| self.diff.old_value(it)),
            Direction::Forward => values.find_map(|it| self.diff.new_value(it)),
        };
        paired.is_some_and(|it| it.parent().id == from && it.number() != number)
    }
}

/// What a list of values means: the default of a singular field that is not
/// there, and of pairs of a map with one key the last.
fn meant(field: Field<'_>, values: &[&Value]) -> Vec<Value> {
    match field.cardinality() {
        Cardinality::Singular if values.is_empty() => default_of(field).into_iter().collect(),
        Cardinality::Singular | Cardinality::Repeated => {
            values.iter().map(|it| (*it).clone()).collect()
        }
        Cardinality::Map => {
            let mut pairs: Vec<(Option<Value>, Value)> = Vec::new();
            for &value in values {
                let key = value.as_message().and_then(|it| it.numbered(field.tree, 1));
                let key = key.map(|entry| entry.value.clone());
                pairs.retain(|(known, _)| *known != key);
                pairs.push((key, value.clone()));
            }
            pairs.into_iter().map(|(_, value)| value).collect()
        }
    }
}

/// The type and the value that a wrapper such as `google.protobuf.Int32Value`
/// holds: in JSON it is written without the wrapper.
fn wrapped(tree: &Tree, message: &value::Message) -> Option<(Type, Value)> {
    let ty = tree.message(message.ty);
    let name = ty.full_name();
    let of = name.strip_prefix("google.protobuf.")?.strip_suffix("Value")?;
    let scalars =
        ["Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes"];
    let field = ty.field_numbered(1).filter(|_| scalars.contains(&of))?;
    let held = message.of(field.id).next_back().map(|entry| entry.value.clone());
    Some((field.ty(), held.or_else(|| default_of(field))?))
}

/// The names for one number of an enum, without the words that the names of all
/// its numbers begin with.
fn short_names(item: Enum<'_>, number: i32) -> Vec<&str> {
    let names = || item.values().map(EnumValue::name);
    let first = names().next().unwrap_or_default();
    let shared = |end: &usize| names().all(|it| it.starts_with(&first[..*end]));
    let ends = first.match_indices('_').map(|(at, _)| at + 1);
    let prefix = ends.rev().find(shared).unwrap_or_default();
    let values = item.values().filter(|it| it.number() == number);
    values.map(|it| &it.name()[prefix..]).collect()
}

/// The same value without the places it was read from.
fn bare(message: &value::Message) -> value::Message {
    let entries = message.entries.iter().map(|entry| {
        let value = match &entry.value {
            Value::Message(inner) => Value::Message(Box::new(bare(inner))),
            value => value.clone(),
        };
        Entry::new(entry.field, value)
    });
    value::Message { ty: message.ty, entries: entries.collect(), unknown: message.unknown.clone() }
}

/// Text with one name in the place of another; `None` where the other does not
/// stand in it.
fn respelled(text: &[u8], printed: &str, name: &str) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    let at = text.rfind(printed)?;
    Some([&text[..at], name, &text[at + printed.len()..]].concat().into_bytes())
}

fn shown_all(field: Field<'_>, values: &[&Value]) -> String {
    let each: Vec<String> = values.iter().map(|value| shown(field, value)).collect();
    match each.as_slice() {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    }
}

fn write(surface: Surface, tree: &Tree, value: &value::Message) -> Option<Vec<u8>> {
    match surface {
        Surface::Wire => Some(value.encode(tree)),
        Surface::Json => value.to_json(tree).ok().map(String::into_bytes),
        _ => Some(value.to_text(tree).into_bytes()),
    }
}

/// Why a reader takes no value.
enum Refusal {
    Malformed(String),
    /// A required field.
    Missing(FieldId),
}

impl Refusal {
    fn reason(self, tree: &Tree) -> String {
        match self {
            Refusal::Malformed(reason) => reason,
            Refusal::Missing(field) => {
                format!("the required field `{}` is missing", tree.field(field).name())
            }
        }
    }
}

/// What befalls a field by itself.
struct Alone {
    /// Whether it is refused, not misread.
    refused: bool,
    words: String,
}

/// Reads a value as a runtime would that insists on required fields.
fn read(
    surface: Surface,
    tree: &Tree,
    ty: MessageId,
    bytes: &[u8],
) -> Result<value::Message, Refusal> {
    let message = parse(surface, tree, ty, bytes)?;
    match message.missing_required(tree) {
        Some(field) => Err(Refusal::Missing(field.id)),
        None => Ok(message),
    }
}

/// Reads a value of which required fields may be missing.
fn parse(
    surface: Surface,
    tree: &Tree,
    ty: MessageId,
    bytes: &[u8],
) -> Result<value::Message, Refusal> {
    let read = match surface {
        Surface::Wire => value::Message::decode(tree, ty, bytes),
        Surface::Json => value::Message::from_json(tree, ty, bytes, Undeclared::Refuse),
        _ => value::Message::from_text(tree, ty, bytes, Undeclared::Refuse),
    };
    let message = read.map_err(|error| Refusal::Malformed(error.message))?;
    Ok(message.normalized(tree))
}

/// A number of any type, where it is one: truth values count as 0 and 1.
fn number(value: &Value) -> Option<Number> {
    Some(match *value {
        Value::Bool(value) => Number::Whole(value.into()),
        Value::I32(value) | Value::Enum(value) => Number::Whole(value.into()),
        Value::I64(value) => Number::Whole(value.into()),
        Value::U32(value) => Number::Whole(value.into()),
        Value::U64(value) => Number::Whole(value.into()),
        Value::F32(value) => Number::of(value.into()),
        Value::F64(value) => Number::of(value),
        Value::String(_) | Value::Bytes(_) | Value::Message(_) => return None,
    })
}

#[derive(PartialEq)]
enum Number {
    Whole(i128),
    /// The bits of a double that is no whole number, NaN included.
    Other(u64),
}

impl Number {
    fn of(value: f64) -> Number {
        // Beyond 2^100 a double is compared by its bits.
        if value.fract() == 0.0 && value.abs() < 1e30 && !(value == 0.0 && value.is_sign_negative())
        {
            Number::Whole(value as i128)
        } else {
            Number::Other(value.to_bits())
        }
    }
}

fn is_zero(values: &[Value]) -> bool {
    matches!(values, [value] if number(value) == Some(Number::Whole(0))
        || value.as_bytes().is_some_and(<[u8]>::is_empty))
}

/// A value of a field as a reader of a report knows it.
pub fn shown(field: Field<'_>, value: &Value) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::I32(value) => value.to_string(),
        Value::I64(value) => value.to_string(),
        Value::U32(value) => value.to_string(),
        Value::U64(value) => value.to_string(),
        Value::F32(value) => decimal(value.to_string(), format!("{value:e}")),
        Value::F64(value) => decimal(value.to_string(), format!("{value:e}")),
        Value::String(value) => format!("{value:?}"),
        Value::Bytes(value) => format!("\"{}\"", value.escape_ascii()),
        Value::Enum(number) => {
            let mut values = field.enum_type().into_iter().flat_map(Enum::values);
            let name = values.find(|it| it.number() == *number).map(EnumValue::name);
            name.map_or_else(|| number.to_string(), str::to_owned)
        }
        Value::Message(value) => format!("{{ {} }}", one_line(&value.to_text(field.tree))),
    }
}

/// A number as a person would write it: in digits, unless most of them are zeros.
fn decimal(digits: String, scientific: String) -> String {
    if digits.len() > 24 { scientific } else { digits }
}

/// Text format on one line.
pub fn one_line(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// A value as a line of a report: what repeats is counted, and what goes on for
/// too long is cut off.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 400;
    const UNIT: usize = 32;
    const RUN: usize = 48;
    let mut short = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if short.len() > LONGEST {
            short += &format!("… ({} bytes more)", rest.len());
            break;
        }
        let run = (1..=UNIT.min(rest.len())).find_map(|size| {
            let unit = rest.get(..size)?;
            let count =
                rest.as_bytes().chunks(size).take_while(|it| *it == unit.as_bytes()).count();
            (count > 3 && count * size >= RUN).then_some((unit, count))
        });
        match run {
            Some((unit, count)) => {
                short += &format!("{}…(×{count})", unit.repeat(3));
                rest = &rest[unit.len() * count..];
            }
            None => {
                short.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn what_repeats_is_counted() {
        let long = |unit: &str, count: usize| unit.repeat(count);
        for (text, short) in [
            ("name: \"a\"".to_owned(), "name: \"a\""),
            (format!("s: \"{}\"", long("a", 47)), &format!("s: \"{}\"", long("a", 47))),
            (format!("s: \"{}\" b: 1", long("a", 5001)), "s: \"aaa…(×5001)\" b: 1"),
            (format!("b: \"{}\"", long("\\000", 12)), "b: \"\\000\\000\\000…(×12)\""),
            (format!("{}n: 1", long("r: \"\" ", 300)), "r: \"\" r: \"\" r: \"\" …(×300)n: 1"),
            (long("é", 60), "ééé…(×60)"),
        ] {
            assert_eq!(shortened(&text), short);
        }
        let distinct: String = (0..1000).map(|at| format!("{at}, ")).collect();
        let short = shortened(&distinct);
        assert!(short.len() < 500 && short.ends_with("bytes more)"), "{short}");
    }
}
