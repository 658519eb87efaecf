//! The discovery services over gRPC.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use abide_xds::{Action, Ending, Event, Options, Service as Discovery, Session, View};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_stream::wrappers::ReceiverStream;
use tonic::body::Body;
use tonic::server::{Grpc, StreamingService};
use tonic::{Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;
use tower_service::Service;

use crate::fleet::{Fleet, Guest, count};
use crate::traffic::Count;
use crate::wire::{DeltaDiscoveryRequest, DiscoveryRequest, Incoming, brief};

/// Responses that wait for a slow reader; one more waits in the session.
const QUEUE: usize = 2;

/// The discovery services of both majors, found by path.
#[derive(Clone)]
pub(crate) struct DiscoveryServices {
    fleet: Arc<Fleet>,
}

/// A method, as its path says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Method {
    transport: &'static str,
    /// The only type of its streams.
    only: Option<Arc<str>>,
    is_delta: bool,
}

impl Method {
    fn at(path: &str) -> Option<Method> {
        let (service, method) = path.strip_prefix('/')?.split_once('/')?;
        let (package, service) = service.rsplit_once('.')?;
        let (is_delta, plural) = match method.strip_prefix("Delta") {
            Some(plural) => (true, plural),
            None => (false, method.strip_prefix("Stream")?),
        };
        let major = |package: &str| if package.ends_with(".v3") { "v3" } else { "v2" };
        if service == "AggregatedDiscoveryService" && plural == "AggregatedResources" {
            let is_ours = package.strip_prefix("envoy.service.discovery.");
            is_ours.filter(|it| ["v2", "v3"].contains(it))?;
            return Some(Method { transport: major(package), only: None, is_delta });
        }
        Discovery::ALL.iter().find_map(|it| {
            let at = it.packages.iter().position(|own| *own == package)?;
            let is_it = it.name == service && it.plural == plural;
            let only = it.type_url(if at == 1 { 3 } else { 2 }).filter(|_| is_it)?;
            Some(Method { transport: major(package), only: Some(only.into()), is_delta })
        })
    }
}

impl DiscoveryServices {
    pub(crate) fn new(fleet: Arc<Fleet>) -> DiscoveryServices {
        DiscoveryServices { fleet }
    }
}

impl Service<http::Request<Body>> for DiscoveryServices {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let fleet = Arc::clone(&self.fleet);
        Box::pin(async move {
            let Some(method) = Method::at(request.uri().path()) else {
                let path = request.uri().path();
                return Ok(Status::unimplemented(format!("there is no `{path}` here")).into_http());
            };
            Ok(match method.is_delta {
                true => stream::<DeltaDiscoveryRequest>(fleet, method, request).await,
                false => stream::<DiscoveryRequest>(fleet, method, request).await,
            })
        })
    }
}

async fn stream<I: Incoming>(
    fleet: Arc<Fleet>,
    method: Method,
    request: http::Request<Body>,
) -> http::Response<Body> {
    let codec = ProstCodec::<I::Outgoing, I>::default();
    let limit = fleet.limits.max_request;
    let grpc = Grpc::new(codec).max_decoding_message_size(limit);
    let mut grpc = grpc.max_encoding_message_size(usize::MAX);
    grpc.streaming(Opening { fleet, method }, request).await
}

/// A stream that a client opens.
struct Opening {
    fleet: Arc<Fleet>,
    method: Method,
}

impl<I: Incoming> StreamingService<I> for Opening {
    type Response = I::Outgoing;
    type ResponseStream = ReceiverStream<Result<I::Outgoing, Status>>;
    type Future = Ready<Result<Response<Self::ResponseStream>, Status>>;

    fn call(&mut self, request: Request<Streaming<I>>) -> Self::Future {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let (fleet, method) = (Arc::clone(&self.fleet), self.method.clone());
        tokio::spawn(async move {
            if let Err(status) = converse(&fleet, method, request.into_inner(), &sender).await {
                tracing::info!(reason = status.message(), "ended a stream");
                let _ = sender.try_send(Err(status));
            }
        });
        ready(Ok(Response::new(ReceiverStream::new(receiver))))
    }
}

