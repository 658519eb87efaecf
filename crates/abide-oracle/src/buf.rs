//! Verdicts beside those of buf, and of tools that run beside it.

pub(crate) mod breaking;
pub(crate) mod hidden;
pub(crate) mod moving;
pub(crate) mod peers;
pub(crate) mod plugins;
pub(crate) mod protovalidate;
