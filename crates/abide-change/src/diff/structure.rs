//! Types and packages that kept their shape and lost their name.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::atomic::Ordering;

use abide_schema::{
    Element, Enum, Field, File, FileId, Message, MessageId, Method, Package, PackageVersion,
    Service, Tree, Type,
};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::Diff;
use super::pairs::pair_by;
use super::rarity::{Feature, FeatureFrequency};
use crate::element::{base_name, find_value_field, have_equal_names, list_top_level};
use crate::surface::Direction;

/// The facts about a type or a package besides its full name.
struct ShapeProfile<T> {
    of: T,
    /// The features of its parts; sorted, without duplicates.
    features: Vec<Feature>,
    /// Parts of its name; sorted, without duplicates.
    hints: Vec<Feature>,
    /// Those of its features that many APIs have.
    standard: Vec<Feature>,
}

/// The fields of requests and responses of standard methods, which are alike in
/// unrelated APIs. Source: the API improvement proposals (`google.aip.dev`) 131 to
/// 135, 155, 157, 158, 163 and 217.
const STANDARD_FIELDS: &[&str] = &[
    "allow_missing",
    "etag",
    "filter",
    "force",
    "name",
    "next_page_token",
    "order_by",
    "page_size",
    "page_token",
    "parent",
    "read_mask",
    "request_id",
    "show_deleted",
    "skip",
    "total_size",
    "unreachable",
    "update_mask",
    "validate_only",
];

/// The most elements that may share a feature: with more, it says nothing about any of them.
const COMMON: usize = 32;

/// A reason besides their shapes to join two elements, or to part them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    /// A user of the old one that is still there uses the new one instead.
    Successor,
    /// They are at home in the same package or the same file, and no user of
    /// the old one is left to tell.
    Neighbour,
    /// Requests and configs of one API look like those of any other: without
    /// more in common than a shape, two elements are two.
    Stranger,
}

/// The types that users of each old type use now, for types of which a user is left:
/// a field or a method of what kept its full name.
type Successors = FxHashMap<Type, Vec<Type>>;

/// The facts that relate old types to new ones.
struct RelationIndex {
    successors: Successors,
    /// For each old file, whether what it declares could be at home somewhere in
    /// the new tree.
    homes: Vec<bool>,
}

impl RelationIndex {
    /// Returns true if what an old file declares can be tied to anything but as a
    /// [`Relation::Stranger`].
    fn may_be(&self, file: FileId, ty: Option<Type>) -> bool {
        match ty.and_then(|ty| self.successors.get(&ty)) {
            Some(used) => !used.is_empty(),
            None => self.homes[file.0 as usize],
        }
    }
}

/// Returns true if a package of one name could be called by the other now. Another
/// version of a package stands beside it or takes its place, but it is no other
/// name of it.
pub(super) fn may_be_renamed(old: Package<'_>, new: Package<'_>) -> bool {
    match (read_version(old), read_version(new)) {
        (Some(old), Some(new)) => old == new,
        _ => true,
    }
}

/// The version of a package as it is written, wherever it is in the name.
fn read_version(package: Package<'_>) -> Option<String> {
    PackageVersion::from_package(package.name()).map(|it| it.text)
}

impl<'t> Diff<'t> {
    pub(super) fn pair_packages_by_structure(&mut self) {
        let old = self.old.packages().filter(|it| it.is_judged());
        let old = old.filter(|it| self.new_package(*it).is_none());
        let new = self.new.packages().filter(|it| it.is_judged());
        let new = new.filter(|it| self.old_package(*it).is_none());
        let tie = |old, new| {
            if may_be_renamed(old, new) { Relation::Neighbour } else { Relation::Stranger }
        };
        let everything = || self.old.packages().chain(self.new.packages()).collect();
        let stayed = self.old.packages().filter(|it| self.new_package(*it).is_some());
        let common: FxHashSet<&str> = stayed.flat_map(|it| it.name().split('.')).collect();
        for (old, new) in matches(
            old.collect(),
            new.collect(),
            |it| profile_package(it, &common),
            Package::full_name,
            |_| true,
            tie,
            everything,
        ) {
            self.packages.add(old.id, new.id);
        }
    }

