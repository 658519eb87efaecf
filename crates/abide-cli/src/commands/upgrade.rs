//! `abide upgrade`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use abide_lint::{Finding, Lock, Records, Report, pluralize};
use abide_schema::{File, FileId, Tree};
use abide_source::printable::escape_unprintable;
use abide_source::write::{self, FileStep, OpenFolder};
use abide_source::{LOCK, LoadedTree, Progress, load};
use abide_upgrade::{
    GeneratedFile, HAND_MAINTAINED_HELP, StaleCandidate, UpgradeClosure, UpgradeOptions,
    UpgradePolicy, UpgradeResult, extract_comparable_text,
};

use super::blocked_packages::BlockedPackages;
use super::build_files::BuildFiles;
use super::bump::read_lock_at;
use super::file_changes::{
    Changes, ContentAuthor, FileChange, convert_write_error, describe_plan, display_of_generated,
    expect_folder, fail_to, open_folder, render_patch, take_losing, write_changes,
};
use super::folder_lock::lock_exclusively;
use super::generated_files::{EditedLock, GeneratedFiles};
use super::outcome::CommandOutcome;
use super::preconditions::{read_errors, refuse_unparsed, render_findings, report_refusal};
use super::predicted_tree::PlannedChange;
use crate::args::{Global, TreeArgs, UpgradeTarget};
use crate::error::Error;
use crate::settings::{Settings, today};
use crate::terminal::{eprint_block, eprint_line, use_error_color};

