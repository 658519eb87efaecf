//! Paths of trees: `/`-separated, relative, and without `.` and `..`.

use std::fs;
use std::path::{Path, PathBuf};

/// What no walk enters and no tree keeps: hidden names and installed JavaScript packages.
pub(super) fn is_skipped(name: &str) -> bool {
    name.starts_with('.') || name == "node_modules"
}

/// Whether a name is that of a judged file, as `*.proto` matches it.
pub(super) fn is_proto(name: &[u8]) -> bool {
    name.ends_with(b".proto")
}

/// A `/`-separated relative path without empty, `.` and `..` parts; none if it climbs out.
pub(super) fn normalize(path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in path.split(['/', std::path::MAIN_SEPARATOR]) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// What follows `folder` in `path`; none if the path is not below the folder.
pub(super) fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    if folder.is_empty() { Some(path) } else { path.strip_prefix(folder)?.strip_prefix('/') }
}

/// A path below a folder, both with `/`; either may be empty.
pub(crate) fn join(folder: &str, path: &str) -> String {
    if folder.is_empty() || path.is_empty() {
        format!("{folder}{path}")
    } else {
        format!("{folder}/{path}")
    }
}

/// The path with links resolved as far as it exists, so that two names of a folder compare equal.
pub(super) fn canonical(path: &Path) -> PathBuf {
    let mut rest = Vec::new();
    let mut head = path;
    loop {
        if let Ok(found) =
            fs::canonicalize(if head.as_os_str().is_empty() { ".".as_ref() } else { head })
        {
            let mut full = found;
            for part in rest.into_iter().rev() {
                full.push(part);
            }
            return full;
        }
        match (head.parent(), head.file_name()) {
            (Some(parent), Some(name)) => {
                rest.push(name);
                head = parent;
            }
            _ => return path.to_owned(),
        }
    }
}

/// `path` below `folder` with `/` between names, if it is there and is Unicode.
pub(super) fn relative(path: &Path, folder: &Path) -> Option<String> {
    normalize(path.strip_prefix(folder).ok()?.to_str()?)
}
