//! The listening sockets, and the connections that come through them.
//!
//! Sockets can be bound here, or be taken over from another process and passed on to the next
//! one. Every connection can be told to leave: over HTTP/2 with GOAWAY, over HTTP/1 with
//! `connection: close` on its next response. None is cut.

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::header::{CONNECTION, HeaderValue};
use hyper::body::{Body, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_io_timeout::TimeoutStream;
use tower_service::Service;

use super::drain::{DrainArgs, DrainCause, DrainState, DrainType, age_limit};
use super::peer::Peer;
use super::peer_shares::{PeerShare, PeerShares};
use crate::error::Error as ServerError;
use crate::limits::Limits;
use abide_transport::{CertificateFacts, ReloadingTls, SMALL};

/// The time that a connection which makes room for another one may take to be gone.
const ROOM_PATIENCE: Duration = Duration::from_secs(1);

/// The interval at which a silent connection is asked whether it still lives.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// The time that a connection over HTTP/1 may be idle, or take for the head of a request: polls may be
/// minutes apart.
const IDLE: Duration = Duration::from_secs(600);
/// The number of streams a connection may have open.
const MAX_STREAMS: u32 = 1000;
/// The number of bytes of all its streams that may come before they are read.
const CONNECTION_WINDOW: u32 = 4 * SMALL as u32;
/// The number of connections the admin port may have, and that for probes as well.
const MAX_ADMIN_CONNECTIONS: usize = 100;
/// The time for which nothing is accepted when the system has no more file descriptors.
const EXHAUSTED: Duration = Duration::from_secs(1);

/// The purpose of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ListenerKind {
    Admin,
    Http,
    Grpc,
    /// What of the admin pages changes nothing, for probes and Prometheus.
    Status,
}

impl ListenerKind {
    pub(crate) const ALL: [ListenerKind; 4] =
        [ListenerKind::Admin, ListenerKind::Http, ListenerKind::Grpc, ListenerKind::Status];

    /// Returns the protocol of its clients, as TLS names it.
    pub(crate) fn protocol(self) -> &'static [u8] {
        match self {
            ListenerKind::Grpc => b"h2",
            ListenerKind::Http | ListenerKind::Admin | ListenerKind::Status => b"http/1.1",
        }
    }

    /// Its name for processes that take over.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ListenerKind::Admin => "admin",
            ListenerKind::Http => "http",
            ListenerKind::Grpc => "grpc",
            ListenerKind::Status => "status",
        }
    }
}

/// The listeners of clients.
const CLIENTS: [ListenerKind; 2] = [ListenerKind::Http, ListenerKind::Grpc];

/// A listening socket.
pub(crate) struct Listener {
    pub(crate) door: ListenerKind,
    /// The address that was asked for, also if the system chose the port.
    pub(crate) asked: SocketAddr,
    socket: TcpListener,
}

impl Listener {
    /// Listens at an address.
    ///
    /// # Errors
    /// An address that cannot be listened at.
    pub(crate) fn bind(door: ListenerKind, asked: SocketAddr) -> Result<Listener, ServerError> {
        let socket = listen(asked);
        let socket = socket.map_err(|error| ServerError::Bind {
            address: asked.to_string(),
            reason: error.to_string(),
        })?;
        Ok(Listener { door, asked, socket })
    }

    /// Listens at a socket of another process.
    ///
    /// # Errors
    /// Whatever is no listening socket.
    pub(crate) fn inherit(
        door: ListenerKind,
        asked: SocketAddr,
        socket: OwnedFd,
    ) -> io::Result<Listener> {
        let socket = std::net::TcpListener::from(socket);
        socket.set_nonblocking(true)?;
        Ok(Listener { door, asked, socket: TcpListener::from_std(socket)? })
    }

    /// Returns the address where it listens; empty if the system does not say.
    pub(crate) fn address(&self) -> String {
        self.socket.local_addr().map_or_else(|_| String::new(), |it| it.to_string())
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// A socket that as many may knock at before they are accepted as the system allows, as Envoy has
/// it: a fleet comes again all at once, and whoever is dropped waits for seconds.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // As for every server: the connections of the last one may still be known.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(i32::MAX as u32)
}

/// The treatment of those who come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AcceptMode {
    #[default]
    Yes,
    /// Another process accepts, at the same socket.
    Paused,
    /// Nobody does: the socket is closed.
    Never,
}

#[derive(Clone, Debug, Default)]
struct ListenerState {
    accepting: AcceptMode,
    drains: DrainState,
}

