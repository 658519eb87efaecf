//! Brings dependencies out of git repositories, and records what was brought.

use std::collections::BTreeMap;
use std::path::Path;

use abide_lint::{Config, ConfigDependency, DependencyOrigin, DependencyPin, Lock, pluralize};
use abide_source::dependencies::{
    KnownRepository, VendoredFile, compute_content, fetch_files, find_module_repository,
    find_repository_of_import, is_licence, read_vendored, resolve_commit, vendored_folder,
};
use abide_source::write::FileStep;
use abide_source::{CONFIG, LOCK, Progress, join};

use super::added_tables::{add_dependencies, name_repositories, set_folder};
use super::import_origins::{find_missing, load_tree};
use crate::args::Global;
use crate::commands::file_changes::{convert_write_error, open_folder};
use crate::commands::folder_lock::lock_exclusively;
use crate::commands::outcome::CommandOutcome;
use crate::error::Error;
use crate::settings::Settings;
use crate::terminal::{eprint_line, use_error_color};

/// Dependencies of dependencies are brought at most so many times.
const MAX_ROUNDS: usize = 10;

/// The dependencies to bring.
pub(super) struct VendorRequest<'a> {
    /// Their names; all if empty.
    pub(super) names: &'a [String],
    /// True to bring the newest commits instead of the recorded ones.
    pub(super) is_update: bool,
    /// The folder to keep dependencies in from now on.
    pub(super) into: Option<&'a Path>,
}

/// A revision of a repository that a dependency asks for.
pub(super) struct WantedRepository {
    pub(super) url: String,
    /// `HEAD` without one.
    pub(super) rev: String,
    subdir: String,
}

/// The repository of a dependency; `None` if another tool brings it.
pub(super) fn find_repository(dependency: &ConfigDependency) -> Option<WantedRepository> {
    let rev = |known: Option<&String>| {
        dependency.rev.as_ref().or(known).cloned().unwrap_or_else(|| "HEAD".to_owned())
    };
    match &dependency.origin {
        DependencyOrigin::Git(url) => {
            let (url, subdir) = (url.clone(), dependency.subdir.clone());
            Some(WantedRepository { url, rev: rev(None), subdir })
        }
        DependencyOrigin::Package(_, name) => {
            let known = find_module_repository(name)?;
            let subdir = join(&known.subdir, &dependency.subdir);
            Some(WantedRepository { url: known.url, rev: rev(known.rev.as_ref()), subdir })
        }
    }
}

/// Brings dependencies, and then those that they import from well-known repositories.
pub(super) fn vendor(
    global: &Global,
    request: &VendorRequest<'_>,
) -> Result<CommandOutcome, Error> {
    let mut settings = Settings::read_unpinned(global, use_error_color(global))?;
    if settings.file.is_none() {
        let message = format!("there is no {CONFIG} here: `abide init` writes one");
        return Err(Error::Usage(message));
    }
    check_names(request.names, &settings.config)?;
    let _guard = lock_exclusively(&settings.folder, global)?;
    if let Some(folder) = request.into {
        move_folder(global, &settings, folder)?;
        settings = Settings::read_unpinned(global, use_error_color(global))?;
    }
    let is_named =
        |it: &&ConfigDependency| request.names.is_empty() || request.names.contains(&it.name);
    let mut wanted: Vec<ConfigDependency> =
        settings.config.dependencies.iter().filter(is_named).cloned().collect();
    let mut brought = BroughtDependencies::default();
    for round in 0..MAX_ROUNDS {
        let is_update = request.is_update && round == 0;
        VendorRound { global, settings: &settings, is_update }.run(&wanted, &mut brought)?;
        settings = Settings::read_unpinned(global, use_error_color(global))?;
        wanted = find_well_known(global, &settings)?;
        wanted.retain(|it| !brought.failed.contains(&it.name));
        if wanted.is_empty() {
            break;
        }
    }
    pin_bases(&settings, request.is_update, &mut brought)?;
    note_missing(global, &settings)?;
    if brought.said.is_empty() && brought.troubles.is_empty() {
        brought.said.push_str("every dependency is here\n");
    }
    let BroughtDependencies { said, troubles, .. } = brought;
    Ok(CommandOutcome { troubles, ..CommandOutcome::of(said) })
}

