//! `abide-serve shutdown-manager`: answers when the proxy may end.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;
use tokio::time::sleep;
use tracing::{error, info, warn};

use crate::duration::parse_duration;

use crate::error::Error;

use super::proxy::{AdminPort, Proxy, ProxyArgs};
use super::ready_file::ReadyFile;

/// The number of connections that may be open at once. The kubelet opens one, a probe another.
const MAX_CONNECTIONS: usize = 1000;

/// The number of requests that may wait for the ready file, so that there is room for probes.
const MAX_WAITING: usize = 64;

/// The time that the head of a request may take.
const HEAD_TIMEOUT: Duration = Duration::from_secs(3);

/// Answer the hook of the proxy's container when the proxy may end
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  abide-serve shutdown-manager                 # /healthz, /shutdown and /status on port 8090
  abide-serve shutdown-manager --recover       # a proxy left draining takes connections again
  abide-serve shutdown-manager --bind 127.0.0.1 --serve-port 8091

/shutdown answers once the ready file is there; `abide-serve shutdown` makes it.")]
pub(crate) struct ManagerArgs {
    /// The port to listen on
    #[arg(long, value_name = "PORT", default_value_t = 8090)]
    serve_port: u16,

    /// The address to listen on; all of this host's by default, since the kubelet asks from outside
    #[arg(long, value_name = "ADDR", default_value_t = IpAddr::V6(Ipv6Addr::UNSPECIFIED))]
    bind: IpAddr,

    /// The file that says that the proxy may end; one that an earlier run left is removed
    #[arg(long, value_name = "FILE", default_value = "/ok")]
    ready_file: PathBuf,

    /// How often to look for the ready file
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "1s")]
    check_interval: Duration,

    /// If the proxy is draining when the manager starts, make its health checks pass again
    #[arg(long)]
    recover: bool,

    #[command(flatten)]
    proxy: ProxyArgs,
}

/// The state that requests are answered from.
struct Manager {
    ready: ReadyFile,
    check_interval: Duration,
    proxy: AdminPort,
    /// One for each request that may wait.
    waiting: Semaphore,
}

/// Serves until it is told to end.
pub(crate) async fn manage(args: &ManagerArgs) -> ExitCode {
    match serve(args).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            error!(context = "shutdown-manager", "{reason}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(args: &ManagerArgs) -> Result<(), Error> {
    let manager = Manager {
        ready: ReadyFile::new(&args.ready_file),
        check_interval: args.check_interval,
        proxy: AdminPort::of(&args.proxy),
        waiting: Semaphore::new(MAX_WAITING),
    };
    let ready = &manager.ready;
    match ready.remove() {
        Ok(false) => {}
        Ok(true) => warn!(context = "shutdown-manager", "removed `{ready}` of an earlier run"),
        Err(error) => {
            let message = format!("cannot remove `{ready}` of an earlier run: {error}");
            return Err(Error::ShutdownManager(message));
        }
    }
    let listener = listen(args).await?;
    let address =
        listener.local_addr().map_err(|error| Error::ShutdownManager(error.to_string()))?;
    info!(context = "shutdown-manager", %address, "started envoy shutdown manager");
    if args.recover {
        manager.recover().await;
    }
    let ended = terminated().map_err(Error::Signals)?;
    tokio::select! {
        () = accept(listener, Arc::new(manager)) => {}
        () = ended => {}
    }
    info!(context = "shutdown-manager", "stopped envoy shutdown manager");
    Ok(())
}

/// Listens; where a host has no IPv6, all its addresses are those of IPv4.
async fn listen(args: &ManagerArgs) -> Result<TcpListener, Error> {
    let address = SocketAddr::new(args.bind, args.serve_port);
    match TcpListener::bind(address).await {
        Err(error) if args.bind == IpAddr::V6(Ipv6Addr::UNSPECIFIED) => {
            let error = if error.kind() == std::io::ErrorKind::AddrInUse {
                Err(error)
            } else {
                TcpListener::bind(SocketAddr::from(([0; 4], args.serve_port))).await
            };
            error.map_err(|error| cannot_listen(&format!("port {}", args.serve_port), &error))
        }
        listener => listener.map_err(|error| cannot_listen(&address.to_string(), &error)),
    }
}

fn cannot_listen(place: &str, error: &std::io::Error) -> Error {
    Error::ShutdownManager(format!("cannot listen on {place}: {error}"))
}

/// Ends when the process is told to.
fn terminated() -> std::io::Result<impl Future<Output = ()>> {
    // The first process of a container has no other way to be told.
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

async fn accept(listener: TcpListener, manager: Arc<Manager>) {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Such as too many open files: others end, and then there is room again.
                error!(context = "shutdown-manager", "cannot accept a connection: {error}");
                sleep(manager.check_interval).await;
                continue;
            }
        };
        let manager = Arc::clone(&manager);
        tokio::spawn(async move {
            let answer = service_fn(|request| manager.answer(request));
            let served = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .keep_alive(false)
                .header_read_timeout(HEAD_TIMEOUT)
                .serve_connection(TokioIo::new(stream), answer)
                .await;
            if let Err(error) = served {
                error!(context = "shutdown-manager", "cannot answer: {error}");
            }
            drop(place);
        });
    }
}

