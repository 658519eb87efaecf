//! Checks what `abide config diff` says of the cost of changes against the statistics of a real
//! Envoy that takes the same changes from files.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use abide_harness::Result;
use abide_harness::corpora;
use abide_harness::envoys::Envoy;
use abide_harness::programs::stdout;
use abide_harness::running_envoy::{RunningEnvoy, Started};
use serde_json::Value;

const BOOTSTRAP: &str = "
node: {id: me, cluster: mine}
admin: {address: {socket_address: {address: 127.0.0.1, port_value: 0}}}
dynamic_resources:
  lds_config: {path_config_source: {path: ROOT/lds.yaml}}
  cds_config: {path_config_source: {path: ROOT/cds.yaml}}
";

const LISTENER: &str = "
- \"@type\": type.googleapis.com/envoy.config.listener.v3.Listener
  name: in
  address: {socket_address: {address: 127.0.0.1, port_value: 0}}
  per_connection_buffer_limit_bytes: 1000
  filter_chains:
  - filters:
    - name: echo
      typed_config: {\"@type\": type.googleapis.com/envoy.extensions.filters.network.echo.v3.Echo}
  - filter_chain_match: {destination_port: 7}
    filters:
    - name: http
      typed_config:
        \"@type\": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
        stat_prefix: in
        rds: {route_config_name: routes, config_source: {path_config_source: {path: ROOT/rds.yaml}}}
        http_filters:
        - name: router
          typed_config: {\"@type\": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
";

const ROUTES: &str = "
- \"@type\": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
  name: routes
  virtual_hosts:
  - {name: all, domains: [\"*\"], routes: [{match: {prefix: /}, route: {cluster: fixed}}]}
";

const CLUSTERS: &str = "
- \"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: fixed
  connect_timeout: 1s
  load_assignment: {cluster_name: fixed, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: 9}}}}]}]}
- \"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: found
  connect_timeout: 1s
  type: EDS
  eds_cluster_config: {eds_config: {path_config_source: {path: ROOT/eds.yaml}}}
";

const ENDPOINTS: &str = "
- \"@type\": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment
  cluster_name: found
  endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: 9}}}}]}]
";

const FILES: &[(&str, &str)] = &[
    ("lds.yaml", LISTENER),
    ("rds.yaml", ROUTES),
    ("cds.yaml", CLUSTERS),
    ("eds.yaml", ENDPOINTS),
];

/// A change of a file.
struct Change {
    file: &'static str,
    from: &'static str,
    to: &'static str,
    /// The cost that Abide must say; empty if there is no change of a value.
    cost: &'static str,
    /// The counters of Envoy that it is seen by: those that grow, of all that are watched.
    counters: &'static [&'static str],
}

const fn change(
    file: &'static str,
    (from, to): (&'static str, &'static str),
    cost: &'static str,
    counters: &'static [&'static str],
) -> Change {
    Change { file, from, to, cost, counters }
}

/// The changes, each made to what the ones before it left.
const CHANGES: &[Change] = &[
    change("lds.yaml", ("name: in\n", "name: in # a comment\n"), "", &[]),
    change(
        "lds.yaml",
        ("stat_prefix: in", "stat_prefix: out"),
        "drains-filter-chain",
        &[
            "listener_manager.listener_in_place_updated",
            "listener_manager.listener_modified",
            "listener_manager.total_filter_chains_draining",
        ],
    ),
    change(
        "lds.yaml",
        ("1000", "2000"),
        "drains-listener",
        &["listener_manager.listener_modified", "listener_manager.total_listeners_draining"],
    ),
    change(
        "rds.yaml",
        ("prefix: /}", "prefix: /x}"),
        "live",
        &["http.in.rds.routes.config_reload"],
    ),
    change("cds.yaml", ("1s", "2s"), "warms-cluster", &["cluster_manager.cluster_modified"]),
    change("cds.yaml", ("timeout: 2s", "timeout: 2.00s"), "", &[]),
    change(
        "cds.yaml",
        ("port_value: 9", "port_value: 10"),
        "warms-cluster",
        &["cluster_manager.cluster_modified"],
    ),
    change(
        "cds.yaml",
        ("\n- ", ANOTHER_CLUSTER),
        "warms-cluster",
        &["cluster_manager.cluster_added"],
    ),
    change("cds.yaml", (ANOTHER_CLUSTER, "\n- "), "live", &["cluster_manager.cluster_removed"]),
    change(
        "eds.yaml",
        ("port_value: 9", "port_value: 11"),
        "live",
        &["cluster_manager.cluster_updated"],
    ),
    change(
        "lds.yaml",
        ("name: in #", "name: other #"),
        "drains-listener",
        &[
            "listener_manager.listener_added",
            "listener_manager.listener_removed",
            "listener_manager.total_listeners_draining",
        ],
    ),
];

