//! Declarations of many files to one linked [`Tree`].
//!
//! Stages, each parallel over files where files do not depend on each other:
//! imports, packages, names, visibility, references, features, options, and
//! the checks that need all of these.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide_syntax::{ImportKind, Slice};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::decl::{FileDecl, MessageKind, Name, Parent, Part, SourceFile, TypeDecl};
use crate::ids::{EnumId, EnumValueId, FieldId, FileId, MessageId, PackageId, ServiceId};
use crate::problem::{Place, Problem, ProblemKind, article};
use crate::symbol::{
    FileSet, Names, NotFound, PackageNode, Scope, Symbol, Symbols, Visible, Wanted,
};
use crate::tree::{
    EnumLink, FieldLink, ImportLink, LinkedFile, MessageLink, MethodLink, PackageData, Tree, Type,
    indices,
};
use crate::version::PackageVersion;
use crate::wellknown::built_in;

/// The file that declares the options themselves.
pub(crate) const DESCRIPTOR_PROTO: &str = "google/protobuf/descriptor.proto";

/// The paths that files import and that no file has, in the order of paths:
/// what a caller may read from elsewhere and add before linking. Well-known
/// types that stay missing are added by [`Tree::link`].
pub fn missing_imports(files: &[Arc<FileDecl>]) -> Vec<Box<str>> {
    let known: rustc_hash::FxHashSet<&str> = files.iter().map(|file| &*file.path).collect();
    let mut missing: Vec<Box<str>> = files
        .par_iter()
        .flat_map_iter(|file| &file.imports)
        .map(|import| &import.path)
        .filter(|path| !known.contains(&***path))
        .cloned()
        .collect();
    missing.sort_unstable();
    missing.dedup();
    missing
}

impl Tree {
    /// Links files into a tree. The order of `files` does not matter.
    pub fn link(mut files: Vec<Arc<FileDecl>>) -> Tree {
        add_well_known(&mut files);
        files.par_sort_by(|a, b| (a.root, &a.path).cmp(&(b.root, &b.path)));
        let mut problems = Vec::new();
        drop_duplicates(&mut files, &mut problems);

        let nested = files.par_iter().enumerate().map(|(index, file)| nested_names(index, file));
        let mut symbols = Symbols::new(nested.collect(), files.len() * 8);
        let (nodes, (imports, (packages, package_of))) = rayon::join(
            || insert_symbols(&files, &mut symbols),
            || {
                let imports = resolve_imports(&files, &mut problems);
                import_cycles(&files, &imports, &mut problems);
                (imports, packages(&files))
            },
        );
        let visible = visibility(&files, &imports, &nodes, &symbols);

        let linker = Linker { files: &files, nodes: &nodes, symbols: &symbols, visible: &visible };
        let linked: Vec<(LinkedFile, Vec<Problem>)> = (0..files.len())
            .into_par_iter()
            .map(|index| linker.link_file(index, package_of[index], &imports[index]))
            .collect();
        let mut tree = Tree {
            files: Vec::with_capacity(linked.len()),
            packages,
            problems,
            known: crate::annotation::Known::default(),
            public_importers: public_importers(&files),
            by_full_name: crate::value::ByFullName::default(),
        };
        for (file, found) in linked {
            tree.files.push(file);
            tree.problems.extend(found);
        }
        crate::options::interpret(&mut tree, &linker);
        let found = crate::validate::validate(&tree, &linker);
        tree.problems.extend(found);
        tree.problems
            .sort_by(|a, b| (a.place, a.kind, &a.message).cmp(&(b.place, b.kind, &b.message)));
        tree.problems.dedup();
        tree
    }
}

fn package_name(file: &FileDecl) -> &str {
    file.package.map_or("", |package| file.str(package.name))
}

