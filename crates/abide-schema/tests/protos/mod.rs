//! The protos of a folder, for tests that read trees of their own.

use std::collections::BTreeMap;
use std::path::Path;

/// The texts of all protos below a folder, by path.
pub(crate) fn protos(root: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder is readable") {
            let path = entry.expect("the folder is readable").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|it| it == "proto") {
                let name = path.strip_prefix(root).expect("it was found below");
                let text = std::fs::read_to_string(&path).expect("the file is readable");
                files.insert(name.to_string_lossy().replace('\\', "/"), text);
            }
        }
    }
    files
}
