//! Findings, the places they point at, and the fixes they offer.

pub(crate) mod aliases;
mod broken_baseline;
mod bump_level;
mod config_error;
mod dependent;
mod element_user;
mod exception;
mod finding;
mod fix;
mod group;
mod impact;
mod location;
mod statement_locations;

pub use broken_baseline::BrokenBaseline;
pub use bump_level::Bump;
pub use config_error::ConfigError;
pub use dependent::Dependent;
pub use element_user::ElementUser;
pub use exception::{Exception, ExceptionKind};
pub use finding::{ChangeFacts, Finding, FindingLabel, Gone, Severity};
pub(crate) use finding::{digest, is_fingerprint};
pub(crate) use fix::comments::without_comment_line;
pub use fix::deprecation::{DeprecationAnswer, DeprecationError, DeprecationNotice, deprecate};
pub use fix::edition::{EditionObstacle, EditionObstacleReason};
pub(crate) use fix::edition::{with_edition, write_in_edition};
pub(crate) use fix::imports::{string_literal, with_import, with_syntax, without_import};
pub(crate) use fix::options::with_deprecated;
pub(crate) use fix::rename::renamed;
pub(crate) use fix::reservations::{of_enum, of_message, with_reserved};
pub(crate) use fix::source_text::with_blank_line;
pub use fix::{Applied, Fix, FixEdit};
pub use group::{Group, RuleDefaults};
pub use impact::Impact;
pub use location::{Location, Origin};
pub(crate) use statement_locations::{package_name, package_place, shown_folder};
