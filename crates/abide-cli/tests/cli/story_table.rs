//! One tree in one state, and what every command says about it: none is content where another
//! refuses, unless the book says why.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::breaking::{commit, git};
use crate::run::{abide, put, repository};
use crate::stories::{CALM, CANDIDATE, TELLINGS, USER, edit, ok, read, released};
use crate::strict_json::copy;

const BASE: &str = "acme/base/v1/base.proto";
const WILD: &str = "acme/wild/v1alpha/wild.proto";
const DAY: &str = "2026-01-15";

/// The commands, in the order of the statuses of a story.
const COMMANDS: [&[&str]; 7] = [
    &["check", "--against", "git:r1"],
    &["check"],
    &["bump", "--check", "--against", "git:r1"],
    &["breaking", "--against", "git:r1"],
    &["upgrade", "--check"],
    &["release", "--check"],
    &["release", "--diff"],
];

/// A state of the tree that was released as `r1`.
struct Story {
    name: &'static str,
    /// What happened since.
    since: fn(&Path),
    /// The exit status of each command.
    statuses: [i32; 7],
    /// The rules that `check --against` reports at error level.
    errors: &'static [&'static str],
    /// Where `check` is content and another command is not: the page of the book that says so, and
    /// the sentence.
    because: Option<(&'static str, &'static str)>,
}

impl Story {
    const fn new(
        name: &'static str,
        since: fn(&Path),
        statuses: [i32; 7],
        errors: &'static [&'static str],
    ) -> Story {
        Story { name, since, statuses, errors, because: None }
    }
}

