//! Replays the witness of every finding, by what its value holds on both sides and by nothing else.
//!
//! A witness shows a break if the reader refuses it, has another value in a place, loses one, prints
//! it differently, or does not give it back. Places are known by their numbers on the wire, by their
//! names elsewhere. If it shows none of these, it disproves the finding that it belongs to.

use std::collections::BTreeSet;

use abide_change::{Direction, Surface, Witness, split_value_names};
use abide_lint::Finding;
use abide_schema::value::{self, Codec, UndeclaredPolicy, Value, default_of};
use abide_schema::{Cardinality, Enum, EnumValue, Field, Message, MessageId, Tree};
use abide_validate::evaluate;

/// What is wrong with findings between two trees: witnesses that show nothing, or what the finding
/// does not claim, and findings that have one fingerprint.
pub(crate) fn complaints(old: &Tree, new: &Tree, findings: &[Finding]) -> String {
    let mut complaints = String::new();
    for finding in findings {
        let Some(witness) = finding.change.as_ref().and_then(|it| it.witness.as_ref()) else {
            continue;
        };
        let (writer, reader) = match witness.direction {
            Direction::Backward => (old, new),
            Direction::Forward => (new, old),
        };
        let is_claimed = finding.effects().contains(witness.surface, witness.direction);
        let replay = Replay { writer, reader, witness };
        let fault = match replay.shows() {
            _ if !is_claimed => "is about what the finding does not claim",
            None => "cannot be read by its writer",
            Some(false) => "disproves the finding",
            Some(true) => continue,
        };
        complaints += &format!("  a witness {fault}: {}: {witness:?}\n", finding.message);
    }
    let mut known = BTreeSet::new();
    for finding in findings.iter().filter(|it| it.change.is_some()) {
        if !known.insert(finding.fingerprint()) {
            complaints += &format!("  two findings have one fingerprint: {}\n", finding.message);
        }
    }
    complaints
}

struct Replay<'t> {
    writer: &'t Tree,
    reader: &'t Tree,
    witness: &'t Witness,
}

fn read(surface: Surface, tree: &Tree, ty: MessageId, bytes: &[u8]) -> Option<value::Message> {
    let codec = Codec::new(tree);
    let read = match surface {
        Surface::Json => codec.read_json(ty, bytes, UndeclaredPolicy::Refuse).into_result(),
        Surface::Text => codec.read_text(ty, bytes, UndeclaredPolicy::Refuse).into_result(),
        _ => codec.decode(ty, bytes),
    };
    let message = read.ok()?.normalize(tree);
    message.find_missing_required(tree).is_none().then_some(message)
}

fn write(surface: Surface, tree: &Tree, value: &value::Message) -> Option<Vec<u8>> {
    match surface {
        Surface::Json => Codec::new(tree).to_json(value).ok().map(String::into_bytes),
        Surface::Text => Some(Codec::new(tree).to_text(value).into_bytes()),
        _ => Some(Codec::new(tree).encode(value)),
    }
}

