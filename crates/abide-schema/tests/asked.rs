//! The questions that the fuzz targets ask are asked of files that are right and of files that are
//! wrong, so that they are built and hold wherever the tests run.

#![allow(clippy::disallowed_methods, reason = "the files asked about are files")]

#[path = "../fuzz/fuzz_targets/ask.rs"]
mod ask;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use abide_schema::{FileDecl, SourceFile, Tree};

fn protos(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(folder);
    let entries = std::fs::read_dir(folder).expect("the files are part of the repository");
    let mut protos: Vec<_> = entries
        .map(|entry| entry.expect("the folder is readable").path())
        .filter(|path| path.extension().is_some_and(|it| it == "proto"))
        .collect();
    protos.sort();
    assert!(!protos.is_empty());
    protos
}

fn parsed(path: &Path) -> Arc<FileDecl> {
    let name: Arc<str> = path.file_name().expect("it is a file").to_string_lossy().into();
    let display = Arc::clone(&name);
    let text = std::fs::read(path).expect("the file is readable").into();
    Arc::new(FileDecl::parse(SourceFile { path: name, display, root: 0, imported: false, text }))
}

#[test]
fn every_question_about_files_that_import_each_other_has_an_answer() {
    ask::everything(&Tree::link(protos("protoc").iter().map(|it| parsed(it)).collect()));
}

#[test]
fn every_question_about_a_file_that_is_wrong_has_an_answer() {
    for path in protos("protoc/invalid") {
        ask::everything(&Tree::link(vec![parsed(&path)]));
    }
}
