//! Layers of runtime in a real Envoy: aggregated in both variants, and polled. A change of the
//! folder arrives, and so does what an operator sets.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use abide_harness::Result;
use abide_harness::envoys::Envoy;
use abide_harness::running_envoy::{RunningEnvoy, Started};
use serde_json::Value;

use super::processes::Processes;
use super::resources::Fleet;
use super::traffic::{get, post};
use super::wait_until;

/// A layer, as a resource.
fn layer(name: &str, values: &str) -> String {
    format!(
        "\"@type\": type.googleapis.com/envoy.service.runtime.v3.Runtime\nname: {name}\nlayer: \
         {values}\n"
    )
}

/// What a page of `/runtime` says: the layers, and the final value of each key.
#[derive(Debug, PartialEq)]
struct Shown {
    layers: Vec<String>,
    values: BTreeMap<String, String>,
}

impl Shown {
    fn read(text: &str) -> Option<Shown> {
        let page: Value = serde_json::from_str(text).ok()?;
        let layers = page["layers"].as_array()?.iter();
        let layers: Vec<String> =
            layers.map(|it| it.as_str().map(str::to_owned)).collect::<Option<_>>()?;
        let entries = page["entries"].as_object()?.iter().map(|(key, entry)| {
            let count = entry["layer_values"].as_array()?.len();
            let last = entry["final_value"].as_str()?;
            (count == layers.len()).then(|| (key.clone(), last.to_owned()))
        });
        Some(Shown { values: entries.collect::<Option<_>>()?, layers })
    }
}

/// What happens: when, how, and the final values that Envoy has then.
type Step<'s> = (&'s str, &'s dyn Fn() -> Result<()>, &'s [(&'s str, &'s str)]);

/// Whether Envoy has what is served, each time that changes.
pub(super) fn run(serve: &Path, envoy: &Envoy) -> Result<bool> {
    let fleet = Fleet::new("runtime", envoy, envoy)?;
    let mut processes = Processes::default();
    fleet.put("base.yaml", &layer("base", "{a: {b: 1}, switch: true, share: {numerator: 5}}"))?;
    fleet.put("polled.yaml", &layer("polled", "{polled: 1.5, text: 'some words'}"))?;
    fleet.serve(serve, &mut processes, &[])?;
    let mut good = true;
    for variant in ["GRPC", "DELTA_GRPC"] {
        let folder = fleet.folder.join(variant);
        std::fs::create_dir_all(&folder)?;
        let bootstrap = folder.join("bootstrap.yaml");
        std::fs::write(&bootstrap, bootstrap_of(&fleet, variant))?;
        let running = match RunningEnvoy::start(envoy, &bootstrap, &[], &folder)? {
            Started::Running(running) => running,
            Started::Refused(said) => return Err(said.into()),
        };
        let steps: [Step<'_>; 4] = [
            ("as it starts", &|| Ok(()), &[("a.b", "1"), ("polled", "1.5"), ("below", "1")]),
            (
                "after a change of the folder",
                &|| {
                    fleet.put("base.yaml", &layer("base", "{a.b: 2, switch: true, below: 3}"))?;
                    fleet.put("polled.yaml", &layer("polled", "{polled: 2.5}"))
                },
                &[("a.b", "2"), ("polled", "2.5"), ("below", "3")],
            ),
            (
                "after /runtime_modify",
                &|| Ok(post(fleet.admin, "/runtime_modify?a.b=9&new=true").map(drop)?),
                &[("a.b", "9"), ("new", "true"), ("below", "3")],
            ),
            (
                "after it was taken back",
                &|| {
                    post(fleet.admin, "/runtime_modify?a.b=&new=")?;
                    fleet.put("base.yaml", &layer("base", "{a: {b: 1}, share: {numerator: 5}}"))?;
                    fleet.put("polled.yaml", &layer("polled", "{polled: 1.5, text: 'some words'}"))
                },
                &[("a.b", "1"), ("polled", "1.5"), ("below", "1")],
            ),
        ];
        for (when, act, expected) in steps {
            act()?;
            let begin = Instant::now();
            let arrived = wait_until("runtime", || {
                let theirs = Shown::read(&running.get("/runtime").ok()?)?;
                let has = |(key, value): &(&str, &str)| {
                    theirs.values.get(*key).is_some_and(|it| it == value)
                };
                expected.iter().all(has).then_some(theirs)
            });
            let Ok(theirs) = arrived else {
                good = false;
                println!("serving: RTDS by {variant} {when}: {}", running.get("/runtime")?);
                continue;
            };
            // Our own page says the same about each key that we serve.
            let text = get(fleet.admin, "/runtime")?;
            let ours = Shown::read(&text).ok_or("our `/runtime` is not like that of Envoy")?;
            let is_same = |(key, value): (&String, &String)| {
                let theirs = theirs.values.get(key);
                // Envoy shows a share in a form for its developers, differently in each process.
                theirs == Some(value) || theirs.is_some_and(|it| it.starts_with("goo.gle/debug"))
            };
            let same = ours.values.iter().all(is_same);
            let own_layers = ours.layers == ["base", "polled", "admin"];
            if !same || !own_layers {
                good = false;
                println!("serving: RTDS by {variant} {when}: {ours:?} here, {theirs:?} there");
            }
            println!(
                "serving: RTDS by {variant} and polls {when}: {} keys arrived in {} ms",
                theirs.values.len(),
                begin.elapsed().as_millis()
            );
        }
        good &= is_lifted(&fleet, &running, variant)?;
    }
    Ok(good)
}

