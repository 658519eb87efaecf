//! `abide release`.

use std::collections::BTreeSet;

use abide_lint::{Records, Report, pluralize};
use abide_schema::{FileId, PackageId, Stability, Tree};
use abide_source::printable::escape_unprintable;
use abide_source::write::OpenFolder;
use abide_source::{LoadedTree, load};
use abide_upgrade::{
    FileRole, FileRoles, HAND_MAINTAINED_HELP, PromotedPackage, ReleaseResult, StaleReason,
    UpgradeInputs, UpgradeSettings, extract_comparable_text, find_stale_candidates,
};
use jiff::civil::Date;

use super::build_files::BuildFiles;
use super::file_changes::{
    Changes, ContentAuthor, FileChange, describe_plan, display_of_generated, expect_folder,
    render_patch, take_losing, write_changes,
};
use super::generated_files::{EditedLock, GeneratedFiles};
use super::outcome::CommandOutcome;
use super::preconditions::{read_errors, refuse_unparsed, render_findings, report_refusal};
use super::predicted_tree::PlannedChange;
use super::upgrade::{
    OpenedTree, find_blockers, find_candidate, index_by_path, map_sources, read_released_lock,
};
use crate::args::{Global, ReleaseTarget, TreeArgs};
use crate::error::Error;
use crate::settings::{Settings, today};
use crate::terminal::{eprint_block, eprint_line, use_error_color};

/// The note about a tree without candidates.
const NOTHING_TO_RELEASE: &str = "there is no candidate to release";

/// Permissions that the user gives to a release.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReleaseOverrides {
    /// To release outside the window for new majors.
    pub(super) outside_window: bool,
    /// To replace or delete what a person may have written.
    pub(super) overwrite: bool,
}

