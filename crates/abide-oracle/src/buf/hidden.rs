//! Asks buf what it says of the tricks that try to hide a change, and records it beside what Abide
//! says in `testdata/hidden/tricks.txt`.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use abide_harness::Result;
use abide_harness::programs::output;
use serde_json::Value;

use self::hiding::{make_repository, read_tricks, write_tricks};

#[path = "../../../abide-cli/tests/hiding/mod.rs"]
mod hiding;

/// Plays each trick before buf; true if buf says what is recorded, and refuses nothing that Abide lets
/// pass without a reason.
pub(crate) fn run(abide: &Path) -> Result<bool> {
    let mut tricks = read_tricks();
    let repository = make_repository();
    let (mut changed, mut missed, mut alone, mut passed) = (0, 0, 0, 0);
    for trick in &mut tricks {
        let folder = trick.play(repository.path(), abide);
        let verdict = judge(&folder.path().join("repository"))?;
        if verdict != trick.buf {
            changed += 1;
            println!("hidden: {}: buf says `{verdict}`, not `{}`", trick.name, trick.buf);
        }
        let (buf_refuses, abide_refuses) =
            (!verdict.starts_with('0'), !trick.abide.starts_with('0'));
        missed += usize::from(buf_refuses && !abide_refuses && trick.why.is_empty());
        passed += usize::from(buf_refuses && !abide_refuses);
        alone += usize::from(abide_refuses && !buf_refuses);
        trick.buf = verdict;
    }
    write_tricks(&tricks);
    println!(
        "hidden: {} tricks; Abide alone refuses {alone}, buf alone {passed}, of which {missed} have no \
         reason; {changed} verdicts changed",
        tricks.len()
    );
    Ok(changed == 0 && missed == 0)
}

/// The exit status of buf, and the rules that report.
fn judge(folder: &Path) -> Result<String> {
    let mut buf = Command::new("buf");
    buf.args(["breaking", "--against", ".git#ref=refs/heads/main", "--error-format", "json"]);
    let said = output(buf.current_dir(folder))?;
    let status = said.status.code().ok_or("buf ends by a signal")?;
    let mut rules = BTreeSet::new();
    for line in String::from_utf8(said.stdout)?.lines() {
        let line: Value = serde_json::from_str(line)?;
        rules.insert(line["type"].as_str().unwrap_or_default().to_owned());
    }
    let rules = Vec::from_iter(rules).join(" ");
    Ok(format!("{status} {rules}").trim_end().to_owned())
}
