//! What `abide init` finds out about a folder: where its packages begin, what is vendored, and
//! which branch to compare with.

use std::collections::BTreeMap;
use std::path::Path;

use abide::{Config, Preset, counted};
use serde_json::json;

use crate::args::Global;
use crate::error::Error;
use crate::load::{Loaded, load};
use crate::progress::Progress;
use crate::source::{DefaultBranch, Source, SourceError, SourceOptions};

use super::layout::{Layout, ProtoFile};

/// The number of imports that a note names.
const NAMED: usize = 3;

/// The layout of a folder.
pub(super) struct FirstLook {
    layout: Layout,
    has_files: bool,
    /// What reading the folder had to say.
    said: Vec<String>,
}

impl FirstLook {
    pub(super) fn at(global: &Global, folder: &Path) -> Result<FirstLook, Error> {
        let progress = Progress::new(global.quiet);
        let loaded = if folder.exists() { whole(folder, &progress)? } else { None };
        progress.finish();
        let Some(loaded) = loaded else {
            let layout = Layout { roots: vec![".".to_owned()], ..Layout::default() };
            return Ok(FirstLook { layout, has_files: false, said: Vec::new() });
        };
        let mut repositories = Repositories { top: folder, found: BTreeMap::new() };
        let files: Vec<ProtoFile> = loaded
            .tree
            .files()
            .filter(|file| file.is_judged())
            .map(|file| ProtoFile {
                path: file.decl().display.to_string(),
                package: file.package().name().to_owned(),
                imports: file.decl().imports.iter().map(|it| it.path.to_string()).collect(),
                repository: repositories.around(&file.decl().display),
            })
            .collect();
        let layout = Layout::of(&files);
        Ok(FirstLook { layout, has_files: true, said: loaded.notes })
    }

    /// The lines of `abide.toml` about the tree.
    pub(super) fn toml(&self, preset: Preset, branch: &DefaultBranch) -> String {
        let against = match branch {
            DefaultBranch::Named(branch) => {
                format!("against = {}\n", json!(format!("git:{branch}...")))
            }
            _ => "# against = \"git:main...\"\n".to_owned(),
        };
        let prefixes = match self.layout.folder_prefixes.as_slice() {
            [] => String::new(),
            found => {
                let mut prefixes = Config::of_preset(preset).policy.packages.folder_prefixes;
                prefixes.extend(found.iter().cloned());
                prefixes.sort_unstable();
                prefixes.dedup();
                format!(
                    "\n# Imports count from the roots, and packages begin below these folders.\n\
                     [packages]\nfolder-prefix = {}\n",
                    json!(prefixes)
                )
            }
        };
        format!(
            "# The folders with the files to check, and folders that only hold imports.\n\
             roots = {}\n\
             import-paths = {}\n\
             \n\
             # The old tree to compare with, so that `abide check` also reports breaking changes.\n\
             {against}{prefixes}",
            json!(self.layout.roots),
            json!(self.layout.import_paths),
        )
    }

    /// What the user can do next.
    pub(super) fn next(&self) -> &'static str {
        match self.has_files {
            true => "`abide check`",
            false => "add .proto files; `abide check` then",
        }
    }

    /// What to say about it.
    pub(super) fn notes(&self, branch: &DefaultBranch) -> Vec<String> {
        let layout = &self.layout;
        let mut notes = self.said.clone();
        if !self.has_files {
            notes.push(
                "there is no .proto file here yet: once there is, set `roots` to the folder that \
                 its imports start from"
                    .to_owned(),
            );
        }
        if layout.outside > 0 {
            notes.push(format!(
                "{} outside of `roots` will not be checked: their packages do not follow their \
                 folders",
                counted(layout.outside, "file")
            ));
        }
        if let Some((first, second)) = &layout.same_path {
            notes.push(format!(
                "`{first}` and `{second}` have the same import path: keep one of them, or remove \
                 its folder from `roots`"
            ));
        }
        if !layout.missing.is_empty() {
            let named: Vec<String> =
                layout.missing.iter().take(NAMED).map(|(path, _)| format!("`{path}`")).collect();
            let more = match layout.missing.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            notes.push(format!(
                "{} not in this folder: {}{more}; add the folders that they count from to \
                 `import-paths`",
                match layout.missing.len() {
                    1 => "1 import is".to_owned(),
                    many => format!("{many} imports are"),
                },
                named.join(", ")
            ));
        }
        notes.extend(branch_note(branch));
        notes
    }
}

fn branch_note(branch: &DefaultBranch) -> Option<String> {
    let why = match branch {
        DefaultBranch::Named(_) => return None,
        DefaultBranch::NoRepository => {
            "there is no git repository here, so nothing to compare with"
        }
        DefaultBranch::Unknown => "the default branch is not known yet",
    };
    Some(format!("{why}: set `against` to report breaking changes"))
}

/// All files of a folder, as if it were the only root; `None` if there is none. If all that it has
/// are folders that links lead to, those are read.
fn whole(folder: &Path, progress: &Progress) -> Result<Option<Loaded>, Error> {
    let options = SourceOptions::new(folder);
    let read = |options: &SourceOptions<'_>| match load(&Source::open(None, options)?, progress) {
        Err(Error::Source(SourceError::NoProtoFiles { .. })) => Ok(None),
        loaded => loaded.map(Some),
    };
    if let Some(loaded) = read(&options)? {
        return Ok(Some(loaded));
    }
    let linked = linked_folders(folder);
    if linked.is_empty() {
        return Ok(None);
    }
    read(&SourceOptions { roots: &linked, ..options })
}

/// The folders in a folder that links lead to.
fn linked_folders(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let is_linked = |it: &std::fs::DirEntry| {
        it.file_type().is_ok_and(|kind| kind.is_symlink()) && it.path().is_dir()
    };
    let names = entries.filter(is_linked).filter_map(|it| it.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort_unstable();
    names
}

/// Finds the repositories inside of a folder: submodules, and others. What is in them has its own
/// history, which revisions of the repository around do not hold.
struct Repositories<'t> {
    top: &'t Path,
    /// Whether a folder is the top of a repository.
    found: BTreeMap<String, bool>,
}

impl Repositories<'_> {
    /// The outermost repository around a file, below the top.
    fn around(&mut self, path: &str) -> Option<String> {
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
