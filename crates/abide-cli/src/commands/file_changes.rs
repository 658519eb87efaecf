//! Changes of the files of a tree, and making them without losing what a person wrote.

use std::collections::BTreeMap;
use std::path::Path;

use abide_lint::Lock;
use abide_schema::File;
use abide_source::printable::escape_unprintable;
use abide_source::write::{FileStep, OpenFolder, UnmadeChange};

use crate::diff::render_unified;
use crate::error::Error;

/// The change of one file of the tree.
pub(super) struct FileChange<'a> {
    pub(super) old: Option<Vec<u8>>,
    pub(super) new: Option<&'a [u8]>,
    /// True to write it after all others: its presence means that they are complete.
    pub(super) last: bool,
    /// The author of the content that it replaces.
    pub(super) author: ContentAuthor,
}

impl<'a> FileChange<'a> {
    /// A new text for what a person wrote, which keeps all of it that it is not about.
    pub(super) fn edit(old: Option<&[u8]>, new: &'a [u8]) -> FileChange<'a> {
        let old = old.map(<[u8]>::to_vec);
        FileChange { old, new: Some(new), last: false, author: ContentAuthor::Abide }
    }
}

/// The changes of files, by path relative to the folder of the tree.
pub(super) type Changes<'a> = BTreeMap<String, FileChange<'a>>;

/// The author of the content that a generated file replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentAuthor {
    /// An earlier run, or the change keeps what a person wrote.
    Abide,
    /// An earlier run, and then a person.
    Editor,
    /// Nothing records it: maybe a person.
    Unknown,
}

impl ContentAuthor {
    /// The author of the content of a file, by what is recorded about it. `essence` is the part
    /// of the content that counts.
    pub(super) fn of(lock: Option<&Lock>, path: &str, essence: &[u8]) -> ContentAuthor {
        match lock {
            Some(lock) if lock.is_made(path, essence) => ContentAuthor::Abide,
            Some(lock) if lock.made_paths().any(|it| it == path) => ContentAuthor::Editor,
            _ => ContentAuthor::Unknown,
        }
    }

    /// Says what is recorded about the content.
    pub(super) fn phrase(self) -> &'static str {
        match self {
            ContentAuthor::Abide => "abide wrote it",
            ContentAuthor::Editor => "somebody edited it after abide wrote it",
            ContentAuthor::Unknown => "nothing records that abide wrote it",
        }
    }
}

impl FileChange<'_> {
    fn step<'a>(&'a self, path: &'a str) -> FileStep<'a> {
        FileStep { path: path.as_ref(), old: self.old.as_deref(), new: self.new }
    }

    /// Returns true if it would lose what a person may have written.
    pub(super) fn is_losing(&self) -> bool {
        self.author != ContentAuthor::Abide && self.old.is_some()
    }

    /// The line that `--check` reports.
    pub(super) fn describe_difference(&self, path: &str) -> String {
        let path = escape_unprintable(path);
        let state = match (&self.old, self.new) {
            (None, _) => "is missing",
            (_, None) => "is no longer needed",
            _ => "differs from the generated file",
        };
        format!("{path}: {state}{}\n", self.note_author())
    }

    /// The line of a plan.
    fn describe_plan(&self, path: &str) -> String {
        let verb = match (&self.old, self.new) {
            (None, _) => "write",
            (_, None) => "delete",
            _ => "edit",
        };
        format!("{verb} {}{}\n", escape_unprintable(path), self.note_author())
    }

    /// Who wrote what would be lost, behind a semicolon; nothing if nothing is lost.
    fn note_author(&self) -> String {
        let author = if self.is_losing() { self.author.phrase() } else { "" };
        if author.is_empty() { String::new() } else { format!("; {author}") }
    }

    /// The message where the file is left as it is. `instead` says what else helps.
    pub(super) fn describe_kept(&self, path: &str, instead: &str) -> String {
        let (verb, overwrites) = match self.new {
            Some(_) => ("overwritten", "replaces"),
            None => ("deleted", "deletes"),
        };
        format!(
            "error: `{}` was not {verb}, because {}: {instead}`--overwrite` {overwrites} it",
            escape_unprintable(path),
            self.author.phrase()
        )
    }
}

