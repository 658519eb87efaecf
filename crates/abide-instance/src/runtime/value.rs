//! One value of a runtime key: how it is written, and what it is for those who
//! ask for a boolean, a number or a share.
//!
//! Readers of a key ask for a type. A value that is not of that type counts as
//! if the key were not set. Source: seen on Envoy 1.36 to 1.40; releases before
//! 1.14.1 took whole numbers for no booleans.

use abide_schema::Tree;
use abide_schema::value::{JsonKind, Message, Value};
use abide_syntax::Span;

use super::format_number;
use super::fraction::FractionalPercent;
use super::number::parse_number;

/// A value as it is written, before any type is asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum RuntimeLiteral {
    /// A `null`, or a file that holds nothing but comments.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A text.
    Text(Box<str>),
    /// Keys with values, in the order they are written.
    Struct(Vec<RuntimeMember>),
    /// A list, which no reader of a key takes.
    List,
}

/// A key of a struct with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct RuntimeMember {
    /// The key.
    pub key: Box<str>,
    /// The span of the key.
    pub span: Span,
    /// Its value.
    pub value: RuntimeLiteral,
}

/// The value that a layer has for a key.
#[derive(Clone, Debug, PartialEq)]
pub struct RuntimeValue {
    /// The notation.
    pub literal: RuntimeLiteral,
    /// The text that readers of strings get, and that `/runtime` shows.
    pub text: Box<str>,
    /// The span of its key in the text that the layer is from.
    pub span: Span,
}

impl RuntimeLiteral {
    /// A `google.protobuf.Value`.
    pub(super) fn from_value(tree: &Tree, value: &Message) -> RuntimeLiteral {
        let Some(entry) = value.entries.last() else { return RuntimeLiteral::Null };
        match (tree.field(entry.field).number(), &entry.value) {
            (2, Value::F64(number)) => RuntimeLiteral::Number(*number),
            (3, Value::String(text)) => RuntimeLiteral::Text(text.clone()),
            (4, Value::Bool(value)) => RuntimeLiteral::Bool(*value),
            (5, Value::Message(value)) => RuntimeLiteral::Struct(read_members(tree, value)),
            (6, _) => RuntimeLiteral::List,
            _ => RuntimeLiteral::Null,
        }
    }

    fn from_node(kind: &JsonKind<'_>) -> RuntimeLiteral {
        match kind {
            JsonKind::Null => RuntimeLiteral::Null,
            JsonKind::Bool(value) => RuntimeLiteral::Bool(*value),
            // Every number of JSON is one of Rust.
            JsonKind::Number(text) => {
                text.parse().map_or(RuntimeLiteral::Null, RuntimeLiteral::Number)
            }
            JsonKind::String(text) => RuntimeLiteral::Text((&**text).into()),
            JsonKind::Array(_) => RuntimeLiteral::List,
            JsonKind::Object(members) => {
                let members = members.iter().map(|it| RuntimeMember {
                    key: (&*it.key).into(),
                    span: it.key_span,
                    value: RuntimeLiteral::from_node(&it.value.kind),
                });
                RuntimeLiteral::Struct(keep_last_of_each(members))
            }
        }
    }

    /// The text of a value that comes as a value, not as a text.
    fn to_text(&self) -> String {
        match self {
            RuntimeLiteral::Null | RuntimeLiteral::List => String::new(),
            RuntimeLiteral::Bool(value) => value.to_string(),
            RuntimeLiteral::Number(number) => format_number::format_number(*number),
            RuntimeLiteral::Text(text) => text.to_string(),
            RuntimeLiteral::Struct(_) => self.to_string(),
        }
    }

    /// Its number, where it is one or a text that spells one.
    fn to_number(&self) -> Option<f64> {
        match self {
            RuntimeLiteral::Number(number) => Some(*number),
            RuntimeLiteral::Text(text) => parse_number(text),
            _ => None,
        }
    }
}

