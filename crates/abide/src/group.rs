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
    /// What a team can agree on, such as comments; each rule is off by default.
    Conventions,
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
        Group::Conventions,
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
            Group::Conventions => "conventions",
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
    /// The rules of other tools that report the same defect.
    pub aliases: &'static [&'static str],
    /// The rules of other tools that report some of what it finds.
    pub aliases_by_case: &'static [&'static [&'static str]],
}

impl RuleDefaults {
    /// The rules of other tools that report anything that it finds.
    pub fn all_aliases(self) -> impl Iterator<Item = &'static str> {
        self.aliases.iter().chain(self.aliases_by_case.iter().copied().flatten()).copied()
    }
}
