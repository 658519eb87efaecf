//! Sets of values, as constraints accept them: numbers, texts, formats.
//!
//! Nothing here knows a field or a tree.

mod acceptance;
mod dialect;
mod formats;
mod inclusion;
mod number_set;
mod pattern;
mod string_set;

pub use self::acceptance::Acceptance;
pub use self::dialect::Dialect;
pub(crate) use self::formats::{
    StringFormat, find_header_format, find_regular_format, find_size_format,
};
pub use self::inclusion::{Included, Inconclusive, TextInclusion};
pub(crate) use self::number_set::SECOND;
pub use self::number_set::{NumberKind, NumberSet};
pub use self::pattern::LengthRange;
pub(crate) use self::pattern::{Pattern, SearchResult, TextSearch, escape_bytes, from_re2};
pub use self::string_set::StringSet;
pub(crate) use self::string_set::{PatternExpression, within};
