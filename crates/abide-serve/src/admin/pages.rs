//! The pages of the admin port. What changes something is POST only.

use std::sync::Arc;

use abide_xds::wire::BuildVersion;
use abide_xds::{Initialisation, Kind, Phase, RolledBack, Types};
use axum::Router;
use axum::extract::{DefaultBodyLimit, RawQuery, Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::page::{MAX_BODY, Pages, page};
use super::tokens::{Tokens, guard};
use super::{home, runtime, stats};
use crate::clients::{ClientService, ClientState, ConnectedClient, ServerState, StreamCounts};
use crate::listeners::AllowedHosts;
use crate::resources::Apis;
use abide_transport::CertificateFacts;

/// A page: its path, what it does, and how it is asked for.
type Page = (&'static str, &'static str, MethodRouter<Arc<ServerState>>);

/// All pages, in the order in which `/help` has them.
fn all() -> Vec<Page> {
    vec![
        ("/", "the fleet, as a page for browsers", get(home::home)),
        (
            "/clients",
            "every stream: who, how far it is, what it has, refused and misses",
            get(clients),
        ),
        ("/config_dump", "what is served to whom, by type, with versions", get(config_dump)),
        (
            "/drain_listeners",
            "POST: closes the client listeners; `?graceful`: after the drain time",
            post(drain_listeners),
        ),
        ("/healthcheck/fail", "POST: makes `/ready` fail, and has clients leave", post(fail)),
        ("/healthcheck/ok", "POST: takes back `/healthcheck/fail`", post(recover)),
        ("/help", "this list", get(help)),
        ("/ready", "200 if clients may come, else 503, and why", get(ready)),
        ("/runtime", "the served layers of runtime, and what is set above", get(runtime::show)),
        (
            "/runtime_modify",
            "POST: sets keys of runtime: `?KEY=VALUE`, an empty value takes it back",
            post(runtime::modify),
        ),
        ("/server_info", "version, state and uptime", get(server_info)),
        ("/stats", "counters and gauges", get(stats::lines)),
        ("/stats/prometheus", "the same for Prometheus", get(stats::prometheus)),
        ("/versions", "which types clients asked for, in which majors", get(versions)),
    ]
}

/// The pages, for everyone or for those who have a token.
pub(crate) fn routes(
    fleet: Arc<ServerState>,
    tokens: Option<Tokens>,
    names: AllowedHosts,
) -> Router {
    let pages = open_pages(fleet);
    let pages = match tokens {
        Some(tokens) => pages.layer(from_fn_with_state(tokens, guard)),
        None => pages,
    };
    pages.layer(from_fn_with_state(names, from_here))
}

/// The pages for probes and Prometheus: nothing changes there, and nothing is said about clients.
pub(crate) fn status_routes(fleet: Arc<ServerState>) -> Router {
    let nothing = || async { (StatusCode::NOT_FOUND, "there is /ready and /stats/prometheus\n") };
    Router::new()
        .route("/ready", get(ready_in_a_word))
        .route("/stats/prometheus", get(stats::prometheus))
        .fallback(nothing)
        .with_state(fleet)
}

/// The same as `/ready` without the reasons, which name files and clients.
async fn ready_in_a_word(State(fleet): Pages) -> impl IntoResponse {
    match (fleet.is_ready(), fleet.drains().is_some()) {
        (true, _) => (StatusCode::OK, "LIVE\n"),
        (false, true) => (StatusCode::SERVICE_UNAVAILABLE, "DRAINING\n"),
        (false, false) => (StatusCode::SERVICE_UNAVAILABLE, "NOT READY\n"),
    }
}

fn open_pages(fleet: Arc<ServerState>) -> Router {
    let router = all().into_iter().fold(Router::new(), |all, (path, _, how)| all.route(path, how));
    router
        .method_not_allowed_fallback(not_so)
        .fallback(not_found)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(fleet)
}

/// Refuses what a page of another site has a browser send.
async fn from_here(State(names): State<AllowedHosts>, request: Request, next: Next) -> Response {
    if !names.admit(request.headers()) {
        let message = "this port is for this machine: ask it as `localhost`, or by its address\n";
        return (StatusCode::FORBIDDEN, message).into_response();
    }
    if request.method() == Method::POST && is_of_another_site(request.headers()) {
        let message = "a page of another site may not change anything here\n";
        return (StatusCode::FORBIDDEN, message).into_response();
    }
    next.run(request).await
}

/// Returns true if a browser says so. Other programs send no origin.
fn is_of_another_site(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).map(|it| it.to_str().unwrap_or_default());
    let site = |origin: &str| origin.split_once("://").map(|(_, host)| host.to_owned());
    text(ORIGIN).is_some_and(|origin| site(origin).as_deref() != text(HOST))
}

