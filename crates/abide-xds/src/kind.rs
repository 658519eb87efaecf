//! What a type of resource is to the protocol.

use std::sync::Arc;

/// What every type URL begins with.
pub const TYPE_URL_PREFIX: &str = "type.googleapis.com/";

/// What a type of resource is to the protocol. The order is that in which a stream
/// of all types sends them. Source: "Eventual consistency considerations" and
/// "Aggregated Discovery Service" of the xDS protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "each is named after the messages that it stands for")]
pub enum Kind {
    Cluster,
    Endpoints,
    Listener,
    ScopedRoutes,
    Routes,
    VirtualHost,
    Secret,
    Extension,
    Runtime,
    /// Of an API that the protocol does not know.
    Other,
}

/// The discovery service of one kind, in both majors of the transport.
#[derive(Clone, Copy, Debug)]
pub struct Service {
    /// What it serves.
    pub kind: Kind,
    /// Its own name, the same in both majors: `ClusterDiscoveryService`.
    pub name: &'static str,
    /// What its methods are named after: `Stream` and `Delta` before it.
    pub plural: &'static str,
    /// The last part of its REST path.
    pub rest: &'static str,
    /// Its packages, by major 2 and 3; empty where the major has none.
    pub packages: [&'static str; 2],
    /// The messages that it serves, by major 2 and 3.
    pub messages: [&'static str; 2],
}

impl Service {
    /// The services of the protocol.
    pub const ALL: &[Service] = &[
        Service {
            kind: Kind::Cluster,
            name: "ClusterDiscoveryService",
            plural: "Clusters",
            rest: "clusters",
            packages: ["envoy.api.v2", "envoy.service.cluster.v3"],
            messages: ["envoy.api.v2.Cluster", "envoy.config.cluster.v3.Cluster"],
        },
        Service {
            kind: Kind::Endpoints,
            name: "EndpointDiscoveryService",
            plural: "Endpoints",
            rest: "endpoints",
            packages: ["envoy.api.v2", "envoy.service.endpoint.v3"],
            messages: [
                "envoy.api.v2.ClusterLoadAssignment",
                "envoy.config.endpoint.v3.ClusterLoadAssignment",
            ],
        },
        Service {
            kind: Kind::Listener,
            name: "ListenerDiscoveryService",
            plural: "Listeners",
            rest: "listeners",
            packages: ["envoy.api.v2", "envoy.service.listener.v3"],
            messages: ["envoy.api.v2.Listener", "envoy.config.listener.v3.Listener"],
        },
        Service {
            kind: Kind::ScopedRoutes,
            name: "ScopedRoutesDiscoveryService",
            plural: "ScopedRoutes",
            rest: "scoped-routes",
            packages: ["envoy.api.v2", "envoy.service.route.v3"],
            messages: [
                "envoy.api.v2.ScopedRouteConfiguration",
                "envoy.config.route.v3.ScopedRouteConfiguration",
            ],
        },
        Service {
            kind: Kind::Routes,
            name: "RouteDiscoveryService",
            plural: "Routes",
            rest: "routes",
            packages: ["envoy.api.v2", "envoy.service.route.v3"],
            messages: [
                "envoy.api.v2.RouteConfiguration",
                "envoy.config.route.v3.RouteConfiguration",
            ],
        },
        Service {
            kind: Kind::VirtualHost,
            name: "VirtualHostDiscoveryService",
            plural: "VirtualHosts",
            rest: "virtual-hosts",
            packages: ["envoy.api.v2", "envoy.service.route.v3"],
            messages: ["envoy.api.v2.route.VirtualHost", "envoy.config.route.v3.VirtualHost"],
        },
        Service {
            kind: Kind::Secret,
            name: "SecretDiscoveryService",
            plural: "Secrets",
            rest: "secrets",
            packages: ["envoy.service.discovery.v2", "envoy.service.secret.v3"],
            messages: [
                "envoy.api.v2.auth.Secret",
                "envoy.extensions.transport_sockets.tls.v3.Secret",
            ],
        },
        Service {
            kind: Kind::Extension,
            name: "ExtensionConfigDiscoveryService",
            plural: "ExtensionConfigs",
            rest: "extension_configs",
            packages: ["", "envoy.service.extension.v3"],
            messages: ["", "envoy.config.core.v3.TypedExtensionConfig"],
        },
        Service {
            kind: Kind::Runtime,
            name: "RuntimeDiscoveryService",
            plural: "Runtime",
            rest: "runtime",
            packages: ["envoy.service.discovery.v2", "envoy.service.runtime.v3"],
            messages: ["envoy.service.discovery.v2.Runtime", "envoy.service.runtime.v3.Runtime"],
        },
    ];

    /// The service of the messages that a type URL names, and their major, 2 or 3.
    pub fn of(type_url: &str) -> Option<(&'static Service, u8)> {
        let name = type_url.strip_prefix(TYPE_URL_PREFIX).filter(|it| !it.is_empty())?;
        Service::ALL.iter().find_map(|service| {
            let at = service.messages.iter().position(|it| *it == name)?;
            Some((service, if at == 1 { 3 } else { 2 }))
        })
    }

    /// The type URL of what it serves in a major, 2 or 3.
    pub fn type_url(&self, major: u8) -> Option<String> {
        let message = self.messages[usize::from(major == 3)];
        (!message.is_empty()).then(|| format!("{TYPE_URL_PREFIX}{message}"))
    }
}

impl Kind {
    /// The kind of the messages that a type URL names.
    pub fn of(type_url: &str) -> Kind {
        Service::of(type_url).map_or(Kind::Other, |(service, _)| service.kind)
    }

    /// What its discovery service is called for short, such as `cds`. Other types have none.
    pub fn abbreviation(self) -> Option<&'static str> {
        match self {
            Kind::Cluster => Some("cds"),
            Kind::Endpoints => Some("eds"),
            Kind::Listener => Some("lds"),
            Kind::ScopedRoutes => Some("srds"),
            Kind::Routes => Some("rds"),
            Kind::VirtualHost => Some("vhds"),
            Kind::Secret => Some("sds"),
            Kind::Extension => Some("ecds"),
            Kind::Runtime => Some("rtds"),
            Kind::Other => None,
        }
    }

    /// Whether an answer in the state of the world holds all resources, so that
    /// one which is not in it is gone.
    pub fn is_whole(self) -> bool {
        matches!(self, Kind::Cluster | Kind::Listener)
    }

    /// Whether clients ask for a resource before it has to exist: they wait for
    /// it, and for a missing one no answer is an answer.
    pub fn is_awaited(self) -> bool {
        matches!(self, Kind::Endpoints | Kind::Routes)
    }

    /// The kind whose resources have to follow when one of this kind changed, even
    /// if they did not change themselves: clients warm the change up with them.
    pub fn warmed_by(self) -> Option<Kind> {
        match self {
            Kind::Cluster => Some(Kind::Endpoints),
            Kind::Listener => Some(Kind::Routes),
            _ => None,
        }
    }

    /// Whether its resources direct requests to clusters, so that these have to be
    /// ready before.
    pub fn directs_requests(self) -> bool {
        matches!(self, Kind::Listener | Kind::ScopedRoutes | Kind::Routes | Kind::VirtualHost)
    }
}

/// The type URL that a type of either major has in the newest one, if a service serves it; else
/// the same.
pub fn newest_type_url(type_url: &str) -> Arc<str> {
    let newest = Service::of(type_url).and_then(|(service, _)| service.type_url(3));
    newest.map_or_else(|| type_url.into(), Arc::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_that_of_the_type_url_in_both_majors() {
        for service in Service::ALL {
            for major in [2, 3] {
                let Some(url) = service.type_url(major) else { continue };
                let (found, its_major) = Service::of(&url).expect("it is one of the services");
                assert_eq!((found.kind, its_major), (service.kind, major), "{url}");
                assert_eq!(Kind::of(&url), service.kind, "{url}");
            }
        }
        assert_eq!(Kind::of("envoy.config.cluster.v3.Cluster"), Kind::Other, "no prefix");
        assert_eq!(Kind::of("type.googleapis.com/envoy.api.v2.Auth.Secret"), Kind::Other);
        assert_eq!(Kind::of("type.googleapis.com/"), Kind::Other);
    }

    #[test]
    fn services_stand_in_the_order_in_which_they_are_sent() {
        assert!(Service::ALL.is_sorted_by_key(|service| service.kind));
    }
}
