//! A running server, its folder, and clients of it.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;

use abide_xds::wire::{
    DeltaDiscoveryRequest, DeltaDiscoveryResponse, DiscoveryRequest, DiscoveryResponse, Node,
};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::client::Grpc;
use tonic::transport::Channel;
use tonic::{Request, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::waiting::{LONG, Log, unless_it_hangs};

pub(crate) const CDS: &str = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
pub(crate) const EDS: &str = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
pub(crate) const RTDS: &str = "type.googleapis.com/envoy.service.runtime.v3.Runtime";
pub(crate) const RTDS_V2: &str = "type.googleapis.com/envoy.service.discovery.v2.Runtime";
pub(crate) const CDS_V2: &str = "type.googleapis.com/envoy.api.v2.Cluster";

/// Where the API of the example is.
pub(crate) fn example(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("example").join(part)
}

/// The API of the example in a folder, each file changed by its name.
pub(crate) fn api_with(change: impl Fn(&str, String) -> String) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for entry in std::fs::read_dir(example("api")).expect("it is there") {
        let path = entry.expect("it is there").path();
        let name = path.file_name().expect("a name").to_str().expect("a text");
        let text = std::fs::read_to_string(&path).expect("text");
        std::fs::write(folder.path().join(name), change(name, text)).expect("a file");
    }
    folder
}

/// The same with other texts in place of some: files, old and new texts.
pub(crate) fn changed_api(changes: &[(&str, &str, &str)]) -> TempDir {
    api_with(|name, text| {
        changes.iter().filter(|it| it.0 == name).fold(text, |text, (_, old, new)| {
            assert_eq!(text.matches(old).count(), 1, "{name}: {old}");
            text.replace(old, new)
        })
    })
}

/// A server with a folder of its own. It ends when this is dropped.
pub(crate) struct Server {
    child: Child,
    folder: TempDir,
    /// What it logged since it serves.
    logs: Arc<Log>,
    pub(crate) grpc: String,
    pub(crate) http: String,
    pub(crate) admin: String,
    /// What it logged until it listened.
    pub(crate) said: String,
}

impl Server {
    /// Starts a server with these files and flags.
    pub(crate) fn start(files: &[(&str, &str)], flags: &[&str]) -> Server {
        Server::with_api(&example("api"), files, flags)
    }

    /// The same for resources of this API.
    pub(crate) fn with_api(api: &Path, files: &[(&str, &str)], flags: &[&str]) -> Server {
        let (folder, resources) = written(files);
        Server::run(&resources, api, folder, "json", &[&["--log-level", "info"], flags].concat())
    }

    /// Starts a server that logs in a format.
    pub(crate) fn start_logging(files: &[(&str, &str)], format: &str, flags: &[&str]) -> Server {
        let (folder, resources) = written(files);
        Server::run(&resources, &example("api"), folder, format, flags)
    }

    /// Starts a server with this source of resources and flags.
    pub(crate) fn of(source: &str, folder: TempDir, flags: &[&str]) -> Server {
        let flags = [&["--log-level", "info"], flags].concat();
        Server::run(source, &example("api"), folder, "json", &flags)
    }

    fn run(source: &str, api: &Path, folder: TempDir, format: &str, flags: &[&str]) -> Server {
        let any = "127.0.0.1:0";
        let addresses = ["--admin", "--grpc", "--http"].into_iter();
        let addresses = addresses.filter(|it| !flags.contains(it)).flat_map(|it| [it, any]);
        let mut child = Command::new(env!("CARGO_BIN_EXE_abide-serve"))
            .current_dir(folder.path())
            .args(["--resources", source])
            .arg("--api")
            .arg(api)
            .args(["--log-format", format])
            .args(addresses)
            .args(flags)
            .env_remove("RUST_LOG")
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut logs = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut said = String::new();
        let address = |line: &str, key: &str| {
            let Ok(value) = serde_json::from_str::<serde_json::Value>(line) else {
                let (_, rest) = line.split_once(&format!(" {key}=\""))?;
                return Some(rest.split_once('"')?.0.to_owned());
            };
            Some(value["fields"][key].as_str()?.to_owned())
        };
        let [grpc, http, admin] = loop {
            let mut line = String::new();
            assert_ne!(logs.read_line(&mut line).expect("text"), 0, "it ended: {said}");
            let found = ["grpc", "http", "admin"].map(|key| address(&line, key));
            if let [Some(grpc), Some(http), Some(admin)] = found {
                break [grpc, http, admin];
            }
            said.push_str(&line);
        };
        let server = Server { child, folder, logs: Log::of(logs), grpc, http, admin, said };
        // Where not everyone may ask, the test has to.
        if !flags.iter().any(|it| it.starts_with("--admin")) {
            server.until("/server_info", |text| {
                !text.contains("\"INITIALIZING\"") || server.is_refused()
            });
        }
        server
    }

