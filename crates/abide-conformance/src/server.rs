//! A server under test, over the network: gRPC, REST, and a way to change what it serves.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use abide_xds::Names;
use abide_xds::wire::{
    DeltaDiscoveryRequest, DeltaDiscoveryResponse, DiscoveryRequest, DiscoveryResponse, Node,
};
use bytes::Bytes;
use hyper::{Method, StatusCode};
use prost::Message;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::ReceiverStream;
use tonic::client::Grpc;
use tonic::transport::Endpoint;
use tonic::{Code, Status};
use tonic_prost::ProstCodec;

use crate::error::{Absence, ChangeError, ConformanceError};
use crate::message::{Arrival, Ask, Received, ReceivedResource, StreamEnd};
use crate::play::{Outcome, Rules, Stop, Stream, Target, play};
use crate::resources::{MARK, Served, Type, render_messages};
use crate::scenario::{Scenario, Way};
use abide_transport::{describe_chain, read_body, send_request};

/// Responses that nobody looked at yet; a server that sends more has to wait.
const QUEUE: usize = 256;
/// The number of bytes the answer to a poll may have.
const MAX_ANSWER: usize = 16 << 20;
/// The time that the scenarios of a run may wait at once, unless slow ones are wanted.
const SHORT: Duration = Duration::from_secs(2);

/// The first bytes of a client of HTTP/2: that it is one, and that it sets nothing.
const GREETING: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
/// The type of the frame that a server answers with, and where it stands in the head of a frame.
const SETTINGS: u8 = 4;
const TYPE_AT: usize = 3;
/// The number of bytes that stand before a frame.
const FRAME_HEAD: usize = 9;

/// The way in which a server is told what to serve.
#[derive(Clone, Debug)]
pub enum Changes {
    /// It reads this folder: a file there is replaced.
    Folder(PathBuf),
    /// This command gets the resources on its standard input, and ends when the server has them.
    Command(String),
}

/// The addresses of a server, and how it is treated.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Its gRPC services: `HOST:PORT`.
    pub grpc: String,
    /// Its long polling: `HOST:PORT`.
    pub rest: Option<String>,
    /// The way in which it is told what to serve.
    pub changes: Changes,
    /// The time that it may take to serve a change.
    pub patience: Duration,
    /// True if scenarios may wait for long.
    pub is_slow: bool,
    /// The id of the client that follows changes.
    pub node_id: String,
}

/// A server under test.
pub struct Server {
    runtime: Runtime,
    options: ServerOptions,
    endpoint: Endpoint,
    streams: BTreeMap<usize, Open>,
    opened: usize,
    arrivals: mpsc::Receiver<(usize, Arrival)>,
    arrived: mpsc::Sender<(usize, Arrival)>,
    probe: Option<Probe>,
    changes: u16,
    /// True if it was found to speak HTTP/2.
    is_greeted: bool,
    /// An explanation why there is nobody to play with, once that is known.
    absent: Option<Absence>,
}

/// An open stream. Dropping it ends it.
struct Open {
    asks: mpsc::UnboundedSender<Ask>,
    task: JoinHandle<()>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A client that follows the mark, to know which change is served.
struct Probe {
    stream: Open,
    arrivals: mpsc::Receiver<(usize, Arrival)>,
    body: Bytes,
}

impl Server {
    /// Prepares to play with a server, and does not connect to it yet.
    ///
    /// # Errors
    /// An address that is none.
    pub fn new(options: ServerOptions) -> Result<Server, ConformanceError> {
        let endpoint = Endpoint::from_shared(format!("http://{}", options.grpc));
        let endpoint = endpoint.map_err(|error| ConformanceError::Address {
            address: options.grpc.clone(),
            reason: error.to_string(),
        })?;
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(ConformanceError::Start)?;
        let (arrived, arrivals) = mpsc::channel(QUEUE);
        let endpoint = endpoint.connect_timeout(options.patience);
        let (streams, opened) = (BTreeMap::new(), 0);
        Ok(Server {
            runtime,
            options,
            endpoint,
            streams,
            opened,
            arrivals,
            arrived,
            probe: None,
            changes: 0,
            is_greeted: false,
            absent: None,
        })
    }

    /// Plays a scenario in one way.
    ///
    /// # Errors
    /// Nobody there speaks the protocol.
    pub fn play(
        &mut self,
        scenario: &Scenario,
        way: Way,
        rules: &Rules,
    ) -> Result<Outcome, ConformanceError> {
        self.check_presence()?;
        let outcome = play(scenario, way, self, rules);
        // Some servers speak gRPC, and have no such service.
        self.check_presence()?;
        Ok(outcome)
    }

