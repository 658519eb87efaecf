//! Names that are declared twice in one scope.

use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::decl::{FileDecl, Name, Part};
use crate::ids::FileId;
use crate::link::resolve::NameResolver;
use crate::link::symbol::{MAX_PACKAGE_DOTS, NumberSet, PackageNode, Scope, Symbol};
use crate::problem::{Problem, ProblemKind, choose_article};
use crate::tree::{Element, EnumValue, Message, Service, Tree};

use super::check::FileCheck;

/// The longest package name. Source: `NameLimits::kPackageName` of protobuf.
const MAX_PACKAGE_LENGTH: usize = 511;

fn hash(file: &FileDecl, name: Name) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(file.strings.bytes(name));
    hasher.finish().wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl<'a> FileCheck<'a> {
    pub(super) fn check_package(&mut self) {
        let Some(package) = self.decl.package else { return };
        let name = self.decl.str(package.name);
        let message = if name.len() > MAX_PACKAGE_LENGTH {
            format!("the package name is longer than {MAX_PACKAGE_LENGTH} bytes")
        } else if name.bytes().filter(|&byte| byte == b'.').count() > MAX_PACKAGE_DOTS {
            format!("the package name has more than {MAX_PACKAGE_DOTS} dots")
        } else {
            return;
        };
        let span = self.span(package.node, Part::Name);
        self.report_file(ProblemKind::NameMisused, span, message);
    }

    /// Everything declared in a message shares one scope: fields, oneofs,
    /// types, the values of its enums and the extensions inside it.
    pub(super) fn check_message_names(&mut self, message: Message<'a>) {
        let decl = message.decl();
        let file: &'a FileDecl = self.decl;
        self.seen.clear();
        let mut twice = false;
        for field in &file.fields[decl.fields.range()] {
            twice |= self.seen.insert(hash(file, field.name));
        }
        for field in &file.fields[decl.extensions.range()] {
            twice |= self.seen.insert(hash(file, field.name));
        }
        for oneof in &file.oneofs[decl.oneofs.range()] {
            twice |= self.seen.insert(hash(file, oneof.name));
        }
        for nested in &file.messages[decl.messages.range()] {
            twice |= self.seen.insert(hash(file, nested.name));
        }
        for item in &file.enums[decl.enums.range()] {
            twice |= self.seen.insert(hash(file, item.name));
            for value in &file.values[item.values.range()] {
                twice |= self.seen.insert(hash(file, value.name));
            }
        }
        if twice {
            let fields = message.fields().chain(message.extensions()).map(Element::Field);
            let oneofs = message.oneofs().map(Element::Oneof);
            let messages = message.messages().map(Element::Message);
            let enums = message
                .enums()
                .flat_map(|it| {
                    std::iter::once(Element::Enum(it)).chain(it.values().map(Element::EnumValue))
                })
                .collect::<Vec<_>>();
            let all = oneofs.chain(fields).chain(enums).chain(messages).collect();
            self.report_same_names(all, &|| message.full_name());
        }
    }

    pub(super) fn check_method_names(&mut self, service: Service<'a>) {
        self.seen.clear();
        let mut twice = false;
        for method in &self.decl.methods[service.decl().methods.range()] {
            twice |= self.seen.insert(hash(self.decl, method.name));
        }
        if twice {
            let all = service.methods().map(Element::Method).collect();
            self.report_same_names(all, &|| service.full_name());
        }
    }

    fn report_same_names(&mut self, mut elements: Vec<Element<'a>>, scope: &dyn Fn() -> String) {
        elements.sort_by_key(|&element| element.name());
        for group in elements.chunk_by_mut(|a, b| a.name() == b.name()) {
            if group.len() == 1 {
                continue;
            }
            // The text decides which one is the first.
            group.sort_by_key(|&element| self.name_span(element).start);
            let first = group[0];
            for &second in &group[1..] {
                let span = self.name_span(second);
                let label = (self.place(self.name_span(first)), describe_first(first));
                let message = describe_duplicate(second, first, &scope());
                let problem = self.report(ProblemKind::NameDuplicated, second, span, message);
                problem.labels.push(label);
                problem.help = suggest_rename(second, &scope);
            }
        }
    }
}

fn describe_first(first: Element<'_>) -> String {
    format!("the {} `{}`", first.noun(), first.name())
}

