//! Editions of the language.

/// The language a file is written in, in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Edition {
    /// `syntax = "proto2"`, and files without a syntax statement.
    Proto2,
    /// `syntax = "proto3"`.
    Proto3,
    /// `edition = "2023"`.
    Edition2023,
    /// `edition = "2024"`.
    Edition2024,
}

impl Edition {
    /// The newest one.
    pub const NEWEST: Edition = Edition::Edition2024;

    /// The number of the edition in `google.protobuf.Edition`.
    pub const fn number(self) -> i32 {
        match self {
            Edition::Proto2 => 998,
            Edition::Proto3 => 999,
            Edition::Edition2023 => 1000,
            Edition::Edition2024 => 1001,
        }
    }

    /// The edition with this number in `google.protobuf.Edition`.
    pub const fn from_number(number: i32) -> Option<Edition> {
        match number {
            998 => Some(Edition::Proto2),
            999 => Some(Edition::Proto3),
            1000 => Some(Edition::Edition2023),
            1001 => Some(Edition::Edition2024),
            _ => None,
        }
    }

    /// Returns true if the file begins with `edition` and not `syntax`.
    pub const fn is_edition(self) -> bool {
        matches!(self, Edition::Edition2023 | Edition::Edition2024)
    }
}
