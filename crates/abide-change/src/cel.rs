//! Type-checks the expressions of protovalidate, in the Common Expression Language.
//!
//! A runtime refuses to validate any value of a message with an expression that does
//! not compile, so what this module refuses is what every runtime refuses. What only
//! values decide has the type [`CelType::Dyn`] and passes.
//!
//! Sources: <https://github.com/google/cel-spec/blob/master/doc/langdef.md>, and the
//! functions that protovalidate adds. The environment is that of `buf lint` 1.75:
//! numbers of different types are ordered but not equal, and there are no optional
//! values.

mod ast;
mod checker;
mod functions;
mod lexer;
mod parser;
#[cfg(test)]
mod tests;
mod types;

use std::ops::Range;

use abide_schema::Tree;

pub(crate) use self::types::CelType;

/// Why an expression does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CelError {
    /// One lower-case phrase.
    pub(crate) message: String,
    /// The bytes of the expression that are wrong; empty at its end.
    pub(crate) span: Range<usize>,
}

impl CelError {
    fn new(span: Range<usize>, message: impl Into<String>) -> CelError {
        CelError { message: message.into(), span }
    }
}

/// The type of an expression with these variables. `now` is always declared.
pub(crate) fn type_of(
    tree: &Tree,
    expression: &str,
    variables: &[(&str, CelType)],
) -> Result<CelType, CelError> {
    let parsed = parser::parse(expression)?;
    checker::Checker::new(tree, variables).type_of(&parsed)
}
