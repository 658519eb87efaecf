//! Decimal numbers of floats.

use std::fmt;

/// The shortest decimal number that is read back as the same float.
pub(super) fn shortest(value: &impl fmt::Debug) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}
