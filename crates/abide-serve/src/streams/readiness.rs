//! `grpc.health.v1.Health`: says over gRPC what `/ready` says, for probes and load balancers.

use std::pin::pin;
use std::sync::Arc;

use hyper::body::Incoming;
use prost::Message;
use tokio::sync::mpsc;
use tonic::Status;
use tonic::body::Body;

use super::services::services;
use crate::clients::ServerState;
use crate::listeners::DrainSignal;
use abide_transport::{EncodedMessage, MessageBody, ReadLimits, RequestStream};

/// The number of answers that wait for a slow reader.
const QUEUE: usize = 2;

/// A method of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadinessMethod {
    /// One answer.
    Check,
    /// An answer now, and one for each change.
    Watch,
}

#[derive(Clone, PartialEq, Message)]
struct HealthCheckRequest {
    #[prost(string, tag = "1")]
    service: String,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct HealthCheckResponse {
    #[prost(enumeration = "ServingStatus", tag = "1")]
    status: i32,
}

/// The values of `grpc.health.v1.HealthCheckResponse.ServingStatus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
enum ServingStatus {
    Unknown = 0,
    Serving = 1,
    NotServing = 2,
    ServiceUnknown = 3,
}

impl ReadinessMethod {
    /// Finds the method at a path.
    pub(super) fn at(path: &str) -> Option<ReadinessMethod> {
        match path {
            "/grpc.health.v1.Health/Check" => Some(ReadinessMethod::Check),
            "/grpc.health.v1.Health/Watch" => Some(ReadinessMethod::Watch),
            _ => None,
        }
    }
}

/// Answers a request. It is no stream of the fleet: a server that is full still says that it is well.
pub(super) fn answer(
    fleet: Arc<ServerState>,
    method: ReadinessMethod,
    request: http::Request<Incoming>,
) -> http::Response<Body> {
    let (head, body) = request.into_parts();
    let limits = ReadLimits { bytes: fleet.limits.max_request, patience: fleet.limits.stall };
    let incoming = RequestStream::new(body, limits, Arc::clone(&fleet.room));
    let (sender, receiver) = mpsc::channel(QUEUE);
    let leave = head.extensions.get::<DrainSignal>().cloned();
    tokio::spawn(async move {
        if let Err(status) = report(&fleet, method, incoming, &sender, leave).await {
            let _ = sender.try_send(Err(status));
        }
    });
    MessageBody::new(receiver).into_response()
}

async fn report(
    fleet: &ServerState,
    method: ReadinessMethod,
    mut incoming: RequestStream<Incoming, HealthCheckRequest>,
    outgoing: &mpsc::Sender<Result<EncodedMessage, Status>>,
    leave: Option<DrainSignal>,
) -> Result<(), Status> {
    let Some(first) = incoming.next().await? else { return Ok(()) };
    let service = first.request.service;
    drop(first.room);
    let is_known = is_service(fleet, &service);
    if !is_known && method == ReadinessMethod::Check {
        return Err(Status::not_found("there is no such service here"));
    }
    let (mut served, mut verdicts) = (fleet.subscribe(), fleet.subscribe_verdicts());
    let mut told = pin!(DrainSignal::wait_for_drain(leave));
    let mut last = None;
    loop {
        served.borrow_and_update();
        verdicts.borrow_and_update();
        let now = match (is_known, fleet.is_ready()) {
            (false, _) => ServingStatus::ServiceUnknown,
            (true, true) => ServingStatus::Serving,
            (true, false) => ServingStatus::NotServing,
        };
        if last.replace(now) != Some(now) {
            let answer = EncodedMessage::of(&HealthCheckResponse { status: now.into() });
            if outgoing.send(Ok(answer)).await.is_err() {
                return Ok(());
            }
        }
        if method == ReadinessMethod::Check {
            return Ok(());
        }
        tokio::select! {
            changed = served.changed() => if changed.is_err() { return Ok(()) },
            changed = verdicts.changed() => if changed.is_err() { return Ok(()) },
            () = outgoing.closed() => return Ok(()),
            () = &mut told => return Ok(()),
        }
    }
}

/// Returns true if a service is offered here; the one without a name is the server itself.
fn is_service(fleet: &ServerState, service: &str) -> bool {
    service.is_empty() || services(&fleet.apis).contains_key(service)
}
