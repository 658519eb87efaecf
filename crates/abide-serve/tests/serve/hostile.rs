//! Clients that want more than their share.

use std::convert::Infallible;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use abide_xds::wire::{DiscoveryRequest, Node};
use http_body_util::StreamBody;
use hyper::body::Frame;
use hyper_util::rt::TokioIo;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Code;

use crate::server::{CDS, Server, ask_with, cluster, node, run};
use crate::waiting::LONG;

/// Whether the server still serves others.
async fn serves(server: &Server) {
    let mut good = server.ads("v3", node("good", "", "")).await;
    good.ask(CDS, &[]).await;
    assert_eq!(good.next().await.expect("a response").resources.len(), 1);
}

#[test]
fn a_million_names_and_a_huge_node() {
    run(async {
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &["--max-names", "1000"]);
        let mut names = server.ads("v3", node("names", "", "")).await;
        let many: Vec<String> = (0..1001).map(|it| it.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        names.ask(CDS, &many).await;
        assert_eq!(names.next().await.expect_err("too many").code(), Code::ResourceExhausted);

        let huge = Node { id: "x".repeat(10 << 20), ..Node::default() };
        let mut huge = server.ads("v3", huge).await;
        huge.ask(CDS, &[]).await;
        assert_eq!(huge.next().await.expect_err("too large").code(), Code::OutOfRange);

        let long = "x".repeat(100_000);
        let mut long = server.ads("v3", node(&long, "", "")).await;
        long.ask(CDS, &[]).await;
        long.next().await.expect("a response");
        let kept = server.clients();
        assert_eq!(kept[0]["node"].as_str().map(str::len), Some(1024), "not all of it is kept");
        serves(&server).await;
    });
}

#[test]
fn more_streams_than_there_may_be() {
    run(async {
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &["--max-streams", "3"]);
        let mut open = Vec::new();
        for number in 0..3 {
            let mut client = server.ads("v3", node(&number.to_string(), "", "")).await;
            client.ask(CDS, &[]).await;
            client.next().await.expect("a response");
            open.push(client);
        }
        let mut fourth = server.ads("v3", node("4", "", "")).await;
        fourth.ask(CDS, &[]).await;
        assert_eq!(fourth.next().await.expect_err("too many").code(), Code::ResourceExhausted);
        assert_eq!(server.poll("/v3/discovery:clusters", "{}").0, 503);
        drop(open);
        server.until("/clients", |text| text == "[]\n");
        serves(&server).await;
    });
}

#[test]
fn a_client_that_never_asks_and_one_that_breaks_the_protocol() {
    run(async {
        let impatient = Server::start(&[("a.yaml", &cluster("a", 1))], &["--stall", "0.2"]);
        let mut silent = impatient.ads("v3", node("silent", "", "")).await;
        assert_eq!(silent.next().await.expect_err("too late").code(), Code::DeadlineExceeded);
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
        let mut untyped = server.ads("v3", node("untyped", "", "")).await;
        untyped.ask("", &[]).await;
        assert_eq!(untyped.next().await.expect_err("no type").code(), Code::InvalidArgument);
        serves(&server).await;
    });
}

#[test]
fn bad_frames_and_half_open_connections() {
    run(async {
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
        let mut open = Vec::new();
        for (bytes, has_answer) in [
            (&b"GET / HTTP/1.1\r\n\r\n"[..], true),
            (b"\0\xff\xff\xff\xff", false),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\x09\x09", true),
        ] {
            for _ in 0..20 {
                let mut stream = sent(&server.grpc, bytes);
                if has_answer {
                    // Whatever it is, or the end.
                    let _ = stream.read(&mut [0; 64]);
                }
                open.push(stream);
            }
        }
        for _ in 0..20 {
            open.push(TcpStream::connect(&server.http).expect("it listens"));
        }
        serves(&server).await;
        assert_eq!(server.poll("/v3/discovery:clusters", "{}").0, 200);
    });
}

