//! Expressions with their places.

use std::ops::Range;
use std::sync::Arc;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expr {
    pub(super) kind: ExprKind,
    /// The bytes that it was read from.
    pub(super) span: Range<usize>,
    /// The depth to which expressions nest in it.
    pub(super) depth: u32,
}

/// The kind of an expression. Operators are calls of functions named as in cel-go, such
/// as `_+_`. A chain of `&&` or `||` is one call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ExprKind {
    Null,
    Bool(bool),
    /// The least integer is read as if it had a sign already.
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Arc<str>),
    Bytes(Arc<[u8]>),
    /// A name; `rooted` if a dot stands before it, so that it names no local variable.
    Ident {
        name: String,
        rooted: bool,
    },
    Select {
        operand: Box<Expr>,
        field: String,
    },
    Call {
        function: String,
        target: Option<Box<Expr>>,
        arguments: Vec<Expr>,
    },
    List(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    /// A message with its fields.
    Struct {
        name: String,
        fields: Vec<(String, Range<usize>, Expr)>,
    },
}

impl Expr {
    /// The first part of the dotted name that it spells, if it is one.
    pub(super) fn first_name(&self) -> Option<&str> {
        let mut expr = self;
        loop {
            match &expr.kind {
                ExprKind::Ident { name, .. } => return Some(name),
                ExprKind::Select { operand, .. } => expr = operand,
                _ => return None,
            }
        }
    }

    /// The dotted name that it spells, if it is one.
    pub(super) fn qualified_name(&self) -> Option<String> {
        let mut parts = Vec::new();
        let mut expr = self;
        loop {
            match &expr.kind {
                ExprKind::Ident { name, .. } => {
                    parts.push(name.as_str());
                    parts.reverse();
                    return Some(parts.join("."));
                }
                ExprKind::Select { operand, field } => {
                    parts.push(field);
                    expr = operand;
                }
                _ => return None,
            }
        }
    }
}
