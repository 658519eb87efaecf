//! Ignore files, read as ripgrep reads them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

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
pub(super) struct Ignored {
    user: Arc<Gitignore>,
    innermost: Option<Arc<Level>>,
}

/// The ignore files of one folder.
struct Level {
    above: Option<Arc<Level>>,
    ignore: Gitignore,
    git: Gitignore,
    exclude: Gitignore,
    /// Whether this folder is the top of a repository.
    is_top: bool,
}

/// Which names that matter for ignore rules a folder contains.
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
    /// The rules that apply in the parent of `folder`, which is absolute.
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

    /// The rules that apply in `folder`, which contains these names.
    pub(super) fn below(&self, folder: &Path, found: Found) -> Ignored {
        let Found { ignore, git_ignore, git } = found;
        if !(ignore || git_ignore || git) {
            return self.clone();
        }
        let patterns = |file: Option<PathBuf>| {
            let mut builder = GitignoreBuilder::new(folder);
            // A malformed pattern ignores nothing; the others still apply.
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

    /// Whether an entry of the folder is ignored, explicitly included, or neither.
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

/// The path of a repository's `info/exclude`, which all worktrees share.
fn exclude(git: &Path) -> Option<PathBuf> {
    let mut folder = private_folder(git)?;
    if git.is_file()
        && let Ok(common) = fs::read_to_string(folder.join("commondir"))
    {
        folder.push(common.trim_end());
    }
    Some(folder.join("info/exclude"))
}

/// The folder in which git keeps what belongs to one worktree alone. In a linked worktree, `.git`
/// is a file with its path.
pub(super) fn private_folder(git: &Path) -> Option<PathBuf> {
    if !git.is_file() {
        return Some(git.to_owned());
    }
    let text = fs::read_to_string(git).ok()?;
    Some(git.parent()?.join(text.trim_end().strip_prefix("gitdir: ")?))
}
