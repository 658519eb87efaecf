//! Bytes of clients: messages, bodies, memory for them, sockets and TLS.
#![allow(clippy::disallowed_methods)] // This crate does I/O.

mod body_reader;
mod certificate;
mod client_tls;
mod encoding;
mod error;
mod http_client;
mod memory_budget;
pub mod reflection;
mod requests;
mod tls;
mod unix_socket;

pub use self::body_reader::{BodyError, BodyReader, PartialBody, ReadLimits, explain_compression};
pub use self::certificate::CertificateFacts;
pub use self::client_tls::{ClientTls, ClientTlsArgs};
pub use self::encoding::{EncodedMessage, EncodingCache, MessageBody};
pub use self::error::{TransportError, describe_chain};
pub use self::http_client::{RequestTarget, UNIX, fetch, read_body, send_request, send_request_to};
pub use self::memory_budget::{MemoryBudget, Reservation, SMALL};
pub use self::requests::{ReadRequest, RequestStream};
pub use self::tls::{ReloadingTls, TlsArgs};
pub use self::unix_socket::{OWNER_ONLY, listen};
