//! Counters and gauges, by name.

use std::fmt::Write;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

use super::page::Pages;
use crate::clients::{ClientState, ConnectedClient, ServerState, TrafficCounter};

/// The prefix of all names at Prometheus.
const PREFIX: &str = "abide_serve";

/// A metric with all its samples.
struct Metric {
    name: &'static str,
    help: &'static str,
    is_counter: bool,
    samples: Vec<Sample>,
}

/// One number, and what sets it apart from the others of its metric.
struct Sample {
    labels: Vec<(&'static str, String)>,
    value: u64,
}

impl Metric {
    fn new(name: &'static str, help: &'static str, is_counter: bool, value: u64) -> Metric {
        Metric { name, help, is_counter, samples: vec![Sample { labels: Vec::new(), value }] }
    }
}

/// All metrics, by name.
fn metrics(fleet: &ServerState) -> Vec<Metric> {
    let counters = fleet.counters.all().into_iter();
    let mut all: Vec<Metric> =
        counters.map(|(name, help, value)| Metric::new(name, help, true, value)).collect();
    let mut gauge = |name, help, value: u64| all.push(Metric::new(name, help, false, value));
    let clients = fleet.clients();
    let their: Vec<ClientState> = clients.iter().map(ConnectedClient::has).collect();
    let types = their.iter().flat_map(|it| &it.types);
    let waits: usize = types.map(|it| it.held_back.len()).sum();
    let losses =
        || their.iter().flat_map(|it| &it.served).flat_map(|(view, _)| view.losses.values());
    let never = losses().filter(|it| it.held_back.is_some()).count();
    let dropped: usize = losses().map(|it| it.dropped.len()).sum();
    gauge("grpc.streams_active", "Streams and polls that are open.", clients.len() as u64);
    gauge(
        "resources.held_back",
        "Resources that clients do not get yet, or not at all, summed over clients.",
        (waits + never) as u64,
    );
    gauge(
        "resources.dropped_fields",
        "Fields that clients do not know and do not get, summed over clients.",
        dropped as u64,
    );
    let downgraded: usize = losses().map(|it| it.downgraded.len()).sum();
    gauge(
        "resources.downgraded",
        "Fields that clients get in an older form, summed over clients.",
        downgraded as u64,
    );
    for (name, help, seconds) in fleet.troubles() {
        gauge(name, help, seconds);
    }
    gauge(
        "server.notes",
        "Notes that `/ready` has, such as files that were edited in place and count as they were.",
        fleet.notes().len() as u64,
    );
    gauge("server.hot_restart_epoch", "Which start this is.", fleet.epoch.into());
    gauge("server.live", "Whether clients may come.", fleet.is_ready().into());
    gauge("server.uptime", "Seconds since the start.", fleet.uptime().as_secs());
    if let Some(runtime) = fleet.runtime("everyone") {
        let statistics = runtime.statistics();
        gauge("runtime.num_keys", "Keys of runtime that everyone gets.", statistics.num_keys);
        gauge(
            "runtime.num_layers",
            "Layers of runtime, with the admin layer.",
            statistics.num_layers,
        );
        gauge(
            "runtime.admin_overrides_active",
            "Whether any key of runtime is set by the admin port.",
            statistics.admin_overrides_active.into(),
        );
    }
    let surprises = clients.iter().filter(|it| it.surprise.is_some()).count();
    gauge(
        "grpc.streams_unexpected_active",
        "Streams and polls that are open of clients that are not expected.",
        surprises as u64,
    );
    gauge(
        "runtime.deprecated_feature_seen_since_process_start",
        "Uses of deprecated elements in what this process served.",
        fleet.counters.deprecated_uses_seen(),
    );
    let traffic = fleet.counters.traffic.all();
    for (at, (_, name, help)) in TrafficCounter::ALL.into_iter().enumerate() {
        let samples = traffic.iter().map(|it| {
            let labels = [("type", Some(it.kind)), ("major", it.major)];
            let labels =
                labels.into_iter().filter_map(|(name, value)| Some((name, value?.to_owned())));
            Sample { labels: labels.collect(), value: it.counts[at] }
        });
        all.push(Metric { name, help, is_counter: true, samples: samples.collect() });
    }
    all.sort_unstable_by_key(|it| it.name);
    all
}

/// A line for each number; the values of labels end its name.
pub(super) async fn lines(State(fleet): Pages) -> String {
    let mut text = String::new();
    for metric in metrics(&fleet) {
        for sample in metric.samples {
            let labels = sample.labels.iter().map(|(_, value)| format!(".{value}"));
            let labels: String = labels.collect();
            let _ = writeln!(text, "{}{labels}: {}", metric.name, sample.value);
        }
    }
    text
}

/// The text format of Prometheus, version 0.0.4.
pub(super) async fn prometheus(State(fleet): Pages) -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], exposition(&metrics(&fleet)))
}

fn exposition(metrics: &[Metric]) -> String {
    let mut text = String::new();
    for metric in metrics.iter().filter(|it| !it.samples.is_empty()) {
        let (kind, ending) = match metric.is_counter {
            true => ("counter", "_total"),
            false => ("gauge", ""),
        };
        let base = metric.name.strip_suffix("_total").unwrap_or(metric.name).replace('.', "_");
        let name = format!("{PREFIX}_{base}{ending}");
        let _ = writeln!(text, "# HELP {name} {}\n# TYPE {name} {kind}", metric.help);
        for sample in &metric.samples {
            // Labels are names of this program or of types, which have nothing to be escaped.
            let labels = sample.labels.iter().map(|(name, value)| format!("{name}=\"{value}\""));
            let labels = labels.collect::<Vec<_>>().join(",");
            let labels = if labels.is_empty() { labels } else { format!("{{{labels}}}") };
            let _ = writeln!(text, "{name}{labels} {}", sample.value);
        }
    }
    text
}
