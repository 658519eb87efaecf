//! Types that kept their shape and lost their name.

use std::hash::{Hash, Hasher};

use abide_schema::{Enum, Message, Service, Type};
use rustc_hash::{FxHashMap, FxHasher};

use super::Diff;

/// A trait of a type that a renaming leaves alone: a field, an enum value or a
/// method.
type Feature = u64;

/// What is known of a type besides its name.
struct Shape<T> {
    of: T,
    full_name: String,
    /// Sorted, without duplicates.
    features: Vec<Feature>,
}

/// Features that more types share than this tell nothing about any of them.
const COMMON: usize = 32;

impl<'t> Diff<'t> {
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

    fn pair_messages(&mut self, wanted: &dyn Fn(&Message<'t>) -> bool) {
        let free = |it: &Message<'t>| !it.is_map_entry() && wanted(it);
        let old = self.old_files().filter(|it| it.is_judged()).flat_map(|it| it.all_messages());
        let old = old.filter(free).filter(|it| self.new_message(*it).is_none()).map(message_shape);
        let new = self.new_files().filter(|it| it.is_judged()).flat_map(|it| it.all_messages());
        let new = new.filter(free).filter(|it| self.old_message(*it).is_none()).map(message_shape);
        for (old, new) in matches(old.collect(), new.collect()) {
            self.messages.add(old.id, new.id);
        }
    }

    /// Pairs what messages of two names enclose, by simple names.
    fn pair_nested(&mut self) {
        let mut open: Vec<(Message<'t>, Message<'t>)> = self
            .messages
            .new_of
            .iter()
            .map(|(&old, &new)| (self.old.message(old), self.new.message(new)))
            .filter(|(old, new)| old.full_name() != new.full_name())
            .collect();
        open.sort();
        while let Some((old, new)) = open.pop() {
            for inner in old.messages() {
                let twin = new.messages().find(|it| it.name() == inner.name());
                if let Some(twin) = twin
                    && self.messages.add(inner.id, twin.id)
                {
                    open.push((inner, twin));
                }
            }
            for inner in old.enums() {
                if let Some(twin) = new.enums().find(|it| it.name() == inner.name()) {
                    self.enums.add(inner.id, twin.id);
                }
            }
        }
    }

    fn pair_enums(&mut self) {
        let old = self.old_files().filter(|it| it.is_judged()).flat_map(|it| it.all_enums());
        let old = old.filter(|it| self.new_enum(*it).is_none()).map(enum_shape);
        let new = self.new_files().filter(|it| it.is_judged()).flat_map(|it| it.all_enums());
        let new = new.filter(|it| self.old_enum(*it).is_none()).map(enum_shape);
        for (old, new) in matches(old.collect(), new.collect()) {
            self.enums.add(old.id, new.id);
        }
    }

    fn pair_services(&mut self) {
        let old = self.old_files().filter(|it| it.is_judged()).flat_map(|it| it.services());
        let old = old.filter(|it| self.new_service(*it).is_none()).map(service_shape);
        let new = self.new_files().filter(|it| it.is_judged()).flat_map(|it| it.services());
        let new = new.filter(|it| self.old_service(*it).is_none()).map(service_shape);
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

fn shape<T>(of: T, full_name: String, features: impl Iterator<Item = Feature>) -> Shape<T> {
    let mut features: Vec<Feature> = features.collect();
    features.sort_unstable();
    features.dedup();
    Shape { of, full_name, features }
}

fn message_shape(message: Message<'_>) -> Shape<Message<'_>> {
    let fields = message.fields().map(|field| {
        let kind = match field.ty() {
            Type::Scalar(scalar) => scalar.number(),
            Type::Message(_) => -1,
            Type::Enum(_) => -2,
            Type::Unresolved => -3,
        };
        feature((field.number(), field.name(), kind, field.cardinality()))
    });
    shape(message, message.full_name(), fields)
}

fn enum_shape(item: Enum<'_>) -> Shape<Enum<'_>> {
    // Names of values often begin with that of their enum.
    let values = item.values().map(|value| feature((value.number(), value.name())));
    shape(item, item.full_name(), values)
}

fn service_shape(service: Service<'_>) -> Shape<Service<'_>> {
    shape(service, service.full_name(), service.methods().map(|it| feature(it.name())))
}

/// The best pairs, each element in one at most: by likeness, then by names.
fn matches<T: Copy>(old: Vec<Shape<T>>, new: Vec<Shape<T>>) -> Vec<(T, T)> {
    let mut index: FxHashMap<Feature, Vec<usize>> = FxHashMap::default();
    let mut names: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    let mut whole: FxHashMap<&[Feature], Vec<usize>> = FxHashMap::default();
    for (at, shape) in new.iter().enumerate() {
        for &feature in &shape.features {
            index.entry(feature).or_default().push(at);
        }
        names.entry(simple(&shape.full_name)).or_default().push(at);
        whole.entry(&shape.features).or_default().push(at);
    }
    let mut pairs = Vec::new();
    for (from, shape) in old.iter().enumerate() {
        let rare = shape.features.iter().filter_map(|it| index.get(it));
        let rare = rare.filter(|list| list.len() <= COMMON).flatten();
        let named = names.get(simple(&shape.full_name)).into_iter();
        let named = named.filter(|list| list.len() <= COMMON).flatten();
        let equal = whole.get(shape.features.as_slice()).into_iter();
        let equal = equal.filter(|list| list.len() <= COMMON).flatten();
        let mut likely: Vec<usize> = rare.chain(named).chain(equal).copied().collect();
        likely.sort_unstable();
        likely.dedup();
        let scored = likely.into_iter().filter_map(|to| Some((likeness(shape, &new[to])?, to)));
        pairs.extend(scored.map(|(score, to)| (score, from, to)));
    }
    let key = |&(score, from, to): &(u32, usize, usize)| {
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

/// How alike two types are, in thousandths; `None` where they are two types
/// rather than one that was renamed. A type that kept its simple name may have
/// changed more than one that did not.
fn likeness<T>(old: &Shape<T>, new: &Shape<T>) -> Option<u32> {
    let shared = old.features.iter().filter(|it| new.features.binary_search(it).is_ok()).count();
    let most = old.features.len().max(new.features.len());
    let kept_name = simple(&old.full_name) == simple(&new.full_name);
    // Two empty types are alike in nothing but their names.
    let alike = (shared * 900).checked_div(most).unwrap_or(if kept_name { 900 } else { 0 });
    let enough = match (kept_name, shared) {
        (true, _) => alike >= 300,
        (false, 0 | 1) => false,
        (false, _) => alike >= 600,
    };
    enough.then_some(alike as u32 + if kept_name { 100 } else { 0 })
}

fn simple(full_name: &str) -> &str {
    full_name.rsplit('.').next().unwrap_or(full_name)
}