/// A service that answers the requests of a connection.
pub(crate) trait RequestService:
    Service<
        http::Request<Incoming>,
        Response = http::Response<Self::Body>,
        Error = Infallible,
        Future: Send,
    > + Clone
    + Send
    + 'static
{
    /// The body of an answer.
    type Body: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static;
}

impl<S, B> RequestService for S
where
    S: Service<http::Request<Incoming>, Response = http::Response<B>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    type Body = B;
}

/// Tells listeners what to do, and their connections when to leave.
#[derive(Debug)]
pub(crate) struct Connections {
    args: DrainArgs,
    /// The time that a connection may take to bring its first request.
    patience: Duration,
    /// One for each connection that clients may have, and that the admin port may have.
    places: Arc<Semaphore>,
    /// The number of connections that clients may have.
    most: usize,
    admin_places: Arc<Semaphore>,
    /// The connections of clients, by where they come from.
    shares: Arc<PeerShares>,
    /// The number of connections that one address may have.
    most_of_peer: usize,
    /// Whoever fills this port keeps no operator from the admin pages.
    status_places: Arc<Semaphore>,
    states: [watch::Sender<ListenerState>; ListenerKind::ALL.len()],
}

impl Connections {
    /// Gates for at most so many connections as the system has descriptors for.
    pub(crate) fn new(args: DrainArgs, limits: &Limits, descriptors: usize) -> Connections {
        let most = limits.max_connections.min(descriptors).min(Semaphore::MAX_PERMITS);
        if most < limits.max_connections {
            tracing::info!(
                connections = most,
                "the system has file descriptors for fewer connections than there may be"
            );
        }
        Connections {
            args,
            patience: limits.stall,
            places: Arc::new(Semaphore::new(most)),
            most,
            admin_places: Arc::new(Semaphore::new(MAX_ADMIN_CONNECTIONS)),
            shares: Arc::default(),
            most_of_peer: limits.max_peer_connections.unwrap_or(usize::MAX),
            status_places: Arc::new(Semaphore::new(MAX_ADMIN_CONNECTIONS)),
            states: Default::default(),
        }
    }

    /// The places for the connections of a listener.
    fn places(&self, door: ListenerKind) -> &Arc<Semaphore> {
        match door {
            ListenerKind::Admin => &self.admin_places,
            ListenerKind::Status => &self.status_places,
            ListenerKind::Http | ListenerKind::Grpc => &self.places,
        }
    }

    /// A connection of a client from this address; `None` if there are as many as there may be. If there
    /// are, the address with the most of them makes room for one with fewer.
    async fn admit(
        &self,
        door: ListenerKind,
        address: IpAddr,
        was_full: &mut bool,
    ) -> Option<Connection> {
        if !CLIENTS.contains(&door) {
            return self.begin(door, was_full);
        }
        let address = peer_key(address);
        if self.shares.count(address) >= self.most_of_peer {
            if !std::mem::replace(was_full, true) {
                tracing::warn!(%address, "this address has as many connections as one may have");
            }
            return None;
        }
        if self.places.available_permits() == 0
            && let Some((heaviest, connections)) = self.shares.make_room_for(address)
        {
            tracing::warn!(
                address = %heaviest,
                connections,
                "closed a connection of the address with the most, since there are as many as there may be"
            );
            // It is gone as soon as its task was stopped.
            drop(timeout(ROOM_PATIENCE, self.places.acquire()).await);
        }
        let mut connection = self.begin(door, was_full)?;
        connection.share = Some(self.shares.begin(address, connection.number));
        Some(connection)
    }

    /// A connection with its place; `None` if there are as many as there may be. The first that is
    /// refused is logged.
    fn begin(&self, door: ListenerKind, was_full: &mut bool) -> Option<Connection> {
        let place = Arc::clone(self.places(door)).try_acquire_owned().ok();
        let is_full = place.is_none();
        if is_full && !*was_full {
            tracing::warn!(door = door.name(), "there are as many connections as there may be");
        }
        *was_full = is_full;
        let mut connection = Connection::begin(self.state(door).subscribe(), place?, self.patience);
        // Nobody balances connections of operators.
        let limit = self.args.max_connection_age_s.filter(|_| CLIENTS.contains(&door));
        connection.ends = limit.map(|it| connection.came + age_limit(connection.number, it));
        Some(connection)
    }

    /// Returns the number of connections that clients have open, and the number that they may have.
    pub(crate) fn occupancy(&self) -> (usize, usize) {
        (self.most.saturating_sub(self.places.available_permits()), self.most)
    }

