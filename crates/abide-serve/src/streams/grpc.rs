//! The discovery services over gRPC.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use abide_schema::Tree;
use abide_xds::wire::{
    DeltaDiscoveryRequest, DiscoveryRequest, Incoming, Node, VersionedTypeUrl, truncate,
};
use abide_xds::{Action, Event, Options, StreamError, Types, View};
use hyper::body::Incoming as Bytes;
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::time::{Instant, sleep, timeout};
use tonic::Status;
use tonic::body::Body;
use tower_service::Service;

use super::client_status::{self, StatusMethod};
use super::readiness::{self, ReadinessMethod};
use super::{health_checks, reflection};
use crate::clients::{
    AggregatedLease, ClientHandle, ClientOrigin, ClientService, ResponseVerdict, ServerState,
    SharedSession, StreamPermit, Variant, increment,
};
use crate::error::Error;
use crate::listeners::{DrainSignal, Peer};
use crate::resources::{Group, ServedResources};
use abide_transport::{
    EncodedMessage, MessageBody, ReadLimits, ReadRequest, RequestStream, Reservation,
    explain_compression,
};

/// Responses that wait for a slow reader; one more waits in the session.
const QUEUE: usize = 2;

/// The time for which a client that is to leave has to be silent, once it has answered all that it was
/// sent, until its stream ends: what it asks for then is part of the change before.
const LEAVE_SILENCE: Duration = Duration::from_millis(100);

/// The longest time for which the end of a stream waits for the answers of its client.
const LEAVE_PATIENCE: Duration = Duration::from_secs(5);

/// The time for which refusals of one type on one stream are not logged again.
const REFUSAL_LOG_INTERVAL: Duration = Duration::from_secs(1);

/// The discovery services of both majors, found by path.
#[derive(Clone)]
pub(crate) struct DiscoveryServices {
    fleet: Arc<ServerState>,
    /// What reflection declares beside the API, as soon as a client asked.
    declared: Arc<OnceLock<Tree>>,
}

/// A method, as its path says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DiscoveryMethod {
    transport: &'static str,
    /// The only type of its streams.
    only: Option<Arc<str>>,
    is_delta: bool,
}

impl DiscoveryMethod {
    fn at(types: &Types, path: &str) -> Option<DiscoveryMethod> {
        let (service, method) = path.strip_prefix('/')?.split_once('/')?;
        let (is_delta, plural) = match method.strip_prefix("Delta") {
            Some(plural) => (true, plural),
            None => (false, method.strip_prefix("Stream")?),
        };
        let majors = [(2, "v2"), (3, "v3")];
        if plural == "AggregatedResources" {
            let aggregated = |(_, transport): &(u8, &str)| {
                service == format!("envoy.service.discovery.{transport}.AggregatedDiscoveryService")
            };
            let (_, transport) = majors.into_iter().find(aggregated)?;
            return Some(DiscoveryMethod { transport, only: None, is_delta });
        }
        let named = types.iter().filter(|it| it.entry.methods.as_deref() == Some(plural));
        let mut all =
            named.flat_map(|it| it.entry.services.iter().zip(majors).map(move |own| (it, own)));
        let (ty, (_, (major, transport))) =
            all.find(|(_, (own, _))| own.as_deref() == Some(service))?;
        Some(DiscoveryMethod { transport, only: Some(ty.type_url(major)?), is_delta })
    }
}

impl DiscoveryMethod {
    /// Filters the versions that a request may list: a stream of one type stays in the major of
    /// its path.
    fn listed(&self, mut versions: Vec<VersionedTypeUrl>) -> Vec<VersionedTypeUrl> {
        versions.retain(|it| self.only.as_ref().is_none_or(|only| it.type_url == **only));
        versions
    }
}

impl DiscoveryServices {
    pub(crate) fn new(fleet: Arc<ServerState>) -> DiscoveryServices {
        DiscoveryServices { fleet, declared: Arc::default() }
    }
}

