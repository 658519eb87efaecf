//! A client under test: it is started with the address of a server that watches what it says.
//!
//! The server is a session as any client gets it. What a client says is held against the protocol at
//! each request ([`Watch`]), and the steps of a scenario say what else has to happen. They are written
//! as those of servers, with these verbs:
//!
//! - `asks TYPE NAMES`, `acks TYPES`, `nacks TYPES`: what the client has to do within the patience.
//! - `change TYPE`, `break TYPE`: other content, and content that nobody can read.
//! - `move`: the routes lead to another cluster, and the one before goes.
//! - `disconnect` ends its streams; `streams N` is how many it has; `quiet SECONDS` that it says
//!   nothing.

mod payload;

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::pin::Pin;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use abide_xds::wire::{DeltaDiscoveryRequest, DiscoveryRequest, Incoming};
use abide_xds::{Action, Event, Names, Options, Session, Snapshot};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::body::Body;
use tonic::{Status, Streaming};
use tonic_prost::ProstDecoder;
use tower_service::Service;

use self::payload::{World, find_place};
use crate::error::{ConformanceError, LineProblem, TableError};
use crate::play::{Outcome, Stop};
use crate::resources::Type;
use abide_transport::{EncodedMessage, EncodingCache, MessageBody};

/// The scenarios of this build.
const TABLE: &str = include_str!("client/scenarios.txt");

/// The number of listeners a client may name.
const MAX_LISTENERS: usize = 16;

/// A scenario for clients.
#[derive(Clone, Debug)]
pub struct ClientScenario {
    /// Its name, which no other has.
    pub name: String,
    /// The statements about the xDS protocol that it proves.
    pub proves: Vec<String>,
    /// What it is about: one phrase.
    pub summary: String,
    /// Each with its line.
    steps: Vec<(String, Step)>,
}

#[derive(Clone, Debug)]
enum Step {
    Asks(Type, Vec<String>),
    Acks(Vec<Type>),
    Nacks(Vec<Type>),
    Change(Type),
    Break(Type),
    Move,
    Disconnect,
    Streams(usize),
    Quiet(Duration),
}

impl ClientScenario {
    /// All of this build.
    ///
    /// # Errors
    /// A table that cannot be read.
    pub fn all() -> Result<Vec<ClientScenario>, TableError> {
        let mut all: Vec<ClientScenario> = Vec::new();
        for (number, line) in TABLE.lines().enumerate() {
            let failed = |problem| TableError { line: number + 1, problem };
            let line = line.trim();
            if let Some(head) = line.strip_prefix("# ") {
                all.push(ClientScenario::head(head).map_err(failed)?);
            } else if !line.is_empty() {
                let Some(scenario) = all.last_mut() else {
                    return Err(failed(LineProblem::BeforeScenario(line.to_owned())));
                };
                scenario.steps.push((line.to_owned(), Step::read(line).map_err(failed)?));
            }
        }
        Ok(all)
    }

    fn head(text: &str) -> Result<ClientScenario, LineProblem> {
        let [name, proves, summary] = *text.split(" | ").collect::<Vec<_>>() else {
            return Err(LineProblem::Head("# NAME | STATEMENTS | SUMMARY"));
        };
        let proves = proves.split_whitespace().map(str::to_owned).collect();
        let (name, summary) = (name.to_owned(), summary.to_owned());
        Ok(ClientScenario { name, proves, summary, steps: Vec::new() })
    }
}

impl Step {
    fn read(line: &str) -> Result<Step, LineProblem> {
        let mut words = line.split_whitespace();
        let verb = words.next().unwrap_or_default();
        let rest: Vec<&str> = words.collect();
        let number = || {
            let text = rest.first().copied().unwrap_or_default();
            text.parse::<u32>().map_err(|_| LineProblem::NoNumber(line.to_owned()))
        };
        let types = || rest.iter().map(|it| Type::named(it)).collect::<Result<Vec<Type>, _>>();
        let first = || Type::named(rest.first().copied().unwrap_or_default());
        Ok(match verb {
            "asks" => Step::Asks(first()?, rest[1..].iter().map(|&it| it.to_owned()).collect()),
            "acks" => Step::Acks(types()?),
            "nacks" => Step::Nacks(types()?),
            "change" => Step::Change(first()?),
            "break" => Step::Break(first()?),
            "move" => Step::Move,
            "disconnect" => Step::Disconnect,
            "streams" => Step::Streams(number()? as usize),
            "quiet" => Step::Quiet(Duration::from_secs(number()?.into())),
            _ => return Err(LineProblem::Step(verb.to_owned())),
        })
    }
}