/// Adds the well-known types that are needed and that the tree does not have.
fn add_well_known(files: &mut Vec<Arc<FileDecl>>) {
    let imported = files.par_iter().flat_map_iter(|file| &file.imports);
    let mut wanted: BTreeMap<&str, &str> =
        imported.filter_map(|import| built_in(&import.path)).collect();
    wanted.extend(built_in(DESCRIPTOR_PROTO));
    let mut known: BTreeSet<&str> =
        files.iter().filter_map(|file| built_in(&file.path)).map(|(path, _)| path).collect();
    while let Some((path, text)) = wanted.pop_first() {
        if !known.insert(path) {
            continue;
        }
        let file = FileDecl::parse(SourceFile {
            path: path.into(),
            display: path.into(),
            root: u32::MAX,
            imported: true,
            text: text.as_bytes().into(),
        });
        wanted.extend(file.imports.iter().filter_map(|import| built_in(&import.path)));
        files.push(Arc::new(file));
    }
}

/// Of two files with one path under one root the first stays.
fn drop_duplicates(files: &mut Vec<Arc<FileDecl>>, problems: &mut Vec<Problem>) {
    let mut at = 0;
    let mut last: Option<(u32, Arc<str>)> = None;
    files.retain(|file| {
        let key = (file.root, Arc::clone(&file.path));
        if last.as_ref() == Some(&key) {
            problems.push(Problem {
                kind: ProblemKind::NameDuplicated,
                place: Place { file: FileId(at - 1), span: abide_syntax::Span::default() },
                message: format!("the file `{}` is there twice", file.path),
                element: Some(file.path.to_string()),
                labels: Vec::new(),
                help: Some("keep one of them; the first is judged".to_owned()),
            });
            return false;
        }
        at += 1;
        last = Some(key);
        true
    });
}

/// For each file and import the file that is meant: one of the same root
/// before one of another.
fn resolve_imports(
    files: &[Arc<FileDecl>],
    problems: &mut Vec<Problem>,
) -> Vec<Vec<Option<FileId>>> {
    let mut by_path: FxHashMap<&str, Vec<FileId>> = FxHashMap::default();
    for (index, file) in files.iter().enumerate() {
        by_path.entry(&file.path).or_default().push(FileId(index as u32));
    }
    let mut resolved = Vec::with_capacity(files.len());
    for (index, file) in files.iter().enumerate() {
        let targets = file.imports.iter().map(|import| {
            let candidates = by_path.get(&*import.path)?;
            let same_root = candidates.iter().find(|id| files[id.0 as usize].root == file.root);
            same_root.or(candidates.first()).copied()
        });
        let targets: Vec<Option<FileId>> = targets.collect();
        for (import, target) in file.imports.iter().zip(&targets) {
            // protoc refuses a weak import of nothing as well.
            if target.is_none() {
                let place =
                    Place { file: FileId(index as u32), span: file.span(import.node, Part::Name) };
                let near = near_path(&import.path, by_path.keys().copied());
                problems.push(Problem {
                    kind: ProblemKind::ImportNotFound,
                    place,
                    message: format!("the import `{}` was not found", import.path),
                    element: Some(file.path.to_string()),
                    labels: Vec::new(),
                    help: Some(match near {
                        Some(path) => format!("there is a file `{path}`"),
                        None => "name the folder it lies in with `-I DIR`, or as an entry of \
                                 `import-paths` in abide.toml"
                            .to_owned(),
                    }),
                });
            }
        }
        resolved.push(targets);
    }
    resolved
}

/// A known path that ends in the wanted one, or the other way round: the usual
/// mistake is a wrong root.
fn near_path<'p>(wanted: &str, known: impl Iterator<Item = &'p str>) -> Option<&'p str> {
    let suffix = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|rest| rest.ends_with('/') && short.contains('/'))
    };
    known.filter(|path| suffix(path, wanted) || suffix(wanted, path)).min()
}

/// Reports every cycle of imports once, at its first file. Iterative: chains
/// of imports may be long.
fn import_cycles(
    files: &[Arc<FileDecl>],
    imports: &[Vec<Option<FileId>>],
    problems: &mut Vec<Problem>,
) {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; files.len()];
    for root in 0..files.len() {
        if states[root] != State::New {
            continue;
        }
        // Each entry is a file and the next of its imports to look at.
        let mut path = vec![(root, 0)];
        states[root] = State::Open;
        while let Some((file, next)) = path.last_mut() {
            let (at, import) = (*file, *next);
            let Some(target) = imports[at].get(import) else {
                states[at] = State::Done;
                path.pop();
                continue;
            };
            *next += 1;
            let Some(target) = target.map(|id| id.0 as usize) else { continue };
            match states[target] {
                State::New => {
                    states[target] = State::Open;
                    path.push((target, 0));
                }
                State::Open => {
                    let start = path
                        .iter()
                        .position(|&(file, _)| file == target)
                        .expect("an open file is on the path");
                    problems.push(cycle_problem(files, &path[start..]));
                }
                State::Done => {}
            }
        }
    }
}

