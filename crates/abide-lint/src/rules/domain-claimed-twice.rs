use crate::finding::Severity;
use crate::instances::envoy;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};
use abide_instance::WalkItem;
use std::collections::BTreeMap;

pub(super) static RULE: Rule = Rule {
    id: "domain-claimed-twice",
    summary: "a domain that two virtual hosts of one route table claim",
    group: Group::Envoy,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("domain-claimed-twice.md"),
    check: Check::Instance(InstanceCheck::Visit(check)),
};

fn check<'t>(context: &InstanceContext<'t>, visit: WalkItem<'t, '_>, sink: &mut Sink) {
    let tree = context.tree;
    let Some(table) = envoy::visited(tree, visit, "RouteConfiguration") else { return };
    let mut claimed = BTreeMap::new();
    let hosts = table.get_all(tree, "virtual_hosts").filter_map(|it| it.value.as_message());
    for domain in hosts.flat_map(|it| it.get_all(tree, "domains")) {
        // Envoy compares hosts without regard to case.
        let Some(name) = domain.value.as_str().map(str::to_lowercase) else { continue };
        let Some(first) = claimed.insert(name.clone(), domain.span) else { continue };
        claimed.insert(name.clone(), first);
        let text = format!("the domain `{name}` is claimed twice");
        envoy::report(context, table, domain.span, text, sink)
            .label(context.at(first), "the first claim")
            .help("keep the domain in one of the virtual hosts");
    }
}