/// The settings by which a client is started.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// The program and its arguments; `{address}` and `{bootstrap}` stand for those.
    pub command: Vec<String>,
    /// True if an Envoy is told to use the incremental variant.
    pub is_delta: bool,
    /// The time that anything may take.
    pub patience: Duration,
}

/// Everything that is known of a client, and what is wrong with it.
#[derive(Debug, Default)]
struct Watch {
    streams: BTreeMap<u64, BTreeMap<String, Talk>>,
    /// Streams whose first request came.
    introduced: BTreeSet<u64>,
    /// The version that the client accepted last, by type, over all streams.
    accepted: BTreeMap<String, String>,
    faults: Vec<String>,
    requests: u64,
}

/// The conversation about a type on a stream.
#[derive(Debug, Default)]
struct Talk {
    names: BTreeSet<String>,
    is_wildcard: bool,
    /// Nonces and versions of responses, oldest first; the last ones.
    sent: Vec<(String, String)>,
    acked: Option<String>,
    nacked: Option<String>,
}

impl Watch {
    /// Holds a request against the protocol.
    fn request(
        &mut self,
        stream: u64,
        has_node: bool,
        version: &str,
        request: &abide_xds::Request,
    ) {
        self.requests += 1;
        let mut fault = |what: String| {
            if self.faults.len() < 20 {
                self.faults.push(what);
            }
        };
        if self.introduced.insert(stream) && !has_node {
            fault("the first request of a stream has no node id (002-017)".to_owned());
        }
        let url = request.type_url.clone();
        let ty = Type::of_url(&url).map_or_else(|| url.clone(), |it| it.to_string());
        let talks = self.streams.entry(stream).or_default();
        let is_first = !talks.contains_key(&url);
        let talk = talks.entry(url.clone()).or_default();
        let is_whole = matches!(request.names, Names::Sotw(_));
        let accepted = self.accepted.get(&url).cloned().unwrap_or_default();
        if is_first && !request.nonce.is_empty() {
            fault(format!("the first {ty} request of a stream has the nonce `{}`", request.nonce));
        }
        if is_first && !version.is_empty() && version != accepted {
            fault(format!(
                "the first {ty} request has a version that it never accepted: `{version}`"
            ));
        }
        match &request.names {
            Names::Sotw(names) => {
                talk.is_wildcard = names.is_empty() && (is_first || talk.is_wildcard);
                talk.names = names.iter().cloned().collect();
            }
            Names::Delta { subscribe, unsubscribe, .. } => {
                talk.is_wildcard |= is_first && subscribe.is_empty();
                talk.names.extend(subscribe.iter().cloned());
                talk.names.retain(|name| !unsubscribe.contains(name));
            }
        }
        let answered = talk.sent.iter().find(|(nonce, _)| *nonce == request.nonce).cloned();
        let Some((nonce, sent)) = answered else {
            if !is_first && (is_whole || !request.nonce.is_empty()) {
                fault(format!("a {ty} request has a nonce of no response: `{}`", request.nonce));
            }
            return;
        };
        if let Some(error) = &request.error {
            if error.is_empty() {
                fault(format!("a {ty} refusal does not say what is wrong (002-022)"));
            }
            if is_whole && version != accepted {
                fault(format!(
                    "a {ty} refusal has the version `{version}`, not the last good one `{accepted}` (002-021)"
                ));
            }
            talk.nacked = Some(nonce);
        } else if !is_whole || version == sent {
            talk.acked = Some(nonce);
            self.accepted.insert(url, sent);
        } else if version != accepted {
            // With the version before, it is about names alone: it waits for something.
            fault(format!("a {ty} answer has the version `{version}`, not `{sent}` (002-020)"));
        }
    }

