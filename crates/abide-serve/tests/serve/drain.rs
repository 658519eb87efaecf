//! Clients that are told to leave: none of their calls fails.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::server::{CDS, EDS, Polling, Server, ask_with, cluster, node, run};
use crate::waiting::wait;

/// Polls until an answer is the last one of the connection.
fn until_it_is_to_leave(polling: &mut Polling) {
    wait(|| {
        polling.send(r#"{"node": {"id": "idle"}}"#);
        let (status, is_last) = polling.answer();
        assert_eq!(status, 200);
        is_last.then_some(())
    });
}

#[test]
fn failed_health_checks_ask_clients_to_leave() {
    run(async {
        let flags = ["--drain-time-s", "0"];
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
        assert!(!held.has_answer(), "it is answered when something is new");

        assert_eq!(server.get("/healthcheck/fail"), "use POST, not GET\n");
        assert_eq!(server.post("/healthcheck/fail"), (200, "OK\n".to_owned()));
        assert!(server.get("/server_info").contains("DRAINING"));
        // A poll is answered before its time, and the stream ends in good order.
        assert_eq!(held.answer(), (304, true));
        assert!(held.is_over());
        assert_eq!(stream.next().await.expect_err("the end").code(), tonic::Code::Ok);
        // Whoever says nothing is not cut off: it may be about to. It hears of it with an answer.
        until_it_is_to_leave(&mut idle);

        assert_eq!(server.post("/healthcheck/ok"), (200, "OK\n".to_owned()));
        let mut stream = server.ads("v3", node("stream", "", "1.0.0")).await;
        stream.ask(CDS, &[]).await;
        stream.next().await.expect("it may stay");
        let mut polling = Polling::connect(&server.http);
        polling.send(r#"{"node": {"id": "idle"}}"#);
        assert_eq!(polling.answer(), (200, false));
    });
}

/// A change that is half sent is completed before the stream ends.
#[test]
fn who_is_to_leave_gets_the_rest_of_what_it_was_sent() {
    run(async {
        let endpoints = format!("---\n\"@type\": {EDS}\ncluster_name: a\n");
        let files = [("a.yaml", &*(cluster("a", 1) + &endpoints))];
        let server = Server::start(&files, &["--drain-time-s", "0"]);
        let mut stream = server.ads("v3", node("stream", "", "1.0.0")).await;
        stream.ask(CDS, &[]).await;
        let response = stream.next().await.expect("a response");
        server.post("/healthcheck/fail");
        stream.ack(&response, &[]).await;
        stream.ask(EDS, &["a"]).await;
        let rest = stream.next().await.expect("the endpoints of what it has");
        assert_eq!(rest.type_url, EDS);
        stream.ack(&rest, &["a"]).await;
        assert_eq!(stream.next().await.expect_err("the end").code(), tonic::Code::Ok);
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
    until_it_is_to_leave(&mut polling);
}

#[test]
fn listeners_that_go_are_closed_and_their_clients_leave() {
    run(async {
        let clients_have = |seconds: &str| {
            Server::start(&[("a.yaml", &cluster("a", 1))], &["--drain-time-s", seconds])
        };
        let slow = clients_have("600");
        assert_eq!(slow.post("/drain_listeners?graceful"), (200, "OK\n".to_owned()));
        TcpStream::connect(&slow.grpc).expect("it listens until the drain time is over");
        let server = clients_have("0.3");
        let mut stream = server.ads("v3", node("stream", "", "1.0.0")).await;
        stream.ask(CDS, &[]).await;
        stream.next().await.expect("a response");
        assert_eq!(server.get("/drain_listeners"), "use POST, not GET\n");
        let begin = Instant::now();
        assert_eq!(server.post("/drain_listeners?graceful"), (200, "OK\n".to_owned()));
        let says_so = || {
            let (status, ready) = ask_with(&server.admin, "GET", "/ready", "");
            assert_eq!((status, &*ready), (503, "DRAINING: the listeners of clients close\n"));
            assert!(server.get("/server_info").contains("\"state\": \"DRAINING\""));
            assert!(server.get("/stats").contains("\nserver.live: 0\n"));
        };
        says_so();
        assert_eq!(stream.next().await.expect_err("the end").code(), tonic::Code::Ok);
        let listens = |address: &String| TcpStream::connect(address).is_ok();
        wait(|| (!listens(&server.grpc) && !listens(&server.http)).then_some(()));
        assert!(begin.elapsed() >= Duration::from_millis(300), "{:?}", begin.elapsed());
        // The admin pages stay, and nothing opens the listeners again.
        says_so();
        server.post("/healthcheck/fail");
        server.post("/healthcheck/ok");
        says_so();
    });
}

#[cfg(unix)]
#[test]
fn who_is_told_to_end_has_clients_leave_in_order() {
    use rustix::process::Signal;

    run(async {
        let flags = ["--drain-time-s", "60", "--drain-strategy", "immediate"];
        let mut server = Server::start(&[("a.yaml", &cluster("a", 1))], &flags);
        let mut stream = server.ads("v3", node("stream", "", "1.0.0")).await;
        stream.ask(CDS, &[]).await;
        let response = stream.next().await.expect("a response");
        stream.ack(&response, &[]).await;
        let mut held = Polling::connect(&server.http);
        let version = &response.version_info;
        held.send(&format!(r#"{{"node": {{"id": "held"}}, "version_info": "{version}"}}"#));
        server.until("/clients", |text| text.contains("held"));
        // Somebody who never leaves, so that the pages can be looked at.
        let mut stays = Polling::connect(&server.http);
        stays.send(r#"{"node": {"id": "stays"}}"#);
        assert_eq!(stays.answer().0, 200);
        server.signal(Signal::TERM);
        // A poll is answered before its time, and the stream ends in good order.
        assert_eq!(held.answer(), (304, true));
        assert_eq!(stream.next().await.expect_err("the end").code(), tonic::Code::Ok);
        server.until("/ready", |text| text == "DRAINING: the server was told to end\n");
        let listens = |address: &String| TcpStream::connect(address).is_ok();
        wait(|| (!listens(&server.grpc) && !listens(&server.http)).then_some(()));
        drop((stream, held, stays));
        assert!(server.ended().success());
        server.until_said("ending: all clients have left");
    });
}

#[cfg(unix)]
#[test]
fn a_second_signal_ends_at_once() {
    use rustix::process::Signal;

    let mut server = Server::start(&[("a.yaml", &cluster("a", 1))], &["--drain-time-s", "600"]);
    let mut stays = Polling::connect(&server.http);
    stays.send(r#"{"node": {"id": "stays"}}"#);
    assert_eq!(stays.answer().0, 200);
    server.signal(Signal::TERM);
    server.logged(|it| it.contains("told to end"));
    server.signal(Signal::INT);
    assert!(server.ended().success());
    server.until_said("clients are cut off");
}

#[test]
fn a_connection_that_is_old_enough_is_asked_to_leave() {
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &["--max-connection-age-s", "0.1"]);
    until_it_is_to_leave(&mut Polling::connect(&server.http));
    assert_eq!(server.get("/ready"), "LIVE\n");
}
