//! The dependencies of a tree and where its imports come from: for people, and as JSON Lines.

use std::fmt::Write;

use abide_lint::pluralize;
use abide_source::MountedFiles;
use abide_source::dependencies::ResolvedDependency;
use serde_json::{Value, json};

/// The dependencies of a tree, and where its imports come from.
pub(crate) struct DependencyList {
    /// The dependencies, in the order of `abide.toml`.
    pub(crate) dependencies: Vec<ResolvedDependency>,
    /// What is imported from outside of the tree, sorted by path.
    pub(crate) imports: Vec<ListedImport>,
}

/// A file that is imported.
pub(crate) struct ListedImport {
    /// Its import path.
    pub(crate) path: String,
    /// Where it comes from.
    pub(crate) origin: ImportOrigin,
    /// Its path in messages.
    pub(crate) display: Option<String>,
}

/// The place that an import comes from.
pub(crate) enum ImportOrigin {
    /// The dependency with this number.
    Dependency(usize),
    /// A folder of `import-paths`.
    ImportPath(String),
    /// The well-known files of Abide itself.
    BuiltIn,
    /// Nowhere; these files import it.
    Missing {
        /// Their paths.
        users: Vec<String>,
    },
}

impl DependencyList {
    fn find_imports(&self, number: usize) -> impl Iterator<Item = &ListedImport> {
        let is_of = move |it: &&ListedImport| matches!(it.origin, ImportOrigin::Dependency(of) if of == number);
        self.imports.iter().filter(is_of)
    }

    fn count_missing(&self) -> usize {
        self.imports.iter().filter(|it| matches!(it.origin, ImportOrigin::Missing { .. })).count()
    }
}

pub(super) fn render_human(list: &DependencyList) -> String {
    let mut out = String::new();
    for (number, dependency) in list.dependencies.iter().enumerate() {
        let version = dependency.version.as_deref().map_or(String::new(), |it| format!(" at {it}"));
        let _ = writeln!(out, "{}: {}{version}", dependency.name, dependency.from);
        match &dependency.mount.files {
            MountedFiles::Missing(reason) => {
                let _ = writeln!(out, "  missing: {reason}");
            }
            _ if dependency.mount.name != dependency.from => {
                let _ = writeln!(out, "  in {}", dependency.mount.name);
            }
            _ => {}
        }
        for import in list.find_imports(number) {
            let _ = writeln!(out, "  {}", import.path);
        }
    }
    let mut folders: Vec<&str> = Vec::new();
    for import in &list.imports {
        if let ImportOrigin::ImportPath(folder) = &import.origin
            && !folders.contains(&folder.as_str())
        {
            folders.push(folder);
        }
    }
    for folder in folders {
        let _ = writeln!(out, "import path {folder}");
        let is_in =
            |it: &&ListedImport| matches!(&it.origin, ImportOrigin::ImportPath(of) if of == folder);
        for import in list.imports.iter().filter(is_in) {
            let _ = writeln!(out, "  {}", import.path);
        }
    }
    for import in &list.imports {
        if let ImportOrigin::Missing { users } = &import.origin {
            let first = users.first().map_or("", String::as_str);
            let more = match users.len() {
                0 | 1 => String::new(),
                many => format!(" and {} more", many - 1),
            };
            let _ = writeln!(out, "missing: {}, imported by {first}{more}", import.path);
        }
    }
    let imports = list.imports.iter().filter(|it| !matches!(it.origin, ImportOrigin::BuiltIn));
    let (count, missing) = (imports.count(), list.count_missing());
    let _ = writeln!(out, "{} from outside, {missing} missing", pluralize(count, "import"),);
    out
}

pub(super) fn render_json(list: &DependencyList) -> String {
    let mut lines: Vec<Value> = Vec::new();
    for (number, dependency) in list.dependencies.iter().enumerate() {
        let mut line = json!({
            "kind": "dependency",
            "name": dependency.name,
            "from": dependency.from,
            "vendored": dependency.is_vendored,
            "imports": list.find_imports(number).count(),
        });
        if let Some(version) = &dependency.version {
            line["version"] = version.as_str().into();
        }
        match &dependency.mount.files {
            MountedFiles::Missing(reason) => line["missing"] = reason.as_str().into(),
            _ => line["path"] = dependency.mount.name.as_str().into(),
        }
        lines.push(line);
    }
    lines.extend(list.imports.iter().map(|it| build_import(list, it)));
    lines.push(json!({
        "kind": "summary",
        "dependencies": list.dependencies.len(),
        "imports": list.imports.len(),
        "missing": list.count_missing(),
    }));
    lines.iter().map(|it| format!("{it}\n")).collect()
}

fn build_import(list: &DependencyList, import: &ListedImport) -> Value {
    let mut line = json!({ "kind": "import", "path": import.path });
    match &import.origin {
        ImportOrigin::Dependency(number) => {
            let dependency = &list.dependencies[*number];
            line["dependency"] = dependency.name.as_str().into();
            line["from"] = dependency.from.as_str().into();
            if let Some(version) = &dependency.version {
                line["version"] = version.as_str().into();
            }
        }
        ImportOrigin::ImportPath(folder) => line["import_path"] = folder.as_str().into(),
        ImportOrigin::BuiltIn => line["built_in"] = true.into(),
        ImportOrigin::Missing { users } => {
            line["missing"] = true.into();
            line["imported_by"] = users.as_slice().into();
        }
    }
    if let Some(display) = &import.display {
        line["file"] = display.as_str().into();
    }
    line
}