pub(super) fn release(
    global: &Global,
    args: &TreeArgs,
    target: &ReleaseTarget,
    permits: ReleaseOverrides,
) -> Result<CommandOutcome, Error> {
    // Without anything to do, the plan is shown.
    let is_plan = !(target.write || target.diff || target.check);
    let OpenedTree { progress, settings, folder, guard: _guard } =
        OpenedTree::open(global, args, target.write)?;
    if settings.is_partial() {
        return Err(Error::Usage(
            "a release is always of the whole tree: leave SOURCE out".to_owned(),
        ));
    }
    let day = global.as_of.unwrap_or_else(today);
    let source = settings.open_source(args)?;
    let loaded = load(&source, &progress)?;
    if let Some(refused) = refuse_unparsed(global, &settings, &loaded, &progress) {
        return Ok(refused);
    }
    let records = GeneratedFiles::read(global, &source)?;
    if !loaded.unreadable.is_empty() {
        return Err(Error::Usage(format!(
            "nothing was released, because some files cannot be read: {}",
            read_errors(&loaded).join("; ")
        )));
    }
    progress.begin_step("releasing");
    let policy = settings.config.policy.upgrade_settings();
    let made = match abide_upgrade::release(&loaded.tree, policy) {
        Ok(made) => made,
        Err(refusal) => {
            progress.finish();
            return report_refusal(
                global,
                &settings,
                &loaded.tree,
                &refusal,
                "nothing was released",
            );
        }
    };
    // An error may be why nothing calls for a candidate any more.
    let roles = FileRoles::from_tree(&loaded.tree, policy.policy);
    let stays = roles.iter_candidates(&loaded.tree).any(|it| !made.deleted.contains(&it.id));
    let hindrances = find_blockers(global, &loaded, &settings, &made.files, stays);
    progress.finish();
    if !hindrances.findings.is_empty() {
        eprint_block(&render_findings(global, &loaded.tree, &hindrances));
        eprint_line("note: nothing was released");
        return Ok(CommandOutcome::nothing(true));
    }
    let undertaking = PlannedChange {
        global,
        settings: &settings,
        source: &source,
        loaded: &loaded,
        lock: records.lock.as_ref(),
        progress: &progress,
    };
    let (mut made, mut kept, mut beside) = (made, BTreeSet::new(), BTreeSet::new());
    let deleted = made.deleted.clone();
    let after = loop {
        let mut outlook = {
            let changes = collect_changes(&loaded.tree, policy, &made, &records, folder.as_ref());
            undertaking.predict(&changes, &map_sources(&loaded.tree, &made.files))?
        };
        progress.finish();
        let bound = keep_bound_betas(&loaded.tree, &roles, &mut made, &outlook.errors);
        if !bound.is_empty() {
            beside.extend(bound);
            continue;
        }
        // The end of a candidate is what a release is for.
        let gone: BTreeSet<&str> =
            made.deleted.iter().map(|it| loaded.tree.file(*it).package().name()).collect();
        outlook.errors.retain(|it| it.change.is_none() || !gone.contains(&*it.package));
        if outlook.errors.findings.is_empty() {
            break outlook.tree;
        }
        let places = outlook.errors.findings.iter();
        let harmed = places.filter_map(|it| undertaking.locate(&outlook, it)).collect();
        let stay = stop_following(&loaded.tree, &roles, &mut made, &harmed);
        if stay.is_empty() {
            undertaking.report_errors(&outlook);
            eprint_line("note: nothing was released");
            return Ok(CommandOutcome::nothing(true));
        }
        kept.extend(stay);
    };
    let mut build_files = abide_upgrade::build_files(&loaded.tree, policy, &made.files);
    build_files.extend(abide_upgrade::build_version_file(&loaded.tree, policy, &made));
    let builds = BuildFiles::collect(&loaded.tree, &build_files, &made.deleted, folder.as_ref());
    let mut changes = collect_changes(&loaded.tree, policy, &made, &records, folder.as_ref());
    builds.add_to(&mut changes, &records);
    let basis = UpgradeInputs { tree: &loaded.tree, settings: policy, roles: &roles, graph: None };
    let ignored = find_ignored_candidates(basis, &made, &records);
    for it in ignored.iter().filter(|it| it.is_error || !global.quiet) {
        eprint_line(&it.message);
    }
    let ignores = ignored.iter().any(|it| it.is_error);
    let premature = is_premature(global, &loaded, &settings, &records, &made, permits)?;
    if premature {
        eprint_line("note: nothing was released");
        if !target.diff && !is_plan {
            return Ok(CommandOutcome::nothing(true));
        }
    }
    if !permits.overwrite {
        let losing = take_losing(&mut changes);
        for (path, change) in &losing {
            eprint_line(&change.describe_kept(path, "move it away, or look at it first; "));
        }
        if !losing.is_empty() {
            eprint_line("note: nothing was released");
            return Ok(CommandOutcome::nothing(true));
        }
    }
    if target.write {
        let folder = expect_folder(folder)?;
        let released = read_released_lock(&settings, args);
        // What is released is no longer generated; the lines of candidates go with their files.
        let lock = records.edit_lock(&folder, &changes, |lock| {
            let whole = ReleaseResult { deleted, ..made.clone() };
            abide_lint::record_release(lock, &loaded.tree, &whole, day);
            made.files.iter().for_each(|it| {
                lock.forget_made(&display_of_generated(loaded.tree.file(it.from), &it.path));
            });
            builds.generated().for_each(|(path, text)| lock.set_made(path, text));
            // Candidates that stay follow what is released.
            for (id, text) in &made.edited {
                let file = loaded.tree.file(*id);
                if roles.get(file) == FileRole::Candidate {
                    let essence = extract_comparable_text(policy.policy, Some(file), text);
                    lock.set_made(&file.decl().display, &essence);
                }
            }
            let edited = made.edited.iter().map(|(id, _)| *id);
            let touched = made.deleted.iter().copied().chain(edited);
            let packages: BTreeSet<String> = made
                .promoted
                .iter()
                .flat_map(|it| it.next.clone())
                .chain(touched.map(|id| loaded.tree.file(id).package().full_name()))
                .collect();
            let (config, trees) = (&settings.config, (&loaded.tree, &after));
            let version_in = config.version_in;
            let released =
                Records { version_in, released: released.as_ref(), ..Records::default() };
            abide_lint::record_made_versions(lock, trees, &config.policy, released, &packages, day);
        });
        write_changes(&folder, &changes, lock.as_ref().map(EditedLock::step))?;
    }
    if !global.quiet {
        let records = Records { lock: records.lock.as_ref(), ..Records::default() };
        let notes = describe_release(&loaded, &settings, &made, records, day, target.write);
        for note in notes.iter().filter(|it| *it != NOTHING_TO_RELEASE || ignored.is_empty()) {
            eprint_line(&format!("note: {note}"));
        }
        let edits = describe_edits(&loaded.tree, &roles, &made, &kept);
        let staying = beside.iter().map(|id| {
            let name = loaded.tree.package(*id).name();
            format!("`{name}` stays beside its release: removing it would break its users")
        });
        edits.chain(staying).for_each(|note| eprint_line(&format!("note: {note}")));
    }
    if target.write {
        if !global.quiet && !changes.is_empty() {
            eprint_line("next: commit the release and tag it: `abide bump` counts from the tag");
        }
        return Ok(CommandOutcome::nothing(ignores));
    }
    if target.diff {
        let diff = render_patch(&changes, &settings.prefix(args));
        return Ok(CommandOutcome {
            failed: premature || ignores,
            ..CommandOutcome::verbatim(diff)
        });
    }
    if is_plan {
        let failed = premature || ignores;
        let plan = describe_plan(&changes, "release");
        return Ok(CommandOutcome { failed, ..CommandOutcome::of(plan) });
    }
    Ok(CommandOutcome::nothing(ignores || !changes.is_empty()))
}

