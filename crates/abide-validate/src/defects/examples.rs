//! Examples that their own rules refuse.

use abide_schema::Tree;
use abide_schema::value::{self, Value};

use super::ConstraintDefect;
use super::subject::AnnotationSubject;
use crate::annotations::read_facets;
use crate::limits::FieldLimits;
use crate::sets::{Acceptance, Dialect};

pub(super) fn find(subject: &AnnotationSubject<'_>, found: &mut Vec<ConstraintDefect>) {
    let Some(typed) = subject.typed_rules() else { return };
    let (tree, noun) = (subject.tree(), subject.noun());
    let mut examples = typed.rules.get_all(tree, "example").peekable();
    if examples.peek().is_none() || subject.dialect != Dialect::Buf || subject.is_collection() {
        return;
    }
    if typed.name == "field_mask" {
        for example in examples {
            if let Some(why) = find_mask_refusal(tree, typed.rules, &example.value) {
                let message = format!("{noun} has an example that its rules refuse: {why}");
                found.push(subject.build_defect(example, message));
            }
        }
        return;
    }
    let limits = FieldLimits::new(subject.field, &read_facets(subject.field));
    let part = limits.parts.iter().find(|it| it.dialect == Dialect::Buf);
    let Some(part) = part.filter(|it| !it.skip) else { return };
    let values = if subject.part == Some("keys") { part.keys.as_ref() } else { Some(&part.values) };
    let Some(values) = values else { return };
    for example in examples {
        let datum = values.single.datum(tree, &example.value);
        if let Acceptance::Rejected(why) = values.evaluate(&datum) {
            let message = format!("{noun} has an example that its rules refuse: {why}");
            found.push(subject.build_defect(example, message));
        }
    }
}

/// Returns why the rules of a field mask refuse a mask; `const` is reported with the other rules
/// beside it.
fn find_mask_refusal(tree: &Tree, rules: &value::Message, mask: &Value) -> Option<String> {
    let listed = |name| rules.get_all(tree, name).filter_map(|it| it.value.as_str());
    // A path covers those below it.
    let covers = |path: &str, list: &str| {
        path.strip_prefix(list).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let paths = mask.as_message()?.get_all(tree, "paths");
    for path in paths.filter_map(|it| it.value.as_str()) {
        let is_in = listed("in").any(|it| covers(path, it));
        if !is_in && listed("in").next().is_some() {
            return Some(format!("`{path}` is not in `in`"));
        }
        if listed("not_in").any(|it| covers(path, it)) {
            return Some(format!("`{path}` is in `not_in`"));
        }
    }
    None
}