impl Service<http::Request<Bytes>> for DiscoveryServices {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Bytes>) -> Self::Future {
        let (fleet, declared) = (Arc::clone(&self.fleet), Arc::clone(&self.declared));
        Box::pin(async move {
            if let Some(transport) = health_checks::transport_at(request.uri().path()) {
                let origin = ClientOrigin {
                    transport,
                    service: ClientService::Health,
                    variant: Variant::Sotw,
                    peer: Peer::of(request.extensions()),
                };
                return Ok(open(
                    fleet,
                    request,
                    move |fleet, admission, incoming, outgoing, leave| async move {
                        health_checks::converse(
                            &fleet, admission, origin, incoming, &outgoing, leave,
                        )
                        .await
                    },
                ));
            }
            if let Some(method) = ReadinessMethod::at(request.uri().path()) {
                return Ok(readiness::answer(fleet, method, request));
            }
            if let Some(method) = StatusMethod::at(request.uri().path()) {
                return Ok(open(
                    fleet,
                    request,
                    move |fleet, admission, incoming, outgoing, leave| async move {
                        client_status::converse(
                            &fleet, admission, method, incoming, &outgoing, leave,
                        )
                        .await
                    },
                ));
            }
            if reflection::is_reflection(request.uri().path()) {
                return Ok(open(
                    fleet,
                    request,
                    move |fleet, admission, incoming, outgoing, leave| async move {
                        reflection::converse(
                            &fleet, &declared, admission, incoming, &outgoing, leave,
                        )
                        .await
                    },
                ));
            }
            let Some(method) = DiscoveryMethod::at(fleet.apis.types(), request.uri().path()) else {
                let path = request.uri().path();
                return Ok(Status::unimplemented(format!("there is no `{path}` here")).into_http());
            };
            Ok(match method.is_delta {
                true => stream::<DeltaDiscoveryRequest>(fleet, method, request),
                false => stream::<DiscoveryRequest>(fleet, method, request),
            })
        })
    }
}

/// Opens a stream of a discovery service.
fn stream<I: Incoming>(
    fleet: Arc<ServerState>,
    method: DiscoveryMethod,
    request: http::Request<Bytes>,
) -> http::Response<Body> {
    let origin = ClientOrigin {
        transport: method.transport,
        service: ClientService::Discovery,
        variant: if method.is_delta { Variant::Delta } else { Variant::Sotw },
        peer: Peer::of(request.extensions()),
    };
    open(
        fleet,
        request,
        |fleet, admission, incoming: RequestStream<Bytes, I>, outgoing, leave| async move {
            converse(&fleet, admission, (method, origin), incoming, &outgoing, leave).await
        },
    )
}

/// The answers on a stream.
type Outgoing = mpsc::Sender<Result<EncodedMessage, Status>>;

/// Opens a stream, on which its client is talked with until that ends. The answers are bytes that
/// many streams share, so that they are put on their way here, and not by a codec that would copy them.
fn open<I, F, C>(
    fleet: Arc<ServerState>,
    request: http::Request<Bytes>,
    converse: C,
) -> http::Response<Body>
where
    I: prost::Message + Default + 'static,
    F: Future<Output = Result<(), Status>> + Send + 'static,
    C: FnOnce(
            Arc<ServerState>,
            StreamPermit,
            RequestStream<Bytes, I>,
            Outgoing,
            Option<DrainSignal>,
        ) -> F
        + Send
        + 'static,
{
    let (head, body) = request.into_parts();
    if let Some(message) = explain_compression(head.headers.get("grpc-encoding")) {
        return Status::unimplemented(message).into_http();
    }
    let limits = ReadLimits { bytes: fleet.limits.max_request, patience: fleet.limits.stall };
    let incoming: RequestStream<Bytes, I> =
        RequestStream::new(body, limits, Arc::clone(&fleet.room));
    let (sender, receiver) = mpsc::channel(QUEUE);
    let leave = head.extensions.get::<DrainSignal>().cloned();
    tokio::spawn(async move {
        let ended = match fleet.acquire_stream_permit() {
            Some(admission) => converse(fleet, admission, incoming, sender.clone(), leave).await,
            None => Err(Status::resource_exhausted("there are as many streams as there may be")),
        };
        if let Err(status) = ended {
            tracing::info!(reason = status.message(), "ended a stream");
            let _ = sender.try_send(Err(status));
        }
    });
    MessageBody::new(receiver).into_response()
}

