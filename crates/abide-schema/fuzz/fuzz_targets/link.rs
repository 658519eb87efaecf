//! Any texts, as files that import each other: linking returns, and every
//! question about what it returns has an answer.
//!
//! A zero byte separates files; they are named `0.proto`, `1.proto` and so on.
//! Files of `testdata/protoc` are there to be imported.
#![no_main]

mod ask;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use abide_schema::{FileDecl, SourceFile, Tree, find_missing_imports};

/// What an input may import.
static SEEDS: LazyLock<BTreeMap<String, Arc<FileDecl>>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../testdata/protoc");
    let files = std::fs::read_dir(folder).expect("the seeds are part of the repository");
    let seeds: BTreeMap<String, Arc<FileDecl>> = files
        .map(|entry| entry.expect("the folder is readable").path())
        .filter(|path| path.extension().is_some_and(|it| it == "proto"))
        .map(|path| {
            let name = path.file_name().expect("it is a file").to_string_lossy().into_owned();
            let text = std::fs::read(&path).expect("the file is readable");
            (name.clone(), file(&name, &text, true))
        })
        .collect();
    assert!(!seeds.is_empty());
    seeds
});

fn file(path: &str, text: &[u8], imported: bool) -> Arc<FileDecl> {
    let path: Arc<str> = path.into();
    let display = Arc::clone(&path);
    Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported, text: text.into() }))
}

libfuzzer_sys::fuzz_target!(|texts: &[u8]| {
    let texts = texts.split(|&byte| byte == 0).take(8);
    let mut files: Vec<_> =
        (0..).zip(texts).map(|(at, text)| file(&format!("{at}.proto"), text, false)).collect();
    loop {
        let missing = find_missing_imports(&files);
        let before = files.len();
        files.extend(missing.iter().filter_map(|path| SEEDS.get(&**path)).cloned());
        if files.len() == before {
            break;
        }
    }
    ask::everything(&Tree::link(files));
});