    /// Returns the time that connections have to leave.
    pub(crate) fn drain_time(&self) -> Duration {
        self.args.spread(self.args.drain_time())
    }

    /// Lets nobody else come and tells all clients to leave. Returns once they have, or their time is
    /// over; `false` if some are left.
    pub(crate) async fn end(&self) -> bool {
        self.drain(DrainCause::End, &CLIENTS, self.args.end_spread());
        self.accept(&CLIENTS, AcceptMode::Never);
        let all = u32::try_from(self.most).unwrap_or(u32::MAX);
        timeout(self.args.end_time(), self.places.acquire_many(all)).await.is_ok()
    }

    /// Returns true if another process serves those who come now.
    pub(crate) fn is_handed_over(&self) -> bool {
        ListenerKind::ALL.iter().any(|it| self.state(*it).borrow().accepting == AcceptMode::Paused)
    }

    fn state(&self, door: ListenerKind) -> &watch::Sender<ListenerState> {
        &self.states[door as usize]
    }

    /// Returns the events that a listener drains for. An operator needs the admin pages while
    /// health checks fail.
    fn drain_type(&self, door: ListenerKind) -> DrainType {
        match door {
            ListenerKind::Admin | ListenerKind::Status => DrainType::ModifyOnly,
            ListenerKind::Http | ListenerKind::Grpc => self.args.drain_type,
        }
    }

    fn drain(&self, cause: DrainCause, doors: &[ListenerKind], over: Duration) {
        for &door in doors.iter().filter(|it| self.drain_type(**it).reacts_to(cause)) {
            self.state(door).send_modify(|it| it.drains.begin(cause, Instant::now(), over));
        }
    }

    fn accept(&self, doors: &[ListenerKind], accepting: AcceptMode) {
        for &door in doors {
            self.state(door).send_modify(|it| {
                // What is closed stays closed.
                if it.accepting != AcceptMode::Never {
                    it.accepting = accepting;
                }
            });
        }
    }

    /// Has clients look for another server, while health checks fail.
    pub(crate) fn fail_health_checks(&self) {
        self.drain(DrainCause::HealthCheck, &ListenerKind::ALL, self.drain_time());
    }

    /// Has clients stay that have not left.
    pub(crate) fn pass_health_checks(&self) {
        for door in ListenerKind::ALL {
            self.state(door).send_modify(|it| it.drains.end(DrainCause::HealthCheck));
        }
    }

    /// Leaves everything to another process that has the same sockets.
    pub(crate) fn hand_over(&self) {
        self.accept(&ListenerKind::ALL, AcceptMode::Paused);
        self.drain(DrainCause::HotRestart, &ListenerKind::ALL, self.drain_time());
    }

    /// Goes on: the other process is gone. Clients that have not left can stay.
    pub(crate) fn resume(&self) {
        self.accept(&ListenerKind::ALL, AcceptMode::Yes);
        for door in ListenerKind::ALL {
            self.state(door).send_modify(|it| it.drains.end(DrainCause::HotRestart));
        }
    }

    /// Closes the sockets that clients come through: at once, or when all of them had the time to
    /// leave.
    pub(crate) async fn close(&self, is_graceful: bool) {
        if is_graceful {
            self.drain(DrainCause::Removal, &CLIENTS, self.drain_time());
            sleep(self.args.drain_time()).await;
        } else {
            self.drain(DrainCause::Removal, &CLIENTS, Duration::ZERO);
        }
        self.accept(&CLIENTS, AcceptMode::Never);
    }