/// The dependencies that were brought so far, and those that could not be.
#[derive(Default)]
struct BroughtDependencies {
    /// What to tell the user, in lines.
    said: String,
    /// The reasons of those that could not be brought.
    troubles: Vec<String>,
    /// Their names.
    failed: Vec<String>,
}

fn check_names(names: &[String], config: &Config) -> Result<(), Error> {
    let known: Vec<&str> = config.dependencies.iter().map(|it| it.name.as_str()).collect();
    let Some(name) = names.iter().find(|it| !known.contains(&it.as_str())) else { return Ok(()) };
    let near = abide_lint::find_nearest(name, known.iter().copied());
    let near = near.map_or_else(
        || format!("the dependencies are `{}`", known.join("`, `")),
        |near| format!("did you mean `{near}`?"),
    );
    Err(Error::Usage(format!("no dependency in {CONFIG} is named `{name}`; {near}")))
}

/// One round of bringing dependencies, which is written at once.
struct VendorRound<'a> {
    global: &'a Global,
    settings: &'a Settings,
    is_update: bool,
}

impl VendorRound<'_> {
    /// Brings dependencies and writes them, with the tables of those that `abide.toml` does not
    /// have yet.
    fn run(
        &self,
        wanted: &[ConfigDependency],
        brought: &mut BroughtDependencies,
    ) -> Result<(), Error> {
        let (old_lock, mut lock) = self.settings.read_own_lock()?;
        let mut files = FolderChanges::default();
        let mut added: Vec<&ConfigDependency> = Vec::new();
        let progress = Progress::new(self.global.quiet);
        for dependency in wanted {
            let Some(repository) = find_repository(dependency) else { continue };
            progress.begin_step(format!("fetching {}", repository.url));
            match self.bring(dependency, &repository, &mut lock, &mut files) {
                Ok(said) => {
                    brought.said += &said;
                    let known = &self.settings.config.dependencies;
                    added.extend(
                        known.iter().all(|it| it.name != dependency.name).then_some(dependency),
                    );
                }
                Err(error) => {
                    brought.troubles.push(error.to_string());
                    brought.failed.push(dependency.name.clone());
                }
            }
        }
        progress.finish();
        brought.said += &self.remove_undeclared(&added, &mut lock, &mut files)?;
        let is_same = old_lock.is_none() && lock == Lock::default();
        if !is_same {
            files.0.insert(LOCK.to_owned(), (old_lock, Some(lock.to_string().into_bytes())));
        }
        if let (Some(file), false) = (&self.settings.file, added.is_empty()) {
            let names: Vec<String> = added.iter().map(|it| format!("`{}`", it.name)).collect();
            brought.said +=
                &format!("added {} to {CONFIG}, for imports that were missing\n", names.join(", "));
            let text = add_dependencies(&file.text, &added);
            replace_config(self.global, self.settings, &text)?;
        }
        files.write(&self.settings.folder)
    }

    /// Brings one dependency, unless it is there as recorded.
    fn bring(
        &self,
        dependency: &ConfigDependency,
        wanted: &WantedRepository,
        lock: &mut Lock,
        files: &mut FolderChanges,
    ) -> Result<String, Error> {
        let name = &dependency.name;
        let folder = vendored_folder(&self.settings.config, name);
        let old = self.read_folder(&folder)?;
        let pin = lock.dependency(name).filter(|it| it.url == wanted.url && it.rev == wanted.rev);
        let pin = pin.cloned();
        let is_whole = pin.as_ref().is_some_and(|it| compute_content(&old) == it.content);
        let fail = |error: abide_source::dependencies::GitError| {
            Error::Usage(format!("cannot bring the dependency `{name}`: {error}"))
        };
        let base = &self.settings.folder;
        let rev = match &pin {
            Some(pin) if self.is_update => {
                let newest = resolve_commit(&wanted.url, &wanted.rev, base).map_err(fail)?;
                if newest == pin.commit && is_whole {
                    return Ok(format!("{name} is up to date at {}\n", shorten(&pin.commit)));
                }
                newest
            }
            Some(_) if is_whole => return Ok(String::new()),
            Some(pin) => pin.commit.clone(),
            None => wanted.rev.clone(),
        };
        let bases = self.settings.list_base_files(name);
        let place = |path: &str| place_file(path, wanted, dependency, &bases);
        let fetched = fetch_files(&wanted.url, &rev, base, &place).map_err(fail)?;
        let count = fetched.files.iter().filter(|it| it.path.ends_with(".proto")).count();
        if fetched.files.iter().all(|it| is_licence(&it.path)) {
            let place = match wanted.subdir.as_str() {
                "" => "it".to_owned(),
                subdir => format!("its folder `{subdir}`"),
            };
            return Err(Error::Usage(format!(
                "`{}` has no file for the dependency `{name}` in {place}: correct `subdir` and \
                 `paths` in {CONFIG}",
                wanted.url
            )));
        }
        let content = compute_content(&fetched.files);
        let said = describe_brought(name, pin.as_ref(), &fetched.commit, count, &folder);
        let (url, rev) = (wanted.url.clone(), wanted.rev.clone());
        lock.set_dependency(name, DependencyPin { url, rev, commit: fetched.commit, content });
        files.replace(&folder, old, fetched.files);
        Ok(said)
    }

    /// Removes what was brought for dependencies that `abide.toml` no longer has.
    fn remove_undeclared(
        &self,
        added: &[&ConfigDependency],
        lock: &mut Lock,
        files: &mut FolderChanges,
    ) -> Result<String, Error> {
        let config = &self.settings.config;
        let is_declared = |name: &str| {
            config.dependencies.iter().chain(added.iter().copied()).any(|it| it.name == name)
        };
        let names: Vec<String> = lock.dependency_names().map(str::to_owned).collect();
        let mut said = String::new();
        for name in names.iter().filter(|it| !is_declared(it)) {
            let folder = vendored_folder(config, name);
            let old = self.read_folder(&folder)?;
            files.replace(&folder, old, Vec::new());
            lock.forget_dependency(name);
            said += &format!("{name} was removed: {CONFIG} no longer names it\n");
        }
        Ok(said)
    }

    fn read_folder(&self, folder: &str) -> Result<Vec<VendoredFile>, Error> {
        self.settings.check_inside("dependency-folder", folder)?;
        read_vendored(&self.settings.folder.join(folder))
            .map_err(|error| Error::File { what: format!("cannot read `{folder}`"), error })
    }
}

