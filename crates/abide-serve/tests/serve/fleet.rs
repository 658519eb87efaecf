//! A whole fleet at once.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use abide_xds::wire::DeltaDiscoveryRequest;
use rustix::process::Signal;

use crate::server::{CDS, Server, cluster, node, run};

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
