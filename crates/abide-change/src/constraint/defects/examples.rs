//! Examples that their own rules refuse.

use super::super::acceptance::Acceptance;
use super::super::evaluate::facets;
use super::super::limits::FieldLimits;
use super::super::read::Dialect;
use super::ConstraintDefect;
use super::subject::Subject;

pub(super) fn find(subject: &Subject<'_>, found: &mut Vec<ConstraintDefect>) {
    let Some(typed) = subject.typed_rules() else { return };
    let (tree, noun) = (subject.tree(), subject.noun());
    let mut examples = typed.rules.get_all(tree, "example").peekable();
    if examples.peek().is_none() || subject.dialect != Dialect::Buf || subject.is_collection() {
        return;
    }
    let limits = FieldLimits::new(subject.field, &facets(subject.field));
    let part = limits.parts.iter().find(|it| it.dialect == Dialect::Buf);
    let Some(part) = part.filter(|it| !it.skip) else { return };
    let values = if subject.part == Some("keys") { part.keys.as_ref() } else { Some(&part.values) };
    let Some(values) = values else { return };
    for example in examples {
        let datum = values.single.datum(tree, &example.value);
        if let Acceptance::Rejected(why) = values.evaluate(&datum) {
            let message = format!("{noun} has an example that its rules refuse: {why}");
            found.push(subject.defect(example, message));
        }
    }
}
