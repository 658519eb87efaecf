//! `abide bump`.

use std::collections::BTreeMap;

use abide_lint::{Lock, Options, Plan, PlanVerdict, Records, Status};
use abide_schema::Tree;
use abide_source::write::{FileStep, OpenFolder, UnmadeChange};
use abide_source::{CONFIG, LOCK, LoadedTree, Progress, Source, load, load_old};
use abide_upgrade::STATUS_PROTO;
use memchr::memmem;

use super::changed::LAST_COMMIT;
use super::file_changes::{convert_write_error, expect_folder, open_folder};
use super::folder_lock::lock_exclusively;
use super::history_dates;
use super::outcome::CommandOutcome;
use super::preconditions::{check_baseline_links, find_unrelated_baseline, refuse_unlinked};
use crate::args::{BumpAction, Global, TreeArgs};
use crate::diff::render_unified;
use crate::error::Error;
use crate::render::{PlanFormat, PlanReport};
use crate::settings::{Settings, describe_conflict, read_lock, today};
use crate::terminal::{eprint_line, style, use_error_color};

/// The number of attempts, if somebody edits the files at the same time.
const ATTEMPTS: u32 = 5;

/// A file to rewrite.
struct FileRewrite {
    /// Its path, relative to the folder of the tree.
    path: String,
    /// Its content when the plan was made; `None` if it did not exist.
    old: Option<Vec<u8>>,
    new: Vec<u8>,
}

impl FileRewrite {
    /// Returns true if the rewrite adds the import of the file that declares the option.
    fn is_importing_status(&self) -> bool {
        has_status_import(&self.new) && !self.old.as_deref().is_some_and(has_status_import)
    }
}

fn has_status_import(text: &[u8]) -> bool {
    memmem::find(text, STATUS_PROTO.as_bytes()).is_some()
}

pub(super) fn bump(
    global: &Global,
    tree: &TreeArgs,
    (against, from_history): (Option<&str>, bool),
    action: BumpAction,
    format: &PlanFormat,
) -> Result<CommandOutcome, Error> {
    let settings = Settings::read(global, tree.source.as_deref(), use_error_color(global))?;
    if settings.is_part() {
        return Err(Error::Usage(format!(
            "versions are counted for whole packages: leave SOURCE out, or name the folder of \
             {CONFIG}"
        )));
    }
    let against = against.map(str::to_owned).or_else(|| settings.find_last_release());
    let progress = Progress::new(global.quiet);
    for _ in 0..ATTEMPTS {
        let source = settings.open_source(tree)?;
        let folder = if action.write { Some(expect_folder(source.folder())?) } else { None };
        // Held from the first look at the tree until everything is written, so that two runs
        // cannot overwrite each other's records.
        let guard = folder.map(|folder| lock_exclusively(folder, global)).transpose()?;
        let loaded = load(&source, &progress)?;
        if let Some(refused) = refuse_unlinked(global, &settings, &loaded, &progress) {
            return Ok(refused);
        }
        let since = (against.as_deref(), from_history);
        let plan = compute_plan(global, &settings, tree, &source, &loaded, since, &progress)?;
        report_missing_records(global, &plan, action);
        let rewrites = collect_rewrites(&plan, &source, &loaded)?;
        if rewrites.iter().any(FileRewrite::is_importing_status) {
            find_status_proto(&source, &loaded.tree)?;
        }
        if let Some(folder) = folder
            && !write_all(&open_folder(folder)?, &rewrites)?
        {
            continue;
        }
        let written = rewrites.iter().filter(|_| action.write).map(|it| it.path.clone());
        let written: Vec<String> = written.collect();
        drop(guard);
        progress.finish();
        let report = if action.diff {
            render_patch(&rewrites, &settings.prefix(tree))
        } else {
            let as_of = global.as_of.unwrap_or_else(today);
            let status = Status::of(&loaded.tree, &settings.config.policy, Some(&plan.lock), as_of);
            let written = &written[..];
            let next = suggest_next(&plan, action, !rewrites.is_empty());
            let report = PlanReport { plan: &plan, status: &status, written, next };
            (format.write)(&report, style(global, format.is_styled))
        };
        let failed = has_failed(&plan, action);
        return Ok(CommandOutcome { failed, ..CommandOutcome::of(report) });
    }
    Err(Error::Usage("the tree keeps changing: run `abide bump --write` again".to_owned()))
}

