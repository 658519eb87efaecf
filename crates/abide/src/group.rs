//! The families of rules, and what policy asks of a rule.

use crate::finding::Severity;

/// The families of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// What the compiler refuses.
    Language,
    /// Names and layout of packages and files.
    Layout,
    /// Which package may depend on which.
    Dependencies,
    /// How packages and elements live and die.
    Lifecycle,
    /// What the style guides of the great API owners ask for; each rule is off
    /// until it is asked for.
    Style,
    /// What changed since an old tree, and whom it breaks.
    Compatibility,
    /// The tool's own bookkeeping: waivers and configuration.
    Policy,
}

impl Group {
    /// Every family.
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
