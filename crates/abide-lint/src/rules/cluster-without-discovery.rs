use abide_instance::{Item, WalkItem};

use crate::finding::Severity;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "cluster-without-discovery",
    summary: "a cluster sent by a management server that lists its own endpoints",
    group: Group::Instance,
    severity: Some(Severity::Note),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("cluster-without-discovery.md"),
    check: Check::Instance(InstanceCheck::Visit(check)),
};

fn check<'t>(context: &InstanceContext<'t>, visit: WalkItem<'t, '_>, sink: &mut Sink) {
    let tree = context.tree;
    let Item::Message(cluster) = visit.met else { return };
    let ty = tree.message(cluster.ty);
    let package = ty.file().package().name();
    let is_cluster =
        ty.name() == "Cluster" && package.starts_with("envoy.") && ty.parent().is_none();
    if !is_cluster || context.is_bootstrap {
        return;
    }
    let Some(entry) = cluster.get(tree, "load_assignment") else { return };
    let text = "the cluster lists its endpoints itself";
    let finding = sink.report(context.at(entry.key), package, ty.full_name(), text);
    finding.why(
        "a changed cluster opens all of its connections anew, and changed endpoints of EDS do not",
    );
    finding.help("send the endpoints by EDS, or keep the cluster in the bootstrap");
}
