//! The declarations of one file, before any name is linked.
//!
//! A [`FileDecl`] depends on the bytes of its file alone, so it can be kept
//! and shared between trees. It has two origins with one shape: the syntax
//! tree of a source file, and a serialised FileDescriptorProto.

mod attached_comments;
mod comments;
mod descriptor_locations;
mod part;
mod part_span;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use abide_syntax::{
    Ast, FieldLabel, ImportKind, LineIndex, OptionId, Position, Slice, Span, Visibility,
};

use crate::problem::ProblemKind;
use crate::protobuf::Edition;

pub(crate) use attached_comments::find_declaration_end;
pub use attached_comments::{AttachedComments, Comment};
pub use descriptor_locations::DescriptorLocations;
pub(crate) use descriptor_locations::LocationKind;
pub use part::{Node, Part};

/// The largest field number. Source: `FieldDescriptor::kMaxNumber`.
pub const MAX_FIELD_NUMBER: i32 = 536_870_911;

/// A source file that is still text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name that imports use: relative to its root, with `/`.
    pub path: Arc<str>,
    /// The name that reports use: relative to the root of the tree.
    pub display: Arc<str>,
    /// The root it was found under. Roots are independent of each other: the same
    /// path or symbol may exist under two of them.
    pub root: u32,
    /// True if it is here only because others import it: linked, never judged.
    pub imported: bool,
    /// Its bytes.
    pub text: FileText,
}

/// The bytes of a file. Where they are known to be UTF-8, the names in them
/// need no second look.
#[derive(Clone, Debug)]
pub enum FileText {
    /// Text.
    Utf8(Arc<str>),
    /// Bytes of any kind.
    Bytes(Arc<[u8]>),
}

impl FileText {
    /// The characters of a part; none where it is not UTF-8.
    #[inline]
    pub fn str(&self, span: Span) -> &str {
        match self {
            FileText::Utf8(text) => text.get(span.range()).unwrap_or_default(),
            FileText::Bytes(bytes) => span.str(bytes),
        }
    }
}

impl std::ops::Deref for FileText {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            FileText::Utf8(text) => text.as_bytes(),
            FileText::Bytes(bytes) => bytes,
        }
    }
}

impl PartialEq for FileText {
    fn eq(&self, other: &FileText) -> bool {
        self[..] == other[..]
    }
}

impl Eq for FileText {}

impl From<&[u8]> for FileText {
    fn from(bytes: &[u8]) -> FileText {
        match std::str::from_utf8(bytes) {
            Ok(text) => FileText::Utf8(text.into()),
            Err(_) => FileText::Bytes(bytes.into()),
        }
    }
}

impl From<Vec<u8>> for FileText {
    fn from(bytes: Vec<u8>) -> FileText {
        FileText::from(bytes.as_slice())
    }
}

/// A name in a file: a place in its [`StringTable`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Name(pub(crate) Span);

/// The characters of the names of a file: its own bytes, without a copy, and
/// behind them those names that do not stand there in one piece.
#[derive(Clone, Debug)]
pub struct StringTable {
    text: FileText,
    extra: String,
}

impl StringTable {
    /// Over the bytes of a file.
    pub fn new(text: FileText) -> StringTable {
        StringTable { text, extra: String::new() }
    }

    /// The bytes of the file.
    pub fn text(&self) -> &FileText {
        &self.text
    }

    /// The characters of a name.
    #[inline]
    pub fn get(&self, name: Name) -> &str {
        let base = self.text.len() as u32;
        if name.0.start < base {
            self.text.str(name.0)
        } else {
            let range = Span::new(name.0.start - base, name.0.end - base).range();
            self.extra.get(range).unwrap_or_default()
        }
    }

    /// The bytes of a name, without a look at whether they are text.
    #[inline]
    pub(crate) fn bytes(&self, name: Name) -> &[u8] {
        let base = self.text.len() as u32;
        if name.0.start < base {
            name.0.of(&self.text)
        } else {
            Span::new(name.0.start - base, name.0.end - base).of(self.extra.as_bytes())
        }
    }

    /// Returns true if a name is this text. Most differ in their length.
    #[inline]
    pub(crate) fn is(&self, name: Name, text: &str) -> bool {
        if text.is_empty() {
            // So are names in a descriptor that are not UTF-8.
            return self.get(name).is_empty();
        }
        (name.0.end - name.0.start) as usize == text.len() && self.bytes(name) == text.as_bytes()
    }

