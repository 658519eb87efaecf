//! Types of resource that are described in a file.

use std::path::{Path, PathBuf};
use std::process::Command;

use abide_xds::wire::DeltaDiscoveryRequest;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server::{Server, Whole, channel, edge_api, example, node, pool, run};
use crate::waiting::wait;

const POOL: &str = "type.googleapis.com/acme.edge.v1.Pool";
const TABLE: &str = "type.googleapis.com/acme.edge.v1.Table";

const TYPES: &str = r#"
[[types]]
name = "pools"
message = "acme.edge.v1.Pool"
service = "acme.edge.v1.PoolDiscoveryService"
methods = "Pools"
rest = "pools"
whole = true
required_by = ["acme.edge.v1.Table.pool"]

[[types]]
name = "tables"
message = "acme.edge.v1.Table"
name_field = "id"
after = "pools"
"#;

fn table(id: &str, pool: &str) -> String {
    format!("\"@type\": {TABLE}\nid: {id}\npool: {pool}\n")
}

/// A file with types.
fn file(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("types.toml");
    std::fs::write(&path, text).expect("a file");
    (folder, path)
}

/// What `abide-serve check` says: its status, the report, and the rest.
fn check(api: &Path, resources: &Path, types: &str) -> (Option<i32>, String, String) {
    let (folder, path) = file(types);
    let ran = Command::new(env!("CARGO_BIN_EXE_abide-serve"))
        .args(["check", "--api"])
        .arg(api)
        .arg("--resources")
        .arg(resources)
        .arg("--types")
        .arg(&path)
        .output()
        .expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let here = format!("{}/", folder.path().display());
    (ran.status.code(), text(&ran.stdout), text(&ran.stderr).replace(&here, ""))
}