/// Talks with one client until either side ends the stream.
async fn converse<I: Incoming>(
    fleet: &Arc<ServerState>,
    admission: StreamPermit,
    (method, origin): (DiscoveryMethod, ClientOrigin),
    mut incoming: RequestStream<Bytes, I>,
    outgoing: &mpsc::Sender<Result<EncodedMessage, Status>>,
    leave: Option<DrainSignal>,
) -> Result<(), Status> {
    let Some(ReadRequest { request: mut first, room }) = incoming.next().await? else {
        return Ok(());
    };
    let said = first.take_node().unwrap_or_default();
    let asked = method.only.as_deref().unwrap_or(first.type_url()).to_owned();
    let listed = method.listed(first.take_versions());
    let group = fleet.assign_group(&said, &asked, listed).map_err(too_much)?;
    let node = said.brief();
    let place =
        match method.only.is_none() && !node.id.is_empty() {
            true => Some(fleet.lease_aggregated_stream(&node.id).ok_or_else(|| {
                Status::already_exists("this node has another aggregated stream")
            })?),
            false => None,
        };
    let guest = fleet.register_client(admission, node.clone(), origin);
    let options = Options {
        types: fleet.apis.types().clone(),
        only: method.only.clone(),
        is_ordered: fleet.is_ordered,
        max_names: fleet.limits.max_names,
        max_all_names: fleet.limits.max_all_names,
        drain: fleet.limits.client_drain_time_s,
        names: Arc::clone(&fleet.names),
        ..Options::default()
    };
    let talk = Arc::new(SharedSession::new(options));
    guest.attach_session(&talk);
    let mut stream = DiscoveryStream {
        group,
        counted: BTreeSet::new(),
        node: node.clone(),
        fleet,
        _guest: guest,
        talk,
        outgoing,
        only: method.only.clone(),
        view: None,
        warned: BTreeMap::new(),
    };
    tracing::info!(
        node = node.id,
        cluster = node.cluster,
        agent = node.user_agent(),
        transport = method.transport,
        "a client came"
    );
    let mut served = fleet.subscribe();
    let now = served.borrow_and_update().clone();
    stream.serve(&now).await?;
    stream.request(first.into_request(), room).await?;
    let gone = outgoing.closed();
    let superseded = superseded(place);
    let told = DrainSignal::wait_for_drain(leave);
    tokio::pin!(gone, superseded, told);
    let mut leaving: Option<Leaving> = None;
    loop {
        let wait = stream.talk.time_until_tick();
        let left = leaving.as_ref().map(|it| it.time_left(stream.talk.is_settled()));
        tokio::select! {
            next = incoming.next() => match next? {
                Some(ReadRequest { mut request, room }) => {
                    let listed = method.listed(request.take_versions());
                    if stream.learn(request.type_url(), listed)? {
                        let now = served.borrow().clone();
                        stream.serve(&now).await?;
                    }
                    stream.request(request.into_request(), room).await?;
                    leaving = leaving.map(Leaving::heard);
                }
                None => return Ok(()),
            },
            // Who is to leave gets what is new elsewhere, whole.
            changed = served.changed(), if leaving.is_none() => {
                if changed.is_err() {
                    return Ok(());
                }
                let now = served.borrow_and_update().clone();
                stream.serve(&now).await?;
            }
            () = &mut superseded => {
                increment(&fleet.counters.streams_superseded);
                return Err(Status::aborted("a newer stream of this node took the place of this one"));
            }
            () = sleep(wait.unwrap_or(Duration::MAX)), if wait.is_some() => {
                stream.step(Event::Tick).await?;
            }
            () = &mut gone => return Ok(()),
            () = &mut told, if leaving.is_none() => leaving = Some(Leaving::begin()),
            // What it was sent is complete, and the client asks for the rest elsewhere.
            () = sleep(left.unwrap_or(Duration::MAX)), if left.is_some() => return Ok(()),
        }
    }
}

