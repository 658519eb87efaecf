//! The messages of the transport, with the fields that are used here. Names and
//! numbers are those of the discovery services in their third major; the second has
//! the same, except for what is noted.

use std::collections::BTreeMap;
use std::collections::HashMap;

use abide_xds::{Names, Request, Response};
use bytes::Bytes;
use prost::Message;

/// How much of a text that a client sends is kept, in bytes.
const MAX_SAID: usize = 1024;

/// What is kept of a text that a client sent.
pub(crate) fn brief(text: &str) -> &str {
    let end = (0..=MAX_SAID.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
    &text[..end.unwrap_or(0)]
}

/// Who asks.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Node {
    #[prost(string, tag = "1")]
    pub(crate) id: String,
    #[prost(string, tag = "2")]
    pub(crate) cluster: String,
    /// Of the second major alone.
    #[prost(string, tag = "5")]
    pub(crate) build_version: String,
    #[prost(string, tag = "6")]
    pub(crate) user_agent_name: String,
    #[prost(string, tag = "7")]
    pub(crate) user_agent_version: String,
    #[prost(message, optional, tag = "8")]
    pub(crate) user_agent_build_version: Option<BuildVersion>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct BuildVersion {
    #[prost(message, optional, tag = "1")]
    pub(crate) version: Option<SemanticVersion>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct SemanticVersion {
    #[prost(uint32, tag = "1")]
    pub(crate) major: u32,
    #[prost(uint32, tag = "2")]
    pub(crate) minor: u32,
    #[prost(uint32, tag = "3")]
    pub(crate) patch: u32,
}

impl Node {
    /// What of it is kept: texts have an end.
    #[must_use]
    pub(crate) fn brief(mut self) -> Node {
        let texts = [
            &mut self.id,
            &mut self.cluster,
            &mut self.build_version,
            &mut self.user_agent_name,
            &mut self.user_agent_version,
        ];
        for text in texts {
            text.truncate(brief(text).len());
        }
        self
    }

    /// The version of its program, if it says one that can be compared.
    pub(crate) fn version(&self) -> Option<semver::Version> {
        let built = self.user_agent_build_version.as_ref().and_then(|it| it.version.as_ref());
        match built {
            Some(it) => {
                Some(semver::Version::new(it.major.into(), it.minor.into(), it.patch.into()))
            }
            None => semver::Version::parse(&self.user_agent_version).ok(),
        }
    }

    /// What it says about its program, as one phrase.
    pub(crate) fn user_agent(&self) -> String {
        let built = self.user_agent_build_version.as_ref().and_then(|it| it.version.as_ref());
        let built = built.map(|it| format!("{}.{}.{}", it.major, it.minor, it.patch));
        let version = built.as_deref().unwrap_or(&self.user_agent_version);
        let said = [&*self.user_agent_name, version].into_iter().filter(|it| !it.is_empty());
        let said: Vec<&str> = said.collect();
        match said.is_empty() {
            true => self.build_version.clone(),
            false => said.join(" "),
        }
    }
}

/// `google.rpc.Status`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Status {
    #[prost(string, tag = "2")]
    pub(crate) message: String,
}

/// `google.protobuf.Any`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Any {
    #[prost(string, tag = "1")]
    pub(crate) type_url: String,
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) value: Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct DiscoveryRequest {
    #[prost(string, tag = "1")]
    pub(crate) version_info: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) node: Option<Node>,
    #[prost(string, repeated, tag = "3")]
    pub(crate) resource_names: Vec<String>,
    #[prost(string, tag = "4")]
    pub(crate) type_url: String,
    #[prost(string, tag = "5")]
    pub(crate) response_nonce: String,
    #[prost(message, optional, tag = "6")]
    pub(crate) error_detail: Option<Status>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct DiscoveryResponse {
    #[prost(string, tag = "1")]
    pub(crate) version_info: String,
    #[prost(message, repeated, tag = "2")]
    pub(crate) resources: Vec<Any>,
    #[prost(string, tag = "4")]
    pub(crate) type_url: String,
    #[prost(string, tag = "5")]
    pub(crate) nonce: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct DeltaDiscoveryRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) node: Option<Node>,
    #[prost(string, tag = "2")]
    pub(crate) type_url: String,
    #[prost(string, repeated, tag = "3")]
    pub(crate) resource_names_subscribe: Vec<String>,
    #[prost(string, repeated, tag = "4")]
    pub(crate) resource_names_unsubscribe: Vec<String>,
    #[prost(map = "string, string", tag = "5")]
    pub(crate) initial_resource_versions: HashMap<String, String>,
    #[prost(string, tag = "6")]
    pub(crate) response_nonce: String,
    #[prost(message, optional, tag = "7")]
    pub(crate) error_detail: Option<Status>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Resource {
    #[prost(string, tag = "1")]
    pub(crate) version: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) resource: Option<Any>,
    #[prost(string, tag = "3")]
    pub(crate) name: String,
    #[prost(string, repeated, tag = "4")]
    pub(crate) aliases: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct DeltaDiscoveryResponse {
    #[prost(string, tag = "1")]
    pub(crate) system_version_info: String,
    #[prost(message, repeated, tag = "2")]
    pub(crate) resources: Vec<Resource>,
    #[prost(string, tag = "4")]
    pub(crate) type_url: String,
    #[prost(string, tag = "5")]
    pub(crate) nonce: String,
    #[prost(string, repeated, tag = "6")]
    pub(crate) removed_resources: Vec<String>,
}