/// Talks with one client until either side ends the stream.
async fn converse<I: Incoming>(
    fleet: &Arc<Fleet>,
    method: Method,
    mut incoming: Streaming<I>,
    outgoing: &mpsc::Sender<Result<I::Outgoing, Status>>,
) -> Result<(), Status> {
    let stall = fleet.limits.stall;
    let first = timeout(stall, incoming.message()).await;
    let first = first.map_err(|_| Status::deadline_exceeded("no request came"))??;
    let Some(mut first) = first else { return Ok(()) };
    let node = first.take_node().unwrap_or_default().brief();
    let too_many = || Status::resource_exhausted("there are as many streams as there may be");
    let guest = fleet.enter(node.clone(), method.transport).ok_or_else(too_many)?;
    let options = Options {
        only: method.only.clone(),
        is_ordered: fleet.is_ordered,
        max_names: fleet.limits.max_names,
        ..Options::default()
    };
    let mut stream = Stream {
        fleet,
        guest,
        session: Session::new(options),
        begin: Instant::now(),
        outgoing,
        id: node.id.clone(),
        only: method.only.clone(),
    };
    tracing::info!(
        node = node.id,
        cluster = node.cluster,
        agent = node.user_agent(),
        transport = method.transport,
        "a client came"
    );
    let first = first.into_request();
    let only = method.only;
    let asked = only.as_deref().unwrap_or(&first.type_url);
    let group = fleet.apis.group_of(&node, asked);
    let mut served = fleet.watch();
    let now = served.borrow_and_update().clone();
    stream.serve(fleet.view(&now, &node, group)).await?;
    stream.request(first).await?;
    loop {
        let deadline = stream.session.deadline();
        let wait = deadline.map(|it| it.saturating_sub(stream.begin.elapsed()));
        tokio::select! {
            message = incoming.message() => match message? {
                Some(message) => stream.request(message.into_request()).await?,
                None => return Ok(()),
            },
            changed = served.changed() => {
                if changed.is_err() {
                    return Ok(());
                }
                let now = served.borrow_and_update().clone();
                stream.serve(fleet.view(&now, &node, group)).await?;
            }
            () = sleep(wait.unwrap_or(Duration::MAX)), if wait.is_some() => {
                stream.step(Event::Tick).await?;
            }
            () = outgoing.closed() => return Ok(()),
        }
    }
}

/// One stream, open.
struct Stream<'f, O> {
    fleet: &'f Fleet,
    guest: Guest,
    session: Session,
    begin: Instant,
    outgoing: &'f mpsc::Sender<Result<O, Status>>,
    id: String,
    only: Option<Arc<str>>,
}

impl<O> Drop for Stream<'_, O> {
    fn drop(&mut self) {
        tracing::info!(node = self.id, "a client went");
    }
}

impl<O: From<abide_xds::Response>> Stream<'_, O> {
    async fn serve(&mut self, view: Option<Arc<View>>) -> Result<(), Status> {
        let Some(view) = view else { return Ok(()) };
        self.guest.see(&view);
        self.step(Event::Snapshot(Arc::clone(&view.snapshot))).await
    }

    async fn request(&mut self, request: abide_xds::Request) -> Result<(), Status> {
        count(&self.fleet.counters.requests);
        let type_url = self.only.as_deref().unwrap_or(&request.type_url);
        let traffic = &self.fleet.counters.traffic;
        traffic.add(type_url, Count::Requests, 1);
        if let Some(error) = &request.error {
            count(&self.fleet.counters.nacks);
            traffic.add(type_url, Count::Nacks, 1);
            tracing::warn!(
                node = self.id,
                r#type = brief(type_url),
                nonce = brief(&request.nonce),
                error = brief(error),
                "a client refused a response"
            );
        } else if !request.nonce.is_empty() {
            traffic.add(type_url, Count::Acks, 1);
        }
        self.step(Event::Request(request)).await
    }

    async fn step(&mut self, event: Event) -> Result<(), Status> {
        for action in self.session.step(self.begin.elapsed(), event) {
            match action {
                Action::Send(response) => {
                    tracing::debug!(
                        node = self.id,
                        r#type = &*response.type_url,
                        version = &*response.version,
                        resources = response.resources.len(),
                        removed = response.removed.len(),
                        "sent a response"
                    );
                    count(&self.fleet.counters.responses);
                    let traffic = &self.fleet.counters.traffic;
                    let bytes = response.resources.iter().map(|it| it.body.len()).sum();
                    traffic.add(&response.type_url, Count::Responses, 1);
                    traffic.add(&response.type_url, Count::Resources, response.resources.len());
                    traffic.add(&response.type_url, Count::Bytes, bytes);
                    let sent =
                        timeout(self.fleet.limits.stall, self.outgoing.send(Ok(response.into())));
                    if sent.await.is_err() {
                        count(&self.fleet.counters.streams_stalled);
                        return Err(Status::deadline_exceeded("the client does not read"));
                    }
                }
                Action::End(Ending::Invalid(message)) => {
                    return Err(Status::invalid_argument(message));
                }
                Action::End(Ending::TooMuch(message)) => {
                    return Err(Status::resource_exhausted(message));
                }
            }
        }
        self.guest.update(self.session.status());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_found_by_their_paths_in_both_majors() {
        let at = |path: &str| Method::at(path).unwrap_or_else(|| panic!("nothing at {path}"));
        let ads =
            at("/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources");
        assert_eq!(ads, Method { transport: "v3", only: None, is_delta: false });
        let ads =
            at("/envoy.service.discovery.v2.AggregatedDiscoveryService/DeltaAggregatedResources");
        assert_eq!(ads, Method { transport: "v2", only: None, is_delta: true });
        let eds = at("/envoy.api.v2.EndpointDiscoveryService/StreamEndpoints");
        let only = Some("type.googleapis.com/envoy.api.v2.ClusterLoadAssignment".into());
        assert_eq!(eds, Method { transport: "v2", only, is_delta: false });
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
            assert_eq!(Method::at(nothing), None, "{nothing}");
        }
    }
}
