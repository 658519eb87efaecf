use abide_change::{Change, Comparison};
use abide_schema::{Element, Service};

use crate::checks::full_names;
use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "service-added",
    summary: "a service that was added",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: true,
    page: include_str!("service-added.md"),
    check: Check::Change(ChangeCheck::Service(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Service<'t>>, sink: &mut Sink) {
    full_names::report_added(diff, change.map(Element::Service), sink);
}
