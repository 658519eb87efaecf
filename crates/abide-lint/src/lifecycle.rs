//! The life of packages and elements: stability, deprecation, removal, and its simulation.

mod calendar_status;
mod deprecation_list;
mod element_history;
mod package_stability;
mod replacement_words;
mod sentences;
mod simulation;

pub use calendar_status::{Deprecation, Retirement, Status};
pub use deprecation_list::{Deprecated, DeprecationList, Unknown};
pub use element_history::{
    ElementFacts, ElementHistory, ElementHistoryBuilder, ElementId, FileElements, HistoryPoint,
    elements,
};
pub(crate) use package_stability::{
    PackageDays, apis, deprecation, is_deprecated, is_frozen, is_placeholder, stable_major,
    version_like,
};
pub(crate) use replacement_words::{own_comments, replacement_sentence};
pub use simulation::Simulation;
pub use simulation::bounds::LifetimeBound;
pub use simulation::fleet::FleetMajors;
pub use simulation::scenario::{DerivationStep, Scenario};
pub use simulation::timeline::{
    LifeState, MajorTrack, Timeline, TimelineEvent, TimelineOf, TimelinePeriod,
};
