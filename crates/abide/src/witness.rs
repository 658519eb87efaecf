//! Values carried across a pair of types: the proof of a break.
//!
//! A value is written with the types of one side and read with those of the
//! other. What the reader refuses, loses or takes for something else is an
//! effect, and the value is its witness; no effect on a notation is claimed
//! without one. The values that are tried cover each way in which two readings
//! of one field can part: zeros, signs, the ends of ranges, bytes that are not
//! UTF-8, undeclared enum values, several elements, absence.

use abide_schema::value::{self, Entry, Undeclared, Value, default_of};
use abide_schema::{Cardinality, Enum, Field, Message, MessageId, Tree, Type};

use crate::change::{Change, Diff};
use crate::surface::{Direction, Effects, Surface};

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
    /// The value, in JSON on the surface `json` and in text format elsewhere.
    pub value: String,
    /// Its bytes as they were read: the wire encoding on `wire` and
    /// `validation`, else the text.
    pub bytes: Vec<u8>,
    /// What the reader makes of it: one lower-case phrase.
    pub observed: String,
}

/// Effects on notations, with the first witness.
#[derive(Clone, Debug, Default)]
pub struct Proof {
    /// What was shown.
    pub effects: Effects,
    /// The smallest value that shows one of them: backward before forward, and
    /// the wire before JSON before text.
    pub witness: Option<Witness>,
}

impl Proof {
    /// The proof that this witness is.
    pub(crate) fn of(witness: Witness) -> Proof {
        let mut proof = Proof::default();
        proof.add(witness);
        proof
    }

    fn add(&mut self, witness: Witness) {
        self.effects.insert(witness.surface, witness.direction);
        let rank = |it: &Witness| (it.direction, it.surface);
        if self.witness.as_ref().is_none_or(|known| rank(&witness) < rank(known)) {
            self.witness = Some(witness);
        }
    }

    /// The same proof on some of its surfaces. The witness goes if it shows
    /// another one.
    #[must_use]
    pub fn on(self, surfaces: &[Surface]) -> Proof {
        let witness = self.witness.filter(|it| surfaces.contains(&it.surface));
        Proof { effects: self.effects.on(surfaces), witness }
    }
}

/// One direction of a pair: who writes and who reads.
#[derive(Clone, Copy)]
pub(crate) struct Crossing<'d, 't> {
    diff: &'d Diff<'t>,
    direction: Direction,
}

impl<'t> Diff<'t> {
    /// What happens to values of a field when they cross, in each notation and
    /// direction. Of a field that one side lacks, the values of the other are
    /// tried, and its absence.
    pub fn prove_field(&self, change: Change<Field<'t>>) -> Proof {
        let mut proof = Proof::default();
        for &direction in Direction::ALL {
            let crossing = Crossing { diff: self, direction };
            let (writer, reader) = match direction {
                Direction::Backward => (change.old(), change.new()),
                Direction::Forward => (change.new(), change.old()),
            };
            crossing.field(writer, reader, &mut proof);
        }
        proof
    }

    /// What happens to these values of an enum when they cross, in the first
    /// field that can hold them. Numbers are tried in the direction of the side
    /// that names them.
    pub fn prove_enum(&self, old: Enum<'t>, new: Enum<'t>, numbers: [&[i32]; 2]) -> Proof {
        let mut proof = Proof::default();
        for (&direction, numbers) in Direction::ALL.iter().zip(numbers) {
            let crossing = Crossing { diff: self, direction };
            let writer = match direction {
                Direction::Backward => old,
                Direction::Forward => new,
            };
            let Some(field) = crossing.carrier(writer) else { continue };
            for &number in numbers {
                if let Some(value) = crossing.around(field, vec![Value::Enum(number)]) {
                    crossing.carry(&value, None, &mut proof);
                }
            }
        }
        proof
    }
}

