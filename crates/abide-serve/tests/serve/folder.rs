//! The folder of resources: what counts as a change, who gets what, and the gate.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use abide_xds::wire::DiscoveryResponse;
use prost::Message;

use crate::server::{CDS, EDS, Server, cluster, example, node, refused, run, written};
use crate::waiting::wait;

const ROUTES: &str = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";

fn served(server: &Server) -> String {
    server.get("/config_dump")
}

#[test]
fn what_is_broken_is_refused_as_a_whole_and_the_last_good_one_stays() {
    run(async {
        let server =
            Server::start(&[("a.yaml", &cluster("a", 1)), ("b.yaml", &cluster("b", 1))], &[]);
        let mut client = server.ads("v3", node("one", "", "")).await;
        client.ask(CDS, &[]).await;
        let first = client.next().await.expect("a response");
        client.ack(&first, &[]).await;
        server.put("a.yaml", &cluster("a", 2));
        let second = client.next().await.expect("a response");
        client.ack(&second, &[]).await;
        server.put("a.yaml", &cluster("a", 3).replace("connect_timeout", "connect_timeot"));
        let ready = server.until("/ready", |text| text.contains("refused"));
        assert!(ready.starts_with("LIVE: what was served before"), "{ready}");
        assert!(ready.contains("a.yaml:3:1: "), "it says where: {ready}");
        assert!(ready.contains("did you mean `connect_timeout`?"), "{ready}");
        assert!(server.get("/stats").contains("resources.update_rejected: 1\n"));
        // What is good beside it waits until all of it is.
        server.put("b.yaml", &cluster("b", 4));
        server.put("a.yaml", &cluster("a", 4));
        let third = client.next().await.expect("a response");
        assert_eq!(server.get("/ready"), "LIVE\n");
        assert_ne!(third.version_info, second.version_info);
    });
}

#[test]
fn a_route_to_a_cluster_that_is_nowhere_is_refused() {
    let service = std::fs::read_to_string(example("resources/service.yaml")).expect("it is there");
    let ingress = std::fs::read_to_string(example("resources/ingress.yaml")).expect("it is there");
    let server = Server::start(&[("service.yaml", &service)], &[]);
    assert_eq!(server.get("/ready"), "LIVE\n");
    server.put("ingress.yaml", &ingress.replace("cluster: shop", "cluster: shopp"));
    let ready = server.until("/ready", |text| text.contains("nowhere"));
    let line = "ingress.yaml:18:1: the RouteConfiguration `routes` refers to the cluster `shopp`, \
                which is nowhere; did you mean `shop`?";
    assert!(ready.contains(line), "{ready}");
    assert!(!served(&server).contains("\"routes\""));
    server.put("ingress.yaml", &ingress);
    server.until("/ready", |text| text == "LIVE\n");
    assert!(served(&server).contains("\"routes\""));
}

#[test]
fn what_is_nowhere_is_said_of_the_file_that_its_audience_gets() {
    let routes = |cluster: &str| {
        let routes = format!("[{{match: {{prefix: /}}, route: {{cluster: {cluster}}}}}]");
        let host = format!("{{name: all, domains: ['*'], routes: {routes}}}");
        format!("\"@type\": {ROUTES}\nname: routes\nvirtual_hosts: [{host}]\n")
    };
    let (_folder, resources) = written(&[
        ("a.yaml", &cluster("a", 1)),
        ("node/me/r.yaml", &format!("# ours\n{}", routes("two"))),
        ("node/you/a.yaml", &cluster("one", 1)),
        ("node-cluster/us/b.yaml", &cluster("b", 1)),
        ("r.yaml", &routes("one")),
    ]);
    let (status, _, said) = check(Path::new(&resources), &[]);
    let line = |whose: &str, cluster: &str| {
        let holder = "the RouteConfiguration `routes`";
        format!("error: {whose}{holder} refers to the cluster `{cluster}`, which is nowhere\n")
    };
    let lines =
        [line("r.yaml:1:1: ", "one"), line("node/me/r.yaml:2:1: for the node `me`: ", "two")];
    let errors = said.split_inclusive('\n').filter(|it| it.starts_with("error: "));
    assert_eq!(
        (status, errors.collect::<Vec<_>>()),
        (Some(1), lines.each_ref().map(|it| &**it).to_vec())
    );
}

