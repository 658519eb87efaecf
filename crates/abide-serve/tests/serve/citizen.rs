//! What every server of gRPC offers besides its own services, and sockets of this machine.

use std::collections::BTreeSet;

use abide_xds::wire::{DiscoveryRequest, Node, Status};
use prost::{Message, Oneof};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::client::Grpc;
use tonic::transport::Endpoint;
use tonic::{Code, Request, Streaming};
use tonic_prost::ProstCodec;

use crate::server::{CDS, Server, Whole, channel, cluster, node, run};
use crate::waiting::LONG;

/// A question to the reflection service; the last two are answers that the test reads as bytes.
#[derive(Clone, PartialEq, Message)]
struct Asked {
    #[prost(string, tag = "1")]
    host: String,
    #[prost(oneof = "Question", tags = "3, 4, 5, 6, 7")]
    question: Option<Question>,
}

#[derive(Clone, PartialEq, Oneof)]
enum Question {
    #[prost(string, tag = "3")]
    File(String),
    #[prost(string, tag = "4")]
    Symbol(String),
    #[prost(message, tag = "5")]
    Extension(ExtensionAsked),
    #[prost(string, tag = "6")]
    Extensions(String),
    #[prost(string, tag = "7")]
    Services(String),
}

#[derive(Clone, PartialEq, Message)]
struct ExtensionAsked {
    #[prost(string, tag = "1")]
    containing_type: String,
    #[prost(int32, tag = "2")]
    extension_number: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Answered {
    #[prost(message, optional, tag = "2")]
    original: Option<Asked>,
    #[prost(message, optional, tag = "4")]
    files: Option<Files>,
    #[prost(message, optional, tag = "6")]
    services: Option<Services>,
    #[prost(message, optional, tag = "7")]
    error: Option<Refused>,
}

#[derive(Clone, PartialEq, Message)]
struct Files {
    #[prost(bytes = "vec", repeated, tag = "1")]
    files: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct Services {
    #[prost(message, repeated, tag = "1")]
    services: Vec<Named>,
}

#[derive(Clone, PartialEq, Message)]
struct Named {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct Refused {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

/// Of a descriptor of a file: its name and what it imports.
#[derive(Clone, PartialEq, Message)]
struct FileHead {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, repeated, tag = "3")]
    imports: Vec<String>,
}

/// A stream of the reflection service.
struct Reflection(mpsc::Sender<Asked>, Streaming<Answered>);

impl Reflection {
    async fn open(server: &Server, version: &str) -> Reflection {
        let mut grpc = channel(&server.grpc).await.expect("it listens");
        let (sender, receiver) = mpsc::channel(4);
        let path = format!("/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo");
        let codec = ProstCodec::<Asked, Answered>::default();
        let stream = Request::new(ReceiverStream::new(receiver));
        let answers = grpc.streaming(stream, path.parse().expect("a path"), codec).await;
        Reflection(sender, answers.expect("a stream").into_inner())
    }

    async fn ask(&mut self, question: Question) -> Answered {
        let asked = Asked { host: "here".to_owned(), question: Some(question) };
        self.0.send(asked.clone()).await.expect("it is open");
        let answer = tokio::time::timeout(LONG, self.1.message()).await.expect("it answers");
        let answer = answer.expect("an answer").expect("it goes on");
        assert_eq!(answer.original, Some(asked));
        answer
    }