/// A cluster before the first one.
const ANOTHER_CLUSTER: &str = "
- \"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: third
  connect_timeout: 1s
- ";

/// The counters and gauges that show what a change costs.
const WATCHED: &[&str] = &[
    "listener_manager.listener_added",
    "listener_manager.listener_in_place_updated",
    "listener_manager.listener_modified",
    "listener_manager.listener_removed",
    "listener_manager.total_filter_chains_draining",
    "listener_manager.total_listeners_draining",
    "cluster_manager.cluster_added",
    "cluster_manager.cluster_modified",
    "cluster_manager.cluster_removed",
    "cluster_manager.cluster_updated",
    "http.in.rds.routes.config_reload",
];

/// Makes each change; true if all cost what Abide says. The API is that which the program carries.
pub(super) fn run(envoy: &Envoy, abide: &Path) -> Result<bool> {
    let folder = corpora::fresh("costs")?;
    let root = folder.to_string_lossy().into_owned();
    let put = |name: &str, text: &str| -> Result<()> {
        let text = format!("resources:{}", text.replace("ROOT", &root));
        corpora::write(&folder.join("next"), text.as_bytes())?;
        Ok(std::fs::rename(folder.join("next"), folder.join(name))?)
    };
    let bootstrap = folder.join("bootstrap.yaml");
    corpora::write(&bootstrap, BOOTSTRAP.replace("ROOT", &root).as_bytes())?;
    let mut texts: Vec<(&str, String)> = Vec::new();
    for (name, text) in FILES {
        put(name, text)?;
        texts.push((name, (*text).to_owned()));
    }
    let drain = ["--drain-time-s", "3600"];
    let Started::Running(running) = RunningEnvoy::start(envoy, &bootstrap, &drain, &folder)? else {
        return Err("Envoy refuses the bootstrap".into());
    };
    let mut last = settled(&running)?;
    let mut faults = 0;
    for Change { file: name, from, to, cost, counters } in CHANGES {
        let Some((_, text)) = texts.iter_mut().find(|(it, _)| it == name) else { continue };
        if !text.contains(from) {
            return Err(format!("`{name}` has no `{from}`").into());
        }
        *text = text.replacen(from, to, 1);
        std::fs::copy(folder.join(name), folder.join("old.yaml"))?;
        put(name, text)?;
        let mut diff = Command::new(abide);
        diff.args(["config", "diff", "--format", "json", "--api"]).arg(&envoy.program);
        diff.args(["--type", "envoy.service.discovery.v3.DiscoveryResponse"]);
        let said = stdout(diff.arg(folder.join("old.yaml")).arg(folder.join(name)))?;
        let summary: Value = serde_json::from_str(said.lines().last().ok_or("no summary")?)?;
        let ours = summary["cost"].as_str().unwrap_or_default();
        let now = settled(&running)?;
        let counts = WATCHED.iter().zip(last.iter().zip(&now));
        let grown = counts.filter(|(_, (old, new))| new > old).map(|(name, _)| *name);
        let grown: Vec<&str> = grown.collect();
        if ours != *cost || grown != *counters {
            faults += 1;
            println!("costs: {name}, `{from}` to `{to}`\n  Abide says {ours:?}, expected {cost:?}");
            println!("  Envoy: {grown:?}, expected {counters:?}");
        }
        last = now;
    }
    println!(
        "runtime: {} changes of resources have their cost; {faults} differences",
        CHANGES.len()
    );
    Ok(faults == 0)
}

/// The watched statistics, once they no longer change.
fn settled(running: &RunningEnvoy) -> Result<Vec<u64>> {
    let read = || -> Result<Vec<u64>> {
        let found = running.statistics("listener_manager%7Ccluster_manager%7Crds")?;
        let count = |name: &&str| {
            let value =
                found.iter().find(|(it, _)| it == name).map(|(_, value)| value.parse().ok());
            value.flatten().unwrap_or_default()
        };
        Ok(WATCHED.iter().map(count).collect())
    };
    let begin = Instant::now();
    let (mut last, mut same) = (read()?, 0);
    while same < 5 && begin.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(100));
        let now = read()?;
        same = if now == last { same + 1 } else { 0 };
        last = now;
    }
    Ok(last)
}
