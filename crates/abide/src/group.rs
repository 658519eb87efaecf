//! The families of rules, and what policy asks of a rule.

use crate::finding::Severity;

/// The groups of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// Errors of the compiler.
    Language,
    /// Names and layout of packages and files.
    Layout,
    /// Which package may depend on which.
    Dependencies,
    /// Versions, deprecation and removal of packages and elements.
    Lifecycle,
    /// Style guides of large API owners; each rule is off by default.
    Style,
    /// Changes since an old tree, and what they break.
    Compatibility,
    /// The tool's own files: waivers and configuration.
    Policy,
}

impl Group {
    /// Every group.
    pub const ALL: &[Group] = &[
        Group::Language,
        Group::Layout,
        Group::Dependencies,
        Group::Lifecycle,
        Group::Style,
        Group::Compatibility,
        Group::Policy,
    ];

    /// Its name in configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Language => "language",
            Group::Layout => "layout",
            Group::Dependencies => "dependencies",
            Group::Lifecycle => "lifecycle",
            Group::Style => "style",
            Group::Compatibility => "compatibility",
            Group::Policy => "policy",
        }
    }
}

/// What policy has to know of a rule to say how much its findings matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleDefaults {
    /// The id, which settings name.
    pub id: &'static str,
    /// The family, which settings may name in its place.
    pub group: Group,
    /// The severity where no setting says anything; `None`: off.
    pub severity: Option<Severity>,
}
