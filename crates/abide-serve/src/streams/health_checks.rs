//! The health discovery service: clients that offer to check the health of endpoints.
//!
//! Nothing here has checks for them to do. They are told so, with a list that is empty, and are part
//! of the fleet like all others: their first message says which node they are.

use std::sync::Arc;
use std::time::Duration;

use abide_xds::wire::{HealthCheckRequestOrResponse, HealthCheckSpecifier};
use hyper::body::Incoming;
use tokio::sync::mpsc;
use tonic::Status;

use crate::clients::{ClientOrigin, ServerState, StreamPermit, increment};
use crate::listeners::DrainSignal;
use abide_transport::{EncodedMessage, RequestStream};

/// The interval at which a client is to report the health of nothing.
const REPORT_INTERVAL: Duration = Duration::from_secs(60);

/// The major of the transport whose health discovery service has its stream at a path.
pub(crate) fn transport_at(path: &str) -> Option<&'static str> {
    match path {
        "/envoy.service.discovery.v2.HealthDiscoveryService/StreamHealthCheck" => Some("v2"),
        "/envoy.service.health.v3.HealthDiscoveryService/StreamHealthCheck" => Some("v3"),
        _ => None,
    }
}

/// Talks with one client until either side ends the stream. Of its reports nothing is kept.
pub(crate) async fn converse(
    fleet: &Arc<ServerState>,
    admission: StreamPermit,
    origin: ClientOrigin,
    mut incoming: RequestStream<Incoming, HealthCheckRequestOrResponse>,
    outgoing: &mpsc::Sender<Result<EncodedMessage, Status>>,
    leave: Option<DrainSignal>,
) -> Result<(), Status> {
    let Some(first) = incoming.next().await? else { return Ok(()) };
    let asked = first.request.health_check_request.ok_or_else(|| {
        Status::invalid_argument("the first message must be a `health_check_request`")
    })?;
    let node = asked.node.unwrap_or_default().brief();
    let _guest = fleet.register_client(admission, node.clone(), origin.clone());
    increment(&fleet.counters.requests);
    tracing::info!(
        node = node.id,
        cluster = node.cluster,
        agent = node.user_agent(),
        transport = origin.transport,
        "a client offers health checks"
    );
    let nothing =
        HealthCheckSpecifier { interval: prost_types::Duration::try_from(REPORT_INTERVAL).ok() };
    increment(&fleet.counters.responses);
    if outgoing.send(Ok(EncodedMessage::of(&nothing))).await.is_err() {
        return Ok(());
    }
    let told = DrainSignal::wait_for_drain(leave);
    tokio::pin!(told);
    loop {
        tokio::select! {
            next = incoming.next() => if next?.is_none() { return Ok(()) },
            () = outgoing.closed() => return Ok(()),
            () = &mut told => return Ok(()),
        }
    }
}
