//! Questions to a proxy on its admin port.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::{Method, Response, StatusCode};
use tokio::time::timeout;

use super::exposition::{Malformed, Sum};
use abide_transport::{TransportError, UNIX, send_request};

/// The time that an answer may take, until its end.
const PATIENCE: Duration = Duration::from_secs(30);

/// The gauges of open connections, of HTTP and of listeners, each with the label that tells them apart. A
/// listener with both has the same connections in both.
const ACTIVE: &[(&str, &str)] = &[
    ("envoy_http_downstream_cx_active", "envoy_http_conn_manager_prefix"),
    ("envoy_listener_downstream_cx_active", "envoy_listener_address"),
];

/// Where the admin port of the proxy is, and whose connections count.
#[derive(Args, Clone, Debug)]
pub(super) struct ProxyArgs {
    /// The admin port of the proxy
    #[arg(long, value_name = "PORT", default_value_t = 9001)]
    pub(super) admin_port: u16,

    /// The host of the admin port, or the path of its unix-domain socket
    #[arg(long, value_name = "HOST", default_value = "localhost")]
    pub(super) admin_address: String,

    /// The `stat_prefix` of HTTP, or of a TCP listener, whose connections count (repeatable, or separated by commas)
    #[arg(
        long = "listener",
        value_name = "PREFIX",
        value_delimiter = ',',
        default_values = ["ingress_http", "ingress_https"]
    )]
    pub(super) listeners: Vec<String>,
}

/// A proxy that is taken out of service. A test has one that only pretends.
pub(super) trait Proxy {
    /// Makes its health checks fail, so that nobody sends it new connections.
    async fn fail_health_checks(&self) -> Result<(), ProxyError>;
    /// Counts the connections that clients have open.
    async fn open_connections(&self) -> Result<u64, ProxyError>;
}

/// The admin port of a real one.
#[derive(Clone, Debug)]
pub(super) struct AdminPort {
    /// `HOST:PORT`, or `unix:PATH`.
    address: String,
    /// The values of `stat_prefix` of the listeners that count.
    listeners: Vec<String>,
}

/// An error of a proxy that did not answer as it should.
#[derive(Debug)]
pub(super) enum ProxyError {
    /// Nobody listens at its admin port: it has ended, or not begun.
    Gone { doing: &'static str, reason: String },
    /// It could not be asked.
    Transport { doing: &'static str, reason: String },
    /// It answered, with another status than 200.
    Status { url: String, status: StatusCode },
    /// Its metrics are no metrics.
    Malformed(Malformed),
    /// Its metrics lack that of open connections, which says nothing about their number.
    NoMetric { listeners: Vec<String> },
}

impl fmt::Display for ProxyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProxyError::Gone { doing, reason } | ProxyError::Transport { doing, reason } => {
                write!(f, "{doing} failed: {reason}")
            }
            ProxyError::Status { url, status } => write!(f, "`{url}` answered {status}"),
            ProxyError::Malformed(malformed) => malformed.fmt(f),
            ProxyError::NoMetric { listeners } => write!(
                f,
                "the metrics have no open connections of `{}`: name the `stat_prefix` of the HTTP or TCP \
                 listeners with `--listener`",
                listeners.join("`, `")
            ),
        }
    }
}

impl AdminPort {
    pub(super) fn of(args: &ProxyArgs) -> AdminPort {
        let ProxyArgs { admin_port, admin_address, listeners } = args;
        let listeners = listeners.clone();
        let path = admin_address.strip_prefix(UNIX).or(Some(admin_address));
        if let Some(path) = path.filter(|it| it.starts_with('/')) {
            return AdminPort { address: format!("{UNIX}{path}"), listeners };
        }
        // An address of IPv6 is written in brackets before a port.
        let host = match admin_address.contains(':') && !admin_address.starts_with('[') {
            true => format!("[{admin_address}]"),
            false => admin_address.clone(),
        };
        AdminPort { address: format!("{host}:{admin_port}"), listeners }
    }

    /// Makes its health checks pass again.
    pub(super) async fn pass_health_checks(&self) -> Result<(), ProxyError> {
        let doing = "creating healthcheck ok POST request";
        self.ask(Method::POST, "/healthcheck/ok", doing, async |_| Ok(())).await
    }

    /// Returns true if its health checks were made to fail.
    pub(super) async fn is_draining(&self) -> Result<bool, ProxyError> {
        let doing = "reading the state of the proxy";
        let asked = async {
            let (_, mut response) = self.send(Method::GET, "/ready", doing).await?;
            // The answers that are known are a word each; the status of one that drains is 503.
            let mut word = Vec::new();
            while let Some(bytes) = next(&mut response, doing).await? {
                word.extend_from_slice(&bytes);
                if word.len() > 64 {
                    break;
                }
            }
            Ok(word.trim_ascii() == b"DRAINING")
        };
        in_time(doing, asked).await
    }

    async fn ask<T>(
        &self,
        method: Method,
        path: &'static str,
        doing: &'static str,
        read: impl AsyncFnOnce(Response<Incoming>) -> Result<T, ProxyError>,
    ) -> Result<T, ProxyError> {
        let asked = async {
            let (url, response) = self.send(method, path, doing).await?;
            match response.status() {
                StatusCode::OK => read(response).await,
                status => Err(ProxyError::Status { url, status }),
            }
        };
        in_time(doing, asked).await
    }

    async fn send(
        &self,
        method: Method,
        path: &'static str,
        doing: &'static str,
    ) -> Result<(String, Response<Incoming>), ProxyError> {
        let url = format!("http://{}{path}", self.address);
        let response = send_request(&self.address, method, path, Bytes::new()).await;
        let response = response.map_err(|error| match error {
            TransportError::NobodyListens(reason) => ProxyError::Gone { doing, reason },
            other => transport(doing, &other),
        })?;
        Ok((url, response))
    }
}

impl Proxy for AdminPort {
    async fn fail_health_checks(&self) -> Result<(), ProxyError> {
        let doing = "creating healthcheck fail POST request";
        self.ask(Method::POST, "/healthcheck/fail", doing, async |_| Ok(())).await
    }

    async fn open_connections(&self) -> Result<u64, ProxyError> {
        let doing = "reading the metrics";
        self.ask(Method::GET, "/stats/prometheus", doing, async |mut response| {
            let mut sum = Sum::of(ACTIVE, &self.listeners);
            while let Some(bytes) = next(&mut response, doing).await? {
                sum.push(&bytes).map_err(ProxyError::Malformed)?;
            }
            let sum = sum.finish().map_err(ProxyError::Malformed)?;
            sum.ok_or_else(|| ProxyError::NoMetric { listeners: self.listeners.clone() })
        })
        .await
    }
}

/// An answer, or an error when it takes too long.
async fn in_time<T>(
    doing: &'static str,
    asked: impl Future<Output = Result<T, ProxyError>>,
) -> Result<T, ProxyError> {
    let late = |_| transport(doing, &format_args!("no answer in {PATIENCE:?}"));
    timeout(PATIENCE, asked).await.map_err(late)?
}

/// The next bytes of a body.
async fn next(
    response: &mut Response<Incoming>,
    doing: &'static str,
) -> Result<Option<Bytes>, ProxyError> {
    while let Some(frame) = response.frame().await {
        let frame = frame.map_err(|error| transport(doing, &error))?;
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

fn transport(doing: &'static str, error: &dyn fmt::Display) -> ProxyError {
    ProxyError::Transport { doing, reason: error.to_string() }
}