    pub(super) fn pair_types_by_structure(&mut self) {
        // What encloses is paired before what is enclosed: nested types of
        // renamed messages go by their simple names.
        let ties = RelationIndex { successors: self.find_successors(), homes: self.find_homes() };
        let top = |it: &Message<'t>| it.parent().is_none();
        self.pair_messages(&ties, &top);
        self.pair_nested();
        self.pair_types_behind();
        self.pair_messages(&ties, &|_| true);
        self.pair_nested();
        self.pair_enums(&ties);
        self.pair_services(&ties);
        self.pair_types_behind();
    }

    /// All elements of a kind, those of both sides.
    fn collect_everything<T, I: Iterator<Item = T>>(&self, of: impl Fn(File<'t>) -> I) -> Vec<T> {
        self.weighed_shapes.store(true, Ordering::Relaxed);
        self.old.files().chain(self.new.files()).flat_map(of).collect()
    }

    fn find_successors(&self) -> Successors {
        let mut successors = Successors::default();
        // Only of what has no pair yet anybody will ask.
        let is_free = |it: Type| match it {
            Type::Message(id) => self.new_message(self.old.message(id)).is_none(),
            Type::Enum(id) => self.new_enum(self.old.enumeration(id)).is_none(),
            Type::Scalar(_) | Type::Unresolved => false,
        };
        let mut note = |old: Type, new: Option<Type>| {
            successors.entry(old).or_default().extend(new);
        };
        let of_message = |it: Message<'t>| Type::Message(it.id);
        let judged = || self.old_files().filter(|it| it.is_judged());
        for old in judged().flat_map(File::all_fields).filter(|it| is_free(find_held_type(*it))) {
            let Some(holder) = old.containing_message().and_then(|it| self.new_message(it)) else {
                continue;
            };
            let new = match old.is_extension() {
                false => holder.field_numbered(old.number()),
                true => self.find_extension(holder, old.number()),
            };
            note(find_held_type(old), new.map(find_held_type));
        }
        let paired = |old: Service<'t>| Some((old, self.new_service(old)?));
        let methods = judged()
            .flat_map(File::services)
            .filter_map(paired)
            .flat_map(|(old, new)| match_methods(old, new));
        for (old, new) in methods {
            for side in [Method::input, Method::output] {
                if let Some(old) = side(old).map(of_message).filter(|it| is_free(*it)) {
                    note(old, new.and_then(side).map(of_message));
                }
            }
        }
        successors
    }

    /// Returns true if a file that is gone could be one that came: they have one name
    /// in two folders, and most of what they declare has.
    fn may_have_moved(&self, old: File<'t>, new: File<'t>) -> bool {
        if self.new_file(old).is_some()
            || self.old_file(new).is_some()
            || base_name(old) != base_name(new)
            || !may_be_renamed(old.package(), new.package())
        {
            return false;
        }
        let names = |file| list_top_level(file).map(|it| (it.noun(), it.name())).collect();
        let (before, after): (FxHashSet<_>, FxHashSet<_>) = (names(old), names(new));
        before.intersection(&after).count() * 2 > before.len().max(after.len())
    }

    /// A flag for each old file: true if a [`Relation::Neighbour`] of what it declares may be.
    fn find_homes(&self) -> Vec<bool> {
        // By name and version: a release brings as many files of one name as it has packages.
        let mut came: FxHashMap<&str, BTreeMap<_, Vec<File<'t>>>> = FxHashMap::default();
        for new in self.new_files().filter(|it| self.old_file(*it).is_none()) {
            let named = came.entry(base_name(new)).or_default();
            named.entry(read_version(new.package())).or_default().push(new);
        }
        let has_home = |old: File<'t>| {
            let moved = || {
                let was = read_version(old.package());
                let named = came.get(base_name(old)).into_iter().flatten();
                let alike =
                    named.filter(move |(is, _)| was.is_none() || is.is_none() || was == **is);
                alike.flat_map(|(_, files)| files)
            };
            self.new_package(old.package()).is_some()
                || self.new_file(old).is_some()
                || moved().any(|new| self.may_have_moved(old, *new))
        };
        let files: Vec<File<'t>> = self.old.files().collect();
        files.into_par_iter().map(has_home).collect()
    }

