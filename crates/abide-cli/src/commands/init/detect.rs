//! Examines a folder for `abide init`: where its packages begin, what is vendored, and which branch
//! to compare with.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use abide_lint::{Config, Preset};
use abide_source::{
    CONFIG, DefaultBranch, LoadedTree, Progress, Source, SourceOptions, canonicalize, join,
    load_if_any, read_settings,
};
use serde_json::json;

use crate::args::Global;
use crate::error::Error;

use super::dependency_search::NeededDependencies;
use super::layout::{ProtoFile, TreeLayout, is_below};
use super::mentions::Mentions;
use super::relaxations::Relaxations;

/// The number of files and imports that a note names.
const NAMED: usize = 3;

/// The layout of a folder.
pub(super) struct FirstLook {
    layout: TreeLayout,
    /// The trees of others that its imports need.
    needed: NeededDependencies,
    has_files: bool,
    /// Notes from reading the folder.
    said: Vec<String>,
}

impl FirstLook {
    pub(super) fn examine(global: &Global, folder: &Path) -> Result<FirstLook, Error> {
        let progress = Progress::new(global.quiet);
        let loaded = if folder.exists() { load_folder_if_any(folder, &progress)? } else { None };
        progress.finish();
        let Some(loaded) = loaded else {
            let layout = TreeLayout { roots: vec![".".to_owned()], ..TreeLayout::default() };
            let needed = NeededDependencies::default();
            return Ok(FirstLook { layout, needed, has_files: false, said: Vec::new() });
        };
        let mut repositories = NestedRepositories { top: folder, found: BTreeMap::new() };
        let files: Vec<ProtoFile> = loaded
            .tree
            .files()
            .filter(|file| file.is_judged())
            .map(|file| ProtoFile {
                path: file.decl().display.to_string(),
                package: file.package().name().to_owned(),
                imports: file.decl().imports.iter().map(|it| it.path.to_string()).collect(),
                names: Mentions::of(file),
                repository: repositories.find_around(&file.decl().display),
            })
            .collect();
        let mut layout = TreeLayout::of(&files, &collect_ancestor_names(folder));
        let needed = find_needed(folder, &files, &layout);
        layout.missing.retain(|(path, _)| needed.missing.contains(path));
        let mut said = loaded.notes;
        said.extend(find_buf_settings(folder, &files, &layout));
        said.extend(find_missing_submodules(folder));
        Ok(FirstLook { layout, needed, has_files: true, said })
    }

    /// Returns true if the folder has a proto file.
    pub(super) fn has_files(&self) -> bool {
        self.has_files
    }

    /// What the tree of a drafted `abide.toml` could only mend by breaking its users.
    pub(super) fn find_relaxations(
        &self,
        global: &Global,
        folder: &Path,
        draft: &str,
    ) -> Relaxations {
        let progress = Progress::new(global.quiet);
        let relaxed = Relaxations::find(folder, draft, &progress);
        progress.finish();
        relaxed
    }

    /// The lines of `abide.toml` about the tree.
    pub(super) fn render_toml(
        &self,
        preset: Preset,
        branch: &DefaultBranch,
        relaxed: &Relaxations,
    ) -> String {
        let against = match branch {
            DefaultBranch::Named(branch) => {
                format!("against = {}\n", json!(format!("git:{branch}...")))
            }
            _ => "# against = \"git:main...\"\n".to_owned(),
        };
        let mut prefixes = String::new();
        if !self.layout.folder_prefixes.is_empty() {
            let mut folders = Config::of_preset(preset).policy.packages.folder_prefixes;
            folders.extend(self.layout.folder_prefixes.iter().cloned());
            folders.sort_unstable();
            folders.dedup();
            prefixes += &format!(
                "# Imports count from the roots, and packages begin below these folders.\n\
                 folder-prefix = {}\n",
                json!(folders)
            );
        }
        if !self.layout.path_prefixes.is_empty() {
            prefixes += &format!(
                "# Packages begin with this, and their folders leave it out.\npath-prefix = {}\n",
                json!(self.layout.path_prefixes)
            );
        }
        prefixes += &relaxed.render_unversioned(preset);
        if !prefixes.is_empty() {
            prefixes = format!("\n[packages]\n{prefixes}");
        }
        let import_prefix = match self.layout.import_prefix.as_str() {
            "" => String::new(),
            prefix => format!(
                "# Imports count from above the roots: this is before the path of every file.\n\
                 import-prefix = {}\n",
                json!(prefix)
            ),
        };
        format!(
            "# The folders with the files to check, and folders that only hold imports.\n\
             roots = {}\n\
             import-paths = {}\n{import_prefix}\
             \n\
             # The old tree to compare with, so that `abide check` also reports breaking changes.\n\
             {against}{prefixes}",
            json!(self.layout.roots),
            json!(self.layout.import_paths),
        )
    }