/// As JSON, whole numbers in full.
impl std::fmt::Display for RuntimeLiteral {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RuntimeLiteral::Null => f.write_str("null"),
            RuntimeLiteral::Bool(value) => write!(f, "{value}"),
            RuntimeLiteral::Number(number) if number.abs() < 1e16 => write!(f, "{number}"),
            RuntimeLiteral::Number(number) => write!(f, "{number:e}"),
            RuntimeLiteral::Text(text) => write!(f, "{text:?}"),
            RuntimeLiteral::List => f.write_str("[…]"),
            RuntimeLiteral::Struct(members) => {
                f.write_str("{")?;
                for (at, member) in members.iter().enumerate() {
                    let comma = if at == 0 { "" } else { ", " };
                    write!(f, "{comma}{:?}: {}", member.key, member.value)?;
                }
                f.write_str("}")
            }
        }
    }
}

/// The fields of a `google.protobuf.Struct`.
pub(super) fn read_members(tree: &Tree, value: &Message) -> Vec<RuntimeMember> {
    let pairs = value.entries.iter().filter_map(|entry| {
        let pair = entry.value.as_message()?;
        let named = pair.find_by_number(tree, 1);
        let key = named.and_then(|it| it.value.as_str()).unwrap_or_default();
        let value = pair.find_by_number(tree, 2).and_then(|it| it.value.as_message());
        let value = value.map_or(RuntimeLiteral::Null, |it| RuntimeLiteral::from_value(tree, it));
        let span = named.map_or(entry.span, |it| it.span);
        Some(RuntimeMember { key: key.into(), span, value })
    });
    keep_last_of_each(pairs)
}

/// Of members with the same key the last one, in the place of the first.
fn keep_last_of_each(members: impl Iterator<Item = RuntimeMember>) -> Vec<RuntimeMember> {
    let mut kept: Vec<RuntimeMember> = Vec::new();
    let mut places = rustc_hash::FxHashMap::default();
    for member in members {
        match places.get(&member.key) {
            Some(&at) => kept[at] = member,
            None => {
                places.insert(member.key.clone(), kept.len());
                kept.push(member);
            }
        }
    }
    kept
}

impl RuntimeValue {
    /// A value that comes as a value: of a static layer or by RTDS.
    pub(super) fn from_literal(literal: RuntimeLiteral, span: Span) -> RuntimeValue {
        RuntimeValue { text: literal.to_text().into(), literal, span }
    }

    /// A value that comes as a text: of a file or an admin override. It is read as
    /// YAML; the error says what keeps it from that.
    pub(super) fn parse_text(text: &str) -> Result<RuntimeValue, String> {
        let parsed = crate::readers::yaml::parse(text, crate::Dialect::Envoy);
        if let Some(error) = parsed.errors.into_iter().next() {
            return Err(error.message);
        }
        let first = parsed.documents.first();
        let literal =
            first.map_or(RuntimeLiteral::Null, |node| RuntimeLiteral::from_node(&node.kind));
        let text = if text.is_empty() { literal.to_text() } else { text.to_owned() };
        Ok(RuntimeValue { literal, text: text.into(), span: Span::default() })
    }

    /// The boolean that it is: `true` and `false` outside of quotes, and whole
    /// numbers below 2^31, also in quotes, where all but 0 are true.
    pub fn as_boolean(&self) -> Option<bool> {
        if let RuntimeLiteral::Bool(value) = self.literal {
            return Some(value);
        }
        let number = self.literal.to_number()?;
        let range = f64::from(i32::MIN)..f64::from(i32::MAX);
        (range.contains(&number) && number.fract() == 0.0).then_some(number != 0.0)
    }

    /// The number that it is, also in quotes.
    pub fn as_number(&self) -> Option<f64> {
        self.literal.to_number()
    }

    /// The whole number that it is: a number from 0, rounded down.
    pub fn as_integer(&self) -> Option<u64> {
        let number = self.literal.to_number()?;
        // Up to 2^64, which becomes the greatest one.
        (0.0..=u64::MAX as f64).contains(&number).then_some(number as u64)
    }

    /// The share that it is: a struct with a numerator, a denominator, both or none.
    pub fn as_percent(&self) -> Option<FractionalPercent> {
        match &self.literal {
            RuntimeLiteral::Struct(members) => FractionalPercent::from_members(members),
            _ => None,
        }
    }
}
