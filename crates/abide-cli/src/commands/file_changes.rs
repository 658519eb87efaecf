//! Changes of the files of a tree, and making them without losing what a person wrote.

use std::collections::BTreeMap;
use std::path::Path;

use abide::Lock;
use abide_schema::File;

use crate::diff::unified;
use crate::error::Error;
use crate::printable::shown;
use crate::write::Folder;

/// The change of one file of the tree.
pub(super) struct FileChange<'a> {
    pub(super) old: Option<Vec<u8>>,
    pub(super) new: Option<&'a [u8]>,
    /// Whether to write it after all others: its presence means that they are complete.
    pub(super) last: bool,
    /// Who wrote what it replaces.
    pub(super) author: Author,
}

/// The changes of files, by path relative to the folder of the tree.
pub(super) type Changes<'a> = BTreeMap<String, FileChange<'a>>;

/// Who wrote the content that a generated file replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Author {
    /// An earlier run, or the change keeps what a person wrote.
    Abide,
    /// An earlier run, and then a person.
    Editor,
    /// Nothing records it: maybe a person.
    Unknown,
}

impl Author {
    /// The author of the content of a file, by what is recorded about it. `essence` is the part
    /// of the content that counts.
    pub(super) fn of(lock: Option<&Lock>, path: &str, essence: &[u8]) -> Author {
        match lock {
            Some(lock) if lock.is_made(path, essence) => Author::Abide,
            Some(lock) if lock.made_paths().any(|it| it == path) => Author::Editor,
            _ => Author::Unknown,
        }
    }

    /// What is recorded about the content.
    pub(super) fn phrase(self) -> &'static str {
        match self {
            Author::Abide => "abide wrote it",
            Author::Editor => "somebody edited it after abide wrote it",
            Author::Unknown => "nothing records that abide wrote it",
        }
    }
}

impl FileChange<'_> {
    /// Whether it would lose what a person may have written.
    pub(super) fn loses(&self) -> bool {
        self.author != Author::Abide && self.old.is_some()
    }

    /// What `--check` reports.
    pub(super) fn complaint(&self, path: &str) -> String {
        let path = shown(path);
        let state = match (&self.old, self.new) {
            (None, _) => "is missing",
            (_, None) => "is no longer needed",
            _ => "differs from the generated file",
        };
        let author = if self.loses() { self.author.phrase() } else { "" };
        let gap = if author.is_empty() { "" } else { "; " };
        format!("{path}: {state}{gap}{author}\n")
    }

    /// The message where the file is left as it is. `instead` says what else helps.
    pub(super) fn left_alone(&self, path: &str, instead: &str) -> String {
        let (verb, overwrites) = match self.new {
            Some(_) => ("overwritten", "replaces"),
            None => ("deleted", "deletes"),
        };
        format!(
            "error: `{}` was not {verb}, because {}: {instead}`--overwrite` {overwrites} it",
            shown(path),
            self.author.phrase()
        )
    }
}

/// Takes out the changes that would lose what a person may have written.
pub(super) fn take_losing<'a>(changes: &mut Changes<'a>) -> Changes<'a> {
    let (losing, rest) = std::mem::take(changes).into_iter().partition(|(_, it)| it.loses());
    *changes = rest;
    losing
}

/// Fails if somebody edited one of the files since it was read, or one may not be written: better
/// now than after half of the work.
pub(super) fn unedited(folder: &Folder, changes: &Changes<'_>) -> Result<(), Error> {
    for (path, change) in changes {
        folder.unprotected(path.as_ref()).map_err(failed("write", folder, path.as_ref()))?;
        let is_still = folder.is_still(path.as_ref(), change.old.as_deref());
        let cannot = |error| Error::File { what: format!("cannot read `{}`", shown(path)), error };
        if !is_still.map_err(cannot)? {
            return Err(Error::Usage(format!(
                "`{}` was edited in the meantime, so nothing was written: run the command again",
                shown(path)
            )));
        }
    }
    Ok(())
}

/// Adds new files first, then changes existing ones, then deletes, so that an interrupted run can
/// be repeated. The caller has the tree for itself and knows that the files are [`unedited`].
pub(super) fn write_changes(folder: &Folder, changes: &Changes<'_>) -> Result<(), Error> {
    let mut ordered: Vec<_> = changes.iter().collect();
    ordered.sort_by_key(|(_, change)| (change.old.is_some(), change.last));
    for (path, change) in ordered {
        if let Some(text) = change.new {
            put(folder, path.as_ref(), text)?;
        }
    }
    for (path, _) in changes.iter().filter(|(_, change)| change.new.is_none()) {
        folder.remove(path.as_ref()).map_err(failed("delete", folder, path.as_ref()))?;
    }
    Ok(())
}

/// The changes as a patch, whose paths begin with `prefix`.
pub(super) fn diff_of(changes: &Changes<'_>, prefix: &str) -> String {
    let shown = |(path, change): (&String, &FileChange<'_>)| {
        unified(&format!("{prefix}{path}"), change.old.as_deref(), change.new)
    };
    changes.iter().map(shown).collect()
}

/// Writes a file, unless it has this content already.
pub(super) fn put(folder: &Folder, path: &Path, text: &[u8]) -> Result<(), Error> {
    let written = match folder.is_still(path, Some(text)) {
        Ok(true) => Ok(()),
        Ok(false) => folder.replace(path, text),
        Err(error) => Err(error),
    };
    written.map_err(failed("write", folder, path))
}

/// The folder of a tree on disk, for a command that writes to it.
pub(super) fn writable<F>(folder: Option<F>) -> Result<F, Error> {
    folder.ok_or_else(|| {
        let message = "`--write` needs a tree on disk: check the tree out and name its folder";
        Error::Usage(message.to_owned())
    })
}

/// The folder of a tree, to write below it.
pub(super) fn open(folder: &Path) -> Result<Folder, Error> {
    Folder::open(folder)
        .map_err(|error| Error::File { what: format!("cannot open `{}`", folder.display()), error })
}

/// The error of what was tried with a file of a folder.
pub(super) fn failed(
    what: &str,
    folder: &Folder,
    path: &Path,
) -> impl FnOnce(std::io::Error) -> Error {
    let what = format!("cannot {what} `{}`", folder.path().join(path).display());
    move |error| Error::File { what, error }
}

/// The place of a file generated from another one: below the same root.
pub(super) fn display(from: File<'_>, path: &str) -> String {
    let shown = &*from.decl().display;
    format!("{}{path}", shown.strip_suffix(from.path()).unwrap_or_default())
}
