//! Declarations and their parts, as places.

/// The declaration of an element: the index of its declaration in the syntax
/// tree, or of its location in the descriptor's source info.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node(pub u32);

impl Node {
    /// An element that stands nowhere, such as a map entry.
    pub const NONE: Node = Node(u32::MAX);
}

/// A part of a declaration that a finding can point at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The whole declaration.
    Whole,
    /// Its name; the path of an import; the value of `syntax`.
    Name,
    /// The number of a field or enum value.
    Number,
    /// The type of a field.
    Type,
    /// The label of a field.
    Label,
    /// The type that an extension extends.
    Extendee,
    /// The request type of a method.
    Input,
    /// The response type of a method.
    Output,
    /// The first line of a block: from the first token to the name.
    Head,
    /// The `default` of a field.
    Default,
    /// The `json_name` of a field.
    JsonName,
}
