//! Two trees with their elements paired, and what can be asked of the pairs.
//!
//! The pairs are made once (`diff/pairing.rs`), and nothing else searches the
//! other tree.

mod changes;
mod pairing;
mod pairs;
mod rarity;
mod renamed_types;
mod same_text;
mod settled;
mod structure;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use abide_schema::{
    Element, Enum, EnumId, EnumValue, EnumValueId, Field, FieldId, File, FileId, Message,
    MessageId, Method, MethodId, Oneof, OneofId, Package, PackageId, Part, Place, Service,
    ServiceId, Tree, Type,
};
use abide_syntax::Span;
use rustc_hash::FxHashMap;

use self::pairs::{PairMap, twin};
pub use self::renamed_types::RenamedType;
pub use self::same_text::ComparedTexts;
use crate::element::{find_held_enum, find_map_entries};
use crate::surface::Direction;

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
    files: PairMap<FileId>,
    packages: PairMap<PackageId>,
    messages: PairMap<MessageId>,
    fields: PairMap<FieldId>,
    /// Fields that became extensions with the same number, and the reverse.
    converted: PairMap<FieldId>,
    oneofs: PairMap<OneofId>,
    enums: PairMap<EnumId>,
    values: PairMap<EnumValueId>,
    services: PairMap<ServiceId>,
    methods: PairMap<MethodId>,
    /// The fields that hold each enum, for the old tree and the new one.
    users: [OnceLock<FxHashMap<EnumId, Vec<FieldId>>>; 2],
    /// The extensions of each message, for both trees.
    extensions: [OnceLock<FxHashMap<MessageId, Vec<FieldId>>>; 2],
    /// True if shapes were compared by how rare they are in both trees.
    weighed_shapes: AtomicBool,
}