    /// Checks that somebody there speaks the protocol, as far as that is known by now.
    fn check_presence(&mut self) -> Result<(), ConformanceError> {
        if !self.is_greeted {
            self.absent = greet(&self.options.grpc, self.options.patience).err();
            self.is_greeted = true;
        }
        match &self.absent {
            None => Ok(()),
            Some(absence) => {
                let (address, absence) = (self.options.grpc.clone(), absence.clone());
                Err(ConformanceError::NoServer { address, absence })
            }
        }
    }

    /// Opens a stream whose responses go to a channel.
    fn connect(
        &self,
        stream: &Stream,
        number: usize,
        arrived: mpsc::Sender<(usize, Arrival)>,
    ) -> Open {
        let (asks, asked) = mpsc::unbounded_channel();
        let endpoint = self.endpoint.clone();
        let path = build_stream_path(stream);
        let rest = self.options.rest.clone().filter(|_| stream.is_rest);
        let is_delta = stream.is_delta;
        let task = self.runtime.spawn(async move {
            let ended = match (rest, is_delta) {
                (Some(rest), _) => poll(&rest, &path, asked, number, &arrived).await,
                (None, false) => {
                    talk::<DiscoveryRequest, DiscoveryResponse>(
                        endpoint, &path, asked, number, &arrived,
                    )
                    .await
                }
                (None, true) => {
                    talk::<DeltaDiscoveryRequest, DeltaDiscoveryResponse>(
                        endpoint, &path, asked, number, &arrived,
                    )
                    .await
                }
            };
            let _ = arrived.send((number, Arrival::End(ended))).await;
        });
        Open { asks, task }
    }

    /// The probe, asked for the mark.
    fn probe(&mut self) -> &mut Probe {
        if self.probe.is_none() {
            let (arrived, arrivals) = mpsc::channel(QUEUE);
            let ads = Stream { only: None, is_delta: false, is_rest: false };
            let stream = self.connect(&ads, 0, arrived);
            let node = Node { id: self.options.node_id.clone(), ..Node::default() };
            let _ = stream.asks.send(Ask {
                node: Some(node),
                type_url: Type::ENDPOINTS.url(),
                version: String::new(),
                nonce: String::new(),
                error: None,
                names: Names::Sotw(vec![MARK.to_owned()]),
            });
            self.probe = Some(Probe { stream, arrivals, body: Bytes::new() });
        }
        self.probe.as_mut().expect("it was put there")
    }

    /// Waits until the probe gets another mark than the last one.
    fn follow(&mut self) -> Result<(), Stop> {
        let patience = self.options.patience;
        let end = Instant::now() + patience;
        let handle = self.runtime.handle().clone();
        let probe = self.probe();
        loop {
            let next = handle.block_on(async {
                tokio::time::timeout_at(end.into(), probe.arrivals.recv()).await
            });
            let response = match next {
                Ok(Some((_, Arrival::Response(response)))) => response,
                Ok(Some((_, Arrival::End(why)))) => {
                    if let StreamEnd::Unimplemented(reason) = &why {
                        self.absent = Some(Absence::Unimplemented(reason.clone()));
                    }
                    self.probe = None;
                    return Err(Stop::Fail(format!(
                        "the stream that follows changes ended: {why}"
                    )));
                }
                Ok(None) | Err(_) => {
                    return Err(Stop::Fail(format!(
                        "a change was not served within {patience:?}: the endpoints `{MARK}` say so; \
                         `--patience` waits longer"
                    )));
                }
            };
            let _ = probe.stream.asks.send(Ask {
                node: None,
                type_url: response.type_url,
                version: response.version,
                nonce: response.nonce,
                error: None,
                names: Names::Sotw(vec![MARK.to_owned()]),
            });
            let mark = response.resources.into_iter().find(|it| it.name == MARK);
            if let Some(mark) = mark.filter(|it| it.body != probe.body) {
                probe.body = mark.body;
                return Ok(());
            }
        }
    }
}

impl Target for Server {
    fn serve(&mut self, served: &Served) -> Result<(), Stop> {
        self.changes = self.changes % 50_000 + 1;
        // A server that has nothing yet must not answer with the change that comes.
        let changed = self.options.changes.apply(&render_messages(served, self.changes));
        changed.map_err(|error| Stop::Fail(error.to_string()))?;
        self.follow()
    }

    fn open(&mut self, stream: &Stream) -> Result<usize, Stop> {
        if stream.is_rest && self.options.rest.is_none() {
            return Err(Stop::Skip("no `--rest ADDR` was given".to_owned()));
        }
        self.opened += 1;
        let open = self.connect(stream, self.opened, self.arrived.clone());
        self.streams.insert(self.opened, open);
        Ok(self.opened)
    }