    /// Serves whoever comes through a listener, until that is closed: nobody else may keep it.
    pub(crate) async fn receive(
        &self,
        listener: Arc<Listener>,
        tls: Option<Arc<ReloadingTls>>,
        service: impl RequestService,
    ) {
        let mut state = self.state(listener.door).subscribe();
        let mut was_full = false;
        loop {
            let accepting = state.borrow_and_update().accepting;
            let stream = match accepting {
                AcceptMode::Yes => tokio::select! {
                    // Who comes after that is for another process.
                    biased;
                    _ = state.changed() => continue,
                    stream = accept(&listener.socket) => stream,
                },
                AcceptMode::Paused => {
                    if state.changed().await.is_err() {
                        return;
                    }
                    continue;
                }
                AcceptMode::Never => return,
            };
            let Ok(came_from) = stream.peer_addr() else { continue };
            let address = came_from.ip();
            let admitted = self.admit(listener.door, address, &mut was_full).await;
            let Some(mut visit) = admitted else { continue };
            let (door, service, tls) = (listener.door, service.clone(), tls.clone());
            let number = visit.number;
            let task = tokio::spawn(async move {
                let address = came_from.to_string();
                let Some(tls) = tls else {
                    visit.peer = Arc::new(Peer { address, certificate: None });
                    return serve(door, stream, service, visit).await;
                };
                // On the side: who takes long for introductions keeps nobody waiting.
                match tls.accept(stream).await {
                    Ok(stream) => {
                        let shown = stream.get_ref().1.peer_certificates().unwrap_or_default();
                        let certificate = shown.first().and_then(CertificateFacts::read);
                        visit.peer = Arc::new(Peer { address, certificate });
                        serve(door, stream, service, visit).await;
                    }
                    Err(error) => tracing::info!(%error, peer = address, "refused a connection"),
                }
            });
            self.shares.can_end(peer_key(address), number, task.abort_handle());
        }
    }

    /// Serves whoever comes through a unix-domain socket. Another process that listens at its
    /// path takes its place there.
    pub(crate) async fn receive_local(
        &self,
        door: ListenerKind,
        socket: UnixListener,
        service: impl RequestService,
    ) {
        let mut state = self.state(door).subscribe();
        let mut was_full = false;
        // While another process accepts at a socket of its own, those who knocked at this one are served.
        while state.borrow_and_update().accepting != AcceptMode::Never {
            let accepted = tokio::select! {
                biased;
                _ = state.changed() => continue,
                accepted = socket.accept() => accepted,
            };
            match accepted {
                Ok((stream, _)) => {
                    if let Some(mut visit) = self.begin(door, &mut was_full) {
                        visit.peer = Arc::new(Peer::of_process(&stream));
                        tokio::spawn(serve(door, stream, service.clone(), visit));
                    }
                }
                Err(error) => {
                    tracing::error!("cannot accept connections: {error}");
                    sleep(EXHAUSTED).await;
                }
            }
        }
    }
}

/// What counts as one peer: an address of version 4, or a network of version 6 as one customer has it.
fn peer_key(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(it) => IpAddr::V6(Ipv6Addr::from_bits(it.to_bits() >> 64 << 64)),
        it @ IpAddr::V4(_) => it,
    }
}

/// Waits for the next connection.
async fn accept(socket: &TcpListener) -> TcpStream {
    loop {
        match socket.accept().await {
            Ok((stream, _)) => {
                // Responses are written whole. One that cannot be hurried is slower, no more.
                let _ = stream.set_nodelay(true);
                return stream;
            }
            Err(error) => {
                use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
                let is_gone = [ConnectionAborted, ConnectionRefused, ConnectionReset];
                if !is_gone.contains(&error.kind()) {
                    tracing::error!("cannot accept connections: {error}");
                    sleep(EXHAUSTED).await;
                }
            }
        }
    }
}

/// A connection, and what its listener says.
struct Connection {
    number: u64,
    came: Instant,
    state: watch::Receiver<ListenerState>,
    /// The time that it may take to bring its first request.
    patience: Duration,
    /// The time at which it is old enough to leave, if it ever is.
    ends: Option<Instant>,
    /// Of a client, what it counts for.
    share: Option<PeerShare>,
    peer: Arc<Peer>,
    _place: OwnedSemaphorePermit,
}

impl Connection {
    fn begin(
        state: watch::Receiver<ListenerState>,
        place: OwnedSemaphorePermit,
        patience: Duration,
    ) -> Connection {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let (came, peer) = (Instant::now(), Arc::default());
        let (ends, share) = (None, None);
        Connection { number, came, state, patience, ends, share, peer, _place: place }
    }

    /// Waits until it is time to leave.
    async fn wait_for_departure(&mut self) {
        loop {
            let departure =
                self.state.borrow_and_update().drains.departure_time(self.number, self.came);
            let changed = match departure.into_iter().chain(self.ends).min() {
                None => self.state.changed().await,
                Some(departure) => tokio::select! {
                    () = sleep_until(departure) => return,
                    changed = self.state.changed() => changed,
                },
            };
            if changed.is_err() {
                // The server ends.
                return;
            }
        }
    }
}

/// True if the connection of a request was told to leave. Every request has it as an extension.
#[derive(Clone)]
pub(crate) struct DrainSignal(watch::Receiver<bool>);