    fn is_refused(&self) -> bool {
        !self.get("/ready").contains("nothing is served yet\n")
            || self.get("/ready").lines().count() > 2
    }

    /// Moves a file into the folder of resources.
    pub(crate) fn put(&self, name: &str, text: &str) {
        self.put_bytes(name, text.as_bytes());
    }

    /// The same of a file that need not be text.
    pub(crate) fn put_bytes(&self, name: &str, bytes: &[u8]) {
        put(self.folder.path(), name, bytes);
    }

    /// Where a file of the folder is.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("resources").join(name)
    }

    /// Waits until it logged a line that says something.
    pub(crate) fn logged(&self, says: impl Fn(&str) -> bool) -> String {
        self.logs.line(says)
    }

    /// All that it logged, also before it served, as soon as a text is in it.
    pub(crate) fn until_said(&self, text: &str) -> String {
        let whole = || Some(self.said.clone() + &self.log()).filter(|it| it.contains(text));
        let found = self.logs.until(whole);
        found.unwrap_or_else(|| panic!("it never logged {text}, but: {}", self.log()))
    }

    /// What it logged since it serves.
    pub(crate) fn log(&self) -> String {
        self.logs.text()
    }

    /// A page of the admin port, with what is said about it.
    pub(crate) fn whole(&self, head: &str) -> String {
        let mut stream = TcpStream::connect(&self.admin).expect("it listens");
        stream.set_read_timeout(Some(LONG)).expect("a timeout");
        let rest = "\r\nconnection: close\r\n\r\n";
        stream.write_all(format!("{head}{rest}").as_bytes()).expect("it reads");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("text");
        text
    }

    /// A page of the admin port.
    pub(crate) fn get(&self, path: &str) -> String {
        ask_with(&self.admin, "GET", path, "").1
    }

    /// The status and body of an answer of the admin port.
    pub(crate) fn post(&self, path: &str) -> (u16, String) {
        ask_with(&self.admin, "POST", path, "content-length: 0\r\n")
    }

    /// The status and body of a poll.
    pub(crate) fn poll(&self, path: &str, body: &str) -> (u16, String) {
        poll(&self.http, path, body)
    }

    /// Waits until a page says something.
    pub(crate) fn until(&self, path: &str, says: impl Fn(&str) -> bool) -> String {
        let mut said = String::new();
        let found = self.logs.until(|| {
            said = self.get(path);
            says(&said).then(|| said.clone())
        });
        found.unwrap_or_else(|| panic!("{path} never said it, but: {said}"))
    }

    /// The clients, as JSON.
    pub(crate) fn clients(&self) -> serde_json::Value {
        serde_json::from_str(&self.get("/clients")).expect("JSON")
    }

    /// How many bytes of memory it has.
    pub(crate) fn memory(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
    }

    /// Whether the system tells it of what happens in a folder.
    pub(crate) fn watches(&self, folder: &Path) -> bool {
        let number = std::os::unix::fs::MetadataExt::ino(&folder.metadata().expect("a folder"));
        let wanted = format!(" ino:{number:x} ");
        let open = std::fs::read_dir(format!("/proc/{}/fdinfo", self.child.id())).expect("Linux");
        // What was closed in between has no text.
        let texts = open.filter_map(|it| std::fs::read_to_string(it.ok()?.path()).ok());
        let mut lines = texts.flat_map(|it| it.lines().map(str::to_owned).collect::<Vec<_>>());
        lines.any(|it| it.starts_with("inotify ") && it.contains(&wanted))
    }

    /// Stops its process, or lets it go on.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("it runs");
    }

    /// Waits for its end.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let status = unless_it_hangs(&mut self.child, |it| it.wait().expect("it is ours"));
        self.logs.whole();
        status
    }

    /// Opens a stream of all types in the state of the world.
    pub(crate) async fn ads(&self, major: &str, node: Node) -> Whole {
        Whole::open(&self.grpc, major, node).await.expect("a stream")
    }

    /// Opens a stream of one type in the state of the world: the path of its method.
    pub(crate) async fn one_type(&self, path: &str, node: Node) -> Whole {
        let grpc = channel(&self.grpc).await.expect("it listens");
        Whole::at(grpc, path, node).await.expect("a stream")
    }

    /// Opens an incremental stream of all types.
    pub(crate) async fn delta(&self, node: Node) -> Delta {
        let mut grpc = channel(&self.grpc).await.expect("it listens");
        let (sender, receiver) = mpsc::channel(16);
        let path =
            "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
        let codec = ProstCodec::<DeltaDiscoveryRequest, DeltaDiscoveryResponse>::default();
        let path = path.parse().expect("a path");
        let stream = Request::new(ReceiverStream::new(receiver));
        let responses = grpc.streaming(stream, path, codec).await.expect("a stream").into_inner();
        Delta { node: Some(node), sender, responses }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a server says that does not start with these flags.
pub(crate) fn refused(flags: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().to_str().expect("text");
    let usual = [["--resources", own], ["--admin", "127.0.0.1:0"]];
    let usual = usual.iter().filter(|[flag, _]| !flags.contains(flag)).flatten();
    let mut child = Command::new(env!("CARGO_BIN_EXE_abide-serve"))
        .arg("--api")
        .arg(example("api"))
        .args(["--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"])
        .args(usual)
        .args(flags)
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stderr = child.stderr.take().expect("it is piped");
    let mut said = String::new();
    let ended = unless_it_hangs(&mut child, |child| {
        stderr.read_to_string(&mut said).expect("text");
        child.wait().expect("it is ours")
    });
    assert_eq!(ended.code(), Some(2), "{flags:?}: {said}");
    said
}

/// A folder, and the folder of resources in it, with these files.
pub(crate) fn written(files: &[(&str, &str)]) -> (TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let resources = folder.path().join("resources");
    std::fs::create_dir(&resources).expect("a folder");
    for (name, text) in files {
        put(folder.path(), name, text.as_bytes());
    }
    (folder, resources.to_string_lossy().into_owned())
}

/// Moves a file into place, as something that never is half written.
fn put(folder: &Path, name: &str, bytes: &[u8]) {
    let place = folder.join("resources").join(name);
    std::fs::create_dir_all(place.parent().expect("it has one")).expect("a folder");
    let beside = folder.join("beside");
    std::fs::write(&beside, bytes).expect("a file");
    std::fs::rename(&beside, &place).expect("a move");
}

/// The status and body of a poll.
pub(crate) fn poll(address: &str, path: &str, body: &str) -> (u16, String) {
    let head = format!("host: localhost\r\nconnection: close\r\ncontent-length: {}", body.len());
    ask(address, &format!("POST {path} HTTP/1.1\r\n{head}\r\n\r\n{body}"))
}

/// The status and body of an answer to a request with these header lines.
pub(crate) fn ask_with(address: &str, method: &str, path: &str, headers: &str) -> (u16, String) {
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n"
    );
    ask(address, &head)
}