/// One bad file in `node/ID/` stops that client, which keeps all that it had, and nobody else.
#[test]
fn a_bad_file_of_one_client_stops_only_that_one() {
    run(async {
        let files = [("a.yaml", &*cluster("a", 1)), ("node/one/b.yaml", &cluster("b", 1))];
        let server = Server::start(&files, &[]);
        let mut one = server.ads("v3", node("one", "", "")).await;
        one.ask(CDS, &[]).await;
        let first = one.next().await.expect("a response");
        one.ack(&first, &[]).await;
        server.put("node/one/b.yaml", "name: [");
        let ready = server.until("/ready", |text| text.contains("node/one/b.yaml:1:"));
        assert!(ready.starts_with("LIVE: but some clients go on with what they had"), "{ready}");
        server.put("a.yaml", &cluster("a2", 1));
        server.until("/config_dump", |text| text.contains("\"a2\""));
        let mut other = server.ads("v3", node("two", "", "")).await;
        other.ask(CDS, &[]).await;
        let all = other.next().await.expect("a response");
        assert_eq!(names(&all), ["a2"]);
        // Also on a new stream it gets all that it had.
        let mut again = server.ads("v3", node("one", "", "")).await;
        again.ask(CDS, &[]).await;
        let had = again.next().await.expect("a response");
        assert_eq!(
            (names(&had), &had.version_info),
            (vec!["a".into(), "b".into()], &first.version_info)
        );
        server.put("node/one/b.yaml", &cluster("b", 2));
        let mended = one.next().await.expect("a response");
        assert_eq!(names(&mended), ["a2", "b"]);
        assert_eq!(server.get("/ready"), "LIVE\n");
    });
}

/// Whoever had nothing yet waits, as all do where everything is bad.
#[test]
fn a_client_whose_first_file_is_bad_waits() {
    run(async {
        let files = [("a.yaml", &*cluster("a", 1)), ("node-cluster/us/b.yaml", "name: [")];
        let server = Server::start(&files, &[]);
        let mut us = server.ads("v3", node("one", "us", "")).await;
        us.ask(CDS, &[]).await;
        let mut them = server.ads("v3", node("two", "them", "")).await;
        them.ask(CDS, &[]).await;
        assert_eq!(names(&them.next().await.expect("a response")), ["a"]);
        server.put("node-cluster/us/b.yaml", &cluster("b", 1));
        assert_eq!(names(&us.next().await.expect("a response")), ["a", "b"], "and nothing before");
    });
}

/// The names of the clusters in a response.
fn names(response: &DiscoveryResponse) -> Vec<String> {
    let clusters = response.resources.iter().map(|it| Named::decode(&*it.value));
    clusters.map(|it| it.expect("a cluster").name).collect()
}

/// What all resources have.
#[derive(Clone, PartialEq, prost::Message)]
struct Named {
    #[prost(string, tag = "1")]
    name: String,
}

#[test]
fn a_server_without_anything_good_is_not_ready() {
    let server = Server::start(&[("a.yaml", "name: [")], &[]);
    let ready = server.until("/ready", |text| text.contains("a.yaml:1"));
    assert!(ready.starts_with("NOT READY\nnothing is served yet\n"), "{ready}");
    server.put("a.yaml", &cluster("a", 1));
    server.until("/ready", |text| text == "LIVE\n");
}

#[test]
fn what_is_edited_in_place_or_half_written_is_not_served() {
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
    let before = served(&server);
    std::fs::write(server.path("a.yaml"), cluster("edited", 1)).expect("a file");
    // A file that is still open.
    let mut open = std::fs::File::create(server.path("slow.yaml")).expect("a file");
    open.write_all(cluster("slow", 1).as_bytes()).expect("it is written");
    open.flush().expect("it is written");
    let now = served_after(&server, "b");
    assert!(!now.contains("\"edited\"") && now.contains("\"a\""), "{now}");
    assert!(!now.contains("\"slow\""), "{now}");
    assert_ne!(now, before);
    drop(open);
    server.until("/config_dump", |text| text.contains("\"slow\""));
    server.put("a.yaml", &cluster("moved", 1));
    server.until("/config_dump", |text| text.contains("\"moved\""));
    std::fs::remove_file(server.path("b.yaml")).expect("it is there");
    server.until("/config_dump", |text| !text.contains("\"b\""));
}

/// A server that starts now would serve it: replicas disagree, and `/ready` says so.
#[test]
fn what_was_edited_in_place_is_a_note_on_ready() {
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
    std::fs::write(server.path("a.yaml"), cluster("edited", 1)).expect("a file");
    let note = "note: `a.yaml` was changed in place and counts as it was";
    let ready = server.until("/ready", |text| text.contains(note));
    assert!(ready.starts_with("LIVE: all that was accepted is served"), "{ready}");
    assert!(server.get("/stats").contains("server.notes: 1\n"));
    server.put("a.yaml", &cluster("moved", 1));
    server.until("/ready", |text| text == "LIVE\n");
}

