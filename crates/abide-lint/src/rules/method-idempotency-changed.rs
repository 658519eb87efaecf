use abide_change::option::{self, OptionSetting};
use abide_change::{Change, Comparison, Effects, Surface};
use abide_schema::{Element, Method};

use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "method-idempotency-changed",
    summary: "a method whose `idempotency_level` changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &["buf:RPC_SAME_IDEMPOTENCY_LEVEL"],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("method-idempotency-changed.md"),
    check: Check::Change(ChangeCheck::Method(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Method<'t>>, sink: &mut Sink) {
    let Some(holders) = option::elements(change, Element::Method) else { return };
    let setting = OptionSetting::standard(holders, "idempotency_level");
    let (was, is) = setting.values();
    if was == is {
        return;
    }
    let Some(name) = change.new().map(Method::relative_name) else { return };
    let message = format!("`idempotency_level` of `{name}` changed from `{was}` to `{is}`");
    let finding = sink.setting(&setting, message);
    finding.changed(&was, &is).source(diff, change.map(Element::Method));
    // Clients repeat calls, or send them as `GET` requests, by the level of their own side.
    finding.breaks(if rank_promise(&is) < rank_promise(&was) {
        Effects::backward(&[Surface::Rpc])
    } else {
        Effects::forward(&[Surface::Rpc])
    });
}

/// Ranks the promise of an idempotency level: a stronger one includes the weaker ones.
fn rank_promise(level: &str) -> usize {
    ["IDEMPOTENCY_UNKNOWN", "IDEMPOTENT", "NO_SIDE_EFFECTS"]
        .iter()
        .position(|it| *it == level)
        .unwrap_or_default()
}
