//! `abide format`.

use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use abide_lint::{Lock, pluralize};
use abide_source::printable::escape_unprintable;
use abide_source::{Contents, MAX_FILE, Progress};
use abide_syntax::{LineIndex, SyntaxError};
use rayon::prelude::*;

use super::file_changes::{
    Changes, FileChange, expect_folder, open_folder, render_patch, write_changes,
};
use super::folder_lock::lock_exclusively;
use super::generated_files::GeneratedFiles;
use super::outcome::CommandOutcome;
use crate::args::{FormatArgs, Global, TreeArgs};
use crate::error::Error;
use crate::settings::Settings;
use crate::terminal::{eprint_line, use_error_color};

pub(super) fn format(global: &Global, args: &FormatArgs) -> Result<CommandOutcome, Error> {
    if let Some(path) = &args.target.stdin_filepath {
        return format_stdin(path);
    }
    let mut run = FormatRun::new(global, args);
    if args.sources.is_empty() {
        run.format(None)?;
    }
    for source in &args.sources {
        run.format(Some(source))?;
    }
    Ok(run.finish())
}

/// A run over one tree or several.
struct FormatRun<'a> {
    global: &'a Global,
    args: &'a FormatArgs,
    /// The files so far, so that none counts twice that two sources hold.
    seen: HashSet<PathBuf>,
    /// The names of files that are not formatted, or a patch.
    report: Vec<u8>,
    refused: Vec<String>,
    notes: Vec<String>,
    troubles: Vec<String>,
    files: usize,
    changed: usize,
    /// The number of files that were left out because an upgrade wrote them.
    made: usize,
}

impl<'a> FormatRun<'a> {
    fn new(global: &'a Global, args: &'a FormatArgs) -> FormatRun<'a> {
        FormatRun {
            global,
            args,
            seen: HashSet::new(),
            report: Vec::new(),
            refused: Vec::new(),
            notes: Vec::new(),
            troubles: Vec::new(),
            files: 0,
            changed: 0,
            made: 0,
        }
    }

    /// Formats a tree, or a file.
    fn format(&mut self, source: Option<&String>) -> Result<(), Error> {
        let (global, target) = (self.global, &self.args.target);
        let import_path = self.args.import_path.clone();
        let tree = TreeArgs { source: source.cloned(), import_path };
        let progress = Progress::new(global.quiet);
        let settings = Settings::read(global, source.map(String::as_str), use_error_color(global))?;
        let path = settings.find_file_folder(&tree);
        let _guard = match path.as_deref().filter(|_| target.write) {
            Some(folder) => lock_exclusively(folder, global)?,
            None => None,
        };
        let folder = path.as_deref().map(open_folder).transpose()?;
        let source = settings.open_source(&tree)?;
        progress.begin_step("reading");
        let Contents::Files { files, problems, notes } = source.read()? else {
            let message =
                "descriptors have no layout: name a folder, a file, a revision or an archive";
            return Err(Error::Usage(message.to_owned()));
        };
        let lock = GeneratedFiles::read(global, &source)?.lock;
        let made: HashSet<&str> = lock.iter().flat_map(Lock::made_paths).collect();
        let top = match &folder {
            Some(folder) => folder.path(),
            None => Path::new(source.name()),
        };
        let mut files = files;
        files.retain(|it| !it.imported && self.seen.insert(top.join(&*it.display)));
        let (made, files): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|it| made.contains(&*it.display));
        progress.begin_step(format!("formatting {}", pluralize(files.len(), "file")));
        let formatted: Vec<_> = files.par_iter().map(|it| abide_format::format(&it.text)).collect();
        // The paths of several trees count from the folder that all of them are seen from.
        let seen_from = path.as_deref().filter(|_| self.args.sources.len() > 1);
        let mut changes = Changes::new();
        for (file, formatted) in files.iter().zip(&formatted) {
            match formatted {
                Ok(text) if **text == *file.text => {}
                Ok(text) => {
                    let change = FileChange::edit(Some(&file.text), text);
                    changes.insert(file.display.to_string(), change);
                }
                Err(errors) => {
                    self.refused.extend(format_errors(
                        &name_from_here(&settings, seen_from, &file.display),
                        &file.text,
                        errors,
                    ));
                }
            }
        }
        if target.write {
            let folder = expect_folder(folder)?;
            write_changes(&folder, &changes, None)?;
        } else if target.diff {
            self.report.extend(render_patch(&changes, &settings.prefix(&tree)));
        } else {
            let names = changes.keys().map(|it| {
                format!("{}\n", escape_unprintable(&name_from_here(&settings, seen_from, it)))
            });
            self.report.extend(names.flat_map(String::into_bytes));
        }
        progress.finish();
        self.files += files.len();
        self.changed += changes.len();
        self.made += made.len();
        self.notes.extend(notes);
        self.troubles.extend(problems.iter().map(ToString::to_string));
        Ok(())
    }

    /// Says what was found.
    fn finish(self) -> CommandOutcome {
        let target = &self.args.target;
        self.refused.iter().for_each(|complaint| eprint_line(complaint));
        if !self.global.quiet {
            for note in &self.notes {
                eprint_line(&format!("note: {note}"));
            }
            if self.made > 0 {
                let made = pluralize(self.made, "file");
                eprint_line(&format!("note: left out {made} that `abide upgrade` wrote"));
            }
            let all = pluralize(self.files, "file");
            match self.changed {
                0 => {}
                some if target.write => eprint_line(&format!("note: formatted {some} of {all}")),
                some => eprint_line(&format!("note: {some} of {all} not formatted")),
            }
        }
        let failed = target.check && self.changed > 0 || !self.refused.is_empty();
        let outcome = match target.write {
            true => CommandOutcome::nothing(failed),
            false => CommandOutcome { failed, ..CommandOutcome::verbatim(self.report) },
        };
        CommandOutcome { troubles: self.troubles, ..outcome }
    }
}

