//! The manifests, units and image in `deploy/` fit each other, and the commands that they run.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // Tests set up a world.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
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

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(place(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The documents of a file, by kind.
fn documents(name: &str) -> BTreeMap<String, Value> {
    let text = text(name);
    let parts = text.split("\n---\n").map(|it| serde_saphyr::from_str::<Value>(it).unwrap());
    parts.map(|it| (it["kind"].as_str().unwrap().to_owned(), it)).collect()
}

/// The value of a flag, as `--flag=VALUE`.
fn flag(args: &[String], name: &str) -> String {
    let start = format!("{name}=");
    let found = args.iter().find_map(|it| it.strip_prefix(&start));
    found.unwrap_or_else(|| panic!("there is no {name} in {args:?}")).to_owned()
}

fn port(address: &str) -> u64 {
    address.rsplit_once(':').unwrap().1.parse().unwrap()
}

/// The default of a duration, in seconds, as the help of a command has it.
fn default_seconds(command: &[&str], flag: &str, mark: &str) -> f64 {
    let output = Command::new(BINARY).args(command).arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let (_, its) = help.split_once(&format!("{flag} <")).unwrap_or_else(|| panic!("no {flag}"));
    let its = its.split_once(mark).unwrap_or_else(|| panic!("{flag} has no `{mark}`: {its}")).1;
    its.trim_start().split([']', 's']).next().unwrap().trim().parse().unwrap()
}

/// Fails unless a command takes its arguments.
fn takes(args: &[String]) {
    let output = Command::new(BINARY).args(args).arg("--help").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {said}");
}

fn server_pod() -> (Value, Value, Vec<String>) {
    let all = documents("server.yaml");
    let pod = all["Deployment"]["spec"]["template"]["spec"].clone();
    let container = named(&pod["containers"], "abide-serve");
    let args = words(&container["args"]);
    (pod, container, args)
}

#[test]
fn the_server_listens_where_its_service_its_probes_and_its_proxies_look() {
    let all = documents("server.yaml");
    let (_, container, args) = server_pod();
    takes(&args);
    let by_name = |name: &str| named(&container["ports"], name)["containerPort"].as_u64().unwrap();
    assert_eq!(by_name("grpc"), port(&flag(&args, "--grpc")));
    assert_eq!(by_name("status"), port(&flag(&args, "--status")));
    // Probes and other pods come from outside; the admin pages are for this pod alone.
    for name in ["--grpc", "--status"] {
        assert!(flag(&args, name).starts_with("0.0.0.0:"), "{name}");
    }
    assert!(flag(&args, "--http").starts_with("127.0.0.1:"));
    assert!(flag(&args, "--admin").starts_with("unix:"));
    for probe in ["startupProbe", "readinessProbe"] {
        let get = &container[probe]["httpGet"];
        assert_eq!((&get["path"], &get["port"]), (&json!("/ready"), &json!("status")), "{probe}");
    }
    assert_eq!(container["livenessProbe"]["tcpSocket"]["port"], "status");
    let template = &all["Deployment"]["spec"]["template"];
    let annotations = &template["metadata"]["annotations"];
    assert_eq!(annotations["prometheus.io/port"], by_name("status").to_string());
    assert_eq!(annotations["prometheus.io/path"], "/stats/prometheus");
    let service = &all["Service"];
    assert_eq!(named(&service["spec"]["ports"], "grpc")["targetPort"], "grpc");
    let labels = &template["metadata"]["labels"];
    for selector in [
        &service["spec"]["selector"],
        &all["Deployment"]["spec"]["selector"]["matchLabels"],
        &all["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
    ] {
        assert_eq!(selector, labels);
    }
    // The proxies ask the service, at its port, by the name that its certificate has.
    let bootstrap = words(&named(&pod()["initContainers"], "envoy-initconfig")["args"]);
    assert_eq!(flag(&bootstrap, "--xds-address"), service["metadata"]["name"].as_str().unwrap());
    let served = named(&service["spec"]["ports"], "grpc")["port"].as_u64().unwrap();
    assert_eq!(flag(&bootstrap, "--xds-port"), served.to_string());
}

#[test]
fn clients_have_the_time_to_leave_before_anybody_is_killed() {
    let (pod, container, args) = server_pod();
    let grace = pod["terminationGracePeriodSeconds"].as_f64().unwrap();
    let wait = container["lifecycle"]["preStop"]["sleep"]["seconds"].as_f64().unwrap();
    assert!(!args.iter().any(|it| it.starts_with("--drain-time-s")), "the default is meant");
    let drain = default_seconds(&[], "--drain-time-s", "SIGTERM ends this one [default:");
    assert!(drain > 0.0 && grace > wait + drain, "{grace} {wait} {drain}");
    // A server is taken out of the service before it ends.
    let readiness = &container["readinessProbe"];
    let noticed = readiness["periodSeconds"].as_f64().unwrap();
    assert!(noticed * readiness["failureThreshold"].as_f64().unwrap() <= wait + drain);
    // The proxy has its own: more than the waits of the hook together.
    let grace = self::pod()["terminationGracePeriodSeconds"].as_f64().unwrap();
    let waits = ["--drain-delay", "--check-delay"]
        .map(|it| default_seconds(&["shutdown"], it, "[default:"));
    assert!(grace > waits.iter().sum::<f64>(), "{grace} {waits:?}");
}

#[test]
fn the_server_runs_as_nobody_and_every_mount_has_a_volume() {
    let (pod, _, args) = server_pod();
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    let containers = [&pod["initContainers"], &pod["containers"]];
    let mut mounts = BTreeSet::new();
    for container in containers.iter().flat_map(|it| it.as_array().unwrap()) {
        let context = &container["securityContext"];
        assert_eq!(context["readOnlyRootFilesystem"], true, "{container}");
        assert_eq!(context["allowPrivilegeEscalation"], false, "{container}");
        for mount in container["volumeMounts"].as_array().unwrap() {
            named(&pod["volumes"], mount["name"].as_str().unwrap());
            mounts.insert(mount["mountPath"].as_str().unwrap().to_owned());
        }
    }
    // Every path that a flag names is in a volume.
    let paths = args.iter().filter_map(|it| it.split_once('=').map(|it| it.1));
    let paths = paths.map(|it| it.strip_prefix("unix:").unwrap_or(it));
    for path in paths.filter(|it| it.starts_with('/')) {
        assert!(mounts.iter().any(|it| path.starts_with(&**it)), "{path}: {mounts:?}");
    }
    // The image has a user with the same number, and it is not root.
    let user = pod["securityContext"]["runAsUser"].as_u64().unwrap();
    assert!(user > 0 && text("Containerfile").contains(&format!("\nUSER {user}:{user}\n")));
}

#[test]
fn the_kustomization_names_what_is_there() {
    let file: Value = serde_saphyr::from_str(&text("kustomization.yaml")).unwrap();
    for name in words(&file["resources"]) {
        assert!(place(&name).is_file(), "{name}");
    }
    let map = &file["configMapGenerator"][0];
    for name in words(&map["files"]) {
        assert!(place(&name).is_file(), "{name}");
    }
    let (pod, ..) = server_pod();
    assert_eq!(named(&pod["volumes"], "resources")["configMap"]["name"], map["name"]);
    let image = &file["images"][0]["name"];
    assert_eq!(named(&pod["containers"], "abide-serve")["image"], *image);
    let proxies = [&self::pod()["initContainers"], &self::pod()["containers"]]
        .map(|it| it.as_array().unwrap().clone())
        .concat();
    let own = proxies.iter().filter(|it| it["command"] == json!(["abide-serve"]));
    assert!(own.clone().count() >= 2 && own.into_iter().all(|it| it["image"] == *image));
}

#[test]
fn the_image_is_built_as_the_workspace_says() {
    let file = text("Containerfile");
    let root = std::fs::read_to_string(place("../../../Cargo.toml")).unwrap();
    let version = root.lines().find_map(|it| it.strip_prefix("rust-version = ")).unwrap();
    let version = version.trim_matches('"');
    assert!(
        file.contains(&format!("ARG RUST=docker.io/library/rust:{version}-alpine\n")),
        "{version}"
    );
    assert!(file.contains("--locked") && file.contains("--remap-path-prefix="));
    let last = file.split("\nFROM ").last().unwrap();
    assert!(last.starts_with("scratch\n"), "nothing else is in it: {last}");
    // Manifests that name the command find it.
    assert!(last.contains("/usr/bin/abide-serve") && last.contains("\nENV PATH=/usr/bin\n"));
}

/// The settings of the section `Service` of a unit.
fn unit(name: &str) -> BTreeMap<String, String> {
    let text = text(name);
    let (_, service) = text.split_once("[Service]\n").unwrap();
    let lines = service.split("\n[").next().unwrap().lines();
    let settings = lines.filter(|it| !it.starts_with('#')).filter_map(|it| it.split_once('='));
    settings.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

fn seconds(unit: &BTreeMap<String, String>, key: &str) -> f64 {
    unit[key].parse().unwrap()
}

#[test]
fn the_units_run_commands_that_exist_and_leave_them_their_time() {
    let server = unit("systemd/abide-serve.service");
    let proxy = unit("systemd/envoy.service");
    for unit in [&server, &proxy] {
        for command in
            ["ExecStart", "ExecStartPre", "ExecStop"].iter().filter_map(|it| unit.get(*it))
        {
            let all: Vec<String> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(all[0], "/usr/bin/abide-serve", "{command}");
            let (own, inner) = match all.iter().position(|it| it == "--") {
                Some(at) => (&all[1..at], &all[at + 1..]),
                None => (&all[1..], &all[..0]),
            };
            takes(own);
            if inner.first().is_some_and(|it| it == "/usr/bin/abide-serve") {
                takes(&inner[1..]);
            }
        }
        assert_eq!(unit["ExecReload"], "/bin/kill -HUP $MAINPID");
        assert_eq!(unit["KillMode"], "mixed", "SIGTERM goes to the parent, and nobody is left");
    }
    // A child of the main process speaks to systemd.
    assert_eq!((&*server["Type"], &*server["NotifyAccess"]), ("notify", "all"));
    let term_wait = default_seconds(&["restarter"], "--term-wait", "[default:");
    let drain = default_seconds(&[], "--drain-time-s", "SIGTERM ends this one [default:");
    assert!(drain < term_wait && term_wait < seconds(&server, "TimeoutStopSec"));
    let max_wait = proxy["ExecStop"].split("--max-wait ").nth(1).unwrap();
    let max_wait: f64 = max_wait.split('s').next().unwrap().parse().unwrap();
    assert!(max_wait + term_wait < seconds(&proxy, "TimeoutStopSec"));
}
