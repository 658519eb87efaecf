//! gRPC clients: the newest one over v3, that for Node, and one that speaks v2 alone, on one server,
//! while traffic moves between two backends.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use abide_harness::Result;
use abide_harness::programs::target;

use super::processes::Processes;
use super::traffic::get;
use super::{reserve_port, wait_until};

/// The program in Python: a backend, a client, and the API. Not named after the package it imports.
pub(super) const PROGRAM: &str = include_str!("rpc.py");

/// The client for Node.
pub(super) const PROGRAM_JS: &str = include_str!("rpc.js");

/// How many seconds the clients ask.
const SECONDS: &str = "15";

/// A Python whose grpcio speaks v2: the last release that does is 1.49.1.
fn find_old_python() -> Result<PathBuf> {
    let python = match std::env::var_os("ABIDE_OLD_GRPC") {
        Some(python) => PathBuf::from(&python),
        None => target()?.join("ci-old-grpc").join("bin").join("python"),
    };
    if !python.is_file() {
        let folder = target()?.join("ci-old-grpc");
        let folder = folder.display();
        return Err(format!(
            "no gRPC that speaks v2 found, run `python3 -m venv {folder} && {folder}/bin/pip install \
             grpcio==1.49.1` (Python 3.11 at most)"
        )
        .into());
    }
    Ok(python)
}

/// Node, and the folder with the gRPC for it.
pub(super) fn find_node() -> Result<[String; 2]> {
    let folder = match std::env::var_os("ABIDE_GRPC_JS") {
        Some(folder) => PathBuf::from(&folder),
        None => target()?.join("ci-grpc-js"),
    };
    let modules = folder.join("node_modules");
    if !modules.join("@grpc").join("grpc-js-xds").is_dir() {
        let folder = folder.display();
        return Err(format!(
            "no gRPC for Node found, run `npm install --prefix {folder} @grpc/grpc-js@1.14.5 \
             @grpc/grpc-js-xds@1.14.1`"
        )
        .into());
    }
    Ok(["node".to_owned(), modules.to_string_lossy().into_owned()])
}