    fn response(&mut self, stream: u64, response: &abide_xds::Response) {
        let talks = self.streams.entry(stream).or_default();
        let talk = talks.entry(response.type_url.to_string()).or_default();
        if talk.sent.len() >= 64 {
            talk.sent.remove(0);
        }
        talk.sent.push((response.nonce.to_string(), response.version.to_string()));
    }

    /// Finds the conversation about a type on the newest stream that has it.
    fn talk(&self, ty: Type) -> Option<&Talk> {
        self.streams.values().rev().find_map(|talks| talks.get(&ty.url()))
    }

    fn has_asked(&self, ty: Type, names: &[String]) -> bool {
        let has = |talk: &Talk, name: &String| talk.is_wildcard || talk.names.contains(name);
        self.talk(ty).is_some_and(|talk| names.iter().all(|name| has(talk, name)))
    }

    fn has_answered(&self, ty: Type, is_accepted: bool) -> bool {
        self.talk(ty).is_some_and(|talk| {
            let answer = if is_accepted { &talk.acked } else { &talk.nacked };
            talk.sent.last().is_some_and(|(nonce, _)| answer.as_ref() == Some(nonce))
        })
    }

    fn said(&self) -> String {
        let Some((_, talks)) = self.streams.last_key_value() else {
            return "it never came".to_owned();
        };
        let of = talks.iter().map(|(url, talk)| {
            let ty = Type::of_url(url).map_or_else(|| url.clone(), |it| it.to_string());
            let last = talk.sent.last().map(|(nonce, _)| nonce);
            let answer = match last {
                None => "was sent nothing",
                Some(_) if talk.acked.as_ref() == last => "accepted",
                Some(_) if talk.nacked.as_ref() == last => "refused",
                Some(_) => "did not answer",
            };
            let names: Vec<&str> = talk.names.iter().map(|it| &**it).collect();
            format!("{ty} [{}] {answer}", names.join(" "))
        });
        of.collect::<Vec<_>>().join(", ")
    }
}

/// The state that all streams share.
#[derive(Clone)]
struct Stage {
    watch: Arc<Mutex<Watch>>,
    world: Arc<Mutex<World>>,
    served: watch::Sender<Arc<Snapshot>>,
    /// A change of the number ends all streams.
    round: watch::Sender<u64>,
    opened: Arc<Mutex<u64>>,
    encodings: Arc<EncodingCache>,
}

impl Stage {
    fn new() -> Stage {
        let world = World::default();
        let served = watch::Sender::new(Arc::new(world.snapshot()));
        Stage {
            watch: Arc::default(),
            world: Arc::new(Mutex::new(world)),
            served,
            round: watch::Sender::new(0),
            opened: Arc::default(),
            encodings: Arc::default(),
        }
    }

    fn watch<T>(&self, look: impl FnOnce(&mut Watch) -> T) -> T {
        look(&mut self.watch.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn change(&self, change: impl FnOnce(&mut World)) {
        let mut world = self.world.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut world);
        self.served.send_replace(Arc::new(world.snapshot()));
    }

    /// Serves the listeners that a client names: one that leads its requests to the routes.
    fn name_listeners(&self, request: &abide_xds::Request) {
        if Type::of_url(&request.type_url) != Type::named("lds").ok() {
            return;
        }
        let names = match &request.names {
            Names::Sotw(names) => names,
            Names::Delta { subscribe, .. } => subscribe,
        };
        let known = self.world.lock().unwrap_or_else(PoisonError::into_inner).listeners.clone();
        let new = names.iter().filter(|it| *it != "*" && !known.contains(it));
        let new: Vec<String> =
            new.take(MAX_LISTENERS.saturating_sub(known.len())).cloned().collect();
        if !new.is_empty() {
            self.change(|world| world.listeners.extend(new));
        }
    }
}

impl Service<http::Request<Body>> for Stage {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let stage = self.clone();
        Box::pin(async move {
            let path = request.uri().path();
            let method =
                path.strip_prefix("/envoy.service.discovery.v3.AggregatedDiscoveryService/");
            Ok(match method {
                Some("StreamAggregatedResources") => stage.stream::<DiscoveryRequest>(request),
                Some("DeltaAggregatedResources") => stage.stream::<DeltaDiscoveryRequest>(request),
                _ => Status::unimplemented(format!("there is no `{path}` here")).into_http(),
            })
        })
    }
}

