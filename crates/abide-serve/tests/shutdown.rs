//! `abide-serve shutdown-manager` and `abide-serve shutdown`, run as a pod runs them, beside a
//! proxy that pretends.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // Tests set up a world.

#[path = "../../abide-cli/tests/cli/waiting.rs"]
mod waiting;

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::thread;

use tempfile::TempDir;

use self::waiting::Log;

const BINARY: &str = env!("CARGO_BIN_EXE_abide-serve");

/// An admin port. It answers each request from a list, the last answer of a path for ever, and
/// notes what it was asked.
struct Admin {
    port: u16,
    asked: Arc<Log>,
}

type Answers = Vec<(&'static str, Vec<(u16, String)>)>;

impl Admin {
    fn start(answers: Answers) -> Admin {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Log::default());
        let noted = Arc::clone(&asked);
        // It ends with the test.
        thread::spawn(move || {
            let mut answers = answers;
            for stream in listener.incoming() {
                answer(stream.unwrap(), &mut answers, &noted);
            }
        });
        Admin { port, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.text().lines().map(str::to_owned).collect()
    }

    fn shutdown(&self, ready: &Path, more: &[&str]) -> Output {
        let mut command = Command::new(BINARY);
        command.args(["shutdown", "--admin-address", "127.0.0.1", "--admin-port"]);
        command.arg(self.port.to_string()).arg("--ready-file").arg(ready);
        command.args(["--check-delay", "0s", "--check-interval", "20ms"]).args(more);
        command.output().unwrap()
    }
}

fn answer(stream: TcpStream, answers: &mut Answers, noted: &Log) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if header.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let request = line.trim().trim_end_matches(" HTTP/1.1").to_owned();
    noted.add(&format!("{request}{}", String::from_utf8(body).unwrap()));
    let found = answers.iter_mut().find(|(asked, _)| *asked == request);
    let (status, body) = match found {
        None => (405, "no".to_owned()),
        Some((_, left)) if left.len() > 1 => left.remove(0),
        Some((_, left)) => left[0].clone(),
    };
    let length = body.len();
    let text = format!("HTTP/1.1 {status} x\r\ncontent-length: {length}\r\n\r\n{body}");
    reader.get_mut().write_all(text.as_bytes()).unwrap();
}

fn open(count: u32) -> (u16, String) {
    let name = "envoy_http_downstream_cx_active{envoy_http_conn_manager_prefix=";
    (200, format!("{name}\"admin\"}} 1\n{name}\"ingress_http\"}} {count}\n"))
}

fn ok() -> Vec<(u16, String)> {
    vec![(200, "OK\n".to_owned())]
}

const FAIL: &str = "POST /healthcheck/fail";
const COUNT: &str = "GET /stats/prometheus";