#[test]
fn a_type_described_by_a_file_is_served_in_every_variant() {
    run(async {
        let (_folder, types) = file(TYPES);
        let api = edge_api();
        let out = tempfile::tempdir().expect("a folder");
        let files = [("p.yaml", pool("p", "size: 1")), ("t.yaml", table("t", "p"))];
        let files = files.each_ref().map(|(name, text)| (*name, &**text));
        let flags = ["--types", types.to_str().expect("text"), "--file-out"];
        let flags = [&flags[..], &[out.path().to_str().expect("text")]].concat();
        let server = Server::with_api(api.path(), &files, &flags);

        // Alone, by the paths of its own service.
        let path = "/acme.edge.v1.PoolDiscoveryService/StreamPools";
        let grpc = channel(&server.grpc).await.expect("it listens");
        let mut alone = Whole::at(grpc, path, node("alone", "", "")).await.expect("a stream");
        alone.ask("", &[]).await;
        let first = alone.next().await.expect("a response");
        assert_eq!((&*first.type_url, first.resources.len()), (POOL, 1));
        alone.ack(&first, &[]).await;

        // Beside others, where it is in its place in the order.
        let mut all = server.ads("v3", node("all", "", "")).await;
        all.ask(TABLE, &["t"]).await;
        let tables = all.next().await.expect("a response");
        assert_eq!((&*tables.type_url, tables.resources.len()), (TABLE, 1));
        all.ack(&tables, &["t"]).await;
        all.ask(POOL, &[]).await;
        let pools = all.next().await.expect("a response");
        all.ack(&pools, &[]).await;
        let mut delta = server.delta(node("delta", "", "")).await;
        let request = DeltaDiscoveryRequest {
            type_url: TABLE.to_owned(),
            resource_names_subscribe: vec!["t".to_owned()],
            ..Default::default()
        };
        delta.send(request).await;
        assert_eq!(delta.next().await.expect("a response").resources[0].name, "t");
        std::fs::write(server.path("both.yaml"), "").expect("a file");
        server.put("p.yaml", &format!("{}---\n{}", pool("p", "size: 2"), pool("q", "size: 1")));
        // An answer in the state of the world holds all of a type that is whole, also the one that
        // did not change.
        server.put("q.yaml", &pool("r", "size: 1"));
        let mut changed = all.next().await.expect("a response");
        while changed.resources.len() < 3 {
            assert_eq!(changed.type_url, POOL);
            all.ack(&changed, &[]).await;
            changed = all.next().await.expect("a response");
        }

        // By REST and as files.
        let (status, body) = server.poll("/v3/discovery:pools", r#"{"node": {"id": "poll"}}"#);
        let body: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!((status, body["resources"].as_array().map(Vec::len)), (200, Some(3)));
        assert_eq!(body["resources"][0], json!({"@type": POOL, "name": "p", "size": 2}));
        let (status, body) = server.poll("/v3/discovery:tables", "{}");
        assert_eq!(status, 404, "it has no path");
        assert!(body.contains("|runtime|pools"), "{body}");
        wait(|| {
            let text = std::fs::read_to_string(out.path().join("pools.json")).ok()?;
            (text.matches(POOL).count() == 4 && out.path().join("tables.pb").exists()).then_some(())
        });

        // It is counted under its name.
        let stats = server.get("/stats");
        assert!(stats.contains("xds.requests.pools.v3: "), "{stats}");
        assert!(server.get("/stats/prometheus").contains("{type=\"tables\",major=\"v3\"}"));
        assert!(server.get("/versions").contains(POOL));
    });
}

#[test]
fn references_to_a_described_type_are_checked() {
    let (_folder, types) = file(TYPES);
    let api = edge_api();
    let files = [("p.yaml", pool("pool", "")), ("t.yaml", table("t", "pol"))];
    let files = files.each_ref().map(|(name, text)| (*name, &**text));
    let flags = ["--types", types.to_str().expect("text")];
    let server = Server::with_api(api.path(), &files, &flags);
    let ready = server.until("/ready", |text| text.contains("nowhere"));
    let line = "t.yaml:1:1: the Table `t` refers to the Pool `pol`, which is nowhere; did you mean \
                `pool`?";
    assert!(ready.contains(line), "{ready}");
    server.put("t.yaml", &table("t", "pool"));
    server.until("/ready", |text| text == "LIVE\n");
}

#[test]
fn built_in_types_are_registry_entries_like_others() {
    let resources = example("resources");
    let own = "[[types]]\nname = \"cds\"\nmessage = \"envoy.config.cluster.v3.Cluster\"\n";
    let (status, _, said) = check(&example("api"), &resources, own);
    assert_eq!(
        (status, &*said),
        (
            Some(2),
            "error: types.toml:2:8: another type is called `cds`\ntypes.toml:3:11: \
             `envoy.config.cluster.v3.Cluster` is the message of `cds`\n"
        )
    );
    let (status, report, said) = check(&example("api"), &resources, "");
    assert_eq!((status, &*said), (Some(0), ""));
    assert!(report.contains("of type.googleapis.com/envoy.config.cluster.v3.Cluster"), "{report}");
}

#[test]
fn what_is_wrong_in_a_file_with_types_has_a_place() {
    let api = edge_api();
    let resources = tempfile::tempdir().expect("a folder");
    for (text, expected) in [
        ("[[types]", "types.toml:1:9: unclosed array table, expected `]`"),
        ("types = 1", "types.toml:1:9: expected tables, `[[types]]`"),
        (
            "[[type]]\n",
            "types.toml:1:3: there is no key `type`, only `[[types]]`; did you mean `types`?",
        ),
        ("[[types]]\nmessage = \"acme.edge.v1.Pool\"", "types.toml:1:1: a type needs a `name`"),
        ("[[types]]\nname = \"p\"", "types.toml:1:1: a type needs a `message`"),
        (
            "[[types]]\nname = \"p\"\nmesage = \"acme.edge.v1.Pool\"",
            "types.toml:3:1: a type has no key `mesage`; did you mean `message`?",
        ),
        (
            "[[types]]\nname = 1\nmessage = \"acme.edge.v1.Pool\"\nwhole = \"yes\"",
            "types.toml:2:8: expected a string, found integer\n\
             types.toml:4:9: expected true or false, found string",
        ),
        (
            "[[types]]\nname = \"p\"\nmessage = \"acme.edge.v1.Pol\"",
            "types.toml:3:11: the API does not declare the message `acme.edge.v1.Pol`; did you mean \
             `acme.edge.v1.Pool`?",
        ),
        (
            "[[types]]\nname = \"p\"\nmessage = \"acme.edge.v1.Pool\"\nname_field = \"nam\"\n\
             required_by = [\"acme.edge.v1.Table.pool\", \"acme.*.Table.pol\"]\n\
             referred_by = [\"acme.edge.v1.Pool.size\"]",
            "types.toml:4:14: `acme.edge.v1.Pool` has no field `nam`; did you mean `name`?\n\
             types.toml:5:43: `acme.edge.v1.Table` has no field `pol`; did you mean `pool`?\n\
             types.toml:6:16: `acme.edge.v1.Pool.size` is not a string",
        ),
        (
            "[[types]]\nname = \"p\"\nmessage = \"acme.edge.v1.Pool\"\nafter = \"cdx\"\nwhole = true\n\
             awaited = true",
            "types.toml:4:9: no type before this one is called `cdx`\ntypes.toml:6:11: clients that get \
             all resources at once do not wait for one: a type is not both `whole` and `awaited`",
        ),
    ] {
        let (status, _, said) = check(api.path(), resources.path(), text);
        assert_eq!((status, said), (Some(2), format!("error: {expected}\n")), "{text}");
    }
}
