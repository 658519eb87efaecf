//! Runs that end in the middle of their work, at more places than the tests have time for.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use abide_harness::Result;
use abide_harness::programs;
use fastrand::Rng;

use self::writers::{Contents, WRITERS, contents};
use super::laws::report;
use super::run_in_parallel;

#[path = "../../../abide-cli/tests/writers/mod.rs"]
mod writers;

/// The system calls that change a disk, or prepare that.
const CALLS: [&str; 11] = [
    "mkdirat", "openat", "write", "linkat", "renameat", "unlinkat", "fchmod", "flock", "rename",
    "rmdir", "close",
];

/// How a run ends, as strace says it: by a signal that nobody can handle, by one that is handled,
/// because the disk is full from then on, or because it is read-only from then on.
const ENDS: [&str; 4] = [
    "signal=SIGKILL:when={}",
    "signal=SIGTERM:when={}",
    "error=ENOSPC:when={}+",
    "error=EROFS:when={}+",
];

/// What a writer does when nothing disturbs it.
struct Undisturbed {
    result: Contents,
    /// How often it makes each system call.
    calls: BTreeMap<&'static str, u64>,
}

/// Ends this many runs at a random system call, and runs each again; true if what is there then is
/// always what an undisturbed run leaves.
pub(crate) fn try_kills(count: u64, seed: u64, abide: Option<&Path>) -> Result<bool> {
    if count == 0 {
        return Ok(true);
    }
    let abide = programs::abide(abide)?;
    let known: Vec<Undisturbed> =
        WRITERS.iter().map(|it| measure_undisturbed_run(&abide, it)).collect::<Result<_>>()?;
    let failures = run_in_parallel(count, |id| {
        let mut rng = Rng::with_seed(seed ^ id.rotate_left(32));
        let number = rng.usize(..WRITERS.len());
        let (writer, known) = (&WRITERS[number], &known[number]);
        let calls: Vec<_> = known.calls.iter().collect();
        let (call, made) = calls[rng.usize(..calls.len())];
        let when = rng.u64(1..=*made);
        let end = ENDS[rng.usize(..ENDS.len())].replace("{}", &when.to_string());
        let at = format!("`abide {}`, {call}:{end}", writer.args.join(" "));
        let folder = writer.prepared(&abide);
        if let Err(error) =
            run_under_strace(&abide, folder.path(), writer.args, call, &format!("{call}:{end}"))
        {
            return Some(format!("{at}: {error}"));
        }
        let again = Command::new(&abide).args(writer.args).current_dir(folder.path()).output();
        let said = match again {
            Ok(ran) => String::from_utf8_lossy(&ran.stderr).into_owned(),
            Err(error) => return Some(format!("{at}: {error}")),
        };
        let now = contents(folder.path());
        (now != known.result)
            .then(|| format!("{at}: {said}{}", describe_differences(&known.result, &now)))
    })?;
    Ok(report("kills", seed, count, "runs ended and repeated", &failures))
}

fn measure_undisturbed_run(abide: &Path, writer: &writers::Writer) -> Result<Undisturbed> {
    let folder = writer.prepared(abide);
    let log = run_under_strace(abide, folder.path(), writer.args, &CALLS.join(","), "")?;
    let mut calls = BTreeMap::new();
    for call in CALLS {
        let made = log.lines().filter(|it| it.contains(&format!(" {call}("))).count() as u64;
        if made > 0 {
            calls.insert(call, made);
        }
    }
    Ok(Undisturbed { result: writer.result(abide), calls })
}

/// Runs a command under strace, which may interfere with it. Returns the system calls.
fn run_under_strace(
    abide: &Path,
    folder: &Path,
    args: &[&str],
    calls: &str,
    inject: &str,
) -> Result<String> {
    let beside = tempfile::tempdir()?;
    let log = beside.path().join("calls");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-e", &format!("trace={calls}"), "-o"]).arg(&log);
    if !inject.is_empty() {
        strace.args(["-e", &format!("inject={inject}")]);
    }
    strace.arg(abide).args(args).current_dir(folder);
    strace.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    strace.status().map_err(|error| format!("strace does not start: {error}"))?;
    Ok(fs::read_to_string(&log)?)
}

/// The files that are not what they should be.
fn describe_differences(wanted: &Contents, found: &Contents) -> String {
    let all = wanted.iter().chain(found).map(|it| it.0);
    let mut differing: Vec<&str> =
        all.filter(|it| wanted.get(*it) != found.get(*it)).map(String::as_str).collect();
    differing.sort_unstable();
    differing.dedup();
    format!("differ: {}", differing.join(", "))
}