impl DrainSignal {
    /// Waits until a connection was told to leave, or is gone; for ever where nobody can tell.
    pub(crate) async fn wait_for_drain(leave: Option<DrainSignal>) {
        match leave {
            // An error says that the connection is gone.
            Some(DrainSignal(mut told)) => drop(told.wait_for(|it| *it).await),
            None => std::future::pending().await,
        }
    }

    fn is_draining(&self) -> bool {
        *self.0.borrow()
    }
}

/// Serves a connection in the protocol of its listener, until it ends.
async fn serve(
    door: ListenerKind,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    service: impl RequestService,
    visit: Connection,
) {
    let ended = match door {
        ListenerKind::Grpc => serve_http2(stream, service, visit).await,
        ListenerKind::Http | ListenerKind::Admin | ListenerKind::Status => {
            serve_http1(stream, service, visit).await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
}

/// Returns a function to call when a connection brings a request, and a future that ends when none
/// came in time.
fn watch_first_request(patience: Duration) -> (impl Fn(), impl Future<Output = ()>) {
    let (first, came) = oneshot::channel::<Infallible>();
    let first = Mutex::new(Some(first));
    let begin = move || drop(first.lock().unwrap_or_else(PoisonError::into_inner).take());
    let silent = async move {
        // The other half is gone as soon as a request is there.
        if timeout(patience, came).await.is_ok() {
            std::future::pending::<()>().await;
        }
    };
    (begin, silent)
}

async fn serve_http2(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    service: impl RequestService,
    mut visit: Connection,
) -> hyper::Result<()> {
    let (telling, leave) = watch::channel(false);
    let (begin, silent) = watch_first_request(visit.patience);
    let peer = Arc::clone(&visit.peer);
    let service = service_fn(move |mut request: http::Request<Incoming>| {
        begin();
        request.extensions_mut().insert(DrainSignal(leave.clone()));
        request.extensions_mut().insert(Arc::clone(&peer));
        service.clone().call(request)
    });
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(KEEPALIVE)
        .max_concurrent_streams(MAX_STREAMS)
        .initial_stream_window_size(SMALL as u32)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => return ended,
        () = silent => return Ok(()),
        () = visit.wait_for_departure() => {}
    }
    // The client hears of it before its streams end, and opens the next ones elsewhere.
    connection.as_mut().graceful_shutdown();
    telling.send_replace(true);
    connection.await
}

async fn serve_http1(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    service: impl RequestService,
    mut visit: Connection,
) -> hyper::Result<()> {
    let (telling, leave) = watch::channel(false);
    let leave = DrainSignal(leave);
    let peer = Arc::clone(&visit.peer);
    let (begin, silent) = watch_first_request(visit.patience);
    let service = service_fn(move |mut request: http::Request<Incoming>| {
        begin();
        request.extensions_mut().insert(leave.clone());
        request.extensions_mut().insert(Arc::clone(&peer));
        let leave = leave.clone();
        let response = service.clone().call(request);
        async move {
            let mut response = response.await?;
            if leave.is_draining() {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response)
        }
    });
    // Who does not take what it is sent has no more time than who does not send what it began.
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(visit.patience));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .serve_connection(TokioIo::new(Box::pin(stream)), service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => return ended,
        () = silent => return Ok(()),
        () = visit.wait_for_departure() => {}
    }
    // A connection that waits for a request is left open: a request may be on its way.
    telling.send_replace(true);
    connection.await
}

#[cfg(test)]
mod tests {
    use tokio::task::JoinSet;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_thousand_connections_are_told_to_leave_evenly() {
        const OVER: Duration = Duration::from_secs(600);
        let state = watch::Sender::new(ListenerState::default());
        let places = Arc::new(Semaphore::new(1000));
        let begin = Instant::now();
        let mut visits = JoinSet::new();
        for _ in 0..1000 {
            let place = Arc::clone(&places).try_acquire_owned().unwrap();
            let mut visit = Connection::begin(state.subscribe(), place, OVER);
            visits.spawn(async move {
                visit.wait_for_departure().await;
                begin.elapsed()
            });
        }
        state.send_modify(|it| it.drains.begin(DrainCause::HotRestart, begin, OVER));
        let mut tenths = [0; 10];
        while let Some(left) = visits.join_next().await {
            let share = left.unwrap().as_secs_f64() / OVER.as_secs_f64();
            tenths[(share * 10.0) as usize] += 1;
        }
        assert!(tenths.iter().all(|it| (97..=103).contains(it)), "{tenths:?}");
    }
}
