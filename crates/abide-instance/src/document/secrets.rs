//! The places of secrets in a text: of what nobody may show.
//!
//! An API marks fields as sensitive, and everything in such a field is a secret. Messages that hold
//! nothing but the payload of a secret are named here: trees without the marks have them, too.

use abide_schema::value::{Entry, Message, Value};
use abide_schema::{Field, Tree};
use abide_syntax::Span;

use super::instance::Instance;

/// What stands in the place of a secret.
pub const REDACTED: &str = "[redacted]";

/// Fields that hold secrets, by the end of their package, for trees that lost their options.
const SECRET_FIELDS: &[(&str, &str)] = &[
    ("TlsCertificate", "private_key"),
    ("TlsCertificate", "password"),
    ("TlsCertificate", "pkcs12"),
    ("TlsSessionTicketKeys", "keys"),
    ("GenericSecret", "secret"),
    ("GenericSecret", "secrets"),
];

impl Instance {
    /// Finds the places of secrets in its text.
    pub fn find_secrets(&self, tree: &Tree) -> Vec<Span> {
        let mut finder = SecretFinder { tree, found: Vec::new() };
        for message in self.documents.iter().filter_map(|it| it.message()) {
            finder.visit_message(message, false);
        }
        let mut found = finder.found;
        found.sort_by_key(|it| (it.start, it.end));
        found
    }
}

/// Replaces secrets in a text, byte for byte, so that every other place stays where it is. Line
/// breaks stay, too.
pub fn mask_secrets(text: &mut [u8], secrets: &[Span]) {
    for secret in secrets {
        let Some(bytes) = text.get_mut(secret.range()) else { continue };
        bytes.iter_mut().filter(|it| !it.is_ascii_whitespace()).for_each(|it| *it = b'*');
    }
}

/// Returns true if the values of a field are secrets.
fn is_secret_field(field: Field<'_>) -> bool {
    let is_named = || {
        let parent = field.containing_message();
        let is_envoy = field.package().name().starts_with("envoy.");
        let pair = parent.map(|it| (it.name(), field.name()));
        is_envoy && pair.is_some_and(|pair| SECRET_FIELDS.contains(&pair))
    };
    field.sensitive().is_some() || is_named()
}

struct SecretFinder<'t> {
    tree: &'t Tree,
    found: Vec<Span>,
}

impl SecretFinder<'_> {
    fn visit_message(&mut self, message: &Message, is_secret: bool) {
        if let Some(content) = &message.content {
            return self.visit_message(content, is_secret);
        }
        for entry in &message.entries {
            let is_secret = is_secret || is_secret_field(self.tree.field(entry.field));
            match &entry.value {
                Value::Message(inside) if is_secret => self.hide_message(entry, inside),
                Value::Message(inside) => self.visit_message(inside, false),
                _ if is_secret && !entry.span.is_empty() => self.found.push(entry.span),
                _ => {}
            }
        }
    }

    /// Hides all of a message but its keys: what could not be read of it is a secret, too.
    fn hide_message(&mut self, entry: &Entry, message: &Message) {
        let mut keys = Vec::new();
        collect_keys(message, &mut keys);
        keys.retain(|it| entry.span.start <= it.start && it.end <= entry.span.end);
        keys.sort_by_key(|it| it.start);
        let mut start = entry.span.start;
        for key in keys {
            if start < key.start {
                self.found.push(Span { start, end: key.start });
            }
            start = start.max(key.end);
        }
        if start < entry.span.end {
            self.found.push(Span { start, end: entry.span.end });
        }
        // What an alias repeats is written in another place.
        self.visit_scalars(message);
    }

    fn visit_scalars(&mut self, message: &Message) {
        if let Some(content) = &message.content {
            return self.visit_scalars(content);
        }
        for entry in &message.entries {
            match &entry.value {
                Value::Message(inside) => self.visit_scalars(inside),
                _ if !entry.span.is_empty() => self.found.push(entry.span),
                _ => {}
            }
        }
    }
}

fn collect_keys(message: &Message, keys: &mut Vec<Span>) {
    if let Some(content) = &message.content {
        return collect_keys(content, keys);
    }
    for entry in &message.entries {
        keys.push(entry.key);
        if let Value::Message(inside) = &entry.value {
            collect_keys(inside, keys);
        }
    }
}