    /// Keeps a name that does not stand in the file.
    pub fn push(&mut self, name: &str) -> Name {
        let start = (self.text.len() + self.extra.len()) as u32;
        self.extra.push_str(name);
        Name(Span::new(start, start + name.len() as u32))
    }

    /// A name that stands in the file at `span`.
    pub fn at(&self, span: Span) -> Name {
        debug_assert!(span.end as usize <= self.text.len(), "the span lies in the file");
        Name(span)
    }
}

/// The text or descriptor that a file was read from.
#[derive(Clone, Debug)]
pub enum FileOrigin {
    /// Source text: the tree of its syntax.
    Source(Ast),
    /// A FileDescriptorProto with, perhaps, source info.
    Descriptor(Arc<DescriptorLocations>),
}

/// The declarations of one file.
#[derive(Clone, Debug)]
pub struct FileDecl {
    /// The name that imports use.
    pub path: Arc<str>,
    /// The name that reports use.
    pub display: Arc<str>,
    /// The root it was found under.
    pub root: u32,
    /// True if it is here only because others import it.
    pub imported: bool,
    /// The text or descriptor it was read from.
    pub origin: FileOrigin,
    /// Its names.
    pub strings: StringTable,
    /// The language it is written in.
    pub edition: Edition,
    /// Its `syntax` or `edition` statement.
    pub syntax: Option<SyntaxDecl>,
    /// Its `package` statement.
    pub package: Option<PackageDecl>,
    /// Its imports, in their order.
    pub imports: Vec<ImportDecl>,
    /// Options of the file.
    pub options: RawOptions,
    /// Options statements of bodies and brackets, gathered by element.
    pub option_ids: Vec<OptionId>,
    /// All messages; those of the top level first.
    pub messages: Vec<MessageDecl>,
    /// All fields and extensions; those of one message lie together.
    pub fields: Vec<FieldDecl>,
    /// All oneofs.
    pub oneofs: Vec<OneofDecl>,
    /// All enums; those of the top level first.
    pub enums: Vec<EnumDecl>,
    /// All values of enums.
    pub values: Vec<EnumValueDecl>,
    /// The services.
    pub services: Vec<ServiceDecl>,
    /// All methods.
    pub methods: Vec<MethodDecl>,
    /// All extension ranges and reserved ranges.
    pub ranges: Vec<RangeDecl>,
    /// All reserved names.
    pub reserved_names: Vec<ReservedNameDecl>,
    /// The messages of the top level.
    pub top_messages: Slice,
    /// The enums of the top level.
    pub top_enums: Slice,
    /// The extensions of the top level.
    pub top_extensions: Slice,
    /// The problems of the file by itself, before linking.
    pub problems: Vec<LocalProblem>,
    /// True if its text is one that the grammar allows, of an edition that is known. Of a file that
    /// does not parse, whatever was recovered is a guess; [`FileDecl::parse`] leaves no more than
    /// its package.
    pub parses: bool,
    /// The lines of the text, found when first asked for.
    pub(crate) line_index: OnceLock<LineIndex>,
    /// The simple names of its types and services, gathered when first asked for.
    pub(crate) type_names: OnceLock<BTreeSet<Box<str>>>,
}

/// A [`Problem`](crate::problem::Problem) of a file that is not yet in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalProblem {
    /// The kind of defect.
    pub kind: ProblemKind,
    /// Its place.
    pub span: Span,
    /// One lower-case phrase.
    pub message: String,
    /// Other places that explain it.
    pub labels: Vec<(Span, String)>,
    /// Advice on how to mend it.
    pub help: Option<String>,
}

/// A `syntax` or `edition` statement.
#[derive(Clone, Copy, Debug)]
pub struct SyntaxDecl {
    /// Its place.
    pub node: Node,
}

/// A `package` statement.
#[derive(Clone, Copy, Debug)]
pub struct PackageDecl {
    /// The dotted name.
    pub name: Name,
    /// Its place.
    pub node: Node,
}

/// An import.
#[derive(Clone, Debug)]
pub struct ImportDecl {
    /// The path of the imported file.
    pub path: Box<str>,
    /// The kind of the import.
    pub kind: ImportKind,
    /// Its place.
    pub node: Node,
}

/// The options of an element, not interpreted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RawOptions {
    /// None.
    #[default]
    None,
    /// Options of the syntax tree: a part of [`FileDecl::option_ids`].
    Syntax(Slice),
    /// A serialised options message: a part of the file's bytes.
    Wire(Span),
}

/// The parent of a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parent {
    /// The file.
    File,
    /// A message, by its index.
    Message(u32),
}