impl Stage {
    fn stream<I: Incoming>(self, request: http::Request<Body>) -> http::Response<Body> {
        let body = request.into_body();
        let incoming: Streaming<I> =
            Streaming::new_request(ProstDecoder::default(), body, None, None);
        let (sender, receiver) = mpsc::channel(4);
        tokio::spawn(async move {
            if let Err(status) = converse(&self, incoming, &sender).await {
                // A client that is gone hears nothing.
                let _ = sender.try_send(Err(status));
            }
        });
        MessageBody::new(receiver).into_response()
    }
}

/// Talks on a stream of a client, and watches it.
async fn converse<I: Incoming>(
    stage: &Stage,
    mut incoming: Streaming<I>,
    outgoing: &mpsc::Sender<Result<EncodedMessage, Status>>,
) -> Result<(), Status> {
    let number = {
        let mut opened = stage.opened.lock().unwrap_or_else(PoisonError::into_inner);
        *opened += 1;
        *opened
    };
    stage.watch(|it| drop(it.streams.insert(number, BTreeMap::new())));
    let mut session = Session::new(Options::default());
    let begin = Instant::now();
    let mut round = stage.round.subscribe();
    let mut served = stage.served.subscribe();
    let now = served.borrow_and_update().clone();
    session.step(begin.elapsed(), Event::Snapshot(now));
    let ended = loop {
        let deadline = session.deadline().map(|it| it.saturating_sub(begin.elapsed()));
        let event = tokio::select! {
            message = incoming.message() => match message {
                Ok(Some(mut message)) => {
                    let has_node = message.take_node().is_some_and(|it| !it.id.is_empty());
                    let version = message.version().to_owned();
                    let request = message.into_request();
                    stage.name_listeners(&request);
                    stage.watch(|it| it.request(number, has_node, &version, &request));
                    Event::Request(request)
                }
                Ok(None) => break Ok(()),
                Err(status) => break Err(status),
            },
            _ = served.changed() => Event::Snapshot(served.borrow_and_update().clone()),
            _ = round.changed() => break Err(Status::unavailable("a scenario ends this stream")),
            () = tokio::time::sleep(deadline.unwrap_or_default()), if deadline.is_some() => Event::Tick,
            () = outgoing.closed() => break Ok(()),
        };
        for action in session.step(begin.elapsed(), event) {
            match action {
                Action::Send(response) => {
                    stage.watch(|it| it.response(number, &response));
                    if outgoing.send(Ok(stage.encodings.encode(&response))).await.is_err() {
                        break;
                    }
                }
                Action::Refused { .. } => {}
                Action::End(ending) => {
                    stage.watch(|it| it.faults.push(format!("it broke the protocol: {ending:?}")));
                }
            }
        }
    };
    stage.watch(|it| drop(it.streams.remove(&number)));
    ended
}

/// A running client. Dropping it ends it.
struct Running(Child);

