use abide_change::{Change, Comparison};
use abide_schema::{Element, Service};

use crate::checks::full_names;
use crate::finding::Severity;
use crate::rule::{ChangeCheck, Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "service-renamed",
    summary: "a service whose full name changed",
    group: Group::Compatibility,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[full_names::SERVICE_DELETIONS],
    spares_work_in_progress: true,
    page: include_str!("service-renamed.md"),
    check: Check::Change(ChangeCheck::Service(check)),
};

fn check<'t>(_: &Context<'t>, diff: &Comparison<'t>, change: Change<Service<'t>>, sink: &mut Sink) {
    full_names::report_renamed(diff, change.map(Element::Service), sink);
}
