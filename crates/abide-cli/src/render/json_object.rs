//! Entries of JSON objects.

use serde_json::{Map, Value};

/// Sets a key.
pub(super) fn insert(object: &mut Map<String, Value>, key: &str, value: Value) {
    object.insert(key.to_owned(), value);
}

/// Sets a key if there is a value for it.
pub(super) fn insert_some(object: &mut Map<String, Value>, key: &str, value: Option<Value>) {
    if let Some(value) = value {
        insert(object, key, value);
    }
}
