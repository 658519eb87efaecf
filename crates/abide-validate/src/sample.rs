//! Finds accepted values, as small as possible.

use std::rc::Rc;

use abide_schema::value::{self, Entry, Value};
use abide_schema::{Cardinality, Field, FieldId, MessageId, Presence, Tree, Type};

use crate::annotations::{MessageLimits, find_required_oneof};
use crate::evaluate::{Evaluator, collect_violated};
use crate::limits::{
    Contents, Datum, DatumKind, DialectLimits, FieldLimits, ValueLimits, ValueSet, ValueType,
    domain,
};
use crate::sets::{Acceptance, Dialect, NumberSet, SearchResult, StringSet, TextSearch, within};

/// The most items of a generated list.
pub const MANY: u64 = 1024;

/// The depth to which nested messages are filled.
const DEEP: u32 = 8;

/// The verdict of all libraries on the contents of a field.
pub fn check_contents<'t>(
    evaluator: &Evaluator<'t>,
    limits: &FieldLimits<'t>,
    values: &[&Value],
) -> Acceptance {
    let mut acceptance = Acceptance::Accepted;
    for part in &limits.parts {
        acceptance = acceptance.and(|| evaluator.evaluate_contents(limits, part, values));
    }
    acceptance
}

/// An entry of a map.
pub fn build_pair(tree: &Tree, field: Field<'_>, key: &Datum, value: &Datum) -> Option<Value> {
    let entry = field.message_type()?;
    let mut message = value::Message::new(entry.id);
    for (number, datum) in [(1, key), (2, value)] {
        let field = entry.field_numbered(number)?;
        let value = ValueType::of(field).value(tree, datum)?;
        message.entries.push(Entry::new(field.id, value));
    }
    Some(Value::Message(Box::new(message)))
}

/// Some accepted values of a part.
fn collect_data(
    evaluator: &Evaluator<'_>,
    values: &ValueLimits,
    count: usize,
    depth: u32,
) -> Vec<Datum> {
    let zero = values.single.zero();
    let found = match (&values.set, values.single.shape) {
        (ValueSet::Numbers(set, _), DatumKind::Number(kind)) => {
            let domain = domain(evaluator.tree(), values.single, kind);
            pick_numbers(&set.intersect(&domain), count)
        }
        (_, DatumKind::Number(kind)) => {
            pick_numbers(&domain(evaluator.tree(), values.single, kind), count)
        }
        (ValueSet::Strings(set), shape) => pick_texts(set, shape != DatumKind::Bytes, count),
        (_, DatumKind::Text | DatumKind::Bytes | DatumKind::Any) => {
            pick_texts(&StringSet::default(), true, count)
        }
        (_, DatumKind::Message) => {
            let Type::Message(ty) = values.single.ty else { return Vec::new() };
            let message = match values.nested() {
                Some(ty) => build_minimal(evaluator, ty, depth),
                None => Some(value::Message::new(ty)),
            };
            message.into_iter().map(Datum::Message).collect()
        }
        (_, DatumKind::Unresolved) => Vec::new(),
    };
    let zero = (values.zero_passes || values.skip).then_some(zero);
    let mut all: Vec<Datum> = zero.into_iter().chain(found).collect();
    all.dedup();
    all.retain(|datum| values.evaluate(datum) == Acceptance::Accepted);
    all.truncate(count);
    all
}

fn pick_numbers(set: &NumberSet, count: usize) -> Vec<Datum> {
    set.pick_nearest_zero(count).into_iter().map(Datum::Number).collect()
}

fn pick_texts(set: &StringSet, utf8: bool, count: usize) -> Vec<Datum> {
    let mut found: Vec<Vec<u8>> = Vec::new();
    match &set.among {
        Some(among) => found.extend(among.iter().cloned()),
        None => {
            let own = set.formats.iter().flat_map(|(_, format)| format.samples());
            found.extend(own.map(|text| text.as_bytes().to_vec()));
        }
    }
    if found.is_empty() {
        let mut set = set.clone();
        while found.len() < count.min(64) {
            let (wanted, _) = within(&set, TextSearch::default(), utf8, false);
            let SearchResult::Text(text) = wanted.find_shortest() else { break };
            set.without.insert(text.clone());
            found.push(text);
        }
    }
    found.sort_by_key(Vec::len);
    found.into_iter().map(Datum::Bytes).collect()
}

