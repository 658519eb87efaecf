//! Dependencies as sources see them: files of others that imports resolve in.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Files of others that imports resolve in: a dependency.
#[derive(Clone, Debug)]
pub struct ImportMount {
    /// The name that the paths of its files begin with in messages: of a folder in the tree the
    /// path of that.
    pub name: String,
    /// The beginning of import paths that its folders leave out.
    pub prefix: String,
    /// Its files.
    pub files: MountedFiles,
}

/// The files of a dependency.
#[derive(Clone, Debug)]
pub enum MountedFiles {
    /// All that are in a folder.
    Folder(PathBuf),
    /// These, by their paths in the dependency.
    Listed(BTreeMap<String, PathBuf>),
    /// None: they are not on this disk, for this reason.
    Missing(String),
}
