//! Limits of symbolic links on disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use abide_schema::{FileDecl, FileText, SourceFile};

use super::disk::{find_on_disk, read_settings};
use super::failure::SourceError;
use super::mounts::MountedFiles;
use super::paths::{
    canonicalize, home_by_package, is_git_folder, normalize_lexically, strip_folder,
};
use super::roots::RootLayout;
use super::spec::SourceOptions;
use crate::printable::escape_unprintable;

/// A folder that a link leads to. No walk enters it.
pub(super) struct LinkedFolder<'l> {
    /// The link, from the top of the tree.
    pub(super) link: &'l str,
    /// The root that the link is in, and the link in that root.
    pub(super) root: &'l String,
    pub(super) place: &'l str,
    /// The folder, from the top of the tree. It begins with `..` if it is outside.
    pub(super) folder: &'l str,
}

/// A file of a linked folder that stands for all: its path there, and its text.
pub(super) struct SampleFile {
    pub(super) path: String,
    pub(super) text: FileText,
}

/// So many entries of a linked folder are looked at: build systems link whole output trees.
pub(super) const MAX_SEARCHED: usize = 10_000;

impl LinkedFolder<'_> {
    /// The reason for its files to be part of the tree; `None` if they are in another root, or are
    /// imported.
    ///
    /// An import path is no part of a root but where it begins, so it is not the linked folder that
    /// has to be named, but the folder above it that import paths count from.
    pub(super) fn note(
        &self,
        layout: &RootLayout,
        imports: &[String],
        sample: SampleFile,
    ) -> Option<String> {
        let is_in = |folders: &[String]| {
            let is_outside = self.folder.starts_with("..");
            let is_around = |it: &String| {
                it == self.folder
                    || strip_folder(self.folder, it).is_some_and(|_| !(it.is_empty() && is_outside))
            };
            folders.iter().any(is_around)
        };
        if is_in(imports) || is_in(&layout.excluded) {
            return None;
        }
        // A folder outside of the tree can be a root by its link alone.
        let is_outside = |it: &str| it == ".." || it.starts_with("../");
        let by_link = |home: String| match is_outside(&home) && home == self.folder {
            true => self.link.to_owned(),
            false => home,
        };
        let shown = |home: &str| escape_unprintable(if home.is_empty() { "." } else { home });
        let home = self.home(sample).map(by_link);
        let is_root = |it: &str| layout.roots.iter().any(|root| root == it);
        let is_read = is_in(&layout.roots) && home.as_deref().is_none_or(is_root);
        if is_read && !is_in(std::slice::from_ref(self.root)) {
            return None;
        }
        let what = match home.as_deref() {
            _ if is_read => "its files are read where they are".to_owned(),
            None => "list the folder that its import paths count from in `roots` or `import-paths`"
                .to_owned(),
            Some(home) if is_outside(home) => format!(
                "list `{}`, which its import paths count from, in `import-paths`",
                shown(home)
            ),
            Some(home) => format!(
                "list `{}`, which its import paths count from, in `roots` to check it, or in \
                 `import-paths`",
                shown(home)
            ),
        };
        Some(format!("the linked folder `{}` was not entered: {what}", shown(self.link)))
    }

    /// The folder that the import paths of its files count from, by the package of one of them, or
    /// else by where the link is in its root.
    fn home(&self, sample: SampleFile) -> Option<String> {
        let path = super::join(self.folder, &sample.path);
        let file = FileDecl::parse(SourceFile {
            path: path.as_str().into(),
            display: path.as_str().into(),
            root: 0,
            imported: true,
            text: sample.text,
        });
        let (folder, _) = path.rsplit_once('/')?;
        let by_package = home_by_package(folder, file.package_name());
        let by_link = || self.folder.strip_suffix(self.place);
        let home = by_package.or_else(by_link)?;
        let is_whole = home.is_empty() || home.ends_with('/') || by_package.is_some();
        is_whole.then(|| home.trim_end_matches('/').to_owned())
    }
}

/// The folders that links may lead to.
///
/// Whoever proposes a change to a tree could add a link to any file of the machine that checks it,
/// and messages quote what they complain about. So a link is read only if it stays in the
/// repository, or without one in the tree, or leads into a folder that the user named: an import
/// path, or one of `--follow-links`. That is also as far as a link of a revision or of an archive
/// can lead.
pub struct LinkLimits {
    /// All without links.
    inside: Vec<PathBuf>,
    /// The import paths that lie elsewhere, as they are looked up: their files are what the user
    /// named, wherever their links lead.
    elsewhere: Vec<PathBuf>,
}

