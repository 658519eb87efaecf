//! Long polling: the discovery services over HTTP/1 and JSON.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use abide_schema::Tree;
use abide_schema::value::Codec;
use abide_xds::{Collection, Refusal, Service, TYPE_URL_PREFIX, TopicStatus};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

use crate::fleet::{Fleet, count};
use crate::traffic::Count;
use crate::wire::{BuildVersion, Node, SemanticVersion, brief};

/// The pages.
pub(crate) fn pages(fleet: Arc<Fleet>, hold: Duration) -> Router {
    let limit = DefaultBodyLimit::max(fleet.limits.max_request);
    let polls = Polls { fleet, hold, waiting: Arc::default() };
    Router::new().fallback(poll).layer(limit).with_state(polls)
}

#[derive(Clone)]
struct Polls {
    fleet: Arc<Fleet>,
    /// How long a poll may wait for something new.
    hold: Duration,
    waiting: Arc<Mutex<Waiting>>,
}

/// The polls that wait, by node and type, each with its number: dropping one ends it.
#[derive(Default)]
struct Waiting {
    polls: BTreeMap<(String, String), (u64, oneshot::Sender<()>)>,
    next: u64,
}

/// A poll that waits. Dropping this takes it out.
struct Place {
    waiting: Arc<Mutex<Waiting>>,
    key: (String, String),
    number: u64,
}

impl Place {
    /// Takes the place of a poll of the same node for the same type, which ends.
    fn take(
        waiting: &Arc<Mutex<Waiting>>,
        key: (String, String),
    ) -> (Place, oneshot::Receiver<()>) {
        let (sender, superseded) = oneshot::channel();
        let mut all = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        all.next += 1;
        let number = all.next;
        all.polls.insert(key.clone(), (number, sender));
        (Place { waiting: Arc::clone(waiting), key, number }, superseded)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if all.polls.get(&self.key).is_some_and(|(number, _)| *number == self.number) {
            all.polls.remove(&self.key);
        }
    }
}

/// The type that a path asks for, and the major of the transport.
fn type_at(path: &str) -> Option<(String, &'static str)> {
    let (major, rest) = path.strip_prefix('/')?.split_once("/discovery:")?;
    let (number, transport) = match major {
        "v2" => (2, "v2"),
        "v3" => (3, "v3"),
        _ => return None,
    };
    let service = Service::ALL.iter().find(|it| it.rest == rest)?;
    Some((service.type_url(number)?, transport))
}

async fn poll(State(polls): State<Polls>, method: Method, uri: Uri, body: Bytes) -> Response {
    let Some((type_url, transport)) = type_at(uri.path()) else {
        let all: Vec<&str> = Service::ALL.iter().map(|it| it.rest).collect();
        let there_is = format!("there is POST /v2|v3/discovery:{}\n", all.join("|"));
        return (StatusCode::NOT_FOUND, there_is).into_response();
    };
    if method != Method::POST {
        return (StatusCode::METHOD_NOT_ALLOWED, "POST only\n").into_response();
    }
    let request: Value = match serde_json::from_slice(&body) {
        Ok(request) => request,
        Err(error) => return (StatusCode::BAD_REQUEST, format!("{error}\n")).into_response(),
    };
    let node = node_of(&request);
    let fleet = &polls.fleet;
    count(&fleet.counters.requests);
    let Some(guest) = fleet.enter(node.clone(), transport) else {
        let message = "there are as many streams as there may be\n";
        return (StatusCode::SERVICE_UNAVAILABLE, message).into_response();
    };
    let traffic = &fleet.counters.traffic;
    traffic.add(&type_url, Count::Requests, 1);
    let error = member(&request, "error_detail").filter(|it| !it.is_null());
    let error =
        error.map(|it| it.get("message").and_then(Value::as_str).unwrap_or_default().to_owned());
    if let Some(error) = &error {
        count(&fleet.counters.nacks);
        traffic.add(&type_url, Count::Nacks, 1);
        let (node, error) = (&*node.id, brief(error));
        tracing::warn!(node, r#type = type_url, error, "a client refused a response");
    }
    let held = member(&request, "version_info").and_then(Value::as_str).unwrap_or_default();
    let names = member(&request, "resource_names").and_then(Value::as_array);
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    let names: Vec<String> = names.map(str::to_owned).collect();
    let group = fleet.apis.group_of(&node, &type_url);
    let key = (node.id.clone(), type_url.clone());
    let (_place, mut superseded) = Place::take(&polls.waiting, key);
    let until = Instant::now() + polls.hold;
    let mut served = fleet.watch();
    loop {
        let now = served.borrow_and_update().clone();
        if let Some(view) = fleet.view(&now, &node, group) {
            let nothing = Arc::default();
            let all = view.snapshot.collection(&type_url).unwrap_or(&nothing);
            let content = match names.is_empty() {
                true => Arc::clone(all),
                false => {
                    Arc::new(Collection::of(names.iter().filter_map(|it| all.find(it)).cloned()))
                }
            };
            guest.see(&view);
            let version = Arc::clone(content.version());
            let refused = error.clone().map(|message| {
                let message = brief(&message).to_owned();
                Refusal { version: Arc::clone(&version), message }
            });
            let accepted = (!held.is_empty()).then(|| held.into());
            guest.update(vec![TopicStatus {
                type_url: type_url.as_str().into(),
                sent: Some(Arc::clone(&version)),
                accepted,
                refused,
                held_back: Vec::new(),
            }]);
            // Endpoints and routes may be asked for before they exist.
            let is_early = content.is_empty() && !names.is_empty() && held.is_empty();
            if *version != *held && !is_early {
                count(&fleet.counters.responses);
                traffic.add(&type_url, Count::Responses, 1);
                traffic.add(&type_url, Count::Resources, content.len());
                let bytes = content.iter().map(|it| it.body.len()).sum();
                traffic.add(&type_url, Count::Bytes, bytes);
                return match json(&fleet.apis.newest, &type_url, &content) {
                    Ok(text) => ([(CONTENT_TYPE, "application/json")], text).into_response(),
                    Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error).into_response(),
                };
            }
        }
        tokio::select! {
            changed = served.changed() => if changed.is_err() { break },
            () = sleep_until(until) => break,
            _ = &mut superseded => break,
        }
    }
    StatusCode::NOT_MODIFIED.into_response()
}

