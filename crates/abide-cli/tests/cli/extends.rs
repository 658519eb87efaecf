//! One policy for many repositories: what `extends` takes over, what floors keep, and what is pinned.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::history::git;
use crate::run::{Ran, abide, put};

const USER: &str =
    "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {\n  string name = 1;\n}\n";

/// A repository with a policy, a base of that, and a tree.
fn company(policy: &str, tree: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    git(folder.path(), &["init", "--quiet"]);
    put(
        folder.path(),
        &[
            ("policy/abide.toml", policy),
            ("svc/abide.toml", tree),
            ("svc/acme/user/v1/user.proto", USER),
        ],
    );
    folder
}

fn check(folder: &Path) -> Ran {
    abide(&folder.join("svc"), &["check"])
}

fn rule(folder: &Path, id: &str) -> Value {
    let ran = abide(folder, &["rules", "--format", "json"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    ran.json().into_iter().find(|it| it["id"] == id).unwrap()
}

#[test]
fn later_files_win_and_every_value_names_its_place() {
    let folder = company(
        "preset = \"google\"\n\n[rules]\none-definition = \"warning\"\npackage-cycle = \"note\"\n\n\
         [breaking]\ndirections = [\"backward\", \"forward\"]\n",
        "extends = [\"../policy\"]\n\n[rules]\npackage-cycle = \"error\"\n",
    );
    let svc = folder.path().join("svc");
    assert_eq!(check(folder.path()).status, 0, "{}", check(folder.path()).stderr);
    let of_base = rule(&svc, "one-definition");
    assert_eq!(of_base["effective_severity"], "warning");
    assert_eq!(
        (&of_base["severity_path"], &of_base["severity_line"]),
        (&"../policy/abide.toml".into(), &4.into())
    );
    let own = rule(&svc, "package-cycle");
    assert_eq!(own["effective_severity"], "error");
    assert_eq!((&own["severity_path"], &own["severity_line"]), (&"abide.toml".into(), &4.into()));
    let ran = abide(&svc, &["rules", "--format", "json"]);
    let lines = ran.json();
    let value = lines.iter().find(|it| it["key"] == "breaking.directions").unwrap();
    assert_eq!((&value["path"], &value["line"]), (&"../policy/abide.toml".into(), &8.into()));
    let human = abide(&svc, &["rules"]).text();
    assert!(human.contains("in `../policy/abide.toml`, line 4)"), "{human}");
}

#[test]
fn what_is_laxer_than_a_floor_is_an_error_at_its_place() {
    let floors = "[rules]\none-definition = { level = \"error\", floor = true }\nlanguage = { level = \
                  \"warning\", floor = true }\n\"buf:ENUM_PASCAL_CASE\" = { level = \"error\", floor = \
                  true }\n\n[[override]]\npackages = [\"acme.public.**\"]\nrules = { package-cycle = \
                  \"error\" }\nfloor = true\n\n[breaking]\nfloor = true\ndirections = [\"backward\", \
                  \"forward\"]\nstrict-annotations = true\n\n[dependencies]\nfloor = true\nmax-depth = \
                  4\ndeny = [\"acme.* -> beta.*\"]\n";
    let extends = "extends = \"../policy/abide.toml\"\n";
    for (own, at) in [
        ("[rules]\none-definition = \"warning\"\n", "3:1"),
        ("[rules]\ndependencies = \"note\"\n", "3:1"),
        ("[rules]\nimport-not-found = \"off\"\n", "3:1"),
        ("[rules]\n\"buf:ENUM_PASCAL_CASE\" = \"off\"\n", "3:1"),
        ("[rules]\n\"buf:STANDARD\" = \"off\"\n", "3:1"),
        (
            "[[override]]\npackages = [\"acme.user.v1\"]\nrules = { one-definition = \"off\" }\n",
            "4:11",
        ),
        ("[rules]\npackage-cycle = \"warning\"\n", "3:1"),
        ("[breaking]\ndirections = [\"backward\"]\n", "3:14"),
        ("[breaking]\nstrict-annotations = false\n", "3:22"),
        ("[dependencies]\nmax-depth = 9\n", "3:13"),
        ("[dependencies]\ndeny = []\n", "3:8"),
    ] {
        let folder = company(floors, &format!("{extends}{own}"));
        let ran = check(folder.path());
        let is_at = ran.stderr.contains(&format!("abide.toml:{at}"));
        assert!(ran.status == 2 && is_at, "{own}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("is laxer than `../policy/abide.toml`, line "),
            "{}",
            ran.stderr
        );
    }
    for own in [
        "",
        "[rules]\nlanguage = \"error\"\n",
        "[rules]\npackage-path-mismatch = \"off\"\n",
        "[rules]\ndependencies = \"note\"\none-definition = \"error\"\npackage-cycle = \"error\"\n",
        "[[override]]\npackages = [\"acme.labs.**\"]\nrules = { package-cycle = \"off\" }\n",
        "[dependencies]\nmax-depth = 3\ndeny = [\"acme.* -> beta.*\", \"a.* -> b.*\"]\n",
        "[breaking]\ndirections = [\"forward\", \"backward\"]\nstrict-annotations = true\n",
    ] {
        let folder = company(floors, &format!("{extends}{own}"));
        let ran = check(folder.path());
        assert!(ran.status < 2, "{own}: {}", ran.stderr);
    }
}

#[test]
fn cycles_missing_bases_and_mistakes_are_errors_at_their_places() {
    for (policy, tree, said) in [
        ("extends = \"../svc\"\n", "extends = \"../policy\"\n", "builds on itself"),
        ("", "extends = \"../polcy\"\n", "does not exist"),
        ("[ruls]\n", "extends = \"../policy\"\n", "unknown key `ruls`"),
        ("[rules]\none-definitoin = \"error\"\n", "extends = \"../policy\"\n", "did you mean"),
        ("a =", "extends = \"../policy\"\n", "policy/abide.toml:1"),
        ("", "extends = [\"git:HEAD\"]\n", "write it as `git:REV:PATH`"),
        ("", "extends = [\"dep:policy/abide.toml\"]\n", "run `abide deps vendor`"),
    ] {
        let folder = company(policy, tree);
        let ran = check(folder.path());
        assert!(ran.status == 2 && ran.stderr.contains(said), "{tree}: {}", ran.stderr);
        assert!(ran.stderr.contains("abide.toml:"), "{}", ran.stderr);
    }
}

#[test]
fn a_revision_is_pinned() {
    let folder =
        company("[rules]\none-definition = \"warning\"\n", "extends = \"git:main:policy\"\n");
    git(folder.path(), &["add", "--all"]);
    git(folder.path(), &["commit", "--quiet", "-m", "policy"]);
    git(folder.path(), &["branch", "--force", "-M", "main"]);
    let svc = folder.path().join("svc");
    let ran = check(folder.path());
    assert!(ran.status == 2 && ran.stderr.contains("abide.lock does not pin it"), "{}", ran.stderr);
    assert_eq!(abide(&svc, &["deps", "update"]).status, 0);
    let lock = std::fs::read_to_string(svc.join("abide.lock")).unwrap();
    assert!(lock.contains("git:main:policy/abide.toml"), "{lock}");
    assert_eq!(check(folder.path()).status, 0, "{}", check(folder.path()).stderr);
    assert_eq!(rule(&svc, "one-definition")["effective_severity"], "warning");
    put(folder.path(), &[("policy/abide.toml", "[rules]\none-definition = \"off\"\n")]);
    git(folder.path(), &["commit", "--quiet", "-am", "laxer"]);
    let ran = check(folder.path());
    assert!(
        ran.status == 2 && ran.stderr.contains("is not what abide.lock records"),
        "{}",
        ran.stderr
    );
    assert_eq!(abide(&svc, &["deps", "update"]).status, 0);
    assert_eq!(rule(&svc, "one-definition")["effective_severity"], "off");
}

#[test]
fn a_dependency_can_hold_the_policy() {
    let upstream = TempDir::new().unwrap();
    git(upstream.path(), &["init", "--quiet"]);
    put(
        upstream.path(),
        &[
            ("api/abide.toml", "[rules]\none-definition = { level = \"error\", floor = true }\n"),
            ("acme/money/v1/money.proto", "syntax = \"proto3\";\npackage acme.money.v1;\n"),
        ],
    );
    git(upstream.path(), &["add", "--all"]);
    git(upstream.path(), &["commit", "--quiet", "-m", "policy"]);
    let tree = TempDir::new().unwrap();
    let config = format!(
        "extends = \"dep:policy/api/abide.toml\"\n\n[[dependency]]\nname = \"policy\"\ngit = \"file://{}\"\n",
        upstream.path().display()
    );
    put(tree.path(), &[("abide.toml", &config), ("acme/user/v1/user.proto", USER)]);
    let ran = abide(tree.path(), &["check"]);
    assert!(ran.status == 2 && ran.stderr.contains("run `abide deps vendor`"), "{}", ran.stderr);
    let ran = abide(tree.path(), &["deps", "vendor"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let ran = abide(tree.path(), &["check"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    put(tree.path(), &[("abide.toml", &format!("{config}\n[rules]\none-definition = \"note\"\n"))]);
    let ran = abide(tree.path(), &["check"]);
    assert!(ran.status == 2 && ran.stderr.contains("dep:policy/api/abide.toml"), "{}", ran.stderr);
}
