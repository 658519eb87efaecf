//! What changed between two trees: elements paired once, without judgement.
//!
//! Files are paired by path; messages, enums and services by full name; fields
//! by number, for that is what they are on the wire, and then by name; enum
//! values by name and number, then by number, then by name; oneofs and methods
//! by name. What is left on both sides is paired by structure, so that what
//! was renamed or moved is one change. Ties are broken by full names, so the
//! pairs depend on nothing but the trees.

use std::hash::Hash;
use std::sync::OnceLock;

use abide_schema::{
    Element, Enum, EnumId, EnumValue, EnumValueId, Field, FieldId, File, FileId, Message,
    MessageId, Method, MethodId, Oneof, OneofId, Package, PackageId, Part, Place, Service,
    ServiceId, Tree, Type,
};
use abide_syntax::Span;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::surface::Direction;
use crate::witness::held_enum;

mod structure;

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

impl<K: Copy + Eq + Hash> Pairs<K> {
    /// Pairs two elements that are both free.
    fn add(&mut self, old: K, new: K) -> bool {
        let free = !self.new_of.contains_key(&old) && !self.old_of.contains_key(&new);
        if free {
            self.new_of.insert(old, new);
            self.old_of.insert(new, old);
        }
        free
    }

    fn extend(&mut self, pairs: impl IntoIterator<Item = (K, K)>) {
        for (old, new) in pairs {
            self.add(old, new);
        }
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
    /// indices in its arenas. Nothing in such a file is compared.
    same: Vec<Option<FileId>>,
    /// The reverse.
    same_old: Vec<Option<FileId>>,
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

    /// The fields that hold an enum, maps with such values among them, in the
    /// order of files: of the old tree for backward, else of the new one.
    pub(crate) fn users(&self, writer: Direction, item: EnumId) -> impl Iterator<Item = FieldId> {
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

    /// Files of the old side whose declarations are not all the same, with
    /// those that are gone.
    fn old_files(&self) -> impl Iterator<Item = File<'t>> {
        self.old.files().filter(|file| self.same[file.id.0 as usize].is_none())
    }

    /// The same of the new side.
    fn new_files(&self) -> impl Iterator<Item = File<'t>> {
        self.new.files().filter(|file| self.same_old[file.id.0 as usize].is_none())
    }

