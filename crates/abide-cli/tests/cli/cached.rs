//! A kept report is the report that a run without it gives, or it is not used.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::changing::Changing;
use crate::run::put;

const ABIDE: &str = env!("CARGO_BIN_EXE_abide");

#[test]
fn random_changes_are_seen_whatever_was_kept() {
    let mut recalled = 0;
    for seed in 0..6 {
        let folder = TempDir::new().unwrap();
        let mut changing = Changing::new(Path::new(ABIDE), folder.path(), seed);
        for step in 0..40 {
            if let Some(difference) = changing.step() {
                panic!("seed {seed}, step {step}: {difference}");
            }
        }
        recalled += changing.recalled;
    }
    assert!(recalled > 60, "{recalled} runs found a report");
}

/// A repository with a finding, and what a run that keeps nothing says of it.
fn repository() -> (TempDir, Vec<u8>) {
    let folder = TempDir::new().unwrap();
    crate::history::git(folder.path(), &["init", "--quiet"]);
    let text = "syntax = \"proto3\";\npackage a.v1;\nmessage A { string Name = 1; }\n";
    put(folder.path(), &[("a/v1/a.proto", text)]);
    crate::history::git(folder.path(), &["add", "--all"]);
    crate::history::git(folder.path(), &["commit", "--quiet", "-m", "commit"]);
    let cold = command(folder.path(), "always").arg("--no-cache").output().unwrap().stdout;
    assert!(!folder.path().join(".git/abide").exists(), "`--no-cache` keeps nothing");
    (folder, cold)
}

fn command(folder: &Path, switch: &str) -> Command {
    let mut command = Command::new(ABIDE);
    command.args(["check", "--format", "json", "--as-of", "2026-02-01"]);
    command.current_dir(folder).env("ABIDE_CACHE", switch);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn count_reports(folder: &Path) -> usize {
    fs::read_dir(folder.join(".git/abide/reports")).map_or(0, Iterator::count)
}

#[test]
fn runs_at_once_say_the_same_and_keep_one_report() {
    let (folder, cold) = repository();
    let start = |_| command(folder.path(), "always").spawn().unwrap();
    let runs: Vec<_> = (0..4).map(start).collect();
    for run in runs {
        assert_eq!(run.wait_with_output().unwrap().stdout, cold);
    }
    assert_eq!(count_reports(folder.path()), 1);
}

#[test]
fn a_folder_that_cannot_be_written_changes_nothing() {
    let (folder, cold) = repository();
    put(folder.path(), &[(".git/abide", "a file in the place of the folder")]);
    for _ in 0..2 {
        assert_eq!(command(folder.path(), "always").output().unwrap().stdout, cold);
    }
}

/// No file may grow, as on a disk that is full.
#[test]
fn a_full_disk_changes_nothing() {
    let (folder, cold) = repository();
    for _ in 0..2 {
        let mut full = Command::new("sh");
        full.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"", ABIDE]);
        full.args(["check", "--format", "json", "--as-of", "2026-02-01"]);
        let ran = full.current_dir(folder.path()).env("ABIDE_CACHE", "always").output().unwrap();
        assert_eq!(ran.stdout, cold, "{}", String::from_utf8_lossy(&ran.stderr));
    }
    assert_eq!(count_reports(folder.path()), 0);
}

#[test]
fn another_day_and_another_program_have_reports_of_their_own() {
    let (folder, cold) = repository();
    assert_eq!(command(folder.path(), "always").output().unwrap().stdout, cold);
    let kept = count_reports(folder.path());
    let another_day = ["check", "--format", "json", "--as-of", "2026-02-02"];
    let ran = Command::new(ABIDE)
        .args(another_day)
        .current_dir(folder.path())
        .env("ABIDE_CACHE", "always")
        .output();
    assert!(ran.unwrap().status.code().is_some_and(|it| it < 2));
    assert_eq!(count_reports(folder.path()), kept + 1);
    // A copy is another program, as is one that was built anew.
    let copy = folder.path().join(".git/abide-copy");
    fs::copy(ABIDE, &copy).unwrap();
    let mut other = Command::new(&copy);
    other.args(["check", "--format", "json", "--as-of", "2026-02-01"]);
    let ran = other.current_dir(folder.path()).env("ABIDE_CACHE", "always").output().unwrap();
    assert_eq!(ran.stdout, cold);
    assert_eq!(count_reports(folder.path()), kept + 2);
}

#[test]
fn a_small_tree_is_judged_anew() {
    let (folder, cold) = repository();
    assert_eq!(command(folder.path(), "").output().unwrap().stdout, cold);
    assert_eq!(count_reports(folder.path()), 0);
}
