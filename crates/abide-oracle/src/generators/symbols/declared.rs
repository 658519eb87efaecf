//! What generated code declares.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use abide_harness::Result;

/// A symbol and its signature, in the normal form of a language.
pub(super) type Declared = BTreeSet<(String, String)>;

/// Reads a generated file, whose comments may have bytes that are not UTF-8.
pub(super) fn read(path: &Path) -> Result<String> {
    Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())
}
