//! Inside a crate, files import what is below them: no circle has more than three files, and no
//! arrow goes up between rooms.
#![allow(clippy::disallowed_methods, reason = "the test reads the sources of the workspace")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;

/// The most files that may import each other: a type, what reads it and what writes it.
const MAX_CIRCLE: usize = 3;

/// The path of a module below the root of its crate.
type ModulePath = Vec<String>;

/// The modules of a crate, each with the modules that it imports from.
type Imports = BTreeMap<ModulePath, BTreeSet<ModulePath>>;

/// A path of an import, and whether it is re-exported.
struct ImportPath {
    names: Vec<String>,
    is_exported: bool,
}

#[test]
fn no_circle_has_more_than_three_files() {
    let mut faults = Vec::new();
    for (name, imports) in read_crates() {
        let circles = find_circles(&imports).into_iter().filter(|it| it.len() > MAX_CIRCLE);
        faults.extend(circles.map(|it| format!("{name}: {}", it.join(", "))));
    }
    assert!(faults.is_empty(), "these files import each other:\n{}", faults.join("\n"));
}

#[test]
fn no_arrow_goes_up_between_rooms() {
    let mut faults = Vec::new();
    for (name, imports) in read_crates() {
        let circles = find_circles(&join_rooms(&imports));
        faults.extend(circles.iter().map(|it| format!("{name}: {}", it.join(", "))));
    }
    assert!(faults.is_empty(), "these rooms import each other:\n{}", faults.join("\n"));
}

#[test]
fn a_made_up_circle_of_four_files_is_found() {
    let imports = collect_imports(&[
        ("lib", "mod a; mod b; mod c; mod d; mod e;"),
        ("a", "use crate::b::{Second, other};"),
        ("b", "use super::c::Third;"),
        ("c", "fn third() { crate::d::fourth() }"),
        ("d", "use crate::{a::First, e::Fifth};"),
        ("e", "//! Says `crate::a`.\n#[cfg(test)]\nmod tests {\n    use crate::a::First;\n}\n"),
    ]);
    assert_eq!(find_circles(&imports), [["a", "b", "c", "d"]]);
}

#[test]
fn an_import_from_a_door_is_one_from_the_file_behind_it() {
    let imports = collect_imports(&[
        ("lib", "mod low; mod high;"),
        ("low", "mod first;\nmod second;\npub(crate) use first::First;\n"),
        ("low/first", "pub struct First;"),
        ("low/second", "use crate::low::First;"),
        ("high", "mod third;"),
        ("high/third", "use crate::low::First;"),
    ]);
    assert!(find_circles(&imports).is_empty());
    let third = ["high", "third"].map(str::to_owned).to_vec();
    assert_eq!(imports[&third], BTreeSet::from([["low", "first"].map(str::to_owned).to_vec()]));
}

#[test]
fn a_made_up_arrow_up_is_found() {
    let imports = collect_imports(&[
        ("lib", "mod low; mod high;"),
        ("low", "mod first;\nmod second;"),
        ("low/first", "use crate::high::third::Third;"),
        ("low/second", ""),
        ("high", "mod third;\nmod fourth;"),
        ("high/third", ""),
        ("high/fourth", "use crate::low::second::Second;"),
    ]);
    assert!(find_circles(&imports).is_empty(), "no file imports itself");
    assert_eq!(find_circles(&join_rooms(&imports)), [["high", "low"]]);
}

/// Reads the imports of every crate of the workspace.
fn read_crates() -> BTreeMap<String, Imports> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the workspace");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root.join("crates"))
        .expect("there are crates")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.join("src").is_dir())
        .collect();
    folders.push(root.join("xtask"));
    let mut crates = BTreeMap::new();
    for folder in folders {
        let mut sources = Vec::new();
        read_sources(&folder.join("src"), "", &mut sources);
        let sources: Vec<(&str, &str)> =
            sources.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let name = folder.file_name().expect("it has a name").to_string_lossy().into_owned();
        crates.insert(name, collect_imports(&sources));
    }
    assert!(crates.len() > 10, "there are crates");
    crates
}

