//! Types that newer majors of their APIs replace.

use std::collections::BTreeMap;

use abide_instance::find_named_types;
use abide_schema::{Message, Package, Tree, format_api_name};

use crate::finding::Location;
use crate::inputs::InstanceSet;

/// Which type took the place of which.
pub(crate) struct Successors<'t> {
    tree: &'t Tree,
    /// By the full name of what was before.
    after: BTreeMap<String, Message<'t>>,
    /// The newest stable package of each API.
    newest: BTreeMap<String, Package<'t>>,
}

impl<'t> Successors<'t> {
    pub(crate) fn of(tree: &'t Tree) -> Successors<'t> {
        let messages = tree.files().flat_map(|file| file.all_messages());
        let is_stable = |it: &Message<'_>| {
            it.file().package().version().is_some_and(|version| version.is_stable())
        };
        let after = messages
            .filter(is_stable)
            .filter_map(|it| Some((it.previous_type()?.0.to_owned(), it)))
            .collect();
        let mut newest = BTreeMap::new();
        let mut packages: Vec<_> = tree.packages().collect();
        packages.sort_by_key(|package| package.version());
        for package in packages {
            if package.version().is_some_and(|it| it.is_stable())
                && let Some(api) = format_api_name(package.name())
            {
                newest.insert(api, package);
            }
        }
        Successors { tree, after, newest }
    }

    /// The newest type that takes the place of this one, if there is one in a later major.
    pub(crate) fn newest(&self, ty: Message<'t>) -> Option<Message<'t>> {
        let mut newest = None;
        let mut now = ty;
        // Annotations may form a circle.
        for _ in 0..16 {
            let name = now.full_name();
            let Some(next) = self.after.get(&name).copied().or_else(|| self.same_name(now)) else {
                break;
            };
            newest = Some(next);
            now = next;
        }
        newest.filter(|it| it.id != ty.id)
    }

    /// The type of the same name in the newest stable major of the same API.
    fn same_name(&self, ty: Message<'t>) -> Option<Message<'t>> {
        let package = ty.file().package();
        let newest = self.newest.get(&format_api_name(package.name())?)?;
        let major = |it: Package<'_>| it.version().map(|version| version.major);
        if major(*newest) <= major(package) {
            return None;
        }
        let name = ty.full_name();
        let rest = name.strip_prefix(package.name())?;
        self.tree.message_named(&format!("{}{rest}", newest.name()))
    }
}

/// The types that the files of a run name, with the place of each.
pub(crate) fn named_types<'t>(
    tree: &'t Tree,
    set: &InstanceSet<'_>,
) -> Vec<(Message<'t>, Location)> {
    let mut types = Vec::new();
    for (file, document) in set.documents() {
        let Some(message) = document.message() else { continue };
        types.extend(
            find_named_types(tree, message, document.span)
                .iter()
                .map(|it| (tree.message(it.message.ty), Location::instance(file, it.place))),
        );
    }
    types
}
