//! What a finding weighs: whom its break reaches first.

use abide_change::Surface;

use super::finding::Finding;

/// What a finding weighs. Reports for people begin with the heaviest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// It breaks clients and values that exist: encodings, calls, types in an `Any` or
    /// validation.
    Clients,
    /// It breaks source code that is compiled again, or is about no change.
    Source,
    /// It breaks neither: it moves generated code as a whole, or only says what
    /// servers ask for.
    Options,
}

impl Weight {
    /// Every weight of a change, with its name in configuration.
    pub const ALL: &[(&str, Weight)] =
        &[("clients", Weight::Clients), ("source", Weight::Source), ("options", Weight::Options)];

    /// The surfaces on which running clients and stored values depend.
    const RUNNING: &[Surface] = &[
        Surface::Wire,
        Surface::Json,
        Surface::Text,
        Surface::Rpc,
        Surface::Rest,
        Surface::TypeUrl,
        Surface::Validation,
    ];

    /// The weight of a finding.
    pub fn of(finding: &Finding) -> Weight {
        let Some(change) = &finding.change else { return Weight::Source };
        match change.effects {
            _ if change.is_light => Weight::Options,
            it if it.on(Weight::RUNNING).breaks_backward() => Weight::Clients,
            it if it.breaks_backward() => Weight::Source,
            _ => Weight::Options,
        }
    }
}
