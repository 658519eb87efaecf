//! The families of rules, and what policy asks of a rule.

use super::finding::Severity;

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
    /// What annotations ask of values: `buf.validate` and `validate.rules`.
    Validation,
    /// Style guides of large API owners; each rule is off by default.
    Style,
    /// Google's API Improvement Proposals; each rule is off by default.
    Aip,
    /// What a team can agree on, such as comments; each rule is off by default.
    Conventions,
    /// Changes since an old tree, and what they break.
    Compatibility,
    /// Instances: values of the API as people write them.
    Instance,
    /// What Envoy refuses although the API allows it.
    Envoy,
    /// What `abide.toml` declares: rules of one's own.
    Own,
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
        Group::Validation,
        Group::Style,
        Group::Aip,
        Group::Conventions,
        Group::Compatibility,
        Group::Instance,
        Group::Envoy,
        Group::Own,
        Group::Policy,
    ];

    /// Returns what its rules are about: a phrase without a verb.
    pub const fn summary(self) -> &'static str {
        match self {
            Group::Language => "errors of the compiler",
            Group::Layout => "names and layout of packages and files",
            Group::Dependencies => "which package may depend on which",
            Group::Lifecycle => "versions, deprecation and removal of packages and elements",
            Group::Validation => "what annotations ask of values",
            Group::Style => "style guides of large API owners",
            Group::Aip => "Google's API Improvement Proposals",
            Group::Conventions => "what a team can agree on, such as comments",
            Group::Compatibility => "changes since an old tree, and what they break",
            Group::Instance => "instances: values of the API as people write them",
            Group::Envoy => "what Envoy refuses although its API allows it",
            Group::Own => "rules of one's own, which `abide.toml` declares",
            Group::Policy => "the tool's own files: waivers and configuration",
        }
    }

    /// The group with this name.
    pub fn find(name: &str) -> Option<Group> {
        Group::ALL.iter().copied().find(|it| it.name() == name)
    }

    /// Its name in configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Language => "language",
            Group::Layout => "layout",
            Group::Dependencies => "dependencies",
            Group::Lifecycle => "lifecycle",
            Group::Validation => "validation",
            Group::Style => "style",
            Group::Aip => "aip",
            Group::Conventions => "conventions",
            Group::Compatibility => "compatibility",
            Group::Instance => "instance",
            Group::Envoy => "envoy",
            Group::Own => "own",
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