impl<'d, 't> Crossing<'d, 't> {
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
        match self.direction {
            Direction::Backward => self.diff.new_field(writer),
            Direction::Forward => self.diff.old_field(writer),
        }
    }

    fn writer_field(self, reader: Field<'t>) -> Option<Field<'t>> {
        match self.direction {
            Direction::Backward => self.diff.old_field(reader),
            Direction::Forward => self.diff.new_field(reader),
        }
    }

    /// The first field of the writer's side that holds this enum and whose
    /// message the reader has too.
    fn carrier(self, item: Enum<'t>) -> Option<Field<'t>> {
        let files = self.writer().files();
        files.flat_map(|file| file.all_fields()).find(|field| {
            field.ty() == Type::Enum(item.id)
                && !field.is_extension()
                && field.parent().is_some_and(|it| !it.is_map_entry() && self.message(it).is_some())
                && self.reader_field(*field).is_some()
        })
    }

    /// The smallest valid message that holds these values of a field.
    fn around(self, field: Field<'t>, values: Vec<Value>) -> Option<value::Message> {
        let holder = field.containing_message()?;
        let mut message = sample::minimal(self.writer(), holder.id, 0)?;
        message.entries.retain(|entry| entry.field != field.id);
        message.entries.extend(values.into_iter().map(|value| Entry::new(field.id, value)));
        Some(message)
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
        // Nothing said is a value, too.
        if let Some(mut absent) = sample::minimal(self.writer(), holder.id, 0) {
            if writer.is_none_or(|it| it.presence() != abide_schema::Presence::LegacyRequired) {
                absent.entries.retain(|entry| Some(entry.field) != writer.map(|it| it.id));
                self.carry(&absent, writer.zip(reader), proof);
            }
        }
        let Some(writer) = writer else { return };
        for values in sample::occurrences(writer, reader) {
            if let Some(message) = self.around(writer, values) {
                self.carry(&message, reader.map(|reader| (writer, reader)), proof);
            }
        }
        let Some(reader) = reader else { return };
        for other in self.joined(writer, reader) {
            let first = |field| sample::occurrences(field, None).into_iter().next();
            if let (Some(mut message), Some(values)) =
                (first(writer).and_then(|it| self.around(writer, it)), first(other))
            {
                let values = values.into_iter().map(|value| Entry::new(other.id, value));
                message.entries.extend(values);
                self.carry(&message, Some((writer, reader)), proof);
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
    fn carry(
        self,
        value: &value::Message,
        probed: Option<(Field<'t>, Field<'t>)>,
        proof: &mut Proof,
    ) {
        let (writer, reader) = (self.writer(), self.reader());
        let Some(target) = self.message(writer.message(value.ty)) else { return };
        let value = value.normalized(writer);
        for &surface in Surface::NOTATIONS {
            let known = proof.effects.contains(surface, self.direction);
            let better = proof
                .witness
                .as_ref()
                .is_none_or(|it| (self.direction, surface) < (it.direction, it.surface));
            if known && !better {
                continue;
            }
            let Some(bytes) = write(surface, writer, &value) else { continue };
            // What the writer itself does not take back proves nothing.
            if !matches!(read(surface, writer, value.ty, &bytes), Some(Ok(_))) {
                continue;
            }
            let observed = match read(surface, reader, target.id, &bytes) {
                None => continue,
                Some(Err(reason)) => {
                    format!("the {} reader refuses it: {reason}", self.reader_word())
                }
                Some(Ok(read)) => match self.difference(&value, &read, probed) {
                    Some(difference) => difference,
                    None => continue,
                },
            };
            let shown = match surface {
                Surface::Json => String::from_utf8_lossy(&bytes).into_owned(),
                _ => one_line(&value.to_text(writer)),
            };
            proof.add(Witness {
                surface,
                direction: self.direction,
                message: writer.message(value.ty).full_name(),
                value: shown,
                bytes,
                observed,
            });
        }
    }

    fn reader_word(self) -> &'static str {
        match self.direction {
            Direction::Backward => "new",
            Direction::Forward => "old",
        }
    }

    /// How the reader's value means something else than the writer's.
    fn difference(
        self,
        wrote: &value::Message,
        read: &value::Message,
        probed: Option<(Field<'t>, Field<'t>)>,
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
        pairs.extend(probed.map(|(writer, reader)| (Some(writer), reader)));
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
        let reader = self.reader_word();
        let Some(from) = from else {
            let value = self.shown_all(self.reader(), is);
            return Some(format!("the {reader} reader takes it for `{name}` = {value}"));
        };
        let defaults = (default_of(from), default_of(to));
        let singular = |field: Field<'_>| field.cardinality() == Cardinality::Singular;
        let effective =
            |field: Field<'t>, values: &[&Value], default: &Option<Value>| -> Vec<Value> {
                if values.is_empty() && singular(field) {
                    default.iter().cloned().collect()
                } else {
                    values.iter().map(|it| (*it).clone()).collect()
                }
            };
        let mut before = effective(from, was, &defaults.0);
        let mut after = effective(to, is, &defaults.1);
        // Between one value and many, a zero that is not there is no value.
        if singular(from) != singular(to) {
            if was.is_empty() || is_zero(&before) {
                before.clear();
            }
            if is.is_empty() || is_zero(&after) {
                after.clear();
            }
        }
        let equal = before.len() == after.len()
            && before.iter().zip(&after).all(|(was, is)| self.equal(from.ty(), to.ty(), was, is));
        if equal {
            return None;
        }
        let refs = |values: &[Value], tree| -> String {
            self.shown_all(tree, &values.iter().collect::<Vec<_>>())
        };
        Some(match (is.is_empty(), was.is_empty()) {
            (true, false) => format!("`{name}` is lost: the {reader} reader sees none"),
            _ => format!(
                "the {reader} reader takes `{name}` for {} instead of {}",
                refs(&after, self.reader()),
                refs(&before, self.writer()),
            ),
        })
    }

    /// Whether two values of two types mean the same.
    fn equal(self, from: Type, to: Type, was: &Value, is: &Value) -> bool {
        match (was, is) {
            (Value::Message(was), Value::Message(is)) => {
                // Of two types that are no pair, fields go by their numbers.
                let twin = self.message(self.writer().message(was.ty));
                if twin.is_some_and(|it| it.id == is.ty) {
                    self.difference(was, is, None).is_none()
                } else {
                    self.equal_by_number(was, is)
                }
            }
            (Value::Enum(was), Value::Enum(is)) => self.equal_enum(from, to, *was, *is),
            (Value::Message(message), other) => {
                other.as_bytes().is_some_and(|bytes| message.encode(self.writer()) == bytes)
            }
            (other, Value::Message(message)) => other.as_bytes().is_some_and(|bytes| {
                let ty = message.ty;
                value::Message::decode(self.reader(), ty, bytes).is_ok_and(|it| it == **message)
            }),
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

    fn equal_by_number(self, was: &value::Message, is: &value::Message) -> bool {
        let (writer, reader) = (self.writer(), self.reader());
        let numbered = |tree: &'t Tree, message: &value::Message| {
            let mut rows: Vec<(i32, Type, Value)> = message
                .entries
                .iter()
                .map(|entry| (tree.field(entry.field), entry.value.clone()))
                .map(|(field, value)| (field.number(), field.ty(), value))
                .filter(|(_, _, value)| !is_zero(std::slice::from_ref(value)))
                .collect();
            rows.sort_by_key(|row| row.0);
            rows
        };
        let (was, is) = (numbered(writer, was), numbered(reader, is));
        was.len() == is.len()
            && was
                .iter()
                .zip(&is)
                .all(|(was, is)| was.0 == is.0 && self.equal(was.1, is.1, &was.2, &is.2))
    }

    /// An enum value that both sides have is the same; a number that only one
    /// of them knows stays what it is.
    fn equal_enum(self, from: Type, to: Type, was: i32, is: i32) -> bool {
        let (Type::Enum(from), Type::Enum(to)) = (from, to) else { return was == is };
        let mut values = self.writer().enumeration(from).values().filter(|it| it.number() == was);
        let paired = match self.direction {
            Direction::Backward => values.find_map(|it| self.diff.new_value(it)),
            Direction::Forward => values.find_map(|it| self.diff.old_value(it)),
        };
        match paired.filter(|it| it.parent().id == to) {
            Some(value) => value.number() == is,
            None => was == is,
        }
    }

    fn shown_all(self, tree: &Tree, values: &[&Value]) -> String {
        let each: Vec<String> = values.iter().map(|value| shown(tree, value)).collect();
        match each.as_slice() {
            [] => "nothing".to_owned(),
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        }
    }
}

fn write(surface: Surface, tree: &Tree, value: &value::Message) -> Option<Vec<u8>> {
    match surface {
        Surface::Wire => Some(value.encode(tree)),
        Surface::Json => value.to_json(tree).ok().map(String::into_bytes),
        _ => Some(value.to_text(tree).into_bytes()),
    }
}

/// Reads a value as a runtime would that insists on required fields; `None`
/// on a surface that is no notation.
fn read(
    surface: Surface,
    tree: &Tree,
    ty: MessageId,
    bytes: &[u8],
) -> Option<Result<value::Message, String>> {
    let read = match surface {
        Surface::Wire => value::Message::decode(tree, ty, bytes),
        Surface::Json => value::Message::from_json(tree, ty, bytes, Undeclared::Refuse),
        Surface::Text => value::Message::from_text(tree, ty, bytes, Undeclared::Refuse),
        _ => return None,
    };
    Some(match read {
        Err(error) => Err(error.message),
        Ok(message) => match message.missing_required(tree) {
            Some(field) => Err(format!("the required field `{}` is missing", field.name())),
            None => Ok(message.normalized(tree)),
        },
    })
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

fn shown(tree: &Tree, value: &Value) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::I32(value) | Value::Enum(value) => value.to_string(),
        Value::I64(value) => value.to_string(),
        Value::U32(value) => value.to_string(),
        Value::U64(value) => value.to_string(),
        Value::F32(value) => value.to_string(),
        Value::F64(value) => value.to_string(),
        Value::String(value) => format!("{value:?}"),
        Value::Bytes(value) => format!("\"{}\"", value.escape_ascii()),
        Value::Message(value) => format!("{{ {} }}", one_line(&value.to_text(tree))),
    }
}

/// Text format on one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The field whose value the entry of a map is: its key, then its value.
pub(crate) fn entry_fields(entry: Message<'_>) -> Option<(Field<'_>, Field<'_>)> {
    Some((entry.field_numbered(1)?, entry.field_numbered(2)?))
}
