//! Why something was not made.

use abide_schema::File;

use super::hand_maintained::DECLARE_BY_HAND;
use crate::edit::Overlap;

/// Why an upgrade is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no such package.
    Unknown(String),
    /// The package is a candidate itself.
    Candidate(String),
    /// The package has a newer major version.
    Frozen(String),
    /// The package is an alpha or a beta, which may change in place.
    Unstable(String),
    /// The next version of the package is not known.
    Unversioned(String),
    /// The package extends messages that are not upgraded with it.
    Extends(String),
    /// A file that people wrote as a part of the next major uses a type of the major that it
    /// replaces.
    OwnEarlierMajor(String, String),
    /// A file that stays uses a type that the next version does not have.
    Names(String, String),
    /// The file was read from a descriptor.
    NoSource(String),
    /// Two migrations change the same text of the file.
    Overlap(String),
    /// The candidate differs from what an upgrade generates.
    Drifted(String),
    /// The path of a released file is taken.
    Taken(String),
    /// The first file depends on another one, and people wrote what is in the place
    /// of its candidate.
    Displaced(String, String),
}

impl Refusal {
    /// Whether the reason is in the tree, and not in what was asked for.
    pub fn is_of_tree(&self) -> bool {
        match self {
            Refusal::Unknown(_)
            | Refusal::Candidate(_)
            | Refusal::Frozen(_)
            | Refusal::Unstable(_)
            | Refusal::Unversioned(_)
            | Refusal::Extends(_)
            | Refusal::NoSource(_) => false,
            Refusal::Names(..)
            | Refusal::OwnEarlierMajor(..)
            | Refusal::Overlap(_)
            | Refusal::Drifted(_)
            | Refusal::Taken(_)
            | Refusal::Displaced(..) => true,
        }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Unknown(name) => write!(f, "there is no package `{name}`"),
            Refusal::Candidate(name) => write!(
                f,
                "`{name}` is a generated candidate: upgrade the package that it is generated from"
            ),
            Refusal::Frozen(name) => {
                write!(f, "`{name}` is frozen: upgrade the newest version of its API")
            }
            Refusal::Unstable(name) => write!(
                f,
                "`{name}` is not stable and may change in place: only stable packages are upgraded"
            ),
            Refusal::OwnEarlierMajor(path, name) => write!(
                f,
                "`{path}` uses `{name}`, of a major that a release of this file replaces: copy what \
                 you need of it into the package, or depend on something else"
            ),
            Refusal::Unversioned(name) => write!(
                f,
                "`{name}` has no version: set its next name in `[upgrade.packages]` of abide.toml"
            ),
            Refusal::Extends(name) => write!(
                f,
                "`{name}` extends messages of other packages, so it can only have one version: an \
                 extension number cannot be used twice"
            ),
            Refusal::NoSource(path) => {
                write!(f, "`{path}` was read from a descriptor: an upgrade needs source text")
            }
            Refusal::Names(path, name) => write!(
                f,
                "`{path}` uses `{name}`, which is deprecated and not in the next version: use \
                 another type"
            ),
            Refusal::Drifted(path) => write!(
                f,
                "the candidate `{path}` differs from what an upgrade generates: run `abide upgrade \
                 --write` and review the changes"
            ),
            Refusal::Taken(path) => write!(
                f,
                "`{path}` already exists, and a release overwrites no file: delete its candidate \
                 if it was released before, else move `{path}` away"
            ),
            Refusal::Displaced(path, other) => write!(
                f,
                "the next version of `{path}` would depend on `{other}`, which no upgrade made: \
                 delete that file; or, {DECLARE_BY_HAND}"
            ),
            Refusal::Overlap(path) => {
                write!(f, "`{path}` cannot be upgraded: two migrations change the same text")
            }
        }
    }
}

/// Refuses a file that was not read from text.
pub(crate) fn check_source(file: File<'_>) -> Result<(), Refusal> {
    let source = file.decl().source_text().is_some() && file.decl().ast().is_some();
    if source { Ok(()) } else { Err(Refusal::NoSource(file.path().to_owned())) }
}

/// Refuses a file whose edits meet.
pub(crate) fn overlap(file: File<'_>, _: &Overlap) -> Refusal {
    Refusal::Overlap(file.path().to_owned())
}
