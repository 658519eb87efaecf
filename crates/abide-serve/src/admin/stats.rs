//! Counters and gauges, by name.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

use super::page::Pages;
use super::process_stats::ProcessStats;
use crate::clients::{ClientState, ConnectedClient, HistogramSample, ServerState, TrafficCounter};

/// The prefix of all names at Prometheus, except those that every process has.
const PREFIX: &str = "abide_serve";

/// The number of kinds of clients that are told apart: what clients say they are is their word.
const MAX_KINDS: usize = 100;

/// The kind of a metric, as Prometheus has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MetricKind {
    Counter,
    Gauge,
    Histogram,
}

impl MetricKind {
    fn name(self) -> &'static str {
        match self {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        }
    }
}

/// A metric with all its samples.
struct Metric {
    name: &'static str,
    help: &'static str,
    kind: MetricKind,
    samples: Vec<Sample>,
}

/// One number, and what sets it apart from the others of its metric.
struct Sample {
    /// What its name has more than that of its metric.
    ending: &'static str,
    labels: Vec<(&'static str, String)>,
    value: f64,
}

impl Sample {
    fn new(labels: Vec<(&'static str, String)>, value: impl IntoNumber) -> Sample {
        Sample { ending: "", labels, value: value.into_number() }
    }
}

/// Numbers that metrics have. Whole ones are exact up to 2^53.
trait IntoNumber {
    fn into_number(self) -> f64;
}

impl IntoNumber for f64 {
    fn into_number(self) -> f64 {
        self
    }
}

impl IntoNumber for u64 {
    fn into_number(self) -> f64 {
        self as f64
    }
}

impl IntoNumber for usize {
    fn into_number(self) -> f64 {
        self as f64
    }
}

impl IntoNumber for bool {
    fn into_number(self) -> f64 {
        f64::from(u8::from(self))
    }
}

/// Metrics that are collected one after the other.
#[derive(Default)]
struct Metrics(Vec<Metric>);

impl Metrics {
    fn counter(&mut self, name: &'static str, help: &'static str, value: impl IntoNumber) {
        self.put(name, help, MetricKind::Counter, vec![Sample::new(Vec::new(), value)]);
    }

    fn gauge(&mut self, name: &'static str, help: &'static str, value: impl IntoNumber) {
        self.put(name, help, MetricKind::Gauge, vec![Sample::new(Vec::new(), value)]);
    }

    fn histogram(&mut self, name: &'static str, help: &'static str, of: HistogramSample) {
        let bounds = of.buckets.iter().map(|(bound, count)| (bound.to_string(), *count));
        let buckets = bounds.chain([("+Inf".to_owned(), of.count)]);
        let mut samples: Vec<Sample> = buckets
            .map(|(bound, count)| Sample {
                ending: "_bucket",
                ..Sample::new(vec![("le", bound)], count)
            })
            .collect();
        samples.push(Sample { ending: "_sum", ..Sample::new(Vec::new(), of.sum) });
        samples.push(Sample { ending: "_count", ..Sample::new(Vec::new(), of.count) });
        self.put(name, help, MetricKind::Histogram, samples);
    }

