//! `--changed` reports what the whole run reports in the packages that a change reaches.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::history::world::{CONFIG, World};
use crate::history::{age, git};
use crate::run::{Ran, abide, put};

type Files = BTreeMap<String, String>;

/// What is said if a part of the tree was not enough.
const WHOLE: &str = "the whole tree was read";
const EVERYTHING: &str = "everything is reported";

/// The package and the imports of a text.
fn facts(text: &str) -> (String, Vec<String>) {
    let after = |word: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|it| it.trim().strip_prefix(word));
        let lines = lines.filter_map(|it| it.trim().strip_suffix(';'));
        lines.map(|it| it.trim_start_matches("public ").trim_matches('"').to_owned()).collect()
    };
    (after("package ").into_iter().next().unwrap_or_default(), after("import "))
}

/// The path that imports use.
fn import_path(path: &str) -> &str {
    path.split_once('/')
        .filter(|(root, _)| ["proto", "third_party"].contains(root))
        .map_or(path, |it| it.1)
}

/// The packages of the files that differ, and of those that import these, directly or not.
fn reached(old: &Files, new: &Files) -> BTreeSet<String> {
    let paths: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let sides = |path: &String| [old.get(path), new.get(path)].into_iter().flatten();
    let mut open: Vec<&String> =
        paths.iter().copied().filter(|it| old.get(*it) != new.get(*it)).collect();
    let mut seen: BTreeSet<&String> = BTreeSet::new();
    while let Some(path) = open.pop() {
        if seen.insert(path) {
            let imports = |it: &&String| {
                sides(it).any(|it| facts(it).1.iter().any(|it| it == import_path(path)))
            };
            open.extend(paths.iter().copied().filter(imports));
        }
    }
    seen.into_iter().flat_map(sides).map(|it| facts(it).0).collect()
}

/// What a run reports in some packages, line by line.
fn lines(ran: &Ran, old: &Files, new: &Files, packages: Option<&BTreeSet<String>>) -> Vec<String> {
    let text = ran.text();
    let is_reached = |line: &&str| {
        let value: Value = serde_json::from_str(line).expect("a line is an object");
        let text = value["path"].as_str().and_then(|it| new.get(it).or(old.get(it)));
        value["kind"] == "finding"
            && packages.is_none_or(|it| text.is_some_and(|text| it.contains(&facts(text).0)))
    };
    text.lines().filter(is_reached).map(str::to_owned).collect()
}

/// Compares a run with `--changed` with the whole one. Whether a part of the tree was enough.
fn obeys(folder: &Path, args: &[&str], old: &Files, new: &Files) -> bool {
    let json = ["--format", "json", "--as-of", "2026-02-01"];
    let whole = abide(folder, &[args, &json].concat());
    let changed = abide(folder, &[args, &json, &["--changed", "--verbose"]].concat());
    let reached = reached(old, new);
    let expected = lines(&whole, old, new, Some(&reached));
    assert_eq!(lines(&changed, old, new, None), expected, "{args:?} {}", changed.stderr);
    let summary = |ran: &Ran| ran.json().pop().expect("a report ends with a summary");
    let (whole, summary) = (summary(&whole), summary(&changed));
    for severity in ["error", "warning", "note"] {
        let is = |it: &&String| it.contains(&format!("\"severity\":\"{severity}\""));
        assert_eq!(summary[format!("{severity}s")], expected.iter().filter(is).count());
    }
    assert_eq!(summary["required_bump"], whole["required_bump"], "{args:?}");
    let judged = new.iter().filter(|(path, _)| !path.starts_with("third_party"));
    let judged = judged.filter(|(_, text)| reached.contains(&facts(text).0));
    assert_eq!(summary["files"], judged.count(), "{args:?} {}", changed.stderr);
    assert_eq!(changed.status, i32::from(summary["errors"] != 0), "{}", changed.stderr);
    !changed.stderr.contains(WHOLE)
}

/// Makes the tree on disk that of these files.
fn write(folder: &Path, old: &Files, new: &Files) {
    for path in old.keys().filter(|it| !new.contains_key(*it)) {
        fs::remove_file(folder.join(path)).unwrap();
    }
    for (path, text) in new.iter().filter(|(path, text)| old.get(*path) != Some(text)) {
        put(folder, &[(path, text)]);
    }
}