    fn find_relation(
        &self,
        old: Element<'t>,
        new: Element<'t>,
        users: Option<(&Successors, Type, Type)>,
    ) -> Relation {
        if let Some((successors, was, is)) = users
            && let Some(used) = successors.get(&was)
        {
            return if used.contains(&is) { Relation::Successor } else { Relation::Stranger };
        }
        // What messages enclose goes with them: many have a `State`.
        if let (Some(was), Some(is)) = (old.parent(), new.parent())
            && self.new_element(was) != Some(is)
        {
            return Relation::Stranger;
        }
        let near = self.new_package(old.package()) == Some(new.package())
            || self.new_file(old.file()) == Some(new.file())
            || self.may_have_moved(old.file(), new.file());
        if near { Relation::Neighbour } else { Relation::Stranger }
    }

    fn pair_messages(&mut self, ties: &RelationIndex, wanted: &dyn Fn(&Message<'t>) -> bool) {
        let free = |it: &Message<'t>| !it.is_map_entry() && wanted(it);
        let old = self.old_files().filter(|it| it.is_judged()).flat_map(|it| it.all_messages());
        let old = old.filter(free).filter(|it| self.new_message(*it).is_none());
        let new = self.new_files().filter(|it| it.is_judged()).flat_map(|it| it.all_messages());
        let new = new.filter(free).filter(|it| self.old_message(*it).is_none());
        let tie = |old: Message<'t>, new: Message<'t>| {
            let users = (&ties.successors, Type::Message(old.id), Type::Message(new.id));
            self.find_relation(Element::Message(old), Element::Message(new), Some(users))
        };
        let may = |old: Message<'t>| ties.may_be(old.id.file, Some(Type::Message(old.id)));
        for (old, new) in matches(
            old.collect(),
            new.collect(),
            profile_message,
            Message::full_name,
            may,
            tie,
            || self.collect_everything(File::all_messages),
        ) {
            self.messages.add(old.id, new.id);
        }
    }

    /// Pairs what messages of two names enclose, by simple names.
    fn pair_nested(&mut self) {
        let pairs = self.messages.collect_sorted().into_par_iter();
        let pairs = pairs.map(|(old, new)| (self.old.message(old), self.new.message(new)));
        let open = pairs
            .filter(|(old, new)| !have_equal_names(Element::Message(*old), Element::Message(*new)))
            .collect();
        self.pair_enclosed(open);
    }

    /// The same of these messages. Returns them with the messages that they enclose.
    fn pair_enclosed(
        &mut self,
        mut open: Vec<(Message<'t>, Message<'t>)>,
    ) -> Vec<(Message<'t>, Message<'t>)> {
        let mut pairs = Vec::new();
        while let Some((old, new)) = open.pop() {
            pairs.push((old, new));
            let (before, after): (Vec<_>, Vec<_>) = (old.enums().collect(), new.enums().collect());
            pair_by(&mut self.enums, &before, &after, |it| it.id, Enum::name);
            let before: Vec<Message<'t>> =
                old.messages().filter(|it| self.new_message(*it).is_none()).collect();
            let after: Vec<Message<'t>> = new.messages().collect();
            pair_by(&mut self.messages, &before, &after, |it| it.id, Message::name);
            open.extend(before.into_iter().filter_map(|it| Some((it, self.new_message(it)?))));
        }
        pairs
    }

    /// Pairs types by who uses them: where a field, an extension or a method of two types that are
    /// one has another type than before, the two may be one as well, and so on behind them. So what
    /// stands behind a type that moved moves along, wherever it went.
    fn pair_types_behind(&mut self) {
        if !self.has_free_types() {
            return;
        }
        let mut uses = self.collect_extension_uses();
        uses.extend(self.collect_method_uses());
        let mut open: Vec<(Message<'t>, Message<'t>)> =
            (self.messages.collect_sorted().into_iter())
                .map(|(old, new)| (self.old.message(old), self.new.message(new)))
                .collect();
        while !open.is_empty() {
            uses.extend(open.into_iter().flat_map(|(old, new)| collect_field_uses(old, new)));
            open = self.pair_used(std::mem::take(&mut uses));
        }
    }

    /// Returns true if both sides have a type that is not paired.
    fn has_free_types(&self) -> bool {
        let types = |file: File<'t>| {
            let messages = file.all_messages().filter(|it| !it.is_map_entry());
            messages.map(Element::Message).chain(file.all_enums().map(Element::Enum))
        };
        let mut old = self.old_files().filter(|it| it.is_judged()).flat_map(types);
        let mut new = self.new_files().filter(|it| it.is_judged()).flat_map(types);
        old.any(|it| self.new_element(it).is_none()) && new.any(|it| self.old_element(it).is_none())
    }

