//! Packages of other tools, and the files near a tree that say which versions of them it wants.

use std::path::{Path, PathBuf};

use crate::source::MountedFiles;

/// A package that the tree wants, by the files of another tool.
#[derive(Clone, Debug)]
pub struct FoundPackage {
    /// Its name, as `from` writes it behind the colon.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its files. A package that is wanted and not on this disk has none, with the reason.
    pub files: MountedFiles,
}

/// Reads a text near a tree by its path on disk: from the disk, or as it was at a revision.
pub(super) type ReadText<'a> = dyn Fn(&Path) -> Option<String> + 'a;

/// The place of a tree, and the texts around it.
pub struct TreePlace<'a> {
    /// The folders in which a tool may have its files: that of `abide.toml`, the roots, and those
    /// around up to the top of the repository. The nearest is first.
    folders: Vec<PathBuf>,
    read: &'a ReadText<'a>,
}

impl<'a> TreePlace<'a> {
    /// The place of the tree in a folder, with these roots.
    pub fn new(
        folder: &Path,
        roots: &[String],
        read: &'a dyn Fn(&Path) -> Option<String>,
    ) -> TreePlace<'a> {
        let folder = crate::source::canonicalize(folder);
        let mut folders = vec![folder.clone()];
        folders.extend(roots.iter().filter(|it| *it != ".").map(|root| folder.join(root)));
        let is_top = |it: &Path| it.join(".git").exists();
        if let Some(top) = folder.ancestors().find(|it| is_top(it)) {
            let around = folder.ancestors().skip(1).take_while(|it| it.starts_with(top));
            folders.extend(around.map(Path::to_owned));
        }
        folders.dedup();
        TreePlace { folders, read }
    }

    /// The folder of `abide.toml`.
    pub(super) fn folder(&self) -> &Path {
        &self.folders[0]
    }

    /// The folders in which a tool may have its files, the nearest first.
    pub(super) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// The files with a name, each with its folder and text, the nearest first.
    pub(super) fn texts<'t>(
        &'t self,
        name: &'t str,
    ) -> impl Iterator<Item = (&'t Path, String)> + 't {
        self.folders.iter().filter_map(move |folder| {
            let text = (self.read)(&folder.join(name))?;
            Some((folder.as_path(), text))
        })
    }
}

/// Returns true if a text that a file of the tree holds may be a part of a path: it names one
/// folder, and does not lead up.
pub(super) fn is_path_part(text: &str) -> bool {
    let is_odd = |c: char| matches!(c, '/' | '\\' | ':') || c.is_control();
    !text.is_empty() && !text.starts_with('.') && !text.contains(is_odd)
}

/// Returns true if every part of a path with `/` names one folder.
pub(super) fn is_inner_path(text: &str) -> bool {
    text.split('/').all(is_path_part)
}

/// The entries of a folder, sorted by name.
pub(super) fn list_entries(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let named = entries.filter_map(|it| Some((it.file_name().into_string().ok()?, it.path())));
    let mut named: Vec<(String, PathBuf)> = named.collect();
    named.sort_unstable();
    named
}