/// A list or map with so many items that one part accepts, with a given value or
/// key first.
pub fn build_list<'t>(
    evaluator: &Evaluator<'t>,
    limits: &FieldLimits<'t>,
    part: &DialectLimits,
    count: u64,
    distinct: bool,
    given: Option<(&Datum, bool)>,
) -> Option<Contents> {
    build_list_at(evaluator, limits, part, (count, distinct), given, 0)
}

fn build_list_at<'t>(
    evaluator: &Evaluator<'t>,
    limits: &FieldLimits<'t>,
    part: &DialectLimits,
    (count, distinct): (u64, bool),
    given: Option<(&Datum, bool)>,
    depth: u32,
) -> Option<Contents> {
    if count > MANY {
        return None;
    }
    let count = count as usize;
    let filled = |values: &ValueLimits, first: Option<&Datum>, distinct: bool| {
        let mut all: Vec<Datum> = first.into_iter().cloned().collect();
        if let (Some(first), false) = (first, distinct) {
            all.resize(count, first.clone());
            return Some(all);
        }
        let more = collect_data(evaluator, values, if distinct { count + 1 } else { 1 }, depth);
        if distinct {
            all.extend(more.into_iter().filter(|it| Some(it) != first));
            all.truncate(count);
        } else {
            all.resize(count, more.first()?.clone());
        }
        (all.len() == count).then_some(all)
    };
    let value = given.filter(|(_, key)| !key).map(|(datum, _)| datum);
    let key = given.filter(|(_, key)| *key).map(|(datum, _)| datum);
    match &part.keys {
        None => {
            let values = filled(&part.values, value, distinct)?;
            values.iter().map(|it| limits.single().value(evaluator.tree(), it)).collect()
        }
        Some(keys) => {
            let keys = filled(keys, key, true)?;
            let values = filled(&part.values, value, false)?;
            keys.iter()
                .zip(&values)
                .map(|(k, v)| build_pair(evaluator.tree(), limits.field, k, v))
                .collect()
        }
    }
}

/// The contents of a field with this value in them.
pub fn wrap_datum<'t>(
    evaluator: &Evaluator<'t>,
    limits: &FieldLimits<'t>,
    datum: &Datum,
) -> Option<Contents> {
    if limits.field.cardinality() == Cardinality::Singular {
        return Some(vec![limits.single().value(evaluator.tree(), datum)?]);
    }
    let free = DialectLimits::free(limits.field, Dialect::Buf);
    let part = limits.parts.first().unwrap_or(&free);
    let count = part.items.count.least.max(1);
    build_list(evaluator, limits, part, count, part.items.unique, Some((datum, false)))
}

/// Contents of a field that all libraries accept; `present` if absence is not
/// enough.
fn build_field<'t>(
    evaluator: &Evaluator<'t>,
    field: Field<'t>,
    present: bool,
    depth: u32,
) -> Option<Contents> {
    let limits = evaluator.limits(field);
    let free = DialectLimits::free(field, Dialect::Buf);
    let mut parts: Vec<&DialectLimits> = limits.parts.iter().collect();
    if parts.is_empty() {
        parts.push(&free);
    }
    let mut candidates: Vec<Contents> = Vec::new();
    if !present && field.presence() != Presence::LegacyRequired {
        candidates.push(Vec::new());
    }
    for part in parts {
        if field.cardinality() == Cardinality::Singular {
            let single = limits.single();
            let some = collect_data(evaluator, &part.values, 4, depth);
            let visible =
                |datum: &&Datum| !present || limits.is_explicit() || **datum != single.zero();
            let values =
                some.iter().filter(visible).filter_map(|it| single.value(evaluator.tree(), it));
            candidates.extend(values.map(|value| vec![value]));
        } else {
            let count = part.items.count.least.max(u64::from(present || part.required));
            let distinct = part.items.unique;
            candidates.extend(build_list_at(
                evaluator,
                &limits,
                part,
                (count, distinct),
                None,
                depth,
            ));
        }
    }
    candidates.into_iter().find(|candidate| {
        let values: Vec<&Value> = candidate.iter().collect();
        check_contents(evaluator, &limits, &values) == Acceptance::Accepted
    })
}