#[test]
fn clients_that_do_not_read_cost_bounded_memory() {
    run(async {
        // About 2 MB for each response.
        let text: Vec<String> =
            (0..2000).map(|it| cluster(&format!("{it}-{}", "x".repeat(1000)), 1)).collect();
        let server = Server::start(&[("a.yaml", &text.join("---\n"))], &["--stall", "2"]);
        let mut open = Vec::new();
        for number in 0..10 {
            let mut client = server.ads("v3", node(&number.to_string(), "", "")).await;
            // Each is a reason to send everything again; nobody reads it. They go for as long as the
            // server takes them in.
            open.push(tokio::spawn(async move {
                for turn in 0..200 {
                    let request = DiscoveryRequest {
                        type_url: CDS.to_owned(),
                        response_nonce: if turn == 0 { String::new() } else { turn.to_string() },
                        node: Some(node(&number.to_string(), "", "")),
                        resource_names: vec![
                            "*".to_owned(),
                            format!("{turn}-{}", "x".repeat(1000)),
                        ],
                        ..DiscoveryRequest::default()
                    };
                    client.send(request).await;
                }
                client
            }));
        }
        let stalled = |text: &str| text.contains("grpc.streams_stalled: 10\n");
        server.until("/stats", stalled);
        let memory = server.memory().unwrap_or(0);
        assert!(memory < 600 << 20, "{} MiB", memory >> 20);
        drop(open);
        let mut good = server.ads("v3", node("good", "", "")).await;
        good.ask(CDS, &[]).await;
        assert_eq!(good.next().await.expect("a response").resources.len(), 2000);
    });
}

/// Sends most of a large request, and nothing more. The connection stays open for as long as what is
/// returned.
async fn most_of_a_request(address: &str) -> impl Sized {
    let stream = tokio::net::TcpStream::connect(address).await.expect("it listens");
    let executor = hyper_util::rt::TokioExecutor::new();
    let handshake = hyper::client::conn::http2::handshake(executor, TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.expect("HTTP/2");
    let connection = tokio::spawn(connection);
    let length = 1_000_000_u32.to_be_bytes();
    let sent = [&[0][..], &length, &vec![b'x'; 900_000]].concat();
    let (parts, body) = mpsc::channel(1);
    let sent: Result<_, Infallible> = Ok(Frame::data(bytes::Bytes::from(sent)));
    parts.send(sent).await.expect("it is open");
    let path = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
    let request = hyper::Request::post(format!("http://{address}{path}"))
        .header("content-type", "application/grpc")
        .body(StreamBody::new(ReceiverStream::new(body)));
    let response = sender.send_request(request.expect("a request")).await.expect("an answer");
    (parts, sender, connection, response)
}

/// A client that comes again says what it holds; when all come at once, that is much.
#[test]
fn many_large_requests_at_once_cost_bounded_memory() {
    run(async {
        let room = ["--request-room", "2000000", "--stall", "3600"];
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &room);
        serves(&server).await;
        let before = server.memory().unwrap_or(0);
        let mut open = Vec::new();
        for _ in 0..150 {
            open.push(most_of_a_request(&server.grpc).await);
        }
        serves(&server).await;
        let more = server.memory().unwrap_or(0).saturating_sub(before);
        assert!(more < 60 << 20, "{} MiB more", more >> 20);
    });
}

/// A connection over which these bytes were sent.
fn sent(address: &str, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.write_all(bytes).expect("it reads");
    stream.set_read_timeout(Some(LONG)).expect("a timeout");
    stream
}

/// A poll for clusters, of which the last header and the body are written already.
fn poll_with(rest: &str) -> Vec<u8> {
    format!("POST /v3/discovery:clusters HTTP/1.1\r\nhost: a\r\n{rest}").into_bytes()
}

/// A poll for clusters.
fn poll_of(body: &str) -> Vec<u8> {
    poll_with(&format!("content-length: {}\r\n\r\n{body}", body.len()))
}

/// A client that says how much it will send has sent nothing yet.
#[test]
fn what_does_not_come_keeps_nobody_waiting() {
    run(async {
        let room = ["--request-room", "1000000", "--stall", "3600"];
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &room);
        let mut open = Vec::new();
        for head in ["transfer-encoding: chunked\r\n\r\n1\r\n{", "content-length: 1000000\r\n\r\n{"]
        {
            for _ in 0..40 {
                open.push(sent(&server.http, &poll_with(head)));
            }
        }
        // This one has room, and keeps it for a few seconds.
        let _slow = most_of_a_request(&server.grpc).await;
        let large = format!("{{\"node\": {{\"id\": \"{}\"}}}}", "x".repeat(100_000));
        assert_eq!(server.poll("/v3/discovery:clusters", &large).0, 200);
    });
}

