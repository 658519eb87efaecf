//! `abide check`, `abide lint` and `abide breaking`.

use std::collections::BTreeSet;

use abide_change::Surface;
use abide_lint::{Accepted, Options, Origin, Records, Report, RuleScope, Severity};
use abide_schema::ProblemKind;

use super::changed::{LAST_COMMIT, LoadedTrees, TreeChange};
use super::file_changes::{convert_write_error, fail_to, open_folder};
use super::fix::FixRun;
use super::folder_lock::recover;
use super::format::read_stdin;
use super::instances::{Instances, RuntimeLayers, collect_configured};
use super::outcome::CommandOutcome;
use super::preconditions::{
    baseline_read_errors, check_baseline_links, find_changed_imports, find_diverged_copies,
    find_missing_roots, find_no_longer_judged, find_unjudged_packages, find_unrelated_baseline,
    has_texts, read_errors,
};
use super::selection::FindingSelection;
use crate::args::{CompareArgs, FixArgs, Global, JudgeArgs};
use crate::error::Error;
use crate::load::{Loaded, Reached, load, load_both, load_old};
use crate::owners_file::{OwnersFile, find_package_owners};
use crate::progress::Progress;
use crate::render::{RenderContext, TextFile};
use crate::settings::{Settings, describe_conflict, read_lock, today};
use crate::source::{ACCEPTED, Source};
use crate::terminal::{eprint_line, style, use_error_color};
use crate::write::FileStep;

/// The request of one of these commands.
#[derive(Default)]
struct Work<'a> {
    changes_only: bool,
    against: Option<&'a str>,
    bump_against: Option<&'a str>,
    /// The last release, if the command line names it.
    named_release: Option<&'a str>,
    changes: bool,
    /// If only what a change reaches is reported: the tree before it.
    changed_since: Option<&'a str>,
    surfaces: Vec<Surface>,
    accept: bool,
    versions: bool,
    /// True if the instances of `abide.toml` are judged, too.
    instances: bool,
    fix: Option<FixArgs>,
}

pub(super) fn lint(
    global: &Global,
    judge: &JudgeArgs,
    fix: FixArgs,
) -> Result<CommandOutcome, Error> {
    let settings = Settings::read_for_parts(global, judge, use_error_color(global))?;
    let against = settings.config.against.as_deref().filter(|spec: &&str| spec.starts_with("git:"));
    let changed_since = judge.changed.then_some(against.unwrap_or(LAST_COMMIT));
    run(global, judge, &settings, &Work { changed_since, fix: Some(fix), ..Work::default() })
}

pub(super) fn check(
    global: &Global,
    judge: &JudgeArgs,
    compare: &CompareArgs,
    accept: bool,
    fix: FixArgs,
) -> Result<CommandOutcome, Error> {
    let settings = Settings::read_for_parts(global, judge, use_error_color(global))?;
    if accept && settings.is_partial() {
        return Err(Error::Usage(format!(
            "`--accept` writes {ACCEPTED} for the whole tree: leave SOURCE out"
        )));
    }
    if accept && judge.changed {
        return Err(Error::Usage(format!(
            "`--accept` writes {ACCEPTED} for the whole tree: leave `--changed` out"
        )));
    }
    if accept {
        recover(&settings.folder)?;
    }
    let instances = judge.is_whole_tree();
    let work = Work { accept, instances, fix: Some(fix), ..work(judge, compare, &settings) };
    // Whoever set up a gate for a tree expects it to see what breaks.
    let is_gate = settings.file.is_some() && judge.is_whole_tree() && !judge.changed;
    let compares = work.against.or(work.bump_against).is_some();
    if is_gate && !compares && !global.quiet {
        eprint_line(
            "note: compared with no old tree, so breaking changes are not reported: set `against` \
             in abide.toml, or use `--against`",
        );
    }
    run(global, judge, &settings, &work)
}

