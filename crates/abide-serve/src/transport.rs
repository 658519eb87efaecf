//! Bytes of clients: messages, bodies, memory for them, sockets and TLS.

mod body_reader;
mod certificate;
mod client_tls;
mod encoding;
mod http_client;
mod memory_budget;
mod requests;
mod tls;
mod unix_socket;

pub(crate) use self::body_reader::{
    BodyError, BodyReader, PartialBody, ReadLimits, explain_compression,
};
pub(crate) use self::certificate::CertificateFacts;
pub(crate) use self::client_tls::{ClientTls, ClientTlsArgs};
pub(crate) use self::encoding::{EncodedMessage, EncodingCache, MessageBody};
pub(crate) use self::http_client::{
    RequestTarget, UNIX, fetch, read_body, send_request, send_request_to,
};
pub(crate) use self::memory_budget::{MemoryBudget, Reservation, SMALL};
pub(crate) use self::requests::{ReadRequest, RequestStream};
pub(crate) use self::tls::{ReloadingTls, TlsArgs};
pub(crate) use self::unix_socket::{OWNER_ONLY, listen};