    /// The tables of the dependencies.
    pub(super) fn render_dependencies(&self) -> String {
        self.needed.render()
    }

    /// The next step of the user.
    pub(super) fn describe_next_step(&self) -> &'static str {
        match self.has_files {
            true if !self.needed.to_bring.is_empty() => {
                "`abide deps vendor` brings what is imported; `abide check` then"
            }
            true => "`abide check`",
            false => "add .proto files; `abide check` then",
        }
    }

    /// Notes about the layout, for the user.
    pub(super) fn describe_choices(&self, branch: &DefaultBranch) -> Vec<String> {
        let layout = &self.layout;
        let mut notes = self.said.clone();
        if !self.has_files {
            notes.push(
                "there is no .proto file here yet: once there is, set `roots` to the folder that \
                 its imports start from"
                    .to_owned(),
            );
        }
        if !layout.outside.is_empty() {
            let (count, verb) = match layout.outside.len() {
                1 => ("1 file".to_owned(), "is"),
                many => (format!("{many} files"), "are"),
            };
            notes.push(format!(
                "{count} outside of `roots` {verb} not checked: {}; nothing says which folder their \
                 import paths count from: to check them, add it to `roots`",
                join_first(layout.outside.iter())
            ));
        }
        if let Some((name, import)) = &layout.name_of_top {
            let up = vec![".."; name.split('/').count()].join("/");
            notes.push(format!(
                "imports such as `{import}` count from above this folder: clone it as `{name}`, and \
                 add `{up}` to `import-paths`"
            ));
        }
        if let Some((first, second)) = &layout.same_path {
            notes.push(format!(
                "`{first}` and `{second}` have the same import path: keep one of them, or remove \
                 its folder from `roots`"
            ));
        }
        if !layout.missing.is_empty() {
            notes.push(format!(
                "{} not in this folder: {}; add the folders that they count from to `import-paths`",
                match layout.missing.len() {
                    1 => "1 import is".to_owned(),
                    many => format!("{many} imports are"),
                },
                join_first(layout.missing.iter().map(|(path, _)| path))
            ));
        }
        notes.extend(self.needed.describe());
        notes.extend(describe_branch(branch));
        notes
    }
}

/// Finds the dependencies that the missing imports of a tree need.
fn find_needed(folder: &Path, files: &[ProtoFile], layout: &TreeLayout) -> NeededDependencies {
    let ends: BTreeSet<&str> = files.iter().map(|it| it.path.as_str()).collect();
    let in_roots = |path: &str| {
        let folders = layout.roots.iter().chain(&layout.import_paths);
        folders.map(|it| join(if it == "." { "" } else { it }, path)).any(|it| ends.contains(&*it))
    };
    let missing = layout.missing.iter().map(|(path, _)| path.clone());
    NeededDependencies::find(folder, &layout.roots, missing, &[], &in_roots)
}