    fn collect_extension_uses(&self) -> Vec<(Type, Type)> {
        let old = self.old_files().flat_map(File::all_fields).filter(|it| it.is_extension());
        let pair = |old: Field<'t>| {
            let holder = self.new_message(old.extendee()?)?;
            let new = self.find_extension(holder, old.number())?;
            Some((find_held_type(old), find_held_type(new)))
        };
        old.filter_map(pair).collect()
    }

    fn collect_method_uses(&self) -> Vec<(Type, Type)> {
        let mut uses = Vec::new();
        for old in self.old_files().flat_map(File::services) {
            let Some(new) = self.new_service(old) else { continue };
            for (old, new) in match_methods(old, new) {
                for side in [Method::input, Method::output] {
                    let pair = side(old).zip(new.and_then(side));
                    uses.extend(
                        pair.map(|(old, new)| (Type::Message(old.id), Type::Message(new.id))),
                    );
                }
            }
        }
        uses
    }

    fn find_extension(&self, holder: Message<'t>, number: i32) -> Option<Field<'t>> {
        self.extensions(Direction::Forward, holder).find(|it| it.number() == number)
    }

    /// Pairs what is free among types that are used in one place, the most alike first. Returns the
    /// messages that were paired, with those that they enclose.
    fn pair_used(&mut self, uses: Vec<(Type, Type)>) -> Vec<(Message<'t>, Message<'t>)> {
        let mut counted: Vec<((Type, Type), usize)> = Vec::new();
        let mut places: FxHashMap<(Type, Type), usize> = FxHashMap::default();
        for pair in uses {
            let at = *places.entry(pair).or_insert(counted.len());
            match counted.get_mut(at) {
                Some((_, uses)) => *uses += 1,
                None => counted.push((pair, 1)),
            }
        }
        let mut found: Vec<(usize, usize, Element<'t>, Element<'t>)> = Vec::new();
        for ((old, new), uses) in counted {
            let (Some(old), Some(new)) = (find_element(self.old, old), find_element(self.new, new))
            else {
                continue;
            };
            let is_free = old.file().is_judged()
                && new.file().is_judged()
                && self.new_element(old).is_none()
                && self.old_element(new).is_none();
            let alike = || match (old, new) {
                (Element::Message(old), Element::Message(new))
                    if !old.is_map_entry() && !new.is_map_entry() =>
                {
                    measure_similarity(
                        &profile_message(old),
                        &profile_message(new),
                        Relation::Successor,
                    )
                }
                (Element::Enum(old), Element::Enum(new)) => {
                    measure_similarity(&profile_enum(old), &profile_enum(new), Relation::Successor)
                }
                _ => None,
            };
            if let Some(likeness) = is_free.then(alike).flatten() {
                found.push((likeness.score, uses, old, new));
            }
        }
        found.sort_by_cached_key(|&(score, uses, old, new)| {
            (std::cmp::Reverse((score, uses)), old.full_name(), new.full_name())
        });
        let mut paired = Vec::new();
        for (_, _, old, new) in found {
            if let (Element::Message(old), Element::Message(new)) = (old, new) {
                let is_pair = self.messages.add(old.id, new.id);
                paired.extend(is_pair.then_some((old, new)));
            } else if let (Element::Enum(old), Element::Enum(new)) = (old, new) {
                self.enums.add(old.id, new.id);
            }
        }
        self.pair_enclosed(paired)
    }

    fn pair_enums(&mut self, ties: &RelationIndex) {
        let old = self.old_files().filter(|it| it.is_judged()).flat_map(|it| it.all_enums());
        let old = old.filter(|it| self.new_enum(*it).is_none());
        let new = self.new_files().filter(|it| it.is_judged()).flat_map(|it| it.all_enums());
        let new = new.filter(|it| self.old_enum(*it).is_none());
        let tie = |old: Enum<'t>, new: Enum<'t>| {
            let users = (&ties.successors, Type::Enum(old.id), Type::Enum(new.id));
            self.find_relation(Element::Enum(old), Element::Enum(new), Some(users))
        };
        let may = |old: Enum<'t>| ties.may_be(old.id.file, Some(Type::Enum(old.id)));
        for (old, new) in
            matches(old.collect(), new.collect(), profile_enum, Enum::full_name, may, tie, || {
                self.collect_everything(File::all_enums)
            })
        {
            self.enums.add(old.id, new.id);
        }
    }

    fn pair_services(&mut self, ties: &RelationIndex) {
        let old = self.old_files().filter(|it| it.is_judged()).flat_map(|it| it.services());
        let old = old.filter(|it| self.new_service(*it).is_none());
        let new = self.new_files().filter(|it| it.is_judged()).flat_map(|it| it.services());
        let new = new.filter(|it| self.old_service(*it).is_none());
        let tie = |old, new| self.find_relation(Element::Service(old), Element::Service(new), None);
        let may = |old: Service<'t>| ties.may_be(old.id.file, None);
        for (old, new) in matches(
            old.collect(),
            new.collect(),
            profile_service,
            Service::full_name,
            may,
            tie,
            || self.collect_everything(File::services),
        ) {
            self.services.add(old.id, new.id);
        }
        self.pair_services_by_methods();
    }

    /// One method is no shape to be known by, but where a package lost one
    /// service with these very methods, and has one new one, the two are one.
    fn pair_services_by_methods(&mut self) {
        let free = |it: &Service<'t>| self.new_service(*it).is_none();
        let files = self.old_files().filter(|it| it.is_judged());
        let old: Vec<Service<'t>> = files.flat_map(File::services).filter(free).collect();
        let free = |it: &Service<'t>| self.old_service(*it).is_none();
        let files = self.new_files().filter(|it| it.is_judged());
        let new: Vec<Service<'t>> = files.flat_map(File::services).filter(free).collect();
        let mut alike: FxHashMap<_, (usize, Vec<Service<'t>>)> = FxHashMap::default();
        let key_of_old = |it: Service<'t>| {
            let home = self.new_package(it.package())?.id;
            Some((home, collect_signatures(it, |it| self.new_message(it))?))
        };
        for it in &old {
            if let Some(key) = key_of_old(*it) {
                alike.entry(key).or_default().0 += 1;
            }
        }
        for &it in &new {
            if let Some(key) = collect_signatures(it, Some)
                && let Some((_, found)) = alike.get_mut(&(it.package().id, key))
            {
                found.push(it);
            }
        }
        let only = |old: Service<'t>| match alike.get(&key_of_old(old)?)? {
            (1, found) if found.len() == 1 => Some((old, found[0])),
            _ => None,
        };
        let pairs: Vec<(Service<'t>, Service<'t>)> = old.into_iter().filter_map(only).collect();
        for (old, new) in pairs {
            self.services.add(old.id, new.id);
        }
    }
}

