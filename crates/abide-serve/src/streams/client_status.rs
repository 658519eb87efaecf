//! Client status discovery (CSDS): what each client was sent, and what it accepted or refused.
//!
//! Contents are left out: secrets are among them, and whoever asks is not the client.

use abide_xds::TypeStatus;
use abide_xds::wire::{Any, Node};
use hyper::body::Incoming;
use prost::{Message, Oneof};
use tokio::sync::mpsc;
use tonic::Status;

use super::conversation::answer_each;
use crate::clients::{ConnectedClient, ServerState, StreamPermit};
use crate::listeners::DrainSignal;
use abide_transport::{EncodedMessage, RequestStream};

/// The number of resources that an answer may have, of all clients together.
const MAX_RESOURCES: usize = 200_000;

/// A method of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatusMethod {
    /// One answer.
    Fetch,
    /// An answer to each request.
    Stream,
}

impl StatusMethod {
    /// Finds the method at a path.
    pub(super) fn at(path: &str) -> Option<StatusMethod> {
        match path.strip_prefix("/envoy.service.status.v3.ClientStatusDiscoveryService/")? {
            "FetchClientStatus" => Some(StatusMethod::Fetch),
            "StreamClientStatus" => Some(StatusMethod::Stream),
            _ => None,
        }
    }
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ClientStatusRequest {
    /// Clients that any of these fits; without any: all.
    #[prost(message, repeated, tag = "1")]
    node_matchers: Vec<NodeMatcher>,
}

#[derive(Clone, PartialEq, Message)]
struct NodeMatcher {
    #[prost(message, optional, tag = "1")]
    node_id: Option<StringMatcher>,
    /// Of metadata nothing is kept here.
    #[prost(message, repeated, tag = "2")]
    node_metadatas: Vec<Nothing>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Nothing {}

#[derive(Clone, PartialEq, Message)]
struct StringMatcher {
    #[prost(oneof = "Pattern", tags = "1, 2, 3, 5, 7, 8")]
    pattern: Option<Pattern>,
    #[prost(bool, tag = "6")]
    ignore_case: bool,
}

#[derive(Clone, PartialEq, Oneof)]
enum Pattern {
    #[prost(string, tag = "1")]
    Exact(String),
    #[prost(string, tag = "2")]
    Prefix(String),
    #[prost(string, tag = "3")]
    Suffix(String),
    #[prost(message, tag = "5")]
    Regex(Nothing),
    #[prost(string, tag = "7")]
    Contains(String),
    #[prost(message, tag = "8")]
    Custom(Nothing),
}

#[derive(Clone, PartialEq, Message)]
struct ClientStatusResponse {
    #[prost(message, repeated, tag = "1")]
    config: Vec<ClientConfig>,
}

#[derive(Clone, PartialEq, Message)]
struct ClientConfig {
    #[prost(message, optional, tag = "1")]
    node: Option<Node>,
    #[prost(message, repeated, tag = "3")]
    generic_xds_configs: Vec<GenericXdsConfig>,
}

#[derive(Clone, PartialEq, Message)]
struct GenericXdsConfig {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(string, tag = "3")]
    version_info: String,
    #[prost(enumeration = "ConfigStatus", tag = "6")]
    config_status: i32,
    #[prost(enumeration = "ClientResourceStatus", tag = "7")]
    client_status: i32,
    #[prost(message, optional, tag = "8")]
    error_state: Option<UpdateFailureState>,
}

#[derive(Clone, PartialEq, Message)]
struct UpdateFailureState {
    #[prost(message, optional, tag = "1")]
    failed_configuration: Option<Any>,
    #[prost(string, tag = "3")]
    details: String,
    #[prost(string, tag = "4")]
    version_info: String,
}

/// The values of `envoy.service.status.v3.ConfigStatus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
enum ConfigStatus {
    Unknown = 0,
    /// The client accepted it.
    Synced = 1,
    /// It waits for something, or the client cannot have it.
    NotSent = 2,
    /// It was sent, and the client has not said what it thinks of it.
    Stale = 3,
    /// The client refused it.
    Error = 4,
}

/// The values of `envoy.admin.v3.ClientResourceStatus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
enum ClientResourceStatus {
    Unknown = 0,
    Requested = 1,
    DoesNotExist = 2,
    Acked = 3,
    Nacked = 4,
}

/// Answers one client, which need not be one of the fleet.
pub(super) async fn converse(
    fleet: &ServerState,
    _admission: StreamPermit,
    method: StatusMethod,
    incoming: RequestStream<Incoming, ClientStatusRequest>,
    outgoing: &mpsc::Sender<Result<EncodedMessage, Status>>,
    leave: Option<DrainSignal>,
) -> Result<(), Status> {
    let at_most = match method {
        StatusMethod::Fetch => 1,
        StatusMethod::Stream => usize::MAX,
    };
    answer_each(at_most, incoming, outgoing, leave, |request| answer(&fleet.clients(), &request))
        .await
}

fn answer(
    clients: &[ConnectedClient],
    request: &ClientStatusRequest,
) -> Result<ClientStatusResponse, Status> {
    let mut config = Vec::new();
    let mut count = 0;
    for client in clients {
        if !fits(&request.node_matchers, &client.node.id)? {
            continue;
        }
        let all: Vec<GenericXdsConfig> = client.has().types.iter().flat_map(describe).collect();
        count += all.len();
        if count > MAX_RESOURCES {
            return Err(Status::resource_exhausted(format!(
                "the clients have more than {MAX_RESOURCES} resources: name some with `node_matchers`"
            )));
        }
        config.push(ClientConfig { node: Some(client.node.clone()), generic_xds_configs: all });
    }
    Ok(ClientStatusResponse { config })
}

/// Returns true if any of these fits the id of a node.
fn fits(matchers: &[NodeMatcher], id: &str) -> Result<bool, Status> {
    let mut any = matchers.is_empty();
    for matcher in matchers {
        if !matcher.node_metadatas.is_empty() {
            let message = "`node_metadatas` match nothing here: metadata is not kept";
            return Err(Status::invalid_argument(message));
        }
        any |= match &matcher.node_id {
            Some(text) => text.fits(id)?,
            None => true,
        };
    }
    Ok(any)
}

impl StringMatcher {
    fn fits(&self, text: &str) -> Result<bool, Status> {
        let folded = |it: &str| if self.ignore_case { it.to_lowercase() } else { it.to_owned() };
        let text = folded(text);
        Ok(match &self.pattern {
            Some(Pattern::Exact(it)) => text == folded(it),
            Some(Pattern::Prefix(it)) => text.starts_with(&folded(it)),
            Some(Pattern::Suffix(it)) => text.ends_with(&folded(it)),
            Some(Pattern::Contains(it)) => text.contains(&folded(it)),
            Some(Pattern::Regex(_) | Pattern::Custom(_)) | None => {
                let message = "match ids by `exact`, `prefix`, `suffix` or `contains`";
                return Err(Status::invalid_argument(message));
            }
        })
    }
}

/// Describes the resources of one type that a client was sent, and those that wait.
fn describe(status: &TypeStatus) -> Vec<GenericXdsConfig> {
    let config = |name: &str, version: &str| GenericXdsConfig {
        type_url: status.type_url.to_string(),
        name: name.to_owned(),
        version_info: version.to_owned(),
        ..GenericXdsConfig::default()
    };
    let accepted = &status.accepted_resources;
    let refused = status.refused.as_ref();
    let refuses = |name: &str, version: &str| {
        refused.filter(|it| it.resources.iter().any(|it| *it.0 == *name && *it.1 == *version))
    };
    let mut all: Vec<GenericXdsConfig> = Vec::new();
    for resource in status.sent_resources.iter() {
        let (name, version) = (&*resource.name, &*resource.version);
        let is_accepted = accepted.get(name).is_some_and(|it| *it.version == *version);
        let refusal = refuses(name, version).filter(|_| !is_accepted);
        let (state, seen) = match (is_accepted, refusal) {
            (true, _) => (ConfigStatus::Synced, ClientResourceStatus::Acked),
            (false, Some(_)) => (ConfigStatus::Error, ClientResourceStatus::Nacked),
            (false, None) => (ConfigStatus::Stale, ClientResourceStatus::Requested),
        };
        let error_state = refusal.map(|it| UpdateFailureState {
            failed_configuration: None,
            details: it.message.clone(),
            version_info: it.version.to_string(),
        });
        all.push(GenericXdsConfig {
            config_status: state.into(),
            client_status: seen.into(),
            error_state,
            ..config(name, version)
        });
    }
    let waits = status.held_back.iter().map(|it| GenericXdsConfig {
        config_status: ConfigStatus::NotSent.into(),
        client_status: ClientResourceStatus::Requested.into(),
        ..config(&it.name, "")
    });
    all.extend(waits);
    all
}