/// Alerts need a number that stays until all is well.
#[test]
fn what_is_not_well_has_a_gauge() {
    let out = tempfile::tempdir().expect("a folder");
    let blocked = out.path().join("out");
    std::fs::write(&blocked, "no folder").expect("a file");
    let flags = ["--file-out", blocked.to_str().expect("text")];
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &flags);
    let well = |name: &'static str| move |text: &str| text.contains(&format!("{name}: 0\n"));
    server.until("/stats", |text| !well("file_output.failing_seconds")(text));
    server.until("/ready", |text| text.contains("note: cannot write to"));
    std::fs::remove_file(&blocked).expect("a file");
    // Nothing has to change for that.
    server.until("/stats", well("file_output.failing_seconds"));
    assert!(blocked.join("cds.json").exists());
    assert!(well("resources.refused_seconds")(&server.get("/stats")));
    server.put("a.yaml", "name: [");
    server.until("/stats", |text| !well("resources.refused_seconds")(text));
    server.put("a.yaml", &cluster("a", 2));
    server.until("/stats", well("resources.refused_seconds"));
    let resources = server.path("a.yaml").parent().expect("a folder").to_owned();
    let away = resources.with_file_name("away");
    std::fs::rename(&resources, &away).expect("a folder");
    server.until("/stats", |text| !well("source.away_seconds")(text));
    std::fs::rename(&away, &resources).expect("a folder");
    server.until("/stats", well("source.away_seconds"));
}

#[cfg(unix)]
#[test]
fn files_with_secrets_are_for_their_owner() {
    use std::os::unix::fs::MetadataExt;

    let secret = "\"@type\": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret\nname: s\n";
    let out = tempfile::tempdir().expect("a folder");
    let api = crate::server::api_with(|_, text| text);
    let proto = "syntax = \"proto3\";\npackage envoy.extensions.transport_sockets.tls.v3;\n\
                 message Secret { string name = 1; }\n";
    std::fs::write(api.path().join("a_secret.proto"), proto).expect("a file");
    let server = Server::with_api(
        api.path(),
        &[("a.yaml", &cluster("a", 1)), ("s.yaml", secret)],
        &["--file-out", out.path().to_str().expect("text")],
    );
    let mode = |name: &str| wait(|| out.path().join(name).metadata().ok()).mode() & 0o077;
    assert_eq!(mode("sds.yaml"), 0);
    drop(server);
}

/// What is served once everything that was done before is known: a file that comes later is.
fn served_after(server: &Server, name: &str) -> String {
    server.put(&format!("{name}.yaml"), &cluster(name, 1));
    server.until("/config_dump", |text| text.contains(&format!("\"{name}\"")))
}

/// Writes a file in two halves, each a resource. The first one alone is never served.
fn write_slowly(server: &Server, name: &str) {
    let (first, second) = (format!("{name}-first"), format!("{name}-second"));
    let mut open = std::fs::File::create(server.path(name)).expect("a file");
    let pieces = [&*cluster(&first, 1), "# more\n", "---\n", &*cluster(&second, 1)];
    for (number, piece) in pieces.iter().enumerate() {
        open.write_all(piece.as_bytes()).expect("it is written");
        let dump = served_after(server, &format!("{name}-{number}"));
        assert!(!dump.contains(&first) && !dump.contains(&second), "{dump}");
    }
    drop(open);
    server.until("/config_dump", |text| text.contains(&first) && text.contains(&second));
}

#[cfg(unix)]
#[test]
fn what_is_half_written_is_not_served_however_the_folder_is_named() {
    for source in ["resources", "link", "./link/../resources"] {
        let (folder, _) = written(&[("a.yaml", &cluster("a", 1))]);
        std::os::unix::fs::symlink("resources", folder.path().join("link")).expect("a link");
        let server = Server::of(source, folder, &[]);
        write_slowly(&server, "slow.yaml");
        let new = server.path("new");
        std::fs::create_dir(&new).expect("a folder");
        // Until then nobody reports what happens in it.
        wait(|| server.watches(&new).then_some(()));
        write_slowly(&server, "new/slow.yaml");
    }
}

