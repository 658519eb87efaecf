//! Runs that end in the middle leave nothing behind, and the next run clears what a killed one left.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::run::{abide, put, repository, spawn};

/// The temporary files below a folder.
fn temporary(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let is_temporary =
        |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(".abide-");
    entries.filter(is_temporary).collect()
}

/// A tree whose descriptors take a while to write.
fn large() -> TempDir {
    let folder = TempDir::new().unwrap();
    let comment = format!("// {}\n", "x".repeat(1000)).repeat(24 << 10);
    let text = format!("syntax = \"proto3\";\npackage acme.a.v1;\n{comment}message M {{}}\n");
    put(folder.path(), &[("acme/a/v1/a.proto", &text)]);
    folder
}

/// Sends a signal to `abide build` while it writes, and returns the signal that ended it. On a busy
/// machine many attempts come too late.
fn killed_while_writing(folder: &Path, signal: Signal) -> i32 {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(60) {
        let mut child = spawn(folder, &["build", "-o", "made/x.binpb"]);
        while child.try_wait().unwrap().is_none() {
            let writes =
                folder.join("made").is_dir() && !temporary(&folder.join("made")).is_empty();
            if writes {
                // Not by a program: the write would be over before that runs.
                kill_process(Pid::from_child(&child), signal).unwrap();
                break;
            }
        }
        let signal = child.wait().unwrap().signal();
        // A file that is complete came before the signal.
        if let Some(signal) = signal.filter(|_| !folder.join("made/x.binpb").exists()) {
            return signal;
        }
        fs::remove_dir_all(folder.join("made")).unwrap();
    }
    panic!("no attempt met a run that writes");
}

#[test]
fn a_signal_ends_a_run_and_leaves_nothing() {
    let folder = large();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        assert_eq!(killed_while_writing(folder.path(), signal), signal.as_raw());
        assert!(!folder.path().join("made").exists(), "a file or a folder stays after {signal:?}");
    }
}

#[test]
fn the_next_run_clears_what_a_killed_one_left() {
    let folder = large();
    assert_eq!(killed_while_writing(folder.path(), Signal::KILL), 9);
    let made = folder.path().join("made");
    assert_eq!(temporary(&made).len(), 1);
    // That of a living process stays, whatever its name says.
    let alive = made.join(".abide-1-0.new");
    let file = fs::File::create(&alive).unwrap();
    file.lock().unwrap();
    put(&made, &[(".abide-user", "theirs")]);
    assert_eq!(abide(folder.path(), &["build", "-o", "made/x.binpb"]).status, 0);
    assert_eq!(temporary(&made).len(), 2, "{:?}", temporary(&made));
    assert!(alive.exists() && made.join(".abide-user").exists());
    drop(file);
    assert_eq!(abide(folder.path(), &["build", "-o", "made/x.binpb"]).status, 0);
    assert_eq!(temporary(&made), [made.join(".abide-user")]);
}

#[test]
fn a_full_disk_leaves_nothing() {
    let folder = TempDir::new().unwrap();
    let api = repository().join("api").display().to_string();
    let text = "syntax = \"proto3\";\npackage acme.user.v1;\nimport \"abide/annotations/v1/status.proto\";\n\
        option (abide.annotations.v1.file_policy).package_version_status = PACKAGE_VERSION_STATUS_ACTIVE;\n\
        message User {\n  // Use `id`.\n  string name = 1 [deprecated = true];\n  string id = 2;\n}\n";
    let text = format!("{text}// {}\n", "x".repeat(10_000));
    put(
        folder.path(),
        &[
            (
                "tree/abide.toml",
                &format!("import-paths = [{api:?}]\nrules.conversion-missing = \"off\"\n"),
            ),
            ("tree/acme/user/v1/user.proto", &text),
        ],
    );
    for args in [
        "upgrade --out ../new/out",
        "upgrade --write",
        "build -o ../new/x.binpb",
        "init ../new/dir",
    ] {
        // No file may grow: an error, once the signal is ignored that goes with it.
        let limited = format!("trap '' XFSZ; ulimit -f 0; exec \"$0\" {args}");
        let mut command = Command::new("sh");
        command.args(["-c", &limited, env!("CARGO_BIN_EXE_abide")]);
        let ran = command.current_dir(folder.path().join("tree")).output().unwrap();
        let told = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{args}: {told}");
        assert!(told.contains("cannot write"), "{args}: {told}");
        assert!(!folder.path().join("new").exists(), "{args}");
        assert!(!folder.path().join("tree/acme/user/v2alpha").exists(), "{args}");
        assert!(temporary(&folder.path().join("tree")).is_empty(), "{args}");
    }
}
