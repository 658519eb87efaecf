//! The documented shutdown beside a real Envoy, which gets all that it serves from `abide-serve`
//! over xDS, with clients that keep their connections.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use abide_harness::envoys::{Envoy, envoys};
use abide_harness::programs::{abide_serve, target};
use abide_harness::running_envoy::{RunningEnvoy, Started, ask};
use abide_harness::{ExternalPaths, Result};
use serde_json::Value;

use crate::serving::processes::{Processes, free_port};
use crate::serving::traffic::{Backend, get};

/// What the proxy gets from the server: a listener whose connections count, its routes, and the cluster
/// and endpoints that they lead to.
const RESOURCES: &str = r#"
"@type": type.googleapis.com/envoy.config.listener.v3.Listener
name: ingress
address: {socket_address: {address: 127.0.0.1, port_value: 0}}
filter_chains:
- filters:
  - name: envoy.filters.network.http_connection_manager
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
      stat_prefix: ingress_http
      rds: {route_config_name: routes, config_source: {ads: {}, resource_api_version: V3}}
      http_filters: [{name: envoy.filters.http.router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]
---
"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
name: routes
virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: shop}}]}]
---
"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
name: shop
type: EDS
connect_timeout: 1s
eds_cluster_config: {service_name: shop-endpoints, eds_config: {ads: {}, resource_api_version: V3}}
---
"@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment
cluster_name: shop-endpoints
endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: PORT}}}}]}]
"#;

/// What the backend of the cluster answers.
const ANSWER: &str = "hello";

/// How many clients keep a connection.
const CLIENTS: usize = 3;

/// How long a step may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Takes each installed release out of service; true if every step is as the document says.
pub(crate) fn run(paths: &ExternalPaths) -> Result<bool> {
    let serve = abide_serve(paths.abide_serve.as_deref())?;
    let folder = target()?.join("oracle-shutdown");
    std::fs::create_dir_all(&folder)?;
    let mut agreed = compare_bootstraps(&serve, &folder)?;
    let releases = envoys()?;
    // The newest and the oldest: what lies between them does not differ here.
    let ends = [releases.first(), releases.last()];
    for envoy in ends.into_iter().flatten() {
        let steps = Steps::of(&envoy.version);
        agreed &= steps.run(envoy, &serve, &folder)?;
    }
    Ok(agreed)
}

/// Every installed Envoy takes the file that the init container writes.
fn compare_bootstraps(serve: &Path, folder: &Path) -> Result<bool> {
    let file = folder.join("bootstrap.json");
    let mut agreed = true;
    for more in [&[][..], &["--delta"]] {
        let mut command = Command::new(serve);
        command.arg("bootstrap").arg(&file).args(["--xds-address", "localhost"]);
        command.args(["--xds-port", "18000"]).args(more);
        if !command.status()?.success() {
            return Err("no bootstrap was written".into());
        }
        for envoy in envoys()? {
            let mut command = Command::new(&envoy.program);
            command.args(["--mode", "validate", "--log-level", "error", "--service-cluster", "a"]);
            command.args(["--service-node", "b", "-c"]).arg(&file);
            let output = command.output()?;
            if !output.status.success() {
                let reason = String::from_utf8_lossy(&output.stderr);
                println!("shutdown: Envoy {} refuses the bootstrap: {reason}", envoy.version);
                agreed = false;
            }
        }
    }
    println!("shutdown: {} releases take the bootstrap", envoys()?.len());
    Ok(agreed)
}

/// What happened, in its order, beside what should.
struct Steps<'e> {
    version: &'e str,
    begin: Instant,
}

/// A process of ours, ended when it is dropped.
struct Ours(Child);

impl Drop for Ours {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A client that keeps its connection.
struct Client(BufReader<TcpStream>);

impl Client {
    fn connect(address: SocketAddr) -> Result<Client> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Client(BufReader::new(stream)))
    }

    /// One request: whether the proxy then asks the client to leave.
    fn request(&mut self) -> Result<bool> {
        self.0.get_mut().write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")?;
        let (mut head, mut line) = (String::new(), String::new());
        while self.0.read_line(&mut line)? > 2 {
            head.push_str(&line.to_ascii_lowercase());
            line.clear();
        }
        let mut body = [0; ANSWER.len()];
        self.0.read_exact(&mut body)?;
        if !head.starts_with("http/1.1 200") {
            return Err(format!("a request failed: {head}").into());
        }
        Ok(head.contains("connection: close"))
    }
}

