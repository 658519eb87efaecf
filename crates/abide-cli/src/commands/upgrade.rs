//! `abide upgrade`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use abide::Report;
use abide_schema::{File, FileId, Tree};
use abide_upgrade::{
    BUILD_MARK, BuildFile, Closure, Generated, Refusal, StaleCandidate, Upgrade, UpgradeOptions,
};

use super::days;
use super::fitness::{for_people, troubles};
use super::folder_lock::exclusive;
use super::outcome::Outcome;
use crate::args::{Global, TreeArgs, UpgradeTarget};
use crate::diff::unified;
use crate::error::Error;
use crate::load::{Loaded, load};
use crate::printable::shown;
use crate::progress::Progress;
use crate::settings::{Settings, today};
use crate::terminal::{error_color, say};
use crate::write;

pub(super) fn upgrade(
    global: &Global,
    args: &TreeArgs,
    packages: &[String],
    closure: Option<&str>,
    mappings: &[PathBuf],
    target: &UpgradeTarget,
) -> Result<Outcome, Error> {
    let shows = target.write || target.diff || target.check;
    if target.out.is_none() && !shows && mappings.is_empty() {
        return Err(Error::Usage(
            "choose what to do with the candidates: `--out DIR`, `--write`, `--diff` or `--check`"
                .to_owned(),
        ));
    }
    let Opened { progress, settings, folder, guard: _guard } =
        Opened::of(global, args, target.write)?;
    let loaded = load(&settings.source(args)?, &progress)?;
    progress.step("upgrading");
    let closure =
        closure.and_then(|name| Closure::ALL.iter().find(|it| it.0 == name)).map(|it| it.1);
    let options = UpgradeOptions { packages, closure };
    let made =
        abide_upgrade::upgrade(&loaded.tree, settings.config.policy.upgrade_settings(), &options)
            .map_err(|refusal: Refusal| Error::Usage(refusal.to_string()))?;
    if target.out.is_none() && !loaded.unreadable.is_empty() {
        return Err(Error::Usage(format!(
            "nothing was upgraded, because some files cannot be read: {}",
            troubles(&loaded).join("; ")
        )));
    }
    let hindrances = hindrances(global, &loaded, &settings, &made.files);
    progress.finish();
    if !hindrances.findings.is_empty() {
        say(&for_people(global, &loaded.tree, &hindrances));
        say("note: nothing was written");
        return Ok(Outcome { troubles: troubles(&loaded), ..Outcome::nothing(true) });
    }
    if !mappings.is_empty() {
        let mapping = abide_upgrade::mapping(
            &loaded.tree,
            settings.config.policy.upgrade_settings(),
            &options,
        )
        .map_err(|refusal| Error::Usage(refusal.to_string()))?;
        for path in mappings {
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
            put(path, &bytes)?;
        }
    }
    let build_files = abide_upgrade::build_files(
        &loaded.tree,
        settings.config.policy.upgrade_settings(),
        &made.files,
    );
    let mut changes = changes(&loaded.tree, &made);
    let gone: Vec<FileId> = made.stale.iter().map(|it| it.file).collect();
    let builds = Builds::of(&loaded.tree, &build_files, &gone, folder.as_deref());
    builds.add_to(&mut changes);
    let outcome = if let Some(out) = &target.out {
        for file in &made.files {
            put(&out.join(&file.path), &file.text)?;
        }
        for file in &build_files {
            put(&out.join(&file.path), file.text.as_bytes())?;
        }
        Outcome::nothing(false)
    } else if target.write {
        for stale in made.stale.iter().filter(|it| !it.as_made || !global.quiet) {
            say(&deletion(&loaded.tree, stale));
        }
        let folder = folder.unwrap_or_default();
        write_changes(&folder, &changes)?;
        days::record(&folder, |lock| {
            abide::stamp_upgrade(lock, &loaded.tree, &made, days::as_of(global));
        })?;
        Outcome::nothing(false)
    } else if target.diff {
        Outcome::of(diff_of(&changes, &settings.prefix(args)))
    } else if !target.check {
        Outcome::nothing(false)
    } else {
        let lines = changes.iter().map(|(path, change)| change.complaint(path));
        Outcome { failed: !changes.is_empty(), ..Outcome::of(lines.collect::<String>()) }
    };
    for package in made.staying.iter().filter(|_| !global.quiet) {
        say(&format!(
            "note: `{}` was not upgraded: it extends messages of other packages, and two versions \
             cannot use the same extension numbers",
            loaded.tree.package(*package).name()
        ));
    }
    if !global.quiet && (target.out.is_some() || target.write) {
        say(&format!("note: {}", summary(&loaded, &made)));
    }
    let troubles = troubles(&loaded);
    Ok(Outcome { troubles, ..outcome })
}