#[test]
fn what_is_written_while_the_server_starts_is_read_when_it_is_closed() {
    let (folder, resources) = written(&[("a.yaml", &cluster("a", 1))]);
    let mut open =
        std::fs::File::create(folder.path().join("resources/slow.yaml")).expect("a file");
    open.write_all(cluster("first", 1).as_bytes()).expect("it is written");
    let server = Server::of(&resources, folder, &[]);
    server.until("/config_dump", |text| text.contains("\"a\""));
    open.write_all(format!("---\n{}", cluster("second", 1)).as_bytes()).expect("it is written");
    assert!(!served_after(&server, "b").contains("second"));
    drop(open);
    server.until("/config_dump", |text| text.contains("first") && text.contains("second"));
    assert!(!server.log().contains("changed in place"), "{}", server.log());
    // From now on it is a file like others.
    std::fs::write(server.path("slow.yaml"), cluster("edited", 1)).expect("a file");
    server.logged(|line| line.contains("`slow.yaml` was changed in place"));
    assert!(!served(&server).contains("edited"));
}

#[cfg(unix)]
#[test]
fn a_folder_that_takes_the_place_of_another_is_watched() {
    let (folder, _) = written(&[("a.yaml", &cluster("a", 1))]);
    let place = |name: &str| folder.path().join(name);
    let (link, next, other) = (place("link"), place("next"), place("other"));
    std::os::unix::fs::symlink("resources", &link).expect("a link");
    std::fs::create_dir(&other).expect("a folder");
    std::fs::write(other.join("b.yaml"), cluster("b", 1)).expect("a file");
    let server = Server::of("link", folder, &[]);
    std::os::unix::fs::symlink("other", &next).expect("a link");
    std::fs::rename(&next, &link).expect("a move");
    server.until("/config_dump", |text| text.contains("\"b\"") && !text.contains("\"a\""));
    // A folder that nobody watches is looked at as well, but seldom.
    let is_watched = |folder: &Path| wait(|| server.watches(folder).then_some(()));
    let serves = |name: &str| {
        let beside = link.join(".beside");
        std::fs::write(&beside, cluster(name, 1)).expect("a file");
        std::fs::rename(&beside, link.join(format!("{name}.yaml"))).expect("a move");
        server.until("/config_dump", |text| text.contains(&format!("\"{name}\"")));
    };
    is_watched(&other);
    serves("first");
    std::fs::remove_dir_all(&other).expect("it is there");
    server.until("/ready", |text| text.contains("cannot read `link`"));
    std::fs::create_dir(&other).expect("a folder");
    std::fs::write(other.join("c.yaml"), cluster("c", 1)).expect("a file");
    server.until("/config_dump", |text| text.contains("\"c\"") && !text.contains("\"b\""));
    is_watched(&other);
    serves("second");
}

#[cfg(unix)]
#[test]
fn a_swapped_link_is_a_change() {
    let server = Server::start(
        &[("..one/a.yaml", &cluster("one", 1)), ("..two/a.yaml", &cluster("two", 1))],
        &[],
    );
    std::os::unix::fs::symlink("..one", server.path("..data")).expect("a link");
    std::os::unix::fs::symlink("..data/a.yaml", server.path("a.yaml")).expect("a link");
    server.until("/config_dump", |text| text.contains("\"one\""));
    std::os::unix::fs::symlink("..two", server.path("..next")).expect("a link");
    std::fs::rename(server.path("..next"), server.path("..data")).expect("a move");
    server.until("/config_dump", |text| text.contains("\"two\"") && !text.contains("\"one\""));
    // A link that leads out of the folder is not followed.
    std::os::unix::fs::symlink(example("resources/service.yaml"), server.path("out.yaml"))
        .expect("a link");
    server.put("b.yaml", &cluster("b", 1));
    let dump = server.until("/config_dump", |text| text.contains("\"b\""));
    assert!(!dump.contains("\"shop\""), "{dump}");
}

#[test]
fn folders_of_node_clusters_and_nodes_are_for_them() {
    run(async {
        let files = [
            ("a.yaml", cluster("a", 1)),
            ("b.yaml", cluster("b", 1)),
            ("node-cluster/canary/a.yaml", cluster("a", 2)),
            ("node/special/c.yaml", cluster("c", 1)),
        ];
        let files = files.each_ref().map(|(name, text)| (*name, &**text));
        let server = Server::start(&files, &[]);
        let mut versions = Vec::new();
        for (id, group, count) in [("x", "", 2), ("y", "canary", 2), ("special", "canary", 3)] {
            let mut client = server.ads("v3", node(id, group, "")).await;
            client.ask(CDS, &[]).await;
            let response = client.next().await.expect("a response");
            assert_eq!(response.resources.len(), count, "{id}");
            versions.push(response.resources[0].value.clone());
        }
        assert_ne!(versions[0], versions[1], "canaries have another `a`");
        assert_eq!(versions[1], versions[2]);
    });
}

