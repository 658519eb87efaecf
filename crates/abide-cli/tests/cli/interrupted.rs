//! Runs that end in the middle leave nothing behind, and the next run clears what a killed one left.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;
use tempfile::TempDir;

use crate::run::{abide, at_each_step, ending_signals, put, repository};

/// The temporary files below a folder.
fn temporary(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let is_temporary =
        |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(".abide-");
    entries.filter(is_temporary).collect()
}

/// A tree with something to write.
fn tree() -> TempDir {
    let folder = TempDir::new().unwrap();
    let text = "syntax = \"proto3\";\npackage acme.a.v1;\nmessage M {}\n";
    put(folder.path(), &[("acme/a/v1/a.proto", text)]);
    folder
}

const BUILD: &[&str] = &["build", "-o", "made/x.binpb"];

#[test]
#[cfg_attr(not(debug_assertions), ignore = "only a debug build stops")]
fn a_signal_ends_a_run_and_leaves_nothing() {
    let folder = tree();
    let made = folder.path().join("made");
    for args in [BUILD, &["init", "made"]] {
        for signal in ending_signals() {
            at_each_step(folder.path(), args, |mut run| {
                run.signal(signal);
                assert_eq!(run.wait().signal(), Some(signal.as_raw()));
                assert!(!made.exists(), "{signal:?}: {}", run.log.text());
            });
            fs::remove_dir_all(&made).unwrap();
        }
    }
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "only a debug build stops")]
fn the_next_run_clears_what_a_killed_one_left() {
    let folder = tree();
    let made = folder.path().join("made");
    let mut left = 0;
    at_each_step(folder.path(), BUILD, |mut run| {
        run.signal(Signal::KILL);
        assert_eq!(run.wait().signal(), Some(9));
        left += if made.exists() { temporary(&made).len() } else { 0 };
        assert_eq!(abide(folder.path(), BUILD).status, 0);
        let names = fs::read_dir(&made).unwrap().map(|it| it.unwrap().file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["x.binpb"], "{}", run.log.text());
        fs::remove_dir_all(&made).unwrap();
    });
    assert!(left > 0, "no run had a temporary file");

    // That of a living process stays, whatever its name says.
    let alive = made.join(".abide-1-0.new");
    let file = fs::File::create(&alive).unwrap();
    file.lock().unwrap();
    put(&made, &[(".abide-user", "theirs")]);
    assert_eq!(abide(folder.path(), BUILD).status, 0);
    assert_eq!(temporary(&made).len(), 2, "{:?}", temporary(&made));
    assert!(alive.exists() && made.join(".abide-user").exists());
    // A child of another test may hold it open for a moment.
    file.unlock().unwrap();
    assert_eq!(abide(folder.path(), BUILD).status, 0);
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