pub(super) fn upgrade(
    global: &Global,
    args: &TreeArgs,
    packages: &[String],
    closure: Option<&str>,
    mappings: &[PathBuf],
    target: &UpgradeTarget,
    overwrite: bool,
) -> Result<CommandOutcome, Error> {
    let has_target = target.write || target.diff || target.check;
    // Without anything to do, the plan is shown.
    let is_plan = target.out.is_none() && !has_target && mappings.is_empty();
    let shows = has_target || is_plan;
    let OpenedTree { progress, settings, folder, guard: _guard } =
        OpenedTree::open(global, args, target.write)?;
    if settings.is_partial() {
        // What lies outside calls for candidates, and is named in them.
        return Err(Error::Usage(
            "candidates depend on the whole tree: leave SOURCE out, or choose packages with \
             `--package NAME`"
                .to_owned(),
        ));
    }
    let source = settings.open_source(args)?;
    let loaded = load(&source, &progress)?;
    if let Some(refused) = refuse_unparsed(global, &settings, &loaded, &progress) {
        return Ok(refused);
    }
    let records = GeneratedFiles::read(global, &source)?;
    progress.begin_step("upgrading");
    let closure =
        closure.and_then(|name| UpgradeClosure::ALL.iter().find(|it| it.0 == name)).map(|it| it.1);
    let options = UpgradeOptions { packages, closure };
    let upgrade_settings = settings.config.policy.upgrade_settings();
    let mut made = match abide_upgrade::upgrade(&loaded.tree, upgrade_settings, &options) {
        Ok(made) => made,
        Err(refusal) => {
            progress.finish();
            return report_refusal(
                global,
                &settings,
                &loaded.tree,
                &refusal,
                "nothing was upgraded",
            );
        }
    };
    if target.out.is_none() && !loaded.unreadable.is_empty() {
        return Err(Error::Usage(format!(
            "nothing was upgraded, because some files cannot be read: {}",
            read_errors(&loaded).join("; ")
        )));
    }
    let hindrances = find_blockers(global, &loaded, &settings, &made.files, !made.stale.is_empty());
    progress.finish();
    let mut blocked = BlockedPackages::new(&loaded.tree, &made);
    let undertaking = PlannedChange {
        global,
        settings: &settings,
        source: &source,
        loaded: &loaded,
        lock: records.lock.as_ref(),
        progress: &progress,
    };
    let policy = upgrade_settings.policy;
    let whole = made.clone();
    let nothing = |blocked: &BlockedPackages<'_>| {
        let mut changes = collect_changes(&loaded.tree, policy, &whole, &records, folder.as_ref());
        let losing = if overwrite { Changes::new() } else { take_losing(&mut changes) };
        losing.iter().for_each(|(path, it)| {
            eprint_line(&it.describe_kept(path, &suggest_instead(path, it)))
        });
        blocked.notes().for_each(|note| eprint_line(&note));
        eprint_line("note: nothing was written");
        Ok(CommandOutcome { troubles: read_errors(&loaded), ..CommandOutcome::nothing(true) })
    };
    // A mapping is of the whole upgrade.
    let is_whole = !mappings.is_empty();
    if !hindrances.findings.is_empty() {
        eprint_block(&render_findings(global, &loaded.tree, &hindrances));
        if is_whole || !blocked.exclude_by_errors(&hindrances, &mut made) {
            return nothing(&BlockedPackages::new(&loaded.tree, &whole));
        }
    }
    let after = loop {
        let mut changes = collect_changes(&loaded.tree, policy, &made, &records, folder.as_ref());
        if shows && !overwrite {
            take_losing(&mut changes);
        }
        let sources = map_sources(&loaded.tree, &made.files);
        let mut outlook = undertaking.predict(&changes, &sources)?;
        progress.finish();
        let mut harmed: Vec<Option<String>> = outlook
            .errors
            .findings
            .iter()
            .map(|it: &Finding| undertaking.locate(&outlook, it).map(str::to_owned))
            .collect();
        if !shows {
            // The tree itself stays as it is, and only what is made may be wrong.
            let is_made =
                |it: &Option<String>| it.as_ref().is_some_and(|it| sources.contains_key(it));
            let mut kept = harmed.iter().map(is_made);
            outlook.errors.retain(|_| kept.next() == Some(true));
            harmed.retain(is_made);
        }
        if harmed.is_empty() {
            break outlook.tree;
        }
        let mut told =
            harmed.iter().map(|it| !it.as_deref().is_some_and(|it| blocked.is_kept_candidate(it)));
        outlook.errors.retain(|_| told.next() == Some(true));
        undertaking.report_errors(&outlook);
        drop(changes);
        if is_whole || !blocked.exclude_by_harm(harmed.iter().map(Option::as_deref), &mut made) {
            return nothing(&blocked);
        }
    };
    let repeated = made.files.array_windows().find(|[a, b]| a.path == b.path);
    if let (Some(out), Some([repeated, _])) = (&target.out, repeated) {
        return Err(Error::Usage(format!(
            "two roots have a candidate `{}`, and `{}` has no roots: name one root as SOURCE",
            repeated.path,
            out.display()
        )));
    }
    let mut left = write_mappings(&loaded, &settings, &options, mappings, overwrite)?;
    let build_files = abide_upgrade::build_files(&loaded.tree, upgrade_settings, &made.files);
    let mut changes =
        collect_changes(&loaded.tree, upgrade_settings.policy, &made, &records, folder.as_ref());
    let gone: Vec<FileId> = made.stale.iter().map(|it| it.file).collect();
    let builds = BuildFiles::collect(&loaded.tree, &build_files, &gone, folder.as_ref());
    builds.add_to(&mut changes, &records);
    let outcome = if let Some(out) = &target.out {
        let protos = made.files.iter().map(|it| (it.path.as_str(), &*it.text));
        let builds = build_files.iter().map(|it| (it.path.as_str(), it.text.as_bytes()));
        left.extend(write_elsewhere(out, &protos.chain(builds).collect::<Vec<_>>(), overwrite)?);
        CommandOutcome::nothing(false)
    } else if target.write {
        let mut losing = if overwrite { Changes::new() } else { take_losing(&mut changes) };
        if !overwrite && made.files.len() < whole.files.len() {
            // Those of blocked packages would come up at the next run alone.
            let mut all = collect_changes(&loaded.tree, policy, &whole, &records, folder.as_ref());
            losing.append(&mut take_losing(&mut all));
        }
        left.extend(
            losing.iter().map(|(path, it)| it.describe_kept(path, &suggest_instead(path, it))),
        );
        let folder = expect_folder(folder)?;
        let as_of = global.as_of.unwrap_or_else(today);
        let config = &settings.config;
        let version_in = config.version_in;
        let released = read_released_lock(&settings, args);
        let lock = records.edit_lock(&folder, &changes, |lock| {
            let made_texts = collect_essences(&loaded.tree, upgrade_settings.policy, &made);
            let builds = builds.generated().map(|(path, text)| (path.to_owned(), text.to_vec()));
            let all = made_texts.chain(builds);
            for (path, text) in all.filter(|(path, _)| !losing.contains_key(path)) {
                lock.set_made(&path, &text);
            }
            abide_lint::record_upgrade(lock, &loaded.tree, &made, as_of);
            let gone = made.stale.iter().map(|it| loaded.tree.file(it.file).package().name());
            let packages = made.files.iter().map(|it| it.package.as_str()).chain(gone);
            let packages = packages.map(str::to_owned).collect();
            let released =
                Records { version_in, released: released.as_ref(), ..Records::default() };
            let trees = (&loaded.tree, &after);
            abide_lint::record_made_versions(
                lock,
                trees,
                &config.policy,
                released,
                &packages,
                as_of,
            );
        });
        write_changes(&folder, &changes, lock.as_ref().map(EditedLock::step))?;
        report_deletions(global, &loaded.tree, &made, &changes);
        CommandOutcome::nothing(false)
    } else if target.diff {
        for (path, change) in changes.iter().filter(|(_, it)| it.is_losing() && !overwrite) {
            eprint_line(
                &change
                    .describe_kept(path, &suggest_instead(path, change))
                    .replace("error: ", "warning: "),
            );
        }
        CommandOutcome::verbatim(render_patch(&changes, &settings.prefix(args)))
    } else if is_plan {
        CommandOutcome::of(describe_plan(&changes, &format_command(packages)))
    } else if !target.check {
        CommandOutcome::nothing(false)
    } else {
        let lines = changes.iter().map(|(path, change)| change.describe_difference(path));
        CommandOutcome {
            failed: !changes.is_empty(),
            ..CommandOutcome::of(lines.collect::<String>())
        }
    };
    if !global.quiet {
        describe_not_upgraded(&loaded.tree, &made).for_each(|note| eprint_line(&note));
    }
    left.extend(blocked.notes());
    let taken = made.taken_paths.iter();
    left.extend(
        taken.map(|it| format!("error: {}: {}", it.describe(&loaded.tree), it.suggest_fix())),
    );
    left.iter().for_each(|message| eprint_line(message));
    let is_silent = made.files.is_empty() && !made.taken_paths.is_empty();
    if !global.quiet && !is_silent && (target.out.is_some() || target.write) {
        eprint_line(&format!("note: {}", render_summary(&loaded, &made)));
    }
    if !global.quiet && target.write && left.is_empty() && !made.files.is_empty() {
        eprint_line("next: review the candidates; `abide release` shows how they become stable");
    }
    if is_plan && !global.quiet && changes.is_empty() && left.is_empty() {
        eprint_line("note: the candidates in the tree are up to date: there is nothing to write");
    }
    let troubles = read_errors(&loaded);
    let failed = outcome.failed || !left.is_empty();
    Ok(CommandOutcome { troubles, failed, ..outcome })
}

