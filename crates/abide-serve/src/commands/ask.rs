//! `abide-serve ask`: what a client is served, as one poll over REST shows it.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use hyper::{Method, StatusCode};
use serde_json::{Value, json};

use crate::client::{body, send};

/// How many bytes an answer may have.
const MAX_ANSWER: usize = 256 << 20;

/// Ask a running server what a client gets, and print it
///
/// It is one poll over REST, in the JSON mapping. Nothing is accepted or refused by it.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  abide-serve ask
  abide-serve ask --major 2
  abide-serve ask --node-cluster canary
  abide-serve ask endpoints --name service")]
pub(crate) struct AskArgs {
    /// What to ask for, as paths of REST have it: `clusters`, `endpoints`, `listeners`, `routes` …
    #[arg(value_name = "WHAT", default_value = "clusters")]
    what: String,
    /// The name of a resource (repeatable); everything if nothing is named
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    /// The REST address of the server
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:18080")]
    target: String,
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

pub(super) async fn ask(args: &AskArgs) -> Result<ExitCode, String> {
    let AskArgs { what, name, target, major, .. } = args;
    let path = format!("/v{major}/discovery:{what}");
    let node = json!({"id": args.node_id, "cluster": args.node_cluster});
    let request = json!({"node": node, "resource_names": name}).to_string();
    let response = send(target, Method::POST, &path, request.into()).await?;
    let status = response.status();
    if status == StatusCode::NOT_MODIFIED {
        return Err(format!("`http://{target}{path}` has nothing of it yet"));
    }
    let answer = body(response, MAX_ANSWER).await?;
    if status != StatusCode::OK {
        let said = String::from_utf8_lossy(&answer);
        return Err(format!("`http://{target}{path}` answered {status}: {}", said.trim_end()));
    }
    let answer: Value = serde_json::from_slice(&answer)
        .map_err(|error| format!("`http://{target}{path}` did not answer in JSON: {error}"))?;
    let written = writeln!(std::io::stdout().lock(), "{answer:#}");
    written.map_err(|error| format!("cannot write to standard output: {error}"))?;
    Ok(ExitCode::SUCCESS)
}
