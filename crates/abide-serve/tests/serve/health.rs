//! Clients that offer to check the health of endpoints.

use abide_xds::wire::{
    HealthCheckRequest, HealthCheckRequestOrResponse, HealthCheckSpecifier, Node,
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::server::{CDS, Server, channel, cluster, node, run};

const PATHS: [(&str, &str); 2] = [
    ("v2", "/envoy.service.discovery.v2.HealthDiscoveryService/StreamHealthCheck"),
    ("v3", "/envoy.service.health.v3.HealthDiscoveryService/StreamHealthCheck"),
];

/// A client, with what it sends.
struct Checker {
    sender: mpsc::Sender<HealthCheckRequestOrResponse>,
    specifiers: Streaming<HealthCheckSpecifier>,
}

impl Checker {
    async fn open(server: &Server, path: &str) -> Checker {
        let mut grpc = channel(&server.grpc).await.expect("it listens");
        let (sender, receiver) = mpsc::channel(16);
        let codec = ProstCodec::<HealthCheckRequestOrResponse, HealthCheckSpecifier>::default();
        let stream = Request::new(ReceiverStream::new(receiver));
        let path = path.parse().expect("a path");
        let specifiers = grpc.streaming(stream, path, codec).await.expect("a stream").into_inner();
        Checker { sender, specifiers }
    }

    async fn ask(&mut self, node: Node) -> Result<Option<HealthCheckSpecifier>, Status> {
        let health_check_request = Some(HealthCheckRequest { node: Some(node) });
        self.send(HealthCheckRequestOrResponse { health_check_request }).await;
        self.specifiers.message().await
    }

    async fn send(&self, message: HealthCheckRequestOrResponse) {
        let _ = self.sender.send(message).await;
    }
}

#[test]
fn the_node_is_read_from_both_variants_of_requests() {
    run(async {
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
        let mut discovery = server.ads("v3", node("asks", "core", "1.0.0")).await;
        discovery.ask(CDS, &[]).await;
        discovery.next().await.expect("a response");
        for (major, path) in PATHS {
            let mut checker = Checker::open(&server, path).await;
            let specifier = checker.ask(node("prober", "edge", "2.0.0")).await;
            let specifier = specifier.expect("an answer").expect("there is nothing to check");
            assert_eq!(specifier.interval.map(|it| it.seconds), Some(60));
            let told = server.clients();
            let seen = |at: usize, key: &str| told[at][key].clone();
            assert_eq!((seen(0, "node"), seen(0, "service")), ("asks".into(), "discovery".into()));
            assert_eq!((seen(1, "node"), seen(1, "service")), ("prober".into(), "health".into()));
            assert_eq!((seen(1, "cluster"), seen(1, "transport")), ("edge".into(), major.into()));
            assert_eq!(seen(1, "user_agent"), "acme-proxy 2.0.0");
            // Its reports are read and forgotten.
            for _ in 0..3 {
                checker.send(HealthCheckRequestOrResponse::default()).await;
            }
            assert!(server.get("/clients").contains("prober"));
            drop(checker);
            server.until("/clients", |text| !text.contains("prober"));
        }
    });
}

#[test]
fn a_stream_without_a_node_is_closed() {
    run(async {
        let impatient = Server::start(&[("a.yaml", &cluster("a", 1))], &["--stall", "0.2"]);
        let mut silent = Checker::open(&impatient, PATHS[1].1).await;
        let ended = silent.specifiers.message().await.expect_err("nothing came");
        assert_eq!(ended.code(), Code::DeadlineExceeded);
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &["--max-streams", "1"]);
        let mut reports = Checker::open(&server, PATHS[1].1).await;
        reports.send(HealthCheckRequestOrResponse::default()).await;
        let ended = reports.specifiers.message().await.expect_err("it is no request");
        assert_eq!(ended.code(), Code::InvalidArgument, "{ended}");
        // It is one of as many streams as there may be.
        let mut first = Checker::open(&server, PATHS[1].1).await;
        assert!(first.ask(node("a", "", "")).await.expect("an answer").is_some());
        let mut second = Checker::open(&server, PATHS[1].1).await;
        let ended = second.ask(node("b", "", "")).await.expect_err("there is no room");
        assert_eq!(ended.code(), Code::ResourceExhausted);
        assert!(server.get("/stats").contains("grpc.streams_refused: 1\n"));
    });
}

/// The service that probes and load balancers ask.
mod readiness {
    use prost::Message;
    use tokio::sync::mpsc;
    use tokio_stream::wrappers::ReceiverStream;
    use tonic::{Code, Request, Status, Streaming};
    use tonic_prost::ProstCodec;

    use crate::server::{Server, channel, cluster, run};
    use crate::waiting::LONG;

    #[derive(Clone, PartialEq, Message)]
    struct Asked {
        #[prost(string, tag = "1")]
        service: String,
    }

    #[derive(Clone, PartialEq, Message)]
    struct Answer {
        #[prost(int32, tag = "1")]
        status: i32,
    }

    const SERVING: i32 = 1;
    const NOT_SERVING: i32 = 2;
    const SERVICE_UNKNOWN: i32 = 3;

    async fn check(server: &Server, service: &str) -> Result<i32, Status> {
        let mut grpc = channel(&server.grpc).await.expect("it listens");
        let path = "/grpc.health.v1.Health/Check".parse().expect("a path");
        let asked = Request::new(Asked { service: service.to_owned() });
        let codec = ProstCodec::<Asked, Answer>::default();
        grpc.unary(asked, path, codec).await.map(|it| it.into_inner().status)
    }

    async fn watch(server: &Server, service: &str) -> Streaming<Answer> {
        let mut grpc = channel(&server.grpc).await.expect("it listens");
        let (sender, receiver) = mpsc::channel(1);
        sender.send(Asked { service: service.to_owned() }).await.expect("there is room");
        let path = "/grpc.health.v1.Health/Watch".parse().expect("a path");
        let asked = Request::new(ReceiverStream::new(receiver));
        let codec = ProstCodec::<Asked, Answer>::default();
        grpc.streaming(asked, path, codec).await.expect("a stream").into_inner()
    }

    async fn next(watched: &mut Streaming<Answer>) -> i32 {
        let next = tokio::time::timeout(LONG, watched.message()).await.expect("it answers");
        next.expect("an answer").expect("it goes on").status
    }

    #[test]
    fn grpc_says_what_the_page_ready_says() {
        run(async {
            let server = Server::start(&[("a.yaml", "name: [")], &["--max-streams", "1"]);
            let ads = "envoy.service.discovery.v3.AggregatedDiscoveryService";
            assert_eq!(check(&server, "").await.expect("an answer"), NOT_SERVING);
            let mut watched = watch(&server, ads).await;
            assert_eq!(next(&mut watched).await, NOT_SERVING);
            server.put("a.yaml", &cluster("a", 1));
            assert_eq!(next(&mut watched).await, SERVING);
            for service in ["", ads, "envoy.service.cluster.v3.ClusterDiscoveryService"] {
                assert_eq!(check(&server, service).await.expect("an answer"), SERVING, "{service}");
            }
            assert_eq!(check(&server, "nope").await.expect_err("none").code(), Code::NotFound);
            assert_eq!(next(&mut watch(&server, "nope").await).await, SERVICE_UNKNOWN);
            server.post("/healthcheck/fail");
            assert_eq!(next(&mut watched).await, NOT_SERVING);
            server.post("/healthcheck/ok");
            assert_eq!(next(&mut watched).await, SERVING);
        });
    }
}