#[test]
fn one_name_twice_is_refused() {
    let server = Server::start(&[("a.yaml", &cluster("a", 1)), ("b.yaml", &cluster("a", 2))], &[]);
    let ready = server.until("/ready", |text| text.contains("b.yaml"));
    let line = "b.yaml:1:1: there is another `envoy.config.cluster.v3.Cluster` with the name `a`";
    assert!(ready.contains(line), "{ready}");
}

/// What `abide-serve check` says: its status, the report, and the rest.
fn check(folder: &Path, flags: &[&str]) -> (Option<i32>, String, String) {
    let ran = Command::new(env!("CARGO_BIN_EXE_abide-serve"))
        .args(["check", "--resources"])
        .arg(folder)
        .arg("--api")
        .arg(example("api"))
        .args(flags)
        .output()
        .expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (ran.status.code(), text(&ran.stdout), text(&ran.stderr))
}

#[test]
fn the_log_has_the_first_warnings_of_a_change_and_check_has_all() {
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
    let eds = |number| {
        let more = "eds_cluster_config: {eds_config: {ads: {}, resource_api_version: V3}}";
        format!("{}type: EDS\n{more}\n---\n", cluster(&format!("e{number}"), 1))
    };
    server.put("many.yaml", &(0..30).map(eds).collect::<String>());
    server.logged(|line| {
        line.contains("\"there are 10 more warnings: `abide-serve check` prints all\"")
    });
    server.until("/config_dump", |text| text.contains("\"e29\""));
    assert_eq!(server.log().matches("which is nowhere").count(), 20, "{}", server.log());
    let (status, _, said) = check(&server.path(""), &[]);
    assert_eq!((status, said.matches("which is nowhere").count()), (Some(0), 30), "{said}");
    // What is said of the folder itself has an end as well.
    let (folder, resources) = written(&[("a.yaml", &cluster("a", 1))]);
    for number in 0..30 {
        let link = Path::new(&resources).join(format!("{number}.yaml"));
        std::os::unix::fs::symlink(example("resources/service.yaml"), link).expect("a link");
    }
    let server = Server::of(&resources, folder, &[]);
    let said = server.until_said("there are 10 more warnings");
    assert_eq!(said.matches(" is a link out of the folder").count(), 20, "{said}");
}

#[test]
fn who_serves_nothing_on_purpose_is_told() {
    let server = Server::start(&[], &["--allow-empty"]);
    let line = "there are no resources in `--resources` (0 files were read): clients get nothing";
    server.until_said(line);
    let (status, report, said) = check(&server.path(""), &["--allow-empty"]);
    assert_eq!((status, &*report, said), (Some(0), "", format!("warning: {line}\n")));
    server.put("none.yaml", "# later\n");
    server.logged(|it| it.contains("(1 file was read): clients get nothing"));
    server.put("node/me/a.yaml", &cluster("a", 1));
    server.until("/config_dump", |text| text.contains("\"a\""));
    assert!(!server.log().contains("(2 files"), "{}", server.log());
    std::fs::remove_file(server.path("node/me/a.yaml")).expect("a file");
    server.until("/config_dump", |text| !text.contains("\"a\""));
}

/// A folder that is not mounted yet, and one that somebody emptied, take nothing from anybody.
#[test]
fn a_source_without_resources_takes_nothing_away() {
    let server = Server::start(&[], &[]);
    let line = "there are no resources in `--resources` (0 files were read): to take everything from \
                clients, serve it with `--allow-empty`";
    server.until("/ready", |text| text.starts_with("NOT READY\n") && text.contains(line));
    let (status, _, said) = check(&server.path(""), &[]);
    assert!(status == Some(1) && said.contains(line), "{status:?} {said}");
    server.put("a.yaml", &cluster("a", 1));
    server.until("/ready", |text| text == "LIVE\n");
    std::fs::remove_file(server.path("a.yaml")).expect("a file");
    server.logged(|it| it.contains("refused") && it.contains(line));
    let text = server.get("/config_dump");
    assert!(text.contains("\"a\""), "{text}");
    server.put("b.yaml", &cluster("b", 1));
    server.until("/config_dump", |text| text.contains("\"b\"") && !text.contains("\"a\""));
}

