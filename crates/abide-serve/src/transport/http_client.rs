//! Requests to an admin port, or to another one that speaks HTTP/1.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The time that a whole answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// Sends a request over a connection of its own. A body is JSON, and may be empty.
///
/// # Errors
/// Why there is no answer: one phrase. Ports of gRPC and of TLS answer in another language.
pub(crate) async fn send_request(
    address: &str,
    method: Method,
    path: &str,
    body: Bytes,
) -> Result<Response<Incoming>, String> {
    let stream = TcpStream::connect(address).await;
    let stream = stream.map_err(|error| format!("http://{address}{path}: {error}"))?;
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|error| error.to_string())?;
    // It ends with the request: `Connection: close`.
    tokio::spawn(connection);
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header(hyper::header::HOST, address)
        .header(hyper::header::CONNECTION, "close");
    if !body.is_empty() {
        request = request.header(hyper::header::CONTENT_TYPE, "application/json");
    }
    let request = request.body(Full::new(body));
    let request = request.map_err(|error| error.to_string())?;
    sender.send_request(request).await.map_err(|error| {
        match error.is_parse() || has_spoken_first(&error) {
            true => format!("{address} does not answer in HTTP/1 without TLS"),
            false => format!("http://{address}{path}: {error}"),
        }
    })
}

/// Returns true if something came before the request went, as from servers of HTTP/2: neither an end nor an
/// error of the system, which are or have errors of their own.
fn has_spoken_first(error: &hyper::Error) -> bool {
    let why = error.source().and_then(|it| it.downcast_ref::<hyper::Error>());
    let is_it = |why: &hyper::Error| !why.is_incomplete_message() && why.source().is_none();
    error.is_canceled() && why.is_some_and(is_it)
}

/// The body of a page, of at most `limit` bytes.
///
/// # Errors
/// Why there is none, or another status than 200: one phrase.
pub(crate) async fn fetch(address: &str, path: &str, limit: usize) -> Result<Bytes, String> {
    let asked = async {
        let response = send_request(address, Method::GET, path, Bytes::new()).await?;
        if response.status() != StatusCode::OK {
            return Err(format!("`{path}` answered {}", response.status()));
        }
        read_body(response, limit).await
    };
    let late = |_| format!("no answer in {ANSWER_TIMEOUT:?}");
    timeout(ANSWER_TIMEOUT, asked).await.map_err(late)?
}

/// The body of an answer, of at most `limit` bytes.
///
/// # Errors
/// Why there is none: one phrase.
pub(crate) async fn read_body(response: Response<Incoming>, limit: usize) -> Result<Bytes, String> {
    let body = Limited::new(response.into_body(), limit).collect().await;
    Ok(body.map_err(|error| error.to_string())?.to_bytes())
}
