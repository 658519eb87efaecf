//! Judgement over proto trees: rules, policy and what follows from them.
//!
//! Pure functions over [`abide_schema::Tree`]: nothing here does I/O, reads a
//! clock or prints.

mod finding;
mod rule;
mod rules;

pub use finding::{Finding, Label, Severity};
pub use rule::{Check, Context, Group, Rule, Sink};
pub use rules::RULES;
