//! Views over a linked tree.
//!
//! A view is a copyable pair of the tree and an id. Equality and order of
//! views are those of their ids, which follow the order of paths and of
//! declarations, never of threads.

use std::sync::Arc;

use abide_syntax::{ImportKind, Slice, Visibility};

use crate::decl::{
    EnumDecl, EnumValueDecl, FieldDecl, FileDecl, ImportDecl, MessageDecl, MessageKind, MethodDecl,
    Node, OneofDecl, Parent, Part, RangeDecl, ReservedNameDecl, Scalar, ServiceDecl,
};
use crate::dynamic as value;
use crate::ids::{
    EnumId, EnumValueId, FieldId, FileId, MessageId, MethodId, OneofId, PackageId, ServiceId,
};
use crate::problem::Place;
use crate::protobuf::{default_json_name, to_json_letters};
use crate::tree::features::{Features, Presence};
use crate::tree::package_version::PackageVersion;
use crate::tree::{
    FieldLink, LinkedFile, MethodLink, OptionsLink, PackageData, Tree, Type, indices,
};

/// The number of values that a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cardinality {
    /// At most one.
    Singular,
    /// Any number, in an order.
    Repeated,
    /// One for each key.
    Map,
}

impl Tree {
    /// Every file, in the order of root and path.
    pub fn files(&self) -> impl ExactSizeIterator<Item = File<'_>> {
        (0..self.files.len() as u32).map(|index| File { tree: self, id: FileId(index) })
    }

    /// The files that import another one publicly, in the order of all files.
    pub fn public_importers(&self) -> impl ExactSizeIterator<Item = File<'_>> {
        self.public_importers.iter().map(|&id| self.file(id))
    }

    /// This tree, of which only some files are judged and all others count as imported.
    pub fn judging_only<'t>(&'t self, is_judged: impl Fn(File<'t>) -> bool) -> Tree {
        let imported = self.files().map(|it| !is_judged(it)).collect();
        Tree { imported: Some(imported), ..self.with_files(self.files.clone()) }
    }

    /// Returns true if a name in a package is declared more than once, if perhaps in roots that
    /// nothing imports together: as long as it is false, all roots could be one.
    pub fn repeats_names(&self) -> bool {
        self.repeats_names
    }

    /// A file by its id.
    #[inline]
    pub fn file(&self, id: FileId) -> File<'_> {
        File { tree: self, id }
    }

    /// Every package, in the order of names. Files without a `package`
    /// statement are in the package with the empty name.
    pub fn packages(&self) -> impl ExactSizeIterator<Item = Package<'_>> {
        (0..self.packages.len() as u32).map(|index| Package { tree: self, id: PackageId(index) })
    }

    /// A package by its id.
    #[inline]
    pub fn package(&self, id: PackageId) -> Package<'_> {
        Package { tree: self, id }
    }

    /// A package by its name.
    pub fn package_named(&self, name: &str) -> Option<Package<'_>> {
        let index = self.packages.binary_search_by(|data| data.name.as_str().cmp(name)).ok()?;
        Some(self.package(PackageId(index as u32)))
    }

    /// A message by its id.
    #[inline]
    pub fn message(&self, id: MessageId) -> Message<'_> {
        Message { tree: self, id }
    }

    /// A field or extension by its id.
    #[inline]
    pub fn field(&self, id: FieldId) -> Field<'_> {
        Field { tree: self, id }
    }

    /// An enum by its id.
    #[inline]
    pub fn enumeration(&self, id: EnumId) -> Enum<'_> {
        Enum { tree: self, id }
    }

    /// A oneof by its id.
    #[inline]
    pub fn oneof(&self, id: OneofId) -> Oneof<'_> {
        Oneof { tree: self, id }
    }
}

