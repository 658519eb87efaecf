//! The process before this one, as this one sees it.

use std::fs::File;
use std::io::{ErrorKind, Seek};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::time::{Instant, interval, sleep_until, timeout};

use super::args::{ANSWER_TIMEOUT, COUNTER_INTERVAL};
use super::channel::Channel;
use super::counter_file::InheritedCounters;
use super::messages::{Answer, Ask, Handshake, InheritedState, MAJOR, Nothing, Reply, Request};
use crate::clients::{SavedState, SavedStateError, ServerState};
use crate::error::Error;
use crate::listeners::{Listener, ListenerKind};

/// An error for which nothing is taken over.
pub(super) enum TakeoverError {
    /// There is no other process, or it ended meanwhile.
    Gone,
    /// This one must not run beside it.
    Fatal(Error),
}

impl TakeoverError {
    fn fatal(message: impl Into<String>) -> TakeoverError {
        TakeoverError::Fatal(Error::Restart(message.into()))
    }
}

/// The process before this one.
pub(crate) struct Predecessor {
    channel: Channel,
    epoch: u32,
    counters: Option<InheritedCounters>,
}

impl Predecessor {
    /// Asks the process that listens at a path for its sockets, and listens where it does not.
    pub(super) async fn of(
        path: &Path,
        epoch: u32,
        wanted: &[(ListenerKind, SocketAddr)],
    ) -> Result<(Predecessor, Vec<Listener>, UnixListener), TakeoverError> {
        let (mut channel, hello) = greet(path, epoch).await?;
        let ask = Request { request: Some(Ask::TakeListeners(Nothing {})) };
        let (answer, fds) = exchange(&mut channel, &ask).await?;
        let Answer::Heritage(heritage) = answer else { return Err(confused()) };
        let (listeners, socket, counters) = take_sockets(heritage, fds, wanted).await?;
        let counters = InheritedCounters::open(counters);
        if let Err(error) = &counters {
            tracing::warn!("counters begin at 0, those before are lost: {error}");
        }
        let predecessor = Predecessor { channel, epoch: hello.epoch, counters: counters.ok() };
        Ok((predecessor, listeners, socket))
    }

    /// Has it drain, and end at its time. When it is gone, this process is `alone`.
    ///
    /// # Errors
    /// If it does not drain: then it goes on, and this process has to end.
    pub(crate) async fn replace(
        mut self,
        fleet: &ServerState,
        shutdown_time: Duration,
        alone: &watch::Sender<bool>,
    ) -> Result<(), Error> {
        self.inherit(fleet);
        let setback = self.retire(fleet, shutdown_time).await;
        self.inherit(fleet);
        match setback {
            TakeoverError::Gone => {
                tracing::info!(epoch = self.epoch, "the process before is gone");
                alone.send_replace(true);
                Ok(())
            }
            TakeoverError::Fatal(error) => Err(error),
        }
    }

    /// Goes through all that it is told. Ends when it is gone, or does not do it.
    async fn retire(&mut self, fleet: &ServerState, shutdown_time: Duration) -> TakeoverError {
        let drain = Request { request: Some(Ask::Drain(Nothing {})) };
        let draining = match exchange(&mut self.channel, &drain).await {
            Ok((Answer::Draining(draining), _)) => draining,
            Ok(_) => return confused(),
            Err(setback) => return setback,
        };
        tracing::info!(
            epoch = self.epoch,
            drain_time = draining.seconds,
            "took over: the process before drains"
        );
        let end = Instant::now() + shutdown_time;
        let mut is_told = false;
        let mut ticks = interval(COUNTER_INTERVAL);
        loop {
            tokio::select! {
                _ = ticks.tick() => self.inherit(fleet),
                message = self.channel.receive::<Reply>() => match message {
                    // It ends.
                    Ok(Some(_)) => {}
                    Ok(None) | Err(_) => return TakeoverError::Gone,
                },
                () = sleep_until(end), if !is_told => {
                    tracing::info!(epoch = self.epoch, "telling the process before to end");
                    is_told = true;
                    let terminate = Request { request: Some(Ask::Terminate(Nothing {})) };
                    // If it does not hear this, it is gone, which is read next.
                    let _ = self.channel.send(&terminate, &[]).await;
                }
            }
        }
    }

    /// Counts what it has counted by now.
    fn inherit(&self, fleet: &ServerState) {
        if let Some(past) = self.counters.as_ref().and_then(InheritedCounters::read) {
            fleet.inherit_counters(past);
        }
    }
}

