//! Runs whose standard output nobody reads, or that have none: what they do and how they end does
//! not depend on it. A report that is lost because a disk is full is an error.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::book::example;
use crate::run::abide;
use crate::writers::{Contents, WRITERS, contents};

const ABIDE: &str = env!("CARGO_BIN_EXE_abide");

/// Every command, in a form that needs nothing but the tree.
const COMMANDS: &[&[&str]] = &[
    &["init", "made"],
    &["check", "--against", "git:v1.4"],
    &["check", "--against", "git:v1.4", "--format", "json"],
    &["check", "--report", "html=report.html"],
    &["lint"],
    &["breaking", "--against", "git:v1.4", "--format", "markdown"],
    &["drift", "third_party"],
    &["format", "--diff"],
    &["bump", "--against", "git:v1.4"],
    &["bump", "--write"],
    &["deprecate", "acme.user.v1.User.name", "--dropped", "nobody has one", "--diff"],
    &["deprecate", "acme.user.v1.User.name", "--dropped", "nobody has one", "--write"],
    &["waive", "field-removed", "--reason", "nobody has one", "--diff"],
    &["edition", "--to", "2023", "--diff"],
    &["edition", "--to", "2023", "--write"],
    &["deprecations"],
    &["usage", "."],
    &["upgrade", "--diff"],
    &["release", "--diff"],
    &["calendar"],
    &["history"],
    &["graph"],
    &["deps", "list"],
    &["owners"],
    &["rules"],
    &["explain", "field-removed"],
    &["build", "-o", "-"],
    &["build", "-o", "set.binpb"],
    &["hash"],
    &["config", "check", "."],
    &["runtime", "show", "abide.toml"],
    &["serve", "--help"],
    &["lsp"],
    &["plugin", "buf"],
    &["completions", "bash"],
    &["man"],
    &["man", "--out", "pages"],
    &["help"],
    &["--version"],
];

/// Standard outputs that take nothing.
#[derive(Clone, Copy, Debug)]
enum Lost {
    /// There is none.
    Closed,
    /// A pipe that nobody reads any more.
    Unread,
    /// A file on a full disk.
    Full,
}

/// Runs a command with such an output. Returns its exit status, and what it says.
fn run_without_output(folder: &Path, args: &[&str], lost: Lost) -> (Option<i32>, String) {
    let mut command = match lost {
        Lost::Closed => {
            let mut shell = Command::new("sh");
            shell.args(["-c", "exec \"$0\" \"$@\" >&-", ABIDE]);
            shell
        }
        Lost::Unread | Lost::Full => Command::new(ABIDE),
    };
    match lost {
        Lost::Closed => {}
        Lost::Unread => {
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            command.stdout(writer);
        }
        Lost::Full => {
            command.stdout(OpenOptions::new().write(true).open("/dev/full").unwrap());
        }
    }
    command.args(args).current_dir(folder).stdin(Stdio::null()).stderr(Stdio::piped());
    let ran = command.spawn().unwrap().wait_with_output().unwrap();
    (ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned())
}

/// The files of a tree without what has the time of the commits.
fn find_files(folder: &Path) -> Contents {
    let has_time = |it: &str| it.starts_with(".git/") || it.ends_with(".tar.gz");
    contents(folder).into_iter().filter(|it| !has_time(&it.0)).collect()
}

#[test]
fn every_command_is_tried() {
    let help = abide(Path::new("."), &["--help"]).text();
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let (list, _) = list.split_once("\n\n").unwrap();
    let names = list.lines().filter(|it| it.starts_with("  ") && !it.starts_with("   "));
    let names: BTreeSet<&str> = names.filter_map(|it| it.split_whitespace().next()).collect();
    let tried: BTreeSet<&str> = COMMANDS.iter().map(|it| it[0]).collect();
    assert_eq!(names.difference(&tried).collect::<Vec<_>>(), Vec::<&&str>::new());
}

#[test]
fn a_command_does_the_same_if_nobody_reads_what_it_prints() {
    for args in COMMANDS {
        let folder = example();
        let whole = abide(folder.path(), args);
        let left = find_files(folder.path());
        for lost in [Lost::Closed, Lost::Unread] {
            let folder = example();
            let (status, said) = run_without_output(folder.path(), args, lost);
            let at = format!("`abide {}`, {lost:?}: {said}", args.join(" "));
            assert_eq!(status, Some(whole.status), "{at}");
            assert_eq!(find_files(folder.path()), left, "{at}");
        }
    }
}

#[test]
fn a_writer_writes_the_same_if_nobody_reads_what_it_prints() {
    for writer in WRITERS {
        let whole = writer.result(ABIDE.as_ref());
        for lost in [Lost::Closed, Lost::Unread] {
            let folder = writer.prepared(ABIDE.as_ref());
            let (status, said) = run_without_output(folder.path(), writer.args, lost);
            let at = format!("`abide {}`, {lost:?}: {said}", writer.args.join(" "));
            assert_eq!((status, contents(folder.path())), (Some(0), whole.clone()), "{at}");
        }
    }
}

#[test]
fn a_report_that_does_not_fit_on_the_disk_is_an_error() {
    for args in COMMANDS {
        let whole = abide(example().path(), args);
        if whole.stdout.is_empty() {
            continue;
        }
        let (status, said) = run_without_output(example().path(), args, Lost::Full);
        let at = format!("`abide {}`: {said}", args.join(" "));
        assert_eq!(status, Some(2), "{at}");
        assert!(said.contains("cannot write"), "{at}");
    }
}
