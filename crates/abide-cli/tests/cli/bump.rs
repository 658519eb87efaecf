//! The life of versions: recorded, raised, refused, merged, interrupted.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;
use tempfile::TempDir;

use crate::breaking::{commit, git};
use crate::run::{Ran, Running, abide, at_each_step, put, repository, status_proto};

const MONEY: &str = "syntax = \"proto3\";\npackage acme.type.v1;\n\n// An amount.\nmessage Money {\n  \
                     string currency = 1;\n  int64 units = 2;\n}\n";
const USER: &str = "syntax = \"proto3\";\npackage acme.user.v1;\n\nimport \
                    \"acme/type/v1/money.proto\";\n\nmessage User {\n  string id = 1;\n  \
                    acme.type.v1.Money debt = 2;\n  Kind kind = 3;\n}\n\nenum Kind {\n  \
                    KIND_UNSPECIFIED = 0;\n  KIND_PERSON = 1;\n}\n";

fn tree(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    put(folder.path(), files);
    folder
}

/// A repository with two packages, of which one uses the other.
fn two_packages() -> TempDir {
    tree(&[
        ("abide.toml", "bump-against = \"git:HEAD\"\n"),
        ("acme/type/v1/money.proto", MONEY),
        ("acme/user/v1/user.proto", USER),
    ])
}

fn ok(folder: &Path, args: &[&str]) -> Ran {
    let ran = abide(folder, args);
    assert_eq!(ran.status, 0, "{args:?}: {} {}", ran.text(), ran.stderr);
    ran
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

fn edit(folder: &Path, name: &str, from: &str, to: &str) {
    let text = read(folder, name);
    assert!(text.contains(from), "{name} holds no {from:?}: {text}");
    fs::write(folder.join(name), text.replacen(from, to, 1)).unwrap();
}

fn golden(name: &str, actual: &str) {
    let path = repository().join("testdata/bump").join(name);
    if std::env::var_os("SNAPSHOTS").is_some_and(|it| it == "overwrite") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, actual).unwrap();
    }
    let wanted = fs::read_to_string(&path).unwrap_or_default();
    assert!(wanted == actual, "{} differs; this is it now:\n{actual}", path.display());
}

/// A session at a terminal, as a reader of the golden would have it.
struct Session {
    folder: TempDir,
    text: String,
}

impl Session {
    fn abide(&mut self, args: &[&str]) {
        // Everything happens on one day, which is recorded.
        let ran = abide(self.folder.path(), &[args, &["--as-of", "2026-01-15"]].concat());
        let lines = [&ran.stderr, &ran.text()].map(|it| it.trim_end().to_owned());
        let lines: Vec<String> = lines.into_iter().filter(|it| !it.is_empty()).collect();
        self.text +=
            &format!("$ abide {}\n{}\n[{}]\n\n", args.join(" "), lines.join("\n"), ran.status);
    }

    fn edit(&mut self, what: &str, name: &str, from: &str, to: &str) {
        self.text += &format!("# {what}\n");
        edit(self.folder.path(), name, from, to);
    }

    fn release(&mut self, name: &str) {
        commit(self.folder.path());
        git(self.folder.path(), &["tag", name]);
        self.text += &format!("# {name} is released.\n\n");
    }
}

#[test]
fn the_whole_life_of_versions() {
    let folder = tree(&[
        ("abide.toml", "[packages]\nunversioned = [\"acme.log\"]\n"),
        ("acme/type/v1/money.proto", MONEY),
        ("acme/user/v1/user.proto", USER),
        (
            "acme/user/v2alpha/user.proto",
            "syntax = \"proto3\";\npackage acme.user.v2alpha;\nmessage User {}\n",
        ),
        (
            "acme/pay/v1p1beta1/pay.proto",
            "syntax = \"proto3\";\npackage acme.pay.v1p1beta1;\nmessage Pay {}\n",
        ),
        ("acme/log/log.proto", "syntax = \"proto3\";\npackage acme.log;\nmessage Line {}\n"),
    ]);
    let mut session = Session { folder, text: String::new() };
    session.abide(&["bump", "--check"]);
    session.abide(&["bump", "--diff"]);
    session.abide(&["bump", "--write"]);
    session.abide(&["bump", "--write"]);
    session.abide(&["bump", "--check"]);
    session.release("r1");

    let (money, user) = ("acme/type/v1/money.proto", "acme/user/v1/user.proto");
    session.edit("A comment.", money, "An amount.", "An amount of money.");
    session.abide(&["bump", "--against", "git:r1", "--check"]);
    session.edit("A field.", money, "units = 2;", "units = 2;\n  int32 nanos = 3;");
    session.abide(&["bump", "--check"]);
    session.abide(&["bump", "--against", "git:r1"]);
    session.abide(&["check", "--against", "git:r1"]);
    session.abide(&["bump", "--against", "git:r1", "--diff"]);
    session.abide(&["bump", "--against", "git:r1", "--write"]);
    session.abide(&["bump", "--against", "git:r1", "--check"]);
    session.edit(
        "One more field before the release.",
        money,
        "nanos = 3;",
        "nanos = 3;\n  bool exact = 4;",
    );
    session.abide(&["bump", "--against", "git:r1", "--write"]);
    session.release("r2");

    session.edit(
        "A fix of a hole, in a dependency.",
        money,
        "  bool exact = 4;",
        "  bool exact = 4;\n  // abide:security-fix: amounts could be forged\n  bytes seal = 5;",
    );
    session.abide(&["bump", "--against", "git:r2", "--write"]);
    session.release("r3");

    session.edit("A break.", user, "  Kind kind = 3;\n", "");
    session.edit(
        "Alpha and beta change, too.",
        "acme/user/v2alpha/user.proto",
        "{}",
        "{ int32 a = 1; }",
    );
    session.edit("", "acme/pay/v1p1beta1/pay.proto", "{}", "{ int32 a = 1; }");
    session.edit("", "acme/log/log.proto", "{}", "{ int32 a = 1; }");
    session.abide(&["bump", "--against", "git:r3", "--write"]);
    session.abide(&["bump", "--against", "git:r3", "--format", "json"]);
    session.edit(
        "It is waived.",
        user,
        "message User",
        "// abide:allow(field-removed): nobody set it\nmessage User",
    );
    session.abide(&["bump", "--against", "git:r3", "--write"]);
    session.release("r4");

    session.edit(
        "The waiver goes, the break is no more news.",
        user,
        "// abide:allow(field-removed): nobody set it\n",
        "",
    );
    session.edit("Its number is taken again.", user, "debt = 2;", "debt = 2;\n  bytes photo = 3;");
    session.abide(&["check"]);
    session.abide(&["bump", "--against", "git:r4", "--write"]);
    session.abide(&["check", "--against", "git:r4"]);
    golden("life.txt", &session.text);
}

