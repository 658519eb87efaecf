//! What a finding weighs: whom its break reaches first.

use abide_change::Surface;

use super::finding::Finding;

/// What a finding weighs. Reports for people begin with the heaviest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Impact {
    /// It breaks clients and values that exist: encodings, calls, types in an `Any` or
    /// validation.
    Clients,
    /// It breaks source code that is compiled again, or is about no change.
    Source,
    /// It breaks neither: it moves generated code as a whole, or only says what
    /// servers ask for.
    Options,
}

impl Impact {
    /// Every weight of a change, with its name in configuration.
    pub const ALL: &[(&str, Impact)] =
        &[("clients", Impact::Clients), ("source", Impact::Source), ("options", Impact::Options)];

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
    pub fn of(finding: &Finding) -> Impact {
        let Some(change) = &finding.change else { return Impact::Source };
        match change.effects {
            _ if change.is_light => Impact::Options,
            it if it.on(Impact::RUNNING).breaks_backward() => Impact::Clients,
            it if it.breaks_backward() => Impact::Source,
            _ => Impact::Options,
        }
    }
}
