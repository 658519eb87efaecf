use crate::finding::Severity;
use crate::instances::envoy;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};
use abide_instance::WalkItem;

pub(super) static RULE: Rule = Rule {
    id: "cluster-weights-invalid",
    summary: "weighted clusters that cannot share the requests",
    group: Group::Envoy,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("cluster-weights-invalid.md"),
    check: Check::Instance(InstanceCheck::Visit(check)),
};

fn check<'t>(context: &InstanceContext<'t>, visit: WalkItem<'t, '_>, sink: &mut Sink) {
    let tree = context.tree;
    let Some(weighted) = envoy::visited(tree, visit, "WeightedCluster") else { return };
    let weight = |it: &abide_schema::value::Message| {
        it.get_message(tree, "weight").and_then(|it| it.get_i64(tree, "value")).unwrap_or(0)
    };
    let clusters = weighted.get_all(tree, "clusters").filter_map(|it| it.value.as_message());
    let total = clusters.map(weight).fold(0, i64::saturating_add);
    let text = match total {
        0 => "the weights of the clusters sum to 0".to_owned(),
        _ if total > i64::from(u32::MAX) => {
            format!("the weights of the clusters sum to {total}, and {} is the most", u32::MAX)
        }
        _ => return,
    };
    let place = weighted.get(tree, "clusters").map_or(visit.span, |it| it.key);
    envoy::report(context, weighted, place, text, sink)
        .help("give at least one of them a weight, and all of them together at most 4294967295");
}
