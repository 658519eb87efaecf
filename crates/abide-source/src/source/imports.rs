//! Import paths: folders that imports resolve in.

use std::path::PathBuf;

use super::kind::OpenSource;
use super::paths::strip_folder;
use super::roots::RootLayout;
use super::spec::SourceOptions;
use crate::printable::escape_unprintable;

/// A folder that imports resolve in.
pub(super) struct ImportPath {
    /// As the user wrote it.
    pub(super) written: String,
    pub(super) at: ImportPlace,
}

/// The place of an import path.
pub(super) enum ImportPlace {
    /// In the revision or the archive itself, from its top.
    Inside(String),
    /// In another source, from its top: in the commit of a submodule that a revision records.
    Beside(Box<dyn OpenSource>, String),
    Disk(PathBuf),
}

/// Places every import path inside the source if `inside` finds it there, else on disk. Import
/// paths below `top`, the folder of the tree, are not judged.
pub(super) fn place_imports(
    options: &SourceOptions,
    inside: impl Fn(&str) -> Option<ImportPlace>,
    top: Option<&str>,
    layout: &mut RootLayout,
    notes: &mut Vec<String>,
) -> Vec<ImportPath> {
    let mut imports = Vec::new();
    for written in options.import_paths {
        let at = inside(written).unwrap_or_else(|| ImportPlace::Disk(options.base.join(written)));
        if let (ImportPlace::Inside(folder), Some(top)) = (&at, top) {
            if folder == top {
                layout.exclude(String::new());
            } else if let Some(folder) = strip_folder(folder, top) {
                layout.exclude(folder.to_owned());
            }
        }
        if let ImportPlace::Disk(folder) = &at
            && !folder.is_dir()
        {
            notes.push(format!(
                "the import path `{}` is not a folder, so no import is found there",
                escape_unprintable(written)
            ));
        }
        imports.push(ImportPath { written: written.clone(), at });
    }
    imports
}
