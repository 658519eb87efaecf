//! The other end of a connection.

use std::sync::{Arc, LazyLock};

use http::Extensions;
use tokio::net::UnixStream;

use abide_transport::CertificateFacts;

/// Who is at the other end of a connection. Every request has it as an extension.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Peer {
    /// An address and a port, or the process at the other end of a unix-domain socket.
    pub(crate) address: String,
    /// The certificate that it showed, if it had to.
    pub(crate) certificate: Option<CertificateFacts>,
}

impl Peer {
    /// Returns the peer that a request came from.
    pub(crate) fn of(extensions: &Extensions) -> Arc<Peer> {
        static UNKNOWN: LazyLock<Arc<Peer>> = LazyLock::new(Arc::default);
        Arc::clone(extensions.get::<Arc<Peer>>().unwrap_or(&UNKNOWN))
    }

    /// The process at the other end of a socket of this machine.
    pub(crate) fn of_process(stream: &UnixStream) -> Peer {
        let address = match stream.peer_cred() {
            Ok(who) => match who.pid() {
                Some(pid) => format!("unix, process {pid} of user {}", who.uid()),
                None => format!("unix, user {}", who.uid()),
            },
            Err(_) => "unix".to_owned(),
        };
        Peer { address, certificate: None }
    }
}
