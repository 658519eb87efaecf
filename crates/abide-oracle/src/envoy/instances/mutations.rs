//! Changes of a value, each with the verdict class that it is about.

use abide_schema::{Cardinality, Element, Field, MessageId, Scalar, Tree, Type};
use serde_json::{Map, Value, json};

use super::minimal::{Rules, build_sample_value};

/// A changed value.
pub(super) struct Mutant {
    pub(super) class: &'static str,
    pub(super) fields: Map<String, Value>,
    /// What a verdict is expected to name: a full name of an element.
    pub(super) element: String,
    /// Layers of runtime that go with it.
    pub(super) layers: Vec<Value>,
}

/// Every change of a value of this type.
pub(super) fn generate_mutants(
    tree: &Tree,
    ty: MessageId,
    base: &Map<String, Value>,
) -> Vec<Mutant> {
    let message = tree.message(ty);
    let mut all = Vec::new();
    let mut add = |class, element: String, change: &dyn Fn(&mut Map<String, Value>)| {
        let mut fields = base.clone();
        change(&mut fields);
        all.push(Mutant { class, fields, element, layers: Vec::new() });
    };
    let name = message.full_name();
    add("unknown-field", name.clone(), &|it| drop(it.insert("no_such_field".into(), json!(1))));
    for field in message.fields() {
        let (key, full) = (field.name(), field.full_name());
        let set = |value: Value| {
            move |it: &mut Map<String, Value>| {
                if let Some(oneof) = field.oneof() {
                    oneof.fields().for_each(|other| drop(it.remove(other.name())));
                }
                it.insert(key.to_owned(), value.clone());
            }
        };
        let list = |value: Value| match field.cardinality() {
            Cardinality::Repeated => json!([value]),
            Cardinality::Singular | Cardinality::Map => value,
        };
        if field.is_map() {
            add("wrong-type", full, &set(json!("x")));
            continue;
        }
        let element = Element::Field(field);
        if element.deprecated().is_some() || element.disallowed_by_default().is_some() {
            if let Some(value) = build_sample_value(field, 0) {
                let class = match element.disallowed_by_default() {
                    Some(_) => "disallowed-field",
                    None => "deprecated-field",
                };
                add(class, full.clone(), &set(value));
            }
            continue;
        }
        if element.work_in_progress().is_some()
            && Element::Message(message).work_in_progress().is_none()
            && let Some(value) = build_sample_value(field, 0)
        {
            add("work-in-progress", full.clone(), &set(value));
        }
        match field.ty() {
            Type::Enum(id) => {
                let item = tree.enumeration(id);
                add("unknown-enum-value", full.clone(), &set(list(json!("NO_SUCH_VALUE"))));
                add("unknown-enum-number", full.clone(), &set(list(json!(4711))));
                for value in item.values() {
                    let used = Element::EnumValue(value);
                    let is_singular = field.cardinality() == Cardinality::Singular;
                    let class = match (used.deprecated(), used.disallowed_by_default()) {
                        (_, Some(_)) => "disallowed-value",
                        (Some(_), None) => "deprecated-value",
                        _ => continue,
                    };
                    if is_singular {
                        add(class, value.full_name(), &set(json!(value.name())));
                    }
                    if value.number() == 0 && is_singular && field.oneof().is_none() {
                        let change = |it: &mut Map<String, Value>| drop(it.remove(key));
                        add("implicit-default", value.full_name(), &change);
                    }
                }
            }
            Type::Scalar(Scalar::String) => {
                add("wrong-type", full.clone(), &set(list(json!({"a": 1}))));
            }
            Type::Scalar(Scalar::Bool) => {
                add("wrong-type", full.clone(), &set(list(json!("maybe"))));
            }
            Type::Scalar(Scalar::Bytes) => {
                add("malformed-value", full.clone(), &set(list(json!("*"))));
            }
            Type::Scalar(scalar) => {
                add("wrong-type", full.clone(), &set(list(json!("many"))));
                if matches!(scalar, Scalar::Uint32 | Scalar::Int32) {
                    add("malformed-value", full.clone(), &set(list(json!(1_u64 << 40))));
                    add("malformed-value", full.clone(), &set(list(json!(1.5))));
                }
            }
            Type::Message(id) => match tree.message(id).full_name().as_str() {
                "google.protobuf.Duration" => {
                    add("malformed-value", full.clone(), &set(list(json!("5x"))));
                    add("malformed-value", full.clone(), &set(list(json!("1.5"))));
                }
                "google.protobuf.Any" => {
                    let missing = "type.googleapis.com/envoy.no.such.v3.Type";
                    add("unknown-type", full.clone(), &set(list(json!({"@type": missing}))));
                    add("type-missing", full.clone(), &set(list(json!({"a": 1}))));
                }
                inner if !inner.starts_with("google.protobuf.") => {
                    add("wrong-type", full.clone(), &set(list(json!("x"))));
                }
                _ => {}
            },
            Type::Unresolved => {}
        }
        for value in list_refused_values(field) {
            add("constraint", full.clone(), &set(value));
        }
        if base.contains_key(key) {
            add("constraint", full, &|it| drop(it.remove(key)));
        }
    }
    for oneof in message.oneofs().filter(|it| !it.is_synthetic()) {
        let members: Vec<Field<'_>> = oneof.fields().collect();
        if members.iter().any(|it| base.contains_key(it.name())) {
            add("constraint", format!("{name}.{}", oneof.name()), &|it| {
                members.iter().for_each(|member| drop(it.remove(member.name())));
            });
        }
        if let [first, second, ..] = members.as_slice()
            && let (Some(a), Some(b)) =
                (build_sample_value(*first, 0), build_sample_value(*second, 0))
        {
            add("second-of-oneof", second.full_name(), &|it| {
                it.insert(first.name().to_owned(), a.clone());
                it.insert(second.name().to_owned(), b.clone());
            });
        }
    }
    all
}

