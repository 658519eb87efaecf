//! Small values of messages that satisfy their validation annotations.

use abide_schema::value::{self, Value as Datum};
use abide_schema::{Cardinality, EnumValue, Field, Message, MessageId, Tree, Type};
use serde_json::{Map, Value, json};

/// The annotations of one field, as protoc-gen-validate has them.
pub(super) struct Rules<'t> {
    tree: &'t Tree,
    field: Option<&'t value::Message>,
}

impl<'t> Rules<'t> {
    pub(super) fn of(field: Field<'t>) -> Rules<'t> {
        let options = field.options();
        let entry = options.and_then(|it| it.find_extension(field.tree, "validate.rules"));
        Rules { tree: field.tree, field: entry.and_then(|it| it.value.as_message()) }
    }

    /// Those of the type of the field: their name and they.
    pub(super) fn typed(&self) -> Option<(&'t str, &'t value::Message)> {
        self.field?.entries.iter().find_map(|entry| {
            let name = self.tree.field(entry.field).name();
            Some((name, entry.value.as_message()?)).filter(|_| name != "message")
        })
    }

    fn items(&self) -> Rules<'t> {
        let items = self.typed().and_then(|(_, rules)| rules.get_message(self.tree, "items"));
        Rules { tree: self.tree, field: items }
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        let value = &self.typed()?.1.get(self.tree, name)?.value;
        let seconds = |it: &value::Message| {
            let part = |name| it.get_i64(self.tree, name).unwrap_or_default() as f64;
            part("seconds") + part("nanos") / 1e9
        };
        value.as_f64().or_else(|| value.as_message().map(seconds))
    }

    fn build_accepted_text(&self, name: &str) -> Option<&'t str> {
        self.typed()?.1.get_str(self.tree, name)
    }

    fn flag(&self, name: &str) -> bool {
        self.typed().is_some_and(|(_, rules)| rules.get_bool(self.tree, name) == Some(true))
    }

    /// Whether a message without the field is refused.
    fn need(&self, field: Field<'_>) -> bool {
        let inner = self.field.and_then(|it| it.get_message(self.tree, "message"));
        let required = inner.is_some_and(|it| it.get_bool(self.tree, "required") == Some(true));
        let Some((kind, rules)) = self.typed() else { return required };
        if required || self.flag("required") {
            return true;
        }
        if self.flag("ignore_empty") || field.message_type().is_some() && !field.is_map() {
            return field.cardinality() == Cardinality::Repeated
                && self.number("min_items") > Some(0.0);
        }
        if field.oneof().is_some() {
            return false;
        }
        let zero_is_out = |least: Option<f64>, most: Option<f64>| {
            least.is_some_and(|it| it > 0.0) || most.is_some_and(|it| it < 0.0)
        };
        match kind {
            "string" | "bytes" => {
                ["min_len", "min_bytes", "len"].iter().any(|it| self.number(it) > Some(0.0))
                    || ["const", "prefix", "suffix", "contains"]
                        .iter()
                        .any(|it| self.build_accepted_text(it).is_some())
                    || rules.get(self.tree, "in").is_some()
            }
            "enum" => rules.get_all(self.tree, "not_in").any(|it| it.value.as_i64() == Some(0)),
            "repeated" => self.number("min_items") > Some(0.0),
            "map" => self.number("min_pairs") > Some(0.0),
            "bool" => self.flag("const"),
            _ => {
                zero_is_out(self.number("gte"), self.number("lte"))
                    || self.number("gt") >= Some(0.0)
                    || rules.get(self.tree, "in").is_some()
            }
        }
    }
}

/// The value of a message with only what it needs; `None` if none is known.
pub(super) fn build_minimal_message(
    tree: &Tree,
    ty: MessageId,
    depth: u32,
) -> Option<Map<String, Value>> {
    let message = tree.message(ty);
    let mut fields = Map::new();
    if depth > 6 {
        return None;
    }
    for field in message.fields().filter(|field| Rules::of(*field).need(*field)) {
        fields.insert(field.name().to_owned(), build_sample_value(field, depth)?);
    }
    for oneof in message.oneofs() {
        let required = oneof.options().and_then(|it| it.find_extension(tree, "validate.required"));
        if required.is_some_and(|it| it.value == Datum::Bool(true)) {
            let live = oneof
                .fields()
                .filter(|it| abide_schema::Element::Field(*it).deprecated().is_none());
            let (name, value) = { live }
                .find_map(|field| Some((field.name(), build_sample_value(field, depth)?)))?;
            fields.insert(name.to_owned(), value);
        }
    }
    Some(fields)
}

