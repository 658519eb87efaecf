//! What keeps a finding from counting.

/// An exception that a finding falls under: it is not reported, and does not fail a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// Where it is written.
    pub kind: ExceptionKind,
    /// Why it was made, in the words of who made it.
    pub reason: String,
}

/// The place of an exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExceptionKind {
    /// A comment of the file, of Abide or of another linter.
    Comment,
    /// A `[[waiver]]` of `abide.toml`.
    Waiver,
    /// A line of `abide.accepted`.
    Accepted,
}

impl ExceptionKind {
    /// Its word in reports for programs.
    pub const fn word(self) -> &'static str {
        match self {
            ExceptionKind::Comment | ExceptionKind::Waiver => "waiver",
            ExceptionKind::Accepted => "accepted",
        }
    }
}
