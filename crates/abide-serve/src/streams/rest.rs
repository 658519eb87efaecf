//! Long polling: the discovery services over HTTP/1 and JSON.

mod answers;

use std::sync::Arc;
use std::time::Duration;

use abide_xds::wire::{self, BuildVersion, Node, SemanticVersion, VersionedTypeUrl, truncate};
use abide_xds::{Awaited, Collection, Initialisation, Refusal, TypeStatus, Types};
use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ORIGIN};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use tokio::time::{Instant, sleep_until};

pub(crate) use self::answers::render_json;
use self::answers::{AnswerBody, AnswerCache};
use crate::clients::{
    ClientOrigin, ClientService, ClientState, Leases, PollHistory, PollKey, ResponseVerdict,
    ServerState, Variant,
};
use crate::listeners::{AllowedHosts, DrainSignal, Peer};
use abide_transport::{BodyError, BodyReader, PartialBody, Reservation, explain_compression};

/// The time that a poll whose place another one took goes on waiting, from its begin.
const SUPERSEDED_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The pages.
pub(crate) fn routes(fleet: Arc<ServerState>, hold: Duration, names: AllowedHosts) -> Router {
    let (waiting, polled, answers) = (Leases::default(), Arc::default(), Arc::default());
    let polls = Polls { fleet, hold, names, waiting, polled, answers };
    Router::new().fallback(poll).with_state(polls)
}

#[derive(Clone)]
struct Polls {
    fleet: Arc<ServerState>,
    /// The time that a poll may wait for something new.
    hold: Duration,
    /// By which names the port may be asked for.
    names: AllowedHosts,
    /// The polls that wait, by node and type: the newest of a node for a type ends the one before.
    waiting: Leases<PollKey>,
    /// The answers that they got.
    polled: Arc<PollHistory>,
    /// The texts of answers.
    answers: Arc<AnswerCache>,
}

/// The type that a path asks for, and the major of the transport.
fn type_at(types: &Types, path: &str) -> Option<(String, &'static str)> {
    let (major, rest) = path.strip_prefix('/')?.split_once("/discovery:")?;
    let (number, transport) = match major {
        "v2" => (2, "v2"),
        "v3" => (3, "v3"),
        _ => return None,
    };
    let ty = types.iter().find(|it| it.entry.rest.as_deref() == Some(rest))?;
    Some((ty.type_url(number)?.to_string(), transport))
}

