//! The syntax tree: flat arenas of small nodes, with byte spans into the text.
//!
//! Declarations lie in pre-order: the children of a node follow it, and
//! [`Decl::end`] is the index one past its last descendant. Walking the arena
//! from front to back visits a file from top to bottom.

use std::num::NonZeroU32;

use crate::lexer::{Lexer, TokenKind, is_word};
use crate::span::Span;

/// Index of a declaration in [`Ast::decls`].
pub type DeclId = u32;
/// Index of a map field in [`Ast::maps`].
pub type MapId = u32;
/// Index of a method in [`Ast::methods`].
pub type MethodId = u32;
/// Index of an option in [`Ast::options`].
pub type OptionId = u32;
/// Index of a value in [`Ast::values`].
pub type ValueId = u32;

/// A contiguous part of an arena.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// Index of the first.
    pub start: u32,
    /// One past the last.
    pub end: u32,
}

impl Slice {
    /// The part as an index.
    pub const fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The syntax tree of one file.
#[derive(Clone, Debug, Default)]
pub struct Ast {
    /// Every declaration, in pre-order.
    pub decls: Vec<Decl>,
    /// Those of `extend` blocks, in order.
    pub extends: Vec<DeclId>,
    /// The parts of map fields.
    pub maps: Vec<MapNode>,
    /// The parts of methods.
    pub methods: Vec<MethodNode>,
    /// Every option: statements and those in brackets.
    pub options: Vec<OptionNode>,
    /// The parts of option names.
    pub name_parts: Vec<NamePart>,
    /// The values of options, in pre-order like the declarations.
    pub values: Vec<ValueNode>,
    /// Ranges of `extensions` and `reserved`.
    pub ranges: Vec<RangeNode>,
    /// From the first token of the file to the end of its last; empty for a
    /// file without tokens.
    pub span: Span,
    /// The end of the text, after the white space and comments behind the last token.
    pub end: u32,
}

/// A declaration. Large trees have hundreds of thousands, most of them fields.
/// To keep this small, the parts of rarer and larger ones are stored elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Decl {
    /// The kind of the declaration, with the spans of its parts.
    pub kind: DeclKind,
    /// From its first token to its last, `;` or `}` included.
    pub span: Span,
    /// End of the token before it: its comments begin here.
    pub gap: u32,
    /// One past its last descendant in [`Ast::decls`].
    pub end: DeclId,
}

/// The modifier of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ImportKind {
    /// `import "…";`
    Plain,
    /// `import public "…";`
    Public,
    /// `import weak "…";`
    Weak,
    /// `import option "…";` (edition 2024): for custom options only.
    Option,
}

/// `export` or `local` before a message or enum (edition 2024).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// `export`.
    Export,
    /// `local`.
    Local,
}

/// The label of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldLabel {
    /// `optional`.
    Optional,
    /// `required`.
    Required,
    /// `repeated`.
    Repeated,
}

impl FieldLabel {
    /// Returns the span of the label: the first token of the declaration. The three words
    /// have the same length.
    pub const fn span(self, decl: &Decl) -> Span {
        Span::new(decl.span.start, decl.span.start + 8)
    }
}

