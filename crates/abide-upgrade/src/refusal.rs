//! Why something was not made.

use abide_schema::File;

use crate::edit::Overlap;

/// Why an upgrade was not made.
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
    /// Nothing tells the next version of the package.
    Unversioned(String),
    /// The package extends messages that do not rise with it.
    Extends(String),
    /// A file that stays names a type that the next version of its package does
    /// not have.
    Names(String, String),
    /// The file was read from a descriptor.
    NoSource(String),
    /// Two migrations want to change the same text of the file.
    Overlap(String),
    /// The candidate is not what an upgrade makes.
    Drifted(String),
    /// The place of what is released is taken.
    Taken(String),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Unknown(name) => write!(f, "there is no package `{name}`"),
            Refusal::Candidate(name) => write!(
                f,
                "`{name}` is a candidate, which is made by machine: upgrade the package that it is \
                 made from"
            ),
            Refusal::Frozen(name) => {
                write!(f, "`{name}` is frozen: upgrade the newest version of its API")
            }
            Refusal::Unstable(name) => write!(
                f,
                "`{name}` is not stable and may change in place: only stable packages are upgraded"
            ),
            Refusal::Unversioned(name) => write!(
                f,
                "`{name}` has no version: name what follows it in `[upgrade.packages]` of abide.toml"
            ),
            Refusal::Extends(name) => write!(
                f,
                "`{name}` extends messages of other packages, and the numbers of its extensions \
                 cannot be taken twice: it has one version only"
            ),
            Refusal::NoSource(path) => {
                write!(f, "`{path}` was read from a descriptor: an upgrade edits source text")
            }
            Refusal::Names(path, name) => write!(
                f,
                "`{path}` names `{name}`, which is deprecated and not part of the next version: \
                 name another type"
            ),
            Refusal::Drifted(path) => write!(
                f,
                "the candidate `{path}` is not what an upgrade makes: run `abide upgrade --write` \
                 and look at what it changes"
            ),
            Refusal::Taken(path) => {
                write!(f, "`{path}` exists already, and a release overwrites nothing")
            }
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
