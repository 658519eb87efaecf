//! Dependencies in the folder that `abide deps vendor` writes to.

use std::io;
use std::path::Path;

use abide_lint::Config;
use sha2::{Digest, Sha256};

use super::package::list_entries;
use crate::source::{join, read_settings};

/// The folder of dependencies, unless `abide.toml` names another.
pub const DEPENDENCY_FOLDER: &str = ".abide/deps";

/// The folder of a dependency, from that of `abide.toml`.
pub fn vendored_folder(config: &Config, name: &str) -> String {
    let folder = config.dependency_folder.as_deref().unwrap_or(DEPENDENCY_FOLDER);
    join(folder, name)
}

/// A file of a dependency.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VendoredFile {
    /// Its path in the dependency.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Computes the content of a dependency: the SHA-256 of a list of its files, sorted by path, as
/// `sha256sum` prints them.
pub fn compute_content(files: &[VendoredFile]) -> String {
    let mut sorted: Vec<&VendoredFile> = files.iter().collect();
    sorted.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    let mut whole = Sha256::new();
    for file in sorted {
        whole.update(format!("{}  {}\n", format_digest(&Sha256::digest(&file.bytes)), file.path));
    }
    format_digest(&whole.finalize())
}

fn format_digest(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads the files of a dependency, sorted by path; an empty list if its folder does not exist.
/// Links are left out: none is written there.
pub fn read_vendored(folder: &Path) -> io::Result<Vec<VendoredFile>> {
    let mut files = Vec::new();
    let mut open = vec![String::new()];
    while let Some(below) = open.pop() {
        for (name, path) in list_entries(&folder.join(&below)) {
            let kind = std::fs::symlink_metadata(&path)?;
            let inner = join(&below, &name);
            if kind.is_dir() {
                open.push(inner);
            } else if kind.is_file() {
                files.push(VendoredFile { path: inner, bytes: read_settings(&path)? });
            }
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Returns true if a file at the top of a repository says under which terms it may be copied.
pub fn is_licence(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let is_named = |it: &str| upper.starts_with(it);
    !name.contains('/') && ["LICENSE", "LICENCE", "NOTICE", "COPYING"].iter().any(|it| is_named(it))
}