/// All pages, one line each.
async fn help() -> String {
    let all = all();
    let width = all.iter().map(|it| it.0.len()).max().unwrap_or(0);
    all.iter().map(|(path, does, _)| format!("{path:width$}  {does}\n")).collect()
}

async fn not_found() -> (StatusCode, String) {
    (StatusCode::NOT_FOUND, format!("there is no such page, but:\n{}", help().await))
}

async fn not_so(method: Method, uri: Uri) -> (StatusCode, String) {
    let is_change =
        all().iter().any(|(path, does, _)| *path == uri.path() && does.starts_with("POST: "));
    let wanted = if is_change { "POST" } else { "GET" };
    (StatusCode::METHOD_NOT_ALLOWED, format!("use {wanted}, not {method}\n"))
}

async fn ready(State(fleet): Pages) -> impl IntoResponse {
    let mut lines = fleet.readiness_problems();
    let is_refused = !lines.is_empty();
    // Such as what a server that starts now would serve otherwise.
    lines.extend(fleet.notes().into_iter().map(|it| format!("note: {it}")));
    let draining = fleet.drains().map(|why| format!("DRAINING: {why}"));
    let status = match fleet.is_ready() {
        true => StatusCode::OK,
        false => StatusCode::SERVICE_UNAVAILABLE,
    };
    let has_source = fleet.source().away.is_none();
    let head = match (fleet.is_ready(), is_refused, lines.is_empty()) {
        (false, _, _) => "NOT READY",
        (true, _, true) => "LIVE",
        (true, true, false) if !has_source => {
            "LIVE: what was served before, since the source cannot be read"
        }
        (true, true, false) if fleet.refuses_some() => {
            "LIVE: but some clients go on with what they had, since the newest for them is refused"
        }
        (true, true, false) => {
            "LIVE: what was served before, since the newest resources are refused"
        }
        (true, false, false) => "LIVE: all that was accepted is served, with these notes",
    };
    lines.insert(0, draining.unwrap_or_else(|| head.to_owned()));
    (status, lines.join("\n") + "\n")
}

async fn server_info(State(fleet): Pages) -> impl IntoResponse {
    let state = match (fleet.drains().is_some(), fleet.is_ready()) {
        (true, _) => "DRAINING",
        (false, true) => "LIVE",
        (false, false) => "INITIALIZING",
    };
    page(&json!({
        "version": env!("CARGO_PKG_VERSION"),
        "state": state,
        "uptime_current_epoch": format!("{}s", fleet.uptime().as_secs()),
        "restart_epoch": fleet.epoch,
    }))
}

async fn clients(State(fleet): Pages) -> impl IntoResponse {
    let taken_back = fleet.taken_back();
    page(&fleet.clients().iter().map(|it| client(&fleet.apis, it, &taken_back)).collect())
}

async fn versions(State(fleet): Pages) -> impl IntoResponse {
    let held = fleet.clients().into_iter().flat_map(|it| it.has().types).map(|it| it.type_url);
    page(&fleet.usage.report(&fleet.apis, held).to_json())
}