const STORIES: &[Story] = &[
    Story::new("nothing changed", |_| {}, [0, 0, 0, 0, 0, 1, 0], &[]),
    Story::new("a comment", comment, [0, 0, 0, 0, 0, 1, 0], &[]),
    Story::new(
        "a comment in the source of a candidate",
        |tree| edit(tree, USER, "message User", "// Somebody.\nmessage User"),
        [1, 1, 0, 0, 1, 1, 1],
        &["candidate-edited"],
    ),
    Story::new("a new package", new_package, [1, 1, 1, 0, 0, 1, 0], &["version-not-bumped"]),
    Story::new(
        "a field is added",
        |tree| edit(tree, BASE, "text = 1;", "text = 1;\n  string more = 2;"),
        [1, 1, 1, 0, 0, 1, 0],
        &["version-not-bumped", "version-not-bumped", "version-not-bumped"],
    ),
    Story::new(
        "a break in a stable package",
        |tree| edit(tree, BASE, "string text", "int32 text"),
        [1, 1, 1, 1, 0, 1, 0],
        &["field-type-changed"],
    ),
    Story::new(
        "a break that is waived",
        |tree| {
            edit(
                tree,
                BASE,
                "  string text",
                "  // abide:allow(field-type-changed): r\n  int32 text",
            );
        },
        [1, 1, 1, 0, 0, 1, 0],
        &["version-not-bumped", "version-not-bumped", "version-not-bumped"],
    ),
    Story::new(
        "a security fix",
        |tree| {
            edit(
                tree,
                CALM,
                "message Calm {}",
                "message Calm {\n  // abide:security-fix: r\n  int32 a = 1;\n}",
            );
        },
        [1, 1, 1, 0, 0, 1, 0],
        &["version-not-bumped"],
    ),
    Story::new(
        "a type is moved",
        moved,
        [1, 1, 1, 1, 0, 1, 0],
        &["message-removed", "packaging-option-changed", "version-not-bumped"],
    ),
    Story::new(
        "a package is removed",
        |tree| fs::remove_dir_all(tree.join("acme/calm")).unwrap(),
        [1, 1, 1, 1, 0, 1, 0],
        &["package-removed"],
    ),
    Story::new(
        "an alpha is edited",
        |tree| edit(tree, WILD, "message Wild {}", "message Wild {\n  int32 a = 1;\n}"),
        [1, 1, 1, 0, 0, 1, 0],
        &["version-not-bumped"],
    ),
    Story::new(
        "a candidate is edited by hand",
        |tree| edit(tree, CANDIDATE, "Id id = 1;", "Id id = 1;\n  int32 own = 9;"),
        [1, 1, 1, 0, 1, 1, 1],
        &["candidate-edited", "version-not-bumped"],
    ),
    Story::new(
        "a candidate is deleted by hand",
        |tree| fs::remove_dir_all(tree.join("acme/user/v2alpha")).unwrap(),
        [1, 1, 1, 0, 1, 0, 0],
        &["version-not-bumped"],
    ),
    Story::new(
        "a frozen package is edited",
        frozen,
        [1, 1, 1, 0, 0, 0, 0],
        &["frozen-package-changed"],
    ),
    Story::new(
        "a version is not on record",
        |tree| {
            forget(tree, "acme.calm.v1");
        },
        [1, 1, 1, 0, 0, 1, 0],
        &["version-not-bumped"],
    ),
    Story::new(
        "the record is lost",
        |tree| fs::remove_file(tree.join("abide.lock")).unwrap(),
        [1, 0, 1, 0, 0, 1, 0],
        &["version-not-bumped"; 5],
    ),
    Story::new(
        "the record cannot be read",
        |tree| fs::write(tree.join("abide.lock"), "nonsense\n").unwrap(),
        [2, 2, 2, 2, 2, 2, 2],
        &[],
    ),
    Story::new(
        "a file has an error",
        |tree| edit(tree, CALM, "message Calm", "mess Calm"),
        [1; 7],
        &["syntax-error"],
    ),
    Story::new(
        "the source of a candidate has an error",
        |tree| edit(tree, USER, "message User", "mess User"),
        [1; 7],
        &["syntax-error"],
    ),
    Story {
        because: Some((
            "upgrade",
            "`abide check` only notes it, because users of the stable version lose nothing",
        )),
        ..Story::new("a removal without a conversion", unconverted, [0, 0, 0, 0, 0, 1, 1], &[])
    },
    Story {
        because: Some((
            "upgrade",
            "`abide check` does not ask for candidates that nobody made yet",
        )),
        ..Story::new("no candidate was ever made", no_candidate, [0, 0, 0, 0, 1, 0, 0], &[])
    },
    Story {
        because: Some(("upgrade", "`abide check` warns about it (`candidate-path-taken`)")),
        ..Story::new("a person wrote what is in its place", taken, [0, 0, 0, 0, 1, 0, 0], &[])
    },
];

fn comment(tree: &Path) {
    edit(tree, CALM, "message Calm", "// Calm.\nmessage Calm");
}

fn new_package(tree: &Path) {
    let text = read(tree, CALM).replace("calm", "new").replace("Calm", "New");
    put(tree, &[("acme/new/v1/new.proto", &text)]);
}

fn moved(tree: &Path) {
    let text = read(tree, CALM).replace("acme.calm.v1", "acme.wild.v1");
    put(tree, &[("acme/wild/v1/calm.proto", &text)]);
    edit(tree, CALM, "message Calm {}", "message Other {}");
}

fn record(tree: &Path) {
    ok(tree, &["bump", "--write", "--as-of", DAY]);
    commit(tree);
    git(tree, &["tag", "--force", "r1"]);
}

fn frozen(tree: &Path) {
    ok(tree, &["release", "--write", "--as-of", DAY]);
    record(tree);
    edit(tree, USER, "Id id = 1;", "Id id = 1;\n  int32 more = 9;");
}

fn unconverted(tree: &Path) {
    edit(tree, "abide.toml", "\"off\"", "\"note\"");
}

/// Takes the lines with a text out of the record.
fn forget(tree: &Path, text: &str) {
    let lock = read(tree, "abide.lock");
    let lines = lock.lines().filter(|it| !it.contains(text));
    let lines: String = lines.map(|it| format!("{it}\n")).collect();
    fs::write(tree.join("abide.lock"), lines).unwrap();
}

