//! Values as a reader of the wire would hold them.

use rustc_hash::FxHashMap;

use super::facts::is_set;
use crate::dynamic::{Entry, Message, Value};
use crate::ids::FieldId;
use crate::tree::{Cardinality, Tree};

impl Message {
    /// The same value as a reader of the wire would hold it: one entry for each
    /// singular field, occurrences of a message merged, and without the zeros
    /// that a text sets and that fields without presence do not tell.
    #[must_use]
    pub fn normalize(&self, tree: &Tree) -> Message {
        normalize(tree, &[self])
    }
}

/// Merges the entries of all occurrences of one message and sorts them by
/// number. A repeated field keeps all entries. So does a singular message, whose
/// entries are merged in turn. Of any other singular field, and of a oneof, only
/// the last counts. Source: "Last One Wins" and "Embedded Messages" of the
/// protobuf encoding specification.
pub(super) fn merge_entries<'m>(tree: &Tree, parts: &[&'m Message]) -> Vec<(i32, &'m Entry)> {
    let mut rows: Vec<(i32, &Entry)> = parts
        .iter()
        .flat_map(|part| &part.entries)
        .map(|entry| (tree.field(entry.field).number(), entry))
        .collect();
    let oneof = |entry: &Entry| {
        let index = tree.field(entry.field).decl().oneof?;
        Some((entry.field.file, index))
    };
    if rows.len() > 1 && rows.iter().any(|(_, entry)| oneof(entry).is_some()) {
        // From the back: the first member of a oneof that occurs wins.
        let mut winners: FxHashMap<_, Option<FieldId>> = FxHashMap::default();
        rows.reverse();
        rows.retain(|(_, entry)| match oneof(entry) {
            None => true,
            Some(oneof) => {
                let winner = winners.entry(oneof).or_insert(Some(entry.field));
                if *winner != Some(entry.field) {
                    *winner = None;
                }
                winner.is_some()
            }
        });
        rows.reverse();
    }
    rows.sort_by_key(|(number, _)| *number);
    rows
}

fn normalize(tree: &Tree, parts: &[&Message]) -> Message {
    let mut message = Message::new(parts[0].ty);
    // Both fields of an entry of a map count.
    let is_pair = tree.message(message.ty).is_map_entry();
    for rows in merge_entries(tree, parts).chunk_by(|a, b| a.0 == b.0) {
        let singular = tree.field(rows[0].1.field).cardinality() == Cardinality::Singular;
        let counts = if singular { &rows[rows.len() - 1..] } else { rows };
        for (_, entry) in counts {
            let field = tree.field(entry.field);
            let is_written = !entry.span.is_empty();
            if is_written && singular && !is_pair && !is_set(field, &entry.value) {
                continue;
            }
            let value = match &entry.value {
                Value::Message(_) if singular => {
                    Value::Message(Box::new(normalize(tree, &collect_messages(rows))))
                }
                Value::Message(inner) => Value::Message(Box::new(normalize(tree, &[inner]))),
                value => value.clone(),
            };
            message.entries.push(Entry { value, ..**entry });
        }
    }
    message.unknown = parts.iter().flat_map(|part| part.unknown.iter().copied()).collect();
    message
}

/// The messages among the values of one field.
pub(super) fn collect_messages<'m>(rows: &[(i32, &'m Entry)]) -> Vec<&'m Message> {
    rows.iter().filter_map(|(_, entry)| entry.value.as_message()).collect()
}
