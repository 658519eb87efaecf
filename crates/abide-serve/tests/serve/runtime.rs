//! Layers of runtime: served as resources, and what the operator sets above them.

use std::collections::BTreeMap;

use abide_xds::wire::{DeltaDiscoveryRequest, Runtime};
use prost::Message;
use prost_types::value::Kind;
use serde_json::json;
use tempfile::TempDir;

use crate::server::{RTDS, RTDS_V2, Server, changed_api, cluster, edge_api, node, pool, run};

fn layer(name: &str, values: &str) -> String {
    format!("\"@type\": {RTDS}\nname: {name}\nlayer: {values}\n")
}

/// The numbers of a layer, by key.
fn numbers(bytes: &[u8]) -> BTreeMap<String, f64> {
    let layer = Runtime::decode(bytes).expect("a layer").layer.unwrap_or_default();
    let number = |it: prost_types::Value| match it.kind {
        Some(Kind::NumberValue(number)) => number,
        other => panic!("{other:?}"),
    };
    layer.fields.into_iter().map(|(key, value)| (key, number(value))).collect()
}

fn pairs(pairs: &[(&str, f64)]) -> BTreeMap<String, f64> {
    pairs.iter().map(|(key, number)| ((*key).to_owned(), *number)).collect()
}

#[test]
fn an_rtds_layer_is_served_in_every_variant() {
    run(async {
        let files = [("a.yaml", layer("base", "{a: 1}")), ("b.yaml", layer("top", "{b: 2}"))];
        let files = files.each_ref().map(|(name, text)| (*name, &**text));
        let server = Server::start(&files, &[]);
        for (major, url) in [("v3", RTDS), ("v2", RTDS_V2)] {
            let mut whole = server.ads(major, node(major, "", "")).await;
            whole.ask(url, &["base"]).await;
            let response = whole.next().await.expect("a response");
            assert_eq!((&*response.type_url, response.resources.len()), (url, 1));
            assert_eq!(response.resources[0].type_url, url);
            assert_eq!(numbers(&response.resources[0].value), pairs(&[("a", 1.0)]));
            let (status, body) = server
                .poll(&format!("/{major}/discovery:runtime"), r#"{"resource_names": ["top"]}"#);
            let body: serde_json::Value = serde_json::from_str(&body).expect("JSON");
            let expected = json!([{"@type": url, "name": "top", "layer": {"b": 2}}]);
            assert_eq!((status, &body["resources"]), (200, &expected));
        }
        let mut delta = server.delta(node("delta", "", "")).await;
        let request = DeltaDiscoveryRequest {
            type_url: RTDS.to_owned(),
            resource_names_subscribe: vec!["base".to_owned()],
            ..Default::default()
        };
        delta.send(request).await;
        let response = delta.next().await.expect("a response");
        assert_eq!(response.resources.len(), 1, "only the one that was asked for");
        assert_eq!(response.resources[0].name, "base");
        server.put("a.yaml", &layer("base", "{a: 3}"));
        let response = delta.next().await.expect("a response");
        let body = response.resources[0].resource.as_ref().expect("a body");
        assert_eq!(numbers(&body.value), pairs(&[("a", 3.0)]));
        std::fs::remove_file(server.path("a.yaml")).expect("it is there");
        assert_eq!(delta.next().await.expect("a response").removed_resources, ["base"]);
    });
}

#[test]
fn a_layer_that_clients_would_refuse_is_not_served() {
    let server = Server::start(&[("a.yaml", &layer("base", "{a: [1]}"))], &[]);
    let ready = server.until("/ready", |text| text.contains("a.yaml"));
    let line =
        "a.yaml:3:9: the value of `a` is null or a list, not a boolean, number, text or share";
    assert!(ready.contains(line), "{ready}");
}

#[test]
fn an_override_from_the_admin_port_reaches_every_layer_at_once() {
    run(async {
        let files = [
            ("a.yaml", layer("base", "{a: {b: 1}, c: 2}")),
            ("b.yaml", layer("top", "{c: 3}")),
            ("node-cluster/canary/a.yaml", layer("base", "{a.b: 7}")),
        ];
        let files = files.each_ref().map(|(name, text)| (*name, &**text));
        let server = Server::start(&files, &[]);
        let mut client = server.ads("v3", node("one", "", "")).await;
        client.ask(RTDS, &["base", "top"]).await;
        let first = client.next().await.expect("a response");
        client.ack(&first, &["base", "top"]).await;
        assert_eq!(server.post("/runtime_modify?a.b=5&d=6"), (200, "OK\n".to_owned()));
        let shown: serde_json::Value = serde_json::from_str(&server.get("/runtime")).expect("JSON");
        let expected = json!({
            "layers": ["base", "top", "admin"],
            "entries": {
                "a.b": {"layer_values": ["1", "", "5"], "final_value": "5"},
                "c": {"layer_values": ["2", "3", ""], "final_value": "3"},
                "d": {"layer_values": ["", "", "6"], "final_value": "6"},
            },
        });
        assert_eq!(shown, expected);
        let second = client.next().await.expect("a response");
        client.ack(&second, &["base", "top"]).await;
        let got: Vec<_> = second.resources.iter().map(|it| numbers(&it.value)).collect();
        let base = pairs(&[("a.b", 5.0), ("c", 2.0), ("d", 6.0)]);
        assert_eq!(got, [base, pairs(&[("a.b", 5.0), ("c", 3.0), ("d", 6.0)])]);
        // Others get it in their layers, and it outlives a change of the folder.
        let canary = server.get("/runtime?audience=node-cluster%2Fcanary");
        let canary: serde_json::Value = serde_json::from_str(&canary).expect("JSON");
        assert_eq!(canary["entries"]["a.b"]["layer_values"], json!(["7", "", "5"]));
        server.put("b.yaml", &layer("top", "{c: 4}"));
        let third = client.next().await.expect("a response");
        let last = third.resources.last().expect("a layer");
        assert_eq!(numbers(&last.value), pairs(&[("a.b", 5.0), ("c", 4.0), ("d", 6.0)]));
        let stats = server.get("/stats");
        assert!(stats.contains("runtime.admin_overrides_active: 1\n"), "{stats}");
        // Taken back, everything is as it was.
        assert_eq!(server.post("/runtime_modify?a.b=&d=").0, 200);
        server.put("b.yaml", &layer("top", "{c: 3}"));
        let version = || {
            let dump: serde_json::Value =
                serde_json::from_str(&server.get("/config_dump")).expect("JSON");
            dump["served"][0]["types"][RTDS]["version"].clone()
        };
        server.until("/config_dump", |_| version() == *first.version_info);
    });
}

#[test]
fn a_server_without_layers_accepts_overrides() {
    let server = Server::start(&[], &[]);
    assert_eq!(server.post("/runtime_modify?a=1").0, 200);
    let shown: serde_json::Value = serde_json::from_str(&server.get("/runtime")).expect("JSON");
    let expected =
        json!({"layers": ["admin"], "entries": {"a": {"layer_values": ["1"], "final_value": "1"}}});
    assert_eq!(shown, expected);
}

#[test]
fn what_cannot_be_set_is_refused_with_the_reason() {
    let server = Server::start(&[("a.yaml", &layer("base", "{a: 1}"))], &[]);
    for (query, reason) in [
        ("", "say what to set"),
        ("?a=[1]", "the value of `a` is not"),
        ("?a=%7B", "the value of `a` is not"),
        ("?=1", "a key is empty"),
    ] {
        let (status, said) = server.post(&format!("/runtime_modify{query}"));
        assert_eq!(status, 400, "{query}");
        assert!(said.starts_with(reason), "{query}: {said}");
    }
    // A form works as well, and one that is too large does not.
    let form = |text: &str| crate::server::poll(&server.admin, "/runtime_modify", text);
    assert_eq!(form("a=2&b.c=a+b%21").0, 200);
    let shown: serde_json::Value = serde_json::from_str(&server.get("/runtime")).expect("JSON");
    assert_eq!(shown["entries"]["b.c"]["final_value"], "a b!");
    assert_eq!(form(&format!("long={}", "x".repeat(100_000))).0, 400);
    let large = form(&"x".repeat(1 << 20));
    assert_eq!(large, (413, "a form may have at most 256 KiB\n".to_owned()));
    // What is no form sets nothing, and says so.
    let typed = |ty: &str, body: &str| {
        let headers = format!("content-type: {ty}\r\ncontent-length: {}\r\n", body.len());
        let head = format!("POST /runtime_modify HTTP/1.1\r\nhost: localhost\r\n{headers}");
        crate::server::ask(&server.admin, &format!("{head}connection: close\r\n\r\n{body}"))
    };
    let form = "application/x-www-form-urlencoded";
    for (ty, body, status) in [
        ("application/json", "{\"d\": 1}", 415),
        ("text/plain", "d=1", 415),
        ("multipart/form-data; boundary=x", "--x--", 415),
        (form, " {\"d\": 1}", 400),
        (form, "[1]", 400),
    ] {
        let (found, said) = typed(ty, body);
        assert_eq!(found, status, "{ty}: {said}");
        assert!(said.contains("expected a form, such as `KEY=VALUE&KEY=VALUE`"), "{ty}: {said}");
        assert!(said.ends_with('\n') && said.lines().count() == 1, "{said}");
    }
    assert_eq!(typed(&format!("{form}; charset=UTF-8"), "e=5").0, 200);
    assert!(server.get("/runtime").contains("\"e\""));
    assert!(
        server.get("/runtime?audience=nobody").starts_with("nothing is served to this audience")
    );
}

#[test]
fn each_use_of_a_deprecated_element_is_counted_and_logged() {
    let api = edge_api();
    let (old, new) = (pool("a", "width: 3"), pool("b", "size: 1"));
    let server = Server::with_api(api.path(), &[("a.yaml", &old), ("b.yaml", &new)], &[]);
    let counts = |total: u64| {
        let says = format!(
            "runtime.deprecated_feature_seen_since_process_start: {total}\n\
             runtime.deprecated_feature_use: {total}\n"
        );
        server.until("/stats", |text| text.contains(&says));
    };
    counts(1);
    let said = server.until_said("acme.edge.v1.Pool.width");
    let warning =
        said.lines().find(|it| it.contains("acme.edge.v1.Pool.width")).expect("a warning");
    assert!(warning.contains("\"WARN\"") && warning.contains("a.yaml:3:1: "), "{warning}");
    // What did not change is not used again, and each use counts.
    server.put("b.yaml", &format!("{}---\n{}", pool("b", "width: 1"), pool("c", "width: 2")));
    counts(3);
    server.put("a.yaml", &pool("a", "size: 1"));
    server.until("/stats", |text| text.contains("resources.update_success: 3\n"));
    counts(3);
    // What is refused is not used.
    server.put("a.yaml", &pool("a", "width: 3\nno: 1"));
    server.until("/stats", |text| text.contains("resources.update_rejected: 1\n"));
    counts(3);
    let metrics = server.get("/stats/prometheus");
    for line in [
        "abide_serve_runtime_deprecated_feature_use_total 3\n",
        "abide_serve_runtime_deprecated_feature_seen_since_process_start 3\n",
    ] {
        assert!(metrics.contains(line), "{metrics}");
    }
}

/// An API with a field that clients take only if a key of runtime allows it, and that key.
fn disallowing_api() -> (TempDir, &'static str) {
    let api = changed_api(&[
        (
            "cluster.proto",
            "message Cluster {\n",
            "message Cluster {\n  int32 old = 50 [deprecated = true, (envoy.annotations.disallowed_by_default) = true];\n",
        ),
        (
            "cluster.proto",
            "package envoy.config.cluster.v3;\n",
            "package envoy.config.cluster.v3;\nimport \"deprecation.proto\";\n",
        ),
    ]);
    let text = "syntax = \"proto2\";\npackage envoy.annotations;\n\
                import \"google/protobuf/descriptor.proto\";\n\
                extend google.protobuf.FieldOptions { optional bool disallowed_by_default = 189503207; }\n";
    std::fs::write(api.path().join("deprecation.proto"), text).expect("a file");
    (api, "envoy.deprecated_features:envoy.config.cluster.v3.Cluster.old")
}

/// What the message says is right when it is done, in each way.
#[test]
fn a_disallowed_field_is_lifted_by_runtime() {
    let (api, key) = disallowing_api();
    let uses = format!("{}old: 1\n", cluster("a", 1));
    let server = || Server::with_api(api.path(), &[("a.yaml", &uses)], &[]);
    // By a layer of the same source, for as long as it is there.
    let by_layer = server();
    let ready = by_layer.get("/ready");
    assert!(ready.starts_with("NOT READY") && ready.contains(key), "{ready}");
    by_layer.put("r.yaml", &layer("base", &format!("{{'{key}': true}}")));
    by_layer.until("/ready", |text| text == "LIVE\n");
    by_layer.put("r.yaml", &layer("base", "{}"));
    by_layer.until("/ready", |text| text.contains("refused") && text.contains(key));
    // By an operator.
    let by_hand = server();
    assert_eq!(by_hand.post(&format!("/runtime_modify?{key}=true")).0, 200);
    by_hand.until("/ready", |text| text == "LIVE\n");
    // By a flag.
    let flag = format!("{key}=true");
    let by_flag =
        Server::with_api(api.path(), &[("a.yaml", &uses)], &["--runtime-override", &flag]);
    assert_eq!(by_flag.get("/ready"), "LIVE\n");
}
