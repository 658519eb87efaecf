//! Why the tool could not do its work.

use std::fmt;
use std::io;

use crate::source::SourceError;

/// Always exit status 2.
#[derive(Debug)]
pub(crate) enum Error {
    /// A source that cannot be read.
    Source(SourceError),
    /// A descriptor set that is none.
    Descriptor {
        /// What the user wrote.
        name: String,
        /// What is wrong, as one phrase.
        reason: String,
    },
    /// A file that cannot be read or written.
    File {
        /// Which, and what was tried.
        what: String,
        /// What the system says.
        error: io::Error,
    },
    /// A configuration with errors, rendered with their places.
    Config(String),
    /// Whatever else, as one phrase that says what to do.
    Usage(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Source(error) => error.fmt(f),
            Error::Descriptor { name, reason } => {
                write!(f, "`{name}` is no FileDescriptorSet: {reason}")
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
