//! Finds the packages on this disk that the imports of a tree come from.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use abide_lint::{ConfigDependency, DependencyOrigin, PackageKind};
use abide_schema::{FileDecl, SourceFile, find_well_known};
use abide_source::dependencies::{
    FoundPackage, KnownRepository, Machine, TreePlace, find_module_repository,
    find_repository_of_import, list_packages,
};
use abide_source::{LinkLimits, MountedFiles};
use abide_syntax::Span;

use crate::commands::deps::{choose_name, name_repositories, render_dependency};

/// The most entries of a package that are looked at for a folder that imports count from.
const MAX_ENTRIES: usize = 20_000;

/// The dependencies that the imports of a tree need.
#[derive(Default)]
pub(super) struct NeededDependencies {
    /// Those that are on this disk, and the repositories that have the others.
    pub(super) dependencies: Vec<ConfigDependency>,
    /// The imports that are nowhere.
    pub(super) missing: BTreeSet<String>,
    /// The names of the dependencies that `abide deps vendor` has to bring.
    pub(super) to_bring: Vec<String>,
}

impl NeededDependencies {
    /// Searches for imports, and for what the files import that are found. `modules` are those that
    /// a `buf.yaml` names, and `is_own` says which import paths the tree has itself.
    pub(super) fn find(
        folder: &Path,
        roots: &[String],
        imports: impl Iterator<Item = String>,
        modules: &[String],
        is_own: &dyn Fn(&str) -> bool,
    ) -> NeededDependencies {
        let links = LinkLimits::around(folder, &[]);
        let read = |path: &Path| String::from_utf8(links.read(path).ok()?).ok();
        let place = TreePlace::new(folder, roots, &read);
        let mut search = PackageSearch::new(&place);
        let mut needed = NeededDependencies::default();
        for module in modules {
            search.add_module(module, &mut needed);
        }
        let mut open: VecDeque<String> = imports.collect();
        let mut seen: BTreeSet<String> = open.iter().cloned().collect();
        let mut repositories: Vec<KnownRepository> = Vec::new();
        while let Some(import) = open.pop_front() {
            if let Some(file) = search.resolve(&import, &mut needed) {
                let more = list_imports(&file).into_iter();
                open.extend(more.filter(|it| !is_own(it) && seen.insert(it.clone())));
            } else if find_well_known(&import).is_some() || search.is_awaited(&import, &needed) {
                continue;
            } else if let Some(found) = find_repository_of_import(&import) {
                if !repositories.contains(&found) {
                    repositories.push(found);
                }
            } else {
                needed.missing.insert(import);
            }
        }
        let named = name_repositories(&needed.dependencies, repositories);
        needed.to_bring.extend(named.iter().map(|it| it.name.clone()));
        needed.dependencies.extend(named);
        needed
    }
}

impl NeededDependencies {
    /// The tables of `abide.toml`; empty without any.
    pub(super) fn render(&self) -> String {
        if self.dependencies.is_empty() {
            return String::new();
        }
        let tables: Vec<String> = self.dependencies.iter().map(render_dependency).collect();
        format!(
            "\n# The trees of others that imports come from. `abide deps` lists what is imported of \
             them.\n{}",
            tables.join("\n")
        )
    }
}

impl NeededDependencies {
    /// Says what `abide deps vendor` has to bring.
    pub(super) fn describe(&self) -> Option<String> {
        let names: Vec<String> = self.to_bring.iter().map(|it| format!("`{it}`")).collect();
        (!names.is_empty()).then(|| {
            format!(
                "not on this disk: {}; `abide deps vendor` brings what is missing",
                names.join(", ")
            )
        })
    }
}

/// The import paths in a file.
fn list_imports(path: &Path) -> Vec<String> {
    let Ok(text) = abide_source::read_settings(path) else { return Vec::new() };
    let file = FileDecl::parse(SourceFile {
        path: "imported.proto".into(),
        display: "imported.proto".into(),
        root: 0,
        imported: true,
        text: text.into(),
    });
    file.imports.iter().map(|it| it.path.to_string()).collect()
}

/// The packages around a tree, and the files in those that were looked through.
struct PackageSearch {
    packages: Vec<(PackageKind, FoundPackage)>,
    /// By the number of a package: the paths of its protos.
    protos: BTreeMap<usize, Vec<String>>,
}

/// The place of an import in a package.
struct PlaceInPackage {
    subdir: String,
    import_prefix: String,
    file: PathBuf,
}

impl PackageSearch {
    fn new(place: &TreePlace<'_>) -> PackageSearch {
        let machine = Machine::from_environment();
        let of_kind = |kind: &PackageKind| {
            let found = list_packages(*kind, place, &machine, None).into_iter();
            found.map(|it| (*kind, it)).collect::<Vec<_>>()
        };
        let packages = PackageKind::ALL.iter().flat_map(of_kind).collect();
        PackageSearch { packages, protos: BTreeMap::new() }
    }

    /// Adds a module that a `buf.yaml` names, whether or not it is in the cache.
    fn add_module(&self, module: &str, needed: &mut NeededDependencies) {
        let (name, label) = module.split_once(':').map_or((module, None), |it| (it.0, Some(it.1)));
        // Abide has these built in.
        if name == "buf.build/protocolbuffers/wellknowntypes" {
            return;
        }
        let Some(origin) = DependencyOrigin::parse(name) else { return };
        let is_cached = self.packages.iter().any(|(kind, it)| {
            let is_there = !matches!(it.files, MountedFiles::Missing(_));
            *kind == PackageKind::Buf && it.name == name && is_there
        });
        // A label of the registry is a revision of the repository only by chance.
        let rev = label.filter(|it| it.starts_with('v')).map(str::to_owned);
        let added = add_dependency(origin, "", "", needed);
        if let Some(added) = added.filter(|_| !is_cached && find_module_repository(name).is_some())
        {
            added.rev = rev;
            let name = added.name.clone();
            needed.to_bring.push(name);
        }
    }

