//! Reads and edits versions and hashes in the option
//! `(abide.annotations.v1.file_policy)` of each file.

use abide_meaning::{SemanticHash, TreeHashes};
use abide_schema::{File, Package};
use abide_upgrade::{STATUS_PROTO, apply, record_edits};
use semver::Version;

use crate::semantic_version;

use super::Rewritten;

/// The files of a package with the hashes that they should record.
pub(super) struct Annotated<'t> {
    package: Package<'t>,
    files: Vec<(File<'t>, SemanticHash)>,
}

/// The version that the files of a package record: the highest if they differ.
pub(super) fn version_of(package: Package<'_>) -> Option<Version> {
    let written = package.files().filter_map(|it| it.released_version());
    let versions = written.filter_map(|(text, _)| Version::parse(text).ok());
    versions.filter(|it| semantic_version::fits(it, package.name())).max()
}

impl<'t> Annotated<'t> {
    pub(super) fn of(package: Package<'t>, hashes: &TreeHashes) -> Annotated<'t> {
        // The file that declares the option cannot set it.
        let files = package.files().filter(|it| it.is_judged() && it.path() != STATUS_PROTO);
        let own = |file: File<'t>| Some((file, hashes.file(&file.decl().display)?.own));
        Annotated { package, files: files.filter_map(own).collect() }
    }

    pub(super) fn version(&self) -> Option<Version> {
        version_of(self.package)
    }

    /// Whether every file records the same version and its own hash.
    pub(super) fn agrees(&self) -> bool {
        let version = |file: File<'t>| file.released_version().map(|(text, _)| text);
        let Some(&(first, _)) = self.files.first() else { return true };
        self.files.iter().all(|&(file, own)| {
            let hash = file.released_hash().map(|(text, _)| text.parse());
            version(file) == version(first) && hash == Some(Ok(own))
        })
    }

    /// The files with this version and their own hashes written into them, without
    /// those that already have both.
    pub(super) fn rewritten(&self, version: &Version) -> impl Iterator<Item = Rewritten> {
        self.files.iter().filter_map(|&(file, own)| {
            let wanted = [("version", version.to_string()), ("hash", own.to_string())];
            let edits = record_edits(file, &wanted);
            if edits.is_empty() {
                return None;
            }
            let text = apply(file.decl().source_text()?, edits)
                .expect("strings, and places between statements, do not overlap");
            Some(Rewritten { path: file.decl().display.to_string(), text })
        })
    }
}
