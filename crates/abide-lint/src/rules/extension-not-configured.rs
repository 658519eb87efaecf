use crate::finding::Severity;
use crate::instances::envoy;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};
use abide_instance::WalkItem;

pub(super) static RULE: Rule = Rule {
    id: "extension-not-configured",
    summary: "an extension with a name and nothing that configures it",
    group: Group::Envoy,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("extension-not-configured.md"),
    check: Check::Instance(InstanceCheck::Visit(check)),
};

/// The messages whose extensions Envoy finds by the type of their configuration.
const OWNERS: &[&str] = &[
    "AccessLog",
    "Filter",
    "HealthCheck.CustomHealthCheck",
    "HttpFilter",
    "ListenerFilter",
    "ResourceMonitor",
    "RetryPolicy.RetryHostPredicate",
    "RetryPolicy.RetryPriority",
    "StatsSink",
    "Tracing.Http",
    "TransportSocket",
];

fn check<'t>(context: &InstanceContext<'t>, visit: WalkItem<'t, '_>, sink: &mut Sink) {
    let tree = context.tree;
    let Some(owner) = OWNERS.iter().find_map(|it| envoy::visited(tree, visit, it)) else { return };
    let Some(name) = owner.get(tree, "name") else { return };
    let is_configured = match owner.get_message(tree, "typed_config") {
        Some(any) => !any.entries.is_empty(),
        // `config` is the Struct of older versions, which could be left out.
        None => ["config_discovery", "config", "hidden_envoy_deprecated_config"]
            .iter()
            .any(|it| owner.get(tree, it).is_some()),
    };
    let is_typed = tree.message(owner.ty).field_named("typed_config").is_some();
    let has_struct = tree.message(owner.ty).field_named("config").is_some();
    if is_configured || !is_typed || has_struct || owner.get_bool(tree, "is_optional") == Some(true)
    {
        return;
    }
    let shown = name.value.as_str().unwrap_or_default();
    let text = format!("the extension `{shown}` has no `typed_config`");
    envoy::report(context, owner, name.span, text, sink)
        .why("extensions are found by the type of their configuration, not by their name")
        .help("add `typed_config` with the `@type` of the extension; it may hold nothing else");
}
