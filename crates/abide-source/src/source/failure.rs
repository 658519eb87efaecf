//! Errors of sources and of parts of them.

use std::fmt;
use std::io;

use crate::printable::escape_unprintable;

/// A file or folder that could not be read, while the rest could.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadProblem {
    /// The name that messages use, relative to the tree.
    pub path: String,
    /// The reason, as one phrase.
    pub reason: String,
    /// True if the source has lost it: the repository names an object that it cannot give.
    pub is_lost: bool,
}

impl ReadProblem {
    /// Returns true if it is a root that does not exist: nothing is there to be read.
    pub fn is_absence(&self) -> bool {
        self.reason == NO_ROOT
    }
}

impl fmt::Display for ReadProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read `{}`: {}", escape_unprintable(&self.path), self.reason)
    }
}

/// The error of a source of which nothing could be read; this always ends with exit status 2.
#[derive(Debug)]
pub enum SourceError {
    /// A source that does not exist, is of an unknown kind, or is malformed.
    Unusable {
        /// The argument of the user.
        name: String,
        /// The fault and its remedy, as one phrase.
        reason: String,
    },
    /// A source without a `.proto` file to judge.
    NoProtoFiles {
        /// The argument of the user.
        name: String,
    },
    /// A revision without the folder that is named.
    NoFolder {
        /// The argument of the user.
        name: String,
        /// The folder, from the top of the repository.
        folder: String,
    },
    /// A `git:` source without a repository around it.
    NoRepository {
        /// The folder the search started from.
        base: String,
    },
    /// A revision that does not resolve.
    UnknownRevision {
        /// The revision as written.
        revision: String,
        /// The way to fetch it, or another remedy.
        advice: String,
        /// True if it may be there one day, such as the tag of the first release.
        may_come: bool,
    },
    /// A name that several references have, such as a tag and a branch.
    AmbiguousRevision {
        /// The name as written.
        name: String,
        /// The spelling that would tell them apart.
        meanings: Vec<String>,
    },
    /// A revision of a repository, or of a branch, that has no commit yet.
    NoCommitYet {
        /// The revision as written.
        revision: String,
        /// The remedy, unless the command can do without it.
        advice: String,
    },
    /// Two revisions without a known common ancestor.
    NoMergeBase {
        /// The revision as written.
        revision: String,
        /// The revision it was compared with.
        with: String,
        /// The way to fetch the ancestor, or another remedy.
        advice: String,
    },
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unusable { name, reason } => {
                write!(f, "cannot read `{}`: {reason}", escape_unprintable(name))
            }
            Self::NoProtoFiles { name } => write!(
                f,
                "no `.proto` file in `{}`: name the folder of the proto tree, and check `roots`, \
                 `--import-path` and ignore files",
                escape_unprintable(name)
            ),
            Self::NoFolder { name, folder } => write!(
                f,
                "cannot read `{}`: the revision has no folder `{}`: name another one as \
                 `git:REV:SUBDIR`",
                escape_unprintable(name),
                escape_unprintable(folder)
            ),
            Self::NoRepository { base } => write!(
                f,
                "{} is not inside a git repository: run abide inside a clone",
                match base.as_str() {
                    "" => "the current folder".to_owned(),
                    base => format!("`{}`", escape_unprintable(base)),
                }
            ),
            Self::UnknownRevision { revision, advice, .. }
            | Self::NoCommitYet { revision, advice } => {
                write!(f, "unknown revision `{}`: {advice}", escape_unprintable(revision))
            }
            Self::AmbiguousRevision { name, meanings } => write!(
                f,
                "the revision `{}` is ambiguous: write {}",
                escape_unprintable(name),
                join_alternatives(
                    meanings.iter().map(|it| format!("`{}`", escape_unprintable(it)))
                )
            ),
            Self::NoMergeBase { revision, with, advice } => write!(
                f,
                "`{}` and `{}` have no known common ancestor: {advice}",
                escape_unprintable(revision),
                escape_unprintable(with)
            ),
        }
    }
}

impl std::error::Error for SourceError {}

impl SourceError {
    pub(super) fn unusable(name: impl Into<String>, reason: impl fmt::Display) -> Self {
        Self::Unusable { name: name.into(), reason: reason.to_string() }
    }
}

pub(super) const NOT_UNICODE: &str =
    "its name is not valid UTF-8, which no import can spell: rename it";
pub(super) const TOO_LARGE: &str =
    "it is larger than 4 GiB - 1, the most that a `.proto` file may hold: split it";
pub(super) const NOT_REGULAR: &str = "it is not a regular file";
pub(super) const NO_ROOT: &str = "the root does not exist: create it, or correct `roots`";

pub(super) fn io_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied: make it readable".to_owned(),
        _ => quote_error(error),
    }
}

/// The first line of what a library says, which may quote what it read.
pub(super) fn quote_error(error: &dyn fmt::Display) -> String {
    escape_unprintable(error.to_string().lines().next().unwrap_or_default().trim_end())
}

/// Joins names as in `a, b or c`.
pub(super) fn join_alternatives(names: impl Iterator<Item = impl Into<String>>) -> String {
    let names: Vec<String> = names.map(Into::into).collect();
    match names.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        names => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_says_where_it_looked_for_a_repository() {
        // Plugins name the folder that they are started in by nothing.
        let said = |base: &str| SourceError::NoRepository { base: base.to_owned() }.to_string();
        assert!(said("").starts_with("the current folder is not inside a git repository: "));
        assert!(said("a/b").starts_with("`a/b` is not inside a git repository: "));
    }
}
