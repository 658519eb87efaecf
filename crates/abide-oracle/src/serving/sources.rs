//! `abide-serve` and a real etcd: two servers on one store, members that are killed, a store that
//! forgot, and one that asks who is there.

mod etcd;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use abide_harness::envoys::envoys;
use abide_harness::programs::{abide_serve, target, workspace};
use abide_harness::running_envoy::{RunningEnvoy, Started, ask};
use abide_harness::{ExternalPaths, Result};

use self::etcd::Etcd;
use crate::serving::processes::free_port;
use crate::serving::wait_until;

/// The clients, in Python.
const MOVED: &str = include_str!("sources/moved.py");

/// Clients over TLS, in Python.
const SECURED: &str = include_str!("sources/secured.py");

/// True if servers do with each store what they should.
pub(crate) fn run(paths: &ExternalPaths) -> Result<bool> {
    let serve = abide_serve(paths.abide_serve.as_deref())?;
    let mut claims = Claims { good: true };
    check_two_servers(&serve, &mut claims)?;
    check_killed_server(&serve, &mut claims)?;
    check_forgotten_source(&serve, &mut claims)?;
    check_secured_source(&serve, &mut claims)?;
    Ok(claims.good)
}

/// What is shown to hold.
struct Claims {
    good: bool,
}

impl Claims {
    fn that(&mut self, what: &str, holds: bool) {
        println!("sources: {what}: {}", if holds { "yes" } else { "NO" });
        self.good &= holds;
    }
}

