//! Calls of other programs, with limits: whatever they do, the run goes on.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use thiserror::Error;

/// The most bytes that are kept of what a program writes to standard error.
const MAX_SAID: usize = 4096;
/// The most bytes of that in a message.
const MAX_SHOWN: usize = 500;

/// The limits of a call.
#[derive(Clone, Copy, Debug)]
pub struct CallLimits {
    /// How long it may take.
    pub time: Duration,
    /// The most bytes of its answer.
    pub answer: usize,
    /// The most bytes of memory that the program can ask for, where the system can limit that.
    pub memory: Option<u64>,
}

/// The reason for which a program gave no answer.
#[derive(Debug, Error)]
pub enum CallError {
    /// The system does not start it.
    #[error("it cannot be started: {0}")]
    Start(std::io::Error),
    /// It takes too long.
    #[error("it gave no answer within {} seconds", .0.as_secs())]
    Timeout(Duration),
    /// It answers too much.
    #[error("its answer has more than {} MiB", .0 >> 20)]
    Flood(usize),
    /// It ended with an error.
    #[error("it ended with {status}{}", describe_said(.stderr))]
    Failed {
        /// How it ended.
        status: ExitStatus,
        /// What it wrote to standard error.
        stderr: String,
    },
    /// Its output is lost.
    #[error("its output cannot be read: {0}")]
    Read(std::io::Error),
}

/// What a program wrote.
#[derive(Debug)]
pub struct CallOutput {
    /// Its answer: what it wrote to standard output.
    pub stdout: Vec<u8>,
    /// The beginning of what it wrote to standard error.
    pub stderr: String,
}

/// What it wrote to standard error, for a message.
fn describe_said(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        text => {
            let end = text.floor_char_boundary(MAX_SHOWN);
            format!(": {}", text[..end].replace(['\n', '\r'], " "))
        }
    }
}

/// Calls a program with this on its standard input.
///
/// # Errors
/// A program that cannot be started, fails, or goes beyond a limit.
pub fn call_program(
    mut command: Command,
    input: Vec<u8>,
    limits: &CallLimits,
) -> Result<CallOutput, CallError> {
    let deadline = Instant::now() + limits.time;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    separate(&mut command);
    let mut child = command.spawn().map_err(CallError::Start)?;
    if let Some(memory) = limits.memory {
        limit_memory(&child, memory);
    }
    let answer = exchange(&mut child, input, (limits, deadline));
    let status = match &answer {
        Ok(_) => wait_until(&mut child, deadline),
        Err(_) => None,
    };
    if status.is_none() {
        end(&mut child);
    }
    let output = answer?;
    match status {
        None => Err(CallError::Timeout(limits.time)),
        Some(status) if status.success() => Ok(output),
        Some(status) => Err(CallError::Failed { status, stderr: output.stderr }),
    }
}

/// Starts a group with a program, so that what it starts ends with it.
#[cfg(unix)]
fn separate(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn separate(_: &mut Command) {}

#[cfg(target_os = "linux")]
fn limit_memory(child: &Child, bytes: u64) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let most = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    if let Some(pid) = Pid::from_raw(child.id().cast_signed()) {
        // Without this limit the time still is one.
        let _ = prlimit(Some(pid), Resource::As, most);
    }
}

#[cfg(not(target_os = "linux"))]
fn limit_memory(_: &Child, _: u64) {}

fn exchange(
    child: &mut Child,
    input: Vec<u8>,
    (limits, deadline): (&CallLimits, Instant),
) -> Result<CallOutput, CallError> {
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its input is free to leave it.
        std::thread::spawn(move || drop(stdin.write_all(&input)));
    }
    let stdout = child.stdout.take().map(|it| read_in_background(it, limits.answer + 1));
    let stderr = child.stderr.take().map(|it| read_in_background(it, MAX_SAID));
    let late = || CallError::Timeout(limits.time);
    let stdout = receive(stdout, deadline).ok_or_else(late)?.map_err(CallError::Read)?;
    if stdout.len() > limits.answer {
        return Err(CallError::Flood(limits.answer));
    }
    // Who keeps standard error open has said enough.
    let stderr = receive(stderr, Instant::now() + Duration::from_millis(200));
    let stderr = stderr.and_then(Result::ok).unwrap_or_default();
    Ok(CallOutput { stdout, stderr: String::from_utf8_lossy(&stderr).into_owned() })
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

/// What was read; `None` if the deadline comes first.
fn receive(receiver: Option<Receiver<ReadResult>>, deadline: Instant) -> Option<ReadResult> {
    let Some(receiver) = receiver else { return Some(Ok(Vec::new())) };
    receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
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
