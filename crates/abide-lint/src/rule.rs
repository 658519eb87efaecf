//! The declaration of a rule, what it can see, and how it reports.

mod carried_by_calls;
mod declared;
mod report;
mod rule;

pub(crate) use carried_by_calls::Sender;
pub(crate) use declared::{declare_plugin_rule, declare_rule, declared_rule};
pub use report::Report;
pub use rule::{ChangeCheck, Check, Context, Rule, Sink};
pub(crate) use rule::{Group, InstanceCheck, InstanceContext};
