//! Asks buf which of its categories refuse the pairs of trees in `testdata/breaking/verdicts`, and
//! writes these above each pair. A test compares them with the presets that bear the names of the
//! categories, and explains the form of the files.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use abide_harness::Result;
use abide_harness::corpora;
use abide_harness::programs::{output, workspace};
use serde_json::Value;

const CATEGORIES: [&str; 4] = ["FILE", "PACKAGE", "WIRE_JSON", "WIRE"];

/// Rewrites what is recorded; true if it is unchanged.
pub(super) fn run() -> Result<bool> {
    let mut rules = BTreeMap::new();
    for category in CATEGORIES {
        rules.insert(category, super::list_rules(&config(&[category]))?);
    }
    let folder = workspace()?.join("testdata/breaking/verdicts");
    let mut paths: Vec<_> = fs::read_dir(folder)?
        .map(|entry| entry.map(|it| it.path()))
        .collect::<std::io::Result<_>>()?;
    paths.sort();
    let (mut pairs, mut changed) = (0, 0);
    for path in &paths {
        let text = fs::read_to_string(path)?;
        let mut now = String::new();
        for pair in format!("\n{text}").split("\n== ").skip(1) {
            let (head, files) = pair.split_once('\n').ok_or("a pair has files")?;
            let (name, _) = head.split_once(": ").ok_or("a name, then the categories")?;
            let fired = list_fired_rules(files).map_err(|error| format!("{name}: {error}"))?;
            let refusing =
                CATEGORIES.iter().filter(|it| rules[*it].iter().any(|it| fired.contains(it)));
            let refusing = refusing.copied().collect::<Vec<_>>().join(" ");
            let refusing = if refusing.is_empty() { "-" } else { &refusing };
            let _ = writeln!(now, "== {name}: {refusing}\n{}", files.trim_end_matches('\n'));
            now.push('\n');
            pairs += 1;
        }
        let now = format!("{}\n", now.trim_end_matches('\n'));
        if now != text {
            changed += 1;
            println!("{}: changed: review it", path.display());
            fs::write(path, now)?;
        }
    }
    println!("breaking: buf judged {pairs} pairs by category, {changed} files changed");
    Ok(changed == 0 && pairs > 0)
}

fn config(categories: &[&str]) -> String {
    serde_json::json!({"version": "v2", "breaking": {"use": categories}}).to_string()
}

/// The rules of buf that fire on a pair.
fn list_fired_rules(files: &str) -> Result<Vec<String>> {
    let folder = corpora::make_fresh_folder("breaking-verdicts")?;
    for (side, other) in [("old", '+'), ("new", '-')] {
        fs::create_dir_all(folder.join(side))?;
        write(files, &folder.join(side), other)?;
    }
    let mut buf = Command::new("buf");
    buf.args(["breaking", "--against", "../old", "--error-format", "json", "--config"]);
    let said = output(buf.arg(config(&CATEGORIES)).current_dir(folder.join("new")))?;
    if !matches!(said.status.code(), Some(0 | 100)) {
        return Err(String::from_utf8_lossy(&said.stderr).into_owned().into());
    }
    let rule = |line: &str| -> Result<String> {
        let line: Value = serde_json::from_str(line)?;
        let rule = line["type"].as_str().unwrap_or_default();
        if rule == "COMPILE" { Err(line.to_string().into()) } else { Ok(rule.to_owned()) }
    };
    String::from_utf8(said.stdout)?.lines().map(rule).collect()
}

/// Writes one side of a pair: all lines but those that begin with `other`.
fn write(files: &str, folder: &Path, other: char) -> Result<()> {
    let mut texts: Vec<(&str, String)> = Vec::new();
    let mut path = "";
    for line in files.lines() {
        if let Some(next) = line.strip_prefix("-- ").and_then(|it| it.strip_suffix(" --")) {
            path = next;
        } else if !line.is_empty() && !line.starts_with(other) {
            if texts.last().is_none_or(|it| it.0 != path) {
                texts.push((path, String::new()));
            }
            if let Some((_, text)) = texts.last_mut() {
                writeln!(text, "{}", line.get(1..).unwrap_or_default())?;
            }
        }
    }
    for (path, text) in texts {
        corpora::write(&folder.join(path), text.as_bytes())?;
    }
    Ok(())
}
