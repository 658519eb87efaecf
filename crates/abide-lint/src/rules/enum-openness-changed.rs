use abide_change::{Change, Comparison, Effects, Surface, collect_first_names};
use abide_schema::{Element, Enum, Openness, Part};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "enum-openness-changed",
    summary: "an enum that changed between open and closed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:ENUM_SAME_TYPE"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("enum-openness-changed.md"),
    check: Check::Change(ChangeCheck::Enum(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Enum<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    let (was, is) = (old.features().openness, new.features().openness);
    if was == is {
        return;
    }
    let name = new.relative_name();
    let message =
        format!("enum `{name}` changed from {} to {}", name_openness(was), name_openness(is));
    let finding = sink.change(diff, change.map(Element::Enum), Part::Whole, message);
    finding.at_feature(new.file(), new.decl().options, "enum_type");
    finding.changed(name_openness(was), name_openness(is));
    let (before, after) = (collect_first_names(old), collect_first_names(new));
    let mut numbers = 1..;
    if let Some(free) =
        numbers.find(|number| !before.contains_key(number) && !after.contains_key(number))
    {
        finding.proven(diff.prover().prove_enum(old, new, [&[free], &[free]]));
    }
    if diff.is_for_others(old) {
        finding.breaks(match is {
            Openness::Closed => Effects::backward(Surface::NOTATIONS),
            Openness::Open => Effects::forward(Surface::NOTATIONS),
        });
    }
    finding.source(diff, change.map(Element::Enum));
}

fn name_openness(openness: Openness) -> &'static str {
    match openness {
        Openness::Open => "open",
        Openness::Closed => "closed",
    }
}