/// The statement that a message comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// It is written as a message.
    Plain,
    /// It is the type of a group.
    Group,
    /// It is the synthesised entry of a map field.
    MapEntry,
}

/// A message.
#[derive(Clone, Debug)]
pub struct MessageDecl {
    /// Its simple name.
    pub name: Name,
    /// Its place; for a map entry [`Node::NONE`].
    pub node: Node,
    /// Its parent.
    pub parent: Parent,
    /// The statement that it comes from.
    pub kind: MessageKind,
    /// `export` or `local`.
    pub visibility: Option<Visibility>,
    /// Its fields, in [`FileDecl::fields`].
    pub fields: Slice,
    /// Extensions declared inside it, in [`FileDecl::fields`].
    pub extensions: Slice,
    /// Its oneofs, written ones first, then those of `optional` in proto3.
    pub oneofs: Slice,
    /// Messages declared inside it, synthesised ones included.
    pub messages: Slice,
    /// Enums declared inside it.
    pub enums: Slice,
    /// Its extension ranges, in [`FileDecl::ranges`].
    pub extension_ranges: Slice,
    /// Its reserved ranges, in [`FileDecl::ranges`].
    pub reserved_ranges: Slice,
    /// Its reserved names.
    pub reserved_names: Slice,
    /// Its options.
    pub options: RawOptions,
}

/// The type of a field as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeDecl {
    /// A scalar type.
    Scalar(Scalar),
    /// A message or an enum, by a name that is not yet resolved.
    Named(Name),
    /// A group: a message of the same file, by its index.
    Group(u32),
    /// A group of a descriptor, by its name.
    GroupNamed(Name),
    /// A map: its entry, a message of the same file, by its index.
    Map(u32),
}

/// The scalar types of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "each is named as in the language")]
pub enum Scalar {
    Double,
    Float,
    Int64,
    Uint64,
    Int32,
    Fixed64,
    Fixed32,
    Bool,
    String,
    Bytes,
    Uint32,
    Sfixed32,
    Sfixed64,
    Sint32,
    Sint64,
}

impl Scalar {
    const ALL: [(Scalar, &'static str, i32); 15] = [
        (Scalar::Double, "double", 1),
        (Scalar::Float, "float", 2),
        (Scalar::Int64, "int64", 3),
        (Scalar::Uint64, "uint64", 4),
        (Scalar::Int32, "int32", 5),
        (Scalar::Fixed64, "fixed64", 6),
        (Scalar::Fixed32, "fixed32", 7),
        (Scalar::Bool, "bool", 8),
        (Scalar::String, "string", 9),
        (Scalar::Bytes, "bytes", 12),
        (Scalar::Uint32, "uint32", 13),
        (Scalar::Sfixed32, "sfixed32", 15),
        (Scalar::Sfixed64, "sfixed64", 16),
        (Scalar::Sint32, "sint32", 17),
        (Scalar::Sint64, "sint64", 18),
    ];

    /// The keywords of all of them.
    pub fn iter_keywords() -> impl Iterator<Item = &'static str> {
        Scalar::ALL.iter().map(|row| row.1)
    }

    /// The type with this keyword.
    pub fn from_keyword(word: &str) -> Option<Scalar> {
        Scalar::ALL.iter().find(|row| row.1 == word).map(|row| row.0)
    }

    /// The type with this number in `FieldDescriptorProto.Type`.
    pub fn from_number(number: i32) -> Option<Scalar> {
        Scalar::ALL.iter().find(|row| row.2 == number).map(|row| row.0)
    }

    /// The keyword of the type.
    pub fn keyword(self) -> &'static str {
        Scalar::ALL[self as usize].1
    }

    /// The number of the type in `FieldDescriptorProto.Type`.
    pub fn number(self) -> i32 {
        Scalar::ALL[self as usize].2
    }
}

/// A field or an extension.
#[derive(Clone, Debug)]
pub struct FieldDecl {
    /// Its name; for a group the lower-cased name of its type.
    pub name: Name,
    /// Its place.
    pub node: Node,
    /// Its number.
    pub number: i32,
    /// The label as it is written.
    pub label: Option<FieldLabel>,
    /// Its type as it is written.
    pub ty: TypeDecl,
    /// The message it is declared in; for an extension its scope only.
    pub parent: Parent,
    /// The oneof it is a member of, an index in [`FileDecl::oneofs`].
    pub oneof: Option<u32>,
    /// True if it is `optional` in proto3 and so the member of a synthesised
    /// oneof.
    pub proto3_optional: bool,
    /// Facts that few fields have.
    pub extras: Option<Box<FieldExtras>>,
    /// Its options, without `default` and `json_name`.
    pub options: RawOptions,
}

