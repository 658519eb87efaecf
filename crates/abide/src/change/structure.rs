//! Types and packages that kept their shape and lost their name.

use std::hash::{Hash, Hasher};

use abide_schema::{Element, Enum, Message, Package, PackageId, PackageVersion, Service, Type};
use rustc_hash::{FxHashMap, FxHasher};

use super::{Diff, pair_by, top_level};

/// A trait that a renaming leaves alone, such as a field, an enum value or a
/// method; or a part of a name, which it may leave alone.
type Feature = u64;

/// What is known of a type or a package besides its full name.
struct Shape<T> {
    of: T,
    full_name: String,
    /// Its package, as the new side knows it.
    home: Option<PackageId>,
    /// What it holds; sorted, without duplicates.
    features: Vec<Feature>,
    /// Parts of its name; sorted, without duplicates.
    hints: Vec<Feature>,
}

/// What more than this share tells nothing about any of them.
const COMMON: usize = 32;

impl<'t> Diff<'t> {
    pub(super) fn pair_packages_by_structure(&mut self) {
        let old = self.old.packages().filter(|it| it.is_judged());
        let old = old.filter(|it| self.new_package(*it).is_none()).map(package_shape);
        let new = self.new.packages().filter(|it| it.is_judged());
        let new = new.filter(|it| self.old_package(*it).is_none()).map(package_shape);
        for (old, new) in matches(old.collect(), new.collect()) {
            self.packages.add(old.id, new.id);
        }
    }

    pub(super) fn pair_types_by_structure(&mut self) {
        // What encloses is paired before what is enclosed: nested types of
        // renamed messages go by their simple names.
        let top = |it: &Message<'t>| it.parent().is_none();
        self.pair_messages(&top);
        self.pair_nested();
        self.pair_messages(&|_| true);
        self.pair_nested();
        self.pair_enums();
        self.pair_services();
    }

    fn home(&self, old: Package<'t>) -> Option<PackageId> {
        self.new_package(old).map(|it| it.id)
    }

    fn pair_messages(&mut self, wanted: &dyn Fn(&Message<'t>) -> bool) {
        let free = |it: &Message<'t>| !it.is_map_entry() && wanted(it);
        let old = self.old_files().filter(|it| it.is_judged()).flat_map(|it| it.all_messages());
        let old = old
            .filter(free)
            .filter(|it| self.new_message(*it).is_none())
            .map(|it| message_shape(it, self.home(it.package())));
        let new = self.new_files().filter(|it| it.is_judged()).flat_map(|it| it.all_messages());
        let new = new
            .filter(free)
            .filter(|it| self.old_message(*it).is_none())
            .map(|it| message_shape(it, Some(it.package().id)));
        for (old, new) in matches(old.collect(), new.collect()) {
            self.messages.add(old.id, new.id);
        }
    }

    /// Pairs what messages of two names enclose, by simple names.
    fn pair_nested(&mut self) {
        let pairs = self.messages.sorted().into_iter();
        let mut open: Vec<(Message<'t>, Message<'t>)> = pairs
            .map(|(old, new)| (self.old.message(old), self.new.message(new)))
            .filter(|(old, new)| old.full_name() != new.full_name())
            .collect();
        while let Some((old, new)) = open.pop() {
            let (before, after): (Vec<_>, Vec<_>) = (old.enums().collect(), new.enums().collect());
            pair_by(&mut self.enums, &before, &after, |it| it.id, Enum::name);
            let before: Vec<Message<'t>> =
                old.messages().filter(|it| self.new_message(*it).is_none()).collect();
            let after: Vec<Message<'t>> = new.messages().collect();
            pair_by(&mut self.messages, &before, &after, |it| it.id, Message::name);
            open.extend(before.into_iter().filter_map(|it| Some((it, self.new_message(it)?))));
        }
    }

    fn pair_enums(&mut self) {
        let old = self.old_files().filter(|it| it.is_judged()).flat_map(|it| it.all_enums());
        let old = old
            .filter(|it| self.new_enum(*it).is_none())
            .map(|it| enum_shape(it, self.home(it.package())));
        let new = self.new_files().filter(|it| it.is_judged()).flat_map(|it| it.all_enums());
        let new = new
            .filter(|it| self.old_enum(*it).is_none())
            .map(|it| enum_shape(it, Some(it.package().id)));
        for (old, new) in matches(old.collect(), new.collect()) {
            self.enums.add(old.id, new.id);
        }
    }

    fn pair_services(&mut self) {
        let old = self.old_files().filter(|it| it.is_judged()).flat_map(|it| it.services());
        let old = old
            .filter(|it| self.new_service(*it).is_none())
            .map(|it| service_shape(it, self.home(it.package())));
        let new = self.new_files().filter(|it| it.is_judged()).flat_map(|it| it.services());
        let new = new
            .filter(|it| self.old_service(*it).is_none())
            .map(|it| service_shape(it, Some(it.package().id)));
        for (old, new) in matches(old.collect(), new.collect()) {
            self.services.add(old.id, new.id);
        }
    }
}

fn feature(parts: impl Hash) -> Feature {
    let mut hasher = FxHasher::default();
    parts.hash(&mut hasher);
    hasher.finish()
}

fn shape<'n, T>(
    of: T,
    full_name: String,
    home: Option<PackageId>,
    hints: impl Iterator<Item = &'n str>,
    features: impl Iterator<Item = Feature>,
) -> Shape<T> {
    let set = |features: &mut dyn Iterator<Item = Feature>| {
        let mut features: Vec<Feature> = features.collect();
        features.sort_unstable();
        features.dedup();
        features
    };
    let mut hints = hints.map(feature);
    let mut features = features;
    Shape { of, full_name, home, features: set(&mut features), hints: set(&mut hints) }
}