    fn put(
        &mut self,
        name: &'static str,
        help: &'static str,
        kind: MetricKind,
        samples: Vec<Sample>,
    ) {
        self.0.push(Metric { name, help, kind, samples });
    }
}

/// All metrics, by name.
fn metrics(fleet: &ServerState) -> Vec<Metric> {
    let mut all = Metrics::default();
    for (name, help, value) in fleet.counters.all() {
        all.counter(name, help, value);
    }
    put_server(fleet, &mut all);
    put_clients(fleet, &mut all);
    put_runtime(fleet, &mut all);
    put_traffic(fleet, &mut all);
    put_process(fleet, &mut all);
    all.0.retain(|it| !it.samples.is_empty());
    all.0.sort_unstable_by_key(|it| it.name);
    all.0
}

/// The server, and what is not well.
fn put_server(fleet: &ServerState, all: &mut Metrics) {
    for (name, help, seconds) in fleet.troubles() {
        all.gauge(name, help, seconds);
    }
    all.gauge(
        "server.notes",
        "Notes that `/ready` has, such as files that were edited in place and count as they were.",
        fleet.notes().len(),
    );
    all.gauge("server.hot_restart_epoch", "Which start this is.", u64::from(fleet.epoch));
    all.gauge("server.live", "Whether clients may come.", fleet.is_ready());
    all.gauge("server.draining", "Whether clients are told to leave.", fleet.drains().is_some());
    all.gauge("server.uptime_seconds", "Seconds since the start.", fleet.uptime().as_secs());
    let version = vec![("version", env!("CARGO_PKG_VERSION").to_owned())];
    let build = vec![Sample::new(version, true)];
    all.put("build_info", "The build of this program; always 1.", MetricKind::Gauge, build);
    if let Some(end) = fleet.certificate_end() {
        all.gauge(
            "tls.certificate_end_timestamp_seconds",
            "When the certificate ends that clients are shown, in seconds since 1970.",
            end as f64,
        );
    }
    let (open, most) = fleet.gates.occupancy();
    all.gauge("connections_active", "Connections that clients have open.", open);
    all.gauge("connections_limit", "Connections that clients may have open.", most);
    all.gauge(
        "grpc.streams_limit",
        "Streams and polls that may be open.",
        fleet.limits.max_streams,
    );
}

/// The clients that are connected.
fn put_clients(fleet: &ServerState, all: &mut Metrics) {
    let clients = fleet.clients();
    let their: Vec<ClientState> = clients.iter().map(ConnectedClient::has).collect();
    let types = their.iter().flat_map(|it| &it.types);
    let waits: usize = types.map(|it| it.held_back.len()).sum();
    let losses =
        || their.iter().flat_map(|it| &it.served).flat_map(|(view, _)| view.losses.values());
    let never = losses().filter(|it| it.held_back.is_some()).count();
    let dropped: usize = losses().map(|it| it.dropped.len()).sum();
    all.gauge("grpc.streams_active", "Streams and polls that are open.", clients.len());
    all.gauge(
        "resources.held_back",
        "Resources that clients do not get yet, or not at all, summed over clients.",
        waits + never,
    );
    all.gauge(
        "resources.dropped_fields",
        "Fields that clients do not know and do not get, summed over clients.",
        dropped,
    );
    let downgraded: usize = losses().map(|it| it.downgraded.len()).sum();
    all.gauge(
        "resources.downgraded",
        "Fields that clients get in an older form, summed over clients.",
        downgraded,
    );
    let surprises = clients.iter().filter(|it| it.surprise.is_some()).count();
    all.gauge(
        "grpc.streams_unexpected_active",
        "Streams and polls that are open of clients that are not expected.",
        surprises,
    );
    let behind: Vec<Duration> = clients.iter().filter_map(ConnectedClient::time_behind).collect();
    all.gauge(
        "clients.behind",
        "Clients that have not accepted what they were sent.",
        behind.len(),
    );
    all.gauge(
        "clients.behind_longest_seconds",
        "For how long the slowest client has not accepted what it was sent; 0 if all have.",
        behind.iter().max().map_or(0.0, Duration::as_secs_f64),
    );
    let refusing = their.iter().filter(|it| it.types.iter().any(|it| it.refused.is_some()));
    all.gauge(
        "clients.refusing",
        "Clients that refuse what they were sent last.",
        refusing.count(),
    );
    all.put(
        "clients.connected",
        "Streams and polls that are open, by release, major of the transport and variant.",
        MetricKind::Gauge,
        count_kinds(&clients),
    );
}

/// Counts clients by what they are. Beyond so many kinds, the rest is one.
fn count_kinds(clients: &[ConnectedClient]) -> Vec<Sample> {
    let mut kinds: BTreeMap<(String, &str, &str), u64> = BTreeMap::new();
    for client in clients {
        let its = (client.node.user_agent(), client.origin.transport, client.origin.variant.name());
        let rest = ("other".to_owned(), "", "");
        let is_new = !kinds.contains_key(&its);
        *kinds.entry(if is_new && kinds.len() >= MAX_KINDS { rest } else { its }).or_default() += 1;
    }
    let sample = |((release, transport, variant), count): ((String, &str, &str), u64)| {
        let labels = vec![
            ("release", release),
            ("transport", transport.to_owned()),
            ("variant", variant.to_owned()),
        ];
        Sample::new(labels, count)
    };
    kinds.into_iter().map(sample).collect()
}

/// The layers of runtime, and what is deprecated.
fn put_runtime(fleet: &ServerState, all: &mut Metrics) {
    if let Some(runtime) = fleet.runtime("everyone") {
        let statistics = runtime.statistics();
        all.gauge("runtime.num_keys", "Keys of runtime that everyone gets.", statistics.num_keys);
        all.gauge(
            "runtime.num_layers",
            "Layers of runtime, with the admin layer.",
            statistics.num_layers,
        );
        all.gauge(
            "runtime.admin_overrides_active",
            "Whether any key of runtime is set by the admin port.",
            u64::from(statistics.admin_overrides_active),
        );
    }
    all.gauge(
        "runtime.deprecated_feature_seen_since_process_start",
        "Uses of deprecated elements in what this process served.",
        fleet.counters.deprecated_uses_seen(),
    );
}

/// What was asked for and sent, by type and major, and how long changes took.
fn put_traffic(fleet: &ServerState, all: &mut Metrics) {
    let traffic = fleet.counters.traffic.all();
    for (at, (_, name, help)) in TrafficCounter::ALL.into_iter().enumerate() {
        let samples = traffic.iter().map(|it| {
            let labels = [("type", Some(it.kind)), ("major", it.major)];
            let labels =
                labels.into_iter().filter_map(|(name, value)| Some((name, value?.to_owned())));
            Sample::new(labels.collect(), it.counts[at])
        });
        all.put(name, help, MetricKind::Counter, samples.collect());
    }
    all.histogram(
        "xds.convergence_seconds",
        "Seconds from a change of the resources until a client accepted all of it.",
        fleet.counters.convergence.sample(),
    );
}

/// What Prometheus knows of every process.
fn put_process(fleet: &ServerState, all: &mut Metrics) {
    all.gauge(
        "process_start_time_seconds",
        "When the process started, in seconds since 1970.",
        fleet.started_at.as_millisecond() as f64 / 1e3,
    );
    let Some(process) = ProcessStats::read() else { return };
    all.counter(
        "process_cpu_seconds_total",
        "Processor time that the process used, in seconds.",
        process.cpu_seconds,
    );
    all.gauge(
        "process_resident_memory_bytes",
        "Memory that the process has, in bytes.",
        process.resident_bytes,
    );
    all.gauge(
        "process_virtual_memory_bytes",
        "Addresses that the process has, in bytes.",
        process.virtual_bytes,
    );
    all.gauge("process_open_fds", "File descriptors that are open.", process.open_fds);
    if let Some(most) = process.max_fds {
        all.gauge("process_max_fds", "File descriptors that may be open.", most);
    }
}

/// A line for each number; the values of labels end its name.
pub(super) async fn lines(State(fleet): Pages) -> String {
    let mut text = String::new();
    for metric in metrics(&fleet) {
        for Sample { ending, labels, value } in metric.samples {
            let labels = labels.iter().filter(|(_, value)| !value.is_empty());
            let labels: String = labels.map(|(_, value)| format!(".{}", one_word(value))).collect();
            let ending = ending.replace('_', ".");
            let _ = writeln!(text, "{}{ending}{labels}: {value}", metric.name);
        }
    }
    text
}

/// Returns the value of a label as a part of a name: what clients say of themselves ends no line.
fn one_word(value: &str) -> String {
    value.chars().map(|it| if it.is_control() || it == ':' { '_' } else { it }).collect()
}

/// The text format of Prometheus, version 0.0.4.
pub(super) async fn prometheus(State(fleet): Pages) -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], exposition(&metrics(&fleet)))
}

