//! Endpoints alone: Envoys whose clusters and listeners stand in their own files, and that ask for
//! nothing but endpoints, in all ways. One cluster has thousands of them, and each arrives with all that
//! it carries.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use abide_harness::Result;
use abide_harness::envoys::Envoy;
use abide_harness::running_envoy::ask;
use serde_json::Value;

use super::processes::Processes;
use super::resources::Fleet;
use super::traffic::{Backend, get};
use super::{reserve_port, wait_until};

/// How many endpoints the large cluster has.
const MANY: u32 = 5000;

const TYPE: &str = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";

/// Whether every Envoy has all endpoints as they are.
pub(super) fn run(serve: &Path, envoy: &Envoy) -> Result<bool> {
    let fleet = Fleet::new("endpoints", envoy, envoy)?;
    let backend = Backend::start("blue")?;
    let one = format!(
        "\"@type\": {TYPE}\ncluster_name: one\nendpoints: [{{lb_endpoints: [{{endpoint: {{address: \
         {{socket_address: {{address: 127.0.0.1, port_value: {}}}}}}}}}]}}]\n",
        backend.port
    );
    fleet.put("one.yaml", &one)?;
    fleet.put("many.yaml", &render_many_endpoints())?;
    let mut processes = Processes::default();
    fleet.serve(serve, &mut processes, &[])?;
    let mut good = true;
    let mut clients = Vec::new();
    for api in ["GRPC", "DELTA_GRPC", "REST"] {
        let (listener, admin) = (reserve_port()?, reserve_port()?);
        let file = fleet.path(&format!("{api}.yaml"));
        std::fs::write(&file, bootstrap(&fleet, api, listener, admin))?;
        let mut command = Command::new(&envoy.program);
        command.arg("-c").arg(&file).args(["--concurrency", "1", "--use-dynamic-base-id"]);
        command.args(["--log-level", "warning"]);
        processes.start(&mut command, &fleet.path(&format!("{api}.log")))?;
        clients.push((api, listener, admin));
    }
    for (api, listener, admin) in clients {
        let answer = wait_until(api, || get(listener, "/").ok().filter(|it| it == backend.name));
        let wrong =
            match wait_until(api, || read_hosts(admin).filter(|it| it.len() == MANY as usize)) {
                Ok(hosts) => hosts.iter().filter(|it| !is_as_it_was(it)).count(),
                Err(_) => MANY as usize,
            };
        let canaries = read_admin_page(admin, "/clusters")?.matches("::canary::true\n").count();
        let is_whole =
            answer.is_ok() && wrong == 0 && canaries == (0..MANY).filter(is_canary).count();
        let verdict = if is_whole { "" } else { ": NOT WHOLE" };
        println!(
            "serving: endpoints alone by {api}: {MANY} endpoints, {wrong} wrong, {canaries} canaries{verdict}"
        );
        good &= is_whole;
    }
    Ok(good)
}

fn is_canary(number: &u32) -> bool {
    number.is_multiple_of(7)
}

fn address(number: u32) -> String {
    format!("127.{}.{}.{}", 1 + number / 65536, number / 256 % 256, number % 256)
}

fn zone(number: u32) -> u32 {
    number / 1000
}

fn weight(number: u32) -> u32 {
    1 + number % 127
}

fn health(number: u32) -> &'static str {
    ["HEALTHY", "UNHEALTHY", "DRAINING", "TIMEOUT", "DEGRADED"][(number % 5) as usize]
}

/// Endpoints in several zones: each with a weight, a state, and what subsets and canaries go by.
fn render_many_endpoints() -> String {
    let mut text = format!("\"@type\": {TYPE}\ncluster_name: many\nendpoints:\n");
    for number in 0..MANY {
        if number.is_multiple_of(1000) {
            let zone = zone(number);
            let _ = writeln!(
                text,
                "- locality: {{region: r{}, zone: z{zone}, sub_zone: s{zone}}}\n  \
                 load_balancing_weight: {}\n  lb_endpoints:",
                zone % 2,
                zone + 1
            );
        }
        let canary = if is_canary(&number) { "canary: true, " } else { "" };
        let _ = writeln!(
            text,
            "  - {{endpoint: {{address: {{socket_address: {{address: {}, port_value: 1}}}}}}, \
             load_balancing_weight: {}, health_status: {}, metadata: {{filter_metadata: {{envoy.lb: \
             {{{canary}build: '{number}'}}}}}}}}",
            address(number),
            weight(number),
            health(number),
        );
    }
    text
}

