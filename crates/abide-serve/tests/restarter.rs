//! `abide-serve restarter` over a program that notes what happens to it.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // Tests set up a world.

#[path = "../../abide-cli/tests/cli/waiting.rs"]
mod waiting;

use std::io::BufReader;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use self::waiting::{Log, unless_it_hangs};

/// Says its start, with its number and its arguments, and the signals that it gets. `run` in the
/// folder says how it ends; without that it goes on until it is told to end.
const PROGRAM: &str = r#"
say() { echo "epoch $RESTART_EPOCH: $*" >&2; }
trap 'say usr1' USR1
trap 'say end; exit 0' USR2
trap 'say term; exit 0' TERM
say start "$@"
[ -e "$FOLDER/run" ] && exit "$(cat "$FOLDER/run")"
echo $$ > "$FOLDER/pid-$RESTART_EPOCH"
say runs
"#;

/// Waits for signals. `read` would miss one that comes just before it blocks; `wait` misses none, and
/// needs a process to wait for: one that reads what nobody writes, and ends with the shell that could.
/// A pipe that is opened for both blocks nobody, so no signal can interrupt that.
const WAIT: &str = r#"
mkfifo "$FOLDER/pipe-$$"
exec 3<> "$FOLDER/pipe-$$" 4< "$FOLDER/pipe-$$"
cat <&4 3<&- 4<&- &
while :; do wait; done
"#;

struct Restarter {
    child: Child,
    folder: TempDir,
    log: Arc<Log>,
}

impl Drop for Restarter {
    fn drop(&mut self) {
        // It may have ended by itself. If not, it takes its programs with it.
        if let Ok(None) = self.child.try_wait() {
            self.signal("TERM");
            let _ = unless_it_hangs(&mut self.child, Child::wait);
        }
    }
}

impl Restarter {
    fn start(program: &str, more: &[&str]) -> Restarter {
        let folder = TempDir::new().unwrap();
        let script = folder.path().join("abide-serve");
        std::fs::write(&script, format!("{program}{WAIT}")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_abide-serve"));
        command.arg("restarter").args(more).args(["--", "sh"]).arg(&script).arg("first");
        let mut child =
            command.env("FOLDER", folder.path()).stderr(Stdio::piped()).spawn().unwrap();
        let log = Log::of(BufReader::new(child.stderr.take().unwrap()));
        Restarter { child, folder, log }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Waits for a line that it or one of its programs says.
    fn says(&self, text: &str) {
        self.log.line(|it| it.contains(text));
    }

    fn signal(&self, name: &str) {
        signal(name, &self.child.id().to_string());
    }

    fn end(&self, epoch: u32) {
        let pid = std::fs::read_to_string(self.path().join(format!("pid-{epoch}"))).unwrap();
        signal("USR2", pid.trim());
    }

    fn wait(&mut self) -> ExitStatus {
        unless_it_hangs(&mut self.child, |it| it.wait().unwrap())
    }
}

fn signal(name: &str, pid: &str) {
    assert!(Command::new("kill").args(["-s", name, pid]).status().unwrap().success());
}

#[test]
fn each_hangup_starts_the_next_epoch() {
    let mut restarter = Restarter::start(PROGRAM, &["--append-epoch", "always"]);
    restarter.says("epoch 0: start first --restart-epoch 0");
    restarter.says("epoch 0: runs");
    restarter.signal("HUP");
    restarter.says("epoch 1: start first --restart-epoch 1");
    restarter.says("epoch 1: runs");
    // The older one ends when it is told to by the newer one.
    restarter.end(0);
    restarter.says("epoch 0: end");
    restarter.signal("HUP");
    restarter.says("epoch 2: start first --restart-epoch 2");
    restarter.says("epoch 2: runs");
    restarter.signal("USR1");
    restarter.says("epoch 1: usr1");
    restarter.says("epoch 2: usr1");
    restarter.signal("TERM");
    assert_eq!(restarter.wait().code(), Some(0));
    restarter.says("epoch 1: term");
    restarter.says("epoch 2: term");
}

#[test]
fn an_epoch_that_fails_leaves_the_one_before_as_it_was() {
    let mut restarter = Restarter::start(PROGRAM, &[]);
    restarter.says("epoch 0: runs");
    std::fs::write(restarter.path().join("run"), "3").unwrap();
    for count in 1..=2 {
        restarter.signal("HUP");
        // Its number is given again: a program takes over from the number before its own.
        restarter.log.until(|| {
            let log = restarter.log.text();
            let starts = log.matches("epoch 1: start first").count();
            (starts == count && log.matches("exit status: 3").count() == count).then_some(())
        });
    }
    assert!(!restarter.log.text().contains("epoch 2"), "{}", restarter.log.text());
    restarter.end(0);
    restarter.says("epoch 0: end");
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
fn many_hangups_at_once_start_one_epoch_at_a_time() {
    let mut restarter = Restarter::start(PROGRAM, &[]);
    restarter.says("epoch 0: runs");
    restarter.signal("HUP");
    restarter.says("epoch 1: runs");
    // The epoch before has not ended: whatever comes now is one request.
    restarter.signal("HUP");
    restarter.says("the next epoch starts when the last one has taken over");
    (0..20).for_each(|_| restarter.signal("HUP"));
    assert_eq!(restarter.log.text().matches(": start first").count(), 2);
    restarter.end(0);
    restarter.says("epoch 2: runs");
    restarter.end(1);
    restarter.says("epoch 1: end");
    restarter.signal("TERM");
    assert_eq!(restarter.wait().code(), Some(0));
    assert_eq!(restarter.log.text().matches(": start first").count(), 3);
}

#[test]
fn an_epoch_that_would_fail_is_not_started() {
    let validating = format!(
        "case \"$*\" in *'--mode validate') echo validating >&2; exit \"$(cat \"$FOLDER/valid\")\" ;; esac\n{PROGRAM}"
    );
    let mut restarter = Restarter::start(&validating, &["--validate", "always"]);
    restarter.says("epoch 0: runs");
    std::fs::write(restarter.path().join("valid"), "1").unwrap();
    restarter.signal("HUP");
    restarter.says("`--mode validate` ended with exit status: 1: no epoch is started");
    assert!(!restarter.log.text().contains("epoch 1"), "{}", restarter.log.text());
    std::fs::write(restarter.path().join("valid"), "0").unwrap();
    restarter.signal("HUP");
    restarter.says("epoch 1: runs");
    assert_eq!(restarter.log.text().matches("validating").count(), 2, "the first one is not");
    restarter.signal("TERM");
    assert_eq!(restarter.wait().code(), Some(0));
}

#[test]
fn what_does_not_end_is_killed() {
    let stubborn = "trap '' TERM\necho it is deaf >&2\n";
    let mut restarter = Restarter::start(stubborn, &["--term-wait", "200ms"]);
    restarter.says("it is deaf");
    let begin = Instant::now();
    restarter.signal("TERM");
    restarter.wait();
    assert!(begin.elapsed() >= Duration::from_millis(200), "{:?}", begin.elapsed());
}
