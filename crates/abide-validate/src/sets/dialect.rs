//! The validation libraries whose annotations are read.

/// A validation library. The two differ in some details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dialect {
    /// protoc-gen-validate.
    Pgv,
    /// protovalidate.
    Buf,
}

impl Dialect {
    /// Both libraries.
    pub const ALL: [Dialect; 2] = [Dialect::Pgv, Dialect::Buf];

    /// The option with its rules for a field.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Pgv => "validate.rules",
            Dialect::Buf => "buf.validate.field",
        }
    }
}
