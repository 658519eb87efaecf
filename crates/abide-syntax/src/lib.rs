//! Bytes of a `.proto` file to a lossless syntax tree, and nothing else: no
//! name is linked, no file is read.
//!
//! [`parse`] never fails. It returns an [`Ast`] of everything that could be
//! understood and the [`SyntaxError`]s it met on the way. Every node carries
//! byte [`Span`]s into the text, so comments and white space are reached from
//! the tree without being stored in it.

mod ast;
mod comments;
mod foreign;
mod gap;
mod lexer;
mod literal;
mod parser;
mod span;

pub use ast::{
    Ast, Decl, DeclId, DeclKind, FieldNode, ImportKind, KeyForm, Label, MapId, MapNode, MethodId,
    MethodNode, NamePart, OptionId, OptionNode, RangeEnd, RangeNode, Slice, ValueId, ValueKind,
    ValueNode, Visibility, dotted_name,
};
pub use comments::{Comment, Comments, comments_between};
pub use gap::{Gap, Run};
pub use lexer::{Lexer, Token, TokenKind, text_start};
pub use literal::{LiteralError, Number, sign_and_digits, unescape, unescape_all};
pub use parser::{
    MAX_ERRORS, MAX_MESSAGE_NESTING, MAX_VALUE_NESTING, SyntaxError, parse, parse_fields,
};
pub use span::{LineIndex, Position, Span};