impl Manager {
    async fn answer(
        &self,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, Infallible> {
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        let (status, kind, body) = match request.uri().path() {
            "/healthz" | "/shutdown" | "/status" if !is_read => {
                (StatusCode::METHOD_NOT_ALLOWED, "text/plain", "use GET\n".to_owned())
            }
            "/healthz" => (StatusCode::OK, "text/plain", "OK".to_owned()),
            "/shutdown" => match self.waiting.try_acquire() {
                Ok(_place) => {
                    self.until_ready().await;
                    (StatusCode::OK, "text/plain", "OK".to_owned())
                }
                Err(_) => {
                    let message = format!("{MAX_WAITING} requests wait already\n");
                    (StatusCode::SERVICE_UNAVAILABLE, "text/plain", message)
                }
            },
            "/status" => (StatusCode::OK, "application/json", self.status().await),
            _ => {
                let known = "this server has /healthz, /shutdown and /status\n";
                (StatusCode::NOT_FOUND, "text/plain", known.to_owned())
            }
        };
        let mut response = Response::new(Full::from(body));
        *response.status_mut() = status;
        let kind = hyper::header::HeaderValue::from_static(kind);
        response.headers_mut().insert(hyper::header::CONTENT_TYPE, kind);
        Ok(response)
    }

    /// Waits for the ready file.
    async fn until_ready(&self) {
        let ready = &self.ready;
        let mut waiting = Waiting { is_over: false };
        loop {
            match ready.exists() {
                Ok(true) => break,
                Ok(false) => info!(context = "shutdown-manager", "`{ready}` is not there yet"),
                Err(error) => {
                    error!(context = "shutdown-manager", "cannot look at `{ready}`: {error}")
                }
            }
            sleep(self.check_interval).await;
        }
        waiting.is_over = true;
        info!(context = "shutdown-manager", "`{ready}` is there: the proxy may end");
    }

    /// Renders what the proxy does now, as JSON.
    async fn status(&self) -> String {
        let draining = self.proxy.is_draining().await;
        let open = self.proxy.open_connections().await;
        let reason = draining.as_ref().err().or(open.as_ref().err()).map(ToString::to_string);
        let mut status = json!({ "ready": self.ready.exists().unwrap_or(false) });
        if let Ok(draining) = draining {
            status["draining"] = draining.into();
        }
        if let Ok(open) = open {
            status["open_connections"] = open.into();
        }
        if let Some(reason) = reason {
            status["error"] = reason.into();
        }
        status.to_string()
    }

    /// Takes a proxy back into service whose draining nobody waits for: a manager that has just
    /// started was restarted alone, since a pod that stops does not start it again.
    async fn recover(&self) {
        match self.proxy.is_draining().await {
            Ok(false) => {}
            // It starts beside the manager, and a proxy that is not up does not drain.
            Err(error) => info!(context = "shutdown-manager", "nothing to recover: {error}"),
            Ok(true) => match self.proxy.pass_health_checks().await {
                Ok(()) => warn!(
                    context = "shutdown-manager",
                    "the proxy was left draining: its health checks pass again"
                ),
                Err(error) => {
                    error!(context = "shutdown-manager", "the proxy is left draining: {error}");
                }
            },
        }
    }
}

/// Notes that a client went away before it was answered.
struct Waiting {
    is_over: bool,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.is_over {
            info!(context = "shutdown-manager", "the client no longer waits for /shutdown");
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct CommandLine {
        #[command(flatten)]
        args: ManagerArgs,
    }

    #[test]
    fn the_manager_has_the_documented_defaults() {
        let args = CommandLine::parse_from(["shutdown-manager"]).args;
        assert_eq!((args.serve_port, args.proxy.admin_port), (8090, 9001));
        assert!(args.bind.is_unspecified());
        assert_eq!((args.ready_file, args.check_interval.as_secs()), (PathBuf::from("/ok"), 1));
        assert!(!args.recover);
    }
}
