//! Scripts that start a native program, such as the one that a package manager puts into `bin`.
//!
//! Nothing is run: the program is looked for at the paths that the script names, and where Python
//! installs the package that it imports.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::program::is_program;

/// No launcher is longer.
const MAX_LENGTH: u64 = 64 * 1024;

/// Folders of a Python package nest at most so deep.
const MAX_FOLDERS: u32 = 3;

/// Reads a file that begins as scripts do.
fn read_script(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_LENGTH).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    text.starts_with("#!").then_some(text)
}

/// Returns true if a file begins as scripts do.
pub(super) fn is_script(path: &Path) -> bool {
    let mut head = [0; 2];
    File::open(path).and_then(|mut it| it.read_exact(&mut head)).is_ok() && head == *b"#!"
}

/// Finds the program that a script starts; `None` if it does not say that in a way that is known.
pub(super) fn find_started_program(script: &Path) -> Option<PathBuf> {
    // Links to scripts stand in folders where nothing else is.
    let script = fs::canonicalize(script).ok()?;
    let text = read_script(&script)?;
    let folder = script.parent()?;
    let lines = text.lines().skip(1).filter(|it| !it.trim_start().starts_with('#'));
    let named = lines.flat_map(|it| named_paths(it, folder)).find(|it| is_native(it));
    named.or_else(|| find_in_package(&script, &text))
}

/// The paths that a line of a shell script names, those beside the script included.
fn named_paths(line: &str, folder: &Path) -> Vec<PathBuf> {
    let mut line = line.to_owned();
    let folder = folder.to_string_lossy();
    for own in ["$(dirname \"$0\")", "$(dirname $0)", "$(dirname -- \"$0\")", "${0%/*}", "%~dp0"] {
        line = line.replace(own, &folder);
    }
    let is_outside = |it: char| it.is_whitespace() || "\"'=;()`,".contains(it);
    let words = line.split(is_outside).filter(|it| it.contains('/') && !it.contains('$'));
    words.map(|it| Path::new(&*folder).join(it)).collect()
}

/// Looks into the Python package that a script imports for a program with the name of the script.
fn find_in_package(script: &Path, text: &str) -> Option<PathBuf> {
    let imported = text.lines().find_map(|line| {
        let rest = line.trim_start().strip_prefix("from ")?;
        let module = rest.split_once(" import ")?.0;
        let is_own = !["sys", "re", "os", "importlib.metadata"].contains(&module);
        is_own.then(|| module.split('.').next().unwrap_or(module))
    })?;
    let top = script.parent()?.parent()?;
    let mut roots = vec![top.to_owned()];
    for library in ["lib", "lib64"] {
        let versions = fs::read_dir(top.join(library)).into_iter().flatten().flatten();
        let mut versions: Vec<PathBuf> = versions.map(|it| it.path()).collect();
        versions.sort();
        for folder in versions {
            roots.extend(["site-packages", "dist-packages"].map(|it| folder.join(it)));
        }
    }
    let name = script.file_name()?;
    roots.iter().find_map(|root| find_named(&root.join(imported), name, MAX_FOLDERS))
}

fn find_named(folder: &Path, name: &std::ffi::OsStr, depth: u32) -> Option<PathBuf> {
    let own = folder.join(name);
    if is_native(&own) {
        return Some(own);
    }
    let entries = fs::read_dir(folder).ok()?.flatten();
    let mut folders: Vec<PathBuf> = entries
        .filter(|it| it.file_type().is_ok_and(|it| it.is_dir()))
        .map(|it| it.path())
        .collect();
    folders.sort();
    let mut inner = folders.iter().filter(|_| depth > 1);
    inner.find_map(|it| find_named(it, name, depth - 1))
}

fn is_native(path: &Path) -> bool {
    path.is_file() && is_program(path).unwrap_or(false)
}