    /// Pairs the elements of two trees.
    pub fn of(old: &'t Tree, new: &'t Tree) -> Diff<'t> {
        let mut diff = Diff {
            old,
            new,
            same: vec![None; old.files().len()],
            same_old: vec![None; new.files().len()],
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
        };
        diff.pair_files();
        diff.pair_packages_by_name();
        diff.pair_types_by_name();
        diff.pair_types_by_structure();
        diff.pair_renamed_files();
        diff.pair_renamed_packages();
        diff.pair_members();
        diff.pair_extensions();
        diff
    }

    fn pair_files(&mut self) {
        let by_path: FxHashMap<&str, FileId> =
            self.new.files().map(|file| (file.path(), file.id)).collect();
        let (old, new) = (self.old, self.new);
        self.files
            .extend(old.files().filter_map(|file| Some((file.id, *by_path.get(file.path())?))));
        let pairs: Vec<(FileId, FileId)> =
            self.files.new_of.iter().map(|(&old, &new)| (old, new)).collect();
        let equal: Vec<(FileId, FileId)> = pairs
            .into_par_iter()
            .filter(|&(before, after)| equal_text(old.file(before), new.file(after)))
            .collect();
        for &(before, after) in &equal {
            self.same[before.0 as usize] = Some(after);
            self.same_old[after.0 as usize] = Some(before);
        }
        // The names in equal texts may lead to other types now.
        let turned: Vec<(FileId, FileId)> = equal
            .into_par_iter()
            .filter(|&(before, after)| !self.equal_links(old.file(before), new.file(after)))
            .collect();
        for (before, after) in turned {
            self.same[before.0 as usize] = None;
            self.same_old[after.0 as usize] = None;
        }
    }

    /// Whether each name in two equal texts leads to types of one name.
    fn equal_links(&self, old: File<'t>, new: File<'t>) -> bool {
        let equal_messages = |old: Option<Message<'t>>, new: Option<Message<'t>>| match (old, new) {
            (None, None) => true,
            (Some(old), Some(new)) => match twin!(self.same, old.id) {
                Some(twin) => twin == new.id,
                None => old.full_name() == new.full_name(),
            },
            _ => false,
        };
        let equal_enums = |old: Enum<'t>, new: Enum<'t>| match twin!(self.same, old.id) {
            Some(twin) => twin == new.id,
            None => old.full_name() == new.full_name(),
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

    fn pair_packages_by_name(&mut self) {
        let pairs: Vec<_> = self
            .old
            .packages()
            .filter_map(|old| Some((old.id, self.new.package_named(old.name())?.id)))
            .collect();
        self.packages.extend(pairs);
    }

    fn pair_types_by_name(&mut self) {
        let new: Vec<File<'t>> = self.new_files().collect();
        let old: Vec<File<'t>> = self.old_files().collect();
        let messages = by_name(new.iter().flat_map(|it| it.all_messages()), Message::full_name);
        let enums = by_name(new.iter().flat_map(|it| it.all_enums()), Enum::full_name);
        let services = by_name(new.iter().flat_map(|it| it.services()), Service::full_name);
        for file in old {
            for it in file.all_messages() {
                if let Some(new) = messages.get(&it.full_name()) {
                    self.messages.add(it.id, new.id);
                }
            }
            for it in file.all_enums() {
                if let Some(new) = enums.get(&it.full_name()) {
                    self.enums.add(it.id, new.id);
                }
            }
            for it in file.services() {
                if let Some(new) = services.get(&it.full_name()) {
                    self.services.add(it.id, new.id);
                }
            }
        }
    }

    /// A file whose types are all in one other file now was renamed.
    fn pair_renamed_files(&mut self) {
        let mut found = Vec::new();
        for old in self.old_files().filter(|file| !self.files.new_of.contains_key(&file.id)) {
            let messages = old.messages().filter_map(|it| self.new_message(it)).map(|it| it.file());
            let enums = old.enums().filter_map(|it| self.new_enum(it)).map(|it| it.file());
            let services = old.services().filter_map(|it| self.new_service(it));
            let homes: Vec<File<'t>> =
                messages.chain(enums).chain(services.map(Service::file)).collect();
            found.extend(most_common(&homes).map(|home| (old.id, home.id)));
        }
        self.files.extend(found);
    }

    /// A package whose types are in one other package now was renamed.
    fn pair_renamed_packages(&mut self) {
        let mut found = Vec::new();
        let free = |it: &Package<'t>| !self.packages.new_of.contains_key(&it.id);
        for old in self.old.packages().filter(free) {
            let files = || old.files();
            let messages = files().flat_map(File::messages).filter_map(|it| self.new_message(it));
            let enums = files().flat_map(File::enums).filter_map(|it| self.new_enum(it));
            let services = files().flat_map(File::services).filter_map(|it| self.new_service(it));
            let homes: Vec<Package<'t>> = messages
                .map(Message::package)
                .chain(enums.map(Enum::package))
                .chain(services.map(Service::package))
                .collect();
            found.extend(most_common(&homes).map(|home| (old.id, home.id)));
        }
        self.packages.extend(found);
    }

    fn pair_members(&mut self) {
        let mut messages: Vec<(MessageId, MessageId)> =
            self.messages.new_of.iter().map(|(&old, &new)| (old, new)).collect();
        messages.sort();
        for (old, new) in messages {
            let (old, new) = (self.old.message(old), self.new.message(new));
            self.pair_fields(old, new);
            self.pair_oneofs(old, new);
        }
        let mut enums: Vec<(EnumId, EnumId)> =
            self.enums.new_of.iter().map(|(&old, &new)| (old, new)).collect();
        enums.sort();
        for (old, new) in enums {
            self.pair_values(self.old.enumeration(old), self.new.enumeration(new));
        }
        let mut services: Vec<(ServiceId, ServiceId)> =
            self.services.new_of.iter().map(|(&old, &new)| (old, new)).collect();
        services.sort();
        for (old, new) in services {
            let view = |tree, id| Service { tree, id };
            self.pair_methods(view(self.old, old), view(self.new, new));
        }
    }

    fn pair_fields(&mut self, old: Message<'t>, new: Message<'t>) {
        let (before, after): (Vec<_>, Vec<_>) = (old.fields().collect(), new.fields().collect());
        pair_by(&mut self.fields, &before, &after, |it| it.id, |it| (it.number(), it.name()));
        pair_by(&mut self.fields, &before, &after, |it| it.id, |it| it.number());
        pair_by(&mut self.fields, &before, &after, |it| it.id, |it| it.name());
        // The entry of a map goes with its field, whatever it is called.
        for old in before {
            let Some(new) = self.new_field(old) else { continue };
            if old.is_map()
                && new.is_map()
                && let (Some(old), Some(new)) = (old.message_type(), new.message_type())
                && self.messages.add(old.id, new.id)
            {
                self.pair_fields(old, new);
            }
        }
    }

    fn pair_oneofs(&mut self, old: Message<'t>, new: Message<'t>) {
        let written = |message: Message<'t>| -> Vec<Oneof<'t>> {
            message.oneofs().filter(|it| !it.is_synthetic()).collect()
        };
        let (before, after) = (written(old), written(new));
        pair_by(&mut self.oneofs, &before, &after, |it| it.id, |it| it.name());
        for old in before {
            let homes: Vec<Oneof<'t>> = old
                .fields()
                .filter_map(|field| self.new_field(field)?.oneof())
                .filter(|it| !it.is_synthetic())
                .collect();
            if let Some(home) = most_common(&homes) {
                self.oneofs.add(old.id, home.id);
            }
        }
    }

    fn pair_values(&mut self, old: Enum<'t>, new: Enum<'t>) {
        let (before, after): (Vec<_>, Vec<_>) = (old.values().collect(), new.values().collect());
        pair_by(&mut self.values, &before, &after, |it| it.id, |it| (it.number(), it.name()));
        // A name that is still there was not renamed: its number changed.
        pair_by(&mut self.values, &before, &after, |it| it.id, |it| it.name());
        pair_by(&mut self.values, &before, &after, |it| it.id, |it| it.number());
    }

    fn pair_methods(&mut self, old: Service<'t>, new: Service<'t>) {
        let (before, after): (Vec<_>, Vec<_>) = (old.methods().collect(), new.methods().collect());
        pair_by(&mut self.methods, &before, &after, |it| it.id, |it| it.name());
        let free = |it: &&Method<'t>| !self.methods.new_of.contains_key(&it.id);
        let left: Vec<Method<'t>> = before.iter().filter(free).copied().collect();
        for old in left {
            let equal = |new: Method<'t>| {
                let (was, is) = (old.decl(), new.decl());
                let same = |old: Option<Message<'t>>, new: Option<Message<'t>>| {
                    old.and_then(|it| self.new_message(it)) == new && new.is_some()
                };
                !self.methods.old_of.contains_key(&new.id)
                    && (was.client_streaming, was.server_streaming)
                        == (is.client_streaming, is.server_streaming)
                    && same(old.input(), new.input())
                    && same(old.output(), new.output())
            };
            if let Some(new) = after.iter().copied().find(|&new| equal(new)) {
                self.methods.add(old.id, new.id);
            }
        }
    }

    fn pair_extensions(&mut self) {
        let extensions = |files: Vec<File<'t>>| -> Vec<Field<'t>> {
            let all = files.into_iter().flat_map(File::all_fields);
            all.filter(|field| field.is_extension()).collect()
        };
        let before = extensions(self.old_files().collect());
        let after = extensions(self.new_files().collect());
        let mut by_key = FxHashMap::default();
        for &new in &after {
            if let Some(extendee) = new.extendee() {
                by_key.entry((extendee.id, new.number())).or_insert(new.id);
            }
        }
        for &old in &before {
            let extendee = old.extendee().and_then(|it| self.new_message(it));
            let new = extendee.and_then(|it| by_key.get(&(it.id, old.number())));
            if let Some(&new) = new {
                self.fields.add(old.id, new);
            }
        }
        let names = by_name(after.iter().copied(), Field::full_name);
        for old in before {
            if let Some(new) = names.get(&old.full_name()) {
                self.fields.add(old.id, new.id);
            }
        }
    }
}