fn cycle_problem(files: &[Arc<FileDecl>], cycle: &[(usize, usize)]) -> Problem {
    let place = |&(file, next): &(usize, usize)| Place {
        file: FileId(file as u32),
        // The import that was followed is the one before the next.
        span: files[file].span(files[file].imports[next - 1].node, Part::Name),
    };
    let imported = |&(file, next): &(usize, usize)| &files[file].imports[next - 1].path;
    let first = &files[cycle[0].0].path;
    let steps: Vec<&str> = cycle.iter().map(|step| &**imported(step)).collect();
    let message = if cycle.len() == 1 {
        format!("`{first}` imports itself")
    } else {
        format!("`{first}` imports itself by way of `{}`", steps[..steps.len() - 1].join("`, `"))
    };
    Problem {
        kind: ProblemKind::ImportCycle,
        place: place(&cycle[0]),
        message,
        element: Some(first.to_string()),
        labels: cycle[1..]
            .iter()
            .map(|step| (place(step), format!("imports `{}`", imported(step))))
            .collect(),
        help: Some("move what both need into a file of its own".to_owned()),
    }
}

fn public_importers(files: &[Arc<FileDecl>]) -> Vec<FileId> {
    let is_public = |file: &FileDecl| file.imports.iter().any(|it| it.kind == ImportKind::Public);
    let found = (0..).zip(files).filter(|(_, file)| is_public(file));
    found.map(|(index, _)| FileId(index)).collect()
}

fn packages(files: &[Arc<FileDecl>]) -> (Vec<PackageData>, Vec<PackageId>) {
    let names: Vec<&str> = files.iter().map(|file| package_name(file)).collect();
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|&index| names[index]);
    let mut packages: Vec<PackageData> = Vec::new();
    let mut package_of = vec![PackageId(0); files.len()];
    for index in order {
        let name = names[index];
        if packages.last().is_none_or(|package| package.name != name) {
            packages.push(PackageData {
                name: name.to_owned(),
                version: PackageVersion::of_package(name),
                files: Vec::new(),
            });
        }
        package_of[index] = PackageId(packages.len() as u32 - 1);
        if let Some(package) = packages.last_mut() {
            package.files.push(FileId(index as u32));
        }
    }
    (packages, package_of)
}

/// Adds the names of the top level, package by package; gives each file's package.
fn insert_symbols<'a>(files: &'a [Arc<FileDecl>], symbols: &mut Symbols<'a>) -> Vec<PackageNode> {
    let nodes: Vec<PackageNode> =
        files.iter().map(|file| symbols.package(package_name(file))).collect();
    for ((index, decl), &node) in (0..).zip(files).zip(&nodes) {
        let scope = (decl.top_messages, decl.top_enums, decl.top_extensions);
        each_symbol(FileId(index), decl, scope, |name, symbol| symbols.insert(node, name, symbol));
        for (at, service) in (0..).zip(&decl.services) {
            let id = ServiceId { file: FileId(index), index: at };
            symbols.insert(node, decl.str(service.name), Symbol::Service(id));
        }
    }
    nodes
}

/// The names that stand in the messages of a file.
fn nested_names(index: usize, decl: &FileDecl) -> Names<'_> {
    let mut names = Names::default();
    for (of, message) in (0..).zip(&decl.messages) {
        let scope = (message.messages, message.enums, message.extensions);
        each_symbol(FileId(index as u32), decl, scope, |name, symbol| {
            names.insert(of, name, symbol);
        });
    }
    names
}

