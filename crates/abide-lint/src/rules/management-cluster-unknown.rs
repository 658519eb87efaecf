use crate::finding::Severity;
use crate::inputs::bootstrap_of;
use crate::instances::envoy;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};
use abide_instance::Document;
use std::collections::BTreeMap;

pub(super) static RULE: Rule = Rule {
    id: "management-cluster-unknown",
    summary: "a management server whose cluster is not static",
    group: Group::Envoy,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("management-cluster-unknown.md"),
    check: Check::Instance(InstanceCheck::Document(check)),
};

fn check<'t>(context: &InstanceContext<'t>, document: &Document, sink: &mut Sink) {
    let tree = context.tree;
    let Some(bootstrap) = bootstrap_of(tree, document) else { return };
    let resources = bootstrap.get_message(tree, "static_resources");
    let clusters = resources.into_iter().flat_map(|it| it.get_all(tree, "clusters"));
    let clusters: BTreeMap<&str, bool> = clusters
        .filter_map(|it| {
            let cluster = it.value.as_message()?;
            let is_found = cluster.get_enum_name(tree, "type") != Some("EDS");
            Some((cluster.get_str(tree, "name")?, is_found))
        })
        .collect();
    for (source, _) in envoy::find_all(tree, document, "ApiConfigSource") {
        let services = source.get_all(tree, "grpc_services").filter_map(|it| {
            it.value.as_message()?.get_message(tree, "envoy_grpc")?.get(tree, "cluster_name")
        });
        for name in services.chain(source.get_all(tree, "cluster_names")) {
            let shown = name.value.as_str().unwrap_or_default();
            let text = match clusters.get(shown) {
                Some(true) => continue,
                Some(false) => {
                    format!("the endpoints of the management server `{shown}` come by EDS")
                }
                None => format!("the management server `{shown}` is no cluster of the bootstrap"),
            };
            envoy::report(context, source, name.span, text, sink)
                .why("it has to be reached before any resource was received")
                .help("declare it in `static_resources`, with endpoints of its own");
        }
    }
}