fn ready_in(folder: &TempDir) -> std::path::PathBuf {
    folder.path().join("ok")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_shutdown_follows_the_documented_sequence() {
    let folder = TempDir::new().unwrap();
    let counts = vec![open(5), open(3), open(0)];
    let admin = Admin::start(vec![(FAIL, ok()), (COUNT, counts)]);
    let output = admin.shutdown(&ready_in(&folder), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(ready_in(&folder).exists());
    assert_eq!(admin.asked(), [FAIL, COUNT, COUNT, COUNT]);
}

#[test]
fn an_unexpected_answer_of_the_proxy_is_shown() {
    let folder = TempDir::new().unwrap();
    let wrong = vec![
        (503, String::new()),
        (200, "!!!\n".to_owned()),
        (200, "other 1\n".to_owned()),
        open(0),
    ];
    let admin = Admin::start(vec![(FAIL, vec![(500, String::new())]), (COUNT, wrong)]);
    let output = admin.shutdown(&ready_in(&folder), &[]);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let url = format!("`http://127.0.0.1:{}", admin.port);
    for text in [
        format!("{url}/healthcheck/fail` answered 500"),
        "health checks of the proxy go on".to_owned(),
        format!("{url}/stats/prometheus` answered 503"),
        "line 1 of the metrics is malformed".to_owned(),
        "the metrics have no open connections of `ingress_http`".to_owned(),
    ] {
        assert!(said.contains(&text), "{text}\n{said}");
    }
    assert_eq!(admin.asked(), [[FAIL; 4], [COUNT; 4]].concat());
}

#[test]
fn an_unreachable_proxy_is_reported_and_the_wait_ends_on_a_signal() {
    let folder = TempDir::new().unwrap();
    let admin = Admin { port: 1, asked: Arc::default() };
    let output = admin.shutdown(&ready_in(&folder), &["--max-wait", "300ms"]);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("creating healthcheck fail POST request failed: "), "{said}");
    assert!(said.contains("an unknown number of connections are open"), "{said}");
    assert!(ready_in(&folder).exists(), "the proxy is not held up for ever");
}

#[test]
fn a_ready_file_that_cannot_be_created_is_a_failure() {
    let folder = TempDir::new().unwrap();
    let admin = Admin::start(vec![(FAIL, ok()), (COUNT, vec![open(0)])]);
    let output = admin.shutdown(&folder.path().join("no").join("ok"), &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("cannot make the ready file"), "{}", said(&output));
}

/// A manager that is running; ended with the test.
struct Manager {
    child: Child,
    port: u16,
    log: Arc<Log>,
}

impl Drop for Manager {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Manager {
    fn start(ready: &Path, more: &[&str]) -> Manager {
        let mut command = Command::new(BINARY);
        command.args(["shutdown-manager", "--serve-port", "0", "--bind", "127.0.0.1"]);
        command.args(["--check-interval", "20ms", "--ready-file"]).arg(ready).args(more);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let log = Log::of(BufReader::new(child.stderr.take().unwrap()));
        let listens = log.line(|it| it.contains("127.0.0.1:"));
        let (_, rest) = listens.split_once("127.0.0.1:").unwrap();
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Manager { child, port: digits.parse().unwrap(), log }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).unwrap()
    }

    fn ask(&self, request: &str) -> (u16, String) {
        let mut stream = self.connect();
        write!(stream, "{request} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    /// Waits until its log has this text.
    fn says(&self, text: &str) {
        self.log.line(|it| it.contains(text));
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }
}

#[test]
fn the_manager_answers_its_routes() {
    let folder = TempDir::new().unwrap();
    let manager = Manager::start(&ready_in(&folder), &[]);
    assert_eq!(manager.ask("GET /healthz"), (200, "OK".to_owned()));
    assert_eq!(manager.ask("GET /other").0, 404);
    assert_eq!(manager.ask("POST /shutdown").0, 405);
}

#[test]
fn shutdown_is_answered_when_the_ready_file_exists() {
    let folder = TempDir::new().unwrap();
    let manager = Manager::start(&ready_in(&folder), &[]);
    let mut stream = manager.connect();
    write!(stream, "GET /shutdown HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").unwrap();
    manager.says("is not there yet");
    stream.set_nonblocking(true).unwrap();
    let early = stream.read(&mut [0; 1]).map_err(|it| it.kind());
    assert_eq!(early, Err(ErrorKind::WouldBlock), "it was answered too early");
    std::fs::write(ready_in(&folder), "").unwrap();
    stream.set_nonblocking(false).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 200") && text.ends_with("\r\n\r\nOK"), "{text}");
}

#[test]
fn an_unreadable_ready_file_is_reported_and_retried() {
    let folder = TempDir::new().unwrap();
    let between = folder.path().join("volume");
    let ready = between.join("ok");
    let manager = Manager::start(&ready, &[]);
    // A loop of links: nobody can look through it, whatever his rights are.
    std::os::unix::fs::symlink(&between, &between).unwrap();
    let asking = thread::scope(|scope| {
        let asked = scope.spawn(|| manager.ask("GET /shutdown"));
        manager.says("cannot look at");
        std::fs::remove_file(&between).unwrap();
        std::fs::create_dir(&between).unwrap();
        std::fs::write(&ready, "").unwrap();
        asked.join().unwrap()
    });
    assert_eq!(asking, (200, "OK".to_owned()));
}

#[test]
fn a_client_that_disconnects_is_forgotten() {
    let folder = TempDir::new().unwrap();
    let manager = Manager::start(&ready_in(&folder), &[]);
    let mut stream = manager.connect();
    write!(stream, "GET /shutdown HTTP/1.1\r\nhost: a\r\n\r\n").unwrap();
    manager.says("is not there yet");
    drop(stream);
    manager.says("the client no longer waits for /shutdown");
    assert_eq!(manager.ask("GET /healthz").0, 200);
}

#[test]
fn the_manager_logs_start_and_stop_and_fails_without_its_port() {
    let folder = TempDir::new().unwrap();
    let mut manager = Manager::start(&ready_in(&folder), &[]);
    let port = manager.port.to_string();
    let args = ["shutdown-manager", "--bind", "127.0.0.1", "--serve-port", &port, "--ready-file"];
    let ready = ready_in(&folder);
    let second = Command::new(BINARY).args(args).arg(&ready).output().unwrap();
    assert_eq!(second.status.code(), Some(1));
    assert!(said(&second).contains(&format!("cannot listen on 127.0.0.1:{port}")));
    // A request that waits does not hold it up.
    let mut stream = manager.connect();
    write!(stream, "GET /shutdown HTTP/1.1\r\nhost: a\r\n\r\n").unwrap();
    manager.says("is not there yet");
    manager.signal("TERM");
    assert_eq!(manager.child.wait().unwrap().code(), Some(0));
    manager.says("shutdown-manager");
    manager.says("started envoy shutdown manager");
    manager.says("stopped envoy shutdown manager");
}

#[test]
fn an_answer_that_cannot_be_sent_is_logged() {
    let folder = TempDir::new().unwrap();
    let manager = Manager::start(&ready_in(&folder), &[]);
    // Half a request is none, and the client is told so; what it sent next nobody reads.
    let mut stream = manager.connect();
    stream.write_all(b"GET /healthz HTTP/9.9\r\n\r\n").unwrap();
    manager.says("cannot answer: ");
    assert_eq!(manager.ask("GET /healthz").0, 200);
}

#[test]
fn both_commands_end_on_a_signal() {
    let folder = TempDir::new().unwrap();
    let mut manager = Manager::start(&ready_in(&folder), &[]);
    let admin = Admin::start(vec![(FAIL, ok()), (COUNT, vec![open(1)])]);
    let mut command = Command::new(BINARY);
    command.args(["shutdown", "--admin-address", "127.0.0.1", "--check-delay", "0s"]);
    command.args(["--admin-port", &admin.port.to_string(), "--ready-file"]);
    command.arg(ready_in(&folder)).stderr(Stdio::null());
    let mut command = command.spawn().unwrap();
    admin.asked.line(|it| it == COUNT);
    for pid in [command.id(), manager.child.id()] {
        let pid = pid.to_string();
        assert!(Command::new("kill").args(["-s", "TERM", &pid]).status().unwrap().success());
    }
    assert!(!command.wait().unwrap().success());
    assert_eq!(manager.child.wait().unwrap().code(), Some(0));
    assert!(!ready_in(&folder).exists(), "connections are open");
}

#[test]
fn a_ready_file_of_an_earlier_run_is_removed() {
    let folder = TempDir::new().unwrap();
    std::fs::write(ready_in(&folder), "").unwrap();
    let manager = Manager::start(&ready_in(&folder), &[]);
    assert!(!ready_in(&folder).exists());
    manager.says("of an earlier run");
    // What cannot be removed would end the proxy at once.
    drop(manager);
    std::fs::create_dir(ready_in(&folder)).unwrap();
    let args = ["shutdown-manager", "--bind", "127.0.0.1", "--serve-port", "0", "--ready-file"];
    let refused = Command::new(BINARY).args(args).arg(ready_in(&folder)).output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(said(&refused).contains("cannot remove"), "{}", said(&refused));
}

#[test]
fn a_proxy_that_was_left_draining_is_recovered() {
    let folder = TempDir::new().unwrap();
    let draining = vec![(503, "DRAINING\n".to_owned())];
    let admin = Admin::start(vec![("GET /ready", draining), ("POST /healthcheck/ok", ok())]);
    let port = admin.port.to_string();
    let more = ["--admin-address", "127.0.0.1", "--admin-port", &port, "--recover"];
    let manager = Manager::start(&ready_in(&folder), &more);
    manager.says("was left draining");
    assert_eq!(admin.asked(), ["GET /ready", "POST /healthcheck/ok"]);
    drop(manager);

    let live = Admin::start(vec![("GET /ready", vec![(200, "LIVE\n".to_owned())])]);
    let port = live.port.to_string();
    let more = ["--admin-address", "127.0.0.1", "--admin-port", &port, "--recover"];
    let manager = Manager::start(&ready_in(&folder), &more);
    manager.ask("GET /healthz");
    assert_eq!(live.asked(), ["GET /ready"]);
}

#[test]
fn the_load_of_the_proxy_is_shown() {
    let folder = TempDir::new().unwrap();
    let ready = vec![(200, "LIVE\n".to_owned())];
    let admin = Admin::start(vec![("GET /ready", ready), (COUNT, vec![open(7)])]);
    let port = admin.port.to_string();
    let more = ["--admin-address", "127.0.0.1", "--admin-port", &port];
    let manager = Manager::start(&ready_in(&folder), &more);
    let (status, body) = manager.ask("GET /status");
    let expected = r#"{"ready":false,"draining":false,"open_connections":7}"#;
    assert_eq!((status, body.as_str()), (200, expected));
}

#[test]
fn both_pre_stop_hooks_end_in_either_order() {
    for manager_first in [true, false] {
        let folder = TempDir::new().unwrap();
        let ready = ready_in(&folder);
        let admin = Admin::start(vec![(FAIL, ok()), (COUNT, vec![open(2), open(1), open(0)])]);
        let manager = Manager::start(&ready, &[]);
        thread::scope(|scope| {
            let hook = || manager.ask("GET /shutdown");
            let command = || admin.shutdown(&ready, &[]).status.code();
            let (hook, command) = match manager_first {
                true => {
                    let hook = scope.spawn(hook);
                    manager.says("is not there yet");
                    (hook, scope.spawn(command))
                }
                false => {
                    let command = scope.spawn(command);
                    (scope.spawn(hook), command)
                }
            };
            assert_eq!(command.join().unwrap(), Some(0));
            assert_eq!(hook.join().unwrap(), (200, "OK".to_owned()));
        });
    }
}

/// Somebody on the network holds as many requests as there may wait: probes are answered all the same.
#[test]
fn requests_that_wait_leave_room_for_probes() {
    let folder = TempDir::new().unwrap();
    let manager = Manager::start(&ready_in(&folder), &[]);
    let mut held = Vec::new();
    for _ in 0..66 {
        let mut stream = manager.connect();
        write!(stream, "GET /shutdown HTTP/1.1\r\nhost: a\r\n\r\n").unwrap();
        held.push(stream);
    }
    let idle: Vec<TcpStream> = (0..120).map(|_| manager.connect()).collect();
    assert_eq!(manager.ask("GET /healthz"), (200, "OK".to_owned()));
    assert_eq!(manager.ask("GET /shutdown").0, 503);
    drop((held, idle));
}

#[test]
fn the_admin_port_may_be_a_socket() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("admin.sock");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let path = path.to_str().unwrap().to_owned();
    let answering = thread::spawn(move || {
        for body in ["OK\n".to_owned(), open(0).1] {
            let mut reader = BufReader::new(listener.accept().unwrap().0);
            let mut line = String::new();
            while reader.read_line(&mut line).unwrap() > 2 {
                line.clear();
            }
            let length = body.len();
            write!(reader.get_mut(), "HTTP/1.1 200 x\r\ncontent-length: {length}\r\n\r\n{body}")
                .unwrap();
        }
    });
    let output = Command::new(BINARY)
        .args(["shutdown", "--admin-address", &path, "--check-delay", "0s", "--ready-file"])
        .arg(ready_in(&folder))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(ready_in(&folder).exists());
    answering.join().unwrap();
}

#[test]
fn a_bootstrap_names_a_host() {
    let folder = TempDir::new().unwrap();
    let write = |address: &str, more: &[&str]| {
        let mut command = Command::new(BINARY);
        command.arg("bootstrap").arg(folder.path().join("envoy.json"));
        command.args(["--xds-address", address, "--xds-port", "18000"]).args(more);
        command.output().unwrap()
    };
    for address in ["/run/xds.sock", "unix:", "unix:x", "a b", "", "a..b", "http://a"] {
        let output = write(address, &[]);
        assert_eq!(output.status.code(), Some(2), "{address}");
        assert!(
            said(&output).contains("the name or the IP address of a host"),
            "{}",
            said(&output)
        );
    }
    for address in ["abide", "abide.example.", "10.0.0.1", "::1", "a_b.c"] {
        assert_eq!(write(address, &[]).status.code(), Some(0), "{address}");
    }
    // A socket of this machine has no port, and is named by nobody who looks names up.
    let place =
        ["bootstrap", folder.path().join("socket.json").to_str().unwrap()].map(str::to_owned);
    let at_socket = |more: &[&str]| {
        let address = ["--xds-address", "unix:/run/abide/xds.sock"];
        Command::new(BINARY).args(&place).args(address).args(more).output().unwrap()
    };
    assert_eq!(at_socket(&[]).status.code(), Some(0), "{}", said(&at_socket(&[])));
    let text = std::fs::read_to_string(&place[1]).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let cluster = &value["static_resources"]["clusters"][0];
    assert_eq!(cluster["type"], "STATIC");
    let endpoint = &cluster["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"];
    assert_eq!(endpoint["address"]["pipe"]["path"], "/run/abide/xds.sock");
    let tls = ["--envoy-cafile", "a", "--envoy-cert-file", "b", "--envoy-key-file", "c"];
    let refused = at_socket(&tls);
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused).contains("without TLS"), "{}", said(&refused));
    let without = Command::new(BINARY).args(&place).args(["--xds-address", "abide"]).output();
    assert!(said(&without.unwrap()).contains("`--xds-port PORT`"));
    // Flags of manifests that others wrote.
    let others = [
        "--admin-address=/admin/admin.sock",
        "--dns-lookup-family=v4",
        "--overload-max-heap=1000000000",
        "--overload-dowstream-max-conn=5000",
        "--namespace=edge",
    ];
    let output = write("abide", &others);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = std::fs::read_to_string(folder.path().join("envoy.json")).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["admin"]["address"]["pipe"]["path"], "/admin/admin.sock");
    let clusters = &value["static_resources"]["clusters"];
    assert_eq!(clusters[0]["dns_lookup_family"], "V4_ONLY");
    let monitors = &value["overload_manager"]["resource_monitors"];
    assert_eq!(monitors[0]["typed_config"]["max_heap_size_bytes"], 1_000_000_000);
    assert_eq!(monitors[1]["typed_config"]["max_active_downstream_connections"], 5000);
    assert_eq!(value["overload_manager"]["actions"][1]["triggers"][0]["threshold"]["value"], 0.98);
    // Certificates in files of their own are read again when they change.
    let resources = folder.path().join("resources");
    let flags = ["--envoy-cafile", "ca", "--envoy-cert-file", "crt", "--envoy-key-file", "key"];
    let more = ["--xds-resource-version=v3", "--resources-dir", resources.to_str().unwrap()];
    let output = write("abide", &[&flags[..], &more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let text = std::fs::read_to_string(folder.path().join("envoy.json")).unwrap();
    for name in ["xds-tls-certificate", "xds-validation-context"] {
        let file = resources.join(format!("{name}.json"));
        assert!(text.contains(file.to_str().unwrap()), "{text}");
        let secret = std::fs::read_to_string(file).unwrap();
        assert!(secret.contains(&format!("\"name\": \"{name}\"")), "{secret}");
    }
}
