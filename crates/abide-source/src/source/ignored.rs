//! Ignore files, read as ripgrep reads them.

use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::disk::read_settings;
use super::failure::io_reason;
use super::links::LinkLimits;
use super::paths::canonicalize;

/// The ignore files that apply to the entries of one folder: those of the folder, of the folders
/// above it, and of the user.
///
/// A deeper file wins over one above it. `.ignore` wins over `.gitignore`, that over the
/// repository's `info/exclude`, and that over the user's file. The rules of a repository end at its
/// top folder.
///
/// The walker of the `ignore` library would do the same, but its idle threads sleep for a
/// millisecond, which is enough time to read a folder of a hundred files.
#[derive(Clone)]
pub(super) struct IgnoreRules {
    user: Arc<Gitignore>,
    innermost: Option<Arc<IgnoreLevel>>,
}

/// The ignore files of one folder.
struct IgnoreLevel {
    above: Option<Arc<IgnoreLevel>>,
    ignore: Gitignore,
    git: Gitignore,
    exclude: Gitignore,
    /// True if this folder is the top of a repository.
    is_top: bool,
}

/// An ignore file that could not be read, and why.
pub(super) type Unread = (PathBuf, String);

/// The names in a folder that matter for ignore rules.
#[derive(Clone, Copy, Default)]
pub(super) struct IgnoreNames {
    ignore: bool,
    git_ignore: bool,
    git: bool,
}

impl IgnoreNames {
    /// Notes a name of the folder.
    pub(super) fn note(&mut self, name: &OsStr) {
        match name.as_encoded_bytes() {
            b".ignore" => self.ignore = true,
            b".gitignore" => self.git_ignore = true,
            b".git" => self.git = true,
            _ => {}
        }
    }
}

impl IgnoreRules {
    /// The rules that apply in the parent of `folder`, which is absolute, and what of them could
    /// not be read.
    pub(super) fn around(folder: &Path, links: &LinkLimits) -> (IgnoreRules, Vec<Unread>) {
        let mut ignored = IgnoreRules { user: Gitignore::global().0.into(), innermost: None };
        let mut unread = Vec::new();
        let above: Vec<&Path> = folder.ancestors().skip(1).collect();
        for folder in above.into_iter().rev() {
            let has = |name: &str| folder.join(name).exists();
            let found = IgnoreNames {
                ignore: has(".ignore"),
                git_ignore: has(".gitignore"),
                git: has(".git"),
            };
            let (inner, lost) = ignored.below(folder, found, links);
            ignored = inner;
            unread.extend(lost);
        }
        (ignored, unread)
    }

    /// The rules that apply in `folder`, which contains these names, and what of them could not be
    /// read.
    ///
    /// An ignore file of the tree may be no link that leads out of it, and no pipe. Those above the
    /// tree are the user's; one that is no file is left out.
    pub(super) fn below(
        &self,
        folder: &Path,
        found: IgnoreNames,
        links: &LinkLimits,
    ) -> (IgnoreRules, Vec<Unread>) {
        let IgnoreNames { ignore, git_ignore, git } = found;
        if !(ignore || git_ignore || git) {
            return (self.clone(), Vec::new());
        }
        let is_ours = links.is_in_reach(folder);
        let mut unread = Vec::new();
        let mut of_tree = |name: &str| {
            let file = folder.join(name);
            match if is_ours { links.read(&file) } else { read_settings(&file) } {
                Ok(text) => Some((file, text)),
                Err(error) => {
                    unread.extend(is_ours.then(|| (file, io_reason(&error))));
                    None
                }
            }
        };
        let git_file = || {
            let file = exclude(&folder.join(".git"))?;
            Some((file.clone(), read_settings(&file).ok()?))
        };
        let level = IgnoreLevel {
            above: self.innermost.clone(),
            ignore: read_patterns(folder, ignore.then(|| of_tree(".ignore")).flatten()),
            git: read_patterns(folder, git_ignore.then(|| of_tree(".gitignore")).flatten()),
            exclude: read_patterns(folder, git.then(git_file).flatten()),
            is_top: git,
        };
        let ignored = IgnoreRules { user: Arc::clone(&self.user), innermost: Some(level.into()) };
        (ignored, unread)
    }

