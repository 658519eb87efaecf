//! Finds changes of meaning that no rule found, by the facts of the semantic
//! hash.
//!
//! Here an element is identified by its **path**: its full name, except that the
//! path of an enum value is below its enum, not beside it. The path of a file is
//! `/` and the name that imports use, which cannot be the name of an element.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use abide_hash as hash;
use abide_schema::{Element, File, Package};
use rustc_hash::FxHashMap;

use super::package_changes::{KnownBumps, PackageChanges};
use crate::exceptions::SecurityFixes;
use crate::finding::Bump;

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
) -> BTreeSet<UndescribedChanges> {
    let mut search = UnnamedSearch {
        sides: [old, new],
        known: KnownBumps::of(known),
        fixes,
        holders: [holders(old), holders(new)],
        types: OnceCell::new(),
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
pub(super) struct UndescribedChanges {
    /// The path of what changed.
    pub(super) path: String,
    /// True if a security fix is marked at a part of it that has no path.
    pub(super) is_marked: bool,
}

struct UnnamedSearch<'a, 't> {
    sides: [Package<'t>; 2],
    known: KnownBumps<'a>,
    fixes: &'a SecurityFixes<'a>,
    holders: [FxHashMap<String, String>; 2],
    /// The messages and enums of both sides, by their full names.
    types: OnceCell<FxHashMap<String, Vec<Element<'t>>>>,
    found: BTreeSet<UndescribedChanges>,
}

impl UnnamedSearch<'_, '_> {
    fn package(&mut self) {
        let [old, new] = self.sides.map(hash::collect_package_facts);
        for fact in old.symmetric_difference(&new) {
            match kind_and_name(fact) {
                ("message" | "enum" | "service" | "extension", name) => self.element(name),
                _ => {
                    let name = self.sides[1].name();
                    self.note(self.known.at(name).max(self.known.below("/")), name);
                }
            }
        }
    }

    /// Finds what changed in a type, a service or an extension.
    fn element(&mut self, name: &str) {
        // The change of an added or removed file covers the elements in it.
        let files = self.holders.iter().filter_map(|it| it.get(name));
        let with_file = files.filter_map(|it| self.known.at(it)).max();
        match self.known.within(name).max(with_file) {
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
        let [Some(old), Some(new)] = self.sides.map(|it| hash::collect_element_facts(it, name))
        else {
            // It was added or removed as a whole.
            return;
        };
        let members = self.members(name);
        for fact in old.symmetric_difference(&new) {
            match kind_and_name(fact) {
                ("message" | "enum", nested) => self.element(nested),
                ("extension", path) => self.note(self.known.within(path), path),
                ("method" | "oneof", member) => self.member(name, [member]),
                ("field", number) => self.member(name, members.named(number)),
                ("value", value) => {
                    // A renamed value is known by its new name.
                    let numbers = members.numbers.get(value).into_iter().flatten();
                    self.member(name, numbers.flat_map(|it| members.named(it)));
                }
                ("reserved" | "extensions", _) => {
                    let known = self.known.at(name);
                    let is_marked = matches!(self.elements(name), [Some(old), Some(new)]
                        if self.fixes.marks_reservations(old, new));
                    if known.is_none() {
                        self.found.insert(UndescribedChanges { path: name.to_owned(), is_marked });
                    }
                }
                _ => self.note(self.known.at(name), name),
            }
        }
    }

    fn members(&self, holder: &str) -> Members {
        let types = self.types.get_or_init(|| {
            let mut types: FxHashMap<String, Vec<Element<'_>>> = FxHashMap::default();
            for file in self.sides.into_iter().flat_map(Package::files) {
                let messages = file.all_messages().map(Element::Message);
                for it in messages.chain(file.all_enums().map(Element::Enum)) {
                    types.entry(it.full_name()).or_default().push(it);
                }
            }
            types
        });
        let mut members = Members::default();
        for element in types.get(holder).into_iter().flatten() {
            match element {
                Element::Message(it) => {
                    it.fields().for_each(|it| members.add(it.number(), it.name()));
                }
                Element::Enum(it) => it.values().for_each(|it| members.add(it.number(), it.name())),
                _ => {}
            }
        }
        members
    }

    /// Records a changed member of an element, given its names.
    fn member<'n>(&mut self, holder: &str, names: impl IntoIterator<Item = &'n str>) {
        let paths: Vec<String> = names.into_iter().map(|it| format!("{holder}.{it}")).collect();
        let bump = paths.iter().filter_map(|it| self.known.within(it)).max();
        self.note(bump, paths.last().map_or(holder, String::as_str));
    }

    /// Records what changed, unless a change of it is known.
    fn note(&mut self, known: Option<Bump>, path: &str) {
        if known.is_none() {
            self.found.insert(UndescribedChanges { path: path.to_owned(), is_marked: false });
        }
    }
}

/// The fields of a message or the values of an enum, on both sides.
#[derive(Default)]
struct Members {
    /// By number, in decimal digits.
    names: BTreeMap<String, BTreeSet<String>>,
    /// By name.
    numbers: FxHashMap<String, BTreeSet<String>>,
}

impl Members {
    fn add(&mut self, number: i32, name: &str) {
        let number = number.to_string();
        self.names.entry(number.clone()).or_default().insert(name.to_owned());
        self.numbers.entry(name.to_owned()).or_default().insert(number);
    }

    fn named(&self, number: &str) -> impl Iterator<Item = &str> {
        self.names.get(number).into_iter().flatten().map(String::as_str)
    }
}

/// The kind and the name of what a fact is about.
fn kind_and_name(fact: &str) -> (&str, &str) {
    let mut words = fact.split(' ');
    (words.next().unwrap_or_default(), words.next().unwrap_or_default())
}
