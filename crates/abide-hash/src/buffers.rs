//! Buffers reused while files are hashed.

use abide_schema::{File, Type};
use rustc_hash::FxHashMap;

use crate::canonical_file::{HashedElement, NameTable};
use crate::facts::Facts;
use crate::hash::SemanticHash;
use crate::languages::LanguageSettings;

/// Buffers for computing the meaning of a file, reused for the next file.
#[derive(Default)]
pub(crate) struct HashBuffers {
    pub(crate) facts: Facts,
    pub(crate) tables: BufferTables,
}

#[derive(Default)]
pub(crate) struct BufferTables {
    /// The finished facts of the file about its elements, a line for each.
    pub(crate) lines: Vec<u8>,
    pub(crate) elements: Vec<HashedElement>,
    /// The language features of each message, by its index.
    pub(crate) languages: Vec<LanguageSettings>,
    pub(crate) owns: Vec<Option<SemanticHash>>,
    pub(crate) enum_owns: Vec<Option<SemanticHash>>,
    pub(crate) indices: FxHashMap<Type, u32>,
    pub(crate) names: NameTable,
    /// The type of each name.
    pub(crate) types: Vec<Option<Type>>,
    /// The count of values of the current enum by number, so far.
    pub(crate) aliases: FxHashMap<i32, i64>,
    /// The references of the finished elements.
    pub(crate) references: Vec<u32>,
    /// The references of the current element.
    pub(crate) referred: Vec<u32>,
}

impl BufferTables {
    /// Clears the buffers and begins another file.
    pub(crate) fn reset_for(&mut self, file: File<'_>) {
        let decl = file.decl();
        self.lines.clear();
        self.elements.clear();
        self.languages.clear();
        self.owns.clear();
        self.owns.resize(decl.messages.len(), None);
        self.enum_owns.clear();
        self.enum_owns.resize(decl.enums.len(), None);
        self.indices.clear();
        self.names.clear();
        self.types.clear();
        self.references.clear();
        self.referred.clear();
    }
}
