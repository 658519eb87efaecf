//! Real Envoys that start, and what `abide-serve` says about how far they are: each wait of the document
//! is held until both sides agree on it, and then ended by what ends it.

use std::path::Path;
use std::time::{Duration, Instant};

use abide_harness::Result;
use abide_harness::envoys::Envoy;
use abide_harness::running_envoy::ask;
use serde_json::Value;

use super::processes::Processes;
use super::resources::{Client, Fleet, Way};
use super::traffic::{Backend, get};
use super::wait_until;

/// How long a health check may take, in seconds: its backend never answers.
const TIMEOUT: u64 = 2;

/// Until when the first one begins, at most, in seconds.
const JITTER: u64 = 1;

const ENDPOINTS: &str = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
const CLUSTER: &str = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const ROUTES: &str = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";

/// An Envoy that starts.
struct Starting {
    name: String,
    client: Client,
}

impl Starting {
    /// What the server says about it.
    fn told(&self, fleet: &Fleet) -> Option<Value> {
        let all: Value = serde_json::from_str(&get(fleet.admin, "/clients").ok()?).ok()?;
        let own = all.as_array()?.iter().find(|it| it["node"] == *self.client.id)?;
        Some(own["initialisation"].clone())
    }

    /// What it says about itself.
    fn state(&self) -> Option<String> {
        Some(self.page("/ready")?.trim().to_owned())
    }

    /// A page of its admin interface, whatever its status.
    fn page(&self, path: &str) -> Option<String> {
        Some(ask(&format!("127.0.0.1:{}", self.client.admin), "GET", path).ok()?.1)
    }

    fn statistic(&self, name: &str) -> Option<u64> {
        self.page(&format!("/stats?filter=^{name}$"))?.trim().split_once(": ")?.1.parse().ok()
    }

    /// Waits until both sides say this: the phase and what is waited for, and the state.
    fn until(&self, fleet: &Fleet, phase: &str, waits_for: &[&str], state: &str) -> Result<bool> {
        let is_so = || {
            let told = self.told(fleet)?;
            let waits = told["waits_for"].as_array()?.iter();
            let waits: Vec<&str> = waits.filter_map(|it| it["name"].as_str()).collect();
            let is_so = told["phase"] == phase && waits == waits_for;
            (is_so && self.state()? == state).then_some(())
        };
        let found = wait_until(phase, is_so).is_ok();
        let waits = waits_for.join(", ");
        let said = format!("serving: {}: `{phase}` {waits} is {state}", self.name);
        match found {
            true => println!("{said}"),
            false => println!("{said}: NOT SO, but {:?}: {:?}", self.state(), self.told(fleet)),
        }
        Ok(found)
    }
}

/// Whether all waits are seen as they are.
pub(super) fn run(serve: &Path, newest: &Envoy, older: &Envoy) -> Result<bool> {
    let mut good = warm_step_by_step(serve, newest, older)?;
    good &= check_refused(serve, newest)?;
    Ok(good)
}

