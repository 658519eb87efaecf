//! Errors of loading.

use std::io;

use thiserror::Error;

use crate::source::{ReadProblem, SourceError};

/// The reason why a tree could not be loaded.
#[derive(Debug, Error)]
pub enum LoadError {
    /// A source that cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A source of which no file could be read; this is the first one.
    #[error("{0}")]
    Unreadable(ReadProblem),
    /// A descriptor set that cannot be decoded.
    #[error("`{name}` is not a FileDescriptorSet: {error}")]
    Descriptors {
        /// The source as the user wrote it.
        name: String,
        /// The fault in the set.
        error: abide_schema::value::DecodeError,
    },
    /// A source that cannot list its files without reading them.
    #[error(
        "`--changed` finds changed files with git, and `{name}` is neither a folder nor a revision"
    )]
    NotListed {
        /// The source as the user wrote it.
        name: String,
    },
}

/// The reason why a file that the user names could not be read.
#[derive(Debug, Error)]
pub enum NamedFileError {
    /// A file or a folder that cannot be opened or read.
    #[error("cannot read `{name}`: {}", describe_io_error(error))]
    Unreadable {
        /// Its name, as the user wrote it.
        name: String,
        /// The answer of the system.
        error: io::Error,
    },
    /// A folder without an instance.
    #[error("no file in `{name}` has a name of YAML, JSON, text or binary")]
    NoInstances {
        /// Its name, as the user wrote it.
        name: String,
    },
    /// A file whose name has no known extension.
    #[error("the name of `{name}` does not tell its notation: name it with `--notation`")]
    UnknownNotation {
        /// Its name, as the user wrote it.
        name: String,
    },
    /// A file of declared steps with a mistake in it.
    #[error("{name}:{line}:{column}: {message}")]
    InvalidSteps {
        /// The name of the file.
        name: String,
        /// The line of the mistake, from 1.
        line: usize,
        /// The column of the mistake, from 1.
        column: usize,
        /// The mistake as one phrase.
        message: String,
    },
}

fn describe_io_error(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it does not exist".to_owned(),
        _ => error.to_string(),
    }
}
