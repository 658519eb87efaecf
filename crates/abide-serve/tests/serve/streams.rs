//! Streams of both variants, polls, and what operators see of them.

use std::time::{Duration, Instant};

use abide_xds::wire::DeltaDiscoveryRequest;

use crate::server::{CDS, EDS, Server, cluster, node, poll, run};

#[test]
fn both_variants_get_resources_and_changes() {
    run(async {
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
        let mut whole = server.ads("v3", node("one", "", "1.0.0")).await;
        whole.ask(CDS, &[]).await;
        let first = whole.next().await.expect("a response");
        assert_eq!(first.resources.len(), 1);
        assert_eq!(first.resources[0].type_url, CDS);
        whole.ack(&first, &[]).await;

        let mut delta = server.delta(node("two", "", "1.0.0")).await;
        let all = DeltaDiscoveryRequest { type_url: CDS.to_owned(), ..Default::default() };
        delta.send(all).await;
        let first_delta = delta.next().await.expect("a response");
        assert_eq!(first_delta.resources[0].name, "a");
        assert_eq!(first_delta.system_version_info, first.version_info, "one content, one version");
        let nonce = first_delta.nonce.clone();
        let ack = DeltaDiscoveryRequest {
            type_url: CDS.to_owned(),
            response_nonce: nonce,
            ..Default::default()
        };
        delta.send(ack).await;
        server.until("/clients", |text| text.matches("\"acked\"").count() == 2);

        server.put("b.yaml", &cluster("b", 1));
        let next = whole.next().await.expect("a response");
        assert_eq!(next.resources.len(), 2);
        let next_delta = delta.next().await.expect("a response");
        assert_eq!(next_delta.resources.len(), 1, "only what changed");
        assert_eq!(next_delta.resources[0].name, "b");

        let clients = server.clients();
        assert_eq!(clients[0]["node"], "one");
        assert_eq!(clients[0]["user_agent"], "acme-proxy 1.0.0");
        assert_eq!(clients[0]["transport"], "v3");
        assert_eq!(clients[0]["types"][CDS]["acked"], first.version_info);
        assert_eq!(clients[0]["types"][CDS]["sent"], next.version_info);
        drop(whole);
        server.until("/clients", |text| text.matches("\"node\"").count() == 1);
    });
}

#[test]
fn unknown_services_are_unimplemented_and_unknown_paths_are_not_found() {
    run(async {
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
        let channel = tonic::transport::Channel::from_shared(format!("http://{}", server.grpc));
        let mut grpc =
            tonic::client::Grpc::new(channel.expect("a URL").connect().await.expect("it listens"));
        grpc.ready().await.expect("it is ready");
        let codec =
            tonic_prost::ProstCodec::<DeltaDiscoveryRequest, DeltaDiscoveryRequest>::default();
        let path = "/envoy.service.load_stats.v3.LoadReportingService/StreamLoadStats";
        let path = path.parse().expect("a path");
        let request = tonic::Request::new(DeltaDiscoveryRequest::default());
        let status = grpc.unary(request, path, codec).await.expect_err("there is none");
        assert_eq!(status.code(), tonic::Code::Unimplemented);
        let (status, body) = server.poll("/v3/discovery:ads", "{}");
        assert_eq!(status, 404);
        assert!(body.contains("/v2|v3/discovery:clusters|endpoints"), "{body}");
    });
}

#[test]
fn polls_wait_for_something_new() {
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &["--long-poll", "0.3"]);
    let (status, body) = server.poll("/v3/discovery:clusters", r#"{"node": {"id": "r"}}"#);
    assert_eq!(status, 200);
    let answer: serde_json::Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!(answer["resources"][0]["@type"], CDS);
    assert_eq!(answer["resources"][0]["connectTimeout"], "1s");
    let held = answer["versionInfo"].as_str().expect("a version");
    // Nothing new, in both spellings.
    for key in ["version_info", "versionInfo"] {
        let begin = Instant::now();
        let (status, body) = server.poll(
            "/v3/discovery:clusters",
            &format!(r#"{{"node": {{"id": "r"}}, "{key}": "{held}"}}"#),
        );
        assert_eq!((status, &*body), (304, ""));
        assert!(begin.elapsed() >= Duration::from_millis(300));
    }
    // Something new while it waits.
    let request = format!(r#"{{"node": {{"id": "r"}}, "version_info": "{held}"}}"#);
    let address = server.http.clone();
    let waiting = std::thread::spawn(move || {
        loop {
            let (status, body) = poll(&address, "/v3/discovery:clusters", &request);
            if status == 200 {
                return body;
            }
        }
    });
    server.put("b.yaml", &cluster("b", 1));
    assert!(waiting.join().expect("it ends").contains("\"name\":\"b\""));
    // Names, and one that does not exist yet.
    let named = r#"{"resource_names": ["b", "c"]}"#;
    let (_, body) = server.poll("/v3/discovery:clusters", named);
    assert!(!body.contains("\"name\":\"a\"") && body.contains("\"name\":\"b\""), "{body}");
    let (status, _) = server.poll("/v3/discovery:endpoints", r#"{"resourceNames": ["none"]}"#);
    assert_eq!(status, 304);
    assert_eq!(server.poll("/v3/discovery:clusters", "no JSON").0, 400);
}

#[test]
fn a_newer_poll_ends_an_older_one() {
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &["--long-poll", "300"]);
    let (_, body) = server.poll("/v3/discovery:clusters", r#"{"node": {"id": "r"}}"#);
    let answer: serde_json::Value = serde_json::from_str(&body).expect("JSON");
    let held = answer["versionInfo"].as_str().expect("a version");
    let request = format!(r#"{{"node": {{"id": "r"}}, "version_info": "{held}"}}"#);
    let address = server.http.clone();
    let older = std::thread::spawn(move || poll(&address, "/v3/discovery:clusters", &request));
    server.until("/clients", |text| text.contains("\"acked\""));
    assert_eq!(server.poll("/v3/discovery:clusters", r#"{"node": {"id": "r"}}"#).0, 200);
    assert_eq!(older.join().expect("it ends"), (304, String::new()));
}

#[test]
fn the_admin_port_changes_something_only_by_post() {
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
    assert_eq!(server.get("/ready"), "LIVE\n");
    assert_eq!(server.get("/healthcheck/fail"), "use POST, not GET\n");
    assert_eq!(server.get("/ready"), "LIVE\n", "a GET changes nothing");
    assert_eq!(server.post("/healthcheck/fail"), (200, "OK\n".to_owned()));
    assert_eq!(server.get("/ready"), "DRAINING: health checks are to fail\n");
    assert!(server.get("/server_info").contains("\"state\": \"DRAINING\""));
    assert_eq!(server.post("/healthcheck/ok"), (200, "OK\n".to_owned()));
    assert_eq!(server.get("/ready"), "LIVE\n");
    let stats = server.get("/stats");
    assert!(stats.contains("resources.update_success: 1\n"), "{stats}");
    let prometheus = server.get("/stats/prometheus");
    let line = "# TYPE abide_serve_grpc_streams_active gauge\nabide_serve_grpc_streams_active 0\n";
    assert!(prometheus.contains(line), "{prometheus}");
    let dump: serde_json::Value = serde_json::from_str(&server.get("/config_dump")).expect("JSON");
    assert_eq!(dump["served"][0]["types"][CDS]["resources"][0]["name"], "a");
    assert_eq!(dump["served"][0]["types"][EDS], serde_json::Value::Null);
}
