//! `abide-serve conformance` against the server, over real sockets.

use std::convert::Infallible;
use std::path::Path;
use std::process::{Command, Output};

use bytes::Bytes;
use http_body_util::Empty;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};

use crate::server::{Server, cluster, run};

/// How long nothing has to come before it counts as nothing: most of the time that a run takes.
const QUIET: &str = "40ms";

/// What a run says, a line for each scenario and the summary.
struct Run {
    code: Option<i32>,
    lines: Vec<serde_json::Value>,
    /// All of it, for messages of tests.
    said: String,
}

impl Run {
    fn of(args: &[&str]) -> Run {
        let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_abide-serve"))
            .args(["conformance", "--format", "json"])
            .args(args)
            .output()
            .expect("it starts");
        let (out, err) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        let lines = out.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        Run { code: status.code(), lines: lines.collect(), said: format!("{out}{err}") }
    }

    fn count(&self, word: &str) -> u64 {
        self.lines.last().and_then(|it| it[word].as_u64()).unwrap_or_default()
    }

    /// Nothing failed, and so many scenarios were played.
    fn passed(&self, at_least: u64) {
        let failed: Vec<String> = self
            .lines
            .iter()
            .filter(|it| it["outcome"] == "fail")
            .map(ToString::to_string)
            .collect();
        assert!(self.code == Some(0) && failed.is_empty(), "{}\n{}", failed.join("\n"), self.said);
        assert!(self.count("passed") >= at_least, "{}", self.said);
    }
}

/// A server that has nothing but what the scenarios bring.
fn start(flags: &[&str]) -> Server {
    let flags = [&["--allow-empty"], flags].concat();
    Server::start(&[("conformance.yaml", &cluster("before", 1))], &flags)
}

fn folder(server: &Server) -> String {
    let file = server.path("conformance.yaml");
    file.parent().map(Path::to_string_lossy).expect("it is in a folder").into_owned()
}

/// Plays the scenarios of one way.
fn play(way: &str, at_least: u64) {
    let server = start(&[]);
    Run::of(&[
        "--target",
        &server.grpc,
        "--rest",
        &server.http,
        "--folder",
        &folder(&server),
        "--only",
        way,
        "--patience",
        "60s",
        "--quiet",
        QUIET,
        "--strict",
    ])
    .passed(at_least);
}

#[test]
fn the_server_passes_every_scenario_on_one_stream() {
    play("/ads", 110);
}

#[test]
fn the_server_passes_every_scenario_on_separate_streams() {
    play("/separate", 80);
}

#[test]
fn the_server_passes_every_scenario_over_rest() {
    play("/rest", 20);
}

/// Two clients that say the same name are two clients.
#[test]
fn two_streams_of_one_node_are_both_served() {
    let server = start(&[]);
    let run = Run::of(&[
        "--target",
        &server.grpc,
        "--folder",
        &folder(&server),
        "--only",
        "two-clients",
        "--only",
        "both-variants",
        "--node-id",
        "same",
        "--patience",
        "60s",
        "--quiet",
        QUIET,
    ]);
    run.passed(6);
    assert!(run.count("skipped") > 0, "polls need an address");
}

/// A server that sends everything at once loses requests, and is told so.
#[test]
fn a_server_without_order_fails() {
    let server = start(&["--unordered"]);
    let run = Run::of(&[
        "--target",
        &server.grpc,
        "--folder",
        &folder(&server),
        "--only",
        "make-before-break",
        "--patience",
        "60s",
        "--quiet",
        QUIET,
    ]);
    assert_eq!(run.code, Some(1), "{}", run.said);
    assert_eq!(run.count("failed"), 2, "{}", run.said);
    let reason = run.lines[0]["reason"].as_str().expect("it says why");
    assert!(reason.contains("awaited `< cds x y`, but `< cds y` came"), "{reason}");
}

