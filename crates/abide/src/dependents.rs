//! Whom a change reaches: the packages that use the changed type, with the path.

use std::collections::VecDeque;

use abide_schema::{PackageId, Tree, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::finding::Finding;
use crate::type_uses::{element, from_elements, of_field};

/// A package that uses a changed type of another package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependent {
    /// Its name.
    pub package: String,
    /// The full names of an element of the package, of the types between, and of the changed type:
    /// a shortest path.
    pub path: Vec<String>,
}

/// Adds to each breaking change the packages that it reaches. A type that is gone has its users in
/// the old tree.
pub fn find_dependents(findings: &mut [Finding], tree: &Tree, old: Option<&Tree>) {
    if !findings.iter().any(|it| it.effects().breaks_backward()) {
        return;
    }
    let sides: Vec<TypeUsers<'_>> =
        [Some(tree), old].into_iter().flatten().map(TypeUsers::of).collect();
    for finding in findings {
        let found = sides.iter().find_map(|users| users.dependents(finding)).unwrap_or_default();
        if let Some(change) = &mut finding.change {
            change.dependents = found;
        }
    }
}

/// The users of each type of a tree.
struct TypeUsers<'t> {
    tree: &'t Tree,
    /// By type: the messages with a field of it.
    messages: FxHashMap<Type, Vec<Type>>,
    /// By type: the services and extensions that refer to it, with their packages.
    elements: FxHashMap<Type, Vec<(PackageId, String)>>,
}

impl<'t> TypeUsers<'t> {
    /// Finds the users in the checked files of a tree, and in what these use.
    fn of(tree: &'t Tree) -> TypeUsers<'t> {
        let mut users =
            TypeUsers { tree, messages: FxHashMap::default(), elements: FxHashMap::default() };
        for package in tree.packages() {
            for message in package.files().flat_map(|file| file.all_messages()) {
                if !message.is_map_entry() {
                    for field in message.fields() {
                        let known = users.messages.entry(of_field(field)).or_default();
                        known.push(Type::Message(message.id));
                    }
                }
            }
            for (name, ty) in from_elements(package) {
                users.elements.entry(ty).or_default().push((package.id, name));
            }
        }
        users
    }

    /// The checked packages that a breaking change of a type reaches, besides its own one: the
    /// nearest first. `None` if the tree does not have the type.
    fn dependents(&self, finding: &Finding) -> Option<Vec<Dependent>> {
        if !finding.effects().breaks_backward() {
            return None;
        }
        Some(self.reached_from(self.changed_type(&finding.element)?))
    }

    /// The innermost type that an element is or is in.
    fn changed_type(&self, name: &str) -> Option<Type> {
        let mut name = name;
        loop {
            if let Some(message) = self.tree.message_named(name) {
                return Some(Type::Message(message.id));
            }
            if let Some(item) = self.tree.enum_named(name) {
                return Some(Type::Enum(item.id));
            }
            name = name.rsplit_once('.')?.0;
        }
    }

    fn reached_from(&self, changed: Type) -> Vec<Dependent> {
        let Some(own) = element(self.tree, changed).map(|it| it.package().id) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let mut told: FxHashSet<PackageId> = FxHashSet::from_iter([own]);
        // By type: the type it was reached from, one step nearer to the changed one.
        let mut nearer: FxHashMap<Type, Option<Type>> = FxHashMap::from_iter([(changed, None)]);
        let mut open = VecDeque::from([changed]);
        while let Some(ty) = open.pop_front() {
            for (package, name) in self.elements.get(&ty).into_iter().flatten() {
                if self.tree.package(*package).is_judged() && told.insert(*package) {
                    let mut path = self.path(ty, &nearer);
                    if path.first() != Some(name) {
                        path.insert(0, name.clone());
                    }
                    let package = self.tree.package(*package).name().to_owned();
                    found.push(Dependent { package, path });
                }
            }
            for &user in self.messages.get(&ty).into_iter().flatten() {
                nearer.entry(user).or_insert_with(|| {
                    open.push_back(user);
                    Some(ty)
                });
            }
        }
        found.sort_by_key(|it| it.path.len());
        found
    }

    fn path(&self, from: Type, nearer: &FxHashMap<Type, Option<Type>>) -> Vec<String> {
        let mut path = Vec::new();
        let mut at = Some(from);
        while let Some(ty) = at {
            path.extend(element(self.tree, ty).map(|it| it.full_name()));
            at = nearer.get(&ty).copied().flatten();
        }
        path
    }
}
