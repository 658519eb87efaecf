//! Finds the packages that must be upgraded together: by the types that they name, or by the
//! packages that they depend on.

use std::collections::{BTreeMap, BTreeSet};

use abide_schema::{
    DependencyGraph, DependencyLevel, Element, EnumId, File, MessageId, Package, PackageId,
    ServiceId, Tree, Type,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::file_elements::{iter_extensions, iter_types};
use super::reasons::UpgradeNeed;
use super::upgrade_policy::UpgradePolicy;

/// An element that refers to types or is referred to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum TypeOrService {
    Message(MessageId),
    Enum(EnumId),
    Service(ServiceId),
}

/// The packages that need an upgrade but extend messages that are not upgraded:
/// only one of two versions of an extension could have its number.
pub(crate) fn find_pinned_by_extensions(
    tree: &Tree,
    upgraded: &BTreeSet<PackageId>,
) -> BTreeSet<PackageId> {
    let mut staying = BTreeSet::new();
    loop {
        let rises = |id: PackageId| upgraded.contains(&id) && !staying.contains(&id);
        let extends = |package: Package<'_>| {
            let mut extensions = package.files().flat_map(iter_extensions);
            extensions.any(|it| it.extendee().is_some_and(|it| !rises(it.file().package().id)))
        };
        let mut found = upgraded.iter().filter(|id| rises(**id) && extends(tree.package(**id)));
        let Some(found) = found.next().copied() else { return staying };
        staying.insert(found);
    }
}

/// The packages with a type that needs the next version, or that refers to such a
/// type in any number of steps.
pub(crate) fn find_dependents_by_type<'t>(
    tree: &'t Tree,
    relevant: &dyn Fn(&File<'t>) -> bool,
    policy: &UpgradePolicy,
    needs: &dyn Fn(File<'t>) -> UpgradeNeed,
) -> BTreeSet<PackageId> {
    let mut users: FxHashMap<TypeOrService, Vec<(TypeOrService, PackageId)>> = FxHashMap::default();
    let mut rising = FxHashSet::default();
    let mut open = Vec::new();
    for file in tree.files().filter(relevant) {
        let package = file.package().id;
        let need = needs(file);
        for element in iter_types(file) {
            let (node, targets): (TypeOrService, Vec<TypeOrService>) = match element {
                Element::Message(it) => {
                    let targets = it.fields().filter_map(|field| to_node(field.ty()));
                    (TypeOrService::Message(it.id), targets.collect())
                }
                Element::Enum(it) => (TypeOrService::Enum(it.id), Vec::new()),
                _ => continue,
            };
            for target in targets {
                users.entry(target).or_default().push((node, package));
            }
            if need.contains(policy, element) {
                open.push((node, package));
            }
        }
        for service in file.services().filter(|_| policy.services) {
            let node = TypeOrService::Service(service.id);
            for method in service.methods() {
                for target in [method.input(), method.output()].into_iter().flatten() {
                    users
                        .entry(TypeOrService::Message(target.id))
                        .or_default()
                        .push((node, package));
                }
            }
            if need.contains(policy, Element::Service(service)) {
                open.push((node, package));
            }
        }
    }
    rising.extend(open.iter().map(|(node, _)| *node));
    let mut packages = BTreeSet::new();
    while let Some((node, package)) = open.pop() {
        packages.insert(package);
        for user in users.get(&node).into_iter().flatten() {
            if rising.insert(user.0) {
                open.push(*user);
            }
        }
    }
    packages
}

fn to_node(ty: Type) -> Option<TypeOrService> {
    match ty {
        Type::Message(id) => Some(TypeOrService::Message(id)),
        Type::Enum(id) => Some(TypeOrService::Enum(id)),
        Type::Scalar(_) | Type::Unresolved => None,
    }
}

/// The packages, and all packages that depend on them.
pub(crate) fn find_dependents_by_package<'t>(
    tree: &'t Tree,
    seeds: Vec<PackageId>,
    rises: impl Fn(Package<'t>) -> bool,
    graph: Option<&DependencyGraph<'t>>,
) -> BTreeSet<PackageId> {
    if seeds.is_empty() {
        return BTreeSet::new();
    }
    let own = graph.is_none().then(|| tree.build_graph());
    let Some(graph) = graph.or(own.as_ref()) else { return BTreeSet::new() };
    let mut users: BTreeMap<PackageId, Vec<PackageId>> = BTreeMap::new();
    for package in tree.packages().filter(|it| rises(*it)) {
        for edge in graph.edges_of(package) {
            if edge.counts().has_any(&DependencyLevel::USED) {
                users.entry(edge.to.id).or_default().push(package.id);
            }
        }
    }
    let mut found: BTreeSet<PackageId> = seeds.iter().copied().collect();
    let mut open = seeds;
    while let Some(package) = open.pop() {
        for user in users.get(&package).into_iter().flatten() {
            if found.insert(*user) {
                open.push(*user);
            }
        }
    }
    found
}
