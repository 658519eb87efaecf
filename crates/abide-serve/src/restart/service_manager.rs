//! Tells systemd how far a server is, if a unit with `Type=notify` runs it (`sd_notify(3)`).

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use rustix::time::{ClockId, clock_gettime};

/// How far a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServiceState<'s> {
    /// Another process serves, and this one is about to take over.
    Reloading,
    /// Clients may come; with one line for people.
    Ready(&'s str),
    /// It was told to end.
    Stopping,
}

impl ServiceState<'_> {
    /// What systemd is sent.
    fn message(self) -> String {
        match self {
            ServiceState::Reloading => {
                // A reload that was asked for at a moment is over with what is said after it.
                let now = clock_gettime(ClockId::Monotonic);
                let micros = i128::from(now.tv_sec) * 1_000_000 + i128::from(now.tv_nsec) / 1_000;
                format!("RELOADING=1\nMONOTONIC_USEC={micros}\nSTATUS=taking over\n")
            }
            ServiceState::Ready(status) => format!("READY=1\nSTATUS={status}\n"),
            ServiceState::Stopping => "STOPPING=1\nSTATUS=clients leave\n".to_owned(),
        }
    }
}

/// Tells systemd, if it listens. Nobody else notices.
pub(crate) fn notify_service_manager(state: ServiceState<'_>) {
    let Some(socket) = std::env::var_os("NOTIFY_SOCKET") else { return };
    if let Err(error) = send(&socket, &state.message()) {
        tracing::warn!(?socket, "cannot tell systemd how far this is: {error}");
    }
}

/// Sends a message to a socket at a path, or at a name that begins with `@`.
fn send(socket: &OsStr, message: &str) -> io::Result<()> {
    let address = match socket.as_bytes() {
        #[cfg(target_os = "linux")]
        [b'@', name @ ..] => {
            <SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(name)?
        }
        _ => SocketAddr::from_pathname(socket)?,
    };
    UnixDatagram::unbound()?.send_to_addr(message.as_bytes(), &address).map(drop)
}
