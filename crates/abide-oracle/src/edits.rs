//! What Abide writes: layouts, fixes, candidates and releases, compiled and compared by others.

pub(crate) mod edition;
pub(crate) mod fix;
pub(crate) mod layout;
pub(crate) mod release;
pub(crate) mod upgrade;
pub(crate) mod versions;
