//! Import paths: folders that imports resolve in.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::kind::OpenSource;
use super::mounts::MountedFiles;
use super::paths::{join, strip_folder};
use super::roots::RootLayout;
use super::spec::SourceOptions;
use crate::printable::escape_unprintable;

/// A folder that imports resolve in.
pub(super) struct ImportPath {
    /// As the user wrote it.
    pub(super) written: String,
    /// The beginning of import paths that the folder leaves out.
    pub(super) prefix: String,
    pub(super) at: ImportPlace,
}

impl ImportPath {
    /// The path of an imported file in the folder; `None` if it cannot be there.
    pub(super) fn find_inner<'p>(&self, path: &'p str) -> Option<&'p str> {
        strip_folder(path, &self.prefix)
    }

    /// The path of an imported file for messages, by its import path.
    pub(super) fn display(&self, path: &str) -> String {
        join(self.written.trim_end_matches('/'), self.find_inner(path).unwrap_or(path))
    }
}

/// The place of an import path.
pub(super) enum ImportPlace {
    /// In the revision or the archive itself, from its top.
    Inside(String),
    /// In another source, from its top: in the commit of a submodule that a revision records.
    Beside(Box<dyn OpenSource>, String),
    Disk(PathBuf),
    /// These files on disk, by their paths.
    Listed(BTreeMap<String, PathBuf>),
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
        exclude_inside(&at, top, layout);
        if let ImportPlace::Disk(folder) = &at
            && !folder.is_dir()
        {
            notes.push(format!(
                "the import path `{}` is not a folder, so no import is found there",
                escape_unprintable(written)
            ));
        }
        imports.push(ImportPath { written: written.clone(), prefix: String::new(), at });
    }
    for mount in options.mounts {
        let at = match &mount.files {
            MountedFiles::Missing(reason) => {
                notes.push(reason.clone());
                continue;
            }
            MountedFiles::Listed(files) => ImportPlace::Listed(files.clone()),
            MountedFiles::Folder(folder) => {
                let found = folder.to_str().and_then(&inside);
                found.unwrap_or_else(|| ImportPlace::Disk(folder.clone()))
            }
        };
        exclude_inside(&at, top, layout);
        imports.push(ImportPath { written: mount.name.clone(), prefix: mount.prefix.clone(), at });
    }
    imports
}

/// Takes an import path below the top of the tree out of what is judged.
fn exclude_inside(at: &ImportPlace, top: Option<&str>, layout: &mut RootLayout) {
    let (ImportPlace::Inside(folder), Some(top)) = (at, top) else { return };
    if folder == top {
        layout.exclude(String::new());
    } else if let Some(folder) = strip_folder(folder, top) {
        layout.exclude(folder.to_owned());
    }
}