/// A value of a field that says something and satisfies its annotations.
pub(super) fn build_sample_value(field: Field<'_>, depth: u32) -> Option<Value> {
    let rules = Rules::of(field);
    match field.cardinality() {
        Cardinality::Map => {
            let entry = field.message_type()?;
            let key = match entry.field_numbered(1)?.ty() {
                Type::Scalar(abide_schema::Scalar::String) => "k",
                Type::Scalar(abide_schema::Scalar::Bool) => "true",
                _ => "1",
            };
            Some(
                json!({ key: build_single_value(entry.field_numbered(2)?, &Rules { tree: field.tree, field: None }, depth)? }),
            )
        }
        Cardinality::Repeated => {
            let count = rules.number("min_items").unwrap_or(1.0).max(1.0) as usize;
            let one = build_single_value(field, &rules.items(), depth)?;
            (count == 1 || !rules.flag("unique")).then(|| Value::Array(vec![one; count]))
        }
        Cardinality::Singular => build_single_value(field, &rules, depth),
    }
}

fn build_single_value(field: Field<'_>, rules: &Rules<'_>, depth: u32) -> Option<Value> {
    use abide_schema::Scalar;
    let number = || {
        let least = rules.number("gte").or(rules.number("gt").map(|it| it + 1.0)).unwrap_or(1.0);
        let most = rules.number("lte").or(rules.number("lt").map(|it| it - 1.0));
        let value = least.max(1.0).min(most.unwrap_or(f64::MAX));
        if value.fract() == 0.0 { json!(value as i64) } else { json!(value) }
    };
    match field.ty() {
        Type::Message(id) => build_message_value(field.tree, id, rules, depth),
        Type::Enum(id) => {
            let item = field.tree.enumeration(id);
            let is_live = |it: &EnumValue<'_>| {
                it.number() != 0 && abide_schema::Element::EnumValue(*it).deprecated().is_none()
            };
            let value = item.values().find(is_live).or_else(|| item.values().next())?;
            Some(json!(value.name()))
        }
        Type::Scalar(Scalar::Bool) => Some(json!(true)),
        Type::Scalar(Scalar::String) => text(rules).map(Value::String),
        Type::Scalar(Scalar::Bytes) => Some(json!("eHh4eA==")),
        Type::Scalar(_) => Some(number()),
        Type::Unresolved => None,
    }
}

fn text(rules: &Rules<'_>) -> Option<String> {
    if let Some(text) =
        rules.build_accepted_text("const").or_else(|| rules.build_accepted_text("in"))
    {
        return Some(text.to_owned());
    }
    if rules.build_accepted_text("pattern").is_some() {
        return None;
    }
    if let Some(text) =
        ["prefix", "suffix", "contains"].iter().find_map(|it| rules.build_accepted_text(it))
    {
        return Some(text.to_owned());
    }
    if rules.flag("ip") || rules.flag("ipv4") || rules.flag("address") {
        return Some("127.0.0.1".to_owned());
    }
    if rules.flag("uri") {
        return Some("http://a.b/c".to_owned());
    }
    let least = ["min_len", "min_bytes", "len"].iter().find_map(|it| rules.number(it));
    Some("x".repeat(least.unwrap_or(1.0).max(1.0) as usize))
}

fn build_message_value(tree: &Tree, id: MessageId, rules: &Rules<'_>, depth: u32) -> Option<Value> {
    let message: Message<'_> = tree.message(id);
    let least = rules.number("gte").or(rules.number("gt").map(|it| it + 1.0)).unwrap_or(1.0);
    let value = least.max(1.0).min(rules.number("lte").unwrap_or(f64::MAX));
    // 1.36 takes no fraction for a whole number, not even `1.0`.
    let value = if value.fract() == 0.0 { json!(value as i64) } else { json!(value) };
    Some(match message.full_name().strip_prefix("google.protobuf.") {
        Some("Duration") => json!(format!("{value}s")),
        Some("Timestamp") => json!("2024-01-01T00:00:00Z"),
        Some("BoolValue") => json!(true),
        Some("StringValue") => json!(text(rules)?),
        Some("BytesValue") => json!("eHh4eA=="),
        Some(name)
            if name.ends_with("Value") && message.fields().len() == 1 && name != "ListValue" =>
        {
            json!(value)
        }
        Some("Struct" | "Empty") => json!({}),
        Some("Value") => json!("x"),
        Some(_) => return None,
        None => Value::Object(build_minimal_message(tree, id, depth + 1)?),
    })
}
