//! The pages of the admin port.

use std::process::Command;

use abide_xds::wire::{DeltaDiscoveryRequest, DiscoveryRequest, Status};
use serde_json::json;

use crate::exposition::samples;
use crate::server::{CDS, CDS_V2, Server, ask, cluster, node, run};

#[test]
fn counters_are_by_type_and_major_in_both_formats() {
    run(async {
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
        let mut old = server.ads("v2", node("old", "", "")).await;
        old.ask(CDS_V2, &[]).await;
        let first = old.next().await.expect("a response");
        let bytes = first.resources[0].value.len();
        let refusal = DiscoveryRequest {
            type_url: CDS_V2.to_owned(),
            response_nonce: first.nonce.clone(),
            error_detail: Some(Status { code: 3, message: "no".to_owned() }),
            ..Default::default()
        };
        old.send(refusal).await;
        let mut new = server.ads("v3", node("new", "", "")).await;
        new.ask(CDS, &[]).await;
        let response = new.next().await.expect("a response");
        new.ack(&response, &[]).await;
        let acked = "xds.acks.cds.v3: 1\n";
        let stats =
            server.until("/stats", |it| it.contains(acked) && it.contains("grpc.nacks: 1\n"));
        for line in [
            "grpc.streams_active: 2",
            "resources.update_success: 1",
            "server.live: 1",
            "xds.acks.cds.v2: 0",
            "xds.nacks.cds.v2: 1",
            "xds.requests.cds.v2: 2",
            "xds.requests.cds.v3: 2",
            "xds.resources.cds.v3: 1",
            "xds.responses.cds.v3: 1",
            &format!("xds.bytes.cds.v2: {bytes}"),
        ] {
            assert!(stats.lines().any(|it| it == line), "{line}: {stats}");
        }
        let samples = samples(&server.get("/stats/prometheus"));
        for (key, number) in [
            ("abide_serve_grpc_streams_active", 2.0),
            ("abide_serve_grpc_streams_total", 2.0),
            ("abide_serve_resources_update_success_total", 1.0),
            ("abide_serve_xds_nacks_total{type=\"cds\",major=\"v2\"}", 1.0),
            ("abide_serve_xds_acks_total{type=\"cds\",major=\"v3\"}", 1.0),
            ("abide_serve_xds_bytes_total{type=\"cds\",major=\"v2\"}", bytes as f64),
        ] {
            assert_eq!(samples.get(key), Some(&number), "{key}: {samples:?}");
        }
    });
}

/// What clients say of themselves is in labels, and breaks no line.
#[test]
fn clients_are_counted_by_release_and_variant_whatever_they_call_themselves() {
    run(async {
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
        let mut clients = Vec::new();
        for version in ["1.0.0", "1.0.0", "2\"} 7\nx_total{a=\"\\"] {
            let mut client = server.ads("v3", node("n", "", version)).await;
            client.ask(CDS, &[]).await;
            client.next().await.expect("a response");
            clients.push(client);
        }
        let mut delta = server.delta(node("d", "", "1.0.0")).await;
        delta.send(DeltaDiscoveryRequest { type_url: CDS.to_owned(), ..Default::default() }).await;
        delta.next().await.expect("a response");
        let samples = samples(&server.get("/stats/prometheus"));
        let connected = |release: &str, variant: &str| {
            let labels = format!("release=\"{release}\",transport=\"v3\",variant=\"{variant}\"");
            samples.get(&format!("abide_serve_clients_connected{{{labels}}}")).copied()
        };
        assert_eq!(connected("acme-proxy 1.0.0", "sotw"), Some(2.0), "{samples:?}");
        assert_eq!(connected("acme-proxy 1.0.0", "delta"), Some(1.0), "{samples:?}");
        let hostile = samples.keys().filter(|it| it.contains("x_total")).count();
        assert_eq!(hostile, 1, "{samples:?}");
        assert!(server.get("/stats").lines().all(|it| it.contains(": ")), "a line each");
        // None of them has said what it thinks of its first response.
        assert_eq!(samples.get("abide_serve_clients_behind"), Some(&4.0));
    });
}

#[test]
fn the_time_from_a_change_to_its_acceptance_is_measured() {
    run(async {
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
        let mut client = server.ads("v3", node("n", "", "")).await;
        client.ask(CDS, &[]).await;
        let first = client.next().await.expect("a response");
        client.ack(&first, &[]).await;
        server.until("/stats", |it| it.contains("clients.behind: 0\n"));
        // A first response is no change.
        let count = "abide_serve_xds_convergence_seconds_count";
        let counted = |it: &str, number: f64| samples(it).get(count) == Some(&number);
        assert!(counted(&server.get("/stats/prometheus"), 0.0));
        server.put("b.yaml", &cluster("b", 1));
        let second = client.next().await.expect("a response");
        let stats = server.until("/stats", |it| it.contains("clients.behind: 1\n"));
        assert!(!stats.contains("clients.behind_longest_seconds: 0\n"), "{stats}");
        client.ack(&second, &[]).await;
        let text = server.until("/stats/prometheus", |it| counted(it, 1.0));
        let sum = samples(&text)["abide_serve_xds_convergence_seconds_sum"];
        assert!(sum > 0.0, "{text}");
        assert_eq!(samples(&text)["abide_serve_clients_behind"], 0.0);
    });
}

