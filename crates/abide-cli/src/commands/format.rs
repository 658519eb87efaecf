//! `abide format`.

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

use abide::{Lock, counted};
use abide_syntax::{LineIndex, SyntaxError};
use rayon::prelude::*;

use super::file_changes::{Author, Changes, FileChange, diff_of, unedited, write_changes};
use super::made_files::MadeFiles;
use super::outcome::Outcome;
use super::upgrade::{Opened, writable};
use crate::args::{FormatArgs, Global};
use crate::error::Error;
use crate::printable::shown;
use crate::source::{Contents, MAX_FILE};
use crate::terminal::say;

pub(super) fn format(global: &Global, args: &FormatArgs) -> Result<Outcome, Error> {
    if let Some(path) = &args.target.stdin_filepath {
        return format_stdin(path);
    }
    let target = &args.target;
    let Opened { progress, settings, folder, guard: _guard } =
        Opened::of(global, &args.tree, target.write)?;
    let source = settings.source(&args.tree)?;
    progress.step("reading");
    let Contents::Files { files, problems, notes } = source.read()? else {
        let message = "descriptors have no layout: name a folder, a file, a revision or an archive";
        return Err(Error::Usage(message.to_owned()));
    };
    let lock = MadeFiles::of(global, &source)?.lock;
    let made: HashSet<&str> = lock.iter().flat_map(Lock::made_paths).collect();
    let (made, files): (Vec<_>, Vec<_>) =
        files.into_iter().filter(|it| !it.imported).partition(|it| made.contains(&*it.display));
    progress.step(format!("formatting {}", counted(files.len(), "file")));
    let formatted: Vec<_> = files.par_iter().map(|it| abide_format::format(&it.text)).collect();
    let mut changes = Changes::new();
    let mut refused = Vec::new();
    for (file, formatted) in files.iter().zip(&formatted) {
        match formatted {
            Ok(text) if **text == *file.text => {}
            Ok(text) => {
                let old = Some(file.text.to_vec());
                let author = Author::Abide;
                let change = FileChange { old, new: Some(text), last: false, author };
                changes.insert(file.display.to_string(), change);
            }
            Err(errors) => refused.extend(complaints(&file.display, &file.text, errors)),
        }
    }
    let outcome = if target.write {
        let folder = writable(folder)?;
        unedited(&folder, &changes)?;
        write_changes(&folder, &changes)?;
        Outcome::nothing(false)
    } else if target.diff {
        Outcome::of(diff_of(&changes, &settings.prefix(&args.tree)))
    } else {
        let lines: String = changes.keys().map(|it| format!("{}\n", shown(it))).collect();
        Outcome { failed: !changes.is_empty(), ..Outcome::of(lines) }
    };
    progress.finish();
    refused.iter().for_each(|complaint| say(complaint));
    if !global.quiet {
        for note in &notes {
            say(&format!("note: {note}"));
        }
        if !made.is_empty() {
            let made = counted(made.len(), "file");
            say(&format!("note: left out {made} that `abide upgrade` wrote"));
        }
        let all = counted(files.len(), "file");
        match changes.len() {
            0 => {}
            some if target.write => say(&format!("note: formatted {some} of {all}")),
            some => say(&format!("note: {some} of {all} not formatted")),
        }
    }
    let troubles = problems.iter().map(ToString::to_string).collect();
    let failed = outcome.failed || !refused.is_empty();
    Ok(Outcome { troubles, failed, ..outcome })
}

/// Formats standard input. Nothing is printed of a text with errors.
fn format_stdin(path: &Path) -> Result<Outcome, Error> {
    let mut text = Vec::new();
    let read = std::io::stdin().lock().take(MAX_FILE + 1).read_to_end(&mut text);
    let what = || "cannot read standard input".to_owned();
    read.map_err(|error| Error::File { what: what(), error })?;
    if text.len() as u64 > MAX_FILE {
        return Err(Error::Usage(format!("{}: it is larger than {MAX_FILE} bytes", what())));
    }
    match abide_format::format(&text) {
        Ok(text) => Ok(Outcome::of(text)),
        Err(errors) => {
            complaints(&path.display().to_string(), &text, &errors).for_each(|it| say(&it));
            Ok(Outcome::nothing(true))
        }
    }
}

/// What is said about a file that cannot be formatted.
fn complaints<'a>(
    path: &'a str,
    text: &'a [u8],
    errors: &'a [SyntaxError],
) -> impl Iterator<Item = String> + 'a {
    let lines = LineIndex::new(text);
    errors.iter().map(move |error| {
        let at = lines.position(text, error.span.start);
        let help = error.help.map(|help| format!("; {help}")).unwrap_or_default();
        format!("error: {}:{}:{}: {}{help}", shown(path), at.line, at.column, error.message)
    })
}