    fn send(&mut self, stream: usize, ask: Ask) {
        if let Some(open) = self.streams.get(&stream) {
            // A stream that ended says so by what arrives.
            let _ = open.asks.send(ask);
        }
    }

    fn next(&mut self, within: Duration) -> Option<(usize, Arrival)> {
        let arrivals = &mut self.arrivals;
        self.runtime.block_on(async { tokio::time::timeout(within, arrivals.recv()).await }).ok()?
    }

    fn close(&mut self, stream: usize) {
        self.streams.remove(&stream);
    }

    fn wait(&mut self, time: Duration) -> Result<(), Stop> {
        if time > SHORT && !self.options.is_slow {
            return Err(Stop::Skip(format!("it waits {time:?}; `--slow` plays it")));
        }
        // A little more, for the other side counts from a later moment.
        std::thread::sleep(time + Duration::from_millis(100));
        Ok(())
    }
}

/// Greets a server of HTTP/2, and waits for its greeting.
fn greet(address: &str, patience: Duration) -> Result<(), Absence> {
    // No time at all would be without end.
    let patience = patience.max(Duration::from_millis(1));
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => Absence::Silent(patience),
        ErrorKind::UnexpectedEof => Absence::Closes,
        _ => Absence::Broken(error.to_string()),
    };
    let mut stream = connect(address, patience).map_err(failed)?;
    let mut head = [0; FRAME_HEAD];
    let read = stream.set_read_timeout(Some(patience)).and_then(|()| stream.write_all(GREETING));
    read.and_then(|()| stream.read_exact(&mut head)).map_err(failed)?;
    match head[TYPE_AT] == SETTINGS {
        true => Ok(()),
        false => Err(Absence::NotHttp2),
    }
}

/// A connection to the first of the addresses of a name that takes it.
fn connect(address: &str, patience: Duration) -> std::io::Result<TcpStream> {
    let mut failed = ErrorKind::AddrNotAvailable.into();
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(stream) => return Ok(stream),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

impl Changes {
    fn apply(&self, messages: &[Value]) -> Result<(), ChangeError> {
        // JSON is YAML.
        let text: String = messages.iter().map(|it| format!("---\n{it}\n")).collect();
        match self {
            Changes::Folder(folder) => replace_file(folder, &text),
            Changes::Command(command) => run_change_command(command, &text),
        }
    }
}

/// Moves a file with these resources into place.
fn replace_file(folder: &Path, text: &str) -> Result<(), ChangeError> {
    let (beside, place) = (folder.join(".conformance.yaml"), folder.join("conformance.yaml"));
    let moved = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, &place));
    moved.map_err(|error| ChangeError::File { place, error })
}

/// Runs a command that reads these resources.
fn run_change_command(command: &str, text: &str) -> Result<(), ChangeError> {
    let failed = |error| ChangeError::Command { command: command.to_owned(), error };
    let mut shell = Command::new("sh");
    let child = shell.args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
    let mut child = child.map_err(failed)?;
    let written = match child.stdin.take() {
        Some(mut input) => input.write_all(text.as_bytes()),
        None => Ok(()),
    };
    let status = child.wait().map_err(failed)?;
    match status.success() {
        false => Err(ChangeError::Failed { command: command.to_owned(), status }),
        true => written.map_err(|error| ChangeError::Unread { command: command.to_owned(), error }),
    }
}

/// The path of a stream.
fn build_stream_path(stream: &Stream) -> String {
    let Some(only) = stream.only else {
        let method = if stream.is_delta { "Delta" } else { "Stream" };
        return format!(
            "/envoy.service.discovery.v3.AggregatedDiscoveryService/{method}AggregatedResources"
        );
    };
    let ty = only.resource_type().entry;
    if stream.is_rest {
        return format!("/v3/discovery:{}", ty.rest.unwrap_or_default());
    }
    let method = if stream.is_delta { "Delta" } else { "Stream" };
    let [_, service] = ty.services.map(Option::unwrap_or_default);
    format!("/{service}/{method}{}", ty.methods.unwrap_or_default())
}