/// Whether all were served and lost nothing.
pub(super) fn run(serve: &Path) -> Result<bool> {
    let folder = target()?.join("oracle-serving").join("grpc");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("resources"))?;
    let program = folder.join("rpc.py");
    std::fs::write(&program, PROGRAM)?;
    let python = |python: &Path, args: &[&str]| {
        let mut command = Command::new(python);
        command.arg(&program).args(args);
        command
    };
    let newest = Path::new("python3");
    let api = folder.join("api.binpb");
    if !python(newest, &["api", &api.to_string_lossy()]).status()?.success() {
        return Err("no API in both majors, run `pip install xds-protos grpcio`".into());
    }
    let mut processes = Processes::default();
    let backends = [("blue", reserve_port()?), ("green", reserve_port()?)];
    for (name, port) in backends {
        let mut backend = python(newest, &["backend", name, &port.to_string()]);
        processes.start(&mut backend, &folder.join(format!("{name}.log")))?;
        wait_until("a backend listens", || TcpStream::connect(("127.0.0.1", port)).ok())?;
    }
    route_to(&folder, backends[0])?;
    let (grpc, http, admin) = (reserve_port()?, reserve_port()?, reserve_port()?);
    let mut command = Command::new(serve);
    command.arg("--resources").arg(folder.join("resources")).arg("--api").arg(&api);
    for (flag, port) in [("--grpc", grpc), ("--http", http), ("--admin", admin)] {
        command.arg(flag).arg(format!("127.0.0.1:{port}"));
    }
    processes.start(&mut command, &folder.join("serve.log"))?;
    wait_until("the server gets ready", || {
        get(admin, "/ready").ok().filter(|it| it.starts_with("LIVE"))
    })?;

    let old = find_old_python()?;
    let mut clients = Vec::new();
    let client_of = |python_of_it: &Path| python(python_of_it, &["client", SECONDS]);
    let [node, modules] = find_node()?;
    let script = folder.join("rpc.js");
    std::fs::write(&script, PROGRAM_JS)?;
    let mut of_node = Command::new(node);
    of_node.arg(script).args([&modules, SECONDS]);
    let all = [
        ("v3", "grpcio", client_of(newest)),
        ("v3", "node", of_node),
        ("v2", "old", client_of(&old)),
    ];
    for (major, id, mut client) in all {
        let features = if major == "v3" { r#", "server_features": ["xds_v3"]"# } else { "" };
        let bootstrap = format!(
            r#"{{"xds_servers": [{{"server_uri": "127.0.0.1:{grpc}", "channel_creds":
            [{{"type": "insecure"}}]{features}}}], "node": {{"id": "{id}", "locality":
            {{"zone": "a"}}}}}}"#
        );
        let path = folder.join(format!("{id}.json"));
        std::fs::write(&path, bootstrap)?;
        let log = File::create(folder.join(format!("{id}.log")))?;
        client.env("GRPC_XDS_BOOTSTRAP", path).stdout(Stdio::piped()).stderr(log);
        let mut child = client.spawn()?;
        let out = BufReader::new(child.stdout.take().ok_or("it is piped")?);
        clients.push((major, id, child, out));
    }
    // They start together: on a busy machine the first is not to be done before the last one is ready.
    for (.., out) in &mut clients {
        out.read_line(&mut String::new())?;
    }
    let known = get(admin, "/clients")?;
    route_to(&folder, backends[1])?;
    let mut good = true;
    for (major, id, mut child, mut out) in clients {
        let mut text = String::new();
        out.read_to_string(&mut text)?;
        let ended = child.wait()?;
        let [first, last, answered, failed, ..] = *text.split(' ').collect::<Vec<_>>() else {
            println!("serving: gRPC `{id}` over {major}: NOT SERVED ({ended}) {text}");
            for log in [id, "serve", "blue"] {
                let text = std::fs::read_to_string(folder.join(format!("{log}.log")))?;
                println!("{log}.log:\n{text}");
            }
            good = false;
            continue;
        };
        let is_served = known.contains(&format!("\"transport\": \"{major}\""));
        good &= (first, last, failed) == ("blue", "green", "0") && is_served;
        println!(
            "serving: gRPC `{id}` over {major}: moved from {first} to {last}, {answered} answered, {failed} failed"
        );
    }
    Ok(good)
}

/// Leads the service `shop` to a cluster with the name and port of a backend.
fn route_to(folder: &Path, (name, port): (&str, u16)) -> Result<()> {
    let of = |ty: &str| format!("---\n\"@type\": type.googleapis.com/envoy.{ty}\n");
    let text = format!(
        "{}name: shop\napi_listener: {{api_listener: {{\"@type\": type.googleapis.com/envoy.extensions.\
         filters.network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: shop, rds: {{route_config_name: \
         routes, config_source: {{ads: {{}}}}}}, http_filters: [{{name: router, typed_config: \
         {{\"@type\": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}}}]}}}}\n\
         {}name: routes\nvirtual_hosts: [{{name: all, domains: ['*'], routes: [{{match: {{prefix: ''}}, \
         route: {{cluster: {name}}}}}]}}]\n\
         {}name: {name}\ntype: EDS\neds_cluster_config: {{eds_config: {{ads: {{}}}}}}\n\
         {}cluster_name: {name}\nendpoints: [{{locality: {{zone: a}}, load_balancing_weight: 1, \
         lb_endpoints: [{{endpoint: {{address: {{socket_address: {{address: 127.0.0.1, port_value: \
         {port}}}}}}}}}]}}]\n",
        of("config.listener.v3.Listener"),
        of("config.route.v3.RouteConfiguration"),
        of("config.cluster.v3.Cluster"),
        of("config.endpoint.v3.ClusterLoadAssignment"),
    );
    std::fs::write(folder.join("beside"), text)?;
    Ok(std::fs::rename(folder.join("beside"), folder.join("resources").join("shop.yaml"))?)
}
