//! The services that the gRPC port offers, by name.

use std::collections::BTreeSet;

use crate::resources::Apis;

/// Services of every server, whatever it serves.
const ALWAYS: [&str; 6] = [
    "envoy.service.discovery.v2.AggregatedDiscoveryService",
    "envoy.service.discovery.v3.AggregatedDiscoveryService",
    "envoy.service.status.v3.ClientStatusDiscoveryService",
    "grpc.health.v1.Health",
    "grpc.reflection.v1.ServerReflection",
    "grpc.reflection.v1alpha.ServerReflection",
];

/// Lists the services, in order.
pub(super) fn service_names(apis: &Apis) -> BTreeSet<&str> {
    let of_types = apis.types().iter().flat_map(|it| it.entry.services.iter().flatten());
    ALWAYS.into_iter().chain(of_types.map(|it| &**it)).collect()
}