/// The findings that keep candidates from being generated.
pub(super) fn hindrances(
    global: &Global,
    loaded: &Loaded,
    settings: &Settings,
    made: &[Generated],
) -> Report {
    let as_of = global.as_of.unwrap_or_else(today);
    abide::hindrances(&loaded.tree, &settings.config.policy, as_of, made)
}

/// The preparations of a command that may write to a tree.
pub(super) struct Opened {
    pub(super) progress: Progress,
    pub(super) settings: Settings,
    /// The folder of the tree, if it is on disk.
    pub(super) folder: Option<PathBuf>,
    /// The lock, held from the first look at the tree until everything is written.
    pub(super) guard: Option<std::fs::File>,
}

impl Opened {
    pub(super) fn of(global: &Global, args: &TreeArgs, writes: bool) -> Result<Opened, Error> {
        let progress = Progress::new(global.quiet);
        let settings = Settings::read(global, args.source.as_deref(), error_color(global))?;
        let folder = settings.tree_folder(args);
        if writes && folder.is_none() {
            let message = "`--write` needs a tree on disk: name its folder".to_owned();
            return Err(Error::Usage(message));
        }
        let guard = match folder.as_deref().filter(|_| writes) {
            Some(folder) => exclusive(folder, global)?,
            None => None,
        };
        Ok(Opened { progress, settings, folder, guard })
    }
}

/// The change of one file of the tree.
pub(super) struct FileChange<'a> {
    pub(super) old: Option<&'a [u8]>,
    pub(super) new: Option<&'a [u8]>,
    /// Whether to write it after all others: its presence means that they are complete.
    pub(super) last: bool,
}

/// The changes of files, by path relative to the folder of the tree.
pub(super) type Changes<'a> = BTreeMap<String, FileChange<'a>>;

/// Adds new files first, then changes existing ones, then deletes, so that an interrupted run can
/// be repeated. Writes nothing at all if somebody edited one of the files since it was read.
pub(super) fn write_changes(folder: &Path, changes: &Changes<'_>) -> Result<(), Error> {
    for (path, change) in changes {
        let is_still = write::is_still(&folder.join(path), change.old);
        let cannot = |error| Error::File { what: format!("cannot read `{}`", shown(path)), error };
        if !is_still.map_err(cannot)? {
            return Err(Error::Usage(format!(
                "`{}` was edited in the meantime, so nothing was written: run the command again",
                shown(path)
            )));
        }
    }
    let mut ordered: Vec<_> = changes.iter().collect();
    ordered.sort_by_key(|(_, change)| (change.old.is_some(), change.last));
    for (path, change) in ordered {
        if let Some(text) = change.new {
            put(&folder.join(path), text)?;
        }
    }
    for (path, _) in changes.iter().filter(|(_, change)| change.new.is_none()) {
        remove(folder, Path::new(path))?;
    }
    Ok(())
}

/// The changes as a patch, whose paths begin with `prefix`.
pub(super) fn diff_of(changes: &Changes<'_>, prefix: &str) -> String {
    let shown = |(path, change): (&String, &FileChange<'_>)| {
        unified(&format!("{prefix}{path}"), change.old, change.new)
    };
    changes.iter().map(shown).collect()
}

impl FileChange<'_> {
    fn complaint(&self, path: &str) -> String {
        let path = shown(path);
        match (self.old, self.new) {
            (None, _) => format!("{path}: is missing\n"),
            (_, None) => format!("{path}: is no longer needed\n"),
            _ => format!("{path}: differs from the generated file\n"),
        }
    }
}

