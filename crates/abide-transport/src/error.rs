//! The errors of connections, each one phrase that says what to do where somebody can do something.

use std::fmt::Display;
use std::path::{Path, PathBuf};

/// An error of TLS, or of a server that is asked.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// Options of TLS of which one needs another.
    #[error("{0}")]
    Options(String),
    /// A file of a certificate or key.
    #[error("cannot use `{}`: {reason}", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// What is wrong with it: one phrase.
        reason: String,
    },
    /// TLS that cannot be set up at all.
    #[error("{0}")]
    Tls(String),
    /// A server that does not answer as it should.
    #[error("{0}")]
    NoAnswer(String),
    /// Nobody listens at the address.
    #[error("{0}")]
    NobodyListens(String),
}

impl TransportError {
    /// Reports a file of a certificate or key that cannot be used.
    pub fn cannot_use(path: &Path, reason: impl Display) -> TransportError {
        TransportError::Certificate { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// Describes an error with all that led to it, such as what a server says about a certificate.
pub fn describe_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(reason) = next {
        text.push_str(&format!(": {reason}"));
        next = reason.source();
    }
    text
}
