//! Values from JSON.

use abide_syntax::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use super::syntax::{self, JsonKind, JsonMember, JsonNode, parse};
use super::wellknown::{self, TYPE_KEY, VALUE_KEY, WellKnown, is_null_value};
use crate::decl::Scalar;
use crate::dynamic::{Entry, MAX_NESTING, Message, Value};
use crate::ids::{FieldId, MessageId};
use crate::near::nearest;
use crate::tree::{Tree, Type};
use crate::value::codec::Codec;
use crate::value::error::{DecodeError, Undeclared};
use crate::value::facts::{is_set, keeps_unknown_values};
use crate::value::names::TreeNames;
use crate::view::{self, Cardinality};

impl Codec<'_> {
    /// Reads a message in JSON. Its entries have the places of keys and values.
    ///
    /// # Errors
    /// Text that is not JSON, values that do not fit their fields, fields and
    /// oneofs that are set twice, and nesting deeper than [`MAX_NESTING`].
    pub fn read_json(
        self,
        ty: MessageId,
        text: &[u8],
        undeclared: Undeclared,
    ) -> Result<Message, DecodeError> {
        self.read_json_node(ty, &parse(text)?, undeclared)
    }

    /// Reads a message from JSON that is parsed already.
    pub(crate) fn read_json_node(
        self,
        ty: MessageId,
        node: &JsonNode<'_>,
        undeclared: Undeclared,
    ) -> Result<Message, DecodeError> {
        let mut reader = JsonReader { tree: self.tree, undeclared };
        reader.message(ty, node, 0)
    }
}

type Read<T> = Result<T, DecodeError>;

fn fail<T>(span: Span, message: impl Into<String>) -> Read<T> {
    Err(DecodeError { offset: span.start as usize, message: message.into() })
}

fn expected<T>(node: &JsonNode<'_>, what: &str, field: view::Field<'_>) -> Read<T> {
    fail(node.span, format!("expected {what} for `{}`", field.name()))
}

/// The fields of `google.protobuf.Value`.
mod kind {
    pub(super) const NULL: i32 = 1;
    pub(super) const NUMBER: i32 = 2;
    pub(super) const STRING: i32 = 3;
    pub(super) const BOOL: i32 = 4;
    pub(super) const STRUCT: i32 = 5;
    pub(super) const LIST: i32 = 6;
}

struct JsonReader<'t> {
    tree: &'t Tree,
    undeclared: Undeclared,
}

impl<'t> JsonReader<'t> {
    fn message(&mut self, ty: MessageId, node: &JsonNode<'_>, depth: u32) -> Read<Message> {
        if depth > MAX_NESTING {
            return fail(node.span, format!("messages nest deeper than {MAX_NESTING} levels"));
        }
        let view = self.tree.message(ty);
        let mut message = Message::new(ty);
        if let Some(known) = WellKnown::of(view) {
            self.well_known(&mut message, known, node, depth)?;
            return Ok(message);
        }
        let JsonKind::Object(members) = &node.kind else {
            return fail(node.span, format!("expected an object for a `{}`", view.full_name()));
        };
        self.fields(&mut message, members.iter(), depth)?;
        Ok(message)
    }