/// The command without its action, for the packages of the command line.
fn format_command(packages: &[String]) -> String {
    let packages = packages.iter().map(|it| format!(" --package {it}"));
    format!("upgrade{}", packages.collect::<String>())
}

/// The lock of the last release, as `abide.toml` names it.
pub(super) fn read_released_lock(settings: &Settings, args: &TreeArgs) -> Option<Lock> {
    read_lock_at(settings, args, &settings.find_last_release()?)
}

/// The files that generated ones are made from, by the names of these.
pub(super) fn map_sources<'t>(tree: &'t Tree, made: &[GeneratedFile]) -> BTreeMap<String, &'t str> {
    made.iter()
        .map(|it: &GeneratedFile| {
            let from = tree.file(it.from);
            (display_of_generated(from, &it.path), &*from.decl().display)
        })
        .collect()
}

/// Writes files below a folder that is no tree. Returns the messages about those that were left as
/// they are.
fn write_elsewhere(
    out: &Path,
    files: &[(&str, &[u8])],
    overwrite: bool,
) -> Result<Vec<String>, Error> {
    let mut left = Vec::new();
    if files.is_empty() {
        return Ok(left);
    }
    let folder = OpenFolder::make(out).map_err(fail_to_write(out))?;
    folder.recover().map_err(fail_to_write(out))?;
    let mut wanted = Vec::new();
    for &(path, text) in files {
        let old = folder.read(path.as_ref()).map_err(fail_to("write", &folder, path.as_ref()))?;
        let message = describe_refusal(&out.join(path), old.clone(), text, overwrite);
        if message.is_none() {
            wanted.push((path, text, old));
        }
        left.extend(message);
    }
    let steps = wanted.iter().map(|(path, text, old)| FileStep {
        path: path.as_ref(),
        old: old.as_deref(),
        new: Some(text),
    });
    folder.apply(&steps.collect::<Vec<_>>()).map_err(|why| convert_write_error(&folder, why))?;
    Ok(left)
}