fn changes<'a>(tree: &'a Tree, made: &'a Upgrade) -> Changes<'a> {
    let mut changes = BTreeMap::new();
    let by_path: BTreeMap<&str, File<'a>> = tree.files().map(|it| (it.path(), it)).collect();
    for file in &made.files {
        let candidate = by_path.get(file.path.as_str());
        if !candidate.is_some_and(|it| abide_upgrade::is_made(*it, file)) {
            let old = candidate.and_then(|it| it.decl().source_text());
            let change = FileChange { old, new: Some(&file.text), last: false };
            changes.insert(display(tree.file(file.from), &file.path), change);
        }
    }
    for stale in &made.stale {
        let file = tree.file(stale.file);
        let change = FileChange { old: file.decl().source_text(), new: None, last: false };
        changes.insert(file.decl().display.to_string(), change);
    }
    changes
}

/// What is said before a candidate is deleted. One that no upgrade would make now
/// may hold what somebody wrote.
fn deletion(tree: &Tree, stale: &StaleCandidate) -> String {
    let path = shown(&tree.file(stale.file).decl().display);
    let from = stale.from.map(|it| shown(&tree.file(it).decl().display));
    match (from, stale.as_made) {
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

/// BUILD files, as they are on disk and as generated.
pub(super) struct Builds<'a> {
    /// The content on disk and the generated one, by path.
    files: BTreeMap<String, (Option<Vec<u8>>, Option<&'a str>)>,
}

impl<'a> Builds<'a> {
    /// Collects the generated ones, and those to delete with the last proto of their folder.
    pub(super) fn of(
        tree: &Tree,
        made: &'a [BuildFile],
        gone: &[FileId],
        folder: Option<&Path>,
    ) -> Builds<'a> {
        let read = |path: &str| std::fs::read(folder?.join(path)).ok();
        let mut files = BTreeMap::new();
        for file in made {
            let path = display(tree.file(file.beside), &file.path);
            files.insert(path.clone(), (read(&path), Some(file.text.as_str())));
        }
        let parent = |path: &str| Path::new(path).parent().map(Path::to_owned);
        for id in gone {
            let own = &tree.file(*id).decl().display;
            let in_use = tree
                .files()
                .any(|it| !gone.contains(&it.id) && parent(&it.decl().display) == parent(own));
            let path = Path::new(&**own).with_file_name("BUILD");
            let path = path.to_string_lossy().replace('\\', "/");
            let old = read(&path).filter(|text| text.starts_with(BUILD_MARK.as_bytes()));
            if !in_use && old.is_some() {
                files.entry(path).or_insert((old, None));
            }
        }
        Builds { files }
    }

    /// Adds the files that differ.
    pub(super) fn add_to<'b>(&'b self, changes: &mut Changes<'b>) {
        for (path, (old, new)) in &self.files {
            let (old, new) = (old.as_deref(), new.map(str::as_bytes));
            if old != new {
                changes.insert(path.clone(), FileChange { old, new, last: false });
            }
        }
    }
}

/// The place of a file generated from another one: below the same root.
pub(super) fn display(from: File<'_>, path: &str) -> String {
    let shown = &*from.decl().display;
    format!("{}{path}", shown.strip_suffix(from.path()).unwrap_or_default())
}

fn put(path: &Path, text: &[u8]) -> Result<(), Error> {
    // Do not touch a file that already has this content.
    if std::fs::read(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    write::write(Some(path), text)
        .map_err(|error| Error::File { what: format!("cannot write `{}`", path.display()), error })
}

/// Deletes a file, and the folders that this leaves empty.
fn remove(folder: &Path, path: &Path) -> Result<(), Error> {
    let file = folder.join(path);
    match std::fs::remove_file(&file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Error::File { what: format!("cannot delete `{}`", file.display()), error });
        }
        _ => {}
    }
    let above = path.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty());
    for above in above {
        // Fails at the first folder that is not empty.
        if std::fs::remove_dir(folder.join(above)).is_err() {
            break;
        }
    }
    Ok(())
}

fn summary(loaded: &Loaded, made: &Upgrade) -> String {
    let packages: BTreeSet<&str> =
        made.files.iter().map(|file: &Generated| file.package.as_str()).collect();
    let files = loaded.tree.files().filter(|file| file.is_judged()).count();
    match made.files.len() {
        0 => format!("no candidate is needed in a tree of {}", count(files, "file")),
        number => format!(
            "generated {} in {} from a tree of {}",
            count(number, "candidate"),
            count(packages.len(), "package"),
            count(files, "file")
        ),
    }
}

pub(super) fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        number => format!("{number} {noun}s"),
    }
}