/// Every symbol of a scope with its name.
fn each_symbol<'a>(
    file: FileId,
    decl: &'a FileDecl,
    (messages, enums, extensions): (Slice, Slice, Slice),
    mut each: impl FnMut(&'a str, Symbol),
) {
    for index in indices(messages) {
        let name = decl.messages[index as usize].name;
        each(decl.str(name), Symbol::Message(MessageId { file, index }));
    }
    for index in indices(enums) {
        each(decl.str(decl.enums[index as usize].name), Symbol::Enum(EnumId { file, index }));
    }
    // By the rules of the language a value is a sibling of its enum.
    for item in &decl.enums[enums.range()] {
        for index in indices(item.values) {
            let name = decl.values[index as usize].name;
            each(decl.str(name), Symbol::EnumValue(EnumValueId { file, index }));
        }
    }
    for index in indices(extensions) {
        let name = decl.fields[index as usize].name;
        each(decl.str(name), Symbol::Extension(FieldId { file, index }));
    }
}

/// What each file may see: its imports, and what they import publicly.
fn visibility(
    files: &[Arc<FileDecl>],
    imports: &[Vec<Option<FileId>>],
    nodes: &[PackageNode],
    symbols: &Symbols<'_>,
) -> Vec<Visible> {
    let words = symbols.package_count().div_ceil(64);
    (0..files.len())
        .into_par_iter()
        .map_init(
            || Publicly { files, imports, marks: vec![0; files.len()], round: 0 },
            |publicly, index| {
                let import = |wanted_option: bool| {
                    let kinds = files[index].imports.iter().map(|import| import.kind);
                    let wanted =
                        kinds.map(move |kind| (kind == ImportKind::Option) == wanted_option);
                    let targets = wanted.zip(&imports[index]);
                    targets.filter_map(|(wanted, target)| target.filter(|_| wanted)).collect()
                };
                let mut seen = publicly.closure(import(false));
                if publicly.mark(FileId(index as u32)) {
                    seen.push(FileId(index as u32));
                }
                let option_files = publicly.closure(import(true));
                let mut packages = vec![0_u64; words];
                for file in seen.iter().chain(&option_files) {
                    let mut node = Some(nodes[file.0 as usize]);
                    while let Some(at) = node {
                        let (word, bit) = (at.0 as usize / 64, 1 << (at.0 % 64));
                        if packages[word] & bit != 0 {
                            break;
                        }
                        packages[word] |= bit;
                        node = symbols.package_parent(at);
                    }
                }
                Visible {
                    files: FileSet::new(seen, files.len()),
                    option_files: FileSet::new(option_files, files.len()),
                    packages,
                }
            },
        )
        .collect()
}

/// Finds files and what they import publicly, in any number of steps. Chains
/// of public imports may be long, so that what was seen is marked by file.
struct Publicly<'a> {
    files: &'a [Arc<FileDecl>],
    imports: &'a [Vec<Option<FileId>>],
    /// The round in which each file was last seen.
    marks: Vec<u32>,
    round: u32,
}

impl Publicly<'_> {
    /// Whether the file is seen for the first time in this round.
    fn mark(&mut self, file: FileId) -> bool {
        std::mem::replace(&mut self.marks[file.0 as usize], self.round) != self.round
    }

    fn closure(&mut self, mut pending: Vec<FileId>) -> Vec<FileId> {
        self.round += 1;
        let mut seen = Vec::with_capacity(pending.len() + 1);
        while let Some(file) = pending.pop() {
            if !self.mark(file) {
                continue;
            }
            seen.push(file);
            let at = file.0 as usize;
            let public = self.files[at]
                .imports
                .iter()
                .zip(&self.imports[at])
                .filter(|(import, _)| import.kind == ImportKind::Public);
            pending.extend(public.filter_map(|(_, target)| *target));
        }
        seen
    }
}

/// What resolving the names of a file needs.
pub(crate) struct Linker<'a> {
    files: &'a [Arc<FileDecl>],
    nodes: &'a [PackageNode],
    pub(crate) symbols: &'a Symbols<'a>,
    visible: &'a [Visible],
}