fn commit(folder: &Path) {
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--allow-empty", "-m", "commit"]);
}

/// A file of this workspace.
fn repository_file(path: &str) -> String {
    fs::read_to_string(crate::run::repository().join(path)).unwrap()
}

/// A repository of these files.
fn repository(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    git(folder.path(), &["init", "--quiet"]);
    put(folder.path(), files);
    commit(folder.path());
    folder
}

#[test]
fn instances_are_judged_that_changed_or_whose_api_did() {
    let config = "[[instances]]\nfiles = [\"config/*.yaml\"]\ntype = \"shop.v1.Item\"\n";
    let item = "syntax = \"proto3\";\npackage shop.v1;\nmessage Item { string name = 1; }\n";
    let folder = repository(&[
        ("abide.toml", config),
        ("shop/v1/item.proto", item),
        ("config/a.yaml", "nmae: a\n"),
        ("config/b.yaml", "nmae: b\n"),
    ]);
    let judged = || {
        let ran = crate::run::abide(folder.path(), &["check", "--changed", "--format", "json"]);
        let lines = ran.json();
        let found = lines.iter().filter(|it| it["rule"] == "unknown-field");
        found.map(|it| it["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(judged(), Vec::<String>::new());
    put(folder.path(), &[("config/b.yaml", "nmae: c\n")]);
    assert_eq!(judged(), ["config/b.yaml"]);
    put(folder.path(), &[("config/c.yaml", "nmae: d\n")]);
    assert_eq!(judged(), ["config/b.yaml", "config/c.yaml"]);
    put(folder.path(), &[("shop/v1/item.proto", &item.replace("name", "title"))]);
    assert_eq!(judged(), ["config/a.yaml", "config/b.yaml", "config/c.yaml"]);
}

/// Several worlds in one tree; they share what is vendored.
fn together(worlds: &[World]) -> Files {
    let mut files = Files::new();
    for (number, world) in worlds.iter().enumerate().rev() {
        for (path, text) in world.files() {
            let own = format!("acme{number}");
            let text = text.replace("acme", &own).replace("50123", &format!("5012{number}"));
            files.insert(path.replace("acme", &own), text);
        }
    }
    files
}

#[test]
fn random_edits_are_reported_as_by_the_whole_run() {
    let (mut slices, mut found) = (0, 0);
    for seed in 0..4 {
        let mut worlds: Vec<World> = (0..5).map(|it| World::new(seed * 10 + it)).collect();
        let mut committed = together(&worlds);
        let folder = repository(&[("abide.toml", CONFIG)]);
        let folder = folder.path();
        write(folder, &Files::new(), &committed);
        commit(folder);
        let mut now = committed.clone();
        for round in 0..6 {
            worlds[(seed as usize + round) % 5].edit();
            let next = together(&worlds);
            write(folder, &now, &next);
            now = next;
            match round {
                2 => drop(git(folder, &["add", "--all"])),
                4 => {
                    commit(folder);
                    committed = now.clone();
                }
                _ => {}
            }
            let (old, new) = (&committed, &now);
            let against = ["--against", "git:HEAD"];
            slices += i32::from(obeys(folder, &[&["check"], &against[..]].concat(), old, new));
            slices += i32::from(obeys(folder, &["check", "--jobs", "1"], old, new));
            let breaking = [&["breaking", "--changes"], &against[..]].concat();
            slices += i32::from(obeys(folder, &breaking, old, new));
            slices += i32::from(obeys(folder, &["lint"], old, new));
            let changed = || abide(folder, &["check", "--changed", "--format", "json"]);
            let found_changed = changed();
            found += found_changed.json().len() - 1;
            // Whatever git's index knows, it only spares a look.
            let (index, away) = (folder.join(".git/index"), folder.join(".git/away"));
            fs::rename(&index, &away).unwrap();
            assert_eq!(changed().text(), found_changed.text());
            fs::rename(&away, &index).unwrap();
        }
    }
    assert!(slices > 25, "{slices} runs read a part of the tree");
    assert!(found > 100, "{found} findings");
}

/// A tree of APIs that nobody but `acme.shop` uses, and that is larger than any change of them.
fn shop(settings: &str) -> (Files, TempDir) {
    let mut files = Files::new();
    files.insert("abide.toml".to_owned(), settings.to_owned());
    for api in ["base", "shop", "mail", "pay", "log", "geo", "user", "news"] {
        for version in ["v1", "v2"] {
            let text = format!(
                "syntax = \"proto3\";\npackage acme.{api}.{version};\n{}message Thing {{\n  string \
                 id = 1;\n  string badName = 2;\n}}\n",
                match api {
                    "shop" => format!("import \"acme/base/{version}/base.proto\";\n"),
                    _ => String::new(),
                }
            )
            .replace(
                "badName = 2;\n",
                match api {
                    "shop" => "badName = 2;\n  acme.base.VERSION.Thing thing = 3;\n",
                    _ => "badName = 2;\n",
                },
            )
            .replace("VERSION", version);
            files.insert(format!("acme/{api}/{version}/{api}.proto"), text);
        }
    }
    let listed: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    let folder = repository(&listed);
    (files, folder)
}

fn is_proto(files: &Files) -> Files {
    files
        .iter()
        .filter(|(it, _)| it.ends_with(".proto"))
        .map(|(a, b)| (a.clone(), b.clone()))
        .collect()
}

/// Makes an edit, and compares the runs: whether a part of the tree was enough.
fn edit(folder: &TempDir, old: &Files, args: &[&str], edits: &[(&str, Option<&str>)]) -> bool {
    let mut new = old.clone();
    for (path, text) in edits {
        match text {
            Some(text) => drop(new.insert((*path).to_owned(), (*text).to_owned())),
            None => drop(new.remove(*path)),
        }
    }
    write(folder.path(), old, &new);
    let enough = obeys(folder.path(), args, &is_proto(old), &is_proto(&new));
    write(folder.path(), &new, old);
    enough
}

const NAMES: &str = "[rules]\nfield-name-case = \"warning\"\n";
const PAY: &str = "acme/pay/v1/pay.proto";

#[test]
fn every_kind_of_change_is_found() {
    let (files, folder) = shop(NAMES);
    let pay = &files[PAY];
    let check = ["check", "--against", "git:HEAD"];
    let fewer = pay.replace("  string id = 1;\n", "");
    let commented = format!("// A comment.\n{pay}");
    let base = files["acme/base/v1/base.proto"].replace("id = 1", "id = 4");
    let third = pay.replace(".v1;", ".v3;");
    let waived = pay.replace(
        "  string badName",
        "  // abide:allow(field-name-case): it is so\n  // abide:allow(field-removed): it was\n  \
         string badName",
    );
    let edits: [&[(&str, Option<&str>)]; 8] = [
        &[],
        &[(PAY, Some(&fewer))],
        &[(PAY, Some(&commented))],
        &[(PAY, None)],
        &[(PAY, None), ("acme/pay/v1/moved.proto", Some(pay))],
        &[("acme/base/v1/base.proto", Some(&base))],
        &[("acme/pay/v3/pay.proto", Some(&third))],
        &[(PAY, Some(&waived))],
    ];
    for edits in edits {
        assert!(edit(&folder, &files, &check, edits), "{edits:?}");
        assert!(edit(&folder, &files, &["lint"], edits), "{edits:?}");
    }
}

/// What the summary of a run says about what it reports on.
fn extent(folder: &Path, args: &[&str]) -> (Value, String) {
    let ran = abide(folder, &[args, &["--format", "json"]].concat());
    (ran.json().pop().expect("a report ends with a summary")["files"].clone(), ran.stderr)
}

#[test]
fn changed_files_and_their_importers_are_reported_and_nothing_else() {
    let (files, folder) = shop("");
    let top = folder.path();
    let (count, said) = extent(top, &["check", "--changed"]);
    assert_eq!(count, 0);
    assert!(said.contains("nothing changed since git:HEAD"), "{said}");
    assert_eq!(abide(top, &["check", "--changed", "--quiet"]).stderr, "");

    put(top, &[(PAY, &format!("// A comment.\n{}", files[PAY]))]);
    assert_eq!(extent(top, &["check", "--changed"]).0, 1);
    // Staged and untracked files are as good as edited ones.
    git(top, &["add", "--all"]);
    put(top, &[("acme/log/v1/more.proto", "syntax = \"proto3\";\npackage acme.log.v1;\n")]);
    assert_eq!(extent(top, &["check", "--changed"]).0, 3);
    put(
        top,
        &[("acme/base/v1/base.proto", &files["acme/base/v1/base.proto"].replace("id", "name"))],
    );
    assert_eq!(extent(top, &["check", "--changed"]).0, 5, "`acme.shop.v1` imports `acme.base.v1`");
    // Line ends alone are no change where git writes them.
    git(top, &["reset", "--quiet", "--hard"]);
    git(top, &["clean", "-fdq"]);
    put(top, &[(PAY, &files[PAY].replace('\n', "\r\n"))]);
    assert_eq!(extent(top, &["check", "--changed"]).0, 0);
    // Since an older commit.
    git(top, &["reset", "--quiet", "--hard"]);
    put(top, &[(PAY, &format!("// A comment.\n{}", files[PAY]))]);
    commit(top);
    assert_eq!(extent(top, &["check", "--changed"]).0, 0);
    assert_eq!(extent(top, &["check", "--changed", "--against", "git:HEAD~1"]).0, 1);
    assert_eq!(extent(top, &["check", "git:HEAD", "--changed", "--against", "git:HEAD~1"]).0, 1);
}

#[test]
fn changed_settings_concern_everything() {
    let (files, folder) = shop(NAMES);
    let top = folder.path();
    let all = is_proto(&files).len();
    for (path, text) in [("abide.toml", ""), ("features.txt", "com.acme.one\n")] {
        put(top, &[(path, text)]);
        let (count, said) = extent(top, &["check", "--changed"]);
        assert_eq!(count, all);
        assert!(said.contains(EVERYTHING), "{said}");
        let whole = abide(top, &["check", "--format", "json"]);
        let changed = abide(top, &["check", "--changed", "--format", "json"]);
        assert_eq!(changed.text(), whole.text());
        git(top, &["reset", "--quiet", "--hard"]);
        git(top, &["clean", "-fdq"]);
    }
    // The configuration is called as the user calls it.
    put(top, &[("other.toml", "preset = \"standard\"\n")]);
    let (_, said) = extent(top, &["check", "--changed", "--config", "other.toml"]);
    assert!(said.contains("other.toml changed") && !said.contains("abide.toml"), "{said}");
    fs::remove_file(top.join("other.toml")).unwrap();
    // Accepted findings stay accepted, and those that no longer occur elsewhere are left alone.
    assert_eq!(abide(top, &["check", "--accept"]).status, 0);
    commit(top);
    put(top, &[(PAY, &files[PAY].replace("id = 1", "badId = 1"))]);
    let rules = abide(top, &["check", "--changed", "--format", "json"]).rules();
    assert_eq!(rules, ["field-name-case"]);
}

/// A waiver of `abide.toml` that matches nothing here may match something elsewhere.
#[test]
fn waivers_elsewhere_are_not_called_unused() {
    let waiver = NAMES.to_owned()
        + "[[waiver]]\nrule = \"field-name-case\"\nelement = \"acme.log.v1.**\"\nreason = \
                  \"it is so\"\n";
    let (files, folder) = shop(&waiver);
    put(folder.path(), &[(PAY, &format!("// A comment.\n{}", files[PAY]))]);
    let rules = abide(folder.path(), &["check", "--changed", "--format", "json"]).rules();
    assert_eq!(rules, ["field-name-case"]);
}

#[test]
fn records_count_for_the_packages_that_they_are_about() {
    let (files, folder) = shop("");
    let top = folder.path();
    assert_eq!(abide(top, &["bump", "--write"]).status, 0);
    commit(top);
    let (old, check) = (is_proto(&files), ["check", "--against", "git:HEAD"]);
    let edited = files[PAY].replace("id = 1;", "id = 1;\n  string more = 3;");
    put(top, &[(PAY, &edited)]);
    let mut new = old.clone();
    new.insert(PAY.to_owned(), edited);
    assert!(obeys(top, &check, &old, &new));
    let args = [&check[..], &["--changed", "--format", "json"]].concat();
    assert!(abide(top, &args).rules().contains(&"version-not-bumped".to_owned()));
    assert_eq!(abide(top, &["bump", "--write", "--against", "git:HEAD"]).status, 0);
    assert!(obeys(top, &check, &old, &new));
    assert!(!abide(top, &args).rules().contains(&"version-not-bumped".to_owned()));
    // Only the record changes.
    commit(top);
    let lock = fs::read_to_string(top.join("abide.lock")).unwrap();
    put(top, &[("abide.lock", &lock.replace("acme.log.v1 1.0.0", "acme.log.v1 1.1.0"))]);
    assert_eq!(extent(top, &["check", "--changed"]).0, 1);
}

#[test]
fn outlines_may_be_damaged_missing_or_impossible_to_keep() {
    let (files, folder) = shop("");
    let top = folder.path();
    put(top, &[(PAY, &files[PAY].replace("id = 1", "badId = 1"))]);
    let args = ["check", "--changed", "--against", "git:HEAD", "--format", "json"];
    let outlines = top.join(".git/abide/outlines");
    let expected = abide(top, &args).stdout;
    let kept = fs::read(&outlines).unwrap();
    assert_eq!(abide(top, &args).stdout, expected);
    let other = [b"abide outlines 0 other\n", &kept[..]].concat();
    for text in [&b""[..], b"\0\xff", &kept[..kept.len() / 2], &other] {
        fs::write(&outlines, text).unwrap();
        assert_eq!(abide(top, &args).stdout, expected);
        assert_eq!(fs::read(&outlines).unwrap(), kept, "it is made again");
    }
    // A folder in its place cannot be written to.
    fs::remove_file(&outlines).unwrap();
    fs::create_dir(&outlines).unwrap();
    assert_eq!(abide(top, &args).stdout, expected);
    assert_eq!(
        git(top, &["status", "--short"]),
        "M acme/pay/v1/pay.proto",
        "nothing is left in the tree"
    );
}

/// A file that is nowhere near the change is not even opened.
#[test]
fn the_rest_of_the_tree_is_not_read() {
    let (files, folder) = shop("");
    let top = folder.path();
    age(top);
    put(top, &[(PAY, &files[PAY].replace("id = 1", "badId = 1"))]);
    let args = ["check", "--changed", "--format", "json", "--verbose"];
    let first = abide(top, &args);
    // The pay API has two versions.
    assert!(abide(top, &args).stderr.contains("reading 2 files"), "{}", abide(top, &args).stderr);
    // An object that the change does not need may be missing.
    let blob = git(top, &["rev-parse", "HEAD:acme/log/v1/log.proto"]);
    fs::remove_file(top.join(".git/objects").join(&blob[..2]).join(&blob[2..])).unwrap();
    assert_eq!(abide(top, &args).stdout, first.stdout);
}

#[test]
fn a_worktree_shares_the_outlines_of_its_repository() {
    let (files, folder) = shop("");
    let beside = TempDir::new().unwrap();
    let linked = beside.path().join("linked");
    git(folder.path(), &["worktree", "add", "--quiet", linked.to_str().unwrap()]);
    put(&linked, &[(PAY, &files[PAY].replace("id = 1", "badId = 1"))]);
    assert_eq!(extent(&linked, &["check", "--changed"]).0, 1);
    assert!(folder.path().join(".git/abide/outlines").is_file());
}

#[test]
fn what_cannot_be_compared_by_git_is_refused_with_a_reason() {
    let (_, folder) = shop("");
    let top = folder.path();
    let refused = |folder: &Path, args: &[&str], why: &str| {
        let ran = abide(folder, args);
        assert_eq!(ran.status, 2);
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
    };
    refused(top, &["check", "--changed", "--against", "."], "name one with `--against git:REV`");
    refused(top, &["check", "--changed", "--accept"], "leave `--changed` out");
    let set = top.join("set.binpb");
    assert_eq!(abide(top, &["build", "-o", set.to_str().unwrap()]).status, 0);
    refused(top, &["lint", "set.binpb", "--changed"], "is neither a folder nor a revision");
    let outside = TempDir::new().unwrap();
    put(outside.path(), &[(PAY, "syntax = \"proto3\";\npackage acme.pay.v1;\n")]);
    refused(outside.path(), &["check", "--changed"], "git");
    // Before the first commit, everything is new.
    git(outside.path(), &["init", "--quiet"]);
    let (count, said) = extent(outside.path(), &["check", "--changed"]);
    assert_eq!(count, 1);
    assert!(said.contains(EVERYTHING), "{said}");
}

/// Options name elements of files that nobody imports.
#[test]
fn names_in_strings_are_found_wherever_they_are() {
    let lifecycle = repository_file("api/abide/annotations/v1/lifecycle.proto");
    let (mut files, folder) = shop("");
    files.insert("abide/annotations/v1/lifecycle.proto".to_owned(), lifecycle);
    write(folder.path(), &Files::new(), &files);
    commit(folder.path());
    let import = "import \"abide/annotations/v1/lifecycle.proto\";\nmessage Thing";
    let replaced = |by: &str| {
        let option = format!("(abide.annotations.v1.field_policy).replaced_by = \"{by}\"");
        let fields = format!("id = 1 [deprecated = true, {option}];");
        files[PAY].replace("message Thing", import).replace("id = 1;", &fields)
    };
    let check = ["check", "--against", "git:HEAD"];
    for (by, enough) in [
        ("acme.log.v1.Thing.id", true),
        (".acme.log.v1.Thing.id", true),
        ("acme.log.v1.Thing.idd", true),
        ("log.v1.Thing.id", false),
        // What it may mean depends on every name of the tree.
        ("acme.lgo.v1.Thing.id", false),
    ] {
        let text = replaced(by);
        let part = edit(&folder, &files, &check, &[(PAY, Some(&text))]);
        assert_eq!(part, enough, "{by}");
    }
}

/// What is said about it depends on files far away: on those that share the import, have a path like
/// it, or declare the name.
#[test]
fn what_is_not_found_needs_no_whole_tree() {
    let (mut files, folder) = shop("");
    let with = |files: &Files, path: &str, line: &str| {
        files[path].replace("message Thing {\n", &format!("{line}message Thing {{\n"))
    };
    let gone = "import \"gone/one.proto\";\nimport \"gone/two.proto\";\n";
    for path in ["acme/geo/v1/geo.proto", "acme/mail/v1/mail.proto"] {
        let uses = with(&files, path, gone).replace("string id", "gone.Id other = 4;\n  string id");
        files.insert(path.to_owned(), uses);
    }
    write(folder.path(), &Files::new(), &files);
    commit(folder.path());
    let check = ["check", "--against", "git:HEAD"];
    let base = "acme/base/v1/base.proto";
    let text = &files[base];
    let geo = format!("{}// More.\n", files["acme/geo/v1/geo.proto"]);
    let mail = format!("{}// More.\n", files["acme/mail/v1/mail.proto"]);
    let imports = |path: &str| with(&files, PAY, &format!("import \"{path}\";\n"));
    let names = |ty: &str| files[PAY].replace("string badName", &format!("{ty} badName"));
    let lone = format!("{}\n", imports("gone/one.proto"));
    let edits: [&[(&str, Option<&str>)]; 11] = [
        &[(base, None)],
        &[(base, None), ("acme/base/v1/moved.proto", Some(text))],
        &[(base, Some(&text.replace("Thing", "Other")))],
        &[("acme/geo/v1/geo.proto", Some(&geo))],
        &[("acme/mail/v1/mail.proto", Some(&mail))],
        &[("acme/mail/v1/mail.proto", Some(&mail.replace("gone.Id", "gone.More")))],
        &[(PAY, Some(&lone))],
        &[(PAY, Some(&imports("log/v1/log.proto")))],
        &[(PAY, Some(&names("acme.log.v1.Thing")))],
        &[(PAY, Some(&names("log.v1.Thing.Inner")))],
        &[(PAY, Some(&names(".acme.Nothing")))],
    ];
    for edits in edits {
        assert!(edit(&folder, &files, &check, edits), "{edits:?}");
        edit(&folder, &files, &["lint"], edits);
    }
}

/// A shape is as rare as the files of the whole tree say.
#[test]
fn a_renamed_type_is_compared_with_the_whole_tree() {
    let (files, folder) = shop("");
    let renamed = files[PAY].replace("Thing", "Ware");
    let check = ["check", "--against", "git:HEAD"];
    assert!(!edit(&folder, &files, &check, &[(PAY, Some(&renamed))]));
}
