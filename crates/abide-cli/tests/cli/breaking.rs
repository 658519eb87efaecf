//! The contract about old trees: which part is compared, and what happens if one cannot be read,
//! links only in part, or is another tree.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::run::{Ran, abide, put};

const USER: &str =
    "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User { string name = 1; }\n";
const SHOP: &str = "syntax = \"proto3\";\npackage acme.shop.v1;\nimport \"acme/user/v1/user.proto\";\n\
                    message Shop {\n  acme.user.v1.User owner = 1;\n  string sign = 2;\n}\n";

fn tree(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    put(folder.path(), files);
    folder
}

pub(crate) fn git(folder: &Path, arguments: &[&str]) {
    run_git(&mut Command::new("git"), folder, arguments);
}

fn run_git(git: &mut Command, folder: &Path, arguments: &[&str]) {
    let ran = git
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env_remove("GIT_DIR")
        .output()
        .expect("these tests need the `git` program: install it");
    assert!(ran.status.success(), "git {arguments:?}: {ran:?}");
}

pub(crate) fn commit(folder: &Path) {
    git(folder, &["init", "--quiet"]);
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "-m", "one"]);
}

/// The same on a day, such as `2020-01-01`.
pub(crate) fn commit_on(day: &str, folder: &Path) {
    git(folder, &["init", "--quiet"]);
    git(folder, &["add", "--all"]);
    let mut program = Command::new("git");
    program.env("GIT_COMMITTER_DATE", format!("{day}T12:00:00Z"));
    run_git(&mut program, folder, &["commit", "--quiet", "-m", "one"]);
}

/// The rules that reported, each with the element.
fn reported(ran: &Ran) -> Vec<(String, String)> {
    let text = |it: &serde_json::Value| it.as_str().unwrap_or_default().to_owned();
    let lines = ran.json();
    let findings = lines.iter().filter(|it| it["kind"] == "finding");
    findings.map(|it| (text(&it["rule"]), text(&it["element"]))).collect()
}

fn pair(rule: &str, element: &str) -> (String, String) {
    (rule.to_owned(), element.to_owned())
}

#[test]
fn a_part_is_compared_with_the_same_part() {
    let files = [
        ("abide.toml", "roots = [\"proto\"]\n"),
        ("proto/acme/user/v1/user.proto", USER),
        ("proto/acme/shop/v1/shop.proto", SHOP),
        ("proto/acme/shop/v1/till.proto", "syntax = \"proto3\";\npackage acme.shop.v1;\n"),
    ];
    let folder = tree(&files);
    commit(folder.path());
    let old = tree(&files);
    let set = folder.path().join("old.binpb");
    let set = set.to_str().unwrap();
    assert_eq!(abide(folder.path(), &["build", "-o", set]).status, 0);
    put(
        folder.path(),
        &[
            ("proto/acme/user/v1/user.proto", &USER.replace("string name = 1;", "")),
            ("proto/acme/shop/v1/shop.proto", &SHOP.replace("  string sign = 2;\n", "")),
        ],
    );
    let gone = pair("field-removed", "acme.shop.v1.Shop.sign");
    let both = vec![gone.clone(), pair("field-removed", "acme.user.v1.User.name")];
    let one = [gone];
    let copy = old.path().to_str().unwrap();
    let rooted = old.path().join("proto");
    for against in ["git:HEAD", copy, rooted.to_str().unwrap(), set] {
        let run = |from: &str, part: &[&str]| {
            let folder = folder.path().join(from);
            let args = [&["breaking"], part, &["--against", against, "--format", "json"]].concat();
            let ran = abide(&folder, &args);
            assert_eq!(ran.status, 1, "{args:?}: {} {}", ran.text(), ran.stderr);
            reported(&ran)
        };
        assert_eq!(run("", &[]), both, "{against}");
        assert_eq!(run("", &["proto"]), both, "{against}");
        assert_eq!(run("", &["proto/acme/shop"]), one, "{against}");
        assert_eq!(run("", &["proto/acme/shop/v1/shop.proto"]), one, "{against}");
        assert_eq!(run("proto/acme", &["shop"]), one, "{against}");
    }
}

