//! Rules with parts that have no meaning.

use std::collections::BTreeMap;

use abide_schema::value::{Entry, Value};

use super::ConstraintDefect;
use super::pattern_syntax;
use super::subject::{AnnotationSubject, MessageAnnotation, read_seconds_and_nanos};
use crate::sets::Dialect;

/// The longest duration that protovalidate computes with, in nanoseconds.
const LONGEST: i128 = 9_223_372_036_854_775_428;

pub(super) fn find(subject: &AnnotationSubject<'_>, found: &mut Vec<ConstraintDefect>) {
    let Some(typed) = subject.typed_rules() else { return };
    let (tree, noun) = (subject.tree(), subject.noun());
    for entry in &typed.rules.entries {
        let field = tree.field(entry.field);
        let name = field.name();
        let why = match (typed.name, name, &entry.value) {
            ("string" | "bytes", "pattern", Value::String(pattern)) => {
                pattern_syntax::find_error(pattern)
                    .map(|why| format!("{noun} has a `pattern` that does not compile: {why}"))
            }
            ("timestamp", "within", value) => find_duration_error(subject, value)
                .or_else(|| {
                    let (seconds, nanos) = read_seconds_and_nanos(tree, value)?;
                    (seconds <= 0 && nanos <= 0).then(|| "it is not positive".to_owned())
                })
                .map(|why| format!("{noun} has an invalid `within`: {why}")),
            ("duration", "const" | "gt" | "gte" | "lt" | "lte", value) => {
                find_duration_error(subject, value)
                    .map(|why| format!("{noun} has an invalid `{name}`: {why}"))
            }
            ("timestamp", "const" | "gt" | "gte" | "lt" | "lte", value) => {
                find_timestamp_error(subject, value)
                    .map(|why| format!("{noun} has an invalid `{name}`: {why}"))
            }
            (
                "float" | "double",
                "const" | "lt" | "lte" | "gt" | "gte" | "in" | "not_in",
                Value::F32(_) | Value::F64(_),
            ) => {
                let is_nan = entry.value.as_f64().is_some_and(f64::is_nan);
                is_nan.then(|| format!("{noun} has NaN in `{name}`, which no value is compared to"))
            }
            ("field_mask", "in", value) => {
                let mut refused = typed.rules.get_all(tree, "not_in");
                let both = refused.any(|it| it.value == *value);
                let path = value.as_str().unwrap_or_default();
                both.then(|| format!("{noun} has path `{path}` in both `in` and `not_in`"))
            }
            _ => None,
        };
        if let Some(message) = why {
            found.push(subject.build_defect(entry, message));
        }
    }
}

fn find_duration_error(subject: &AnnotationSubject<'_>, value: &Value) -> Option<String> {
    let (seconds, nanos) = read_seconds_and_nanos(subject.tree(), value)?;
    let length = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    if nanos.abs() >= 1_000_000_000 {
        Some("`nanos` is a second or more".to_owned())
    } else if seconds > 0 && nanos < 0 || seconds < 0 && nanos > 0 {
        Some("`seconds` and `nanos` have different signs".to_owned())
    } else if subject.dialect == Dialect::Buf && length.abs() > LONGEST {
        Some("it is longer than 292 years".to_owned())
    } else {
        None
    }
}

fn find_timestamp_error(subject: &AnnotationSubject<'_>, value: &Value) -> Option<String> {
    let (seconds, nanos) = read_seconds_and_nanos(subject.tree(), value)?;
    if !(0..1_000_000_000).contains(&nanos) {
        Some("`nanos` is negative, or a second or more".to_owned())
    } else if !(-62_135_596_800..253_402_300_800).contains(&seconds) {
        Some("it is not in the years 1 to 9999".to_owned())
    } else {
        None
    }
}

/// The rules that at most one of some fields is set.
pub(super) fn of_oneofs(annotation: &MessageAnnotation<'_>, found: &mut Vec<ConstraintDefect>) {
    let (message, noun) = (annotation.message, annotation.noun());
    let mut uses: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for (entry, rule) in annotation.all("oneof") {
        let fields: Vec<&Entry> = rule.get_all(message.tree, "fields").collect();
        if fields.is_empty() {
            found.push(
                annotation.build_defect(entry, format!("{noun} has a `oneof` without fields")),
            );
        }
        let mut seen: Vec<&str> = Vec::new();
        for field in fields {
            let Some(name) = field.value.as_str() else { continue };
            if seen.contains(&name) {
                let text = format!("{noun} has field `{name}` twice in a `oneof`");
                found.push(annotation.defect_of_item(field, text));
            } else if message.field_named(name).is_none() {
                let text = format!("{noun} has no field `{name}`, which its `oneof` names");
                found.push(annotation.defect_of_item(field, text));
            } else {
                uses.entry(name).or_default().push(entry);
            }
            seen.push(name);
        }
    }
    for (name, entries) in uses {
        for entry in entries.get(1..).unwrap_or_default() {
            let text = format!("{noun} has field `{name}` in more than one `oneof`");
            found.push(annotation.build_defect(entry, text));
        }
    }
}