pub(crate) fn ask(address: &str, request: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(LONG)).expect("a timeout");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("text");
    let status = text.split(' ').nth(1).and_then(|it| it.parse().ok());
    let (_, body) = text.split_once("\r\n\r\n").expect("an answer");
    (status.expect("a status"), body.to_owned())
}

/// A client of long polling that keeps its connection.
pub(crate) struct Polling(BufReader<TcpStream>);

impl Polling {
    pub(crate) fn connect(address: &str) -> Polling {
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(LONG)).expect("a timeout");
        Polling(BufReader::new(stream))
    }

    pub(crate) fn send(&mut self, body: &str) {
        let head = format!("host: localhost\r\ncontent-length: {}", body.len());
        let request = format!("POST /v3/discovery:clusters HTTP/1.1\r\n{head}\r\n\r\n{body}");
        self.0.get_mut().write_all(request.as_bytes()).expect("it reads");
    }

    /// The status of an answer, and whether it is the last one of the connection.
    pub(crate) fn answer(&mut self) -> (u16, bool) {
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

    /// Whether a part of an answer is there.
    pub(crate) fn has_answer(&mut self) -> bool {
        let stream = self.0.get_ref();
        stream.set_nonblocking(true).expect("a socket");
        let there = stream.peek(&mut [0]);
        stream.set_nonblocking(false).expect("a socket");
        match there {
            Err(error) => error.kind() != ErrorKind::WouldBlock,
            Ok(_) => true,
        }
    }

    /// Whether the server closed the connection.
    pub(crate) fn is_over(&mut self) -> bool {
        matches!(self.0.fill_buf(), Ok([]))
    }
}

/// A connection that is ready for streams.
pub(crate) async fn channel(address: &str) -> Result<Grpc<Channel>, Status> {
    let unavailable = |error: tonic::transport::Error| Status::unavailable(format!("{error:?}"));
    let channel = Channel::from_shared(format!("http://{address}")).expect("a URL");
    let mut grpc = Grpc::new(channel.connect().await.map_err(unavailable)?);
    grpc.ready().await.map_err(unavailable)?;
    Ok(grpc.max_decoding_message_size(usize::MAX))
}