    /// The files that declare something: each with what it imports.
    async fn files(&mut self, question: Question) -> Vec<FileHead> {
        let answer = self.ask(question).await;
        let files = answer.files.unwrap_or_else(|| panic!("{:?}", answer.error)).files;
        files.iter().map(|it| FileHead::decode(&**it).expect("a descriptor")).collect()
    }
}

#[test]
fn reflection_lists_the_services_and_has_each_file_with_its_imports() {
    run(async {
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
        for version in ["v1", "v1alpha"] {
            let mut stream = Reflection::open(&server, version).await;
            let listed = stream.ask(Question::Services(String::new())).await;
            let listed: Vec<String> =
                listed.services.expect("a list").services.into_iter().map(|it| it.name).collect();
            for name in [
                "envoy.service.cluster.v3.ClusterDiscoveryService",
                "envoy.service.discovery.v3.AggregatedDiscoveryService",
                "envoy.service.status.v3.ClientStatusDiscoveryService",
                "grpc.health.v1.Health",
                &format!("grpc.reflection.{version}.ServerReflection"),
            ] {
                assert!(listed.iter().any(|it| it == name), "{name}: {listed:?}");
            }
            let symbol = |it: &str| Question::Symbol(it.to_owned());
            // Each is declared, by the API or beside it.
            let mut known = BTreeSet::new();
            for name in &listed {
                let files = stream.files(symbol(name)).await;
                known.extend(files.iter().map(|it| it.name.clone()));
                assert!(
                    files.iter().flat_map(|it| &it.imports).all(|it| known.contains(it)),
                    "{name}"
                );
            }
            let method = "envoy.service.cluster.v3.ClusterDiscoveryService.DeltaClusters";
            assert_eq!(stream.files(symbol(method)).await.len(), 1);
            let mut stream = Reflection::open(&server, version).await;
            // A type of the API, with everything that it needs.
            let files = stream.files(symbol("envoy.config.cluster.v3.Cluster")).await;
            let names: BTreeSet<&str> = files.iter().map(|it| &*it.name).collect();
            assert!(files[0].name.ends_with("cluster.proto"), "{names:?}");
            for import in files.iter().flat_map(|it| &it.imports) {
                assert!(names.contains(&**import), "{import}: {names:?}");
            }
            // What was sent is not sent again, except for what is asked for.
            let again = stream.files(symbol("envoy.config.cluster.v3.Cluster")).await;
            assert_eq!(again.len(), 1);
            let by_name = stream.files(Question::File(files[0].name.clone())).await;
            assert_eq!(by_name[0].name, files[0].name);
            for own in [
                "grpc.health.v1.Health",
                "grpc.health.v1.Health.Watch",
                "grpc.health.v1.HealthCheckResponse.ServingStatus",
                &format!("grpc.reflection.{version}.ServerReflection"),
            ] {
                let files = stream.files(symbol(own)).await;
                assert!(files[0].name.starts_with("grpc/"), "{own}: {files:?}");
            }
            for nothing in [
                symbol("acme.Nothing"),
                Question::File("nothing.proto".to_owned()),
                Question::Extensions("acme.Nothing".to_owned()),
                Question::Extension(ExtensionAsked::default()),
            ] {
                let error = stream.ask(nothing.clone()).await.error.expect("an error");
                assert_eq!(error.code, Code::NotFound as i32, "{nothing:?}: {}", error.message);
            }
        }
    });
}

/// A question about clients, by the ids of their nodes.
#[derive(Clone, PartialEq, Message)]
struct StatusAsked {
    #[prost(message, repeated, tag = "1")]
    matchers: Vec<NodeMatcher>,
}

#[derive(Clone, PartialEq, Message)]
struct NodeMatcher {
    #[prost(message, optional, tag = "1")]
    id: Option<IdMatcher>,
    #[prost(message, repeated, tag = "2")]
    metadata: Vec<Named>,
}

#[derive(Clone, PartialEq, Message)]
struct IdMatcher {
    #[prost(string, optional, tag = "1")]
    exact: Option<String>,
    #[prost(string, optional, tag = "2")]
    prefix: Option<String>,
    #[prost(message, optional, tag = "5")]
    regex: Option<Named>,
    #[prost(bool, tag = "6")]
    ignore_case: bool,
}

#[derive(Clone, PartialEq, Message)]
struct StatusAnswer {
    #[prost(message, repeated, tag = "1")]
    clients: Vec<ClientConfig>,
}

#[derive(Clone, PartialEq, Message)]
struct ClientConfig {
    #[prost(message, optional, tag = "1")]
    node: Option<Node>,
    #[prost(message, repeated, tag = "3")]
    configs: Vec<Config>,
}

#[derive(Clone, PartialEq, Message)]
struct Config {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(string, tag = "3")]
    version: String,
    /// Nothing is here, ever.
    #[prost(bytes = "vec", tag = "4")]
    content: Vec<u8>,
    #[prost(int32, tag = "6")]
    status: i32,
    #[prost(int32, tag = "7")]
    seen: i32,
    #[prost(message, optional, tag = "8")]
    error: Option<Failure>,
}

#[derive(Clone, PartialEq, Message)]
struct Failure {
    #[prost(string, tag = "3")]
    details: String,
}

async fn fetch(server: &Server, matchers: Vec<NodeMatcher>) -> Result<StatusAnswer, tonic::Status> {
    let mut grpc = channel(&server.grpc).await.expect("it listens");
    let path = "/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus";
    let codec = ProstCodec::<StatusAsked, StatusAnswer>::default();
    let asked = Request::new(StatusAsked { matchers });
    grpc.unary(asked, path.parse().expect("a path"), codec).await.map(tonic::Response::into_inner)
}

#[test]
fn client_status_discovery_has_what_each_client_accepted_and_refused() {
    run(async {
        let files = [("a.yaml", &*cluster("a", 1)), ("b.yaml", &*cluster("b", 1))];
        let server = Server::start(&files, &[]);
        let mut accepts = server.ads("v3", node("Edge-1", "", "")).await;
        accepts.ask(CDS, &[]).await;
        let response = accepts.next().await.expect("a response");
        accepts.ack(&response, &[]).await;
        let mut refuses = server.ads("v3", node("edge-2", "", "")).await;
        refuses.ask(CDS, &[]).await;
        let response = refuses.next().await.expect("a response");
        let refusal = DiscoveryRequest {
            type_url: CDS.to_owned(),
            response_nonce: response.nonce.clone(),
            error_detail: Some(Status { code: 3, message: "not this".to_owned() }),
            ..DiscoveryRequest::default()
        };
        refuses.send(refusal).await;
        let mut waits = server.ads("v3", node("other", "", "")).await;
        waits.ask(CDS, &["a"]).await;
        waits.next().await.expect("a response");
        server.until("/stats", |it| {
            it.contains("xds.acks.cds.v3: 1\n") && it.contains("xds.nacks.cds.v3: 1\n")
        });
        let all = fetch(&server, Vec::new()).await.expect("an answer").clients;
        // Each resource with its status and that of its client.
        type Seen = (String, i32, i32);
        let seen: Vec<(String, Vec<Seen>)> = all
            .iter()
            .map(|it| {
                let configs = it.configs.iter();
                let configs = configs.map(|it| (it.name.clone(), it.status, it.seen)).collect();
                (it.node.clone().expect("a node").id, configs)
            })
            .collect();
        let (a, b) = ("a".to_owned(), "b".to_owned());
        assert_eq!(
            seen,
            [
                ("Edge-1".to_owned(), vec![(a.clone(), 1, 3), (b.clone(), 1, 3)]),
                ("edge-2".to_owned(), vec![(a.clone(), 4, 4), (b, 4, 4)]),
                ("other".to_owned(), vec![(a, 3, 1)]),
            ]
        );
        let refused = all[1].configs[0].error.clone().expect("an error");
        assert_eq!(refused.details, "not this");
        let configs = || all.iter().flat_map(|it| &it.configs);
        assert!(configs().all(|it| it.content.is_empty() && it.type_url == CDS));
        assert!(configs().all(|it| !it.version.is_empty()));
        // By the ids of nodes.
        let by = |id: IdMatcher| NodeMatcher { id: Some(id), metadata: Vec::new() };
        let prefix = |text: &str, ignore_case| {
            by(IdMatcher { prefix: Some(text.to_owned()), ignore_case, ..IdMatcher::default() })
        };
        let exact = by(IdMatcher { exact: Some("other".to_owned()), ..IdMatcher::default() });
        for (matchers, many) in [
            (vec![prefix("edge", false)], 1),
            (vec![prefix("edge", true)], 2),
            (vec![prefix("edge", true), exact.clone()], 3),
            (vec![exact], 1),
            (vec![prefix("none", true)], 0),
        ] {
            let found = fetch(&server, matchers.clone()).await.expect("an answer");
            assert_eq!(found.clients.len(), many, "{matchers:?}");
        }
        let regex = by(IdMatcher { regex: Some(Named::default()), ..IdMatcher::default() });
        let metadata = NodeMatcher { id: None, metadata: vec![Named::default()] };
        for unknown in [regex, metadata] {
            let error = fetch(&server, vec![unknown]).await.expect_err("it cannot match");
            assert_eq!(error.code(), Code::InvalidArgument, "{error}");
        }
    });
}

#[test]
fn clients_are_served_at_sockets_of_this_machine() {
    use std::os::unix::fs::PermissionsExt;
    run(async {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("xds.sock");
        let place = format!("unix:{}", path.display());
        let flags = ["--grpc", &place, "--socket-mode", "660"];
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &flags);
        assert_eq!(server.grpc, place);
        let mode = path.metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o660);
        let endpoint = Endpoint::try_from(place.clone()).expect("a URL");
        let mut grpc = Grpc::new(endpoint.connect().await.expect("it listens"));
        grpc.ready().await.expect("it is");
        let mut client = Whole::over(grpc, "v3", node("local", "", "")).await.expect("a stream");
        client.ask(CDS, &[]).await;
        assert_eq!(client.next().await.expect("a response").resources.len(), 1);
        let peer = server.clients()[0]["peer"].as_str().expect("text").to_owned();
        assert!(peer.starts_with(&format!("unix, process {} ", std::process::id())), "{peer}");
        // It leaves like everybody else.
        server.post("/drain_listeners");
        assert_eq!(client.next().await.expect_err("the end").code(), Code::Ok);
    });
}

