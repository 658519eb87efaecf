//! Messages on a stream, in either variant of the protocol.

use std::collections::BTreeMap;
use std::fmt;

use abide_xds::Names;
use bytes::Bytes;
use prost::Message;

use abide_xds::wire::{
    Any, DeltaDiscoveryRequest, DeltaDiscoveryResponse, DiscoveryRequest, DiscoveryResponse, Node,
    Resource, Status,
};

/// The code of a refusal: `INVALID_ARGUMENT`.
const REFUSED: i32 = 3;

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    /// The node that asks, in the first request of a stream.
    pub(crate) node: Option<Node>,
    pub(crate) type_url: String,
    /// The version that the client has; empty if it has none.
    pub(crate) version: String,
    pub(crate) nonce: String,
    pub(crate) error: Option<String>,
    pub(crate) names: Names,
}

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) type_url: String,
    pub(crate) version: String,
    pub(crate) nonce: String,
    pub(crate) resources: Vec<ReceivedResource>,
    pub(crate) removed: Vec<String>,
}

/// A resource in a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReceivedResource {
    pub(crate) name: String,
    /// Its own version, which only incremental responses have.
    pub(crate) version: String,
    pub(crate) body: Bytes,
}

/// Something that comes on a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    Response(Received),
    /// The end, and why.
    End(StreamEnd),
}

/// The end of a stream, with what was said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StreamEnd {
    /// The server does not have the method: it may speak gRPC, but not xDS.
    Unimplemented(String),
    /// Anything else ended it.
    Closed(String),
}

impl StreamEnd {
    pub(crate) fn closed(reason: impl Into<String>) -> StreamEnd {
        StreamEnd::Closed(reason.into())
    }
}

impl fmt::Display for StreamEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StreamEnd::Unimplemented(reason) | StreamEnd::Closed(reason) => f.write_str(reason),
        }
    }
}

/// The part that all resources share: the first field is the name.
#[derive(Clone, PartialEq, Message)]
struct Named {
    #[prost(string, tag = "1")]
    name: String,
}

impl ReceivedResource {
    fn of(any: Any) -> ReceivedResource {
        // The state of the world, too, may wrap a resource with its name.
        if any.type_url.ends_with("/envoy.service.discovery.v3.Resource")
            && let Ok(wrapped) = Resource::decode(any.value.clone())
        {
            return ReceivedResource::wrapped(wrapped);
        }
        let name = Named::decode(any.value.clone()).map(|it| it.name).unwrap_or_default();
        ReceivedResource { name, version: String::new(), body: any.value }
    }

    fn wrapped(resource: Resource) -> ReceivedResource {
        let body = resource.resource.map(|any| any.value).unwrap_or_default();
        ReceivedResource { name: resource.name, version: resource.version, body }
    }
}

fn status(message: String) -> Status {
    Status { code: REFUSED, message }
}

impl From<Ask> for DiscoveryRequest {
    fn from(ask: Ask) -> DiscoveryRequest {
        let Names::Sotw(resource_names) = ask.names else { return DiscoveryRequest::default() };
        DiscoveryRequest {
            versioned_type_urls: Vec::new(),
            version_info: ask.version,
            node: ask.node,
            resource_names,
            type_url: ask.type_url,
            response_nonce: ask.nonce,
            error_detail: ask.error.map(status),
        }
    }
}

impl From<Ask> for DeltaDiscoveryRequest {
    fn from(ask: Ask) -> DeltaDiscoveryRequest {
        let Names::Delta { subscribe, unsubscribe, held } = ask.names else {
            return DeltaDiscoveryRequest::default();
        };
        DeltaDiscoveryRequest {
            versioned_type_urls: Vec::new(),
            node: ask.node,
            type_url: ask.type_url,
            resource_names_subscribe: subscribe,
            resource_names_unsubscribe: unsubscribe,
            initial_resource_versions: BTreeMap::into_iter(held).collect(),
            response_nonce: ask.nonce,
            error_detail: ask.error.map(status),
        }
    }
}

impl From<DiscoveryResponse> for Received {
    fn from(response: DiscoveryResponse) -> Received {
        Received {
            type_url: response.type_url,
            version: response.version_info,
            nonce: response.nonce,
            resources: response.resources.into_iter().map(ReceivedResource::of).collect(),
            removed: Vec::new(),
        }
    }
}

impl From<DeltaDiscoveryResponse> for Received {
    fn from(response: DeltaDiscoveryResponse) -> Received {
        // Servers say in either way that a name stands for nothing: it is gone, or an entry without content.
        let (there, nothing): (Vec<_>, Vec<_>) =
            response.resources.into_iter().partition(|it| it.resource.is_some());
        let nothing = nothing.into_iter().map(|it| it.name);
        Received {
            type_url: response.type_url,
            version: response.system_version_info,
            nonce: response.nonce,
            resources: there.into_iter().map(ReceivedResource::wrapped).collect(),
            removed: response.removed_resources.into_iter().chain(nothing).collect(),
        }
    }
}
