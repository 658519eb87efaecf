//! What can go wrong between a value and its notations.

use std::fmt;

use crate::protobuf::WireError;

/// Why bytes are not a value of a message type.
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

/// What to do about undeclared keys and names of enum values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undeclared {
    /// They are an error.
    Refuse,
    /// They are skipped with their values.
    Ignore,
}

/// Why a value cannot be written in JSON.
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
