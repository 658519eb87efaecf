//! Reads and edits versions and hashes in the option
//! `(abide.annotations.v1.file_policy)` of each file.

use abide_hash::{SemanticHash, TreeHashes};
use abide_schema::{File, Package, Place};
use abide_upgrade::{STATUS_PROTO, apply, build_record_edits};
use jiff::civil::Date;
use semver::Version;

use super::RewrittenOption;
use crate::calendar::{parse_date, semantic_version};
use crate::lock::Lock;

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

    /// Returns true if every file records the same version and its own hash.
    pub(super) fn agrees(&self) -> bool {
        let version = |file: File<'t>| file.released_version().map(|(text, _)| text);
        let Some(&(first, _)) = self.files.first() else { return true };
        self.files.iter().all(|&(file, own)| {
            let hash = file.released_hash().map(|(text, _)| text.parse());
            version(file) == version(first) && hash == Some(Ok(own))
        })
    }

    /// The files with this version, their own hashes and the recorded days of the
    /// package written into them, without those that already have all. A day that
    /// one of the files has is left as it is, unless it is the one that the lock
    /// `was` recording.
    pub(super) fn rewritten(
        &self,
        version: &Version,
        lock: &Lock,
        was: Option<Date>,
    ) -> impl Iterator<Item = RewrittenOption> {
        let name = self.package.name();
        let is_ours = |text: &str| parse_date(text).is_some_and(|day| Some(day) == was);
        let said = |fact: fn(File<'t>) -> Option<(&'t str, Place)>| {
            let texts = self.package.files().filter_map(move |file| Some(fact(file)?.0));
            texts.collect::<Vec<&str>>()
        };
        let is_free = said(File::introduced).into_iter().all(is_ours);
        let introduced = lock.introduced(name).filter(|_| is_free);
        let frozen = lock.frozen(name).map(|it| it.day).filter(|_| said(File::frozen).is_empty());
        let days = [("introduced", introduced), ("frozen", frozen)];
        let days = days.map(|(field, day)| Some((field, day?.to_string())));
        self.files.iter().filter_map(move |&(file, own)| {
            let mut wanted = vec![("version", version.to_string()), ("hash", own.to_string())];
            wanted.extend(days.iter().flatten().cloned());
            let edits = build_record_edits(file, &wanted);
            if edits.is_empty() {
                return None;
            }
            let text = apply(file.decl().source_text()?, edits)
                .expect("strings, and places between statements, do not overlap");
            Some(RewrittenOption { path: file.decl().display.to_string(), text })
        })
    }
}
