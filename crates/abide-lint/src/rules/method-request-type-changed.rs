use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::{Element, Method, Part};

use crate::checks::{full_names, reserved};
use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "method-request-type-changed",
    summary: "a method whose request type changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[
        "buf:RPC_SAME_REQUEST_TYPE",
        "protolock:NoChangingRPCSignature",
        "google:METHOD_INPUT_TYPE_CHANGE",
    ],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("method-request-type-changed.md"),
    check: Check::Change(ChangeCheck::Method(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Method<'t>>, sink: &mut Sink) {
    let Change::Both { old, new } = change else { return };
    let (Some(was), Some(is)) = (old.input(), new.input()) else { return };
    if diff.is_same_message(was, is) {
        return;
    }
    let (was_name, is_name) = (was.full_name(), is.full_name());
    let name = new.relative_name();
    let message = format!("request type of `{name}` changed from `{was_name}` to `{is_name}`");
    let finding = sink.change(diff, change.map(Element::Method), Part::Input, message);
    finding.changed(was_name, is_name);
    let proof = diff.prover().prove_payload(was, is, full_names::notations(old, new));
    // A new server reads what an old client wrote.
    finding.breaks(proof.effects.carried_by(Surface::Rpc, |direction| direction));
    if let Some((lost, by)) = reserved::find_abandoned(diff, was, is) {
        finding.breaks(Effects::backward(&[Surface::Wire, Surface::Rpc]));
        finding.why(reserved::describe_abandoned(lost, by));
    }
    finding.proven(proof).source(diff, change.map(Element::Method));
}
