//! The values of a text in JSON or YAML, by their places.

use std::collections::HashMap;

use abide_schema::value::{JsonKind, JsonMember, JsonNode};
use abide_syntax::Span;

/// The values of a text, by their places.
pub(super) struct NodeIndex<'n> {
    values: HashMap<Span, &'n JsonNode<'n>>,
    /// Members by the places of their keys.
    members: HashMap<Span, &'n JsonMember<'n>>,
    /// The outermost values, by where they begin.
    begins: HashMap<u32, &'n JsonNode<'n>>,
}

impl<'n> NodeIndex<'n> {
    /// The values of a document.
    pub(super) fn index(root: &'n JsonNode<'n>) -> NodeIndex<'n> {
        let mut nodes =
            NodeIndex { values: HashMap::new(), members: HashMap::new(), begins: HashMap::new() };
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            // Aliases repeat values; the first is where it is written.
            nodes.values.entry(node.span).or_insert(node);
            nodes.begins.entry(node.span.start).or_insert(node);
            match &node.kind {
                JsonKind::Array(elements) => open.extend(elements.iter().rev()),
                JsonKind::Object(members) => {
                    for member in members.iter().rev() {
                        nodes.members.entry(member.key_span).or_insert(member);
                        open.push(&member.value);
                    }
                }
                _ => {}
            }
        }
        nodes
    }

    pub(super) fn find_value(&self, span: Span) -> Option<&'n JsonNode<'n>> {
        self.values.get(&span).copied().filter(|_| !span.is_empty())
    }

    /// The outermost value that begins at a place.
    pub(super) fn find_at_start(&self, start: u32) -> Option<&'n JsonNode<'n>> {
        self.begins.get(&start).copied()
    }

    pub(super) fn find_member(&self, key: Span) -> Option<&'n JsonMember<'n>> {
        self.members.get(&key).copied().filter(|_| !key.is_empty())
    }
}

/// The members of an object.
pub(super) fn get_members<'n>(node: &'n JsonNode<'n>) -> &'n [JsonMember<'n>] {
    match &node.kind {
        JsonKind::Object(members) => members,
        _ => &[],
    }
}