/// A port for probes and Prometheus, which others may reach.
#[test]
fn the_port_for_probes_has_nothing_that_changes_anything_or_names_clients() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("status.sock");
    let place = format!("unix:{}", path.display());
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &["--status", &place]);
    let ask = |method: &str, page: &str| {
        let mut stream = std::os::unix::net::UnixStream::connect(&path).expect("it listens");
        let head =
            format!("{method} {page} HTTP/1.1\r\nhost: 10.0.0.7:19001\r\nconnection: close\r\n");
        std::io::Write::write_all(&mut stream, format!("{head}\r\n").as_bytes()).expect("it reads");
        let mut text = String::new();
        std::io::Read::read_to_string(&mut stream, &mut text).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").expect("an answer");
        (head.split(' ').nth(1).expect("a status").to_owned(), body.to_owned())
    };
    assert_eq!(ask("GET", "/ready"), ("200".to_owned(), "LIVE\n".to_owned()));
    let (status, metrics) = ask("GET", "/stats/prometheus");
    assert_eq!(status, "200");
    assert!(crate::exposition::samples(&metrics).contains_key("abide_serve_server_live"));
    for page in ["/", "/clients", "/config_dump", "/runtime", "/stats", "/server_info"] {
        assert_eq!(ask("GET", page).0, "404", "{page}");
    }
    for page in ["/healthcheck/fail", "/drain_listeners", "/runtime_modify?a=1"] {
        assert_eq!(ask("POST", page).0, "404", "{page}");
    }
    assert_eq!(ask("POST", "/ready").0, "405");
    // It does not say why: reasons name files and clients.
    server.put("a.yaml", "name: [");
    server.until("/ready", |it| it.contains("a.yaml"));
    assert_eq!(ask("GET", "/ready").1, "LIVE\n");
    server.post("/healthcheck/fail");
    assert_eq!(ask("GET", "/ready"), ("503".to_owned(), "DRAINING\n".to_owned()));
}
