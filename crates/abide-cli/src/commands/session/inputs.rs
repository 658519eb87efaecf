//! The inputs of a run: everything that it reads, and the judgement of them.

use std::cell::RefCell;

use abide_lint::{
    Accepted, FeatureFile, Lock, OldTree, Options, Records, Report, RuleScope, Usage,
};
use abide_source::{
    KeptRun, LoadedTree, Progress, ReportCache, Source, load, load_both, load_old, load_older,
};

use super::plugins::run_plugins;
use super::report_cache::{are_about_one_tree, open_report_cache};
use super::request::{CheckAction, CheckMode, CheckRequest};
use crate::commands::changed::{LoadedTrees, TreeChange};
use crate::commands::fix::FixRun;
use crate::commands::format::read_stdin;
use crate::commands::instances::{Instances, RuntimeLayers, collect_configured};
use crate::commands::preconditions::{baseline_read_errors, collect_old_notes};
use crate::commands::selection::FindingSelection;
use crate::error::Error;
use crate::render::TextFile;
use crate::settings::{read_lock, today};
use crate::terminal::use_error_color;
use crate::usage_files::read_usage;

/// The sources of a run, with the locks in them.
pub(in crate::commands) struct CheckSources {
    pub(in crate::commands) new: Source,
    /// The old tree that the new one is compared with.
    against: Option<Source>,
    /// The old trees besides it, the oldest first.
    older: Vec<Source>,
    /// The last release, if it is another tree.
    bump_against: Option<Source>,
    /// The tree before the change, if nothing is compared with it.
    commit: Option<Source>,
    pub(in crate::commands) recorded: Option<Lock>,
    baseline_lock: Option<Lock>,
    released_lock: Option<Lock>,
    commit_lock: Option<Lock>,
}

/// The inputs of a run.
pub(in crate::commands) struct CheckInputs<'a> {
    pub(in crate::commands) request: &'a CheckRequest<'a>,
    pub(in crate::commands) progress: Progress,
    pub(in crate::commands) selection: FindingSelection,
    pub(in crate::commands) fix_run: Option<FixRun>,
    pub(in crate::commands) sources: CheckSources,
    /// Why plugins did not run, one phrase each.
    pub(in crate::commands) plugin_troubles: RefCell<Vec<String>>,
    pub(in crate::commands) trees: LoadedTrees,
    /// The tree of the last release, if it is another one than the old tree.
    pub(in crate::commands) released: Option<LoadedTree>,
    /// The old trees besides the newest one, the oldest first.
    pub(in crate::commands) older: Vec<OldTree>,
    /// The parts of them that could not be read.
    pub(in crate::commands) older_troubles: Vec<String>,
    pub(in crate::commands) features: Vec<FeatureFile>,
    /// Who uses which element, if files say so.
    pub(in crate::commands) usage: Option<Usage>,
    /// `abide.accepted`, read, and its text.
    pub(in crate::commands) accepted: Option<(Accepted, TextFile)>,
    pub(in crate::commands) instances: Instances,
    bump_command: String,
    /// The reports of earlier runs, if this run may use them.
    cache: Option<ReportCache>,
    /// The report of an earlier run over the same texts, and the notes about what it read.
    kept: Option<(Report, Vec<String>)>,
    /// Those notes, if its report is used.
    kept_notes: Option<Vec<String>>,
    /// Notes for the user, in the order of the work.
    pub(in crate::commands) notes: Vec<String>,
}

