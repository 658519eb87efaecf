use abide_change::{Change, Comparison, format_value};
use abide_schema::value::default_of;
use abide_schema::{Cardinality, Element, Field, Part};

use crate::finding::{Severity, aliases};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};
use crate::wording::backtick;

pub(super) static RULE: Rule = Rule {
    id: "field-default-changed",
    summary: "a field whose default value changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:FIELD_SAME_DEFAULT"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("field-default-changed.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    let are_singular = [old, new].iter().all(|it| it.cardinality() == Cardinality::Singular);
    // `enum-first-value-changed` reports the default of an enum.
    if !are_singular || [old, new].iter().all(|it| it.decl().default().is_none()) {
        return;
    }
    let (Some(was), Some(is)) = (default_of(old), default_of(new)) else { return };
    if !diff.prover().has_other_meaning((old, new), &was, &is) {
        return;
    }
    let to_buf = if aliases::is_same_default_to_buf(&was, &is) { &[] } else { RULE.aliases };
    let (was, is) = (format_value(old, &was), format_value(new, &is));
    let name = new.relative_name();
    let message = format!(
        "default of `{name}` changed from {was} to {is}",
        was = backtick(&was),
        is = backtick(&is)
    );
    let finding = sink.change(diff, change.map(Element::Field), Part::Default, message);
    finding.changed(was, is);
    finding.proven(diff.prover().prove_absence(old, new)).source(diff, change.map(Element::Field));
    finding.aliases(&aliases::of_pair(old, new, to_buf));
}