macro_rules! view {
    ($(#[$doc:meta])* $view:ident, $id:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $view<'t> {
            /// The tree it belongs to.
            pub tree: &'t Tree,
            /// Its id.
            pub id: $id,
        }

        impl PartialEq for $view<'_> {
            fn eq(&self, other: &Self) -> bool {
                self.id == other.id && std::ptr::eq(self.tree, other.tree)
            }
        }
        impl Eq for $view<'_> {}
        impl PartialOrd for $view<'_> {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }
        impl Ord for $view<'_> {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                // Nobody may sort views of two trees: their addresses differ from
                // run to run. They count here only so that this agrees with `eq`.
                debug_assert!(std::ptr::eq(self.tree, other.tree), "two trees have no order");
                let trees = std::ptr::from_ref(self.tree).cmp(&std::ptr::from_ref(other.tree));
                self.id.cmp(&other.id).then(trees)
            }
        }
        impl std::hash::Hash for $view<'_> {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                self.id.hash(state);
            }
        }
        impl std::fmt::Debug for $view<'_> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({})", stringify!($view), self.full_name())
            }
        }
    };
}

view!(
    /// A `.proto` file.
    File, FileId
);
view!(
    /// A protobuf package: the files that share its name.
    Package, PackageId
);
view!(
    /// A message, group or map entry.
    Message, MessageId
);
view!(
    /// A field or an extension.
    Field, FieldId
);
view!(
    /// A oneof.
    Oneof, OneofId
);
view!(
    /// An enum.
    Enum, EnumId
);
view!(
    /// A value of an enum.
    EnumValue, EnumValueId
);
view!(
    /// A service.
    Service, ServiceId
);
view!(
    /// A method of a service.
    Method, MethodId
);

macro_rules! element_view {
    ($view:ident, $decl:ident, $arena:ident, $options:expr) => {
        impl<'t> $view<'t> {
            /// Returns its declaration in its file.
            #[inline]
            pub fn decl(self) -> &'t $decl {
                &self.tree.linked(self.id.file).decl.$arena[self.id.index as usize]
            }

            /// The file that declares it.
            #[inline]
            pub fn file(self) -> File<'t> {
                self.tree.file(self.id.file)
            }

            /// The package of its file.
            #[inline]
            pub fn package(self) -> Package<'t> {
                self.file().package()
            }

            /// Its full name without that of its package.
            pub fn relative_name(self) -> String {
                to_relative_name(self.package(), self.full_name())
            }

            /// Its simple name.
            #[inline]
            pub fn name(self) -> &'t str {
                self.file().decl().str(self.decl().name)
            }

            /// Returns true if this is its simple name.
            #[inline]
            pub fn is_named(self, name: &str) -> bool {
                self.file().decl().strings.is(self.decl().name, name)
            }

            /// Returns the place of a part of it.
            pub fn place(self, part: Part) -> Place {
                self.file().place_of(self.decl().node, part)
            }

            /// Its interpreted options: custom ones as extensions.
            #[inline]
            pub fn options(self) -> Option<&'t value::Message> {
                let options: fn(&'t LinkedFile, usize) -> &'t OptionsLink = $options;
                options(self.tree.linked(self.id.file), self.id.index as usize).as_deref()
            }
        }
    };
}

element_view!(Message, MessageDecl, messages, |file, at| &file.messages[at].options);
element_view!(Field, FieldDecl, fields, |file, at| &file.fields[at].options);
element_view!(Oneof, OneofDecl, oneofs, |file, at| &file.oneofs[at]);
element_view!(Enum, EnumDecl, enums, |file, at| &file.enums[at].options);
element_view!(EnumValue, EnumValueDecl, values, |file, at| &file.values[at]);
element_view!(Service, ServiceDecl, services, |file, at| &file.services[at]);
element_view!(Method, MethodDecl, methods, |file, at| &file.methods[at].options);

/// An import of a file, resolved.
#[derive(Clone, Copy, Debug)]
pub struct Import<'t> {
    /// The declaration in the file.
    pub decl: &'t ImportDecl,
    /// The imported file; `None` where it resolves nowhere.
    pub file: Option<File<'t>>,
    /// True if a name or an option of the importing file needs it. Public
    /// imports always count as used, as in protoc.
    pub used: bool,
    /// If it resolves nowhere or leads to a file that does not parse, how many uses of names by
    /// the importing file are unknown that it may declare.
    pub unknown_uses: u32,
}