/// The end of a stream whose client is to leave. A change that is half sent is completed first: a client
/// that has new routes and not yet their clusters could serve no requests until another server answers.
#[derive(Clone, Copy)]
struct Leaving {
    begun: Instant,
    heard: Instant,
}

impl Leaving {
    fn begin() -> Leaving {
        let now = Instant::now();
        Leaving { begun: now, heard: now }
    }

    /// The same after the client asked for something.
    fn heard(self) -> Leaving {
        Leaving { heard: Instant::now(), ..self }
    }

    /// Returns the time until the stream ends, if nothing happens before.
    fn time_left(&self, is_settled: bool) -> Duration {
        let longest = self.begun + LEAVE_PATIENCE;
        let end = if is_settled { longest.min(self.heard + LEAVE_SILENCE) } else { longest };
        end.saturating_duration_since(Instant::now())
    }
}

/// The status of a stream whose client wants more than clients may.
fn too_much(error: Error) -> Status {
    Status::resource_exhausted(error.to_string())
}

/// One stream, open.
struct DiscoveryStream<'f> {
    fleet: &'f ServerState,
    /// Until it is dropped, the stream is one of the fleet.
    _guest: ClientHandle,
    talk: Arc<SharedSession>,
    outgoing: &'f mpsc::Sender<Result<EncodedMessage, Status>>,
    node: Node,
    only: Option<Arc<str>>,
    /// The clients that understand the same as its client.
    group: Group,
    /// The types that were counted.
    counted: BTreeSet<String>,
    /// The view that its client is served.
    view: Option<Arc<View>>,
    /// The time at which a refusal was logged last, by type.
    warned: BTreeMap<String, Instant>,
}

impl Drop for DiscoveryStream<'_> {
    fn drop(&mut self) {
        tracing::info!(node = self.node.id, "a client went");
    }
}

/// Waits until another stream takes the place of this one, which may be never.
async fn superseded(place: Option<AggregatedLease>) {
    match place {
        Some(mut place) => place.superseded().await,
        None => std::future::pending().await,
    }
}

