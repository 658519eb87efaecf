//! Small, copyable names of the elements of a tree.

/// A file of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A package of a tree. Packages are numbered in the order of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackageId(pub u32);

macro_rules! element_id {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name {
            /// The file that declares it.
            pub file: FileId,
            /// Its index in that file's arena.
            pub index: u32,
        }
    )*};
}

element_id! {
    /// A message, group or map entry.
    MessageId,
    /// A field or an extension.
    FieldId,
    /// A oneof.
    OneofId,
    /// An enum.
    EnumId,
    /// A value of an enum.
    EnumValueId,
    /// A service.
    ServiceId,
    /// A method of a service.
    MethodId,
}

/// Any element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ElementId {
    Message(MessageId),
    Field(FieldId),
    Oneof(OneofId),
    Enum(EnumId),
    EnumValue(EnumValueId),
    Service(ServiceId),
    Method(MethodId),
}