/// Whether two files were read from the same text.
fn equal_text(old: File<'_>, new: File<'_>) -> bool {
    if std::sync::Arc::ptr_eq(old.shared_decl(), new.shared_decl()) {
        return true;
    }
    match (old.decl().source_text(), new.decl().source_text()) {
        (Some(old), Some(new)) => old == new,
        _ => false,
    }
}

/// Elements by name; of several with one name the first counts.
fn by_name<'t, T: Copy + 't>(
    elements: impl Iterator<Item = T>,
    name: impl Fn(T) -> String,
) -> FxHashMap<String, T> {
    let mut named = FxHashMap::default();
    for element in elements {
        named.entry(name(element)).or_insert(element);
    }
    named
}

/// Pairs what is free on both sides and has an equal key, in the order of
/// declaration.
fn pair_by<T: Copy, I: Copy + Eq + Hash, K: Eq + Hash>(
    pairs: &mut Pairs<I>,
    old: &[T],
    new: &[T],
    id: impl Fn(T) -> I,
    key: impl Fn(T) -> K,
) {
    let mut free: FxHashMap<K, Vec<I>> = FxHashMap::default();
    for &it in new.iter().rev().filter(|&&it| !pairs.old_of.contains_key(&id(it))) {
        free.entry(key(it)).or_default().push(id(it));
    }
    for &it in old {
        if !pairs.new_of.contains_key(&id(it))
            && let Some(new) = free.get_mut(&key(it)).and_then(Vec::pop)
        {
            pairs.add(id(it), new);
        }
    }
}

