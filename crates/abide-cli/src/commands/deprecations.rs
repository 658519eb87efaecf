//! `abide deprecations`.

use std::path::Path;

use abide_lint::{DeprecationList, Status};
use abide_source::printable::escape_unprintable;
use abide_source::write::FileStep;
use abide_source::{Progress, Source, load};

use super::file_changes::{convert_write_error, expect_folder, open_folder};
use super::folder_lock::lock_exclusively;
use super::outcome::CommandOutcome;
use super::preconditions::{find_link_errors, has_texts, read_errors, refuse_unlinked};
use crate::args::{DeprecationsArgs, Global};
use crate::diff::render_unified;
use crate::error::Error;
use crate::managed_section::{SectionError, replace_section};
use crate::render::{DEPRECATIONS_TITLE, DeprecationReport, deprecation_tables, is_of_tables};
use crate::settings::{Settings, read_lock, today};
use crate::terminal::{eprint_block, eprint_line, style, use_error_color};
use crate::usage_files::read_usage;

/// The file of the list, unless `[deprecation]` names another.
const FILE: &str = "DEPRECATED.md";

pub(super) fn deprecations(
    global: &Global,
    args: &DeprecationsArgs,
) -> Result<CommandOutcome, Error> {
    let settings = Settings::read(global, args.tree.source.as_deref(), use_error_color(global))?;
    let action = args.action;
    let of_file = action.write || action.check || action.diff;
    if of_file && settings.is_part() {
        return Err(Error::Usage(
            "the file lists the whole tree: leave SOURCE out, or name the folder of the tree"
                .to_owned(),
        ));
    }
    let progress = Progress::new(global.quiet);
    let source = settings.open_source(&args.tree)?;
    let path = settings.config.policy.deprecation.file.as_deref().unwrap_or(FILE);
    let folder = if action.write { Some(expect_folder(source.folder())?) } else { None };
    let _guard = folder.map(|folder| lock_exclusively(folder, global)).transpose()?;
    let loaded = load(&source, &progress)?;
    if of_file && !has_texts(&loaded.tree) {
        let message = "a descriptor set has no file beside it: name a folder, a revision or an \
                       archive, or print the list with `--format markdown`";
        return Err(Error::Usage(message.to_owned()));
    }
    if of_file && let Some(refused) = refuse_unlinked(global, &settings, &loaded, &progress) {
        return Ok(refused);
    }
    let errors = find_link_errors(global, &settings, &loaded.tree);
    let as_of = global.as_of.unwrap_or_else(today);
    let policy = &settings.config.policy;
    let recorded = read_lock(&source, "", use_error_color(global))?;
    let status = Status::of(&loaded.tree, policy, recorded.as_ref(), as_of);
    let mut list = DeprecationList::of(&loaded.tree, policy, &status);
    if let Some(usage) = read_usage(&settings)? {
        list.add_users(|element| usage.find_users(element));
    }
    progress.finish();
    if let Some(errors) = &errors {
        eprint_block(errors);
        eprint_line("note: the tree is not valid, so the list may be incomplete");
    }
    for note in loaded.notes.iter().filter(|_| !global.quiet) {
        eprint_line(&format!("note: {note}"));
    }
    if !of_file {
        let report = DeprecationReport { list: &list, as_of };
        let text = (args.format.write)(&report, style(global, args.format.is_styled));
        let failed = errors.is_some();
        return Ok(CommandOutcome {
            failed,
            troubles: read_errors(&loaded),
            ..CommandOutcome::of(text)
        });
    }
    let file = ListFile::read(&source, path, &list, args.overwrite)?;
    let is_current = file.old == file.new;
    let text = if action.diff {
        let old = file.old.as_deref().map(str::as_bytes);
        let name = format!("{}{path}", settings.prefix(&args.tree));
        let new = file.new.as_deref().map(str::as_bytes).filter(|_| !is_current);
        let patch = new.map_or_else(Vec::new, |new| render_unified(&name, old, Some(new)));
        return Ok(CommandOutcome::verbatim(patch));
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
            (_, false, _) => format!(
                "wrote {path}\nnext: commit it; `abide deprecations --check` in CI keeps it up to \
                 date\n"
            ),
        }
    };
    Ok(CommandOutcome { failed: action.check && !is_current, ..CommandOutcome::of(text) })
}

/// The file of the list before and after.
struct ListFile {
    old: Option<String>,
    /// `None` if there is no file and nothing to list.
    new: Option<String>,
}

impl ListFile {
    fn read(
        source: &Source,
        path: &str,
        list: &DeprecationList<'_>,
        overwrite: bool,
    ) -> Result<ListFile, Error> {
        let text = source.read_text(path)?.map(|text| String::from_utf8(text.to_vec()));
        let old = text.transpose().map_err(|_| {
            Error::Usage(format!("`{path}` is not UTF-8: save it as UTF-8, or remove it"))
        })?;
        if old.is_none() && list.entries.is_empty() {
            return Ok(ListFile { old, new: None });
        }
        let tables = deprecation_tables(list);
        let old_text = old.as_deref();
        let new = replace_section(old_text, DEPRECATIONS_TITLE, &tables, is_of_tables, overwrite);
        let new = new.map_err(|unfit| match unfit {
            SectionError::Foreign => Error::Usage(format!(
                "`{path}` was not written by abide: put the lines `<!-- abide deprecations: begin \
                 -->` and `<!-- abide deprecations: end -->` where the list belongs, or replace \
                 the whole file with `abide deprecations --write --overwrite`"
            )),
            SectionError::Edited(line) => Error::Usage(format!(
                "abide did not write the line `{}` in the part of `{path}` that it replaces: move \
                 it out of that part, or replace the part with `abide deprecations --write \
                 --overwrite`",
                escape_unprintable(&line)
            )),
            SectionError::Marks => Error::Usage(format!(
                "`{path}` must have one line `<!-- abide deprecations: begin -->` and below it one \
                 line `<!-- abide deprecations: end -->`"
            )),
        })?;
        Ok(ListFile { old, new: Some(new) })
    }
    /// Writes the new text, unless somebody edited the file since it was read.
    fn write(&self, folder: &Path, path: &str, new: &str) -> Result<(), Error> {
        let folder = &open_folder(folder)?;
        let target = Path::new(path);
        let old = self.old.as_deref().map(str::as_bytes);
        let step = FileStep { path: target, old, new: Some(new.as_bytes()) };
        folder.apply(&[step]).map_err(|why| convert_write_error(folder, why))
    }
}