impl<'t> File<'t> {
    /// Returns its declarations.
    #[inline]
    pub fn decl(self) -> &'t FileDecl {
        &self.tree.linked(self.id).decl
    }

    /// Returns true if a file of another tree was linked together with this one, so that it means
    /// the same: see [`Tree::link_beside`].
    pub fn is_linked_as(self, other: File<'_>) -> bool {
        std::ptr::eq(self.tree.linked(self.id), other.tree.linked(other.id))
    }

    /// The same, to be part of another tree.
    pub fn shared_decl(self) -> &'t Arc<FileDecl> {
        &self.tree.linked(self.id).decl
    }

    /// The name that imports use.
    pub fn path(self) -> &'t str {
        &self.decl().path
    }

    /// The folder of its path; empty at the root.
    pub fn folder(self) -> &'t str {
        self.path().rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The name that imports use: the full name of a file.
    pub fn full_name(self) -> String {
        self.path().to_owned()
    }

    /// Returns true if it is judged: it is not only imported by files that are, and its package is
    /// known as a whole.
    pub fn is_judged(self) -> bool {
        !self.is_imported() && self.parses() && !self.package().is_unknown()
    }

    /// Returns true if it is there only because others import it.
    #[inline]
    pub fn is_imported(self) -> bool {
        match &self.tree.imported {
            Some(imported) => imported[self.id.0 as usize],
            None => self.decl().imported,
        }
    }

    /// Returns true if its text parses; if not, it declares nothing: see [`FileDecl::parses`].
    pub fn parses(self) -> bool {
        self.decl().parses
    }

    /// Its package.
    #[inline]
    pub fn package(self) -> Package<'t> {
        self.tree.package(self.tree.linked(self.id).package)
    }

    /// Its imports, in their order.
    pub fn imports(self) -> impl ExactSizeIterator<Item = Import<'t>> {
        (0..self.decl().imports.len()).map(move |at| self.import(at))
    }

    /// The import that has a part at a place in the source of this file. They stand in the order
    /// of their places, so it takes the logarithm of their number.
    pub fn import_at(self, part: Part, span: abide_syntax::Span) -> Option<Import<'t>> {
        let decl = self.decl();
        let place = |import: &ImportDecl| decl.span(import.node, part);
        let at = decl.imports.partition_point(|it| place(it).start < span.start);
        let is_there = decl.imports.get(at).is_some_and(|it| place(it) == span);
        is_there.then(|| self.import(at))
    }

    /// The import with this index.
    fn import(self, at: usize) -> Import<'t> {
        let decl = &self.decl().imports[at];
        let link = &self.tree.linked(self.id).imports[at];
        Import {
            decl,
            file: link.file.map(|id| self.tree.file(id)),
            used: link.used || decl.kind == ImportKind::Public,
            unknown_uses: link.unknown_uses,
        }
    }

    /// Its interpreted options.
    pub fn options(self) -> Option<&'t value::Message> {
        self.tree.linked(self.id).options.as_deref()
    }

    /// The features of the file itself.
    pub fn features(self) -> Features {
        self.tree.linked(self.id).features
    }

    /// Returns the place of a part of a declaration.
    pub fn place_of(self, node: Node, part: Part) -> Place {
        Place { file: self.id, span: self.decl().span(node, part) }
    }

    /// Returns the place of its `package` statement, else of its first statement.
    pub fn package_place(self) -> Place {
        let decl = self.decl();
        match (decl.package, decl.syntax) {
            (Some(package), _) => self.place_of(package.node, Part::Whole),
            (None, Some(syntax)) => self.place_of(syntax.node, Part::Whole),
            (None, None) => Place { file: self.id, span: abide_syntax::Span::default() },
        }
    }

    /// The messages of the top level.
    pub fn messages(self) -> impl ExactSizeIterator<Item = Message<'t>> {
        self.iter_messages(self.decl().top_messages)
    }

    /// Every message, nested and synthesised ones included.
    pub fn all_messages(self) -> impl DoubleEndedIterator<Item = Message<'t>> + ExactSizeIterator {
        self.iter_messages(full_slice(self.decl().messages.len()))
    }

    /// The enums of the top level.
    pub fn enums(self) -> impl ExactSizeIterator<Item = Enum<'t>> {
        self.iter_enums(self.decl().top_enums)
    }

    /// Every enum, nested ones included.
    pub fn all_enums(self) -> impl ExactSizeIterator<Item = Enum<'t>> {
        self.iter_enums(full_slice(self.decl().enums.len()))
    }

    /// The extensions of the top level.
    pub fn extensions(self) -> impl ExactSizeIterator<Item = Field<'t>> {
        self.iter_fields(self.decl().top_extensions)
    }

    /// Every field and extension.
    pub fn all_fields(self) -> impl ExactSizeIterator<Item = Field<'t>> {
        self.iter_fields(full_slice(self.decl().fields.len()))
    }

    /// The services.
    pub fn services(self) -> impl ExactSizeIterator<Item = Service<'t>> {
        let count = self.decl().services.len() as u32;
        (0..count)
            .map(move |index| Service { tree: self.tree, id: ServiceId { file: self.id, index } })
    }

    fn iter_messages(
        self,
        slice: Slice,
    ) -> impl DoubleEndedIterator<Item = Message<'t>> + ExactSizeIterator {
        indices(slice)
            .map(move |index| Message { tree: self.tree, id: MessageId { file: self.id, index } })
    }

    fn iter_enums(self, slice: Slice) -> impl ExactSizeIterator<Item = Enum<'t>> {
        indices(slice)
            .map(move |index| Enum { tree: self.tree, id: EnumId { file: self.id, index } })
    }

    #[inline]
    fn iter_fields(self, slice: Slice) -> impl ExactSizeIterator<Item = Field<'t>> {
        indices(slice)
            .map(move |index| Field { tree: self.tree, id: FieldId { file: self.id, index } })
    }

    #[inline]
    fn scope(self, parent: Parent) -> Option<Message<'t>> {
        match parent {
            Parent::File => None,
            Parent::Message(index) => {
                Some(Message { tree: self.tree, id: MessageId { file: self.id, index } })
            }
        }
    }

    fn format_qualified_name(self, parent: Parent, name: &str) -> String {
        let mut full = self.format_scope_name(parent, name.len() + 1);
        full.push_str(name);
        full
    }

    /// The name of a scope with a dot behind it, except for that of no package, with room for more
    /// bytes.
    fn format_scope_name(self, parent: Parent, room: usize) -> String {
        let (mut full, name) = match self.scope(parent) {
            Some(message) => {
                let name = message.name();
                (self.format_scope_name(message.decl().parent, name.len() + 1 + room), name)
            }
            None => {
                let name = self.package().name();
                (String::with_capacity(name.len() + room), name)
            }
        };
        full.push_str(name);
        if !full.is_empty() {
            full.push('.');
        }
        full
    }
}

