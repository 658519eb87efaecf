use crate::finding::Severity;
use crate::instances::envoy;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};
use abide_instance::WalkItem;
use abide_schema::value::{Codec, Message};

pub(super) static RULE: Rule = Rule {
    id: "filter-chain-ambiguous",
    summary: "a listener without filter chains, or with two that take the same connections",
    group: Group::Envoy,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("filter-chain-ambiguous.md"),
    check: Check::Instance(InstanceCheck::Visit(check)),
};

fn check<'t>(context: &InstanceContext<'t>, visit: WalkItem<'t, '_>, sink: &mut Sink) {
    let tree = context.tree;
    let Some(listener) = envoy::visited(tree, visit, "Listener") else { return };
    let is_other =
        ["udp_listener_config", "api_listener", "internal_listener", "filter_chain_matcher"]
            .iter()
            .any(|it| listener.get(tree, it).is_some());
    if is_other {
        return;
    }
    let chains = listener.get_all(tree, "filter_chains");
    let chains: Vec<_> = chains.filter_map(|it| Some((it, it.value.as_message()?))).collect();
    let has_chains = tree.message(listener.ty).field_named("filter_chains").is_some();
    if has_chains && chains.is_empty() && listener.get(tree, "default_filter_chain").is_none() {
        let text = "the listener has no filter chain".to_owned();
        envoy::report(context, listener, visit.span, text, sink)
            .help("add `filter_chains`, or remove the listener");
    }
    let codec = Codec::new(tree);
    let meaning = |chain: &Message| {
        chain.get_message(tree, "filter_chain_match").map_or_else(Vec::new, |it| codec.encode(it))
    };
    let mut seen = Vec::new();
    for (entry, chain) in chains {
        let own = meaning(chain);
        let first = seen.iter().find(|(other, _)| *other == own).map(|(_, span)| *span);
        if let Some(first) = first {
            let place = chain.get(tree, "filter_chain_match").map_or(entry.span, |it| it.key);
            let text = "another filter chain takes the same connections".to_owned();
            envoy::report(context, listener, place, text, sink)
                .label(context.at(first), "the first one")
                .help("give the chains a `filter_chain_match` that tells them apart");
        }
        seen.push((own, entry.span));
        let names = chain.get_message(tree, "filter_chain_match");
        for name in names.into_iter().flat_map(|it| it.get_all(tree, "server_names")) {
            let shown = name.value.as_str().unwrap_or_default();
            let exact = shown.strip_prefix("*.").unwrap_or(shown);
            if exact.contains('*') && shown != "*" {
                let text = format!("`{shown}` is a wildcard in a part of a name");
                envoy::report(context, listener, name.span, text, sink)
                    .help("write the name in full, or `*.` and a whole suffix");
            }
        }
    }
}
