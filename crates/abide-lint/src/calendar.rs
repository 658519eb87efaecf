//! Dates: of releases, of phases of a deprecation, and the windows for new majors.

mod calendar;
mod dates;
mod phases;
mod release_dates;
pub(crate) mod semantic_version;

pub use calendar::{Calendar, Window};
pub(crate) use dates::{day_of_year, is_before_protobuf, months_after, parse_date};
pub use phases::{Phase, PhaseFreeze, Phases, Replacement};
pub use release_dates::AnnualDates;
pub(crate) use semantic_version::dated;
pub use semantic_version::{first, fits, next};
