//! Requests to an admin port.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long a whole answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Sends a request without a body over a connection of its own.
///
/// # Errors
/// Why there is no answer: one phrase.
pub(crate) async fn send(
    address: &str,
    method: Method,
    path: &str,
) -> Result<Response<Incoming>, String> {
    let stream = TcpStream::connect(address).await;
    let stream = stream.map_err(|error| format!("http://{address}{path}: {error}"))?;
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|error| error.to_string())?;
    // It ends with the request: `Connection: close`.
    tokio::spawn(connection);
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(hyper::header::HOST, address)
        .header(hyper::header::CONNECTION, "close")
        .body(Empty::<Bytes>::new());
    let request = request.map_err(|error| error.to_string())?;
    sender.send_request(request).await.map_err(|error| error.to_string())
}

/// The body of a page, of at most `limit` bytes.
///
/// # Errors
/// Why there is none, or another status than 200: one phrase.
pub(crate) async fn get(address: &str, path: &str, limit: usize) -> Result<Bytes, String> {
    let asked = async {
        let response = send(address, Method::GET, path).await?;
        if response.status() != StatusCode::OK {
            return Err(format!("`{path}` answered {}", response.status()));
        }
        let body = Limited::new(response.into_body(), limit).collect().await;
        Ok(body.map_err(|error| error.to_string())?.to_bytes())
    };
    let late = |_| format!("no answer in {PATIENCE:?}");
    timeout(PATIENCE, asked).await.map_err(late)?
}
