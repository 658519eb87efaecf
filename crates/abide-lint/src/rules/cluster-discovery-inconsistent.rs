use crate::finding::Severity;
use crate::instances::envoy;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};
use abide_instance::WalkItem;
use abide_schema::Tree;
use abide_schema::value::Message;

pub(super) static RULE: Rule = Rule {
    id: "cluster-discovery-inconsistent",
    summary: "a cluster whose type does not fit what it says about its endpoints",
    group: Group::Envoy,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("cluster-discovery-inconsistent.md"),
    check: Check::Instance(InstanceCheck::Visit(check)),
};

fn check<'t>(context: &InstanceContext<'t>, visit: WalkItem<'t, '_>, sink: &mut Sink) {
    let tree = context.tree;
    let Some(cluster) = envoy::visited(tree, visit, "Cluster") else { return };
    if cluster.get(tree, "cluster_type").is_some() {
        return;
    }
    let kind = cluster.get_enum_name(tree, "type").unwrap_or("STATIC");
    let policy = cluster.get_enum_name(tree, "lb_policy").unwrap_or("ROUND_ROBIN");
    let source = cluster.get_message(tree, "eds_cluster_config");
    // What cannot be read of them is reported where it stands.
    let is_by_eds = source.is_some_and(|it| it.get(tree, "eds_config").is_some())
        || (source.is_some() && cluster.get(tree, "type").is_some());
    let assignment = cluster.get(tree, "load_assignment");
    let by_new_policy = cluster.get(tree, "load_balancing_policy").is_some();
    let mut report = |field: &str, text: String, help: &str| {
        let place = cluster.get(tree, field).map_or(visit.span, |it| it.key);
        envoy::report(context, cluster, place, text, sink).help(help);
    };
    match kind {
        "EDS" if source.is_none_or(|it| it.get(tree, "eds_config").is_none()) => report(
            "type",
            "the cluster gets its endpoints by EDS and does not say from where".to_owned(),
            "set `eds_cluster_config.eds_config`",
        ),
        "EDS" => {}
        _ if is_by_eds => report(
            "eds_cluster_config",
            format!("`eds_cluster_config` is set in a cluster of the type `{kind}`"),
            "set `type: EDS`, or remove `eds_cluster_config`",
        ),
        "LOGICAL_DNS" if !is_one_endpoint(tree, cluster) => report(
            "type",
            "a cluster of the type `LOGICAL_DNS` has exactly one endpoint".to_owned(),
            "list one endpoint, or set `type: STRICT_DNS`",
        ),
        "ORIGINAL_DST" if assignment.is_some() => report(
            "load_assignment",
            "a cluster of the type `ORIGINAL_DST` lists no endpoints".to_owned(),
            "remove `load_assignment`, or choose another type",
        ),
        _ => {}
    }
    let is_provided = policy == "CLUSTER_PROVIDED";
    if !by_new_policy && is_provided != (kind == "ORIGINAL_DST") {
        let text = format!("the policy `{policy}` does not fit a cluster of the type `{kind}`");
        let field = if is_provided { "lb_policy" } else { "type" };
        report(field, text, "use `CLUSTER_PROVIDED` with `ORIGINAL_DST`, and only there");
    }
}

/// Returns true if a cluster lists a single endpoint.
fn is_one_endpoint(tree: &Tree, cluster: &Message) -> bool {
    let Some(assignment) = cluster.get_message(tree, "load_assignment") else {
        // The list of v2 days.
        return cluster.get_all(tree, "hosts").count() == 1;
    };
    let groups = assignment.get_all(tree, "endpoints").filter_map(|it| it.value.as_message());
    groups.flat_map(|it| it.get_all(tree, "lb_endpoints")).count() == 1
}
