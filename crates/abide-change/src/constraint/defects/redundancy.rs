//! Rules that change nothing beside another one.

use abide_schema::value::Entry;
use abide_schema::{Cardinality, Presence};

use super::ConstraintDefect;
use super::subject::Subject;

pub(super) fn find(subject: &Subject<'_>, found: &mut Vec<ConstraintDefect>) {
    ignored(subject, found);
    let Some(typed) = subject.typed_rules() else { return };
    let (tree, noun) = (subject.tree(), subject.noun());
    let get = |name: &str| typed.rules.get(tree, name);
    let mut report = |entry: &Entry, message: String| found.push(subject.defect(entry, message));
    if let Some(entry) = get("const")
        && typed.rules.entries.iter().any(|it| it.field != entry.field)
    {
        report(entry, format!("{noun} has `const`, which makes its other rules useless"));
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
        && from.value == to.value
    {
        report(from, format!("{noun} has equal `gte` and `lte`; `const` says the same"));
    }
    if let Some(entry) = get("strict").filter(|it| it.value.as_bool() == Some(false))
        && get("well_known_regex").is_none()
    {
        report(entry, format!("{noun} has `strict`, but no `well_known_regex` that it is about"));
    }
}

/// Rules that `ignore` turns off, and an `ignore` that turns nothing off.
fn ignored(subject: &Subject<'_>, found: &mut Vec<ConstraintDefect>) {
    let Some((entry, name)) = subject.ignore() else { return };
    let noun = subject.noun();
    let mut report = |message: String| found.push(subject.defect(entry, message));
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
