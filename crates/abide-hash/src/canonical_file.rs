//! The canonical form of one linked file, as a value that borrows nothing.

use std::ops::Range;

use abide_schema::{File, Message};

use crate::facts::for_each_name_part;
use crate::hash::SemanticHash;

/// The kind of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ElementKind {
    Message,
    Enum,
    Service,
    Extension,
}

impl ElementKind {
    pub(crate) fn noun(self) -> &'static str {
        match self {
            ElementKind::Message => "message",
            ElementKind::Enum => "enum",
            ElementKind::Service => "service",
            ElementKind::Extension => "extension",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            ElementKind::Message => "abide1 message own",
            ElementKind::Enum => "abide1 enum own",
            ElementKind::Service => "abide1 service own",
            ElementKind::Extension => "abide1 extension own",
        }
    }

    /// Returns true if other elements can refer to it.
    pub(crate) fn is_type(self) -> bool {
        matches!(self, ElementKind::Message | ElementKind::Enum)
    }
}

/// An element with its own hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HashedElement {
    pub(crate) kind: ElementKind,
    /// True if it is at the top level of the file, not in a message.
    pub(crate) is_top: bool,
    /// Its full name: an index in [`CanonicalFile::names`].
    pub(crate) name: u32,
    pub(crate) own: SemanticHash,
    /// Its direct references, as a range of [`CanonicalFile::references`].
    pub(crate) references: Range<u32>,
}

/// A list of names in one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NameTable {
    text: String,
    /// The end of each name.
    ends: Vec<u32>,
}

impl NameTable {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// Adds the full name of an element declared in a scope of a file; returns its
    /// index.
    pub(crate) fn push(&mut self, file: File<'_>, scope: Option<Message<'_>>, name: &str) -> u32 {
        for_each_name_part(file, scope, name, &mut |part| self.text.push_str(part));
        self.ends.push(self.text.len() as u32);
        self.ends.len() as u32 - 1
    }

    pub(crate) fn get(&self, index: u32) -> &str {
        let at = index as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[at] as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|index| self.get(index))
    }
}

/// The canonical form of one file: the own hashes of everything it declares, and the names of
/// the types that these elements refer to. It depends on the file and on the files
/// it imports, and borrows nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanonicalFile {
    pub(crate) package: Box<str>,
    /// True if it is one of protobuf's own files, whose types are known by name.
    pub(crate) is_well_known: bool,
    /// The facts of the file, a line for each, sorted.
    pub(crate) facts: Box<[u8]>,
    pub(crate) own: SemanticHash,
    pub(crate) elements: Box<[HashedElement]>,
    /// The names of its elements and of the types that they refer to.
    pub(crate) names: NameTable,
    /// The references of all elements: indices in `names`.
    pub(crate) references: Box<[u32]>,
}

/// The title of the facts of a file.
pub(crate) const FILE_OWN: &str = "abide1 file own";

impl CanonicalFile {
    /// A file that declares nothing and stands for one that nobody asks for.
    pub(crate) fn empty() -> CanonicalFile {
        CanonicalFile {
            package: Box::default(),
            is_well_known: false,
            facts: Box::default(),
            own: SemanticHash::new([0; 32]),
            elements: Box::default(),
            names: NameTable::default(),
            references: Box::default(),
        }
    }

    /// The package of the file.
    pub fn package(&self) -> &str {
        &self.package
    }

    /// The own hash of the file.
    pub fn own(&self) -> SemanticHash {
        self.own
    }

    /// The facts of the file, without line feeds.
    pub(crate) fn facts(&self) -> impl Iterator<Item = &[u8]> {
        split_lines(&self.facts)
    }

    /// The direct references of an element, as indices of names.
    pub(crate) fn references(&self, element: &HashedElement) -> &[u32] {
        &self.references[element.references.start as usize..element.references.end as usize]
    }

    /// The names of the types that an element refers to directly.
    pub(crate) fn referred_names(&self, element: &HashedElement) -> impl Iterator<Item = &str> {
        self.references(element).iter().map(|index| self.names.get(*index))
    }

    /// The full name of an element.
    pub(crate) fn name(&self, element: &HashedElement) -> &str {
        self.names.get(element.name)
    }

    /// The types with their places among the elements.
    pub(crate) fn types(&self) -> impl Iterator<Item = (u32, &HashedElement)> {
        (0..).zip(&self.elements).filter(|(_, it)| it.kind.is_type())
    }
}

/// Lines without their line feeds.
pub(crate) fn split_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    memchr::memchr_iter(b'\n', text).map(move |end| {
        let line = &text[start..end];
        start = end + 1;
        line
    })
}
