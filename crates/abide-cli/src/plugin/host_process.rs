//! Runs a plugin as a process, with limits: whatever it does, the run goes on.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long one call may take.
const TIMEOUT: Duration = Duration::from_secs(120);
/// The most bytes of an answer.
const MAX_ANSWER: usize = 64 << 20;
/// The most bytes that are shown of what it writes to standard error.
const MAX_SHOWN: usize = 500;
/// The most bytes of memory that it can ask for. Programs in Go reserve much more than they use.
#[cfg(target_os = "linux")]
const MAX_MEMORY: u64 = 8 << 30;

/// The reason for which a plugin gave no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProcessError {
    #[error("it cannot be started: {0}")]
    Start(std::io::Error),
    #[error("it gave no answer within {} seconds", TIMEOUT.as_secs())]
    Timeout,
    #[error("its answer has more than {} MiB", MAX_ANSWER >> 20)]
    Flood,
    #[error("it ended with {status}{}", shown(.stderr))]
    Failed { status: ExitStatus, stderr: String },
    #[error("its output cannot be read: {0}")]
    Read(std::io::Error),
}

/// What it wrote to standard error, for a message.
fn shown(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        text => format!(": {}", text.replace(['\n', '\r'], " ")),
    }
}

/// Calls a program and returns what it writes to standard output.
pub(super) fn call(
    folder: &Path,
    command: &[String],
    args: &[&str],
    input: Vec<u8>,
) -> Result<Vec<u8>, ProcessError> {
    let deadline = Instant::now() + TIMEOUT;
    let mut child = start(folder, command, args).map_err(ProcessError::Start)?;
    let answer = exchange(&mut child, input, deadline);
    let status = match &answer {
        Ok(_) => wait_until(&mut child, deadline),
        Err(_) => None,
    };
    if status.is_none() {
        end(&mut child);
    }
    let Exchange { stdout, stderr } = answer?;
    match status {
        None => Err(ProcessError::Timeout),
        Some(status) if status.success() => Ok(stdout),
        Some(status) => Err(ProcessError::Failed { status, stderr }),
    }
}

fn start(folder: &Path, command: &[String], args: &[&str]) -> std::io::Result<Child> {
    let (program, first) = command.split_first().map_or(("", &[][..]), |(it, rest)| (it, rest));
    // A name alone is looked up in PATH.
    let program = match program.contains('/') {
        true => folder.join(program),
        false => program.into(),
    };
    let mut command = Command::new(program);
    command.args(first).args(args).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    separate(&mut command);
    let child = command.spawn()?;
    limit_memory(&child);
    Ok(child)
}

/// Starts a group with a program, so that what it starts ends with it.
#[cfg(unix)]
fn separate(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn separate(_: &mut Command) {}

#[cfg(target_os = "linux")]
fn limit_memory(child: &Child) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let most = Rlimit { current: Some(MAX_MEMORY), maximum: Some(MAX_MEMORY) };
    if let Some(pid) = Pid::from_raw(child.id().cast_signed()) {
        // Without this limit the time still is one.
        let _ = prlimit(Some(pid), Resource::As, most);
    }
}

#[cfg(not(target_os = "linux"))]
fn limit_memory(_: &Child) {}

/// What a program wrote.
struct Exchange {
    stdout: Vec<u8>,
    stderr: String,
}

fn exchange(
    child: &mut Child,
    input: Vec<u8>,
    deadline: Instant,
) -> Result<Exchange, ProcessError> {
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its input is free to leave it.
        std::thread::spawn(move || drop(stdin.write_all(&input)));
    }
    let stdout = child.stdout.take().map(|it| read_in_background(it, MAX_ANSWER + 1));
    let stderr = child.stderr.take().map(|it| read_in_background(it, MAX_SHOWN));
    let stdout = receive(stdout, deadline)?;
    if stdout.len() > MAX_ANSWER {
        return Err(ProcessError::Flood);
    }
    // Who keeps standard error open has said enough.
    let stderr = receive(stderr, Instant::now() + Duration::from_millis(200)).unwrap_or_default();
    Ok(Exchange { stdout, stderr: String::from_utf8_lossy(&stderr).into_owned() })
}

type ReadResult = std::io::Result<Vec<u8>>;

fn read_in_background(stream: impl Read + Send + 'static, most: usize) -> Receiver<ReadResult> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut stream = stream.take(most as u64);
        let read = stream.read_to_end(&mut bytes).map(|_| bytes);
        // Nobody listens any more after the deadline.
        let _ = sender.send(read);
    });
    receiver
}

fn receive(
    receiver: Option<Receiver<ReadResult>>,
    deadline: Instant,
) -> Result<Vec<u8>, ProcessError> {
    let Some(receiver) = receiver else { return Ok(Vec::new()) };
    let left = deadline.saturating_duration_since(Instant::now());
    match receiver.recv_timeout(left) {
        Ok(read) => read.map_err(ProcessError::Read),
        Err(_) => Err(ProcessError::Timeout),
    }
}

/// Waits for the end of a program that has closed its output.
fn wait_until(child: &mut Child, deadline: Instant) -> Option<ExitStatus> {
    while Instant::now() < deadline {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    None
}

/// Ends a program and what it started.
fn end(child: &mut Child) {
    end_group(child);
    // It may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(unix)]
fn end_group(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(pid) = Pid::from_raw(child.id().cast_signed()) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn end_group(_: &Child) {}
