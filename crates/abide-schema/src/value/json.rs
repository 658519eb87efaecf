//! The JSON notation. Source: "ProtoJSON Format" of the protobuf
//! documentation, and where that leaves a choice, the C++ runtime.

use std::collections::BTreeMap;
use std::fmt;

use abide_syntax::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use super::aggregate::{Names, nearest};
use super::names::{JsonNames, TreeNames};
use super::{
    DecodeError, Entry, Lookup, MAX_NESTING, Message, Value, is_set, keeps_unknown_values,
};
use crate::decl::Scalar;
use crate::ids::{FieldId, MessageId};
use crate::tree::{self, Cardinality, Tree, Type};
use syntax::{Kind, Member, Node};
use wellknown::WellKnown;

mod syntax;
mod wellknown;

pub(crate) use syntax::parse;

/// What to do about keys, and names of enum values, that a type does not
/// declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undeclared {
    /// They are an error.
    Refuse,
    /// They are passed over with their values.
    Ignore,
}

/// Why a value has no notation in JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// One lower-case phrase.
    pub message: String,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for EncodeError {}

impl Message {
    /// Reads a message in JSON. Its entries have the places of keys and values.
    ///
    /// # Errors
    /// Text that is not JSON, values that do not fit their fields, fields and
    /// oneofs that are set twice, and nesting deeper than [`MAX_NESTING`].
    pub fn from_json(
        tree: &Tree,
        ty: MessageId,
        text: &[u8],
        undeclared: Undeclared,
    ) -> Result<Message, DecodeError> {
        Message::from_json_node(tree, ty, &parse(text)?, undeclared)
    }

    /// Reads a message from JSON that is parsed already.
    pub(crate) fn from_json_node(
        tree: &Tree,
        ty: MessageId,
        node: &Node<'_>,
        undeclared: Undeclared,
    ) -> Result<Message, DecodeError> {
        let mut reader = Reader {
            tree,
            lookup: Lookup::default(),
            names: TreeNames::new(tree),
            keys: JsonNames::default(),
            undeclared,
        };
        reader.message(ty, node, 0)
    }

    /// The message in JSON without white space: fields by number, maps by key.
    /// Fields that the tree does not declare have no notation and are left out.
    ///
    /// # Errors
    /// A `google.protobuf.Any` whose type the tree lacks, and well-known types
    /// whose value is out of their range.
    pub fn to_json(&self, tree: &Tree) -> Result<String, EncodeError> {
        let mut printer = Printer {
            tree,
            lookup: Lookup::default(),
            names: TreeNames::new(tree),
            out: String::new(),
        };
        printer.message(&self.normalized(tree), 0)?;
        Ok(printer.out)
    }
}

type Read<T> = Result<T, DecodeError>;

fn fail<T>(span: Span, message: impl Into<String>) -> Read<T> {
    Err(DecodeError { offset: span.start as usize, message: message.into() })
}

fn expected<T>(node: &Node<'_>, what: &str, field: tree::Field<'_>) -> Read<T> {
    fail(node.span, format!("expected {what} for `{}`", field.name()))
}

/// The key that names the type of a `google.protobuf.Any`.
const TYPE_KEY: &str = "@type";
/// The key of the value in it, where the type has a notation of its own.
const VALUE_KEY: &str = "value";

/// The fields of `google.protobuf.Value`.
mod kind {
    pub(super) const NULL: i32 = 1;
    pub(super) const NUMBER: i32 = 2;
    pub(super) const STRING: i32 = 3;
    pub(super) const BOOL: i32 = 4;
    pub(super) const STRUCT: i32 = 5;
    pub(super) const LIST: i32 = 6;
}

struct Reader<'t> {
    tree: &'t Tree,
    lookup: Lookup<'t>,
    names: TreeNames<'t>,
    keys: JsonNames<'t>,
    undeclared: Undeclared,
}

impl<'t> Reader<'t> {
    fn message(&mut self, ty: MessageId, node: &Node<'_>, depth: u32) -> Read<Message> {
        if depth > MAX_NESTING {
            return fail(node.span, format!("messages nest deeper than {MAX_NESTING} levels"));
        }
        let view = self.tree.message(ty);
        let mut message = Message::new(ty);
        if let Some(known) = WellKnown::of(view) {
            self.well_known(&mut message, known, node, depth)?;
            return Ok(message);
        }
        let Kind::Object(members) = &node.kind else {
            return fail(node.span, format!("expected an object for a `{}`", view.full_name()));
        };
        self.fields(&mut message, members.iter(), depth)?;
        Ok(message)
    }

