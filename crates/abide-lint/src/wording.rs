//! Words of messages: plurals, code in backticks, suggestions of similar names.

mod code_span;
pub(crate) mod pluralize;
mod suggestion;

pub use code_span::backtick;
pub use pluralize::pluralize;
pub use suggestion::find_nearest;
pub(crate) use suggestion::suggest;
