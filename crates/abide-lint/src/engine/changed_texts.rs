//! Trees with other texts of some files.

use std::collections::BTreeMap;
use std::sync::Arc;

use abide_schema::{File, FileDecl, FileId, SourceFile, Tree};

/// The tree with other texts of some files.
pub(super) fn link_with_texts(tree: &Tree, texts: &BTreeMap<FileId, Vec<u8>>) -> Tree {
    let file = |file: File<'_>| {
        let decl = file.shared_decl();
        let Some(text) = texts.get(&file.id) else { return Arc::clone(decl) };
        Arc::new(FileDecl::parse(SourceFile {
            path: Arc::clone(&decl.path),
            display: Arc::clone(&decl.display),
            root: decl.root,
            imported: decl.imported,
            text: text.as_slice().into(),
        }))
    };
    Tree::link_again(tree.files().map(file).collect(), tree)
}
