//! Records the versions of our own protos.

use std::path::Path;
use std::process::Command;

use abide_harness::Result;
use abide_harness::programs;

/// Runs `abide bump` on `api`; true if everything is in order.
///
/// A check only compares the tree with the record, so it needs no history. Written versions count
/// from `against`.
pub(crate) fn bump(check: bool, against: &str, abide: Option<&Path>) -> Result<bool> {
    let mut command = Command::new(programs::abide(abide)?);
    command.current_dir(programs::workspace()?).args(["bump", "api"]);
    match check {
        true => command.arg("--check"),
        false => command.args(["--write", "--against", against]),
    };
    match command.status()?.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => Err("`abide bump` failed".into()),
    }
}
