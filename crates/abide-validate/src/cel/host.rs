//! Types and values of the program that uses expressions.

use std::fmt;

use super::types::CelType;
use super::value::CelValue;

/// A type of the program, with the members that expressions can name.
pub struct HostType {
    /// Its name, as errors write it.
    pub name: &'static str,
    /// Its members.
    pub members: &'static [HostMember],
}

/// A member of a [`HostType`].
pub struct HostMember {
    /// Its name.
    pub name: &'static str,
    /// Its type. A function, since types name each other in circles.
    pub ty: fn() -> CelType,
    /// A sentence for its documentation.
    pub summary: &'static str,
}

impl HostType {
    /// The member with a name.
    pub fn find_member(&self, name: &str) -> Option<&'static HostMember> {
        self.members.iter().find(|it| it.name == name)
    }
}

impl fmt::Debug for HostType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A value of a [`HostType`].
pub trait HostValue<'v>: fmt::Debug {
    /// Its type.
    fn host_type(&self) -> &'static HostType;

    /// The value of a member; `None` if it has none with this name.
    fn find_member(&self, name: &str) -> Option<CelValue<'v>>;

    /// Returns true if a member is there and not empty; `None` if there is none with this name.
    fn has_member(&self, name: &str) -> Option<bool> {
        let is_there = |it: CelValue<'v>| match it {
            CelValue::Null => false,
            CelValue::String(text) => !text.is_empty(),
            CelValue::Bytes(bytes) => !bytes.is_empty(),
            CelValue::List(items) => !items.is_empty(),
            CelValue::Map(pairs) => !pairs.is_empty(),
            _ => true,
        };
        self.find_member(name).map(is_there)
    }

    /// What two values of its type share only if they are equal.
    fn identity(&self) -> String;
}