/// The methods of an old service, each with the one that has its name.
fn match_methods<'t>(
    old: Service<'t>,
    new: Service<'t>,
) -> impl Iterator<Item = (Method<'t>, Option<Method<'t>>)> {
    let mut named: FxHashMap<&str, Method<'t>> = FxHashMap::default();
    for it in new.methods() {
        named.entry(it.name()).or_insert(it);
    }
    old.methods().map(move |old| (old, named.get(old.name()).copied()))
}

/// The types of the fields of one message that have one number or one name.
fn collect_field_uses(old: Message<'_>, new: Message<'_>) -> Vec<(Type, Type)> {
    let mut uses = Vec::new();
    for old in old.fields().filter(|it| !matches!(find_held_type(*it), Type::Scalar(_))) {
        let (numbered, named) = (new.field_numbered(old.number()), new.field_named(old.name()));
        let twins = numbered.into_iter().chain(named.filter(|it| Some(*it) != numbered));
        uses.extend(twins.map(|new| (find_held_type(old), find_held_type(new))));
    }
    uses
}

/// The type of a field; of a map, that of its values.
fn find_held_type(field: Field<'_>) -> Type {
    find_value_field(field).ty()
}

fn find_element(tree: &Tree, ty: Type) -> Option<Element<'_>> {
    match ty {
        Type::Message(id) => Some(Element::Message(tree.message(id))),
        Type::Enum(id) => Some(Element::Enum(tree.enumeration(id))),
        Type::Scalar(_) | Type::Unresolved => None,
    }
}