#[test]
fn metrics_say_what_runs_and_what_it_uses() {
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &["--max-connections", "7"]);
    let samples = samples(&server.get("/stats/prometheus"));
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(samples[&format!("abide_serve_build_info{{version=\"{version}\"}}")], 1.0);
    assert_eq!(samples["abide_serve_connections_limit"], 7.0);
    // It may have used less than the system counts.
    assert!(samples["process_cpu_seconds_total"] >= 0.0);
    for some in [
        "process_open_fds",
        "process_max_fds",
        "process_resident_memory_bytes",
        "process_start_time_seconds",
        "process_virtual_memory_bytes",
    ] {
        assert!(samples[some] > 0.0, "{some}: {samples:?}");
    }
    assert!(samples["process_open_fds"] < samples["process_max_fds"]);
    let memory = server.memory().expect("it runs") as f64;
    let ratio = samples["process_resident_memory_bytes"] / memory;
    assert!((0.2..5.0).contains(&ratio), "{ratio}");
}

#[test]
fn the_page_of_clients_says_where_they_come_from_and_what_they_took() {
    run(async {
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
        let mut client = server.ads("v3", node("n", "", "")).await;
        client.ask(CDS, &["a"]).await;
        let response = client.next().await.expect("a response");
        let bytes = response.resources[0].value.len();
        client.ack(&response, &["a"]).await;
        server.until("/stats", |it| it.contains("xds.acks.cds.v3: 1\n"));
        let seen = server.clients()[0].clone();
        assert_eq!((&seen["variant"], &seen["certificate"]), (&"sotw".into(), &json!(null)));
        assert!(seen["peer"].as_str().expect("text").starts_with("127.0.0.1:"), "{seen}");
        let since: jiff::Timestamp = seen["since"].as_str().expect("text").parse().expect("a time");
        assert!(since <= jiff::Timestamp::now());
        let counts = json!({"requests": 2, "responses": 1, "nacks": 0, "bytes": bytes});
        assert_eq!(seen["counts"], counts);
        let ty = &seen["types"][CDS];
        assert_eq!((&ty["names"], &ty["resources"]), (&json!(1), &json!(1)), "{seen}");
    });
}

#[test]
fn what_changes_something_is_post_only_and_unknown_pages_say_what_there_is() {
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
    let help = server.get("/help");
    for line in help.lines() {
        let path = line.split(' ').next().expect("a path");
        let (good, bad) = if line.contains(" POST: ") { ("POST", "GET") } else { ("GET", "POST") };
        let answer = server.whole(&format!("{bad} {path} HTTP/1.1\r\nhost: localhost"));
        assert!(answer.starts_with("HTTP/1.1 405 "), "{bad} {path}: {answer}");
        let allow = answer.lines().find_map(|it| it.strip_prefix("allow: "));
        assert!(allow.is_some_and(|it| it.split(',').any(|it| it == good)), "{path}: {answer}");
        assert!(answer.ends_with(&format!("use {good}, not {bad}\n")), "{answer}");
        for method in ["OPTIONS", "PUT", "DELETE"] {
            let answer = server.whole(&format!("{method} {path} HTTP/1.1\r\nhost: localhost"));
            assert!(answer.ends_with(&format!("use {good}, not {method}\n")), "{answer}");
        }
        let answer = server.whole(&format!("{good} {path} HTTP/1.1\r\nhost: localhost"));
        // Without anything to set, `/runtime_modify` is asked wrongly, but by the right method.
        let status = answer.split(' ').nth(1).expect("a status");
        assert!(["200", "400", "503"].contains(&status), "{good} {path}: {answer}");
    }
    assert!(help.lines().count() >= 12, "all of them were asked for: {help}");
    let answer = server.whole("GET /quitquitquit HTTP/1.1\r\nhost: localhost");
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    assert!(answer.ends_with(&help), "{answer}");
}

#[test]
fn pages_of_other_sites_change_nothing() {
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
    for (origin, status) in [
        ("", "200"),
        ("\r\norigin: http://localhost:1", "200"),
        ("\r\norigin: http://evil.example", "403"),
        ("\r\norigin: null", "403"),
    ] {
        let head = format!("POST /runtime_modify?a=1 HTTP/1.1\r\nhost: localhost:1{origin}");
        let answer = server.whole(&head);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{origin}: {answer}");
    }
}