/// The first of some names, and how many more there are.
fn join_first<'n>(names: impl ExactSizeIterator<Item = &'n String>) -> String {
    let more = names.len().saturating_sub(NAMED);
    let first: Vec<String> = names.take(NAMED).map(|it| format!("`{it}`")).collect();
    match more {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// The names of a folder and of those around it, from the inside.
fn collect_ancestor_names(folder: &Path) -> Vec<String> {
    let full = canonicalize(folder);
    let names = full.ancestors().map_while(|it| it.file_name()?.to_str().map(str::to_owned));
    names.collect()
}

fn describe_branch(branch: &DefaultBranch) -> Option<String> {
    let why = match branch {
        DefaultBranch::Named(_) => return None,
        DefaultBranch::NoRepository => {
            "there is no git repository here, so nothing to compare with"
        }
        DefaultBranch::Unknown => "the default branch is not known yet",
    };
    Some(format!("{why}: set `against` to report breaking changes"))
}

/// The `buf.yaml` below a folder, which say how some of its files are judged.
fn find_buf_settings(top: &Path, files: &[ProtoFile], layout: &TreeLayout) -> Option<String> {
    let folders: BTreeSet<String> = files
        .iter()
        .filter(|file: &&ProtoFile| {
            layout.roots.iter().any(|it| it == "." || is_below(&file.path, it))
        })
        .flat_map(|file: &ProtoFile| {
            let ends = file.path.match_indices('/').map(|(end, _)| end);
            let folders = ends.filter_map(|end| file.path.get(..end).map(str::to_owned));
            folders.collect::<Vec<String>>()
        })
        .collect();
    let of_buf = folders.iter().map(|it| join(it, "buf.yaml"));
    let found: Vec<String> = of_buf.filter(|it| top.join(it).is_file()).collect();
    let first = found.first()?;
    let verb = if found.len() == 1 { "was" } else { "were" };
    Some(format!(
        "{} {verb} not read: to take over the settings, remove {CONFIG} and run `abide init --from \
         {first}`",
        join_first(found.iter())
    ))
}

/// The submodules of a folder that are not there.
fn find_missing_submodules(top: &Path) -> Option<String> {
    let text = String::from_utf8(read_settings(&top.join(".gitmodules")).ok()?).ok()?;
    let paths = text.lines().filter_map(|line| line.trim().strip_prefix("path"));
    let paths = paths.filter_map(|it| it.trim_start().strip_prefix('=')).map(str::trim);
    let missing: Vec<String> = paths
        .filter(|it: &&str| {
            std::fs::read_dir(top.join(it)).map_or(true, |mut entries| entries.next().is_none())
        })
        .map(str::to_owned)
        .collect();
    let (verb, noun) = match missing.len() {
        0 => return None,
        1 => ("is", "submodule"),
        _ => ("are", "submodules"),
    };
    Some(format!(
        "the {noun} {} {verb} not checked out: run `git submodule update --init`, remove {CONFIG} and \
         run `abide init` again",
        join_first(missing.iter())
    ))
}

/// The paths that the files of a folder import.
pub(super) fn collect_imports(global: &Global, folder: &Path) -> Result<BTreeSet<String>, Error> {
    let progress = Progress::new(global.quiet);
    let loaded = load_folder_if_any(folder, &progress)?;
    progress.finish();
    let files = loaded.iter().flat_map(|it| it.tree.files()).filter(|it| it.is_judged());
    Ok(files.flat_map(|it| &it.decl().imports).map(|it| it.path.to_string()).collect())
}

/// All files of a folder, as if it were the only root; `None` if there is none. If all that it has
/// are folders that links lead to, those are read.
fn load_folder_if_any(folder: &Path, progress: &Progress) -> Result<Option<LoadedTree>, Error> {
    let options = SourceOptions::new(folder);
    let load = |options: &SourceOptions<'_>| -> Result<Option<LoadedTree>, Error> {
        Ok(load_if_any(&Source::open(None, options)?, progress)?)
    };
    if let Some(loaded) = load(&options)? {
        return Ok(Some(loaded));
    }
    let linked = find_linked_folders(folder);
    if linked.is_empty() {
        return Ok(None);
    }
    load(&SourceOptions { roots: &linked, ..options })
}

/// The folders in a folder that links lead to.
fn find_linked_folders(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let names = entries
        .filter(|it: &std::fs::DirEntry| {
            it.file_type().is_ok_and(|kind| kind.is_symlink()) && it.path().is_dir()
        })
        .filter_map(|it| it.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort_unstable();
    names
}

/// Finds the repositories inside of a folder: submodules, and others. What is in them has its own
/// history, which revisions of the repository around do not hold.
struct NestedRepositories<'t> {
    top: &'t Path,
    /// By folder: true if it is the top of a repository.
    found: BTreeMap<String, bool>,
}

impl NestedRepositories<'_> {
    /// The outermost repository around a file, below the top.
    fn find_around(&mut self, path: &str) -> Option<String> {
        let ends = path.match_indices('/').map(|(end, _)| end);
        let mut folders = ends.filter_map(|end| path.get(..end));
        folders.find(|folder| self.is_repository(folder)).map(str::to_owned)
    }

    fn is_repository(&mut self, folder: &str) -> bool {
        if let Some(known) = self.found.get(folder) {
            return *known;
        }
        let is_repository = self.top.join(folder).join(".git").exists();
        self.found.insert(folder.to_owned(), is_repository);
        is_repository
    }
}
