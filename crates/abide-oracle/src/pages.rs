//! Pages and editors: what Abide shows, driven as people drive it.

pub(crate) mod browser;
pub(crate) mod editor;
pub(crate) mod findings;
pub(crate) mod history;