/// Whether a refusal is lifted by runtime alone, at a live Envoy: where a key has it refuse deprecated
/// fields, the server refuses them before it sends them, until another key says otherwise to both.
fn is_lifted(fleet: &Fleet, running: &RunningEnvoy, variant: &str) -> Result<bool> {
    const FAIL: &str = "envoy.features.fail_on_any_deprecated_feature";
    const KEY: &str = "envoy.deprecated_features:envoy.config.cluster.v3.Cluster.\
                       common_http_protocol_options";
    let set = |key: &str| -> Result<()> {
        post(fleet.admin, &format!("/runtime_modify?{key}=true"))?;
        wait_until(key, || running.get("/runtime").ok().filter(|it| it.contains(key)))?;
        Ok(())
    };
    let put = |seconds: u32| {
        let cluster = format!(
            "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: lifted\n\
             connect_timeout: {seconds}s\ncommon_http_protocol_options: {{idle_timeout: 9s}}\n"
        );
        fleet.put("node-cluster/runtime/lifted.yaml", &cluster)
    };
    set(FAIL)?;
    put(1)?;
    let refused = wait_until("a refusal", || {
        let ready = get(fleet.admin, "/ready").ok()?;
        let names_both = ready.contains(&format!("`{FAIL}` refuses it"));
        (names_both && ready.contains(&format!("set `{KEY}: true`"))).then_some(())
    });
    let has = || running.get("/clusters").ok().filter(|it| it.contains("lifted::"));
    let is_kept_out = refused.is_ok() && has().is_none();
    set(KEY)?;
    put(2)?;
    let is_lifted = wait_until("the cluster", has).is_ok();
    post(fleet.admin, &format!("/runtime_modify?{FAIL}=&{KEY}="))?;
    std::fs::remove_file(fleet.folder.join("resources/node-cluster/runtime/lifted.yaml"))?;
    let said = |holds: bool| if holds { "yes" } else { "NO" };
    println!(
        "serving: RTDS by {variant}: a deprecated field is refused: {}; a key lifts that: {}",
        said(is_kept_out),
        said(is_lifted)
    );
    Ok(is_kept_out && is_lifted)
}

/// A static layer, one by an aggregated stream, one by polls, and an admin layer.
fn bootstrap_of(fleet: &Fleet, variant: &str) -> String {
    let cluster = |name: &str, port: u16, http2: &str| {
        format!(
            "  - {{name: {name}, type: STATIC, connect_timeout: 1s, {http2}load_assignment: \
             {{cluster_name: {name}, endpoints: [{{lb_endpoints: [{{endpoint: {{address: \
             {{socket_address: {{address: 127.0.0.1, port_value: {port}}}}}}}}}]}}]}}}}\n"
        )
    };
    let http2 = "typed_extension_protocol_options: {\
                 envoy.extensions.upstreams.http.v3.HttpProtocolOptions: {\"@type\": \
                 type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions, \
                 explicit_http_config: {http2_protocol_options: {}}}}, ";
    format!(
        "node: {{id: runtime, cluster: runtime}}\n\
         admin: {{address: {{socket_address: {{address: 127.0.0.1, port_value: 0}}}}}}\n\
         dynamic_resources:\n  ads_config: {{api_type: {variant}, transport_api_version: V3, \
         grpc_services: [{{envoy_grpc: {{cluster_name: xds}}}}]}}\n  cds_config: {{ads: {{}}, \
         resource_api_version: V3}}\n\
         layered_runtime:\n  layers:\n  - {{name: below, static_layer: {{below: 1}}}}\n  - {{name: \
         base, rtds_layer: {{name: base, rtds_config: {{ads: {{}}, resource_api_version: V3}}}}}}\n  \
         - {{name: polled, rtds_layer: {{name: polled, rtds_config: {{resource_api_version: V3, \
         api_config_source: {{api_type: REST, transport_api_version: V3, cluster_names: [polls], \
         refresh_delay: 0.2s, request_timeout: 60s}}}}}}}}\n  - {{name: above, admin_layer: {{}}}}\n\
         static_resources:\n  clusters:\n{}{}",
        cluster("xds", fleet.grpc, http2),
        cluster("polls", fleet.http, ""),
    )
}
