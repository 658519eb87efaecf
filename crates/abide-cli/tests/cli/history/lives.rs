//! `abide history --fields`: since which version each element exists, and until when.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use super::world::{self, World};
use super::{Snapshot, git, repository};
use crate::run::{abide, put};

const USER: &str = "acme/user/v1/user.proto";

fn ok(folder: &Path, args: &[&str]) -> Vec<Value> {
    let ran = abide(folder, args);
    assert_eq!(ran.status, 0, "{args:?}: {}", ran.stderr);
    ran.json()
}

fn commit(folder: &Path, subject: &str) {
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "-m", subject]);
}

fn user(fields: &str) -> String {
    format!(
        "syntax = \"proto3\";\npackage acme.user.v1;\nimport \"abide/annotations/v1/lifecycle.proto\";\n\
         message User {{\n{fields}}}\n"
    )
}

/// A line as words: `User.id 1: 1.0.0, deprecated 1.1.0`.
fn told(line: &Value) -> String {
    let name = line["element"].as_str().unwrap().replace("acme.user.v1.", "");
    let number = line.get("number").map(|it| format!(" {it}")).unwrap_or_default();
    let mut text = format!("{name}{number}: {}", version(&line["appeared"]));
    for phase in ["deprecated", "disallowed", "removed"] {
        if let Some(moment) = line.get(phase) {
            text += &format!(", {phase} {}", version(moment));
        }
    }
    text
}

fn version(moment: &Value) -> &str {
    moment["version"].as_str().unwrap_or("unknown")
}

/// The same story for versions in the lock and in options.
#[test]
fn history_shows_the_version_that_introduced_each_element() {
    for version_in in ["lock", "option"] {
        let folder = TempDir::new().unwrap();
        let folder = folder.path();
        git(folder, &["init", "--quiet"]);
        let api = crate::run::repository().join("api").display().to_string();
        let config = format!(
            "import-paths = [{api:?}]\nversion-in = \"{version_in}\"\n[deprecation]\nremoval = \
             \"deprecated\"\n"
        );
        put(folder, &[("abide.toml", &config), (USER, &user("  string id = 1;\n"))]);
        let edit = |from: &str, to: &str| {
            let text = fs::read_to_string(folder.join(USER)).unwrap();
            assert!(text.contains(from), "{text}");
            fs::write(folder.join(USER), text.replace(from, to)).unwrap();
        };
        let bump =
            |tag: &str| ok(folder, &["bump", "--write", "--against", tag, "--format", "json"]);
        ok(folder, &["bump", "--write", "--format", "json"]);
        commit(folder, "first");
        git(folder, &["tag", "r1"]);
        // Two commits make the next version; what comes and goes between is in none.
        edit("id = 1;\n", "id = 1;\n  string mail = 2;\n  string x = 9;\n");
        commit(folder, "add mail and x");
        edit("  string x = 9;\n", "");
        bump("git:r1");
        commit(folder, "record");
        git(folder, &["tag", "r2"]);
        edit("mail = 2;", "mail = 2 [deprecated = true];");
        bump("git:r2");
        commit(folder, "deprecate mail");
        git(folder, &["tag", "r3"]);
        edit(
            "mail = 2 [deprecated = true];",
            "mail = 2 [\n    deprecated = true,\n    (abide.annotations.v1.field_policy).disallowed_by_default = true\n  ];",
        );
        bump("git:r3");
        commit(folder, "disallow mail");
        git(folder, &["tag", "r4"]);
        let mail = fs::read_to_string(folder.join(USER)).unwrap();
        let start = mail.find("  string mail").unwrap();
        let end = mail[start..].find(";\n").unwrap() + start + 2;
        edit(&mail[start..end], "  reserved 2;\n  reserved \"mail\";\n  string note = 3;\n");
        commit(folder, "remove mail, add note");

        let lines = ok(folder, &["history", "--fields", "--format", "json"]);
        let all: Vec<String> = lines.iter().map(told).collect();
        let unreleased = "User.mail 2: 1.1.0, deprecated 1.2.0, disallowed 1.3.0, removed unknown";
        let wanted = ["User: 1.0.0", "User.id 1: 1.0.0", unreleased, "User.note 3: unknown"];
        assert_eq!(all, wanted, "{version_in}");
        let mail = &lines[2];
        assert_eq!(mail["package"], "acme.user.v1");
        assert_eq!(mail["noun"], "field");
        let head = git(folder, &["rev-parse", "HEAD"]);
        assert_eq!(mail["removed"]["commit"], head.as_str());

        bump("git:r4");
        commit(folder, "record");
        let lines = ok(folder, &["history", "--fields", "--format", "json"]);
        let all: Vec<String> = lines.iter().map(told).collect();
        let released = "User.mail 2: 1.1.0, deprecated 1.2.0, disallowed 1.3.0, removed 1.4.0";
        assert_eq!(all[2..], [released, "User.note 3: 1.4.0"], "{version_in}");

        // A package that is gone has no version without its elements.
        let gone = abide(folder, &["history", "--fields"]).text();
        assert!(!gone.contains("unreleased"), "{gone}");
        // What was there before the walk has no beginning, and the rest is the same.
        let later = ok(folder, &["history", "--fields", "--since", "r2", "--format", "json"]);
        let later: Vec<String> = later.iter().map(told).collect();
        let before = released.replace("1.1.0", "unknown");
        assert_eq!(later[2..], [before.as_str(), "User.note 3: 1.4.0"], "{version_in}");
        assert_eq!(later[1], "User.id 1: unknown");

        // For people, and as a page.
        let human = abide(folder, &["history", "--fields"]).text();
        assert!(human.contains("field User.mail = 2  1.1.0 ("), "{human}");
        assert!(human.contains("removed 1.4.0 ("), "{human}");
        let page = abide(folder, &["history", "--fields", "--format", "html"]).text();
        assert!(page.contains("<td>field User.mail = 2</td>"), "{page}");

        // The tree alone knows what it says itself.
        let lines = ok(folder, &["hash", "git:r4", "--fields", "--format", "json"]);
        let all: Vec<String> = lines.iter().map(told).collect();
        let alone = "User.mail 2: unknown, deprecated unknown, disallowed unknown";
        assert_eq!(all, ["User: unknown", "User.id 1: unknown", alone], "{version_in}");
    }
}