fn no_candidate(tree: &Path) {
    fs::remove_dir_all(tree.join("acme/user/v2alpha")).unwrap();
    forget(tree, "v2alpha");
    record(tree);
}

fn taken(tree: &Path) {
    no_candidate(tree);
    put(
        tree,
        &[(CANDIDATE, "syntax = \"proto3\";\npackage acme.user.v2alpha;\nmessage User {}\n")],
    );
    record(tree);
}

/// A tree with a stable package, an alpha and a candidate, all on record.
fn tree(version_in: &str) -> TempDir {
    let tree = released(version_in);
    let wild = read(tree.path(), CALM).replace("calm.v1", "wild.v1alpha").replace("Calm", "Wild");
    put(tree.path(), &[(WILD, &wild)]);
    record(tree.path());
    tree
}

#[test]
fn every_command_tells_one_story() {
    let mut differences = Vec::new();
    let begin = tree(TELLINGS[0]);
    for story in STORIES {
        let tree = TempDir::new().unwrap();
        let tree = tree.path();
        copy(begin.path(), tree);
        (story.since)(tree);
        let run = |args: &&[&str]| abide(tree, &[*args, &["--as-of", DAY]].concat()).status;
        let statuses: Vec<i32> = COMMANDS.iter().map(run).collect();
        let args = ["check", "--against", "git:r1", "--as-of", DAY, "--format", "json", "-q"];
        let report = abide(tree, &args);
        let mut errors = match report.status {
            2 => Vec::new(),
            _ => report.json().into_iter().filter(|it| it["severity"] == "error").collect(),
        };
        errors.sort_by_key(|it: &serde_json::Value| it["rule"].to_string());
        let errors: Vec<&str> = errors.iter().filter_map(|it| it["rule"].as_str()).collect();
        if statuses != story.statuses || errors != story.errors {
            differences.push(format!("{}: {statuses:?} {errors:?}", story.name));
        }
        let [check, _, bump, breaking, upgrade, ..] = story.statuses;
        let refuses =
            [bump, breaking, upgrade].into_iter().any(|it| it > 0) || story.statuses[6] > 0;
        match story.because {
            None => assert!(check > 0 || !refuses, "{}: nothing says why", story.name),
            Some((page, sentence)) => {
                assert!(check == 0 && refuses, "{}: there is nothing to say", story.name);
                let page = repository().join(format!("crates/abide-cli/book/{page}.md"));
                let page = fs::read_to_string(page).unwrap();
                let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(words.contains(sentence), "{}: the book does not say it", story.name);
            }
        }
    }
    assert!(differences.is_empty(), "{differences:#?}");
}

/// Before the first release, and without anything on record, nothing is asked.
#[test]
fn the_first_release_tells_one_story() {
    let tree = TempDir::new().unwrap();
    let tree = tree.path();
    put(tree, &[(CALM, "syntax = \"proto3\";\npackage acme.calm.v1;\nmessage Calm {}\n")]);
    for command in [&["check"][..], &["bump"], &["upgrade", "--check"], &["release", "--check"]] {
        ok(tree, command);
    }
    let unborn = abide(tree, &["check", "--against", "git:r1"]);
    assert_eq!(unborn.status, 2, "{}", unborn.stderr);
    // Who asks for records gets an answer, and from then on `check` asks for them, too.
    assert_eq!(abide(tree, &["bump", "--check"]).status, 1);
    ok(tree, &["bump", "--write"]);
    for command in [&["check"][..], &["bump", "--check"]] {
        ok(tree, command);
    }
    edit(tree, CALM, "message Calm {}", "message Calm {\n  int32 a = 1;\n}");
    for command in [&["check"][..], &["bump", "--check"]] {
        assert_eq!(abide(tree, command).status, 1, "{command:?}");
    }
}
