//! `--fix` and `--diff` of `abide check` and `abide lint`.

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use abide_lint::{FixRequest, FixResult, Lock, Options, Policy, pluralize};
use abide_schema::Tree;
use abide_source::printable::escape_unprintable;
use abide_source::write::{FileStep, OpenFolder};
use abide_source::{ACCEPTED, Source};
use abide_upgrade::{FileRole, FileRoles, apply};

use super::file_changes::{Changes, FileChange, open_folder, render_patch, write_changes};
use super::folder_lock::lock_exclusively;
use super::outcome::CommandOutcome;
use super::selection::FindingSelection;
use crate::args::{FixArgs, Global};
use crate::diff::render_unified;
use crate::error::Error;
use crate::render::TextFile;
use crate::settings::Settings;

/// The number of harmful fixes that are named.
const MAX_REFUSED: usize = 10;

/// The texts of a tree that fixes may edit.
pub(super) struct FixRun {
    action: FixArgs,
    verbose: bool,
    /// The folder of the tree, if fixes are written.
    folder: Option<OpenFolder>,
    /// The folder of the tree, if it is on disk.
    path: Option<PathBuf>,
    /// Held from the first look at the tree until everything is written.
    _guard: Option<File>,
}

impl FixRun {
    /// Opens a source to fix it, if that is asked for.
    pub(super) fn open(
        global: &Global,
        source: &Source,
        action: FixArgs,
    ) -> Result<Option<FixRun>, Error> {
        if !action.is_asked() {
            return Ok(None);
        }
        let (mut folder, mut guard) = (None, None);
        if action.fix {
            let path = source.folder().ok_or_else(|| {
                Error::Usage(format!(
                    "`--fix` edits files on disk, and `{}` is not a folder of files: name the folder, \
                     or see the changes with `--diff`",
                    source.name()
                ))
            })?;
            guard = lock_exclusively(path, global)?;
            folder = Some(open_folder(path)?);
        }
        let path = source.folder().map(Path::to_owned);
        Ok(Some(FixRun { action, verbose: global.verbose, folder, path, _guard: guard }))
    }

    /// Returns true if the fixes are only shown.
    pub(super) fn is_dry_run(&self) -> bool {
        self.action.diff
    }

    /// The fixes of the findings that are selected. What Abide generated is left as it is, since
    /// it would be generated anew; so is what a sparse checkout leaves out.
    pub(super) fn compute_fixes(
        &self,
        tree: &Tree,
        policy: &Policy,
        options: Options<'_>,
        selection: &FindingSelection,
    ) -> FixResult {
        let made: HashSet<&str> =
            options.records.lock.iter().flat_map(|it| Lock::made_paths(it)).collect();
        let roles = FileRoles::from_tree(tree, &policy.upgrade);
        let request = FixRequest {
            wants: &|finding| selection.is_selected(finding),
            may_edit: &|file| {
                let name = &*file.decl().display;
                file.is_judged()
                    && roles.get(file) != FileRole::Candidate
                    && !made.contains(name)
                    && self.path.as_ref().is_none_or(|folder| folder.join(name).exists())
            },
        };
        abide_lint::fix(tree, policy, options, request)
    }

    /// The fixes as a patch.
    pub(super) fn render_patch(
        tree: &Tree,
        fixed: &FixResult,
        accepted: Option<&TextFile>,
        (prefix, config_prefix): (&str, &str),
    ) -> CommandOutcome {
        let mut patch = render_patch(&collect_changes(tree, fixed), prefix);
        if let Some((old, new)) = accepted.and_then(|it| Some((it, without_stale(it, fixed)?))) {
            let path = format!("{config_prefix}{ACCEPTED}");
            patch.extend(render_unified(&path, Some(old.text.as_bytes()), Some(&new)));
        }
        CommandOutcome { failed: !patch.is_empty(), ..CommandOutcome::verbatim(patch) }
    }

    /// Writes the fixes to the files.
    pub(super) fn write_fixes(
        &self,
        tree: &Tree,
        fixed: &FixResult,
        settings: &Settings,
        accepted: Option<&TextFile>,
    ) -> Result<(), Error> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let changes = collect_changes(tree, fixed);
        let accepted = accepted.and_then(|it| Some((it, without_stale(it, fixed)?)));
        let step = accepted.as_ref().map(|(old, new)| FileStep {
            path: Path::new(ACCEPTED),
            old: Some(old.text.as_bytes()),
            new: Some(new),
        });
        let home = open_folder(&settings.folder)?;
        if home.path() == folder.path() {
            return write_changes(folder, &changes, step);
        }
        write_changes(folder, &changes, None)?;
        write_changes(&home, &Changes::new(), step)
    }

    /// Notes about the fixes: what was refused, and what was done.
    pub(super) fn notes(&self, fixed: &FixResult) -> Vec<String> {
        let shown_ones = if self.verbose { usize::MAX } else { MAX_REFUSED };
        let refused = fixed.refused.iter().take(shown_ones).map(|it| {
            let (path, element) = (escape_unprintable(&it.path), escape_unprintable(&it.element));
            format!("{path}: did not {} (`{element}`): {}", it.title, it.why)
        });
        let files = fixed.texts.len() + usize::from(!fixed.accepted.is_empty());
        let verb = if self.action.fix { "fixed" } else { "`--fix` would fix" };
        let done = (fixed.findings > 0).then(|| {
            format!(
                "{verb} {} in {}",
                pluralize(fixed.findings, "finding"),
                pluralize(files, "file")
            )
        });
        let more = fixed.refused.len().saturating_sub(shown_ones);
        let more = (more > 0).then(|| {
            format!("fixes that were not applied, besides these: {more}; `--verbose` shows them")
        });
        refused.chain(more).chain(done).collect()
    }
}

fn collect_changes<'f>(tree: &Tree, fixed: &'f FixResult) -> Changes<'f> {
    let mut changes = Changes::new();
    for file in tree.files() {
        let display = &file.decl().display;
        let Some(new) = fixed.texts.get(display).filter(|_| file.is_judged()) else { continue };
        let old = file.decl().source_text();
        if old != Some(new) {
            changes.insert(display.to_string(), FileChange::edit(old, new));
        }
    }
    changes
}

/// `abide.accepted` without the lines that accept nothing, if it has any.
fn without_stale(accepted: &TextFile, fixed: &FixResult) -> Option<Vec<u8>> {
    let edits = fixed.accepted.clone();
    let new = (!edits.is_empty()).then(|| apply(accepted.text.as_bytes(), edits))?;
    new.ok()
}
