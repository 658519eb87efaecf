//! Records what `buf lint` and `buf breaking` say of the repositories of `testdata/moving`, which a
//! test compares with Abide after `abide init --from`.

mod real;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use abide_harness::corpora;
use abide_harness::programs::{self, workspace};
use abide_harness::{ExternalPaths, Result};
use serde_json::Value;

/// What a linter reports in a folder, a line for each finding.
type Lint = fn(&Path) -> Result<Vec<String>>;

/// Runs buf on each repository and rewrites what is recorded; true if it is unchanged.
pub(crate) fn run(paths: &ExternalPaths) -> Result<bool> {
    let abide = programs::abide(paths.abide.as_deref())?;
    let googleapis = corpora::googleapis(paths)?;
    let mut is_same = real::lint(&abide, &googleapis)?;
    is_same &= real::breaking(&abide, &corpora::googleapis_before()?, &googleapis)?;
    is_same &= record("moving", "buf lint", |folder| run_buf(folder, &["lint"]))?;
    let breaking =
        |folder: &Path| run_buf(&folder.join("new"), &["breaking", "--against", "../old"]);
    is_same &= record("moving/breaking", "buf breaking", breaking)?;
    Ok(is_same)
}

/// Runs a linter on each repository of a folder of `testdata` and rewrites the part of its file
/// that holds what the linter reports; true if nothing changed.
pub(crate) fn record(name: &str, verdict: &str, lint: Lint) -> Result<bool> {
    let verdict = format!("-- {verdict} --\n");
    let mut paths: Vec<_> = fs::read_dir(workspace()?.join("testdata").join(name))?
        .map(|entry| entry.map(|it| it.path()))
        .collect::<std::io::Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|it| it == "txt"));
    paths.sort();
    let mut changed = 0;
    for path in &paths {
        let text = fs::read_to_string(path)?;
        let tree = text.split(&verdict).next().unwrap_or_default();
        let folder = corpora::make_fresh_folder(&name.replace('/', "-"))?;
        for file in format!("\n{tree}").split("\n-- ").skip(1) {
            let (name, text) = file.split_once(" --\n").ok_or("a file begins with its path")?;
            // The split took the last line end of every file but the last one.
            let text = text.strip_suffix('\n').unwrap_or(text);
            corpora::write(&folder.join(name), format!("{text}\n").as_bytes())?;
        }
        let lines: String = lint(&folder)?.iter().map(|line| format!("{line}\n")).collect();
        let now = format!("{tree}{verdict}{lines}");
        if now != text {
            changed += 1;
            println!("{name}: {} changed: review it", path.display());
            fs::write(path, now)?;
        }
    }
    println!("{name}: {} repositories, {changed} changed", paths.len());
    Ok(changed == 0 && !paths.is_empty())
}

/// What a command of buf reports in a folder.
fn run_buf(folder: &Path, command: &[&str]) -> Result<Vec<String>> {
    let said = Command::new("buf")
        .args(command)
        .args(["--error-format", "json"])
        .current_dir(folder)
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
    Ok(lines
        .map(|((path, line, column), rule)| format!("{path}:{line}:{column}: {rule}"))
        .collect())
}