#[test]
fn more_apis_are_those_of_older_clients() {
    let api = example("api").display().to_string();
    let older = crate::server::changed_api(&[]);
    let older = older.path().to_str().expect("text");
    let (status, _, said) = check(&example("resources"), &["--api", &api, "--api", older]);
    assert_eq!((status, &*said), (Some(0), ""));
    let (status, _, said) = check(&example("resources"), &["--api", "/nowhere"]);
    assert!(status == Some(2) && said.contains("/nowhere"), "{status:?} {said}");
}

/// An API with secrets, filters that clients ask for, and sources that are files and other servers.
fn api_with_sources() -> tempfile::TempDir {
    let api = crate::server::changed_api(&[
        (
            "core.proto",
            "    AggregatedConfigSource ads = 3;\n",
            "    AggregatedConfigSource ads = 3;\n    PathConfigSource path_config_source = 8;\n    \
             PathConfigSource api_config_source = 2;\n",
        ),
        (
            "core.proto",
            "enum ApiVersion {",
            "message PathConfigSource { string path = 1; }\nenum ApiVersion {",
        ),
        (
            "http.proto",
            "    google.protobuf.Any typed_config = 4;\n",
            "    google.protobuf.Any typed_config = 4;\n    Discovery config_discovery = 5;\n",
        ),
        (
            "http.proto",
            "message HttpFilter {",
            "message Discovery {\n  envoy.config.core.v3.ConfigSource config_source = 1;\n  \
             google.protobuf.Any default_config = 2;\n}\nmessage HttpFilter {",
        ),
    ]);
    let tls = "syntax = \"proto3\";\npackage envoy.extensions.transport_sockets.tls.v3;\n\
               import \"core.proto\";\n\
               message Secret { string name = 1; }\n\
               message SdsSecretConfig { string name = 1; envoy.config.core.v3.ConfigSource sds_config = 2; }\n\
               message Tls { SdsSecretConfig secret = 1; }\n";
    std::fs::write(api.path().join("tls.proto"), tls).expect("a file");
    api
}

/// Only what a listener says it gets from here has to be served here.
#[test]
fn references_to_files_and_other_servers_are_no_faults() {
    let api = api_with_sources();
    let api = api.path().to_str().expect("text");
    let folder = tempfile::tempdir().expect("a folder");
    let http = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
    let said = |route_source: &str, filter: &str| {
        let text = format!(
            "\"@type\": type.googleapis.com/envoy.config.listener.v3.Listener\nname: in\n\
             filter_chains:\n- filters:\n  - name: http\n    typed_config:\n      \"@type\": {http}\n\
             \u{20}     rds: {{route_config_name: other, config_source: {{{route_source}}}}}\n\
             \u{20}     http_filters: [{filter}]\n\
             ---\n\"@type\": {ROUTES}\nname: r\n"
        );
        std::fs::write(folder.path().join("a.yaml"), text).expect("a file");
        let ran = Command::new(env!("CARGO_BIN_EXE_abide-serve"))
            .args(["check", "--api", api, "--resources"])
            .arg(folder.path())
            .output()
            .expect("it starts");
        (ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned())
    };
    let file = "path_config_source: {path: /etc/routes.yaml}";
    assert_eq!(said(file, ""), (Some(0), String::new()));
    assert_eq!(said("api_config_source: {path: x}", ""), (Some(0), String::new()));
    let (status, text) = said("ads: {}", "");
    assert!(
        status == Some(1) && text.contains("RouteConfiguration `other`, which is nowhere"),
        "{text}"
    );
    // Secrets and filters that clients ask for here, and that nobody serves.
    let tls = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Tls";
    let secret = |source: &str| {
        said(
            file,
            &format!(
                "{{name: tls, typed_config: {{'@type': {tls}, secret: {{name: crt{source}}}}}}}"
            ),
        )
    };
    let (status, text) = secret(", sds_config: {ads: {}}");
    let line = "warning: a.yaml:1:1: the Listener `in` refers to the Secret `crt`, which is nowhere; clients wait for it";
    assert!(status == Some(0) && text.starts_with(line), "{text}");
    assert_eq!(secret(""), (Some(0), String::new()), "it is one of the bootstrap");
    assert_eq!(secret(", sds_config: {path_config_source: {path: x}}"), (Some(0), String::new()));
    let filter = |more: &str| {
        said(
            file,
            &format!("{{name: extra, config_discovery: {{config_source: {{ads: {{}}}}{more}}}}}"),
        )
    };
    let (status, text) = filter("");
    assert!(status == Some(0) && text.contains("`extra`, which is nowhere"), "{text}");
    let default = format!(", default_config: {{'@type': {tls}}}");
    assert_eq!(filter(&default), (Some(0), String::new()), "clients go on without it");
}

