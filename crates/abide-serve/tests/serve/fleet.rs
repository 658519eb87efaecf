//! A whole fleet at once.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use abide_xds::wire::DeltaDiscoveryRequest;
use rustix::process::Signal;
use tokio::sync::watch;
use tonic::Code;

use crate::server::{CDS, Server, Whole, cluster, node, run};
use crate::waiting::LONG;

/// While a server is busy, those who come wait for it. Nobody is turned away, and comes again after
/// seconds.
#[test]
fn those_who_come_to_a_busy_server_wait() {
    let most = std::fs::read_to_string("/proc/sys/net/core/somaxconn").expect("Linux says it");
    let most: usize = most.trim().parse().expect("a number");
    let many = most.min(400);
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
    for address in [&server.grpc, &server.http] {
        let address: SocketAddr = address.parse().expect("an address");
        server.signal(Signal::STOP);
        // The system itself takes them in at once, or never.
        let come = |_| TcpStream::connect_timeout(&address, Duration::from_secs(20));
        let clients: Result<Vec<TcpStream>, _> = (0..many).map(come).collect();
        server.signal(Signal::CONT);
        clients.expect("the system lets them wait");
    }
}

/// Clients that come again say what they hold, and there is room for a few of them at a time: the
/// others wait for their turn, and are not late.
#[test]
fn all_come_again_with_much_that_they_hold() {
    const CLIENTS: usize = 300;
    run(async {
        let room = ["--request-room", "2000000", "--stall", "3600"];
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &room);
        let gone = (0..15_000).map(|it| (format!("{it:0>30}"), "0".repeat(8)));
        let mut held: std::collections::HashMap<String, String> = gone.collect();
        held.insert("a".to_owned(), "another".to_owned());
        let mut coming = tokio::task::JoinSet::new();
        for number in 0..CLIENTS {
            let mut client = server.delta(node(&number.to_string(), "", "")).await;
            let request = DeltaDiscoveryRequest {
                type_url: CDS.to_owned(),
                initial_resource_versions: held.clone(),
                ..DeltaDiscoveryRequest::default()
            };
            coming.spawn(async move {
                client.send(request).await;
                let response = client.next().await.expect("a response");
                (response.resources.len(), response.removed_resources.len())
            });
        }
        while let Some(response) = coming.join_next().await {
            assert_eq!(response.expect("it ends"), (1, 15_000));
        }
    });
}

/// The clients of [`a_rolling_update_fails_no_call`]: how many are served, and how many streams each had.
type Served = watch::Sender<usize>;

/// Stays with the fleet: wherever its stream ends, it opens the next one at a replica that is in service.
async fn stay_with(number: usize, service: watch::Receiver<Vec<String>>, served: Served) {
    for turn in 0.. {
        let replicas = service.borrow().clone();
        let replica = &replicas[(number + turn) % replicas.len()];
        let name = node(&number.to_string(), "", "");
        let mut client = Whole::open(replica, "v3", name).await.expect("it is in service");
        client.ask(CDS, &[]).await;
        let response = client.next().await.expect("a response");
        client.ack(&response, &[]).await;
        served.send_modify(|it| *it += 1);
        let end = client.next().await.expect_err("nothing changes");
        assert_eq!(end.code(), Code::Ok, "{end:?}");
        served.send_modify(|it| *it -= 1);
    }
}

/// Three replicas are replaced one after the other, as a Deployment does it: the next one comes first, the
/// service leads nobody to the old one any more, and then that is told to end.
#[test]
fn a_rolling_update_fails_no_call() {
    const CLIENTS: usize = 1000;
    run(async {
        let start = || Server::start(&[("a.yaml", &cluster("a", 1))], &["--drain-time-s", "4"]);
        let mut replicas: Vec<Server> = (0..3).map(|_| start()).collect();
        let addresses =
            |all: &[Server]| all.iter().map(|it| it.grpc.clone()).collect::<Vec<String>>();
        let (lead, service) = watch::channel(addresses(&replicas));
        let (served, mut count) = watch::channel(0);
        let mut clients = tokio::task::JoinSet::new();
        for number in 0..CLIENTS {
            clients.spawn(stay_with(number, service.clone(), served.clone()));
        }
        count.wait_for(|it| *it == CLIENTS).await.expect("they count");
        for turn in 0..3 {
            let mut old = replicas.remove(0);
            replicas.push(tokio::task::block_in_place(start));
            lead.send_replace(addresses(&replicas));
            let begin = std::time::Instant::now();
            old.signal(Signal::TERM);
            assert!(tokio::task::block_in_place(|| old.ended()).success(), "{}", old.log());
            let ended = begin.elapsed();
            // All of them had left before it ended.
            assert!(old.log().contains("ending: all clients have left"), "{}", old.log());
            let all = tokio::time::timeout(LONG, count.wait_for(|it| *it == CLIENTS)).await;
            all.expect("they come back").expect("they count");
            println!(
                "replica {turn} ended after {ended:.1?}, all were back after {:.1?}",
                begin.elapsed()
            );
            assert!(clients.try_join_next().is_none(), "a call failed");
        }
        clients.shutdown().await;
    });
}
