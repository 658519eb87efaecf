//! The map of the crates, `crates/README.md`, names files that exist.
#![allow(clippy::disallowed_methods, reason = "the test reads the map and the sources")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The files and folders below a folder, relative to it, with `/` between names.
fn list_paths(folder: &Path, prefix: &str, paths: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let entry = entry.expect("the folder can be read");
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().expect("it has a type").is_dir() {
            list_paths(&entry.path(), &format!("{path}/"), paths);
        }
        paths.insert(path);
    }
}

/// The names of Rust files in code spans of the map, without placeholders such as `<id>`.
fn find_file_names(map: &str) -> Vec<&str> {
    let spans = map.split('`').skip(1).step_by(2);
    let is_file = |name: &&str| name.ends_with(".rs") && !name.contains(['<', '*', ' ']);
    spans.filter(is_file).collect()
}

#[test]
fn every_file_of_the_map_exists() {
    let crates = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let map = std::fs::read_to_string(crates.join("README.md")).unwrap();
    let mut paths = BTreeSet::new();
    list_paths(&crates, "/", &mut paths);
    let names = find_file_names(&map);
    assert!(names.len() > 50, "the map names files");
    let missing: Vec<&str> = names
        .into_iter()
        .filter(|name| !paths.iter().any(|path| path.ends_with(&format!("/{name}"))))
        .collect();
    assert!(missing.is_empty(), "the map names what is not there: {missing:?}");
}
