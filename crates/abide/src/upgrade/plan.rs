//! What is upgraded: which files get a candidate, and what everything in them
//! is called there.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use abide_schema::{
    Element, EnumId, File, FileId, Graph, Level, MessageId, Migration, Package, PackageId,
    PackageVersion, ServiceId, Stability, Tree, Type,
};
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

use super::links::name_after;
use super::standing::{Standing, Standings};
use super::{Refusal, UpgradeOptions, deprecated};
use crate::policy::{Closure, PackagePolicy, UpgradePolicy, UpgradeReason};

/// The name that says of the zero of an enum that it is gone: a zero cannot be
/// reserved.
pub(super) const UNAVAILABLE: &str = "DEPRECATED_AND_UNAVAILABLE_DO_NOT_USE";

/// What a file becomes in the next major version.
#[derive(Clone, Debug)]
pub(super) struct Next {
    pub(super) package: String,
    pub(super) path: String,
}

/// What the next major version is made as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// As an alpha that may change.
    Candidate,
    /// As what takes the place of the active version.
    Stable,
}

/// Which files get a candidate, and under which name.
#[derive(Debug)]
pub(super) struct Plan<'t> {
    pub(super) tree: &'t Tree,
    pub(super) stage: Stage,
    pub(super) policy: &'t UpgradePolicy,
    /// By file: what it becomes, for every file of an upgraded package.
    next: Vec<Option<Next>>,
    /// By file: whether a candidate is made of it.
    generated: FixedBitSet,
    /// Files that would have got a candidate, and what is in its place.
    pub(super) conflicts: Vec<Conflict>,
}

/// A file whose candidate has no place to go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conflict {
    pub(super) file: FileId,
    /// The file in that place, or the one whose candidate goes there.
    pub(super) other: FileId,
    /// Whether that one is there already.
    pub(super) exists: bool,
}

