//! What `abide init` finds out about a folder: where its packages begin, what is vendored, and
//! which branch to compare with.

use std::collections::BTreeSet;
use std::path::Path;

use crate::args::Global;
use crate::error::Error;
use crate::load::load;
use crate::progress::Progress;
use crate::source::{DefaultBranch, Source, SourceOptions, default_branch};

/// Folders in which people keep what others wrote.
const VENDORED: &[&str] = &["third_party", "thirdparty", "third-party", "vendor", "external"];

/// The layout of a folder.
pub(super) struct FirstLook {
    /// The folders of the files to check.
    pub(super) roots: Vec<String>,
    /// The folders of files that others wrote.
    pub(super) import_paths: Vec<String>,
    pub(super) branch: DefaultBranch,
    /// How many files there are, and how many of them are outside of the roots.
    pub(super) files: usize,
    pub(super) outside: usize,
}

/// A file, as the search for roots sees it.
struct Found {
    path: String,
    package: String,
    imports: Vec<String>,
}

impl FirstLook {
    pub(super) fn at(global: &Global, folder: &Path) -> Result<FirstLook, Error> {
        if !folder.exists() {
            let (roots, import_paths) = (vec![".".to_owned()], Vec::new());
            let branch = default_branch(Path::new("."));
            return Ok(FirstLook { roots, import_paths, branch, files: 0, outside: 0 });
        }
        let progress = Progress::new(global.quiet);
        let loaded = load(&Source::open(None, &SourceOptions::new(folder))?, &progress)?;
        progress.finish();
        let files: Vec<Found> = loaded
            .tree
            .files()
            .filter(|file| file.is_judged())
            .map(|file| Found {
                path: file.decl().display.to_string(),
                package: file.package().name().to_owned(),
                imports: file.decl().imports.iter().map(|it| it.path.to_string()).collect(),
            })
            .collect();
        let (others, own): (Vec<&Found>, Vec<&Found>) =
            files.iter().partition(|it| is_vendored(&it.path));
        let all: BTreeSet<&str> = files.iter().map(|it| it.path.as_str()).collect();
        let mut roots = outermost(own.iter().filter_map(|it| by_package(it)).collect());
        if roots.is_empty() {
            let by_imports = own.iter().flat_map(|it| &it.imports);
            let found = by_imports.flat_map(|it| homes(it, &own)).collect();
            roots = outermost(found);
        }
        let holds = |roots: &[String], path: &str| roots.iter().any(|it| is_below(path, it));
        let outside = own.iter().filter(|it| !holds(&roots, &it.path)).count();
        let (roots, outside) = match roots.is_empty() {
            true => (vec![".".to_owned()], 0),
            false => (roots, outside),
        };
        let mut import_paths: BTreeSet<String> =
            others.iter().filter_map(|it| by_package(it)).collect();
        // A vendored folder whose packages say nothing is still not ours.
        for other in others {
            let known: Vec<String> = import_paths.iter().cloned().collect();
            if !holds(&known, &other.path) {
                import_paths.insert(vendored_folder(&other.path).to_owned());
            }
        }
        let import_paths = import_paths.into_iter().filter(|it| it != ".").collect();
        Ok(FirstLook {
            roots,
            import_paths,
            branch: default_branch(folder),
            files: all.len(),
            outside,
        })
    }

    /// The lines of `abide.toml` about the tree.
    pub(super) fn toml(&self) -> String {
        let list = |paths: &[String]| serde_json::json!(paths).to_string();
        let against = match &self.branch {
            DefaultBranch::Named(branch) => format!("against = \"git:{branch}...\"\n"),
            _ => "# against = \"git:main...\"\n".to_owned(),
        };
        format!(
            "# The folders with the files to check, and folders that only hold imports.\n\
             roots = {}\n\
             import-paths = {}\n\
             \n\
             # The old tree to compare with, so that `abide check` also reports breaking changes.\n\
             {against}",
            list(&self.roots),
            list(&self.import_paths),
        )
    }

    /// What to say about it.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.files == 0 {
            notes.push("there is no .proto file here yet".to_owned());
        }
        if self.outside > 0 {
            notes.push(format!(
                "{} outside of `roots` will not be checked: their packages do not follow their \
                 folders",
                abide::counted(self.outside, "file")
            ));
        }
        match &self.branch {
            DefaultBranch::Named(_) => {}
            DefaultBranch::NoRepository => notes.push(
                "there is no git repository here, so nothing to compare with: set `against` to \
                 report breaking changes"
                    .to_owned(),
            ),
            DefaultBranch::Unknown => notes.push(
                "the default branch is not known yet: set `against` to report breaking changes"
                    .to_owned(),
            ),
        }
        notes
    }
}

/// The folder from which the path of a file follows its package.
fn by_package(file: &Found) -> Option<String> {
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let package = file.package.replace('.', "/");
    let root = folder.strip_suffix(&package).filter(|_| !package.is_empty())?;
    match root {
        "" => Some(".".to_owned()),
        root => root.strip_suffix('/').map(str::to_owned),
    }
}

/// The folders in which an import is a file.
fn homes(import: &str, files: &[&Found]) -> Vec<String> {
    let home = |file: &&Found| match file.path.strip_suffix(import)? {
        "" => Some(".".to_owned()),
        root => root.strip_suffix('/').map(str::to_owned),
    };
    files.iter().filter_map(home).collect()
}

/// The folders without those inside of another one.
fn outermost(folders: BTreeSet<String>) -> Vec<String> {
    let inside = |folder: &String| folders.iter().any(|it| it != folder && is_below(folder, it));
    folders.iter().filter(|it| !inside(it)).cloned().collect()
}

fn is_below(path: &str, folder: &str) -> bool {
    folder == "." || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

fn is_vendored(path: &str) -> bool {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    folder.split('/').any(|it| VENDORED.contains(&it))
}

/// The first folder of a path that holds what others wrote.
fn vendored_folder(path: &str) -> &str {
    let mut end = 0;
    for part in path.split('/') {
        end += part.len();
        if VENDORED.contains(&part) {
            return path.get(..end).unwrap_or(path);
        }
        end += 1;
    }
    path
}
