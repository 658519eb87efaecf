//! The annotations of messages and oneofs.

use abide_schema::value::Value;
use abide_schema::{Element, Message, Part, Place};

use super::cel_text::normalize_cel;
use super::read::find_place;
use crate::sets::Dialect;

/// The annotation that a oneof must be set, with its place.
pub fn find_required_oneof(oneof: abide_schema::Oneof<'_>) -> Option<(Dialect, Place)> {
    let options = oneof.options()?;
    let tree = oneof.message().tree;
    let element = Element::Oneof(oneof);
    let pgv = options.find_extension(tree, "validate.required");
    if let Some(entry) = pgv.filter(|entry| entry.value == Value::Bool(true)) {
        return Some((Dialect::Pgv, find_place(element, entry)));
    }
    let limits = options.find_extension(tree, "buf.validate.oneof")?;
    let required = limits.value.as_message()?.get(tree, "required")?;
    (required.value == Value::Bool(true)).then(|| (Dialect::Buf, find_place(element, required)))
}

/// A rule that at most one of some fields may be set.
#[derive(Clone, Debug, PartialEq)]
pub struct Exclusive {
    /// The names of the fields, sorted.
    pub fields: Vec<String>,
    /// True if exactly one must be set.
    pub required: bool,
    /// The place of the rule.
    pub place: Place,
}

/// The annotations of a message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageLimits {
    /// The places where the check is turned off, for each library.
    pub disabled: Vec<(Dialect, &'static str, Place)>,
    /// The rules by which fields exclude each other.
    pub exclusive: Vec<Exclusive>,
    /// Expressions.
    pub expressions: Vec<(String, Place)>,
    /// Other rules that no set of values states.
    pub opaque: Vec<(String, Place)>,
}

impl MessageLimits {
    /// Reads the annotations of a message.
    pub fn read(message: Message<'_>) -> MessageLimits {
        let mut limits = MessageLimits::default();
        let Some(options) = message.options() else { return limits };
        let tree = message.tree;
        let element = Element::Message(message);
        for (name, key) in [("validate.disabled", "disabled"), ("validate.ignored", "ignored")] {
            let entry = options.find_extension(tree, name);
            if let Some(entry) = entry.filter(|entry| entry.value == Value::Bool(true)) {
                limits.disabled.push((Dialect::Pgv, key, find_place(element, entry)));
            }
        }
        let entry = options.find_extension(tree, "buf.validate.message");
        let Some(inner) = entry.and_then(|entry| entry.value.as_message()) else { return limits };
        for entry in &inner.entries {
            let field = tree.field(entry.field);
            let place = find_place(element, entry);
            match (field.name(), &entry.value) {
                ("disabled", Value::Bool(true)) => {
                    limits.disabled.push((Dialect::Buf, "disabled", place));
                }
                ("disabled", Value::Bool(false)) => {}
                ("cel_expression", Value::String(text)) => {
                    limits.expressions.push((normalize_cel(text), place));
                }
                ("cel", Value::Message(cel)) => {
                    let text = cel.get_str(tree, "expression").unwrap_or_default();
                    limits.expressions.push((normalize_cel(text), place));
                }
                ("oneof", Value::Message(oneof)) => {
                    let mut fields: Vec<String> = oneof
                        .get_all(tree, "fields")
                        .filter_map(|entry| entry.value.as_str().map(str::to_owned))
                        .collect();
                    fields.sort_unstable();
                    fields.dedup();
                    let required = oneof.get_bool(tree, "required").unwrap_or_default();
                    limits.exclusive.push(Exclusive { fields, required, place });
                }
                (name, value) => limits.opaque.push((format!("{name} = {value:?}"), place)),
            }
        }
        if !inner.unknown.is_empty() {
            let text = inner.unknown.escape_ascii().to_string();
            limits.opaque.push((text, element.place(Part::Name)));
        }
        limits
    }

    /// The rules that no set of values states.
    pub fn stated(&self) -> impl Iterator<Item = &(String, Place)> {
        self.expressions.iter().chain(&self.opaque)
    }

    /// Returns true if the library does not validate the message.
    pub fn is_disabled(&self, dialect: Dialect) -> bool {
        self.disabled.iter().any(|(found, ..)| *found == dialect)
    }
}