/// After every commit of any history, the elements that live are those of the tree.
#[test]
fn what_lives_is_what_the_tree_has() {
    let mut checked = 0;
    for seed in 0..3 {
        let folder = TempDir::new().unwrap();
        let mut world = World::new(seed);
        let mut commits = Vec::new();
        for number in 0..24 {
            world.edit();
            let files = world.files();
            let subject = format!("commit {number}");
            commits.push(Snapshot { branch: "main", from: None, merges: None, subject, files });
        }
        repository(folder.path(), &commits);
        put(folder.path(), &[("abide.toml", world::CONFIG)]);
        let lives = ok(folder.path(), &["history", "--fields", "--format", "json"]);
        let order = git(folder.path(), &["rev-list", "--reverse", "HEAD"]);
        let order: Vec<&str> = order.lines().collect();
        let index = |moment: &Value| order.iter().position(|it| moment["commit"] == *it);
        for (at, id) in order.iter().enumerate() {
            let of_tree = abide(
                folder.path(),
                &["hash", &format!("git:{id}"), "--fields", "--format", "json"],
            );
            let key = |line: &Value| (line["element"].to_string(), line["number"].to_string());
            let there: BTreeSet<_> = of_tree.json().iter().map(key).collect();
            let lived = lives.iter().filter(|life| {
                let from = index(&life["appeared"]).expect("it appeared in the walk");
                from <= at && life.get("removed").is_none_or(|it| index(it).unwrap() > at)
            });
            let lived: BTreeSet<_> = lived.map(key).collect();
            assert_eq!(lived, there, "seed {seed}, commit {at}");
            checked += there.len();
        }
    }
    assert!(checked > 500, "{checked}");
}