/// Values that the annotations of a field refuse, one for each rule.
fn list_refused_values(field: Field<'_>) -> Vec<Value> {
    let rules = Rules::of(field);
    let Some((kind, _)) = rules.typed() else { return Vec::new() };
    let mut values = Vec::new();
    let is_duration = kind == "duration";
    let mut number = |value: f64| {
        if is_duration {
            let value = value.max(-1000.0);
            values.push(json!(format!("{value}s")));
        } else if value.fract() == 0.0 && value.abs() < 1e15 {
            values.push(json!(value as i64));
        } else {
            values.push(json!(value));
        }
    };
    match kind {
        "string" | "bytes" => {
            let is_text = kind == "string";
            let most = ["max_len", "max_bytes"].iter().find_map(|it| rules.number(it));
            if let Some(most) = most.filter(|most| is_text && *most < 100_000.0) {
                values.push(json!("x".repeat(most as usize + 1)));
            }
            if ["min_len", "min_bytes"].iter().any(|it| rules.number(it) > Some(0.0)) {
                values.push(json!(""));
            }
            if is_text {
                values.push(json!("a\u{1}\r\n b"));
            }
        }
        "repeated" => {
            if rules.number("min_items") > Some(0.0) {
                values.push(json!([]));
            }
            let most = rules.number("max_items").filter(|most| *most < 1000.0);
            if let (Some(most), Some(Value::Array(one))) = (most, build_sample_value(field, 0)) {
                values.push(Value::Array(vec![one[0].clone(); most as usize + 1]));
            }
            if let Some(Value::Array(one)) = build_sample_value(field, 0)
                && one.first().is_some_and(|it| !it.is_object())
            {
                values.push(json!([one[0], one[0]]));
                values.push(json!([""]));
            }
        }
        "map" | "enum" | "bool" | "any" | "timestamp" => {}
        _ => {
            rules.number("gte").into_iter().for_each(|it| number(it - 1.0));
            rules.number("gt").into_iter().for_each(&mut number);
            rules.number("lte").into_iter().for_each(|it| number(it + 1.0));
            rules.number("lt").into_iter().for_each(&mut number);
        }
    }
    // A negative value of an unsigned type is another defect.
    values.retain(|it| !kind.starts_with('u') || it.as_i64().is_none_or(|it| it >= 0));
    values
}
