//! Values in JSON.

use std::collections::BTreeMap;

use super::syntax::{self};
use super::well_known::{self, TYPE_KEY, VALUE_KEY, WellKnown, is_null_value};
use crate::decl::Scalar;
use crate::dynamic::{Entry, MAX_NESTING, Message, Value};
use crate::tree::view;
use crate::tree::{Cardinality, Tree, Type};
use crate::value::codec::Codec;
use crate::value::error::EncodeError;
use crate::value::facts::is_set;
use crate::value::names::TreeNames;
use crate::value::shortest::shortest;

impl Codec<'_> {
    /// The message in JSON without white space: fields by number, maps by key.
    /// Fields that the tree does not declare cannot be written and are left out.
    ///
    /// # Errors
    /// A `google.protobuf.Any` whose type the tree lacks, and well-known types
    /// whose value is out of their range.
    pub fn to_json(self, message: &Message) -> Result<String, EncodeError> {
        self.print_json(message, false)
    }

    /// The message in JSON with the names of fields as their file declares them, which every reader
    /// of JSON knows as well.
    ///
    /// # Errors
    /// Those of [`to_json`](Codec::to_json).
    pub fn to_json_with_declared_names(self, message: &Message) -> Result<String, EncodeError> {
        self.print_json(message, true)
    }

    fn print_json(self, message: &Message, declared_names: bool) -> Result<String, EncodeError> {
        let mut printer = JsonPrinter { tree: self.tree, declared_names, out: String::new() };
        printer.write_message(&message.normalize(self.tree), 0)?;
        Ok(printer.out)
    }
}

struct JsonPrinter<'t> {
    tree: &'t Tree,
    declared_names: bool,
    out: String,
}

type Printed = Result<(), EncodeError>;

fn fail<T>(message: impl Into<String>) -> Result<T, EncodeError> {
    Err(EncodeError { message: message.into() })
}

impl<'t> JsonPrinter<'t> {
    /// Prints a message that is normalized.
    fn write_message(&mut self, message: &Message, depth: u32) -> Printed {
        if depth > MAX_NESTING {
            return fail(format!("messages nest deeper than {MAX_NESTING} levels"));
        }
        if let Some(known) = WellKnown::from_message(self.tree.message(message.ty)) {
            return self.write_well_known(message, known, depth);
        }
        self.out.push('{');
        self.write_fields(message, depth)?;
        self.out.push('}');
        Ok(())
    }

