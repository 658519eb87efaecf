//! Clients that the operator does not expect.

use crate::server::{CDS, Server, cluster, node, run};

#[test]
fn an_unexpected_client_is_warned_about_once_and_served() {
    run(async {
        let flags = ["--expect-agent", "acme-proxy >=2", "--expect-cluster", "edge-*"];
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &flags);
        for (id, of, version) in
            [("one", "edge-1", "2.1.0"), ("two", "edge-1", "1.9.0"), ("three", "lab", "2.0.0")]
        {
            // It comes again, which is no news.
            for round in 0..2 {
                let mut client = server.ads("v3", node(id, of, version)).await;
                client.ask(CDS, &[]).await;
                let response = client.next().await.expect("it is served all the same");
                assert_eq!(response.resources.len(), 1);
                let told = server.clients();
                let marks: Vec<&serde_json::Value> = told
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter(|it| it["node"] == id)
                    .map(|it| &it["unexpected"])
                    .collect();
                let mark = match id {
                    "two" => "no `--expect-agent` fits its user agent `acme-proxy 1.9.0`".into(),
                    "three" => "no `--expect-cluster` fits its cluster `lab`".into(),
                    _ => serde_json::Value::Null,
                };
                assert_eq!(marks.last(), Some(&&mark), "{id} {round}");
            }
        }
        let body = r#"{"node": {"id": "four", "cluster": "edge-2", "user_agent_name": "other"}}"#;
        assert_eq!(server.poll("/v3/discovery:clusters", body).0, 200);
        let stats = server.get("/stats");
        assert!(stats.contains("grpc.streams_unexpected: 5\n"), "{stats}");
        assert!(
            server
                .get("/stats/prometheus")
                .contains("abide_serve_grpc_streams_unexpected_total 5\n")
        );
        server.logged(|line| line.contains("`other`"));
        let log = server.log();
        let warnings: Vec<&str> =
            log.lines().filter(|line| line.contains("a client is not expected")).collect();
        assert_eq!(warnings.len(), 3, "{warnings:?}");
        assert!(warnings.iter().all(|it| it.contains("\"WARN\"")), "{warnings:?}");
    });
}

#[test]
fn without_a_list_every_client_is_expected() {
    run(async {
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
        let mut client = server.ads("v3", node("", "", "")).await;
        client.ask(CDS, &[]).await;
        client.next().await.expect("a response");
        assert!(server.clients()[0]["unexpected"].is_null());
        assert!(server.get("/stats").contains("grpc.streams_unexpected: 0\n"));
    });
}