/// Takes out of a release the end of betas that people wrote and that the policy does not let go:
/// they stay for those who use them. Returns the packages.
fn keep_bound_betas(
    tree: &Tree,
    roles: &FileRoles,
    made: &mut ReleaseResult,
    errors: &Report,
) -> BTreeSet<PackageId> {
    let harmed: BTreeSet<&str> =
        errors.findings.iter().filter(|it| it.change.is_some()).map(|it| &*it.package).collect();
    let gone = made.deleted.iter().map(|it| tree.file(*it));
    let bound = gone.filter(|it| {
        let package = it.package();
        let is_beta = package.version().is_some_and(|it| it.stability == Stability::Beta);
        is_beta && roles.get(*it) == FileRole::HandMaintained && harmed.contains(package.name())
    });
    let packages: BTreeSet<PackageId> = bound.map(|it| it.package().id).collect();
    made.deleted.retain(|it| !packages.contains(&tree.file(*it).package().id));
    packages
}

/// Takes out of a release the edits of these files, with all of their packages: they keep using the
/// versions that they use. What is replaced is frozen all the same. Returns the packages.
fn stop_following(
    tree: &Tree,
    roles: &FileRoles,
    made: &mut ReleaseResult,
    files: &BTreeSet<&str>,
) -> BTreeSet<PackageId> {
    let edited = made.edited.iter().map(|(id, _)| *id);
    let following = edited.filter(|id| !is_frozen_by(tree, made, roles, *id));
    let harmed = following.filter(|id| files.contains(&*tree.file(*id).decl().display));
    let packages: BTreeSet<PackageId> = harmed.map(|id| tree.file(id).package().id).collect();
    made.edited.retain(|(id, _)| !packages.contains(&tree.file(*id).package().id));
    packages
}

/// Returns true if a release edits a file to freeze it, and not to let it follow.
fn is_frozen_by(tree: &Tree, made: &ReleaseResult, roles: &FileRoles, id: FileId) -> bool {
    let file = tree.file(id);
    let package = file.package().full_name();
    roles.get(file) == FileRole::Active && made.promoted.iter().any(|it| it.package == package)
}