pub(super) fn breaking(
    global: &Global,
    judge: &JudgeArgs,
    compare: &CompareArgs,
    surfaces: &[String],
) -> Result<CommandOutcome, Error> {
    let settings = Settings::read_for_parts(global, judge, use_error_color(global))?;
    let surfaces = surfaces.iter().filter_map(|name| Surface::find(name)).collect();
    let work = Work { changes_only: true, surfaces, ..work(judge, compare, &settings) };
    if work.against.is_none() {
        return Err(Error::Usage(
            "no old tree to compare with: name it with `--against SOURCE`, such as `--against \
             git:main...`, or set `against` in abide.toml"
                .to_owned(),
        ));
    }
    run(global, judge, &settings, &work)
}

/// The work to do by the command line, and by `abide.toml` where the command line is silent.
fn work<'a>(judge: &JudgeArgs, compare: &'a CompareArgs, settings: &'a Settings) -> Work<'a> {
    let config = &settings.config;
    let against = compare.against.as_deref().or(config.against.as_deref());
    Work {
        against,
        bump_against: compare.bump_against.as_deref().or(config.bump_against.as_deref()),
        named_release: compare
            .bump_against
            .as_deref()
            .or(compare.against.as_deref().filter(|_| config.bump_against.is_none())),
        changes: compare.changes,
        changed_since: judge.changed.then_some(against.unwrap_or(LAST_COMMIT)),
        versions: true,
        ..Work::default()
    }
}

