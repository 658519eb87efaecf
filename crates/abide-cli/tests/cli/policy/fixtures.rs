//! The fixtures of `testdata/policy`: faulty drafts, and what protolock refuses.

use tempfile::TempDir;

use crate::run::{abide, put, repository};

/// The files of one side of a fixture of `testdata/policy`.
fn side<'f>(fixture: &'f str, side: &str) -> Vec<(&'f str, &'f str)> {
    let parts = fixture.split("\n// === ").skip(1).filter_map(|it| it.split_once('\n'));
    parts.filter_map(|(head, text)| Some((head.strip_prefix(side)?.trim(), text))).collect()
}

/// Runs a fixture: what is expected and did not come, and what came unexpected.
fn misjudged(fixture: &str) -> Vec<String> {
    let header = fixture.lines().skip_while(|it| *it != "//").skip(1);
    let expected: Vec<&str> = header.map_while(|it| it.strip_prefix("// ")).collect();
    assert!(!expected.is_empty(), "{fixture}");
    let (old, new) = (side(fixture, "old "), side(fixture, "new "));
    let folder = TempDir::new().unwrap();
    let ran = if old.is_empty() {
        put(folder.path(), &new);
        abide(folder.path(), &["lint", "--format", "json"])
    } else {
        let [before, after] = ["old", "new"].map(|it| folder.path().join(it));
        put(&before, &old);
        put(&after, &new);
        abide(&after, &["breaking", "--against", "../old", "--format", "json"])
    };
    if expected == ["nothing"] {
        return if ran.status == 0 { Vec::new() } else { vec![ran.text()] };
    }
    let found = ran.json();
    let errors = found.iter().filter(|it| it["severity"] == "error");
    let names = |it: &serde_json::Value| {
        let aliases = it["aliases"].as_array().into_iter().flatten();
        let all: Vec<String> = [&it["rule"]]
            .into_iter()
            .chain(aliases)
            .map(|name| format!("{} {}", name.as_str().unwrap(), it["element"].as_str().unwrap()))
            .collect();
        all
    };
    let mut missing: Vec<String> = expected.iter().map(|it| (*it).to_owned()).collect();
    let mut wrong = Vec::new();
    for error in errors {
        let names = names(error);
        missing.retain(|it| !names.contains(it));
        if !names.iter().any(|it| expected.contains(&it.as_str())) {
            wrong.push(format!("not expected: {names:?}"));
        }
    }
    missing.into_iter().map(|it| format!("missing: {it}")).chain(wrong).collect()
}

fn judge_fixtures(is_wanted: impl Fn(&str) -> bool) {
    let folder = repository().join("testdata/policy");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if is_wanted(&name) {
            let complaints = misjudged(&std::fs::read_to_string(&path).unwrap());
            assert!(complaints.is_empty(), "{name}: {complaints:#?}");
            count += 1;
        }
    }
    assert!(count > 0);
}

#[test]
fn every_change_that_protolock_refuses_is_refused() {
    judge_fixtures(|name| name.starts_with("protolock-"));
}

#[test]
fn the_faulty_draft_of_node_is_refused() {
    judge_fixtures(|name| name == "node");
}

#[test]
fn the_draft_change_of_discovery_request_is_a_break() {
    judge_fixtures(|name| name.starts_with("discovery-request-"));
}
