//! The mapping between two versions that `abide upgrade --mapping` writes.

use abide_schema::value::Message;

use super::builtin_protos::{DeclarationError, get_builtin_protos, read_builtin_values};
use crate::Notation;

/// A `VersionMapping` of `api/abide/mapping/v1`: what of it concerns values.
#[derive(Clone, Debug, Default)]
pub struct VersionMapping {
    /// The names of types, old and new.
    pub(super) types: Vec<(String, String)>,
    /// Fields and enum values that are gone: the old name and that of the replacement, whose values
    /// are of the same type. Both full names are of the older version and the newer one.
    pub(super) replacements: Vec<(String, String)>,
    /// Elements whose values may get lost, and why.
    pub(super) lossy: Vec<(String, String)>,
}

impl VersionMapping {
    /// Reads a mapping in JSON or binary.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    pub fn read(text: &[u8], notation: Notation) -> Result<VersionMapping, DeclarationError> {
        let mut mapping = VersionMapping::default();
        let tree = get_builtin_protos();
        let pair = |message: &Message, from: &str, to: &str| {
            let text = |name| message.get_str(tree, name).map(str::to_owned);
            Some((text(from)?, text(to)?))
        };
        for value in read_builtin_values("abide.mapping.v1.VersionMapping", text, notation)? {
            let messages = |name| value.get_all(tree, name).filter_map(|it| it.value.as_message());
            for ty in messages("types") {
                mapping.types.extend(pair(ty, "old_name", "new_name"));
            }
            for gone in messages("deprecations") {
                if gone.get_bool(tree, "translatable") == Some(true) {
                    mapping.replacements.extend(pair(gone, "old_name", "replacement"));
                }
                mapping.lossy.extend(pair(gone, "old_name", "lossy"));
            }
        }
        Ok(mapping)
    }
}