/// A layer of runtime, the same in both majors.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Runtime {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) layer: Option<prost_types::Struct>,
}

/// A request in one of the variants of the protocol.
pub(crate) trait Incoming: Message + Default + 'static {
    /// The response of the variant.
    type Outgoing: Message + Default + From<Response> + 'static;

    /// Who asks; clients may say it once a stream.
    fn take_node(&mut self) -> Option<Node>;

    /// What it asks for.
    fn into_request(self) -> Request;
}

impl Incoming for DiscoveryRequest {
    type Outgoing = DiscoveryResponse;

    fn take_node(&mut self) -> Option<Node> {
        self.node.take()
    }

    fn into_request(self) -> Request {
        Request {
            type_url: self.type_url,
            nonce: self.response_nonce,
            error: self.error_detail.map(|it| it.message),
            names: Names::Whole(self.resource_names),
        }
    }
}

impl Incoming for DeltaDiscoveryRequest {
    type Outgoing = DeltaDiscoveryResponse;

    fn take_node(&mut self) -> Option<Node> {
        self.node.take()
    }

    fn into_request(self) -> Request {
        let held: BTreeMap<String, String> = self.initial_resource_versions.into_iter().collect();
        Request {
            type_url: self.type_url,
            nonce: self.response_nonce,
            error: self.error_detail.map(|it| it.message),
            names: Names::Delta {
                subscribe: self.resource_names_subscribe,
                unsubscribe: self.resource_names_unsubscribe,
                held,
            },
        }
    }
}

impl From<Response> for DiscoveryResponse {
    fn from(response: Response) -> DiscoveryResponse {
        let any =
            |body: &Bytes| Any { type_url: response.type_url.to_string(), value: body.clone() };
        DiscoveryResponse {
            version_info: response.version.to_string(),
            resources: response.resources.iter().map(|it| any(&it.body)).collect(),
            nonce: response.nonce.to_string(),
            type_url: response.type_url.to_string(),
        }
    }
}

impl From<Response> for DeltaDiscoveryResponse {
    fn from(response: Response) -> DeltaDiscoveryResponse {
        let any =
            |body: &Bytes| Any { type_url: response.type_url.to_string(), value: body.clone() };
        let resources = response.resources.iter().map(|it| Resource {
            version: it.version.to_string(),
            resource: Some(any(&it.body)),
            name: it.name.to_string(),
            aliases: it.aliases.iter().map(ToString::to_string).collect(),
        });
        DeltaDiscoveryResponse {
            system_version_info: response.version.to_string(),
            resources: resources.collect(),
            type_url: response.type_url.to_string(),
            nonce: response.nonce.to_string(),
            removed_resources: response.removed.iter().map(ToString::to_string).collect(),
        }
    }
}