/// A client in the state of the world.
pub(crate) struct Whole {
    node: Option<Node>,
    sender: mpsc::Sender<DiscoveryRequest>,
    responses: Streaming<DiscoveryResponse>,
}

impl Whole {
    /// Opens a stream of all types.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) async fn open(address: &str, major: &str, node: Node) -> Result<Whole, Status> {
        Whole::over(channel(address).await?, major, node).await
    }

    /// The same over a connection that is there.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) async fn over(
        grpc: Grpc<Channel>,
        major: &str,
        node: Node,
    ) -> Result<Whole, Status> {
        let path = format!(
            "/envoy.service.discovery.{major}.AggregatedDiscoveryService/StreamAggregatedResources"
        );
        Whole::at(grpc, &path, node).await
    }

    /// Opens the stream at a path.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) async fn at(
        mut grpc: Grpc<Channel>,
        path: &str,
        node: Node,
    ) -> Result<Whole, Status> {
        let (sender, receiver) = mpsc::channel(16);
        let codec = ProstCodec::<DiscoveryRequest, DiscoveryResponse>::default();
        let path = path.parse().expect("a path");
        let stream = Request::new(ReceiverStream::new(receiver));
        let responses = grpc.streaming(stream, path, codec).await?.into_inner();
        Ok(Whole { node: Some(node), sender, responses })
    }

    /// Asks for names of a type; none are all.
    pub(crate) async fn ask(&mut self, type_url: &str, names: &[&str]) {
        let request = DiscoveryRequest {
            node: self.node.take(),
            type_url: type_url.to_owned(),
            resource_names: names.iter().map(|&it| it.to_owned()).collect(),
            ..DiscoveryRequest::default()
        };
        self.send(request).await;
    }

    pub(crate) async fn send(&mut self, request: DiscoveryRequest) {
        // A stream that the server ended takes nothing; the next response says why.
        let _ = self.sender.send(request).await;
    }

    /// Accepts a response.
    pub(crate) async fn ack(&mut self, response: &DiscoveryResponse, names: &[&str]) {
        let request = DiscoveryRequest {
            version_info: response.version_info.clone(),
            type_url: response.type_url.clone(),
            response_nonce: response.nonce.clone(),
            resource_names: names.iter().map(|&it| it.to_owned()).collect(),
            ..DiscoveryRequest::default()
        };
        self.send(request).await;
    }

    /// The next response; one with status OK says that the server ended the stream in good order.
    pub(crate) async fn next(&mut self) -> Result<DiscoveryResponse, Status> {
        let message = tokio::time::timeout(LONG, self.responses.message()).await;
        message.expect("it answers")?.ok_or_else(|| Status::ok("the end"))
    }
}

/// An incremental client.
pub(crate) struct Delta {
    node: Option<Node>,
    sender: mpsc::Sender<DeltaDiscoveryRequest>,
    responses: Streaming<DeltaDiscoveryResponse>,
}

impl Delta {
    pub(crate) async fn send(&mut self, mut request: DeltaDiscoveryRequest) {
        request.node = self.node.take();
        let _ = self.sender.send(request).await;
    }

    /// The next response.
    pub(crate) async fn next(&mut self) -> Result<DeltaDiscoveryResponse, Status> {
        let message = tokio::time::timeout(LONG, self.responses.message()).await;
        message.expect("it answers")?.ok_or_else(|| Status::ok("the end"))
    }
}

/// A client of this name, of a cluster, and of a release of `acme-proxy`.
pub(crate) fn node(id: &str, cluster: &str, version: &str) -> Node {
    Node {
        id: id.to_owned(),
        cluster: cluster.to_owned(),
        user_agent_name: "acme-proxy".to_owned(),
        user_agent_version: version.to_owned(),
        ..Node::default()
    }
}

/// An API of somebody else, in a folder: tables lead to pools, and one field is deprecated.
pub(crate) fn edge_api() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("acme/edge/v1");
    std::fs::create_dir_all(&place).expect("a folder");
    let text = "syntax = \"proto3\";
package acme.edge.v1;
message Pool { string name = 1; int32 size = 2; int32 width = 3 [deprecated = true]; }
message Table { string id = 1; string pool = 2; }
";
    std::fs::write(place.join("edge.proto"), text).expect("a file");
    folder
}

/// A pool of [`edge_api`] in YAML, with more of its fields.
pub(crate) fn pool(name: &str, more: &str) -> String {
    format!("\"@type\": type.googleapis.com/acme.edge.v1.Pool\nname: {name}\n{more}\n")
}

/// A cluster in YAML.
pub(crate) fn cluster(name: &str, seconds: u32) -> String {
    format!(
        "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: {name}\n\
         connect_timeout: {seconds}s\n"
    )
}

/// Runs a test that waits for sockets.
pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(test);
}
