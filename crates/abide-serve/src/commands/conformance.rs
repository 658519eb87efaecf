//! `abide-serve conformance`: whether a server keeps to the protocol.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde_json::json;

use crate::conformance::{Changes, Outcome, Rules, Scenario, Server, ServerOptions, Way, play};
use crate::duration::duration;

/// Test an xDS server against the protocol, scenario by scenario: 0 if all pass, else 1
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  abide-serve conformance --list
  abide-serve --resources /tmp/served --api API &     # the server under test, with an empty folder
  abide-serve conformance --target 127.0.0.1:18000 --folder /tmp/served
  abide-serve conformance --target 127.0.0.1:9000 --change-command 'my-adapter --stdin'

A change replaces `conformance.yaml` in the folder: one document for each resource. A change command
gets the same resources on its standard input, as a JSON array of messages with `@type`, and ends when
the server has them. The endpoints `conformance-mark` are served beside them, with another port after
each change: the runner waits for them.")]
pub(crate) struct ConformanceArgs {
    /// The gRPC address of the server under test
    #[arg(long, value_name = "HOST:PORT", required_unless_present = "list")]
    target: Option<String>,
    /// The address of its long polling; without it, scenarios of REST are skipped
    #[arg(long, value_name = "HOST:PORT")]
    rest: Option<String>,
    /// A folder that the server reads its resources from
    #[arg(long, value_name = "DIR", required_unless_present_any = ["list", "change_command"])]
    folder: Option<PathBuf>,
    /// A command that changes what the server serves, run by `sh -c`
    #[arg(long, value_name = "COMMAND", conflicts_with = "folder")]
    change_command: Option<String>,
    /// Play only scenarios whose name, way or statement contains this
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Print the scenarios instead of playing them
    #[arg(long)]
    list: bool,
    /// Play a table of scenarios of your own
    #[arg(long, value_name = "FILE")]
    scenarios: Option<PathBuf>,
    /// Fail responses that hold more than what changed, which the protocol allows
    #[arg(long)]
    strict: bool,
    /// Play scenarios that wait for seconds, too
    #[arg(long)]
    slow: bool,
    /// How long a response or a change may take
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "10s")]
    patience: Duration,
    /// How long to wait where nothing may come
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "150ms")]
    quiet: Duration,
    /// The node id of all clients, for servers that serve known nodes only
    #[arg(long, value_name = "ID")]
    node_id: Option<String>,
    /// How results are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Human)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line for each scenario, and a summary
    Human,
    /// An object a line
    Json,
}

/// One scenario in one of its ways.
struct Case<'s> {
    scenario: &'s Scenario,
    way: Way,
}

impl Case<'_> {
    fn name(&self) -> String {
        format!("{}/{}", self.scenario.name, self.way)
    }

    fn is_wanted(&self, only: &[String]) -> bool {
        let name = self.name();
        let says = |text: &String| {
            name.contains(&**text) || self.scenario.proves.iter().any(|it| it.contains(&**text))
        };
        only.is_empty() || only.iter().any(says)
    }
}

pub(super) fn conformance(args: &ConformanceArgs) -> Result<ExitCode, String> {
    let scenarios = match &args.scenarios {
        None => Scenario::all()?,
        Some(path) => {
            let failed = |error: String| format!("cannot read `{}`: {error}", path.display());
            let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
            Scenario::read(&text).map_err(failed)?
        }
    };
    let cases =
        scenarios.iter().flat_map(|it| it.ways.iter().map(|way| Case { scenario: it, way: *way }));
    let cases: Vec<Case<'_>> = cases.filter(|it| it.is_wanted(&args.only)).collect();
    if cases.is_empty() {
        return Err("no scenario has this name; `--list` prints all".to_owned());
    }
    let mut out = std::io::stdout().lock();
    let written = |it: std::io::Result<()>| {
        it.map_err(|error| format!("cannot write to standard output: {error}"))
    };
    if args.list {
        for case in &cases {
            let Scenario { proves, summary, .. } = case.scenario;
            let line = match args.format {
                Format::Human => format!("{:<44} {:<40} {summary}", case.name(), proves.join(" ")),
                Format::Json => json!({
                    "kind": "scenario", "name": case.name(), "proves": proves, "summary": summary,
                })
                .to_string(),
            };
            written(writeln!(out, "{line}"))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let changes = match (&args.folder, &args.change_command) {
        (Some(folder), _) => Changes::Folder(folder.clone()),
        (None, Some(command)) => Changes::Command(command.clone()),
        (None, None) => return Err("`--folder` or `--change-command` is required".to_owned()),
    };
    let mut server = Server::new(ServerOptions {
        grpc: args.target.clone().unwrap_or_default(),
        rest: args.rest.clone(),
        changes,
        patience: args.patience,
        is_slow: args.slow,
        node_id: args.node_id.clone().unwrap_or_else(|| "conformance-changes".to_owned()),
    })?;
    let rules = Rules {
        patience: args.patience,
        quiet: args.quiet,
        is_strict: args.strict,
        node_id: args.node_id.clone(),
    };
    let begin = Instant::now();
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for case in &cases {
        let outcome = play(case.scenario, case.way, &mut server, &rules);
        let (word, reason) = match &outcome {
            Outcome::Passed => ("pass", ""),
            Outcome::Failed(why) => ("fail", &**why),
            Outcome::Skipped(why) => ("skip", &**why),
        };
        match &outcome {
            Outcome::Passed => passed += 1,
            Outcome::Failed(_) => failed += 1,
            Outcome::Skipped(_) => skipped += 1,
        }
        let proves = &case.scenario.proves;
        let line = match args.format {
            Format::Json => {
                let mut line = json!({
                    "kind": "scenario", "name": case.name(), "proves": proves, "outcome": word,
                });
                if !reason.is_empty() {
                    line["reason"] = reason.into();
                }
                line.to_string()
            }
            Format::Human if reason.is_empty() => {
                format!("{word}  {:<44} {}", case.name(), proves.join(" "))
            }
            Format::Human => format!(
                "{word}  {:<44} {}\n      {}\n      {reason}",
                case.name(),
                proves.join(" "),
                case.scenario.summary
            ),
        };
        written(writeln!(out, "{line}"))?;
    }
    let seconds = begin.elapsed().as_secs_f64();
    let summary = match args.format {
        Format::Human => {
            format!("{passed} passed, {failed} failed, {skipped} skipped in {seconds:.1} s")
        }
        Format::Json => json!({
            "kind": "summary", "passed": passed, "failed": failed, "skipped": skipped,
        })
        .to_string(),
    };
    written(writeln!(out, "{summary}"))?;
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
