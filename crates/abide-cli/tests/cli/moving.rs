//! Repositories that use buf, moved to Abide: what `buf lint` reports, `abide check` reports at the
//! same place, and nothing else.
//!
//! Each file of `testdata/moving` is one repository, with what buf reports.

use std::collections::BTreeSet;
use std::path::Path;

use tempfile::TempDir;

use crate::run::{abide, put, repository};

/// What buf reports, a line for each finding.
const VERDICT: &str = "buf lint";

/// The files of a repository, each with its path.
fn files(text: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        let path = line.trim_end().strip_prefix("-- ").and_then(|it| it.strip_suffix(" --"));
        match (path, files.last_mut()) {
            (Some(path), _) => files.push((path.to_owned(), String::new())),
            (None, Some((_, text))) => text.push_str(line),
            (None, None) => panic!("a file begins with `-- PATH --`"),
        }
    }
    files
}

/// What Abide reports in a folder, in the words of buf, and its status.
fn reported(folder: &Path) -> (BTreeSet<String>, i32) {
    let ran = abide(folder, &["check", "--format", "json"]);
    assert_ne!(ran.status, 2, "{}", ran.stderr);
    let mut lines = BTreeSet::new();
    for finding in ran.json().iter().filter(|it| it["kind"] == "finding") {
        let (path, start) = (finding["path"].as_str().unwrap_or_default(), &finding["start"]);
        let aliases = finding["aliases"].as_array().cloned().unwrap_or_default();
        let of_buf = aliases.iter().filter_map(|it| it.as_str()?.strip_prefix("buf:"));
        // What buf does not know is named by our own rule, and what is less than an error too.
        let rule = of_buf.clone().next().filter(|_| finding["severity"] == "error");
        let rule = rule.or(finding["rule"].as_str()).unwrap_or_default();
        lines.insert(format!("{path}:{}:{}: {rule}", start["line"], start["column"]));
    }
    (lines, ran.status)
}

/// Without the places that buf does not know: it reports these findings at the first byte.
fn comparable(
    lines: &BTreeSet<String>,
    placeless: &BTreeSet<(String, String)>,
) -> BTreeSet<String> {
    let parts = |line: &String| {
        let mut parts = line.splitn(4, ':').map(str::to_owned);
        let mut next = || parts.next().unwrap_or_default();
        let (path, line, column, rule) = (next(), next(), next(), next().trim().to_owned());
        // buf points at the whole `package` statement, Abide at the name in it.
        let is_package = rule.starts_with("PACKAGE_") && !rule.starts_with("PACKAGE_SAME_")
            || ["DIRECTORY_SAME_PACKAGE", "PACKAGE_SAME_DIRECTORY"].contains(&rule.as_str());
        (path, if is_package { line } else { format!("{line}:{column}") }, rule)
    };
    let one = |line: &String| {
        let (path, at, rule) = parts(line);
        match placeless.contains(&(path.clone(), rule.clone())) {
            true => format!("{path}: {rule}"),
            false => format!("{path}:{at}: {rule}"),
        }
    };
    lines.iter().map(one).collect()
}

#[test]
fn repositories_of_buf_are_judged_as_by_buf() {
    let mut cases = 0;
    let mut differences = Vec::new();
    let folder = repository().join("testdata/moving");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|it| it != "txt") {
            continue;
        }
        cases += 1;
        let mut files = files(&std::fs::read_to_string(&path).unwrap());
        let verdict = files.pop().filter(|(name, _)| name == VERDICT).expect("it is recorded");
        let tree = TempDir::new().unwrap();
        let each: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        put(tree.path(), &each);
        let from =
            if tree.path().join("buf.work.yaml").exists() { "buf.work.yaml" } else { "buf.yaml" };
        let ran = abide(tree.path(), &["init", "--from", from]);
        assert_eq!(ran.status, 0, "{}: {}", path.display(), ran.stderr);
        let expected: BTreeSet<String> = verdict.1.lines().map(str::to_owned).collect();
        let (found, status) = reported(tree.path());
        let placeless = expected.iter().filter_map(|line| {
            let (path, rule) = line.split_once(":1:1: ")?;
            Some((path.to_owned(), rule.to_owned()))
        });
        let placeless = placeless.collect();
        let (wanted, found) = (comparable(&expected, &placeless), comparable(&found, &placeless));
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        differences.extend(wanted.difference(&found).map(|it| format!("{name}: missing {it}")));
        differences.extend(found.difference(&wanted).map(|it| format!("{name}: too much {it}")));
        let fails = i32::from(!expected.is_empty());
        if status != fails {
            differences.push(format!("{name}: status {status}, not {fails}"));
        }
    }
    assert!(cases >= 20, "{cases}");
    differences.sort();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
