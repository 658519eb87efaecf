//! The services that the gRPC port offers, by name.

use std::collections::BTreeMap;

use crate::resources::Apis;

/// A method of a service, with the messages of both sides and whether each is a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServedMethod {
    pub(super) name: String,
    pub(super) request: (&'static str, bool),
    pub(super) response: (&'static str, bool),
}

/// Services whose methods no API has to declare.
const DECLARED: [&str; 3] = [
    "grpc.health.v1.Health",
    "grpc.reflection.v1.ServerReflection",
    "grpc.reflection.v1alpha.ServerReflection",
];

/// Services of all types, whatever is served.
const AGGREGATED: [&str; 2] = [
    "envoy.service.discovery.v2.AggregatedDiscoveryService",
    "envoy.service.discovery.v3.AggregatedDiscoveryService",
];

/// The service that says what clients have.
const CLIENT_STATUS: &str = "envoy.service.status.v3.ClientStatusDiscoveryService";

/// Lists the services in order, each with its methods; without any, its own file declares them.
pub(super) fn services(apis: &Apis) -> BTreeMap<&str, Vec<ServedMethod>> {
    let mut all: BTreeMap<&str, Vec<ServedMethod>> =
        DECLARED.into_iter().map(|it| (it, Vec::new())).collect();
    all.extend(AGGREGATED.map(|it| (it, discovery_methods("AggregatedResources").to_vec())));
    let status = |name: &str, is_stream| ServedMethod {
        name: name.to_owned(),
        request: ("ClientStatusRequest", is_stream),
        response: ("ClientStatusResponse", is_stream),
    };
    let methods = vec![status("StreamClientStatus", true), status("FetchClientStatus", false)];
    all.insert(CLIENT_STATUS, methods);
    for ty in apis.types().iter() {
        let Some(plural) = &ty.entry.methods else { continue };
        let names = ty.entry.services.iter().flatten();
        all.extend(names.map(|it| (&**it, discovery_methods(plural).to_vec())));
    }
    all
}

/// The methods of a discovery service, by the end of their names.
fn discovery_methods(plural: &str) -> [ServedMethod; 2] {
    [
        ServedMethod {
            name: format!("Stream{plural}"),
            request: ("DiscoveryRequest", true),
            response: ("DiscoveryResponse", true),
        },
        ServedMethod {
            name: format!("Delta{plural}"),
            request: ("DeltaDiscoveryRequest", true),
            response: ("DeltaDiscoveryResponse", true),
        },
    ]
}