#[test]
fn nobody_catches_up_with_a_break_that_is_refused() {
    let folder = two_packages();
    let (path, money) = (folder.path(), "acme/type/v1/money.proto");
    commit(path);
    ok(path, &["bump", "--write"]);
    git(path, &["add", "--all"]);
    git(path, &["commit", "--quiet", "-m", "recorded"]);
    let recorded = read(path, "abide.lock");
    edit(path, money, "  int64 units = 2;\n", "");
    let ran = abide(path, &["bump", "--write"]);
    assert_eq!(ran.status, 1);
    let says = "acme.user.v1 1.0.0 waits until the break in acme.type.v1 is fixed\n";
    assert!(ran.text().contains(says), "{}", ran.text());
    assert!(ran.text().contains("\n2 packages: 1 refused, 1 waiting\n"), "{}", ran.text());
    assert_eq!(read(path, "abide.lock"), recorded, "a break that is undone leaves no trace");
    let ran = abide(path, &["bump", "--format", "json"]);
    let user = &ran.json()[1];
    assert_eq!((&user["waits_for"], &user["verdict"]), (&"acme.type.v1".into(), &"waiting".into()));
    assert!(user.get("to").is_none(), "{user}");
    let rules = abide(path, &["check", "--against", "git:HEAD", "--format", "json"]).rules();
    assert_eq!(rules, ["field-removed"], "the break is told, and nothing that follows from it");

    // Once it is waived they follow.
    let waived = "// abide:allow(field-removed): nobody set it\nmessage Money";
    edit(path, money, "message Money", waived);
    ok(path, &["bump", "--write"]);
    let lock = read(path, "abide.lock");
    assert!(lock.contains("acme.user.v1 1.1.0 ") && lock.contains("acme.type.v1 1.1.0 "), "{lock}");
}

#[test]
fn a_terminal_sees_what_is_refused_in_red() {
    let folder = two_packages();
    commit(folder.path());
    ok(folder.path(), &["bump", "--write"]);
    edit(folder.path(), "acme/type/v1/money.proto", "int64", "string");
    let args = ["bump", "--color"];
    let told = |color: &'static str| abide(folder.path(), &[&args[..], &[color]].concat()).text();
    assert!(
        told("always").starts_with("\x1b[31;1macme.type.v1\x1b[0m 1.0.0 has a breaking change")
    );
    assert!(told("never").starts_with("acme.type.v1 1.0.0 has a breaking change"));
}

