//! `abide check`, `abide lint` and `abide breaking`.

use abide_change::Surface;
use abide_lint::{Accepted, Compatibility, Origin, Report, Severity};
use abide_schema::ProblemKind;
use abide_source::write::FileStep;
use abide_source::{ACCEPTED, LoadedTree};

use super::file_changes::{convert_write_error, fail_to, open_folder};
use super::fix::FixRun;
use super::folder_lock::recover;
use super::outcome::CommandOutcome;
use super::preconditions::{find_unjudged_packages, read_errors};
use super::session::{CheckAction, CheckInputs, CheckMode, CheckRequest};
use crate::args::{CompareArgs, FixArgs, Global, JudgeArgs};
use crate::error::Error;
use crate::settings::Settings;
use crate::terminal::{eprint_line, use_error_color};

pub(super) fn lint(
    global: &Global,
    judge: &JudgeArgs,
    fix: FixArgs,
) -> Result<CommandOutcome, Error> {
    let settings = Settings::read_for_parts(global, judge, use_error_color(global))?;
    run(&CheckRequest::lint(global, judge, &settings, fix))
}

pub(super) fn check(
    global: &Global,
    judge: &JudgeArgs,
    compare: &CompareArgs,
    action: CheckAction,
) -> Result<CommandOutcome, Error> {
    let settings = read_settings(global, judge, compare)?;
    if let CheckAction::Accept = action {
        let left_out = match settings.is_partial() {
            true => Some("SOURCE"),
            false => judge.changed.then_some("`--changed`"),
        };
        if let Some(left_out) = left_out {
            return Err(Error::Usage(format!(
                "`--accept` writes {ACCEPTED} for the whole tree: leave {left_out} out"
            )));
        }
        recover(&settings.folder)?;
    }
    let mode = CheckMode::Everything;
    let request = CheckRequest::compare(global, judge, compare, &settings, (mode, action));
    // Whoever set up a gate for a tree expects it to see what breaks.
    let is_gate = settings.file.is_some() && judge.is_whole_tree() && !judge.changed;
    let compares = request.against.is_some() || request.bump_against.is_some();
    if is_gate && !compares && !global.quiet {
        eprint_line(
            "note: compared with no old tree, so breaking changes are not reported: set `against` \
             in abide.toml, or use `--against`",
        );
    }
    run(&request)
}

pub(super) fn breaking(
    global: &Global,
    judge: &JudgeArgs,
    compare: &CompareArgs,
    surfaces: &[String],
) -> Result<CommandOutcome, Error> {
    let settings = read_settings(global, judge, compare)?;
    let what = (CheckMode::Changes, CheckAction::Report);
    let mut request = CheckRequest::compare(global, judge, compare, &settings, what);
    request.surfaces = surfaces.iter().filter_map(|name| Surface::find(name)).collect();
    if request.against.is_none() {
        return Err(Error::Usage(
            "no old tree to compare with: name it with `--against SOURCE`, such as `--against \
             git:main...`, or set `against` in abide.toml"
                .to_owned(),
        ));
    }
    run(&request)
}

/// The settings of a run that compares: those of `abide.toml`, and over them the command line.
pub(super) fn read_settings(
    global: &Global,
    judge: &JudgeArgs,
    compare: &CompareArgs,
) -> Result<Settings, Error> {
    let mut settings = Settings::read_for_parts(global, judge, use_error_color(global))?;
    let mode = compare.compatibility.as_deref().and_then(Compatibility::find);
    mode.into_iter().for_each(|it| settings.config.policy.breaking.ask_for(it));
    Ok(settings)
}

/// Reads, judges, fixes or accepts, and reports.
fn run(request: &CheckRequest<'_>) -> Result<CommandOutcome, Error> {
    let mut inputs = CheckInputs::open(request)?;
    let mut report = inputs.recall_or_judge()?;
    if let Some(fix_run) = inputs.fix_run.take() {
        if let Some(patch) = apply_fixes(&mut inputs, &fix_run)? {
            return Ok(inputs.finish_patch(patch));
        }
        report = inputs.judge();
        // The lock of the folder is held until the report is written.
        inputs.fix_run = Some(fix_run);
    }
    inputs.progress.begin_step("writing the report");
    inputs.collect_notes_and_keep(&report)?;
    if let CheckAction::Accept = request.action {
        accept_findings(&mut inputs, &report)?;
        // Accepted findings count less for the required version. Show the report of the next run.
        report = inputs.judge();
    }
    inputs.finish(report)
}

/// Fixes what can be fixed. Returns a patch if the fixes are only shown.
fn apply_fixes(
    inputs: &mut CheckInputs<'_>,
    fix_run: &FixRun,
) -> Result<Option<CommandOutcome>, Error> {
    let settings = inputs.request.settings;
    check_all_read(&inputs.trees.loaded, "fixed")?;
    inputs.progress.begin_step("fixing");
    let tree = &inputs.trees.loaded.tree;
    let policy = &settings.config.policy;
    let mut fixed = fix_run.compute_fixes(tree, policy, inputs.options(), &inputs.selection);
    let file = inputs.accepted.as_ref().map(|(_, file)| file);
    inputs.notes.extend(fix_run.notes(&fixed));
    if fix_run.is_dry_run() {
        let prefix = settings.prefix(&inputs.request.judge.tree);
        let prefixes = (&*prefix, &*settings.config_prefix());
        return Ok(Some(FixRun::render_patch(tree, &fixed, file, prefixes)));
    }
    fix_run.write_fixes(tree, &fixed, settings, file)?;
    if let Some(tree) = fixed.tree.take() {
        inputs.trees.loaded.tree = tree;
    }
    inputs.reread_accepted()?;
    Ok(None)
}

/// Records the findings in `abide.accepted`, unless some packages were not judged.
fn accept_findings(inputs: &mut CheckInputs<'_>, report: &Report) -> Result<(), Error> {
    let loaded = &inputs.trees.loaded;
    check_all_read(loaded, "recorded")?;
    let note = match find_unjudged_packages(&loaded.tree) {
        // Of what was not judged nobody knows whether it is still found.
        Some(why) => format!("nothing was recorded in {ACCEPTED}, because {why}"),
        None => write_accepted(inputs.request.settings, report)?,
    };
    inputs.notes.push(note);
    inputs.reread_accepted()
}

/// Fails if the tree could not be read as a whole.
fn check_all_read(loaded: &LoadedTree, done: &str) -> Result<(), Error> {
    match loaded.unreadable.is_empty() {
        true => Ok(()),
        false => Err(Error::Usage(format!(
            "nothing was {done}, because some files cannot be read: {}",
            read_errors(loaded).join("; ")
        ))),
    }
}

/// Writes the findings to `abide.accepted`, except what protoc refuses, and what is wrong with
/// Abide's own files.
fn write_accepted(settings: &Settings, report: &Report) -> Result<String, Error> {
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
    let found = abide_lint::pluralize(count, "finding");
    Ok(format!(
        "{found} recorded in {ACCEPTED}: commit it, and `abide check` reports only new ones"
    ))
}