/// Notes about the files that stay, and that a release edits all the same, and about the packages
/// that it could not edit.
fn describe_edits<'a>(
    tree: &'a Tree,
    roles: &'a FileRoles,
    made: &'a ReleaseResult,
    kept: &'a BTreeSet<PackageId>,
) -> impl Iterator<Item = String> + 'a {
    let edited = made.edited.iter().map(move |(id, _)| {
        let path = escape_unprintable(&tree.file(*id).decl().display);
        match is_frozen_by(tree, made, roles, *id) {
            true => format!("`{path}` is frozen"),
            false => format!("`{path}` follows to the new versions"),
        }
    });
    let kept = kept.iter().map(move |id| {
        format!(
            "`{}` stays with the versions that it uses: following would break it",
            tree.package(*id).name()
        )
    });
    edited.chain(kept)
}

/// A candidate that a release leaves alone.
struct IgnoredCandidate {
    message: String,
    /// True if a person may have written it, who expects its release.
    is_error: bool,
}

/// The candidates that no upgrade makes now, and that the release therefore leaves alone.
fn find_ignored_candidates(
    basis: UpgradeInputs<'_, '_>,
    made: &ReleaseResult,
    records: &GeneratedFiles,
) -> Vec<IgnoredCandidate> {
    let (tree, policy) = (basis.tree, basis.settings.policy);
    let mut ignored = Vec::new();
    for (id, drift) in find_stale_candidates(basis) {
        let file = tree.file(id);
        let (path, shown) = (&*file.decl().display, file.path());
        let (what, as_made) = match drift {
            StaleReason::Differs(_) => continue,
            StaleReason::Unneeded { from, is_as_generated } => {
                (format!("nothing in `{}` requires one", tree.file(from).path()), is_as_generated)
            }
            StaleReason::Stale => ("no file upgrades to it".to_owned(), false),
            StaleReason::Orphaned => ("its API has no active version".to_owned(), false),
        };
        if made.deleted.contains(&id) {
            continue;
        }
        let text = file.decl().source_text().unwrap_or_default();
        let is_ours = as_made
            || records.author(path, &extract_comparable_text(policy, None, text))
                == ContentAuthor::Abide;
        let kind = "is not released: it is a candidate, but";
        ignored.push(IgnoredCandidate {
            message: if is_ours {
                format!("note: `{shown}` {kind} {what}; `abide upgrade --write` deletes it")
            } else {
                format!("error: `{shown}` {kind} {what}: {HAND_MAINTAINED_HELP}; or delete it")
            },
            is_error: !is_ours,
        });
    }
    ignored
}

fn collect_changes<'a>(
    tree: &'a Tree,
    settings: UpgradeSettings<'_>,
    made: &'a ReleaseResult,
    records: &GeneratedFiles,
    folder: Option<&OpenFolder>,
) -> Changes<'a> {
    let mut changes = Changes::new();
    let by_path = index_by_path(tree);
    for file in &made.files {
        let path = display_of_generated(tree.file(file.from), &file.path);
        let there = find_candidate(tree, &by_path, file);
        let old = there.and_then(|it| it.decl().source_text()).map(<[u8]>::to_vec);
        // A release writes over nothing in the tree but its own files. A file that the selection
        // leaves out may hold anything.
        let outside = if old.is_none() {
            folder.and_then(|it| it.read(path.as_ref()).ok().flatten())
        } else {
            None
        };
        let author = match &outside {
            Some(text) if *text != file.text => ContentAuthor::Unknown,
            _ => ContentAuthor::Abide,
        };
        let old = old.or(outside);
        changes.insert(path, FileChange { old, new: Some(&file.text), last: true, author });
    }
    for (id, text) in &made.edited {
        let (path, old) = read_text(tree, *id);
        let author = ContentAuthor::Abide;
        changes.insert(path, FileChange { old, new: Some(text), last: false, author });
    }
    for id in &made.deleted {
        let (path, old) = read_text(tree, *id);
        let author = match &old {
            Some(old) if made.unverified.contains(id) => {
                records.author(&path, &extract_comparable_text(settings.policy, None, old))
            }
            _ => ContentAuthor::Abide,
        };
        changes.insert(path, FileChange { old, new: None, last: false, author });
    }
    changes
}