/// The kind of a declaration. Spans of missing parts are empty.
#[derive(Clone, Copy, Debug)]
pub enum DeclKind {
    /// `syntax = "proto3";` or `edition = "2023";`
    Syntax {
        /// True if the keyword is `edition`.
        edition: bool,
        /// The string literal.
        value: Span,
    },
    /// `package a.b;`
    Package {
        /// The dotted name; white space and comments may stand inside.
        name: Span,
    },
    /// `import "a.proto";`
    Import {
        /// The kind of the import.
        kind: ImportKind,
        /// The word `public`, `weak` or `option`.
        modifier: Span,
        /// The string literal.
        path: Span,
    },
    /// `option name = value;`
    Option(OptionId),
    /// `message Name { … }`
    Message {
        /// Its name.
        name: Span,
        /// `export` or `local`, and where.
        visibility: Option<(Visibility, Span)>,
        /// From `{` to `}`.
        body: Span,
    },
    /// `enum Name { … }`
    Enum {
        /// Its name.
        name: Span,
        /// `export` or `local`, and where.
        visibility: Option<(Visibility, Span)>,
        /// From `{` to `}`.
        body: Span,
    },
    /// `service Name { … }`
    Service {
        /// Its name.
        name: Span,
        /// From `{` to `}`.
        body: Span,
    },
    /// `extend Type { … }`
    Extend {
        /// The type that is extended.
        extendee: Span,
        /// From `{` to `}`.
        body: Span,
    },
    /// `oneof name { … }`
    Oneof {
        /// Its name.
        name: Span,
        /// From `{` to `}`.
        body: Span,
    },
    /// A field, with a group's declarations as its children.
    Field(FieldNode),
    /// `map<K, V> name = n;`
    MapField(MapId),
    /// `NAME = n;` in an enum.
    EnumValue {
        /// Its name.
        name: Span,
        /// The number, sign included.
        number: Span,
        /// Its options, in [`Ast::options`].
        options: Slice,
    },
    /// `rpc Name(In) returns (Out);`, with `option` statements as children.
    Method(MethodId),
    /// `extensions 4 to max [ … ];`
    Extensions {
        /// Its ranges.
        ranges: Slice,
        /// Options that hold for each of them, in [`Ast::options`].
        options: Slice,
    },
    /// `reserved 4, 8 to 11;` in a message or an enum.
    ReservedNumbers {
        /// Its ranges.
        ranges: Slice,
    },
    /// `reserved "a", "b";` or, in editions, `reserved a, b;`
    ReservedNames {
        /// One range of a single place for each name.
        names: Slice,
        /// True if the names are string literals.
        quoted: bool,
    },
    /// A lone `;`.
    Empty,
    /// Text that could not be understood; an error says why.
    Error,
}

/// The parts of a field.
#[derive(Clone, Copy, Debug)]
pub struct FieldNode {
    /// Its label.
    pub label: Option<FieldLabel>,
    /// Its type; for a group the word `group`.
    pub ty: Span,
    /// Its name.
    pub name: Span,
    /// Its number.
    pub number: Span,
    /// Its options, in [`Ast::options`].
    pub options: Slice,
    /// For a group, where its `{` stands.
    pub group: Option<NonZeroU32>,
}

impl FieldNode {
    /// For a group, from `{` to `}`, which is the end of its declaration.
    pub fn body(self, decl: &Decl) -> Option<Span> {
        self.group.map(|start| Span::new(start.get(), decl.span.end))
    }
}

/// The parts of a map field.
#[derive(Clone, Copy, Debug)]
pub struct MapNode {
    /// A label, which is an error.
    pub label: Option<FieldLabel>,
    /// From `map` to `>`.
    pub ty: Span,
    /// The type of the keys.
    pub key: Span,
    /// The type of the values.
    pub value: Span,
    /// Its name.
    pub name: Span,
    /// Its number.
    pub number: Span,
    /// Its options, in [`Ast::options`].
    pub options: Slice,
}

/// The parts of a method.
#[derive(Clone, Copy, Debug)]
pub struct MethodNode {
    /// Its name.
    pub name: Span,
    /// The type of the request.
    pub input: Span,
    /// The type of the response.
    pub output: Span,
    /// The word `stream` before the request type.
    pub client_streaming: Option<Span>,
    /// The word `stream` before the response type.
    pub server_streaming: Option<Span>,
    /// From `{` to `}`, where it has a body.
    pub body: Option<Span>,
}

/// One option.
#[derive(Clone, Copy, Debug)]
pub struct OptionNode {
    /// In brackets from name to value; as a statement from `option` to `;`.
    pub span: Span,
    /// The whole name.
    pub name: Span,
    /// Its parts, in [`Ast::name_parts`].
    pub parts: Slice,
    /// Its value, in [`Ast::values`].
    pub value: ValueId,
}

/// One part of an option's name: `b` or `(c.d)` of `(c.d).b`.
#[derive(Clone, Copy, Debug)]
pub struct NamePart {
    /// The part, parentheses included.
    pub span: Span,
    /// The name inside the parentheses, or the part itself.
    pub name: Span,
    /// True if it stands in parentheses and so names an extension.
    pub extension: bool,
}

/// One node of a value.
#[derive(Clone, Copy, Debug)]
pub struct ValueNode {
    /// Its kind.
    pub kind: ValueKind,
    /// From its first token to its last.
    pub span: Span,
    /// One past its last descendant in [`Ast::values`].
    pub end: ValueId,
}