#[test]
fn a_poll_may_say_that_it_is_not_compressed_but_may_not_be() {
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
    let poll = |encoding: &str| {
        let headers = format!("content-length: 2\r\ncontent-encoding: {encoding}\r\n\r\n{{}}");
        ask_with(&server.http, "POST", "/v3/discovery:clusters", &headers)
    };
    for plain in ["identity", "Identity", ""] {
        assert_eq!(poll(plain).0, 200, "{plain:?}");
    }
    let (status, text) = poll("gzip");
    assert_eq!(status, 415, "{text}");
    assert!(text.contains("may not be compressed, as by \"gzip\""), "{text}");
}

#[test]
fn streams_that_never_begin_count() {
    run(async {
        let with_three_silent = async |patience: &str| {
            let limits = ["--max-streams", "3", "--stall", patience];
            let server = Server::start(&[("a.yaml", &cluster("a", 1))], &limits);
            let mut silent = Vec::new();
            for _ in 0..3 {
                silent.push(server.ads("v3", node("silent", "", "")).await);
            }
            (server, silent)
        };
        let (server, _silent) = with_three_silent("3600").await;
        let mut fourth = server.ads("v3", node("fourth", "", "")).await;
        let refused = fourth.next().await.expect_err("there is no room");
        assert_eq!(refused.code(), Code::ResourceExhausted);
        server.until("/stats", |text| text.contains("grpc.streams_refused: 1\n"));
        // It is there again when their time is over.
        let (server, mut silent) = with_three_silent("0.3").await;
        for client in &mut silent {
            assert_eq!(
                client.next().await.expect_err("nothing came").code(),
                Code::DeadlineExceeded
            );
        }
        server.until("/clients", |text| text == "[]\n");
        serves(&server).await;
    });
}

/// Whether a connection was closed, by what reading to its end gave: who had sent what was never
/// read is told so.
fn is_closed<T>(read: &std::io::Result<T>) -> bool {
    read.as_ref().map_or_else(|error| error.kind() == ErrorKind::ConnectionReset, |_| true)
}

#[test]
fn connections_that_say_nothing_have_an_end() {
    run(async {
        let with_six_silent = |patience: &str| {
            let limits = ["--max-connections", "6", "--stall", patience];
            let server = Server::start(&[("a.yaml", &cluster("a", 1))], &limits);
            let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
            let to_grpc = [&b""[..], b"PRI * HT", preface].map(|it| sent(&server.grpc, it));
            let to_http = [&b""[..], b"POST /v3/d", b"POST /v3/d"].map(|it| sent(&server.http, it));
            let open: Vec<TcpStream> = to_grpc.into_iter().chain(to_http).collect();
            (server, open)
        };
        // There are as many as there may be: of those who come now at most six are taken in, and the
        // admin port answers.
        let (server, mut open) = with_six_silent("3600");
        let (closed, is_closed_now) = std::sync::mpsc::channel();
        for _ in 0..7 {
            let mut next = sent(&server.http, b"");
            let closed = closed.clone();
            open.push(next.try_clone().expect("a socket"));
            std::thread::spawn(move || closed.send(is_closed(&next.read(&mut [0]))));
        }
        assert!(is_closed_now.recv_timeout(LONG).expect("one is closed"));
        server.until("/ready", |text| text.contains("LIVE"));
        drop((server, open));
        let (server, open) = with_six_silent("0.3");
        for mut stream in open {
            let ended = std::io::copy(&mut stream, &mut std::io::sink());
            assert!(is_closed(&ended), "it was not closed: {ended:?}");
        }
        serves(&server).await;
    });
}

