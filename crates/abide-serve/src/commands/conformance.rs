//! `abide-serve conformance`: whether a server or a client keeps to the protocol.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde_json::json;

use abide_conformance::{
    Changes, ClientOptions, ClientScenario, ConformanceError, Outcome, Rules, Scenario, Server,
    ServerOptions, Way, play_client,
};

use crate::duration::parse_duration;
use crate::error::Error;

/// Test an xDS server or client against the protocol, scenario by scenario: 0 if all pass, else 1
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  abide-serve conformance --list
  abide-serve --resources /tmp/served --api API &     # the server under test, with an empty folder
  abide-serve conformance --target 127.0.0.1:18000 --folder /tmp/served
  abide-serve conformance --target 127.0.0.1:9000 --change-command 'my-adapter --stdin'
  abide-serve conformance --client -- python3 my_grpc_client.py xds:///service
  abide-serve conformance --client --delta -- envoy -c {bootstrap} --use-dynamic-base-id

A change replaces `conformance.yaml` in the folder: one document for each resource, in the JSON mapping
and with `@type`. A change command gets the same text on its standard input, and ends when the server
has the resources. The endpoints `conformance-mark` are served beside them, with another port after
each change: the runner waits for them.

With `--client` the runner is the server, and starts the command anew for each scenario. A gRPC client
finds its bootstrap by GRPC_XDS_BOOTSTRAP; `{bootstrap}` in the command is that of an Envoy, and
`{address}` the server's address, as is XDS_ADDRESS. The client has to ask for all four of listeners,
routes, clusters and endpoints, which gRPC clients do when they are first used.")]
pub(crate) struct ConformanceArgs {
    /// The gRPC address of the server under test
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:18000")]
    target: String,
    /// The address of its long polling; without it, scenarios of REST are skipped
    #[arg(long, value_name = "HOST:PORT")]
    rest: Option<String>,
    /// A folder that the server reads its resources from
    #[arg(long, value_name = "DIR", required_unless_present_any = ["list", "change_command", "client"])]
    folder: Option<PathBuf>,
    /// A command that changes what the server serves, run by `sh -c`
    #[arg(long, value_name = "COMMAND", conflicts_with = "folder")]
    change_command: Option<String>,
    /// Test a client, which the command after `--` starts
    #[arg(long, conflicts_with_all = ["target", "rest", "folder", "change_command", "scenarios"])]
    client: bool,
    /// Let an Envoy under test use the incremental variant
    #[arg(long, requires = "client")]
    delta: bool,
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
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "10s")]
    patience: Duration,
    /// How long to wait where nothing may come
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "150ms")]
    quiet: Duration,
    /// The node id of all clients, for servers that serve known nodes only
    #[arg(long, value_name = "ID")]
    node_id: Option<String>,
    /// How results are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Human)]
    format: Format,
    /// The command that starts a client under test, after `--`
    #[arg(last = true, value_name = "COMMAND", requires = "client")]
    command: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line for each scenario, and a summary
    Human,
    /// An object a line
    Json,
}

/// A scenario in one of its ways, as it is listed.
struct Case<'s> {
    name: String,
    proves: &'s [String],
    summary: &'s str,
}

impl Case<'_> {
    fn is_wanted(&self, only: &[String]) -> bool {
        let says = |text: &String| {
            self.name.contains(&**text) || self.proves.iter().any(|it| it.contains(&**text))
        };
        only.is_empty() || only.iter().any(says)
    }
}

