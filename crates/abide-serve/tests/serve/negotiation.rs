//! What clients say about versions, and what they get.

use std::path::Path;
use std::process::Command;

use abide_xds::wire::{
    BuildVersion, DeltaDiscoveryRequest, DiscoveryRequest, Extension, Node, SemanticVersion,
    VersionedTypeUrl,
};
use tonic::Code;

use crate::server::{CDS, CDS_V2, EDS, Server, cluster, example, node, run};

const PACKAGE: &str = "envoy.config.cluster.v3";

/// The API of the example with another `cluster.proto`, at a minor version of its package.
fn release(minor: u32, changed: impl Fn(&str) -> String) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for entry in std::fs::read_dir(example("api")).expect("it is there") {
        let path = entry.expect("it is there").path();
        let name = path.file_name().expect("a name");
        let text = std::fs::read_to_string(&path).expect("text");
        let text = if name == "cluster.proto" { changed(&text) } else { text };
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    let hash = format!("abide1:sha256:{}", "0".repeat(64));
    let lock = format!("abide-lock 1\n\npackage {PACKAGE} 3.{minor}.0 {hash} {hash}\n");
    std::fs::write(folder.path().join("abide.lock"), lock).expect("a file");
    folder
}

/// Release 3.2, with a field more than 3.1, and one more which 3.1 has as well.
fn releases() -> [tempfile::TempDir; 2] {
    let (old, new) = ("string old_note = 6;", "string note = 5;");
    let with = |text: &str, fields: &str| {
        text.replace("string name = 1;", &format!("string name = 1;\n  {fields}"))
    };
    [release(2, |it| with(it, &format!("{old}\n  {new}"))), release(1, |it| with(it, old))]
}

/// A table that names an API, and knows no client by its name.
fn table(folder: &Path, api: &Path) -> String {
    let path = folder.join("clients.yaml");
    std::fs::write(&path, format!("clients: [{{api: '{}'}}]\n", api.display())).expect("a file");
    path.display().to_string()
}

fn listed(type_url: &str, minor: Option<u32>) -> VersionedTypeUrl {
    let version = |minor| SemanticVersion { major: 3, minor, patch: 7 };
    VersionedTypeUrl { type_url: type_url.to_owned(), most_recently_supported: minor.map(version) }
}

/// A first request for a type that lists versions.
fn listing(type_url: &str, versioned_type_urls: Vec<VersionedTypeUrl>) -> DiscoveryRequest {
    let type_url = type_url.to_owned();
    DiscoveryRequest { type_url, versioned_type_urls, ..DiscoveryRequest::default() }
}

fn noted() -> String {
    cluster("a", 1) + "note: hello\n"
}

#[test]
fn a_request_lists_the_versions_that_its_client_knows() {
    run(async {
        let [newest, older] = releases();
        let table = table(newest.path(), older.path());
        let server =
            Server::with_api(newest.path(), &[("a.yaml", &noted())], &["--clients", &table]);
        let mut bodies = Vec::new();
        let mut open = Vec::new();
        for (id, minor) in [("1", Some(1)), ("2", Some(2)), ("9", Some(9)), ("any", None)] {
            let mut client = server.ads("v2", node(id, "", "")).await;
            client.send(listing(CDS_V2, vec![listed(CDS_V2, None), listed(CDS, minor)])).await;
            let response = client.next().await.expect("a response");
            assert_eq!(response.type_url, CDS, "{id}: the newest that both know");
            assert_eq!(response.resources[0].type_url, CDS);
            bodies.push(response.resources[0].value.clone());
            client.ack(&response, &[]).await;
            open.push(client);
        }
        let note = |body: &[u8]| body.windows(5).any(|it| it == b"hello");
        assert_eq!(bodies.iter().map(|it| note(it)).collect::<Vec<_>>(), [false, true, true, true]);
        let clients = server.until("/clients", |text| text.matches("\"acked\"").count() == 4);
        let clients: serde_json::Value = serde_json::from_str(&clients).expect("JSON");
        let field = "envoy.config.cluster.v3.Cluster.note";
        assert_eq!(clients[0]["types"][CDS]["dropped"][0]["field"], field);
        assert_eq!(clients[0]["types"][CDS]["api"], older.path().display().to_string());
        assert_eq!(clients[1]["types"][CDS]["api"], serde_json::Value::Null);
        // An incremental request lists them as well.
        let mut delta = server.delta(node("delta", "", "")).await;
        let request = DeltaDiscoveryRequest {
            type_url: CDS.to_owned(),
            versioned_type_urls: vec![listed(CDS, Some(1))],
            ..DeltaDiscoveryRequest::default()
        };
        delta.send(request).await;
        let response = delta.next().await.expect("a response");
        let body = &response.resources[0].resource.as_ref().expect("a body").value;
        assert_eq!(*body, bodies[0]);
        // And so does a poll.
        let body = format!(
            "{{\"versionedTypeUrls\": [{{\"typeUrl\": \"{CDS}\", \"mostRecentlySupported\": \
             {{\"major\": 3, \"minor\": 1}}}}]}}"
        );
        let (status, text) = server.poll("/v3/discovery:clusters", &body);
        assert!(status == 200 && !text.contains("hello"), "{status} {text}");
        assert!(server.poll("/v3/discovery:clusters", "{}").1.contains("hello"));
    });
}

