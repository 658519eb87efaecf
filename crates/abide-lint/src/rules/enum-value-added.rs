use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::{Element, EnumValue, Part};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "enum-value-added",
    summary: "an enum value that was added",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("enum-value-added.md"),
    check: Check::Change(ChangeCheck::EnumValue(check)),
};

fn check<'t>(
    _: &Context<'t>,
    diff: &Comparison<'t>,
    change: Change<EnumValue<'t>>,
    sink: &mut Sink,
) {
    let Change::Added(new) = change else { return };
    let Some(holder) = diff.old_enum(new.parent()) else { return };
    let name = new.parent().relative_name();
    let message = format!("enum value `{name}.{}` was added", new.name());
    let finding = sink.change(diff, change.map(Element::EnumValue), Part::Whole, message);
    finding.fact(new.number().to_string()).fact(new.name());
    finding.proven(diff.prover().prove_enum(holder, new.parent(), [&[], &[new.number()]]));
    finding.proven(diff.prover().prove_value_name((holder, new.parent()), change));
    // Old readers do not know its name, wherever the enum is used.
    finding.breaks(Effects::forward(&[Surface::Json, Surface::Text]));
    finding.source(diff, change.map(Element::EnumValue));
}