/// The smallest accepted value found for a type.
pub fn build_minimal(
    evaluator: &Evaluator<'_>,
    ty: MessageId,
    depth: u32,
) -> Option<value::Message> {
    fill(evaluator, value::Message::new(ty), None, depth)
}

/// A value with these contents of a field, and otherwise only what is needed to be
/// accepted.
pub fn complete(
    evaluator: &Evaluator<'_>,
    ty: MessageId,
    fixed: Option<(FieldId, &Contents)>,
) -> Option<value::Message> {
    let mut message = value::Message::new(ty);
    if let Some((field, contents)) = fixed {
        message.entries.extend(contents.iter().map(|it| Entry::new(field, it.clone())));
    }
    fill(evaluator, message, fixed.map(|(field, _)| field), 0)
}

fn fill(
    evaluator: &Evaluator<'_>,
    mut message: value::Message,
    fixed: Option<FieldId>,
    depth: u32,
) -> Option<value::Message> {
    if depth > DEEP || !evaluator.may_try() {
        return None;
    }
    let tree = evaluator.tree();
    let ty = tree.message(message.ty);
    for it in ty.fields().filter(|it| it.presence() == Presence::LegacyRequired) {
        if message.entries_of(it.id).next().is_none() && fixed != Some(it.id) {
            set(&mut message, it.id, build_field(evaluator, it, true, depth + 1)?);
        }
    }
    // Each round fixes at least one field or oneof, or is the last.
    for _ in 0..=ty.fields().len() + ty.oneofs().len() {
        let evaluation = evaluator.evaluate_message(&message);
        if evaluation.accepts() {
            return Some(message);
        }
        let before = message.clone();
        for it in collect_violated(&evaluation).into_keys().filter(|it| fixed != Some(*it)) {
            let wanted = tree.field(it);
            if let Some(contents) = build_field(evaluator, wanted, false, depth + 1) {
                let values: Vec<&Value> =
                    message.entries_of(it).map(|entry| &entry.value).collect();
                if !contents.iter().eq(values) {
                    set(&mut message, it, contents);
                } else if let Some(contents) = build_field(evaluator, wanted, true, depth + 1) {
                    set(&mut message, it, contents);
                }
            }
        }
        for violation in evaluation.violations.iter().filter(|it| it.field.is_none()) {
            let oneof = ty.oneofs().find(|it| it.name() == violation.path);
            let members: Vec<Field<'_>> = match oneof {
                Some(oneof) => oneof.fields().collect(),
                None => {
                    let limits = MessageLimits::read(ty);
                    let required = limits.exclusive.iter().filter(|exclusive| exclusive.required);
                    let unset = required.filter(|exclusive| {
                        let set = |name: &String| message.get(tree, name).is_some();
                        !exclusive.fields.iter().any(set)
                    });
                    unset.flat_map(|it| &it.fields).filter_map(|it| ty.field_named(it)).collect()
                }
            };
            let member = members.into_iter().filter(|it| fixed != Some(it.id));
            let found = member
                .filter_map(|it| Some((it.id, build_field(evaluator, it, true, depth + 1)?)))
                .next();
            if let Some((id, contents)) = found {
                set(&mut message, id, contents);
            }
        }
        if message == before {
            return None;
        }
    }
    None
}