/// Whoever has the most connections makes room for others, and an address may have a limit of its own.
#[cfg(target_os = "linux")]
#[test]
fn one_address_takes_the_place_of_no_other() {
    run(async {
        let connect = async |from: &str, to: &str| {
            let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
            socket.bind(format!("{from}:0").parse().expect("an address")).expect("it is free");
            let stream = socket.connect(to.parse().expect("an address")).await;
            let stream = stream.expect("it listens").into_std().expect("a stream");
            stream.set_nonblocking(false).expect("it blocks");
            stream.set_read_timeout(Some(LONG)).expect("a timeout");
            stream
        };
        let poll = |stream: &mut TcpStream| {
            stream.write_all(&poll_of("{}")).expect("it reads");
            // The rest of the answer before may come first.
            let (mut text, mut part) = (Vec::new(), [0; 4096]);
            while !text.windows(12).any(|it| it == b"HTTP/1.1 200") {
                match stream.read(&mut part)? {
                    0 => return Err(ErrorKind::UnexpectedEof.into()),
                    count => text.extend_from_slice(&part[..count]),
                }
            }
            Ok::<bool, std::io::Error>(true)
        };
        let limits = ["--max-connections", "4", "--stall", "3600"];
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &limits);
        let mut heavy = Vec::new();
        for _ in 0..4 {
            let mut one = connect("127.0.0.1", &server.http).await;
            assert!(poll(&mut one).expect("an answer"));
            heavy.push(one);
        }
        let mut other = connect("127.0.0.2", &server.http).await;
        assert!(poll(&mut other).expect("there is room for it"));
        let mut newest = heavy.pop().expect("four");
        assert!(is_closed(&std::io::copy(&mut newest, &mut std::io::sink())), "it made room");
        assert!(poll(&mut heavy[0]).expect("the older ones stay"));
        server.logged(|it| it.contains("the address with the most") && it.contains("127.0.0.1"));

        let limits = ["--max-peer-connections", "1"];
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &limits);
        let mut first = connect("127.0.0.1", &server.http).await;
        assert!(poll(&mut first).expect("an answer"));
        let mut second = connect("127.0.0.1", &server.http).await;
        assert!(is_closed(&second.read(&mut [0])), "one is enough");
        let mut other = connect("127.0.0.2", &server.http).await;
        assert!(poll(&mut other).expect("an answer"));
    });
}

/// An answer of many megabytes is made once, whoever reads it, and waits for nobody for long.
#[test]
fn polls_that_do_not_read_cost_bounded_memory() {
    run(async {
        let text: Vec<String> =
            (0..2000).map(|it| cluster(&format!("{it}-{}", "x".repeat(10_000)), 1)).collect();
        let server = Server::start(&[("a.yaml", &text.join("---\n"))], &["--stall", "1"]);
        let begin = server.memory().unwrap_or(0);
        let open: Vec<_> = (0..100).map(|_| sent(&server.http, &poll_of("{}"))).collect();
        let (status, body) = server.poll("/v3/discovery:clusters", "{}");
        assert_eq!((status, body.matches("\"name\"").count()), (200, 2000));
        // The sockets themselves hold some of it. Those who read nothing are gone soon.
        server.until("/stats", |text| {
            text.contains("grpc.streams_active: 0\n")
                && text.contains("grpc.streams_stalled: 100\n")
        });
        let more = server.memory().unwrap_or(0).saturating_sub(begin);
        assert!(more < 200 << 20, "{} MiB more", more >> 20);
        drop(open);
    });
}

/// A client that polls now and then keeps its connection.
#[test]
fn polls_may_be_further_apart_than_a_request_may_take() {
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &["--stall", "0.3"]);
    let mut stream = TcpStream::connect(&server.http).expect("it listens");
    stream.set_read_timeout(Some(LONG)).expect("a timeout");
    for _ in 0..3 {
        stream.write_all(&poll_of("{}")).expect("it is open");
        let mut answer = Vec::new();
        while !answer.ends_with(b"}") {
            let mut piece = [0; 1000];
            let read = stream.read(&mut piece).expect("it answers");
            assert!(read > 0, "it was closed");
            answer.extend_from_slice(&piece[..read]);
        }
        assert!(answer.starts_with(b"HTTP/1.1 200 "));
        // So long a request may take that came later.
        let ended = std::io::copy(&mut sent(&server.http, b"POST"), &mut std::io::sink());
        assert!(is_closed(&ended), "{ended:?}");
    }
}

/// Two clients with one name take turns, and do not keep each other and the server busy.
#[test]
fn polls_of_one_name_do_not_chase_each_other() {
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &["--long-poll", "3600"]);
    let poll = |body: &str| server.poll("/v3/discovery:clusters", body);
    let (_, first) = poll("{}");
    let (_, after) = first.split_once("\"versionInfo\":\"").expect("a version");
    let version = after.split('"').next().expect("its end");
    let began = |node: &str| {
        let body = format!("{{\"version_info\": \"{version}\", \"node\": {{\"id\": \"{node}\"}}}}");
        sent(&server.http, &poll_of(&body))
    };
    let ends = |stream: &mut TcpStream, so: &str| {
        let mut head = [0; 12];
        stream.read_exact(&mut head).expect("an answer");
        assert_eq!(String::from_utf8_lossy(&head), format!("HTTP/1.1 {so}"));
    };
    let wait_there = |count: u32| {
        let line = format!("grpc.streams_active: {count}\n");
        server.until("/stats", |text| text.contains(&line));
    };
    let begin = Instant::now();
    let mut one = began("same");
    wait_there(1);
    let mut other = began("same");
    // Nobody knows that these are the same.
    let mut nameless = [began(""), began("")];
    ends(&mut one, "304");
    assert!(begin.elapsed() >= Duration::from_secs(1), "it was superseded, but only now");
    wait_there(3);
    // By then they would have ended as well: these came later, and one of them has.
    let mut third = began("later");
    wait_there(4);
    let _fourth = began("later");
    ends(&mut third, "304");
    server.put("b.yaml", &cluster("b", 1));
    ends(&mut other, "200");
    nameless.iter_mut().for_each(|it| ends(it, "200"));
}

