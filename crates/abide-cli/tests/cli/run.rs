//! Runs the built binary as a user does.

#[path = "waiting.rs"]
pub(crate) mod waiting;

use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::Arc;

use rustix::process::{Pid, Signal, kill_process};

use self::waiting::{Log, unless_it_hangs};

/// What a run left.
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// The lines of a JSON report.
    pub(crate) fn json(&self) -> Vec<serde_json::Value> {
        let line = |line: &str| serde_json::from_str(line).expect("a line is an object");
        self.text().lines().map(line).collect()
    }

    /// The rules that reported, in order.
    pub(crate) fn rules(&self) -> Vec<String> {
        let rule = |it: &serde_json::Value| it["rule"].as_str().map(str::to_owned);
        self.json().iter().filter_map(rule).collect()
    }
}

/// Runs `abide` in a folder.
pub(crate) fn abide(folder: &Path, args: &[&str]) -> Ran {
    abide_with(folder, args, b"")
}

/// Runs `abide` in a folder with this on its standard input. A crash or a hang fails the test.
pub(crate) fn abide_with(folder: &Path, args: &[&str], input: &[u8]) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_abide"))
        .args(args)
        .current_dir(folder)
        .env_remove("NO_COLOR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || {
        // Who does not read its input is free to leave it.
        let _ = stdin.write_all(&input);
    });
    let mut stdout = child.stdout.take().expect("it is piped");
    let mut stderr = child.stderr.take().expect("it is piped");
    let out = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stdout.read_to_end(&mut bytes).map(|_| bytes)
    });
    let err = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stderr.read_to_end(&mut bytes).map(|_| bytes)
    });
    let status = unless_it_hangs(&mut child, |it| it.wait().expect("the child is ours"));
    feeder.join().expect("no panic");
    let stdout = out.join().expect("no panic").expect("the pipe is read");
    let stderr = err.join().expect("no panic").expect("the pipe is read");
    let stderr = String::from_utf8_lossy(&stderr).into_owned();
    assert!(!stderr.contains("panicked"), "`abide {}` panics: {stderr}", args.join(" "));
    let status = status.code();
    let status = status.unwrap_or_else(|| {
        panic!("`abide {}` hangs, or dies of a signal: {stderr}", args.join(" "))
    });
    assert!((0..=2).contains(&status), "`abide {}` leaves with {status}", args.join(" "));
    assert!(status != 2 || !stderr.trim().is_empty(), "status 2 says why");
    Ran { status, stdout, stderr }
}

/// Writes files, with the folders on the way, in this order.
pub(crate) fn put(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("it has a name")).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// Writes a program. By another process: what this one writes is open in the children of other tests
/// as well, and nobody can start what is being written.
pub(crate) fn put_program(folder: &Path, name: &str, text: &str) {
    let beside = format!("{name}.text");
    put(folder, &[(&beside, text)]);
    let mut install = Command::new("install");
    install.args(["-m", "755", &beside, name]).current_dir(folder);
    assert!(install.status().expect("it is there").success());
}

/// The top of the repository.
pub(crate) fn repository() -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.ancestors().nth(2).expect("crates/abide-cli has two above").to_owned()
}

/// The file that declares the options in which versions are recorded.
pub(crate) fn status_proto() -> String {
    std::fs::read_to_string(repository().join("api/abide/annotations/v1/status.proto")).unwrap()
}

/// A run that goes on. It ends with the test.
pub(crate) struct Running {
    child: Child,
    /// Not that of the child, which closes it when somebody waits for its end.
    stdin: Option<ChildStdin>,
    /// What it says on standard error.
    pub(crate) log: Arc<Log>,
}

impl Running {
    pub(crate) fn start(folder: &Path, args: &[&str]) -> Running {
        Running::with(folder, args, |_| {})
    }

    fn with(folder: &Path, args: &[&str], set: impl FnOnce(&mut Command)) -> Running {
        let mut command = Command::new(env!("CARGO_BIN_EXE_abide"));
        command.args(args).current_dir(folder);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        set(&mut command);
        let mut child = command.spawn().expect("the binary starts");
        let log = Log::of(BufReader::new(child.stderr.take().expect("it is piped")));
        Running { stdin: child.stdin.take(), child, log }
    }

    /// A run that stopped before the step of this number, of those that change a disk; `None` if it
    /// has fewer and is over. Only a debug build stops.
    pub(crate) fn stopped_before(step: u32, folder: &Path, args: &[&str]) -> Option<Running> {
        let wanted = step.to_string();
        let mut run = Running::with(folder, args, |it| {
            it.env("ABIDE_STOP_BEFORE", wanted);
        });
        if run.log.line_or_end(|it| it.starts_with("stopped before ")).is_some() {
            return Some(run);
        }
        let status = run.wait();
        assert!(status.success(), "`abide {}`: {}", args.join(" "), run.log.text());
        None
    }

    /// Lets a run go on that stopped.
    pub(crate) fn go_on(&mut self) {
        self.stdin = None;
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("the child is ours");
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        unless_it_hangs(&mut self.child, |it| it.wait().expect("the child is ours"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Has a command stop before one after the other of its steps, each time in a new run, and does
/// something to it there. The last run goes to its end.
pub(crate) fn at_each_step(folder: &Path, args: &[&str], then: impl FnMut(Running)) {
    let stopped = |step| Running::stopped_before(step, folder, args);
    let steps = (1..).map_while(stopped).map(then).count();
    assert!(steps > 2, "`abide {}` has {steps} steps", args.join(" "));
}

/// The signals that end a run, but those that whoever started the tests has them ignore, as a shell
/// does with what it runs in the background: a child ignores them as well.
pub(crate) fn ending_signals() -> Vec<Signal> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
    let all = [Signal::TERM, Signal::INT, Signal::HUP];
    all.into_iter().filter(|it| ignored & (1 << (it.as_raw() - 1)) == 0).collect()
}