    /// Returns true if an entry of the folder is ignored, explicitly included, or neither.
    pub(super) fn says(&self, path: &Path, is_folder: bool) -> Match<()> {
        let ask = |patterns: &Gitignore| patterns.matched(path, is_folder).map(|_| ());
        let [mut ignore, mut git, mut exclude] = [const { Match::None }; 3];
        let mut is_outside = false;
        let mut level = self.innermost.as_deref();
        while let Some(IgnoreLevel { above, ignore: any, git: tracked, exclude: own, is_top }) =
            level
        {
            if ignore.is_none() {
                ignore = ask(any);
            }
            if !is_outside && git.is_none() {
                git = ask(tracked);
            }
            if !is_outside && exclude.is_none() {
                exclude = ask(own);
            }
            is_outside |= is_top;
            level = above.as_deref();
        }
        ignore.or(git).or(exclude).or(ask(&self.user))
    }
}

/// A file, or a link, that no ignore rule hides.
pub struct VisibleFile {
    /// From the folder that was walked.
    pub path: PathBuf,
    pub is_link: bool,
}

/// The files and links below a folder in no particular order, hidden and ignored ones left out
/// unless `first` wants them. `first` is asked before the ignore rules, with a path from the folder
/// and whether it is one of a folder. No link is entered.
///
/// # Errors
/// A folder that cannot be listed, and an ignore file of the tree that cannot be read: its path.
pub fn list_visible_files(
    folder: &Path,
    links: &LinkLimits,
    first: &dyn Fn(&Path, bool) -> Match<()>,
) -> Result<Vec<VisibleFile>, (PathBuf, io::Error)> {
    let top = canonicalize(folder);
    let refused = |unread: Vec<Unread>| match unread.into_iter().next() {
        Some((path, reason)) => Err((path, io::Error::other(reason))),
        None => Ok(()),
    };
    let (rules, unread) = IgnoreRules::around(&top, links);
    refused(unread)?;
    let mut files = Vec::new();
    let mut folders = vec![(top.clone(), rules)];
    while let Some((folder, around)) = folders.pop() {
        let failed = |error| (folder.clone(), error);
        let entries: Result<Vec<DirEntry>, io::Error> =
            fs::read_dir(&folder).and_then(Iterator::collect);
        let entries = entries.map_err(failed)?;
        let mut found = IgnoreNames::default();
        entries.iter().for_each(|it| found.note(&it.file_name()));
        let (rules, unread) = around.below(&folder, found, links);
        refused(unread)?;
        for entry in entries {
            let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
            let below = path.strip_prefix(&top).unwrap_or(&path);
            let is_dotted = entry.file_name().as_encoded_bytes().starts_with(b".");
            match first(below, kind.is_dir()).or(rules.says(&path, kind.is_dir())) {
                Match::None if is_dotted => continue,
                Match::Ignore(()) => continue,
                Match::None | Match::Whitelist(()) => {}
            }
            if kind.is_dir() {
                folders.push((path, rules.clone()));
            } else if kind.is_file() || kind.is_symlink() {
                files.push(VisibleFile { path: below.to_owned(), is_link: kind.is_symlink() });
            }
        }
    }
    Ok(files)
}

/// The patterns of an ignore file, which count from a folder.
fn read_patterns(folder: &Path, file: Option<(PathBuf, Vec<u8>)>) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    if let Some((path, text)) = file {
        let text = String::from_utf8_lossy(&text);
        for line in text.trim_start_matches('\u{feff}').lines() {
            // A malformed pattern ignores nothing; the others still apply.
            let _ = builder.add_line(Some(path.clone()), line);
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// The path of a repository's `info/exclude`, which all worktrees share.
fn exclude(git: &Path) -> Option<PathBuf> {
    let mut folder = find_private_folder(git)?;
    if git.is_file()
        && let Ok(common) = read_settings(&folder.join("commondir"))
    {
        folder.push(String::from_utf8_lossy(&common).trim_end());
    }
    Some(folder.join("info/exclude"))
}

/// The folder in which git keeps what belongs to one worktree alone. In a linked worktree, `.git`
/// is a file with its path.
pub(super) fn find_private_folder(git: &Path) -> Option<PathBuf> {
    if !git.is_file() {
        return Some(git.to_owned());
    }
    let text = String::from_utf8(read_settings(git).ok()?).ok()?;
    Some(git.parent()?.join(text.trim_end().strip_prefix("gitdir: ")?))
}
