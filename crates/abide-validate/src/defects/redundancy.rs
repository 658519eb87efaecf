//! Rules that change nothing beside another one.

use abide_schema::value::{Entry, Value};
use abide_schema::{Cardinality, Presence, Tree};

use super::ConstraintDefect;
use super::subject::{AnnotationSubject, read_seconds_and_nanos};

pub(super) fn find(subject: &AnnotationSubject<'_>, found: &mut Vec<ConstraintDefect>) {
    check_ignored(subject, found);
    let Some(typed) = subject.typed_rules() else { return };
    let (tree, noun) = (subject.tree(), subject.noun());
    let get = |name: &str| typed.rules.get(tree, name);
    let mut report =
        |entry: &Entry, message: String| found.push(subject.build_defect(entry, message));
    if let Some(entry) = get("const") {
        let others = || typed.rules.entries.iter().filter(|it| it.field != entry.field);
        if others().any(|it| tree.field(it.field).name() != "example") {
            report(entry, format!("{noun} has `const`, which makes its other rules useless"));
        } else if others().next().is_some() && typed.name != "bool" {
            report(
                entry,
                format!("{noun} has `const`, which is the only example that it can have"),
            );
        }
    }
    for (exact, least, most) in
        [("len", "min_len", "max_len"), ("len_bytes", "min_bytes", "max_bytes")]
    {
        if get(exact).is_some() {
            for (entry, name) in [(get(least), least), (get(most), most)] {
                if let Some(entry) = entry {
                    report(entry, format!("{noun} has `{exact}`, which makes `{name}` useless"));
                }
            }
        } else if let (Some(from), Some(to)) = (get(least), get(most))
            && from.value == to.value
            && tree.message(typed.rules.ty).field_named(exact).is_some()
        {
            report(
                from,
                format!("{noun} has equal `{least}` and `{most}`; `{exact}` says the same"),
            );
        }
    }
    if let (Some(from), Some(to)) = (get("gte"), get("lte"))
        && is_equal(tree, &from.value, &to.value)
    {
        report(from, format!("{noun} has equal `gte` and `lte`; `const` says the same"));
    }
    if let Some(entry) = get("strict").filter(|it| it.value.as_bool() == Some(false))
        && get("well_known_regex").is_none()
    {
        report(entry, format!("{noun} has `strict`, but no `well_known_regex` that it is about"));
    }
}

/// Returns true if two bounds are equal. Those that are messages are durations or timestamps, and
/// stand at places of their own.
fn is_equal(tree: &Tree, from: &Value, to: &Value) -> bool {
    match (read_seconds_and_nanos(tree, from), read_seconds_and_nanos(tree, to)) {
        (None, None) => from == to,
        (from, to) => from == to,
    }
}

/// Rules that `ignore` turns off, and an `ignore` that turns nothing off.
fn check_ignored(subject: &AnnotationSubject<'_>, found: &mut Vec<ConstraintDefect>) {
    let Some((entry, name)) = subject.ignore() else { return };
    let noun = subject.noun();
    let mut report = |message: String| found.push(subject.build_defect(entry, message));
    let others = subject.rules.entries.iter().any(|it| it.field != entry.field);
    match name {
        "IGNORE_ALWAYS" if others => {
            report(format!("{noun} has `ignore: {name}`, which makes its other rules useless"));
        }
        "IGNORE_IF_ZERO_VALUE" => {
            if subject.is_true("required") {
                report(format!("{noun} is `required`, so `ignore: {name}` is useless"));
            }
            let singular = subject.typed.cardinality() == Cardinality::Singular;
            let presence = singular && subject.typed.presence() != Presence::Implicit;
            if presence && !subject.typed.is_extension() {
                report(format!(
                    "{noun} is only checked if it is set, so `ignore: {name}` is useless"
                ));
            }
        }
        _ => {}
    }
}
