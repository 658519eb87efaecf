//! The types that everybody has, in the order in which they are sent. Source: "Eventual consistency
//! considerations" and "Aggregated Discovery Service" of the xDS protocol.

use super::registry::TypeEntry;

/// A type of Envoy's API, in its majors 2 and 3. An empty text: it has none.
fn envoy(
    name: &str,
    messages: [&str; 2],
    services: [&str; 2],
    methods: &str,
    rest: &str,
) -> TypeEntry {
    let some = |it: &str| Some(it.to_owned()).filter(|it| !it.is_empty());
    TypeEntry {
        name: name.to_owned(),
        messages: messages.map(some),
        services: services.map(some),
        methods: some(methods),
        rest: some(rest),
        ..TypeEntry::default()
    }
}

fn texts(all: &[&str]) -> Vec<String> {
    all.iter().map(|&it| it.to_owned()).collect()
}

/// The entries. The constants of [`super::Kind`] are their places.
pub(super) fn list_builtin_types() -> Vec<TypeEntry> {
    let (v2, discovery_v2) = ("envoy.api.v2", "envoy.service.discovery.v2");
    vec![
        TypeEntry {
            is_whole: true,
            warmed_by: Some("eds".to_owned()),
            required_by: texts(&[
                "envoy.*.RouteAction.cluster",
                "envoy.*.WeightedCluster.ClusterWeight.name",
                "envoy.*.TcpProxy.cluster",
                "envoy.extensions.clusters.aggregate.v3.ClusterConfig.clusters",
                "envoy.config.cluster.aggregate.v2alpha.ClusterConfig.clusters",
                "envoy.*.RedisProxy.PrefixRoutes.Route.cluster",
            ]),
            referred_by: texts(&[
                "envoy.*.RouteAction.RequestMirrorPolicy.cluster",
                "envoy.*.GrpcService.EnvoyGrpc.cluster_name",
                "envoy.*.HttpUri.cluster",
            ]),
            ..envoy(
                "cds",
                [&format!("{v2}.Cluster"), "envoy.config.cluster.v3.Cluster"],
                [
                    &format!("{v2}.ClusterDiscoveryService"),
                    "envoy.service.cluster.v3.ClusterDiscoveryService",
                ],
                "Clusters",
                "clusters",
            )
        },
        // Which clusters refer to them, and by what name, depends on more than one field: see
        // `gather/references.rs`.
        TypeEntry {
            is_awaited: true,
            ..envoy(
                "eds",
                [
                    &format!("{v2}.ClusterLoadAssignment"),
                    "envoy.config.endpoint.v3.ClusterLoadAssignment",
                ],
                [
                    &format!("{v2}.EndpointDiscoveryService"),
                    "envoy.service.endpoint.v3.EndpointDiscoveryService",
                ],
                "Endpoints",
                "endpoints",
            )
        },
        TypeEntry {
            is_whole: true,
            directs_requests: true,
            warmed_by: Some("rds".to_owned()),
            ..envoy(
                "lds",
                [&format!("{v2}.Listener"), "envoy.config.listener.v3.Listener"],
                [
                    &format!("{v2}.ListenerDiscoveryService"),
                    "envoy.service.listener.v3.ListenerDiscoveryService",
                ],
                "Listeners",
                "listeners",
            )
        },
        TypeEntry {
            directs_requests: true,
            ..envoy(
                "srds",
                [
                    &format!("{v2}.ScopedRouteConfiguration"),
                    "envoy.config.route.v3.ScopedRouteConfiguration",
                ],
                [
                    &format!("{v2}.ScopedRoutesDiscoveryService"),
                    "envoy.service.route.v3.ScopedRoutesDiscoveryService",
                ],
                "ScopedRoutes",
                "scoped-routes",
            )
        },
        TypeEntry {
            is_awaited: true,
            directs_requests: true,
            required_by: texts(&[
                "envoy.*.Rds.route_config_name",
                "envoy.*.ScopedRouteConfiguration.route_configuration_name",
            ]),
            ..envoy(
                "rds",
                [&format!("{v2}.RouteConfiguration"), "envoy.config.route.v3.RouteConfiguration"],
                [
                    &format!("{v2}.RouteDiscoveryService"),
                    "envoy.service.route.v3.RouteDiscoveryService",
                ],
                "Routes",
                "routes",
            )
        },
        TypeEntry {
            directs_requests: true,
            ..envoy(
                "vhds",
                [&format!("{v2}.route.VirtualHost"), "envoy.config.route.v3.VirtualHost"],
                [
                    &format!("{v2}.VirtualHostDiscoveryService"),
                    "envoy.service.route.v3.VirtualHostDiscoveryService",
                ],
                "VirtualHosts",
                "virtual-hosts",
            )
        },
        TypeEntry {
            referred_by: texts(&["envoy.*.SdsSecretConfig.name"]),
            ..envoy(
                "sds",
                [&format!("{v2}.auth.Secret"), "envoy.extensions.transport_sockets.tls.v3.Secret"],
                [
                    &format!("{discovery_v2}.SecretDiscoveryService"),
                    "envoy.service.secret.v3.SecretDiscoveryService",
                ],
                "Secrets",
                "secrets",
            )
        },
        envoy(
            "ecds",
            ["", "envoy.config.core.v3.TypedExtensionConfig"],
            ["", "envoy.service.extension.v3.ExtensionConfigDiscoveryService"],
            "ExtensionConfigs",
            "extension_configs",
        ),
        envoy(
            "rtds",
            [&format!("{discovery_v2}.Runtime"), "envoy.service.runtime.v3.Runtime"],
            [
                &format!("{discovery_v2}.RuntimeDiscoveryService"),
                "envoy.service.runtime.v3.RuntimeDiscoveryService",
            ],
            "Runtime",
            "runtime",
        ),
    ]
}