impl<'e> Steps<'e> {
    fn of(version: &'e str) -> Steps<'e> {
        Steps { version, begin: Instant::now() }
    }

    /// Notes a step; false if it is not as it should be.
    fn step(&self, what: &str, is_right: bool) -> bool {
        let (version, at) = (self.version, self.begin.elapsed().as_secs_f64());
        let verdict = if is_right { "" } else { ": NOT SO" };
        println!("shutdown: {version}: {at:6.2} s: {what}{verdict}");
        is_right
    }

    /// Waits until something holds.
    fn until(&self, what: &str, mut holds: impl FnMut() -> Result<bool>) -> Result<bool> {
        let begin = Instant::now();
        while !holds()? {
            if begin.elapsed() > PATIENCE {
                return Ok(self.step(what, false));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(self.step(what, true))
    }

    fn run(&self, envoy: &Envoy, serve: &Path, folder: &Path) -> Result<bool> {
        let ready = folder.join("ok");
        // As a pod that was killed leaves it.
        std::fs::write(&ready, "")?;
        let server = Server::start(envoy, serve, folder)?;
        let mut proxy = server.start_proxy(envoy, serve, folder)?;
        let listener = read_listener_address(&proxy)?;
        let served = self.until("the proxy has all from the server, and is live", || {
            Ok(server.has_initialised()? && ask(proxy.admin(), "GET", "/ready")?.0 == 200)
        })?;
        let (_manager, manager) = start_manager(serve, &ready, &proxy, &["--recover"])?;
        let mut agreed = served & self.step("a stale ready file is removed", !ready.exists());

        let mut clients = Vec::new();
        for _ in 0..CLIENTS {
            let mut client = Client::connect(listener)?;
            client.request()?;
            clients.push(client);
        }
        let open = format!("\"open_connections\":{CLIENTS}");
        agreed &= self.until("the manager counts the connections of all clients", || {
            Ok(ask(&manager, "GET", "/status")?.1.contains(&open))
        })?;

        // Kubernetes runs both hooks at once.
        let waiting = manager.clone();
        let hook =
            thread::spawn(move || ask(&waiting, "GET", "/shutdown").map_err(|it| it.to_string()));
        let port = read_admin_port(&proxy)?;
        let mut command = Command::new(serve);
        command.args(["shutdown", "--admin-address", "127.0.0.1", "--admin-port", &port]);
        command.args(["--check-delay", "300ms", "--check-interval", "100ms", "--ready-file"]);
        command.arg(&ready).stderr(Stdio::null());
        let mut command = Ours(command.spawn()?);
        agreed &= self.until("health checks fail, and the proxy says that it drains", || {
            let (status, body) = ask(proxy.admin(), "GET", "/ready")?;
            Ok((status, body.trim()) == (503, "DRAINING"))
        })?;
        let mut late = Client::connect(listener)?;
        agreed &=
            self.step("a new connection is still answered, and asked to leave", late.request()?);
        drop(late);

        while let Some(mut client) = clients.pop() {
            // Longer than both the delay and the interval.
            thread::sleep(Duration::from_millis(600));
            let left = clients.len() + 1;
            let waits = !ready.exists() && !hook.is_finished() && command.0.try_wait()?.is_none();
            agreed &= self.step(&format!("with {left} connections open, all wait"), waits);
            agreed &= self.step("a client is answered, and asked to leave", client.request()?);
        }
        agreed &= self.until("the ready file is made", || Ok(ready.exists()))?;
        let status = command.0.wait()?;
        agreed &= self.step("`abide-serve shutdown` ends with status 0", status.success());
        let answered = hook.join().map_err(|_| "the hook panicked")??;
        let is_ok = answered == (200, "OK".to_owned());
        agreed &= self.step("the hook of the proxy is answered", is_ok);
        proxy.terminate()?;
        agreed &= self.until("the proxy ends when it is told to", || proxy.has_ended())?;
        agreed &= self.until("the server sees it go", || Ok(server.clients()?.is_empty()))?;
        Ok(agreed & self.recovered(envoy, serve, folder, &server)?)
    }

    /// A sidecar that was restarted alone finds the proxy draining, and nobody waits for that.
    fn recovered(
        &self,
        envoy: &Envoy,
        serve: &Path,
        folder: &Path,
        server: &Server,
    ) -> Result<bool> {
        let proxy = server.start_proxy(envoy, serve, folder)?;
        let ready = || -> Result<u16> { Ok(ask(proxy.admin(), "GET", "/ready")?.0) };
        // Until then it says that it initialises, whatever its health checks say.
        let mut agreed = self.until("another proxy is live", || Ok(ready()? == 200))?;
        proxy.post("/healthcheck/fail")?;
        agreed &= self.step("the proxy was left draining", ready()? == 503);
        let (_manager, _) = start_manager(serve, &folder.join("ok"), &proxy, &["--recover"])?;
        agreed &= self.until("the manager takes it back into service", || Ok(ready()? == 200))?;
        Ok(agreed)
    }
}

/// The management server of a proxy.
struct Server {
    grpc: u16,
    admin: u16,
    /// The server, which ends with this value.
    _processes: Processes,
}

impl Server {
    /// Starts it, with the API of a release.
    fn start(envoy: &Envoy, serve: &Path, folder: &Path) -> Result<Server> {
        let backend = Backend::start(ANSWER)?;
        let resources = folder.join("resources");
        std::fs::create_dir_all(&resources)?;
        let text = RESOURCES.replace("PORT", &backend.port.to_string());
        std::fs::write(resources.join("all.yaml"), text)?;
        let (grpc, admin) = (free_port()?, free_port()?);
        let mut command = Command::new(serve);
        command.arg("--resources").arg(&resources).arg("--api").arg(&envoy.program);
        command.args(["--http", "127.0.0.1:0"]);
        command.arg("--grpc").arg(format!("127.0.0.1:{grpc}"));
        command.arg("--admin").arg(format!("127.0.0.1:{admin}"));
        let mut processes = Processes::default();
        processes.start(&mut command, &folder.join("serve.log"))?;
        let begin = Instant::now();
        while get(admin, "/ready").is_err() {
            if begin.elapsed() > PATIENCE {
                let log = folder.join("serve.log");
                return Err(format!("the server does not get ready: see {}", log.display()).into());
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(Server { grpc, admin, _processes: processes })
    }

    /// Starts a proxy of this server, with the file that the init container of the document writes.
    fn start_proxy(&self, envoy: &Envoy, serve: &Path, folder: &Path) -> Result<RunningEnvoy> {
        let config = folder.join("envoy.json");
        let port = || free_port().map(|it| it.to_string());
        let mut command = Command::new(serve);
        command.arg("bootstrap").arg(&config).args(["--xds-address", "127.0.0.1"]);
        command.args(["--xds-port", &self.grpc.to_string(), "--admin-port", &port()?]);
        command.args(["--stats-port", &port()?]);
        if !command.status()?.success() {
            return Err("no bootstrap was written".into());
        }
        // Nobody outside of this machine is to reach it.
        let text = std::fs::read_to_string(&config)?;
        std::fs::write(&config, text.replace("0.0.0.0", "127.0.0.1"))?;
        let node = ["--service-cluster", "edge", "--service-node", "pod"];
        match RunningEnvoy::start(envoy, &config, &node, folder)? {
            Started::Running(proxy) => Ok(proxy),
            Started::Refused(why) => {
                Err(format!("Envoy {} does not start: {why}", envoy.version).into())
            }
        }
    }

    /// What it says about its clients.
    fn clients(&self) -> Result<Vec<Value>> {
        Ok(serde_json::from_str(&get(self.admin, "/clients")?)?)
    }

    /// Whether the proxy accepted clusters, endpoints, a listener and routes, and waits for nothing.
    fn has_initialised(&self) -> Result<bool> {
        Ok(self.clients()?.iter().any(|it| {
            let types = it["types"].as_object().into_iter().flatten();
            let accepted =
                types.filter(|(_, ty)| ty["acked"].is_string() && ty["nacked"].is_null());
            it["node"] == "pod"
                && it["initialisation"]["phase"] == "initialised"
                && accepted.count() == 4
        }))
    }
}

/// The admin port of a proxy.
fn read_admin_port(proxy: &RunningEnvoy) -> Result<String> {
    let (_, port) = proxy.admin().rsplit_once(':').ok_or("an address without a port")?;
    Ok(port.to_owned())
}

/// Where the listener of the proxy is.
fn read_listener_address(proxy: &RunningEnvoy) -> Result<SocketAddr> {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        let text = proxy.get("/listeners")?;
        if let Some(address) = text.lines().find_map(|line| line.strip_prefix("ingress::")) {
            return Ok(address.trim().parse()?);
        }
        thread::sleep(Duration::from_millis(20));
    }
    Err("the proxy does not listen".into())
}

/// Starts a manager beside a proxy: the process, and where it listens.
fn start_manager(
    serve: &Path,
    ready: &Path,
    proxy: &RunningEnvoy,
    more: &[&str],
) -> Result<(Ours, String)> {
    let mut command = Command::new(serve);
    command.args(["shutdown-manager", "--bind", "127.0.0.1", "--serve-port", "0"]);
    command.args(["--check-interval", "50ms", "--admin-address", "127.0.0.1", "--admin-port"]);
    command.arg(read_admin_port(proxy)?).arg("--ready-file").arg(ready).args(more);
    let mut child = Ours(command.stderr(Stdio::piped()).spawn()?);
    let mut lines = BufReader::new(child.0.stderr.take().ok_or("no log")?).lines();
    let mut log = String::new();
    for line in &mut lines {
        let line: String = line?.chars().filter(|it| !it.is_control()).collect();
        if let Some((_, rest)) = line.split_once("127.0.0.1:") {
            let port: String = rest.chars().take_while(char::is_ascii_digit).collect();
            // What follows is read, or the pipe would fill.
            thread::spawn(move || lines.count());
            return Ok((child, format!("127.0.0.1:{port}")));
        }
        writeln!(log, "{line}")?;
    }
    Err(format!("the manager did not start:\n{log}").into())
}