async fn poll(
    State(polls): State<Polls>,
    Extension(leave): Extension<DrainSignal>,
    Extension(peer): Extension<Arc<Peer>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let types = polls.fleet.apis.types();
    let Some((type_url, transport)) = type_at(types, uri.path()) else {
        let all: Vec<&str> = types.iter().filter_map(|it| it.entry.rest.as_deref()).collect();
        let there_is = format!("there is POST /v2|v3/discovery:{}\n", all.join("|"));
        return (StatusCode::NOT_FOUND, there_is).into_response();
    };
    if method != Method::POST {
        return (StatusCode::METHOD_NOT_ALLOWED, "POST only\n").into_response();
    }
    // Nothing of it could be written as JSON.
    if !polls.fleet.apis.declares(&type_url) {
        let message = format!("the API that is served does not declare `{type_url}`\n");
        return (StatusCode::NOT_FOUND, message).into_response();
    }
    // Secrets are for clients alone, and what a client refuses counts.
    if headers.contains_key(ORIGIN) || !polls.names.admit_client(&headers) {
        let message = "clients ask here, no web pages: as `localhost`, or by the address\n";
        return (StatusCode::FORBIDDEN, message).into_response();
    }
    let Some(admission) = polls.fleet.acquire_stream_permit() else {
        let message = "there are as many streams as there may be\n";
        return (StatusCode::SERVICE_UNAVAILABLE, message).into_response();
    };
    let (request, room) = match read(&polls.fleet, &headers, body).await {
        Ok(read) => read,
        Err((status, error)) => return (status, error + "\n").into_response(),
    };
    let said = node_of(&request);
    let fleet = &polls.fleet;
    let listed = versions_of(&request).into_iter().filter(|it| it.type_url == type_url).collect();
    let group = match fleet.assign_group(&said, &type_url, listed) {
        Ok(group) => group,
        Err(error) => {
            return (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response();
        }
    };
    let node = said.brief();
    let origin =
        ClientOrigin { transport, service: ClientService::Discovery, variant: Variant::Rest, peer };
    let guest = fleet.register_client(admission, node.clone(), origin);
    let error = member(&request, "error_detail").filter(|it| !it.is_null());
    let error =
        error.map(|it| it.get("message").and_then(Value::as_str).unwrap_or_default().to_owned());
    // A poll has no nonce: only a refusal says that it answers a response.
    let answer = error.as_ref().map(|_| ResponseVerdict::Refused);
    fleet.counters.count_request(&type_url, answer);
    if let Some(error) = &error {
        let (node, error) = (&*node.id, truncate(error));
        tracing::warn!(node, r#type = type_url, error, "a client refused a response");
    }
    let held = text_of(&request, "version_info");
    let names = texts_of(&request, "resource_names");
    // A poll may wait for long.
    drop((request, room));
    fleet.usage.count(&fleet.apis, &type_url);
    let asker = (node.id.clone(), type_url.clone());
    let begin = Instant::now();
    // Clients without a name are not known to be the same.
    let named = Some(asker.clone()).filter(|_| !node.id.is_empty());
    let mut place = named.and_then(|it| polls.waiting.take(it, true));
    let superseded = async {
        match &mut place {
            Some(place) => place.superseded().await,
            None => std::future::pending().await,
        }
        // Two clients with one name take the place from each other, but not all the time.
        sleep_until(begin + SUPERSEDED_POLL_INTERVAL).await;
    };
    tokio::pin!(superseded);
    let refused = polls.polled.record_request(&asker, &held, error.as_deref().map(truncate));
    if let Some(refusal) = &refused {
        let now = fleet.subscribe().borrow().clone();
        if let Some(view) = fleet.view(&now, &node, &group) {
            fleet.record_refusal(&node, &view, &type_url, refusal);
        }
    }
    let progress = poll_progress(types, &type_url, &names, &held, error.is_some());
    guest.record_poll(progress.clone(), ClientState::default());
    let until = Instant::now() + polls.hold;
    let mut served = fleet.subscribe();
    let told = DrainSignal::wait_for_drain(Some(leave));
    tokio::pin!(told);
    loop {
        let now = served.borrow_and_update().clone();
        if let Some(view) = fleet.view(&now, &node, &group) {
            let nothing = Arc::default();
            let all = view.snapshot.collection(&type_url).unwrap_or(&nothing);
            let content = match names.is_empty() {
                true => Arc::clone(all),
                false => {
                    Arc::new(Collection::of(names.iter().filter_map(|it| all.find(it)).cloned()))
                }
            };
            let version = Arc::clone(content.version());
            // What was refused may have been answered by another server.
            let unknown = || {
                let message = truncate(error.as_deref()?).to_owned();
                Some(Refusal { version: Arc::clone(&version), message, resources: Vec::new() })
            };
            let accepted = (!held.is_empty()).then(|| held.as_str().into());
            let status = TypeStatus {
                type_url: type_url.as_str().into(),
                sent: Some(Arc::clone(&version)),
                accepted,
                refused: refused.clone().or_else(unknown),
                held_back: Vec::new(),
                names: (!names.is_empty()).then_some(names.len()),
                sent_resources: Arc::clone(&content),
                accepted_resources: if *version == *held {
                    Arc::clone(&content)
                } else {
                    Arc::default()
                },
            };
            let served = Some((Arc::clone(&view), group.clone()));
            guest.record_poll(progress.clone(), ClientState { types: vec![status], served });
            // Endpoints and routes may be asked for before they exist.
            let is_early = content.is_empty() && !names.is_empty() && held.is_empty();
            // The same is not sent again to who says that it is refused.
            let is_refused =
                error.is_some() && refused.as_ref().is_some_and(|it| it.version == version);
            if *version == *held {
                polls.polled.record_held(&asker, &content);
            } else if !is_early && !is_refused {
                polls.polled.record_answer(&asker, &content);
                fleet.counters.count_response(&type_url, content.iter());
                // Much takes long.
                let text = tokio::task::block_in_place(|| {
                    polls.answers.text(fleet.apis.newest, &type_url, &content)
                });
                let head = [(CONTENT_TYPE, "application/json")];
                return match text {
                    Ok(text) => (head, AnswerBody::body(text, guest)).into_response(),
                    Err(error) => {
                        (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response()
                    }
                };
            }
        }
        tokio::select! {
            changed = served.changed() => if changed.is_err() { break },
            () = sleep_until(until) => break,
            () = &mut superseded => break,
            () = &mut told => break,
        }
    }
    StatusCode::NOT_MODIFIED.into_response()
}

/// Reads the body of a poll, once there is room for it.
///
/// # Errors
/// What is too large, does not come or is no JSON: one phrase.
async fn read(
    fleet: &ServerState,
    headers: &HeaderMap,
    body: Body,
) -> Result<(Value, Reservation), (StatusCode, String)> {
    let most = fleet.limits.max_request;
    let too_large = || {
        let message = format!("a request may have at most {most} bytes: `--max-request`");
        (StatusCode::PAYLOAD_TOO_LARGE, message)
    };
    if let Some(message) = explain_compression(headers.get(CONTENT_ENCODING)) {
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    let said = headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok());
    if said.is_some_and(|length: usize| length > most) {
        return Err(too_large());
    }
    // A length that is not said may be any.
    let length = said.unwrap_or(most + 1);
    let mut arriving = BodyReader::new(body, fleet.limits.stall, Arc::clone(&fleet.room));
    let mut part = PartialBody::default();
    let is_full = arriving.fill(&mut part, length).await.map_err(|why| match why {
        BodyError::Late => (StatusCode::REQUEST_TIMEOUT, "the request did not come".to_owned()),
        BodyError::Broken(why) => (StatusCode::BAD_REQUEST, why),
    })?;
    let (body, room) = part.into_whole();
    if is_full && said.is_none() {
        return Err(too_large());
    }
    let bad = |error: String| (StatusCode::BAD_REQUEST, error);
    let request = serde_json::from_slice(&body).map_err(|error| bad(error.to_string()))?;
    match find_invalid_field(&request) {
        Some(error) => Err(bad(error)),
        None => Ok((request, room)),
    }
}

/// Finds a field of a request that has another type than it must have: one phrase.
fn find_invalid_field(request: &Value) -> Option<String> {
    const STRING: (&str, fn(&Value) -> bool) = ("a string", Value::is_string);
    const OBJECT: (&str, fn(&Value) -> bool) = ("an object", Value::is_object);
    const STRINGS: (&str, fn(&Value) -> bool) = ("a list of strings", |value| {
        value.as_array().is_some_and(|all| all.iter().all(Value::is_string))
    });
    const OBJECTS: (&str, fn(&Value) -> bool) = ("a list of objects", |value| {
        value.as_array().is_some_and(|all| all.iter().all(Value::is_object))
    });
    if !request.is_object() {
        return Some("a request is an object, such as {\"node\": {\"id\": \"…\"}}".to_owned());
    }
    let wrong =
        |of: &Value, prefix: &str, names: &[&str], (what, fits): (&str, fn(&Value) -> bool)| {
            let is_wrong = |name: &&&str| {
                member(of, name).is_some_and(|value| !value.is_null() && !fits(value))
            };
            let name = names.iter().find(is_wrong)?;
            Some(format!("`{prefix}{name}` must be {what}"))
        };
    let strings = ["version_info", "response_nonce", "type_url"];
    let of_node = ["id", "cluster", "build_version", "user_agent_name", "user_agent_version"];
    let node = member(request, "node").unwrap_or(&Value::Null);
    let error = member(request, "error_detail").unwrap_or(&Value::Null);
    wrong(request, "", &["node", "error_detail"], OBJECT)
        .or_else(|| wrong(request, "", &strings, STRING))
        .or_else(|| wrong(request, "", &["resource_names"], STRINGS))
        .or_else(|| wrong(node, "node.", &of_node, STRING))
        .or_else(|| wrong(node, "node.", &["client_features"], STRINGS))
        .or_else(|| wrong(node, "node.", &["user_agent_build_version"], OBJECT))
        .or_else(|| wrong(node, "node.", &["extensions"], OBJECTS))
        .or_else(|| wrong(request, "", &["versioned_type_urls"], OBJECTS))
        .or_else(|| wrong(error, "error_detail.", &["message"], STRING))
}

/// Returns how far a client has come that polls for a type, judged by whether it holds or refuses
/// anything.
fn poll_progress(
    types: &Types,
    type_url: &str,
    names: &[String],
    held: &str,
    refuses: bool,
) -> Initialisation {
    let kind = types.kind(type_url);
    let is_answered = refuses || !held.is_empty();
    let reason = "it holds nothing of this yet";
    let awaited = |name| Awaited { kind, name, reason: reason.to_owned() };
    let all = names.is_empty().then_some(None);
    let names = names.iter().map(|it| Some(it.as_str().into())).chain(all);
    Initialisation::of_one_type(kind, names.filter(|_| !is_answered).map(awaited))
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
    let text = |name| text_of(node, name);
    let built = |value: &Value| {
        let version = member(value, "version")?;
        let version = semantic_version(version, ["major_number", "minor_number", "patch"]);
        Some(BuildVersion { version: Some(version) })
    };
    let extension = |value: &Value| wire::Extension {
        name: text_of(value, "name"),
        category: text_of(value, "category"),
        version: member(value, "version").and_then(built),
        disabled: member(value, "disabled").and_then(Value::as_bool).unwrap_or(false),
        type_urls: texts_of(value, "type_urls"),
    };
    Node {
        id: text("id"),
        cluster: text("cluster"),
        build_version: text("build_version"),
        user_agent_name: text("user_agent_name"),
        user_agent_version: text("user_agent_version"),
        user_agent_build_version: member(node, "user_agent_build_version").and_then(built),
        extensions: elements(node, "extensions").map(extension).collect(),
        client_features: texts_of(node, "client_features"),
    }
}

/// The versions that a request lists.
fn versions_of(request: &Value) -> Vec<VersionedTypeUrl> {
    let listed = elements(request, "versioned_type_urls").map(|it| VersionedTypeUrl {
        type_url: text_of(it, "type_url"),
        most_recently_supported: member(it, "most_recently_supported")
            .map(|it| semantic_version(it, ["major", "minor", "patch"])),
    });
    listed.collect()
}

fn semantic_version(value: &Value, names: [&str; 3]) -> SemanticVersion {
    let part = |name| {
        let number = member(value, name).and_then(Value::as_u64).unwrap_or(0);
        u32::try_from(number).unwrap_or(u32::MAX)
    };
    let [major, minor, patch] = names.map(part);
    SemanticVersion { major, minor, patch }
}

fn text_of(value: &Value, name: &str) -> String {
    member(value, name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn texts_of(value: &Value, name: &str) -> Vec<String> {
    elements(value, name).filter_map(Value::as_str).map(str::to_owned).collect()
}

fn elements<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    member(value, name).and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_no_request_is_named() {
        let object = "a request is an object, such as {\"node\": {\"id\": \"…\"}}";
        for (request, expected) in [
            (json!(null), Some(object)),
            (json!([]), Some(object)),
            (json!({"node": 5}), Some("`node` must be an object")),
            (json!({"node": {"id": 5}}), Some("`node.id` must be a string")),
            (
                json!({"node": {"clientFeatures": ["a", 1]}}),
                Some("`node.client_features` must be a list of strings"),
            ),
            (json!({"resourceNames": "shop"}), Some("`resource_names` must be a list of strings")),
            (json!({"versionInfo": 1}), Some("`version_info` must be a string")),
            (json!({"error_detail": "no"}), Some("`error_detail` must be an object")),
            (
                json!({"errorDetail": {"message": 5}}),
                Some("`error_detail.message` must be a string"),
            ),
            (
                json!({"versionedTypeUrls": ["t"]}),
                Some("`versioned_type_urls` must be a list of objects"),
            ),
            (
                json!({"node": {"extensions": {}}}),
                Some("`node.extensions` must be a list of objects"),
            ),
            (
                json!({"node": {"userAgentBuildVersion": "1"}}),
                Some("`node.user_agent_build_version` must be an object"),
            ),
            (json!({"node": null, "resource_names": null, "more": 1}), None),
            (json!({}), None),
        ] {
            assert_eq!(find_invalid_field(&request).as_deref(), expected, "{request}");
        }
    }

    #[test]
    fn paths_name_the_type_and_the_major() {
        let url = |path: &str| type_at(&Types::default(), path).map(|(url, _)| url);
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

    #[test]
    fn a_poll_carries_versions_extensions_and_features() {
        let request = json!({
            "node": {"clientFeatures": ["f"], "extensions": [
                {"name": "a", "category": "c", "typeUrls": ["x.v3.A"],
                 "version": {"version": {"majorNumber": 2}}},
                {"name": "b", "category": "c", "type_urls": ["x.v3.B"], "disabled": true},
            ]},
            "versionedTypeUrls": [{"typeUrl": "t", "most_recently_supported": {"major": 3, "minor": 1}}],
        });
        let node = node_of(&request);
        let claims = node.capabilities("t", versions_of(&request));
        assert_eq!(claims.extensions, ["x.v3.A".to_owned()].into(), "one is disabled");
        assert_eq!(claims.features, ["f".to_owned()].into());
        let minor = abide_xds::Minor { major: 3, minor: 1 };
        assert_eq!(claims.versions[0].most_recently_supported, Some(minor));
        // The API versions all others with the program.
        let kept = node.brief().extensions;
        assert_eq!(
            kept.iter().map(|it| (&*it.name, &*it.category)).collect::<Vec<_>>(),
            [("a", "c")]
        );
        assert_eq!(
            kept[0].version.as_ref().and_then(BuildVersion::written),
            Some("2.0.0".to_owned())
        );
    }
}