fn run(
    global: &Global,
    judge: &JudgeArgs,
    settings: &Settings,
    work: &Work<'_>,
) -> Result<CommandOutcome, Error> {
    let progress = Progress::new(global.quiet);
    let typed = judge.stdin_filepath.as_ref().map(|_| "-");
    let sources = [judge.tree.source.as_deref(), typed, work.against, work.bump_against];
    if sources.iter().filter(|spec| **spec == Some("-")).count() > 1 {
        let message = "standard input can be read only once: use `-` for one source";
        return Err(Error::Usage(message.to_owned()));
    }
    let selection = FindingSelection::from_args(&judge.show, judge.format)?;
    let mut source = settings.open_source(&judge.tree)?;
    if let Some(path) = &judge.stdin_filepath {
        if work.fix.is_some_and(FixArgs::is_asked) {
            let message = "a text on standard input cannot be fixed: leave `--stdin-filepath` out";
            return Err(Error::Usage(message.to_owned()));
        }
        let display = settings.find_place(path).unwrap_or_else(|| path.clone());
        source = source.typed(display, read_stdin()?[..].into());
    }
    let fixer = work.fix.map(|it| FixRun::open(global, &source, it)).transpose()?.flatten();
    let mut notes = Vec::new();
    let mut old_source = |spec: Option<&str>| match spec {
        // Whoever asks for what breaks alone needs an old tree.
        Some(spec) if work.changes_only => settings.open_baseline(spec, &judge.tree).map(Some),
        Some(spec) => settings.open_baseline_if_any(spec, &judge.tree, &mut notes),
        None => Ok(None),
    };
    let old_lock = |spec: Option<&str>, source: &Option<Source>| match spec.zip(source.as_ref()) {
        Some((spec, source)) => read_lock(source, &format!(" of {spec}"), use_error_color(global)),
        None => Ok(None),
    };
    let (against, bump_against) = (old_source(work.against)?, old_source(work.bump_against)?);
    let baseline_lock = old_lock(work.against, &against)?;
    let released_lock = old_lock(work.bump_against, &bump_against)?;
    let recorded = read_lock(&source, "", use_error_color(global))?;
    let commit = match work.changed_since.filter(|_| against.is_none()) {
        Some(spec) => {
            let commit = settings.open_commit(spec, &judge.tree)?;
            notes.extend(
                commit
                    .is_none()
                    .then(|| format!("{spec} does not exist yet, so everything is reported")),
            );
            commit
        }
        None => None,
    };
    let commit_lock = old_lock(work.changed_since, &commit)?;
    let before = against.as_ref().or(commit.as_ref()).filter(|_| work.changed_since.is_some());
    let change = before.map(|old| TreeChange {
        new: &source,
        old,
        locks: [&recorded, if commit.is_some() { &commit_lock } else { &baseline_lock }],
        is_compared: against.is_some(),
        has_release: bump_against.is_some(),
        settings,
        progress: &progress,
    });
    let mut trees = match (&change, &against) {
        (Some(change), _) => change.load(global, !work.changes_only)?,
        (None, Some(against)) => {
            let (loaded, baseline) = load_both(&source, against, &progress)?;
            LoadedTrees::whole(loaded, Some(baseline))
        }
        (None, None) => LoadedTrees::whole(load(&source, &progress)?, None),
    };
    let old = |old: &Source| load_old(old, &source, &trees.loaded.tree, &progress);
    let released = bump_against.as_ref().map(old).transpose()?;
    let records = Records {
        version_in: settings.config.version_in,
        lock: recorded.as_ref(),
        released: if released.is_some() { &released_lock } else { &baseline_lock }.as_ref(),
        earlier: released.as_ref().and(baseline_lock.as_ref()),
        history: None,
    };
    let features = match work.changes_only {
        true => Vec::new(),
        false => source.features(settings.config.features.as_deref())?,
    };
    let accept = work.accept;
    let mut accepted =
        if accept { None } else { settings.read_accepted(use_error_color(global))? };
    progress.step("judging");
    let bump_command = bump_command(global, judge, work);
    let shared = Options {
        as_of: global.as_of.unwrap_or_else(today),
        scope: if work.changes_only { RuleScope::Changes } else { RuleScope::Everything },
        baseline: None,
        baseline_day: against.as_ref().or(commit.as_ref()).and_then(Source::day),
        bump_baseline: released.as_ref().map(|old| &old.tree),
        counts_bump: true,
        changes: work.changes || judge.format.is_of_changes,
        surfaces: &work.surfaces,
        accepted: None,
        records,
        versions: work.versions,
        bump_command: &bump_command,
        partial: settings.is_part(),
        reached: None,
        features: &features,
    };
    let policy = &settings.config.policy;
    let mut subjects = match work.instances {
        true => collect_configured(settings, &[])?,
        false => Vec::new(),
    };
    for subject in &subjects {
        subject.check_report_path(global, settings)?;
    }
    if let (Some(change), Some(reached)) = (&change, &trees.reached) {
        change.narrow(&mut subjects, reached)?;
    }
    let mut instances = Instances::load(settings, subjects, RuntimeLayers::default(), &progress)?;
    instances.load_others(settings, &progress)?;
    if !global.quiet {
        instances.report_missing_layers();
    }
    let texts = instances.texts();
    let judge_with = |trees: &LoadedTrees, accepted: &Option<RecordedFindings>| {
        let options = options_for(shared, trees, accepted);
        let mut report = abide_lint::check(&trees.loaded.tree, policy, options);
        report.append(instances.judge(settings, shared.as_of, options.accepted), 0);
        report
    };
    let mut report = judge_with(&trees, &accepted);
    let is_too_little = trees.is_slice && (report.depends_on_everything || fixer.is_some());
    if let Some(change) = change.as_ref().filter(|_| is_too_little) {
        trees = change.load_whole()?;
        report = judge_with(&trees, &accepted);
    }
    if let Some(fixer) = &fixer {
        check_all_read(&trees.loaded, "fixed")?;
        progress.step("fixing");
        let tree = &trees.loaded.tree;
        let options = options_for(shared, &trees, &accepted);
        let mut fixed = fixer.compute_fixes(tree, policy, options, &selection);
        let file = accepted.as_ref().map(|(_, file)| file);
        notes.extend(fixer.notes(&fixed));
        if fixer.is_dry_run() {
            let prefixes = (&*settings.prefix(&judge.tree), &*settings.config_prefix());
            let patch = FixRun::render_patch(tree, &fixed, file, prefixes);
            progress.finish();
            print_notes(global, &notes);
            return Ok(CommandOutcome { troubles: read_errors(&trees.loaded), ..patch });
        }
        fixer.write_fixes(tree, &fixed, settings, file)?;
        if let Some(tree) = fixed.tree.take() {
            trees.loaded.tree = tree;
        }
        accepted = settings.read_accepted(use_error_color(global))?;
        report = judge_with(&trees, &accepted);
    }
    let LoadedTrees { loaded, baseline, .. } = &trees;
    progress.step("writing the report");

    notes.extend(loaded.notes.iter().cloned());
    notes.extend(find_unjudged_packages(&loaded.tree));
    if !work.changes_only && trees.reached.is_none() {
        notes.extend(find_diverged_copies(&loaded.tree));
    }
    notes.extend(trees.why.iter().filter(|_| global.verbose || trees.reached.is_none()).cloned());
    if let (Some(spec), Some(true)) =
        (work.changed_since, trees.reached.as_ref().map(Reached::is_empty))
    {
        notes.push(format!("nothing changed since {spec}, so nothing is reported"));
    }
    notes.extend(describe_conflict(recorded.as_ref().filter(|_| work.versions)));
    // Of a part, everything else is only imported.
    if trees.reached.is_none() && !settings.is_part() {
        let old = baseline.as_ref().map(|it| &it.tree);
        notes.extend(find_no_longer_judged(&loaded.tree, old, recorded.as_ref()));
        notes.extend(old.and_then(|old| find_changed_imports(&loaded.tree, old)));
    }
    for old in baseline.iter().chain(&released) {
        notes.extend(check_baseline_links(old)?);
        notes.extend(find_unrelated_baseline(loaded, old));
        notes.extend(old.notes.iter().cloned());
        notes.extend(find_missing_roots(old));
    }
    let lost: Vec<String> =
        baseline.iter().chain(&released).flat_map(baseline_read_errors).collect();
    if accept {
        check_all_read(loaded, "recorded")?;
        match find_unjudged_packages(&loaded.tree) {
            // Of what was not judged nobody knows whether it is still found.
            Some(why) => notes.push(format!("nothing was recorded in {ACCEPTED}, because {why}")),
            None => notes.push(record(settings, &report)?),
        }
        // Accepted findings count less for the required version. Show the report of the next run.
        accepted = settings.read_accepted(use_error_color(global))?;
        report = judge_with(&trees, &accepted);
    }
    if work.versions && !work.changes_only && accepted.is_none() && judge.format.is_styled {
        notes.extend(suggest_adoption(&report));
    }
    selection.select(&mut report);
    let failed = report.errors > 0;
    let mut touched = Vec::new();
    if let Some(old) =
        baseline.as_ref().filter(|_| judge.format.names_packages && has_texts(&loaded.tree))
    {
        let files = abide_lint::touched_files(&old.tree, &loaded.tree);
        let owners = OwnersFile::find(&source, settings)?;
        touched = find_package_owners(&files, owners.as_ref(), &source, settings, &judge.tree);
    }
    let context = RenderContext {
        tree: &loaded.tree,
        old: baseline.as_ref().map(|old| &old.tree),
        config: settings.file.as_ref(),
        accepted: accepted.as_ref().map(|(_, file)| file),
        features: &features,
        instances: &texts,
        are_only_instances: false,
        touched: &touched,
        prefix: &source.prefix().unwrap_or_else(|| settings.prefix(&judge.tree)),
        config_prefix: &settings.config_prefix(),
        style: style(global, judge.format.is_styled),
    };
    let text = match selection.count_by_rule(&report) {
        Some(counts) => counts,
        None => {
            notes.extend(context.limit(&mut report, judge.show.limit));
            abide_lint::find_dependents(&mut report.findings, &loaded.tree, context.old);
            (judge.format.write)(&report, &context)
        }
    };
    progress.finish();
    if global.verbose {
        notes.extend(progress.timings());
    }
    print_notes(global, &notes);
    let outcome = CommandOutcome {
        failed,
        troubles: read_errors(loaded).into_iter().chain(lost).collect(),
        ..CommandOutcome::of(text)
    };
    // The process ends now: do not spend time on freeing the trees.
    std::mem::forget((trees, released));
    Ok(outcome)
}

