//! The manifests in `deploy/` follow the description of the shutdown manager, and agree with the commands they run.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // Tests set up a world.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_abide-serve");

fn proxy() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/proxy.yaml");
    serde_saphyr::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn pod() -> Value {
    proxy()["spec"]["template"]["spec"].clone()
}

fn named(list: &Value, name: &str) -> Value {
    let mut items = list.as_array().unwrap().iter();
    items.find(|it| it["name"] == name).unwrap().clone()
}

fn container(name: &str) -> Value {
    named(&pod()["containers"], name)
}

/// The words of a list.
fn words(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_manifest_runs_the_manager_in_its_own_container() {
    let manager = container("shutdown-manager");
    assert_eq!(words(&manager["command"]), ["abide-serve"]);
    assert_eq!(words(&manager["args"])[0], "shutdown-manager");
    let hook = words(&manager["lifecycle"]["preStop"]["exec"]["command"]);
    assert_eq!(hook[..2], ["abide-serve", "shutdown"]);
    let probe = json!({
        "httpGet": { "path": "/healthz", "port": 8090 },
        "initialDelaySeconds": 3,
        "periodSeconds": 10,
    });
    assert_eq!(manager["livenessProbe"], probe);
}

#[test]
fn the_manifest_makes_the_proxy_wait_for_the_manager() {
    let envoy = container("envoy");
    let hook = json!({ "httpGet": { "path": "/shutdown", "port": 8090, "scheme": "HTTP" } });
    assert_eq!(envoy["lifecycle"]["preStop"], hook);
    let probe = json!({
        "httpGet": { "path": "/ready", "port": 8002 },
        "failureThreshold": 4,
        "initialDelaySeconds": 3,
        "periodSeconds": 3,
        "successThreshold": 1,
        "timeoutSeconds": 1,
    });
    assert_eq!(envoy["readinessProbe"], probe);
    let args = words(&envoy["args"]);
    assert_eq!(args[..2], ["-c", "/config/envoy.json"]);
    for flag in ["--service-cluster", "--service-node", "--log-level"] {
        assert!(args.iter().any(|it| it == flag), "{flag}");
    }
}

#[test]
fn the_pod_shares_a_volume_and_has_a_grace_period() {
    let (proxy, pod) = (proxy(), pod());
    assert_eq!(pod["terminationGracePeriodSeconds"], 300);
    let strategy = json!({ "type": "RollingUpdate", "rollingUpdate": { "maxUnavailable": "10%" } });
    assert_eq!(proxy["spec"]["updateStrategy"], strategy);
    let annotations = &proxy["spec"]["template"]["metadata"]["annotations"];
    assert_eq!(annotations["prometheus.io/port"], "8002");
    assert_eq!(annotations["prometheus.io/path"], "/stats/prometheus");
    assert_eq!(named(&pod["volumes"], "config")["emptyDir"], json!({}));
    for (volume, secret) in [("certs", "envoy-cert"), ("ca", "ca-cert")] {
        assert_eq!(named(&pod["volumes"], volume)["secret"]["secretName"], secret);
    }
    // Every mount is of a volume.
    let containers = [&pod["initContainers"], &pod["containers"]];
    for container in containers.iter().flat_map(|it| it.as_array().unwrap()) {
        for mount in container["volumeMounts"].as_array().unwrap() {
            named(&pod["volumes"], mount["name"].as_str().unwrap());
        }
    }
}

/// A command of the manifest, whose paths are those of this test.
fn run(args: &[String], below: &Path) -> std::process::Output {
    let here = |it: &String| match it.split_once("=/") {
        Some((flag, path)) => format!("{flag}={}/{path}", below.display()),
        None if it.starts_with('/') => format!("{}{it}", below.display()),
        None => it.clone(),
    };
    Command::new(BINARY).args(args.iter().map(here)).output().unwrap()
}

#[test]
fn the_init_container_writes_the_bootstrap() {
    let init = named(&pod()["initContainers"], "envoy-initconfig");
    let folder = TempDir::new().unwrap();
    std::fs::create_dir(folder.path().join("config")).unwrap();
    let output = run(&words(&init["args"]), folder.path());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let names: Vec<_> = std::fs::read_dir(folder.path().join("config")).unwrap().collect();
    assert_eq!(names.len(), 1, "nothing is left beside it");
    let text = std::fs::read_to_string(folder.path().join("config/envoy.json")).unwrap();
    let bootstrap: Value = serde_json::from_str(&text).unwrap();
    let port = |address: &Value| address["socket_address"]["port_value"].clone();
    assert_eq!(port(&bootstrap["admin"]["address"]), 9001);
    let statics = &bootstrap["static_resources"];
    assert_eq!(port(&named(&statics["listeners"], "stats")["address"]), 8002);
    let server = named(&statics["clusters"], "abide-serve");
    let endpoint = &server["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"];
    assert_eq!(port(&endpoint["address"]), 18000);
    let tls = &server["transport_socket"]["typed_config"]["common_tls_context"];
    let authority = tls["validation_context"]["trusted_ca"]["filename"].as_str().unwrap();
    assert!(authority.ends_with("/ca/ca.crt"), "{authority}");
    // A folder that is not there is an error, not half a file.
    std::fs::remove_dir_all(folder.path().join("config")).unwrap();
    assert_eq!(run(&words(&init["args"]), folder.path()).status.code(), Some(1));
}

#[test]
fn both_containers_mean_one_ready_file() {
    let manager = container("shutdown-manager");
    let of = |list: &Value| words(list).into_iter().find(|it| it.starts_with("--ready-file="));
    let file = of(&manager["args"]).unwrap();
    assert_eq!(of(&manager["lifecycle"]["preStop"]["exec"]["command"]), Some(file.clone()));
    let mount = named(&manager["volumeMounts"], "shutdown");
    assert!(file.starts_with(&format!("--ready-file={}/", mount["mountPath"].as_str().unwrap())));
    // The commands take the flags that the manifest gives them.
    for list in [&manager["args"], &manager["lifecycle"]["preStop"]["exec"]["command"]] {
        let words = words(list);
        let args = words.strip_prefix(&["abide-serve".to_owned()][..]).unwrap_or(&words);
        let output = Command::new(BINARY).args(args).arg("--help").output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{words:?}");
    }
}
