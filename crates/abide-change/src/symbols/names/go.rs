//! The names of fields, oneofs and types in Go.

use abide_schema::{Field, Message, Oneof, OneofId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::languages::GO;
use crate::symbols::elements::{find_place, join_nested_name};

/// The names of a message's fields and oneofs, made distinct from each other and
/// from the methods that every message has. Source: `resolveConflicts` of
/// protobuf-go's `protogen`, in which a name also reserves its getter's name.
#[derive(Debug)]
pub(crate) struct GoNames {
    /// In the order of the fields.
    fields: Vec<String>,
    oneofs: FxHashMap<OneofId, String>,
    /// The types inside the message, whose names those of wrappers evade.
    pub(crate) types: FxHashSet<String>,
}

impl GoNames {
    pub(super) fn of(message: Message<'_>) -> GoNames {
        let mut used: FxHashMap<String, bool> =
            GO.members.iter().map(|name| ((*name).to_owned(), true)).collect();
        let mut unique = |name: &str, has_getter: bool| {
            let mut name = camel(name);
            let is_used = |name: &str| used.get(name).copied().unwrap_or(false);
            while is_used(&name) || has_getter && is_used(&format!("Get{name}")) {
                name.push('_');
            }
            used.insert(name.clone(), true);
            used.insert(format!("Get{name}"), has_getter);
            name
        };
        let (mut fields, mut oneofs) = (Vec::new(), FxHashMap::default());
        for field in message.fields() {
            fields.push(unique(field.name(), true));
            if let Some(oneof) = field.oneof() {
                // A oneof is named after its first member.
                oneofs.entry(oneof.id).or_insert_with(|| unique(oneof.name(), false));
            }
        }
        let is_written = |it: Oneof<'_>| !it.is_synthetic();
        let types = match message.oneofs().any(is_written) {
            true => message
                .messages()
                .map(|it| type_name(Some(message), it.name()))
                .chain(message.enums().map(|it| type_name(Some(message), it.name())))
                .collect(),
            false => FxHashSet::default(),
        };
        GoNames { fields, oneofs, types }
    }

    pub(crate) fn field(&self, field: Field<'_>, message: Message<'_>) -> &str {
        self.fields.get(find_place(field, message)).map_or("", String::as_str)
    }

    pub(crate) fn oneof(&self, oneof: Oneof<'_>) -> &str {
        self.oneofs.get(&oneof.id).map_or("", String::as_str)
    }
}

/// The name of a declaration from its dotted path in the package. Source:
/// `GoCamelCase` of protobuf-go.
pub(crate) fn camel(path: &str) -> String {
    let bytes = path.as_bytes();
    let lower_at = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_lowercase);
    let mut camel = String::with_capacity(path.len());
    let mut index = 0;
    while let Some(&byte) = bytes.get(index) {
        match byte {
            b'.' if lower_at(index + 1) => {}
            b'.' => camel.push('_'),
            b'_' if index == 0 || bytes[index - 1] == b'.' => camel.push('X'),
            b'_' if lower_at(index + 1) => {}
            _ if byte.is_ascii_digit() => camel.push(char::from(byte)),
            _ => {
                camel.push(char::from(byte.to_ascii_uppercase()));
                while lower_at(index + 1) {
                    index += 1;
                    camel.push(char::from(bytes[index]));
                }
            }
        }
        index += 1;
    }
    camel
}

/// The name of a type, from its own and those of the messages around it.
pub(crate) fn type_name(parent: Option<Message<'_>>, name: &str) -> String {
    camel(&join_nested_name(parent, name))
}
