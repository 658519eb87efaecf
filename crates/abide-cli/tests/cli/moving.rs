//! Repositories that use buf, moved to Abide: what `buf lint` reports, `abide check` reports at the
//! same place, and nothing else. What `buf breaking` refuses, `abide check` refuses.
//!
//! Each file of `testdata/moving` is one repository, with what buf reports. Those of its folder
//! `breaking` have an old and a new side.

use std::collections::BTreeSet;
use std::path::Path;

use tempfile::TempDir;

use crate::run::{abide, put, repository};

/// The files of a repository, each with its path.
pub(crate) fn files(text: &str) -> Vec<(String, String)> {
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
        // buf points at a whole option, Abide at the key in it; and so at `package` statements.
        let is_whole = rule == "PROTOVALIDATE"
            || rule.starts_with("PACKAGE_") && !rule.starts_with("PACKAGE_SAME_")
            || ["DIRECTORY_SAME_PACKAGE", "PACKAGE_SAME_DIRECTORY"].contains(&rule.as_str());
        (path, if is_whole { line } else { format!("{line}:{column}") }, rule)
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

/// A repository with what buf reports there.
struct Case {
    name: String,
    tree: TempDir,
    /// A line for each finding of buf.
    expected: BTreeSet<String>,
}

/// The repositories in a folder. The last part of each is what buf reports.
fn cases(folder: &str, heading: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(repository().join(folder)).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|it| it != "txt") {
            continue;
        }
        let mut files = files(&std::fs::read_to_string(&path).unwrap());
        let verdict = files.pop().filter(|(name, _)| name == heading).expect("it is recorded");
        let tree = TempDir::new().unwrap();
        let each: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        put(tree.path(), &each);
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        cases.push(Case { name, tree, expected: verdict.1.lines().map(str::to_owned).collect() });
    }
    assert!(cases.len() >= 20, "{folder}: {}", cases.len());
    cases
}

/// Moves the repository in a folder to Abide.
fn move_from_buf(name: &str, folder: &Path) {
    let is_workspace = folder.join("buf.work.yaml").exists();
    let from = if is_workspace { "buf.work.yaml" } else { "buf.yaml" };
    let ran = abide(folder, &["init", "--from", from]);
    assert_eq!(ran.status, 0, "{name}: {}", ran.stderr);
}

#[test]
fn repositories_of_buf_are_judged_as_by_buf() {
    let mut differences = Vec::new();
    for Case { name, tree, expected } in cases("testdata/moving", "buf lint") {
        move_from_buf(&name, tree.path());
        let (found, status) = reported(tree.path());
        let placeless = expected.iter().filter_map(|line| {
            let (path, rule) = line.split_once(":1:1: ")?;
            Some((path.to_owned(), rule.to_owned()))
        });
        let placeless = placeless.collect();
        let (wanted, found) = (comparable(&expected, &placeless), comparable(&found, &placeless));
        differences.extend(wanted.difference(&found).map(|it| format!("{name}: missing {it}")));
        differences.extend(found.difference(&wanted).map(|it| format!("{name}: too much {it}")));
        let fails = i32::from(!expected.is_empty());
        if status != fails {
            differences.push(format!("{name}: status {status}, not {fails}"));
        }
    }
    differences.sort();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn breaks_that_buf_refuses_are_refused() {
    let mut differences = Vec::new();
    for Case { name, tree, expected } in cases("testdata/moving/breaking", "buf breaking") {
        let new = tree.path().join("new");
        move_from_buf(&name, &new);
        let ran =
            abide(&new, &["breaking", "--against", "../old", "--changes", "--format", "json"]);
        assert_ne!(ran.status, 2, "{name}: {}", ran.stderr);
        let wanted: BTreeSet<(String, String)> = expected
            .iter()
            .filter_map(|line| {
                let (path, rest) = line.split_once(':')?;
                Some((path.to_owned(), rest.rsplit_once(": ")?.1.to_owned()))
            })
            .collect();
        let mut named = BTreeSet::new();
        for finding in ran.json().iter().filter(|it| it["kind"] == "finding") {
            let path = finding["path"].as_str().unwrap_or_default();
            let aliases = finding["aliases"].as_array().cloned().unwrap_or_default();
            let of_buf = aliases.iter().filter_map(|it| it.as_str()?.strip_prefix("buf:"));
            // buf reports the removal of a file without a path.
            let placed = |rule: &str| match rule {
                "FILE_NO_DELETE" => (String::new(), rule.to_owned()),
                _ => (path.to_owned(), rule.to_owned()),
            };
            let of_buf: Vec<(String, String)> = of_buf.map(placed).collect();
            if finding["severity"] != "error" {
                continue;
            }
            if !of_buf.iter().any(|it| wanted.contains(it)) {
                differences.push(format!("{name}: too much {path} {}", finding["message"]));
            }
            named.extend(of_buf);
        }
        let missing = wanted.difference(&named);
        differences.extend(missing.map(|(path, rule)| format!("{name}: missing {path} {rule}")));
        let fails = i32::from(!expected.is_empty());
        if ran.status != fails {
            differences.push(format!("{name}: status {}, not {fails}", ran.status));
        }
    }
    differences.sort();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
