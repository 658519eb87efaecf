use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::{Element, Field, Part};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "oneof-member-added",
    summary: "a field that was added to an existing oneof",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("oneof-member-added.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Change::Added(new) = change else { return };
    let Some(oneof) = new.real_oneof().filter(|it| diff.old_oneof(*it).is_some()) else { return };
    // `field-number-changed` reports one whose name is not new.
    if diff.find_renumbered(new).is_some() {
        return;
    }
    let name = new.relative_name();
    let message = format!("field `{name}` was added to oneof `{}`", oneof.name());
    let finding = sink.change(diff, change.map(Element::Field), Part::Whole, message);
    finding.fact(new.number().to_string()).fact(new.name());
    // Old readers reject its name in JSON and text.
    finding.breaks(Effects::forward(&[Surface::Json, Surface::Text]));
    finding.proven(diff.prover().prove_field(change)).source(diff, change.map(Element::Field));
    finding.at_least(Severity::Warning);
    finding.why(format!(
        "readers that use the old schema see `{}` unset, and code that handles each member meets \
         one that it does not know",
        oneof.name()
    ));
}
