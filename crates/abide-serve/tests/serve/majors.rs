//! Resources of the previous major.

use crate::server::{CDS, CDS_V2, Server, cluster, node, run};

fn old(name: &str) -> String {
    cluster(name, 1).replace("envoy.config.cluster.v3", "envoy.api.v2")
}

#[test]
fn resources_of_the_previous_major_are_refused_unless_allowed() {
    run(async {
        let files = [("a.yaml", cluster("a", 1)), ("old/b.yaml", format!("# of v2\n{}", old("b")))];
        let files = files.each_ref().map(|(name, text)| (*name, &**text));
        let server = Server::start(&files, &[]);
        let ready = server.until("/ready", |text| text.contains("older major"));
        let line = "old/b.yaml:2:1: message `envoy.api.v2.Cluster` is of an older major; use \
                    `envoy.config.cluster.v3.Cluster`, or take the older one with \
                    `--allow-previous-major` [older-major-used]";
        assert!(ready.starts_with("NOT READY\n"), "{ready}");
        assert!(ready.contains(line), "{ready}");
        drop(server);

        let server = Server::start(&files, &["--allow-previous-major"]);
        assert_eq!(server.until("/ready", |text| text.starts_with("LIVE")), "LIVE\n");
        server.until_said("is of an older major");
    });
}

#[test]
fn clients_of_the_previous_major_get_it_in_any_case() {
    run(async {
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
        let mut client = server.ads("v2", node("old", "", "")).await;
        client.ask(CDS_V2, &[]).await;
        let response = client.next().await.expect("a response");
        assert_eq!(response.resources[0].type_url, CDS_V2);
        // While it runs, what is there stays if something of the previous major comes.
        server.put("b.yaml", &old("b"));
        server.until("/ready", |text| text.starts_with("LIVE: what was served before"));
        client.ack(&response, &[]).await;
        let mut newer = server.ads("v3", node("new", "", "")).await;
        newer.ask(CDS, &[]).await;
        assert_eq!(newer.next().await.expect("a response").resources.len(), 1);
    });
}
