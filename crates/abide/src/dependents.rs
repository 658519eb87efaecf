//! Whom a change reaches: the packages that use the changed type, with the path.

use std::cell::OnceCell;
use std::collections::VecDeque;

use abide_schema::{Element, PackageId, Tree, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::finding::Finding;
use crate::type_uses::{element, is_declared, of_field, of_file};

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
    let trees = [Some(tree), old].into_iter().flatten();
    let sides: Vec<_> = trees.map(|tree| (tree, OnceCell::new())).collect();
    let mut reached: FxHashMap<(usize, Type), Vec<Dependent>> = FxHashMap::default();
    for finding in findings.iter_mut().filter(|it| it.effects().breaks_backward()) {
        let mut types = sides.iter().enumerate().filter_map(|(side, (tree, users))| {
            Some((side, changed_type(tree, &finding.element)?, users))
        });
        let found = types.next().map(|(side, ty, users)| {
            let users = users.get_or_init(|| TypeUsers::of(sides[side].0));
            // Many changes of a large API are of one type.
            reached.entry((side, ty)).or_insert_with(|| users.reached_from(ty)).clone()
        });
        if let Some(change) = &mut finding.change {
            change.dependents = found.unwrap_or_default();
        }
    }
}

/// The innermost type of a tree that an element is or is in.
fn changed_type(tree: &Tree, name: &str) -> Option<Type> {
    let mut name = name;
    loop {
        if let Some(message) = tree.message_named(name) {
            return Some(Type::Message(message.id));
        }
        if let Some(item) = tree.enum_named(name) {
            return Some(Type::Enum(item.id));
        }
        name = name.rsplit_once('.')?.0;
    }
}

/// The users of each type of a tree.
struct TypeUsers<'t> {
    tree: &'t Tree,
    /// By type: the messages with a field of it.
    messages: FxHashMap<Type, Vec<Type>>,
    /// By type: the services and extensions that refer to it.
    elements: FxHashMap<Type, Vec<Element<'t>>>,
}

impl<'t> TypeUsers<'t> {
    /// Finds the users in the checked files of a tree, and in what these use.
    fn of(tree: &'t Tree) -> TypeUsers<'t> {
        let mut users =
            TypeUsers { tree, messages: FxHashMap::default(), elements: FxHashMap::default() };
        for file in tree.packages().flat_map(|package| package.files()) {
            for message in file.all_messages().filter(|it| !it.is_map_entry()) {
                for ty in message.fields().map(of_field).filter(|it| is_declared(*it)) {
                    users.messages.entry(ty).or_default().push(Type::Message(message.id));
                }
            }
            for (element, ty) in of_file(file) {
                users.elements.entry(ty).or_default().push(element);
            }
        }
        users
    }

    /// The checked packages that a breaking change of a type reaches, besides its own one: the
    /// nearest first.
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
            for (package, name) in self.by_package(ty, &told) {
                if told.insert(package) {
                    let mut path = self.path(ty, &nearer);
                    if path.first() != Some(&name) {
                        path.insert(0, name);
                    }
                    let package = self.tree.package(package).name().to_owned();
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

    /// The type itself and the elements that refer to it, in checked packages that are not `told`:
    /// the full names by package, sorted.
    fn by_package(&self, ty: Type, told: &FxHashSet<PackageId>) -> Vec<(PackageId, String)> {
        let users = self.elements.get(&ty).into_iter().flatten().copied();
        let named = element(self.tree, ty).into_iter().chain(users);
        let named = named.filter(|it| it.package().is_judged() && !told.contains(&it.package().id));
        let mut named: Vec<_> = named.map(|it| (it.package().id, it.full_name())).collect();
        named.sort_unstable();
        named
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
