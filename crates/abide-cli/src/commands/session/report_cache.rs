//! The reports of earlier runs that a run may use.

use std::env;
use std::fs::Metadata;

use abide_lint::{Options, Records};
use abide_source::ReportCache;

use super::inputs::CheckSources;
use super::request::{CheckAction, CheckRequest};
use crate::settings::today;

/// Says when reports are kept: `off` for never, `always` also for trees that are judged sooner than
/// a report is found.
const SWITCH: &str = "ABIDE_CACHE";

/// A tree of fewer files is judged anew.
const MIN_FILES: usize = 300;

/// The reports that were kept of runs like this one. `None` if the report of this run depends on
/// more than one tree on disk and the settings, or if the user wants none.
pub(super) fn open_report_cache(
    request: &CheckRequest<'_>,
    sources: &CheckSources,
) -> Option<ReportCache> {
    let switch = env::var(SWITCH).unwrap_or_default();
    if request.global.no_cache || switch == "off" || !depends_on_one_tree(request) {
        return None;
    }
    let min_files = if switch == "always" { 0 } else { MIN_FILES };
    ReportCache::open(&sources.new, describe_settings(request, sources)?, min_files)
}

/// Returns true if the report says nothing about another tree, a change, an instance, a part of the
/// tree or what a program of somebody else found.
fn depends_on_one_tree(request: &CheckRequest<'_>) -> bool {
    let CheckRequest { judge, settings, action, .. } = request;
    let config = &settings.config;
    let compares = request.against.is_some()
        || request.bump_against.is_some()
        || request.changed_since.is_some()
        || !request.older.is_empty();
    let is_part = settings.is_part() || judge.stdin_filepath.is_some() || !judge.more.is_empty();
    let runs_more = !config.policy.plugins.is_empty() || !config.policy.own_rules.is_empty();
    let reads_more = !config.instances.is_empty() || !config.usage_files.is_empty();
    matches!(action, CheckAction::Report)
        && !compares
        && !is_part
        && !judge.changed
        && !runs_more
        && !reads_more
}

/// Returns true if the options of a judgement are about one tree, its settings and the day. Whoever
/// adds an option decides here whether a report may be kept, and adds it to what is described below.
pub(super) fn are_about_one_tree(options: Options<'_>) -> bool {
    let Options {
        as_of: _,
        scope: _,
        baseline,
        baseline_name: _,
        older,
        texts: _,
        baseline_day,
        bump_baseline,
        counts_bump: _,
        changes: _,
        surfaces: _,
        accepted: _,
        records,
        versions: _,
        bump_command: _,
        partial,
        reached,
        features: _,
        usage,
        plugins,
    } = options;
    let Records { version_in: _, lock: _, released, earlier, history } = records;
    let compares = baseline.is_some() || bump_baseline.is_some() || baseline_day.is_some();
    let has_past = released.is_some() || earlier.is_some() || history.is_some();
    let has_more = usage.is_some() || plugins.is_some_and(|it| !it.is_empty());
    !compares && !has_past && !has_more && older.is_empty() && !partial && reached.is_none()
}

/// Everything but the texts of protos that the report depends on: this very program, the settings,
/// what is recorded and accepted, and the day.
fn describe_settings(request: &CheckRequest<'_>, sources: &CheckSources) -> Option<String> {
    let CheckRequest { global, judge, settings, mode, .. } = request;
    let features = sources.new.read_features(settings.config.features.as_deref()).ok()?;
    let accepted = settings.read_accepted(false).ok()?.map(|(_, file)| file.text);
    let config_text = settings.file.as_ref().map(|it| (&it.name, &it.text));
    let changes = request.changes || judge.formats().any(|it| it.is_of_changes);
    Some(format!(
        "{:?}",
        (
            (env!("CARGO_PKG_VERSION"), describe_program()?),
            (mode, changes, &request.surfaces, request.format_bump_command()),
            (&settings.config, config_text, &settings.texts),
            (features, accepted, &sources.recorded),
            (global.as_of.unwrap_or_else(today), &judge.tree),
        )
    ))
}

/// What tells this program from any other that was ever in its place.
fn describe_program() -> Option<String> {
    let found = env::current_exe().ok()?.metadata().ok()?;
    Some(format!("{} {:?} {}", found.len(), found.modified().ok()?, describe_inode(&found)))
}

#[cfg(unix)]
fn describe_inode(found: &Metadata) -> String {
    use std::os::unix::fs::MetadataExt;
    format!("{} {} {} {}", found.dev(), found.ino(), found.ctime(), found.ctime_nsec())
}

#[cfg(not(unix))]
fn describe_inode(_found: &Metadata) -> String {
    String::new()
}
