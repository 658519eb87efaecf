//! Abide as a plugin of buf and of protoc, asked as these tools ask: with requests that they sent
//! about the trees of `testdata/plugins`, recorded. `cargo xtask oracle --only plugins` has the tools
//! themselves.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // Tests set up a world; helpers are tests too.

mod book;
mod buf;
mod ci;
mod descriptors;
mod names;
mod protoc;
#[path = "../cli/run.rs"]
#[allow(dead_code, reason = "it serves more tests than these")]
mod run;

use std::path::PathBuf;

use serde_json::json;

use self::run::{abide, repository};

/// Where the trees and the recorded requests are.
fn data() -> PathBuf {
    repository().join("testdata/plugins")
}

/// A recorded request.
fn recorded(name: &str) -> Vec<u8> {
    std::fs::read(data().join(name)).unwrap()
}

/// What `abide check` reports as an error about the same trees: `PATH:LINE:COLUMN RULE`, sorted.
fn checked(args: &[&str]) -> Vec<String> {
    let ran = abide(&data(), &[args, &["--format", "json"]].concat());
    let findings = ran.json().into_iter().filter(|it| it["severity"] == "error");
    let mut places: Vec<String> = findings
        .map(|it| {
            let [path, rule] = ["path", "rule"].map(|key| it[key].as_str().unwrap().to_owned());
            // A descriptor has the place of a `package` statement, not of the name in it.
            let column = if rule == "file-removed" { &json!(1) } else { &it["start"]["column"] };
            format!("{path}:{}:{column} {rule}", it["start"]["line"])
        })
        .collect();
    places.sort();
    assert!(!places.is_empty(), "{}", ran.stderr);
    places
}
