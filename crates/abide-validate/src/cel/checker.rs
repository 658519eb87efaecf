//! The types of expressions.

use std::ops::Range;

use abide_schema::Tree;

use super::CelError;
use super::ast::{Expr, ExprKind};
use super::functions::{self, FunctionSet, is_operator};
use super::types::{CelType, find_enum_value, find_message};

/// Types that a name alone means.
const TYPE_NAMES: &[&str] = &[
    "bool",
    "bytes",
    "double",
    "google.protobuf.Duration",
    "google.protobuf.Timestamp",
    "int",
    "list",
    "map",
    "null_type",
    "string",
    "type",
    "uint",
];

/// Finds the types of expressions of one place.
pub(super) struct Checker<'t> {
    tree: &'t Tree,
    functions: FunctionSet,
    /// The variables in scope, the innermost last.
    variables: Vec<(String, CelType)>,
}

impl<'t> Checker<'t> {
    /// Only what validates values knows the time.
    pub(super) fn new(
        tree: &'t Tree,
        functions: FunctionSet,
        variables: &[(&str, CelType)],
    ) -> Checker<'t> {
        let now = match functions {
            FunctionSet::Validation => Some(("now".to_owned(), CelType::Timestamp)),
            FunctionSet::Rules => None,
        };
        let named = variables.iter().map(|(name, ty)| ((*name).to_owned(), ty.clone()));
        Checker { tree, functions, variables: now.into_iter().chain(named).collect() }
    }

    /// The type of an expression. The parser limits how deep it nests.
    pub(super) fn type_of(&mut self, expr: &Expr) -> Result<CelType, CelError> {
        match &expr.kind {
            ExprKind::Null => Ok(CelType::Null),
            ExprKind::Bool(_) => Ok(CelType::Bool),
            ExprKind::Int(_) => Ok(CelType::Int),
            ExprKind::Uint(_) => Ok(CelType::Uint),
            ExprKind::Double(_) => Ok(CelType::Double),
            ExprKind::String(_) => Ok(CelType::String),
            ExprKind::Bytes(_) => Ok(CelType::Bytes),
            ExprKind::Ident { name, .. } => self.resolve_name(name, &expr.span),
            ExprKind::Select { operand, field } => self.select(expr, operand, field),
            ExprKind::Call { function, target, arguments } => {
                self.call(expr, function, target.as_deref(), arguments)
            }
            ExprKind::List(items) => Ok(CelType::list(self.join_types(items)?)),
            ExprKind::Map(entries) => {
                let (mut keys, mut values) = (None, None);
                for (key, value) in entries {
                    keys = Some(widen(keys, self.type_of(key)?));
                    values = Some(widen(values, self.type_of(value)?));
                }
                let known = |ty: Option<CelType>| ty.unwrap_or(CelType::Dyn);
                Ok(CelType::map(known(keys), known(values)))
            }
            ExprKind::Struct { name, fields } => self.check_construction(expr, name, fields),
        }
    }

    /// The type of the items of a list: dynamic if they differ.
    fn join_types(&mut self, items: &[Expr]) -> Result<CelType, CelError> {
        let mut joined = None;
        for item in items {
            joined = Some(widen(joined, self.type_of(item)?));
        }
        Ok(joined.unwrap_or(CelType::Dyn))
    }

    fn find_variable(&self, name: &str) -> Option<&CelType> {
        self.variables.iter().rev().find(|(it, _)| it == name).map(|(_, ty)| ty)
    }

    /// Returns what a dotted name means that is no field of a variable.
    fn find_constant(&self, name: &str) -> Option<CelType> {
        if TYPE_NAMES.contains(&name) || find_message(self.tree, name).is_some() {
            return Some(CelType::Type);
        }
        find_enum_value(self.tree, name).map(|_| CelType::Int)
    }

    fn resolve_name(&self, name: &str, span: &Range<usize>) -> Result<CelType, CelError> {
        let found = self.find_variable(name).cloned().or_else(|| self.find_constant(name));
        found.ok_or_else(|| {
            let known = self.variables.iter().map(|(name, _)| name.as_str());
            let message = format!("`{name}` is not declared");
            CelError::new(span.clone(), message).suggest(name, known)
        })
    }

    fn select(&mut self, expr: &Expr, operand: &Expr, field: &str) -> Result<CelType, CelError> {
        if let Some(name) = expr.qualified_name() {
            let first = name.split('.').next().unwrap_or_default();
            if self.find_variable(first).is_none()
                && let Some(constant) = self.find_constant(&name)
            {
                return Ok(constant);
            }
        }
        match self.type_of(operand)? {
            CelType::Dyn => Ok(CelType::Dyn),
            CelType::Map(key, value) if key.fits(&CelType::String) => Ok(*value),
            CelType::Message(id, name) => {
                let found = self.tree.message(id).field_named(field).map(CelType::of_field);
                let span = expr.span.end.saturating_sub(field.len())..expr.span.end;
                found.ok_or_else(|| CelError::new(span, format!("`{name}` has no field `{field}`")))
            }
            CelType::Host(host) => {
                let found = host.find_member(field).map(|it| (it.ty)());
                let span = expr.span.end.saturating_sub(field.len())..expr.span.end;
                found.ok_or_else(|| {
                    let message = format!("`{}` has no fact `{field}`", host.name);
                    let known = host.members.iter().map(|it| it.name);
                    CelError::new(span, message).suggest(field, known)
                })
            }
            other => {
                let message = format!("`{other}` has no fields");
                Err(CelError::new(operand.span.end..expr.span.end, message))
            }
        }
    }

    fn call(
        &mut self,
        expr: &Expr,
        function: &str,
        target: Option<&Expr>,
        arguments: &[Expr],
    ) -> Result<CelType, CelError> {
        if let Some(result) = self.check_macro(function, target, arguments) {
            return result;
        }
        if matches!(function, "_&&_" | "_||_") {
            for operand in arguments {
                self.expect_bool(operand)?;
            }
            return Ok(CelType::Bool);
        }
        // A function may have a dot in its name.
        let dotted = target.and_then(Expr::qualified_name).map(|it| format!("{it}.{function}"));
        let dotted = dotted.filter(|it| self.functions.has(it));
        let target = target.filter(|_| dotted.is_none());
        let function = dotted.as_deref().unwrap_or(function);
        if !is_operator(function) && !self.functions.has(function) {
            let name_at = target.map_or(expr.span.start, |it| it.span.end);
            let message = format!("there is no function `{function}`");
            let error = CelError::new(name_at..expr.span.end, message);
            return Err(error.suggest(function, self.functions.names()));
        }
        let mut types = Vec::with_capacity(arguments.len() + 1);
        for operand in target.into_iter().chain(arguments) {
            types.push(self.type_of(operand)?);
        }
        let found = if is_operator(function) {
            functions::find_operator(function, &types)
        } else {
            self.functions.find_result(function, target.is_some(), &types)
        };
        let refused =
            || CelError::new(expr.span.clone(), explain_refusal(function, target, &types));
        found.ok_or_else(refused)
    }

    fn expect_bool(&mut self, expr: &Expr) -> Result<(), CelError> {
        let found = self.type_of(expr)?;
        if found.may_be_bool() {
            return Ok(());
        }
        Err(CelError::new(expr.span.clone(), format!("expected `bool`, not `{found}`")))
    }

    /// The type of a macro; `None` if the call is not one.
    fn check_macro(
        &mut self,
        function: &str,
        target: Option<&Expr>,
        arguments: &[Expr],
    ) -> Option<Result<CelType, CelError>> {
        match (function, target, arguments) {
            ("has", None, [argument]) => Some(match &argument.kind {
                ExprKind::Select { .. } => self.type_of(argument).map(|_| CelType::Bool),
                _ => {
                    let message = "`has` takes a field of something, such as `this.name`";
                    Err(CelError::new(argument.span.clone(), message))
                }
            }),
            ("all" | "exists" | "exists_one" | "filter" | "map", Some(range), [item, body]) => {
                Some(self.check_comprehension(function, range, item, &[body]))
            }
            ("map", Some(range), [item, filter, body]) => {
                Some(self.check_comprehension(function, range, item, &[filter, body]))
            }
            (
                "bind",
                Some(Expr { kind: ExprKind::Ident { name, .. }, .. }),
                [item, value, body],
            ) if name == "cel" && self.functions == FunctionSet::Rules => {
                Some(self.check_binding(item, value, body))
            }
            _ => None,
        }
    }

    /// The type of `cel.bind(NAME, VALUE, BODY)`.
    fn check_binding(
        &mut self,
        item: &Expr,
        value: &Expr,
        body: &Expr,
    ) -> Result<CelType, CelError> {
        let ExprKind::Ident { name, rooted: false } = &item.kind else {
            return Err(CelError::new(item.span.clone(), "expected the name of a variable"));
        };
        let value = self.type_of(value)?;
        self.variables.push((name.clone(), value));
        let result = self.type_of(body);
        self.variables.pop();
        result
    }

    fn check_comprehension(
        &mut self,
        function: &str,
        range: &Expr,
        item: &Expr,
        bodies: &[&Expr],
    ) -> Result<CelType, CelError> {
        let ExprKind::Ident { name, rooted: false } = &item.kind else {
            return Err(CelError::new(item.span.clone(), "expected the name of a variable"));
        };
        let (item_type, whole) = match self.type_of(range)? {
            CelType::List(item) => ((*item).clone(), CelType::List(item)),
            CelType::Map(key, _) => ((*key).clone(), CelType::list(*key)),
            CelType::Dyn => (CelType::Dyn, CelType::list(CelType::Dyn)),
            other => {
                let message = format!("`{function}` takes a list or a map, not `{other}`");
                return Err(CelError::new(range.span.clone(), message));
            }
        };
        self.variables.push((name.clone(), item_type));
        let result = match (function, bodies) {
            ("map", [filters @ .., body]) => {
                let filtered = filters.iter().try_for_each(|it| self.expect_bool(it));
                filtered.and_then(|()| Ok(CelType::list(self.type_of(body)?)))
            }
            _ => bodies.iter().try_for_each(|it| self.expect_bool(it)).map(|()| match function {
                "filter" => whole,
                _ => CelType::Bool,
            }),
        };
        self.variables.pop();
        result
    }

    fn check_construction(
        &mut self,
        expr: &Expr,
        name: &str,
        fields: &[(String, Range<usize>, Expr)],
    ) -> Result<CelType, CelError> {
        let Some(message) = find_message(self.tree, name) else {
            return Err(CelError::new(expr.span.clone(), format!("there is no message `{name}`")));
        };
        for (field, span, value) in fields {
            let Some(declared) = message.field_named(field) else {
                let message = format!("`{name}` has no field `{field}`");
                return Err(CelError::new(span.clone(), message));
            };
            let (wanted, found) = (CelType::of_field(declared), self.type_of(value)?);
            if !found.fits(&wanted) {
                let message = format!("field `{field}` is `{wanted}`, not `{found}`");
                return Err(CelError::new(value.span.clone(), message));
            }
        }
        Ok(CelType::of_message(message))
    }
}

