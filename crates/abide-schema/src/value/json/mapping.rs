//! The mappings of JSON.

/// Which values of JSON stand for which values of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonMapping {
    /// What the specification says.
    Strict,
    /// What the C++ runtime takes besides, unless it is told not to.
    Lenient,
}
