//! Type-checks and evaluates expressions in the Common Expression Language.
//!
//! Two kinds of expression come here: those of protovalidate, which are part of a schema, and
//! those of rules that a configuration declares, over values of the program ([`HostType`]).
//! Of the first, a runtime refuses to validate any value of a message with an expression that does
//! not compile, so what this module refuses is what every runtime refuses. What only
//! values decide has the type [`CelType::Dyn`] and passes. The second kind has the extensions
//! of cel-go besides, and no time.
//!
//! Sources: <https://github.com/google/cel-spec/blob/master/doc/langdef.md>, and the
//! functions that protovalidate adds. The environment of the first is that of `buf lint` 1.75:
//! numbers of different types are ordered but not equal, and there are no optional
//! values.

mod ast;
mod checker;
mod evaluate;
mod extensions;
mod format;
mod functions;
mod host;
mod lexer;
mod literal;
mod parser;
mod patterns;
mod standard;
mod steps;
#[cfg(test)]
mod tests;
mod types;
mod value;

use std::ops::Range;

use abide_schema::Tree;

pub use self::evaluate::Library;
use self::functions::FunctionSet;
pub use self::host::{HostMember, HostType, HostValue};
pub use self::patterns::PatternCache;
pub use self::types::CelType;
pub use self::value::{CelValue, Held, Outcome};

/// A name that is not known, and those that are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// The name as it is written.
    pub name: String,
    /// The names that could stand there.
    pub known: Vec<String>,
}

/// The reason for which an expression does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CelError {
    /// One lower-case phrase.
    pub message: String,
    /// The bytes of the expression that are wrong; empty at its end.
    pub span: Range<usize>,
    /// Of a name that is not known, those that are in its place.
    pub unknown: Option<UnknownName>,
}

impl CelError {
    /// An error at a place.
    pub fn new(span: Range<usize>, message: impl Into<String>) -> CelError {
        CelError { message: message.into(), span, unknown: None }
    }

    /// Adds which names are known in place of one that is not.
    fn suggest<'n>(self, name: &str, known: impl Iterator<Item = &'n str>) -> CelError {
        let known = known.map(str::to_owned).collect();
        CelError { unknown: Some(UnknownName { name: name.to_owned(), known }), ..self }
    }
}

/// The type of an expression of protovalidate with these variables. `now` is always declared.
pub(crate) fn check_type(
    tree: &Tree,
    expression: &str,
    variables: &[(&str, CelType)],
) -> Result<CelType, CelError> {
    let parsed = parser::parse(expression)?;
    checker::Checker::new(tree, FunctionSet::Validation, variables).type_of(&parsed)
}

/// Returns a value as a text shows it: a list with commas between its items, an element by its name.
pub fn show_value(value: &CelValue<'_>) -> Result<String, String> {
    format::show(value, &steps::StepBudget::new(steps::MAX_STEPS))
}

/// An expression that compiles.
#[derive(Debug)]
pub struct Program {
    expr: ast::Expr,
    /// The type of its value.
    ty: CelType,
}

impl Program {
    /// Compiles an expression of protovalidate with these variables.
    pub(crate) fn compile(
        tree: &Tree,
        expression: &str,
        variables: &[(&str, CelType)],
    ) -> Result<Program, CelError> {
        Program::compile_with(tree, FunctionSet::Validation, expression, variables)
    }

    /// Compiles an expression of a rule: with the extensions of cel-go, and without the time.
    /// A pattern that is written in it must be one.
    pub fn compile_rule(
        tree: &Tree,
        expression: &str,
        variables: &[(&str, CelType)],
    ) -> Result<Program, CelError> {
        let program = Program::compile_with(tree, FunctionSet::Rules, expression, variables)?;
        patterns::check_patterns(&program.expr)?;
        Ok(program)
    }

    fn compile_with(
        tree: &Tree,
        functions: FunctionSet,
        expression: &str,
        variables: &[(&str, CelType)],
    ) -> Result<Program, CelError> {
        let expr = parser::parse(expression)?;
        let ty = checker::Checker::new(tree, functions, variables).type_of(&expr)?;
        Ok(Program { expr, ty })
    }

    /// The type of its value.
    pub fn ty(&self) -> &CelType {
        &self.ty
    }

    /// Returns what it gives for these variables, or why that cannot be said. The time is not
    /// known.
    pub(crate) fn run<'v>(
        &self,
        tree: &Tree,
        library: &dyn Library,
        variables: &[(&str, CelValue<'v>)],
    ) -> Outcome<'v> {
        self.run_counted(tree, library, variables).0
    }

    /// The same with how many steps it took. They do not depend on the machine.
    pub fn run_counted<'v>(
        &self,
        tree: &Tree,
        library: &dyn Library,
        variables: &[(&str, CelValue<'v>)],
    ) -> (Outcome<'v>, usize) {
        let most = steps::MAX_STEPS;
        let mut run = evaluate::Evaluation::new(tree, library, variables.to_vec(), most);
        let outcome = run.evaluate(&self.expr);
        (outcome, most - run.steps_left())
    }
}
