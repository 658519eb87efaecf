//! The origin of every import of a tree.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_schema::{FileDecl, find_missing_imports, find_well_known};
use abide_source::dependencies::ResolvedDependency;
use abide_source::{ImportMount, LoadedTree, Progress, join, load_if_any};

use crate::args::{Global, TreeArgs};
use crate::error::Error;
use crate::render::{DependencyList, ImportOrigin, ListedImport};
use crate::settings::Settings;

/// Collects where the imports of the configured tree come from.
pub(crate) fn collect_report(
    global: &Global,
    settings: &Settings,
) -> Result<DependencyList, Error> {
    let (_, lock) = settings.read_own_lock()?;
    let dependencies = settings.resolve_dependencies(None, Some(&lock))?;
    let imports = match load_tree(global, settings)? {
        Some(loaded) => list_imports(&loaded, &dependencies),
        None => Vec::new(),
    };
    Ok(DependencyList { dependencies, imports })
}

/// Loads the configured tree; `None` if it has no proto file yet.
pub(crate) fn load_tree(global: &Global, settings: &Settings) -> Result<Option<LoadedTree>, Error> {
    let source = settings.open_source(&TreeArgs::default())?;
    let progress = Progress::new(global.quiet);
    let loaded = load_if_any(&source, &progress);
    progress.finish();
    Ok(loaded?)
}

/// The import paths that no file of a loaded tree has, each with the files that import it.
pub(super) fn find_missing(loaded: &LoadedTree) -> BTreeMap<String, BTreeSet<String>> {
    let decls: Vec<Arc<FileDecl>> =
        loaded.tree.files().map(|it| Arc::clone(it.shared_decl())).collect();
    let missing = find_missing_imports(&decls);
    let mut users: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for decl in &decls {
        for import in decl.imports.iter().filter(|it| missing.contains(&it.path)) {
            if find_well_known(&import.path).is_none() {
                let users = users.entry(import.path.to_string()).or_default();
                users.insert(decl.display.to_string());
            }
        }
    }
    users
}

fn list_imports(loaded: &LoadedTree, dependencies: &[ResolvedDependency]) -> Vec<ListedImport> {
    let mut imports: Vec<ListedImport> = Vec::new();
    for file in loaded.tree.files().filter(|it| !it.is_judged()) {
        let decl = file.decl();
        let (path, display) = (decl.path.to_string(), decl.display.to_string());
        let is_of =
            |it: &ResolvedDependency| display_in(&it.mount, &path).is_some_and(|it| it == display);
        let found = dependencies.iter().position(is_of);
        let folder = display.strip_suffix(&path).map(|it| it.trim_end_matches('/').to_owned());
        let origin = match (found, folder) {
            (Some(number), _) => ImportOrigin::Dependency(number),
            (None, Some(folder)) if !folder.is_empty() => ImportOrigin::ImportPath(folder),
            (None, _) if find_well_known(&path).is_some() => ImportOrigin::BuiltIn,
            (None, _) => ImportOrigin::ImportPath(".".to_owned()),
        };
        imports.push(ListedImport { path, origin, display: Some(display) });
    }
    for (path, users) in find_missing(loaded) {
        let origin = ImportOrigin::Missing { users: users.into_iter().collect() };
        imports.push(ListedImport { path, origin, display: None });
    }
    imports.sort_by(|a, b| a.path.cmp(&b.path));
    imports
}

/// The path in messages of a file of a dependency; `None` if the dependency cannot have it.
fn display_in(mount: &ImportMount, path: &str) -> Option<String> {
    let inner = match mount.prefix.as_str() {
        "" => path,
        prefix => path.strip_prefix(prefix)?.strip_prefix('/')?,
    };
    Some(join(&mount.name, inner))
}