/// With more findings than these, a tree is met for the first time.
const MANY: usize = 20;

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

/// Fails if the tree could not be read as a whole.
fn check_all_read(loaded: &Loaded, done: &str) -> Result<(), Error> {
    match loaded.unreadable.is_empty() {
        true => Ok(()),
        false => Err(Error::Usage(format!(
            "nothing was {done}, because some files cannot be read: {}",
            read_errors(loaded).join("; ")
        ))),
    }
}

/// `abide.accepted`, read, and its text.
type RecordedFindings = (Accepted, TextFile);

/// The options of a run, for these trees.
fn options_for<'a>(
    shared: Options<'a>,
    trees: &'a LoadedTrees,
    accepted: &'a Option<RecordedFindings>,
) -> Options<'a> {
    Options {
        baseline: trees.baseline.as_ref().map(|old| &old.tree),
        accepted: accepted.as_ref().map(|(accepted, _)| accepted),
        reached: trees.reached.as_ref(),
        ..shared
    }
}

/// The command that records the versions of the same tree, since the same release.
fn bump_command(global: &Global, judge: &JudgeArgs, work: &Work<'_>) -> String {
    let quoted = |text: &str| match text.contains(|c: char| c.is_whitespace() || c == '\'') {
        true => format!("\"{text}\""),
        false => text.to_owned(),
    };
    let folder = judge.tree.source.iter().filter(|it| std::path::Path::new(it).is_dir());
    let imports = judge.tree.import_path.iter().map(|it| format!("-I {}", quoted(it)));
    let config =
        global.config.iter().map(|it| format!("--config {}", quoted(&it.display().to_string())));
    let preset = global.preset.iter().map(|it| format!("--preset {it}"));
    let since = work.named_release.map(|it| format!("--against {}", quoted(it)));
    let words = ["abide bump".to_owned()].into_iter().chain(folder.map(|it| quoted(it)));
    let words =
        words.chain(imports).chain(config).chain(preset).chain(["--write".to_owned()]).chain(since);
    words.collect::<Vec<_>>().join(" ")
}

