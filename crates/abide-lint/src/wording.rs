//! Words of messages: plurals, code in backticks, suggestions of similar names.

mod code_span;
pub(crate) mod pluralize;
mod suggestion;

pub use code_span::code;
pub use pluralize::counted;
pub(crate) use suggestion::did_you_mean;
pub use suggestion::nearest;