impl Linker<'_> {
    fn link_file(
        &self,
        index: usize,
        package: PackageId,
        imports: &[Option<FileId>],
    ) -> (LinkedFile, Vec<Problem>) {
        let decl = &self.files[index];
        let mut resolver = Resolver {
            linker: self,
            file: FileId(index as u32),
            decl,
            used: vec![],
            problems: local_problems(FileId(index as u32), decl),
        };
        let fields = (0..decl.fields.len() as u32).map(|at| resolver.field(at)).collect();
        let methods = (0..decl.methods.len() as u32).map(|at| resolver.method(at)).collect();
        let mut used = resolver.used;
        used.sort_unstable();
        used.dedup();
        let imports = imports
            .iter()
            .map(|&file| ImportLink {
                file,
                used: file.is_some_and(|file| used.binary_search(&file).is_ok()),
            })
            .collect();
        let mut file = LinkedFile {
            decl: Arc::clone(decl),
            package,
            imports,
            features: crate::features::Features::of(decl.edition),
            options: None,
            messages: vec![MessageLink::default(); decl.messages.len()],
            fields,
            oneofs: vec![None; decl.oneofs.len()],
            enums: vec![EnumLink::default(); decl.enums.len()],
            values: vec![None; decl.values.len()],
            services: vec![None; decl.services.len()],
            methods,
            ranges: vec![None; decl.ranges.len()],
        };
        crate::features::resolve(&mut file);
        (file, resolver.problems)
    }

    /// The scopes a name is looked up in, from the innermost to the root.
    pub(crate) fn scopes(&self, file: FileId, parent: Parent) -> Vec<Scope> {
        let decl = &self.files[file.0 as usize];
        let mut scopes = Vec::with_capacity(8);
        let mut parent = parent;
        while let Parent::Message(index) = parent {
            scopes.push(Scope::Message(MessageId { file, index }));
            parent = decl.messages[index as usize].parent;
        }
        let mut node = Some(self.nodes[file.0 as usize]);
        while let Some(at) = node {
            scopes.push(Scope::Package(at));
            node = self.symbols.package_parent(at);
        }
        scopes
    }

    /// Finds what a name means at a place of a file.
    pub(crate) fn resolve(
        &self,
        file: FileId,
        parent: Parent,
        name: &str,
        wanted: Wanted,
    ) -> Result<Symbol, NotFound> {
        self.resolve_as(file, (file, parent), name, wanted)
    }

    /// Finds what a name means in a scope, perhaps of another file, with what
    /// `file` may see.
    pub(crate) fn resolve_as(
        &self,
        file: FileId,
        (scope_file, parent): (FileId, Parent),
        name: &str,
        wanted: Wanted,
    ) -> Result<Symbol, NotFound> {
        let scopes = self.scopes(scope_file, parent);
        self.symbols.resolve(&scopes, name, wanted, &self.visible[file.0 as usize])
    }

    /// The innermost scope that could hold the first component of a name: a
    /// message that declares it, or the file.
    pub(crate) fn nearest_scope(&self, file: FileId, mut parent: Parent, first: &str) -> Parent {
        while let Parent::Message(index) = parent {
            let scope = Scope::Message(MessageId { file, index });
            if self.symbols.all(scope, first).next().is_some() {
                break;
            }
            parent = self.files[file.0 as usize].messages[index as usize].parent;
        }
        parent
    }

    /// Why a name was not found at a place of a file, and what to do.
    pub(crate) fn not_found(
        &self,
        file: FileId,
        parent: Parent,
        name: &str,
        reason: &NotFound,
    ) -> (String, Option<String>) {
        let scopes = self.scopes(file, parent);
        if let NotFound::InnerScope { found } = reason {
            let first = name.split('.').next().unwrap_or(name);
            let inner = match found {
                Symbol::Package(_) => format!("the package `{first}` nearest to it"),
                symbol => {
                    format!("the {} `{}` nearest to it", symbol.noun(), self.full_name(*symbol))
                }
            };
            let message = format!("`{name}` was not found: {inner} has no such name");
            let help = format!("write `.{name}` to begin at the outermost scope");
            return (message, Some(help));
        }
        let elsewhere = self.symbols.anywhere(&scopes, name);
        match elsewhere.and_then(Symbol::file) {
            Some(other) if other != file => {
                let path = &self.files[other.0 as usize].path;
                let message = format!("`{name}` is declared in a file that is not imported");
                (message, Some(format!("add `import \"{path}\";`")))
            }
            _ => (format!("`{name}` was not found"), None),
        }
    }

    /// Whether a file is in a package or in one below it.
    pub(crate) fn is_in_package(&self, file: FileId, package: PackageNode) -> bool {
        let mut node = Some(self.nodes[file.0 as usize]);
        while let Some(at) = node {
            if at == package {
                return true;
            }
            node = self.symbols.package_parent(at);
        }
        false
    }

    /// The full name of a symbol, for messages.
    pub(crate) fn full_name(&self, symbol: Symbol) -> String {
        let (file, parent, name) = match symbol {
            Symbol::Package(_) => return String::new(),
            Symbol::Message(id) => {
                let item = &self.files[id.file.0 as usize].messages[id.index as usize];
                (id.file, item.parent, item.name)
            }
            Symbol::Enum(id) => {
                let item = &self.files[id.file.0 as usize].enums[id.index as usize];
                (id.file, item.parent, item.name)
            }
            Symbol::EnumValue(id) => {
                let decl = &self.files[id.file.0 as usize];
                let value = &decl.values[id.index as usize];
                (id.file, decl.enums[value.parent as usize].parent, value.name)
            }
            Symbol::Extension(id) => {
                let item = &self.files[id.file.0 as usize].fields[id.index as usize];
                (id.file, item.parent, item.name)
            }
            Symbol::Service(id) => {
                let item = &self.files[id.file.0 as usize].services[id.index as usize];
                (id.file, Parent::File, item.name)
            }
        };
        let decl = &self.files[file.0 as usize];
        let mut names = vec![decl.str(name)];
        let mut parent = parent;
        while let Parent::Message(index) = parent {
            let message = &decl.messages[index as usize];
            names.push(decl.str(message.name));
            parent = message.parent;
        }
        names.push(package_name(decl));
        names.reverse();
        names.retain(|name| !name.is_empty());
        names.join(".")
    }
}

