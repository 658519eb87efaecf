//! What is upgraded: which files get a candidate, and what everything in them
//! is called there.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use abide_schema::{
    Element, EnumId, Field, File, FileId, Graph, Level, MessageId, Migration, Package, PackageId,
    PackageVersion, ServiceId, Stability, Tree, Type,
};
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::links::name_after;
use crate::refusal::Refusal;
use crate::removal::deprecated;
use crate::settings::{Closure, Settings, UpgradePolicy, UpgradeReason};
use crate::standing::{Standing, Standings};

/// The name that says of the zero of an enum that it is gone: a zero cannot be
/// reserved.
pub(crate) const UNAVAILABLE: &str = "DEPRECATED_AND_UNAVAILABLE_DO_NOT_USE";

/// What a file becomes in the next major version.
#[derive(Clone, Debug)]
pub(crate) struct Next {
    pub(crate) package: String,
    pub(crate) path: String,
}

impl Next {
    /// What a file becomes if it rises; `None` where nothing tells its next
    /// version.
    fn of(settings: Settings<'_>, file: File<'_>, stage: Stage) -> Option<Next> {
        let package = next_package(settings.policy, file, stage)?;
        let path = next_path(settings.folder_prefixes, file, &package);
        Some(Next { package, path })
    }
}

/// What is asked of an upgrade.
#[derive(Clone, Copy, Debug, Default)]
pub struct UpgradeOptions<'a> {
    /// The packages that are upgraded, with what their closure drags along;
    /// none: all that need it.
    pub packages: &'a [String],
    /// What is upgraded together with a package; `None`: as the policy says.
    pub closure: Option<Closure>,
}

/// What the next major version is made as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// As an alpha that may change.
    Candidate,
    /// As what takes the place of the active version.
    Stable,
}

/// Which packages a plan is of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice<'o> {
    /// Those that are asked for, or need it, with what their closure drags
    /// along.
    Asked(&'o UpgradeOptions<'o>),
    /// Those whose candidates are in the tree, whatever called for them.
    Present,
}

/// What a plan is made from.
#[derive(Clone, Copy, Debug)]
pub struct Basis<'a, 't> {
    /// The tree that is upgraded.
    pub tree: &'t Tree,
    /// How.
    pub settings: Settings<'t>,
    /// What each of its files is to the upgrade.
    pub standings: &'a Standings,
    /// Where somebody has it already.
    pub graph: Option<&'a Graph<'t>>,
}

/// Which files get a candidate, and under which name.
#[derive(Debug)]
pub(crate) struct Plan<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) stage: Stage,
    pub(crate) policy: &'t UpgradePolicy,
    /// By file: what it becomes, for every file of an upgraded package.
    next: Vec<Option<Next>>,
    /// By file: whether a candidate is made of it.
    generated: FixedBitSet,
    /// The candidates that are in the tree, by path.
    candidates: BTreeMap<&'t str, FileId>,
    /// Files that would have got a candidate, and what is in its place.
    pub(crate) conflicts: Vec<Conflict>,
    /// Packages that would rise, and stay because they extend what stays: the
    /// number of an extension is taken once.
    pub(crate) staying: BTreeSet<PackageId>,
    /// Files that an interrupted release has frozen already.
    pub(crate) resumed: BTreeSet<FileId>,
}

/// A file whose candidate has no place to go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conflict {
    pub(crate) file: FileId,
    /// The file in that place, or the one whose candidate goes there.
    pub(crate) other: FileId,
    /// Whether that one is there already.
    pub(crate) exists: bool,
}