    /// Finds a package with an import, adds it and returns the file.
    fn resolve(&mut self, import: &str, needed: &mut NeededDependencies) -> Option<PathBuf> {
        let packages = self.packages.iter().enumerate();
        let mut direct =
            packages.filter_map(|(at, (kind, it))| Some((at, find_direct(*kind, it, import)?)));
        let found = match direct.next() {
            Some(found) => Some(found),
            None => self.find_below(import),
        };
        let (number, PlaceInPackage { subdir, import_prefix, file }) = found?;
        let (kind, package) = &self.packages[number];
        let origin = DependencyOrigin::Package(*kind, package.name.clone());
        add_dependency(origin, &subdir, &import_prefix, needed);
        Some(file)
    }

    /// Finds an import below a folder of a package.
    fn find_below(&mut self, import: &str) -> Option<(usize, PlaceInPackage)> {
        // The name of a file alone says nothing.
        if !import.contains('/') {
            return None;
        }
        let end = format!("/{import}");
        for (number, (_, package)) in self.packages.iter().enumerate() {
            let protos = self.protos.entry(number).or_insert_with(|| list_protos(&package.files));
            let inner = protos.iter().filter_map(|it| it.strip_suffix(&end));
            let Some(subdir) = inner.min_by_key(|it| (it.matches('/').count(), *it)) else {
                continue;
            };
            let path = format!("{subdir}{end}");
            let file = find_file(&package.files, &path)?;
            let (subdir, import_prefix) = (subdir.to_owned(), String::new());
            return Some((number, PlaceInPackage { subdir, import_prefix, file }));
        }
        None
    }

    /// Returns true if a module that is not in the cache publishes the import.
    fn is_awaited(&self, import: &str, needed: &NeededDependencies) -> bool {
        let Some(wanted) = find_repository_of_import(import) else { return false };
        needed.dependencies.iter().any(|it| match &it.origin {
            DependencyOrigin::Package(PackageKind::Buf, name) => {
                find_module_repository(name).is_some_and(|it| it.stands_for(&wanted))
            }
            _ => false,
        })
    }
}

/// Adds a dependency unless it is there. Returns the new one.
fn add_dependency<'n>(
    origin: DependencyOrigin,
    subdir: &str,
    import_prefix: &str,
    needed: &'n mut NeededDependencies,
) -> Option<&'n mut ConfigDependency> {
    let known = &needed.dependencies;
    let is_same = |it: &ConfigDependency| {
        it.origin == origin && it.subdir == subdir && it.import_prefix == import_prefix
    };
    if known.iter().any(is_same) {
        return None;
    }
    let written = origin.written();
    let plain = written.rsplit(':').next().unwrap_or(&written);
    let name = choose_name(plain, &|name| known.iter().any(|it| it.name == *name));
    needed.dependencies.push(ConfigDependency {
        name,
        origin,
        rev: None,
        subdir: subdir.to_owned(),
        paths: Vec::new(),
        import_prefix: import_prefix.to_owned(),
        span: Span::default(),
    });
    needed.dependencies.last_mut()
}

/// The place of an import at the top of a package, or below its name, as imports of Go modules are.
fn find_direct(kind: PackageKind, package: &FoundPackage, import: &str) -> Option<PlaceInPackage> {
    let at = |import_prefix: &str, path: &str| {
        let (subdir, import_prefix) = (String::new(), import_prefix.to_owned());
        Some(PlaceInPackage { subdir, import_prefix, file: find_file(&package.files, path)? })
    };
    let below = || {
        let inner = import.strip_prefix(&package.name)?.strip_prefix('/')?;
        at(&package.name, inner).filter(|_| kind == PackageKind::Go)
    };
    below().or_else(|| at("", import))
}

fn find_file(files: &MountedFiles, path: &str) -> Option<PathBuf> {
    match files {
        MountedFiles::Folder(folder) => Some(folder.join(path)).filter(|it| it.is_file()),
        MountedFiles::Listed(files) => files.get(path).cloned(),
        MountedFiles::Missing(_) => None,
    }
}

/// The paths of the protos in a package.
fn list_protos(files: &MountedFiles) -> Vec<String> {
    let folder = match files {
        MountedFiles::Folder(folder) => folder,
        MountedFiles::Listed(files) => return files.keys().cloned().collect(),
        MountedFiles::Missing(_) => return Vec::new(),
    };
    let (mut protos, mut open, mut entries) = (Vec::new(), vec![String::new()], 0);
    while let Some(below) = open.pop() {
        let read = std::fs::read_dir(folder.join(&below)).into_iter().flatten();
        for entry in read.filter_map(Result::ok) {
            entries += 1;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = abide_source::join(&below, &name);
            let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
            if is_folder && name != "node_modules" && !name.starts_with('.') {
                open.push(path);
            } else if name.ends_with(".proto") {
                protos.push(path);
            }
        }
        if entries > MAX_ENTRIES {
            break;
        }
    }
    protos.sort_unstable();
    protos
}