/// Endpoints, health checks and routes come one after the other, and then another listener with the
/// same routes.
fn warm_step_by_step(serve: &Path, newest: &Envoy, older: &Envoy) -> Result<bool> {
    let fleet = Fleet::new("initialising", newest, older)?;
    let backend = Backend::without("blue", "/health")?;
    let mut processes = Processes::default();
    let mut all = Vec::new();
    for envoy in [newest, older] {
        for way in [Way::WholeAds, Way::DeltaAds] {
            let name = format!("Envoy {} by {}", envoy.version, way.name());
            let client = fleet.add_client(envoy, way)?;
            // However busy the machine is, it does not give up.
            let place = format!("node/{}/listener.yaml", client.id);
            let text = std::fs::read_to_string(fleet.path("resources").join(&place))?;
            let patient = "config_source: {initial_fetch_timeout: 0s, ";
            fleet.put(&place, &text.replace("config_source: {", patient))?;
            all.push((envoy, way, Starting { name, client }));
        }
    }
    fleet.put("node-cluster/ads/cluster.yaml", &cluster())?;
    fleet.serve(serve, &mut processes, &[])?;
    for (envoy, way, it) in &all {
        fleet.start_envoy(envoy, *way, &it.client, &mut processes)?;
    }
    let all: Vec<Starting> = all.into_iter().map(|(_, _, it)| it).collect();
    let mut good = true;
    for it in &all {
        good &= it.until(&fleet, "endpoints", &["blue-eds"], "PRE_INITIALIZING")?;
        let at_most = format!("{}s", TIMEOUT + JITTER);
        let told = it.told(&fleet).unwrap_or_default();
        let is_told = told["health_checks"][0]["cluster"] == "blue"
            && told["health_checks"][0]["at_most"] == *at_most;
        if !is_told {
            println!("serving: {}: health checks are NOT ANNOUNCED, but {told}", it.name);
        }
        good &= is_told;
    }
    let begin = Instant::now();
    fleet.put("node-cluster/ads/endpoints.yaml", &endpoints(backend.port))?;
    let mut open: Vec<&Starting> = all.iter().collect();
    let mut seen = vec![false; all.len()];
    wait_until("the health checks end", || {
        for (it, seen) in all.iter().zip(&mut seen) {
            let told = it.told(&fleet).unwrap_or_default();
            let waits = told["waits_for"].as_array().is_some_and(Vec::is_empty);
            *seen |= told["phase"] == "endpoints" && waits;
        }
        open.retain(|it| {
            let is_over = it.told(&fleet).is_some_and(|told| told["phase"] != "endpoints");
            if is_over {
                let took = begin.elapsed();
                // What has to be told and seen takes time as well on a busy machine.
                let longest = Duration::from_secs(TIMEOUT + JITTER) + Duration::from_secs(3);
                let fits = took >= Duration::from_secs(TIMEOUT) && took < longest;
                let verdict = if fits { "" } else { ": NOT AS TOLD" };
                println!(
                    "serving: {}: one round took {:.1} s{verdict}",
                    it.name,
                    took.as_secs_f64()
                );
                good &= fits;
            }
            !is_over
        });
        open.is_empty().then_some(())
    })?;
    if !seen.iter().all(|it| *it) {
        println!("serving: the wait for health checks alone was NOT SEEN: {seen:?}");
        good = false;
    }
    for it in &all {
        good &= it.until(&fleet, "routes", &["routes"], "INITIALIZING")?;
        let refuses = std::net::TcpStream::connect(("127.0.0.1", it.client.listener)).is_err();
        if !refuses {
            println!("serving: {}: it accepts connections BEFORE it has routes", it.name);
        }
        good &= refuses;
    }
    fleet.put("node-cluster/ads/routes.yaml", &routes(&["all"]))?;
    for it in &all {
        good &= it.until(&fleet, "initialised", &[], "LIVE")?;
        let answer = wait_until(&it.name, || get(it.client.listener, "/").ok())?;
        good &= answer == backend.name;
    }
    good &= check_warmed(&fleet, &all)?;
    Ok(good)
}

/// Every listener changes, and its routes do not: the new one gets warm, and clients never stop.
fn check_warmed(fleet: &Fleet, all: &[Starting]) -> Result<bool> {
    let mut good = true;
    for it in all {
        let place = format!("node/{}/listener.yaml", it.client.id);
        let text = std::fs::read_to_string(fleet.path("resources").join(&place))?;
        fleet.put(&place, &text.replace("stat_prefix: a", "stat_prefix: changed"))?;
    }
    for it in all {
        // A request that the new one counts.
        let is_new = wait_until(&it.name, || {
            get(it.client.listener, "/").ok()?;
            it.statistic("http.changed.downstream_rq_2xx").filter(|&count| count > 0)
        });
        let warming = it.statistic("listener_manager.total_listeners_warming");
        let phase = it.told(fleet).unwrap_or_default()["phase"].clone();
        let is_warm = is_new.is_ok() && warming == Some(0) && phase == "initialised";
        let verdict = if is_warm { "got warm" } else { "DID NOT GET WARM" };
        println!("serving: {}: a listener with the same routes {verdict}", it.name);
        good &= is_warm;
    }
    Ok(good)
}