fn full_slice(length: usize) -> Slice {
    Slice { start: 0, end: length as u32 }
}

impl<'t> Package<'t> {
    fn data(self) -> &'t PackageData {
        &self.tree.packages[self.id.0 as usize]
    }

    /// Its dotted name; empty for files without a `package` statement.
    #[inline]
    pub fn name(self) -> &'t str {
        &self.data().name
    }

    /// Its dotted name.
    pub fn full_name(self) -> String {
        self.name().to_owned()
    }

    /// Its files, in the order of root and path.
    pub fn files(self) -> impl ExactSizeIterator<Item = File<'t>> {
        self.data().files.iter().map(move |&id| self.tree.file(id))
    }

    /// Returns true if it has, or may have, a file that does not parse, in this tree or in the one
    /// that this tree is compared with. What is not known is not judged.
    #[inline]
    pub fn is_unknown(self) -> bool {
        self.data().is_unknown
    }

    /// Returns true if any of its files is judged.
    pub fn is_judged(self) -> bool {
        self.files().any(File::is_judged)
    }

    /// The version in its name, where it has one.
    pub fn version(self) -> Option<&'t PackageVersion> {
        self.data().version.as_ref()
    }
}

impl<'t> Message<'t> {
    /// Its name with package and enclosing messages, without a leading dot.
    pub fn full_name(self) -> String {
        self.file().format_qualified_name(self.decl().parent, self.name())
    }

