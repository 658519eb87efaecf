//! Copies of one package in several roots.

use std::collections::BTreeMap;

use abide_hash::TreeHashes;
use abide_schema::{File, Tree};

/// Two copies of a file, in different roots, that no longer mean the same.
#[derive(Clone, Copy, Debug)]
pub struct DivergedCopy<'t> {
    /// The file in the first root that has it.
    pub first: File<'t>,
    /// The file in a later root.
    pub other: File<'t>,
}

/// The copies of packages that have come apart: of each package and root the first file that differs
/// from the one at the same path in an earlier root.
pub fn find_diverged_copies(tree: &Tree) -> Vec<DivergedCopy<'_>> {
    if !tree.repeats_names() {
        return Vec::new();
    }
    let hashes = TreeHashes::of(tree);
    let meaning = |file: File<'_>| hashes.file(&file.decl().display).map(|it| it.own);
    let mut firsts: BTreeMap<(&str, &str), File<'_>> = BTreeMap::new();
    let mut apart: BTreeMap<(&str, u32), DivergedCopy<'_>> = BTreeMap::new();
    for other in tree.files().filter(|it| it.is_judged()) {
        let package = other.package().name();
        let first = *firsts.entry((package, other.path())).or_insert(other);
        if first != other && meaning(first) != meaning(other) {
            apart.entry((package, other.decl().root)).or_insert(DivergedCopy { first, other });
        }
    }
    apart.into_values().collect()
}
