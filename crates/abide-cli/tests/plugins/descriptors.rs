//! A descriptor set with source info has the findings of its texts, at the same places: those at
//! options too, and without those that comments waive.

use std::collections::BTreeSet;
use std::path::Path;

use crate::run::{abide, put, repository};

/// `PATH:LINE:COLUMN RULE` of every finding.
fn found(folder: &Path, args: &[&str]) -> BTreeSet<String> {
    let ran = abide(folder, &[args, &["--format", "json"]].concat());
    let findings = ran.json().into_iter().filter(|it| it["kind"] == "finding");
    let place = |it: &serde_json::Value| {
        let start = &it["start"];
        let [path, rule] = ["path", "rule"].map(|key| it[key].as_str().unwrap().to_owned());
        format!("{path}:{}:{} {rule}", start["line"], start["column"])
    };
    findings.map(|it| place(&it)).collect()
}

fn build(folder: &Path, tree: &str, out: &Path) {
    let out = out.to_str().unwrap();
    let ran = abide(folder, &["build", tree, "-o", out, "-I", "testdata/imports"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
}

#[test]
fn findings_at_options_have_their_places() {
    let (folder, top) = (tempfile::tempdir().unwrap(), repository());
    let (old, new) = (folder.path().join("old.binpb"), folder.path().join("new.binpb"));
    build(&top, "testdata/cli/changes/old", &old);
    build(&top, "testdata/cli/changes/new", &new);
    let [old, new] = [&old, &new].map(|it| it.to_str().unwrap());
    let texts = ["testdata/cli/changes/new", "--against", "testdata/cli/changes/old"];
    let texts = found(&top, &[&["breaking", "-I", "testdata/imports"], &texts[..]].concat());
    assert!(texts.iter().any(|it| it.ends_with("constraint-tightened")), "{texts:#?}");
    let all = found(&top, &["breaking", new, "--against", old]);
    // A descriptor has the place of the option, a text that of the name in it.
    let text =
        std::fs::read_to_string(top.join("testdata/cli/changes/new/acme/shop/v1/cart.proto"));
    let text = text.unwrap();
    let (at, line) = (1..).zip(text.lines()).find(|(_, it)| it.contains("max_len")).unwrap();
    let [option, name] = ["(buf", "max_len"].map(|it| line.find(it).unwrap() + 1);
    let moved = |it: String| it.replace(&format!(":{at}:{name} "), &format!(":{at}:{option} "));
    assert_eq!(all, texts.into_iter().map(moved).collect());
}

#[test]
fn comments_waive_what_they_waive_in_texts() {
    let folder = tempfile::tempdir().unwrap();
    let text = "\
syntax = \"proto3\";
package acme.v1;

// abide:allow(comment-missing): the fields say it all.
message Plain {
  string id = 1;
  enum Kind { KIND_UNSPECIFIED = 0; }
}

// What is said.
message Said {
  string id = 1; // abide:allow(comment-missing): an id.
  /* abide:allow(comment-missing, until = \"2020-01-01\"): soon. */
  string name = 2;
  // buf:lint:ignore COMMENT_FIELD
  string mail = 3;
  string phone = 4; // abide:allow(comment-mising): a typo.
}
";
    let settings = "[rules]\ncomment-missing = \"error\"\n";
    put(folder.path(), &[("abide.toml", settings), ("acme/v1/a.proto", text)]);
    let ran = abide(folder.path(), &["build", "-o", "set.binpb"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let texts = found(folder.path(), &["lint"]);
    let set = found(folder.path(), &["lint", "set.binpb"]);
    // What is wrong with a waiver itself is shown at what it covers: comments have no place.
    let of_waivers = |all: &BTreeSet<String>| {
        let rules = all.iter().filter_map(|it| it.split_once(' ').map(|(_, rule)| rule.to_owned()));
        rules.filter(|it| it.starts_with("waiver-")).collect::<Vec<_>>()
    };
    assert_eq!(of_waivers(&set), of_waivers(&texts));
    assert_eq!(of_waivers(&set).len(), 2, "{set:#?}");
    let others = |all: BTreeSet<String>| {
        all.into_iter().filter(|it| !it.contains(" waiver-")).collect::<BTreeSet<_>>()
    };
    let (set, texts) = (others(set), others(texts));
    assert_eq!(set, texts);
    assert_eq!(texts.len(), 2, "the expired one and the one with a typo: {texts:#?}");
}
