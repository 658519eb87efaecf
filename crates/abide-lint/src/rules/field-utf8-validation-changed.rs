use abide_change::{Change, Comparison};
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

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    // Fields 1 and 2 of the entry of a map are its key and its value.
    let parts = [1, 2].map(|number| find_map_part(old, number).zip(find_map_part(new, number)));
    let mut pairs = parts.into_iter().flatten().chain([(old, new)]);
    let Some((_, is)) = pairs.find(|&(old, new)| is_validation_changed(old, new)) else { return };
    let (now, turned) = match is.features().utf8_validated {
        true => ("must be UTF-8 now", "on"),
        false => ("need not be UTF-8 any more", "off"),
    };
    let name = new.relative_name();
    let message = format!("UTF-8 validation of `{name}` was turned {turned}");
    let finding = sink.change(diff, change.map(Element::Field), Part::Whole, message);
    finding.at_feature(new.file(), new.decl().options, "utf8_validation");
    finding.fact(now).proven(diff.prover().prove_kept(old, new));
    finding.source(diff, change.map(Element::Field));
    finding.aliases(&aliases::of_pair(old, new, RULE.aliases));
}

fn find_map_part(field: Field<'_>, number: i32) -> Option<Field<'_>> {
    field.message_type().filter(|_| field.is_map())?.field_numbered(number)
}

fn is_validation_changed<'t>(old: Field<'t>, new: Field<'t>) -> bool {
    [old, new].iter().all(|it| it.ty() == Type::Scalar(Scalar::String))
        && old.features().utf8_validated != new.features().utf8_validated
}
