//! Type-checks and evaluates the expressions of protovalidate, in the Common Expression Language.
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
mod evaluate;
mod functions;
mod lexer;
mod literal;
mod parser;
mod standard;
#[cfg(test)]
mod tests;
mod types;
mod value;

use std::ops::Range;

use abide_schema::Tree;

pub(crate) use self::evaluate::{Library, Outcome};
pub(crate) use self::types::CelType;
pub(crate) use self::value::CelValue;

/// The reason for which an expression does not compile.
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
pub(crate) fn check_type(
    tree: &Tree,
    expression: &str,
    variables: &[(&str, CelType)],
) -> Result<CelType, CelError> {
    let parsed = parser::parse(expression)?;
    checker::Checker::new(tree, variables).type_of(&parsed)
}

/// An expression that compiles.
#[derive(Debug)]
pub(crate) struct Program {
    expr: ast::Expr,
}

impl Program {
    /// Compiles an expression with these variables.
    pub(crate) fn compile(
        tree: &Tree,
        expression: &str,
        variables: &[(&str, CelType)],
    ) -> Result<Program, CelError> {
        let expr = parser::parse(expression)?;
        checker::Checker::new(tree, variables).type_of(&expr)?;
        Ok(Program { expr })
    }

    /// Returns what it gives for these variables, or why that cannot be said. The time is not
    /// known.
    pub(crate) fn run<'v>(
        &self,
        tree: &Tree,
        library: &dyn Library,
        variables: &[(&str, CelValue<'v>)],
    ) -> Outcome<'v> {
        evaluate::Evaluation::new(tree, library, variables.to_vec()).evaluate(&self.expr)
    }
}
