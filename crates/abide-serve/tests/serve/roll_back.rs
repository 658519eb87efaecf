//! A change that clients refuse is taken back.

use abide_xds::wire::{DiscoveryRequest, DiscoveryResponse, Status};

use crate::server::{CDS, Server, Whole, cluster, node, run};

/// Refuses a response and says why.
async fn refuse(client: &mut Whole, held: &DiscoveryResponse, refused: &DiscoveryResponse) {
    let request = DiscoveryRequest {
        version_info: held.version_info.clone(),
        type_url: refused.type_url.clone(),
        response_nonce: refused.nonce.clone(),
        error_detail: Some(Status {
            code: 3,
            message: "it is too fast\n\u{1b}[1mfor us\n".to_owned(),
        }),
        ..DiscoveryRequest::default()
    };
    client.send(request).await;
}

#[test]
fn what_enough_clients_of_one_release_refuse_is_taken_back() {
    run(async {
        let server = Server::start(
            &[("a.yaml", &cluster("a", 1)), ("b.yaml", &cluster("b", 1))],
            &["--roll-back-after", "2"],
        );
        let mut clients = Vec::new();
        for (id, version) in [("one", "1.0.0"), ("two", "1.0.0"), ("three", "2.0.0")] {
            let mut client = server.ads("v3", node(id, "", version)).await;
            client.ask(CDS, &[]).await;
            let first = client.next().await.expect("a response");
            client.ack(&first, &[]).await;
            clients.push((client, first));
        }
        server.put("a.yaml", &cluster("a", 2));
        let mut refused = Vec::new();
        for (client, _) in &mut clients {
            refused.push(client.next().await.expect("a response"));
        }
        // One of each release is not enough.
        for at in [0, 2] {
            let (client, held) = &mut clients[at];
            refuse(client, held, &refused[at]).await;
        }
        server.until("/clients", |text| text.matches("it is too fast").count() == 2);
        assert_eq!(server.get("/ready"), "LIVE\n");
        let (client, held) = &mut clients[1];
        refuse(client, held, &refused[1]).await;
        let ready = server.until("/ready", |text| text.contains("was refused"));
        let line = "the Cluster `a` was refused by 2 clients of acme-proxy 1.0.0: it is too fast\\n\\u{1b}[1mfor \
                    us; change it, or take it out";
        assert!(ready.contains(line), "{ready}");
        let back = clients[1].0.next().await.expect("a response");
        assert_eq!(back.version_info, clients[1].1.version_info, "what was served before");
        let told = server.clients();
        assert_eq!(told[0]["types"][CDS]["rolled_back"][0]["name"], "a");
        assert!(told[2]["types"][CDS]["rolled_back"].is_null(), "it is about another release");
        assert!(server.get("/stats").contains("resources.rolled_back: 1\n"));

        // Another change does not bring it back, and one that mends it does.
        server.put("b.yaml", &cluster("b", 5));
        server.until("/stats", |text| text.contains("resources.update_rejected: 1\n"));
        assert!(server.get("/ready").contains(line));
        server.put("a.yaml", &cluster("a", 3));
        server.until("/ready", |text| text == "LIVE\n");
        assert!(server.clients()[0]["types"][CDS]["rolled_back"].is_null());
    });
}

#[test]
fn without_the_flag_nothing_is_taken_back() {
    run(async {
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
        let mut client = server.ads("v3", node("one", "", "1.0.0")).await;
        client.ask(CDS, &[]).await;
        let first = client.next().await.expect("a response");
        client.ack(&first, &[]).await;
        server.put("a.yaml", &cluster("a", 2));
        let second = client.next().await.expect("a response");
        refuse(&mut client, &first, &second).await;
        server.until("/clients", |text| text.contains("it is too fast"));
        assert_eq!(server.get("/ready"), "LIVE\n");
        let now = server.get("/config_dump");
        assert!(now.contains(&second.version_info), "{now}");
    });
}

/// A poll of a client of one release for clusters.
fn polled(server: &Server, id: &str, held: &str, error: Option<&str>) -> (u16, serde_json::Value) {
    let mut request = serde_json::json!({
        "node": {"id": id, "user_agent_name": "acme-proxy", "user_agent_version": "1.0.0"},
        "version_info": held,
    });
    if let Some(message) = error {
        request["error_detail"] = serde_json::json!({"code": 3, "message": message});
    }
    let (status, body) = server.poll("/v3/discovery:clusters", &request.to_string());
    (status, serde_json::from_str(&body).unwrap_or_default())
}

fn version(answer: &serde_json::Value) -> String {
    answer["versionInfo"].as_str().expect("a version").to_owned()
}

#[test]
fn what_polls_refuse_counts_whether_they_say_why_or_come_again_and_again() {
    let files = [("a.yaml", &*cluster("a", 1)), ("b.yaml", &*cluster("b", 1))];
    let server = Server::start(&files, &["--roll-back-after", "2", "--long-poll", "0.3"]);
    let mut held = String::new();
    for id in ["one", "two", "three"] {
        held = version(&polled(&server, id, "", None).1);
        assert_eq!(polled(&server, id, &held, None).0, 304, "it has all");
    }
    server.put("a.yaml", &cluster("a", 2));
    server.until("/stats", |text| text.contains("resources.update_success: 2\n"));
    let second = polled(&server, "one", &held, None).1;
    let refused = version(&second);
    assert_ne!(refused, held);
    // One says why, and is not answered the same again.
    assert_eq!(polled(&server, "one", &held, Some("it is too fast")).0, 304);
    // Another accepts.
    assert_eq!(version(&polled(&server, "three", &held, None).1), refused);
    assert_eq!(polled(&server, "three", &refused, None).0, 304);
    // A third one polls on with what it had. The first repetition may be a lost answer.
    for _ in 0..2 {
        assert_eq!(version(&polled(&server, "two", &held, None).1), refused);
    }
    assert_eq!(server.get("/ready"), "LIVE\n");
    assert_eq!(polled(&server, "two", &held, None).0, 304, "it has what is served again");
    let ready = server.get("/ready");
    let line = "the Cluster `a` was refused by 2 clients of acme-proxy 1.0.0: it polls on with the \
                version before; change it, or take it out";
    assert!(ready.contains(line), "{ready}");
    assert_eq!(version(&polled(&server, "three", &refused, None).1), held);
    assert!(server.get("/stats").contains("resources.rolled_back: 1\n"));
}
