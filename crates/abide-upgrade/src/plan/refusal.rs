//! Reasons for candidates that cannot be generated.

use abide_schema::File;

use super::hand_maintained::HAND_MAINTAINED_HELP;
use crate::edit::Overlap;

/// The reason for a refused upgrade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpgradeRefusal {
    /// There is no such package.
    UnknownPackage(String),
    /// The package is a candidate itself.
    Candidate(String),
    /// The package has a newer major version.
    Frozen(String),
    /// The package is an alpha or a beta, which may change in place.
    Unstable(String),
    /// The next version of the package is not known.
    Unversioned(String),
    /// The package extends messages that are not upgraded with it.
    ExtendsOthers(String),
    /// A file that people wrote as a part of the next major uses a type of the major that it
    /// replaces.
    OwnEarlierMajor(String, String),
    /// A file that stays uses a type that the next version does not have.
    UsesRemoved(String, String),
    /// The file was read from a descriptor.
    NoSource(String),
    /// Two migrations change the same text of the file.
    Overlap(String),
    /// The candidate differs from what an upgrade generates.
    StaleCandidate(String),
    /// The path of a released file is taken.
    PathTaken(String),
    /// The first file depends on another one, and people wrote what is in the place
    /// of its candidate.
    Displaced(String, String),
}

impl UpgradeRefusal {
    /// Returns true if the reason is in the tree, and not in what was asked for.
    pub fn is_of_tree(&self) -> bool {
        match self {
            UpgradeRefusal::UnknownPackage(_)
            | UpgradeRefusal::Candidate(_)
            | UpgradeRefusal::Frozen(_)
            | UpgradeRefusal::Unstable(_)
            | UpgradeRefusal::Unversioned(_)
            | UpgradeRefusal::ExtendsOthers(_)
            | UpgradeRefusal::NoSource(_) => false,
            UpgradeRefusal::UsesRemoved(..)
            | UpgradeRefusal::OwnEarlierMajor(..)
            | UpgradeRefusal::Overlap(_)
            | UpgradeRefusal::StaleCandidate(_)
            | UpgradeRefusal::PathTaken(_)
            | UpgradeRefusal::Displaced(..) => true,
        }
    }
}

impl std::fmt::Display for UpgradeRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            UpgradeRefusal::UnknownPackage(name) => write!(f, "there is no package `{name}`"),
            UpgradeRefusal::Candidate(name) => write!(
                f,
                "`{name}` is a generated candidate: upgrade the package that it is generated from"
            ),
            UpgradeRefusal::Frozen(name) => {
                write!(f, "`{name}` is frozen: upgrade the newest version of its API")
            }
            UpgradeRefusal::Unstable(name) => write!(
                f,
                "`{name}` is not stable and may change in place: only stable packages are upgraded"
            ),
            UpgradeRefusal::OwnEarlierMajor(path, name) => write!(
                f,
                "`{path}` uses `{name}`, of a major that a release of this file replaces: copy what \
                 you need of it into the package, or depend on something else"
            ),
            UpgradeRefusal::Unversioned(name) => write!(
                f,
                "`{name}` has no version: set its next name in `[upgrade.packages]` of abide.toml"
            ),
            UpgradeRefusal::ExtendsOthers(name) => write!(
                f,
                "`{name}` extends messages of other packages, so it can only have one version: an \
                 extension number cannot be used twice"
            ),
            UpgradeRefusal::NoSource(path) => {
                write!(f, "`{path}` was read from a descriptor: an upgrade needs source text")
            }
            UpgradeRefusal::UsesRemoved(path, name) => write!(
                f,
                "`{path}` uses `{name}`, which is deprecated and not in the next version: use \
                 another type"
            ),
            UpgradeRefusal::StaleCandidate(path) => write!(
                f,
                "the candidate `{path}` differs from what an upgrade generates: run `abide upgrade \
                 --write` and review the changes"
            ),
            UpgradeRefusal::PathTaken(path) => write!(
                f,
                "`{path}` already exists, and a release overwrites no file: delete its candidate \
                 if it was released before, else move `{path}` away"
            ),
            UpgradeRefusal::Displaced(path, other) => write!(
                f,
                "the next version of `{path}` would depend on `{other}`, which no upgrade made: \
                 delete that file; or, {HAND_MAINTAINED_HELP}"
            ),
            UpgradeRefusal::Overlap(path) => {
                write!(f, "`{path}` cannot be upgraded: two migrations change the same text")
            }
        }
    }
}

/// Refuses a file that was not read from text.
pub(crate) fn check_source(file: File<'_>) -> Result<(), UpgradeRefusal> {
    let source = file.decl().source_text().is_some() && file.decl().ast().is_some();
    if source { Ok(()) } else { Err(UpgradeRefusal::NoSource(file.path().to_owned())) }
}

/// Refuses a file whose edits meet.
pub(crate) fn refuse_overlap(file: File<'_>, _: &Overlap) -> UpgradeRefusal {
    UpgradeRefusal::Overlap(file.path().to_owned())
}