/// A member by its name, in either spelling of the JSON mapping.
fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    let mut camel = String::new();
    for part in name.split('_') {
        let (head, tail) = part.split_at(usize::from(!camel.is_empty()));
        camel.push_str(&head.to_uppercase());
        camel.push_str(tail);
    }
    value.get(name).or_else(|| value.get(camel))
}

fn node_of(request: &Value) -> Node {
    let nothing = Value::Null;
    let node = member(request, "node").unwrap_or(&nothing);
    let text = |name| member(node, name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let version = member(node, "user_agent_build_version").and_then(|it| member(it, "version"));
    let version = version.map(|version| {
        let part = |name| member(version, name).and_then(Value::as_u64).unwrap_or(0) as u32;
        SemanticVersion {
            major: part("major_number"),
            minor: part("minor_number"),
            patch: part("patch"),
        }
    });
    Node {
        id: text("id"),
        cluster: text("cluster"),
        build_version: text("build_version"),
        user_agent_name: text("user_agent_name"),
        user_agent_version: text("user_agent_version"),
        user_agent_build_version: version.map(|version| BuildVersion { version: Some(version) }),
    }
    .brief()
}

/// A discovery response, in the JSON mapping.
///
/// # Errors
/// A resource that JSON has no notation for: one phrase.
pub(crate) fn json(tree: &Tree, type_url: &str, content: &Collection) -> Result<String, String> {
    let codec = Codec::new(tree);
    let name = type_url.strip_prefix(TYPE_URL_PREFIX).unwrap_or(type_url);
    let ty = tree.message_named(name).ok_or_else(|| format!("the API has no `{name}`"))?;
    let resources = content.iter().map(|resource| {
        let failed = |error: String| format!("the {name} `{}`: {error}", resource.name);
        let message = codec.decode(ty.id, &resource.body).map_err(|it| failed(it.to_string()))?;
        let text = codec.to_json(&message).map_err(|it| failed(it.to_string()))?;
        let value: Value = serde_json::from_str(&text).map_err(|it| failed(it.to_string()))?;
        let mut any = serde_json::Map::from_iter([("@type".to_owned(), json!(type_url))]);
        match value {
            Value::Object(members) => any.extend(members),
            value => drop(any.insert("value".to_owned(), value)),
        }
        Ok(Value::Object(any))
    });
    let resources = resources.collect::<Result<Vec<Value>, String>>()?;
    let version = &**content.version();
    Ok(json!({"versionInfo": version, "resources": resources, "typeUrl": type_url}).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_the_type_and_the_major() {
        let url = |path: &str| type_at(path).map(|(url, _)| url);
        assert_eq!(
            url("/v3/discovery:clusters").as_deref(),
            Some("type.googleapis.com/envoy.config.cluster.v3.Cluster")
        );
        assert_eq!(
            url("/v2/discovery:endpoints").as_deref(),
            Some("type.googleapis.com/envoy.api.v2.ClusterLoadAssignment")
        );
        assert_eq!(url("/v3/discovery:ads"), None);
        assert_eq!(url("/v2/discovery:extension_configs"), None, "the second major has none");
        assert_eq!(url("/v4/discovery:clusters"), None);
        assert_eq!(url("/"), None);
    }

    #[test]
    fn both_spellings_of_names_count() {
        let node = node_of(&json!({"node": {
            "id": "a", "userAgentName": "envoy",
            "user_agent_build_version": {"version": {"majorNumber": 1, "minor_number": 40}},
        }}));
        assert_eq!((&*node.id, &*node.user_agent()), ("a", "envoy 1.40.0"));
    }
}