impl LinkLimits {
    /// Of a tree at `path`, or at the base folder if nothing is there.
    pub(super) fn of(path: &Path, options: &SourceOptions<'_>) -> LinkLimits {
        let tree = match fs::metadata(path) {
            Ok(found) if found.is_dir() => path,
            Ok(_) => path.parent().unwrap_or(options.base),
            Err(_) => options.base,
        };
        let mut links = LinkLimits::around(tree, options.links);
        let mounted = options.mounts.iter().filter_map(|it| match &it.files {
            MountedFiles::Folder(folder) => Some(folder.clone()),
            MountedFiles::Listed(_) | MountedFiles::Missing(_) => None,
        });
        let named = options.import_paths.iter().map(|it| options.base.join(it));
        for folder in named.chain(mounted) {
            let real = canonicalize(&folder);
            if !links.is_in_reach(&real) {
                links.elsewhere.push(folder);
            }
            links.inside.push(real);
        }
        links
    }

    /// Of a folder, besides others.
    pub fn around(folder: &Path, others: &[PathBuf]) -> LinkLimits {
        let folder = canonicalize(folder);
        let top = folder.ancestors().find(|it| it.join(".git").exists()).unwrap_or(&folder);
        let others = others.iter().map(|it| canonicalize(it));
        LinkLimits {
            inside: [top.to_owned()].into_iter().chain(others).collect(),
            elsewhere: Vec::new(),
        }
    }

    /// Returns true if a path without links is in reach. What git keeps for itself never is: it may
    /// hold the credentials of a clone.
    pub fn is_in_reach(&self, path: &Path) -> bool {
        let below = |folder: &PathBuf| path.strip_prefix(folder).ok();
        self.inside.iter().filter_map(below).any(|it| !it.iter().any(is_git_folder))
    }

    /// Resolves the links of a path. An error says if its end is out of reach.
    pub fn resolve_links(&self, path: &Path) -> io::Result<PathBuf> {
        let real = fs::canonicalize(path)?;
        match self.is_in_reach(&real) {
            true => Ok(real),
            false => Err(io::Error::other(format!(
                "it is a link to `{}`, which is outside of the tree: if that may be read, allow it \
                 with `--follow-links {}`",
                escape_unprintable(&real.to_string_lossy()),
                escape_unprintable(&real.parent().unwrap_or(&real).to_string_lossy()),
            ))),
        }
    }

    /// A file below a folder, if there is one.
    pub(super) fn find(&self, folder: &Path, path: &str) -> Result<Option<FileText>, SourceError> {
        let file = folder.join(path);
        if !self.elsewhere.iter().any(|it| it == folder) && file.is_file() {
            let unusable = |error| SourceError::unusable(file.to_string_lossy(), error);
            return find_on_disk(&self.resolve_links(&file).map_err(unusable)?);
        }
        find_on_disk(&file)
    }

    /// The names in a folder below another one; none if it is out of reach.
    pub(super) fn list_names(&self, folder: &Path, below: &str) -> Vec<String> {
        let inner = folder.join(below);
        let is_elsewhere = self.elsewhere.iter().any(|it| it == folder);
        let inner = if is_elsewhere { Ok(inner) } else { self.resolve_links(&inner) };
        let entries = inner.and_then(fs::read_dir).into_iter().flatten().filter_map(Result::ok);
        entries.filter_map(|it| it.file_name().into_string().ok()).collect()
    }

    /// Reads a file beside the protos that is part of the tree: see [`read_settings`].
    pub fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        read_settings(&self.resolve_links(path)?)
    }

    /// Describes the reason for not reading a folder or a file that `abide.toml` names, by a path
    /// from its folder: by way of a link in the tree it leads out of the tree, or into what git
    /// keeps for itself.
    ///
    /// A path that leads out by itself, as `../googleapis` does, says so where it is reviewed. The
    /// link is put there by a change that leaves `abide.toml` as it is.
    pub fn describe_refusal(&self, folder: &Path, written: &str) -> Option<String> {
        let place = normalize_lexically(&canonicalize(folder).join(written));
        let real = canonicalize(&folder.join(written));
        let is_git = |it: &&Path| it.iter().any(is_git_folder);
        if let Some(git) = [&*place, &*real].into_iter().find(is_git) {
            return Some(format!(
                "it leads to `{}`, which git keeps for itself: name another folder",
                escape_unprintable(&git.to_string_lossy())
            ));
        }
        let is_ours = self.is_in_reach(&place) || real != canonicalize(&place);
        (is_ours && !self.is_in_reach(&real)).then(|| {
            let real = escape_unprintable(&real.to_string_lossy());
            format!(
                "a link leads out of the tree, to `{real}`: if that may be read, allow it with \
                 `--follow-links {real}`"
            )
        })
    }
}
