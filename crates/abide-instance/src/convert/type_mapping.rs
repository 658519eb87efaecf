//! Maps each type to its type in the next version, and back.

use std::collections::{BTreeMap, HashMap};

use abide_schema::{Message, MessageId, PackageVersion, Tree, format_api_name};

use super::mapping::VersionMapping;

/// Annotations that name the type that a message was made from: the option and the field of
/// its value.
const PREVIOUS_TYPE_ANNOTATIONS: &[(&str, &str)] = &[
    ("abide.annotations.v1.message_policy", "previous_type"),
    ("udpa.annotations.versioning", "previous_message_type"),
    ("xds.annotations.v3.versioning", "previous_message_type"),
];

/// The distance of a conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To newer versions: up to this one, else to the newest stable one.
    Up(Option<PackageVersion>),
    /// To older versions: down to this major.
    Down(u32),
}

/// The pairs of types of neighbouring versions of a tree.
#[derive(Debug)]
pub(super) struct TypeMapping<'t> {
    tree: &'t Tree,
    next: HashMap<MessageId, MessageId>,
    previous: HashMap<MessageId, MessageId>,
}

impl<'t> TypeMapping<'t> {
    /// The pairs that a mapping names; of other types those that annotations of the newer
    /// version name; else a type is followed by that with the same name in the next version of
    /// its package.
    pub(super) fn build(tree: &'t Tree, mapping: &VersionMapping) -> TypeMapping<'t> {
        let (next, previous) = (HashMap::new(), HashMap::new());
        let mut pairs = TypeMapping { tree, next, previous };
        for (old, new) in &mapping.types {
            if let (Some(old), Some(new)) = (tree.message_named(old), tree.message_named(new)) {
                pairs.add_pair(old.id, new.id);
            }
        }
        for message in tree.files().flat_map(|file| file.all_messages()) {
            let named = PREVIOUS_TYPE_ANNOTATIONS.iter().find_map(|(option, field)| {
                let value = message.options()?.find_extension(tree, option)?.value.as_message()?;
                value.get_str(tree, field)
            });
            if let Some(old) = named.and_then(|name| find_previous_type(tree, message, name)) {
                pairs.add_pair(old.id, message.id);
            }
        }
        pairs.add_same_names();
        pairs
    }

    fn add_pair(&mut self, old: MessageId, new: MessageId) {
        // Some types of a version may be made from one type of the older version: the first counts.
        if old != new && !self.previous.contains_key(&new) {
            self.next.entry(old).or_insert(new);
            self.previous.insert(new, old);
        }
    }

    fn add_same_names(&mut self) {
        let mut versions: BTreeMap<String, Vec<(PackageVersion, &str)>> = BTreeMap::new();
        for package in self.tree.packages() {
            if let (Some(api), Some(version)) = (format_api_name(package.name()), package.version())
            {
                versions.entry(api).or_default().push((version.clone(), package.name()));
            }
        }
        for packages in versions.values_mut() {
            packages.sort();
            // The stable versions follow each other; alphas and betas follow the last stable one.
            for (at, (version, name)) in packages.iter().enumerate() {
                let later = &packages[at + 1..];
                let is_next = |it: &&(PackageVersion, &str)| it.0.major > version.major;
                let stable = later.iter().filter(is_next).find(|it| it.0.is_stable());
                let Some((_, next)) = stable.or_else(|| later.iter().find(is_next)) else {
                    continue;
                };
                self.add_package(name, next);
            }
        }
    }

    fn add_package(&mut self, old: &str, new: &str) {
        let Some(package) = self.tree.package_named(old) else { return };
        for message in package.files().flat_map(|file| file.all_messages()) {
            let known = self.next.contains_key(&message.id);
            let named = self.tree.message_named(&format!("{new}.{}", message.relative_name()));
            if let Some(named) = named.filter(|_| !known) {
                self.add_pair(message.id, named.id);
            }
        }
    }

    /// The type of the next version.
    pub(super) fn find_next(&self, ty: MessageId) -> Option<MessageId> {
        self.next.get(&ty).copied()
    }

    /// The type of the version before.
    pub(super) fn find_previous(&self, ty: MessageId) -> Option<MessageId> {
        self.previous.get(&ty).copied()
    }

    /// The type that a value of a type becomes in one step of the way.
    pub(super) fn find_neighbour(&self, ty: MessageId, way: &Direction) -> Option<MessageId> {
        let version = |ty| PackageVersion::from_package(self.tree.message(ty).package().name());
        match way {
            Direction::Up(to) => {
                let next = *self.next.get(&ty)?;
                let Some(version) = version(next) else { return Some(next) };
                let admitted = match to {
                    None => version.is_stable(),
                    Some(to) => {
                        version.major < to.major && version.is_stable()
                            || version.major == to.major && version.stability >= to.stability
                    }
                };
                admitted.then_some(next)
            }
            Direction::Down(to) => {
                let is_newer = version(ty).is_none_or(|it| it.major > *to);
                self.previous.get(&ty).copied().filter(|_| is_newer)
            }
        }
    }
}

/// Finds the type that an annotation names. If nothing has that name, the newest older major of the
/// API that it names counts: annotations may name a package that was never released.
fn find_previous_type<'t>(tree: &'t Tree, message: Message<'t>, name: &str) -> Option<Message<'t>> {
    if let Some(named) = tree.message_named(name) {
        return Some(named);
    }
    let own = message.package().version()?;
    let mut packages = tree.packages().filter_map(|package| {
        let version = package.version().filter(|it| it.major < own.major)?;
        let api = format_api_name(package.name())?;
        Some((version, api, package))
    });
    let relative = message.relative_name();
    let is_named = |api: &str| {
        let package = name.strip_suffix(&*relative).and_then(|it| it.strip_suffix('.'));
        package.and_then(format_api_name).is_some_and(|it| it == api)
    };
    let mut found: Vec<_> = packages.by_ref().filter(|(_, api, _)| is_named(api)).collect();
    found.sort_by(|a, b| b.0.cmp(a.0));
    found
        .iter()
        .find_map(|(.., package)| tree.message_named(&format!("{}.{relative}", package.name())))
}
