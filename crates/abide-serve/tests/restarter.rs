//! `abide-serve restarter` over a program that notes what happens to it.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // Tests set up a world.

use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Notes its start, its arguments and the signals that it gets. `run` in the folder says how it
/// ends; without that it goes on until it is told to end.
const PROGRAM: &str = r#"
log() { echo "$RESTART_EPOCH $*" >> "$FOLDER/log"; }
trap 'log usr1' USR1
trap 'log term; exit 0' TERM
log start "$@"
[ -e "$FOLDER/run" ] && exit "$(cat "$FOLDER/run")"
while [ ! -e "$FOLDER/end-$RESTART_EPOCH" ]; do sleep 0.02; done
log end
"#;

struct Restarter {
    child: Child,
    folder: TempDir,
}

impl Drop for Restarter {
    fn drop(&mut self) {
        for epoch in 0..9 {
            // The programs end by themselves, also if the test failed.
            std::fs::write(self.folder.path().join(format!("end-{epoch}")), "").unwrap();
        }
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Restarter {
    fn start(program: &str, more: &[&str]) -> Restarter {
        let folder = TempDir::new().unwrap();
        let script = folder.path().join("abide-serve");
        std::fs::write(&script, program).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_abide-serve"));
        command.arg("restarter").args(more).args(["--", "sh"]).arg(&script).arg("first");
        command.env("FOLDER", folder.path()).stderr(Stdio::null());
        Restarter { child: command.spawn().unwrap(), folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path().join("log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Waits for a line of the log.
    fn says(&self, line: &str) {
        let begin = Instant::now();
        while !self.log().iter().any(|it| it == line) {
            assert!(begin.elapsed() < Duration::from_secs(20), "{line}: {:?}", self.log());
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }

    fn end(&self, epoch: u32) {
        std::fs::write(self.path().join(format!("end-{epoch}")), "").unwrap();
    }

    fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

#[test]
fn s001_012_each_hangup_starts_the_next_epoch() {
    let mut restarter = Restarter::start(PROGRAM, &["--append-epoch", "always"]);
    restarter.says("0 start first --restart-epoch 0");
    restarter.signal("HUP");
    restarter.says("1 start first --restart-epoch 1");
    // The older one ends when it is told to by the newer one.
    restarter.end(0);
    restarter.says("0 end");
    restarter.signal("HUP");
    restarter.says("2 start first --restart-epoch 2");
    restarter.signal("USR1");
    restarter.says("1 usr1");
    restarter.says("2 usr1");
    restarter.signal("TERM");
    assert_eq!(restarter.wait().code(), Some(0));
    let log = restarter.log();
    assert!(log.contains(&"1 term".to_owned()) && log.contains(&"2 term".to_owned()), "{log:?}");
}

#[test]
fn an_epoch_that_fails_leaves_the_one_before_as_it_was() {
    let mut restarter = Restarter::start(PROGRAM, &[]);
    restarter.says("0 start first");
    std::fs::write(restarter.path().join("run"), "3").unwrap();
    restarter.signal("HUP");
    restarter.says("1 start first");
    // Its number is given again: a program takes over from the number before its own.
    while restarter.log().len() < 3 {
        thread::sleep(Duration::from_millis(50));
        restarter.signal("HUP");
    }
    assert!(restarter.log().iter().all(|it| !it.starts_with('2')), "{:?}", restarter.log());
    restarter.end(0);
    restarter.says("0 end");
    assert_eq!(restarter.wait().code(), Some(0));
}

#[test]
fn the_end_of_the_last_epoch_is_that_of_the_restarter() {
    let mut restarter = Restarter::start("exit 7", &[]);
    assert_eq!(restarter.wait().code(), Some(7));
    let mut killed = Restarter::start("kill -9 $$", &[]);
    assert_eq!(killed.wait().code(), Some(128 + 9));
    let mut command = Command::new(env!("CARGO_BIN_EXE_abide-serve"));
    command.args(["restarter", "--", "/no/such/program"]).stderr(Stdio::null());
    assert_eq!(command.status().unwrap().code(), Some(127));
}

#[test]
fn what_does_not_end_is_killed() {
    let stubborn = "trap '' TERM\necho start >> \"$FOLDER/log\"\n\
                    while [ ! -e \"$FOLDER/end-0\" ]; do sleep 0.02; done";
    let mut restarter = Restarter::start(stubborn, &["--term-wait", "200ms"]);
    restarter.says("start");
    let begin = Instant::now();
    restarter.signal("TERM");
    restarter.wait();
    assert!(begin.elapsed() >= Duration::from_millis(200), "{:?}", begin.elapsed());
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
}
