//! Evaluates expressions.
//!
//! Source: <https://github.com/google/cel-spec/blob/master/doc/langdef.md>, "Evaluation".

use std::cmp::Ordering;
use std::sync::Arc;

use abide_schema::Tree;

use super::ast::{Expr, ExprKind};
use super::functions::is_function;
use super::standard;
use super::steps::StepBudget;
use super::types::{find_enum_value, find_message};
use super::value::{CelValue, Outcome, construct_message};

/// Functions besides those of the language.
pub trait Library {
    /// The result of a function; `None` if it has none with this name.
    fn call<'v>(
        &self,
        tree: &Tree,
        function: &str,
        arguments: &[CelValue<'v>],
    ) -> Option<Outcome<'v>>;
}

/// Evaluates one expression.
pub(super) struct Evaluation<'e, 'v> {
    pub(super) tree: &'e Tree,
    pub(super) library: &'e dyn Library,
    /// The variables in scope, the innermost last.
    variables: Vec<(&'e str, CelValue<'v>)>,
    steps: StepBudget,
}

impl<'e, 'v> Evaluation<'e, 'v> {
    pub(super) fn new(
        tree: &'e Tree,
        library: &'e dyn Library,
        variables: Vec<(&'e str, CelValue<'v>)>,
        steps: usize,
    ) -> Evaluation<'e, 'v> {
        Evaluation { tree, library, variables, steps: StepBudget::new(steps) }
    }

    /// Returns how many steps may still be taken.
    pub(super) fn steps_left(&self) -> usize {
        self.steps.left()
    }

    /// The value of an expression that was checked. The parser limits how deep it nests.
    pub(super) fn evaluate(&mut self, expr: &'e Expr) -> Outcome<'v> {
        self.steps.take(1)?;
        match &expr.kind {
            ExprKind::Null => Ok(CelValue::Null),
            ExprKind::Bool(value) => Ok(CelValue::Bool(*value)),
            ExprKind::Int(value) => Ok(CelValue::Int(*value)),
            ExprKind::Uint(value) => Ok(CelValue::Uint(*value)),
            ExprKind::Double(value) => Ok(CelValue::Double(*value)),
            ExprKind::String(text) => Ok(CelValue::String(Arc::clone(text))),
            ExprKind::Bytes(bytes) => Ok(CelValue::Bytes(Arc::clone(bytes))),
            ExprKind::Ident { name, .. } => match self.find_variable(name) {
                Some(value) => Ok(value.clone()),
                None => self.resolve_constant(name),
            },
            ExprKind::Select { operand, field } => self.select(expr, operand, field),
            ExprKind::Call { function, target, arguments } => {
                self.call(function, target.as_deref(), arguments)
            }
            ExprKind::List(items) => {
                let items: Result<Vec<_>, _> = items.iter().map(|it| self.evaluate(it)).collect();
                Ok(CelValue::List(items?.into()))
            }
            ExprKind::Map(entries) => {
                let mut pairs: Vec<(CelValue<'v>, CelValue<'v>)> = Vec::new();
                for (key, value) in entries {
                    let (key, value) = (self.evaluate(key)?, self.evaluate(value)?);
                    for (other, _) in &pairs {
                        if other.equals_within(&key, self.tree, &self.steps)? {
                            return Err("a map has a key twice".to_owned());
                        }
                    }
                    pairs.push((key, value));
                }
                Ok(CelValue::Map(pairs.into()))
            }
            ExprKind::Struct { name, fields } => {
                let message = find_message(self.tree, name).ok_or("a type is not known")?;
                let mut given = Vec::new();
                for (field, _, value) in fields {
                    let field = message.field_named(field).ok_or("a field is not known")?;
                    given.push((field.id, self.evaluate(value)?));
                }
                construct_message(self.tree, message.id, given)
            }
        }
    }

    fn find_variable(&self, name: &str) -> Option<&CelValue<'v>> {
        self.variables.iter().rev().find(|(it, _)| *it == name).map(|(_, value)| value)
    }

