use abide_instance::{Item, WalkItem};
use abide_schema::Tree;
use abide_schema::value::Message;

use crate::finding::Severity;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "listener-drains-abruptly",
    summary: "a listener whose filters cannot end connections gently",
    group: Group::Instance,
    severity: Some(Severity::Note),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("listener-drains-abruptly.md"),
    check: Check::Instance(InstanceCheck::Visit(check)),
};

/// The network filters that can ask their clients to leave.
const GENTLE: &[&str] = &["HttpConnectionManager", "RedisProxy", "MongoProxy"];

fn check<'t>(context: &InstanceContext<'t>, visit: WalkItem<'t, '_>, sink: &mut Sink) {
    let tree = context.tree;
    let Item::Message(listener) = visit.met else { return };
    let ty = tree.message(listener.ty);
    let package = ty.file().package().name();
    if ty.name() != "Listener" || !package.starts_with("envoy.") || ty.parent().is_some() {
        return;
    }
    let name = ty.full_name();
    let chains = listener.get_all(tree, "filter_chains");
    let chains = chains.chain(listener.get_all(tree, "default_filter_chain"));
    let chains = chains.filter_map(|it| it.value.as_message());
    let filters = chains.flat_map(|chain| chain.get_all(tree, "filters"));
    let filters: Vec<&Message> = filters.filter_map(|it| it.value.as_message()).collect();
    if filters.is_empty() || filters.iter().any(|filter| can_drain(tree, filter)) {
        return;
    }
    let place = listener.get(tree, "name").map_or(visit.span, |it| it.key);
    let text = "no filter of the listener can drain its connections";
    sink.report(context.at(place), package, &*name, text).why(
        "when the listener goes or the program restarts, its connections are cut when the time to \
         drain is over",
    );
}

/// Returns true if a filter can drain its connections, as far as it is known.
fn can_drain(tree: &Tree, filter: &Message) -> bool {
    let config = filter.get_message(tree, "typed_config").and_then(|it| it.content.as_ref());
    config.is_none_or(|it| GENTLE.contains(&tree.message(it.ty).name()))
}
