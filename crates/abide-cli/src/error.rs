//! Why the tool could not do its work.

use std::fmt;
use std::io;
use std::path::Path;

use abide_source::{LoadError, NamedFileError, SourceError};

/// An error that ends the run with exit status 2.
#[derive(Debug)]
pub(crate) enum Error {
    /// A source that cannot be read.
    Source(SourceError),
    /// A source that can be read, and whose content cannot be used.
    Load(LoadError),
    /// A file that cannot be read or written.
    File {
        /// What was tried, with the name of the file.
        what: String,
        /// What the system says.
        error: io::Error,
    },
    /// Errors in a configuration file, already rendered with snippets.
    Config(String),
    /// Any other error, as one phrase that says what to do.
    Usage(String),
}

impl Error {
    /// A report that cannot be written, to a file or else to standard output.
    pub(crate) fn unwritten(target: Option<&Path>, error: io::Error) -> Error {
        let what = match target {
            Some(path) => format!("cannot write `{}`", path.display()),
            None => "cannot write to standard output".to_owned(),
        };
        Error::File { what, error }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Source(error) => error.fmt(f),
            Error::Load(error) => error.fmt(f),
            Error::File { what, error } if error.kind() == io::ErrorKind::NotFound => {
                write!(f, "{what}: it does not exist")
            }
            Error::File { what, error } => write!(f, "{what}: {error}"),
            Error::Config(text) | Error::Usage(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}

impl From<SourceError> for Error {
    fn from(error: SourceError) -> Error {
        Error::Source(error)
    }
}

impl From<LoadError> for Error {
    fn from(error: LoadError) -> Error {
        match error {
            LoadError::Source(error) => Error::Source(error),
            error => Error::Load(error),
        }
    }
}

impl From<NamedFileError> for Error {
    fn from(error: NamedFileError) -> Error {
        match error {
            NamedFileError::Unreadable { name, error } => {
                Error::File { what: format!("cannot read `{name}`"), error }
            }
            error => Error::Usage(error.to_string()),
        }
    }
}