    /// Returns what a dotted name means that is no field of a variable.
    fn resolve_constant(&self, name: &str) -> Outcome<'v> {
        match (name, find_enum_value(self.tree, name)) {
            ("now", _) => Err("it depends on the time".to_owned()),
            (_, Some(number)) => Ok(CelValue::Int(number.into())),
            (_, None) => Ok(CelValue::Type(name.into())),
        }
    }

    fn select(&mut self, expr: &'e Expr, operand: &'e Expr, field: &str) -> Outcome<'v> {
        if let Some(first) = expr.first_name()
            && self.find_variable(first).is_none()
            && first != "now"
        {
            return self.resolve_constant(&expr.qualified_name().unwrap_or_default());
        }
        let held = self.evaluate(operand)?;
        self.steps.take(held.size())?;
        let found = held.find_member(self.tree, field);
        let found = found.ok_or_else(|| match held {
            CelValue::Null => format!("`{field}` of null does not exist"),
            _ => format!("nothing has the name `{field}`"),
        })?;
        self.steps.take(found.size())?;
        Ok(found)
    }

    fn evaluate_bool(&mut self, expr: &'e Expr) -> Result<bool, String> {
        match self.evaluate(expr)? {
            CelValue::Bool(value) => Ok(value),
            _ => Err("a value is no bool".to_owned()),
        }
    }

    fn call(
        &mut self,
        function: &'e str,
        target: Option<&'e Expr>,
        arguments: &'e [Expr],
    ) -> Outcome<'v> {
        match (function, target, arguments) {
            // An operand that decides makes errors of the others not count.
            ("_&&_", ..) => self.evaluate_any(arguments.iter(), false, Self::evaluate_bool),
            ("_||_", ..) => self.evaluate_any(arguments.iter(), true, Self::evaluate_bool),
            ("_?_:_", _, [condition, yes, no]) => {
                let chosen = if self.evaluate_bool(condition)? { yes } else { no };
                self.evaluate(chosen)
            }
            ("has", None, [Expr { kind: ExprKind::Select { operand, field }, .. }]) => {
                let held = self.evaluate(operand)?;
                let set = held.has(self.tree, field);
                set.map(CelValue::Bool).ok_or_else(|| format!("nothing has the name `{field}`"))
            }
            (
                "all" | "exists" | "exists_one" | "filter" | "map",
                Some(range),
                [item, bodies @ ..],
            ) if (1..=2).contains(&bodies.len()) => {
                self.evaluate_comprehension(function, range, item, bodies)
            }
            (
                "bind",
                Some(Expr { kind: ExprKind::Ident { name, .. }, .. }),
                [item, value, body],
            ) if name == "cel" => {
                let ExprKind::Ident { name, .. } = &item.kind else {
                    return Err("a variable has no name".to_owned());
                };
                let value = self.evaluate(value)?;
                self.variables.push((name, value));
                let result = self.evaluate(body);
                self.variables.pop();
                result
            }
            // Only a literal is one less than the least number after its sign.
            ("-_", None, [Expr { kind: ExprKind::Int(i64::MIN), .. }]) => {
                Ok(CelValue::Int(i64::MIN))
            }
            _ => {
                let is_free = |it: &&Expr| {
                    it.first_name().is_some_and(|name| self.find_variable(name).is_none())
                };
                let dotted = target.filter(is_free).and_then(Expr::qualified_name);
                let dotted = dotted.map(|it| format!("{it}.{function}"));
                let dotted = dotted.filter(|it| is_function(it));
                let target = target.filter(|_| dotted.is_none());
                let mut values = Vec::with_capacity(arguments.len() + 1);
                for operand in target.into_iter().chain(arguments) {
                    values.push(self.evaluate(operand)?);
                }
                self.apply(dotted.as_deref().unwrap_or(function), &values)
            }
        }
    }

    /// Decides whether one of the parts is `decisive`, else the other bool; an error only if none
    /// is.
    fn evaluate_any<P>(
        &mut self,
        parts: impl Iterator<Item = P>,
        decisive: bool,
        judge: impl Fn(&mut Self, P) -> Result<bool, String>,
    ) -> Outcome<'v> {
        let mut failure = None;
        for part in parts {
            match judge(self, part) {
                Ok(value) if value == decisive => return Ok(CelValue::Bool(decisive)),
                Ok(_) => {}
                Err(error) => failure = Some(error),
            }
        }
        failure.map_or(Ok(CelValue::Bool(!decisive)), Err)
    }

    fn evaluate_comprehension(
        &mut self,
        function: &str,
        range: &'e Expr,
        item: &'e Expr,
        bodies: &'e [Expr],
    ) -> Outcome<'v> {
        let ExprKind::Ident { name, .. } = &item.kind else {
            return Err("a variable has no name".to_owned());
        };
        let items: Vec<CelValue<'v>> = match self.evaluate(range)? {
            CelValue::List(items) => items.to_vec(),
            CelValue::Map(pairs) => pairs.iter().map(|(key, _)| key.clone()).collect(),
            _ => return Err(format!("`{function}` takes a list or a map")),
        };
        self.steps.take(items.len())?;
        let [first, ..] = bodies else { return Err("a macro lacks its body".to_owned()) };
        let within = |this: &mut Self, item: CelValue<'v>, body: &'e Expr| {
            this.variables.push((name, item));
            let value = this.evaluate(body);
            this.variables.pop();
            value
        };
        let holds = |this: &mut Self, item: CelValue<'v>| match within(this, item, first)? {
            CelValue::Bool(value) => Ok(value),
            _ => Err("a value is no bool".to_owned()),
        };
        match function {
            "all" => self.evaluate_any(items.into_iter(), false, holds),
            "exists" => self.evaluate_any(items.into_iter(), true, holds),
            "exists_one" => {
                let mut count = 0;
                for item in items {
                    count += usize::from(holds(self, item)?);
                }
                Ok(CelValue::Bool(count == 1))
            }
            _ => {
                let mut kept = Vec::new();
                for item in items {
                    let is_kept = match (function, bodies) {
                        ("filter", _) | ("map", [_, _]) => holds(self, item.clone())?,
                        _ => true,
                    };
                    match (is_kept, bodies.last()) {
                        (false, _) => {}
                        (true, Some(body)) if function == "map" => {
                            kept.push(within(self, item, body)?);
                        }
                        (true, _) => kept.push(item),
                    }
                }
                Ok(CelValue::List(kept.into()))
            }
        }
    }

    /// Returns true if a value is one of several.
    fn find_among<'c>(
        &self,
        item: &CelValue<'v>,
        mut among: impl Iterator<Item = &'c CelValue<'v>>,
    ) -> Outcome<'v>
    where
        'v: 'c,
    {
        let found = among.try_fold(false, |found, it| {
            Ok::<_, String>(found || it.equals_within(item, self.tree, &self.steps)?)
        });
        found.map(CelValue::Bool)
    }

    /// The result of a function or an operator.
    fn apply(&self, function: &str, arguments: &[CelValue<'v>]) -> Outcome<'v> {
        self.steps.take(arguments.iter().map(CelValue::size).sum())?;
        let tree = self.tree;
        let ordered = |fits: &dyn Fn(Ordering) -> bool| match arguments {
            // A NaN is not ordered.
            [a, b] => Ok(CelValue::Bool(a.compare(b).is_some_and(fits))),
            _ => Err("two values are expected".to_owned()),
        };
        match (function, arguments) {
            ("!_", [CelValue::Bool(value)]) => Ok(CelValue::Bool(!value)),
            ("_==_", [a, b]) => Ok(CelValue::Bool(a.equals_within(b, tree, &self.steps)?)),
            ("_!=_", [a, b]) => Ok(CelValue::Bool(!a.equals_within(b, tree, &self.steps)?)),
            ("_<_", _) => ordered(&Ordering::is_lt),
            ("_<=_", _) => ordered(&Ordering::is_le),
            ("_>_", _) => ordered(&Ordering::is_gt),
            ("_>=_", _) => ordered(&Ordering::is_ge),
            ("@in", [item, CelValue::List(items)]) => self.find_among(item, items.iter()),
            ("@in", [item, CelValue::Map(pairs)]) => {
                self.find_among(item, pairs.iter().map(|(key, _)| key))
            }
            ("_[_]", [CelValue::List(items), index]) => {
                let at = index.integer().and_then(|it| usize::try_from(it).ok());
                let item = at.and_then(|at| items.get(at));
                item.cloned().ok_or_else(|| "an index is out of range".to_owned())
            }
            ("_[_]", [CelValue::Map(pairs), index]) => {
                let found = pairs.iter().find(|(key, _)| key.equals(index, tree));
                found.map(|(_, value)| value.clone()).ok_or_else(|| match index {
                    CelValue::String(key) => format!("a map lacks the key `{key}`"),
                    _ => "a map lacks a key".to_owned(),
                })
            }
            ("type", [value]) => Ok(CelValue::Type(value.type_name(tree))),
            _ => {
                let own = || standard::call(tree, function, arguments, &self.steps);
                let found = self.library.call(tree, function, arguments).unwrap_or_else(own)?;
                self.steps.take(found.size())?;
                Ok(found)
            }
        }
    }
}