/// The path and the text of a file of the tree.
fn read_text(tree: &Tree, id: FileId) -> (String, Option<Vec<u8>>) {
    let decl = tree.file(id).decl();
    (decl.display.to_string(), decl.source_text().map(<[u8]>::to_vec))
}

/// Returns true if something has to come before the release: the window for new majors, or a
/// conversion of what it removes. Reports what.
fn is_premature(
    global: &Global,
    loaded: &LoadedTree,
    settings: &Settings,
    records: &GeneratedFiles,
    made: &ReleaseResult,
    permits: ReleaseOverrides,
) -> Result<bool, Error> {
    if made.promoted.is_empty() {
        return Ok(false);
    }
    let policy = &settings.config.policy;
    let accepted = settings.read_accepted(use_error_color(global))?;
    let options = abide_lint::Options {
        accepted: accepted.as_ref().map(|(accepted, _)| accepted),
        records: Records { lock: records.lock.as_ref(), ..Records::default() },
        ..abide_lint::Options::on(global.as_of.unwrap_or_else(today))
    };
    let released = made.apply_to(&loaded.tree);
    let early = match permits.outside_window {
        true => Report::default(),
        false => abide_lint::check_early_release(&released, policy, options, &loaded.tree),
    };
    let lossy = abide_lint::check_lossy_release(&loaded.tree, policy, options);
    let found = [(&released, early), (&loaded.tree, lossy)];
    let found = found.iter().filter(|(_, report)| !report.findings.is_empty());
    let count =
        found.map(|(tree, report)| eprint_block(&render_findings(global, tree, report))).count();
    Ok(count > 0)
}

/// Notes about the packages that are released and why, and about alphas that are too old.
fn describe_release(
    loaded: &LoadedTree,
    settings: &Settings,
    made: &ReleaseResult,
    records: Records<'_>,
    day: Date,
    writes: bool,
) -> Vec<String> {
    let mut notes: Vec<String> = made
        .promoted
        .iter()
        .map(|promoted: &PromotedPackage| match &promoted.because {
            None => format!("`{}` becomes `{}`", promoted.package, promoted.next.join("` and `")),
            Some(other) => format!(
                "`{}` becomes `{}` to catch up: it depends on `{other}`, which gets a new major",
                promoted.package,
                promoted.next.join("` and `")
            ),
        })
        .collect();
    if made.promoted.is_empty() && !made.deleted.is_empty() {
        notes.push("the interrupted release is now complete".to_owned());
    } else if made.promoted.is_empty() {
        notes.push(NOTHING_TO_RELEASE.to_owned());
    } else {
        let done = if writes { "released" } else { "to release" };
        notes.push(format!("{} {done}", pluralize(made.files.len(), "file")));
    }
    let undeclared =
        abide_upgrade::find_undeclared_alphas(&loaded.tree, &settings.config.policy.upgrade);
    notes.extend(
        undeclared
            .iter()
            .map(|package| format!("`{}` is left alone: {HAND_MAINTAINED_HELP}", package.name())),
    );
    let options = abide_lint::Options { records, ..abide_lint::Options::on(day) };
    let report = abide_lint::check(&loaded.tree, &settings.config.policy, options);
    let old = report.findings.iter().filter(|finding| finding.rule == abide_lint::ALPHA_TOO_OLD.id);
    notes.extend(old.map(|finding| format!("promote or remove: {}", finding.message)));
    notes
}
