//! A connection to a server, with or without TLS.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use abide_transport::ClientTls;
use http::Uri;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tonic::transport::{Channel, Endpoint};

use crate::error::{Peer, RemoteError};

/// The most bytes of the headers of one response.
const MAX_HEADERS: u32 = 64 << 10;

/// Connects to `HOST:PORT`.
///
/// # Errors
/// Nobody who listens there, or who speaks another language.
pub(crate) async fn connect(
    peer: &Peer,
    tls: Option<Arc<ClientTls>>,
) -> Result<Channel, RemoteError> {
    let uri = |scheme: &str| format!("{scheme}://{}", peer.address).parse::<Uri>();
    let failed = |error| peer.describe_lost_connection(&error);
    let origin = uri(if peer.has_tls { "https" } else { "http" }).map_err(failed)?;
    let endpoint = Endpoint::from(uri("http").map_err(failed)?).origin(origin);
    let connector = Connector { address: peer.address.as_str().into(), tls };
    let endpoint = endpoint.http2_max_header_list_size(MAX_HEADERS);
    let connected = endpoint.connect_with_connector(connector).await;
    connected.map_err(|error| peer.describe_lost_connection(&error))
}

/// Opens the one connection of a channel.
struct Connector {
    address: Arc<str>,
    tls: Option<Arc<ClientTls>>,
}

/// A stream of bytes, with or without TLS.
trait ByteStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> ByteStream for T {}

type Connecting = dyn Future<Output = io::Result<TokioIo<Box<dyn ByteStream>>>> + Send;

impl tower_service::Service<Uri> for Connector {
    type Response = TokioIo<Box<dyn ByteStream>>;
    type Error = io::Error;
    type Future = Pin<Box<Connecting>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let (address, tls) = (Arc::clone(&self.address), self.tls.clone());
        Box::pin(async move {
            let stream = TcpStream::connect(&*address).await?;
            stream.set_nodelay(true)?;
            let stream: Box<dyn ByteStream> = match tls {
                Some(tls) => Box::new(tls.connect(&address, stream).await?),
                None => Box::new(stream),
            };
            Ok(TokioIo::new(stream))
        })
    }
}
