//! The process that takes over from this one, as this one sees it.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use rustix::fs::{MemfdFlags, memfd_create};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tokio::task::JoinSet;
use tokio::time::{interval, sleep, timeout};

use super::args::{ANSWER_TIMEOUT, COUNTER_INTERVAL};
use super::channel::Channel;
use super::counter_file::CounterFile;
use super::messages::{
    self, Answer, Ask, Draining, Handshake, InheritedState, MAJOR, Nothing, Refusal, Reply, Request,
};
use crate::clients::ServerState;
use crate::listeners::Listener;

/// The number of processes that are talked to at once. All but one of them are refused.
const MAX_CALLERS: usize = 8;
/// The time that a process waits for the one whose turn it is: that may have ended just now.
const GRACE: Duration = Duration::from_secs(1);

/// The end of what another process asks.
enum Ended {
    /// It only asked what is owed to clients.
    Learned,
    /// It takes the place of this one.
    Replaced,
}

/// Waits for the process that takes over, and does what it asks.
pub(crate) struct Successors {
    fleet: Arc<ServerState>,
    path: PathBuf,
    socket: UnixListener,
    /// Gone when they are closed.
    listeners: Vec<Weak<Listener>>,
    counters: Mutex<CounterFile>,
    /// True if the process before this one is gone.
    alone: watch::Receiver<bool>,
    /// True if another process accepts now, also here.
    handed_over: watch::Sender<bool>,
    /// Held by the one process that may take over.
    turn: Semaphore,
}

impl Successors {
    /// Makes everything ready that is passed on.
    ///
    /// # Errors
    /// What the system refuses.
    pub(crate) fn new(
        fleet: Arc<ServerState>,
        path: PathBuf,
        socket: UnixListener,
        listeners: &[Arc<Listener>],
        alone: watch::Receiver<bool>,
    ) -> io::Result<Successors> {
        Ok(Successors {
            fleet,
            path,
            socket,
            listeners: listeners.iter().map(Arc::downgrade).collect(),
            counters: Mutex::new(CounterFile::create()?),
            alone,
            handed_over: watch::Sender::new(false),
            turn: Semaphore::new(1),
        })
    }

    /// Waits until another process has taken over and this one is told to end.
    pub(crate) async fn wait(self) {
        let this = Arc::new(self);
        let mut callers = JoinSet::new();
        let mut handed_over = this.handed_over.subscribe();
        let mut ticks = interval(COUNTER_INTERVAL);
        loop {
            let accepts = !*handed_over.borrow_and_update() && callers.len() < MAX_CALLERS;
            tokio::select! {
                _ = ticks.tick() => this.count(),
                _ = handed_over.changed() => {}
                Some(ended) = callers.join_next() => if matches!(ended, Ok(true)) { return },
                caller = this.socket.accept(), if accepts => match caller {
                    Ok((stream, _)) => {
                        let this = Arc::clone(&this);
                        callers.spawn(async move { this.serve(stream).await });
                    }
                    Err(error) => {
                        tracing::error!("cannot accept another process: {error}");
                        sleep(ANSWER_TIMEOUT).await;
                    }
                }
            }
        }
    }

    /// Has the other process see what was counted.
    fn count(&self) {
        let mut file = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write(self.fleet.counters_by_name()) {
            tracing::error!("counters are not passed on: {error}");
        }
    }

    /// Returns the reason why a process may not take over, and what to do, if there is one.
    fn find_refusal(&self, hello: &Handshake) -> Option<String> {
        let own = self.fleet.epoch;
        let next = own + 1;
        if hello.protocol_major != MAJOR {
            return Some(format!(
                "the process of epoch {own} speaks version {MAJOR} of the restart protocol, and \
                 this one {}: stop it, and start this one with `--restart-epoch 0`",
                hello.protocol_major
            ));
        }
        if hello.epoch != next {
            return Some(format!(
                "a process of epoch {own} runs at {}: the next one has to have \
                 `--restart-epoch {next}`, not {}",
                self.path.display(),
                hello.epoch
            ));
        }
        if !*self.alone.borrow() {
            return Some(format!(
                "the process of epoch {own} waits for the one before it to end: try again when it \
                 is alone"
            ));
        }
        None
    }