fn client(apis: &Apis, client: &ConnectedClient, taken_back: &[RolledBack]) -> Value {
    let release = client.node.user_agent();
    let ClientState { types, served } = client.has();
    let types = types.iter().map(|it| {
        let mut object = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            object.extend(value.map(|value| (key.to_owned(), value)));
        };
        put("acked", it.accepted.as_ref().map(|version| json!(**version)));
        put("sent", it.sent.as_ref().map(|version| json!(**version)));
        let refused = it.refused.as_ref();
        put("nacked", refused.map(|it| json!({"version": *it.version, "message": it.message})));
        let losses = served.iter().flat_map(|(view, _)| &view.losses);
        let lost = losses.filter(|((url, _), _)| *url == it.type_url);
        let waits = it.held_back.iter().map(|it| (&it.name, &it.reason));
        let never =
            lost.clone().filter_map(|((_, name), loss)| Some((name, loss.held_back.as_ref()?)));
        let held = waits.chain(never);
        let held = held.map(|(name, reason)| json!({"name": **name, "reason": reason}));
        put("held_back", Some(held.collect()));
        let downgraded = lost.clone().flat_map(|((_, name), loss)| {
            loss.downgraded
                .iter()
                .map(|it| json!({"name": **name, "field": it.field, "replaced_by": it.replaced_by}))
        });
        put("downgraded", Some(downgraded.collect()));
        let number = served
            .as_ref()
            .map_or(0, |(_, group)| group.terms.release_of(apis.types(), &it.type_url));
        put("api", apis.name_of(number).map(|name| json!(name)));
        let dropped = lost.flat_map(|((_, name), loss)| {
            loss.dropped.iter().map(|field| json!({"name": **name, "field": field}))
        });
        put("dropped", Some(dropped.collect()));
        // What it asks for without names is all there is.
        put("names", it.names.map(Value::from));
        put("resources", Some(it.sent_resources.len().into()));
        let back = taken_back.iter().filter(|back| {
            back.release == release && back.resource.type_url == apis.types().newest_url(&it.type_url)
        });
        let back: Vec<Value> = back
            .map(|it| json!({"name": *it.resource.name, "version": *it.resource.version, "message": it.message}))
            .collect();
        put("rolled_back", (!back.is_empty()).then_some(back.into()));
        (it.type_url.to_string(), Value::Object(object))
    });
    let extensions = client.node.extensions.iter().map(|it| {
        let version = it.version.as_ref().and_then(BuildVersion::written);
        json!({"name": it.name, "category": it.category, "version": version})
    });
    let service = match client.origin.service {
        ClientService::Discovery => "discovery",
        ClientService::Health => "health",
    };
    json!({
        "unexpected": client.surprise,
        "service": service,
        "extensions": extensions.collect::<Vec<_>>(),
        "features": client.node.client_features,
        "initialisation": client.initialisation().map(|it| progress(apis.types(), &it)),
        "node": client.node.id,
        "cluster": client.node.cluster,
        "user_agent": release,
        "transport": client.origin.transport,
        "variant": client.origin.variant.name(),
        "peer": client.origin.peer.address,
        "certificate": client.origin.peer.certificate.as_ref().map(certificate),
        "since": client.since.to_string(),
        "counts": client.traffic().map(counts),
        "behind_seconds": client.time_behind().map(|it| it.as_secs_f64()),
        "types": types.collect::<Map<_, _>>(),
    })
}

/// Renders the certificate that a client showed.
fn certificate(it: &CertificateFacts) -> Value {
    let end = Timestamp::from_second(it.end).ok().map(|it| it.to_string());
    json!({"subject": it.subject, "names": it.names, "end": end})
}

/// Renders what went over a stream.
fn counts(it: StreamCounts) -> Value {
    json!({
        "requests": it.requests,
        "responses": it.responses,
        "nacks": it.nacks,
        "bytes": it.bytes,
    })
}

/// Renders how far a client has come.
fn progress(types: &Types, it: &Initialisation) -> Value {
    let phase = match it.phase {
        Phase::WaitsFor(kind) => plural(types, kind),
        Phase::Initialised => "initialised",
        Phase::Answered => "answered",
    };
    let waits = it
        .waits_for
        .iter()
        .map(|it| json!({"for": plural(types, it.kind), "name": it.name.as_deref(), "reason": it.reason}));
    let checks = it.health_checks.iter().map(
        |it| json!({"cluster": *it.cluster, "at_most": format!("{}s", it.at_most.as_secs_f64())}),
    );
    json!({
        "phase": phase,
        "waits_for": waits.collect::<Vec<_>>(),
        "more": it.more,
        "health_checks": checks.collect::<Vec<_>>(),
    })
}

/// Returns the plural name of the resources of a kind.
fn plural(types: &Types, kind: Kind) -> &str {
    let entry = types.get(kind).map(|it| &it.entry);
    entry.map_or("other resources", |it| it.rest.as_deref().unwrap_or(&it.name))
}

async fn config_dump(State(fleet): Pages) -> impl IntoResponse {
    let served = fleet.subscribe().borrow().clone();
    let audiences =
        served.iter().flat_map(|served| served.audiences()).map(|(audience, snapshot)| {
            let types = snapshot.types().map(|(url, collection)| {
                let resources =
                    collection.iter().map(|it| json!({"name": *it.name, "version": *it.version}));
                let resources: Vec<Value> = resources.collect();
                (
                    url.to_string(),
                    json!({"version": **collection.version(), "resources": resources}),
                )
            });
            let types: Map<String, Value> = types.collect();
            json!({"audience": audience.to_string(), "types": types})
        });
    let source = fleet.source();
    page(&json!({
        "served": audiences.collect::<Vec<_>>(),
        "refused": fleet.readiness_problems(),
        "source": {"serving": source.serving, "refused": source.refused, "away": source.away},
    }))
}

async fn fail(State(fleet): Pages) -> &'static str {
    fleet.fail_health_checks();
    "OK\n"
}

async fn recover(State(fleet): Pages) -> &'static str {
    fleet.pass_health_checks();
    "OK\n"
}

/// Closes the listeners of clients: at once, or with `?graceful` after the drain time.
async fn drain_listeners(State(fleet): Pages, RawQuery(query): RawQuery) -> &'static str {
    let is_graceful = query.is_some_and(|it| it.split('&').any(|it| it == "graceful"));
    fleet.close(is_graceful);
    "OK\n"
}
