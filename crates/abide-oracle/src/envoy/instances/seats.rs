//! Places in a bootstrap where messages can stand, and the ways to those inside of them.

use std::collections::{BTreeMap, VecDeque};

use abide_schema::{Cardinality, Element, FieldId, Message, MessageId, Tree};
use serde_json::{Value, json};

use super::minimal::build_minimal_message;

/// Puts an Any into a bootstrap.
type Wrap = fn(Value) -> Value;

/// Where a message of a kind can stand in an Any.
const SEATS: &[(&str, Wrap)] = &[
    ("envoy.extensions.filters.network.http_connection_manager.", |any| {
        build_listener(json!({
        "filters": [{"name": "x", "typed_config": any}]}))
    }),
    ("envoy.extensions.filters.network.", |any| {
        build_listener(json!({
        "filters": [{"name": "x", "typed_config": any}]}))
    }),
    ("envoy.extensions.filters.http.", |any| {
        build_connection_manager(json!({
        "http_filters": [{"name": "x", "typed_config": any}, build_router_filter()]}))
    }),
    ("envoy.extensions.filters.listener.", |any| {
        let mut all = build_listener(json!({"filters": []}));
        all["static_resources"]["listeners"][0]["listener_filters"] =
            json!([{"name": "x", "typed_config": any}]);
        all
    }),
    ("envoy.extensions.access_loggers.", |any| {
        build_connection_manager(json!({
        "access_log": [{"name": "x", "typed_config": any}], "http_filters": [build_router_filter()]}))
    }),
    ("envoy.extensions.upstreams.http.v3.", |any| {
        build_cluster(json!({
        "typed_extension_protocol_options":
            {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": any}}))
    }),
    ("envoy.extensions.transport_sockets.", |any| {
        build_cluster(json!({
        "transport_socket": {"name": "x", "typed_config": any}}))
    }),
    ("envoy.extensions.clusters.", |any| {
        build_cluster(json!({
        "lb_policy": "CLUSTER_PROVIDED", "cluster_type": {"name": "x", "typed_config": any}}))
    }),
    ("envoy.extensions.health_checkers.", |any| {
        build_cluster(json!({
        "health_checks": [{"timeout": "1s", "interval": "1s", "unhealthy_threshold": 1,
            "healthy_threshold": 1, "custom_health_check": {"name": "x", "typed_config": any}}]}))
    }),
    ("envoy.extensions.load_balancing_policies.", |any| {
        build_cluster(json!({
        "load_balancing_policy":
            {"policies": [{"typed_extension_config": {"name": "x", "typed_config": any}}]}}))
    }),
    ("envoy.config.trace.", |any| {
        build_connection_manager(json!({
        "tracing": {"provider": {"name": "x", "typed_config": any}}, "http_filters": [build_router_filter()]}))
    }),
    ("envoy.config.metrics.", |any| json!({"stats_sinks": [{"name": "x", "typed_config": any}]})),
    (
        "envoy.extensions.stat_sinks.",
        |any| json!({"stats_sinks": [{"name": "x", "typed_config": any}]}),
    ),
    (
        "envoy.extensions.bootstrap.",
        |any| json!({"bootstrap_extensions": [{"name": "x", "typed_config": any}]}),
    ),
    ("envoy.extensions.resource_monitors.", |any| {
        json!({"overload_manager":
        {"resource_monitors": [{"name": "x", "typed_config": any}]}})
    }),
    ("envoy.extensions.retry.host.", |any| {
        build_connection_manager(json!({"http_filters": [build_router_filter()],
        "route_config": {"virtual_hosts": [{"name": "v", "domains": ["*"],
            "retry_policy": {"retry_host_predicate": [{"name": "x", "typed_config": any}]}}]}}))
    }),
];

fn build_router_filter() -> Value {
    let ty = "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router";
    json!({"name": "envoy.filters.http.router", "typed_config": {"@type": ty}})
}

fn build_listener(chain: Value) -> Value {
    let address = json!({"socket_address": {"address": "127.0.0.1", "port_value": 0}});
    json!({"static_resources": {"listeners": [
        {"name": "l", "address": address, "filter_chains": [chain]}]}})
}

fn build_connection_manager(mut fields: Value) -> Value {
    fields["@type"] = json!(concat!(
        "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.",
        "HttpConnectionManager"
    ));
    fields["stat_prefix"] = json!("s");
    if fields.get("route_config").is_none() {
        fields["route_config"] = json!({"virtual_hosts": [{"name": "v", "domains": ["*"]}]});
    }
    build_listener(json!({"filters": [{"name": "h", "typed_config": fields}]}))
}

fn build_cluster(mut fields: Value) -> Value {
    fields["name"] = json!("c");
    json!({"static_resources": {"clusters": [fields]}})
}

/// A place for a message, from the root of a file down.
#[derive(Clone)]
pub(super) struct Target {
    /// The message that the mutations are made in.
    pub(super) ty: MessageId,
    /// The type that the Any around it names; `None` outside of one.
    seat: Option<(MessageId, Wrap)>,
    /// The fields from there.
    path: Vec<FieldId>,
}

impl Target {
    /// Whether it is inside of an Any.
    pub(super) fn is_in_any(&self) -> bool {
        self.seat.is_some()
    }

    /// A bootstrap with a value at the place; `None` if something around it cannot be made.
    pub(super) fn bootstrap(&self, tree: &Tree, leaf: Value) -> Option<Value> {
        let Some((ty, wrap)) = self.seat else {
            let root = tree.message_named(BOOTSTRAP)?.id;
            return wrap_in_parents(tree, root, &self.path, leaf);
        };
        let mut any = wrap_in_parents(tree, ty, &self.path, leaf)?;
        any["@type"] = json!(format!("type.googleapis.com/{}", tree.message(ty).full_name()));
        Some(wrap(any))
    }

    /// The way to it, for a report.
    pub(super) fn text(&self, tree: &Tree) -> String {
        let path: Vec<&str> = self.path.iter().map(|it| tree.field(*it).name()).collect();
        let seat = self.seat.map_or("Bootstrap".to_owned(), |(ty, _)| tree.message(ty).full_name());
        format!("{seat}/{}", path.join("."))
    }
}

const BOOTSTRAP: &str = "envoy.config.bootstrap.v3.Bootstrap";

fn wrap_in_parents(tree: &Tree, ty: MessageId, path: &[FieldId], leaf: Value) -> Option<Value> {
    let [first, rest @ ..] = path else { return Some(leaf) };
    let field = tree.field(*first);
    let mut fields = build_minimal_message(tree, ty, 0)?;
    if let Some(oneof) = field.oneof() {
        oneof.fields().for_each(|it| drop(fields.remove(it.name())));
    }
    let inner = wrap_in_parents(tree, field.message_type()?.id, rest, leaf)?;
    let inner = match field.cardinality() {
        Cardinality::Repeated => json!([inner]),
        Cardinality::Singular | Cardinality::Map => inner,
    };
    fields.insert(field.name().to_owned(), inner);
    Some(Value::Object(fields))
}

/// The messages that can stand in a bootstrap, each at its nearest place outside of an Any and at
/// its nearest place inside of one.
pub(super) fn list_targets(tree: &Tree) -> Vec<Target> {
    let mut found: BTreeMap<(String, bool), Target> = BTreeMap::new();
    let mut roots = Vec::new();
    roots.extend(tree.message_named(BOOTSTRAP).map(|it| (it, None)));
    for file in tree.files() {
        let name = file.package().name();
        let seat = SEATS.iter().find(|(prefix, _)| format!("{name}.").starts_with(prefix));
        if let Some((_, wrap)) = seat {
            // A type for single routes is read as that of the filter, whatever it says.
            let is_apart = |it: &Message<'_>| {
                ["PerRoute", "Override"].iter().any(|part| it.name().contains(part))
            };
            let messages = file.messages().filter(|it| !is_apart(it));
            roots.extend(messages.map(|it| (it, Some((it.id, *wrap)))));
        }
    }
    for (root, seat) in roots {
        let mut queue: VecDeque<(Message<'_>, Vec<FieldId>)> = VecDeque::from([(root, Vec::new())]);
        let mut seen = vec![root.id];
        while let Some((message, path)) = queue.pop_front() {
            let key = (message.full_name(), seat.is_some());
            let target = Target { ty: message.id, seat, path: path.clone() };
            let known = found.get(&key).map(|it| it.path.len());
            if known.is_none_or(|known| path.len() < known) {
                found.insert(key, target);
            }
            if path.len() == 5 {
                continue;
            }
            for field in message.fields() {
                let is_live = Element::Field(field).deprecated().is_none();
                let Some(inner) = field.message_type().filter(|_| is_live && !field.is_map())
                else {
                    continue;
                };
                let name = inner.full_name();
                if name.starts_with("google.protobuf.") || seen.contains(&inner.id) {
                    continue;
                }
                seen.push(inner.id);
                let path = path.iter().copied().chain([field.id]).collect();
                queue.push_back((inner, path));
            }
        }
    }
    found.into_values().collect()
}
