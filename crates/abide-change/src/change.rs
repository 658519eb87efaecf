//! What changed between two trees: elements paired once, without judgement.
//!
//! Files are paired by path; packages, messages, enums and services by full
//! name; fields by number, for that is what they are on the wire, and then by
//! name; extensions by number and then by name; enum values by number and name,
//! then by name, then by number; oneofs and methods by name. What is left on
//! both sides is paired by structure, so that what was renamed or moved is one
//! change. Ties are broken by full names, so the pairs depend on nothing but the
//! trees, and the same elements are paired when the sides are swapped.

use std::hash::Hash;
use std::sync::{Arc, OnceLock};

use abide_schema::{
    Element, Enum, EnumId, EnumValue, EnumValueId, Field, FieldId, File, FileId, Message,
    MessageId, Method, MethodId, Oneof, OneofId, Package, PackageId, Part, Place, Service,
    ServiceId, Tree, Type,
};
use abide_syntax::{Lexer, Span, TokenKind};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::constraint::{Compared, Comparison};
use crate::surface::Direction;
use crate::witness::held_enum;

/// One element on both sides, or on the only side that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<T> {
    /// The new side alone has it.
    Added(T),
    /// The old side alone has it.
    Removed(T),
    /// Both sides have it.
    Both {
        /// As it was.
        old: T,
        /// As it is.
        new: T,
    },
}

impl<T: Copy> Change<T> {
    /// The old side.
    pub fn old(self) -> Option<T> {
        match self {
            Change::Added(_) => None,
            Change::Removed(old) | Change::Both { old, .. } => Some(old),
        }
    }

    /// The new side.
    #[allow(clippy::new_ret_no_self, reason = "it is a side, and makes nothing")]
    pub fn new(self) -> Option<T> {
        match self {
            Change::Removed(_) => None,
            Change::Added(new) | Change::Both { new, .. } => Some(new),
        }
    }

    /// Both sides.
    pub fn both(self) -> Option<(T, T)> {
        match self {
            Change::Both { old, new } => Some((old, new)),
            _ => None,
        }
    }

    /// The same for what the element belongs to, or is wrapped in.
    pub fn map<U>(self, with: impl Fn(T) -> U) -> Change<U> {
        match self {
            Change::Added(new) => Change::Added(with(new)),
            Change::Removed(old) => Change::Removed(with(old)),
            Change::Both { old, new } => Change::Both { old: with(old), new: with(new) },
        }
    }
}

/// The other side of an id whose file has a twin.
macro_rules! twin {
    ($files:expr, $id:expr) => {
        $files[$id.file.0 as usize].map(|file| {
            let mut twin = $id;
            twin.file = file;
            twin
        })
    };
}

mod settled;
mod structure;

/// Pairs of one kind of element, in both directions.
#[derive(Debug)]
struct Pairs<K> {
    new_of: FxHashMap<K, K>,
    old_of: FxHashMap<K, K>,
}

impl<K> Default for Pairs<K> {
    fn default() -> Self {
        Pairs { new_of: FxHashMap::default(), old_of: FxHashMap::default() }
    }
}

impl<K: Copy + Ord + Hash> Pairs<K> {
    fn are_free(&self, old: K, new: K) -> bool {
        !self.new_of.contains_key(&old) && !self.old_of.contains_key(&new)
    }

    /// Pairs two elements, if they are both free.
    fn add(&mut self, old: K, new: K) -> bool {
        let free = self.are_free(old, new);
        if free {
            self.new_of.insert(old, new);
            self.old_of.insert(new, old);
        }
        free
    }

    fn add_all(&mut self, pairs: Vec<(K, K)>) {
        for (old, new) in pairs {
            self.add(old, new);
        }
    }

    /// Every pair, in the order of the old side.
    fn sorted(&self) -> Vec<(K, K)> {
        let mut pairs: Vec<(K, K)> = self.new_of.iter().map(|(&old, &new)| (old, new)).collect();
        pairs.sort_unstable();
        pairs
    }
}

impl Pairs<MessageId> {
    /// The other side of an old message, that of a file with a twin included.
    fn twin(&self, same: &[Option<FileId>], old: MessageId) -> Option<MessageId> {
        twin!(same, old).or_else(|| self.new_of.get(&old).copied())
    }
}

/// Two trees, their elements paired.
#[derive(Debug)]
pub struct Diff<'t> {
    /// The old tree.
    pub old: &'t Tree,
    /// The new tree.
    pub new: &'t Tree,
    /// For each old file, the new one that declares the very same, with equal
    /// indices in its arenas, if perhaps at other places. Nothing in such a file
    /// is compared.
    same: Vec<Option<FileId>>,
    /// The reverse.
    same_old: Vec<Option<FileId>>,
    went_whole: Vec<bool>,
    came_whole: Vec<bool>,
    files: Pairs<FileId>,
    packages: Pairs<PackageId>,
    messages: Pairs<MessageId>,
    fields: Pairs<FieldId>,
    oneofs: Pairs<OneofId>,
    enums: Pairs<EnumId>,
    values: Pairs<EnumValueId>,
    services: Pairs<ServiceId>,
    methods: Pairs<MethodId>,
    /// The fields that hold each enum, for the old tree and the new one.
    users: [OnceLock<FxHashMap<EnumId, Vec<FieldId>>>; 2],
    compared: Compared,
}