impl CheckSources {
    fn open(
        request: &CheckRequest<'_>,
        new: Source,
        notes: &mut Vec<String>,
    ) -> Result<CheckSources, Error> {
        let against = open_old(request, request.against.as_deref(), notes)?;
        let older = request.older.iter().map(|spec| open_old(request, Some(spec), notes));
        let older: Vec<Option<Source>> = older.collect::<Result<_, _>>()?;
        let older = older.into_iter().flatten().collect();
        let bump_against = open_old(request, request.bump_against, notes)?;
        let baseline_lock = read_old_lock(request, request.against.as_deref(), against.as_ref())?;
        let released_lock = read_old_lock(request, request.bump_against, bump_against.as_ref())?;
        let recorded = read_lock(&new, "", use_error_color(request.global))?;
        let commit = match request.changed_since.as_deref().filter(|_| against.is_none()) {
            Some(spec) => {
                let commit = request.settings.open_commit(spec, &request.judge.tree)?;
                if commit.is_none() {
                    notes.push(format!("{spec} does not exist yet, so everything is reported"));
                }
                commit
            }
            None => None,
        };
        let commit_lock =
            read_old_lock(request, request.changed_since.as_deref(), commit.as_ref())?;
        Ok(CheckSources {
            new,
            against,
            older,
            bump_against,
            commit,
            recorded,
            baseline_lock,
            released_lock,
            commit_lock,
        })
    }

    /// The old tree, or the one before the change.
    fn find_old(&self) -> Option<&Source> {
        self.against.as_ref().or(self.commit.as_ref())
    }

    /// The change that limits a report; `None` for a report about everything.
    fn find_change<'s>(
        &'s self,
        request: &'s CheckRequest<'_>,
        progress: &'s Progress,
    ) -> Option<TreeChange<'s>> {
        let old = self.find_old().filter(|_| request.changed_since.is_some())?;
        let is_commit = self.commit.is_some();
        let old_lock = if is_commit { &self.commit_lock } else { &self.baseline_lock };
        Some(TreeChange {
            new: &self.new,
            old,
            locks: [&self.recorded, old_lock],
            is_compared: self.against.is_some(),
            has_release: self.bump_against.is_some(),
            has_older: !self.older.is_empty(),
            settings: request.settings,
            progress,
        })
    }

    fn load(&self, request: &CheckRequest<'_>, progress: &Progress) -> Result<LoadedTrees, Error> {
        match (self.find_change(request, progress), &self.against) {
            (Some(change), _) => change.load(request.global, !request.is_of_changes()),
            (None, Some(against)) => {
                let (loaded, baseline) = load_both(&self.new, against, progress)?;
                Ok(LoadedTrees::whole(loaded, Some(baseline)))
            }
            (None, None) => Ok(LoadedTrees::whole(load(&self.new, progress)?, None)),
        }
    }

    /// The records of versions that count for a run.
    fn select_records(&self, request: &CheckRequest<'_>) -> Records<'_> {
        let has_release = self.bump_against.is_some();
        let released = if has_release { &self.released_lock } else { &self.baseline_lock };
        Records {
            version_in: request.settings.config.version_in,
            lock: self.recorded.as_ref(),
            released: released.as_ref(),
            earlier: self.baseline_lock.as_ref().filter(|_| has_release),
            history: None,
        }
    }
}

impl<'a> CheckInputs<'a> {
    /// Reads everything that a request names.
    pub(in crate::commands) fn open(request: &'a CheckRequest<'a>) -> Result<Self, Error> {
        let CheckRequest { global, judge, settings, action, .. } = *request;
        let progress = Progress::new(global.quiet);
        check_stdin(request)?;
        let selection =
            FindingSelection::from_args(&settings.config.policy, &judge.show, judge.format)?;
        let source = open_new(request)?;
        let fix_run = match action {
            CheckAction::Fix(args) => FixRun::open(global, &source, args)?,
            CheckAction::Report | CheckAction::Accept => None,
        };
        let mut notes = Vec::new();
        let sources = CheckSources::open(request, source, &mut notes)?;
        let cache = open_report_cache(request, &sources);
        let (trees, kept) = match cache.as_ref().and_then(|it| it.find(&sources.new)) {
            Some(KeptRun { loaded, report, notes }) => {
                (LoadedTrees::whole(loaded, None), Some((report, notes)))
            }
            None => (sources.load(request, &progress)?, None),
        };
        let released = match &sources.bump_against {
            Some(old) => Some(load_old(old, &sources.new, &trees.loaded.tree, &progress)?),
            None => None,
        };
        let newest = sources.against.as_ref().zip(trees.baseline.as_ref().map(|it| &it.tree));
        let new = (&sources.new, &trees.loaded.tree);
        let loaded = load_older(&sources.older, new, newest, &progress)?;
        let older_troubles = loaded.iter().flat_map(baseline_read_errors).collect();
        notes.extend(collect_old_notes(&trees.loaded, &loaded)?);
        let older = loaded.into_iter().map(|it| OldTree { name: it.name, tree: it.tree }).collect();
        let features = match request.is_of_changes() {
            true => Vec::new(),
            false => sources.new.read_features(settings.config.features.as_deref())?,
        };
        let accepted = match action {
            CheckAction::Accept => None,
            _ => settings.read_accepted(use_error_color(global))?,
        };
        let usage = read_usage(settings)?;
        progress.begin_step("judging");
        let change = sources.find_change(request, &progress);
        let instances = load_instances(request, change.as_ref(), &trees, &progress)?;
        let bump_command = request.format_bump_command();
        Ok(CheckInputs {
            request,
            progress,
            selection,
            fix_run,
            sources,
            trees,
            released,
            older,
            older_troubles,
            features,
            usage,
            accepted,
            instances,
            bump_command,
            cache,
            kept,
            kept_notes: None,
            notes,
            plugin_troubles: RefCell::default(),
        })
    }