#[test]
fn a_part_that_is_new_is_compared_with_nothing() {
    let folder =
        tree(&[("abide.toml", "roots = [\"proto\"]\n"), ("proto/acme/user/v1/user.proto", USER)]);
    commit(folder.path());
    put(folder.path(), &[("proto/acme/shop/v1/shop.proto", SHOP)]);
    let args = ["breaking", "proto/acme/shop", "--against", "git:HEAD", "--changes"];
    let ran = abide(folder.path(), &[&args[..], &["--format", "json"]].concat());
    assert_eq!(
        (ran.status, reported(&ran)),
        (0, vec![pair("package-added", "acme.shop.v1")]),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_file_without_a_configuration_is_compared_with_itself() {
    let folder = tree(&[("proto/a.proto", USER), ("proto/b.proto", &USER.replace("User", "B"))]);
    commit(folder.path());
    put(folder.path(), &[("proto/a.proto", &USER.replace("string", "bytes"))]);
    for (from, file) in [("", "proto/a.proto"), ("proto", "a.proto"), ("proto", "../proto/a.proto")]
    {
        let from = folder.path().join(from);
        let args = ["breaking", file, "--against", "git:HEAD", "--format", "json"];
        let ran = abide(&from, &args);
        let expected = [pair("field-type-changed", "acme.user.v1.User.name")];
        assert_eq!(reported(&ran), expected, "{file}: {}", ran.stderr);
    }
}

#[test]
fn a_folder_beside_the_configured_tree_is_compared_with_itself() {
    let folder = tree(&[("abide.toml", "[rules]\n"), ("proto/acme/user/v1/user.proto", USER)]);
    put(folder.path(), &[("proto/acme/shop/v1/shop.proto", "syntax = \"proto3\";\n")]);
    commit(folder.path());
    let changed = &USER.replace("string", "bytes");
    put(folder.path(), &[("proto/acme/user/v1/user.proto", changed), ("in/c.toml", "[rules]\n")]);
    put(folder.path(), &[("rooted.toml", "roots = [\"gone\"]\n")]);
    let expected = [pair("field-type-changed", "acme.user.v1.User.name")];
    let elsewhere = tree(&[("abide.toml", "[rules]\n")]);
    let elsewhere = elsewhere.path().join("abide.toml");
    for (from, source, config) in [
        ("", "proto", None),
        ("proto", ".", None),
        ("proto", "../proto", None),
        ("", "proto/acme/user/v1/user.proto", None),
        ("proto", "acme/user/v1/user.proto", None),
        ("proto/acme/user", "../user/v1/user.proto", Some("../../../in/c.toml")),
        ("", "proto", Some("in/c.toml")),
        ("", "proto", Some("rooted.toml")),
        ("", "proto", elsewhere.to_str()),
    ] {
        let mut args = vec!["breaking", source, "--against", "git:HEAD", "--format", "json"];
        args.extend(config.into_iter().flat_map(|it| ["--config", it]));
        let ran = abide(&folder.path().join(from), &args);
        assert_eq!(reported(&ran), expected, "{args:?}: {} {}", ran.text(), ran.stderr);
    }
}

#[test]
fn without_an_old_tree_there_is_nothing_to_compare() {
    let folder = tree(&[("acme/user/v1/user.proto", USER)]);
    let ran = abide(folder.path(), &["breaking"]);
    assert_eq!((ran.status, ran.text().as_str()), (2, ""));
    assert!(ran.stderr.contains("`--against SOURCE`"), "{}", ran.stderr);
    put(folder.path(), &[("abide.toml", "against = \"git:HEAD\"\n")]);
    commit(folder.path());
    assert_eq!(abide(folder.path(), &["breaking"]).status, 0);
    put(folder.path(), &[("acme/user/v1/user.proto", &USER.replace("string name = 1;", ""))]);
    let ran = abide(folder.path(), &["breaking", "--format", "json"]);
    assert_eq!(reported(&ran), [pair("field-removed", "acme.user.v1.User.name")]);
    // What the command line says counts.
    let ran = abide(folder.path(), &["breaking", "--against", "."]);
    assert_eq!(ran.status, 0, "{}", ran.text());
}

#[test]
fn an_old_tree_that_is_not_there() {
    let folder = tree(&[
        ("acme/user/v1/user.proto", USER),
        ("empty/readme.txt", ""),
        ("noise.binpb", "no descriptor set"),
    ]);
    commit(folder.path());
    for (against, words) in [
        ("git:gone", "unknown revision `gone`"),
        ("git:HEAD:gone", "gone"),
        ("nowhere", "cannot read `nowhere`: it does not exist"),
        ("empty", "no `.proto` file in `empty`"),
        ("noise.binpb", "`noise.binpb` is not a FileDescriptorSet"),
        ("", "the source is empty"),
    ] {
        for more in [&["--against", against][..], &["--against", ".", "--bump-against", against]] {
            let ran = abide(folder.path(), &[&["breaking"], more].concat());
            assert_eq!((ran.status, ran.text().as_str()), (2, ""), "{against}");
            assert!(ran.stderr.contains(words), "{against}: {}", ran.stderr);
        }
    }
}

#[test]
fn an_old_tree_is_compared_as_far_as_it_links() {
    let folder = tree(&[
        ("new/acme/user/v1/user.proto", USER),
        ("old/acme/user/v1/user.proto", &USER.replace("}", "Gone gone = 2; bytes id = 3; }")),
        ("torn/acme/user/v1/user.proto", "message {{{"),
        ("torn/acme/user/v1/other.proto", "\u{1}\u{2}"),
    ]);
    let args = ["breaking", "new", "--against", "old", "--format", "json"];
    let ran = abide(folder.path(), &args);
    let gone = |name: &str| pair("field-removed", &format!("acme.user.v1.User.{name}"));
    assert_eq!((ran.status, reported(&ran)), (1, vec![gone("gone"), gone("id")]));
    let note = "note: the baseline `old` has link errors and is compared as far as it links: \
                acme/user/v1/user.proto:3: `Gone` was not found";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    let ran = abide(folder.path(), &["breaking", "new", "--against", "torn"]);
    assert_eq!((ran.status, ran.text().as_str()), (2, ""));
    assert!(ran.stderr.contains("nothing in the baseline `torn` can be read"), "{}", ran.stderr);
    // The new side is judged in full, whatever does not link there.
    let ran = abide(folder.path(), &["breaking", "old", "--against", "new", "--format", "json"]);
    assert!(ran.status == 1 && ran.rules().contains(&"name-not-found".to_owned()));
}

#[test]
fn trees_with_nothing_in_common_are_compared_all_the_same() {
    let folder = tree(&[("new/acme/user/v1/user.proto", USER), ("old/zeta/b.proto", SHOP)]);
    let old = SHOP
        .replace("import \"acme/user/v1/user.proto\";\n", "")
        .replace("acme.user.v1.User", "string");
    put(folder.path(), &[("old/zeta/b.proto", &old)]);
    let args = ["breaking", "new", "--against", "old", "--format", "json", "--changes"];
    let ran = abide(folder.path(), &args);
    let expected = [pair("package-added", "acme.user.v1"), pair("package-removed", "acme.shop.v1")];
    assert_eq!((ran.status, reported(&ran)), (1, expected.to_vec()), "{}", ran.text());
    assert!(ran.stderr.contains("no path and no package in common"), "{}", ran.stderr);
}

#[test]
fn a_revision_without_protos_is_an_empty_baseline() {
    let folder = tree(&[("readme.txt", "")]);
    let folder = folder.path();
    commit(folder);
    let note = "note: the baseline `git:HEAD` has no `.proto` file, so everything counts as new; if \
                they were in another folder, name it: `git:HEAD:DIR`";
    let rooted = "roots = [\"proto\"]\n";
    for (top, config, root) in
        [("", "", "acme"), ("", rooted, "proto"), ("api", "", "acme"), ("api", rooted, "proto")]
    {
        let tree = folder.join(top);
        let file = format!("{root}/acme/user/v1/user.proto").replace("acme/acme", "acme");
        put(&tree, &[("abide.toml", config), (&file, USER)]);
        for command in ["check", "breaking"] {
            let ran = abide(&tree, &[command, "--against", "git:HEAD", "--format", "json"]);
            assert_eq!((ran.status, ran.stderr.trim_end()), (0, note), "{top} {config} {command}");
            assert_eq!(ran.json().pop().unwrap()["required_bump"], "minor");
        }
        let ran = abide(&tree, &["bump", "--against", "git:HEAD"]);
        assert!(ran.status == 0 && ran.stderr.contains(note), "{}", ran.stderr);
        let ran = abide(&tree, &["check", "--against", "git:HEAD", "-q"]);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
        // A judged tree holds something, and what is named is there.
        for args in [
            &["check", "git:HEAD"][..],
            &["check", "--against", "git:HEAD:gone"],
            &["check", "--against", "git:gone"],
            &["check", "--against", "gone"],
        ] {
            assert_eq!(abide(&tree, args).status, 2, "{args:?}");
        }
        std::fs::remove_dir_all(tree.join(root)).unwrap();
        std::fs::remove_file(tree.join("abide.toml")).unwrap();
    }
}
