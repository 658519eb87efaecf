//! Clients of other releases and majors.

use std::path::Path;

use crate::server::{CDS, CDS_V2, Server, api_with, cluster, node, run};

/// The API of the example without some lines, in a folder.
fn older(without: &str) -> tempfile::TempDir {
    api_with(|_, text| {
        let lines = text.lines().filter(|line| !line.contains(without));
        lines.map(|line| format!("{line}\n")).collect()
    })
}

fn table(folder: &Path) -> (tempfile::TempDir, String) {
    let at = tempfile::tempdir().expect("a folder");
    let path = at.path().join("clients.toml");
    let rows = format!(
        "[[clients]]\nuser_agent = \"acme-proxy\"\nversion = \"<2\"\napi = '{}'\n",
        folder.display()
    );
    std::fs::write(&path, rows).expect("a file");
    let path = path.display().to_string();
    (at, path)
}

#[test]
fn a_client_of_the_second_major_gets_its_types() {
    run(async {
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
        let mut old = server.ads("v2", node("old", "", "")).await;
        old.ask(CDS_V2, &[]).await;
        let old_response = old.next().await.expect("a response");
        let mut new = server.ads("v3", node("new", "", "")).await;
        new.ask(CDS, &[]).await;
        let new_response = new.next().await.expect("a response");
        assert_eq!(old_response.type_url, CDS_V2);
        assert_eq!(old_response.resources[0].type_url, CDS_V2);
        assert_eq!(new_response.resources[0].type_url, CDS);
        assert_eq!(old_response.resources[0].value, new_response.resources[0].value);
        let clients = server.clients();
        assert_eq!(
            (&clients[0]["transport"], &clients[1]["transport"]),
            (&"v2".into(), &"v3".into())
        );
    });
}

#[test]
fn kgateway_14384_an_older_client_does_not_get_a_field_that_it_does_not_know() {
    run(async {
        let api = older("connect_timeout");
        let (_at, table) = table(api.path());
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &["--clients", &table]);
        let mut responses = Vec::new();
        let mut open = Vec::new();
        for version in ["1.9.0", "2.0.0"] {
            let mut client = server.ads("v3", node(version, "", version)).await;
            client.ask(CDS, &[]).await;
            responses.push(client.next().await.expect("a response"));
            open.push(client);
        }
        assert_eq!(&*responses[0].resources[0].value, b"\n\x01a", "a name and nothing else");
        assert_ne!(responses[0].resources[0].value, responses[1].resources[0].value);
        let clients = server.until("/clients", |text| text.matches("\"sent\"").count() == 2);
        let clients: serde_json::Value = serde_json::from_str(&clients).expect("JSON");
        let dropped = &clients[0]["types"][CDS]["dropped"];
        let expected = serde_json::json!([
            {"name": "a", "field": "envoy.config.cluster.v3.Cluster.connect_timeout"}
        ]);
        assert_eq!(dropped, &expected);
        assert_eq!(clients[1]["types"][CDS]["dropped"], serde_json::json!([]));
    });
}

#[test]
fn a_resource_that_an_older_client_cannot_hold_stays_as_it_was() {
    run(async {
        let api = older("ORIGINAL_DST = 4");
        let (_at, table) = table(api.path());
        let files = [("a.yaml", cluster("a", 1)), ("b.yaml", cluster("b", 1))];
        let files = files.each_ref().map(|(name, text)| (*name, &**text));
        let server = Server::start(&files, &["--clients", &table]);
        let mut client = server.ads("v3", node("old", "", "1.0.0")).await;
        client.ask(CDS, &[]).await;
        let first = client.next().await.expect("a response");
        client.ack(&first, &[]).await;
        server.put("a.yaml", &(cluster("a", 2) + "type: ORIGINAL_DST\n"));
        let held = server.until("/clients", |text| text.contains("do not know"));
        assert!(
            held.contains(
                "these clients do not know `envoy.config.cluster.v3.Cluster.ORIGINAL_DST`"
            ),
            "{held}"
        );
        server.put("b.yaml", &cluster("b", 2));
        let second = client.next().await.expect("a response");
        assert_eq!(second.resources.len(), 2);
        assert_eq!(first.resources[0], second.resources[0], "the last one that it could hold");
        assert_ne!(first.resources[1], second.resources[1]);
    });
}