/// Facts that few fields have.
#[derive(Clone, Debug)]
pub struct FieldExtras {
    /// For an extension, the type it extends.
    pub extendee: Option<Name>,
    /// Its default in the notation of `FieldDescriptorProto.default_value`; that
    /// of a string need not be UTF-8.
    pub default: Option<Box<[u8]>>,
    /// Its JSON name, where that is set and not derived.
    pub json_name: Option<Box<str>>,
}

impl FieldExtras {
    /// `None` where a field has none of them.
    pub(crate) fn new(
        extendee: Option<Name>,
        default: Option<Box<[u8]>>,
        json_name: Option<Box<str>>,
    ) -> Option<Box<FieldExtras>> {
        let any = extendee.is_some() || default.is_some() || json_name.is_some();
        any.then(|| Box::new(FieldExtras { extendee, default, json_name }))
    }
}

impl FieldDecl {
    /// For an extension, the type it extends.
    pub fn extendee(&self) -> Option<Name> {
        self.extras.as_ref()?.extendee
    }

    /// Its default in the notation of `FieldDescriptorProto.default_value`; that
    /// of a string need not be UTF-8.
    pub fn default(&self) -> Option<&[u8]> {
        self.extras.as_ref()?.default.as_deref()
    }

    /// Its JSON name, where that is set and not derived.
    pub fn json_name(&self) -> Option<&str> {
        self.extras.as_ref()?.json_name.as_deref()
    }
}

/// A oneof.
#[derive(Clone, Debug)]
pub struct OneofDecl {
    /// Its name.
    pub name: Name,
    /// Its place; [`Node::NONE`] for one of an `optional` field.
    pub node: Node,
    /// The message that holds it, by its index.
    pub message: u32,
    /// True if it stands for `optional` in proto3.
    pub synthetic: bool,
    /// Its options.
    pub options: RawOptions,
}

/// An enum.
#[derive(Clone, Debug)]
pub struct EnumDecl {
    /// Its simple name.
    pub name: Name,
    /// Its place.
    pub node: Node,
    /// Its parent.
    pub parent: Parent,
    /// `export` or `local`.
    pub visibility: Option<Visibility>,
    /// Its values.
    pub values: Slice,
    /// Its reserved ranges; their ends are inclusive.
    pub reserved_ranges: Slice,
    /// Its reserved names.
    pub reserved_names: Slice,
    /// Its options.
    pub options: RawOptions,
}

/// A value of an enum.
#[derive(Clone, Debug)]
pub struct EnumValueDecl {
    /// Its name.
    pub name: Name,
    /// Its place.
    pub node: Node,
    /// Its number.
    pub number: i32,
    /// Its enum, by its index.
    pub parent: u32,
    /// Its options.
    pub options: RawOptions,
}

/// A service.
#[derive(Clone, Debug)]
pub struct ServiceDecl {
    /// Its name.
    pub name: Name,
    /// Its place.
    pub node: Node,
    /// Its methods.
    pub methods: Slice,
    /// Its options.
    pub options: RawOptions,
}

/// A method.
#[derive(Clone, Debug)]
pub struct MethodDecl {
    /// Its name.
    pub name: Name,
    /// Its place.
    pub node: Node,
    /// Its service, by its index.
    pub service: u32,
    /// The request type as it is written.
    pub input: Name,
    /// The response type as it is written.
    pub output: Name,
    /// True if the client streams.
    pub client_streaming: bool,
    /// True if the server streams.
    pub server_streaming: bool,
    /// Its options.
    pub options: RawOptions,
}

/// An extension range or a reserved range. The start is inclusive; the end is
/// exclusive in messages and inclusive in enums, as in descriptor.proto.
#[derive(Clone, Debug)]
pub struct RangeDecl {
    /// The first number.
    pub start: i32,
    /// The end.
    pub end: i32,
    /// From its first token to its last.
    pub span: Span,
    /// The statement it stands in.
    pub node: Node,
    /// Options of an extension range.
    pub options: RawOptions,
}

/// A reserved name.
#[derive(Clone, Debug)]
pub struct ReservedNameDecl {
    /// The name.
    pub name: Name,
    /// Its place.
    pub span: Span,
}