/// What older clients miss is said before it hurts: by `check` and in the log, with the file and the line.
#[test]
fn what_older_clients_miss_is_said_where_it_stands() {
    let [newest, older] = releases();
    let table = table(newest.path(), older.path());
    let server = Server::with_api(
        newest.path(),
        &[("b.yaml", &cluster("b", 1)), ("node/me/a.yaml", &("# mine\n".to_owned() + &noted()))],
        &["--clients", &table],
    );
    let line = format!(
        "node/me/a.yaml:2:1: clients of `{}` do not get `envoy.config.cluster.v3.Cluster.note` of the \
         Cluster `a`",
        older.path().display()
    );
    let ran = Command::new(env!("CARGO_BIN_EXE_abide-serve"))
        .args(["check", "--clients", &table, "--api"])
        .arg(newest.path())
        .arg("--resources")
        .arg(server.path(""))
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&ran.stderr);
    let warnings: Vec<&str> = said.lines().filter(|it| it.starts_with("warning: ")).collect();
    assert_eq!((ran.status.code(), warnings), (Some(0), vec![&*format!("warning: {line}")]));
    server.until_said("do not get `envoy.config.cluster.v3.Cluster.note`");
}

#[test]
fn no_major_in_common_ends_the_stream_and_says_why() {
    run(async {
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
        let mut client = server.ads("v3", node("one", "", "")).await;
        // A later request may list other types.
        client.ask(CDS, &[]).await;
        client.next().await.expect("a response");
        let unknown = "type.googleapis.com/envoy.api.v2.Runtime";
        client.send(listing(EDS, vec![listed(unknown, None), listed(EDS, None)])).await;
        let response = client.next().await.expect("nothing is no error");
        assert_eq!(response.type_url, EDS);
        let many = (0..300).map(|it| listed(&it.to_string(), None)).collect();
        client.send(DiscoveryRequest { versioned_type_urls: many, ..Default::default() }).await;
        let ended = client.next().await.expect_err("too many");
        assert_eq!(ended.code(), Code::ResourceExhausted);
        assert!(ended.message().contains("at most 256 types"), "{}", ended.message());

        let api = release(1, str::to_owned);
        std::fs::remove_file(api.path().join("cluster_v2.proto")).expect("a file");
        let text = std::fs::read_to_string(api.path().join("cluster.proto")).expect("text");
        assert!(text.contains("previous_message_type"));
        let server = Server::with_api(api.path(), &[("a.yaml", &cluster("a", 1))], &[]);
        let mut client = server.ads("v3", node("one", "", "")).await;
        client.send(listing(CDS_V2, vec![listed(CDS_V2, None)])).await;
        let ended = client.next().await.expect_err("nothing in common");
        assert_eq!(ended.code(), Code::FailedPrecondition);
        assert!(ended.message().contains("no version of `envoy.api.v2.Cluster`"), "{ended}");
    });
}

/// A client that has these extensions.
fn extended(id: &str, type_urls: &[&str]) -> Node {
    let extension = Extension {
        name: "com.example.own".to_owned(),
        category: "envoy.clusters".to_owned(),
        version: Some(BuildVersion {
            version: Some(SemanticVersion { major: 2, minor: 1, patch: 0 }),
        }),
        type_urls: type_urls.iter().map(|&it| it.to_owned()).collect(),
        ..Extension::default()
    };
    let client_features = vec!["com.example.notes".to_owned()];
    // The name of the program is that of another client, which decides nothing.
    Node { extensions: vec![extension], client_features, ..node(id, "", "2.0.0") }
}

