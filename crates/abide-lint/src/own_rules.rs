//! Rules that `abide.toml` declares: their definitions, the facts that they see, and how they
//! judge an element.

mod compile;
mod definition;
mod facts;
mod judge;
mod page;
mod template;

pub(crate) use compile::{OwnRuleError, OwnRuleText};
pub use definition::{OwnRule, OwnRuleExample, OwnRuleId, RuleSubject, SubjectKind};
pub use facts::{FactDoc, FactTypeDoc, list_fact_types};
pub(crate) use facts::{FactSubject, FactTree, is_written};
pub(crate) use judge::{Failure, Verdict};
