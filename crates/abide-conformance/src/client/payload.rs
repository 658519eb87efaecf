//! The resources that a client under test is served, with the few fields that lead a request from a
//! listener to an endpoint. Names and numbers are those of Envoy's API in its third major.

use abide_xds::wire::Any;
use abide_xds::{Kind, Reference, Resource, Snapshot};
use bytes::Bytes;
use prost::Message;

use crate::resources::Type;

/// A message with nothing in it.
#[derive(Clone, PartialEq, Message)]
struct Nothing {}

#[derive(Clone, PartialEq, Message)]
struct ConfigSource {
    #[prost(message, optional, tag = "3")]
    ads: Option<Nothing>,
    #[prost(int32, tag = "6")]
    resource_api_version: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Cluster {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(int32, tag = "2")]
    discovery_type: i32,
    #[prost(message, optional, tag = "3")]
    eds: Option<EdsClusterConfig>,
    #[prost(message, optional, tag = "4")]
    connect_timeout: Option<Seconds>,
}

#[derive(Clone, PartialEq, Message)]
struct EdsClusterConfig {
    #[prost(message, optional, tag = "1")]
    config: Option<ConfigSource>,
    #[prost(string, tag = "2")]
    service_name: String,
}

#[derive(Clone, PartialEq, Message)]
struct Seconds {
    #[prost(int64, tag = "1")]
    seconds: i64,
}

#[derive(Clone, PartialEq, Message)]
struct ClusterLoadAssignment {
    #[prost(string, tag = "1")]
    cluster_name: String,
    #[prost(message, repeated, tag = "2")]
    endpoints: Vec<LocalityLbEndpoints>,
}

#[derive(Clone, PartialEq, Message)]
struct LocalityLbEndpoints {
    #[prost(message, optional, tag = "1")]
    locality: Option<Locality>,
    #[prost(message, repeated, tag = "2")]
    lb_endpoints: Vec<LbEndpoint>,
    #[prost(message, optional, tag = "3")]
    weight: Option<Weight>,
}

#[derive(Clone, PartialEq, Message)]
struct Locality {
    #[prost(string, tag = "2")]
    zone: String,
}

#[derive(Clone, PartialEq, Message)]
struct Weight {
    #[prost(uint32, tag = "1")]
    value: u32,
}

#[derive(Clone, PartialEq, Message)]
struct LbEndpoint {
    #[prost(message, optional, tag = "1")]
    endpoint: Option<Endpoint>,
}

#[derive(Clone, PartialEq, Message)]
struct Endpoint {
    #[prost(message, optional, tag = "1")]
    address: Option<Address>,
}

#[derive(Clone, PartialEq, Message)]
struct Address {
    #[prost(message, optional, tag = "1")]
    socket_address: Option<SocketAddress>,
}

#[derive(Clone, PartialEq, Message)]
struct SocketAddress {
    #[prost(string, tag = "2")]
    address: String,
    #[prost(uint32, optional, tag = "3")]
    port: Option<u32>,
}

#[derive(Clone, PartialEq, Message)]
struct Listener {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, optional, tag = "2")]
    address: Option<Address>,
    #[prost(message, repeated, tag = "3")]
    filter_chains: Vec<FilterChain>,
    #[prost(message, optional, tag = "19")]
    api_listener: Option<ApiListener>,
}

#[derive(Clone, PartialEq, Message)]
struct FilterChain {
    #[prost(message, repeated, tag = "3")]
    filters: Vec<Filter>,
}

/// A filter of a listener or of its HTTP requests.
#[derive(Clone, PartialEq, Message)]
struct Filter {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, optional, tag = "4")]
    typed_config: Option<Any>,
}

#[derive(Clone, PartialEq, Message)]
struct ApiListener {
    #[prost(message, optional, tag = "1")]
    api_listener: Option<Any>,
}

#[derive(Clone, PartialEq, Message)]
struct HttpConnectionManager {
    #[prost(string, tag = "2")]
    stat_prefix: String,
    #[prost(message, optional, tag = "3")]
    rds: Option<Rds>,
    #[prost(message, repeated, tag = "5")]
    http_filters: Vec<Filter>,
}

#[derive(Clone, PartialEq, Message)]
struct Rds {
    #[prost(message, optional, tag = "1")]
    config_source: Option<ConfigSource>,
    #[prost(string, tag = "2")]
    route_config_name: String,
}

#[derive(Clone, PartialEq, Message)]
struct RouteConfiguration {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, repeated, tag = "2")]
    virtual_hosts: Vec<VirtualHost>,
}

#[derive(Clone, PartialEq, Message)]
struct VirtualHost {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, repeated, tag = "2")]
    domains: Vec<String>,
    #[prost(message, repeated, tag = "3")]
    routes: Vec<Route>,
}

#[derive(Clone, PartialEq, Message)]
struct Route {
    #[prost(message, optional, tag = "1")]
    matcher: Option<RouteMatch>,
    #[prost(message, optional, tag = "2")]
    action: Option<RouteAction>,
}