/// A new folder for a store and its servers.
fn folder(name: &str) -> Result<PathBuf> {
    let folder = target()?.join("oracle-sources").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// A cluster in YAML.
fn cluster(name: &str, seconds: u32) -> String {
    format!(
        "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: {name}\n\
         connect_timeout: {seconds}s\n"
    )
}

/// A server that runs. It ends when this is dropped.
struct Server {
    child: Child,
    grpc: u16,
    http: u16,
    admin: String,
}

impl Server {
    fn start(serve: &Path, folder: &Path, source: &str, flags: &[&str]) -> Result<Server> {
        let (grpc, http, admin) = (free_port()?, free_port()?, free_port()?);
        let mut command = Command::new(serve);
        command.args(["--resources", source, "--long-poll", "1", "--api"]);
        command.arg(workspace()?.join("crates/abide-serve/example/api")).args(flags);
        for (flag, port) in [("--grpc", grpc), ("--http", http), ("--admin", admin)] {
            command.arg(flag).arg(format!("127.0.0.1:{port}"));
        }
        let log = File::create(folder.join(format!("serve-{admin}.log")))?;
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        Ok(Server { child: command.spawn()?, grpc, http, admin: format!("127.0.0.1:{admin}") })
    }

    /// The status and text of a page of its admin port; nothing if it does not answer.
    fn page(&self, path: &str) -> (u16, String) {
        ask(&self.admin, "GET", path).unwrap_or_default()
    }

    fn until_ready(&self) -> Result<()> {
        wait_until("the server gets ready", || (self.page("/ready").1 == "LIVE\n").then_some(()))
    }

    /// Whether it serves a cluster.
    fn has(&self, name: &str) -> bool {
        self.page("/config_dump").1.contains(&format!("\"name\": \"{name}\""))
    }

    /// Waits until it serves a cluster. Returns how long that took.
    fn until_has(&self, name: &str) -> Result<Duration> {
        let begin = Instant::now();
        wait_until(&format!("`{name}` is served"), || self.has(name).then(|| begin.elapsed()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Two servers that never talked answer alike: who moves from one to the other is sent nothing
/// again. What is wrong is refused by both, with the name of the key.
fn check_two_servers(serve: &Path, claims: &mut Claims) -> Result<()> {
    let folder = folder("two-servers")?;
    let etcd = Etcd::start(&folder, 1, "http", &[], &[])?;
    etcd.put("fleet/a.yaml", &cluster("a", 1))?;
    etcd.put("fleet/more/moved.yaml", &cluster("moved", 1))?;
    etcd.put("fleets/no.yaml", &cluster("beside", 1))?;
    let source = etcd.source("fleet");
    let servers = [
        Server::start(serve, &folder, &source, &[])?,
        Server::start(serve, &folder, &source, &[])?,
    ];
    for server in &servers {
        server.until_ready()?;
    }
    claims.that("what is beside the prefix is not served", !servers[0].has("beside"));
    let program = folder.join("moved.py");
    std::fs::write(&program, MOVED)?;
    let mut python = Command::new("python3");
    python.arg(&program);
    for port in [servers[0].grpc, servers[1].grpc, servers[0].http, servers[1].http, etcd.port(0)] {
        python.arg(port.to_string());
    }
    let output = python.arg("fleet/more/moved.yaml").output()?;
    let moved: serde_json::Value = serde_json::from_slice(&output.stdout).map_err(|_| {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        format!("the client did not get to its end: `pip install grpcio xds-protos`; {said}")
    })?;
    println!("sources: a client that moved from one server to the other: {moved}");
    claims.that("it had both clusters", moved["held"] == 2);
    claims.that("nothing was sent to it again", moved["again"] == 0);
    let changed = moved["changed"] == serde_json::json!(["moved"]) && moved["more"] == 0;
    claims.that("then a change was sent to it once, and nothing else", changed);
    claims.that("a poll that moved found nothing new", moved["poll"] == 304);

    etcd.put("fleet/a.yaml", &cluster("a", 2).replace("connect_timeout", "connect_timeot"))?;
    for server in &servers {
        let told = wait_until("the refusal", || {
            Some(server.page("/ready")).filter(|it| it.1.contains("a.yaml:3:1: "))
        })?;
        claims.that("what is wrong is refused with its place, and it stays live", told.0 == 200);
    }
    etcd.control(&["del", "fleet/a.yaml"], "")?;
    for server in &servers {
        server.until_ready()?;
        claims.that("a key that is gone is gone", !server.has("a") && server.has("moved"));
    }
    // Both at once or neither: each alone would be refused.
    let route = "\"@type\": type.googleapis.com/envoy.config.route.v3.RouteConfiguration\nname: \
                 routes\nvirtual_hosts: [{name: all, domains: ['*'], routes: [{match: {prefix: /}, \
                 route: {cluster: late}}]}]\n";
    let both = format!(
        "\n\nput fleet/routes.yaml {}\nput fleet/late.yaml {}\n\n\n",
        serde_json::Value::from(route),
        serde_json::Value::from(cluster("late", 1))
    );
    let before = servers[0].page("/stats").1;
    etcd.control(&["txn"], &both.replace("\n\nput", "\nput"))?;
    servers[0].until_has("late")?;
    let rejected = |text: &str| {
        text.lines().find(|it| it.starts_with("resources.update_rejected")).map(str::to_owned)
    };
    let after = servers[0].page("/stats").1;
    claims.that("a transaction is judged as a whole", rejected(&before) == rejected(&after));
    Ok(())
}

/// The leader of three members is killed, then another member: what was served last is served on,
/// and changes come through again as soon as there is somebody to accept them.
fn check_killed_server(serve: &Path, claims: &mut Claims) -> Result<()> {
    let folder = folder("killed")?;
    let quick = ["--heartbeat-interval", "50", "--election-timeout", "500"].map(str::to_owned);
    let mut etcd = Etcd::start(&folder, 3, "http", &quick, &[])?;
    etcd.put("fleet/a.yaml", &cluster("a", 1))?;
    let leader = etcd.leader()?;
    // The member that is named first is watched: here the leader.
    let ports = [leader, (leader + 1) % 3, (leader + 2) % 3].map(|it| etcd.port(it));
    let [first, second, third] = ports.map(|port| format!("127.0.0.1:{port}"));
    let source = format!("etcd:{first},{second},{third}/fleet");
    let server = Server::start(serve, &folder, &source, &[])?;
    server.until_ready()?;

    etcd.kill(leader)?;
    claims.that("the leader is killed: it serves on", server.has("a"));
    let begin = Instant::now();
    wait_until("another leader", || etcd.put("fleet/b.yaml", &cluster("b", 1)).ok())?;
    let elected = begin.elapsed();
    let came = server.until_has("b")?;
    println!(
        "sources: a change was accepted {elected:.1?} after the leader was killed, and served {came:.1?} \
         later"
    );
    server.until_ready()?;

    let other = (leader + 1) % 3;
    etcd.kill(other)?;
    let told = wait_until("that no member leads", || {
        Some(server.page("/ready")).filter(|it| it.1.contains("since the source cannot be read"))
    })?;
    print!("sources: without a majority: {} {}", told.0, told.1);
    claims.that("without a majority it serves on and says why", told.0 == 200 && server.has("b"));
    etcd.begin(leader)?;
    wait_until("a majority", || etcd.put("fleet/c.yaml", &cluster("c", 1)).ok())?;
    let came = server.until_has("c")?;
    println!("sources: with a majority again, a change is served {came:.1?} after it was accepted");
    server.until_ready()?;

    for number in [leader, (leader + 2) % 3] {
        etcd.kill(number)?;
    }
    wait_until("that nothing answers", || {
        server.page("/ready").1.contains("etcd: ").then_some(())
    })?;
    claims.that("without any member it serves on", server.has("c"));
    let late = Server::start(serve, &folder, &source, &[])?;
    let told = wait_until("that nothing can be read", || {
        Some(late.page("/ready")).filter(|it| it.1.contains("etcd: "))
    })?;
    claims.that("a server that starts then is not ready, and says why", told.0 == 503);
    for number in 0..3 {
        etcd.begin(number)?;
    }
    late.until_ready()?;
    claims.that("and gets ready once there is something to read", late.has("c"));
    Ok(())
}

/// A store that forgot its past while nobody watched, and one that was set up anew.
fn check_forgotten_source(serve: &Path, claims: &mut Claims) -> Result<()> {
    let folder = folder("forgotten")?;
    let mut etcd = Etcd::start(&folder, 1, "http", &[], &[])?;
    etcd.put("fleet/a.yaml", &cluster("a", 1))?;
    etcd.put("fleet/gone.yaml", &cluster("gone", 1))?;
    let server = Server::start(serve, &folder, &etcd.source("fleet"), &[])?;
    server.until_ready()?;
    etcd.kill(0)?;
    // Elsewhere, it changes and forgets.
    let known = etcd.move_to(0, free_port()?);
    etcd.begin(0)?;
    wait_until("etcd serves", || etcd.put("fleet/b.yaml", &cluster("b", 1)).ok())?;
    etcd.control(&["del", "fleet/gone.yaml"], "")?;
    etcd.put("fleet/c.yaml", &cluster("c", 1))?;
    let text = etcd.control(&["endpoint", "status", "-w", "json"], "")?;
    let status: serde_json::Value = serde_json::from_str(&text)?;
    let revision = status[0]["Status"]["header"]["revision"].to_string();
    etcd.control(&["compact", &revision], "")?;
    etcd.kill(0)?;
    claims.that("meanwhile it serves on", server.has("gone"));
    etcd.move_to(0, known);
    etcd.begin(0)?;
    server.until_has("c")?;
    server.until_ready()?;
    claims.that("what was forgotten is read anew", server.has("b") && !server.has("gone"));

    etcd.kill(0)?;
    drop(std::fs::remove_dir_all(folder.join("m0")));
    etcd.begin(0)?;
    wait_until("etcd serves", || etcd.put("fleet/d.yaml", &cluster("d", 1)).ok())?;
    server.until_has("d")?;
    claims.that("a store that begins anew is read anew", !server.has("c"));
    Ok(())
}

/// Certificates of one authority in a folder: a server's, a client's, and another authority.
struct Certificates<'f>(&'f Path);

impl Certificates<'_> {
    fn make(folder: &Path) -> Result<Certificates<'_>> {
        let openssl = |args: &[&str]| -> Result<()> {
            let output = Command::new("openssl").current_dir(folder).args(args).output()?;
            match output.status.success() {
                true => Ok(()),
                false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
            }
        };
        let request = |name: &str, more: &[&str]| {
            let (subject, key) = (format!("/CN={name}"), format!("{name}.key"));
            let new = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
            let named = ["-batch", "-subj", &subject, "-keyout", &key];
            openssl(&[&new[..], &named, more].concat())
        };
        for authority in ["ca", "other"] {
            let file = format!("{authority}.pem");
            request(authority, &["-x509", "-days", "2", "-out", &file])?;
        }
        std::fs::write(folder.join("names"), "subjectAltName=IP:127.0.0.1\n")?;
        for leaf in ["server", "client"] {
            let (asked, file) = (format!("{leaf}.csr"), format!("{leaf}.pem"));
            request(leaf, &["-new", "-out", &asked])?;
            let authority = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"];
            let signed = ["x509", "-req", "-days", "2", "-in", &asked, "-extfile", "names"];
            openssl(&[&signed[..], &authority, &["-out", &file]].concat())?;
        }
        Ok(Certificates(folder))
    }

    fn at(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

/// A store that asks for a certificate and a password; then servers that ask for a certificate,
/// with clients that have one and clients that have none.
fn check_secured_source(serve: &Path, claims: &mut Claims) -> Result<()> {
    let folder = folder("secured")?;
    let certificates = Certificates::make(&folder)?;
    let (ca, other) = (certificates.at("ca.pem"), certificates.at("other.pem"));
    let (cert, key) = (certificates.at("client.pem"), certificates.at("client.key"));
    let (own_cert, own_key) = (certificates.at("server.pem"), certificates.at("server.key"));
    let flags =
        [["--cert-file", &own_cert], ["--key-file", &own_key], ["--trusted-ca-file", &ca]].concat();
    let mut flags: Vec<String> = flags.iter().map(|it| (*it).to_owned()).collect();
    flags.push("--client-cert-auth".to_owned());
    let secrets = [["--cacert", &ca], ["--cert", &cert], ["--key", &key]].concat();
    let secrets: Vec<String> = secrets.iter().map(|it| (*it).to_owned()).collect();
    let mut etcd = Etcd::start(&folder, 1, "https", &flags, &secrets)?;
    etcd.put("fleet/a.yaml", &cluster("a", 1))?;
    for args in [
        &["user", "add", "root:secret"][..],
        &["user", "grant-role", "root", "root"],
        &["user", "add", "reader:hidden"],
        &["role", "add", "reads"],
        &["role", "grant-permission", "reads", "--prefix=true", "read", "fleet/"],
        &["user", "grant-role", "reader", "reads"],
        &["auth", "enable"],
    ] {
        etcd.control(args, "")?;
    }
    etcd.log_in("root:secret");
    std::fs::write(folder.join("password"), "hidden\n")?;
    std::fs::write(folder.join("wrong"), "guessed\n")?;
    let source = etcd.source("fleet");
    let (password, wrong) = (certificates.at("password"), certificates.at("wrong"));
    let shown = ["--etcd-cert", &cert, "--etcd-key", &key];
    let as_reader = ["--etcd-user", "reader", "--etcd-password-file", &password];
    let guessed = ["--etcd-user", "reader", "--etcd-password-file", &wrong];
    let (trusted, misled) = (["--etcd-ca", &ca], ["--etcd-ca", &other]);
    let all = [&trusted[..], &shown, &as_reader].concat();
    let server = Server::start(serve, &folder, &source, &all)?;
    server.until_ready()?;
    etcd.put("fleet/b.yaml", &cluster("b", 1))?;
    server.until_has("b")?;
    claims.that("with certificate and password, it reads and watches", server.has("a"));
    let refused: [(&str, Vec<&str>); 4] = [
        ("with a wrong password", [&trusted[..], &shown, &guessed].concat()),
        ("without a certificate", [&trusted[..], &as_reader].concat()),
        ("with another authority", [&misled[..], &shown, &as_reader].concat()),
        ("without TLS", as_reader.to_vec()),
    ];
    for (how, flags) in refused {
        let server = Server::start(serve, &folder, &source, &flags)?;
        let told = wait_until("why nothing is read", || {
            Some(server.page("/ready")).filter(|it| it.1.contains("etcd: "))
        })?;
        let why = told.1.lines().find(|it| it.starts_with("etcd: ")).unwrap_or_default();
        println!("sources: {how}: {why}");
        claims.that("it is not ready", told.0 == 503);
    }

    let wrapped = ["--tls-cert", &own_cert, "--tls-key", &own_key, "--client-ca", &ca];
    let all = [&all[..], &wrapped].concat();
    let servers = [
        Server::start(serve, &folder, &source, &all)?,
        Server::start(serve, &folder, &source, &all)?,
    ];
    for server in &servers {
        server.until_ready()?;
    }
    let program = folder.join("secured.py");
    std::fs::write(&program, SECURED)?;
    let ports = [servers[0].grpc, servers[0].http].map(|it| it.to_string());
    let output =
        Command::new("python3").arg(&program).args(ports).args([&ca, &cert, &key]).output()?;
    let got: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())?;
    println!("sources: gRPC and REST over TLS: {got}");
    let with = got["stream"] == 2 && got["poll"] == 200;
    claims.that("clients with a certificate are served", with);
    let without = got["stream without"] == "refused" && got["poll without"] == "refused";
    claims.that("clients without one are refused", without);
    check_moving_envoy(&folder, &etcd, servers, claims)
}

/// A real Envoy, over TLS and with a certificate, loses its server: from the other one it takes
/// nothing that it has, and then what is new.
fn check_moving_envoy(
    folder: &Path,
    etcd: &Etcd,
    servers: [Server; 2],
    claims: &mut Claims,
) -> Result<()> {
    let envoys = envoys()?;
    let envoy = envoys.first().ok_or("no Envoy is installed")?;
    let endpoint = |port: u16| {
        format!(
            "{{endpoint: {{address: {{socket_address: {{address: 127.0.0.1, port_value: {port}}}}}}}}}"
        )
    };
    let at = |name: &str| folder.join(name).display().to_string();
    let bootstrap = format!(
        "node: {{id: moves, cluster: fleet}}\n\
         admin: {{address: {{socket_address: {{address: 127.0.0.1, port_value: 0}}}}}}\n\
         dynamic_resources:\n  ads_config: {{api_type: DELTA_GRPC, transport_api_version: V3, \
         grpc_services: [{{envoy_grpc: {{cluster_name: xds}}}}]}}\n  cds_config: {{ads: {{}}, \
         resource_api_version: V3}}\n\
         static_resources:\n  clusters:\n  - name: xds\n    connect_timeout: 1s\n    \
         load_assignment: {{cluster_name: xds, endpoints: [{{lb_endpoints: [{}, {}]}}]}}\n    \
         typed_extension_protocol_options: {{envoy.extensions.upstreams.http.v3.HttpProtocolOptions: \
         {{\"@type\": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions, \
         explicit_http_config: {{http2_protocol_options: {{}}}}}}}}\n    transport_socket: {{name: tls, \
         typed_config: {{\"@type\": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.\
         UpstreamTlsContext, common_tls_context: {{tls_certificates: [{{certificate_chain: {{filename: \
         '{}'}}, private_key: {{filename: '{}'}}}}], validation_context: {{trusted_ca: {{filename: \
         '{}'}}}}}}}}}}\n",
        endpoint(servers[0].grpc),
        endpoint(servers[1].grpc),
        at("client.pem"),
        at("client.key"),
        at("ca.pem"),
    );
    let place = folder.join("envoy.yaml");
    std::fs::write(&place, bootstrap)?;
    let running = match RunningEnvoy::start(envoy, &place, &[], folder)? {
        Started::Running(running) => running,
        Started::Refused(said) => return Err(said.into()),
    };
    // What was added, changed and removed since the start; `xds` is one of them.
    let changes = || -> Option<Vec<u64>> {
        let all = running.statistics("cluster_manager.cluster_(added|modified|removed)").ok()?;
        all.iter().map(|(_, value)| value.parse().ok()).collect()
    };
    let is_at = |server: &Server| {
        let (_, text) = server.page("/clients");
        text.contains("\"moves\"") && text.contains("\"acked\"")
    };
    wait_until("Envoy has its clusters", || (changes()? == [3, 0, 0]).then_some(()))?;
    let [first, second] = servers;
    let (left, right) = if is_at(&first) { (first, second) } else { (second, first) };
    drop(left);
    wait_until("Envoy found the other server", || is_at(&right).then_some(()))?;
    std::thread::sleep(Duration::from_secs(1));
    let now = changes();
    println!("sources: Envoy {} added, changed and removed after it moved: {now:?}", envoy.version);
    claims.that("it took nothing again", now == Some(vec![3, 0, 0]));
    etcd.put("fleet/c.yaml", &cluster("c", 1))?;
    let taken = wait_until("the change", || (changes()? == [4, 0, 0]).then_some(()));
    claims.that("and then what is new", taken.is_ok());
    Ok(())
}
