use crate::finding::Severity;
use crate::instances::envoy;
use crate::rule::{Check, Group, InstanceCheck, InstanceContext, Rule, Sink};
use abide_instance::WalkItem;
use abide_schema::Tree;
use abide_schema::value::{Entry, Message};

pub(super) static RULE: Rule = Rule {
    id: "terminal-filter-misplaced",
    summary: "a filter behind the one that ends its chain, or a chain that nothing ends",
    group: Group::Envoy,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("terminal-filter-misplaced.md"),
    check: Check::Instance(InstanceCheck::Visit(check)),
};

/// The network filters that end a chain, and those that do not, by their packages without what all
/// have in common.
const ENDING: &[&str] = &[
    "dubbo_proxy",
    "echo",
    "direct_response",
    "http_connection_manager",
    "redis_proxy",
    "tcp_proxy",
    "thrift_proxy",
];
const PASSING: &[&str] = &[
    "connection_limit",
    "ext_authz",
    "local_ratelimit",
    "mongo_proxy",
    "ratelimit",
    "rbac",
    "sni_cluster",
    "sni_dynamic_forward_proxy",
    "zookeeper_proxy",
];

/// The HTTP filters that pass requests on.
const PASSING_HTTP: &[&str] = &[
    "buffer",
    "compressor",
    "cors",
    "csrf",
    "decompressor",
    "ext_authz",
    "ext_proc",
    "fault",
    "grpc_stats",
    "grpc_web",
    "health_check",
    "jwt_authn",
    "local_ratelimit",
    "lua",
    "oauth2",
    "ratelimit",
    "rbac",
];

fn check<'t>(context: &InstanceContext<'t>, visit: WalkItem<'t, '_>, sink: &mut Sink) {
    let tree = context.tree;
    let (owner, field, prefix, ending, passing) =
        match (envoy::visited(tree, visit, "FilterChain"), visited_manager(tree, visit)) {
            (Some(chain), _) => (chain, "filters", "network", ENDING, PASSING),
            (_, Some(manager)) => (manager, "http_filters", "http", &["router"][..], PASSING_HTTP),
            _ => return,
        };
    let filters: Vec<&Entry> = owner.get_all(tree, field).collect();
    let kind = |it: &Entry| find_kind(tree, it, prefix);
    let name = |it: &Entry| {
        let filter = it.value.as_message();
        filter.and_then(|it| it.get_str(tree, "name")).unwrap_or_default().to_owned()
    };
    for (at, filter) in filters.iter().enumerate() {
        let is_last = at + 1 == filters.len();
        let ends = kind(filter).is_some_and(|it| ending.contains(&it));
        let passes = kind(filter).is_some_and(|it| passing.contains(&it));
        if ends && !is_last {
            let text = format!("`{}` ends the chain, and filters stand behind it", name(filter));
            envoy::report(context, owner, filter.span, text, sink)
                .help("move it to the end of the list");
        } else if passes && is_last {
            let text = format!("`{}` does not end the chain, and is the last filter", name(filter));
            let end = if prefix == "http" { "the router" } else { "a proxy such as `tcp_proxy`" };
            envoy::report(context, owner, filter.span, text, sink)
                .help(format!("end the list with {end}"));
        }
    }
}

fn visited_manager<'m>(tree: &Tree, visit: WalkItem<'_, 'm>) -> Option<&'m Message> {
    envoy::visited(tree, visit, "HttpConnectionManager")
}

/// The kind of a filter by the type of its configuration, such as `router`.
fn find_kind<'t>(tree: &'t Tree, filter: &Entry, prefix: &str) -> Option<&'t str> {
    let any = filter.value.as_message()?.get_message(tree, "typed_config")?;
    let package = tree.message(any.content.as_ref()?.ty).file().package().name();
    let rest = package.strip_prefix("envoy.extensions.filters.")?.strip_prefix(prefix)?;
    rest.strip_prefix('.')?.split('.').next()
}
