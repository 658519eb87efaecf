//! `abide-serve restarter`: the parent of processes that restart hot, under any supervisor.
//!
//! A program that restarts hot is run twice for a while: the next epoch beside the one
//! that it takes over from. Supervisors know one process, which has to stay. That is
//! this one.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{ExitCode, ExitStatus};
use std::time::Duration;

use clap::{Args, ValueEnum};
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tracing::{error, info, warn};

use crate::duration::parse_duration;

/// The status of a command that cannot be started, as shells have it.
const CANNOT_START: u8 = 127;

/// Run a command that restarts hot: SIGHUP starts its next epoch, SIGTERM ends all
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  abide-serve restarter -- abide-serve --resources resources --api api \\
    --restart-socket /run/abide/restart
  abide-serve restarter -- envoy -c /config/envoy.json
  kill -HUP $RESTARTER        # a newer binary, or another configuration, takes over

The command finds its epoch in RESTART_EPOCH: 0, then 1. `envoy` and `abide-serve` get it as
`--restart-epoch N`, too. An epoch that fails leaves the one before it as it was. `envoy` is first
run with `--mode validate`: after an epoch of Envoy that failed, no other one can take over. A SIGHUP
that comes while the last one is at work starts one more epoch after that, however many come.
SIGUSR1 is handed on. When the last epoch has ended, so does the restarter, with its status.")]
pub(crate) struct RestarterArgs {
    /// How long processes that are told to end may take before they are killed
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "30s")]
    term_wait: Duration,

    /// When to append `--restart-epoch N` to the command
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Append::Auto)]
    append_epoch: Append,

    /// When to run the command with `--mode validate` before its next epoch starts
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Validate::Auto)]
    validate: Validate,

    /// The command, after `--`
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Append {
    /// To `envoy` and `abide-serve`
    Auto,
    /// To every command
    Always,
    /// To none
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Validate {
    /// If it is `envoy`
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl RestarterArgs {
    /// The program, its name, and its arguments.
    fn parts(&self) -> (&OsString, &OsStr, &[OsString]) {
        let (program, arguments) = self.command.split_first().expect("clap requires a command");
        (program, Path::new(program).file_name().unwrap_or(program), arguments)
    }

    /// The command that says whether the next epoch would start, if there is one.
    fn validation(&self) -> Option<Command> {
        let (program, name, arguments) = self.parts();
        let is_wanted = match self.validate {
            Validate::Auto => name == "envoy" && !arguments.iter().any(|it| it == "--mode"),
            Validate::Always => true,
            Validate::Never => false,
        };
        let mut command = Command::new(program);
        command.args(arguments).args(["--mode", "validate"]).kill_on_drop(true);
        is_wanted.then_some(command)
    }

    /// The command of an epoch.
    fn of_epoch(&self, epoch: u32) -> Command {
        let (program, name, arguments) = self.parts();
        let is_appended = match self.append_epoch {
            Append::Auto => ["envoy", "abide-serve"].iter().any(|it| name == *it),
            Append::Always => true,
            Append::Never => false,
        };
        let mut command = Command::new(program);
        command.args(arguments).env("RESTART_EPOCH", epoch.to_string());
        if is_appended {
            command.arg("--restart-epoch").arg(epoch.to_string());
        }
        command
    }
}

/// The epochs that run.
struct Epochs<'a> {
    args: &'a RestarterArgs,
    /// The process of each, until it has ended.
    running: BTreeMap<u32, Pid>,
    ends: JoinSet<(u32, std::io::Result<ExitStatus>)>,
    /// Says whether the next epoch would start.
    validations: JoinSet<std::io::Result<ExitStatus>>,
    /// True if an epoch is to start when there is room for one.
    is_wanted: bool,
}

/// The number of epochs that run at once: one that takes over from another.
const MAX_EPOCHS: usize = 2;

/// Runs until the last epoch has ended.
pub(crate) async fn restart(args: &RestarterArgs) -> ExitCode {
    match supervise(args).await {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            error!(context = "restarter", "cannot wait for signals: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn supervise(args: &RestarterArgs) -> std::io::Result<u8> {
    let mut hangup = signal(SignalKind::hangup())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut user = signal(SignalKind::user_defined1())?;
    let mut epochs = Epochs::new(args);
    if !epochs.start() {
        return Ok(CANNOT_START);
    }
    // Set when all are told to end.
    let mut deadline = None;
    let mut last = 0;
    while !epochs.running.is_empty() {
        let is_over = async {
            match deadline {
                Some(deadline) => sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = hangup.recv() => if deadline.is_none() { epochs.want() },
            Some(validated) = epochs.validations.join_next() => {
                let validated = validated.unwrap_or_else(|error| Err(std::io::Error::other(error)));
                if deadline.is_none() && epochs.is_valid(validated) {
                    epochs.start();
                }
            }
            _ = terminate.recv() => deadline = deadline.or(Some(epochs.end())),
            _ = interrupt.recv() => deadline = deadline.or(Some(epochs.end())),
            _ = user.recv() => epochs.signal(Signal::USR1),
            Some(Ok((epoch, status))) = epochs.ends.join_next() => {
                let status = epochs.ended(epoch, status);
                // What a process says that was told to end is no failure of it.
                last = if deadline.is_some() { 0 } else { status };
                if deadline.is_none() && !epochs.running.is_empty() {
                    epochs.start_wanted();
                }
            }
            () = is_over => {
                warn!(context = "restarter", "killing what has not ended in {:?}", args.term_wait);
                epochs.signal(Signal::KILL);
                deadline = None;
            }
        }
    }
    Ok(last)
}

impl Epochs<'_> {
    fn new(args: &RestarterArgs) -> Epochs<'_> {
        let (running, ends, validations) = (BTreeMap::new(), JoinSet::new(), JoinSet::new());
        Epochs { args, running, ends, validations, is_wanted: false }
    }

    /// Starts an epoch now, or as soon as there is room for one: however often it is asked for meanwhile,
    /// it is one.
    fn want(&mut self) {
        let was_wanted = std::mem::replace(&mut self.is_wanted, true);
        self.start_wanted();
        if self.is_wanted && !was_wanted {
            info!(context = "restarter", "the next epoch starts when the last one has taken over");
        }
    }

    /// Starts an epoch that is wanted, if there is room for one.
    fn start_wanted(&mut self) {
        let is_busy = self.running.len() >= MAX_EPOCHS || !self.validations.is_empty();
        if is_busy || !std::mem::take(&mut self.is_wanted) {
            return;
        }
        let Some(mut validation) = self.args.validation() else {
            self.start();
            return;
        };
        match validation.spawn() {
            Ok(mut child) => drop(self.validations.spawn(async move { child.wait().await })),
            Err(error) => drop(self.is_valid(Err(error))),
        }
    }

    /// Returns true if the command would start. If not, it says so, and what runs goes on.
    fn is_valid(&self, validated: std::io::Result<ExitStatus>) -> bool {
        let outcome = match validated {
            Ok(status) if status.success() => return true,
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        error!(
            context = "restarter",
            "`--mode validate` ended with {outcome}: no epoch is started, and what runs goes on"
        );
        false
    }

    /// Starts the epoch after the newest one that runs. One that failed gives its number back:
    /// programs that restart hot take over from the number before their own.
    fn start(&mut self) -> bool {
        let epoch = self.running.last_key_value().map_or(0, |(newest, _)| newest + 1);
        let child = self.args.of_epoch(epoch).spawn();
        let started =
            child.map(|child| (child.id().and_then(|it| Pid::from_raw(it as i32)), child));
        match started {
            Ok((Some(pid), mut child)) => {
                info!(context = "restarter", epoch, pid = pid.as_raw_pid(), "started");
                self.running.insert(epoch, pid);
                self.ends.spawn(async move { (epoch, child.wait().await) });
                true
            }
            Ok((None, _)) => unreachable!("a process that nobody waited for has an id"),
            Err(error) => {
                let program = self.args.command[0].display();
                error!(context = "restarter", epoch, "cannot start `{program}`: {error}");
                false
            }
        }
    }

    /// Tells all to end; when those that have not are to be killed.
    fn end(&self) -> Instant {
        info!(context = "restarter", "ending all");
        self.signal(Signal::TERM);
        Instant::now() + self.args.term_wait
    }

    fn signal(&self, signal: Signal) {
        for (epoch, pid) in &self.running {
            if let Err(error) = kill_process(*pid, signal) {
                warn!(context = "restarter", epoch, "cannot be signalled: {error}");
            }
        }
    }

    /// Forgets an epoch that has ended; its status as shells have it.
    fn ended(&mut self, epoch: u32, status: std::io::Result<ExitStatus>) -> u8 {
        self.running.remove(&epoch);
        let status = match status {
            Ok(status) if status.success() => {
                info!(context = "restarter", epoch, "ended");
                return 0;
            }
            Ok(status) => {
                error!(context = "restarter", epoch, "ended with {status}");
                status
            }
            Err(error) => {
                error!(context = "restarter", epoch, "cannot be waited for: {error}");
                return 1;
            }
        };
        use std::os::unix::process::ExitStatusExt;
        let code = status.code().or(status.signal().map(|it| 128 + it));
        code.and_then(|it| u8::try_from(it).ok()).unwrap_or(1)
    }
}