fn fail_to_write(out: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let what = format!("cannot write to `{}`", out.display());
    move |error| Error::File { what, error }
}

/// Writes the mapping to each of these files, in the format that its name asks for;
/// returns the messages about those that are left alone.
fn write_mappings(
    loaded: &LoadedTree,
    settings: &Settings,
    options: &UpgradeOptions<'_>,
    paths: &[PathBuf],
    overwrite: bool,
) -> Result<Vec<String>, Error> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let settings = settings.config.policy.upgrade_settings();
    let mapping = abide_upgrade::build_mapping(&loaded.tree, settings, options)
        .map_err(|refusal| Error::Usage(refusal.to_string()))?;
    let mut left = Vec::new();
    for path in paths {
        let bytes = match path.extension().and_then(|it| it.to_str()) {
            Some("json") => {
                let json = mapping.to_json().map_err(|it| Error::Usage(it.to_string()))?;
                (json + "\n").into_bytes()
            }
            Some("binpb" | "pb") => mapping.to_binary(),
            _ => {
                return Err(Error::Usage(format!(
                    "unknown format of the mapping `{}`: end its name in .binpb or .json",
                    path.display()
                )));
            }
        };
        left.extend(write_mapping(path, &bytes, overwrite)?);
    }
    Ok(left)
}

/// Says which candidates are deleted.
fn report_deletions(global: &Global, tree: &Tree, made: &UpgradeResult, changes: &Changes<'_>) {
    for stale in made
        .stale
        .iter()
        .filter(|it: &&StaleCandidate| changes.contains_key(&*tree.file(it.file).decl().display))
    {
        if !stale.is_as_generated || !global.quiet {
            eprint_line(&describe_deletion(tree, stale));
        }
    }
}

/// The parts of the generated texts that the upgrade answers for, by path.
fn collect_essences<'a>(
    tree: &'a Tree,
    policy: &'a UpgradePolicy,
    made: &'a UpgradeResult,
) -> impl Iterator<Item = (String, Vec<u8>)> + 'a {
    let by_path = index_by_path(tree);
    made.files.iter().map(move |it| {
        let candidate = find_candidate(tree, &by_path, it);
        let path = display_of_generated(tree.file(it.from), &it.path);
        (path, extract_comparable_text(policy, candidate, &it.text))
    })
}