/// What is wrong with a file by itself, as problems of the tree.
fn local_problems(file: FileId, decl: &FileDecl) -> Vec<Problem> {
    let place = |span| Place { file, span };
    let labels = |labels: &[(abide_syntax::Span, String)]| {
        labels.iter().map(|(span, text)| (place(*span), text.clone())).collect()
    };
    decl.problems
        .iter()
        .map(|problem| Problem {
            kind: problem.kind,
            place: place(problem.span),
            message: problem.message.clone(),
            element: Some(decl.path.to_string()),
            labels: labels(&problem.labels),
            help: problem.help.clone(),
        })
        .collect()
}

/// Resolves the names of one file.
struct Resolver<'a> {
    linker: &'a Linker<'a>,
    file: FileId,
    decl: &'a FileDecl,
    used: Vec<FileId>,
    problems: Vec<Problem>,
}

impl Resolver<'_> {
    fn field(&mut self, index: u32) -> FieldLink {
        let decl = self.decl;
        let field = &decl.fields[index as usize];
        let file = self.file;
        let place = |part| Place { file, span: decl.span(field.node, part) };
        let is_map_key = matches!(field.parent, Parent::Message(message)
            if self.decl.messages[message as usize].kind == MessageKind::MapEntry)
            && field.number == 1;
        // The entry itself stands nowhere, so its types point into the field.
        let type_place = place(if is_map_key { Part::Whole } else { Part::Type });
        let ty = match field.ty {
            TypeDecl::Scalar(scalar) => Type::Scalar(scalar),
            TypeDecl::Group(index) | TypeDecl::Map(index) => {
                Type::Message(MessageId { file: self.file, index })
            }
            TypeDecl::Named(name) | TypeDecl::GroupNamed(name) => {
                match self.resolve(field.parent, name, type_place, Wanted::Type) {
                    Some(Symbol::Message(id)) => Type::Message(id),
                    Some(Symbol::Enum(id)) => Type::Enum(id),
                    _ => Type::Unresolved,
                }
            }
        };
        let extendee = field.extendee().and_then(|name| {
            let extendee_place = place(Part::Extendee);
            if let Some(noun) = self.hidden_by_member(field.parent, decl.str(name)) {
                let name = decl.str(name);
                let message = format!("`{name}` is a {noun} of the message around, not a message");
                let help = Some(format!("write it with its package, as in `.{name}`"));
                self.problem(ProblemKind::NameMisused, extendee_place, message, help);
                return None;
            }
            match self.resolve(field.parent, name, extendee_place, Wanted::Any) {
                Some(Symbol::Message(id)) => Some(id),
                Some(Symbol::Enum(_)) => {
                    let message =
                        format!("`{}` is an enum and cannot be extended", self.decl.str(name));
                    self.problem(ProblemKind::NameMisused, extendee_place, message, None);
                    None
                }
                _ => None,
            }
        });
        FieldLink {
            ty,
            extendee,
            features: crate::features::Features::of(self.decl.edition),
            options: None,
        }
    }

    /// What protoc finds for a simple name of an extended type before any type:
    /// a field or oneof of a message around the extension.
    fn hidden_by_member(&self, mut parent: Parent, name: &str) -> Option<&'static str> {
        let (decl, file) = (self.decl, self.file);
        while let Parent::Message(index) = parent {
            let message = &decl.messages[index as usize];
            let scope = Scope::Message(MessageId { file, index });
            if self.linker.symbols.all(scope, name).next().is_some() {
                return None;
            }
            if decl.fields[message.fields.range()].iter().any(|it| decl.str(it.name) == name) {
                return Some("field");
            }
            if decl.oneofs[message.oneofs.range()].iter().any(|it| decl.str(it.name) == name) {
                return Some("oneof");
            }
            parent = message.parent;
        }
        None
    }

    fn method(&mut self, index: u32) -> MethodLink {
        let method = &self.decl.methods[index as usize];
        let service = method.service as usize;
        let mut message = |name, part| {
            let place = Place { file: self.file, span: self.decl.span(method.node, part) };
            let text = self.decl.str(name);
            // protoc looks for the name in the service first, where only
            // methods are.
            let methods = &self.decl.methods[self.decl.services[service].methods.range()];
            let strings = &self.decl.strings;
            if methods.iter().any(|other| strings.bytes(other.name) == text.as_bytes()) {
                let message = format!("`{text}` is a method of the same service, not a message");
                let help = Some(format!("write it with its package, as in `.{text}`"));
                self.problem(ProblemKind::MethodInvalid, place, message, help);
                return None;
            }
            match self.resolve(Parent::File, name, place, Wanted::Any) {
                Some(Symbol::Message(id)) => Some(id),
                Some(Symbol::Enum(_)) => {
                    let text = format!("`{}` is an enum, not a message", self.decl.str(name));
                    self.problem(ProblemKind::MethodInvalid, place, text, None);
                    None
                }
                _ => None,
            }
        };
        let input = message(method.input, Part::Input);
        let output = message(method.output, Part::Output);
        MethodLink { input, output, options: None }
    }

    /// `wanted` is [`Wanted::Any`] where protoc does not pass over symbols
    /// that are no types: an inner one then hides a type farther out.
    fn resolve(
        &mut self,
        parent: Parent,
        name: Name,
        place: Place,
        wanted: Wanted,
    ) -> Option<Symbol> {
        let text = self.decl.str(name);
        match self.linker.resolve(self.file, parent, text, wanted) {
            Ok(symbol @ (Symbol::Message(_) | Symbol::Enum(_))) => {
                if let Some(file) = symbol.file()
                    && self.used.last() != Some(&file)
                {
                    self.used.push(file);
                }
                Some(symbol)
            }
            Ok(symbol) => {
                let message =
                    format!("`{text}` is {} {}, not a type", article(symbol.noun()), symbol.noun());
                self.problem(ProblemKind::NameMisused, place, message, None);
                None
            }
            Err(reason) => {
                let (message, help) = self.linker.not_found(self.file, parent, text, &reason);
                self.problem(ProblemKind::NameNotFound, place, message, help);
                None
            }
        }
    }

    fn problem(&mut self, kind: ProblemKind, place: Place, message: String, help: Option<String>) {
        let element = Some(self.decl.path.to_string());
        self.problems.push(Problem { kind, place, message, element, labels: Vec::new(), help });
    }
}
