//! What is wrong with a text that the tool is configured by.

use abide_syntax::Span;

/// A defect of `abide.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// What is wrong: one lower-case phrase, names in backticks.
    pub message: String,
    /// The bytes it is about.
    pub span: Span,
    /// What to do.
    pub help: Option<String>,
}