    /// The message it is declared in.
    pub fn parent(self) -> Option<Message<'t>> {
        self.file().scope(self.decl().parent)
    }

    /// Its fields, in the order of declaration.
    #[inline]
    pub fn fields(self) -> impl ExactSizeIterator<Item = Field<'t>> {
        self.file().iter_fields(self.decl().fields)
    }

    /// Extensions that are declared inside it (of whatever message).
    pub fn extensions(self) -> impl ExactSizeIterator<Item = Field<'t>> {
        self.file().iter_fields(self.decl().extensions)
    }

    /// Its oneofs, those of `optional` fields last.
    pub fn oneofs(self) -> impl ExactSizeIterator<Item = Oneof<'t>> {
        indices(self.decl().oneofs)
            .map(move |index| Oneof { tree: self.tree, id: OneofId { file: self.id.file, index } })
    }

    /// Messages declared inside it, synthesised ones included.
    pub fn messages(self) -> impl ExactSizeIterator<Item = Message<'t>> {
        self.file().iter_messages(self.decl().messages)
    }

    /// Enums declared inside it.
    pub fn enums(self) -> impl ExactSizeIterator<Item = Enum<'t>> {
        self.file().iter_enums(self.decl().enums)
    }

    /// Its extension ranges; the end is exclusive.
    pub fn extension_ranges(self) -> &'t [RangeDecl] {
        &self.file().decl().ranges[self.decl().extension_ranges.range()]
    }

    /// The interpreted options of its extension ranges, in their order.
    pub fn extension_range_options(
        self,
    ) -> impl ExactSizeIterator<Item = Option<&'t value::Message>> {
        let ranges = &self.tree.linked(self.id.file).ranges;
        ranges[self.decl().extension_ranges.range()].iter().map(Option::as_deref)
    }

    /// Its reserved ranges; the end is exclusive.
    pub fn reserved_ranges(self) -> &'t [RangeDecl] {
        &self.file().decl().ranges[self.decl().reserved_ranges.range()]
    }

    /// Its reserved names.
    pub fn reserved_names(self) -> &'t [ReservedNameDecl] {
        &self.file().decl().reserved_names[self.decl().reserved_names.range()]
    }

    /// Returns true if it is the entry of a map field.
    #[inline]
    pub fn is_map_entry(self) -> bool {
        self.decl().kind == MessageKind::MapEntry
    }

    /// `export` or `local`.
    pub fn visibility(self) -> Option<Visibility> {
        self.decl().visibility
    }

    /// Its resolved features.
    #[inline]
    pub fn features(self) -> Features {
        self.tree.linked(self.id.file).messages[self.id.index as usize].features
    }
}

