//! Numbers in sentences.

/// A number and its noun: `1 month`, `2 months`.
pub fn pluralize(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}
