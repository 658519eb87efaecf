//! Bytes of clients: messages, bodies, memory for them, sockets and TLS.

mod body_reader;
mod encoding;
mod http_client;
mod memory_budget;
mod requests;
mod tls;
mod unix_socket;

pub(crate) use self::body_reader::{Arriving, Missing, Part, ReadLimits, compressed};
pub(crate) use self::encoding::{Encoded, Encodings, Messages};
pub(crate) use self::http_client::{get, read_body, send};
pub(crate) use self::memory_budget::{Room, SMALL, Taken};
pub(crate) use self::requests::{Read, Requests};
pub(crate) use self::tls::{Tls, TlsArgs};
pub(crate) use self::unix_socket::listen;
