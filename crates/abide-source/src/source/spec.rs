//! The argument that names a source.

use std::path::{Path, PathBuf};

use super::mounts::ImportMount;

/// Options for opening a [`Source`](super::Source).
#[derive(Clone, Copy)]
pub struct SourceOptions<'a> {
    /// The folder that relative paths count from. It is the source itself if none is named.
    pub base: &'a Path,
    /// Folders to resolve imports in, in order; relative ones count from `base`.
    pub import_paths: &'a [String],
    /// The dependencies of the tree, which are searched after the import paths.
    pub mounts: &'a [ImportMount],
    /// The beginning of the import paths of all files of the tree that its roots leave out.
    pub import_prefix: &'a str,
    /// The roots of the tree, as in `abide.toml`: import paths count from them. An empty list means
    /// the tree itself.
    pub roots: &'a [String],
    /// The roots of another tree that this may be a copy of. An archive that has all of them, at
    /// its top or in the only folder there, has these roots if `roots` is empty.
    pub copied_roots: &'a [String],
    /// The revision that `git:REV...` takes the merge base with; `HEAD` if absent.
    pub merge_with: Option<&'a str>,
    /// Folders outside of the tree that links in it may lead into.
    pub links: &'a [PathBuf],
    /// Those of the import paths that a person names, and no file of the tree.
    pub named_imports: &'a [PathBuf],
}

impl<'a> SourceOptions<'a> {
    /// Options for a tree with one root and no import paths.
    pub fn new(base: &'a Path) -> Self {
        Self {
            base,
            import_paths: &[],
            mounts: &[],
            import_prefix: "",
            roots: &[],
            copied_roots: &[],
            merge_with: None,
            links: &[],
            named_imports: &[],
        }
    }
}

/// The SUBDIR of `REV:SUBDIR`, if there is one.
pub fn get_subdir(spec: &str) -> Option<&str> {
    split_subdir(spec).1.filter(|subdir| !subdir.is_empty())
}

/// Splits `NAME:SUBDIR` at the first colon outside of braces: `main@{12:00}:proto` has two.
pub(super) fn split_subdir(spec: &str) -> (&str, Option<&str>) {
    let mut depth = 0i32;
    for (at, c) in spec.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ':' if depth <= 0 => return (&spec[..at], Some(&spec[at + 1..])),
            _ => {}
        }
    }
    (spec, None)
}