/// Reads the Rust files of a folder, by their paths without the extension.
fn read_sources(folder: &Path, prefix: &str, sources: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("it can be read").path();
        let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
        if path.is_dir() {
            read_sources(&path, &format!("{prefix}{name}/"), sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).expect("sources are UTF-8");
            sources.push((format!("{prefix}{name}"), text));
        }
    }
}

/// Finds what each module of a crate imports. An import of what a module re-exports counts for the
/// module that declares it.
fn collect_imports(sources: &[(&str, &str)]) -> Imports {
    let modules: BTreeMap<ModulePath, Vec<ImportPath>> =
        sources.iter().map(|(path, text)| (module_path(path), collect_paths(text))).collect();
    let mut exports: BTreeMap<(ModulePath, String), ModulePath> = BTreeMap::new();
    for (module, paths) in &modules {
        for path in paths.iter().filter(|path| path.is_exported) {
            if let Some((target, Some(item))) = resolve_path(&modules, module, &path.names) {
                exports.insert((module.clone(), item), target);
            }
        }
    }
    let mut imports = Imports::new();
    for (module, paths) in &modules {
        let targets = imports.entry(module.clone()).or_default();
        // The root only re-exports what users of the crate see.
        if module.is_empty() {
            continue;
        }
        for path in paths {
            let Some((mut target, item)) = resolve_path(&modules, module, &path.names) else {
                continue;
            };
            let mut passed = BTreeSet::new();
            while let Some(item) = &item
                && let Some(behind) = exports.get(&(target.clone(), item.clone()))
                && passed.insert(target.clone())
            {
                target = behind.clone();
            }
            if target != *module {
                targets.insert(target);
            }
        }
    }
    imports
}

/// The module of a file.
fn module_path(file: &str) -> ModulePath {
    let mut names: ModulePath = file.split('/').map(|name| name.replace('-', "_")).collect();
    if names.last().is_some_and(|name| ["lib", "main", "mod"].contains(&name.as_str())) {
        names.pop();
    }
    names
}

/// Finds the module that a path of an import begins with, and the item that it names there.
fn resolve_path(
    modules: &BTreeMap<ModulePath, Vec<ImportPath>>,
    module: &ModulePath,
    names: &[String],
) -> Option<(ModulePath, Option<String>)> {
    let mut target = module.clone();
    let mut rest = names.iter().peekable();
    match names.first()?.as_str() {
        "crate" => {
            target.clear();
            rest.next();
        }
        "self" => {
            rest.next();
        }
        "super" => {
            while rest.next_if(|name| *name == "super").is_some() {
                target.pop();
            }
        }
        first => {
            let child = [target.as_slice(), &[first.to_owned()]].concat();
            modules.get(&child)?;
        }
    }
    while let Some(name) = rest.peek() {
        let child = [target.as_slice(), &[(*name).clone()]].concat();
        if !modules.contains_key(&child) {
            break;
        }
        target = child;
        rest.next();
    }
    Some((target, rest.next().cloned()))
}

/// Collects the paths that a text names with `use`, or with `crate`, `self` or `super` at the place
/// of use. Comments and tests are left out.
fn collect_paths(text: &str) -> Vec<ImportPath> {
    let text = remove_tests(text);
    let mut paths = Vec::new();
    let mut rest = text.as_str();
    while let Some(at) = find_word(rest, "use ") {
        let line = rest[..at].rsplit('\n').next().unwrap_or_default().trim_start();
        let is_statement = line.is_empty() || line.starts_with("pub") || line.ends_with(';');
        rest = &rest[at + "use ".len()..];
        let Some(end) = rest.find(';').filter(|_| is_statement) else { continue };
        let is_exported = line.starts_with("pub");
        for names in expand_tree(&rest[..end]) {
            paths.push(ImportPath { names, is_exported });
        }
    }
    for start in ["crate::", "self::", "super::"] {
        let mut rest = text.as_str();
        while let Some(at) = find_word(rest, start) {
            rest = &rest[at..];
            let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let names = rest[..end].split("::").filter(|name| !name.is_empty());
            let names: Vec<String> = names.map(str::to_owned).collect();
            // A path that goes on in braces was read with its `use`.
            if !rest[..end].ends_with("::") {
                paths.push(ImportPath { names, is_exported: false });
            }
            rest = &rest[end..];
        }
    }
    paths
}