/// Describes what a command would write, and how to go on.
pub(super) fn describe_plan(changes: &Changes<'_>, command: &str) -> String {
    let mut plan: String =
        changes.iter().map(|(path, change)| change.describe_plan(path)).collect();
    if !plan.is_empty() {
        plan.push_str(&format!(
            "next: `abide {command} --diff` shows the texts, `abide {command} --write` writes them\n"
        ));
    }
    plan
}

/// Takes out the changes that would lose what a person may have written.
pub(super) fn take_losing<'a>(changes: &mut Changes<'a>) -> Changes<'a> {
    let (losing, rest) = std::mem::take(changes).into_iter().partition(|(_, it)| it.is_losing());
    *changes = rest;
    losing
}

/// Makes all changes, or none if one fails or somebody edited a file since it was read: adds new
/// files first, then changes existing ones, then deletes, and writes the record of them last.
pub(super) fn write_changes(
    folder: &OpenFolder,
    changes: &Changes<'_>,
    record: Option<FileStep<'_>>,
) -> Result<(), Error> {
    let mut ordered: Vec<_> = changes.iter().map(|(path, it)| (path.as_str(), it)).collect();
    ordered.sort_by_key(|(_, it)| (it.new.is_none(), it.old.is_some(), it.last));
    let steps = ordered.into_iter().map(|(path, it)| it.step(path));
    let steps: Vec<FileStep<'_>> = steps.chain(record).collect();
    folder.apply(&steps).map_err(|why| convert_write_error(folder, why))
}

/// The error of changes that were not made.
pub(super) fn convert_write_error(folder: &OpenFolder, why: UnmadeChange) -> Error {
    match why {
        UnmadeChange::Edited(edited) => {
            let names =
                edited.iter().map(|it| format!("`{}`", escape_unprintable(&it.to_string_lossy())));
            let names = names.collect::<Vec<_>>().join(", ");
            let verb = if edited.len() == 1 { "was" } else { "were" };
            Error::Usage(format!(
                "{names} {verb} edited in the meantime, so nothing was written: run the command again"
            ))
        }
        UnmadeChange::Failed { path, is_removal, error } => {
            fail_to(if is_removal { "delete" } else { "write" }, folder, &path)(error)
        }
    }
}

/// The changes as a patch, whose paths begin with `prefix`.
pub(super) fn render_patch(changes: &Changes<'_>, prefix: &str) -> Vec<u8> {
    changes
        .iter()
        .flat_map(|(path, change): (&String, &FileChange<'_>)| {
            render_unified(&format!("{prefix}{path}"), change.old.as_deref(), change.new)
        })
        .collect()
}

/// The folder of a tree on disk, for a command that writes to it.
pub(super) fn expect_folder<F>(folder: Option<F>) -> Result<F, Error> {
    folder.ok_or_else(|| {
        let message = "`--write` needs a tree on disk: check the tree out and name its folder";
        Error::Usage(message.to_owned())
    })
}

/// The folder of a tree, to write below it.
pub(super) fn open_folder(folder: &Path) -> Result<OpenFolder, Error> {
    OpenFolder::open(folder)
        .map_err(|error| Error::File { what: format!("cannot open `{}`", folder.display()), error })
}

/// The error of what was tried with a file of a folder.
pub(super) fn fail_to(
    what: &str,
    folder: &OpenFolder,
    path: &Path,
) -> impl FnOnce(std::io::Error) -> Error {
    let what = format!("cannot {what} `{}`", folder.path().join(path).display());
    move |error| Error::File { what, error }
}

/// The place of a file generated from another one: below the same root.
pub(super) fn display_of_generated(from: File<'_>, path: &str) -> String {
    let shown = &*from.decl().display;
    format!("{}{path}", shown.strip_suffix(from.path()).unwrap_or_default())
}
