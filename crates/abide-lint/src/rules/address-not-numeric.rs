use crate::finding::Severity;
use crate::instances::envoy;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};
use abide_instance::{Item, WalkItem};
use abide_schema::value::Message;

pub(super) static RULE: Rule = Rule {
    id: "address-not-numeric",
    summary: "a host name where Envoy takes an IP address only",
    group: Group::Envoy,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("address-not-numeric.md"),
    check: Check::Instance(InstanceCheck::Visit(check)),
};

fn check<'t>(context: &InstanceContext<'t>, visit: WalkItem<'t, '_>, sink: &mut Sink) {
    let tree = context.tree;
    if let Some(listener) = envoy::visited(tree, visit, "Listener") {
        let own = listener.get_message(tree, "address").into_iter();
        let others = listener
            .get_all(tree, "additional_addresses")
            .filter_map(|it| it.value.as_message()?.get_message(tree, "address"));
        own.chain(others).for_each(|it| check_address(context, it, sink));
    }
    if let Some(cluster) = envoy::visited(tree, visit, "Cluster") {
        let is_custom = cluster.get(tree, "cluster_type").is_some();
        let is_static = cluster.get_enum_name(tree, "type").is_none_or(|it| it == "STATIC");
        let assignment = cluster.get_message(tree, "load_assignment");
        let assignment = assignment.filter(|_| is_static && !is_custom);
        assignment.into_iter().for_each(|it| check_assignment(context, it, sink));
    }
    // One that is no part of a cluster comes by EDS.
    if let Item::Named(named) = visit.met
        && envoy::is_named(tree, named.message, "ClusterLoadAssignment")
    {
        check_assignment(context, named.message, sink);
    }
}

fn check_assignment(context: &InstanceContext<'_>, assignment: &Message, sink: &mut Sink) {
    let tree = context.tree;
    let groups = assignment.get_all(tree, "endpoints").filter_map(|it| it.value.as_message());
    let hosts = groups.flat_map(|it| it.get_all(tree, "lb_endpoints"));
    let hosts = hosts.filter_map(|it| it.value.as_message()?.get_message(tree, "endpoint"));
    let addresses = hosts.filter_map(|it| it.get_message(tree, "address"));
    addresses.for_each(|it| check_address(context, it, sink));
}

fn check_address(context: &InstanceContext<'_>, address: &Message, sink: &mut Sink) {
    let tree = context.tree;
    let Some(socket) = address.get_message(tree, "socket_address") else { return };
    let Some(entry) = socket.get(tree, "address") else { return };
    let text = entry.value.as_str().unwrap_or_default();
    let has_resolver = socket.get_str(tree, "resolver_name").is_some_and(|it| !it.is_empty());
    let (bare, _) = text.split_once('%').unwrap_or((text, ""));
    if text.is_empty() || has_resolver || bare.parse::<std::net::IpAddr>().is_ok() {
        return;
    }
    let text = format!("`{text}` is no IP address");
    envoy::report(context, socket, entry.span, text, sink)
        .why("nothing looks up names here")
        .help("write an IP address; a cluster of the type `STRICT_DNS` looks names up");
}
