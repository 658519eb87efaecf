//! Errors between values and their notations.

use std::fmt;

use crate::protobuf::WireError;

/// The reason why bytes are not a value of a message type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The byte at which reading stopped.
    pub offset: usize,
    /// One lower-case phrase.
    pub message: String,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.message, self.offset)
    }
}

impl std::error::Error for DecodeError {}

impl From<WireError> for DecodeError {
    fn from(error: WireError) -> DecodeError {
        DecodeError { offset: error.offset as usize, message: error.message.to_owned() }
    }
}

/// The policy about undeclared keys and names of enum values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndeclaredPolicy {
    /// They are an error.
    Refuse,
    /// They are skipped with their values.
    Ignore,
}

/// The reason why a value cannot be written in JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// One lower-case phrase.
    pub message: String,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for EncodeError {}
