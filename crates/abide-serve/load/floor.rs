//! The least that a server can do.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpSocket;
use tokio::sync::watch;

use crate::Result;
use crate::framing::{Body, body};

/// How often the file is looked at.
const LOOK: Duration = Duration::from_millis(1);

/// Serves until it is killed; says its address in one line.
pub(crate) async fn run(first: &Path, change: &Path, file: PathBuf) -> Result<()> {
    let first = Bytes::from(std::fs::read(first)?);
    let change = Bytes::from(std::fs::read(change)?);
    let modified = move || -> Option<SystemTime> { std::fs::metadata(&file).ok()?.modified().ok() };
    let (sender, changes) = watch::channel(0_u64);
    let before = modified();
    std::thread::spawn(move || {
        let mut before = before;
        loop {
            std::thread::sleep(LOOK);
            let now = modified();
            if now.is_some() && now != before {
                before = now;
                sender.send_modify(|it| *it += 1);
            }
        }
    });
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    let listener = socket.listen(i32::MAX as u32)?;
    println!("{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (first, change, changes) = (first.clone(), change.clone(), changes.clone());
        let service = service_fn(move |request: Request<Incoming>| {
            let (first, change, changes) = (first.clone(), change.clone(), changes.clone());
            async move { Ok::<_, Infallible>(respond(request, first, change, changes)) }
        });
        tokio::spawn(async move {
            let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            // A client that leaves is none of its business.
            drop(server.serve_connection(TokioIo::new(stream), service).await);
        });
    }
}

fn respond(
    request: Request<Incoming>,
    first: Bytes,
    change: Bytes,
    mut changes: watch::Receiver<u64>,
) -> Response<Body> {
    let (parts, body) = body();
    let mut requests = request.into_body();
    tokio::spawn(async move {
        if requests.frame().await.is_none() || !parts.send(first).await {
            return;
        }
        loop {
            tokio::select! {
                frame = requests.frame() => if frame.is_none() { return },
                changed = changes.changed() => {
                    if changed.is_err() || !parts.send(change.clone()).await {
                        return;
                    }
                }
            }
        }
    });
    let mut response = Response::new(body);
    response
        .headers_mut()
        .insert("content-type", http::HeaderValue::from_static("application/grpc"));
    response
}