/// Notes about the packages that have a reason to be upgraded but are not.
fn describe_not_upgraded<'a>(
    tree: &'a Tree,
    made: &'a UpgradeResult,
) -> impl Iterator<Item = String> + 'a {
    let staying = made.pinned_by_extensions.iter().map(move |package| {
        format!(
            "note: `{}` was not upgraded: it extends messages of other packages, and two versions \
             cannot use the same extension numbers",
            tree.package(*package).name()
        )
    });
    let by_hand = made.hand_maintained.iter().map(move |(package, next)| {
        format!(
            "note: `{}` was not upgraded: people maintain `{}` as its next major version",
            tree.package(*package).name(),
            tree.package(*next).name()
        )
    });
    staying.chain(by_hand)
}

/// Writes a mapping to the file that the user names.
fn write_mapping(path: &Path, text: &[u8], overwrite: bool) -> Result<Option<String>, Error> {
    let old = std::fs::read(path).ok();
    let is_same = old.as_deref() == Some(text);
    let message = describe_refusal(path, old, text, overwrite);
    if message.is_none() && !is_same {
        write::write(Some(path), text).map_err(|error| Error::File {
            what: format!("cannot write `{}`", path.display()),
            error,
        })?;
    }
    Ok(message)
}

/// Returns the message about a file outside of the tree that is left as it is. What is there
/// already is only replaced if it is the same or the user says so, since nothing records who wrote
/// it.
fn describe_refusal(
    path: &Path,
    old: Option<Vec<u8>>,
    text: &[u8],
    overwrite: bool,
) -> Option<String> {
    let author = match &old {
        Some(old) if !overwrite && old != text => ContentAuthor::Unknown,
        _ => ContentAuthor::Abide,
    };
    let change = FileChange { old, new: Some(text), last: false, author };
    change.is_losing().then(|| change.describe_kept(&path.display().to_string(), ""))
}

/// Says what helps besides `--overwrite` where a candidate is left alone.
fn suggest_instead(path: &str, change: &FileChange<'_>) -> String {
    if !path.ends_with(".proto") {
        return String::new();
    }
    match change.author {
        ContentAuthor::Editor => {
            "make the edit in the active version, or mark it with `next_major_only`; ".to_owned()
        }
        _ => format!("{HAND_MAINTAINED_HELP}; "),
    }
}

/// The findings that keep candidates from being generated, or from being deleted if
/// nothing calls for them any more.
pub(super) fn find_blockers(
    global: &Global,
    loaded: &LoadedTree,
    settings: &Settings,
    made: &[GeneratedFile],
    deletes: bool,
) -> Report {
    let as_of = global.as_of.unwrap_or_else(today);
    abide_lint::find_upgrade_blockers(&loaded.tree, &settings.config.policy, as_of, made, deletes)
}

/// The preparations of a command that may write to a tree.
pub(super) struct OpenedTree {
    pub(super) progress: Progress,
    pub(super) settings: Settings,
    /// The folder of the tree, if it is on disk.
    pub(super) folder: Option<OpenFolder>,
    /// The lock, held from the first look at the tree until everything is written.
    pub(super) guard: Option<std::fs::File>,
}

impl OpenedTree {
    pub(super) fn open(
        global: &Global,
        args: &TreeArgs,
        writes: bool,
    ) -> Result<OpenedTree, Error> {
        let progress = Progress::new(global.quiet);
        let settings = Settings::read(global, args.source.as_deref(), use_error_color(global))?;
        let path = settings.find_tree_folder(args);
        let guard = match path.as_deref().filter(|_| writes) {
            Some(folder) => lock_exclusively(folder, global)?,
            None => None,
        };
        let folder = path.as_deref().map(open_folder).transpose()?;
        if writes {
            // It is written with the rest: better now than after half of the work.
            let lock = Path::new(LOCK);
            let folder = expect_folder(folder.as_ref())?;
            folder.resolve_inside(lock).map_err(fail_to("write", folder, lock))?;
        }
        Ok(OpenedTree { progress, settings, folder, guard })
    }
}