    fn fields<'n>(
        &mut self,
        message: &mut Message,
        members: impl Iterator<Item = &'n JsonMember<'n>>,
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
            if matches!(member.value.kind, JsonKind::Null) && !takes_null(field) {
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
        message: view::Message<'t>,
        member: &JsonMember<'_>,
    ) -> Read<Option<view::Field<'t>>> {
        let key = &*member.key;
        let found = match key.strip_prefix('[').and_then(|key| key.strip_suffix(']')) {
            Some(name) => {
                TreeNames(self.tree).extension(message.id, name).map(|id| self.tree.field(id))
            }
            None => message.field_in_json(key),
        };
        match (found, self.undeclared) {
            (Some(field), _) => Ok(Some(field)),
            (None, Undeclared::Ignore) => Ok(None),
            (None, Undeclared::Refuse) => {
                let near = nearest(key, message.fields().map(view::Field::name));
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
        field: view::Field<'t>,
        key: Span,
        node: &JsonNode<'_>,
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
                let JsonKind::Array(elements) = &node.kind else {
                    return expected(node, "an array", field);
                };
                for element in elements {
                    if let Some(value) = self.value(field, element, depth)? {
                        push(value, element.span);
                    }
                }
            }
            Cardinality::Map => {
                let JsonKind::Object(members) = &node.kind else {
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
        map: view::Field<'t>,
        member: &JsonMember<'_>,
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
        let entry = |field: view::Field<'_>, value, span| Entry {
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
        field: view::Field<'t>,
        node: &JsonNode<'_>,
        depth: u32,
    ) -> Read<Option<Value>> {
        let text = match &node.kind {
            JsonKind::String(text) => Some(&**text),
            JsonKind::Number(text) => Some(*text),
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
            (Scalar::Bool, JsonKind::Bool(value)) => Value::Bool(*value),
            (Scalar::Bool, _) => return expected(node, "`true` or `false`", field),
            (Scalar::String, JsonKind::String(text)) => Value::String((&**text).into()),
            (Scalar::String, _) => return expected(node, "a string", field),
            (Scalar::Bytes, JsonKind::String(text)) => match wellknown::parse_base64(text) {
                Some(bytes) => Value::Bytes(bytes.into()),
                None => return expected(node, "base64", field),
            },
            (Scalar::Bytes, _) => return expected(node, "a string of base64", field),
            (Scalar::Double, kind) => {
                let non_finite = text.filter(|_| matches!(kind, JsonKind::String(_)));
                match non_finite.and_then(non_finite_of).or(text.and_then(float::<f64>)) {
                    Some(value) => Value::F64(value),
                    None => return expected(node, "a number", field),
                }
            }
            (Scalar::Float, kind) => {
                let non_finite = text.filter(|_| matches!(kind, JsonKind::String(_)));
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

    fn enum_value(&mut self, field: view::Field<'t>, node: &JsonNode<'_>) -> Read<Option<Value>> {
        let Some(item) = field.enum_type() else { return Ok(None) };
        let number = match &node.kind {
            JsonKind::String(name) => match item.value_named(name).map(|value| value.number()) {
                Some(number) => number,
                None if self.undeclared == Undeclared::Ignore => return Ok(None),
                None => {
                    let text = format!("`{}` has no value `{name}`", item.full_name());
                    return fail(node.span, text);
                }
            },
            JsonKind::Number(text) => {
                let number = integer(text).and_then(|number| i32::try_from(number).ok());
                let known = |number: &i32| {
                    keeps_unknown_values(field) || item.value_numbered(*number).is_some()
                };
                match number.filter(known) {
                    Some(number) => number,
                    None => {
                        let text = format!("`{}` has no value with that number", item.full_name());
                        return fail(node.span, text);
                    }
                }
            }
            JsonKind::Null if is_null_value(field) => 0,
            _ => return expected(node, "the name of a value", field),
        };
        Ok(Some(Value::Enum(number)))
    }

    fn well_known(
        &mut self,
        message: &mut Message,
        known: WellKnown,
        node: &JsonNode<'_>,
        depth: u32,
    ) -> Read<()> {
        let view = self.tree.message(message.ty);
        let text = match &node.kind {
            JsonKind::String(text) => Some(&**text),
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
                    JsonKind::Null => kind::NULL,
                    JsonKind::Number(_) => kind::NUMBER,
                    JsonKind::String(_) => kind::STRING,
                    JsonKind::Bool(_) => kind::BOOL,
                    JsonKind::Object(_) => kind::STRUCT,
                    JsonKind::Array(_) => kind::LIST,
                };
                if let Some(field) = view.field_numbered(number) {
                    self.field(message, field, node.span, node, depth)?;
                }
            }
        }
        Ok(())
    }

    fn any(&mut self, message: &mut Message, node: &JsonNode<'_>, depth: u32) -> Read<()> {
        let JsonKind::Object(members) = &node.kind else {
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
        let JsonKind::String(name) = &url.kind else {
            return fail(url.span, format!("expected a string for `{TYPE_KEY}`"));
        };
        let Some(ty) = TreeNames(self.tree).of_url(name) else {
            return fail(url.span, format!("`{name}` names no known message"));
        };
        let view = self.tree.message(ty);
        // Runtimes differ in whether `Empty` has a notation of its own.
        let passed = |member: &&JsonMember<'_>| {
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
        let bytes = Value::Bytes(Codec::new(self.tree).encode(&content).into());
        set(message, view, 1, Value::String((&**name).into()), url.span);
        set(message, view, 2, bytes, node.span);
        Ok(())
    }
}

/// Sets a field of a well-known type, where its value differs from what is
/// there without it.
fn set(message: &mut Message, view: view::Message<'_>, number: i32, value: Value, span: Span) {
    if let Some(field) = view.field_numbered(number)
        && (field.cardinality() == Cardinality::Repeated || is_set(field, &value))
    {
        message.entries.push(Entry { field: field.id, value, key: span, span });
    }
}

fn is_empty(message: view::Message<'_>) -> bool {
    message.name() == "Empty" && message.full_name() == "google.protobuf.Empty"
}

/// Whether `null` is a value of the field, and not its absence.
fn takes_null(field: view::Field<'_>) -> bool {
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