/// A method by its name, whether client and server stream, and what it takes
/// and gives.
type Signature<'t> = (&'t str, [bool; 2], [MessageId; 2]);

/// The methods of a service in the order of their names, with types as `twin`
/// knows them; `None` where there is no method, or a type is not to be found.
fn collect_signatures<'t>(
    service: Service<'t>,
    twin: impl Fn(Message<'t>) -> Option<Message<'t>>,
) -> Option<Vec<Signature<'t>>> {
    let signature = |it: Method<'t>| {
        let types = [twin(it.input()?)?.id, twin(it.output()?)?.id];
        Some((it.name(), [it.decl().client_streaming, it.decl().server_streaming], types))
    };
    let mut methods = service.methods().map(signature).collect::<Option<Vec<Signature<'t>>>>()?;
    methods.sort_unstable();
    (!methods.is_empty()).then_some(methods)
}

fn hash_feature(parts: impl Hash) -> Feature {
    let mut hasher = FxHasher::default();
    parts.hash(&mut hasher);
    hasher.finish()
}

fn build_profile<T>(
    of: T,
    hints: impl Iterator<Item = Feature>,
    features: impl Iterator<Item = Feature>,
) -> ShapeProfile<T> {
    let set = |features: &mut dyn Iterator<Item = Feature>| {
        let mut features: Vec<Feature> = features.collect();
        features.sort_unstable();
        features.dedup();
        features
    };
    let (mut hints, mut features) = (hints, features);
    let standard = Vec::new();
    ShapeProfile { of, features: set(&mut features), hints: set(&mut hints), standard }
}