impl<'t> Plan<'t> {
    pub(crate) fn of(
        basis: Basis<'_, 't>,
        choice: Choice<'_>,
        stage: Stage,
    ) -> Result<Plan<'t>, Refusal> {
        let Basis { tree, settings, graph, .. } = basis;
        let mut standings = Cow::Borrowed(basis.standings);
        let interrupted = interrupted(basis);
        for it in &interrupted {
            standings.to_mut().resume(it.frozen);
        }
        let policy = settings.policy;
        let of = |file: File<'_>| standings.file(file);
        let active =
            |package: Package<'t>| package.files().any(|file| of(file) == Standing::Active);
        let rises = |package: Package<'t>| {
            active(package)
                && (policy.unstable
                    || policy.packages.contains_key(package.name())
                    || policy.always.iter().any(|it| it.matches(package.name()))
                    || package.version().is_some_and(PackageVersion::is_stable)
                    || package.version().is_none()
                        && package.files().any(|it| it.move_to_package().is_some()))
        };
        let by_type = |needs: &dyn Fn(File<'t>) -> Need| {
            let apart = |it: &File<'_>| it.is_judged() && of(*it) == Standing::Apart;
            let relevant = |file: &File<'t>| match of(*file) {
                Standing::Active => rises(file.package()),
                it => it == Standing::Frozen,
            };
            let mut packages = by_type(tree, &relevant, policy, needs);
            packages.retain(|id| !tree.package(*id).files().any(|file| apart(&file)));
            packages
        };
        let reason = |file: File<'t>| match file_has_reason(policy, file) {
            true => Need::All,
            false => Need::Some,
        };
        let by_reason = LazyCell::new(|| by_type(&reason));
        let mut upgraded: BTreeSet<PackageId> = match choice {
            Choice::Present => {
                let candidates: BTreeSet<&str> = tree
                    .files()
                    .filter(|it| of(*it) == Standing::Candidate)
                    .map(|it| it.package().name())
                    .collect();
                let present = |file: File<'t>| {
                    of(file) == Standing::Active
                        && candidate_package(policy, file)
                            .is_some_and(|it| candidates.contains(it.as_str()))
                };
                let packages = tree.packages().filter(|it| rises(*it) && it.files().any(present));
                packages.map(|it| it.id).collect()
            }
            Choice::Asked(options) => {
                let wanted = wanted(tree, &standings, options.packages)?;
                // Who names a package wants it, whatever is in it.
                let needs = |file: File<'t>| match &wanted {
                    Some(wanted) if wanted.contains(file.package().name()) => Need::All,
                    Some(_) => Need::None,
                    None => reason(file),
                };
                match options.closure.unwrap_or(policy.closure) {
                    Closure::All => {
                        tree.packages().filter(|it| rises(*it)).map(|it| it.id).collect()
                    }
                    Closure::Package => {
                        let seeds = tree.packages().filter(|package| {
                            rises(*package)
                                && package.files().any(|file| {
                                    of(file) == Standing::Active
                                        && types(file).any(|it| needs(file).of(policy, it))
                                })
                        });
                        by_package(tree, seeds.map(|it| it.id).collect(), rises, graph)
                    }
                    Closure::Type if wanted.is_none() => by_reason.clone(),
                    Closure::Type => by_type(&needs),
                }
            }
        };
        let staying = staying(tree, &upgraded);
        if let Choice::Asked(options) = choice
            && let Some(name) = options
                .packages
                .iter()
                .find(|name| tree.package_named(name).is_some_and(|it| staying.contains(&it.id)))
        {
            return Err(Refusal::Extends(name.clone()));
        }
        upgraded.retain(|id| !staying.contains(id));
        if policy.closure == Closure::Type {
            // What the generator did: who names a type that is frozen names
            // what follows it.
            upgraded.extend(by_reason.iter().filter(|id| !active(tree.package(**id))));
        }
        if interrupted.iter().any(|it| it.in_place) {
            // Some of what is released together is there already.
            let done = |file: &File<'t>| {
                let path = |stage: Stage| Next::of(settings, *file, stage).map(|it| it.path);
                of(*file) == Standing::Frozen && path(Stage::Stable) == path(Stage::Candidate)
            };
            upgraded.extend(tree.files().filter(done).map(|it| it.package().id));
        }
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
                let Some(becomes) = Next::of(settings, file, stage).filter(|_| !skipped) else {
                    continue;
                };
                generated.set(file.id.0 as usize, standing == Standing::Active);
                next[file.id.0 as usize] = Some(becomes);
            }
        }
        let is_candidate = |file: &File<'t>| of(*file) == Standing::Candidate;
        let candidates =
            tree.files().filter(is_candidate).map(|file| (file.path(), file.id)).collect();
        let mut plan = Plan {
            tree,
            stage,
            candidates,
            policy,
            next,
            generated,
            conflicts: Vec::new(),
            staying,
            resumed: interrupted.iter().map(|it| it.frozen).collect(),
        };
        plan.yield_to_others(&standings, settings);
        Ok(plan)
    }

    /// Where a file exists that is no candidate, it stays: it was written by
    /// hand, be it where the candidate would be or what is made of that when it
    /// is released. Of two candidates for one place the first is made.
    fn yield_to_others(&mut self, standings: &Standings, settings: Settings<'_>) {
        let written = |file: &File<'_>| standings.file(*file) != Standing::Candidate;
        let mut taken: BTreeMap<&str, (FileId, bool)> =
            self.tree.files().filter(written).map(|file| (file.path(), (file.id, true))).collect();
        for (at, next) in self.next.iter().enumerate() {
            let Some(next) = next.as_ref().filter(|_| self.generated.contains(at)) else {
                continue;
            };
            let file = FileId(at as u32);
            let released = Next::of(settings, self.tree.file(file), Stage::Stable);
            let there = released.and_then(|it| taken.get(it.path.as_str()));
            let there = there.filter(|(_, exists)| *exists);
            match taken.get(next.path.as_str()).or(there) {
                Some((other, exists)) => {
                    // A release that was interrupted has made some already.
                    let resumed = self.stage == Stage::Stable
                        || self.candidates.contains_key(next.path.as_str());
                    self.generated.set(at, *exists && resumed);
                    self.conflicts.push(Conflict { file, other: *other, exists: *exists });
                }
                None => drop(taken.insert(&next.path, (file, false))),
            }
        }
    }

    /// Whoever names what is in `file` names what `source` becomes.
    pub(crate) fn becomes_that_of(&mut self, file: FileId, source: FileId) {
        self.next[file.0 as usize] = self.next[source.0 as usize].clone();
    }

    /// What a file becomes, where its package is upgraded.
    pub(crate) fn next(&self, file: FileId) -> Option<&Next> {
        self.next[file.0 as usize].as_ref()
    }

    /// Whether a candidate is made of a file.
    pub(crate) fn generates(&self, file: FileId) -> bool {
        self.generated.contains(file.0 as usize)
    }

    /// The candidate that is in the tree at this path.
    pub(crate) fn candidate(&self, path: &str) -> Option<File<'t>> {
        self.candidates.get(path).map(|id| self.tree.file(*id))
    }

    /// The full name that a type or a member of one has in the next version;
    /// `None` where it stays.
    pub(crate) fn next_name(&self, element: Element<'t>) -> Option<String> {
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
    pub(crate) fn name_after(&self, element: Element<'t>) -> String {
        self.next_name(element).unwrap_or_else(|| element.full_name())
    }

    /// The path of a file once the upgrade is done.
    pub(crate) fn path_after(&self, file: File<'t>) -> &str {
        self.next(file.id).map_or(file.path(), |next| &next.path)
    }
}

