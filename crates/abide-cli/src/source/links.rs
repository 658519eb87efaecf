//! How far symbolic links on disk may lead.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use abide_schema::Text;

use super::disk::find_on_disk;
use super::failure::SourceError;
use super::paths::canonical;
use super::spec::SourceOptions;
use crate::printable::shown;

/// Where links may lead.
///
/// Whoever proposes a change to a tree could add a link to any file of the machine that checks it,
/// and messages quote what they complain about. So a link is read only if it stays in the
/// repository, or without one in the tree, or leads into a folder that the user named: an import
/// path, or one of `--follow-links`. That is also as far as a link of a revision or of an archive
/// can lead.
pub(crate) struct Links {
    /// All without links.
    inside: Vec<PathBuf>,
    /// The import paths that lie elsewhere, as they are looked up: their files are what the user
    /// named, wherever their links lead.
    elsewhere: Vec<PathBuf>,
}

impl Links {
    /// Of a tree at `path`, or at the base folder if nothing is there.
    pub(super) fn of(path: &Path, options: &SourceOptions<'_>) -> Links {
        let tree = match fs::metadata(path) {
            Ok(found) if found.is_dir() => path,
            Ok(_) => path.parent().unwrap_or(options.base),
            Err(_) => options.base,
        };
        let mut links = Links::around(tree, options.links);
        for import in options.import_paths {
            let folder = options.base.join(import);
            let real = canonical(&folder);
            if !links.reach(&real) {
                links.elsewhere.push(folder);
            }
            links.inside.push(real);
        }
        links
    }

    /// Of a folder, besides others.
    pub(crate) fn around(folder: &Path, others: &[PathBuf]) -> Links {
        let folder = canonical(folder);
        let top = folder.ancestors().find(|it| it.join(".git").exists()).unwrap_or(&folder);
        let others = others.iter().map(|it| canonical(it));
        Links {
            inside: [top.to_owned()].into_iter().chain(others).collect(),
            elsewhere: Vec::new(),
        }
    }

    /// Whether a path without links is in reach. What git keeps for itself never is: it may hold
    /// the credentials of a clone.
    fn reach(&self, path: &Path) -> bool {
        let below = |folder: &PathBuf| path.strip_prefix(folder).ok();
        self.inside.iter().filter_map(below).any(|it| it.iter().all(|name| name != ".git"))
    }

    /// Where a path really is. An error says if that is out of reach.
    pub(crate) fn follow(&self, path: &Path) -> io::Result<PathBuf> {
        let real = fs::canonicalize(path)?;
        match self.reach(&real) {
            true => Ok(real),
            false => Err(io::Error::other(format!(
                "it is a link to `{}`, which is outside of the tree: if that may be read, allow it \
                 with `--follow-links {}`",
                shown(&real.to_string_lossy()),
                shown(&real.parent().unwrap_or(&real).to_string_lossy()),
            ))),
        }
    }

    /// A file below a folder, if there is one.
    pub(super) fn find(&self, folder: &Path, path: &str) -> Result<Option<Text>, SourceError> {
        let file = folder.join(path);
        if !self.elsewhere.iter().any(|it| it == folder) && file.is_file() {
            let unusable = |error| SourceError::unusable(file.to_string_lossy(), error);
            return find_on_disk(&self.follow(&file).map_err(unusable)?);
        }
        find_on_disk(&file)
    }
}