/// Loads the last release with its lock; `None` if `abide.toml` names it and there is no commit yet.
fn load_release(
    global: &Global,
    settings: &Settings,
    (tree, source, loaded): (&TreeArgs, &Source, &LoadedTree),
    spec: &str,
    notes: &mut Vec<String>,
    progress: &Progress,
) -> Result<Option<(LoadedTree, Option<Lock>)>, Error> {
    let Some(release) = settings.open_baseline_if_any(spec, tree, notes)? else {
        return Ok(None);
    };
    let old = load_old(&release, source, &loaded.tree, progress)?;
    if let Some(lost) = old.unreadable.iter().find(|it| it.is_lost) {
        return Err(Error::Usage(format!("in the last release, {lost}")));
    }
    notes.extend(check_baseline_links(&old)?);
    notes.extend(find_unrelated_baseline(loaded, &old));
    notes.extend(old.notes.iter().cloned());
    let lock = read_lock(&release, &format!(" of {spec}"), use_error_color(global))?;
    Ok(Some((old, lock)))
}

/// The line that says what comes next, if anything does.
fn suggest_next(plan: &Plan, action: BumpAction, is_open: bool) -> Option<&'static str> {
    let is_stuck = plan.count(PlanVerdict::Unknown) == plan.packages.len();
    match (action.write, is_open && !is_stuck) {
        (true, true) => Some("next: commit what was written, together with the change"),
        (false, true) => Some("next: `abide bump --write` records it"),
        (_, false) => None,
    }
}

/// Returns true if a plan fails the command.
fn has_failed(plan: &Plan, action: BumpAction) -> bool {
    let undone = plan.count(PlanVerdict::Unknown) > 0;
    let refused = [PlanVerdict::Refused, PlanVerdict::Early, PlanVerdict::Frozen];
    refused.into_iter().any(|verdict| plan.count(verdict) > 0)
        || action.write && undone
        || action.check && (undone || !plan.is_recorded())
}

fn compute_plan(
    global: &Global,
    settings: &Settings,
    tree: &TreeArgs,
    source: &Source,
    loaded: &LoadedTree,
    (against, from_history): (Option<&str>, bool),
    progress: &Progress,
) -> Result<Plan, Error> {
    let color = use_error_color(global);
    let mut recorded = read_lock(source, "", color)?;
    let mut notes = loaded.notes.clone();
    notes.extend(describe_conflict(recorded.as_ref()));
    let is_lost = recorded.is_none() && source.folder().is_some();
    if is_lost && let Some(committed) = read_committed_lock(settings, tree) {
        notes.push(format!("`{LOCK}` is gone, and the lines of the last commit count"));
        recorded = Some(committed);
    }
    let trees = (tree, source, loaded);
    let release = match against {
        Some(spec) => load_release(global, settings, trees, spec, &mut notes, progress)?,
        None => None,
    };
    let (released, released_lock) = release.unzip();
    let released_lock = released_lock.flatten();
    // What was recorded since the last release is not forgotten either.
    let other = settings.list_old_trees(&[]).pop().filter(|it| Some(it.as_str()) != against);
    let earlier = other.and_then(|spec| read_lock_at(settings, tree, &spec));
    let history = if from_history {
        Some(history_dates::from_history(global, settings, tree, progress)?)
    } else {
        None
    };
    for note in notes.iter().filter(|_| !global.quiet) {
        eprint_line(&format!("note: {note}"));
    }
    progress.begin_step("counting versions");
    let accepted = settings.read_accepted(color)?;
    let options = Options {
        baseline: released.as_ref().map(|it| &it.tree),
        accepted: accepted.as_ref().map(|(accepted, _)| accepted),
        records: Records {
            version_in: settings.config.version_in,
            lock: recorded.as_ref(),
            released: released_lock.as_ref(),
            earlier: earlier.as_ref(),
            history: history.as_ref(),
        },
        versions: true,
        ..Options::on(global.as_of.unwrap_or_else(today))
    };
    let mut plan = abide_lint::plan_versions(&loaded.tree, &settings.config.policy, options);
    plan.is_lock_stale |= is_lost && plan.lock != Lock::default();
    Ok(plan)
}

/// The lock of the last commit, if it records versions.
fn read_committed_lock(settings: &Settings, tree: &TreeArgs) -> Option<Lock> {
    let source = settings.open_commit(LAST_COMMIT, tree).ok()??;
    let committed = read_lock(&source, "", false).ok()??;
    let has_versions = committed.packages().next().is_some();
    has_versions.then_some(committed)
}

/// The lock of an old tree, if there is one that can be read.
pub(super) fn read_lock_at(settings: &Settings, tree: &TreeArgs, spec: &str) -> Option<Lock> {
    let source = settings.open_baseline_if_any(spec, tree, &mut Vec::new()).ok()??;
    read_lock(&source, "", false).ok()?
}

