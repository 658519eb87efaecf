//! Paths of trees: `/`-separated, relative, and without `.` and `..`.

use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Returns true if every walk skips this name: hidden ones, and installed JavaScript packages.
pub(super) fn is_skipped(name: &str) -> bool {
    name.starts_with('.') || name == "node_modules"
}

/// Returns true if a name is that of git's own folder, in whatever case: some disks do not tell
/// cases apart.
pub(super) fn is_git_folder(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(".git")
}

/// A path without `.` and `..`, as far as that is known without a look at the disk.
pub fn normalize_lexically(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            part => out.push(part),
        }
    }
    out
}

/// Returns true if a name matches `*.proto`.
pub(super) fn is_proto(name: &[u8]) -> bool {
    name.ends_with(b".proto")
}

/// A relative path with `/` and without empty, `.` and `..` parts; `None` if it leaves its folder.
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

/// The part of `path` after `folder`; `None` if the path is not below the folder.
pub(super) fn strip_folder<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    if folder.is_empty() { Some(path) } else { path.strip_prefix(folder)?.strip_prefix('/') }
}

/// A path as it is seen from a folder, with `..` where it leaves the folder. Both have no such
/// parts.
pub(super) fn relate_to(path: &str, folder: &str) -> String {
    let parts = |path: &'_ str| -> Vec<String> {
        path.split('/').filter(|it| !it.is_empty()).map(str::to_owned).collect()
    };
    let (path, folder) = (parts(path), parts(folder));
    let shared = path.iter().zip(&folder).take_while(|(a, b)| a == b).count();
    let up = folder.iter().skip(shared).map(|_| "..");
    let down = path.iter().skip(shared).map(String::as_str);
    up.chain(down).collect::<Vec<&str>>().join("/")
}

/// The folder from which the path of a folder follows a package, the longest path first: `proto`
/// of `proto/acme/v1` and `acme.v1`.
pub fn home_by_package<'p>(folder: &'p str, package: &str) -> Option<&'p str> {
    let starts = folder.match_indices('/').map(|(at, _)| at + 1);
    [0].into_iter().chain(starts).find_map(|start| {
        let (home, rest) = folder.split_at_checked(start)?;
        let follows = !rest.is_empty() && rest.replace('/', ".") == package;
        follows.then(|| home.trim_end_matches('/'))
    })
}

/// Joins a folder and a path below it, both with `/`; either may be empty.
pub fn join(folder: &str, path: &str) -> String {
    let mut joined = String::with_capacity(folder.len() + 1 + path.len());
    joined.push_str(folder);
    if !folder.is_empty() && !path.is_empty() {
        joined.push('/');
    }
    joined.push_str(path);
    joined
}

/// The path with links resolved as far as it exists, so that two names of a folder compare equal.
pub fn canonicalize(path: &Path) -> PathBuf {
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

/// `path` relative to `folder`, with `/`, if it is below it and is Unicode.
pub(super) fn make_relative(path: &Path, folder: &Path) -> Option<String> {
    normalize(path.strip_prefix(folder).ok()?.to_str()?)
}