/// Finds a word that no other letter precedes, nor a path.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let is_start = |at: &usize| {
        let before = text[..*at].chars().next_back();
        before.is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '_' | ':')))
    };
    text.match_indices(word).map(|(at, _)| at).find(is_start)
}

/// Removes comments and the modules of tests.
fn remove_tests(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        if line.trim() != "#[cfg(test)]" {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let end = format!("{indent}}}");
        let mut item = lines.by_ref().skip_while(|line| line.trim_start().starts_with("#["));
        if item.next().is_some_and(|line| line.trim_end().ends_with('{')) {
            lines.by_ref().find(|line| *line == end);
        }
    }
    out
}

/// Expands `a::{b, c::{self, D as E}}` to the paths that it names.
fn expand_tree(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim();
    let (prefix, list) = tree.split_once('{').unwrap_or((tree, ""));
    let prefix = prefix.split(" as ").next().unwrap_or_default();
    let prefix: Vec<String> = prefix
        .split("::")
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    if list.is_empty() {
        return vec![prefix];
    }
    let list = list.trim_end().strip_suffix('}').unwrap_or(list);
    let mut depth = 0;
    let parts = list.split(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    let mut paths = Vec::new();
    for part in parts.filter(|part| !part.trim().is_empty()) {
        for names in expand_tree(part) {
            let names = names.into_iter().filter(|name| name != "self");
            paths.push(prefix.iter().cloned().chain(names).collect());
        }
    }
    paths
}

/// The imports between the rooms of a crate: modules at its root that have files of their own.
/// Two modules of one file each are left to the limit on files.
fn join_rooms(imports: &Imports) -> Imports {
    let has_files: BTreeSet<&String> =
        imports.keys().filter(|module| module.len() > 1).map(|module| &module[0]).collect();
    let mut rooms = Imports::new();
    for (module, targets) in imports.iter().filter(|(module, _)| !module.is_empty()) {
        let room = &module[0];
        let is_arrow = |other: &&String| {
            *other != room && (has_files.contains(room) || has_files.contains(*other))
        };
        let others = targets.iter().filter_map(|target| target.first()).filter(is_arrow);
        rooms.entry(vec![room.clone()]).or_default().extend(others.map(|it| vec![it.clone()]));
    }
    rooms
}

/// Finds the modules that import each other, in circles of at least two. The root of a crate is in
/// none: it declares every module.
fn find_circles(imports: &Imports) -> Vec<Vec<String>> {
    let mut graph: DiGraph<String, ()> = DiGraph::new();
    let modules = imports.keys().filter(|module| !module.is_empty());
    let nodes: BTreeMap<&ModulePath, _> =
        modules.map(|module| (module, graph.add_node(module.join("::")))).collect();
    for (module, node) in &nodes {
        for target in imports[*module].iter().filter_map(|target| nodes.get(target)) {
            graph.add_edge(*node, *target, ());
        }
    }
    let mut circles = Vec::new();
    for circle in tarjan_scc(&graph).into_iter().filter(|circle| circle.len() > 1) {
        let mut names: Vec<String> = circle.into_iter().map(|node| graph[node].clone()).collect();
        names.sort();
        circles.push(names);
    }
    circles.sort();
    circles
}
