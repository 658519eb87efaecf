//! The semantic hash: the vectors of `testdata/hash`, laws over generated
//! schemas, and the same laws over real trees.

#![allow(clippy::disallowed_methods, reason = "the tests read fixtures")]
#![allow(clippy::print_stderr, reason = "a missing corpus is said loudly")]

mod corpora;
mod laws;
mod model;
mod mutants;
mod numbers;
mod pairs;
#[path = "../../../abide-schema/tests/protos/mod.rs"]
mod protos;
mod vectors;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use abide_schema::{FileDecl, SourceFile, Tree};

pub(crate) use numbers::Numbers;

/// Texts by path.
pub(crate) type Files = BTreeMap<String, String>;

pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The tree of files, each with whether it is only imported.
pub(crate) fn link<'f>(files: impl IntoIterator<Item = (&'f str, &'f [u8], bool)>) -> Tree {
    let parse = |(path, text, imported): (&str, &[u8], bool)| {
        let path: Arc<str> = path.into();
        let (display, text) = (Arc::clone(&path), text.into());
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported, text }))
    };
    Tree::link(files.into_iter().map(parse).collect())
}

pub(crate) fn tree(files: &Files) -> Tree {
    link(files.iter().map(|(path, text)| (path.as_str(), text.as_bytes(), false)))
}

/// The same tree, by way of a descriptor set as protoc writes it.
pub(crate) fn through_descriptors(tree: &Tree) -> Tree {
    let files: Vec<_> = tree.files().filter(|it| it.is_judged()).map(|it| it.id).collect();
    let bytes = abide_schema::encode_set(tree, &files, true, false);
    let files = FileDecl::from_descriptor_set(&bytes.into()).expect("it was just written");
    Tree::link(files.into_iter().map(Arc::new).collect())
}

/// What protoc would refuse.
pub(crate) fn errors(tree: &Tree) -> Vec<&str> {
    let errors = tree.problems().iter().filter(|it| it.kind.is_error());
    errors.map(|it| it.message.as_str()).collect()
}