/// What all want by name counts once, and what one client makes up does not take the place of others.
#[test]
fn names_that_nobody_else_asks_for_have_an_end() {
    run(async {
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &["--max-all-names", "100"]);
        let mut fleet = Vec::new();
        let names: Vec<String> = (0..60).map(|it| format!("name-{it}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).chain(["a"]).collect();
        for number in 0..20 {
            let mut client = server.ads("v3", node(&number.to_string(), "", "")).await;
            client.ask(CDS, &names).await;
            assert_eq!(client.next().await.expect("a response").resources.len(), 1);
            fleet.push(client);
        }
        let mut hostile = server.ads("v3", node("hostile", "", "")).await;
        let own: Vec<String> = (0..160).map(|it| format!("own-{it}")).collect();
        hostile.ask(CDS, &own.iter().map(String::as_str).collect::<Vec<_>>()).await;
        let refused = hostile.next().await.expect_err("too many");
        assert_eq!(refused.code(), Code::ResourceExhausted);
        drop(hostile);
        for client in &mut fleet {
            client.ask(CDS, &["a"]).await;
        }
        serves(&server).await;
    });
}

/// Whoever took all names there may be keeps nobody else from those that are served.
#[test]
fn names_that_are_served_cost_nothing() {
    run(async {
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &["--max-all-names", "1000"]);
        let mut taken = Vec::new();
        for stream in 0..5 {
            let mut hostile = server.ads("v3", node("hostile", "", "")).await;
            let own: Vec<String> =
                (0..250).map(|it| format!("{stream}-{it}")).chain(["a".to_owned()]).collect();
            hostile.ask(CDS, &own.iter().map(String::as_str).collect::<Vec<_>>()).await;
            taken.push((hostile.next().await, hostile));
        }
        let (last, _) = taken.pop().expect("five");
        assert_eq!(last.expect_err("too many").code(), Code::ResourceExhausted);
        assert!(taken.iter().all(|(answer, _)| answer.is_ok()));
        server.until("/stats", |text| text.contains("grpc.streams_refused: 1\n"));
        server.logged(|line| line.contains("more than its share") && line.contains("hostile"));
        let mut late = server.ads("v3", node("late", "", "")).await;
        late.ask(CDS, &["a", "not-yet"]).await;
        assert_eq!(late.next().await.expect("a response").resources.len(), 1);
    });
}

/// Whoever refuses what was never sent raises no alert and takes nothing back.
#[test]
fn refusals_of_what_was_never_sent_do_not_count() {
    run(async {
        let flags = ["--roll-back-after", "1"];
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &flags);
        server.put("a.yaml", &cluster("a", 2));
        server.until("/stats", |text| text.contains("resources.update_success: 2\n"));
        let mut client = server.ads("v3", node("hostile", "", "")).await;
        client.ask(CDS, &[]).await;
        let response = client.next().await.expect("a response");
        for nonce in ["forged", "99", ""] {
            let request = DiscoveryRequest {
                type_url: CDS.to_owned(),
                response_nonce: nonce.to_owned(),
                error_detail: Some(abide_xds::wire::Status { code: 3, message: "no".to_owned() }),
                ..DiscoveryRequest::default()
            };
            client.send(request).await;
        }
        client.ack(&response, &[]).await;
        server.until("/stats", |text| text.contains("xds.acks.cds.v3: 1\n"));
        let stats = server.get("/stats");
        assert!(stats.contains("grpc.nacks: 0\n") && stats.contains("rolled_back: 0\n"), "{stats}");
        assert!(!server.log().contains("a client refused"), "{}", server.log());
    });
}
