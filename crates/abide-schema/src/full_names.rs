//! Full names of a whole tree, for notations that name things without imports.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::ids::{FieldId, MessageId};

/// The messages and extensions of a tree by their full names, gathered when
/// first asked for: most values name none.
#[derive(Debug, Default)]
pub(crate) struct FullNames {
    pub(crate) messages: OnceLock<FxHashMap<String, MessageId>>,
    /// Of several roots, each may have one.
    pub(crate) extensions: OnceLock<FxHashMap<String, Vec<FieldId>>>,
}