    /// Lets a process take over, if it may.
    ///
    /// # Errors
    /// The reason why it may not, and what to do.
    async fn admit(&self, hello: &Handshake) -> Result<SemaphorePermit<'_>, Refusal> {
        if let Some(reason) = self.find_refusal(hello) {
            return Err(Refusal { reason });
        }
        match timeout(GRACE, self.turn.acquire()).await {
            Ok(Ok(turn)) => Ok(turn),
            Ok(Err(_)) | Err(_) => {
                let reason = "another process is taking over now: wait until it has".to_owned();
                Err(Refusal { reason })
            }
        }
    }

    /// Talks with a process; true if this one is to end.
    async fn serve(&self, stream: UnixStream) -> bool {
        let mut channel = Channel::new(stream);
        let hello = match timeout(ANSWER_TIMEOUT, channel.receive::<Handshake>()).await {
            Ok(Ok(Some((hello, _)))) => hello,
            Ok(Ok(None)) => return false,
            Ok(Err(error)) => {
                let reason = format!("this is no message of the restart protocol: {error}");
                // Whoever does not speak it may not read it either.
                let _ = channel.send(&refuse(reason), &[]).await;
                return false;
            }
            Err(_) => return false,
        };
        let _turn = match self.admit(&hello).await {
            Ok(turn) => turn,
            Err(Refusal { reason }) => {
                tracing::warn!(epoch = hello.epoch, "a process may not take over: {reason}");
                // It may have given up.
                let _ = channel.send(&refuse(reason), &[]).await;
                return false;
            }
        };
        match self.hand_over(&mut channel, &hello).await {
            Ok(Ended::Learned) => false,
            Ok(Ended::Replaced) => {
                tracing::info!("ending, as the process that took over asked");
                true
            }
            Err(error) => {
                if *self.handed_over.borrow() {
                    self.fleet.gates.resume();
                    self.handed_over.send_replace(false);
                }
                tracing::warn!("the process that was to take over is gone, going on: {error}");
                false
            }
        }
    }

    /// Does what the other process asks until that is to end.
    ///
    /// # Errors
    /// The other process is gone, or asks what it may not.
    async fn hand_over(&self, channel: &mut Channel, hello: &Handshake) -> io::Result<Ended> {
        let epoch = Handshake::of(self.fleet.epoch);
        channel.send(&reply(Answer::Hello(epoch)), &[]).await?;
        let mut has_learned = false;
        loop {
            let is_draining = *self.handed_over.borrow();
            let request = if is_draining {
                // It says in its own time when this one ends.
                channel.receive::<Request>().await?
            } else {
                timeout(ANSWER_TIMEOUT, channel.receive::<Request>()).await??
            };
            let (Request { request }, _) = match request {
                // It judges what it serves, and comes again.
                None if has_learned => return Ok(Ended::Learned),
                other => other.ok_or(io::ErrorKind::UnexpectedEof)?,
            };
            has_learned = matches!(request, Some(Ask::TakeState(_)));
            match request {
                Some(Ask::TakeState(_)) => self.pass_state_on(channel).await?,
                Some(Ask::TakeListeners(_)) => {
                    tracing::info!(
                        epoch = hello.epoch,
                        version = hello.program_version,
                        "another process is about to take over"
                    );
                    self.pass_on(channel).await?;
                }
                Some(Ask::Drain(_)) => {
                    self.handed_over.send_replace(true);
                    self.fleet.gates.hand_over();
                    let seconds = self.fleet.gates.drain_time().as_secs_f64();
                    tracing::info!(seconds, "another process took over: clients leave");
                    channel.send(&reply(Answer::Draining(Draining { seconds })), &[]).await?;
                }
                Some(Ask::Terminate(_)) if is_draining => {
                    self.count();
                    // It ends in any case.
                    let _ = channel.send(&reply(Answer::Terminating(Nothing {})), &[]).await;
                    return Ok(Ended::Replaced);
                }
                Some(Ask::Terminate(_)) | None => {
                    channel.send(&refuse("first take over, with `Drain`".to_owned()), &[]).await?;
                }
            }
        }
    }

    /// Sends what is owed to clients, in a memory file.
    async fn pass_state_on(&self, channel: &Channel) -> io::Result<()> {
        let state = self.fleet.save();
        let file = File::from(memfd_create(c"abide-serve state", MemfdFlags::CLOEXEC)?);
        tokio::task::block_in_place(|| state.write(&file))?;
        channel.send(&reply(Answer::State(Nothing {})), &[file.as_fd()]).await
    }

    /// Sends the sockets and the counters.
    async fn pass_on(&self, channel: &Channel) -> io::Result<()> {
        self.count();
        let counters = {
            let file = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
            file.as_fd().try_clone_to_owned()?
        };
        let open: Vec<Arc<Listener>> = self.listeners.iter().filter_map(Weak::upgrade).collect();
        let own = open.iter().map(|it| it.as_fd());
        let fds: Vec<BorrowedFd<'_>> = own.chain([self.socket.as_fd(), counters.as_fd()]).collect();
        let listeners = open.iter().map(|it| messages::Listener {
            name: it.door.name().to_owned(),
            address: it.asked.to_string(),
        });
        let heritage = InheritedState { listeners: listeners.collect() };
        channel.send(&reply(Answer::Heritage(heritage)), &fds).await
    }
}

fn reply(answer: Answer) -> Reply {
    Reply { reply: Some(answer) }
}

fn refuse(reason: String) -> Reply {
    reply(Answer::Refusal(Refusal { reason }))
}