/// A change command is told what to serve.
#[test]
fn a_command_changes_what_is_served() {
    let server = start(&[]);
    let command = "cat > .beside.yaml && mv .beside.yaml conformance.yaml";
    let command = format!("cd '{}' && {command}", folder(&server));
    let run = |command: &str, patience: &str| {
        Run::of(&[
            "--target",
            &server.grpc,
            "--change-command",
            command,
            "--only",
            "change/ads",
            "--patience",
            patience,
        ])
    };
    run(&command, "60s").passed(1);
    let run = run("exit 3", "60s");
    assert_eq!(run.code, Some(1));
    assert!(run.said.contains("the change command `exit 3`: exit status: 3"), "{}", run.said);
}

/// What a run against an address says that has no scenario to play there.
fn nobody(target: &str, patience: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().to_string_lossy();
    let run = Run::of(&["--target", target, "--folder", &folder, "--patience", patience]);
    assert_eq!((run.code, run.lines.len()), (Some(2), 0), "{}", run.said);
    assert_eq!(run.said.lines().count(), 1, "{}", run.said);
    assert!(run.said.contains(&format!("no xDS server answered at `{target}`")), "{}", run.said);
    run.said
}

/// Where nobody speaks the protocol, one line says so, and no scenario is played.
#[test]
fn a_server_that_speaks_no_xds_is_no_failure_of_each_scenario() {
    let said = nobody("127.0.0.1:1", "60s");
    assert!(said.to_lowercase().contains("connection refused"), "{said}");
    let server = start(&[]);
    nobody(&server.http, "60s");
    nobody(&server.admin, "60s");
    // It takes whatever comes, and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("it listens");
    let said = nobody(&silent.local_addr().expect("an address").to_string(), "300ms");
    assert!(said.contains("300ms"), "{said}");
    let none = Run::of(&["--list", "--only", "no such scenario"]);
    assert_eq!(none.code, Some(2), "{}", none.said);
}

/// Answers as servers of gRPC do that have no such service.
async fn have_no_service(listener: tokio::net::TcpListener) {
    // Nobody asks on the first connection.
    for _ in 0..2 {
        let (stream, _) = listener.accept().await.expect("somebody comes");
        let service = service_fn(async |_| {
            let answer = hyper::Response::builder().header("grpc-status", "12");
            let answer = answer.header("content-type", "application/grpc");
            Ok::<_, Infallible>(answer.body(Empty::<Bytes>::new()).expect("an answer"))
        });
        let builder = http2::Builder::new(TokioExecutor::new());
        let _ = builder.serve_connection(TokioIo::new(stream), service).await;
    }
}

#[test]
fn a_server_of_another_service_is_no_failure_of_each_scenario() {
    run(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("it listens");
        let address = listener.local_addr().expect("an address").to_string();
        let serving = tokio::spawn(have_no_service(listener));
        let said = tokio::task::spawn_blocking(move || nobody(&address, "60s"));
        let said = said.await.expect("it ends");
        assert!(said.contains("Unimplemented"), "{said}");
        serving.abort();
    });
}

/// A server that speaks the protocol, but does not read the folder, fails.
#[test]
fn a_server_that_serves_no_change_fails() {
    let server = start(&[]);
    let command =
        ["--change-command", "cat > /dev/null", "--only", "change/ads", "--patience", "2s"];
    let run = Run::of(&[&["--target", &server.grpc][..], &command].concat());
    assert_eq!(run.code, Some(1), "{}", run.said);
    assert!(run.said.contains("a change was not served within 2s"), "{}", run.said);
}

/// Nobody waits for a client that is gone.
#[test]
fn a_client_that_ends_fails_at_once() {
    let command = ["--client", "--only", "client-acks", "--patience", "24h", "--", "false"];
    let run = Run::of(&command);
    assert_eq!(run.code, Some(1), "{}", run.said);
    assert!(run.said.contains("the client ended: exit status: 1"), "{}", run.said);
}

#[test]
fn a_folder_that_is_not_there_is_no_failure_of_each_scenario() {
    let run = Run::of(&["--folder", "/nowhere/at-all"]);
    assert_eq!((run.code, run.lines.len()), (Some(2), 0), "{}", run.said);
    assert!(run.said.contains("`--folder /nowhere/at-all`: name a folder"), "{}", run.said);
}