/// Asks the process that listens at a path what it owes its clients; `None` if it does not know the
/// question.
pub(super) async fn ask_for_state(
    path: &Path,
    epoch: u32,
) -> Result<Option<SavedState>, TakeoverError> {
    let (mut channel, _) = greet(path, epoch).await?;
    let ask = Request { request: Some(Ask::TakeState(Nothing {})) };
    let fds = match exchange(&mut channel, &ask).await {
        Ok((Answer::State(_), fds)) => fds,
        // One of an older version.
        Ok(_) | Err(TakeoverError::Fatal(_)) => return Ok(None),
        Err(gone) => return Err(gone),
    };
    let Some(fd) = fds.into_iter().next() else { return Err(confused()) };
    let mut file = File::from(fd);
    let read = file.rewind().map_err(SavedStateError::from).and_then(|()| SavedState::read(file));
    if let Err(error) = &read {
        tracing::warn!("what the process before this one served is not known: {error}");
    }
    Ok(read.ok())
}

/// Greets the process that listens at a path, and hears its greeting.
async fn greet(path: &Path, epoch: u32) -> Result<(Channel, Handshake), TakeoverError> {
    let stream = UnixStream::connect(path).await.map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => TakeoverError::Gone,
        _ => TakeoverError::fatal(format!("cannot reach {}: {error}", path.display())),
    })?;
    let mut channel = Channel::new(stream);
    let (answer, _) = exchange(&mut channel, &Handshake::of(epoch)).await?;
    let Answer::Hello(hello) = answer else { return Err(confused()) };
    if hello.protocol_major != MAJOR {
        return Err(TakeoverError::fatal(format!(
            "the process at {} speaks version {} of the restart protocol, and this one {MAJOR}: \
             stop it, and start this one with `--restart-epoch 0`",
            path.display(),
            hello.protocol_major
        )));
    }
    Ok((channel, hello))
}

fn confused() -> TakeoverError {
    TakeoverError::fatal("the process before this one answers something else than it was asked")
}

/// Sends a message and waits for the answer.
async fn exchange(
    channel: &mut Channel,
    message: &impl prost::Message,
) -> Result<(Answer, Vec<OwnedFd>), TakeoverError> {
    if channel.send(message, &[]).await.is_err() {
        return Err(TakeoverError::Gone);
    }
    match timeout(ANSWER_TIMEOUT, channel.receive::<Reply>()).await {
        Ok(Ok(Some((Reply { reply: Some(Answer::Refusal(refusal)) }, _)))) => {
            Err(TakeoverError::fatal(refusal.reason))
        }
        Ok(Ok(Some((Reply { reply: Some(answer) }, fds)))) => Ok((answer, fds)),
        Ok(Ok(Some((Reply { reply: None }, _)))) => Err(confused()),
        Ok(Ok(None)) => Err(TakeoverError::Gone),
        Ok(Err(error)) => Err(TakeoverError::fatal(format!(
            "cannot understand the process before this one: {error}"
        ))),
        Err(_) => Err(TakeoverError::fatal(format!(
            "the process before this one does not answer for {} s: it hangs, or is stopped",
            ANSWER_TIMEOUT.as_secs()
        ))),
    }
}

fn cannot_take_socket(error: std::io::Error) -> TakeoverError {
    TakeoverError::fatal(format!("cannot take a socket over: {error}"))
}

/// Takes from a heritage what is wanted: the listeners, the socket for the next process, and the
/// counters. Other sockets are closed.
async fn take_sockets(
    heritage: InheritedState,
    mut fds: Vec<OwnedFd>,
    wanted: &[(ListenerKind, SocketAddr)],
) -> Result<(Vec<Listener>, UnixListener, OwnedFd), TakeoverError> {
    if fds.len() != heritage.listeners.len() + 2 {
        return Err(confused());
    }
    let (Some(counters), Some(socket)) = (fds.pop(), fds.pop()) else { return Err(confused()) };
    let mut inherited: Vec<_> = heritage.listeners.into_iter().zip(fds).collect();
    let mut listeners = Vec::new();
    for &(door, address) in wanted {
        let is_it = |it: &super::messages::Listener| {
            it.name == door.name() && it.address == address.to_string()
        };
        let listener = match inherited.iter().position(|(it, _)| is_it(it)) {
            Some(at) => {
                let (_, socket) = inherited.swap_remove(at);
                Listener::inherit(door, address, socket).map_err(cannot_take_socket)?
            }
            None => Listener::bind(door, address).map_err(TakeoverError::Fatal)?,
        };
        listeners.push(listener);
    }
    let socket = std::os::unix::net::UnixListener::from(socket);
    socket.set_nonblocking(true).map_err(cannot_take_socket)?;
    Ok((listeners, UnixListener::from_std(socket).map_err(cannot_take_socket)?, counters))
}
