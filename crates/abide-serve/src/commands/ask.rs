//! `abide-serve ask`: what a client is served, as one poll over REST shows it.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use hyper::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::logs::say;
use crate::duration::parse_duration;
use crate::error::Error;
use abide_transport::{ClientTls, ClientTlsArgs, RequestTarget, UNIX, read_body, send_request_to};

/// The number of bytes an answer may have.
const MAX_ANSWER: usize = 256 << 20;

/// After how long somebody at a terminal is told that this waits.
const AT_ONCE: Duration = Duration::from_millis(200);

/// Ask a running server what a client gets, and print it
///
/// It is one poll over REST, in the JSON mapping. Nothing is accepted or refused by it. A server that has
/// nothing of what is asked for keeps the poll waiting.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  abide-serve ask
  abide-serve ask --major 2
  abide-serve ask --node-cluster canary
  abide-serve ask endpoints --name service
  abide-serve ask --target https://abide.example:18080 --ca ca.pem --cert edge.pem --key edge.key")]
pub(crate) struct AskArgs {
    /// What to ask for, as paths of REST have it: `clusters`, `endpoints`, `listeners`, `routes` …
    #[arg(value_name = "WHAT", default_value = "clusters")]
    what: String,
    /// The name of a resource (repeatable); everything if nothing is named
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    /// The REST address of the server, which is that of its `--http`: HOST:PORT, `https://HOST:PORT`, or
    /// `unix:PATH`
    #[arg(long, value_name = "ADDR", value_parser = parse_target, default_value = "127.0.0.1:18080")]
    target: AskTarget,
    #[command(flatten)]
    tls: ClientTlsArgs,
    /// A file with a token, to be sent as `authorization: Bearer TOKEN`
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// How long to wait for an answer
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "30s")]
    wait: Duration,
    /// The major version that the client speaks
    #[arg(long, value_name = "N", default_value = "3", value_parser = ["2", "3"])]
    major: String,
    /// The id of the client's node
    #[arg(long, value_name = "ID", default_value = "abide-serve-ask")]
    node_id: String,
    /// The cluster of the client's node
    #[arg(long, value_name = "NAME", default_value = "")]
    node_cluster: String,
}

/// The address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AskTarget {
    /// `HOST:PORT` or `unix:PATH`.
    address: String,
    has_tls: bool,
}

impl AskArgs {
    /// The TLS to speak, if any.
    fn client_tls(&self) -> Result<Option<ClientTls>, Error> {
        match self.target.has_tls {
            true if self.tls.ca.is_none() => {
                let message = "name who signed the certificate of the server: `--ca FILE`";
                Err(Error::Argument(message.to_owned()))
            }
            true => Ok(Some(ClientTls::open(&self.tls, b"http/1.1")?)),
            false if self.tls.is_given() => {
                let message = "`--ca` and `--cert` are for `--target https://HOST:PORT`";
                Err(Error::Argument(message.to_owned()))
            }
            false => Ok(None),
        }
    }
}

/// Reads the first token of a file, as `--admin-token-file` has it.
fn read_token(path: &Path) -> Result<String, Error> {
    let text = std::fs::read_to_string(path).map_err(|error| Error::cannot_read(path, error))?;
    let mut lines = text.lines().map(str::trim).filter(|it| !it.is_empty() && !it.starts_with('#'));
    lines.next().map(str::to_owned).ok_or_else(|| Error::NoToken(path.to_owned()))
}

/// Reads the address of a server, which may be written as a URL without a path.
fn parse_target(text: &str) -> Result<AskTarget, Error> {
    if text.strip_prefix(UNIX).is_some_and(|it| !it.is_empty()) {
        return Ok(AskTarget { address: text.to_owned(), has_tls: false });
    }
    let with_tls = text.strip_prefix("https://");
    let bare = with_tls.or_else(|| text.strip_prefix("http://"));
    let bare = bare.map_or(text, |it| it.strip_suffix('/').unwrap_or(it));
    let parts = bare.rsplit_once(':').filter(|(host, _)| !host.is_empty() && !host.contains('/'));
    match parts.is_some_and(|(_, port)| port.parse::<u16>().is_ok()) {
        true => Ok(AskTarget { address: bare.to_owned(), has_tls: with_tls.is_some() }),
        false => Err(Error::Argument(
            "write it as HOST:PORT, such as 127.0.0.1:18080, `https://HOST:PORT`, or `unix:PATH`"
                .to_owned(),
        )),
    }
}

pub(super) async fn ask(args: &AskArgs) -> Result<ExitCode, Error> {
    let AskArgs { what, name, major, wait, .. } = args;
    let path = format!("/v{major}/discovery:{what}");
    let tls = args.client_tls()?;
    let token = args.token_file.as_deref().map(read_token).transpose()?;
    let AskTarget { address, .. } = &args.target;
    let target = RequestTarget { address, tls: tls.as_ref(), token: token.as_deref() };
    let url = target.url() + &path;
    let wanted = match &**name {
        [] => "nothing".to_owned(),
        names => format!("nothing named `{}`", names.join("` or `")),
    };
    let node = json!({"id": args.node_id, "cluster": args.node_cluster});
    let request = json!({"node": node, "resource_names": name}).to_string();
    let begin = Instant::now();
    let asked = async {
        let response = send_request_to(&target, Method::POST, &path, request.into())
            .await
            .map_err(|error| {
                Error::NoAnswer(format!(
                    "{error}; `--target` is the address of the server's `--http`"
                ))
            })?;
        let status = response.status();
        if status == StatusCode::NOT_MODIFIED {
            let seconds = begin.elapsed().as_secs_f64();
            return Err(Error::NoAnswer(format!(
                "`{url}` has {wanted} yet, and answered so after {seconds:.1} s"
            )));
        }
        Ok((status, read_body(response, MAX_ANSWER).await?))
    };
    let waits = async {
        sleep(AT_ONCE).await;
        if std::io::stderr().is_terminal() {
            say(&format!("waits up to {wait:?} for an answer of `{url}`"));
        }
        std::future::pending().await
    };
    let answered = timeout(*wait, async {
        tokio::select! {
            answered = asked => answered,
            never = waits => never,
        }
    });
    let (status, answer) = answered.await.map_err(|_| {
        let message = format!("{wanted} came in {wait:?} from `{url}`; `--wait` waits longer");
        Error::NoAnswer(message)
    })??;
    if status != StatusCode::OK {
        let said = String::from_utf8_lossy(&answer);
        let message = format!("`{url}` answered {status}: {}", said.trim_end());
        return Err(Error::NoAnswer(message));
    }
    let answer: Value = serde_json::from_slice(&answer)
        .map_err(|error| Error::NoAnswer(format!("`{url}` did not answer in JSON: {error}")))?;
    let written = writeln!(std::io::stdout().lock(), "{answer:#}");
    written.map_err(Error::Output)?;
    Ok(ExitCode::SUCCESS)
}