impl<'t> Field<'t> {
    #[inline]
    fn link(self) -> &'t FieldLink {
        &self.tree.linked(self.id.file).fields[self.id.index as usize]
    }

    /// Its name with its scope, without a leading dot.
    pub fn full_name(self) -> String {
        self.file().format_qualified_name(self.decl().parent, self.name())
    }

    /// Its number.
    #[inline]
    pub fn number(self) -> i32 {
        self.decl().number
    }

    /// Its resolved type.
    #[inline]
    pub fn ty(self) -> Type {
        self.link().ty
    }

    /// The message that is its type; for a map field its entry.
    #[inline]
    pub fn message_type(self) -> Option<Message<'t>> {
        match self.ty() {
            Type::Message(id) => Some(self.tree.message(id)),
            _ => None,
        }
    }

    /// The enum that is its type.
    pub fn enum_type(self) -> Option<Enum<'t>> {
        match self.ty() {
            Type::Enum(id) => Some(self.tree.enumeration(id)),
            _ => None,
        }
    }

    /// Returns true if it is an extension.
    #[inline]
    pub fn is_extension(self) -> bool {
        self.decl().extendee().is_some()
    }

    /// For an extension, the message that it extends.
    pub fn extendee(self) -> Option<Message<'t>> {
        self.link().extendee.map(|id| self.tree.message(id))
    }

    /// The message it is declared in; for an extension its scope only.
    pub fn parent(self) -> Option<Message<'t>> {
        self.file().scope(self.decl().parent)
    }

    /// The message whose values hold it: the extendee of an extension.
    pub fn containing_message(self) -> Option<Message<'t>> {
        if self.is_extension() { self.extendee() } else { self.parent() }
    }

    /// The oneof that it is written in; not the synthetic one of an `optional`.
    pub fn real_oneof(self) -> Option<Oneof<'t>> {
        self.oneof().filter(|it| !it.is_synthetic())
    }

    /// The oneof it is a member of, synthesised ones included.
    #[inline]
    pub fn oneof(self) -> Option<Oneof<'t>> {
        let index = self.decl().oneof?;
        Some(Oneof { tree: self.tree, id: OneofId { file: self.id.file, index } })
    }

    /// Returns the number of values it holds.
    #[inline]
    pub fn cardinality(self) -> Cardinality {
        if self.is_map() {
            Cardinality::Map
        } else if self.decl().label == Some(abide_syntax::FieldLabel::Repeated) {
            Cardinality::Repeated
        } else {
            Cardinality::Singular
        }
    }

    /// Returns true if it is a map field.
    #[inline]
    pub fn is_map(self) -> bool {
        // An entry is declared beside its field: no other file has to be asked.
        self.decl().label == Some(abide_syntax::FieldLabel::Repeated)
            && self
                .message_type()
                .filter(|it| it.id.file == self.id.file)
                .is_some_and(Message::is_map_entry)
    }

    /// Returns true if its values can be packed: it is repeated, and of numbers or of an enum.
    pub fn is_packable(self) -> bool {
        let is_number = match self.ty() {
            Type::Scalar(scalar) => !matches!(scalar, Scalar::String | Scalar::Bytes),
            Type::Enum(_) => true,
            Type::Message(_) | Type::Unresolved => false,
        };
        is_number && self.cardinality() == Cardinality::Repeated
    }

    /// Its resolved features.
    #[inline]
    pub fn features(self) -> Features {
        self.link().features
    }

    /// Returns true if its absence can be told from its default. Repeated fields and
    /// maps have implicit presence; messages and members of oneofs explicit.
    #[inline]
    pub fn presence(self) -> Presence {
        if self.cardinality() != Cardinality::Singular {
            return Presence::Implicit;
        }
        let features = self.features();
        match features.presence {
            Presence::Implicit
                if self.decl().oneof.is_some()
                    || self.is_extension()
                    || matches!(self.ty(), Type::Message(_)) =>
            {
                Presence::Explicit
            }
            presence => presence,
        }
    }

    /// Its JSON name: the one that is set, else its name in lowerCamelCase.
    pub fn json_name(self) -> String {
        match self.decl().json_name() {
            Some(name) => name.to_owned(),
            None => default_json_name(self.name()),
        }
    }

    /// Returns true if this is its JSON name.
    pub(crate) fn has_json_name(self, name: &str) -> bool {
        match self.decl().json_name() {
            Some(own) => own == name,
            None => to_json_letters(self.name()).eq(name.chars()),
        }
    }
}

impl<'t> Oneof<'t> {
    /// The message that holds it.
    pub fn message(self) -> Message<'t> {
        let index = self.decl().message;
        Message { tree: self.tree, id: MessageId { file: self.id.file, index } }
    }

    /// Its name with its message.
    pub fn full_name(self) -> String {
        format!("{}.{}", self.message().full_name(), self.name())
    }

    /// Returns true if it stands for `optional` in proto3.
    #[inline]
    pub fn is_synthetic(self) -> bool {
        self.decl().synthetic
    }

    /// Its members.
    pub fn fields(self) -> impl Iterator<Item = Field<'t>> {
        self.message().members(self.id.index)
    }
}

