//! Many clients, and what they saw.

use std::collections::HashMap;
use std::io::BufRead;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use abide_xds::wire::{DeltaDiscoveryRequest, DeltaDiscoveryResponse, Node};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::Request;
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::Result;
use crate::framing::body;
use crate::messages::Messages;

const CDS: &str = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const PATH: &str =
    "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";

/// How much of a response may be on its way to a client: as much as gRPC clients allow.
const WINDOW: u32 = 4 << 20;

/// Longer than anything may take.
const LONG: Duration = Duration::from_secs(300);

/// Names and versions.
type Held = HashMap<String, String>;

/// What all clients saw.
struct Seen {
    begin: Instant,
    /// How many responses each accepted.
    accepted: Vec<AtomicU64>,
    bytes: AtomicU64,
    /// When the first and the last response since the last line was accepted, in nanoseconds.
    first: AtomicU64,
    last: AtomicU64,
    /// What the first client holds, as all do.
    held: Mutex<Held>,
    /// Its last response.
    response: Mutex<Vec<u8>>,
}

impl Seen {
    fn of(clients: usize, held: Held) -> Arc<Seen> {
        Arc::new(Seen {
            begin: Instant::now(),
            accepted: (0..clients).map(|_| AtomicU64::new(0)).collect(),
            bytes: AtomicU64::new(0),
            first: AtomicU64::new(u64::MAX),
            last: AtomicU64::new(0),
            held: Mutex::new(held),
            response: Mutex::default(),
        })
    }

    fn reset(&self) {
        self.bytes.store(0, Ordering::SeqCst);
        self.first.store(u64::MAX, Ordering::SeqCst);
        self.last.store(0, Ordering::SeqCst);
    }

    /// Seconds from a moment to the first and to the last response.
    fn since(&self, moment: Instant) -> (f64, f64) {
        let before = moment.duration_since(self.begin).as_secs_f64();
        let at = |it: &AtomicU64| it.load(Ordering::SeqCst) as f64 / 1e9 - before;
        (at(&self.first), at(&self.last))
    }

    /// Waits until each client accepted so many responses.
    async fn all(&self, count: u64) -> Result<()> {
        let begin = Instant::now();
        let has = |it: &AtomicU64| it.load(Ordering::SeqCst) >= count;
        while !self.accepted.iter().all(has) {
            if begin.elapsed() > LONG {
                let lacking = self.accepted.iter().filter(|it| !has(it)).count();
                return Err(format!("{lacking} clients got nothing for {LONG:?}").into());
            }
            sleep(Duration::from_millis(1)).await;
        }
        Ok(())
    }

    fn count(&self) -> u64 {
        self.accepted.iter().map(|it| it.load(Ordering::SeqCst)).sum()
    }
}

/// Does what the lines of the input say, and answers each.
pub(crate) async fn run(target: SocketAddr, record: Option<PathBuf>) -> Result<()> {
    let mut seen = Seen::of(0, Held::new());
    let mut clients: Vec<JoinHandle<()>> = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let answer = match *words {
            ["connect", count] => {
                seen = Seen::of(count.parse()?, Held::new());
                connect(target, &seen, &mut clients).await?
            }
            ["reconnect"] => {
                clients.drain(..).for_each(|it| it.abort());
                let held = std::mem::take(&mut *lock(&seen.held));
                seen = Seen::of(seen.accepted.len(), held);
                connect(target, &seen, &mut clients).await?
            }
            ["change", from, to] => change(&seen, Path::new(from), Path::new(to)).await?,
            ["watch", seconds] => {
                seen.reset();
                let (before, begin) = (seen.count(), Instant::now());
                sleep(Duration::from_secs_f64(seconds.parse()?)).await;
                let responses = seen.count() - before;
                json!({"responses": responses, "last": seen.since(begin).1})
            }
            _ => return Err(format!("`{line}` is no command").into()),
        };
        if let Some(folder) = &record
            && let "connect" | "change" = words[0]
        {
            std::fs::write(folder.join(words[0]), &*lock(&seen.response))?;
        }
        println!("{answer}");
    }
    Ok(())
}

fn lock<T>(it: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets all clients come at once, and waits until each accepted its first response.
async fn connect(
    target: SocketAddr,
    seen: &Arc<Seen>,
    clients: &mut Vec<JoinHandle<()>>,
) -> Result<Value> {
    let begin = Instant::now();
    let held = Arc::new(lock(&seen.held).clone());
    for number in 0..seen.accepted.len() {
        let (seen, held) = (Arc::clone(seen), Arc::clone(&held));
        clients.push(tokio::spawn(async move {
            if let Err(error) = client(target, number, &seen, &held).await {
                eprintln!("client {number}: {error:?}");
            }
        }));
    }
    seen.all(1).await?;
    let (first, last) = seen.since(begin);
    let bytes = seen.bytes.load(Ordering::SeqCst);
    Ok(json!({"first": first, "last": last, "bytes": bytes}))
}

/// Moves a file, and waits until each client accepted one more response.
async fn change(seen: &Seen, from: &Path, to: &Path) -> Result<Value> {
    seen.reset();
    let before = seen.accepted.iter().map(|it| it.load(Ordering::SeqCst)).max().unwrap_or(0);
    let begin = Instant::now();
    std::fs::rename(from, to)?;
    seen.all(before + 1).await?;
    let (first, last) = seen.since(begin);
    let bytes = seen.bytes.load(Ordering::SeqCst);
    Ok(json!({"first": first, "last": last, "bytes": bytes}))
}

/// One client: accepts all that it is sent.
async fn client(target: SocketAddr, number: usize, seen: &Seen, held: &Held) -> Result<()> {
    let stream = TcpStream::connect(target).await?;
    stream.set_nodelay(true)?;
    let mut builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
    builder.initial_stream_window_size(WINDOW).initial_connection_window_size(WINDOW);
    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let (parts, body) = body();
    let request = Request::post(format!("http://{target}{PATH}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(body)?;
    let node = Node { id: format!("load-{number}"), ..Node::default() };
    let first = DeltaDiscoveryRequest {
        node: Some(node),
        type_url: CDS.to_owned(),
        initial_resource_versions: held.clone(),
        ..DeltaDiscoveryRequest::default()
    };
    parts.send(Bytes::from(first.encode_to_vec())).await;
    let mut response = sender.send_request(request).await?.into_body();
    let mut messages = Messages::new(number == 0);
    while let Some(frame) = response.frame().await {
        let Ok(data) = frame?.into_data() else { break };
        for message in messages.take(&data) {
            if let Some(whole) = message.whole {
                let decoded = DeltaDiscoveryResponse::decode(&*whole)?;
                let now = decoded.resources.into_iter().map(|it| (it.name, it.version));
                lock(&seen.held).extend(now);
                *lock(&seen.response) = whole;
            }
            let accepted = DeltaDiscoveryRequest {
                type_url: CDS.to_owned(),
                response_nonce: message.nonce,
                ..DeltaDiscoveryRequest::default()
            };
            parts.send(Bytes::from(accepted.encode_to_vec())).await;
            let at = seen.begin.elapsed().as_nanos() as u64;
            seen.first.fetch_min(at, Ordering::SeqCst);
            seen.last.fetch_max(at, Ordering::SeqCst);
            seen.bytes.fetch_add(message.bytes as u64, Ordering::SeqCst);
            seen.accepted[number].fetch_add(1, Ordering::SeqCst);
        }
    }
    connection.abort();
    Ok(())
}
