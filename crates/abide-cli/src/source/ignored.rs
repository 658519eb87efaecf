//! What ignore files say of the entries of a folder, as ripgrep reads them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The ignore files that hold for the entries of one folder: those of the folder, of the folders
/// that enclose it, and of the user.
///
/// A deeper file has the last word over one above it, `.ignore` over `.gitignore`, that over the
/// repository's `info/exclude`, and that over the user's. What a repository ignores ends at the
/// folder that it stands in. A whole walk by the library would do the same, but a thread of it
/// that finds nothing to do sleeps for a millisecond, in which a folder of a hundred files is read.
#[derive(Clone)]
pub(super) struct Ignored {
    user: Arc<Gitignore>,
    innermost: Option<Arc<Level>>,
}

/// What one folder adds.
struct Level {
    above: Option<Arc<Level>>,
    ignore: Gitignore,
    git: Gitignore,
    exclude: Gitignore,
    /// Whether a repository begins here.
    is_top: bool,
}

/// The names in a folder that say something of the others.
#[derive(Clone, Copy, Default)]
pub(super) struct Found {
    ignore: bool,
    git_ignore: bool,
    git: bool,
}

impl Found {
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

impl Ignored {
    /// What holds in the folder that encloses `folder`, which is absolute.
    pub(super) fn around(folder: &Path) -> Ignored {
        let mut ignored = Ignored { user: Gitignore::global().0.into(), innermost: None };
        let above: Vec<&Path> = folder.ancestors().skip(1).collect();
        for folder in above.into_iter().rev() {
            let has = |name: &str| folder.join(name).exists();
            let found =
                Found { ignore: has(".ignore"), git_ignore: has(".gitignore"), git: has(".git") };
            ignored = ignored.below(folder, found);
        }
        ignored
    }

    /// What holds in `folder`, where these were found.
    pub(super) fn below(&self, folder: &Path, found: Found) -> Ignored {
        let Found { ignore, git_ignore, git } = found;
        if !(ignore || git_ignore || git) {
            return self.clone();
        }
        let patterns = |file: Option<PathBuf>| {
            let mut builder = GitignoreBuilder::new(folder);
            // A pattern that cannot be read ignores nothing, and the others hold.
            file.map(|file| builder.add(file));
            builder.build().unwrap_or_else(|_| Gitignore::empty())
        };
        let level = Level {
            above: self.innermost.clone(),
            ignore: patterns(ignore.then(|| folder.join(".ignore"))),
            git: patterns(git_ignore.then(|| folder.join(".gitignore"))),
            exclude: patterns(git.then(|| exclude(&folder.join(".git"))).flatten()),
            is_top: git,
        };
        Ignored { user: Arc::clone(&self.user), innermost: Some(level.into()) }
    }

    /// Whether an entry of the folder is ignored, named as not to be ignored, or neither.
    pub(super) fn says(&self, path: &Path, is_folder: bool) -> Match<()> {
        let ask = |patterns: &Gitignore| patterns.matched(path, is_folder).map(|_| ());
        let [mut ignore, mut git, mut exclude] = [const { Match::None }; 3];
        let mut is_outside = false;
        let mut level = self.innermost.as_deref();
        while let Some(Level { above, ignore: any, git: tracked, exclude: own, is_top }) = level {
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

/// Where a repository keeps what only it ignores. In a linked worktree `.git` is a file that names
/// a folder, and that names the one which all worktrees share.
fn exclude(git: &Path) -> Option<PathBuf> {
    let mut folder = git.to_owned();
    if git.is_file() {
        let text = fs::read_to_string(git).ok()?;
        folder = git.parent()?.join(text.trim_end().strip_prefix("gitdir: ")?);
        if let Ok(common) = fs::read_to_string(folder.join("commondir")) {
            folder.push(common.trim_end());
        }
    }
    Some(folder.join("info/exclude"))
}
