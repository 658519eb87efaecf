//! Why a package must catch up: the shortest path from it to a type of another
//! package whose own meaning changed.

use std::collections::VecDeque;

use abide_hash::TreeHashes;
use abide_schema::{Element, Message, Package, Tree, Type};
use rustc_hash::FxHashMap;

use crate::finding::Bump;
use crate::versions::type_uses::{element, from_elements, of_extension, of_field};

/// A path from an element of a package to a type of another package.
pub(super) struct DependencyPath {
    /// The package of the type.
    pub(super) package: String,
    /// The full names of the element, the types between, and the type.
    pub(super) steps: Vec<String>,
    /// The bump that the change of the type needs in its package.
    pub(super) bump: Bump,
}

/// The previous step of a search.
#[derive(Clone)]
enum Predecessor {
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
) -> Vec<DependencyPath> {
    let tree = package.files().next().map(|it| it.tree);
    let Some(tree) = tree else { return Vec::new() };
    let mut search =
        ClosureSearch { tree, old, new, came: FxHashMap::default(), open: VecDeque::new() };
    for (from, to) in from_elements(package) {
        search.reach(Predecessor::Element(from), to);
    }
    let mut ways: Vec<DependencyPath> = Vec::new();
    while let Some(ty) = search.open.pop_front() {
        let Some(element) = element(tree, ty) else { continue };
        let (name, holder) = (element.full_name(), element.package());
        // Who reaches a type that is new has changed itself.
        let before = old.of_type(&name).map(|it| it.own);
        let changed = before.is_some() && before != new.of_type(&name).map(|it| it.own);
        if changed && holder.id != package.id {
            let bump = bump_of(holder.name(), &name);
            let way = || DependencyPath {
                package: holder.name().to_owned(),
                steps: search.steps(ty),
                bump,
            };
            match ways.iter_mut().find(|it| it.package == holder.name()) {
                Some(known) if known.bump < bump => *known = way(),
                Some(_) => {}
                None => ways.push(way()),
            }
        }
        if let Element::Message(message) = element {
            let mut next = of_message(message);
            sort(tree, &mut next);
            next.into_iter().for_each(|to| search.reach(Predecessor::Type(ty), to));
        }
    }
    ways.sort_by(|a, b| a.package.cmp(&b.package));
    ways
}

struct ClosureSearch<'t> {
    tree: &'t Tree,
    old: &'t TreeHashes,
    new: &'t TreeHashes,
    came: FxHashMap<Type, Predecessor>,
    open: VecDeque<Type>,
}

impl ClosureSearch<'_> {
    fn reach(&mut self, from: Predecessor, to: Type) {
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
                Some(Predecessor::Type(before)) => at = *before,
                Some(Predecessor::Element(name)) => {
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

/// The types that a message refers to; see "Closure" in `hash.md`.
fn of_message(message: Message<'_>) -> Vec<Type> {
    let nested = message.messages().filter(|it| !it.is_map_entry());
    let mut types: Vec<Type> = message.fields().map(of_field).collect();
    types.extend(nested.map(|it| Type::Message(it.id)));
    types.extend(message.enums().map(|it| Type::Enum(it.id)));
    types.extend(message.extensions().flat_map(of_extension));
    types
}

fn sort(tree: &Tree, types: &mut [Type]) {
    types.sort_by_cached_key(|&ty| element(tree, ty).map(|it| it.full_name()));
}
