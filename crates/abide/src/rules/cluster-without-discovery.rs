use abide_instance::{Document, Met, walk};

use crate::finding::Severity;
use crate::overrides::bootstrap_of;
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
    check: Check::Instance(InstanceCheck::Document(check)),
};

fn check<'t>(context: &InstanceContext<'t>, document: &Document, sink: &mut Sink) {
    let tree = context.tree;
    let Some(message) = document.message() else { return };
    if bootstrap_of(tree, document).is_some() {
        return;
    }
    walk(tree, message, document.span, &mut |visit| {
        let Met::Message(cluster) = visit.met else { return };
        let ty = tree.message(cluster.ty);
        let (name, package) = (ty.full_name(), ty.file().package().name());
        if !name.starts_with("envoy.") || ty.name() != "Cluster" || ty.parent().is_some() {
            return;
        }
        let Some(entry) = cluster.get(tree, "load_assignment") else { return };
        let text = "the cluster lists its endpoints itself";
        let finding = sink.report(context.at(entry.key), package, &*name, text);
        finding.why(
            "a changed cluster opens all of its connections anew, and changed endpoints of EDS do \
             not",
        );
        finding.help("send the endpoints by EDS, or keep the cluster in the bootstrap");
    });
}