fn package_shape(package: Package<'_>) -> Shape<Package<'_>> {
    // The version is the part of a name that changes most.
    let hints = package.name().split('.');
    let hints = hints.filter(|it| PackageVersion::parse_component(it).is_none());
    let types = package.files().flat_map(top_level);
    let types = types.filter(|it| !matches!(it, Element::Field(_)));
    let types = types.map(|it| feature((it.noun(), it.name())));
    shape(package, package.full_name(), None, hints, types)
}

fn message_shape(message: Message<'_>, home: Option<PackageId>) -> Shape<Message<'_>> {
    let fields = message.fields().map(|field| {
        let kind = match field.ty() {
            Type::Scalar(scalar) => scalar.number(),
            Type::Message(_) => -1,
            Type::Enum(_) => -2,
            Type::Unresolved => -3,
        };
        feature((field.number(), field.name(), kind, field.cardinality()))
    });
    shape(message, message.full_name(), home, std::iter::once(message.name()), fields)
}

fn enum_shape(item: Enum<'_>, home: Option<PackageId>) -> Shape<Enum<'_>> {
    let values = item.values().map(|value| feature((value.number(), value.name())));
    shape(item, item.full_name(), home, std::iter::once(item.name()), values)
}

fn service_shape(service: Service<'_>, home: Option<PackageId>) -> Shape<Service<'_>> {
    let methods = service.methods().map(|it| feature(it.name()));
    shape(service, service.full_name(), home, std::iter::once(service.name()), methods)
}

/// Who of the new side has a feature, and how many of the old side have.
#[derive(Default)]
struct Sharers {
    old: usize,
    new: Vec<usize>,
}

/// The best pairs, each element in one at most: by likeness, then by names.
fn matches<T: Copy>(old: Vec<Shape<T>>, new: Vec<Shape<T>>) -> Vec<(T, T)> {
    if old.is_empty() || new.is_empty() {
        return Vec::new();
    }
    // A shape as a whole is a trait, too: types of common fields may be rare.
    let traits = |shape: &Shape<T>| {
        let hints = shape.hints.iter().map(|hint| feature(("hint", hint)));
        let all = shape.features.iter().copied().chain(hints);
        all.chain([feature(&shape.features), feature((&shape.features, &shape.hints))])
            .collect::<Vec<Feature>>()
    };
    let mut index: FxHashMap<Feature, Sharers> = FxHashMap::default();
    for (at, shape) in new.iter().enumerate() {
        for feature in traits(shape) {
            index.entry(feature).or_default().new.push(at);
        }
    }
    for feature in old.iter().flat_map(traits) {
        if let Some(sharers) = index.get_mut(&feature) {
            sharers.old += 1;
        }
    }
    let mut pairs = Vec::new();
    for (from, shape) in old.iter().enumerate() {
        let sharers = traits(shape).into_iter().filter_map(|it| index.get(&it));
        let rare = sharers.filter(|it| it.old <= COMMON && it.new.len() <= COMMON);
        let mut likely: Vec<usize> = rare.flat_map(|it| &it.new).copied().collect();
        likely.sort_unstable();
        likely.dedup();
        let scored = likely.into_iter().filter_map(|to| Some((likeness(shape, &new[to])?, to)));
        pairs.extend(scored.map(|(score, to)| (score, from, to)));
    }
    let key = |&(score, from, to): &(usize, usize, usize)| {
        (std::cmp::Reverse(score), &old[from].full_name, &new[to].full_name)
    };
    pairs.sort_by(|a, b| key(a).cmp(&key(b)));
    let mut taken_old = vec![false; old.len()];
    let mut taken_new = vec![false; new.len()];
    let mut chosen = Vec::new();
    for (_, from, to) in pairs {
        if !taken_old[from] && !taken_new[to] {
            taken_old[from] = true;
            taken_new[to] = true;
            chosen.push((old[from].of, new[to].of));
        }
    }
    chosen
}

/// How alike two elements are, in thousandths; `None` where they are two
/// rather than one that was renamed. One that kept a part of its name may have
/// changed more than one that did not.
fn likeness<T>(old: &Shape<T>, new: &Shape<T>) -> Option<usize> {
    let common = |old: &[Feature], new: &[Feature]| {
        old.iter().filter(|it| new.binary_search(it).is_ok()).count()
    };
    let shared = common(&old.features, &new.features);
    let most = old.features.len().max(new.features.len());
    let names = common(&old.hints, &new.hints);
    let all_names = old.hints.len().max(new.hints.len());
    let kept_name = names > 0;
    // Two that hold nothing are alike in nothing but their names.
    let alike = (shared * 900).checked_div(most).unwrap_or(if kept_name { 900 } else { 0 });
    let near = old.home.is_some() && old.home == new.home;
    let enough = match (kept_name, near) {
        (true, _) => alike >= 300,
        (false, true) => shared >= 2 && alike >= 600,
        // A name and a config are no reason to think of another package.
        (false, false) => shared >= 4 && alike >= 800,
    };
    enough.then_some(alike + (names * 100).checked_div(all_names).unwrap_or(0))
}
