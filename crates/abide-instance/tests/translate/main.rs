//! Values carried between versions.

#![allow(clippy::disallowed_methods, reason = "the tests read their own fixtures")]

mod carrying;
mod cases;
mod laws;
mod lenient;
mod notations;

use std::sync::Arc;

use abide_schema::{FileDecl, SourceFile, Tree};

/// A tree of files: their paths and texts.
pub(crate) fn tree<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> Tree {
    let parse = |(path, text): (&str, &str)| {
        let path: Arc<str> = path.into();
        let (display, text) = (Arc::clone(&path), text.as_bytes().into());
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
    };
    let tree = Tree::link(files.map(parse).collect());
    let problem = tree.problems().iter().find(|it| it.kind.is_error());
    assert!(problem.is_none(), "{problem:?}");
    tree
}