    fn write_fields(&mut self, message: &Message, depth: u32) -> Printed {
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
                false if self.declared_names => self.quote(field.name()),
                false => self.quote(&field.json_name()),
            }
            self.out.push(':');
            self.write_field(field, entries, depth)?;
        }
        Ok(())
    }

    /// Prints the whole value of a field.
    fn write_field(&mut self, field: view::Field<'t>, entries: &[Entry], depth: u32) -> Printed {
        match (field.cardinality(), entries) {
            (Cardinality::Singular, [.., last]) => self.write_value(field, &last.value, depth),
            (Cardinality::Map, _) => self.map(field, entries, depth),
            (_, entries) => {
                self.out.push('[');
                for (at, entry) in entries.iter().enumerate() {
                    if at > 0 {
                        self.out.push(',');
                    }
                    self.write_value(field, &entry.value, depth)?;
                }
                self.out.push(']');
                Ok(())
            }
        }
    }

    /// Prints a map. Of entries with the same key, the last counts.
    fn map(&mut self, field: view::Field<'t>, entries: &[Entry], depth: u32) -> Printed {
        let tree = self.tree;
        let pair = field.message_type();
        let parts = pair.and_then(|it| Some((it.field_numbered(1)?, it.field_numbered(2)?)));
        let Some((key_field, value_field)) = parts else {
            return fail(format!("`{}` is not a map", field.name()));
        };
        let mut pairs: BTreeMap<(i128, Box<str>), &Message> = BTreeMap::new();
        for message in entries.iter().filter_map(|entry| entry.value.as_message()) {
            let key = match message.find_by_number(tree, 1).map(|entry| &entry.value) {
                Some(Value::String(text)) => (0, text.clone()),
                Some(Value::Bytes(_)) => {
                    return fail(format!("a key of `{}` is not valid UTF-8", field.name()));
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
            let zero = Value::new_zero(tree, value_field.ty());
            match message.find_by_number(tree, 2).map(|entry| &entry.value).or(zero.as_ref()) {
                Some(value) => self.write_value(value_field, value, depth + 1)?,
                None => self.out.push_str("null"),
            }
        }
        self.out.push('}');
        Ok(())
    }

    fn write_value(&mut self, field: view::Field<'t>, value: &Value, depth: u32) -> Printed {
        match value {
            Value::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            Value::I32(value) => self.out.push_str(&value.to_string()),
            Value::U32(value) => self.out.push_str(&value.to_string()),
            // Numbers over 53 bits are not exact in JavaScript.
            Value::I64(value) => self.quote(&value.to_string()),
            Value::U64(value) => self.quote(&value.to_string()),
            Value::F32(value) if value.is_finite() => self.out.push_str(&shortest(value)),
            Value::F64(value) if value.is_finite() => self.out.push_str(&shortest(value)),
            Value::F32(value) => self.write_non_finite((*value).into()),
            Value::F64(value) => self.write_non_finite(*value),
            Value::String(text) => self.quote(text),
            Value::Bytes(_) if field.ty() == Type::Scalar(Scalar::String) => {
                return fail(format!("`{}` is not valid UTF-8", field.name()));
            }
            Value::Bytes(bytes) => {
                self.out.push('"');
                well_known::write_base64(bytes, &mut self.out);
                self.out.push('"');
            }
            Value::Enum(_) if is_null_value(field) => self.out.push_str("null"),
            Value::Enum(number) => {
                let item = field.enum_type();
                match item.and_then(|item| item.value_numbered(*number)) {
                    Some(value) => self.quote(value.json_text().unwrap_or(value.name())),
                    None => self.out.push_str(&number.to_string()),
                }
            }
            Value::Message(message) => return self.write_message(message, depth + 1),
        }
        Ok(())
    }

    fn quote(&mut self, text: &str) {
        syntax::quote(text, &mut self.out);
    }

    fn write_non_finite(&mut self, value: f64) {
        self.out.push_str(match value {
            f64::INFINITY => "\"Infinity\"",
            f64::NEG_INFINITY => "\"-Infinity\"",
            _ => "\"NaN\"",
        });
    }

    fn write_well_known(&mut self, message: &Message, known: WellKnown, depth: u32) -> Printed {
        let tree = self.tree;
        let view = tree.message(message.ty);
        let number = |number| {
            message.find_by_number(tree, number).and_then(|entry| entry.value.as_i64()).unwrap_or(0)
        };
        let text = match known {
            WellKnown::Any => return self.write_any(message, depth),
            WellKnown::Timestamp | WellKnown::Duration => {
                let nanos = i32::try_from(number(2)).unwrap_or(i32::MAX);
                let text = match known {
                    WellKnown::Timestamp => well_known::write_timestamp(number(1), nanos),
                    _ => well_known::write_duration(number(1), nanos),
                };
                match text {
                    Some(text) => text,
                    None => return fail(format!("a `{}` is out of range", view.full_name())),
                }
            }
            WellKnown::FieldMask => {
                let mut paths = Vec::new();
                for path in message.entries.iter().filter_map(|entry| entry.value.as_str()) {
                    match well_known::to_camel_case(path) {
                        Some(path) => paths.push(path),
                        None => {
                            let text = format!("`{path}` cannot be written in lowerCamelCase");
                            return fail(text);
                        }
                    }
                }
                paths.join(",")
            }
            WellKnown::Struct | WellKnown::ListValue | WellKnown::Wrapper => {
                let Some(field) = view.field_numbered(1) else { return Ok(()) };
                let zero = Value::new_zero(tree, field.ty());
                return match (field.cardinality(), zero) {
                    (Cardinality::Singular, Some(zero)) if message.entries.is_empty() => {
                        self.write_value(field, &zero, depth)
                    }
                    _ => self.write_field(field, &message.entries, depth),
                };
            }
            WellKnown::Value => {
                let Some(entry) = message.entries.last() else {
                    return fail("a `google.protobuf.Value` is empty");
                };
                if entry.value.as_f64().is_some_and(|value| !value.is_finite()) {
                    return fail("the number of a `google.protobuf.Value` is not finite");
                }
                return self.write_value(tree.field(entry.field), &entry.value, depth);
            }
        };
        self.quote(&text);
        Ok(())
    }

    fn write_any(&mut self, message: &Message, depth: u32) -> Printed {
        let tree = self.tree;
        let url = message.find_by_number(tree, 1).and_then(|entry| entry.value.as_str());
        let bytes = message.find_by_number(tree, 2).and_then(|entry| entry.value.as_bytes());
        let Some(url) = url else {
            if bytes.is_some() {
                return fail("a `google.protobuf.Any` has a value but no type");
            }
            self.out.push_str("{}");
            return Ok(());
        };
        let Some(ty) = TreeNames(tree).find_by_url(url) else {
            return fail(format!("`{url}` is not a known message type"));
        };
        let content = match Codec::new(tree).decode(ty, bytes.unwrap_or_default()) {
            Ok(content) => content.normalize(tree),
            Err(error) => return fail(format!("the value of a `{url}` is malformed: {error}")),
        };
        self.out.push('{');
        self.quote(TYPE_KEY);
        self.out.push(':');
        self.quote(url);
        if WellKnown::from_message(tree.message(ty)).is_some() {
            self.out.push(',');
            self.quote(VALUE_KEY);
            self.out.push(':');
            self.write_message(&content, depth + 1)?;
        } else if depth < MAX_NESTING {
            self.write_fields(&content, depth + 1)?;
        } else {
            return fail(format!("messages nest deeper than {MAX_NESTING} levels"));
        }
        self.out.push('}');
        Ok(())
    }
}
