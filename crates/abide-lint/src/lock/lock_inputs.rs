//! What is recorded about a tree and about its last release.

use std::collections::BTreeMap;

use abide_hash::Hashes;
use abide_schema::Tree;
use jiff::civil::Date;
use semver::Version;

use super::lock::Lock;

/// Where versions and hashes are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VersionIn {
    /// In `abide.lock`.
    #[default]
    Lock,
    /// In an option of each file.
    Option,
}

/// What is recorded, and where versions are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Records<'a> {
    /// Where versions are recorded.
    pub version_in: VersionIn,
    /// The content of `abide.lock`, if there is one.
    pub lock: Option<&'a Lock>,
    /// Its content at the last release.
    pub released: Option<&'a Lock>,
    /// Another content of it that must not be forgotten, such as that of the last commit where the
    /// file is gone.
    pub earlier: Option<&'a Lock>,
    /// What version control knows of each package, if days and versions that were
    /// never recorded are to be taken from there.
    pub history: Option<&'a BTreeMap<String, PackagePast>>,
}

/// What version control knows of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackagePast {
    /// The day of the first commit that has it.
    pub first: Date,
    /// Its version at the last commit, as recorded there or counted from the bumps of
    /// all commits, and its hashes there.
    pub last: Option<(Version, Hashes)>,
}

impl Records<'_> {
    /// Returns true if anything is recorded at all.
    pub(crate) fn exist(&self, tree: &Tree) -> bool {
        let in_options = || {
            let mut files = tree.files().filter(|it| it.is_judged());
            files.any(|file| file.released_version().is_some())
        };
        // A lock that is lost since the old tree is missed.
        let lost = || {
            let released = self.released.filter(|_| self.lock.is_none());
            self.version_in == VersionIn::Lock && released.is_some_and(Lock::is_of_versions)
        };
        self.lock.is_some_and(Lock::is_of_versions)
            || lost()
            || self.version_in == VersionIn::Option && in_options()
    }
}