/// `common` are the components of names that others keep: to share one of them, such
/// as the name of a company, says nothing.
fn profile_package<'t>(
    package: Package<'t>,
    common: &FxHashSet<&str>,
) -> ShapeProfile<Package<'t>> {
    // The version is the part of a name that changes most.
    let components = package.name().split('.');
    let components = components.filter(|it| PackageVersion::parse_component(it).is_none());
    let stem: Vec<&str> = components.collect();
    let hints = stem.iter().map(|component| match common.contains(component) {
        true => hash_feature((component, &stem)),
        false => hash_feature(component),
    });
    let types = package.files().flat_map(list_top_level);
    let types = types.filter(|it| !matches!(it, Element::Field(_)));
    let types = types.map(|it| hash_feature((it.noun(), it.name())));
    build_profile(package, hints, types)
}

fn profile_message(message: Message<'_>) -> ShapeProfile<Message<'_>> {
    let of_field = |field: Field<'_>| {
        let kind = match field.ty() {
            Type::Scalar(scalar) => scalar.number(),
            Type::Message(_) => -1,
            Type::Enum(_) => -2,
            Type::Unresolved => -3,
        };
        hash_feature((field.number(), field.name(), kind, field.cardinality()))
    };
    let is_standard = |it: &Field<'_>| STANDARD_FIELDS.contains(&it.name());
    let standard = message.fields().filter(is_standard).map(of_field).collect();
    let fields = message.fields().map(of_field);
    ShapeProfile {
        standard,
        ..build_profile(message, std::iter::once(hash_feature(message.name())), fields)
    }
}