/// Talks on a stream until it ends. Returns why it did.
async fn talk<Q, R>(
    endpoint: Endpoint,
    path: &str,
    mut asked: mpsc::UnboundedReceiver<Ask>,
    number: usize,
    arrived: &mpsc::Sender<(usize, Arrival)>,
) -> StreamEnd
where
    Q: Message + Default + From<Ask> + 'static,
    R: Message + Default + Into<Received> + 'static,
{
    let Ok(path) = path.parse() else {
        return StreamEnd::Closed(format!("`{path}` is not a path"));
    };
    let channel = match endpoint.connect().await {
        Ok(channel) => channel,
        Err(error) => return StreamEnd::Closed(describe_chain(&error)),
    };
    let mut grpc = Grpc::new(channel).max_decoding_message_size(usize::MAX);
    if let Err(error) = grpc.ready().await {
        return StreamEnd::Closed(describe_chain(&error));
    }
    let (requests, sent) = mpsc::channel::<Q>(1);
    let codec = ProstCodec::<Q, R>::default();
    // Some servers answer with headers only when they have a response.
    let opening = grpc.streaming(tonic::Request::new(ReceiverStream::new(sent)), path, codec);
    tokio::pin!(opening);
    let mut responses = loop {
        tokio::select! {
            opened = &mut opening => match opened {
                Ok(opened) => break opened.into_inner(),
                Err(status) => return end_with(&status),
            },
            ask = asked.recv() => match ask {
                Some(ask) => drop(requests.send(ask.into()).await),
                None => return StreamEnd::closed("the client left"),
            },
        }
    };
    loop {
        tokio::select! {
            message = responses.message() => match message {
                Ok(Some(message)) => {
                    let response = Arrival::Response(message.into());
                    if arrived.send((number, response)).await.is_err() {
                        return StreamEnd::closed("the client left");
                    }
                }
                Ok(None) => return StreamEnd::closed("the server ended it"),
                Err(status) => return end_with(&status),
            },
            ask = asked.recv() => match ask {
                Some(ask) => drop(requests.send(ask.into()).await),
                None => return StreamEnd::closed("the client left"),
            },
        }
    }
}

fn end_with(status: &Status) -> StreamEnd {
    let reason = format!("{:?}: {}", status.code(), status.message());
    match status.code() {
        Code::Unimplemented => StreamEnd::Unimplemented(reason),
        _ => StreamEnd::Closed(reason),
    }
}

/// Polls with the newest request, again and again while nothing is new. Returns why it ended.
async fn poll(
    address: &str,
    path: &str,
    mut asked: mpsc::UnboundedReceiver<Ask>,
    number: usize,
    arrived: &mpsc::Sender<(usize, Arrival)>,
) -> StreamEnd {
    let Some(mut ask) = asked.recv().await else { return StreamEnd::closed("the client left") };
    loop {
        let answer = tokio::select! {
            answer = poll_once(address, path, render_poll(&ask)) => answer,
            newer = asked.recv() => match newer {
                Some(newer) => {
                    ask = newer;
                    continue;
                }
                None => return StreamEnd::closed("the client left"),
            },
        };
        match answer {
            Ok(None) => {}
            Ok(Some(response)) => {
                let response = Arrival::Response(response);
                if arrived.send((number, response)).await.is_err() {
                    return StreamEnd::closed("the client left");
                }
                match asked.recv().await {
                    Some(newer) => ask = newer,
                    None => return StreamEnd::closed("the client left"),
                }
            }
            Err(end) => return end,
        }
    }
}

/// The request of a poll, in the JSON mapping.
fn render_poll(ask: &Ask) -> String {
    let Names::Sotw(names) = &ask.names else { return "{}".to_owned() };
    let node = ask.node.as_ref().map_or("", |it| &it.id);
    let node = json!({"id": node, "cluster": "conformance"});
    json!({
        "node": node, "type_url": ask.type_url, "version_info": ask.version, "resource_names": names,
    })
    .to_string()
}

/// One poll. `None` is no change.
async fn poll_once(address: &str, path: &str, body: String) -> Result<Option<Received>, StreamEnd> {
    let failed = |error: &dyn std::fmt::Display| {
        StreamEnd::Closed(format!("polling {address}{path}: {error}"))
    };
    let response = send_request(address, Method::POST, path, body.into()).await;
    let response = response.map_err(|error| failed(&error))?;
    match response.status() {
        StatusCode::OK => {}
        StatusCode::NOT_MODIFIED => return Ok(None),
        status => return Err(failed(&status)),
    }
    let bytes = read_body(response, MAX_ANSWER).await.map_err(|error| failed(&error))?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| failed(&error))?;
    let text = |value: &Value, names: [&str; 2]| {
        let found = names.iter().find_map(|name| value[*name].as_str());
        found.unwrap_or_default().to_owned()
    };
    let resources = value["resources"].as_array().into_iter().flatten();
    let resources = resources.map(|it| {
        let name = match &it["name"] {
            Value::String(name) => name.clone(),
            _ => text(it, ["clusterName", "cluster_name"]),
        };
        ReceivedResource { name, version: String::new(), body: it.to_string().into() }
    });
    Ok(Some(Received {
        type_url: text(&value, ["typeUrl", "type_url"]),
        version: text(&value, ["versionInfo", "version_info"]),
        nonce: String::new(),
        resources: resources.collect(),
        removed: Vec::new(),
    }))
}
