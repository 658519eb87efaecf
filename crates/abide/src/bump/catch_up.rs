//! Why a package must catch up: the shortest path from it to a type of another
//! package whose own meaning changed.

use std::collections::VecDeque;

use abide_meaning::TreeHashes;
use abide_schema::{Element, Field, Message, Method, Package, Tree, Type};
use rustc_hash::FxHashMap;

use crate::bump_level::Bump;

/// A path from an element of a package to a type of another package.
pub(super) struct Way {
    /// The package of the type.
    pub(super) package: String,
    /// The full names of the element, the types between, and the type.
    pub(super) steps: Vec<String>,
    /// The bump that the change of the type needs in its package.
    pub(super) bump: Bump,
}

/// The previous step of a search.
#[derive(Clone)]
enum From {
    Element(String),
    Type(Type),
}

/// The path to each other package with a changed type, sorted by the names of the
/// packages: the shortest path to a type with the highest bump. The search only
/// continues through types whose closure changed, so its cost depends on the
/// changes, not on the size of the tree.
pub(super) fn to_changed_types(
    package: Package<'_>,
    old: &TreeHashes,
    new: &TreeHashes,
    bump_of: &dyn Fn(&str, &str) -> Bump,
) -> Vec<Way> {
    let tree = package.files().next().map(|it| it.tree);
    let Some(tree) = tree else { return Vec::new() };
    let mut search =
        ClosureSearch { tree, old, new, came: FxHashMap::default(), open: VecDeque::new() };
    for (from, to) in from_elements(package) {
        search.reach(From::Element(from), to);
    }
    let mut ways: Vec<Way> = Vec::new();
    while let Some(ty) = search.open.pop_front() {
        let Some(element) = element(tree, ty) else { continue };
        let (name, holder) = (element.full_name(), element.package());
        // Who reaches a type that is new has changed itself.
        let before = old.of_type(&name).map(|it| it.own);
        let changed = before.is_some() && before != new.of_type(&name).map(|it| it.own);
        if changed && holder.id != package.id {
            let bump = bump_of(holder.name(), &name);
            let way = || Way { package: holder.name().to_owned(), steps: search.steps(ty), bump };
            match ways.iter_mut().find(|it| it.package == holder.name()) {
                Some(known) if known.bump < bump => *known = way(),
                Some(_) => {}
                None => ways.push(way()),
            }
        }
        if let Element::Message(message) = element {
            let mut next = of_message(message);
            sort(tree, &mut next);
            next.into_iter().for_each(|to| search.reach(From::Type(ty), to));
        }
    }
    ways.sort_by(|a, b| a.package.cmp(&b.package));
    ways
}

struct ClosureSearch<'t> {
    tree: &'t Tree,
    old: &'t TreeHashes,
    new: &'t TreeHashes,
    came: FxHashMap<Type, From>,
    open: VecDeque<Type>,
}

impl ClosureSearch<'_> {
    fn reach(&mut self, from: From, to: Type) {
        let Some(element) = element(self.tree, to) else { return };
        let name = element.full_name();
        let closure = |it: &TreeHashes| it.of_type(&name).map(|it| it.closure);
        if closure(self.old) != closure(self.new) && !self.came.contains_key(&to) {
            self.came.insert(to, from);
            self.open.push_back(to);
        }
    }

    fn steps(&self, to: Type) -> Vec<String> {
        let mut steps = Vec::new();
        let mut at = to;
        while let Some(element) = element(self.tree, at) {
            steps.push(element.full_name());
            match self.came.get(&at) {
                Some(From::Type(before)) => at = *before,
                Some(From::Element(name)) => {
                    if steps.last() != Some(name) {
                        steps.push(name.clone());
                    }
                    break;
                }
                None => break,
            }
        }
        steps.reverse();
        steps
    }
}

fn element(tree: &Tree, ty: Type) -> Option<Element<'_>> {
    match ty {
        Type::Message(id) => Some(Element::Message(tree.message(id))),
        Type::Enum(id) => Some(Element::Enum(tree.enumeration(id))),
        Type::Scalar(_) | Type::Unresolved => None,
    }
}

/// The start of the search: the types of the package and the types that its
/// services and extensions refer to, sorted by name.
fn from_elements(package: Package<'_>) -> Vec<(String, Type)> {
    let mut found = Vec::new();
    for file in package.files() {
        let messages = file.all_messages().filter(|it| !it.is_map_entry());
        found.extend(messages.map(|it| (it.full_name(), Type::Message(it.id))));
        found.extend(file.all_enums().map(|it| (it.full_name(), Type::Enum(it.id))));
        for extension in file.extensions() {
            found.extend(of_extension(extension).map(|it| (extension.full_name(), it)));
        }
        for service in file.services() {
            let both = |it: Method<'_>| [it.input(), it.output()].map(|it| it.map(|it| it.id));
            let types = service.methods().flat_map(both).flatten();
            found.extend(types.map(|it| (service.full_name(), Type::Message(it))));
        }
    }
    let tree = package.files().next().map(|it| it.tree);
    found.sort_by_cached_key(|(from, to)| {
        (from.clone(), tree.and_then(|tree| element(tree, *to)).map(|it| it.full_name()))
    });
    found
}

/// The types that a message refers to; see "Closure" in `hash.md`.
fn of_message(message: Message<'_>) -> Vec<Type> {
    let nested = message.messages().filter(|it| !it.is_map_entry());
    let mut types: Vec<Type> = message.fields().map(of_field).collect();
    types.extend(nested.map(|it| Type::Message(it.id)));
    types.extend(message.enums().map(|it| Type::Enum(it.id)));
    types.extend(message.extensions().flat_map(of_extension));
    types
}

fn of_field(field: Field<'_>) -> Type {
    let value = field.message_type().filter(|_| field.is_map());
    value.and_then(|entry| entry.field_numbered(2)).map_or(field.ty(), |value| value.ty())
}

fn of_extension(extension: Field<'_>) -> impl Iterator<Item = Type> {
    let extendee = extension.extendee().map(|it| Type::Message(it.id));
    extendee.into_iter().chain([extension.ty()])
}

fn sort(tree: &Tree, types: &mut [Type]) {
    types.sort_by_cached_key(|&ty| element(tree, ty).map(|it| it.full_name()));
}