/// The name of a file of a tree: counted from the current folder if the tree is one of several.
fn name_from_here(settings: &Settings, folder: Option<&Path>, path: &str) -> String {
    match folder {
        Some(folder) => settings.format_from_here(path, folder),
        None => path.to_owned(),
    }
}

/// Formats standard input. Nothing is printed of a text with errors.
fn format_stdin(path: &Path) -> Result<CommandOutcome, Error> {
    let text = read_stdin()?;
    match abide_format::format(&text) {
        Ok(text) => Ok(CommandOutcome::verbatim(text)),
        Err(errors) => {
            format_errors(&path.display().to_string(), &text, &errors)
                .for_each(|it| eprint_line(&it));
            Ok(CommandOutcome::nothing(true))
        }
    }
}

/// Reads the text of a file from standard input.
pub(super) fn read_stdin() -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    let read = std::io::stdin().lock().take(MAX_FILE + 1).read_to_end(&mut text);
    let what = "cannot read standard input";
    read.map_err(|error| Error::File { what: what.to_owned(), error })?;
    if text.len() as u64 > MAX_FILE {
        return Err(Error::Usage(format!("{what}: it is larger than {MAX_FILE} bytes")));
    }
    Ok(text)
}

/// The errors of a file that cannot be formatted, a line for each.
fn format_errors<'a>(
    path: &'a str,
    text: &'a [u8],
    errors: &'a [SyntaxError],
) -> impl Iterator<Item = String> + 'a {
    let lines = LineIndex::new(text);
    errors.iter().map(move |error| {
        let at = lines.position(text, error.span.start);
        let help = error.help.map(|help| format!("; {help}")).unwrap_or_default();
        format!(
            "error: {}:{}:{}: {}{help}",
            escape_unprintable(path),
            at.line,
            at.column,
            error.message
        )
    })
}
