//! The messages of the transport, with the fields that are used here. Names and
//! numbers are those of the discovery services in their third major; the second has
//! the same, except for what is noted.
#![allow(missing_docs, reason = "fields are described where the protocol declares them")]

use std::collections::BTreeMap;
use std::collections::HashMap;

use crate::{ClientCapabilities, Names, Request, Response};
use bytes::Bytes;
use prost::Message;

/// The number of bytes that are kept of a text that a client sends.
const MAX_LOGGED_BYTES: usize = 1024;

/// The number of extensions and features of a client that are kept.
const MAX_KEPT: usize = 64;

/// Truncates a text that a client sent to the part that is kept.
pub fn truncate(text: &str) -> &str {
    let end = (0..=MAX_LOGGED_BYTES.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
    &text[..end.unwrap_or(0)]
}

/// Truncates a text that a client sent, and makes it one line: what controls a terminal or ends a
/// line is escaped.
pub fn one_line(text: &str) -> String {
    let escaped = |it: char| match it.is_control() {
        true => it.escape_default().to_string(),
        false => it.to_string(),
    };
    truncate(text.trim_end()).chars().map(escaped).collect()
}

/// The name of the message that a type URL, or its full name, is about, without its package.
pub fn simple_name(type_url: &str) -> &str {
    type_url.rsplit(['/', '.']).next().unwrap_or(type_url)
}

/// The client that asks.
#[derive(Clone, PartialEq, Message)]
pub struct Node {
    #[prost(string, tag = "1")]
    pub id: String,
    #[prost(string, tag = "2")]
    pub cluster: String,
    /// Of the second major alone.
    #[prost(string, tag = "5")]
    pub build_version: String,
    #[prost(string, tag = "6")]
    pub user_agent_name: String,
    #[prost(string, tag = "7")]
    pub user_agent_version: String,
    #[prost(message, optional, tag = "8")]
    pub user_agent_build_version: Option<BuildVersion>,
    #[prost(message, repeated, tag = "9")]
    pub extensions: Vec<Extension>,
    #[prost(string, repeated, tag = "10")]
    pub client_features: Vec<String>,
}

/// An extension that a client has.
#[derive(Clone, PartialEq, Message)]
pub struct Extension {
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its kind, such as `envoy.filters.http`.
    #[prost(string, tag = "2")]
    pub category: String,
    /// Only of one that is not versioned with the program.
    #[prost(message, optional, tag = "4")]
    pub version: Option<BuildVersion>,
    #[prost(bool, tag = "5")]
    pub disabled: bool,
    /// The full names of the messages that configure it.
    #[prost(string, repeated, tag = "6")]
    pub type_urls: Vec<String>,
}

/// `abide.negotiation.v1.VersionedTypeUrl`.
#[derive(Clone, PartialEq, Message)]
pub struct VersionedTypeUrl {
    #[prost(string, tag = "1")]
    pub type_url: String,
    #[prost(message, optional, tag = "2")]
    pub most_recently_supported: Option<SemanticVersion>,
}

impl From<VersionedTypeUrl> for crate::VersionedTypeUrl {
    fn from(it: VersionedTypeUrl) -> crate::VersionedTypeUrl {
        let minor =
            |it: SemanticVersion| crate::Minor { major: it.major.into(), minor: it.minor.into() };
        let most_recently_supported = it.most_recently_supported.map(minor);
        crate::VersionedTypeUrl { type_url: it.type_url, most_recently_supported }
    }
}

#[derive(Clone, PartialEq, Message)]
pub struct BuildVersion {
    #[prost(message, optional, tag = "1")]
    pub version: Option<SemanticVersion>,
}

impl BuildVersion {
    /// Its three numbers with dots between them.
    pub fn written(&self) -> Option<String> {
        let version = self.version.as_ref()?;
        Some(format!("{}.{}.{}", version.major, version.minor, version.patch))
    }
}

#[derive(Clone, PartialEq, Message)]
pub struct SemanticVersion {
    #[prost(uint32, tag = "1")]
    pub major: u32,
    #[prost(uint32, tag = "2")]
    pub minor: u32,
    #[prost(uint32, tag = "3")]
    pub patch: u32,
}

impl Node {
    /// Returns what it says about versions, with the type that it asks for first and those that it
    /// lists. Nothing about its program is in it.
    pub fn capabilities(
        &self,
        type_url: &str,
        versions: Vec<VersionedTypeUrl>,
    ) -> ClientCapabilities {
        let enabled = self.extensions.iter().filter(|it| !it.disabled);
        ClientCapabilities {
            type_url: type_url.to_owned(),
            versions: versions.into_iter().map(Into::into).collect(),
            extensions: enabled.flat_map(|it| it.type_urls.iter().cloned()).collect(),
            features: self.client_features.iter().cloned().collect(),
            operator_release: None,
        }
    }

    /// Returns the part of it that is kept: texts have an end, and of extensions only those with
    /// versions of their own say anything that is not known from what the client gets.
    #[must_use]
    pub fn brief(mut self) -> Node {
        self.extensions.retain(|it| it.version.is_some());
        self.extensions.truncate(MAX_KEPT);
        self.client_features.truncate(MAX_KEPT);
        for extension in &mut self.extensions {
            extension.type_urls = Vec::new();
        }
        let texts = [
            &mut self.id,
            &mut self.cluster,
            &mut self.build_version,
            &mut self.user_agent_name,
            &mut self.user_agent_version,
        ];
        let extensions = self.extensions.iter_mut().flat_map(|it| [&mut it.name, &mut it.category]);
        for text in texts.into_iter().chain(extensions).chain(&mut self.client_features) {
            let kept = truncate(text);
            if kept.len() < text.len() {
                // What is cut off is not kept in memory either.
                *text = kept.to_owned();
            }
        }
        self.extensions.shrink_to_fit();
        self.client_features.shrink_to_fit();
        self
    }

    /// The version of its program, if it says one that can be compared.
    pub fn version(&self) -> Option<semver::Version> {
        let built = self.user_agent_build_version.as_ref().and_then(|it| it.version.as_ref());
        match built {
            Some(it) => {
                Some(semver::Version::new(it.major.into(), it.minor.into(), it.patch.into()))
            }
            None => semver::Version::parse(&self.user_agent_version).ok(),
        }
    }

    /// Returns what it says about its program, as one phrase.
    pub fn user_agent(&self) -> String {
        let built = self.user_agent_build_version.as_ref().and_then(BuildVersion::written);
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
pub struct Status {
    #[prost(int32, tag = "1")]
    pub code: i32,
    #[prost(string, tag = "2")]
    pub message: String,
}

/// `google.protobuf.Any`.
#[derive(Clone, PartialEq, Message)]
pub struct Any {
    #[prost(string, tag = "1")]
    pub type_url: String,
    #[prost(bytes = "bytes", tag = "2")]
    pub value: Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub struct DiscoveryRequest {
    #[prost(string, tag = "1")]
    pub version_info: String,
    #[prost(message, optional, tag = "2")]
    pub node: Option<Node>,
    #[prost(string, repeated, tag = "3")]
    pub resource_names: Vec<String>,
    #[prost(string, tag = "4")]
    pub type_url: String,
    #[prost(string, tag = "5")]
    pub response_nonce: String,
    #[prost(message, optional, tag = "6")]
    pub error_detail: Option<Status>,
    /// Of `abide.negotiation.v1.VersionedRequest`.
    #[prost(message, repeated, tag = "50003")]
    pub versioned_type_urls: Vec<VersionedTypeUrl>,
}

#[derive(Clone, PartialEq, Message)]
pub struct DiscoveryResponse {
    #[prost(string, tag = "1")]
    pub version_info: String,
    #[prost(message, repeated, tag = "2")]
    pub resources: Vec<Any>,
    #[prost(string, tag = "4")]
    pub type_url: String,
    #[prost(string, tag = "5")]
    pub nonce: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct DeltaDiscoveryRequest {
    #[prost(message, optional, tag = "1")]
    pub node: Option<Node>,
    #[prost(string, tag = "2")]
    pub type_url: String,
    #[prost(string, repeated, tag = "3")]
    pub resource_names_subscribe: Vec<String>,
    #[prost(string, repeated, tag = "4")]
    pub resource_names_unsubscribe: Vec<String>,
    #[prost(map = "string, string", tag = "5")]
    pub initial_resource_versions: HashMap<String, String>,
    #[prost(string, tag = "6")]
    pub response_nonce: String,
    #[prost(message, optional, tag = "7")]
    pub error_detail: Option<Status>,
    /// Of `abide.negotiation.v1.VersionedRequest`.
    #[prost(message, repeated, tag = "50003")]
    pub versioned_type_urls: Vec<VersionedTypeUrl>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Resource {
    #[prost(string, tag = "1")]
    pub version: String,
    #[prost(message, optional, tag = "2")]
    pub resource: Option<Any>,
    #[prost(string, tag = "3")]
    pub name: String,
    #[prost(string, repeated, tag = "4")]
    pub aliases: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub struct DeltaDiscoveryResponse {
    #[prost(string, tag = "1")]
    pub system_version_info: String,
    #[prost(message, repeated, tag = "2")]
    pub resources: Vec<Resource>,
    #[prost(string, tag = "4")]
    pub type_url: String,
    #[prost(string, tag = "5")]
    pub nonce: String,
    #[prost(string, repeated, tag = "6")]
    pub removed_resources: Vec<String>,
}

/// `HealthCheckRequestOrEndpointHealthResponse`. What it reports is of no use here.
#[derive(Clone, PartialEq, Message)]
pub struct HealthCheckRequestOrResponse {
    #[prost(message, optional, tag = "1")]
    pub health_check_request: Option<HealthCheckRequest>,
}

#[derive(Clone, PartialEq, Message)]
pub struct HealthCheckRequest {
    #[prost(message, optional, tag = "1")]
    pub node: Option<Node>,
}

/// The endpoints whose health to check. Without clusters, there are none.
#[derive(Clone, PartialEq, Message)]
pub struct HealthCheckSpecifier {
    #[prost(message, optional, tag = "2")]
    pub interval: Option<prost_types::Duration>,
}

/// A layer of runtime, the same in both majors.
#[derive(Clone, PartialEq, Message)]
pub struct Runtime {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "2")]
    pub layer: Option<prost_types::Struct>,
}

/// A request in one of the variants of the protocol.
pub trait Incoming: Message + Default + 'static {
    /// The client that asks; clients may say it once a stream.
    fn take_node(&mut self) -> Option<Node>;

    /// The version that the client says it has; only the state of the world says one.
    fn version(&self) -> &str;

    /// The versions that it lists.
    fn take_versions(&mut self) -> Vec<VersionedTypeUrl>;

    /// The type that it is about.
    fn type_url(&self) -> &str;

    /// The type URL that it asks for.
    fn into_request(self) -> Request;
}

impl Incoming for DiscoveryRequest {
    fn take_node(&mut self) -> Option<Node> {
        self.node.take()
    }

    fn version(&self) -> &str {
        &self.version_info
    }

    fn take_versions(&mut self) -> Vec<VersionedTypeUrl> {
        std::mem::take(&mut self.versioned_type_urls)
    }

    fn type_url(&self) -> &str {
        &self.type_url
    }

    fn into_request(self) -> Request {
        Request {
            type_url: self.type_url,
            nonce: self.response_nonce,
            version: self.version_info,
            error: self.error_detail.map(|it| it.message),
            names: Names::Sotw(self.resource_names),
        }
    }
}

impl Incoming for DeltaDiscoveryRequest {
    fn take_node(&mut self) -> Option<Node> {
        self.node.take()
    }

    fn version(&self) -> &str {
        ""
    }

    fn take_versions(&mut self) -> Vec<VersionedTypeUrl> {
        std::mem::take(&mut self.versioned_type_urls)
    }

    fn type_url(&self) -> &str {
        &self.type_url
    }

    fn into_request(self) -> Request {
        let held: BTreeMap<String, String> = self.initial_resource_versions.into_iter().collect();
        Request {
            type_url: self.type_url,
            nonce: self.response_nonce,
            version: String::new(),
            error: self.error_detail.map(|it| it.message),
            names: Names::Delta {
                subscribe: self.resource_names_subscribe,
                unsubscribe: self.resource_names_unsubscribe,
                held,
            },
        }
    }
}

/// An entry that says that a name which the client asked for stands for nothing: it finds what it asked
/// for among the aliases.
fn nothing_named(name: &str) -> Resource {
    Resource { name: name.to_owned(), aliases: vec![name.to_owned()], ..Resource::default() }
}

fn any(type_url: &str, resource: &crate::Resource) -> Any {
    Any { type_url: type_url.to_owned(), value: resource.body.clone() }
}

impl DiscoveryResponse {
    /// Returns the part of a response that differs per client.
    pub fn head(response: &Response) -> DiscoveryResponse {
        DiscoveryResponse {
            version_info: response.version.to_string(),
            type_url: response.type_url.to_string(),
            nonce: response.nonce.to_string(),
            ..DiscoveryResponse::default()
        }
    }

    /// The rest of it, which is the same for all who are sent the same.
    pub fn content(response: &Response) -> DiscoveryResponse {
        let resources = response.resources.iter().map(|it| any(&response.type_url, it));
        DiscoveryResponse { resources: resources.collect(), ..DiscoveryResponse::default() }
    }
}

impl DeltaDiscoveryResponse {
    /// Returns the part of a response that differs per client.
    pub fn head(response: &Response) -> DeltaDiscoveryResponse {
        DeltaDiscoveryResponse {
            system_version_info: response.version.to_string(),
            type_url: response.type_url.to_string(),
            nonce: response.nonce.to_string(),
            resources: response.unresolved.iter().map(|it| nothing_named(it)).collect(),
            ..DeltaDiscoveryResponse::default()
        }
    }

    /// The rest of it, which is the same for all who are sent the same.
    pub fn content(response: &Response) -> DeltaDiscoveryResponse {
        let resources = response.resources.iter().map(|it| Resource {
            version: it.version.to_string(),
            resource: Some(any(&response.type_url, it)),
            name: it.name.to_string(),
            aliases: it.aliases.iter().map(ToString::to_string).collect(),
        });
        DeltaDiscoveryResponse {
            resources: resources.collect(),
            removed_resources: response.removed.iter().map(ToString::to_string).collect(),
            ..DeltaDiscoveryResponse::default()
        }
    }
}