/// `new_x` and `old_x`: the other side of an element.
macro_rules! other_side {
    ($($(#[$doc:meta])* $new_of:ident, $old_of:ident, $view:ident, $pairs:ident;)*) => {$(
        $(#[$doc])*
        pub fn $new_of(&self, old: $view<'t>) -> Option<$view<'t>> {
            debug_assert!(self.is_old(old.tree), "{old:?} is not of the old tree");
            let id = twin!(self.same, old.id)
                .or_else(|| self.$pairs.new_of.get(&old.id).copied())?;
            Some($view { tree: self.new, id })
        }

        $(#[$doc])*
        pub fn $old_of(&self, new: $view<'t>) -> Option<$view<'t>> {
            debug_assert!(self.is_new(new.tree), "{new:?} is not of the new tree");
            let id = twin!(self.same_old, new.id)
                .or_else(|| self.$pairs.old_of.get(&new.id).copied())?;
            Some($view { tree: self.old, id })
        }
    )*};
}

impl<'t> Diff<'t> {
    /// Returns true if elements may have been paired by how rare their shape is in both trees. The
    /// pairs then depend on every file; otherwise only on those that changed, and on what they
    /// name.
    pub fn has_weighed_shapes(&self) -> bool {
        self.weighed_shapes.load(Ordering::Relaxed)
    }

    /// Returns true if a file of either side does not parse. What is on one side alone may then be
    /// in that file on the other, so nobody knows whether it came, went or moved.
    pub fn is_incomplete(&self) -> bool {
        [self.old, self.new].iter().any(|it| it.unknown_packages().len() > 0)
    }

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
        debug_assert!(self.is_old(old.tree), "{old:?} is not of the old tree");
        self.files.new_of.get(&old.id).map(|&id| self.new.file(id))
    }

    /// The other side of a file.
    pub fn old_file(&self, new: File<'t>) -> Option<File<'t>> {
        debug_assert!(self.is_new(new.tree), "{new:?} is not of the new tree");
        self.files.old_of.get(&new.id).map(|&id| self.old.file(id))
    }

    /// The other side of a package.
    pub fn new_package(&self, old: Package<'t>) -> Option<Package<'t>> {
        debug_assert!(self.is_old(old.tree), "{old:?} is not of the old tree");
        self.packages.new_of.get(&old.id).map(|&id| self.new.package(id))
    }

    /// The other side of a package.
    pub fn old_package(&self, new: Package<'t>) -> Option<Package<'t>> {
        debug_assert!(self.is_new(new.tree), "{new:?} is not of the new tree");
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

    /// Returns true if two messages are the same message, the one old and the other new; also if
    /// that is not known, because either may be in a file that does not parse on the other side.
    pub fn is_same_message(&self, old: Message<'t>, new: Message<'t>) -> bool {
        match self.new_message(old) {
            Some(it) => it == new,
            None => self.is_incomplete() && self.old_message(new).is_none(),
        }
    }

    /// The same of two enums.
    fn is_same_enum(&self, old: Enum<'t>, new: Enum<'t>) -> bool {
        match self.new_enum(old) {
            Some(it) => it == new,
            None => self.is_incomplete() && self.old_enum(new).is_none(),
        }
    }

    /// Returns true if two types are the same type, the one old and the other new, as far as that
    /// is known.
    pub fn is_same_type(&self, old: Type, new: Type) -> bool {
        match (old, new) {
            (Type::Scalar(old), Type::Scalar(new)) => old == new,
            (Type::Message(old), Type::Message(new)) => {
                self.is_same_message(self.old.message(old), self.new.message(new))
            }
            (Type::Enum(old), Type::Enum(new)) => {
                self.is_same_enum(self.old.enumeration(old), self.new.enumeration(new))
            }
            (Type::Unresolved, Type::Unresolved) => true,
            _ => false,
        }
    }

    /// Two fields of which the types differ: they themselves, or the keys and the
    /// values of two maps. Of a map and a field that is none, nothing.
    pub fn find_differing_types(
        &self,
        old: Field<'t>,
        new: Field<'t>,
    ) -> Vec<(Field<'t>, Field<'t>)> {
        let pairs = match find_map_entries(old).zip(find_map_entries(new)) {
            Some((old, new)) => old.into_iter().zip(new).collect(),
            None if old.is_map() || new.is_map() => Vec::new(),
            None => vec![(old, new)],
        };
        let differ = |&(old, new): &(Field<'t>, Field<'t>)| {
            // What did not link is told by the linker.
            !matches!((old.ty(), new.ty()), (Type::Unresolved, _) | (_, Type::Unresolved))
                && !self.is_same_type(old.ty(), new.ty())
        };
        pairs.into_iter().filter(differ).collect()
    }

    /// Returns true if a field stands where another stood: the two share nothing but
    /// their number, or one of their names is that of another field. An extension is
    /// known by its full name, so one that shares nothing else was renamed.
    pub fn is_replaced(&self, old: Field<'t>, new: Field<'t>) -> bool {
        let is_other = match new.is_extension() {
            true => old.full_name() != new.full_name(),
            false => old.name() != new.name(),
        };
        let differs =
            || old.is_map() != new.is_map() || !self.find_differing_types(old, new).is_empty();
        is_other
            && old.number() == new.number()
            && old.is_extension() == new.is_extension()
            && (find_namesake(old, new).is_some()
                || find_namesake(new, old).is_some()
                || !new.is_extension() && differs())
    }

    /// Returns what a field without a new side is now: the extension with its number. The reverse
    /// for an extension. On the wire the two are one.
    pub fn find_converted_new(&self, old: Field<'t>) -> Option<Field<'t>> {
        debug_assert!(self.is_old(old.tree), "{old:?} is not of the old tree");
        self.converted.new_of.get(&old.id).map(|&id| self.new.field(id))
    }

    /// Returns what an extension without an old side was: the field with its number. The reverse
    /// for a field.
    pub fn find_converted_old(&self, new: Field<'t>) -> Option<Field<'t>> {
        debug_assert!(self.is_new(new.tree), "{new:?} is not of the new tree");
        self.converted.old_of.get(&new.id).map(|&id| self.old.field(id))
    }

    /// The field that had the name of a field without an old side: its number
    /// changed, and another field has the old number now.
    pub fn find_renumbered(&self, new: Field<'t>) -> Option<Field<'t>> {
        let holder = self.old_message(new.containing_message()?)?;
        let is_free = !new.is_extension() && self.old_field(new).is_none();
        is_free.then(|| holder.field_named(new.name())).flatten()
    }

    /// Returns true if an enum is held by no field of the old tree: then it is there for
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
                if let Some(held) = find_held_enum(field).filter(|_| !in_map) {
                    users.entry(held).or_default().push(field.id);
                }
            }
            users
        });
        users.get(&item).into_iter().flatten().copied()
    }

    /// The extensions of a message, in the order of files: of an old one for backward, else of a
    /// new one.
    pub fn extensions(
        &self,
        writer: Direction,
        message: Message<'t>,
    ) -> impl Iterator<Item = Field<'t>> {
        let tree = message.tree;
        let extensions = self.extensions[writer as usize].get_or_init(|| {
            let mut extensions: FxHashMap<MessageId, Vec<FieldId>> = FxHashMap::default();
            for field in tree.files().flat_map(File::all_fields) {
                if let Some(extendee) = field.extendee() {
                    extensions.entry(extendee.id).or_default().push(field.id);
                }
            }
            extensions
        });
        extensions.get(&message.id).into_iter().flatten().map(|id| tree.field(*id))
    }

    /// Returns where the surviving container of an element that is gone stands: the
    /// innermost enclosing message, enum or service, else the top of its file,
    /// else nowhere.
    pub fn find_container(&self, gone: Element<'t>) -> Option<Place> {
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

    /// Returns true if this is the old tree: a view of the other side has a number of an
    /// element there, which means another one here.
    pub(crate) fn is_old(&self, tree: &Tree) -> bool {
        std::ptr::eq(tree, self.old)
    }

    /// Returns true if this is the new tree.
    pub(crate) fn is_new(&self, tree: &Tree) -> bool {
        std::ptr::eq(tree, self.new)
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

    /// The old side of a file whose declarations are all the same.
    fn same_old_file(&self, new: File<'t>) -> Option<File<'t>> {
        self.same_old[new.id.0 as usize].map(|it| self.old.file(it))
    }

    /// Returns true if nothing of a file that is gone lives on elsewhere.
    pub fn is_fully_removed(&self, old: File<'t>) -> bool {
        debug_assert!(self.is_old(old.tree), "{old:?} is not of the old tree");
        self.went_whole[old.id.0 as usize]
    }

    /// Returns true if nothing of a file that is new lived elsewhere.
    pub fn is_fully_added(&self, new: File<'t>) -> bool {
        debug_assert!(self.is_new(new.tree), "{new:?} is not of the new tree");
        self.came_whole[new.id.0 as usize]
    }
}

/// Returns what has the name of a field, or the full name of an extension, in the message of the
/// other side that holds `twin`.
pub fn find_namesake<'t>(of: Field<'t>, twin: Field<'t>) -> Option<Field<'t>> {
    find_named(twin.containing_message()?, of)
}

/// The same in a message of the other side.
pub(crate) fn find_named<'t>(holder: Message<'t>, of: Field<'t>) -> Option<Field<'t>> {
    if !of.is_extension() {
        return holder.field_named(of.name());
    }
    let name = of.full_name();
    holder.tree.extensions_named(&name).find(|it| it.extendee() == Some(holder))
}
