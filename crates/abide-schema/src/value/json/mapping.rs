//! The mappings of JSON.

/// The mapping between values of JSON and values of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonMapping {
    /// The mapping of the specification.
    Strict,
    /// The mapping of the C++ runtime, with what it accepts besides unless it is told not to.
    Lenient,
}