#[test]
fn a_lock_that_is_damaged_or_newer_is_not_touched() {
    let folder = two_packages();
    commit(folder.path());
    ok(folder.path(), &["bump", "--write"]);
    let sound = read(folder.path(), "abide.lock");
    let damages = [
        (sound.replace("abide-lock 1", "abide-lock 2"), "abide.lock:1:12", "update abide"),
        (
            sound.replace("field acme.type.v1.Money 1", "field acme.type.v1.Money one"),
            "abide.lock:6:26",
            "version control",
        ),
        (sound.replace(" 1.0.0 ", " 2.0.0 "), "abide.lock:5:22", "has versions like `1.0.0`"),
        (sound[..sound.len() / 2].to_owned(), "abide.lock:", "version control"),
        (String::new(), "abide.lock:1:1", "expected `abide-lock 1`"),
        ("\0\u{1b}[31m".to_owned(), "abide.lock:1:1", "expected `abide-lock 1`"),
        // The last line is that of another name, or none.
        (sound[..sound.len() - 2].to_owned(), "abide.lock:14:1", "ends in the middle of this line"),
        (
            sound.replace("<", "") + "<<<<<<< ours\n",
            "abide.lock:15:1",
            "this merge conflict has no end",
        ),
        (sound.replace("abide1:", "abide2:"), "abide.lock:5:28", "a semantic hash is"),
        (sound.replace("field ", "feld "), "abide.lock:6:1", "expected `package NAME"),
    ];
    let damages = damages.map(|(text, place, advice)| (text.into_bytes(), place, advice));
    let name = sound.find(" units").unwrap() + 3;
    let mut foreign = sound.clone().into_bytes();
    foreign[name] = 0xff;
    let foreign = (foreign, "abide.lock:7:1", "this line is not valid UTF-8");
    for (text, place, advice) in damages.into_iter().chain([foreign]) {
        let shown = String::from_utf8_lossy(&text).into_owned();
        fs::write(folder.path().join("abide.lock"), &text).unwrap();
        for args in [&["bump"][..], &["bump", "--write"], &["bump", "--check"], &["check"]] {
            let ran = abide(folder.path(), args);
            assert_eq!(ran.status, 2, "{args:?}: {shown}");
            assert!(ran.stderr.contains(place), "{place}: {}", ran.stderr);
            assert!(ran.stderr.contains(advice), "{advice}: {}", ran.stderr);
            assert!(!ran.stderr.contains('\u{1b}'), "{:?}", ran.stderr);
        }
        assert_eq!(fs::read(folder.path().join("abide.lock")).unwrap(), text);
    }
    // That of the release, too.
    fs::write(folder.path().join("abide.lock"), "abide-lock 3\n").unwrap();
    git(folder.path(), &["add", "--all"]);
    git(folder.path(), &["commit", "--quiet", "-m", "two"]);
    fs::write(folder.path().join("abide.lock"), sound).unwrap();
    let ran = abide(folder.path(), &["bump"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("abide.lock of git:HEAD"), "{}", ran.stderr);
}

#[test]
fn the_number_of_an_extension_is_never_given_away() {
    let host = "syntax = \"proto2\";\npackage acme.host.v1;\nmessage Host {\n  extensions 100 to \
                max;\n  optional string id = 1;\n}\n";
    let note = "syntax = \"proto2\";\npackage acme.note.v1;\nimport \
                \"acme/host/v1/host.proto\";\nimport \"google/protobuf/descriptor.proto\";\nextend \
                acme.host.v1.Host {\n  optional string note = 100;\n}\nmessage Scope {\n  extend \
                google.protobuf.FieldOptions {\n    optional bool secret = 50001;\n  }\n}\n";
    let draft = "syntax = \"proto2\";\npackage acme.note.v2alpha;\nimport \
                 \"acme/host/v1/host.proto\";\nextend acme.host.v1.Host {\n  optional string \
                 draft = 102;\n}\n";
    let (host_path, note_path) = ("acme/host/v1/host.proto", "acme/note/v1/note.proto");
    let folder = tree(&[
        ("abide.toml", ""),
        (host_path, host),
        (note_path, note),
        ("acme/note/v2alpha/note.proto", draft),
    ]);
    let path = folder.path();
    ok(path, &["bump", "--write"]);
    let lock = read(path, "abide.lock");
    let lines: Vec<&str> = lock.lines().filter(|it| it.starts_with("extension ")).collect();
    let known = [
        "extension acme.host.v1.Host 100 acme.note.v1.note",
        "extension google.protobuf.FieldOptions 50001 acme.note.v1.Scope.secret",
    ];
    assert_eq!(lines, known, "an alpha promises nothing");

    // A lock of before there were lines for extensions is read, and brought up to date.
    let older: String = lock
        .lines()
        .filter(|it| !it.starts_with("extension "))
        .fold(String::new(), |text, line| text + line + "\n");
    fs::write(path.join("abide.lock"), older).unwrap();
    ok(path, &["bump"]);
    assert_eq!(abide(path, &["bump", "--check"]).status, 1);
    ok(path, &["bump", "--write"]);
    assert_eq!(read(path, "abide.lock"), lock);
    commit(path);

    // They go, with a waiver, and with them what any baseline could know.
    edit(path, note_path, "  optional string note = 100;\n", "  optional string other = 101;\n");
    edit(
        path,
        note_path,
        "    optional bool secret = 50001;\n",
        "    optional bool open = 50002;\n",
    );
    let waiver = "[[waiver]]\nrule = \"extension-removed\"\nelement = \"acme.note.v1\"\nreason = \
                  \"nobody set it\"\n";
    fs::write(path.join("abide.toml"), waiver).unwrap();
    ok(path, &["bump", "--against", "git:HEAD", "--write"]);
    let lock = read(path, "abide.lock");
    for line in known {
        assert!(lock.contains(&format!("{line} gone\n")), "{lock}");
    }
    fs::write(path.join("abide.toml"), "[rules]\nversion-not-bumped = \"off\"\n").unwrap();

    let reused = || {
        let ran = abide(path, &["check", "--format", "json"]);
        let found = ran.json().into_iter().filter(|it| it["rule"] == "field-number-reused");
        let messages: Vec<String> =
            found.map(|it| it["message"].as_str().unwrap().to_owned()).collect();
        assert_eq!(ran.status, i32::from(!messages.is_empty()), "{}", ran.text());
        messages
    };
    assert!(reused().is_empty());
    let take = |name: &str, from: &str, to: &str| {
        let before = read(path, name);
        edit(path, name, from, to);
        let told = reused();
        fs::write(path.join(name), before).unwrap();
        told
    };
    assert_eq!(
        take(note_path, "other = 101;", "other = 101; optional string tag = 100;"),
        ["extension `tag` reuses the number 100 of `acme.note.v1.note`"]
    );
    assert_eq!(
        take(note_path, "other = 101;", "other = 101; optional string note = 103;"),
        ["extension `note` reuses the name `note` of number 100"]
    );
    assert_eq!(
        take(note_path, "open = 50002;", "open = 50002; optional bool public = 50001;"),
        ["extension `public` reuses the number 50001 of `acme.note.v1.Scope.secret`"]
    );
    assert_eq!(
        take(host_path, "100 to max;", "101 to max; optional string mail = 100;"),
        ["field `mail` reuses the number 100 of `acme.note.v1.note`"]
    );
    // It comes back as it was.
    let back = "other = 101; optional string note = 100;";
    assert!(take(note_path, "other = 101;", back).is_empty());
}

#[test]
fn what_a_release_knew_is_not_forgotten_with_a_line_of_the_lock() {
    let folder = tree(&[
        (
            "abide.toml",
            "[[waiver]]\nrule = \"package-removed\"\nelement = \"acme.old.v1\"\nreason = \
                        \"nobody used it\"\n",
        ),
        ("acme/type/v1/money.proto", MONEY),
        (
            "acme/old/v1/old.proto",
            "syntax = \"proto3\";\npackage acme.old.v1;\nmessage Old { int32 a = 1; }\n",
        ),
    ]);
    let path = folder.path();
    ok(path, &["bump", "--write"]);
    commit(path);
    let money = "acme/type/v1/money.proto";
    edit(path, money, "  int64 units = 2;\n", "  reserved 2;\n  reserved \"units\";\n");
    edit(
        path,
        money,
        "message Money",
        "// abide:allow(field-removed): nobody set it\nmessage Money",
    );
    fs::remove_file(path.join("acme/old/v1/old.proto")).unwrap();
    ok(path, &["bump", "--write", "--against", "git:HEAD"]);
    git(path, &["add", "--all"]);
    git(path, &["commit", "--quiet", "-m", "two"]);
    let lock = read(path, "abide.lock");
    let known = ["field acme.type.v1.Money 2 units gone\n", "field acme.old.v1.Old 1 a gone\n"];
    assert!(known.iter().all(|it| lock.contains(it)), "{lock}");
    // Somebody solves a merge by hand, or begins anew.
    let shorter: String = lock.split_inclusive('\n').filter(|it| !known.contains(it)).collect();
    fs::write(path.join("abide.lock"), shorter).unwrap();
    assert_eq!(abide(path, &["bump", "--check", "--against", "git:HEAD"]).status, 1);
    // Who takes the line away does not get its number.
    let before = read(path, money);
    edit(path, money, "  reserved 2;\n  reserved \"units\";\n", "  bytes seal = 2;\n");
    let reuses = |args: &[&str]| {
        let ran = abide(path, &[&["check", "--format", "json"], args].concat());
        ran.json().iter().any(|it| it["message"] == "field `seal` reuses the number 2 of `units`")
    };
    assert!(!reuses(&[]), "nobody knows");
    assert!(reuses(&["--bump-against", "git:HEAD"]));
    fs::write(path.join(money), before).unwrap();
    ok(path, &["bump", "--write", "--against", "git:HEAD"]);
    assert_eq!(read(path, "abide.lock"), lock);
    fs::remove_file(path.join("abide.lock")).unwrap();
    ok(path, &["bump", "--write", "--against", "git:HEAD"]);
    let anew = read(path, "abide.lock");
    assert!(known.iter().all(|it| anew.contains(it)), "{anew}");
}

/// Merges two edits of a lock as git does; whether it went without a conflict.
fn merge(ours: &str, base: &str, theirs: &str) -> (bool, String) {
    let folder = tree(&[("ours", ours), ("base", base), ("theirs", theirs)]);
    let merged = Command::new("git")
        .args(["merge-file", "-p", "--diff3", "ours", "base", "theirs"])
        .current_dir(folder.path())
        .output()
        .expect("these tests need the `git` program: install it");
    let text = String::from_utf8(merged.stdout).unwrap();
    (merged.status.success(), text)
}

/// The lock after an edit of one file.
fn lock_after(folder: &Path, name: &str, from: &str, to: &str) -> String {
    let text = read(folder, name);
    edit(folder, name, from, to);
    ok(folder, &["bump", "--write"]);
    let lock = read(folder, "abide.lock");
    fs::write(folder.join(name), text).unwrap();
    git(folder, &["checkout", "--quiet", "abide.lock"]);
    lock
}

#[test]
fn independent_edits_merge_without_a_conflict() {
    let folder = two_packages();
    let (money, user) = ("acme/type/v1/money.proto", "acme/user/v1/user.proto");
    put(
        folder.path(),
        &[(
            "acme/yard/v1/yard.proto",
            "syntax = \"proto3\";\npackage acme.yard.v1;\nmessage Yard {}\n",
        )],
    );
    // So that no package follows another.
    edit(folder.path(), user, "  acme.type.v1.Money debt = 2;\n", "");
    edit(folder.path(), user, "import \"acme/type/v1/money.proto\";\n\n", "");
    commit(folder.path());
    ok(folder.path(), &["bump", "--write"]);
    git(folder.path(), &["add", "--all"]);
    git(folder.path(), &["commit", "--quiet", "-m", "recorded"]);
    let base = read(folder.path(), "abide.lock");
    let edits = [
        (money, "units = 2;", "units = 2; int32 nanos = 3;"),
        (user, "message User {", "message User { bool live = 9;"),
        ("acme/yard/v1/yard.proto", "{}", "{ int32 size = 1; }"),
    ];
    let locks: Vec<String> =
        edits.iter().map(|(name, from, to)| lock_after(folder.path(), name, from, to)).collect();
    for (one, ours) in locks.iter().enumerate() {
        for (two, theirs) in locks.iter().enumerate().filter(|(two, _)| *two != one) {
            assert_ne!(ours, &base);
            let (clean, merged) = merge(ours, &base, theirs);
            assert!(clean, "{merged}");
            // And what git makes of them is what both edits together make.
            for at in [one, two] {
                let (name, from, to) = edits[at];
                edit(folder.path(), name, from, to);
            }
            fs::write(folder.path().join("abide.lock"), merged).unwrap();
            ok(folder.path(), &["bump", "--check"]);
            git(folder.path(), &["checkout", "--quiet", "."]);
        }
    }
}

#[test]
fn git_merges_what_two_branches_recorded() {
    let yard = "syntax = \"proto3\";\npackage acme.yard.v1;\n\nmessage Yard {\n  string id = \
                1;\n}\n\nmessage Gate {\n  string id = 1;\n}\n\nmessage Wall {\n  string id = 1;\n}\n";
    let (money, yard_path) = ("acme/type/v1/money.proto", "acme/yard/v1/yard.proto");
    let released =
        tree(&[("abide.toml", "bump-against = \"git:r1\"\n"), (money, MONEY), (yard_path, yard)]);
    let path = released.path();
    git(path, &["init", "--quiet"]);
    ok(path, &["bump", "--write", "--against", "."]);
    commit(path);
    git(path, &["tag", "r1"]);
    let branch = |name: &str, file: &str, from: &str, to: &str| {
        git(path, &["checkout", "--quiet", "-b", name, "r1"]);
        edit(path, file, from, to);
        ok(path, &["bump", "--write"]);
        git(path, &["commit", "--quiet", "--all", "-m", name]);
    };
    branch("money", money, "units = 2;", "units = 2;\n  int32 nanos = 3;");
    branch("wall", yard_path, "Wall {", "Wall {\n  int32 height = 2;");
    branch("yard", yard_path, "Yard {", "Yard {\n  int32 size = 2;");
    let merge = |name: &str| {
        Command::new("git")
            .args([
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b",
                "merge",
                "--quiet",
                "-m",
                "both",
                name,
            ])
            .current_dir(path)
            .output()
            .expect("these tests need the `git` program: install it")
            .status
            .success()
    };

    // Of packages that have nothing to do with each other: as if one had done both.
    assert!(merge("money"));
    let ran = ok(path, &["bump", "--check"]);
    assert!(ran.text().contains("2 recorded"), "{}", ran.text());

    // Of one package: its hash is a third one, and nothing else is in conflict.
    assert!(!merge("wall"));
    let lock = read(path, "abide.lock");
    let conflict = lock.split_once("<<<<<<< ").unwrap().1.split_once(">>>>>>> ").unwrap().0;
    let lines: Vec<&str> = conflict.lines().filter(|it| it.starts_with("package ")).collect();
    assert!(lines.len() == 2 && conflict.lines().count() == 4, "{lock}");
    let ran = abide(path, &["bump", "--check"]);
    assert!(ran.status == 1 && ran.stderr.contains("`abide bump --write` resolves it"), "{lock}");
    let told = abide(path, &["check"]);
    assert!(told.stderr.contains("`abide bump --write` resolves it"), "{}", told.stderr);
    ok(path, &["bump", "--write"]);
    let resolved = read(path, "abide.lock");
    for line in ["Yard 2 size\n", "Wall 2 height\n", "Money 3 nanos\n", "acme.yard.v1 1.1.0 "] {
        assert!(resolved.contains(line), "{resolved}");
    }

    // Markers alone are a conflict, too, whatever stands between them.
    fs::write(path.join("abide.lock"), format!("{resolved}<<<<<<< a\n=======\n>>>>>>> b\n"))
        .unwrap();
    let ran = abide(path, &["bump", "--check"]);
    assert!(ran.status == 1 && ran.stderr.contains("resolves it"), "{}", ran.text());
    ok(path, &["bump", "--write"]);
    assert_eq!(read(path, "abide.lock"), resolved);

    // Where git is told to keep both lines, not even that is one.
    git(path, &["reset", "--quiet", "--hard"]);
    fs::write(path.join(".git/info/attributes"), "abide.lock merge=union\n").unwrap();
    assert!(merge("wall"));
    assert_eq!(abide(path, &["bump", "--check"]).status, 1, "the hash is yet to be recorded");
    ok(path, &["bump", "--write"]);
    assert_eq!(read(path, "abide.lock"), resolved);
}

#[test]
fn a_conflict_is_resolved_by_writing() {
    let folder = two_packages();
    commit(folder.path());
    ok(folder.path(), &["bump", "--write"]);
    git(folder.path(), &["add", "--all"]);
    git(folder.path(), &["commit", "--quiet", "-m", "recorded"]);
    let base = read(folder.path(), "abide.lock");
    let money = "acme/type/v1/money.proto";
    let ours = lock_after(folder.path(), money, "units = 2;", "units = 2; int32 nanos = 3;");
    let theirs = lock_after(folder.path(), money, "units = 2;", "units = 2; bool exact = 4;");
    let (clean, merged) = merge(&ours, &base, &theirs);
    assert!(!clean && merged.contains("<<<<<<<"), "{merged}");
    edit(folder.path(), money, "units = 2;", "units = 2; int32 nanos = 3; bool exact = 4;");
    fs::write(folder.path().join("abide.lock"), &merged).unwrap();
    let ran = abide(folder.path(), &["bump", "--check"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("`abide bump --write` resolves it"), "{}", ran.stderr);
    assert_eq!(read(folder.path(), "abide.lock"), merged, "checking writes nothing");
    ok(folder.path(), &["bump", "--write"]);
    ok(folder.path(), &["bump", "--check"]);
    let resolved = read(folder.path(), "abide.lock");
    assert!(!resolved.contains("<<<<") && resolved.contains(" 1.1.0 "), "{resolved}");
    for field in ["field acme.type.v1.Money 3 nanos\n", "field acme.type.v1.Money 4 exact\n"] {
        assert!(resolved.contains(field), "{resolved}");
    }
}

#[test]
fn what_cannot_be_written_is_refused_with_words() {
    let folder = two_packages();
    commit(folder.path());
    ok(folder.path(), &["build", "-o", "tree.binpb"]);
    for (source, words) in
        [("git:HEAD", "check the tree out"), ("tree.binpb", "check the tree out")]
    {
        let ran = abide(folder.path(), &["bump", source, "--write"]);
        assert_eq!(ran.status, 2, "{source}");
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
        assert!(!folder.path().join("abide.lock").exists());
        ok(folder.path(), &["bump", source]);
    }
    fs::write(folder.path().join("abide.toml"), "roots = [\".\"]\n").unwrap();
    for source in ["acme/user", "acme/user/v1/user.proto"] {
        let ran = abide(folder.path(), &["bump", source]);
        assert_eq!(ran.status, 2, "{source}");
        assert!(ran.stderr.contains("whole packages"), "{}", ran.stderr);
    }
    put(folder.path(), &[("acme/user/v1/user.proto", "syntax = \"proto3\";\nmessage {}\n")]);
    let ran = abide(folder.path(), &["bump", "--write"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("nothing was written"), "{}", ran.stderr);
    assert!(!folder.path().join("abide.lock").exists());
}

#[test]
fn a_release_may_be_a_descriptor_set_or_an_archive() {
    let folder = two_packages();
    commit(folder.path());
    ok(folder.path(), &["bump", "--write"]);
    ok(folder.path(), &["build", "-o", "r1.binpb"]);
    let packed = Command::new("tar")
        .args(["-cf", "r1.tar", "abide.lock", "acme"])
        .current_dir(folder.path())
        .status()
        .expect("these tests need the `tar` program: install it");
    assert!(packed.success());
    edit(folder.path(), "acme/type/v1/money.proto", "units = 2;", "units = 2; int32 nanos = 3;");
    for release in ["r1.binpb", "r1.tar"] {
        let ran = ok(folder.path(), &["bump", "--against", release, "--format", "json"]);
        let to: Vec<_> = ran.json().iter().map(|it| it["to"].clone()).collect();
        assert_eq!(to[..2], ["1.1.0", "1.1.0"], "{release}: {}", ran.text());
    }
    // The archive knows its versions even when the record here has moved on.
    let lock = read(folder.path(), "abide.lock").replace(" 1.0.0 ", " 1.4.0 ");
    fs::write(folder.path().join("abide.lock"), lock).unwrap();
    let ran = ok(folder.path(), &["bump", "--against", "r1.tar", "--format", "json"]);
    assert_eq!((&ran.json()[0]["from"], &ran.json()[0]["to"]), (&"1.0.0".into(), &"1.4.0".into()));
}

#[test]
fn a_release_that_cannot_be_read_says_what_to_do() {
    let folder = tree(&[]);
    let origin = folder.path().join("origin");
    put(&origin, &[("acme/type/v1/money.proto", MONEY)]);
    let refused = |folder: &Path, against: &str, words: &str| {
        for action in ["--write", "--check", "--diff"] {
            let ran = abide(folder, &["bump", "--against", against, action]);
            assert_eq!((ran.status, ran.stdout.len()), (2, 0), "{against} {action}");
            assert!(ran.stderr.contains(words), "no `{words}` in {}", ran.stderr);
        }
        assert!(!folder.join("abide.lock").exists(), "{against}");
    };
    refused(&origin, "git:HEAD", "is not inside a git repository");
    refused(&origin, "nowhere", "it does not exist");
    git(&origin, &["init", "--quiet"]);
    refused(&origin, "git:HEAD", "the repository has no commit yet");
    refused(&origin, "git:r1", "unknown revision `r1`");

    commit(&origin);
    git(&origin, &["tag", "-a", "-m", "one", "r1"]);
    for name in ["two", "three"] {
        edit(&origin, "acme/type/v1/money.proto", "int64", &format!("// {name}\n  int64"));
        git(&origin, &["commit", "--quiet", "--all", "-m", name]);
    }
    let url = format!("file://{}", origin.display());
    git(folder.path(), &["clone", "--quiet", "--no-tags", "--depth", "1", &url, "clone"]);
    let clone = folder.path().join("clone");
    refused(&clone, "git:HEAD~1", "the history is shallow, run `git fetch --unshallow`");
    refused(&clone, "git:r1...", "unknown revision `r1`");
    refused(&clone, "git:r1", "for a tag `git fetch origin tag r1`");
    // What it says works, and a shallow clone with its release is enough.
    git(&clone, &["fetch", "--quiet", "--depth", "1", "origin", "tag", "r1"]);
    refused(&clone, "git:r1...", "the history is shallow, run `git fetch --unshallow`");
    ok(&clone, &["bump", "--against", "git:r1", "--write"]);
    git(&clone, &["fetch", "--quiet", "--unshallow"]);
    ok(&clone, &["bump", "--against", "git:r1...", "--check"]);
}

#[test]
fn a_release_that_moved_is_not_trusted() {
    let folder = tree(&[("acme/type/v1/money.proto", MONEY)]);
    let path = folder.path();
    ok(path, &["bump", "--write"]);
    commit(path);
    git(path, &["tag", "r1"]);
    let told = || {
        let ran = ok(path, &["bump", "--against", "git:r1", "--format", "json"]);
        let package = ran.json()[0].clone();
        [&package["from"], &package["required"], &package["to"]].map(|it| it.to_string())
    };
    let wanted = |from: &str, bump: &str, to: &str| [from, bump, to].map(|it| format!("\"{it}\""));
    assert_eq!(told(), wanted("1.0.0", "none", "1.0.0"));
    // To a commit that changed and did not record it: both were 1.0.0.
    edit(path, "acme/type/v1/money.proto", "units = 2;", "units = 2; int32 nanos = 3;");
    git(path, &["commit", "--quiet", "--all", "-m", "two"]);
    git(path, &["tag", "--force", "r1"]);
    edit(path, "acme/type/v1/money.proto", "// An amount.", "// An amount of money.");
    assert_eq!(told(), wanted("1.0.0", "minor", "1.1.0"));
    let ran = abide(path, &["bump", "--against", "git:r1"]);
    assert!(ran.text().contains("the release differs from what was recorded as 1.0.0"));
    // To one that recorded it: that is where versions are counted from.
    ok(path, &["bump", "--against", "git:r1", "--write"]);
    git(path, &["commit", "--quiet", "--all", "-m", "three"]);
    git(path, &["tag", "--force", "r1"]);
    assert_eq!(told(), wanted("1.1.0", "none", "1.1.0"));
    // And back to the first one: versions do not fall.
    git(path, &["tag", "--force", "r1", "HEAD~2"]);
    assert_eq!(told(), wanted("1.0.0", "minor", "1.1.0"));
}

#[test]
fn a_record_that_was_put_back_is_told_beside_the_rise_from_the_release() {
    let folder = tree(&[("acme/type/v1/money.proto", MONEY)]);
    let path = folder.path();
    ok(path, &["bump", "--write"]);
    let first = read(path, "abide.lock");
    edit(path, "acme/type/v1/money.proto", "units = 2;", "units = 2; int32 nanos = 3;");
    fs::write(path.join("abide.lock"), first.replace(" 1.0.0 ", " 1.1.0 ")).unwrap();
    commit(path);
    edit(path, "acme/type/v1/money.proto", "nanos = 3;", "nanos = 3; string note = 4;");
    fs::write(path.join("abide.lock"), first).unwrap();
    let text = abide(path, &["bump", "--against", "git:HEAD"]).text();
    let line = "acme.type.v1 1.1.0 → 1.2.0 (minor), but 1.0.0 is recorded\n";
    assert!(text.starts_with(line), "{text}");
}

#[test]
fn a_version_is_recorded_in_another_place_without_a_release() {
    let status = status_proto();
    let folder = tree(&[
        ("abide.toml", "roots = [\"api\"]\nimport-paths = [\"third_party\"]\n"),
        ("api/acme/type/v1/money.proto", MONEY),
        ("third_party/abide/annotations/v1/status.proto", &status),
    ]);
    let path = folder.path();
    ok(path, &["bump", "--write"]);
    let toml = read(path, "abide.toml");
    for place in ["option", "lock"] {
        fs::write(path.join("abide.toml"), format!("{toml}version-in = \"{place}\"\n")).unwrap();
        let told = abide(path, &["check"]).text();
        let wanted = "version 1.0.0 of package `acme.type.v1` is not recorded here yet";
        assert!(told.contains(wanted), "{place}: {told}");
        let ran = ok(path, &["bump", "--write"]);
        assert!(
            ran.text().starts_with("acme.type.v1 1.0.0, not recorded here yet\n"),
            "{}",
            ran.text()
        );
        ok(path, &["bump", "--check"]);
    }
}

/// Protos that keep versions in options, in every layout, with what they import.
fn with_options() -> TempDir {
    let folder = TempDir::new().unwrap();
    let before = repository().join("testdata/bump/option/before");
    for entry in fs::read_dir(before).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    let status = status_proto();
    put(folder.path(), &[("third_party/abide/annotations/v1/status.proto", &status)]);
    commit(folder.path());
    folder
}

fn protos(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let mut paths: Vec<PathBuf> =
        entries.filter(|it| it.extension().is_some_and(|it| it == "proto")).collect();
    paths.sort();
    paths
}

#[test]
fn options_are_edited_in_place() {
    let folder = with_options();
    let against = ["--against", "git:HEAD"];
    let bump = |more: &[&str]| abide(folder.path(), &[&["bump"], &against[..], more].concat());
    let hashes = ok(folder.path(), &["hash", "--format", "json"]).text();
    assert_eq!(bump(&["--check"]).status, 1);
    let shown = bump(&["--diff"]).text();
    let before: Vec<String> =
        protos(folder.path()).iter().map(|it| fs::read_to_string(it).unwrap()).collect();
    assert!(before.len() > 8);
    let written = bump(&["--write"]);
    assert_eq!(written.status, 0, "{} {}", written.text(), written.stderr);
    assert_eq!(bump(&["--check"]).status, 0, "{}", bump(&["--check"]).text());
    for (path, before) in protos(folder.path()).iter().zip(&before) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let after = fs::read_to_string(path).unwrap();
        golden(&format!("option/after/{name}"), &after);
        for line in after.lines().filter(|it| !before.lines().any(|old| old == *it)) {
            assert!(shown.contains(&format!("+{line}")), "{name}: {line}");
        }
        let comments = before.lines().filter_map(|it| it.split_once("//").map(|it| it.1));
        for comment in comments {
            assert!(after.contains(comment), "{name} lost {comment:?}:\n{after}");
        }
        assert_eq!(before.contains('\r'), after.contains('\r'), "{name}");
        assert_eq!(
            after.matches('\n').count() * usize::from(after.contains('\r')),
            after.matches('\r').count()
        );
    }
    // It is legal, and means what it did.
    assert_eq!(ok(folder.path(), &["hash", "--format", "json"]).text(), hashes);
    let again = bump(&["--write"]);
    assert!(again.status == 0 && !again.text().contains("wrote"), "{}", again.text());
    let lock = read(folder.path(), "abide.lock");
    assert!(!lock.contains("abide1:") && lock.contains("field acme.user.v1.User 1 id\n"), "{lock}");

    // From then on the options are the record.
    git(folder.path(), &["add", "--all"]);
    git(folder.path(), &["commit", "--quiet", "-m", "recorded"]);
    edit(folder.path(), "plain.proto", "string id = 1;", "string id = 1; string mail = 2;");
    let ran = abide(folder.path(), &["bump", "--check"]);
    assert!(ran.status == 1 && ran.text().contains("`--against SOURCE`"), "{}", ran.text());
    let check = abide(folder.path(), &["check", "--against", "git:HEAD", "--format", "json"]);
    assert!(check.rules().iter().any(|it| it == "version-not-bumped"), "{}", check.text());
    assert_eq!(bump(&["--write"]).status, 0);
    for path in protos(folder.path()) {
        let text = fs::read_to_string(&path).unwrap();
        let wanted = if text.contains("package acme.user.v1") { "\"1.1.0\"" } else { "\"1.0.0\"" };
        assert!(text.contains(wanted), "{}: {text}", path.display());
    }
}

#[test]
fn an_option_that_cannot_be_imported_is_not_written() {
    let folder =
        tree(&[("abide.toml", "version-in = \"option\"\n"), ("acme/type/v1/money.proto", MONEY)]);
    let ran = abide(folder.path(), &["bump", "--write"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("`import-paths`"), "{}", ran.stderr);
    assert_eq!(read(folder.path(), "acme/type/v1/money.proto"), MONEY);
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "only a debug build stops")]
fn a_writer_that_is_killed_leaves_the_old_or_the_new() {
    let folder = with_options();
    let write = ["bump", "--write", "--against", "git:HEAD"];
    let contents = || -> Vec<(PathBuf, String)> {
        let mut paths = protos(folder.path());
        paths.push(folder.path().join("abide.lock"));
        paths
            .into_iter()
            .map(|it| (it.clone(), fs::read_to_string(it).unwrap_or_default()))
            .collect()
    };
    let old = contents();
    ok(folder.path(), &write);
    let new = contents();
    let restore = |files: &[(PathBuf, String)]| {
        for (path, text) in files {
            if text.is_empty() {
                let _ = fs::remove_file(path);
            } else {
                fs::write(path, text).unwrap();
            }
        }
    };
    // Who had a file open before reads on what was there.
    restore(&old);
    let opened: Vec<fs::File> =
        protos(folder.path()).iter().map(|it| fs::File::open(it).unwrap()).collect();
    ok(folder.path(), &write);
    for (mut file, (path, old)) in opened.into_iter().zip(&old) {
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert!(text == *old, "{} is written in place", path.display());
    }

    restore(&old);
    let mut mixed = 0;
    at_each_step(folder.path(), &write, |mut run| {
        run.signal(Signal::KILL);
        run.wait();
        let mut kinds = [false; 2];
        for ((path, now), ((_, old), (_, new))) in contents().iter().zip(old.iter().zip(&new)) {
            assert!(now == old || now == new, "{} is a mixture: {now}", path.display());
            kinds[usize::from(now == new)] = true;
        }
        mixed += u32::from(kinds == [true, true]);
        ok(folder.path(), &write);
        assert_eq!(contents(), new, "a repetition has the same result");
        let names = fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name());
        let left: Vec<_> = names.filter(|it| it.to_str().unwrap().starts_with('.')).collect();
        assert_eq!(left, [".git"], "nothing is left behind");
        restore(&old);
    });
    assert!(mixed > 0, "no run had written a part");
    assert_eq!(contents(), new, "the last one was not stopped");
}

#[test]
fn a_writer_waits_for_another_and_then_reads() {
    let folder = two_packages();
    commit(folder.path());
    let other = fs::File::open(folder.path()).unwrap();
    other.lock().unwrap();
    let mut run = Running::start(folder.path(), &["bump", "--write"]);
    run.log.line(|it| it.contains("waiting for another"));
    assert!(!folder.path().join("abide.lock").exists());
    edit(folder.path(), "acme/type/v1/money.proto", "units = 2;", "units = 2; int32 nanos = 3;");
    other.unlock().unwrap();
    assert!(run.wait().success(), "{}", run.log.whole());
    assert!(read(folder.path(), "abide.lock").contains("field acme.type.v1.Money 3 nanos\n"));
}

#[test]
fn two_writers_at_once_lose_nothing() {
    let folder = two_packages();
    commit(folder.path());
    ok(folder.path(), &["bump", "--write"]);
    git(folder.path(), &["add", "--all"]);
    git(folder.path(), &["commit", "--quiet", "-m", "recorded"]);
    const ROUNDS: i32 = 6;
    let writer = |name: &'static str, body: &'static str, from: i32| {
        let path = folder.path().to_owned();
        std::thread::spawn(move || {
            for round in 0..ROUNDS {
                let field = format!("{body}\n  int32 n{0} = {0};", from + round);
                // As an editor saves it: no reader sees half of it.
                let text = read(&path, name).replacen(body, &field, 1);
                let beside = path.join(format!(".{from}"));
                fs::write(&beside, text).unwrap();
                fs::rename(&beside, path.join(name)).unwrap();
                ok(&path, &["bump", "--write"]);
            }
        })
    };
    let one = writer("acme/type/v1/money.proto", "message Money {", 100);
    let two = writer("acme/user/v1/user.proto", "message User {", 200);
    one.join().unwrap();
    two.join().unwrap();
    ok(folder.path(), &["bump", "--check"]);
    let lock = read(folder.path(), "abide.lock");
    for round in 0..ROUNDS {
        assert!(lock.contains(&format!("Money {0} n{0}\n", 100 + round)), "{lock}");
        assert!(lock.contains(&format!("User {0} n{0}\n", 200 + round)), "{lock}");
    }
}
