//! Options as values of expressions, by their names.

use std::rc::Rc;

use abide_schema::value::{Codec, Message, Value, default_of};
use abide_schema::{Cardinality, Field, Tree, Type};
use abide_validate::cel::{CelType, CelValue, HostType, HostValue};

/// The type of messages inside of options. Which members one has, only the tree knows.
static OPTION_MESSAGE: HostType = HostType { name: "message of an option", members: &[] };

/// The type of the options of an element.
pub(super) fn options_type() -> CelType {
    CelType::map(CelType::String, CelType::Dyn)
}

/// The options of an element that are set: standard ones by their name, custom ones by their full
/// name.
pub(super) fn read_options<'t>(tree: &'t Tree, options: Option<&'t Message>) -> CelValue<'t> {
    let mut pairs: Vec<(CelValue<'t>, CelValue<'t>)> = Vec::new();
    let mut seen = Vec::new();
    for entry in options.iter().flat_map(|it| &it.entries) {
        if seen.contains(&entry.field) {
            continue;
        }
        seen.push(entry.field);
        let field = tree.field(entry.field);
        let name = match field.is_extension() {
            true => CelValue::text(field.full_name()),
            false => CelValue::text(field.name()),
        };
        let values = options.iter().flat_map(|it| it.entries_of(field.id));
        pairs.push((name, read_field(tree, field, values.map(|it| &it.value))));
    }
    CelValue::Map(pairs.into())
}

/// Returns true if `deprecated` is set.
pub(super) fn is_deprecated(tree: &Tree, options: Option<&Message>) -> bool {
    options.is_some_and(|it| it.get_bool(tree, "deprecated") == Some(true))
}

fn read_field<'t>(
    tree: &'t Tree,
    field: Field<'t>,
    values: impl Iterator<Item = &'t Value>,
) -> CelValue<'t> {
    match field.cardinality() {
        Cardinality::Singular => {
            let value = values.last().map(|it| read_value(tree, field, it));
            value.unwrap_or_else(|| read_default(tree, field))
        }
        Cardinality::Repeated => {
            CelValue::List(values.map(|it| read_value(tree, field, it)).collect())
        }
        Cardinality::Map => {
            let entry = |it: &'t Value| {
                let entry = OptionMessage { tree, message: it.as_message()? };
                Some((entry.find_member("key")?, entry.find_member("value")?))
            };
            CelValue::Map(values.filter_map(entry).collect())
        }
    }
}

fn read_value<'t>(tree: &'t Tree, field: Field<'t>, value: &'t Value) -> CelValue<'t> {
    match value {
        Value::Bool(value) => CelValue::Bool(*value),
        Value::F32(value) => CelValue::Double((*value).into()),
        Value::F64(value) => CelValue::Double(*value),
        Value::U64(value) => CelValue::Uint(*value),
        Value::U32(value) => CelValue::Uint((*value).into()),
        Value::I32(value) => CelValue::Int((*value).into()),
        Value::I64(value) => CelValue::Int(*value),
        Value::String(text) => CelValue::text(&**text),
        Value::Bytes(bytes) => CelValue::Bytes((&**bytes).into()),
        Value::Enum(number) => {
            let named = field.enum_type().and_then(|it| it.value_numbered(*number));
            named.map_or(CelValue::Int((*number).into()), |it| CelValue::text(it.name()))
        }
        Value::Message(message) => CelValue::Host(Rc::new(OptionMessage { tree, message })),
    }
}

/// The value of a singular field that is not set.
fn read_default<'t>(tree: &'t Tree, field: Field<'t>) -> CelValue<'t> {
    match (default_of(field), field.ty()) {
        (Some(Value::Enum(number)), Type::Enum(id)) => {
            let named = tree.enumeration(id).value_numbered(number);
            named.map_or(CelValue::Int(number.into()), |it| CelValue::text(it.name()))
        }
        (Some(Value::Bool(value)), _) => CelValue::Bool(value),
        (Some(Value::F32(value)), _) => CelValue::Double(value.into()),
        (Some(Value::F64(value)), _) => CelValue::Double(value),
        (Some(Value::U64(value)), _) => CelValue::Uint(value),
        (Some(Value::U32(value)), _) => CelValue::Uint(value.into()),
        (Some(Value::String(text)), _) => CelValue::text(&*text),
        (Some(Value::Bytes(bytes)), _) => CelValue::Bytes((&*bytes).into()),
        (Some(value), _) => value.as_i64().map_or(CelValue::Null, CelValue::Int),
        (None, _) => CelValue::Null,
    }
}

/// A message inside of an option, such as `google.api.http`.
#[derive(Debug)]
struct OptionMessage<'t> {
    tree: &'t Tree,
    message: &'t Message,
}

impl<'t> OptionMessage<'t> {
    fn find_field(&self, name: &str) -> Option<Field<'t>> {
        let tree = self.tree;
        let declared = tree.message(self.message.ty).field_named(name);
        let set = || self.message.entries.iter().map(|it| tree.field(it.field));
        declared.or_else(|| set().find(|it| it.is_extension() && it.full_name() == name))
    }
}

impl<'t> HostValue<'t> for OptionMessage<'t> {
    fn host_type(&self) -> &'static HostType {
        &OPTION_MESSAGE
    }

    fn find_member(&self, name: &str) -> Option<CelValue<'t>> {
        let field = self.find_field(name)?;
        let values = self.message.entries_of(field.id).map(|it| &it.value);
        Some(read_field(self.tree, field, values))
    }

    fn has_member(&self, name: &str) -> Option<bool> {
        let field = self.find_field(name)?;
        Some(self.message.entries_of(field.id).next().is_some())
    }

    fn identity(&self) -> String {
        Codec::new(self.tree).to_text(&self.message.normalize(self.tree))
    }
}