/// The files of a tree by root and path.
pub(super) fn index_by_path(tree: &Tree) -> BTreeMap<(u32, &str), File<'_>> {
    tree.files().map(|it| ((it.decl().root, it.path()), it)).collect()
}

/// Finds the file in the place of a generated one.
pub(super) fn find_candidate<'t>(
    tree: &'t Tree,
    by_path: &BTreeMap<(u32, &str), File<'t>>,
    made: &GeneratedFile,
) -> Option<File<'t>> {
    by_path.get(&(tree.file(made.from).decl().root, made.path.as_str())).copied()
}

fn collect_changes<'a>(
    tree: &'a Tree,
    policy: &UpgradePolicy,
    made: &'a UpgradeResult,
    records: &GeneratedFiles,
    folder: Option<&OpenFolder>,
) -> Changes<'a> {
    let mut changes = BTreeMap::new();
    let by_path = index_by_path(tree);
    for file in &made.files {
        let candidate = find_candidate(tree, &by_path, file);
        if !candidate.is_some_and(|it| abide_upgrade::matches_generated(it, file)) {
            let path = display_of_generated(tree.file(file.from), &file.path);
            // A file that the selection leaves out is there all the same.
            let old = candidate.and_then(|it| it.decl().source_text()).map(<[u8]>::to_vec);
            let old = old.or_else(|| folder?.read(path.as_ref()).ok().flatten());
            let author = match &old {
                Some(old) => {
                    let [old, new] = [old, &file.text]
                        .map(|text| extract_comparable_text(policy, candidate, text));
                    if old == new { ContentAuthor::Abide } else { records.author(&path, &old) }
                }
                None => ContentAuthor::Abide,
            };
            changes.insert(path, FileChange { old, new: Some(&file.text), last: false, author });
        }
    }
    for stale in &made.stale {
        let file = tree.file(stale.file);
        let path = file.decl().display.to_string();
        let old = file.decl().source_text().map(<[u8]>::to_vec);
        let author = match &old {
            // Additions go with it, so they count as well.
            Some(old) if !stale.is_as_generated => {
                records.author(&path, &extract_comparable_text(policy, None, old))
            }
            _ => ContentAuthor::Abide,
        };
        changes.insert(path, FileChange { old, new: None, last: false, author });
    }
    changes
}

/// Returns the message before a candidate is deleted. One that no upgrade would make now may hold
/// what somebody wrote.
fn describe_deletion(tree: &Tree, stale: &StaleCandidate) -> String {
    let path = escape_unprintable(&tree.file(stale.file).decl().display);
    let from = stale.from.map(|it| escape_unprintable(&tree.file(it).decl().display));
    match (from, stale.is_as_generated) {
        (None, _) => {
            format!("warning: `{path}` is deleted: it is a candidate, and no file makes it")
        }
        (Some(from), true) => {
            format!("note: `{path}` is deleted: nothing calls for a candidate of `{from}` any more")
        }
        (Some(from), false) => format!(
            "warning: `{path}` is deleted: nothing calls for a candidate of `{from}` any more, and \
             it holds what an upgrade of that file would not make"
        ),
    }
}

fn render_summary(loaded: &LoadedTree, made: &UpgradeResult) -> String {
    let packages: BTreeSet<&str> =
        made.files.iter().map(|file: &GeneratedFile| file.package.as_str()).collect();
    let files = loaded.tree.files().filter(|file| file.is_judged()).count();
    match made.files.len() {
        0 => format!("no candidate is needed in a tree of {}", pluralize(files, "file")),
        number => format!(
            "generated {} in {} from a tree of {}",
            pluralize(number, "candidate"),
            pluralize(packages.len(), "package"),
            pluralize(files, "file")
        ),
    }
}