    fn fields<'n>(
        &mut self,
        message: &mut Message,
        members: impl Iterator<Item = &'n Member<'n>>,
        depth: u32,
    ) -> Read<()> {
        let view = self.tree.message(message.ty);
        let mut seen: FxHashSet<FieldId> = FxHashSet::default();
        let mut oneofs: FxHashMap<u32, FieldId> = FxHashMap::default();
        for member in members {
            let Some(field) = self.field_of(view, member)? else { continue };
            if !seen.insert(field.id) {
                return fail(member.key_span, format!("`{}` is set twice", field.name()));
            }
            if matches!(member.value.kind, Kind::Null) && !takes_null(field) {
                continue;
            }
            if let Some(oneof) = field.oneof()
                && let Some(other) = oneofs.insert(oneof.id.index, field.id)
            {
                let text = format!(
                    "`{}` and `{}` are members of the oneof `{}`; only one can be set",
                    field.name(),
                    self.tree.field(other).name(),
                    oneof.name()
                );
                return fail(member.key_span, text);
            }
            self.field(message, field, member.key_span, &member.value, depth)?;
        }
        Ok(())
    }

    fn field_of(
        &mut self,
        message: tree::Message<'t>,
        member: &Member<'_>,
    ) -> Read<Option<tree::Field<'t>>> {
        let key = &*member.key;
        let found = match key.strip_prefix('[').and_then(|key| key.strip_suffix(']')) {
            Some(name) => self.names.extension(message.id, name),
            None => self.keys.field(message, key),
        };
        match (found, self.undeclared) {
            (Some(id), _) => Ok(Some(self.tree.field(id))),
            (None, Undeclared::Ignore) => Ok(None),
            (None, Undeclared::Refuse) => {
                let near = nearest(key, message.fields().map(tree::Field::name));
                let help = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                let text = format!("`{}` has no field `{key}`{help}", message.full_name());
                fail(member.key_span, text)
            }
        }
    }

    /// Reads all that a field holds.
    fn field(
        &mut self,
        message: &mut Message,
        field: tree::Field<'t>,
        key: Span,
        node: &Node<'_>,
        depth: u32,
    ) -> Read<()> {
        let mut push =
            |value, span| message.entries.push(Entry { field: field.id, value, key, span });
        match field.cardinality() {
            Cardinality::Singular => {
                if let Some(value) = self.value(field, node, depth)?
                    && is_set(field, &value)
                {
                    push(value, node.span);
                }
            }
            Cardinality::Repeated => {
                let Kind::Array(elements) = &node.kind else {
                    return expected(node, "an array", field);
                };
                for element in elements {
                    if let Some(value) = self.value(field, element, depth)? {
                        push(value, element.span);
                    }
                }
            }
            Cardinality::Map => {
                let Kind::Object(members) = &node.kind else {
                    return expected(node, "an object", field);
                };
                let mut seen: FxHashSet<&str> = FxHashSet::default();
                for member in members {
                    if !seen.insert(&member.key) {
                        return fail(member.key_span, format!("`{}` is set twice", member.key));
                    }
                    if let Some(pair) = self.pair(field, member, depth)? {
                        let span = member.key_span.to(member.value.span);
                        push(Value::Message(Box::new(pair)), span);
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads an entry of a map.
    fn pair(
        &mut self,
        map: tree::Field<'t>,
        member: &Member<'_>,
        depth: u32,
    ) -> Read<Option<Message>> {
        let pair = map.message_type();
        let parts = pair.and_then(|it| Some((it, it.field_numbered(1)?, it.field_numbered(2)?)));
        let Some((pair, key_field, value_field)) = parts else {
            return expected(&member.value, "nothing", map);
        };
        let key = match key_field.ty() {
            Type::Scalar(Scalar::Bool) => match &*member.key {
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                _ => return fail(member.key_span, "expected `true` or `false` as a key"),
            },
            Type::Scalar(Scalar::String) => Value::String((&*member.key).into()),
            Type::Scalar(scalar) => match integer(&member.key).and_then(|it| fit(scalar, it)) {
                Some(value) => value,
                None => return fail(member.key_span, format!("`{}` is no key here", member.key)),
            },
            _ => return fail(member.key_span, format!("`{}` is no key here", member.key)),
        };
        let Some(value) = self.value(value_field, &member.value, depth + 1)? else {
            return Ok(None);
        };
        let entry = |field: tree::Field<'_>, value, span| Entry {
            field: field.id,
            value,
            key: member.key_span,
            span,
        };
        let mut message = Message::new(pair.id);
        message.entries.push(entry(key_field, key, member.key_span));
        message.entries.push(entry(value_field, value, member.value.span));
        Ok(Some(message))
    }

    /// Reads one value of a field; `None` for the name of an enum value that
    /// is passed over.
    fn value(
        &mut self,
        field: tree::Field<'t>,
        node: &Node<'_>,
        depth: u32,
    ) -> Read<Option<Value>> {
        let text = match &node.kind {
            Kind::String(text) => Some(&**text),
            Kind::Number(text) => Some(*text),
            _ => None,
        };
        let scalar = match field.ty() {
            Type::Message(ty) => {
                let message = self.message(ty, node, depth + 1)?;
                return Ok(Some(Value::Message(Box::new(message))));
            }
            Type::Enum(_) => return self.enum_value(field, node),
            Type::Scalar(scalar) => scalar,
            Type::Unresolved => return expected(node, "nothing of an unknown type", field),
        };
        let value = match (scalar, &node.kind) {
            (Scalar::Bool, Kind::Bool(value)) => Value::Bool(*value),
            (Scalar::Bool, _) => return expected(node, "`true` or `false`", field),
            (Scalar::String, Kind::String(text)) => Value::String((&**text).into()),
            (Scalar::String, _) => return expected(node, "a string", field),
            (Scalar::Bytes, Kind::String(text)) => match wellknown::parse_base64(text) {
                Some(bytes) => Value::Bytes(bytes.into()),
                None => return expected(node, "base64", field),
            },
            (Scalar::Bytes, _) => return expected(node, "a string of base64", field),
            (Scalar::Double, kind) => {
                let non_finite = text.filter(|_| matches!(kind, Kind::String(_)));
                match non_finite.and_then(non_finite_of).or(text.and_then(float::<f64>)) {
                    Some(value) => Value::F64(value),
                    None => return expected(node, "a number", field),
                }
            }
            (Scalar::Float, kind) => {
                let non_finite = text.filter(|_| matches!(kind, Kind::String(_)));
                let non_finite = non_finite.and_then(non_finite_of).map(|it| it as f32);
                match non_finite.or(text.and_then(float::<f32>)) {
                    Some(value) => Value::F32(value),
                    None => return expected(node, "a number", field),
                }
            }
            _ => match text.and_then(integer).and_then(|number| fit(scalar, number)) {
                Some(value) => value,
                None => return expected(node, "an integer in its range", field),
            },
        };
        Ok(Some(value))
    }

    fn enum_value(&mut self, field: tree::Field<'t>, node: &Node<'_>) -> Read<Option<Value>> {
        let Some(item) = field.enum_type() else { return Ok(None) };
        let number = match &node.kind {
            Kind::String(name) => match self.lookup.value_named(item, name) {
                Some(number) => number,
                None if self.undeclared == Undeclared::Ignore => return Ok(None),
                None => {
                    let text = format!("`{}` has no value `{name}`", item.full_name());
                    return fail(node.span, text);
                }
            },
            Kind::Number(text) => {
                let number = integer(text).and_then(|number| i32::try_from(number).ok());
                let known = |number: &i32| {
                    keeps_unknown_values(field) || self.lookup.has_number(item, *number)
                };
                match number.filter(known) {
                    Some(number) => number,
                    None => {
                        let text = format!("`{}` has no value with that number", item.full_name());
                        return fail(node.span, text);
                    }
                }
            }
            Kind::Null if is_null_value(field) => 0,
            _ => return expected(node, "the name of a value", field),
        };
        Ok(Some(Value::Enum(number)))
    }

    fn well_known(
        &mut self,
        message: &mut Message,
        known: WellKnown,
        node: &Node<'_>,
        depth: u32,
    ) -> Read<()> {
        let view = self.tree.message(message.ty);
        let text = match &node.kind {
            Kind::String(text) => Some(&**text),
            _ => None,
        };
        match known {
            WellKnown::Any => return self.any(message, node, depth),
            WellKnown::Timestamp | WellKnown::Duration => {
                let (parse, what): (fn(&str) -> _, _) = match known {
                    WellKnown::Timestamp => {
                        (wellknown::parse_timestamp, "a timestamp such as `1970-01-01T00:00:00Z`")
                    }
                    _ => (wellknown::parse_duration, "a duration such as `1.5s`"),
                };
                let Some((seconds, nanos)) = text.and_then(parse) else {
                    return fail(node.span, format!("expected {what}"));
                };
                for (number, value) in [(1, Value::I64(seconds)), (2, Value::I32(nanos))] {
                    set(message, view, number, value, node.span);
                }
            }
            WellKnown::FieldMask => {
                let Some(text) = text else {
                    return fail(node.span, "expected a string of paths for a field mask");
                };
                for path in text.split(',').filter(|_| !text.is_empty()) {
                    let Some(path) = wellknown::snake_case(path) else {
                        let text = format!("`{path}` is no path in lowerCamelCase");
                        return fail(node.span, text);
                    };
                    set(message, view, 1, Value::String(path.into()), node.span);
                }
            }
            WellKnown::Struct | WellKnown::ListValue | WellKnown::Wrapper => {
                if let Some(field) = view.field_numbered(1) {
                    self.field(message, field, node.span, node, depth)?;
                }
            }
            WellKnown::Value => {
                let number = match node.kind {
                    Kind::Null => kind::NULL,
                    Kind::Number(_) => kind::NUMBER,
                    Kind::String(_) => kind::STRING,
                    Kind::Bool(_) => kind::BOOL,
                    Kind::Object(_) => kind::STRUCT,
                    Kind::Array(_) => kind::LIST,
                };
                if let Some(field) = view.field_numbered(number) {
                    self.field(message, field, node.span, node, depth)?;
                }
            }
        }
        Ok(())
    }

    fn any(&mut self, message: &mut Message, node: &Node<'_>, depth: u32) -> Read<()> {
        let Kind::Object(members) = &node.kind else {
            return fail(node.span, "expected an object for a `google.protobuf.Any`");
        };
        let mut types = members.iter().filter(|member| member.key == TYPE_KEY);
        let url = match (types.next(), types.next()) {
            (None, _) if members.is_empty() => return Ok(()),
            (None, _) => return fail(node.span, format!("`{TYPE_KEY}` is missing")),
            (_, Some(second)) => {
                return fail(second.key_span, format!("`{TYPE_KEY}` is set twice"));
            }
            (Some(only), None) => &only.value,
        };
        let Kind::String(name) = &url.kind else {
            return fail(url.span, format!("expected a string for `{TYPE_KEY}`"));
        };
        let Some(ty) = self.names.of_url(name) else {
            return fail(url.span, format!("`{name}` names no known message"));
        };
        let view = self.tree.message(ty);
        // Runtimes differ in whether `Empty` has a notation of its own.
        let passed = |member: &&Member<'_>| {
            member.key == TYPE_KEY || member.key == VALUE_KEY && is_empty(view)
        };
        let rest = members.iter().filter(|member| !passed(member));
        let content = match WellKnown::of(view) {
            None => {
                if depth >= MAX_NESTING {
                    let text = format!("messages nest deeper than {MAX_NESTING} levels");
                    return fail(node.span, text);
                }
                let mut content = Message::new(ty);
                self.fields(&mut content, rest, depth + 1)?;
                content
            }
            Some(_) => {
                let mut content = None;
                for member in rest {
                    if member.key == VALUE_KEY && content.is_none() {
                        content = Some(self.message(ty, &member.value, depth + 1)?);
                    } else if member.key == VALUE_KEY || self.undeclared == Undeclared::Refuse {
                        let text = format!("expected `{VALUE_KEY}` once and nothing else");
                        return fail(member.key_span, text);
                    }
                }
                match content {
                    Some(content) => content,
                    None => return fail(node.span, format!("`{VALUE_KEY}` is missing")),
                }
            }
        };
        let view = self.tree.message(message.ty);
        let bytes = Value::Bytes(content.encode(self.tree).into());
        set(message, view, 1, Value::String((&**name).into()), url.span);
        set(message, view, 2, bytes, node.span);
        Ok(())
    }
}

/// Sets a field of a well-known type, where its value differs from what is
/// there without it.
fn set(message: &mut Message, view: tree::Message<'_>, number: i32, value: Value, span: Span) {
    if let Some(field) = view.field_numbered(number)
        && (field.cardinality() == Cardinality::Repeated || is_set(field, &value))
    {
        message.entries.push(Entry { field: field.id, value, key: span, span });
    }
}

fn is_null_value(field: tree::Field<'_>) -> bool {
    field.enum_type().is_some_and(|item| {
        item.name() == "NullValue" && item.full_name() == "google.protobuf.NullValue"
    })
}

fn is_empty(message: tree::Message<'_>) -> bool {
    message.name() == "Empty" && message.full_name() == "google.protobuf.Empty"
}

/// Whether `null` is a value of the field, and not its absence.
fn takes_null(field: tree::Field<'_>) -> bool {
    let is_value = |message| WellKnown::of(message) == Some(WellKnown::Value);
    field.cardinality() == Cardinality::Singular
        && (is_null_value(field) || field.message_type().is_some_and(is_value))
}

fn non_finite_of(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// A number that is not beyond the range of its type.
fn float<F: std::str::FromStr + Into<f64> + Copy>(text: &str) -> Option<F> {
    let value: F = text.parse().ok().filter(|_| syntax::is_number(text))?;
    value.into().is_finite().then_some(value)
}

/// The integer that a number of JSON is, in whatever form; more than enough
/// digits for 64 bits.
fn integer(text: &str) -> Option<i128> {
    if !syntax::is_number(text) {
        return None;
    }
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let (negative, unsigned) = match digits.strip_prefix('-') {
        Some(unsigned) => (true, unsigned),
        None => (false, &*digits),
    };
    let significant = unsigned.trim_end_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    let dropped = (unsigned.len() - significant.len()) as i64;
    let exponent: i64 = exponent.parse().ok()?;
    let scale = exponent.checked_add(dropped)?.checked_sub(fraction.len() as i64)?;
    let significant = significant.trim_start_matches('0');
    if significant.len() > 20 {
        return None;
    }
    let scale =
        u32::try_from(scale).ok().filter(|&scale| scale <= 20 - significant.len() as u32)?;
    let magnitude = significant.parse::<i128>().ok()? * 10_i128.pow(scale);
    Some(if negative { -magnitude } else { magnitude })
}

/// An integer as the value of a field, where it fits.
fn fit(scalar: Scalar, number: i128) -> Option<Value> {
    match scalar {
        Scalar::Int32 | Scalar::Sint32 | Scalar::Sfixed32 => number.try_into().ok().map(Value::I32),
        Scalar::Uint32 | Scalar::Fixed32 => number.try_into().ok().map(Value::U32),
        Scalar::Int64 | Scalar::Sint64 | Scalar::Sfixed64 => number.try_into().ok().map(Value::I64),
        Scalar::Uint64 | Scalar::Fixed64 => number.try_into().ok().map(Value::U64),
        Scalar::Double | Scalar::Float | Scalar::Bool | Scalar::String | Scalar::Bytes => None,
    }
}

struct Printer<'t> {
    tree: &'t Tree,
    lookup: Lookup<'t>,
    names: TreeNames<'t>,
    out: String,
}

type Printed = Result<(), EncodeError>;

fn refuse<T>(message: impl Into<String>) -> Result<T, EncodeError> {
    Err(EncodeError { message: message.into() })
}

impl<'t> Printer<'t> {
    /// Prints a message that is normalized.
    fn message(&mut self, message: &Message, depth: u32) -> Printed {
        if depth > MAX_NESTING {
            return refuse(format!("messages nest deeper than {MAX_NESTING} levels"));
        }
        if let Some(known) = WellKnown::of(self.tree.message(message.ty)) {
            return self.well_known(message, known, depth);
        }
        self.out.push('{');
        self.fields(message, depth)?;
        self.out.push('}');
        Ok(())
    }

    fn fields(&mut self, message: &Message, depth: u32) -> Printed {
        for entries in message.entries.chunk_by(|a, b| a.field == b.field) {
            let field = self.tree.field(entries[0].field);
            let singular = field.cardinality() == Cardinality::Singular;
            if singular && !is_set(field, &entries[0].value) {
                continue;
            }
            if !self.out.ends_with('{') {
                self.out.push(',');
            }
            match field.is_extension() {
                true => self.quote(&format!("[{}]", field.full_name())),
                false => self.quote(&field.json_name()),
            }
            self.out.push(':');
            self.field(field, entries, depth)?;
        }
        Ok(())
    }

    /// Prints all that a field holds.
    fn field(&mut self, field: tree::Field<'t>, entries: &[Entry], depth: u32) -> Printed {
        match (field.cardinality(), entries) {
            (Cardinality::Singular, [.., last]) => self.value(field, &last.value, depth),
            (Cardinality::Map, _) => self.map(field, entries, depth),
            (_, entries) => {
                self.out.push('[');
                for (at, entry) in entries.iter().enumerate() {
                    if at > 0 {
                        self.out.push(',');
                    }
                    self.value(field, &entry.value, depth)?;
                }
                self.out.push(']');
                Ok(())
            }
        }
    }

    /// Prints a map: of entries with one key the last counts.
    fn map(&mut self, field: tree::Field<'t>, entries: &[Entry], depth: u32) -> Printed {
        let tree = self.tree;
        let pair = field.message_type();
        let parts = pair.and_then(|it| Some((it.field_numbered(1)?, it.field_numbered(2)?)));
        let Some((key_field, value_field)) = parts else {
            return refuse(format!("`{}` is no map", field.name()));
        };
        let mut pairs: BTreeMap<(i128, Box<str>), &Message> = BTreeMap::new();
        for message in entries.iter().filter_map(|entry| entry.value.as_message()) {
            let key = match message.numbered(tree, 1).map(|entry| &entry.value) {
                Some(Value::String(text)) => (0, text.clone()),
                Some(Value::Bytes(_)) => {
                    return refuse(format!("a key of `{}` is not valid UTF-8", field.name()));
                }
                Some(Value::Bool(value)) => ((*value).into(), "".into()),
                Some(Value::U64(value)) => ((*value).into(), "".into()),
                Some(value) => (value.as_i64().unwrap_or(0).into(), "".into()),
                None => (0, "".into()),
            };
            pairs.insert(key, message);
        }
        self.out.push('{');
        for (at, ((number, text), message)) in pairs.into_iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            match key_field.ty() {
                Type::Scalar(Scalar::String) => self.quote(&text),
                Type::Scalar(Scalar::Bool) => {
                    self.quote(if number == 0 { "false" } else { "true" });
                }
                _ => self.quote(&number.to_string()),
            }
            self.out.push(':');
            let zero = Value::zero(tree, value_field.ty());
            match message.numbered(tree, 2).map(|entry| &entry.value).or(zero.as_ref()) {
                Some(value) => self.value(value_field, value, depth + 1)?,
                None => self.out.push_str("null"),
            }
        }
        self.out.push('}');
        Ok(())
    }

    fn value(&mut self, field: tree::Field<'t>, value: &Value, depth: u32) -> Printed {
        match value {
            Value::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            Value::I32(value) => self.out.push_str(&value.to_string()),
            Value::U32(value) => self.out.push_str(&value.to_string()),
            // Beyond 53 bits a number of JavaScript is not exact.
            Value::I64(value) => self.quote(&value.to_string()),
            Value::U64(value) => self.quote(&value.to_string()),
            Value::F32(value) if value.is_finite() => self.out.push_str(&shortest(value)),
            Value::F64(value) if value.is_finite() => self.out.push_str(&shortest(value)),
            Value::F32(value) => self.non_finite((*value).into()),
            Value::F64(value) => self.non_finite(*value),
            Value::String(text) => self.quote(text),
            Value::Bytes(_) if field.ty() == Type::Scalar(Scalar::String) => {
                return refuse(format!("`{}` is not valid UTF-8", field.name()));
            }
            Value::Bytes(bytes) => {
                self.out.push('"');
                wellknown::write_base64(bytes, &mut self.out);
                self.out.push('"');
            }
            Value::Enum(_) if is_null_value(field) => self.out.push_str("null"),
            Value::Enum(number) => {
                let item = field.enum_type();
                match item.and_then(|item| self.lookup.value_numbered(item, *number)) {
                    Some(name) => self.quote(name),
                    None => self.out.push_str(&number.to_string()),
                }
            }
            Value::Message(message) => return self.message(message, depth + 1),
        }
        Ok(())
    }

    fn quote(&mut self, text: &str) {
        syntax::quote(text, &mut self.out);
    }

    fn non_finite(&mut self, value: f64) {
        self.out.push_str(match value {
            f64::INFINITY => "\"Infinity\"",
            f64::NEG_INFINITY => "\"-Infinity\"",
            _ => "\"NaN\"",
        });
    }

    fn well_known(&mut self, message: &Message, known: WellKnown, depth: u32) -> Printed {
        let tree = self.tree;
        let view = tree.message(message.ty);
        let number = |number| {
            message.numbered(tree, number).and_then(|entry| entry.value.as_i64()).unwrap_or(0)
        };
        let text = match known {
            WellKnown::Any => return self.any(message, depth),
            WellKnown::Timestamp | WellKnown::Duration => {
                let nanos = i32::try_from(number(2)).unwrap_or(i32::MAX);
                let text = match known {
                    WellKnown::Timestamp => wellknown::write_timestamp(number(1), nanos),
                    _ => wellknown::write_duration(number(1), nanos),
                };
                match text {
                    Some(text) => text,
                    None => return refuse(format!("a `{}` is out of range", view.full_name())),
                }
            }
            WellKnown::FieldMask => {
                let mut paths = Vec::new();
                for path in message.entries.iter().filter_map(|entry| entry.value.as_str()) {
                    match wellknown::camel_case(path) {
                        Some(path) => paths.push(path),
                        None => {
                            let text = format!("`{path}` has no form in lowerCamelCase");
                            return refuse(text);
                        }
                    }
                }
                paths.join(",")
            }
            WellKnown::Struct | WellKnown::ListValue | WellKnown::Wrapper => {
                let Some(field) = view.field_numbered(1) else { return Ok(()) };
                let zero = Value::zero(tree, field.ty());
                return match (field.cardinality(), zero) {
                    (Cardinality::Singular, Some(zero)) if message.entries.is_empty() => {
                        self.value(field, &zero, depth)
                    }
                    _ => self.field(field, &message.entries, depth),
                };
            }
            WellKnown::Value => {
                let Some(entry) = message.entries.last() else {
                    return refuse("a `google.protobuf.Value` holds nothing");
                };
                if entry.value.as_f64().is_some_and(|value| !value.is_finite()) {
                    return refuse("a `google.protobuf.Value` holds no finite number");
                }
                return self.value(tree.field(entry.field), &entry.value, depth);
            }
        };
        self.quote(&text);
        Ok(())
    }

    fn any(&mut self, message: &Message, depth: u32) -> Printed {
        let tree = self.tree;
        let url = message.numbered(tree, 1).and_then(|entry| entry.value.as_str());
        let bytes = message.numbered(tree, 2).and_then(|entry| entry.value.as_bytes());
        let Some(url) = url else {
            if bytes.is_some() {
                return refuse("a `google.protobuf.Any` has a value and no type");
            }
            self.out.push_str("{}");
            return Ok(());
        };
        let Some(ty) = self.names.of_url(url) else {
            return refuse(format!("`{url}` names no known message"));
        };
        let content = match Message::decode(tree, ty, bytes.unwrap_or_default()) {
            Ok(content) => content.normalized(tree),
            Err(error) => return refuse(format!("the value of a `{url}` is malformed: {error}")),
        };
        self.out.push('{');
        self.quote(TYPE_KEY);
        self.out.push(':');
        self.quote(url);
        if WellKnown::of(tree.message(ty)).is_some() {
            self.out.push(',');
            self.quote(VALUE_KEY);
            self.out.push(':');
            self.message(&content, depth + 1)?;
        } else if depth < MAX_NESTING {
            self.fields(&content, depth + 1)?;
        } else {
            return refuse(format!("messages nest deeper than {MAX_NESTING} levels"));
        }
        self.out.push('}');
        Ok(())
    }
}

/// The shortest decimal number that is read back as the same float.
pub(super) fn shortest(value: &impl fmt::Debug) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}