/// The element that more than half of the list are; of two the smaller.
fn most_common<T: Copy + Ord>(list: &[T]) -> Option<T> {
    let mut sorted = list.to_vec();
    sorted.sort();
    let runs = sorted.chunk_by(|a, b| a == b);
    let most = runs.max_by_key(|run| (run.len(), std::cmp::Reverse(run[0])))?;
    (most.len() * 2 > list.len()).then_some(most[0])
}

/// `x_changes`: every element of a kind that may differ.
macro_rules! changes {
    ($($(#[$doc:meta])* $name:ident, $view:ident, $new_of:ident, $old_of:ident, $all:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name(&self) -> Vec<Change<$view<'t>>> {
            let all: fn(File<'t>) -> Vec<$view<'t>> = $all;
            let judged = |it: &File<'t>| it.is_judged();
            let new = self.new_files().filter(judged).flat_map(all).map(|new| {
                match self.$old_of(new) {
                    Some(old) => Change::Both { old, new },
                    None => Change::Added(new),
                }
            });
            let gone = self.old_files().filter(judged).flat_map(all);
            let gone = gone.filter(|&old| self.$new_of(old).is_none()).map(Change::Removed);
            new.chain(gone).collect()
        }
    )*};
}

impl<'t> Diff<'t> {
    changes! {
        /// The messages of files that are not the same, map entries left out.
        message_changes, Message, new_message, old_message,
            |file| file.all_messages().filter(|it| !it.is_map_entry()).collect();
        /// The fields and extensions of files that are not the same, those of
        /// map entries left out.
        field_changes, Field, new_field, old_field,
            |file| {
                let in_map = |it: &Field<'_>| it.parent().is_some_and(Message::is_map_entry);
                file.all_fields().filter(|it| !in_map(it)).collect()
            };
        /// The oneofs that are written in files that are not the same.
        oneof_changes, Oneof, new_oneof, old_oneof,
            |file| {
                let all = file.all_messages().flat_map(Message::oneofs);
                all.filter(|it| !it.is_synthetic()).collect()
            };
        /// The enums of files that are not the same.
        enum_changes, Enum, new_enum, old_enum, |file| file.all_enums().collect();
        /// The enum values of files that are not the same.
        value_changes, EnumValue, new_value, old_value,
            |file| file.all_enums().flat_map(Enum::values).collect();
        /// The services of files that are not the same.
        service_changes, Service, new_service, old_service, |file| file.services().collect();
        /// The methods of files that are not the same.
        method_changes, Method, new_method, old_method,
            |file| file.services().flat_map(Service::methods).collect();
    }

    /// Every element of files that are not the same, by kind.
    pub fn element_changes(&self) -> Vec<Change<Element<'t>>> {
        let mut all = Vec::new();
        all.extend(self.message_changes().into_iter().map(|it| it.map(Element::Message)));
        all.extend(self.field_changes().into_iter().map(|it| it.map(Element::Field)));
        all.extend(self.oneof_changes().into_iter().map(|it| it.map(Element::Oneof)));
        all.extend(self.enum_changes().into_iter().map(|it| it.map(Element::Enum)));
        all.extend(self.value_changes().into_iter().map(|it| it.map(Element::EnumValue)));
        all.extend(self.service_changes().into_iter().map(|it| it.map(Element::Service)));
        all.extend(self.method_changes().into_iter().map(|it| it.map(Element::Method)));
        all
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
            match self.packages.old_of.get(&new.id) {
                Some(&old) => Change::Both { old: self.old.package(old), new },
                None => Change::Added(new),
            }
        });
        let gone = self.old.packages().filter(|it| it.is_judged());
        let gone = gone.filter(|&old| self.new_package(old).is_none()).map(Change::Removed);
        new.chain(gone).collect()
    }
}