/// `abide-serve ask`, to a server: whether it answered, and all that it said.
fn ask(server: &Server, args: &[&str]) -> (Option<i32>, String) {
    ask_at(&server.http, args)
}

/// The same at an address.
fn ask_at(target: &str, args: &[&str]) -> (Option<i32>, String) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_abide-serve"))
        .args(["ask", "--target", target])
        .args(args)
        .output()
        .expect("it starts");
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).expect("text"))
}

#[test]
fn ask_says_which_address_it_wants() {
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
    let (code, answer) = ask_at(&format!("http://{}/", server.http), &[]);
    assert!(code == Some(0) && answer.contains(CDS), "{answer}");
    let over_tls = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("made");
    let folder = tempfile::tempdir().expect("a folder");
    let [cert, key] = ["cert", "key"].map(|name| folder.path().join(name));
    std::fs::write(&cert, over_tls.cert.pem()).expect("a file");
    std::fs::write(&key, over_tls.signing_key.serialize_pem()).expect("a file");
    let [cert, key] = [&cert, &key].map(|it| it.to_str().expect("text"));
    let flags = ["--tls-cert", cert, "--tls-key", key];
    let tls = Server::start(&[("a.yaml", &cluster("a", 1))], &flags);
    for other in [&server.grpc, &tls.http, &tls.grpc] {
        let (code, said) = ask_at(other, &[]);
        let line = format!("{other} does not answer in HTTP/1 without TLS; `--target` is");
        assert!(code == Some(2) && said.contains(&line) && said.contains("`--http`"), "{said}");
    }
    for (target, says) in [
        ("https://127.0.0.1:1", "`--ca FILE`"),
        ("ftp://127.0.0.1:1", "HOST:PORT"),
        ("http://127.0.0.1:1/v3", "HOST:PORT"),
        ("localhost", "HOST:PORT"),
        ("127.0.0.1:1", "refused"),
    ] {
        let (code, said) = ask_at(target, &[]);
        assert!(code == Some(2) && said.contains(says), "{target}: {said}");
    }
}

#[test]
fn ask_ends_when_nothing_comes() {
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &["--long-poll", "86400"]);
    let (code, said) = ask(&server, &["endpoints", "--name", "nope", "--wait", "300ms"]);
    assert_eq!(code, Some(2));
    let line = "nothing named `nope` came in 300ms";
    assert!(said.contains(line) && said.lines().count() == 1, "{said}");
}

#[test]
fn ask_shows_what_a_client_gets() {
    let files = [("a.yaml", &*cluster("a", 1)), ("node-cluster/canary/b.yaml", &cluster("b", 1))];
    let server = Server::start(&files, &["--long-poll", "0.1"]);
    let (code, text) = ask(&server, &[]);
    let answer: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((code, answer["resources"].as_array().map(Vec::len)), (Some(0), Some(1)), "{text}");
    assert_eq!(answer["typeUrl"], CDS);
    let (_, older) = ask(&server, &["--major", "2"]);
    assert!(older.contains(CDS_V2) && !older.contains(CDS), "{older}");
    let (_, canary) = ask(&server, &["--node-cluster", "canary", "--name", "b"]);
    assert!(canary.contains("\"b\"") && !canary.contains("\"a\""), "{canary}");
    let (code, nothing) = ask(&server, &["endpoints", "--name", "x"]);
    assert!(code == Some(2) && nothing.contains("has nothing named `x` yet"), "{nothing}");
    let (code, unknown) = ask(&server, &["cluster"]);
    assert!(code == Some(2) && unknown.contains("clusters|"), "what there is is said: {unknown}");
}

#[test]
fn ask_says_that_the_api_has_no_such_major() {
    let api = api_with(|name, text| match name.ends_with("_v2.proto") {
        true => "syntax = \"proto3\";\n".to_owned(),
        false => text,
    });
    let server = Server::with_api(api.path(), &[("a.yaml", &cluster("a", 1))], &[]);
    let (code, said) = ask(&server, &["--major", "2"]);
    let line = "answered 404 Not Found: the API that is served does not declare";
    assert!(code == Some(2) && said.contains(line) && said.contains(CDS_V2), "{said}");
    assert_eq!(ask(&server, &[]).0, Some(0));
}
