//! Judgements with places.

use abide_schema::Place;

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
    pub place: Place,
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
}
