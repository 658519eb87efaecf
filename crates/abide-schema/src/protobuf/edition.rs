//! Editions of the language.

use std::fmt;

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
    /// `edition = "2026"`.
    Edition2026,
    /// An edition that nobody here knows, with its number in `google.protobuf.Edition`, or 0 where a
    /// text names it. What a file says in it is not known.
    Unknown(i32),
}

/// Every edition that is known, with its number in `google.protobuf.Edition` and the word that
/// `syntax` or `edition` writes.
const EDITIONS: [(Edition, i32, &str); 5] = [
    (Edition::Proto2, 998, "proto2"),
    (Edition::Proto3, 999, "proto3"),
    (Edition::Edition2023, 1000, "2023"),
    (Edition::Edition2024, 1001, "2024"),
    (Edition::Edition2026, 1002, "2026"),
];

impl Edition {
    /// The newest one that is known.
    pub const NEWEST: Edition = Edition::Edition2026;

    /// The editions that are known, in the order of time.
    pub fn iter_known() -> impl ExactSizeIterator<Item = Edition> + DoubleEndedIterator {
        EDITIONS.iter().map(|row| row.0)
    }

    /// The number of the edition in `google.protobuf.Edition`.
    pub const fn number(self) -> i32 {
        match self {
            Edition::Proto2 => 998,
            Edition::Proto3 => 999,
            Edition::Edition2023 => 1000,
            Edition::Edition2024 => 1001,
            Edition::Edition2026 => 1002,
            Edition::Unknown(number) => number,
        }
    }

    /// The edition with this number in `google.protobuf.Edition`, if it is known.
    pub fn from_number(number: i32) -> Option<Edition> {
        EDITIONS.iter().find(|row| row.1 == number).map(|row| row.0)
    }

    /// The edition that `edition` or, for proto2 and proto3, `syntax` writes like this.
    pub fn from_word(word: &str) -> Option<Edition> {
        EDITIONS.iter().find(|row| row.2 == word).map(|row| row.0)
    }

    /// The word that `syntax` or `edition` writes; empty for an edition that is not known.
    pub fn word(self) -> &'static str {
        EDITIONS.iter().find(|row| row.0 == self).map_or("", |row| row.2)
    }

    /// Returns true if the file begins with `edition` and not `syntax`.
    pub const fn is_edition(self) -> bool {
        !matches!(self, Edition::Proto2 | Edition::Proto3)
    }

    /// Returns true if it is known what a file in this edition says.
    pub const fn is_known(self) -> bool {
        !matches!(self, Edition::Unknown(_))
    }
}

/// The words that `edition` may write, for a sentence: `` `2023`, `2024` and `2026` ``.
pub(crate) fn list_known_editions() -> String {
    let words: Vec<_> = Edition::iter_known()
        .filter(|it| it.is_edition())
        .map(|it| format!("`{}`", it.word()))
        .collect();
    match words.split_last() {
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}

/// The edition in a sentence: `proto3`, `edition 2024`.
impl fmt::Display for Edition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Edition::Proto2 | Edition::Proto3 => f.write_str(self.word()),
            Edition::Edition2023 | Edition::Edition2024 | Edition::Edition2026 => {
                write!(f, "edition {}", self.word())
            }
            Edition::Unknown(0) => f.write_str("an unknown edition"),
            Edition::Unknown(number) => write!(f, "edition number {number}"),
        }
    }
}