    /// The options of the judgement.
    pub(in crate::commands) fn options(&self) -> Options<'_> {
        let CheckRequest { global, judge, settings, .. } = *self.request;
        let is_of_changes = self.request.is_of_changes();
        Options {
            as_of: global.as_of.unwrap_or_else(today),
            scope: if is_of_changes { RuleScope::Changes } else { RuleScope::Everything },
            baseline: self.trees.baseline.as_ref().map(|old| &old.tree),
            baseline_name: self.request.against.as_deref().unwrap_or_default(),
            older: &self.older,
            texts: None,
            baseline_day: self.sources.find_old().and_then(Source::get_commit_day),
            bump_baseline: self.released.as_ref().map(|old| &old.tree),
            counts_bump: true,
            changes: self.request.changes || judge.formats().any(|it| it.is_of_changes),
            surfaces: &self.request.surfaces,
            accepted: self.accepted.as_ref().map(|(accepted, _)| accepted),
            records: self.sources.select_records(self.request),
            versions: self.request.has_versions(),
            bump_command: &self.bump_command,
            partial: settings.is_part(),
            reached: self.trees.reached.as_ref(),
            features: &self.features,
            usage: self.usage.as_ref(),
            plugins: None,
        }
    }

    /// Judges the trees and the instances.
    pub(in crate::commands) fn judge(&self) -> Report {
        let CheckRequest { judge, settings, .. } = *self.request;
        let mut options = self.options();
        let tree = &self.trees.loaded.tree;
        let ran = run_plugins(settings, judge.allow_plugins, tree, options.baseline);
        options.plugins = ran.findings.as_deref();
        self.plugin_troubles.replace(ran.troubles);
        let mut report =
            abide_lint::check(&self.trees.loaded.tree, &settings.config.policy, options);
        report.append(self.instances.judge(settings, options.as_of, options.accepted), 0);
        report
    }

    /// The report of an earlier run over the same texts, or else what this one finds.
    pub(in crate::commands) fn recall_or_judge(&mut self) -> Result<Report, Error> {
        match self.kept.take() {
            Some((report, notes)) => {
                (self.kept_notes, self.cache) = (Some(notes), None);
                Ok(report)
            }
            None => self.judge_enough(),
        }
    }

    /// Adds notes about what was read and judged, and keeps them with the report for later runs.
    pub(in crate::commands) fn collect_notes_and_keep(
        &mut self,
        report: &Report,
    ) -> Result<(), Error> {
        if let Some(notes) = self.kept_notes.take() {
            self.notes.extend(notes);
            return Ok(());
        }
        let before = self.notes.len();
        self.collect_notes()?;
        if let Some(cache) = self.cache.as_ref().filter(|_| are_about_one_tree(self.options())) {
            cache.keep(&self.trees.loaded, report, &self.notes[before..]);
        }
        Ok(())
    }

    /// Judges the part of the trees that was loaded, or the whole of them if a part is too little.
    pub(in crate::commands) fn judge_enough(&mut self) -> Result<Report, Error> {
        let report = self.judge();
        let is_too_little =
            self.trees.is_slice && (report.depends_on_everything || self.fix_run.is_some());
        let change = self.sources.find_change(self.request, &self.progress);
        let Some(change) = change.filter(|_| is_too_little) else { return Ok(report) };
        self.trees = change.load_whole()?;
        Ok(self.judge())
    }

    /// Reads `abide.accepted` again, after a change of it.
    pub(in crate::commands) fn reread_accepted(&mut self) -> Result<(), Error> {
        let color = use_error_color(self.request.global);
        self.accepted = self.request.settings.read_accepted(color)?;
        Ok(())
    }
}

