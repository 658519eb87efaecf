use crate::finding::Severity;
use crate::instances::envoy;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};
use abide_instance::WalkItem;
use abide_schema::Tree;
use abide_schema::value::Message;

pub(super) static RULE: Rule = Rule {
    id: "settings-contradictory",
    summary: "settings that exclude each other",
    group: Group::Envoy,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("settings-contradictory.md"),
    check: Check::Instance(InstanceCheck::Visit(check)),
};

fn check<'t>(context: &InstanceContext<'t>, visit: WalkItem<'t, '_>, sink: &mut Sink) {
    let tree = context.tree;
    let met = |name| envoy::visited(tree, visit, name);
    if let Some(action) = met("RouteAction") {
        let rewrites = ["prefix_rewrite", "regex_rewrite", "path_rewrite_policy"];
        let set: Vec<_> = rewrites.iter().filter_map(|it| action.get(tree, it)).collect();
        if let [first, second, ..] = set.as_slice() {
            let text = "the path is rewritten in two ways".to_owned();
            envoy::report(context, action, second.key, text, sink)
                .label(context.at(first.key), "the other one")
                .help("keep one of them");
        }
    }
    let limits = [
        ("RetryPolicy.RetryBackOff", "base_interval", "max_interval"),
        ("Cluster.RingHashLbConfig", "minimum_ring_size", "maximum_ring_size"),
    ];
    for (name, low, high) in limits {
        let Some(message) = met(name) else { continue };
        let (Some(least), Some(most)) = (message.get(tree, low), message.get(tree, high)) else {
            continue;
        };
        if read_amount(tree, least.value.as_message()) > read_amount(tree, most.value.as_message())
        {
            let text = format!("`{low}` is more than `{high}`");
            envoy::report(context, message, least.key, text, sink)
                .label(context.at(most.key), "the limit")
                .help("swap them, or leave the limit out");
        }
    }
}

/// The number that a wrapper or a duration holds.
fn read_amount(tree: &Tree, message: Option<&Message>) -> (i64, i64) {
    let read = |name| message.and_then(|it| it.get_i64(tree, name)).unwrap_or(0);
    (read("value").max(read("seconds")), read("nanos"))
}