impl FileDecl {
    /// The name of its package; empty where it has no `package` statement.
    pub fn package_name(&self) -> &str {
        self.package.map_or("", |package| self.str(package.name))
    }

    /// A file that declares nothing yet, for whoever reads it to fill.
    pub(crate) fn new_empty(origin: FileOrigin, strings: StringTable) -> FileDecl {
        FileDecl {
            path: "".into(),
            display: "".into(),
            root: 0,
            imported: false,
            origin,
            strings,
            edition: Edition::Proto2,
            syntax: None,
            package: None,
            imports: Vec::new(),
            options: RawOptions::None,
            option_ids: Vec::new(),
            messages: Vec::new(),
            fields: Vec::new(),
            oneofs: Vec::new(),
            enums: Vec::new(),
            values: Vec::new(),
            services: Vec::new(),
            methods: Vec::new(),
            ranges: Vec::new(),
            reserved_names: Vec::new(),
            top_messages: Slice::default(),
            top_enums: Slice::default(),
            top_extensions: Slice::default(),
            problems: Vec::new(),
            parses: true,
            line_index: OnceLock::new(),
            type_names: OnceLock::new(),
        }
    }

    /// Gives back the room that growing left unused.
    pub(crate) fn shrink(&mut self) {
        self.strings.extra.shrink_to_fit();
        self.imports.shrink_to_fit();
        self.option_ids.shrink_to_fit();
        self.messages.shrink_to_fit();
        self.fields.shrink_to_fit();
        self.oneofs.shrink_to_fit();
        self.enums.shrink_to_fit();
        self.values.shrink_to_fit();
        self.services.shrink_to_fit();
        self.methods.shrink_to_fit();
        self.ranges.shrink_to_fit();
        self.reserved_names.shrink_to_fit();
    }

    /// Returns true if it is what [`FileDecl::parse`] makes of this file.
    pub fn is_of(&self, file: &SourceFile) -> bool {
        self.path == file.path
            && self.display == file.display
            && (self.root, self.imported) == (file.root, file.imported)
            && self.source_text().is_some_and(|text| *text == *file.text)
    }

    /// The bytes of the source text; `None` for a descriptor.
    pub fn source_text(&self) -> Option<&[u8]> {
        match self.origin {
            FileOrigin::Source(_) => Some(self.strings.text()),
            FileOrigin::Descriptor(_) => None,
        }
    }

    /// The first and last line and column of a place in this file (the end is
    /// exclusive); `None` where a descriptor has no source info for it.
    pub fn line_range(&self, span: Span) -> Option<(Position, Position)> {
        match &self.origin {
            FileOrigin::Source(_) => {
                let text = self.strings.text();
                let index = self.line_index();
                Some((index.position(text, span.start), index.position(text, span.end)))
            }
            FileOrigin::Descriptor(locations) => locations.lines(span),
        }
    }

    /// A span that lies inside those of everything that encloses it. In a text that
    /// is the span itself.
    pub fn widen_to_comments(&self, span: Span) -> Span {
        match &self.origin {
            FileOrigin::Source(_) => span,
            FileOrigin::Descriptor(locations) => locations.extent(span),
        }
    }

    /// Returns true if a message, an enum or a service has this simple name, at whatever
    /// depth.
    pub fn declares_type(&self, name: &str) -> bool {
        let names = self.type_names.get_or_init(|| {
            let messages = self.messages.iter().map(|it| it.name);
            let enums = self.enums.iter().map(|it| it.name);
            let services = self.services.iter().map(|it| it.name);
            messages.chain(enums).chain(services).map(|it| self.str(it).into()).collect()
        });
        names.contains(name)
    }

    /// The lines of the text.
    pub fn line_index(&self) -> &LineIndex {
        self.line_index.get_or_init(|| LineIndex::new(self.strings.text()))
    }

    /// The syntax tree, where the file was read from source.
    pub fn ast(&self) -> Option<&Ast> {
        match &self.origin {
            FileOrigin::Source(ast) => Some(ast),
            FileOrigin::Descriptor(_) => None,
        }
    }

    /// Returns the place of a part of an element; the whole element where it has no
    /// such part.
    pub fn span(&self, node: Node, part: Part) -> Span {
        match &self.origin {
            FileOrigin::Source(ast) => {
                part_span::find_part_span(ast, self.strings.text(), node, part)
            }
            FileOrigin::Descriptor(locations) => locations.span(node, part),
        }
    }

    /// The characters of a name.
    #[inline]
    pub fn str(&self, name: Name) -> &str {
        self.strings.get(name)
    }
}
