//! Questions about instances that rules share.

mod deprecated_use;
pub(crate) mod envoy;
mod override_keys;
mod references;
mod renamed;
mod replacement;
mod successors;
mod usable_deprecations;
mod value_path;

pub(crate) use deprecated_use::{UsePhase, report_use};
pub(crate) use override_keys::{deprecated_uses, near_key, override_places};
pub(crate) use references::references;
pub(crate) use renamed::Past;
pub(crate) use replacement::{find_advice, find_replacement};
pub(crate) use successors::{Successors, named_types};
pub use usable_deprecations::{UsableDeprecation, usable_deprecations};
pub(crate) use value_path::path_of;