impl Replay<'_> {
    /// Whether it shows a break; `None` if its own writer cannot read it.
    fn shows(&self) -> Option<bool> {
        let Witness { surface, bytes, .. } = self.witness;
        let from = self.writer.message_named(&self.witness.message)?;
        let to = self.reader.message_named(&self.witness.reader)?;
        let wrote = read(*surface, self.writer, from.id, bytes)?;
        let Some(read_value) = read(*surface, self.reader, to.id, bytes) else { return Some(true) };
        if *surface == Surface::Validation {
            let accepts = !evaluate(self.writer, &wrote).rejects();
            return Some(accepts && !evaluate(self.reader, &read_value).accepts());
        }
        if self.differs(from, to, &wrote, &read_value) {
            return Some(true);
        }
        let printed = write(*surface, self.writer, &wrote);
        let answer = write(*surface, self.reader, &read_value)?;
        if *surface != Surface::Wire && printed.as_ref() != Some(&answer) {
            return Some(true);
        }
        let again = read(*surface, self.writer, from.id, &answer);
        let set = |it: &value::Message| -> BTreeSet<i32> {
            it.entries.iter().map(|it| self.writer.field(it.field).number()).collect()
        };
        Some(again.is_none_or(|it| set(&it) != set(&wrote)))
    }

    /// Whether two messages differ in the value of any place.
    fn differs(
        &self,
        from: Message<'_>,
        to: Message<'_>,
        wrote: &value::Message,
        read: &value::Message,
    ) -> bool {
        let fields = |tree, ty: Message<'_>, value: &value::Message| -> Vec<(Field<'_>, bool)> {
            let tree: &Tree = tree;
            let of_type = tree.message(ty.id).fields().map(|it| (it, false));
            let is_extension = |it: &Field<'_>| it.is_extension();
            let set = value.entries.iter().map(|it| tree.field(it.field));
            let mut all: Vec<_> =
                of_type.chain(set.filter(is_extension).map(|it| (it, false))).collect();
            for (field, is_set) in &mut all {
                *is_set = value.entries_of(field.id).next().is_some();
            }
            all.dedup_by_key(|it| it.0.id);
            all
        };
        let (ours, theirs) = (fields(self.writer, from, wrote), fields(self.reader, to, read));
        let is_wire = self.witness.surface == Surface::Wire;
        let is_one = |one: Field<'_>, other: Field<'_>| match is_wire {
            true => one.number() == other.number(),
            false => one.json_name() == other.json_name() || one.name() == other.name(),
        };
        let values = |of: &value::Message, field: Field<'_>| -> Vec<Value> {
            of.entries_of(field.id).map(|it| it.value.clone()).collect()
        };
        let pair_differs = |(one, other): (Field<'_>, Field<'_>)| {
            self.values_differ(one, other, &values(wrote, one), &values(read, other))
        };
        let lost = |&(one, is_set): &(Field<'_>, bool)| {
            is_set && !theirs.iter().any(|it| is_one(one, it.0))
        };
        let came = |&(other, is_set): &(Field<'_>, bool)| {
            is_set && !ours.iter().any(|it| is_one(it.0, other))
        };
        if ours.iter().any(lost) || theirs.iter().any(came) {
            return true;
        }
        for &(one, is_set) in &ours {
            for &(other, _) in theirs.iter().filter(|it| is_one(one, it.0)) {
                // A number that another field has now, for a value of another field.
                let is_other = one.name() != other.name()
                    && (has_name(to, one) || has_name(from, other) || one.ty() != other.ty());
                if is_set && is_wire && is_other || pair_differs((one, other)) {
                    return true;
                }
            }
        }
        false
    }

    fn values_differ(&self, one: Field<'_>, other: Field<'_>, was: &[Value], is: &[Value]) -> bool {
        let meant = |field: Field<'_>, values: &[Value]| match field.cardinality() {
            Cardinality::Singular if values.is_empty() => default_of(field).into_iter().collect(),
            Cardinality::Map => last_of_each_key(field, values),
            _ => values.to_vec(),
        };
        if was.is_empty() && is.is_empty() && one.cardinality() != other.cardinality() {
            return false;
        }
        let (was, is) = (meant(one, was), meant(other, is));
        was.len() != is.len()
            || was.iter().zip(&is).any(|(was, is)| match (was, is) {
                (Value::Message(was), Value::Message(is)) => {
                    let (from, to) = (self.writer.message(was.ty), self.reader.message(is.ty));
                    self.differs(from, to, was, is)
                }
                (Value::Enum(was), Value::Enum(is)) => {
                    let enums = one.enum_type().zip(other.enum_type());
                    was != is || enums.is_some_and(|(from, to)| has_other_meaning(from, to, *was))
                }
                (was, is) => shown(was) != shown(is),
            })
    }
}

/// Whether a message has what has the name of a field, or the full name of an extension.
fn has_name(message: Message<'_>, of: Field<'_>) -> bool {
    match of.is_extension() {
        false => message.field_named(of.name()).is_some(),
        true => {
            let name = of.full_name();
            message.tree.extensions_named(&name).any(|it| it.extendee() == Some(message))
        }
    }
}

/// The entries of a map: a later one takes the place of one with its key.
fn last_of_each_key(field: Field<'_>, values: &[Value]) -> Vec<Value> {
    let key =
        |value: &Value| value.as_message().and_then(|it| it.find_by_number(field.tree, 1)).cloned();
    let key = |value: &Value| key(value).map(|it| it.value);
    let is_last = |(at, value): &(usize, &Value)| {
        values[at + 1..].iter().all(|later| key(later) != key(value))
    };
    values.iter().enumerate().filter(is_last).map(|(_, value)| value.clone()).collect()
}

/// Whether a number means something else in another enum: none of its names there is one that it has
/// here, and one of them is that of another number, or the enums have two names.
fn has_other_meaning(from: Enum<'_>, to: Enum<'_>, number: i32) -> bool {
    let stems = |item: Enum<'_>| -> Vec<(i32, String)> {
        let words = split_value_names(item).into_iter().map(|it| it.concat());
        item.values().map(EnumValue::number).zip(words).collect()
    };
    let (ours, theirs) = (stems(from), stems(to));
    let names = |of: &[(i32, String)]| -> BTreeSet<String> {
        of.iter().filter(|it| it.0 == number).map(|it| it.1.clone()).collect()
    };
    let (was, is) = (names(&ours), names(&theirs));
    let is_elsewhere = |names: &BTreeSet<String>, of: &[(i32, String)]| {
        of.iter().any(|it| it.0 != number && names.contains(&it.1))
    };
    was.is_disjoint(&is)
        && (is_elsewhere(&was, &theirs)
            || is_elsewhere(&is, &ours)
            || from.full_name() != to.full_name() && !was.is_empty() && !is.is_empty())
}

/// A value without its type: numbers as numbers, and texts as bytes.
fn shown(value: &Value) -> String {
    match value {
        Value::Bool(it) => u8::from(*it).to_string(),
        Value::I32(it) | Value::Enum(it) => it.to_string(),
        Value::I64(it) => it.to_string(),
        Value::U32(it) => it.to_string(),
        Value::U64(it) => it.to_string(),
        Value::F32(it) => it.to_string(),
        Value::F64(it) => it.to_string(),
        Value::String(it) => format!("{:?}", it.as_bytes()),
        Value::Bytes(it) => format!("{:?}", &it[..]),
        Value::Message(_) => "a message".to_owned(),
    }
}