/// A refused listener, and refused routes, end the wait: the proxy is live, and the server says that it
/// was refused.
fn check_refused(serve: &Path, envoy: &Envoy) -> Result<bool> {
    let fleet = Fleet::new("refusing", envoy, envoy)?;
    let mut processes = Processes::default();
    let mut all = Vec::new();
    for way in [Way::WholeAds, Way::DeltaAds] {
        for what in ["listener", "routes"] {
            let client = fleet.add_client(envoy, way)?;
            let name = format!("Envoy {} by {} refuses its {what}", envoy.version, way.name());
            match what {
                "listener" => {
                    let place = format!("node/{}/listener.yaml", client.id);
                    let text = std::fs::read_to_string(fleet.path("resources").join(&place))?;
                    // No machine has this address.
                    fleet.put(&place, &text.replace("127.0.0.1", "192.0.2.1"))?;
                }
                // Both hosts are for the same names.
                _ => fleet.put(&format!("node/{}/routes.yaml", client.id), &routes(&["a", "b"]))?,
            }
            all.push((way, what, Starting { name, client }));
        }
    }
    let backend = Backend::start("blue")?;
    fleet.put("node-cluster/ads/cluster.yaml", &cluster())?;
    fleet.put("node-cluster/ads/endpoints.yaml", &endpoints(backend.port))?;
    fleet.put("node-cluster/ads/routes.yaml", &routes(&["all"]))?;
    fleet.serve(serve, &mut processes, &[])?;
    for (way, _, it) in &all {
        fleet.start_envoy(envoy, *way, &it.client, &mut processes)?;
    }
    let mut good = true;
    for (_, _, it) in &all {
        good &= it.until(&fleet, "initialised", &[], "LIVE")?;
        let clients: Value = serde_json::from_str(&get(fleet.admin, "/clients")?)?;
        let own = clients.as_array().into_iter().flatten();
        let mut own = own.filter(|own| own["node"] == *it.client.id);
        let is_told = own.any(|own| own.to_string().contains("\"nacked\""));
        if !is_told {
            println!("serving: {}: what was refused is NOT TOLD", it.name);
        }
        good &= is_told;
    }
    Ok(good)
}

fn cluster() -> String {
    format!(
        "\"@type\": {CLUSTER}\nname: blue\ntype: EDS\nconnect_timeout: 1s\n\
         eds_cluster_config: {{service_name: blue-eds, eds_config: {{initial_fetch_timeout: 0s, ads: {{}}, \
         resource_api_version: V3}}}}\n\
         health_checks: [{{timeout: {TIMEOUT}s, initial_jitter: {JITTER}s, interval: 600s, \
         no_traffic_interval: 600s, healthy_threshold: 1, unhealthy_threshold: 1, \
         http_health_check: {{path: /health}}}}]\n"
    )
}

fn endpoints(port: u16) -> String {
    format!(
        "\"@type\": {ENDPOINTS}\ncluster_name: blue-eds\nendpoints: [{{lb_endpoints: [{{endpoint: \
         {{address: {{socket_address: {{address: 127.0.0.1, port_value: {port}}}}}}}}}]}}]\n"
    )
}

fn routes(hosts: &[&str]) -> String {
    let hosts = hosts.iter().map(|name| {
        format!(
            "{{name: {name}, domains: ['*'], routes: [{{match: {{prefix: /}}, route: {{cluster: \
             blue}}}}]}}"
        )
    });
    let hosts: Vec<String> = hosts.collect();
    format!("\"@type\": {ROUTES}\nname: routes\nvirtual_hosts: [{}]\n", hosts.join(", "))
}