impl Running {
    /// Returns the status with which it failed, if it did. One that ended well may have left
    /// another program behind.
    fn failure(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().ok()?.filter(|status| !status.success())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that ended already is no error.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Plays a scenario with a client of its own.
///
/// # Errors
/// A client that cannot be started.
pub fn play_client(
    scenario: &ClientScenario,
    options: &ClientOptions,
) -> Result<Outcome, ConformanceError> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime: Runtime = runtime.map_err(ConformanceError::Start)?;
    let stage = Stage::new();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"));
    let listener = listener.map_err(ConformanceError::Listen)?;
    let address = listener.local_addr().map_err(ConformanceError::Listen)?;
    let server = tonic::transport::Server::builder();
    let serving =
        server.clone().serve_with_incoming(stage.clone(), TcpListenerStream::new(listener));
    runtime.spawn(serving);
    let folder = std::env::temp_dir().join(format!("abide-conformance-{}", std::process::id()));
    let mut client = start(options, &address.to_string(), &folder)?;
    let result = scenario
        .steps
        .iter()
        .try_for_each(|(line, step)| step.play(line, &stage, &mut client, options.patience));
    let faults = stage.watch(|it| std::mem::take(&mut it.faults));
    let result = result.and(fail_if_any(&faults));
    drop(client);
    runtime.shutdown_background();
    // What is in it was for the client that ended.
    let _ = std::fs::remove_dir_all(&folder);
    Ok(Outcome::from(result))
}

/// Fails with everything that a client did against the protocol, if there is anything.
fn fail_if_any(faults: &[String]) -> Result<(), Stop> {
    match faults {
        [] => Ok(()),
        faults => Err(Stop::Fail(faults.join("; "))),
    }
}

impl Step {
    fn play(
        &self,
        line: &str,
        stage: &Stage,
        client: &mut Running,
        patience: Duration,
    ) -> Result<(), Stop> {
        let mut until = |line: &str, holds: &dyn Fn(&Watch) -> bool| {
            wait_until(stage, client, patience, line, holds)
        };
        match self {
            Step::Asks(ty, names) => until(line, &|it| it.has_asked(*ty, names)),
            Step::Acks(types) => {
                until(line, &|it| types.iter().all(|ty| it.has_answered(*ty, true)))
            }
            Step::Nacks(types) => {
                until(line, &|it| types.iter().all(|ty| it.has_answered(*ty, false)))
            }
            Step::Change(ty) | Step::Break(ty) => {
                let at = find_place(*ty);
                let before = stage.watch(|it| it.talk(*ty).map(|it| it.sent.len()));
                stage.change(|world| {
                    world.contents[at] += 1;
                    world.broken[at] = matches!(self, Step::Break(_));
                });
                until("the change goes out", &|it| it.talk(*ty).map(|it| it.sent.len()) > before)
            }
            Step::Move => {
                stage.change(|world| world.is_moved = true);
                Ok(())
            }
            Step::Disconnect => {
                stage.round.send_modify(|it| *it += 1);
                until("the client comes back", &|it| it.streams.values().any(|it| !it.is_empty()))
            }
            Step::Streams(count) => {
                let open = stage.watch(|it| it.streams.len());
                match open == *count {
                    true => Ok(()),
                    false => Err(Stop::Fail(format!("awaited `{line}`, but it has {open}"))),
                }
            }
            Step::Quiet(time) => {
                // What is on the way may arrive first.
                std::thread::sleep(Duration::from_millis(500));
                let before = stage.watch(|it| it.requests);
                std::thread::sleep(*time);
                match stage.watch(|it| it.requests - before) {
                    0 => Ok(()),
                    more => Err(Stop::Fail(format!("awaited `{line}`, but {more} requests came"))),
                }
            }
        }
    }
}

/// Waits until something holds, and fails at once if the client broke the protocol, or ended.
fn wait_until(
    stage: &Stage,
    client: &mut Running,
    patience: Duration,
    line: &str,
    holds: impl Fn(&Watch) -> bool,
) -> Result<(), Stop> {
    let begin = Instant::now();
    loop {
        let (faults, is_there, said) = stage.watch(|it| (it.faults.clone(), holds(it), it.said()));
        fail_if_any(&faults)?;
        if is_there {
            return Ok(());
        }
        if let Some(status) = client.failure() {
            return Err(Stop::Fail(format!("awaited `{line}`, but the client ended: {status}")));
        }
        if begin.elapsed() > patience {
            let failed = format!("awaited `{line}` within {patience:?}, but: {said}");
            return Err(Stop::Fail(failed));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Starts the client with its address and its bootstrap: that of gRPC in the environment, that of
/// Envoy as a file.
fn start(
    options: &ClientOptions,
    address: &str,
    folder: &std::path::Path,
) -> Result<Running, ConformanceError> {
    std::fs::create_dir_all(folder).map_err(ConformanceError::Client)?;
    let (grpc, envoy) = (folder.join("grpc.json"), folder.join("envoy.json"));
    std::fs::write(&grpc, render_grpc_bootstrap(address)).map_err(ConformanceError::Client)?;
    let text = render_envoy_bootstrap(address, options.is_delta);
    std::fs::write(&envoy, text).map_err(ConformanceError::Client)?;
    let fill = |it: &String| {
        it.replace("{address}", address).replace("{bootstrap}", &envoy.to_string_lossy())
    };
    let command: Vec<String> = options.command.iter().map(fill).collect();
    let (program, arguments) = command.split_first().ok_or(ConformanceError::NoCommand)?;
    let child = Command::new(program)
        .args(arguments)
        .env("GRPC_XDS_BOOTSTRAP", &grpc)
        .env("XDS_ADDRESS", address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let failed = |error| ConformanceError::ClientProgram { program: program.clone(), error };
    child.map(Running).map_err(failed)
}

fn render_grpc_bootstrap(address: &str) -> String {
    serde_json::json!({
        "xds_servers": [{
            "server_uri": address,
            "channel_creds": [{"type": "insecure"}],
            "server_features": ["xds_v3"],
        }],
        "node": {"id": "conformance", "cluster": "conformance", "locality": {"zone": "a"}},
    })
    .to_string()
}

fn render_envoy_bootstrap(address: &str, is_delta: bool) -> String {
    let (host, port) = address.rsplit_once(':').unwrap_or((address, "0"));
    let port: u16 = port.parse().unwrap_or_default();
    let ads = serde_json::json!({"ads": {}, "resource_api_version": "V3"});
    let protocol = "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
    let endpoint =
        serde_json::json!({"address": {"socket_address": {"address": host, "port_value": port}}});
    serde_json::json!({
        "node": {"id": "conformance", "cluster": "conformance"},
        "dynamic_resources": {
            "ads_config": {
                "api_type": if is_delta { "DELTA_GRPC" } else { "GRPC" },
                "transport_api_version": "V3",
                "grpc_services": [{"envoy_grpc": {"cluster_name": "xds"}}],
            },
            "cds_config": ads,
            "lds_config": ads,
        },
        "static_resources": {"clusters": [{
            "name": "xds",
            "type": "STATIC",
            "load_assignment": {
                "cluster_name": "xds",
                "endpoints": [{"lb_endpoints": [{"endpoint": endpoint}]}],
            },
            "typed_extension_protocol_options": {
                "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
                    "@type": protocol,
                    "explicit_http_config": {"http2_protocol_options": {}},
                },
            },
        }]},
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(nonce: &str, error: Option<&str>) -> abide_xds::Request {
        abide_xds::Request {
            type_url: Type::ENDPOINTS.url(),
            nonce: nonce.to_owned(),
            version: String::new(),
            error: error.map(str::to_owned),
            names: Names::Sotw(vec!["e".to_owned()]),
        }
    }

    #[test]
    fn the_table_of_clients_is_right() {
        let all = ClientScenario::all().expect("the table is right");
        assert!(
            all.len() >= 15 && all.iter().all(|it| !it.steps.is_empty() && !it.proves.is_empty())
        );
    }

    /// Each thing that a client may get wrong is found.
    #[test]
    fn clients_that_break_the_protocol_are_found() {
        let answer = |version: &str, nonce: &str, error: Option<&str>| {
            let mut watch = Watch::default();
            watch.request(1, true, "", &request("", None));
            let talk =
                watch.streams.entry(1).or_default().entry(Type::ENDPOINTS.url()).or_default();
            talk.sent.push(("n1".to_owned(), "v1".to_owned()));
            watch.request(1, false, "v1", &request("n1", None));
            assert!(watch.faults.is_empty() && watch.has_answered(Type::ENDPOINTS, true));
            let talk =
                watch.streams.entry(1).or_default().entry(Type::ENDPOINTS.url()).or_default();
            talk.sent.push(("n2".to_owned(), "v2".to_owned()));
            watch.request(1, false, version, &request(nonce, error));
            watch.faults.concat()
        };
        assert_eq!(answer("v2", "n2", None), "");
        assert_eq!(answer("v1", "n2", Some("no")), "");
        assert_eq!(answer("v1", "n2", None), "", "it asks for names, and answers later");
        assert!(answer("v3", "n2", None).contains("002-020"));
        assert!(answer("v2", "n2", Some("no")).contains("002-021"));
        assert!(answer("v1", "n2", Some("")).contains("002-022"));
        assert!(answer("v2", "n9", None).contains("a nonce of no response"));
        let mut watch = Watch::default();
        watch.request(1, false, "v9", &request("n9", None));
        assert_eq!(watch.faults.len(), 3, "{:?}", watch.faults);
    }
}
