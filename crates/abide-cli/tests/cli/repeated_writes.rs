//! Every command that writes may be ended anywhere and repeated: the second run leaves what a run
//! that nothing disturbed leaves, byte for byte. What a person edits meanwhile is kept.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use tempfile::TempDir;

use crate::run::{Running, abide, at_each_step, ending_signals, put};
use crate::writers::{
    Contents, FORMAT, RELEASE, WRITERS, Writer, active, contents, fixable, other_names, proto,
};

const ABIDE: &str = env!("CARGO_BIN_EXE_abide");

/// Stops a run before each of its steps, in a tree of its own.
fn at_each_step_of(writer: &Writer, mut then: impl FnMut(&Path, Running)) {
    let mut steps = 0;
    for step in 1.. {
        let folder = writer.prepared(ABIDE.as_ref());
        let Some(run) = Running::stopped_before(step, folder.path(), writer.args) else { break };
        then(folder.path(), run);
        steps += 1;
    }
    assert!(steps > 2, "`abide {}` has {steps} steps", writer.args.join(" "));
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "only a debug build stops")]
fn a_killed_run_can_be_repeated() {
    for writer in WRITERS {
        let whole = writer.result(ABIDE.as_ref());
        assert_ne!(
            contents(writer.prepared(ABIDE.as_ref()).path()),
            whole,
            "{} writes",
            writer.args.join(" ")
        );
        at_each_step_of(writer, |folder, mut run| {
            run.signal(Signal::KILL);
            run.wait();
            let at = format!("`abide {}` {}", writer.args.join(" "), run.log.text());
            let ran = abide(folder, writer.args);
            // `init` ends with its first file.
            let is_over = ran.status == 2 && ran.stderr.contains("already exists");
            assert!(ran.status == 0 || is_over, "{at}: {}", ran.stderr);
            assert_eq!(contents(folder), whole, "{at}");
        });
    }
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "only a debug build stops")]
fn a_signal_undoes_what_is_half_made() {
    for writer in [&RELEASE, &FORMAT] {
        let (old, new) =
            (contents(writer.prepared(ABIDE.as_ref()).path()), writer.result(ABIDE.as_ref()));
        for signal in ending_signals().into_iter().take(1) {
            at_each_step_of(writer, |folder, mut run| {
                run.signal(signal);
                run.wait();
                let now = contents(folder);
                assert!(now == old || now == new, "{}: {now:#?}", run.log.text());
            });
        }
    }
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "only a debug build stops")]
fn an_edit_that_comes_meanwhile_is_kept() {
    const EDIT: &str = "// an hour of work\n";
    let lock = "abide.lock";
    let made = "proto/acme/user/v2alpha/yote.proto";
    let user = "proto/acme/user/v1/user.proto";
    let yote = "proto/acme/user/v1/yote.proto";
    let upgrade = Writer { args: &["upgrade", "--write"], set_up: active };
    let fix = Writer { args: &["lint", "--fix"], set_up: fixable };
    let accept = Writer { args: &["check", "--accept"], set_up: fixable };
    let names = Writer { args: &["format", "--write"], set_up: other_names };
    let cases = [
        (&FORMAT, yote),
        (&FORMAT, user),
        (&names, yote),
        (&RELEASE, made),
        (&RELEASE, lock),
        (&RELEASE, "proto/acme/user/v2/yote.proto"),
        (&upgrade, made),
        (&upgrade, lock),
        (&fix, yote),
        (&accept, "abide.accepted"),
    ];
    for (writer, path) in cases {
        let mut refused = 0;
        let mut old = contents(writer.prepared(ABIDE.as_ref()).path());
        old.remove(path);
        at_each_step_of(writer, |folder, mut run| {
            let at = format!("`abide {}`, {path}: {}", writer.args.join(" "), run.log.text());
            put(folder, &[("edited", EDIT)]);
            fs::create_dir_all(folder.join(path).parent().unwrap()).unwrap();
            fs::rename(folder.join("edited"), folder.join(path)).unwrap();
            run.go_on();
            let status = run.wait().code();
            assert_eq!(fs::read_to_string(folder.join(path)).unwrap(), EDIT, "{at}");
            if status == Some(0) {
                return;
            }
            assert_eq!(status, Some(2), "{at}");
            let said = run.log.whole();
            assert!(said.contains(&format!("`{path}` was edited in the meantime")), "{at}: {said}");
            refused += 1;
            let mut now = contents(folder);
            now.remove(path);
            // The edit keeps its folders.
            now.retain(|it, text| text.is_some() || !Path::new(path).starts_with(it));
            let mut old = old.clone();
            old.retain(|it, text| text.is_some() || !Path::new(path).starts_with(it));
            assert_eq!(now, old, "{at}: nothing was written");
        });
        assert!(refused > 0, "{} {path}", writer.args.join(" "));
    }
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "only a debug build stops")]
fn a_file_with_other_names_is_never_lost() {
    let writer = Writer { args: &["format", "--write"], set_up: other_names };
    let whole = writer.result(ABIDE.as_ref());
    let yote = "proto/acme/user/v1/yote.proto";
    let text = whole[yote].as_deref().unwrap();
    let mut torn = 0;
    // What a run leaves that is killed while it writes.
    for length in [0, 40] {
        at_each_step_of(&writer, |folder, mut run| {
            let is_written = run.log.text().contains("written in place");
            run.signal(Signal::KILL);
            run.wait();
            if is_written {
                fs::write(folder.join(yote), &text[..length]).unwrap();
                let note = abide(folder, &["check"]).stderr;
                assert!(note.contains("was interrupted"), "who reads it is told: {note}");
                assert_eq!(abide(folder, writer.args).status, 0);
                assert_eq!(contents(folder), whole);
                let inode = |it: &str| fs::metadata(folder.join(it)).unwrap().ino();
                assert_eq!(inode(yote), inode("other-name"), "it is one file still");
                torn += 1;
            }
        });
    }
    assert_eq!(torn, 2);
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "only a debug build stops")]
fn a_journal_that_came_with_a_tree_is_not_obeyed() {
    let folder = FORMAT.prepared(ABIDE.as_ref());
    let mut copies = Vec::new();
    at_each_step(folder.path(), FORMAT.args, |mut run| {
        run.signal(Signal::KILL);
        run.wait();
        if folder.path().join(".abide-journal/list").exists() {
            let copy = TempDir::new().unwrap();
            let mut cp = Command::new("cp");
            cp.arg("-r").arg(folder.path().join(".")).arg(copy.path());
            assert!(cp.status().unwrap().success());
            copies.push(copy);
        }
    });
    assert!(!copies.is_empty());
    for copy in copies {
        let before = contents(copy.path());
        // One file needs no journal; several do.
        let one = abide(copy.path(), &["check", "--accept"]);
        assert_ne!(one.status, 2, "{}", one.stderr);
        put(
            copy.path(),
            &[("proto/acme/user/v1/user.proto", &proto("User", "").replace(' ', "  "))],
        );
        put(
            copy.path(),
            &[("proto/acme/user/v1/yote.proto", &proto("Yote", "").replace(' ', "  "))],
        );
        let ran = abide(copy.path(), FORMAT.args);
        assert_eq!(ran.status, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains("`.abide-journal` is in the way"), "{}", ran.stderr);
        let kept = |all: &Contents| -> Contents {
            all.clone().into_iter().filter(|it| it.0.starts_with(".abide-journal")).collect()
        };
        assert_eq!(kept(&contents(copy.path())), kept(&before));
    }
}

#[test]
fn nothing_is_called_released_that_was_not_written() {
    let folder = RELEASE.prepared(ABIDE.as_ref());
    let old = contents(folder.path());
    let limited = "trap '' XFSZ; ulimit -f 0; exec \"$0\" release --write";
    let mut command = Command::new("sh");
    command.args(["-c", limited, env!("CARGO_BIN_EXE_abide")]).current_dir(folder.path());
    let ran = command.output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot write") && !said.contains("released"), "{said}");
    assert_eq!(contents(folder.path()), old);
}
