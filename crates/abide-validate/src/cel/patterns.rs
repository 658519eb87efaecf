//! Patterns of rules, compiled once.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::CelError;
use super::ast::{Expr, ExprKind};
use super::value::{CelValue, Outcome};
use crate::sets::{Pattern, from_re2};

/// The most patterns that are kept: an expression can make one of every name of a tree.
const MAX_KEPT: usize = 256;
/// The longest pattern, in bytes.
const MAX_LENGTH: usize = 1_000;

/// The patterns that expressions use, shared by all threads.
///
/// With the functions of protovalidate it is the library of every expression.
#[derive(Debug, Default)]
pub struct PatternCache {
    compiled: Mutex<FxHashMap<Arc<str>, Option<Arc<Pattern>>>>,
}

impl PatternCache {
    /// The result of the function `matches`.
    pub(crate) fn matches<'v>(&self, text: &str, pattern: &Arc<str>) -> Outcome<'v> {
        let compiled = self.compile(pattern);
        let compiled = compiled.ok_or_else(|| format!("`{pattern}` is not a pattern"))?;
        Ok(CelValue::Bool(compiled.is_match(text.as_bytes())))
    }

    fn compile(&self, pattern: &Arc<str>) -> Option<Arc<Pattern>> {
        let lock = || self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(pattern) {
            return known.clone();
        }
        let compiled = compile_pattern(pattern);
        let mut all = lock();
        if all.len() < MAX_KEPT {
            all.insert(Arc::clone(pattern), compiled.clone());
        }
        compiled
    }
}

fn compile_pattern(pattern: &str) -> Option<Arc<Pattern>> {
    if pattern.len() > MAX_LENGTH {
        return None;
    }
    Pattern::new(&from_re2(pattern)?)
}

/// Reports the first pattern written in an expression that is none.
pub(super) fn check_patterns(expr: &Expr) -> Result<(), CelError> {
    let mut rest = vec![expr];
    while let Some(expr) = rest.pop() {
        match &expr.kind {
            ExprKind::Call { function, target, arguments } => {
                if function == "matches"
                    && let Some(Expr { kind: ExprKind::String(pattern), span, .. }) =
                        arguments.last()
                    && compile_pattern(pattern).is_none()
                {
                    let message = format!("`{pattern}` is not a pattern in the syntax of RE2");
                    return Err(CelError::new(span.clone(), message));
                }
                rest.extend(target.as_deref());
                rest.extend(arguments);
            }
            ExprKind::Select { operand, .. } => rest.push(operand),
            ExprKind::List(items) => rest.extend(items),
            ExprKind::Map(entries) => rest.extend(entries.iter().flat_map(|(a, b)| [a, b])),
            ExprKind::Struct { fields, .. } => rest.extend(fields.iter().map(|(.., value)| value)),
            _ => {}
        }
    }
    Ok(())
}