/// `new_x` and `old_x`: the other side of an element.
macro_rules! other_side {
    ($($(#[$doc:meta])* $new_of:ident, $old_of:ident, $view:ident, $pairs:ident;)*) => {$(
        $(#[$doc])*
        pub fn $new_of(&self, old: $view<'t>) -> Option<$view<'t>> {
            let id = twin!(self.same, old.id)
                .or_else(|| self.$pairs.new_of.get(&old.id).copied())?;
            Some($view { tree: self.new, id })
        }

        $(#[$doc])*
        pub fn $old_of(&self, new: $view<'t>) -> Option<$view<'t>> {
            let id = twin!(self.same_old, new.id)
                .or_else(|| self.$pairs.old_of.get(&new.id).copied())?;
            Some($view { tree: self.old, id })
        }
    )*};
}

/// Pairs messages, enums and services, each by the same expression over their
/// pairs and those of both sides.
macro_rules! pair_types {
    ($diff:ident, |$pairs:ident, $old:ident, $new:ident| $pair:expr) => {
        let old: Vec<File<'t>> = $diff.old_files().collect();
        let new: Vec<File<'t>> = $diff.new_files().collect();
        pair_types!(@ $diff.messages, File::all_messages, old, new, $pairs, $old, $new, $pair);
        pair_types!(@ $diff.enums, File::all_enums, old, new, $pairs, $old, $new, $pair);
        pair_types!(@ $diff.services, File::services, old, new, $pairs, $old, $new, $pair);
    };
    (
        @ $known:expr, $all:expr, $before:ident, $after:ident,
        $pairs:ident, $old:ident, $new:ident, $pair:expr
    ) => {{
        let all = |files: &[File<'t>]| files.iter().copied().flat_map($all).collect::<Vec<_>>();
        let ($pairs, $old, $new) = (&mut $known, &all(&$before), &all(&$after));
        $pair
    }};
}

impl<'t> Diff<'t> {
    other_side! {
        /// The other side of a message.
        new_message, old_message, Message, messages;
        /// The other side of a field.
        new_field, old_field, Field, fields;
        /// The other side of a oneof.
        new_oneof, old_oneof, Oneof, oneofs;
        /// The other side of an enum.
        new_enum, old_enum, Enum, enums;
        /// The other side of an enum value.
        new_value, old_value, EnumValue, values;
        /// The other side of a service.
        new_service, old_service, Service, services;
        /// The other side of a method.
        new_method, old_method, Method, methods;
    }

    /// The other side of a file.
    pub fn new_file(&self, old: File<'t>) -> Option<File<'t>> {
        self.files.new_of.get(&old.id).map(|&id| self.new.file(id))
    }

    /// The other side of a file.
    pub fn old_file(&self, new: File<'t>) -> Option<File<'t>> {
        self.files.old_of.get(&new.id).map(|&id| self.old.file(id))
    }

    /// The other side of a package.
    pub fn new_package(&self, old: Package<'t>) -> Option<Package<'t>> {
        self.packages.new_of.get(&old.id).map(|&id| self.new.package(id))
    }

    /// The other side of a package.
    pub fn old_package(&self, new: Package<'t>) -> Option<Package<'t>> {
        self.packages.old_of.get(&new.id).map(|&id| self.old.package(id))
    }

    /// The other side of any element.
    pub fn new_element(&self, old: Element<'t>) -> Option<Element<'t>> {
        match old {
            Element::Message(it) => self.new_message(it).map(Element::Message),
            Element::Field(it) => self.new_field(it).map(Element::Field),
            Element::Oneof(it) => self.new_oneof(it).map(Element::Oneof),
            Element::Enum(it) => self.new_enum(it).map(Element::Enum),
            Element::EnumValue(it) => self.new_value(it).map(Element::EnumValue),
            Element::Service(it) => self.new_service(it).map(Element::Service),
            Element::Method(it) => self.new_method(it).map(Element::Method),
        }
    }

    /// The other side of any element.
    pub fn old_element(&self, new: Element<'t>) -> Option<Element<'t>> {
        match new {
            Element::Message(it) => self.old_message(it).map(Element::Message),
            Element::Field(it) => self.old_field(it).map(Element::Field),
            Element::Oneof(it) => self.old_oneof(it).map(Element::Oneof),
            Element::Enum(it) => self.old_enum(it).map(Element::Enum),
            Element::EnumValue(it) => self.old_value(it).map(Element::EnumValue),
            Element::Service(it) => self.old_service(it).map(Element::Service),
            Element::Method(it) => self.old_method(it).map(Element::Method),
        }
    }

    /// Whether two types are the same type, the one old and the other new.
    pub fn same_type(&self, old: Type, new: Type) -> bool {
        match (old, new) {
            (Type::Scalar(old), Type::Scalar(new)) => old == new,
            (Type::Message(old), Type::Message(new)) => {
                self.new_message(self.old.message(old)).is_some_and(|it| it.id == new)
            }
            (Type::Enum(old), Type::Enum(new)) => {
                self.new_enum(self.old.enumeration(old)).is_some_and(|it| it.id == new)
            }
            (Type::Unresolved, Type::Unresolved) => true,
            _ => false,
        }
    }

    /// Two fields of which the types differ: they themselves, or the keys and the
    /// values of two maps. Of a map and a field that is none, nothing.
    pub fn types_apart(&self, old: Field<'t>, new: Field<'t>) -> Vec<(Field<'t>, Field<'t>)> {
        let pairs = match entries(old).zip(entries(new)) {
            Some((old, new)) => old.into_iter().zip(new).collect(),
            None if old.is_map() || new.is_map() => Vec::new(),
            None => vec![(old, new)],
        };
        let differ = |&(old, new): &(Field<'t>, Field<'t>)| {
            // What did not link is told by the linker.
            !matches!((old.ty(), new.ty()), (Type::Unresolved, _) | (_, Type::Unresolved))
                && !self.same_type(old.ty(), new.ty())
        };
        pairs.into_iter().filter(differ).collect()
    }

    /// Whether a field stands where another stood: the two share nothing but
    /// their number, or one of their names is that of another field.
    pub fn is_replaced(&self, old: Field<'t>, new: Field<'t>) -> bool {
        let lives = |other: Field<'t>, name| {
            other.containing_message().is_some_and(|it| it.field_named(name).is_some())
        };
        !new.is_extension()
            && old.number() == new.number()
            && old.name() != new.name()
            && (lives(new, old.name())
                || lives(old, new.name())
                || old.is_map() != new.is_map()
                || !self.types_apart(old, new).is_empty())
    }

    /// Whether an enum is held by no field of the old tree: then it is there for
    /// others, whose values nobody can show.
    pub fn is_for_others(&self, old: Enum<'t>) -> bool {
        self.users(Direction::Backward, old.id).next().is_none()
    }

    /// The fields that hold an enum, maps with such values among them, in the
    /// order of files: of the old tree for backward, else of the new one.
    pub fn users(&self, writer: Direction, item: EnumId) -> impl Iterator<Item = FieldId> {
        let (tree, users) = match writer {
            Direction::Backward => (self.old, &self.users[0]),
            Direction::Forward => (self.new, &self.users[1]),
        };
        let users = users.get_or_init(|| {
            let mut users: FxHashMap<EnumId, Vec<FieldId>> = FxHashMap::default();
            for field in tree.files().flat_map(File::all_fields) {
                let in_map = field.parent().is_some_and(Message::is_map_entry);
                if let Some(held) = held_enum(field).filter(|_| !in_map) {
                    users.entry(held).or_default().push(field.id);
                }
            }
            users
        });
        users.get(&item).into_iter().flatten().copied()
    }

    /// Where the surviving container of an element that is gone stands: the
    /// innermost enclosing message, enum or service, else the top of its file,
    /// else nowhere.
    pub fn container(&self, gone: Element<'t>) -> Option<Place> {
        let message = |message: Option<Message<'t>>| {
            let mut around = message;
            while let Some(old) = around {
                if let Some(new) = self.new_message(old) {
                    return Some(new.place(Part::Whole));
                }
                around = old.parent();
            }
            None
        };
        let around = match gone {
            Element::Message(it) => message(it.parent()),
            Element::Field(it) => message(it.parent()),
            Element::Oneof(it) => message(Some(it.message())),
            Element::Enum(it) => message(it.parent()),
            Element::EnumValue(it) => {
                let whole = self.new_enum(it.parent()).map(|it| it.place(Part::Whole));
                whole.or_else(|| message(it.parent().parent()))
            }
            Element::Service(_) => None,
            Element::Method(it) => self.new_service(it.service()).map(|it| it.place(Part::Whole)),
        };
        let top = || {
            let file = self.new_file(gone.file()).filter(|file| file.is_judged())?;
            Some(Place { file: file.id, span: Span::default() })
        };
        around.or_else(top)
    }

    /// How the constraints of an element changed; `None` for what has none.
    pub fn constraints(&self, old: Element<'t>, new: Element<'t>) -> Option<Arc<Comparison>> {
        self.compared.of(old, new)
    }

    /// Files of the old side whose declarations are not all the same, with
    /// those that are gone.
    fn old_files(&self) -> impl Iterator<Item = File<'t>> {
        self.old.files().filter(|file| self.same[file.id.0 as usize].is_none())
    }

    /// The same of the new side.
    fn new_files(&self) -> impl Iterator<Item = File<'t>> {
        self.new.files().filter(|file| self.same_old[file.id.0 as usize].is_none())
    }

    /// Whether nothing of a file that is gone lives on elsewhere.
    pub fn went_whole(&self, old: File<'t>) -> bool {
        self.went_whole[old.id.0 as usize]
    }

    /// Whether nothing of a file that is new lived elsewhere.
    pub fn came_whole(&self, new: File<'t>) -> bool {
        self.came_whole[new.id.0 as usize]
    }

    /// Pairs the elements of two trees.
    pub fn of(old: &'t Tree, new: &'t Tree) -> Diff<'t> {
        let mut diff = Diff {
            old,
            new,
            same: vec![None; old.files().len()],
            same_old: vec![None; new.files().len()],
            went_whole: Vec::new(),
            came_whole: Vec::new(),
            files: Pairs::default(),
            packages: Pairs::default(),
            messages: Pairs::default(),
            fields: Pairs::default(),
            oneofs: Pairs::default(),
            enums: Pairs::default(),
            values: Pairs::default(),
            services: Pairs::default(),
            methods: Pairs::default(),
            users: Default::default(),
            compared: Compared::default(),
        };
        diff.pair_files();
        diff.pair_packages();
        diff.pair_types_by_name();
        diff.pair_packages_by_structure();
        diff.pair_types_of_renamed_packages();
        diff.pair_types_by_structure();
        diff.pair_members();
        diff.pair_extensions();
        diff.pair_homes();
        let lives_on = |it| diff.new_element(it).is_some();
        let lived = |it| diff.old_element(it).is_some();
        let went = |it: File<'t>| diff.new_file(it).is_none() && !top_level(it).any(lives_on);
        let came = |it: File<'t>| diff.old_file(it).is_none() && !top_level(it).any(lived);
        let (went_whole, came_whole) = (old.files().map(went), new.files().map(came));
        (diff.went_whole, diff.came_whole) = (went_whole.collect(), came_whole.collect());
        diff
    }

    fn pair_files(&mut self) {
        let old: Vec<File<'t>> = self.old.files().collect();
        let new: Vec<File<'t>> = self.new.files().collect();
        // Two roots may hold one path.
        pair_by(&mut self.files, &old, &new, |it| it.id, |it| (it.decl().root, it.path()));
        pair_by(&mut self.files, &old, &new, |it| it.id, |it| it.path());
        let equal: Vec<(File<'t>, File<'t>)> = old
            .into_par_iter()
            .filter_map(|old| Some((old, self.new_file(old)?)))
            .filter(|&(old, new)| equal_text(old, new))
            .collect();
        for (old, new) in &equal {
            self.same[old.id.0 as usize] = Some(new.id);
            self.same_old[new.id.0 as usize] = Some(old.id);
        }
        // The names in equal texts may lead to other types now.
        let turned: Vec<(File<'t>, File<'t>)> =
            equal.into_par_iter().filter(|&(old, new)| !self.equal_links(old, new)).collect();
        for (old, new) in turned {
            self.same[old.id.0 as usize] = None;
            self.same_old[new.id.0 as usize] = None;
        }
    }

    /// Whether each name in two equal texts leads to types of one name.
    fn equal_links(&self, old: File<'t>, new: File<'t>) -> bool {
        let equal_messages = |old: Option<Message<'t>>, new: Option<Message<'t>>| match (old, new) {
            (None, None) => true,
            (Some(old), Some(new)) => match twin!(self.same, old.id) {
                Some(twin) => twin == new.id,
                None => have_equal_names(Element::Message(old), Element::Message(new)),
            },
            _ => false,
        };
        let equal_enums = |old: Enum<'t>, new: Enum<'t>| match twin!(self.same, old.id) {
            Some(twin) => twin == new.id,
            None => have_equal_names(Element::Enum(old), Element::Enum(new)),
        };
        let fields = || {
            old.all_fields().zip(new.all_fields()).all(|(old, new)| {
                let types = match (old.ty(), new.ty()) {
                    (Type::Enum(before), Type::Enum(after)) => {
                        equal_enums(self.old.enumeration(before), self.new.enumeration(after))
                    }
                    (Type::Message(before), Type::Message(after)) => equal_messages(
                        Some(self.old.message(before)),
                        Some(self.new.message(after)),
                    ),
                    (before, after) => before == after,
                };
                types && equal_messages(old.extendee(), new.extendee())
            })
        };
        let methods = || {
            let methods = old.services().flat_map(Service::methods);
            methods.zip(new.services().flat_map(Service::methods)).all(|(old, new)| {
                equal_messages(old.input(), new.input())
                    && equal_messages(old.output(), new.output())
            })
        };
        fields() && methods()
    }

    fn pair_packages(&mut self) {
        let old: Vec<Package<'t>> = self.old.packages().collect();
        let new: Vec<Package<'t>> = self.new.packages().collect();
        pair_by(&mut self.packages, &old, &new, |it| it.id, Package::name);
    }

    fn pair_types_by_name(&mut self) {
        // Two roots may hold one name: what has it in a pair of files is first.
        let files: Vec<(File<'t>, File<'t>)> =
            self.old_files().filter_map(|old| Some((old, self.new_file(old)?))).collect();
        let pairs: Vec<_> = files
            .into_par_iter()
            .with_min_len(16)
            .map(|(old, new)| {
                let name = Message::full_name;
                let messages = pairs_by(old.all_messages(), new.all_messages(), |it| it.id, name);
                let enums = pairs_by(old.all_enums(), new.all_enums(), |it| it.id, Enum::full_name);
                let name = Service::full_name;
                (messages, enums, pairs_by(old.services(), new.services(), |it| it.id, name))
            })
            .collect();
        for (messages, enums, services) in pairs {
            self.messages.add_all(messages);
            self.enums.add_all(enums);
            self.services.add_all(services);
        }
        pair_types!(self, |pairs, old, new| {
            pair_by(pairs, old, new, |it| it.id, |it| it.full_name());
        });
    }

    /// What has the same name in a package that is called otherwise now.
    fn pair_types_of_renamed_packages(&mut self) {
        pair_types!(self, |pairs, old, new| {
            pair_across(
                pairs,
                old,
                new,
                |it| it.id,
                |it| {
                    let home = *self.packages.new_of.get(&it.package().id)?;
                    Some((home, relative(it.package(), it.full_name())))
                },
                |it| {
                    let home = it.package();
                    let is_paired = self.packages.old_of.contains_key(&home.id);
                    is_paired.then(|| (home.id, relative(home, it.full_name())))
                },
            );
        });
    }

    /// Files and packages by what they hold: one that is gone was renamed where
    /// more than half of it, or of the other, is in the other now.
    fn pair_homes(&mut self) {
        let (mut files, mut packages) = (Vec::new(), Vec::new());
        for old in self.old_files().filter(|it| it.is_judged()) {
            for new in top_level(old).filter_map(|it| self.new_element(it)) {
                files.push((old.id, new.file().id));
                packages.push((old.package().id, new.package().id));
            }
        }
        let sizes = |files: &mut dyn Iterator<Item = File<'t>>| -> usize {
            files.map(|it| top_level(it).count()).sum()
        };
        let (before, after) = (self.old, self.new);
        pair_by_votes(&mut self.files, files, |shared, old, new| {
            let old = sizes(&mut std::iter::once(before.file(old)));
            shared * 2 > old.min(sizes(&mut std::iter::once(after.file(new))))
        });
        pair_by_votes(&mut self.packages, packages, |shared, old, new| {
            if !structure::may_be_renamed(before.package(old), after.package(new)) {
                return false;
            }
            let old = sizes(&mut before.package(old).files());
            shared * 2 > old.min(sizes(&mut after.package(new).files()))
        });
        // A file that declares nothing goes by its name.
        let bare = |it: &File<'t>| it.is_judged() && top_level(*it).next().is_none();
        let old: Vec<File<'t>> = self.old_files().filter(bare).collect();
        let new: Vec<File<'t>> = self.new_files().filter(bare).collect();
        pair_across(
            &mut self.files,
            &old,
            &new,
            |it| it.id,
            |it| Some((*self.packages.new_of.get(&it.package().id)?, base_name(it))),
            |it| Some((it.package().id, base_name(it))),
        );
    }

    fn pair_members(&mut self) {
        let pairs = self.messages.sorted();
        let alike: Vec<bool> = pairs.par_iter().map(|&pair| self.have_equal_fields(pair)).collect();
        for ((old, new), alike) in pairs.into_iter().zip(alike) {
            let (old, new) = (self.old.message(old), self.new.message(new));
            if alike {
                for (old, new) in old.fields().zip(new.fields()) {
                    self.fields.add(old.id, new.id);
                    self.pair_entries(old, new);
                }
            } else {
                self.pair_fields(old, new);
            }
            self.pair_oneofs(old, new);
        }
        for (old, new) in self.enums.sorted() {
            self.pair_values(self.old.enumeration(old), self.new.enumeration(new));
        }
        for (old, new) in self.services.sorted() {
            let view = |tree, id| Service { tree, id };
            self.pair_methods(view(self.old, old), view(self.new, new));
        }
    }

    /// Whether two messages have fields of the same numbers and names, in the
    /// same order.
    fn have_equal_fields(&self, (old, new): (MessageId, MessageId)) -> bool {
        let key = |it: Field<'t>| (it.number(), it.name());
        self.old.message(old).fields().map(key).eq(self.new.message(new).fields().map(key))
    }

    fn pair_fields(&mut self, old: Message<'t>, new: Message<'t>) {
        let (before, after): (Vec<_>, Vec<_>) = (old.fields().collect(), new.fields().collect());
        pair_by(&mut self.fields, &before, &after, |it| it.id, |it| (it.number(), it.name()));
        pair_by(&mut self.fields, &before, &after, |it| it.id, |it| it.number());
        pair_by(&mut self.fields, &before, &after, |it| it.id, |it| it.name());
        for old in before {
            if let Some(new) = self.new_field(old) {
                self.pair_entries(old, new);
            }
        }
    }

    /// The entry of a map goes with its field, whatever it is called.
    fn pair_entries(&mut self, old: Field<'t>, new: Field<'t>) {
        if old.is_map()
            && new.is_map()
            && let (Some(old), Some(new)) = (old.message_type(), new.message_type())
            && self.messages.add(old.id, new.id)
        {
            self.pair_fields(old, new);
        }
    }

    fn pair_oneofs(&mut self, old: Message<'t>, new: Message<'t>) {
        let written = |message: Message<'t>| -> Vec<Oneof<'t>> {
            message.oneofs().filter(|it| !it.is_synthetic()).collect()
        };
        let (before, after) = (written(old), written(new));
        pair_by(&mut self.oneofs, &before, &after, |it| it.id, |it| it.name());
        let shared = old.fields().filter_map(|field| {
            let (old, new) = (field.oneof()?, self.new_field(field)?.oneof()?);
            (!old.is_synthetic() && !new.is_synthetic()).then_some((old.id, new.id))
        });
        let shared = shared.collect();
        pair_by_votes(&mut self.oneofs, shared, |_, _, _| true);
    }

    fn pair_values(&mut self, old: Enum<'t>, new: Enum<'t>) {
        let key = |it: EnumValue<'t>| (it.number(), it.name());
        if old.values().map(key).eq(new.values().map(key)) {
            for (old, new) in old.values().zip(new.values()) {
                self.values.add(old.id, new.id);
            }
            return;
        }
        let (before, after): (Vec<_>, Vec<_>) = (old.values().collect(), new.values().collect());
        pair_by(&mut self.values, &before, &after, |it| it.id, key);
        // A name that is still there was not renamed: its number changed.
        pair_by(&mut self.values, &before, &after, |it| it.id, |it| it.name());
        pair_by(&mut self.values, &before, &after, |it| it.id, |it| it.number());
    }

    fn pair_methods(&mut self, old: Service<'t>, new: Service<'t>) {
        let (before, after): (Vec<_>, Vec<_>) = (old.methods().collect(), new.methods().collect());
        pair_by(&mut self.methods, &before, &after, |it| it.id, |it| it.name());
        // A method without a name is told by what it takes and gives.
        let streams = |it: Method<'t>| (it.decl().client_streaming, it.decl().server_streaming);
        pair_across(
            &mut self.methods,
            &before,
            &after,
            |it| it.id,
            |it| {
                let (input, output) = (it.input()?.id, it.output()?.id);
                let types = (self.messages.twin(&self.same, input)?, {
                    self.messages.twin(&self.same, output)?
                });
                Some((streams(it), types))
            },
            |it| Some((streams(it), (it.input()?.id, it.output()?.id))),
        );
    }

    fn pair_extensions(&mut self) {
        let extensions = |files: &mut dyn Iterator<Item = File<'t>>| -> Vec<Field<'t>> {
            let all = files.flat_map(File::all_fields);
            all.filter(|field| field.is_extension()).collect()
        };
        let before = extensions(&mut self.old_files());
        let after = extensions(&mut self.new_files());
        pair_by(
            &mut self.fields,
            &before,
            &after,
            |it| it.id,
            |it| (it.extendee().map(Message::full_name), it.number(), it.full_name()),
        );
        pair_across(
            &mut self.fields,
            &before,
            &after,
            |it| it.id,
            |it| Some((self.messages.twin(&self.same, it.extendee()?.id)?, it.number())),
            |it| Some((it.extendee()?.id, it.number())),
        );
        // What extends another message is another extension.
        pair_across(
            &mut self.fields,
            &before,
            &after,
            |it| it.id,
            |it| Some((self.messages.twin(&self.same, it.extendee()?.id)?, it.full_name())),
            |it| Some((it.extendee()?.id, it.full_name())),
        );
        // Of one that does not link nobody knows what it extends.
        let unlinked = |all: &[Field<'t>]| -> Vec<Field<'t>> {
            all.iter().copied().filter(|it| it.extendee().is_none()).collect()
        };
        for (old, new) in [(&unlinked(&before), &after), (&before, &unlinked(&after))] {
            pair_by(&mut self.fields, old, new, |it| it.id, Field::full_name);
        }
    }
}

/// The key and the value of a map.
pub fn entries(field: Field<'_>) -> Option<[Field<'_>; 2]> {
    let entry = field.message_type().filter(|_| field.is_map())?;
    Some([entry.field_numbered(1)?, entry.field_numbered(2)?])
}

/// What a file declares at its top level.
pub fn top_level<'t>(file: File<'t>) -> impl Iterator<Item = Element<'t>> {
    let messages = file.messages().map(Element::Message);
    let types = messages.chain(file.enums().map(Element::Enum));
    types.chain(file.services().map(Element::Service)).chain(file.extensions().map(Element::Field))
}

/// Whether the full names of two messages, enums or services are one.
pub(crate) fn have_equal_names(old: Element<'_>, new: Element<'_>) -> bool {
    match (old.parent(), new.parent()) {
        _ if old.name() != new.name() => false,
        (Some(old), Some(new)) => have_equal_names(old, new),
        (None, None) => old.package().name() == new.package().name(),
        // A package may be called like a message.
        _ => old.full_name() == new.full_name(),
    }
}

/// A full name without that of its package.
pub fn relative(package: Package<'_>, mut full_name: String) -> String {
    if !package.name().is_empty() && full_name.len() > package.name().len() {
        full_name.drain(..=package.name().len());
    }
    full_name
}

/// The name of a file without its folders.
pub fn base_name(file: File<'_>) -> &str {
    file.path().rsplit('/').next().unwrap_or_else(|| file.path())
}

/// Whether two files were read from the same text, comments and white space
/// left out.
fn equal_text(old: File<'_>, new: File<'_>) -> bool {
    if std::sync::Arc::ptr_eq(old.shared_decl(), new.shared_decl()) {
        return true;
    }
    match (old.decl().source_text(), new.decl().source_text()) {
        (Some(old), Some(new)) => old == new || equal_tokens(old, new),
        _ => false,
    }
}

/// Whether two texts have the same tokens. What is parsed from them has the
/// same shape then; only its places differ.
fn equal_tokens(old: &[u8], new: &[u8]) -> bool {
    // Mostly it is the comment at the head of a file that differs.
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(was, is)| was == is).count();
    let (mut before, mut after) = (Lexer::new(old, 0), Lexer::new(new, 0));
    loop {
        let (was, is) = (before.next_token(), after.next_token());
        if was.kind != is.kind || was.span.of(old) != is.span.of(new) {
            return false;
        }
        let left = old.len() - was.span.end as usize;
        if was.kind == TokenKind::End || left <= tail && left == new.len() - is.span.end as usize {
            return true;
        }
    }
}

/// Pairs what is free on both sides and has an equal key, in the order of
/// declaration.
fn pair_by<T: Copy, I: Copy + Ord + Hash, K: Eq + Hash>(
    pairs: &mut Pairs<I>,
    old: &[T],
    new: &[T],
    id: impl Fn(T) -> I,
    key: impl Fn(T) -> K,
) {
    pair_across(pairs, old, new, id, |it| Some(key(it)), |it| Some(key(it)));
}

/// The same of elements that are all free, as a list.
fn pairs_by<T: Copy, I: Copy + Ord + Hash, K: Eq + Hash>(
    old: impl Iterator<Item = T>,
    new: impl Iterator<Item = T>,
    id: impl Fn(T) -> I,
    key: impl Fn(T) -> K,
) -> Vec<(I, I)> {
    let mut pairs = Pairs::default();
    pair_by(&mut pairs, &old.collect::<Vec<T>>(), &new.collect::<Vec<T>>(), id, key);
    pairs.sorted()
}

/// The same with a key for each side. What has no key stays free.
fn pair_across<T: Copy, I: Copy + Ord + Hash, K: Eq + Hash>(
    pairs: &mut Pairs<I>,
    old: &[T],
    new: &[T],
    id: impl Fn(T) -> I,
    old_key: impl Fn(T) -> Option<K>,
    new_key: impl Fn(T) -> Option<K>,
) {
    let mut left: Vec<T> =
        old.iter().copied().filter(|&it| !pairs.new_of.contains_key(&id(it))).collect();
    if left.is_empty() {
        return;
    }
    let free = new.iter().copied().filter(|&it| !pairs.old_of.contains_key(&id(it)));
    let right: Vec<T> = free.collect();
    // Mostly both sides declare the same in the same order.
    let is_twin = |(old, new): &(T, T)| old_key(*old).is_some_and(|it| Some(it) == new_key(*new));
    let twins: Vec<(T, T)> =
        left.iter().copied().zip(right.iter().copied()).take_while(is_twin).collect();
    for &(old, new) in &twins {
        pairs.add(id(old), id(new));
    }
    left.drain(..twins.len());
    let mut free: FxHashMap<K, Vec<I>> = FxHashMap::default();
    for &it in right[twins.len()..].iter().rev().filter(|_| !left.is_empty()) {
        if let Some(key) = new_key(it) {
            free.entry(key).or_default().push(id(it));
        }
    }
    for it in left.drain(..) {
        let twins = old_key(it).and_then(|key| free.get_mut(&key));
        if let Some(new) = twins.and_then(Vec::pop) {
            pairs.add(id(it), new);
        }
    }
}

/// Pairs what shares most first, where that is enough; of equals the first.
fn pair_by_votes<I: Copy + Ord + Hash>(
    pairs: &mut Pairs<I>,
    mut votes: Vec<(I, I)>,
    enough: impl Fn(usize, I, I) -> bool,
) {
    votes.retain(|(old, new)| pairs.are_free(*old, *new));
    votes.sort();
    let counted = votes.chunk_by(|a, b| a == b).map(|run| (run.len(), run[0]));
    let mut counted: Vec<(usize, (I, I))> =
        counted.filter(|&(shared, (old, new))| enough(shared, old, new)).collect();
    counted.sort_by_key(|&(shared, pair)| (std::cmp::Reverse(shared), pair));
    for (_, (old, new)) in counted {
        pairs.add(old, new);
    }
}

/// `x_changes`: the elements of a kind that may differ.
macro_rules! changes {
    ($($(#[$doc:meta])* $name:ident, $of:ident, $view:ident, $new_of:ident, $old_of:ident, $settled:ident, $all:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name(&self) -> Vec<Change<$view<'t>>> {
            self.$of(false)
        }

        /// The same, or those that no rule has to look at.
        pub fn $of(&self, settled: bool) -> Vec<Change<$view<'t>>> {
            let all: fn(File<'t>) -> Vec<$view<'t>> = $all;
            let judged = |it: &File<'t>| it.is_judged();
            let new: Vec<File<'t>> = self.new_files().filter(judged).collect();
            let new = new.into_par_iter().flat_map_iter(all).map(|new| match self.$old_of(new) {
                Some(old) => Change::Both { old, new },
                None => Change::Added(new),
            });
            let gone: Vec<File<'t>> = self.old_files().filter(judged).collect();
            let gone = gone.into_par_iter().flat_map_iter(all);
            let gone = gone.filter_map(|old| match self.$new_of(old) {
                None => Some(Change::Removed(old)),
                // It left the judged files.
                Some(new) if !new.file().is_judged() => Some(Change::Both { old, new }),
                Some(_) => None,
            });
            let is_settled = |change: &Change<$view<'t>>| match *change {
                Change::Both { old, new } => self.$settled(old, new),
                Change::Added(_) | Change::Removed(_) => self.came_or_went_along(*change),
            };
            new.chain(gone).filter(|it| is_settled(it) == settled).collect()
        }
    )*};
}

impl<'t> Diff<'t> {
    changes! {
        /// The messages of files that are not the same. Map entries are left out.
        /// Of every kind of element those pairs are left out of which every
        /// fact is the same, and members that came or went with what holds them.
        message_changes, messages_that_are, Message, new_message, old_message, is_settled_message,
            |file| file.all_messages().filter(|it| !it.is_map_entry()).collect();
        /// The fields and extensions of files that are not the same, those of
        /// map entries left out.
        field_changes, fields_that_are, Field, new_field, old_field, is_settled_field,
            |file| {
                let in_map = |it: &Field<'_>| it.parent().is_some_and(Message::is_map_entry);
                file.all_fields().filter(|it| !in_map(it)).collect()
            };
        /// The oneofs that are written in files that are not the same.
        oneof_changes, oneofs_that_are, Oneof, new_oneof, old_oneof, is_settled_oneof,
            |file| {
                let all = file.all_messages().flat_map(Message::oneofs);
                all.filter(|it| !it.is_synthetic()).collect()
            };
        /// The enums of files that are not the same.
        enum_changes, enums_that_are, Enum, new_enum, old_enum, is_settled_enum, |file| file.all_enums().collect();
        /// The enum values of files that are not the same.
        value_changes, values_that_are, EnumValue, new_value, old_value, is_settled_value,
            |file| file.all_enums().flat_map(Enum::values).collect();
        /// The services of files that are not the same.
        service_changes, services_that_are, Service, new_service, old_service, is_settled_service, |file| file.services().collect();
        /// The methods of files that are not the same.
        method_changes, methods_that_are, Method, new_method, old_method, is_settled_method,
            |file| file.services().flat_map(Service::methods).collect();
    }

    /// The files that are not the same.
    pub fn file_changes(&self) -> Vec<Change<File<'t>>> {
        let new =
            self.new_files().filter(|it| it.is_judged()).map(|new| match self.old_file(new) {
                Some(old) => Change::Both { old, new },
                None => Change::Added(new),
            });
        let gone = self.old_files().filter(|it| it.is_judged());
        let gone = gone.filter(|&old| self.new_file(old).is_none()).map(Change::Removed);
        new.chain(gone).collect()
    }

    /// The packages with a judged file.
    pub fn package_changes(&self) -> Vec<Change<Package<'t>>> {
        let new = self.new.packages().filter(|it| it.is_judged()).map(|new| {
            match self.old_package(new) {
                Some(old) => Change::Both { old, new },
                None => Change::Added(new),
            }
        });
        let gone = self.old.packages().filter(|it| it.is_judged());
        let gone = gone.filter(|&old| self.new_package(old).is_none()).map(Change::Removed);
        new.chain(gone).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use abide_schema::{FileDecl, SourceFile, Tree};

    use super::{Diff, equal_tokens};

    fn tree(text: &str) -> Tree {
        let (path, text) = ("a.proto".into(), text.as_bytes().into());
        let file = SourceFile { path, display: "a.proto".into(), root: 0, imported: false, text };
        Tree::link(vec![Arc::new(FileDecl::parse(file))])
    }

    #[test]
    fn comments_and_white_space_are_no_change() {
        let text = "// 2023\nmessage M { int32 a = 1; string b = 2; }\n";
        for (other, equal) in [
            ("// 2025\nmessage M { int32 a = 1; string b = 2; }\n", true),
            ("message M {\n  int32 a = 1; /* one */\n  string b = 2;\n}", true),
            ("// 2023\nmessage M { int32 a = 1; string b = 3; }\n", false),
            ("// 2023\nmessage M { int32 a = 1; // string b = 2; }\n}", false),
            ("// 2023\nmessage M { int32 a = 1; string b = 2; };\n", false),
            ("// 2023\nmessage M { int 32a = 1; string b = 2; }\n", false),
            ("", false),
        ] {
            assert_eq!(equal_tokens(text.as_bytes(), other.as_bytes()), equal, "{other}");
            let (old, new) = (tree(text), tree(other));
            assert_eq!(Diff::of(&old, &new).file_changes().is_empty(), equal, "{other}");
        }
    }
}
