//! Judgements with places.

use abide_schema::Place;
use abide_syntax::Span;
use sha2::{Digest, Sha256};

/// How much a finding matters; policy decides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Should be mended.
    Warning,
    /// Must be mended or waived.
    Error,
}

impl Severity {
    /// The word for it in configuration and reports.
    pub const fn word(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// Where a finding stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Location {
    /// In a file of the tree.
    Tree(Place),
    /// In `abide.toml`, at these bytes.
    Config(Span),
    /// In `abide.accepted`, at these bytes.
    Accepted(Span),
}

impl Location {
    /// The place in the tree, where it is one.
    pub fn place(&self) -> Option<Place> {
        match self {
            Location::Tree(place) => Some(*place),
            Location::Config(_) | Location::Accepted(_) => None,
        }
    }
}

/// Another place that explains a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub place: Place,
    /// A lower-case phrase that is read at that place.
    pub message: String,
}

/// A judgement about one place of a tree.
///
/// Its words are written for a reader who sees nothing else: `message` is one
/// lower-case phrase with names in backticks that is true on its own line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The id of the rule.
    pub rule: &'static str,
    /// How much it matters, by the policy.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// Where.
    pub location: Location,
    /// What is read at that place, where the message alone does not tell.
    pub at: Option<String>,
    /// The full name of the element it concerns: a type, a package or a file.
    pub element: String,
    /// The package it concerns.
    pub package: String,
    /// Other places that explain it, such as the steps of a path.
    pub labels: Vec<Label>,
    /// Why it matters, in this case.
    pub why: Option<String>,
    /// What to do.
    pub help: Option<String>,
    /// The facts that tell this finding from others of its rule and element;
    /// never line numbers. The fingerprint is made of rule, element and facts.
    pub facts: Vec<String>,
    /// Why it has its severity, such as ``by `[[override]]` …``.
    pub severity_reason: Option<String>,
    /// Whether the rules of other tools that its rule names as aliases do not
    /// see this case of it.
    pub own_only: bool,
}

impl Finding {
    /// What names this finding across runs and edits elsewhere: the first 16
    /// hex digits of a SHA-256 over rule, element and facts.
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        let parts = [self.rule, self.element.as_str()];
        for part in parts.into_iter().chain(self.facts.iter().map(String::as_str)) {
            // The length keeps `a` + `bc` from being `ab` + `c`.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }
}