/// The kind of a node of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// An identifier: `true`, an enum value, `inf`. A sign may stand before it.
    Ident {
        /// True if `-` stands before it.
        negative: bool,
        /// The word itself.
        word: Span,
    },
    /// An integer.
    Int {
        /// True if `-` stands before it.
        negative: bool,
        /// The digits.
        digits: Span,
    },
    /// A float.
    Float {
        /// True if `-` stands before it.
        negative: bool,
        /// The digits.
        digits: Span,
    },
    /// One or more adjacent string literals.
    String,
    /// `{ … }` or `< … >`; its children are [`ValueKind::Field`]s.
    Message,
    /// `[ … ]`; its children are the elements.
    List,
    /// `key: value` in a message; its one child is the value.
    Field {
        /// The key: `name`, `[ext.name]` or `[host/type.name]`, brackets
        /// included.
        key: Span,
        /// The form of the key.
        form: KeyForm,
    },
    /// Text that could not be understood; an error says why.
    Error,
}

/// The form of a key inside an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyForm {
    /// A field, or a group by its type name.
    Field,
    /// An extension, in brackets.
    Extension,
    /// The type of a `google.protobuf.Any`, in brackets with a host.
    AnyUrl,
}

/// The end of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeEnd {
    /// No `to`: the range is its start alone.
    Single,
    /// A number, sign included.
    Number(Span),
    /// The word `max`.
    Max(Span),
}

/// A range of numbers, or a reserved name.
#[derive(Clone, Copy, Debug)]
pub struct RangeNode {
    /// From its first token to its last.
    pub span: Span,
    /// The first number, sign included; or the name.
    pub start: Span,
    /// The end.
    pub end: RangeEnd,
}

impl Ast {
    /// Frees unused capacity. It copies, because an allocator that shrinks a
    /// block in place may keep up to half of it.
    pub fn shrink_to_fit(&mut self) {
        fn shrink<T: Copy>(items: &mut Vec<T>) {
            *items = items.as_slice().to_vec();
        }
        shrink(&mut self.decls);
        shrink(&mut self.maps);
        shrink(&mut self.methods);
        shrink(&mut self.options);
        shrink(&mut self.name_parts);
        shrink(&mut self.values);
        shrink(&mut self.ranges);
    }

    /// The direct children of `parent`, or the top level for `None`.
    pub fn children_of(&self, parent: Option<DeclId>) -> impl Iterator<Item = DeclId> + '_ {
        let (mut at, end) = match parent {
            None => (0, self.decls.len() as u32),
            Some(id) => (id + 1, self.decls[id as usize].end),
        };
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let id = at;
                at = self.decls[id as usize].end;
                id
            })
        })
    }

    /// The direct children of a value: fields of a message, elements of a
    /// list, the value of a field.
    pub fn value_children(&self, parent: ValueId) -> impl Iterator<Item = ValueId> + '_ {
        let mut at = parent + 1;
        let end = self.values[parent as usize].end;
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let id = at;
                at = self.values[id as usize].end;
                id
            })
        })
    }

    /// From `{` to `}`, where a declaration has them.
    pub fn body_of(&self, decl: &Decl) -> Option<Span> {
        match decl.kind {
            DeclKind::Message { body, .. }
            | DeclKind::Enum { body, .. }
            | DeclKind::Service { body, .. }
            | DeclKind::Extend { body, .. }
            | DeclKind::Oneof { body, .. } => Some(body),
            DeclKind::Field(node) => node.body(decl),
            DeclKind::Method(id) => self.methods[id as usize].body,
            _ => None,
        }
    }

    /// The parts of an option's name.
    pub fn name_parts(&self, option: &OptionNode) -> &[NamePart] {
        &self.name_parts[option.parts.range()]
    }
}

/// A dotted name with white space and comments taken out: `.a.b` of
/// `.a /* x */ . b`. `None` where the text already has that form.
pub fn join_dotted_name(text: &[u8], span: Span) -> Option<String> {
    let plain = |b: &u8| is_word(*b) || matches!(b, b'.' | b'/');
    if span.of(text).iter().all(plain) {
        return None;
    }
    let mut name = String::new();
    let mut lexer = Lexer::new(text, span.start);
    loop {
        let token = lexer.next_token();
        if token.kind == TokenKind::End || token.span.start >= span.end {
            return Some(name);
        }
        if !matches!(token.kind, TokenKind::NestedComment | TokenKind::NulInComment) {
            name.push_str(token.span.str(text));
        }
    }
}