fn profile_enum(item: Enum<'_>) -> ShapeProfile<Enum<'_>> {
    let values = item.values().map(|value| hash_feature((value.number(), value.name())));
    build_profile(item, std::iter::once(hash_feature(item.name())), values)
}

fn profile_service(service: Service<'_>) -> ShapeProfile<Service<'_>> {
    let methods = service.methods().map(|it| hash_feature(it.name()));
    build_profile(service, std::iter::once(hash_feature(service.name())), methods)
}

/// The elements of the new side that have a feature, and the number of old ones that do.
#[derive(Default)]
struct FeatureOwners {
    old: usize,
    new: Vec<usize>,
}

/// The best pairs, each element in one at most: by likeness, then by names.
/// `may` leaves out those of the old side that are tied to nothing; `everything` is
/// all elements of the kind on both sides, among which a shape is rare or common.
fn matches<T: Copy + Send + Sync>(
    old: Vec<T>,
    new: Vec<T>,
    profile: impl Fn(T) -> ShapeProfile<T> + Sync,
    name: impl Fn(T) -> String,
    may: impl Fn(T) -> bool + Sync,
    tie: impl Fn(T, T) -> Relation + Sync,
    everything: impl Fn() -> Vec<T>,
) -> Vec<(T, T)> {
    if new.is_empty() || !old.iter().any(|it| may(*it)) {
        return Vec::new();
    }
    let shapes = |of: Vec<T>| of.into_par_iter().map(&profile).collect::<Vec<ShapeProfile<T>>>();
    let (old, new) = (shapes(old), shapes(new));
    // A shape as a whole is a trait, too: types of common fields may be rare.
    let traits = |profile: &ShapeProfile<T>| {
        let hints = profile.hints.iter().map(|hint| hash_feature(("hint", hint)));
        let all = profile.features.iter().copied().chain(hints);
        all.chain([
            hash_feature(&profile.features),
            hash_feature((&profile.features, &profile.hints)),
        ])
        .collect::<Vec<Feature>>()
    };
    let mut index: FxHashMap<Feature, FeatureOwners> = FxHashMap::default();
    for feature in old.iter().filter(|it| may(it.of)).flat_map(traits) {
        index.entry(feature).or_default();
    }
    for feature in old.iter().flat_map(traits) {
        if let Some(sharers) = index.get_mut(&feature) {
            sharers.old += 1;
        }
    }
    for (at, profile) in new.iter().enumerate() {
        for feature in traits(profile) {
            // One more than tells anything is enough to know.
            if let Some(sharers) = index.get_mut(&feature).filter(|it| it.new.len() <= COMMON) {
                sharers.new.push(at);
            }
        }
    }
    let likely = |profile: &ShapeProfile<T>| -> Vec<usize> {
        let sharers = traits(profile).into_iter().filter_map(|it| index.get(&it));
        let rare = sharers.filter(|it| it.old <= COMMON && it.new.len() <= COMMON);
        let mut likely: Vec<usize> = rare.flat_map(|it| &it.new).copied().collect();
        likely.sort_unstable();
        likely.dedup();
        likely
    };
    let scored = old.par_iter().enumerate().filter(|(_, it)| may(it.of));
    let scored = scored.flat_map_iter(|(from, profile)| {
        let (tie, new) = (&tie, &new);
        likely(profile).into_iter().filter_map(move |to| {
            let tie = tie(profile.of, new[to].of);
            Some((measure_similarity(profile, &new[to], tie)?, from, to))
        })
    });
    let mut pairs: Vec<(ShapeSimilarity, usize, usize)> = scored.collect();
    let shared = |from: usize, to: usize| {
        let ShapeProfile { features, standard, .. } = &old[from];
        let new = &new[to].features;
        let is_said = move |it: &Feature| has(new, *it) && !standard.contains(it);
        features.iter().copied().filter(is_said)
    };
    let by_shape = pairs.iter().filter(|(it, ..)| it.by_shape);
    let asked: FxHashSet<Feature> = by_shape.flat_map(|&(_, from, to)| shared(from, to)).collect();
    if !asked.is_empty() {
        let named = |it: T| {
            let ShapeProfile { features, hints, .. } = profile(it);
            (hints, features)
        };
        let rarity = FeatureFrequency::of(&asked, everything().into_par_iter().map(named));
        pairs.retain(|&(it, from, to)| !it.by_shape || rarity.is_evidence(shared(from, to)));
    } else {
        pairs.retain(|(it, ..)| !it.by_shape);
    }
    pairs.sort_by_cached_key(|&(it, from, to)| {
        (std::cmp::Reverse(it.score), name(old[from].of), name(new[to].of))
    });
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

/// The degree to which two elements are alike.
#[derive(Clone, Copy)]
struct ShapeSimilarity {
    /// In thousandths.
    score: usize,
    /// True if nothing but what they hold says that they are one.
    by_shape: bool,
}

/// Returns true if a sorted list has a feature.
fn has(features: &[Feature], it: Feature) -> bool {
    features.binary_search(&it).is_ok()
}

/// Returns how alike two elements are; `None` where they are two rather than one that was
/// renamed. One that kept a part of its name may have changed more than one that
/// did not.
fn measure_similarity<T>(
    old: &ShapeProfile<T>,
    new: &ShapeProfile<T>,
    tie: Relation,
) -> Option<ShapeSimilarity> {
    let common = |old: &[Feature], new: &[Feature]| old.iter().filter(|it| has(new, **it)).count();
    let shared = common(&old.features, &new.features);
    let most = old.features.len().max(new.features.len());
    let names = common(&old.hints, &new.hints);
    let all_names = old.hints.len().max(new.hints.len());
    let kept_name = names > 0;
    // Two that hold nothing are alike in nothing but their names.
    let alike = (shared * 900).checked_div(most).unwrap_or(if kept_name { 900 } else { 0 });
    let enough = match tie {
        Relation::Stranger => false,
        Relation::Successor | Relation::Neighbour if kept_name => alike >= 300,
        Relation::Successor => shared >= 1 && alike >= 500,
        Relation::Neighbour => shared >= 2 && alike >= 750,
    };
    let score = alike + (names * 100).checked_div(all_names).unwrap_or(0);
    let by_shape = tie == Relation::Neighbour && !kept_name;
    enough.then_some(ShapeSimilarity { score, by_shape })
}
