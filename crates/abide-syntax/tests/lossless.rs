//! The tree describes its text: that of every fixture, and of every file of
//! the corpora where they are present.

#![allow(clippy::disallowed_methods, reason = "the test reads its fixtures")]
#![allow(clippy::print_stderr, reason = "the test says what it could not read")]

mod sound;

use std::path::{Path, PathBuf};

fn proto_files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder is readable") {
            let path = entry.expect("the folder is readable").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|it| it == "proto") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn fixtures() {
    let files = proto_files(&workspace().join("testdata"));
    assert!(!files.is_empty(), "no fixture");
    for path in files {
        let text = std::fs::read(&path).expect("the file is readable");
        let (_, errors) = sound::check(&text);
        let folder = path.parent().and_then(Path::file_name).expect("it lies in a folder");
        if folder == "protoc" {
            assert!(errors.is_empty(), "{}: {errors:?}", path.display());
        }
    }
}

#[test]
fn corpora() {
    let folder = workspace().join("../shared/corpora");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("WARNING: no folder `../shared/corpora`: its trees are not read");
        return;
    };
    let mut archives = 0;
    for entry in entries {
        let path = entry.expect("the folder is readable").path();
        if path.extension().is_none_or(|it| it != "gz") {
            continue;
        }
        archives += 1;
        let file = std::fs::File::open(&path).expect("the archive is readable");
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
        let mut files = 0;
        for entry in archive.entries().expect("it is an archive") {
            let mut entry = entry.expect("the archive is whole");
            let name = entry.path().expect("the name is text").into_owned();
            if name.extension().is_none_or(|it| it != "proto")
                || !entry.header().entry_type().is_file()
            {
                continue;
            }
            let mut text = Vec::new();
            std::io::Read::read_to_end(&mut entry, &mut text).expect("the archive is whole");
            let (_, errors) = sound::check(&text);
            assert!(errors.is_empty(), "{}: {errors:?}", name.display());
            files += 1;
        }
        assert!(files > 0, "{} holds no file", path.display());
    }
    assert!(archives > 0, "no archive");
}
