//! The pages of the admin port. What changes something is POST only.

use std::sync::Arc;

use abide_xds::{TakenBack, newest_type_url};
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use serde_json::{Map, Value, json};

use crate::apis::Apis;
use crate::fleet::{Client, Fleet};
use crate::tokens::{Tokens, guard};
use crate::usage;
use crate::wire::BuildVersion;

/// The pages, for everyone or for those who have a token.
pub(crate) fn pages(fleet: Arc<Fleet>, tokens: Option<Tokens>) -> Router {
    let pages = open_pages(fleet);
    match tokens {
        Some(tokens) => pages.layer(from_fn_with_state(tokens, guard)),
        None => pages,
    }
}

fn open_pages(fleet: Arc<Fleet>) -> Router {
    Router::new()
        .route("/ready", get(ready))
        .route("/server_info", get(server_info))
        .route("/clients", get(clients))
        .route("/versions", get(versions))
        .route("/stats", get(stats))
        .route("/stats/prometheus", get(prometheus))
        .route("/config_dump", get(config_dump))
        .route("/healthcheck/fail", post(fail))
        .route("/healthcheck/ok", post(recover))
        .route("/drain_listeners", post(drain_listeners))
        .with_state(fleet)
}

type Pages = State<Arc<Fleet>>;

/// A value as JSON, with a line end for terminals.
fn page(value: &Value) -> impl IntoResponse + use<> {
    ([(CONTENT_TYPE, "application/json")], format!("{value:#}\n"))
}

async fn ready(State(fleet): Pages) -> impl IntoResponse {
    let mut lines = fleet.hindrances();
    let status = match fleet.is_ready() {
        true => StatusCode::OK,
        false => StatusCode::SERVICE_UNAVAILABLE,
    };
    let head = match (fleet.is_ready(), lines.is_empty()) {
        (true, true) => "LIVE",
        (true, false) if fleet.source().away.is_some() => {
            "LIVE: what was served before, since the source cannot be read"
        }
        (true, false) => "LIVE: what was served before, since the newest resources are refused",
        (false, _) => "NOT READY",
    };
    lines.insert(0, head.to_owned());
    (status, lines.join("\n") + "\n")
}

async fn server_info(State(fleet): Pages) -> impl IntoResponse {
    let state = match (fleet.is_draining(), fleet.is_ready()) {
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
    page(&usage::report(&fleet).to_json())
}

fn client(apis: &Apis, client: &Client, taken_back: &[TakenBack]) -> Value {
    let release = client.node.user_agent();
    let types = client.types.iter().map(|it| {
        let mut object = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            object.extend(value.map(|value| (key.to_owned(), value)));
        };
        put("acked", it.accepted.as_ref().map(|version| json!(**version)));
        put("sent", it.sent.as_ref().map(|version| json!(**version)));
        let refused = it.refused.as_ref();
        put("nacked", refused.map(|it| json!({"version": *it.version, "message": it.message})));
        let lost = client.view.losses.iter().filter(|((url, _), _)| *url == it.type_url);
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
        let number = client.group.as_ref().map_or(0, |group| group.terms.release_of(&it.type_url));
        put("api", apis.name_of(number).map(|name| json!(name)));
        let dropped = lost.flat_map(|((_, name), loss)| {
            loss.dropped.iter().map(|field| json!({"name": **name, "field": field}))
        });
        put("dropped", Some(dropped.collect()));
        let back = taken_back.iter().filter(|back| {
            back.release == release && *back.resource.type_url == *newest_type_url(&it.type_url)
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
    json!({
        "extensions": extensions.collect::<Vec<_>>(),
        "features": client.node.client_features,
        "node": client.node.id,
        "cluster": client.node.cluster,
        "user_agent": release,
        "transport": client.transport,
        "types": types.collect::<Map<_, _>>(),
    })
}

/// Counters and gauges, by name.
fn numbers(fleet: &Fleet) -> Vec<(&'static str, &'static str, u64)> {
    let counters = fleet.counters.all().into_iter().map(|(name, value)| (name, "counter", value));
    let mut all: Vec<_> = counters.collect();
    let clients = fleet.clients();
    let held_back = clients.iter().flat_map(|it| &it.types).map(|it| it.held_back.len() as u64);
    let lost = || clients.iter().flat_map(|it| it.view.losses.values());
    let dropped = lost().map(|it| it.dropped.len() as u64).sum();
    let downgraded = lost().map(|it| it.downgraded.len() as u64).sum();
    all.push(("resources.dropped", "gauge", dropped));
    all.push(("resources.downgraded", "gauge", downgraded));
    all.push(("grpc.streams_active", "gauge", clients.len() as u64));
    all.push(("resources.held_back", "gauge", held_back.sum()));
    all.push(("server.hot_restart_epoch", "gauge", fleet.epoch.into()));
    all.push(("server.live", "gauge", fleet.is_ready().into()));
    all.push(("server.uptime", "gauge", fleet.uptime().as_secs()));
    all.sort_unstable();
    all
}

async fn stats(State(fleet): Pages) -> String {
    numbers(&fleet).iter().map(|(name, _, value)| format!("{name}: {value}\n")).collect()
}

async fn prometheus(State(fleet): Pages) -> impl IntoResponse {
    let lines = numbers(&fleet).into_iter().map(|(name, kind, value)| {
        let name = format!("abide_serve_{}", name.replace('.', "_"));
        format!("# TYPE {name} {kind}\n{name} {value}\n")
    });
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], lines.collect::<String>())
}

async fn config_dump(State(fleet): Pages) -> impl IntoResponse {
    let served = fleet.watch().borrow().clone();
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
        "refused": fleet.hindrances(),
        "source": {"serving": source.serving, "refused": source.refused, "away": source.away},
    }))
}

async fn fail(State(fleet): Pages) -> &'static str {
    fleet.set_draining(true);
    "OK\n"
}

async fn recover(State(fleet): Pages) -> &'static str {
    fleet.set_draining(false);
    "OK\n"
}

/// Closes the listeners of clients: at once, or with `?graceful` after the drain time.
async fn drain_listeners(State(fleet): Pages, RawQuery(query): RawQuery) -> &'static str {
    let is_graceful = query.is_some_and(|it| it.split('&').any(|it| it == "graceful"));
    tokio::spawn(async move { fleet.gates.close(is_graceful).await });
    "OK\n"
}
