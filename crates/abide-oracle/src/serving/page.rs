//! The page of the fleet in a real browser: driven with clients that are made up, and as the server
//! serves it, with a hostile client.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::thread::JoinHandle;

use abide_harness::corpora;
use abide_harness::programs::{abide_serve, workspace};
use abide_harness::{ExternalPaths, Result};
use serde_json::{Value, json};

use super::processes::Processes;
use super::traffic::get;
use super::{reserve_port, wait_until};
use crate::pages::browser::{self, Scheme};

const DRIVER: &str = include_str!("page.js");

const HOSTILE: &str =
    "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>\u{202e}";
/// What of it a page may show.
const SHOWN: &str = "&lt;img src=x onerror=alert(1)&gt;\\u{202e}";

const CDS: &str = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

/// Opens the page; true if all checks hold.
pub(crate) fn run(paths: &ExternalPaths) -> Result<bool> {
    let serve = abide_serve(paths.abide_serve.as_deref())?;
    let folder = corpora::make_fresh_folder("page")?;
    let example = workspace()?.join("crates/abide-serve/example");
    let (grpc, http, admin) = (reserve_port()?, reserve_port()?, reserve_port()?);
    let mut processes = Processes::default();
    let mut command = Command::new(serve);
    command.arg("--resources").arg(example.join("resources")).arg("--api").arg(example.join("api"));
    for (flag, port) in [("--grpc", grpc), ("--http", http), ("--admin", admin)] {
        command.arg(flag).arg(format!("127.0.0.1:{port}"));
    }
    command.args(["--long-poll", "600"]);
    processes.start(&mut command, &folder.join("serve.log"))?;
    wait_until("the server gets ready", || {
        get(admin, "/ready").ok().filter(|it| it.starts_with("LIVE"))
    })?;
    let page = folder.join("fleet.html");
    std::fs::write(&page, get(admin, "/")?)?;
    let mut good = true;
    for scheme in [Scheme::Light, Scheme::Dark] {
        let name = format!("the fleet in {scheme:?}");
        good &= browser::use_page_in(scheme, &name, &page, DRIVER, &describe_fleet())?;
    }
    good &= check_served_page(&folder, http, admin)?;
    drop(processes);
    Ok(good)
}

/// Clients of two releases, some of which refuse something, wait for something or miss something.
fn describe_fleet() -> Value {
    let client = |node: &str, agent: &str, its: Value| json!({"node": node, "cluster": "shop", "user_agent": agent, "transport": "v3", "types": {CDS: its}});
    let fine =
        |version: &str| json!({"sent": version, "acked": version, "held_back": [], "dropped": []});
    let mut refused = fine("2");
    refused["acked"] = json!("1");
    refused["nacked"] = json!({"version": "2", "message": format!("no: {HOSTILE}")});
    let mut waits = fine("2");
    waits["held_back"] = json!([{"name": "shop", "reason": "these clients do not know `x.Y`"}]);
    let mut misses = fine("2");
    misses["dropped"] = json!([{"name": "shop", "field": "envoy.config.cluster.v3.Cluster.new"}]);
    let mut starts = client("old-2", "envoy 1.37.0", misses);
    starts["initialisation"] = json!({
        "phase": "endpoints",
        "waits_for": [{"for": "endpoints", "name": HOSTILE, "reason": "it is nowhere"}],
        "more": 0,
        "health_checks": [{"cluster": "shop", "at_most": "3s"}],
    });
    let clients = [
        client("edge-1", "envoy 1.40.0", fine("2")),
        client("edge-2", "envoy 1.40.0", fine("2")),
        client(HOSTILE, "envoy 1.40.0", refused),
        client("old-1", "envoy 1.37.0", waits),
        starts,
    ];
    let ready = format!("LIVE: what was served before\na.yaml:1:1: {HOSTILE}\n");
    json!({"clients": clients, "ready": ready, "hostile": HOSTILE, "title": "Fleet", "large": 10_000})
}

/// Whether the page works under the policy that the server sends with it, and shows who is there;
/// leaves pictures of it.
fn check_served_page(folder: &Path, http: u16, admin: u16) -> Result<bool> {
    let poll = Poll::start(http, &json!({"node": {"id": HOSTILE, "cluster": "shop"}}))?;
    wait_until("the client is known", || {
        get(admin, "/clients").ok().filter(|it| it.contains("owned"))
    })?;
    let address = format!("http://127.0.0.1:{admin}/");
    let mut good = true;
    for scheme in [Scheme::Light, Scheme::Dark] {
        let mut browser = browser::build_browser_command(scheme, (1280, 1100))?;
        let picture = folder.join(format!("{scheme:?}.png").to_lowercase());
        browser.arg("--virtual-time-budget=3000").arg("--enable-logging=stderr");
        browser.arg(format!("--screenshot={}", picture.display())).arg("--dump-dom").arg(&address);
        let said = browser.output()?;
        let dom = String::from_utf8_lossy(&said.stdout);
        let log = String::from_utf8_lossy(&said.stderr);
        let checks = [
            ("it says that the server is live", dom.contains("Live: clients may come")),
            ("hostile text is text", dom.contains(SHOWN) && !dom.contains("<img")),
            ("the title is its own", dom.contains("<title>Fleet</title>")),
            ("the policy stops nothing of it", !log.contains("Content Security Policy")),
            ("there is a picture", std::fs::metadata(&picture).is_ok_and(|it| it.len() > 10_000)),
        ];
        for (what, _) in checks.iter().filter(|(_, holds)| !holds) {
            println!("  the page as it is served, {scheme:?}: FAILED {what}");
        }
        good &= checks.iter().all(|(_, holds)| *holds);
        println!("page: as it is served, in {scheme:?}: {}", picture.display());
    }
    poll.end();
    Ok(good)
}

/// A poll that waits for something new.
struct Poll {
    stream: TcpStream,
    reader: JoinHandle<()>,
}

impl Poll {
    /// Asks for clusters, and then again with what there was.
    fn start(http: u16, request: &Value) -> Result<Poll> {
        let send = |request: &Value| -> Result<TcpStream> {
            let mut stream = TcpStream::connect(("127.0.0.1", http))?;
            let body = request.to_string();
            write!(
                stream,
                "POST /v3/discovery:clusters HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\
                 content-length: {}\r\n\r\n{body}",
                body.len()
            )?;
            Ok(stream)
        };
        let mut answer = String::new();
        send(request)?.read_to_string(&mut answer)?;
        let (_, body) = answer.split_once("\r\n\r\n").ok_or("no answer")?;
        let body: Value = serde_json::from_str(body)?;
        let mut again = request.clone();
        again["version_info"] = body["versionInfo"].clone();
        let stream = send(&again)?;
        let mut waiting = stream.try_clone()?;
        let reader = std::thread::spawn(move || drop(waiting.read(&mut [0])));
        Ok(Poll { stream, reader })
    }

    fn end(self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
        let _ = self.reader.join();
    }
}