/// Whether a path may be wanted twice: it costs little to see that none is.
pub(crate) fn may_collide(basis: Basis<'_, '_>) -> bool {
    let Basis { tree, settings, standings, .. } = basis;
    let mut taken: FxHashSet<Cow<'_, str>> = tree
        .files()
        .filter(|it| standings.file(*it) != Standing::Candidate)
        .map(|it| it.path().into())
        .collect();
    let relevant =
        |it: &File<'_>| matches!(standings.file(*it), Standing::Active | Standing::Frozen);
    // By itself, or with something that it imports.
    let may_rise = |package: Package<'_>| {
        settings.policy.closure == Closure::All
            || package.files().any(|file| {
                types(file).any(|it| has_reason(settings.policy, it))
                    || file_has_reason(settings.policy, file)
                    || file.imports().filter_map(|it| it.file).any(|it| relevant(&it))
            })
    };
    tree.files().filter(|it| standings.file(*it) == Standing::Active).any(|file| {
        let path = |stage: Stage| Next::of(settings, file, stage).map(|it| it.path);
        let there = path(Stage::Stable).is_some_and(|it| taken.contains(it.as_str()));
        let twice = path(Stage::Candidate).is_some_and(|it| !taken.insert(it.into()));
        (there || twice) && may_rise(file.package())
    })
}

/// What is left of a release that was interrupted.
struct Interrupted {
    frozen: FileId,
    candidate: FileId,
    /// Whether the candidate itself becomes stable, where it is.
    in_place: bool,
}

