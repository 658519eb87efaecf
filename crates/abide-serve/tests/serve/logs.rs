//! What an operator reads in the log.

use abide_xds::wire::{DiscoveryRequest, Status};
use serde_json::Value;

use crate::server::{CDS, Server, cluster, node, run};

/// The fields of a line in JSON.
fn fields(line: &str) -> Value {
    let value: Value = serde_json::from_str(line).expect("JSON");
    value["fields"].clone()
}

const HOSTILE: &str = "a\n2026-01-01T00:00:00Z ERROR all is lost \u{1b}[31m\u{202e}";

async fn refuse(server: &Server, id: &str, error: &str) {
    let mut client = server.ads("v3", node(id, "shop", "1.0.0")).await;
    client.ask(CDS, &[]).await;
    let response = client.next().await.expect("a response");
    let refusal = DiscoveryRequest {
        type_url: CDS.to_owned(),
        response_nonce: response.nonce,
        error_detail: Some(Status { code: 3, message: error.to_owned() }),
        ..Default::default()
    };
    client.send(refusal).await;
    server.until("/stats", |it| it.contains("xds.nacks.cds.v3: 1\n"));
}

#[test]
fn each_event_is_one_line_with_fields() {
    run(async {
        // `--log-format json` is what the tests start it with.
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
        refuse(&server, HOSTILE, &"x".repeat(5000)).await;
        let came = fields(&server.logged(|it| it.contains("a client came")));
        assert_eq!(came["node"], HOSTILE);
        assert_eq!(
            (&came["cluster"], &came["agent"]),
            (&"shop".into(), &"acme-proxy 1.0.0".into())
        );
        assert_eq!(came["transport"], "v3");
        let refused = fields(&server.logged(|it| it.contains("a client refused a response")));
        assert_eq!((&refused["node"], &refused["type"]), (&HOSTILE.into(), &CDS.into()));
        assert_eq!(refused["error"].as_str().map(str::len), Some(1024), "not all of it is kept");
        server.logged(|it| it.contains("a client went"));
        server.put("a.yaml", "name: [");
        let refused = fields(&server.logged(|it| it.contains("the resources are refused")));
        assert_eq!(refused["problems"], 1);
        assert!(refused["reasons"].as_str().is_some_and(|it| it.starts_with("a.yaml:1")));
    });
}

#[test]
fn a_hostile_client_cannot_write_lines_of_its_own() {
    run(async {
        let server = Server::start_logging(&[("a.yaml", &cluster("a", 1))], "text", &[]);
        refuse(&server, HOSTILE, HOSTILE).await;
        let line = server.logged(|it| it.contains("a client refused a response"));
        let escaped = r#"node="a\n2026-01-01T00:00:00Z ERROR all is lost \u{1b}[31m\u{202e}""#;
        assert!(line.contains(escaped), "{line}");
        assert!(line.contains(" WARN "), "{line}");
        assert!(!line.contains('\u{1b}'), "{line}");
    });
}

#[test]
fn levels_choose_what_is_logged() {
    run(async {
        let server = Server::start_logging(
            &[("a.yaml", &cluster("a", 1))],
            "json",
            &["--log-level", "debug"],
        );
        refuse(&server, "one", "no").await;
        let sent = server.logged(|it| it.contains("sent a response"));
        assert!(sent.contains("\"level\":\"DEBUG\""), "{sent}");
        assert_eq!(
            (&fields(&sent)["node"], &fields(&sent)["resources"]),
            (&"one".into(), &1.into())
        );
        // Without it the lines are not there: the next ones are.
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
        refuse(&server, "two", "no").await;
        server.logged(|it| it.contains("a client went"));
        assert!(!server.log().contains("sent a response"));
    });
}
