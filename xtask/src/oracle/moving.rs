//! Records what `buf lint` says of the repositories of `testdata/moving`, which a test compares
//! with `abide check` after `abide init --from`.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::corpora;
use crate::task::Result;
use crate::tools::workspace;

/// The part of a file that holds what buf says.
const VERDICT: &str = "-- buf lint --\n";

/// Runs buf on each repository and rewrites what is recorded; true if it is unchanged.
pub(super) fn run() -> Result<bool> {
    let mut paths: Vec<_> = fs::read_dir(workspace()?.join("testdata/moving"))?
        .map(|entry| entry.map(|it| it.path()))
        .collect::<std::io::Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|it| it == "txt"));
    paths.sort();
    let mut changed = 0;
    for path in &paths {
        let text = fs::read_to_string(path)?;
        let tree = text.split(VERDICT).next().unwrap_or_default();
        let folder = corpora::fresh("moving")?;
        for file in format!("\n{tree}").split("\n-- ").skip(1) {
            let (name, text) = file.split_once(" --\n").ok_or("a file begins with its path")?;
            // The split took the last line end of every file but the last one.
            let text = text.strip_suffix('\n').unwrap_or(text);
            corpora::write(&folder.join(name), format!("{text}\n").as_bytes())?;
        }
        let said = Command::new("buf")
            .args(["lint", "--error-format", "json"])
            .current_dir(&folder)
            .output()?;
        if !matches!(said.status.code(), Some(0 | 100)) {
            return Err(String::from_utf8_lossy(&said.stderr).into_owned().into());
        }
        let mut lines = BTreeSet::new();
        for line in String::from_utf8(said.stdout)?.lines() {
            let finding: Value = serde_json::from_str(line)?;
            let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
            let number = |key: &str| finding[key].as_u64().unwrap_or(1);
            let place = (text("path"), number("start_line"), number("start_column"));
            lines.insert((place, text("type")));
        }
        let lines = lines.into_iter();
        let lines: String = lines
            .map(|((path, line, column), rule)| format!("{path}:{line}:{column}: {rule}\n"))
            .collect();
        let now = format!("{tree}{VERDICT}{lines}");
        if now != text {
            changed += 1;
            println!("moving: {} changed: review it", path.display());
            fs::write(path, now)?;
        }
    }
    println!("moving: {} repositories, {changed} changed", paths.len());
    Ok(changed == 0 && !paths.is_empty())
}