impl DiscoveryStream<'_> {
    async fn serve(&mut self, served: &Option<Arc<ServedResources>>) -> Result<(), Status> {
        let Some(view) = self.fleet.view(served, &self.node, &self.group) else { return Ok(()) };
        let changed = served.as_ref().and_then(|it| it.published());
        let actions = self.talk.set_snapshot(&view, &self.group, changed);
        self.view = Some(view);
        self.act(actions).await
    }

    /// Takes in what a request says about versions. Returns whether its client gets something else
    /// from now on.
    fn learn(&mut self, type_url: &str, listed: Vec<VersionedTypeUrl>) -> Result<bool, Status> {
        let learned = self.fleet.update_group(&self.group, type_url, listed);
        let Some(group) = learned.map_err(too_much)? else { return Ok(false) };
        self.group = group;
        Ok(true)
    }

    /// Takes a request in, and gives back its room before anything waits for its client.
    async fn request(
        &mut self,
        mut request: abide_xds::Request,
        room: Reservation,
    ) -> Result<(), Status> {
        let answered = self.group.terms.type_url(self.fleet.apis.types(), &request.type_url);
        let answered = answered.map_err(|error| Status::failed_precondition(error.to_string()))?;
        request.type_url = answered.to_string();
        let type_url = self.only.as_deref().unwrap_or(&request.type_url);
        // A client that refuses a type over and over is heard, but not every time.
        let is_heard = self.talk.has_sent(&request.nonce);
        let is_news = is_heard
            && self.warned.get(type_url).is_none_or(|it| it.elapsed() > REFUSAL_LOG_INTERVAL);
        if let Some(error) = request.error.as_ref().filter(|_| is_news) {
            self.warned.insert(type_url.to_owned(), Instant::now());
            tracing::warn!(
                node = self.node.id,
                r#type = truncate(type_url),
                nonce = truncate(&request.nonce),
                error = truncate(error),
                "a client refused a response"
            );
        }
        // Only the nonce says that a request answers a response (xDS, "ACK/NACK and versioning").
        let answer = match (&request.error, is_heard) {
            (Some(_), true) => Some(ResponseVerdict::Refused),
            (None, true) => Some(ResponseVerdict::Accepted),
            (_, false) => None,
        };
        self.fleet.counters.count_request(type_url, answer);
        self.talk.traffic.count_request(answer);
        let type_url = request.type_url.clone();
        let actions = self.talk.step(Event::Request(request));
        drop(room);
        if let Some(took) = self.talk.take_convergence() {
            self.fleet.counters.convergence.record(took);
        }
        self.act(actions).await?;
        let asked = self.only.as_deref().unwrap_or(&type_url);
        if !self.counted.contains(asked) {
            self.fleet.usage.count(&self.fleet.apis, asked);
            self.counted.insert(asked.to_owned());
        }
        Ok(())
    }

    async fn step(&mut self, event: Event) -> Result<(), Status> {
        let actions = self.talk.step(event);
        self.act(actions).await
    }

    async fn act(&mut self, actions: Vec<Action>) -> Result<(), Status> {
        for action in actions {
            match action {
                Action::Send(response) => {
                    tracing::debug!(
                        node = self.node.id,
                        r#type = &*response.type_url,
                        version = &*response.version,
                        resources = response.resources.len(),
                        removed = response.removed.len(),
                        "sent a response"
                    );
                    let counters = &self.fleet.counters;
                    let bytes =
                        counters.count_response(&response.type_url, response.resources.iter());
                    self.talk.traffic.count_response(bytes);
                    let encoded = self.fleet.encodings.encode(&response);
                    let Err(TrySendError::Full(encoded)) = self.outgoing.try_send(Ok(encoded))
                    else {
                        continue; // If the client is gone, this stream ends elsewhere.
                    };
                    let sent = timeout(self.fleet.limits.stall, self.outgoing.send(encoded));
                    if sent.await.is_err() {
                        increment(&self.fleet.counters.streams_stalled);
                        return Err(Status::deadline_exceeded("the client does not read"));
                    }
                }
                Action::Refused { type_url, refusal } => {
                    if let Some(view) = &self.view {
                        self.fleet.record_refusal(&self.node, view, &type_url, &refusal);
                    }
                }
                Action::End(StreamError::Invalid(message)) => {
                    return Err(Status::invalid_argument(message));
                }
                Action::End(StreamError::TooMuch(message)) => {
                    increment(&self.fleet.counters.streams_refused);
                    tracing::warn!(node = self.node.id, "a client asks for too much: {message}");
                    return Err(Status::resource_exhausted(message));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_found_by_their_paths_in_both_majors() {
        let types = Types::default();
        let at = |path: &str| {
            DiscoveryMethod::at(&types, path).unwrap_or_else(|| panic!("nothing at {path}"))
        };
        let ads =
            at("/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources");
        assert_eq!(ads, DiscoveryMethod { transport: "v3", only: None, is_delta: false });
        let ads =
            at("/envoy.service.discovery.v2.AggregatedDiscoveryService/DeltaAggregatedResources");
        assert_eq!(ads, DiscoveryMethod { transport: "v2", only: None, is_delta: true });
        let eds = at("/envoy.api.v2.EndpointDiscoveryService/StreamEndpoints");
        let only = Some("type.googleapis.com/envoy.api.v2.ClusterLoadAssignment".into());
        assert_eq!(eds, DiscoveryMethod { transport: "v2", only, is_delta: false });
        let rtds = at("/envoy.service.runtime.v3.RuntimeDiscoveryService/DeltaRuntime");
        assert!(rtds.is_delta);
        for nothing in [
            "/",
            "",
            "/envoy.service.discovery.v4.AggregatedDiscoveryService/StreamAggregatedResources",
            "/envoy.service.cluster.v3.ClusterDiscoveryService/FetchClusters",
            "/envoy.service.cluster.v3.ClusterDiscoveryService/StreamEndpoints",
            "/envoy.api.v2.AggregatedDiscoveryService/StreamAggregatedResources",
        ] {
            assert_eq!(DiscoveryMethod::at(&types, nothing), None, "{nothing}");
        }
    }
}