fn exposition(metrics: &[Metric]) -> String {
    let mut text = String::new();
    for metric in metrics {
        let kind = metric.kind.name();
        let ending = if metric.kind == MetricKind::Counter { "_total" } else { "" };
        let base = metric.name.strip_suffix("_total").unwrap_or(metric.name).replace('.', "_");
        // Names that every process has are the same for all programs.
        let prefix = if base.starts_with("process_") { "" } else { PREFIX };
        let joint = if prefix.is_empty() { "" } else { "_" };
        let name = format!("{prefix}{joint}{base}{ending}");
        let _ = writeln!(text, "# HELP {name} {}\n# TYPE {name} {kind}", metric.help);
        for Sample { ending, labels, value } in &metric.samples {
            let labels =
                labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape_label(value)));
            let labels = labels.collect::<Vec<_>>().join(",");
            let labels = if labels.is_empty() { labels } else { format!("{{{labels}}}") };
            let _ = writeln!(text, "{name}{ending}{labels} {value}");
        }
    }
    text
}

/// Escapes what ends the value of a label. Other characters that control something are shown as such.
fn escape_label(value: &str) -> String {
    let mut text = String::new();
    for it in value.chars() {
        match it {
            '\\' | '"' => text.extend(['\\', it]),
            '\n' => text.push_str("\\n"),
            it if it.is_control() => text.push('\u{fffd}'),
            it => text.push(it),
        }
    }
    text
}
