//! `abide deprecations`.

use std::path::Path;

use abide_lint::{DeprecationList, Status};

use super::file_changes::{open, unmade, writable};
use super::fitness::{has_texts, link_errors, troubles, unless_linked};
use super::folder_lock::exclusive;
use super::outcome::Outcome;
use crate::args::{DeprecationsArgs, Global};
use crate::diff::unified;
use crate::error::Error;
use crate::generated_part::{Unfit, replaced};
use crate::load::load;
use crate::printable::shown;
use crate::progress::Progress;
use crate::render::{DEPRECATIONS_TITLE, DeprecationReport, deprecation_tables, is_of_tables};
use crate::settings::{Settings, lock, today};
use crate::source::Source;
use crate::terminal::{error_color, look, say, say_rendered};
use crate::write::FileStep;

/// The file of the list, unless `[deprecation]` names another.
const FILE: &str = "DEPRECATED.md";

pub(super) fn deprecations(global: &Global, args: &DeprecationsArgs) -> Result<Outcome, Error> {
    let settings = Settings::read(global, args.tree.source.as_deref(), error_color(global))?;
    let action = args.action;
    let of_file = action.write || action.check || action.diff;
    if of_file && settings.is_part() {
        return Err(Error::Usage(
            "the file lists the whole tree: leave SOURCE out, or name the folder of the tree"
                .to_owned(),
        ));
    }
    let progress = Progress::new(global.quiet);
    let source = settings.source(&args.tree)?;
    let path = settings.config.policy.deprecation.file.as_deref().unwrap_or(FILE);
    let folder = if action.write { Some(writable(source.folder())?) } else { None };
    let _guard = folder.map(|folder| exclusive(folder, global)).transpose()?;
    let loaded = load(&source, &progress)?;
    if of_file && !has_texts(&loaded.tree) {
        let message = "a descriptor set has no file beside it: name a folder, a revision or an \
                       archive, or print the list with `--format markdown`";
        return Err(Error::Usage(message.to_owned()));
    }
    if of_file && let Some(refused) = unless_linked(global, &settings, &loaded, &progress) {
        return Ok(refused);
    }
    let errors = link_errors(global, &settings, &loaded.tree);
    let as_of = global.as_of.unwrap_or_else(today);
    let policy = &settings.config.policy;
    let recorded = lock(&source, "", error_color(global))?;
    let status = Status::of(&loaded.tree, policy, recorded.as_ref(), as_of);
    let list = DeprecationList::of(&loaded.tree, policy, &status);
    progress.finish();
    if let Some(errors) = &errors {
        say_rendered(errors);
        say("note: the tree is not valid, so the list may be incomplete");
    }
    for note in loaded.notes.iter().filter(|_| !global.quiet) {
        say(&format!("note: {note}"));
    }
    if !of_file {
        let report = DeprecationReport { list: &list, as_of };
        let text = (args.format.write)(&report, look(global, args.format.is_styled));
        let failed = errors.is_some();
        return Ok(Outcome { failed, troubles: troubles(&loaded), ..Outcome::of(text) });
    }
    let file = ListFile::of(&source, path, &list, args.overwrite)?;
    let is_current = file.old == file.new;
    let text = if action.diff {
        let old = file.old.as_deref().map(str::as_bytes);
        let name = format!("{}{path}", settings.prefix(&args.tree));
        let new = file.new.as_deref().map(str::as_bytes).filter(|_| !is_current);
        let patch = new.map_or_else(Vec::new, |new| unified(&name, old, Some(new)));
        return Ok(Outcome::verbatim(patch));
    } else if action.check {
        match (is_current, &file.old) {
            (true, _) => String::new(),
            (false, None) => format!("`{path}` is missing: run `abide deprecations --write`\n"),
            (false, Some(_)) => {
                format!("`{path}` is out of date: run `abide deprecations --write`\n")
            }
        }
    } else {
        let changed = file.new.as_deref().filter(|_| !is_current);
        if let Some((folder, new)) = folder.zip(changed) {
            file.write(folder, path, new)?;
        }
        match (global.quiet, is_current, &file.new) {
            (true, ..) => String::new(),
            (_, true, None) => format!("nothing is deprecated, so {path} was not written\n"),
            (_, true, _) => format!("{path} is up to date\n"),
            (_, false, _) => format!("wrote {path}\n"),
        }
    };
    Ok(Outcome { failed: action.check && !is_current, ..Outcome::of(text) })
}

/// The file of the list before and after.
struct ListFile {
    old: Option<String>,
    /// `None` if there is no file and nothing to list.
    new: Option<String>,
}

impl ListFile {
    fn of(
        source: &Source,
        path: &str,
        list: &DeprecationList<'_>,
        overwrite: bool,
    ) -> Result<ListFile, Error> {
        let text = source.text(path)?.map(|text| String::from_utf8(text.to_vec()));
        let old = text.transpose().map_err(|_| {
            Error::Usage(format!("`{path}` is not UTF-8: save it as UTF-8, or remove it"))
        })?;
        if old.is_none() && list.entries.is_empty() {
            return Ok(ListFile { old, new: None });
        }
        let tables = deprecation_tables(list);
        let old_text = old.as_deref();
        let new = replaced(old_text, DEPRECATIONS_TITLE, &tables, is_of_tables, overwrite);
        let new = new.map_err(|unfit| match unfit {
            Unfit::Foreign => Error::Usage(format!(
                "`{path}` was not written by abide: put the lines `<!-- abide deprecations: begin \
                 -->` and `<!-- abide deprecations: end -->` where the list belongs, or replace \
                 the whole file with `abide deprecations --write --overwrite`"
            )),
            Unfit::Edited(line) => Error::Usage(format!(
                "abide did not write the line `{}` in the part of `{path}` that it replaces: move \
                 it out of that part, or replace the part with `abide deprecations --write \
                 --overwrite`",
                shown(&line)
            )),
            Unfit::Marks => Error::Usage(format!(
                "`{path}` must have one line `<!-- abide deprecations: begin -->` and below it one \
                 line `<!-- abide deprecations: end -->`"
            )),
        })?;
        Ok(ListFile { old, new: Some(new) })
    }
    /// Writes the new text, unless somebody edited the file since it was read.
    fn write(&self, folder: &Path, path: &str, new: &str) -> Result<(), Error> {
        let folder = &open(folder)?;
        let target = Path::new(path);
        let old = self.old.as_deref().map(str::as_bytes);
        let step = FileStep { path: target, old, new: Some(new.as_bytes()) };
        folder.apply(&[step]).map_err(|why| unmade(folder, why))
    }
}
