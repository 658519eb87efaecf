//! Tables of names and numbers, filled when first asked for: most values name
//! little. [`lookup`](crate::tree::index) fills and asks them.

use std::sync::OnceLock;

use abide_syntax::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::{ElementId, EnumId, FieldId, FileId, MessageId};

/// The elements of a tree by their full names. Of several roots each may have
/// one of a name; the first counts.
#[derive(Debug, Default)]
pub(crate) struct FullNames {
    pub(crate) messages: OnceLock<FxHashMap<String, MessageId>>,
    pub(crate) enums: OnceLock<FxHashMap<String, EnumId>>,
    /// An extension of one root may extend what another does not know.
    pub(crate) extensions: OnceLock<FxHashMap<String, Vec<FieldId>>>,
}

/// Every name that is written in the files of a tree.
#[derive(Debug)]
pub(crate) struct MentionTable {
    /// Of each file, in the order of places.
    pub(crate) files: Vec<Vec<MentionRow>>,
    /// The places that name each element: the file, and the index of the name.
    pub(crate) by_element: FxHashMap<ElementId, Vec<(FileId, u32)>>,
}

/// One component of a name, and what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MentionRow {
    pub(crate) span: Span,
    pub(crate) whole: Span,
    pub(crate) means: NameMeaning,
    pub(crate) declares: bool,
}

/// The element, file or package that a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NameMeaning {
    Element(ElementId),
    File(FileId),
    /// So much of the package name of a file.
    Package {
        of: FileId,
        length: u32,
    },
}

/// The messages and enums of a file that are too long to be walked, by their
/// indices.
#[derive(Debug, Default)]
pub(crate) struct LargeTypeIndex {
    pub(crate) messages: FxHashMap<u32, FieldTable>,
    pub(crate) enums: FxHashMap<u32, ValueTable>,
}

/// The fields of a message, by their indices in the file.
#[derive(Debug, Default)]
pub(crate) struct FieldTable {
    pub(crate) names: FxHashMap<Box<str>, u32>,
    pub(crate) numbers: FxHashMap<i32, u32>,
    /// JSON names, and names that are no other field's JSON name.
    pub(crate) json_names: FxHashMap<Box<str>, u32>,
    pub(crate) reserved_names: FxHashSet<Box<str>>,
    /// Those that legacy readers require.
    pub(crate) required: Vec<u32>,
    /// The members of each oneof.
    pub(crate) members: FxHashMap<u32, Vec<u32>>,
}

/// The values of an enum, by their indices in the file.
#[derive(Debug, Default)]
pub(crate) struct ValueTable {
    pub(crate) names: FxHashMap<Box<str>, u32>,
    pub(crate) numbers: FxHashMap<i32, u32>,
    /// The other values of a number that has several.
    pub(crate) aliases: FxHashMap<i32, Vec<u32>>,
}

/// The entries of `declaration` of an extension range.
#[derive(Debug, Default)]
pub(crate) struct ExtensionDeclarations {
    pub(crate) all: Vec<ExtensionDeclaration>,
    /// The first of each number, by its index.
    pub(crate) numbers: FxHashMap<i64, usize>,
}

/// One declaration of an extension range.
#[derive(Debug)]
pub(crate) struct ExtensionDeclaration {
    pub(crate) number: i64,
    pub(crate) full_name: Option<String>,
    pub(crate) ty: Option<String>,
    pub(crate) reserved: bool,
    pub(crate) repeated: bool,
}