/// Says which lines of the lock are missing, and that it is not what would be written, where the
/// report of the packages does not.
fn report_missing_records(global: &Global, plan: &Plan, action: BumpAction) {
    let word = if action.check { "error" } else { "note" };
    if action.check || !global.quiet {
        for (_, what) in &plan.forgotten {
            eprint_line(&format!("{word}: `{LOCK}` no longer records {what}"));
        }
    }
    let is_silent = plan.forgotten.is_empty() && plan.rewritten.is_empty();
    let is_all_recorded = plan.packages.iter().all(|it| it.verdict == PlanVerdict::Recorded);
    if action.check && plan.is_lock_stale && is_silent && is_all_recorded {
        eprint_line(&format!("error: `{LOCK}` is not what `abide bump --write` makes of it"));
    }
}

/// Collects the files to write: those of the tree first, and the lock last.
fn collect_rewrites(
    plan: &Plan,
    source: &Source,
    loaded: &LoadedTree,
) -> Result<Vec<FileRewrite>, Error> {
    let files = loaded.tree.files().map(|file| (&*file.decl().display, file));
    let by_path: BTreeMap<&str, abide_schema::File<'_>> = files.collect();
    let mut rewrites = Vec::new();
    for file in &plan.rewritten {
        let read = by_path.get(&*file.path).and_then(|it| it.decl().source_text());
        let old = loaded.unresolved.get(&*file.path).map(|it| &**it).or(read);
        rewrites.push(FileRewrite {
            path: file.path.clone(),
            old: old.map(|text| text.to_vec()),
            new: file.text.clone(),
        });
    }
    if plan.is_lock_stale {
        let old = source.lock()?.map(|text| text.to_vec());
        let new = plan.lock.to_string().into_bytes();
        rewrites.push(FileRewrite { path: LOCK.to_owned(), old, new });
    }
    Ok(rewrites)
}

/// Writes all files. If somebody changed one since it was read, writes none and returns false: the
/// work has to start again.
fn write_all(folder: &OpenFolder, rewrites: &[FileRewrite]) -> Result<bool, Error> {
    let steps = rewrites.iter().map(|it| FileStep {
        path: it.path.as_ref(),
        old: it.old.as_deref(),
        new: Some(&it.new),
    });
    match folder.apply(&steps.collect::<Vec<_>>()) {
        Ok(()) => Ok(true),
        Err(UnmadeChange::Edited(_)) => Ok(false),
        Err(why) => Err(convert_write_error(folder, why)),
    }
}

/// Fails if the file that declares the option cannot be imported.
fn find_status_proto(source: &Source, tree: &Tree) -> Result<(), Error> {
    let in_tree = tree.files().any(|file| file.path() == STATUS_PROTO);
    if in_tree || source.find_import(STATUS_PROTO)?.is_some() {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "`{STATUS_PROTO}` was not found; it declares the option that records versions: add its \
         folder to `import-paths`, or set `version-in = \"lock\"`"
    )))
}

fn render_patch(rewrites: &[FileRewrite], prefix: &str) -> Vec<u8> {
    rewrites
        .iter()
        .flat_map(|it: &FileRewrite| {
            render_unified(&format!("{prefix}{}", it.path), it.old.as_deref(), Some(&it.new))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_edited_meanwhile_is_not_overwritten() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("a.proto"), "as read").expect("it can be written");
        std::fs::write(path("b.proto"), "edited").expect("it can be written");
        let rewrite = |name: &str, old: Option<&str>| FileRewrite {
            path: name.to_owned(),
            old: old.map(|it| it.as_bytes().to_vec()),
            new: b"new".to_vec(),
        };
        let write = |rewrites: &[FileRewrite]| {
            let tree = open_folder(folder.path()).expect("it is a folder");
            write_all(&tree, rewrites).expect("no trouble")
        };
        let edited = [
            rewrite("a.proto", Some("as read")),
            rewrite("b.proto", Some("as read")),
            rewrite("abide.lock", None),
        ];
        assert!(!write(&edited));
        let read = |name: &str| std::fs::read_to_string(path(name)).ok();
        assert_eq!(read("a.proto").as_deref(), Some("as read"));
        assert_eq!(read("b.proto").as_deref(), Some("edited"));
        assert_eq!(read("abide.lock"), None, "the record of what is not there is not written");
        // A lock that appeared, and one that went.
        std::fs::write(path("abide.lock"), "theirs").expect("it can be written");
        assert!(!write(&[rewrite("abide.lock", None)]));
        assert_eq!(read("abide.lock").as_deref(), Some("theirs"));
        assert!(!write(&[rewrite("gone.proto", Some("as read"))]));
        assert!(write(&[rewrite("abide.lock", Some("theirs"))]));
        assert_eq!(read("abide.lock").as_deref(), Some("new"));
    }
}
