//! The way to a place in an instance, by names that stay when others are added before it.

use abide_schema::value::{Entry, Message};
use abide_schema::{Cardinality, Tree};
use abide_syntax::Span;

/// The keys that lead to a place: of the messages of a list each by its name or, if it has none,
/// its number.
pub(crate) fn path_of(tree: &Tree, message: &Message, place: Span) -> String {
    let mut path = String::new();
    let mut next = Some(message);
    while let Some(message) = next.take() {
        let message = message.content.as_deref().unwrap_or(message);
        let is_in = |span: Span| span.start <= place.start && place.end <= span.end;
        let covers =
            |entry: &&Entry| !entry.span.is_empty() && (is_in(entry.key) || is_in(entry.span));
        let Some(entry) = message.entries.iter().rev().find(covers) else { break };
        let field = tree.field(entry.field);
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(field.name());
        let inner = entry.value.as_message();
        if field.cardinality() != Cardinality::Singular && is_in(entry.span) {
            let name = inner.and_then(|it| name_of(tree, it));
            let at = message.entries_of(entry.field).position(|it| std::ptr::eq(it, entry));
            let at = name.unwrap_or_else(|| at.unwrap_or_default().to_string());
            path.push_str(&format!("[{at}]"));
        }
        next = inner;
    }
    path
}

/// Returns what tells a message from the others of its list.
fn name_of(tree: &Tree, message: &Message) -> Option<String> {
    let name = ["name", "key", "cluster_name"];
    let name = name.iter().find_map(|name| message.get_str(tree, name));
    name.filter(|it| !it.is_empty()).map(str::to_owned)
}
