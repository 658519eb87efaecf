//! Finds changes of meaning that no rule found, by the facts of the semantic
//! hash.
//!
//! Here an element is identified by its **path**: its full name, except that the
//! path of an enum value is below its enum, not beside it. The path of a file is
//! `/` and the name that imports use, which cannot be the name of an element.

use std::collections::BTreeSet;

use abide_meaning as hash;
use abide_schema::{Element, File, Package};
use rustc_hash::FxHashMap;

use super::package_changes::PackageChanges;

use crate::bump_level::Bump;
use crate::security_fixes::SecurityFixes;

/// The path of an element.
pub(super) fn path_of(element: Element<'_>) -> String {
    match element {
        Element::EnumValue(value) => format!("{}.{}", value.parent().full_name(), value.name()),
        _ => element.full_name(),
    }
}

fn path_of_file(file: File<'_>) -> String {
    format!("/{}", file.path())
}

/// The paths of elements and files for which findings use another name.
pub(super) struct PathsByName(FxHashMap<String, String>);

impl PathsByName {
    pub(super) fn of<'t>(sides: impl Iterator<Item = Package<'t>>) -> PathsByName {
        let mut paths = FxHashMap::default();
        for file in sides.flat_map(Package::files) {
            let values = file.all_enums().flat_map(|it| it.values());
            paths.extend(values.map(|it| (it.full_name(), path_of(Element::EnumValue(it)))));
            paths.insert(file.full_name(), path_of_file(file));
        }
        PathsByName(paths)
    }

    /// The path of the element of a finding.
    pub(super) fn path(&self, element: &str) -> String {
        self.0.get(element).map_or_else(|| element.to_owned(), String::clone)
    }
}

/// The paths of what changed in a package, without the known changes, sorted. An
/// element that is known to need a minor version is not searched, so further
/// changes inside it are not found.
pub(super) fn of(
    old: Package<'_>,
    new: Package<'_>,
    known: &PackageChanges,
    fixes: &SecurityFixes<'_>,
) -> BTreeSet<Unnamed> {
    let mut search = UnnamedSearch {
        sides: [old, new],
        known,
        fixes,
        holders: [holders(old), holders(new)],
        found: BTreeSet::new(),
    };
    search.package();
    search.found
}

/// The file of each top-level element.
fn holders(package: Package<'_>) -> FxHashMap<String, String> {
    let mut holders = FxHashMap::default();
    for file in package.files() {
        let messages = file.messages().map(Element::Message);
        let services = file.services().map(Element::Service);
        let all = messages.chain(file.enums().map(Element::Enum)).chain(services);
        for element in all.chain(file.extensions().map(Element::Field)) {
            holders.insert(element.full_name(), path_of_file(file));
        }
    }
    holders
}

/// A change that no rule found.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unnamed {
    /// The path of what changed.
    pub(super) path: String,
    /// Whether a security fix is marked at a part of it that has no path.
    pub(super) is_marked: bool,
}

struct UnnamedSearch<'a, 't> {
    sides: [Package<'t>; 2],
    known: &'a PackageChanges,
    fixes: &'a SecurityFixes<'a>,
    holders: [FxHashMap<String, String>; 2],
    found: BTreeSet<Unnamed>,
}

impl UnnamedSearch<'_, '_> {
    fn package(&mut self) {
        let [old, new] = self.sides.map(hash::package_facts);
        for fact in old.symmetric_difference(&new) {
            match kind_and_name(fact) {
                ("message" | "enum" | "service" | "extension", name) => self.element(name),
                _ => {
                    let name = self.sides[1].name();
                    let is_about = |path: &str| path == name || path.starts_with('/');
                    self.note(self.known.bump_where(is_about), name);
                }
            }
        }
    }