impl<'t> Plan<'t> {
    pub(super) fn of(
        tree: &'t Tree,
        policy: &'t UpgradePolicy,
        packages: &PackagePolicy,
        options: &UpgradeOptions<'_>,
        stage: Stage,
        graph: Option<&Graph<'t>>,
    ) -> Result<Plan<'t>, Refusal> {
        let standings = Standings::of(tree);
        let wanted = wanted(tree, &standings, options.packages)?;
        let of = |file: File<'_>| standings.file(file);
        let rises = |package: Package<'t>| {
            package.files().any(|file| of(file) == Standing::Active)
                && (policy.unstable
                    || policy.packages.contains_key(package.name())
                    || policy.always.iter().any(|it| it.matches(package.name()))
                    || package.version().is_some_and(PackageVersion::is_stable)
                    || package.version().is_none()
                        && package.files().any(|it| it.move_to_package().is_some()))
        };
        // Who names a package wants it, whatever is in it.
        let needs = |file: File<'t>| {
            let whole = match &wanted {
                Some(wanted) => wanted.contains(file.package().name()),
                None => file_has_reason(policy, file),
            };
            let asks = wanted.is_none();
            move |element: Element<'t>| whole || asks && has_reason(policy, element)
        };
        let closure = options.closure.unwrap_or(policy.closure);
        let upgraded: BTreeSet<PackageId> = match closure {
            Closure::All => tree.packages().filter(|it| rises(*it)).map(|it| it.id).collect(),
            Closure::Package => {
                let seeds = tree.packages().filter(|package| {
                    rises(*package)
                        && package.files().any(|file| {
                            of(file) == Standing::Active && types(file).any(needs(file))
                        })
                });
                by_package(tree, seeds.map(|it| it.id).collect(), rises, graph)
            }
            Closure::Type => by_type(tree, &standings, policy, needs)
                .into_iter()
                .filter(|id| {
                    let apart = |it: &File<'_>| it.is_judged() && of(*it) == Standing::Apart;
                    !tree.package(*id).files().any(|file| apart(&file))
                })
                .collect(),
        };
        let mut next = vec![None; tree.files().len()];
        let mut generated = FixedBitSet::with_capacity(next.len());
        for package in upgraded {
            for file in tree.package(package).files() {
                let standing = of(file);
                if !matches!(standing, Standing::Active | Standing::Frozen) {
                    continue;
                }
                // A file without a type has nothing that could be upgraded.
                let only_imports = types(file).next().is_none();
                let skipped = only_imports && (!policy.services || file.services().len() == 0);
                let Some(name) = next_package(policy, file, stage).filter(|_| !skipped) else {
                    continue;
                };
                let path = next_path(packages, file, &name);
                generated.set(file.id.0 as usize, standing == Standing::Active);
                next[file.id.0 as usize] = Some(Next { package: name, path });
            }
        }
        let mut plan = Plan { tree, stage, policy, next, generated, conflicts: Vec::new() };
        plan.yield_to_others(&standings);
        Ok(plan)
    }

    /// Where a file exists that is no candidate, it stays: it was written by
    /// hand. Of two candidates for one place the first is made.
    fn yield_to_others(&mut self, standings: &Standings) {
        let written = |file: &File<'_>| standings.file(*file) != Standing::Candidate;
        let mut taken: BTreeMap<&str, (FileId, bool)> =
            self.tree.files().filter(written).map(|file| (file.path(), (file.id, true))).collect();
        for (at, next) in self.next.iter().enumerate() {
            let Some(next) = next.as_ref().filter(|_| self.generated.contains(at)) else {
                continue;
            };
            let file = FileId(at as u32);
            match taken.get(next.path.as_str()) {
                Some((other, exists)) => {
                    self.generated.set(at, false);
                    self.conflicts.push(Conflict { file, other: *other, exists: *exists });
                }
                None => drop(taken.insert(&next.path, (file, false))),
            }
        }
    }

    /// Whoever names what is in `file` names what `source` becomes.
    pub(super) fn becomes_that_of(&mut self, file: FileId, source: FileId) {
        self.next[file.0 as usize] = self.next[source.0 as usize].clone();
    }

    /// What a file becomes, where its package is upgraded.
    pub(super) fn next(&self, file: FileId) -> Option<&Next> {
        self.next[file.0 as usize].as_ref()
    }

    /// Whether a candidate is made of a file.
    pub(super) fn generates(&self, file: FileId) -> bool {
        self.generated.contains(file.0 as usize)
    }

    /// The full name that a type or a member of one has in the next version;
    /// `None` where it stays.
    pub(super) fn next_name(&self, element: Element<'t>) -> Option<String> {
        let next = self.next(element.file().id)?;
        let mut names = vec![name_after(element)];
        let mut parent = element.parent();
        while let Some(element) = parent {
            names.push(name_after(element));
            parent = element.parent();
        }
        names.push(&next.package);
        names.retain(|name| !name.is_empty());
        names.reverse();
        Some(names.join("."))
    }

    /// The full name that a type has once the upgrade is done.
    pub(super) fn name_after(&self, element: Element<'t>) -> String {
        self.next_name(element).unwrap_or_else(|| element.full_name())
    }

    /// The path of a file once the upgrade is done.
    pub(super) fn path_after(&self, file: File<'t>) -> &str {
        self.next(file.id).map_or(file.path(), |next| &next.path)
    }
}

/// Whether a path may be wanted twice: it costs little to see that none is.
pub(super) fn may_collide(
    tree: &Tree,
    policy: &UpgradePolicy,
    packages: &PackagePolicy,
    standings: &Standings,
) -> bool {
    let mut taken: FxHashSet<Cow<'_, str>> = tree
        .files()
        .filter(|it| standings.file(*it) != Standing::Candidate)
        .map(|it| it.path().into())
        .collect();
    let relevant =
        |it: &File<'_>| matches!(standings.file(*it), Standing::Active | Standing::Frozen);
    // By itself, or with something that it imports.
    let may_rise = |package: Package<'_>| {
        policy.closure == Closure::All
            || package.files().any(|file| {
                types(file).any(|it| has_reason(policy, it))
                    || file_has_reason(policy, file)
                    || file.imports().filter_map(|it| it.file).any(|it| relevant(&it))
            })
    };
    tree.files().filter(|it| standings.file(*it) == Standing::Active).any(|file| {
        let next = next_package(policy, file, Stage::Candidate);
        next.is_some_and(|next| !taken.insert(next_path(packages, file, &next).into()))
            && may_rise(file.package())
    })
}

