use abide_change::{Change, Diff};
use abide_schema::{Element, Field, Part, Scalar, Type};

use crate::finding::{Severity, aliases};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-utf8-validation-changed",
    summary: "a string field whose UTF-8 validation changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:FIELD_SAME_UTF8_VALIDATION", "buf:FIELD_SAME_JAVA_UTF8_VALIDATION"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("field-utf8-validation-changed.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Diff<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    let changed = |(old, new): (Field<'t>, Field<'t>)| {
        let text = |field: Field<'t>| field.ty() == Type::Scalar(Scalar::String);
        let checked = |field: Field<'t>| field.features().utf8_validated;
        text(old) && text(new) && checked(old) != checked(new)
    };
    let inside = |field: Field<'t>, number| match field.message_type() {
        Some(entry) if field.is_map() => entry.field_numbered(number),
        _ => None,
    };
    let parts = [1, 2].map(|number| inside(old, number).zip(inside(new, number)));
    let pairs = parts.into_iter().flatten().chain([(old, new)]);
    let Some((_, is)) = pairs.into_iter().find(|&pair| changed(pair)) else { return };
    let (now, turned) = match is.features().utf8_validated {
        true => ("must be UTF-8 now", "on"),
        false => ("need not be UTF-8 any more", "off"),
    };
    let name = new.relative_name();
    let message = format!("UTF-8 validation of `{name}` was turned {turned}");
    let finding = sink.change(diff, change.map(Element::Field), Part::Whole, message);
    finding.at_feature(new.file(), new.decl().options, "utf8_validation");
    finding.fact(now).proven(diff.prove_kept(old, new));
    finding.source(diff, change.map(Element::Field));
    finding.aliases(&aliases::of_pair(old, new, RULE.aliases));
}