/// Writes the findings to `abide.accepted`, except what protoc refuses, and what is wrong with
/// Abide's own files.
fn record(settings: &Settings, report: &Report) -> Result<String, Error> {
    let refused: Vec<&str> =
        ProblemKind::ALL.iter().filter(|it| it.is_error()).map(|it| it.id()).collect();
    let accepted: Vec<_> = report
        .findings
        .iter()
        .filter(|finding: &&abide_lint::Finding| {
            finding.severity != Severity::Note
                && !matches!(finding.location.origin, Origin::Config | Origin::Accepted)
                && !refused.contains(&finding.rule)
        })
        .collect();
    let folder = &open_folder(&settings.folder)?;
    let path = ACCEPTED.as_ref();
    let count = accepted.len();
    let before = folder.read(path).map_err(fail_to("read", folder, path))?;
    let before = before.map(String::from_utf8).transpose().map_err(|_| {
        Error::Usage(format!("`{ACCEPTED}` is not UTF-8: save it as UTF-8, or remove it"))
    })?;
    let text = Accepted::text(before.as_deref().unwrap_or_default(), accepted);
    let old = before.as_ref().map(String::as_bytes);
    let step = FileStep { path, old, new: Some(text.as_bytes()) };
    folder.apply(&[step]).map_err(|why| convert_write_error(folder, why))?;
    Ok(match count {
        1 => format!("1 finding recorded in {ACCEPTED}"),
        count => format!("{count} findings recorded in {ACCEPTED}"),
    })
}