#[test]
fn extensions_in_requests_choose_the_release_to_serve() {
    run(async {
        let old = release(1, str::to_owned);
        let new = release(1, |it| {
            it.replace("string name = 1;", "string name = 1;\n  string note = 5;")
                + "message NewerExtension { string name = 1; }\n"
        });
        let table = table(new.path(), old.path());
        let server = Server::with_api(new.path(), &[("a.yaml", &noted())], &["--clients", &table]);
        let older = ["envoy.config.cluster.v3.Cluster", "com.example.Own"];
        let newer = [&older[..], &["envoy.config.cluster.v3.NewerExtension"]].concat();
        let mut bodies = Vec::new();
        let mut open = Vec::new();
        for (id, types) in [("old", &older[..]), ("new", &newer)] {
            let mut client = server.ads("v3", extended(id, types)).await;
            client.ask(CDS, &[]).await;
            let response = client.next().await.expect("a response");
            bodies.push(response.resources[0].value.clone());
            client.ack(&response, &[]).await;
            open.push(client);
        }
        assert_ne!(bodies[0], bodies[1]);
        let clients = server.until("/clients", |text| text.matches("\"acked\"").count() == 2);
        let clients: serde_json::Value = serde_json::from_str(&clients).expect("JSON");
        let own = serde_json::json!([
            {"name": "com.example.own", "category": "envoy.clusters", "version": "2.1.0"}
        ]);
        assert_eq!(clients[0]["extensions"], own);
        assert_eq!(clients[0]["features"], serde_json::json!(["com.example.notes"]));
        let field = "envoy.config.cluster.v3.Cluster.note";
        assert_eq!(clients[0]["types"][CDS]["dropped"][0]["field"], field);
        assert_eq!(clients[1]["types"][CDS]["dropped"], serde_json::json!([]));
        assert!(server.get("/stats").contains("resources.dropped_fields: 1\n"));
    });
}

#[test]
fn declared_steps_give_an_older_client_an_older_form() {
    run(async {
        let [newest, older] = releases();
        let table = table(newest.path(), older.path());
        let steps = newest.path().join("steps.yaml");
        let text = "steps:\n- message: envoy.config.cluster.v3.Cluster\n  \
                    direction: DIRECTION_DOWN\n  moves: [{from: old_note, to: note}]\n";
        std::fs::write(&steps, text).expect("a file");
        let flags = ["--clients", &table, "--steps", &steps.display().to_string()];
        let server = Server::with_api(newest.path(), &[("a.yaml", &noted())], &flags);
        let mut client = server.ads("v3", node("old", "", "")).await;
        client.send(listing(CDS, vec![listed(CDS, Some(1))])).await;
        let response = client.next().await.expect("a response");
        let body = &response.resources[0].value;
        assert!(body.windows(7).any(|it| it == b"\x32\x05hello"), "as `old_note`: {body:?}");
        let clients = server.until("/clients", |text| text.contains("\"sent\""));
        let clients: serde_json::Value = serde_json::from_str(&clients).expect("JSON");
        let downgraded = serde_json::json!([
            {"name": "a", "field": "note", "replaced_by": "old_note"}
        ]);
        assert_eq!(clients[0]["types"][CDS]["downgraded"], downgraded);
        assert_eq!(clients[0]["types"][CDS]["dropped"], serde_json::json!([]));
        assert!(server.get("/stats").contains("resources.downgraded: 1\n"));
    });
}

#[test]
fn types_of_both_majors_on_one_stream() {
    run(async {
        let endpoints = format!("\"@type\": {EDS}\ncluster_name: a\n");
        let files = [("a.yaml", cluster("a", 1)), ("e.yaml", endpoints)];
        let files = files.each_ref().map(|(name, text)| (*name, &**text));
        let server = Server::start(&files, &[]);
        let mut client = server.ads("v3", node("both", "", "")).await;
        client.ask(CDS_V2, &[]).await;
        let clusters = client.next().await.expect("a response");
        assert_eq!((&*clusters.type_url, &*clusters.resources[0].type_url), (CDS_V2, CDS_V2));
        client.ack(&clusters, &[]).await;
        client.ask(EDS, &["a"]).await;
        let endpoints = client.next().await.expect("a response");
        assert_eq!((&*endpoints.type_url, &*endpoints.resources[0].type_url), (EDS, EDS));
        server.put("a.yaml", &cluster("a", 2));
        let again = client.next().await.expect("a response");
        assert_eq!(again.type_url, CDS_V2, "it stays in its major");
    });
}

