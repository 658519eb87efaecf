//! The place of a listener: an address, or a unix-domain socket, whose file says which users of this
//! machine may open it.

use std::fmt;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::str::FromStr;

use tokio::net::UnixListener;

use crate::error::Error;
use abide_transport::listen;

/// The address of a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListenAddress {
    Tcp(SocketAddr),
    /// A unix-domain socket at a path.
    Unix(PathBuf),
}

impl FromStr for ListenAddress {
    type Err = Error;

    fn from_str(text: &str) -> Result<ListenAddress, Error> {
        match text.strip_prefix("unix:") {
            Some("") => Err(Error::Argument("write a path after `unix:`".to_owned())),
            Some(path) => Ok(ListenAddress::Unix(path.into())),
            None => text.parse().map(ListenAddress::Tcp).map_err(|_| {
                let expected =
                    "expected an IP address and a port, such as `127.0.0.1:18000`, or `unix:PATH`";
                Error::Argument(expected.to_owned())
            }),
        }
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListenAddress::Tcp(address) => address.fmt(f),
            ListenAddress::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl ListenAddress {
    /// The address, unless it is a path.
    pub(crate) fn tcp(&self) -> Option<SocketAddr> {
        match self {
            ListenAddress::Tcp(address) => Some(*address),
            ListenAddress::Unix(_) => None,
        }
    }

    /// Warns if others than this machine can come.
    pub(crate) fn warn(&self, has_tokens: bool) {
        if self.tcp().is_some_and(|it| !it.ip().is_loopback()) {
            tracing::warn!(address = %self, "the admin pages can be reached from outside");
            if has_tokens {
                tracing::warn!("tokens are sent in the clear: put TLS before them");
            }
        }
    }

    /// Listens at the path, if it is one, with these bits of permission. Only who takes over takes the place of a process that
    /// listens there.
    ///
    /// # Errors
    /// A path that cannot be listened at, or where another process listens.
    pub(crate) fn listen(
        &self,
        takes_over: bool,
        mode: u32,
    ) -> Result<Option<UnixListener>, Error> {
        let ListenAddress::Unix(path) = self else { return Ok(None) };
        if !takes_over && UnixStream::connect(path).is_ok() {
            return Err(self.cannot_listen("another process does"));
        }
        listen(path, mode).map(Some).map_err(|error| self.cannot_listen(error))
    }

    fn cannot_listen(&self, reason: impl fmt::Display) -> Error {
        Error::Bind { address: format!("`{self}`"), reason: reason.to_string() }
    }
}
