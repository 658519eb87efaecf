//! The facts of one file that decide which files a change of it concerns.

use std::hash::Hasher;
use std::sync::Arc;

use rustc_hash::FxHasher;

use crate::decl::FileDecl;
use crate::workspace::unique_names::UniqueNames;

/// The facts of one file that decide which files a change of it concerns. It depends on
/// the text of the file alone, and can be kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Its package; empty if it has none.
    pub package: Arc<str>,
    /// The paths that it imports.
    pub imports: Vec<Arc<str>>,
    /// The hashes of what no other file may claim: full names of its top level, and
    /// numbers of extensions. They are sorted.
    pub claims: Vec<u64>,
    /// The strings that may be names, as in options that name elements of files which nobody
    /// imports. They are sorted, and without the dots around them.
    pub strings: Vec<Arc<str>>,
    /// True if the text parses. If not, nobody knows what the file imports and claims.
    pub parses: bool,
}

impl Outline {
    /// The outline of a file.
    pub fn from_decl(decl: &FileDecl) -> Outline {
        let mut claims: Vec<u64> =
            UniqueNames::from_decl(decl).names.iter().map(|it| hash_name(it)).collect();
        claims.sort_unstable();
        let mut strings: Vec<&str> =
            find_quoted_names(decl.source_text().unwrap_or_default()).collect();
        strings.sort_unstable();
        strings.dedup();
        Outline {
            package: decl.package_name().into(),
            imports: decl.imports.iter().map(|it| (&*it.path).into()).collect(),
            claims,
            strings: strings.into_iter().map(Arc::from).collect(),
            parses: decl.parses,
        }
    }
}

/// Finds the texts between two quotes of a kind that consist of letters, digits, `_` and dots only.
fn find_quoted_names(text: &[u8]) -> impl Iterator<Item = &str> {
    let is_part = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'.');
    memchr::memchr2_iter(b'"', b'\'', text).filter_map(move |at| {
        let (quote, rest) = text.get(at..)?.split_first()?;
        let end = rest.iter().position(|it| !is_part(it)).filter(|end| rest[*end] == *quote)?;
        let name = std::str::from_utf8(&rest[..end]).ok()?.trim_matches('.');
        Some(name).filter(|it| !it.is_empty())
    })
}

/// The hash of something that a file claims. Two claims of one hash make a slice larger, and no
/// result wrong.
pub(crate) fn hash_name(name: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(name.as_bytes());
    hasher.finish()
}