fn describe_duplicate(second: Element<'_>, first: Element<'_>, scope: &str) -> String {
    let (noun, name) = (second.noun(), second.name());
    let place = if scope.is_empty() { String::new() } else { format!(" in `{scope}`") };
    if is_synthetic(second) {
        format!(
            "the name `{name}` of {} generated for a field is taken{place}",
            format_article(second)
        )
    } else if first.noun() == noun {
        format!("the {noun} `{name}` is declared twice{place}")
    } else {
        format!("the {noun} `{name}` has the same name as {}{place}", format_article(first))
    }
}

fn format_article(element: Element<'_>) -> String {
    format!("{} {}", choose_article(element.noun()), element.noun())
}

fn is_synthetic(element: Element<'_>) -> bool {
    match element {
        Element::Message(message) => message.is_map_entry(),
        Element::Oneof(oneof) => oneof.is_synthetic(),
        _ => false,
    }
}

fn suggest_rename(second: Element<'_>, scope: &dyn Fn() -> String) -> Option<String> {
    let Element::EnumValue(value) = second else {
        return Some("rename one of them".to_owned());
    };
    let scope = match scope() {
        scope if scope.is_empty() => "its package".to_owned(),
        scope => format!("`{scope}`"),
    };
    Some(format!(
        "rename it: a value shares the scope of its enum, so it must be unique in {scope}, not \
         only in `{}`",
        value.parent().name()
    ))
}

/// Reports names of packages and top-level elements that are declared more than
/// once in files that are compiled together: files of one root, and files that
/// some file imports both of.
pub(super) fn check_across_files(tree: &Tree, linker: &NameResolver<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut worlds = ImportSets::new(tree);
    for (scope, name) in linker.symbols.find_repeated() {
        if !matches!(scope, Scope::Package(_)) {
            // `message_names` checks the scope of each message.
            continue;
        }
        let symbols: Vec<Symbol> = linker.symbols.find_all(scope, name).collect();
        let package = symbols.iter().find_map(|symbol| match symbol {
            Symbol::Package(node) => Some(*node),
            _ => None,
        });
        let elements: Vec<Element<'_>> =
            symbols.iter().filter_map(|&symbol| find_element(tree, symbol)).collect();
        let firsts = worlds.find_firsts(&elements);
        for (index, &second) in elements.iter().enumerate() {
            let id = second.file().id;
            let first = firsts.iter().copied().take_while(|&first| first != index);
            let before = if firsts.contains(&index) { 0..0 } else { 0..index };
            let first = first
                .chain(before)
                .find(|&first| worlds.are_compiled_together(elements[first].file().id, id));
            if let Some(first) = first {
                problems.push(worlds.describe_duplicate(elements[first], second));
            } else if let Some(node) = package
                && let Some(user) = (0..tree.files.len() as u32).map(FileId).find(|&file| {
                    linker.is_in_package(file, node) && worlds.are_compiled_together(file, id)
                })
            {
                problems.push(worlds.check_package(second, user, linker, node));
            }
        }
    }
    problems
}

fn find_element(tree: &Tree, symbol: Symbol) -> Option<Element<'_>> {
    Some(match symbol {
        Symbol::Package(_) => return None,
        Symbol::Message(id) => Element::Message(tree.message(id)),
        Symbol::Enum(id) => Element::Enum(tree.enumeration(id)),
        Symbol::EnumValue(id) => Element::EnumValue(EnumValue { tree, id }),
        Symbol::Extension(id) => Element::Field(tree.field(id)),
        Symbol::Service(id) => Element::Service(Service { tree, id }),
    })
}

/// The files that are ever compiled together.
pub(super) struct ImportSets<'a> {
    tree: &'a Tree,
    /// For each file, the files that import it.
    importers: Option<Vec<Vec<FileId>>>,
    /// For each file asked about, itself and everything that imports it in any
    /// number of steps.
    above: FxHashMap<FileId, NumberSet>,
}

