//! Values, validation and witnesses beside the runtimes of other languages.

pub(crate) mod reading;
pub(crate) mod validation;
pub(crate) mod witnesses;
