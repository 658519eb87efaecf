use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::{Element, Enum, Part};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "enum-first-value-changed",
    summary: "an enum whose first value (its default) changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[&["buf:FIELD_SAME_DEFAULT"]],
    spares_work_in_progress: true,
    page: include_str!("enum-first-value-changed.md"),
    check: Check::Change(ChangeCheck::Enum(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Enum<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    let (Some(was), Some(is)) = (old.values().next(), new.values().next()) else { return };
    let number = was.number();
    // A number keeps its meaning as long as it keeps one of its names.
    let keeps_a_name = number == is.number()
        && old
            .values_numbered(number)
            .any(|value| diff.new_value(value).is_some_and(|value| value.number() == number));
    if keeps_a_name {
        return;
    }
    let message = format!(
        "first value of enum `{}` changed from `{}` to `{}`",
        new.relative_name(),
        was.name(),
        is.name()
    );
    let finding = sink.change(diff, change.map(Element::Enum), Part::Name, message);
    finding.fact(was.number().to_string()).fact(is.number().to_string());
    if number == is.number() {
        finding.fact(was.name()).fact(is.name());
    }
    let proof = diff.prover().prove_enum_default(old, new);
    // buf compares the numbers of defaults.
    if number != is.number() && !proof.effects.is_empty() {
        finding.aliases(&["buf:FIELD_SAME_DEFAULT"]);
    }
    // The fields that use the enum may be in trees that are not here.
    if diff.is_for_others(old) {
        finding.breaks(Effects::both(Surface::NOTATIONS));
    }
    finding.proven(proof).source(diff, change.map(Element::Enum));
    finding.label(is.place(Part::Name), "a field that is not set now has this value");
}
