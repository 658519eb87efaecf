//! Whom a change reaches: the packages that use the changed type, with the path.

use std::cell::OnceCell;
use std::collections::VecDeque;

use abide_schema::{Element, File, PackageId, Tree, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use super::type_uses::{element, is_declared, of_field, of_file};
use crate::finding::{Dependent, Finding};
use crate::inputs::{OldTree, find_old_file};

/// Adds to each breaking change the packages that it reaches. A type that is gone has its users in
/// the old tree.
pub fn find_dependents(
    findings: &mut [Finding],
    tree: &Tree,
    old: Option<&Tree>,
    older: &[OldTree],
) {
    // Of what several old trees had, the newest says who uses it.
    let more = older.iter().rev().map(|it| &it.tree);
    let trees = [Some(tree), old].into_iter().flatten().chain(more);
    let sides: Vec<_> = trees.map(|tree| (tree, OnceCell::new())).collect();
    let mut reached: FxHashMap<(usize, Type), Vec<Dependent>> = FxHashMap::default();
    for finding in findings.iter_mut().filter(|it| it.effects().breaks_backward()) {
        let root = find_root(finding, tree, old, older);
        let find = |root: Option<u32>| {
            sides.iter().enumerate().find_map(|(side, (tree, users))| {
                Some((side, find_changed_type(tree, &finding.element, root)?, users))
            })
        };
        // Of what only has users in other roots, these are better than none.
        let found = root.and_then(|root| find(Some(root))).or_else(|| find(None));
        let found = found.map(|(side, ty, users)| {
            let users = users.get_or_init(|| TypeUsers::of(sides[side].0));
            // Many changes of a large API are of one type.
            reached.entry((side, ty)).or_insert_with(|| users.find_dependents_of(ty)).clone()
        });
        if let Some(change) = &mut finding.change {
            change.dependents = found.unwrap_or_default();
        }
    }
}

/// The root of the file that a finding is about, where several roots may declare the same names.
fn find_root(finding: &Finding, tree: &Tree, old: Option<&Tree>, older: &[OldTree]) -> Option<u32> {
    let repeats = |tree: &Tree| tree.repeats_names();
    if !repeats(tree) && !old.into_iter().chain(older.iter().map(|it| &it.tree)).any(repeats) {
        return None;
    }
    let new = finding.location.place().map(|it| tree.file(it.file));
    let before = finding.change.as_ref().and_then(|it| it.old).unwrap_or(finding.location);
    let file = new.or_else(|| find_old_file(old, older, before.old_place()?.file));
    file.map(|it| it.decl().root)
}

/// The innermost type of a tree that an element is or is in: the first one of this name, or that
/// of one root.
fn find_changed_type(tree: &Tree, name: &str, root: Option<u32>) -> Option<Type> {
    let mut name = name;
    loop {
        let found = match root {
            None => {
                let message = tree.message_named(name).map(|it| Type::Message(it.id));
                message.or_else(|| Some(Type::Enum(tree.enum_named(name)?.id)))
            }
            Some(root) => find_type_in_root(tree, name, root),
        };
        if found.is_some() {
            return found;
        }
        name = name.rsplit_once('.')?.0;
    }
}

fn find_type_in_root(tree: &Tree, name: &str, root: u32) -> Option<Type> {
    let in_package = |file: &File<'_>| {
        let package = file.package();
        let rest = name.strip_prefix(package.name());
        package.name().is_empty() || rest.is_some_and(|it| it.starts_with('.'))
    };
    tree.files().filter(|it| it.decl().root == root).filter(in_package).find_map(|file| {
        let message = file.all_messages().find(|it| it.full_name() == name);
        let item = || Some(Type::Enum(file.all_enums().find(|it| it.full_name() == name)?.id));
        message.map(|it| Type::Message(it.id)).or_else(item)
    })
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
    fn find_dependents_of(&self, changed: Type) -> Vec<Dependent> {
        let Some(own) = element(self.tree, changed).map(|it| it.package().id) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let mut told: FxHashSet<PackageId> = FxHashSet::from_iter([own]);
        // By type: the type it was reached from, one step nearer to the changed one.
        let mut nearer: FxHashMap<Type, Option<Type>> = FxHashMap::from_iter([(changed, None)]);
        let mut open = VecDeque::from([changed]);
        while let Some(ty) = open.pop_front() {
            for (package, name) in self.group_by_package(ty, &told) {
                if told.insert(package) {
                    let mut path = self.build_path(ty, &nearer);
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
    fn group_by_package(&self, ty: Type, told: &FxHashSet<PackageId>) -> Vec<(PackageId, String)> {
        let users = self.elements.get(&ty).into_iter().flatten().copied();
        let named = element(self.tree, ty).into_iter().chain(users);
        let named = named.filter(|it| it.package().is_judged() && !told.contains(&it.package().id));
        let mut named: Vec<_> = named.map(|it| (it.package().id, it.full_name())).collect();
        named.sort_unstable();
        named
    }

    fn build_path(&self, from: Type, nearer: &FxHashMap<Type, Option<Type>>) -> Vec<String> {
        let mut path = Vec::new();
        let mut at = Some(from);
        while let Some(ty) = at {
            path.extend(element(self.tree, ty).map(|it| it.full_name()));
            at = nearer.get(&ty).copied().flatten();
        }
        path
    }
}