impl<'a> ImportSets<'a> {
    pub(super) fn new(tree: &'a Tree) -> ImportSets<'a> {
        ImportSets { tree, importers: None, above: FxHashMap::default() }
    }

    fn collect_importers(&mut self, file: FileId) -> &NumberSet {
        let tree = self.tree;
        let importers = self.importers.get_or_insert_with(|| {
            let mut importers = vec![Vec::new(); tree.files.len()];
            for (index, linked) in tree.files.iter().enumerate() {
                for target in linked.imports.iter().filter_map(|import| import.file) {
                    importers[target.0 as usize].push(FileId(index as u32));
                }
            }
            importers
        });
        self.above.entry(file).or_insert_with(|| {
            let mut seen = FxHashSet::default();
            let mut pending = vec![file];
            while let Some(at) = pending.pop() {
                if seen.insert(at.0) {
                    pending.extend(&importers[at.0 as usize]);
                }
            }
            NumberSet::new(seen.into_iter().collect(), importers.len())
        })
    }

    /// Returns true if one of the files imports the other, in any number of steps.
    fn is_importer(&mut self, importer: FileId, imported: FileId) -> bool {
        importer != imported && self.collect_importers(imported).contains(importer.0)
    }

    /// Returns true if the files are in one root or some file imports both.
    pub(super) fn are_compiled_together(&mut self, a: FileId, b: FileId) -> bool {
        if a == b || self.tree.file(a).decl().root == self.tree.file(b).decl().root {
            return true;
        }
        self.collect_importers(a);
        self.collect_importers(b);
        !self.above[&a].is_disjoint(&self.above[&b])
    }

    /// The two in the order in which they are compiled: an imported file comes
    /// first, and so does a file that is not checked.
    pub(super) fn sort_pair(
        &mut self,
        a: Element<'a>,
        b: Element<'a>,
    ) -> (Element<'a>, Element<'a>) {
        let (of_a, of_b) = (a.file(), b.file());
        if of_a.id == of_b.id {
            let start = |element: Element<'_>| element.place(Part::Name).span.start;
            return if start(a) <= start(b) { (a, b) } else { (b, a) };
        }
        let b_first = self.is_importer(of_a.id, of_b.id)
            || (!self.is_importer(of_b.id, of_a.id) && of_a.is_judged() && !of_b.is_judged());
        if b_first { (b, a) } else { (a, b) }
    }

    /// Of elements with one name, those that the others repeat: for each set of
    /// files compiled together, the element that is compiled first.
    fn find_firsts(&mut self, elements: &[Element<'a>]) -> Vec<usize> {
        let mut firsts: Vec<usize> = Vec::new();
        for (index, &element) in elements.iter().enumerate() {
            let id = element.file().id;
            let known = firsts
                .iter_mut()
                .find(|it| self.are_compiled_together(elements[**it].file().id, id));
            if let Some(first) = known {
                if self.sort_pair(elements[*first], element).0 == element {
                    *first = index;
                }
            } else if !elements[..index]
                .iter()
                .any(|it| self.are_compiled_together(it.file().id, id))
            {
                firsts.push(index);
            }
        }
        firsts
    }

    fn describe_duplicate(&mut self, a: Element<'a>, b: Element<'a>) -> Problem {
        let (first, second) = self.sort_pair(a, b);
        let scope = second.package().name().to_owned();
        let mut message = describe_duplicate(second, first, &scope);
        if first.file().id != second.file().id {
            message.push_str(&format!(", first in `{}`", first.file().path()));
        }
        Problem {
            kind: ProblemKind::NameDuplicated,
            place: second.place(Part::Name),
            message,
            element: Some(second.full_name()),
            labels: vec![(first.place(Part::Name), describe_first(first))],
            help: suggest_rename(second, &|| scope.clone()),
        }
    }

    /// Reports a symbol that has the name of a package that `user` is in.
    fn check_package(
        &mut self,
        symbol: Element<'a>,
        user: FileId,
        linker: &NameResolver<'_>,
        node: PackageNode,
    ) -> Problem {
        let file = self.tree.file(user);
        let package = linker.symbols.package_name(node);
        let at_symbol = user == symbol.file().id || self.is_importer(symbol.file().id, user);
        let place = symbol.place(Part::Name);
        let (place, other, text) = if at_symbol {
            (place, file.package_place(), format!("the package `{}`", file.package().name()))
        } else {
            (file.package_place(), place, describe_first(symbol))
        };
        Problem {
            kind: ProblemKind::NameDuplicated,
            place,
            message: format!("`{package}` is both {} and a package", format_article(symbol)),
            element: Some(symbol.full_name()),
            labels: vec![(other, text)],
            help: Some("rename one of them".to_owned()),
        }
    }
}
