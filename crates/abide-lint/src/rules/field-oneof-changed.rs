use abide_change::{Change, Comparison};
use abide_schema::{Element, Field, Oneof, Part};

use crate::finding::{Severity, aliases};
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "field-oneof-changed",
    summary: "a field that moved into, out of or between oneofs",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[
        aliases::OF_CARDINALITY,
        &[
            "buf:FIELD_SAME_ONEOF",
            "google:FIELD_ONEOF_MOVE_IN",
            "google:FIELD_ONEOF_MOVE_OUT",
            "protolock:NoMovingExistingFieldsIntoOrOutOfOneof",
        ],
    ],
    spares_work_in_progress: true,
    page: include_str!("field-oneof-changed.md"),
    check: Check::Change(ChangeCheck::Field(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Field<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    let (was, is) = (old.real_oneof(), new.real_oneof());
    let same = match (was, is) {
        (Some(was), Some(is)) => diff.new_oneof(was) == Some(is),
        (None, None) => true,
        _ => false,
    };
    // A repeated field or a map cannot be a member of a oneof.
    if same || old.cardinality() != new.cardinality() {
        return;
    }
    let name = new.relative_name();
    let message = match (was, is) {
        (Some(was), Some(is)) => {
            format!("field `{name}` moved from oneof `{}` into oneof `{}`", was.name(), is.name())
        }
        (Some(was), None) => format!("field `{name}` moved out of oneof `{}`", was.name()),
        (_, is) => format!("field `{name}` moved into oneof `{}`", is.map_or("", Oneof::name)),
    };
    let finding = sink.change(diff, change.map(Element::Field), Part::Whole, message);
    finding.changed(was.map_or("", Oneof::name), is.map_or("", Oneof::name));
    finding
        .proven(diff.prover().prove_kept(old, new))
        .proven(diff.prover().prove_presence(old, new));
    finding.source(diff, change.map(Element::Field));
    let mut aliases =
        vec!["buf:FIELD_SAME_ONEOF", "protolock:NoMovingExistingFieldsIntoOrOutOfOneof"];
    if is.is_some() {
        aliases.push("google:FIELD_ONEOF_MOVE_IN");
    }
    if was.is_some() {
        aliases.push("google:FIELD_ONEOF_MOVE_OUT");
    }
    // Presence that changed only with the membership is reported here.
    aliases.extend(aliases::of_cardinality(old, new));
    finding.aliases(&aliases::of_pair(old, new, &aliases));
}
