//! Clients that are told to leave: none of their calls fails.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::server::{CDS, Server, cluster, node, run};

/// A client of long polling that keeps its connection.
struct Polling(BufReader<TcpStream>);

impl Polling {
    fn connect(address: &str) -> Polling {
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
        Polling(BufReader::new(stream))
    }

    fn send(&mut self, body: &str) {
        let head = format!("host: a\r\ncontent-length: {}", body.len());
        let request = format!("POST /v3/discovery:clusters HTTP/1.1\r\n{head}\r\n\r\n{body}");
        self.0.get_mut().write_all(request.as_bytes()).expect("it reads");
    }

    /// The status of an answer, and whether it is the last one of the connection.
    fn answer(&mut self) -> (u16, bool) {
        let (mut head, mut line) = (String::new(), String::new());
        while self.0.read_line(&mut line).expect("text") > 2 {
            head.push_str(&line.to_ascii_lowercase());
            line.clear();
        }
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("a status");
        let length = head.lines().find_map(|it| it.strip_prefix("content-length: "));
        let mut body = vec![0; length.map_or(0, |it| it.trim().parse().expect("a number"))];
        self.0.read_exact(&mut body).expect("the body");
        (status, head.contains("connection: close"))
    }

    /// Whether the server closed the connection.
    fn is_over(&mut self) -> bool {
        matches!(self.0.fill_buf(), Ok([]))
    }
}

#[test]
fn s001_006_031_failed_health_checks_ask_clients_to_leave() {
    run(async {
        let flags = ["--drain-time-s", "0.5"];
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &flags);
        let mut stream = server.ads("v3", node("stream", "", "1.0.0")).await;
        stream.ask(CDS, &[]).await;
        let response = stream.next().await.expect("a response");
        stream.ack(&response, &[]).await;
        let mut idle = Polling::connect(&server.http);
        idle.send(r#"{"node": {"id": "idle"}}"#);
        assert_eq!(idle.answer(), (200, false));
        let mut held = Polling::connect(&server.http);
        let version = &response.version_info;
        held.send(&format!(r#"{{"node": {{"id": "held"}}, "version_info": "{version}"}}"#));
        server.until("/clients", |text| text.contains("held"));

        assert_eq!(server.get("/healthcheck/fail"), "", "POST only");
        assert_eq!(server.post("/healthcheck/fail"), (200, "OK\n".to_owned()));
        assert!(server.get("/server_info").contains("DRAINING"));
        // A poll is answered before its time, and the stream ends in good order.
        assert_eq!(held.answer(), (304, true));
        assert!(held.is_over());
        assert_eq!(stream.next().await.expect_err("the end").code(), tonic::Code::Ok);
        // Whoever says nothing is not cut off: it may be about to.
        std::thread::sleep(Duration::from_millis(600));
        idle.send(r#"{"node": {"id": "idle"}}"#);
        assert_eq!(idle.answer(), (200, true));

        assert_eq!(server.post("/healthcheck/ok"), (200, "OK\n".to_owned()));
        let mut stream = server.ads("v3", node("stream", "", "1.0.0")).await;
        stream.ask(CDS, &[]).await;
        stream.next().await.expect("it may stay");
        let mut polling = Polling::connect(&server.http);
        polling.send(r#"{"node": {"id": "idle"}}"#);
        assert_eq!(polling.answer(), (200, false));
    });
}

#[test]
fn modify_only_listeners_stay_when_health_checks_fail() {
    let flags = ["--drain-time-s", "0", "--drain-type", "modify_only"];
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &flags);
    let mut polling = Polling::connect(&server.http);
    server.post("/healthcheck/fail");
    polling.send(r#"{"node": {"id": "a"}}"#);
    assert_eq!(polling.answer(), (200, false));
    server.post("/drain_listeners?graceful");
    let begin = Instant::now();
    loop {
        polling.send(r#"{"node": {"id": "a"}}"#);
        match polling.answer() {
            (200, true) => break,
            answer => assert_eq!(answer, (200, false)),
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "it was never asked to leave");
    }
}

#[test]
fn listeners_that_go_are_closed_and_their_clients_leave() {
    run(async {
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &["--drain-time-s", "0.3"]);
        let mut stream = server.ads("v3", node("stream", "", "1.0.0")).await;
        stream.ask(CDS, &[]).await;
        stream.next().await.expect("a response");
        assert_eq!(server.get("/drain_listeners"), "", "POST only");
        let begin = Instant::now();
        assert_eq!(server.post("/drain_listeners?graceful"), (200, "OK\n".to_owned()));
        TcpStream::connect(&server.grpc).expect("it listens until the drain time is over");
        assert_eq!(stream.next().await.expect_err("the end").code(), tonic::Code::Ok);
        while TcpStream::connect(&server.grpc).is_ok() || TcpStream::connect(&server.http).is_ok() {
            assert!(begin.elapsed() < Duration::from_secs(20), "it still listens");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(begin.elapsed() >= Duration::from_millis(300), "{:?}", begin.elapsed());
        assert!(server.get("/ready").starts_with("LIVE"), "the admin pages stay");
    });
}
