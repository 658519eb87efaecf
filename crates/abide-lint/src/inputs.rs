//! Inputs of a run besides the tree and its policy.

mod accepted;
mod feature_files;
mod instance_set;
mod old_tree;
mod options;
mod runtime_overrides;
mod usage;

pub use accepted::Accepted;
pub use feature_files::FeatureFile;
pub(crate) use feature_files::{is_reverse_dns, names};
pub use instance_set::{ApiRelease, InstanceFile, InstanceOptions, InstanceSet};
pub use old_tree::{OldTree, find_old_file};
pub use options::{Options, RuleScope};
pub(crate) use runtime_overrides::{
    Decision, ENABLE_ALL, FAIL_ON_ANY, FEATURE, bootstrap_of, runtime_resources,
};
pub use runtime_overrides::{Overrides, RuntimeSetting, declared_layers};
pub use usage::{ElementUse, Usage};