fn widen(known: Option<CelType>, more: CelType) -> CelType {
    match known {
        None => more,
        Some(known) if known.fits(&more) => known.or(more),
        Some(_) => CelType::Dyn,
    }
}

/// Returns why a call is refused: its types, as they are written.
fn explain_refusal(function: &str, target: Option<&Expr>, types: &[CelType]) -> String {
    let shown: Vec<String> = types.iter().map(ToString::to_string).collect();
    let sign = function.trim_matches(['_', '@']);
    match (function, shown.as_slice()) {
        ("_?_:_", [condition, yes, no]) if condition == "bool" => {
            format!("the two results of `?:` have different types: `{yes}` and `{no}`")
        }
        ("_?_:_", [condition, ..]) => format!("the condition of `?:` is `{condition}`, not `bool`"),
        ("_[_]", [container, index]) => format!("`{container}` has no index `{index}`"),
        ("!_" | "-_", [operand]) => format!("`{sign}` does not take `{operand}`"),
        (_, [a, b]) if is_operator(function) => {
            format!("`{sign}` does not take `{a}` and `{b}`")
        }
        (_, [of, rest @ ..]) if target.is_some() => {
            format!("`{of}` has no function `{function}({})`", rest.join(", "))
        }
        _ => format!("there is no function `{function}({})`", shown.join(", ")),
    }
}