    /// Finds what changed in a type, a service or an extension.
    fn element(&mut self, name: &str) {
        // The change of an added or removed file covers the elements in it.
        let files: Vec<&String> = self.holders.iter().filter_map(|it| it.get(name)).collect();
        let with_file = self.known.bump_where(|path| files.iter().any(|it| *it == path));
        match self.known.bump_within(name).max(with_file) {
            Some(Bump::Patch) => self.facts(name),
            None if self.elements(name)[1].is_some_and(|it| self.fixes.marks_within(it)) => {
                self.facts(name);
            }
            bump => self.note(bump, name),
        }
    }

    /// A message or an enum on both sides.
    fn elements(&self, name: &str) -> [Option<Element<'_>>; 2] {
        self.sides.map(|it| {
            let tree = it.files().next()?.tree;
            let message = || tree.message_named(name).map(Element::Message);
            message().or_else(|| tree.enum_named(name).map(Element::Enum))
        })
    }

    /// Finds what changed, fact by fact, in an element with a security fix.
    fn facts(&mut self, name: &str) {
        let [Some(old), Some(new)] = self.sides.map(|it| hash::element_facts(it, name)) else {
            // It was added or removed as a whole.
            return;
        };
        let members = self.members(name);
        for fact in old.symmetric_difference(&new) {
            match kind_and_name(fact) {
                ("message" | "enum", nested) => self.element(nested),
                ("extension", path) => self.note(self.known.bump_within(path), path),
                ("method" | "oneof", member) => self.member(name, [member]),
                ("field", number) => {
                    let is_it = |it: &&(String, String)| it.0 == number;
                    self.member(name, members.iter().filter(is_it).map(|it| &*it.1));
                }
                ("value", value) => {
                    // A renamed value is known by its new name.
                    let numbers: Vec<&str> =
                        members.iter().filter(|it| it.1 == value).map(|it| &*it.0).collect();
                    let is_it = |it: &&(String, String)| numbers.contains(&&*it.0);
                    self.member(name, members.iter().filter(is_it).map(|it| &*it.1));
                }
                ("reserved" | "extensions", _) => {
                    let known = self.known.bump_where(|path| path == name);
                    let is_marked = matches!(self.elements(name), [Some(old), Some(new)]
                        if self.fixes.marks_reservations(old, new));
                    if known.is_none() {
                        self.found.insert(Unnamed { path: name.to_owned(), is_marked });
                    }
                }
                _ => self.note(self.known.bump_where(|path| path == name), name),
            }
        }
    }

    /// The number and name of each field or value, on both sides.
    fn members(&self, holder: &str) -> BTreeSet<(String, String)> {
        let files = self.sides.into_iter().flat_map(Package::files);
        let member = |it: Element<'_>| match it {
            Element::Field(it) if !it.is_extension() => {
                let parent = it.parent().is_some_and(|it| it.full_name() == holder);
                parent.then(|| (it.number().to_string(), it.name().to_owned()))
            }
            Element::EnumValue(it) => {
                let parent = it.parent().full_name() == holder;
                parent.then(|| (it.number().to_string(), it.name().to_owned()))
            }
            _ => None,
        };
        files.flat_map(File::elements).filter_map(member).collect()
    }

    /// Records a changed member of an element, given its names.
    fn member<'n>(&mut self, holder: &str, names: impl IntoIterator<Item = &'n str>) {
        let paths: Vec<String> = names.into_iter().map(|it| format!("{holder}.{it}")).collect();
        let bump = paths.iter().filter_map(|it| self.known.bump_within(it)).max();
        self.note(bump, paths.last().map_or(holder, String::as_str));
    }

    /// Records what changed, unless a change of it is known.
    fn note(&mut self, known: Option<Bump>, path: &str) {
        if known.is_none() {
            self.found.insert(Unnamed { path: path.to_owned(), is_marked: false });
        }
    }
}

/// The kind and the name of what a fact is about.
fn kind_and_name(fact: &str) -> (&str, &str) {
    let mut words = fact.split(' ');
    (words.next().unwrap_or_default(), words.next().unwrap_or_default())
}
