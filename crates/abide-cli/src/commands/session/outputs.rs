//! The outputs of a run: notes, the report, and the outcome.

use std::collections::BTreeSet;
use std::path::Path;

use abide_lint::{PackageOwners, Report};
use abide_source::{LeftOut, Reached, printable};

use super::inputs::CheckInputs;
use super::request::CheckRequest;
use crate::args::{ExtraReport, Global};
use crate::commands::outcome::CommandOutcome;
use crate::commands::preconditions::{
    baseline_read_errors, collect_old_notes, find_changed_imports, find_diverged_copies,
    find_no_longer_judged, find_unjudged_packages, has_texts, read_errors,
};
use crate::error::Error;
use crate::owners_file::{OwnersFile, find_package_owners};
use crate::render::{RenderContext, Style};
use crate::settings::describe_conflict;
use crate::terminal::{eprint_line, report_style};

/// With more findings than these, a tree is met for the first time.
const MANY: usize = 20;

/// The width of lines in a report that is written to a file beside another one.
const REPORT_WIDTH: usize = 100;

/// Leaves a value until the process ends, which is soon: to free a large tree takes time, and nobody
/// needs its memory.
pub(in crate::commands) fn leave_to_exit<T>(value: T) {
    std::mem::forget(value);
}

impl CheckInputs<'_> {
    /// Adds notes about what was read and judged.
    pub(in crate::commands) fn collect_notes(&mut self) -> Result<(), Error> {
        let CheckInputs { request, sources, trees, released, notes, .. } = self;
        let (new, old) = (&trees.loaded, trees.baseline.as_ref());
        let (is_limited, is_part) = (trees.reached.is_some(), request.settings.is_part());
        notes.extend(new.notes.iter().cloned());
        notes.extend(find_unjudged_packages(&new.tree));
        if !request.is_of_changes() && !is_limited {
            notes.extend(find_diverged_copies(&new.tree));
        }
        notes.extend(trees.why.iter().filter(|_| request.global.verbose || !is_limited).cloned());
        let is_nothing = trees.reached.as_ref().is_some_and(Reached::is_empty);
        if let Some(spec) = request.changed_since.as_ref().filter(|_| is_nothing) {
            notes.push(format!("nothing changed since {spec}, so nothing is reported"));
        }
        let recorded = sources.recorded.as_ref();
        notes.extend(describe_conflict(recorded.filter(|_| request.has_versions())));
        // Of a part, everything else is only imported.
        let is_running = old.is_some_and(|it| it.left_out != LeftOut::default());
        if !is_limited && !is_part && !is_running {
            let old = old.map(|it| &it.tree);
            notes.extend(find_no_longer_judged(&new.tree, old, recorded));
            notes.extend(old.and_then(|old| find_changed_imports(&new.tree, old)));
        }
        notes.extend(collect_old_notes(new, old.into_iter().chain(released.as_ref()))?);
        Ok(())
    }

    /// Renders the report and prints the notes.
    pub(in crate::commands) fn finish(self, mut report: Report) -> Result<CommandOutcome, Error> {
        let touched = self.find_touched_packages()?;
        let CheckInputs { request, progress, selection, sources, trees, released, .. } = self;
        let CheckRequest { global, judge, settings, .. } = *request;
        let mut notes = self.notes;
        let is_adopted = self.accepted.is_some();
        if request.has_versions() && !request.is_of_changes() && !is_adopted {
            notes.extend(suggest_adoption(&report).filter(|_| judge.format.is_styled));
        }
        selection.select(&mut report);
        notes.splice(0..0, suggest_init(request, &report));
        let failed = report.errors > 0;
        let texts = self.instances.texts();
        let origin = request.find_origin();
        let mut context = RenderContext {
            tree: &trees.loaded.tree,
            old: trees.baseline.as_ref().map(|old| &old.tree),
            older: &self.older,
            config: settings.file.as_ref(),
            accepted: self.accepted.as_ref().map(|(_, file)| file),
            features: &self.features,
            instances: &texts,
            are_only_instances: false,
            touched: &touched,
            origin: origin.as_ref(),
            prefix: &sources.new.prefix().unwrap_or_else(|| settings.prefix(&judge.tree)),
            config_prefix: &settings.config_prefix(),
            style: Style {
                shows_exempted: selection.shows_waived,
                ..report_style(global, judge.format.is_styled, judge.show.limit)
            },
        };
        let counts = selection.count_by_rule(&report);
        if counts.is_none() || !judge.report.is_empty() {
            notes.extend(context.limit(&mut report, judge.show.limit));
            abide_lint::find_dependents(
                &mut report.findings,
                context.tree,
                context.old,
                context.older,
            );
        }
        let text = counts.unwrap_or_else(|| (judge.format.write)(&report, &context));
        // A file looks the same wherever it is written from.
        context.style = Style {
            quiet: global.quiet,
            verbose: global.verbose,
            shows_exempted: selection.shows_waived,
            ..Style::plain(REPORT_WIDTH)
        };
        let write = |it: &ExtraReport| {
            let text = printable::report((it.format.write)(&report, &context));
            (it.path.clone(), text)
        };
        let files = judge.report.iter().map(write).collect();
        progress.finish();
        if global.verbose {
            notes.extend(progress.format_timings());
        }
        print_notes(global, &notes);
        let mut troubles = read_errors(&trees.loaded);
        troubles.extend(trees.baseline.iter().chain(&released).flat_map(baseline_read_errors));
        troubles.extend(self.older_troubles);
        troubles.extend(self.plugin_troubles.into_inner());
        leave_to_exit((trees, released, self.older));
        Ok(CommandOutcome { failed, troubles, files, ..CommandOutcome::of(text) })
    }

    /// Ends a run with a patch instead of a report.
    pub(in crate::commands) fn finish_patch(self, patch: CommandOutcome) -> CommandOutcome {
        self.progress.finish();
        print_notes(self.request.global, &self.notes);
        CommandOutcome { troubles: read_errors(&self.trees.loaded), ..patch }
    }

    /// The packages that the change touches, with their owners, if the format names them.
    fn find_touched_packages(&self) -> Result<Vec<PackageOwners>, Error> {
        let CheckRequest { judge, settings, .. } = *self.request;
        let new = &self.trees.loaded.tree;
        let is_asked = judge.formats().any(|it| it.names_packages) && has_texts(new);
        let Some(old) = self.trees.baseline.as_ref().filter(|_| is_asked) else {
            return Ok(Vec::new());
        };
        let files = abide_lint::touched_files(&old.tree, new);
        let source = &self.sources.new;
        let owners = OwnersFile::find(source, settings)?;
        Ok(find_package_owners(&files, owners.as_ref(), source, settings, &judge.tree))
    }
}

/// Advises to write an `abide.toml`, where a tree on disk has findings without one.
fn suggest_init(request: &CheckRequest<'_>, report: &Report) -> Option<String> {
    let CheckRequest { global, judge, settings, .. } = *request;
    let is_on_disk = judge.tree.source.as_ref().is_none_or(|it| Path::new(it).is_dir());
    let is_met = settings.file.is_none() && global.preset.is_none() && is_on_disk;
    let advice = "there is no abide.toml: `abide init` writes one that fits this tree";
    (is_met && judge.format.is_styled && !report.findings.is_empty()).then(|| advice.to_owned())
}

/// Advises how to adopt a tree with many findings of which none is recorded.
fn suggest_adoption(report: &Report) -> Option<String> {
    let count = report.errors + report.warnings;
    let advice = "to begin with the tree as it is, `abide check --accept` records what it reports today, \
                  and `abide check --statistics` counts it by rule";
    (count > MANY).then(|| advice.to_owned())
}

/// Shows notes, each of them once: both sides may have the same one.
fn print_notes(global: &Global, notes: &[String]) {
    let mut told = BTreeSet::new();
    for note in notes.iter().filter(|note| !global.quiet && told.insert(*note)) {
        eprint_line(&format!("note: {note}"));
    }
}