/// The packages that the user names, if any; refuses what cannot be upgraded.
fn wanted<'o>(
    tree: &Tree,
    standings: &Standings,
    packages: &'o [String],
) -> Result<Option<BTreeSet<&'o str>>, Refusal> {
    for name in packages {
        let Some(package) = tree.package_named(name).filter(|it| it.is_judged()) else {
            return Err(Refusal::Unknown(name.clone()));
        };
        let is = |wanted: Standing| package.files().any(|it| standings.file(it) == wanted);
        if is(Standing::Candidate) {
            return Err(Refusal::Candidate(name.clone()));
        }
        if !is(Standing::Active) {
            return Err(match (is(Standing::Frozen), package.version()) {
                (true, _) => Refusal::Frozen(name.clone()),
                (false, Some(_)) => Refusal::Unstable(name.clone()),
                (false, None) => Refusal::Unversioned(name.clone()),
            });
        }
    }
    Ok((!packages.is_empty()).then(|| packages.iter().map(String::as_str).collect()))
}

/// The messages and enums of a file, those of maps included.
fn types(file: File<'_>) -> impl Iterator<Item = Element<'_>> {
    file.all_messages().map(Element::Message).chain(file.all_enums().map(Element::Enum))
}

/// Whether a file calls for the next major version of what is in it.
fn file_has_reason(policy: &UpgradePolicy, file: File<'_>) -> bool {
    policy.always.iter().any(|it| it.matches(file.package().name()))
        || policy.reasons.contains(&UpgradeReason::Moved) && file.move_to_package().is_some()
}

/// Whether a type calls for the next major version by itself.
fn has_reason(policy: &UpgradePolicy, element: Element<'_>) -> bool {
    let has = |reason: UpgradeReason| policy.reasons.contains(&reason);
    let migrates = |element: Element<'_>| {
        element.migrations().iter().any(|(migration, _)| match migration {
            Migration::Rename(_) => has(UpgradeReason::Renamed),
            Migration::PromoteToOneof(_) => has(UpgradeReason::Promoted),
            Migration::MoveToPackage(_) => has(UpgradeReason::Moved),
        })
    };
    match element {
        Element::Message(message) => message.fields().map(Element::Field).any(|field| {
            has(UpgradeReason::Deprecated) && deprecated(field)
                || !deprecated(field) && migrates(field)
        }),
        Element::Enum(it) => it.values().any(|value| {
            let element = Element::EnumValue(value);
            let reason = match (value.number(), value.name()) {
                (0, UNAVAILABLE) => UpgradeReason::Unavailable,
                _ => UpgradeReason::Deprecated,
            };
            has(reason) && deprecated(element) || migrates(element)
        }),
        _ => false,
    }
}

/// What refers to types and is referred to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Node {
    Message(MessageId),
    Enum(EnumId),
    Service(ServiceId),
}