/// Each field around a resource is carried out, refused by name, or has no effect and says so.
#[test]
fn what_is_around_a_resource_is_carried_out_or_named() {
    let api = crate::server::changed_api(&[
        (
            "discovery.proto",
            "  repeated string aliases = 4;\n",
            "  repeated string aliases = 4;\n  message CacheControl { bool do_not_cache = 1; }\n  \
             google.protobuf.Duration ttl = 6;\n  CacheControl cache_control = 7;\n",
        ),
        (
            "discovery.proto",
            "import \"google/protobuf/any.proto\";\n",
            "import \"google/protobuf/any.proto\";\nimport \"google/protobuf/duration.proto\";\n",
        ),
    ]);
    let said = |text: &str| {
        let (_folder, resources) = written(&[("a.yaml", text)]);
        let ran = Command::new(env!("CARGO_BIN_EXE_abide-serve"))
            .arg("check")
            .arg("--api")
            .arg(api.path())
            .args(["--resources", &resources])
            .output()
            .expect("it starts");
        (ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned())
    };
    let around = |more: &str| {
        let inner = format!("{{'@type': {CDS}, name: a}}");
        said(&format!(
            "\"@type\": type.googleapis.com/envoy.service.discovery.v3.Resource\nname: b\n{more}\
             resource: {inner}\n"
        ))
    };
    assert_eq!(around("aliases: [c]\n"), (Some(0), String::new()));
    for (more, status, line) in [
        (
            "ttl: 2s\n",
            1,
            "error: a.yaml:3:6: `ttl` is not carried out, and the resource would stay",
        ),
        (
            "cache_control: {do_not_cache: true}\n",
            1,
            "error: a.yaml:3:16: `cache_control` is not carried out",
        ),
        (
            "version: \"7\"\n",
            0,
            "warning: a.yaml:3:10: `version` has no effect: servers make their own",
        ),
    ] {
        let (ended, text) = around(more);
        assert!(ended == Some(status) && text.starts_with(line), "{more}: {ended:?} {text}");
    }
    let response = |said: &str| {
        format!(
            "\"@type\": type.googleapis.com/envoy.service.discovery.v3.DiscoveryResponse\n{said}\
             resources: [{{'@type': {CDS}, name: a}}]\n"
        )
    };
    assert_eq!(said(&response(&format!("type_url: {CDS}\n"))), (Some(0), String::new()));
    let (status, text) = said(&response(&format!("type_url: {EDS}\n")));
    let line = format!("a response of `{EDS}` has a resource of `{CDS}`");
    assert!(status == Some(1) && text.contains(&line), "{text}");
}

/// A listener that asks for scopes, of which there is none, waits for them.
#[test]
fn scopes_that_nobody_serves_are_a_warning() {
    let api = api_with_sources();
    let tls = std::fs::read_to_string(api.path().join("tls.proto")).expect("it is there");
    let scopes =
        "message Scopes { envoy.config.core.v3.ConfigSource scoped_rds_config_source = 1; }\n";
    std::fs::write(api.path().join("tls.proto"), format!("{tls}{scopes}")).expect("a file");
    let http = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
    let said = |source: &str| {
        let ty = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Scopes";
        let scopes = format!("{{'@type': {ty}, scoped_rds_config_source: {{{source}}}}}");
        let (_folder, resources) = written(&[(
            "a.yaml",
            &format!(
                "\"@type\": type.googleapis.com/envoy.config.listener.v3.Listener\nname: in\n\
                 filter_chains:\n- filters:\n  - name: http\n    typed_config:\n      \"@type\": {http}\n\
                 \u{20}     http_filters: [{{name: scopes, typed_config: {scopes}}}]\n"
            ),
        )]);
        let ran = Command::new(env!("CARGO_BIN_EXE_abide-serve"))
            .arg("check")
            .arg("--api")
            .arg(api.path())
            .args(["--resources", &resources])
            .output()
            .expect("it starts");
        (ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned())
    };
    let (status, text) = said("ads: {}");
    let line = "warning: a.yaml:1:1: the Listener `in` asks for every ScopedRouteConfiguration, and there is none; clients wait for it";
    assert!(status == Some(0) && text.starts_with(line), "{text}");
    assert_eq!(said("path_config_source: {path: x}"), (Some(0), String::new()));
}

