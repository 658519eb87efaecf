//! The names of accessors in Java.

use abide_schema::{Cardinality, Field, Message};
use rustc_hash::FxHashMap;

use crate::languages::JAVA;
use crate::symbols::elements::{camel, is_group_like, is_open};

/// The capitalised names in accessors, in the order of the fields. Two fields that
/// would share a name, or the name of a variant such as `FooCount`, get their numbers
/// appended. Source: `InitializeFieldGeneratorInfo` of the Java generator.
#[derive(Debug)]
pub(crate) struct JavaNames {
    pub(crate) accessors: Vec<String>,
}

impl JavaNames {
    pub(super) fn of(message: Message<'_>) -> JavaNames {
        let bases: Vec<String> = message.fields().map(base_name).collect();
        let mut named: FxHashMap<&str, Vec<Field<'_>>> = FxHashMap::default();
        for (name, field) in bases.iter().zip(message.fields()) {
            named.entry(name).or_default().push(field);
        }
        let of = |name: &str| named.get(name).map_or(&[][..], Vec::as_slice);
        let clashes = |name: &str, field: Field<'_>| {
            let hides = |variant: &&str| {
                !of(&format!("{name}{variant}")).is_empty() && has_variant(field, variant)
            };
            let is_hidden = |variant: &&str| {
                let others = name.strip_suffix(variant).map_or(&[][..], of);
                others.iter().any(|other| has_variant(*other, variant))
            };
            of(name).len() > 1 || VARIANTS.iter().any(|it| hides(it) || is_hidden(it))
        };
        let accessors =
            bases.iter().zip(message.fields()).map(|(name, field)| match clashes(name, field) {
                true => format!("{name}{}", field.number()),
                false => name.clone(),
            });
        JavaNames { accessors: accessors.collect() }
    }
}

fn base_name(field: Field<'_>) -> String {
    let name = match field.message_type() {
        Some(group) if is_group_like(field) => camel(group.name(), true),
        _ => camel(field.name(), true),
    };
    if JAVA.members.contains(&name.as_str()) { format!("{name}_") } else { name }
}

/// The possible ends of the names of accessors.
const VARIANTS: [&str; 4] = ["Count", "List", "Value", "ValueList"];

/// Returns true if a field has accessors that end with one of [`VARIANTS`].
fn has_variant(field: Field<'_>, variant: &str) -> bool {
    match variant {
        "Count" | "List" => field.cardinality() != Cardinality::Singular,
        "Value" => is_open(field, "pb.java") && field.cardinality() == Cardinality::Singular,
        "ValueList" => is_open(field, "pb.java") && field.cardinality() == Cardinality::Repeated,
        _ => false,
    }
}
