//! Runs the built binary as a user does.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longer than any of these runs takes on a busy machine without optimisation.
const PATIENCE: Duration = Duration::from_secs(120);

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
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("the child is ours") {
            break status;
        }
        if begin.elapsed() > PATIENCE {
            child.kill().expect("the child is ours");
            panic!("`abide {}` hangs", args.join(" "));
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    feeder.join().expect("no panic");
    let stdout = out.join().expect("no panic").expect("the pipe is read");
    let stderr = err.join().expect("no panic").expect("the pipe is read");
    let stderr = String::from_utf8_lossy(&stderr).into_owned();
    assert!(!stderr.contains("panicked"), "`abide {}` panics: {stderr}", args.join(" "));
    let status = status.code();
    let status =
        status.unwrap_or_else(|| panic!("`abide {}` dies of a signal: {stderr}", args.join(" ")));
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

/// The top of the repository.
pub(crate) fn repository() -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.ancestors().nth(2).expect("crates/abide-cli has two above").to_owned()
}

/// The file that declares the options in which versions are recorded.
pub(crate) fn status_proto() -> String {
    std::fs::read_to_string(repository().join("api/abide/annotations/v1/status.proto")).unwrap()
}

/// The binary at work, what it says on standard error kept.
pub(crate) fn spawn(folder: &Path, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_abide"))
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts")
}