/// The path in the dependency of a file of its repository, if it is wanted.
fn place_file(
    path: &str,
    wanted: &WantedRepository,
    dependency: &ConfigDependency,
    bases: &[String],
) -> Option<String> {
    if is_licence(path) {
        return Some(path.to_owned());
    }
    let inner = match wanted.subdir.as_str() {
        "" => path,
        subdir => path.strip_prefix(subdir)?.strip_prefix('/')?,
    };
    let is_at = |it: &String| {
        it.is_empty()
            || inner
                .strip_prefix(it.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_chosen = dependency.paths.is_empty() || dependency.paths.iter().any(is_at);
    let is_safe = inner.split('/').all(|part| !part.is_empty() && part != ".." && part != ".git");
    let is_wanted = inner.ends_with(".proto") && is_chosen || bases.iter().any(|it| it == inner);
    (is_wanted && is_safe).then(|| inner.to_owned())
}

fn describe_brought(
    name: &str,
    pin: Option<&DependencyPin>,
    commit: &str,
    count: usize,
    folder: &str,
) -> String {
    let from = pin.filter(|it| it.commit != commit);
    let from = from.map_or(String::new(), |it| format!("{} -> ", shorten(&it.commit)));
    let files = pluralize(count, "proto");
    format!("{name} {from}{}: {files} in {folder}\n", shorten(commit))
}

/// The first digits of a commit.
fn shorten(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

/// Files to write below the folder of `abide.toml`: what was there, and what comes.
#[derive(Default)]
struct FolderChanges(BTreeMap<String, ChangedBytes>);

/// The bytes of a file as they were, and as they are to be.
type ChangedBytes = (Option<Vec<u8>>, Option<Vec<u8>>);

impl FolderChanges {
    /// Replaces all files of a folder.
    fn replace(&mut self, folder: &str, old: Vec<VendoredFile>, new: Vec<VendoredFile>) {
        for file in old {
            self.0.entry(join(folder, &file.path)).or_default().0 = Some(file.bytes);
        }
        for file in new {
            self.0.entry(join(folder, &file.path)).or_default().1 = Some(file.bytes);
        }
    }

    /// Writes all of them, or none: new files first, and the record last.
    fn write(&self, folder: &Path) -> Result<(), Error> {
        let folder = open_folder(folder)?;
        let mut ordered: Vec<_> = self.0.iter().collect();
        ordered.sort_by_key(|(path, (_, new))| (path.as_str() == LOCK, new.is_none()));
        let steps: Vec<FileStep<'_>> = ordered
            .into_iter()
            .map(|(path, (old, new))| FileStep {
                path: path.as_ref(),
                old: old.as_deref(),
                new: new.as_deref(),
            })
            .collect();
        folder.apply(&steps).map_err(|why| convert_write_error(&folder, why))
    }
}

/// Writes another folder for dependencies into `abide.toml`.
fn move_folder(global: &Global, settings: &Settings, folder: &Path) -> Result<(), Error> {
    let written = folder.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
    let written = written.trim_start_matches("./").trim_end_matches('/').to_owned();
    let is_inside = folder.is_relative() && !written.split('/').any(|it| it == "..");
    if !is_inside || written.is_empty() {
        return Err(Error::Usage(format!(
            "`--into {}` is not a folder below that of {CONFIG}",
            folder.display()
        )));
    }
    let Some(file) = &settings.file else { return Ok(()) };
    replace_config(global, settings, &set_folder(&file.text, &settings.config, &written))
}

/// Replaces the text of `abide.toml`.
fn replace_config(global: &Global, settings: &Settings, text: &str) -> Result<(), Error> {
    let path = global.config.clone().unwrap_or_else(|| settings.folder.join(CONFIG));
    let Some(file) = &settings.file else { return Ok(()) };
    let folder = open_folder(path.parent().unwrap_or(Path::new(".")))?;
    let step = FileStep {
        path: path.file_name().map_or(CONFIG.as_ref(), Path::new),
        old: Some(file.text.as_bytes()),
        new: Some(text.as_bytes()),
    };
    folder.apply(&[step]).map_err(|why| convert_write_error(&folder, why))
}

/// Finds the well-known repositories that missing imports come from, as dependencies.
fn find_well_known(global: &Global, settings: &Settings) -> Result<Vec<ConfigDependency>, Error> {
    let Some(loaded) = load_tree(global, settings)? else { return Ok(Vec::new()) };
    let known = &settings.config.dependencies;
    let mut repositories: Vec<KnownRepository> = Vec::new();
    for path in find_missing(&loaded).into_keys() {
        let Some(found) = find_repository_of_import(&path) else { continue };
        let is_same = |it: &ConfigDependency| {
            find_repository(it).is_some_and(|wanted| wanted.url == found.url)
                && it.import_prefix == found.import_prefix
                && found.rev.as_ref().is_none_or(|rev| it.rev.as_ref() == Some(rev))
        };
        if !known.iter().any(is_same) && !repositories.contains(&found) {
            repositories.push(found);
        }
    }
    Ok(name_repositories(known, repositories))
}

/// Records the files outside of the tree that the configuration builds on: all of them with
/// `update`, else those that are not recorded yet.
fn pin_bases(
    settings: &Settings,
    is_update: bool,
    brought: &mut BroughtDependencies,
) -> Result<(), Error> {
    let (old, lock) = settings.read_own_lock()?;
    let mut pinned = lock.clone();
    let outside = settings.read_outside_bases();
    let is_kept = |name: &str| !is_update && lock.has_base(name);
    if outside.iter().all(|(name, _)| is_kept(name)) && !is_update {
        return Ok(());
    }
    let changed = outside.iter().filter(|(name, text)| !lock.is_base(name, text.as_bytes()));
    for (name, _) in changed {
        brought.said += &format!("{name} is pinned in {LOCK}\n");
    }
    pinned.set_bases(outside.iter().map(|(name, text)| (name.as_str(), text.as_bytes())));
    if pinned == lock {
        return Ok(());
    }
    let mut files = FolderChanges::default();
    files.0.insert(LOCK.to_owned(), (old, Some(pinned.to_string().into_bytes())));
    files.write(&settings.folder)
}

/// Says which imports are still missing.
fn note_missing(global: &Global, settings: &Settings) -> Result<(), Error> {
    let Some(loaded) = load_tree(global, settings)?.filter(|_| !global.quiet) else {
        return Ok(());
    };
    let missing = find_missing(&loaded);
    if let Some((path, users)) = missing.iter().next() {
        let more = match missing.len() {
            1 => String::new(),
            many => format!(", and {} more", many - 1),
        };
        eprint_line(&format!(
            "note: the import `{path}` of `{}` is still missing{more}: `abide deps` lists all",
            users.first().map_or("", String::as_str)
        ));
    }
    Ok(())
}