/// Writes what comes of scenarios, and counts it.
struct Report {
    format: Format,
    out: std::io::StdoutLock<'static>,
    begin: Instant,
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl Report {
    fn new(format: Format) -> Report {
        let out = std::io::stdout().lock();
        Report { format, out, begin: Instant::now(), passed: 0, failed: 0, skipped: 0 }
    }

    fn line(&mut self, line: &str) -> Result<(), Error> {
        let written = writeln!(self.out, "{line}");
        written.map_err(Error::Output)
    }

    fn list(&mut self, case: &Case<'_>) -> Result<(), Error> {
        let Case { name, proves, summary } = case;
        let line = match self.format {
            Format::Human => format!("{name:<48} {:<40} {summary}", proves.join(" ")),
            Format::Json => {
                json!({"kind": "scenario", "name": name, "proves": proves, "summary": summary})
                    .to_string()
            }
        };
        self.line(&line)
    }

    fn add(&mut self, case: &Case<'_>, outcome: &Outcome) -> Result<(), Error> {
        let (word, reason, count) = match outcome {
            Outcome::Passed => ("pass", "", &mut self.passed),
            Outcome::Failed(why) => ("fail", &**why, &mut self.failed),
            Outcome::Skipped(why) => ("skip", &**why, &mut self.skipped),
        };
        *count += 1;
        let Case { name, proves, summary } = case;
        let mut line = match self.format {
            Format::Human => format!("{word}  {name:<48} {}", proves.join(" ")),
            Format::Json => {
                let mut line =
                    json!({"kind": "scenario", "name": name, "proves": proves, "outcome": word});
                if !reason.is_empty() {
                    line["reason"] = reason.into();
                }
                line.to_string()
            }
        };
        if self.format == Format::Human && !reason.is_empty() {
            line.push_str(&format!("\n      {summary}\n      {reason}"));
        }
        self.line(&line)
    }

    fn end(mut self) -> Result<ExitCode, Error> {
        let Report { passed, failed, skipped, .. } = self;
        let line = match self.format {
            Format::Human => {
                let seconds = self.begin.elapsed().as_secs_f64();
                format!("{passed} passed, {failed} failed, {skipped} skipped in {seconds:.1} s")
            }
            Format::Json => json!({
                "kind": "summary", "passed": passed, "failed": failed, "skipped": skipped,
            })
            .to_string(),
        };
        self.line(&line)?;
        Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

pub(super) fn conformance(args: &ConformanceArgs) -> Result<ExitCode, Error> {
    match args.client {
        true => of_client(args),
        false => of_server(args),
    }
}

fn of_server(args: &ConformanceArgs) -> Result<ExitCode, Error> {
    let scenarios = match &args.scenarios {
        None => Scenario::all()?,
        Some(path) => {
            let read = std::fs::read_to_string(path);
            let text = read.map_err(|error| Error::cannot_read(path, error))?;
            Scenario::read(&text).map_err(|error| Error::cannot_read(path, error))?
        }
    };
    let all = scenarios.iter().flat_map(|it| it.ways.iter().map(move |way| (it, *way)));
    let cases = all.map(|(it, way)| {
        let name = format!("{}/{way}", it.name);
        ((it, way), Case { name, proves: &it.proves, summary: &it.summary })
    });
    let changes = match (&args.folder, &args.change_command) {
        (Some(folder), _) if !folder.is_dir() && !args.list => {
            let folder = folder.display();
            let message = format!("`--folder {folder}`: name a folder that the server reads");
            return Err(Error::Argument(message));
        }
        (Some(folder), _) => Changes::Folder(folder.clone()),
        (None, Some(command)) => Changes::Command(command.clone()),
        (None, None) => Changes::Command(String::new()), // Only to list them.
    };
    let mut server = Server::new(ServerOptions {
        grpc: args.target.clone(),
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
    play_all(args, cases, |(scenario, way): (&Scenario, Way)| server.play(scenario, way, &rules))
}

fn of_client(args: &ConformanceArgs) -> Result<ExitCode, Error> {
    if args.command.is_empty() && !args.list {
        let message = "`--client` requires the command of the client, after `--`";
        return Err(Error::Argument(message.to_owned()));
    }
    let scenarios = ClientScenario::all()?;
    let cases = scenarios
        .iter()
        .map(|it| (it, Case { name: it.name.clone(), proves: &it.proves, summary: &it.summary }));
    let options = ClientOptions {
        command: args.command.clone(),
        is_delta: args.delta,
        patience: args.patience,
    };
    play_all(args, cases, |scenario| play_client(scenario, &options))
}

/// Plays or lists the scenarios that are wanted.
fn play_all<'s, S>(
    args: &ConformanceArgs,
    cases: impl Iterator<Item = (S, Case<'s>)>,
    mut play: impl FnMut(S) -> Result<Outcome, ConformanceError>,
) -> Result<ExitCode, Error> {
    let cases: Vec<_> = cases.filter(|(_, case)| case.is_wanted(&args.only)).collect();
    if cases.is_empty() {
        let message = "no scenario has this name; `--list` prints all";
        return Err(Error::Argument(message.to_owned()));
    }
    let mut report = Report::new(args.format);
    if args.list {
        cases.iter().try_for_each(|(_, case)| report.list(case))?;
        return Ok(ExitCode::SUCCESS);
    }
    for (scenario, case) in cases {
        let outcome = play(scenario)?;
        report.add(&case, &outcome)?;
    }
    report.end()
}