async fn first(server: &Server, id: &str) -> (crate::server::Whole, Result<(), tonic::Status>) {
    let mut client = server.ads("v3", node(id, "", "")).await;
    client.ask(CDS, &[]).await;
    let answer = client.next().await.map(drop);
    (client, answer)
}

#[test]
fn a_second_stream_of_a_node_supersedes_is_refused_or_stays() {
    run(async {
        let files = [("a.yaml", cluster("a", 1))];
        let files = files.each_ref().map(|(name, text)| (*name, &**text));

        let server = Server::start(&files, &["--second-stream", "supersede"]);
        let (mut one, answer) = first(&server, "node").await;
        answer.expect("a response");
        let (_two, answer) = first(&server, "node").await;
        answer.expect("a response");
        let ended = one.next().await.expect_err("it ended");
        assert_eq!(ended.code(), Code::Aborted, "{ended}");
        let (_other, answer) = first(&server, "other").await;
        answer.expect("a response");
        assert!(server.get("/stats").contains("grpc.streams_superseded: 1\n"));

        let server = Server::start(&files, &["--second-stream", "refuse"]);
        let (one, answer) = first(&server, "node").await;
        answer.expect("a response");
        let (_two, answer) = first(&server, "node").await;
        assert_eq!(answer.expect_err("it is refused").code(), Code::AlreadyExists);
        assert!(server.get("/stats").contains("grpc.streams_second: 1\n"));
        drop(one);
        server.until("/clients", |text| text == "[]\n");
        let (_three, answer) = first(&server, "node").await;
        answer.expect("the place is free");
        // Who says no name is nobody's second.
        for _ in 0..2 {
            first(&server, "").await.1.expect("a response");
        }

        let server = Server::start(&files, &[]);
        let (mut one, answer) = first(&server, "node").await;
        answer.expect("a response");
        let (_two, answer) = first(&server, "node").await;
        answer.expect("a response");
        server.put("a.yaml", &cluster("a", 2));
        one.next().await.expect("both stay");
        assert!(server.get("/stats").contains("grpc.streams_second: 1\n"));
    });
}

/// What `abide-serve versions` prints, and its status.
fn versions(flags: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_abide-serve"));
    let ran = command.arg("versions").args(flags).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (ran.status.code(), text(&ran.stdout), text(&ran.stderr))
}

#[test]
fn unrequested_majors_are_shown() {
    run(async {
        let files = [("a.yaml", cluster("a", 1))];
        let files = files.each_ref().map(|(name, text)| (*name, &**text));
        let servers = [Server::start(&files, &[]), Server::start(&files, &[])];
        let (_new, answer) = first(&servers[0], "new").await;
        answer.expect("a response");
        let old_line = format!("{CDS_V2}: ");
        let one = ["--unused", "--admin", &servers[0].admin];
        let (status, text, said) = versions(&one);
        assert_eq!(status, Some(0), "{said}");
        assert!(
            text.contains(&format!("{CDS_V2}: nobody asked for it; {CDS} is served\n")),
            "{text}"
        );
        assert!(!text.contains(&format!("{CDS}: ")), "the newest stays: {text}");

        let mut old = servers[1].ads("v2", node("old", "", "")).await;
        old.ask(CDS_V2, &[]).await;
        old.next().await.expect("a response");
        servers[1].until("/versions", |text| text.contains("\"asked\": 1"));
        let both = [&one[..], &["--admin", &servers[1].admin]].concat();
        assert!(!versions(&both).1.contains(&old_line), "one client is enough");
        // What a server showed once counts as well as a server.
        let state = servers[0].path("state.page");
        std::fs::write(&state, servers[1].get("/versions")).expect("a file");
        let (_, text, _) =
            versions(&[&one[..], &["--state", &state.display().to_string()]].concat());
        assert!(!text.contains(&old_line), "{text}");
        let all = versions(&["--admin", &servers[1].admin, "--format", "json"]).1;
        let all: serde_json::Value = serde_json::from_str(&all).expect("JSON");
        let old =
            all["types"].as_array().expect("a list").iter().find(|it| it["type_url"] == CDS_V2);
        assert_eq!(old.map(|it| (&it["asked"], &it["clients"])), Some((&1.into(), &1.into())));

        std::fs::write(&state, "{}").expect("a file");
        let (status, _, said) = versions(&["--state", &state.display().to_string()]);
        assert_eq!(status, Some(2));
        assert!(said.contains("it is no page `/versions`"), "{said}");
        assert_eq!(versions(&["--admin", "127.0.0.1:1"]).0, Some(2), "nobody listens there");
    });
}