/// A page of a client's admin interface.
fn read_admin_page(admin: u16, path: &str) -> Result<String> {
    Ok(ask(&format!("127.0.0.1:{admin}"), "GET", path)?.1)
}

/// The endpoints of the large cluster, as a client has them.
fn read_hosts(admin: u16) -> Option<Vec<Value>> {
    let all: Value =
        serde_json::from_str(&read_admin_page(admin, "/clusters?format=json").ok()?).ok()?;
    let clusters = all["cluster_statuses"].as_array()?;
    let many = clusters.iter().find(|it| it["name"] == "many")?;
    many["host_statuses"].as_array().cloned()
}

/// Whether an endpoint is one of those that are served, with all that the page shows of it.
fn is_as_it_was(host: &Value) -> bool {
    let Some(its) = host["address"]["socket_address"]["address"].as_str() else { return false };
    let parts: Vec<u32> = its.split('.').filter_map(|it| it.parse().ok()).collect();
    let [127, high, middle, low] = parts[..] else { return false };
    let number = (high - 1) * 65536 + middle * 256 + low;
    let zone = zone(number);
    let locality = &host["locality"];
    // The page shows what a state means for requests: an endpoint that timed out gets none.
    let state = host["health_status"]["eds_health_status"].as_str().unwrap_or("UNKNOWN");
    let expected = match health(number) {
        "TIMEOUT" => "UNHEALTHY",
        other => other,
    };
    locality["zone"] == format!("z{zone}")
        && locality["region"] == format!("r{}", zone % 2)
        && locality["sub_zone"] == format!("s{zone}")
        && host["weight"] == weight(number)
        && state == expected
}

fn bootstrap(fleet: &Fleet, api: &str, listener: u16, admin: u16) -> String {
    let source = match api {
        "REST" => "api_type: REST, cluster_names: [xds], refresh_delay: 0.2s, request_timeout: 60s"
            .to_owned(),
        _ => format!("api_type: {api}, grpc_services: [{{envoy_grpc: {{cluster_name: xds}}}}]"),
    };
    let source = format!(
        "{{resource_api_version: V3, api_config_source: {{transport_api_version: V3, {source}}}}}"
    );
    let discovered = |name: &str| {
        format!(
            "  - {{name: {name}, type: EDS, connect_timeout: 1s, eds_cluster_config: {{eds_config: {source}}}}}\n"
        )
    };
    let (xds, http2) = match api {
        "REST" => (fleet.http, ""),
        _ => (
            fleet.grpc,
            ", typed_extension_protocol_options: {envoy.extensions.upstreams.http.v3.HttpProtocolOptions: \
             {\"@type\": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions, \
             explicit_http_config: {http2_protocol_options: {}}}}",
        ),
    };
    let at = |port: u16| format!("{{socket_address: {{address: 127.0.0.1, port_value: {port}}}}}");
    format!(
        "node: {{id: '{api}', cluster: plain}}\nadmin: {{address: {}}}\nstatic_resources:\n  clusters:\n{}{}  \
         - {{name: xds, type: STATIC, connect_timeout: 1s{http2}, load_assignment: {{cluster_name: xds, \
         endpoints: [{{lb_endpoints: [{{endpoint: {{address: {}}}}}]}}]}}}}\n  listeners:\n  - name: ingress\n    \
         address: {}\n    filter_chains: [{{filters: [{{name: http, typed_config: {{\"@type\": \
         type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, \
         stat_prefix: a, route_config: {{virtual_hosts: [{{name: all, domains: ['*'], routes: [{{match: \
         {{prefix: /}}, route: {{cluster: one}}}}]}}]}}, http_filters: [{{name: router, typed_config: \
         {{\"@type\": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}}}]}}}}]}}]\n",
        at(admin),
        discovered("one"),
        discovered("many"),
        at(xds),
        at(listener),
    )
}