#[derive(Clone, PartialEq, Message)]
struct RouteMatch {
    #[prost(string, optional, tag = "1")]
    prefix: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct RouteAction {
    #[prost(string, tag = "1")]
    cluster: String,
}

/// The resources that a client under test is served: a listener, routes, a cluster and its
/// endpoints.
#[derive(Clone, Debug, Default)]
pub(super) struct World {
    /// The names of listeners that a client asks for; without any, there is one that a proxy takes.
    pub(super) listeners: Vec<String>,
    /// The version of each type.
    pub(super) contents: [u16; 4],
    /// The types whose resources nobody can read.
    pub(super) broken: [bool; 4],
    /// True if requests are led to the second cluster.
    pub(super) is_moved: bool,
}

/// The place of a type in a [`World`].
pub(super) fn find_place(ty: Type) -> usize {
    match ty.resource_type().kind {
        Kind::CLUSTER => 0,
        Kind::ENDPOINTS => 1,
        Kind::LISTENER => 2,
        _ => 3,
    }
}

fn ads() -> Option<ConfigSource> {
    Some(ConfigSource { ads: Some(Nothing {}), resource_api_version: 2 })
}

fn any(name: &str, message: &impl Message) -> Option<Any> {
    let type_url = format!("type.googleapis.com/envoy.extensions.filters.{name}");
    Some(Any { type_url, value: message.encode_to_vec().into() })
}

fn address(port: u32) -> Option<Address> {
    let address = SocketAddress { address: "127.0.0.1".to_owned(), port: Some(port) };
    Some(Address { socket_address: Some(address) })
}

impl World {
    /// The resources.
    pub(super) fn snapshot(&self) -> Snapshot {
        let end = if self.is_moved { "b" } else { "a" };
        let (cluster, endpoints) = (format!("cluster-{end}"), format!("endpoints-{end}"));
        let [of_cluster, of_endpoints, of_listener, of_routes] = self.contents.map(i64::from);
        let mut all = vec![
            (0, "cds", cluster.clone(), self.cluster(&cluster, &endpoints, of_cluster)),
            (1, "eds", endpoints.clone(), self.endpoints(&endpoints, of_endpoints)),
            (3, "rds", "routes".to_owned(), self.routes(&cluster, of_routes)),
        ];
        if self.listeners.is_empty() {
            let address = address(0);
            let filter = Filter { name: "http".to_owned(), typed_config: self.http(of_listener) };
            let filter_chains = vec![FilterChain { filters: vec![filter] }];
            let name = "conformance".to_owned();
            let listener =
                Listener { name: name.clone(), address, filter_chains, api_listener: None };
            all.push((2, "lds", name, listener.encode_to_vec()));
        }
        for name in &self.listeners {
            let api_listener = Some(ApiListener { api_listener: self.http(of_listener) });
            let listener = Listener { name: name.clone(), api_listener, ..Listener::default() };
            all.push((2, "lds", name.clone(), listener.encode_to_vec()));
        }
        let resources = all.into_iter().filter_map(|(place, word, name, body)| {
            let url = Type::named(word).ok()?.url();
            let reference = match place {
                0 => Some(Reference::optional(Kind::ENDPOINTS, &endpoints)),
                2 => Some(Reference::required(Kind::ROUTES, "routes")),
                3 => Some(Reference::required(Kind::CLUSTER, &cluster)),
                _ => None,
            };
            // Bytes that end within a field are no message.
            let body = match self.broken[place] {
                true => Bytes::from(vec![0x0a, 0xff, self.contents[place] as u8]),
                false => Bytes::from(body),
            };
            Some((url, Resource::new(&name, body).referring_to(reference)))
        });
        let resources: Vec<(String, Resource)> = resources.collect();
        Snapshot::of(resources.iter().map(|(url, it)| (url.as_str(), it.clone())))
    }

    fn cluster(&self, name: &str, endpoints: &str, content: i64) -> Vec<u8> {
        let eds = EdsClusterConfig { config: ads(), service_name: endpoints.to_owned() };
        let cluster = Cluster {
            name: name.to_owned(),
            discovery_type: 3,
            eds: Some(eds),
            connect_timeout: Some(Seconds { seconds: 1 + content }),
        };
        cluster.encode_to_vec()
    }

    fn endpoints(&self, name: &str, content: i64) -> Vec<u8> {
        // Nobody listens there; a client that asks has what it was served.
        let port = 1 + content as u32;
        let lb_endpoints = vec![LbEndpoint { endpoint: Some(Endpoint { address: address(port) }) }];
        let locality = Some(Locality { zone: "a".to_owned() });
        let weight = Some(Weight { value: 1 });
        let endpoints = vec![LocalityLbEndpoints { locality, lb_endpoints, weight }];
        ClusterLoadAssignment { cluster_name: name.to_owned(), endpoints }.encode_to_vec()
    }

    fn routes(&self, cluster: &str, content: i64) -> Vec<u8> {
        let action = Some(RouteAction { cluster: cluster.to_owned() });
        let matcher = Some(RouteMatch { prefix: Some(String::new()) });
        let virtual_host = VirtualHost {
            name: format!("v{content}"),
            domains: vec!["*".to_owned()],
            routes: vec![Route { matcher, action }],
        };
        let virtual_hosts = vec![virtual_host];
        RouteConfiguration { name: "routes".to_owned(), virtual_hosts }.encode_to_vec()
    }

    fn http(&self, content: i64) -> Option<Any> {
        let router = any("http.router.v3.Router", &Nothing {});
        let manager = HttpConnectionManager {
            stat_prefix: format!("v{content}"),
            rds: Some(Rds { config_source: ads(), route_config_name: "routes".to_owned() }),
            http_filters: vec![Filter { name: "router".to_owned(), typed_config: router }],
        };
        any("network.http_connection_manager.v3.HttpConnectionManager", &manager)
    }
}
