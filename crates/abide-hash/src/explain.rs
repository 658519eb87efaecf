//! Prints the facts behind a hash, to be read and compared.

use std::collections::BTreeSet;

use abide_schema::{Package, Tree};

use crate::canonical_file::CanonicalFile;
use crate::{canonicalize, closure};

/// The hashed bytes, to read and compare: the title and the facts of the own hash
/// and, after an empty line, those of the closure. The name is that of a package,
/// the path of a file, or the full name of a top-level message, enum, service or
/// extension. Services and extensions have no closure.
pub fn print_facts(tree: &Tree, name: &str) -> Option<String> {
    closure::print_unit_facts(tree, name).or_else(|| {
        let own = tree.files().find_map(|file| canonicalize::print_element_facts(file, name))?;
        Some(match closure::print_type_facts(tree, name) {
            Some(closure) => format!("{own}\n{closure}"),
            None => own,
        })
    })
}

/// The facts of the own hash of a package.
pub fn collect_package_facts(package: Package<'_>) -> BTreeSet<String> {
    let meanings = package.files().map(CanonicalFile::of);
    meanings.flat_map(|it| it.facts().map(to_text).collect::<Vec<_>>()).collect()
}

/// The facts of the own hash of a top-level message, enum, service or extension.
pub fn collect_element_facts(package: Package<'_>, name: &str) -> Option<BTreeSet<String>> {
    let shown = package.files().find_map(|file| canonicalize::print_element_facts(file, name))?;
    Some(shown.lines().skip(1).map(str::to_owned).collect())
}

fn to_text(fact: &[u8]) -> String {
    String::from_utf8_lossy(fact).into_owned()
}