/// Fails if more than one source is standard input.
fn check_stdin(request: &CheckRequest<'_>) -> Result<(), Error> {
    let typed = request.judge.stdin_filepath.as_ref().map(|_| "-");
    let tree = request.judge.tree.source.as_deref();
    let old = request.older.iter().chain(&request.against).map(|it| Some(it.as_str()));
    let sources = [tree, typed, request.bump_against].into_iter().chain(old);
    if sources.filter(|spec| *spec == Some("-")).count() > 1 {
        let message = "standard input can be read only once: use `-` for one source";
        return Err(Error::Usage(message.to_owned()));
    }
    Ok(())
}

fn open_new(request: &CheckRequest<'_>) -> Result<Source, Error> {
    let settings = request.settings;
    let source = settings.open_source(&request.judge.tree)?;
    let Some(path) = &request.judge.stdin_filepath else { return Ok(source) };
    if matches!(request.action, CheckAction::Fix(_)) {
        let message = "a text on standard input cannot be fixed: leave `--stdin-filepath` out";
        return Err(Error::Usage(message.to_owned()));
    }
    let display = settings.find_place(path).unwrap_or_else(|| path.clone());
    Ok(source.with_typed_text(display, read_stdin()?[..].into()))
}

fn open_old(
    request: &CheckRequest<'_>,
    spec: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<Option<Source>, Error> {
    let (settings, tree) = (request.settings, &request.judge.tree);
    match spec {
        // Whoever asks for what breaks alone needs an old tree.
        Some(spec) if request.mode == CheckMode::Drift => {
            settings.open_baseline(spec, tree).map(|it| Some(it.as_running()))
        }
        Some(spec) if request.is_of_changes() => settings.open_baseline(spec, tree).map(Some),
        Some(spec) => settings.open_baseline_if_any(spec, tree, notes),
        None => Ok(None),
    }
}

fn read_old_lock(
    request: &CheckRequest<'_>,
    spec: Option<&str>,
    source: Option<&Source>,
) -> Result<Option<Lock>, Error> {
    let Some((spec, source)) = spec.zip(source) else { return Ok(None) };
    read_lock(source, &format!(" of {spec}"), use_error_color(request.global))
}

/// Loads the instances of `abide.toml`, with the APIs that judge them.
fn load_instances(
    request: &CheckRequest<'_>,
    change: Option<&TreeChange<'_>>,
    trees: &LoadedTrees,
    progress: &Progress,
) -> Result<Instances, Error> {
    let CheckRequest { global, settings, .. } = *request;
    let mut subjects = match request.has_instances() {
        true => collect_configured(settings, &[])?,
        false => Vec::new(),
    };
    subjects.iter().try_for_each(|subject| subject.check_report_path(global, settings))?;
    if let (Some(change), Some(reached)) = (change, &trees.reached) {
        change.narrow(&mut subjects, reached)?;
    }
    let mut instances = Instances::load(settings, subjects, RuntimeLayers::default(), progress)?;
    instances.load_others(settings, progress)?;
    if !global.quiet {
        instances.report_missing_layers();
    }
    Ok(instances)
}