#[test]
fn what_has_to_be_known_from_elsewhere_is_said_once_for_each_kind() {
    let read = |name: &str| std::fs::read_to_string(example(name)).expect("it is there");
    let ingress = read("resources/ingress.yaml");
    let (listener, routes) = ingress.split_once("---\n").expect("two resources");
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("a file");
    };
    let warnings = |flags: &[&str]| {
        let (status, _, said) = check(folder.path(), flags);
        assert_eq!(status, Some(0), "{said}");
        said
    };
    put("listener.yaml", listener);
    assert_eq!(
        warnings(&[]),
        "warning: no RouteConfiguration is served: `routes`, which the Listener `ingress` refers to, has \
         to be known to clients from elsewhere\n"
    );
    let route = |cluster: &str| {
        format!("  - match: {{prefix: /{cluster}}}\n    route: {{cluster: {cluster}}}\n")
    };
    put("routes.yaml", &format!("{routes}{}{}", route("one"), route("two")));
    std::fs::create_dir_all(folder.path().join("node/me")).expect("a folder");
    put("node/me/routes.yaml", routes);
    assert_eq!(
        warnings(&[]),
        "warning: no cluster is served: `one`, which the RouteConfiguration `routes` refers to, and 2 more \
         have to be known to clients from elsewhere; name those with `--static-cluster`\n"
    );
    let flags = ["--static-cluster", "one", "--static-cluster", "two", "--static-cluster", "shop"];
    assert_eq!(warnings(&flags), "");
    assert_eq!(check(&example("resources"), &[]).2, "");
}

#[test]
fn what_everyone_gets_is_written_to_files() {
    let out = tempfile::tempdir().expect("a folder");
    let folder = out.path().join("out").display().to_string();
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &["--file-out", &folder]);
    let read = |name: &str| {
        wait(|| std::fs::read(out.path().join("out").join(name)).ok().filter(|it| !it.is_empty()))
    };
    for name in ["cds.json", "cds.yaml", "cds.pb_text", "cds.pb"] {
        assert!(read(name).windows(1).any(|it| it == b"a"), "{name}");
    }
    // What is written can be served.
    for name in ["cds.json", "cds.yaml", "cds.pb_text", "cds.pb"] {
        let again = Server::start(&[], &[]);
        std::fs::copy(out.path().join("out").join(name), again.path(".x")).expect("a copy");
        std::fs::rename(again.path(".x"), again.path(name)).expect("a move");
        let dump = again.until("/config_dump", |text| text.contains("\"a\""));
        let of = |dump: &str| {
            let dump: serde_json::Value = serde_json::from_str(dump).expect("JSON");
            dump["served"][0]["types"][CDS]["version"].clone()
        };
        assert_eq!(of(&dump), of(&served(&server)), "{name} means the same");
    }
}

#[test]
fn files_of_a_type_that_is_gone_say_so() {
    let out = tempfile::tempdir().expect("a folder");
    let flags = ["--allow-empty", "--file-out", out.path().to_str().expect("text")];
    let has = |what: &str| {
        wait(|| {
            let text = std::fs::read_to_string(out.path().join("cds.json")).ok()?;
            text.contains(what).then_some(())
        });
    };
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &flags);
    has("\"a\"");
    std::fs::remove_file(server.path("a.yaml")).expect("it is there");
    has("\"resources\":[]");
    server.put("b.yaml", &cluster("b", 1));
    has("\"b\"");
    drop(server);
    let _server = Server::start(&[], &flags);
    has("\"resources\":[]");
}

#[test]
fn files_are_not_written_to_where_resources_are_read() {
    let resources = tempfile::tempdir().expect("a folder");
    let path = resources.path().to_str().expect("text");
    for out in [path.to_owned(), format!("{path}/new/out")] {
        let said = refused(&["--resources", path, "--file-out", &out]);
        assert!(said.contains("write to another folder"), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_takes_nothing_away() {
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
    server.until("/config_dump", |text| text.contains("\"a\""));
    for (link, so) in [("a.yaml", "counts as it was"), ("b.yaml", "was not read")] {
        std::os::unix::fs::symlink("nowhere", server.path(".next")).expect("a link");
        std::fs::rename(server.path(".next"), server.path(link)).expect("a move");
        let line = format!("`{link}` is a link to nothing and {so}");
        server.logged(|log| log.contains(&line));
    }
    server.put("c.yaml", &cluster("c", 1));
    server.until("/config_dump", |text| text.contains("\"c\"") && text.contains("\"a\""));
    server.put("a.yaml", &cluster("d", 1));
    server.until("/config_dump", |text| text.contains("\"d\"") && !text.contains("\"a\""));
}
