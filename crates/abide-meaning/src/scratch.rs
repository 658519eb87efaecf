//! What is filled while the meaning of a file is found.

use abide_schema::{File, Type};
use rustc_hash::FxHashMap;

use crate::facts::Facts;
use crate::hash::SemanticHash;
use crate::languages::Languages;
use crate::meaning::{HashedElement, NameTable};

/// What is filled while the meaning of a file is found, and is used again for
/// the next file.
#[derive(Default)]
pub(crate) struct Scratch {
    pub(crate) facts: Facts,
    pub(crate) tables: ScratchTables,
}

#[derive(Default)]
pub(crate) struct ScratchTables {
    /// The facts of the file that are done, those of its elements, a line each.
    pub(crate) lines: Vec<u8>,
    pub(crate) elements: Vec<HashedElement>,
    /// Of each message, by its index.
    pub(crate) languages: Vec<Languages>,
    pub(crate) owns: Vec<Option<SemanticHash>>,
    pub(crate) enum_owns: Vec<Option<SemanticHash>>,
    pub(crate) indices: FxHashMap<Type, u32>,
    pub(crate) names: NameTable,
    /// Of each name.
    pub(crate) types: Vec<Option<Type>>,
    /// How many values of the enum at hand have a number already.
    pub(crate) aliases: FxHashMap<i32, i64>,
    /// What the elements refer to that are done.
    pub(crate) references: Vec<u32>,
    /// What the one at hand refers to.
    pub(crate) referred: Vec<u32>,
}

impl ScratchTables {
    /// Forgets a file and begins another.
    pub(crate) fn begin(&mut self, file: File<'_>) {
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
