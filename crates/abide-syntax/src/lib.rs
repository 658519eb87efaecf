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
    Ast, Decl, DeclId, DeclKind, FieldLabel, FieldNode, ImportKind, KeyForm, MapId, MapNode,
    MethodId, MethodNode, NamePart, OptionId, OptionNode, RangeEnd, RangeNode, Slice, ValueId,
    ValueKind, ValueNode, Visibility, join_dotted_name,
};
pub use comments::{Comment, CommentIter, find_comments};
pub use gap::{CommentBlock, CommentGap};
pub use lexer::{Lexer, Token, TokenKind, skip_byte_order_mark};
pub use literal::{LiteralError, NumberLiteral, split_sign, unescape, unescape_all};
pub use parser::{
    MAX_ERRORS, MAX_MESSAGE_NESTING, MAX_VALUE_NESTING, SyntaxError, parse, parse_fields,
};
pub use span::{LineIndex, Position, Span};