fn set(message: &mut value::Message, field: FieldId, contents: Contents) {
    message.entries.retain(|entry| entry.field != field);
    message.entries.extend(contents.into_iter().map(|it| Entry::new(field, it)));
}

/// Returns true if a type or one inside it has any constraint.
pub fn has_constraints(evaluator: &Evaluator<'_>, ty: MessageId) -> bool {
    let mut seen = vec![ty];
    let mut at = 0;
    while let Some(&ty) = seen.get(at) {
        at += 1;
        let message = evaluator.tree().message(ty);
        let limits = MessageLimits::read(message);
        if !limits.opaque.is_empty() || !limits.exclusive.is_empty() {
            return true;
        }
        if message.oneofs().any(|it| find_required_oneof(it).is_some()) {
            return true;
        }
        for field in message.fields() {
            if !evaluator.limits(field).parts.is_empty() {
                return true;
            }
            if let Type::Message(inner) = field.ty()
                && !seen.contains(&inner)
            {
                seen.push(inner);
            }
        }
    }
    false
}

/// A small rejected value of a type.
pub fn find_rejected(evaluator: &Evaluator<'_>, ty: MessageId) -> Option<value::Message> {
    find_rejected_at(evaluator, ty, 0)
}

fn find_rejected_at(
    evaluator: &Evaluator<'_>,
    ty: MessageId,
    depth: u32,
) -> Option<value::Message> {
    let empty = value::Message::new(ty);
    if evaluator.evaluate_message(&empty).rejects() {
        return Some(empty);
    }
    if depth > DEEP {
        return None;
    }
    for field in evaluator.tree().message(ty).fields() {
        if !evaluator.may_try() {
            return None;
        }
        for contents in list_unusual(evaluator, field, depth) {
            let mut message = value::Message::new(ty);
            set(&mut message, field.id, contents);
            if evaluator.evaluate_message(&message).rejects() {
                return Some(message);
            }
        }
    }
    None
}

/// Contents that constraints often exclude.
fn list_unusual<'t>(evaluator: &Evaluator<'t>, field: Field<'t>, depth: u32) -> Vec<Contents> {
    let limits: Rc<FieldLimits<'t>> = evaluator.limits(field);
    let single = limits.single();
    let mut data = Vec::new();
    match single.shape {
        DatumKind::Message => {
            if let Type::Message(ty) = single.ty {
                data.extend(find_rejected_at(evaluator, ty, depth + 1).map(Datum::Message));
            }
        }
        DatumKind::Number(kind) => {
            let domain = domain(evaluator.tree(), single, kind);
            for part in &limits.parts {
                if let ValueSet::Numbers(set, _) = &part.values.set {
                    data.extend(pick_numbers(&domain.subtract(set), 1));
                }
            }
        }
        _ => {
            let long = "a".repeat(300);
            data.extend(["", " ", "a", "\n", &long].map(|it| Datum::Bytes(it.as_bytes().to_vec())));
        }
    }
    let one = data.iter().filter_map(|datum| wrap_datum(evaluator, &limits, datum));
    one.filter(|contents| !contents.is_empty()).collect()
}

/// Accepted values with none, one or two of some fields set.
pub fn build_unlike<'t>(
    evaluator: &Evaluator<'t>,
    message: abide_schema::Message<'t>,
    names: &[String],
) -> Vec<value::Message> {
    let fields: Vec<Field<'t>> = names.iter().filter_map(|it| message.field_named(it)).collect();
    let mut all = Vec::new();
    all.extend(complete(evaluator, message.id, None));
    for (at, first) in fields.iter().enumerate() {
        for second in &fields[at + 1..] {
            let both =
                [first, second].map(|it| Some((it.id, build_field(evaluator, *it, true, 1)?)));
            let [Some(first), Some(second)] = both else { continue };
            let mut value = value::Message::new(message.id);
            set(&mut value, first.0, first.1);
            set(&mut value, second.0, second.1);
            all.extend(fill(evaluator, value, None, 0));
        }
    }
    all
}