/// The packages that hold a type which calls for the next version, or refers
/// to one that does, over any number of steps.
fn by_type<'t, N: Fn(Element<'t>) -> bool>(
    tree: &'t Tree,
    standings: &Standings,
    policy: &UpgradePolicy,
    needs: impl Fn(File<'t>) -> N,
) -> BTreeSet<PackageId> {
    let mut users: FxHashMap<Node, Vec<(Node, PackageId)>> = FxHashMap::default();
    let mut rising = FxHashSet::default();
    let mut open = Vec::new();
    let relevant =
        |it: &File<'t>| matches!(standings.file(*it), Standing::Active | Standing::Frozen);
    for file in tree.files().filter(relevant) {
        let package = file.package().id;
        let needs = needs(file);
        for element in types(file) {
            let (node, targets): (Node, Vec<Node>) = match element {
                Element::Message(it) => {
                    let targets = it.fields().filter_map(|field| target(field.ty()));
                    (Node::Message(it.id), targets.collect())
                }
                Element::Enum(it) => (Node::Enum(it.id), Vec::new()),
                _ => continue,
            };
            for target in targets {
                users.entry(target).or_default().push((node, package));
            }
            if needs(element) {
                open.push((node, package));
            }
        }
        for service in file.services().filter(|_| policy.services) {
            let node = Node::Service(service.id);
            for method in service.methods() {
                for target in [method.input(), method.output()].into_iter().flatten() {
                    users.entry(Node::Message(target.id)).or_default().push((node, package));
                }
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

fn target(ty: Type) -> Option<Node> {
    match ty {
        Type::Message(id) => Some(Node::Message(id)),
        Type::Enum(id) => Some(Node::Enum(id)),
        Type::Scalar(_) | Type::Unresolved => None,
    }
}

/// Packages with all that depend on them.
fn by_package<'t>(
    tree: &'t Tree,
    seeds: Vec<PackageId>,
    rises: impl Fn(Package<'t>) -> bool,
    graph: Option<&Graph<'t>>,
) -> BTreeSet<PackageId> {
    if seeds.is_empty() {
        return BTreeSet::new();
    }
    let own = graph.is_none().then(|| tree.graph());
    let Some(graph) = graph.or(own.as_ref()) else { return BTreeSet::new() };
    let mut users: BTreeMap<PackageId, Vec<PackageId>> = BTreeMap::new();
    for package in tree.packages().filter(|it| rises(*it)) {
        for edge in graph.edges_of(package) {
            if edge.counts().any(&Level::USED) {
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

/// The package that a file is part of in the next major version.
fn next_package(policy: &UpgradePolicy, file: File<'_>, stage: Stage) -> Option<String> {
    let name = candidate_package(policy, file)?;
    let version = PackageVersion::of_package(&name);
    let Some(version) = version.filter(|_| stage == Stage::Stable) else { return Some(name) };
    let mut components: Vec<&str> = name.split('.').collect();
    let component = components.get_mut(version.position)?;
    *component = component.strip_suffix("alpha").unwrap_or(component);
    Some(components.join("."))
}

fn candidate_package(policy: &UpgradePolicy, file: File<'_>) -> Option<String> {
    let package = file.package();
    if let Some((name, _)) = file.move_to_package() {
        return Some(name.to_owned());
    }
    if let Some(name) = policy.packages.get(package.name()) {
        return Some(name.clone());
    }
    let version = package.version()?;
    let text = match policy.majors.get(&version.major) {
        Some(text) => text.clone(),
        None if version.stability == Stability::Beta => return None,
        None => format!("v{}alpha", version.major.checked_add(1)?),
    };
    let mut components: Vec<&str> = package.name().split('.').collect();
    *components.get_mut(version.position)? = &text;
    Some(components.join("."))
}

/// The path of a file in another package: in the folder of that package, where
/// it lies in that of its own; else in the same folder with the next version.
fn next_path(policy: &PackagePolicy, file: File<'_>, package: &str) -> String {
    let (folder, name) = file.path().rsplit_once('/').unwrap_or(("", file.path()));
    let own = file.package().name().replace('.', "/");
    let next = package.replace('.', "/");
    if folder == own {
        return format!("{next}/{name}");
    }
    for prefix in &policy.folder_prefixes {
        if folder.strip_prefix(prefix.as_str()).and_then(|it| it.strip_prefix('/')) == Some(&own) {
            return format!("{prefix}/{next}/{name}");
        }
    }
    let version = |package: &str| PackageVersion::of_package(package).map(|it| it.text);
    if let (Some(old), Some(new)) = (version(file.package().name()), version(package)) {
        let mut folders: Vec<&str> = folder.split('/').collect();
        if let Some(found) = folders.iter_mut().rfind(|it| **it == old) {
            *found = &new;
            return format!("{}/{name}", folders.join("/"));
        }
    }
    format!("{next}/{name}")
}
