use crate::finding::Severity;
use crate::inputs::bootstrap_of;
use crate::instances::envoy;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};
use abide_instance::Document;

pub(super) static RULE: Rule = Rule {
    id: "node-identity-missing",
    summary: "a bootstrap that subscribes to resources without saying which node it is",
    group: Group::Envoy,
    severity: Some(Severity::Warning),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("node-identity-missing.md"),
    check: Check::Instance(InstanceCheck::Document(check)),
};

fn check<'t>(context: &InstanceContext<'t>, document: &Document, sink: &mut Sink) {
    let tree = context.tree;
    let Some(bootstrap) = bootstrap_of(tree, document) else { return };
    let node = bootstrap.get_message(tree, "node");
    let has = |name| node.and_then(|it| it.get_str(tree, name)).is_some_and(|it| !it.is_empty());
    if has("id") && has("cluster") {
        return;
    }
    let dynamic = bootstrap.get_message(tree, "dynamic_resources");
    let ads = dynamic.and_then(|it| it.get(tree, "ads_config")).map(|it| it.key);
    let sources = envoy::find_all(tree, document, "ConfigSource");
    // Without a server for ADS, what refers to it waits for nobody.
    let asks = |it: &abide_schema::value::Message| {
        ["path", "path_config_source", "api_config_source"]
            .iter()
            .any(|name| it.get(tree, name).is_some())
    };
    let source = sources.iter().find(|(it, _)| asks(it)).map(|it| it.1);
    let Some(place) = ads.or(source) else { return };
    let text = "the bootstrap subscribes to resources, and `node` has no `id` and `cluster`";
    let place = bootstrap.get(tree, "node").map_or(place, |it| it.key);
    envoy::report(context, bootstrap, place, text.to_owned(), sink).help(
        "set both, or turn the rule off if `--service-node` and `--service-cluster` say them",
    );
}