impl<'t> Enum<'t> {
    /// Its name with package and enclosing messages, without a leading dot.
    pub fn full_name(self) -> String {
        self.file().format_qualified_name(self.decl().parent, self.name())
    }

    /// The message it is declared in.
    pub fn parent(self) -> Option<Message<'t>> {
        self.file().scope(self.decl().parent)
    }

    /// Its values, in the order of declaration.
    #[inline]
    pub fn values(self) -> impl ExactSizeIterator<Item = EnumValue<'t>> {
        indices(self.decl().values).map(move |index| EnumValue {
            tree: self.tree,
            id: EnumValueId { file: self.id.file, index },
        })
    }

    /// Its reserved ranges; the end is inclusive.
    pub fn reserved_ranges(self) -> &'t [RangeDecl] {
        &self.file().decl().ranges[self.decl().reserved_ranges.range()]
    }

    /// Its reserved names.
    pub fn reserved_names(self) -> &'t [ReservedNameDecl] {
        &self.file().decl().reserved_names[self.decl().reserved_names.range()]
    }

    /// Its resolved features.
    #[inline]
    pub fn features(self) -> Features {
        self.tree.linked(self.id.file).enums[self.id.index as usize].features
    }
}

impl<'t> EnumValue<'t> {
    /// Its enum.
    pub fn parent(self) -> Enum<'t> {
        let index = self.decl().parent;
        Enum { tree: self.tree, id: EnumId { file: self.id.file, index } }
    }

    /// Its number.
    #[inline]
    pub fn number(self) -> i32 {
        self.decl().number
    }

    /// The text that stands for it in JSON instead of its name, by the option
    /// `(pb.enumvalue.json).string` of `google/protobuf/json_options.proto`.
    ///
    /// Readers accept its name as well.
    pub fn json_text(self) -> Option<&'t str> {
        let option = self.options()?.find_extension(self.tree, "pb.enumvalue.json")?;
        option.value.as_message()?.get_str(self.tree, "string")
    }

    /// Its full name by the rules of the language: a sibling of its enum, not
    /// a child.
    pub fn full_name(self) -> String {
        self.file().format_qualified_name(self.parent().decl().parent, self.name())
    }
}

impl<'t> Service<'t> {
    /// Its name with its package.
    pub fn full_name(self) -> String {
        self.file().format_qualified_name(Parent::File, self.name())
    }

    /// Its methods, in the order of declaration.
    pub fn methods(self) -> impl ExactSizeIterator<Item = Method<'t>> {
        indices(self.decl().methods).map(move |index| Method {
            tree: self.tree,
            id: MethodId { file: self.id.file, index },
        })
    }
}

impl<'t> Method<'t> {
    #[inline]
    fn link(self) -> &'t MethodLink {
        &self.tree.linked(self.id.file).methods[self.id.index as usize]
    }

    /// Its service.
    pub fn service(self) -> Service<'t> {
        let index = self.decl().service;
        Service { tree: self.tree, id: ServiceId { file: self.id.file, index } }
    }

    /// Its name with its service.
    pub fn full_name(self) -> String {
        format!("{}.{}", self.service().full_name(), self.name())
    }

    /// The request type, where it resolved.
    pub fn input(self) -> Option<Message<'t>> {
        self.link().input.map(|id| self.tree.message(id))
    }

    /// The response type, where it resolved.
    pub fn output(self) -> Option<Message<'t>> {
        self.link().output.map(|id| self.tree.message(id))
    }
}

/// A full name without that of its package.
fn to_relative_name(package: Package<'_>, mut full_name: String) -> String {
    if !package.name().is_empty() && full_name.len() > package.name().len() {
        full_name.drain(..=package.name().len());
    }
    full_name
}