/// The frozen files of a tree whose candidates are still there: beside what was
/// made of them, or in its place.
fn interrupted(basis: Basis<'_, '_>) -> Vec<Interrupted> {
    let Basis { tree, settings, standings, .. } = basis;
    let with = |wanted: Standing| {
        let files = tree.files().filter(move |it| standings.file(*it) == wanted);
        files.map(|it| (it.path(), it.id)).collect::<FxHashMap<&str, FileId>>()
    };
    let candidates = with(Standing::Candidate);
    if candidates.is_empty() {
        return Vec::new();
    }
    let active = with(Standing::Active);
    let left = |file: File<'_>| {
        let path = |stage: Stage| Next::of(settings, file, stage).map(|it| it.path);
        let (path, stable) = (path(Stage::Candidate)?, path(Stage::Stable)?);
        let candidate = *candidates.get(path.as_str())?;
        let in_place = path == stable;
        let is_left = in_place || active.contains_key(stable.as_str());
        is_left.then_some(Interrupted { frozen: file.id, candidate, in_place })
    };
    let frozen = tree.files().filter(|it| standings.file(*it) == Standing::Frozen);
    frozen.filter_map(left).collect()
}

/// The candidates that an interrupted release was to delete.
pub(crate) fn left_behind(basis: Basis<'_, '_>) -> Vec<FileId> {
    let left = interrupted(basis).into_iter().filter(|it| !it.in_place);
    left.map(|it| it.candidate).collect()
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

/// What of a file calls for the next major version.
#[derive(Clone, Copy, Debug)]
enum Need {
    All,
    /// What has a reason of its own.
    Some,
    None,
}

impl Need {
    fn of(self, policy: &UpgradePolicy, element: Element<'_>) -> bool {
        match self {
            Need::All => true,
            Need::Some => has_reason(policy, element),
            Need::None => false,
        }
    }
}

/// What refers to types and is referred to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Node {
    Message(MessageId),
    Enum(EnumId),
    Service(ServiceId),
}

/// Of the packages that would rise, those that extend what does not: of two
/// versions of an extension only one could have its number.
fn staying(tree: &Tree, upgraded: &BTreeSet<PackageId>) -> BTreeSet<PackageId> {
    let mut staying = BTreeSet::new();
    loop {
        let rises = |id: PackageId| upgraded.contains(&id) && !staying.contains(&id);
        let extends = |package: Package<'_>| {
            let mut extensions = package.files().flat_map(extensions);
            extensions.any(|it| it.extendee().is_some_and(|it| !rises(it.file().package().id)))
        };
        let mut found = upgraded.iter().filter(|id| rises(**id) && extends(tree.package(**id)));
        let Some(found) = found.next().copied() else { return staying };
        staying.insert(found);
    }
}

/// The extensions that a file declares, in messages too.
pub(crate) fn extensions<'t>(file: File<'t>) -> impl Iterator<Item = Field<'t>> {
    file.elements().filter_map(|it| match it {
        Element::Field(field) if field.is_extension() => Some(field),
        _ => None,
    })
}

/// The packages that hold a type which calls for the next version, or refers
/// to one that does, over any number of steps.
fn by_type<'t>(
    tree: &'t Tree,
    relevant: &dyn Fn(&File<'t>) -> bool,
    policy: &UpgradePolicy,
    needs: &dyn Fn(File<'t>) -> Need,
) -> BTreeSet<PackageId> {
    let mut users: FxHashMap<Node, Vec<(Node, PackageId)>> = FxHashMap::default();
    let mut rising = FxHashSet::default();
    let mut open = Vec::new();
    for file in tree.files().filter(relevant) {
        let package = file.package().id;
        let need = needs(file);
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
            if need.of(policy, element) {
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
        let version = PackageVersion::of_package(name);
        let Some(version) = version.filter(|it| it.is_stable() && !policy.stable_moves) else {
            return Some(name.to_owned());
        };
        let mut components: Vec<&str> = name.split('.').collect();
        let alpha = format!("{}alpha", version.text);
        *components.get_mut(version.position)? = &alpha;
        return Some(components.join("."));
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
fn next_path(folder_prefixes: &[String], file: File<'_>, package: &str) -> String {
    let (folder, name) = file.path().rsplit_once('/').unwrap_or(("", file.path()));
    let own = file.package().name().replace('.', "/");
    let next = package.replace('.', "/");
    if folder == own {
        return format!("{next}/{name}");
    }
    for prefix in folder_prefixes {
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
