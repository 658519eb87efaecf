//! Requests to an admin port, or to another one that speaks HTTP/1.

use std::error::Error;
use std::io::ErrorKind;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

use crate::client_tls::ClientTls;
use crate::error::{TransportError, describe_chain};

/// The time that a whole answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// The beginning of an address that is the path of a unix-domain socket.
pub const UNIX: &str = "unix:";

/// Begins to speak HTTP/1 over a connection.
async fn shake_hands(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> Result<SendRequest<Full<Bytes>>, TransportError> {
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (sender, connection) = handshake.map_err(report_no_answer)?;
    // It ends with the request: `Connection: close`.
    tokio::spawn(connection);
    Ok(sender)
}

/// Where a request goes, and how.
#[derive(Clone, Copy)]
pub struct RequestTarget<'t> {
    /// `HOST:PORT` or `unix:PATH`.
    pub address: &'t str,
    /// TLS around it, if any.
    pub tls: Option<&'t ClientTls>,
    /// A token to show.
    pub token: Option<&'t str>,
}

impl RequestTarget<'_> {
    /// The beginning of the URL, as people write it.
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }
}

/// Sends a request over a connection of its own, to `HOST:PORT` or `unix:PATH`. A body is JSON, and may be
/// empty.
///
/// # Errors
/// No answer: ports of gRPC and of TLS answer in another language.
pub async fn send_request(
    address: &str,
    method: Method,
    path: &str,
    body: Bytes,
) -> Result<Response<Incoming>, TransportError> {
    let target = RequestTarget { address, tls: None, token: None };
    send_request_to(&target, method, path, body).await
}

/// The same to where TLS or a token may be wanted.
///
/// # Errors
/// No answer, or a server that is not the one that was meant.
pub async fn send_request_to(
    target: &RequestTarget<'_>,
    method: Method,
    path: &str,
    body: Bytes,
) -> Result<Response<Incoming>, TransportError> {
    let RequestTarget { address, tls, token } = *target;
    let url = target.url();
    let failed = |error: std::io::Error| {
        let message = format!("{url}{path}: {error}");
        match error.kind() {
            ErrorKind::ConnectionRefused | ErrorKind::NotFound => {
                TransportError::NobodyListens(message)
            }
            _ => report_no_answer(message),
        }
    };
    let mut sender = match (address.strip_prefix(UNIX), tls) {
        (Some(socket), _) => {
            shake_hands(UnixStream::connect(socket).await.map_err(failed)?).await?
        }
        (None, None) => shake_hands(TcpStream::connect(address).await.map_err(failed)?).await?,
        (None, Some(tls)) => {
            let stream = TcpStream::connect(address).await.map_err(failed)?;
            shake_hands(tls.connect(address, stream).await.map_err(failed)?).await?
        }
    };
    let host = if address.starts_with(UNIX) { "localhost" } else { address };
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header(hyper::header::HOST, host)
        .header(hyper::header::CONNECTION, "close");
    if let Some(token) = token {
        request = request.header(hyper::header::AUTHORIZATION, format!("Bearer {token}"));
    }
    if !body.is_empty() {
        request = request.header(hyper::header::CONTENT_TYPE, "application/json");
    }
    let request = request.body(Full::new(body));
    let request = request.map_err(report_no_answer)?;
    sender.send_request(request).await.map_err(|error| {
        match error.is_parse() || has_spoken_first(&error) {
            true if tls.is_none() => {
                report_no_answer(format!("{address} does not answer in HTTP/1 without TLS"))
            }
            true => report_no_answer(format!("{address} does not answer in HTTP/1")),
            false => report_no_answer(format!("{url}{path}: {}", describe_chain(&error))),
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
/// No answer, or another status than 200.
pub async fn fetch(address: &str, path: &str, limit: usize) -> Result<Bytes, TransportError> {
    let asked = async {
        let response = send_request(address, Method::GET, path, Bytes::new()).await?;
        if response.status() != StatusCode::OK {
            return Err(report_no_answer(format!("`{path}` answered {}", response.status())));
        }
        read_body(response, limit).await
    };
    let answer = timeout(ANSWER_TIMEOUT, asked).await;
    answer.map_err(|_| report_no_answer(format!("no answer in {ANSWER_TIMEOUT:?}")))?
}

/// The body of an answer, of at most `limit` bytes.
///
/// # Errors
/// A body that does not come, or is longer.
pub async fn read_body(
    response: Response<Incoming>,
    limit: usize,
) -> Result<Bytes, TransportError> {
    let body = Limited::new(response.into_body(), limit).collect().await;
    Ok(body.map_err(report_no_answer)?.to_bytes())
}

fn report_no_answer(reason: impl std::fmt::Display) -> TransportError {
    TransportError::NoAnswer(reason.to_string())
}
