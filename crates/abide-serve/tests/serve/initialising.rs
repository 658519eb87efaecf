//! What the admin port says about clients that start.

use serde_json::{Value, json};

use crate::server::{CDS, EDS, Server, changed_api, node, run};

const HEALTH: &str = "  message HealthCheck {
    google.protobuf.Duration timeout = 1;
    google.protobuf.Duration interval = 2;
    google.protobuf.Duration initial_jitter = 20;
  }
  repeated HealthCheck health_checks = 8;
  google.protobuf.Duration connect_timeout = 4;";

fn cluster() -> String {
    format!(
        "\"@type\": {CDS}\nname: shop\ntype: EDS\nconnect_timeout: 1s\neds_cluster_config: {{eds_config: \
         {{ads: {{}}}}}}\nhealth_checks: [{{timeout: 2.5s, initial_jitter: 1s, interval: 600s}}]\n---\n\
         \"@type\": {CDS}\nname: unchecked\nconnect_timeout: 1s\n"
    )
}

fn endpoints() -> String {
    format!("\"@type\": {EDS}\ncluster_name: shop\n")
}

/// The first client, as soon as the page says something of it.
fn told(server: &Server, says: &str) -> Value {
    let text = server.until("/clients", |text| text.contains(says));
    let all: Value = serde_json::from_str(&text).expect("JSON");
    all[0]["initialisation"].clone()
}

#[test]
fn the_admin_page_shows_what_clients_wait_for() {
    run(async {
        let api = changed_api(&[(
            "cluster.proto",
            "  google.protobuf.Duration connect_timeout = 4;",
            HEALTH,
        )]);
        let server = Server::with_api(api.path(), &[("c.yaml", &cluster())], &[]);
        let mut client = server.ads("v3", node("starting", "", "1.0.0")).await;
        client.ask(CDS, &[]).await;
        let clusters = client.next().await.expect("a response");
        client.ask(EDS, &["shop"]).await;
        client.ack(&clusters, &[]).await;
        let checks = json!([{"cluster": "shop", "at_most": "3.5s"}]);
        let reason = "nothing with this name is served to the client";
        let expected = json!({
            "phase": "endpoints",
            "waits_for": [{"for": "endpoints", "name": "shop", "reason": reason}],
            "more": 0,
            "health_checks": checks,
        });
        assert_eq!(told(&server, "\"phase\": \"endpoints\""), expected);

        server.put("e.yaml", &endpoints());
        let response = client.next().await.expect("a response");
        client.ack(&response, &["shop"]).await;
        let told_then = told(&server, "\"waits_for\": []");
        assert_eq!(
            (&told_then["phase"], &told_then["health_checks"]),
            (&json!("endpoints"), &checks)
        );
        // It never asks for listeners from here: after the round it is done.
        let done = told(&server, "\"phase\": \"initialised\"");
        assert_eq!(done["health_checks"], json!([]));
    });
}

#[test]
fn polls_say_whether_they_have_an_answer() {
    let server =
        Server::start(&[("c.yaml", &crate::server::cluster("a", 1))], &["--long-poll", "60"]);
    let waiting = |body: &'static str, address: String| {
        std::thread::spawn(move || crate::server::poll(&address, "/v3/discovery:endpoints", body))
    };
    let poll = waiting(r#"{"node": {"id": "r"}, "resource_names": ["a"]}"#, server.http.clone());
    let text = told(&server, "\"phase\"");
    assert_eq!(text["phase"], "endpoints");
    assert_eq!(text["waits_for"][0]["name"], "a");
    server.put("e.yaml", &endpoints().replace("shop", "a"));
    assert_eq!(poll.join().expect("it ends").0, 200);
}
