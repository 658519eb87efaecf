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

/// What a service offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServiceMethods<'a> {
    /// What its own file declares.
    Declared,
    ClientStatus,
    /// The methods of a discovery service, by the end of their names.
    Discovery(&'a str),
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

/// Lists the services in order, each with what it offers.
pub(super) fn services(apis: &Apis) -> BTreeMap<&str, ServiceMethods<'_>> {
    let mut all: BTreeMap<&str, ServiceMethods<'_>> =
        DECLARED.into_iter().map(|it| (it, ServiceMethods::Declared)).collect();
    all.extend(AGGREGATED.map(|it| (it, ServiceMethods::Discovery("AggregatedResources"))));
    all.insert(CLIENT_STATUS, ServiceMethods::ClientStatus);
    for ty in apis.types().iter() {
        let Some(plural) = &ty.entry.methods else { continue };
        let names = ty.entry.services.iter().flatten();
        all.extend(names.map(|it| (&**it, ServiceMethods::Discovery(plural))));
    }
    all
}

impl ServiceMethods<'_> {
    /// Lists the methods that its own file does not declare.
    pub(super) fn list(self) -> Vec<ServedMethod> {
        let method = |name: String, request, response, is_stream| ServedMethod {
            name,
            request: (request, is_stream),
            response: (response, is_stream),
        };
        match self {
            ServiceMethods::Declared => Vec::new(),
            ServiceMethods::ClientStatus => {
                let status = |name: &str, is_stream| {
                    method(name.into(), "ClientStatusRequest", "ClientStatusResponse", is_stream)
                };
                vec![status("StreamClientStatus", true), status("FetchClientStatus", false)]
            }
            ServiceMethods::Discovery(plural) => vec![
                method(format!("Stream{plural}"), "DiscoveryRequest", "DiscoveryResponse", true),
                method(
                    format!("Delta{plural}"),
                    "DeltaDiscoveryRequest",
                    "DeltaDiscoveryResponse",
                    true,
                ),
            ],
        }
    }
}