#[test]
fn a_name_that_leads_to_the_loopback_by_the_will_of_another_site_is_refused() {
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
    let status = |server: &Server, method: &str, path: &str, head: &str| {
        let answer = server.whole(&format!("{method} {path} HTTP/1.1{head}"));
        answer.split(' ').nth(1).expect("a status").to_owned()
            + answer.split_once("\r\n\r\n").expect("a body").1
    };
    let refused = "403this port is for this machine: ask it as `localhost`, or by its address\n";
    for host in [
        "evil.example:1",
        "evil.example",
        "localhost.evil.example",
        "notlocalhost:80",
        "0.0.0.0:1",
        "10.0.0.1",
        "[fe80::1]:1",
        "a@localhost",
        "",
        "localhost:x",
    ] {
        let own = format!("\r\nhost: {host}\r\norigin: http://{host}");
        assert_eq!(status(&server, "GET", "/clients", &own), refused, "{host}");
        assert_eq!(status(&server, "POST", "/runtime_modify?a=1", &own), refused, "{host}");
    }
    let twice = "\r\nhost: localhost\r\nhost: evil.example";
    assert_eq!(status(&server, "GET", "/server_info", twice), refused);
    for host in [
        "localhost",
        "LocalHost.:1",
        "fleet.localhost:1",
        "127.0.0.1:1",
        "127.9.9.9",
        "[::1]:1",
        "[::1]",
        "[::ffff:127.0.0.1]:1",
    ] {
        let answer = status(&server, "POST", "/runtime_modify?a=1", &format!("\r\nhost: {host}"));
        assert_eq!(answer, "200OK\n", "{host}");
    }
    let without = server.whole("GET /ready HTTP/1.0");
    assert!(without.contains(" 200 OK\r\n") && without.ends_with("LIVE\n"), "{without}");
    // Where others may come, they do so by any name, and change nothing from other sites.
    let open = Server::start(&[("a.yaml", &cluster("a", 1))], &["--admin", "0.0.0.0:0"]);
    open.until("/ready", |it| it == "LIVE\n");
    assert!(status(&open, "GET", "/ready", "\r\nhost: fleet.example").starts_with("200"));
    let foreign = "\r\nhost: fleet.example\r\norigin: http://evil.example";
    assert!(status(&open, "POST", "/runtime_modify?a=1", foreign).starts_with("403"));
}

/// What may be asked for by long polling are secrets, and refusals take changes back.
#[test]
fn no_web_page_asks_for_resources() {
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
    server.until("/ready", |it| it == "LIVE\n");
    let polled = |head: &str| {
        let body = r#"{"node": {"id": "n"}}"#;
        let head = format!("{head}\r\ncontent-length: {}", body.len());
        let path = "/v3/discovery:clusters";
        let request = format!("POST {path} HTTP/1.1\r\nconnection: close\r\n{head}\r\n\r\n{body}");
        ask(&server.http, &request).0
    };
    for host in ["evil.example", "evil.example:1", "a@localhost", "10.0.0.1"] {
        assert_eq!(polled(&format!("host: {host}")), 403, "{host}");
    }
    for origin in ["http://localhost", "null", "http://evil.example"] {
        assert_eq!(polled(&format!("host: localhost\r\norigin: {origin}")), 403, "{origin}");
    }
    for host in ["localhost", "127.0.0.1:1", "[::1]:1", "xds_cluster", "xds-server:18000"] {
        assert_eq!(polled(&format!("host: {host}")), 200, "{host}");
    }
}

#[test]
fn the_page_of_the_fleet_is_one_file_that_may_run_nothing_else() {
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
    let answer = server.whole("GET / HTTP/1.1\r\nhost: localhost");
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
    let policy = head.lines().find_map(|it| it.strip_prefix("content-security-policy: "));
    let policy = policy.expect("a policy");
    assert!(policy.starts_with("default-src 'none'; connect-src 'self'; style-src 'sha256-"));
    assert!(!policy.contains("unsafe"), "{policy}");
    assert!(!body.contains("{{") && body.contains("<script>\"use strict\";"), "it is filled in");
    for outside in ["src=", "http:", "https:", "//", "@import", "url("] {
        let found = body.lines().find(|it| it.contains(outside) && !it.starts_with("//"));
        let is_comment = found.is_some_and(|it| it.trim_start().starts_with("//"));
        assert!(found.is_none() || is_comment, "{outside}: {found:?}");
    }
}

#[test]
fn an_admin_port_beyond_the_loopback_is_warned_about() {
    let help = Command::new(env!("CARGO_BIN_EXE_abide-serve")).arg("--help").output();
    let help = String::from_utf8(help.expect("it runs").stdout).expect("text");
    let admin = help.split("--admin <ADDR>").nth(1).expect("it is a flag");
    assert!(admin.lines().take(6).any(|it| it.contains("127.0.0.1:19000")), "{help}");
    let folder = tempfile::tempdir().expect("a folder");
    // No machine has this address, so nothing opens: the warning comes first.
    let any = "127.0.0.1:0";
    let said = Command::new(env!("CARGO_BIN_EXE_abide-serve"))
        .args(["--grpc", any, "--http", any, "--admin", "192.0.2.1:0", "--resources"])
        .arg(folder.path())
        .arg("--api")
        .arg(crate::server::example("api"))
        .output()
        .expect("it runs");
    let said = String::from_utf8(said.stderr).expect("text");
    assert!(said.contains(" WARN the admin pages can be reached from outside"), "{said}");
    assert!(said.contains("cannot listen at 192.0.2.1:0"), "{said}");
}
