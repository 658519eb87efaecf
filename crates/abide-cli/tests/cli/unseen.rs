//! `--changed` where git's index does not see everything that a verdict depends on, or where the
//! files on disk are not all that git has.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::history::git;
use crate::run::{Ran, abide, put};

const SETTINGS: &str = "roots = [\"proto\"]\nimport-paths = [\"tp\"]\n";
const ROOTS: &str = "roots = [\"proto\"]\n";
const USER: &str = "proto/acme/user/v1/user.proto";
const EVERYTHING: &str = "so everything is reported";

/// A package beside others, so that a change of one is small.
fn text(name: &str) -> String {
    format!(
        "syntax = \"proto3\";\npackage acme.{name}.v1;\nmessage Thing {{\n  string id = 1;\n}}\n"
    )
}

fn commit(folder: &Path) {
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--allow-empty", "-m", "commit"]);
}

/// A repository with a tree in which only `acme.user.v1` imports `ext/money.proto`.
fn repository(settings: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let top = folder.path();
    git(top, &["init", "--quiet"]);
    put(top, &[("abide.toml", settings)]);
    for name in ["base", "log", "mail", "pay", "shop", "geo", "news"] {
        put(top, &[(&format!("proto/acme/{name}/v1/{name}.proto"), &text(name))]);
    }
    let user = text("user").replace("message", "import \"ext/money.proto\";\nmessage");
    let user = user.replace("1;\n}", "1;\n  ext.Money money = 2;\n}");
    put(top, &[(USER, &user)]);
    folder
}

const MONEY: &str = "syntax = \"proto3\";\npackage ext;\nmessage Money {\n  int64 units = 1;\n}\n";
const PACKAGES: u64 = 8;

/// The files that a run reports on.
fn files(ran: &Ran) -> u64 {
    let summary = ran.json().pop().expect("a report ends with a summary");
    summary["files"].as_u64().expect("it counts files")
}

fn says(ran: &Ran, words: &str) {
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
}

fn changed(folder: &Path) -> Ran {
    abide(folder, &["check", "--changed", "--format", "json"])
}

/// The findings of the whole run, which says nothing else than the one with `--changed`.
fn same_as_whole(folder: &Path) -> Ran {
    let (ran, whole) = (changed(folder), abide(folder, &["check", "--format", "json"]));
    assert_eq!(ran.status, whole.status, "{}", ran.stderr);
    assert_eq!(ran.rules(), whole.rules(), "{}", ran.stderr);
    ran
}

/// A repository whose imports come from the submodule `tp`, and the repository of that.
fn with_submodule() -> (TempDir, TempDir) {
    let module = TempDir::new().unwrap();
    git(module.path(), &["init", "--quiet"]);
    put(module.path(), &[("ext/money.proto", MONEY)]);
    commit(module.path());
    let folder = repository(SETTINGS);
    let from = module.path().to_str().unwrap();
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", from, "tp"];
    git(folder.path(), &add);
    commit(folder.path());
    (folder, module)
}

#[test]
fn a_submodule_is_compared_with_the_commit_that_is_recorded() {
    let (folder, _module) = with_submodule();
    let top = folder.path();
    let clean = same_as_whole(top);
    assert_eq!((clean.status, files(&clean)), (0, 0));
    says(&clean, "nothing changed since git:HEAD");

    // Edited, then committed there, then recorded by the outer repository.
    let bumped = MONEY.replace("message Money", "message Cash");
    put(top, &[("tp/ext/money.proto", &bumped)]);
    let broken = same_as_whole(top);
    assert_eq!((broken.status, files(&broken)), (1, 1));
    git(&top.join("tp"), &["commit", "--quiet", "--all", "-m", "commit"]);
    assert_eq!(files(&same_as_whole(top)), 1);
    git(top, &["add", "tp"]);
    assert_eq!(files(&same_as_whole(top)), 1);
    git(top, &["commit", "--quiet", "-m", "commit"]);
    assert_eq!(files(&changed(top)), 0);

    // Also the old side is read from the recorded commit.
    git(&top.join("tp"), &["checkout", "--quiet", "HEAD~1"]);
    let args = ["check", "--against", "git:HEAD"];
    let against = abide(top, &args);
    says(&against, "the baseline `git:HEAD` has link errors");
}

#[test]
fn a_root_in_a_submodule_is_compared_with_the_commit_that_is_recorded() {
    let (folder, _module) = with_submodule();
    let top = folder.path();
    put(top, &[("abide.toml", "roots = [\"tp\"]\nagainst = \"git:HEAD\"\n")]);
    let broken = || abide(top, &["check", "--select", "compatibility"]).status;
    assert_eq!(broken(), 0);
    put(top, &[("tp/ext/money.proto", &MONEY.replace("message Money", "message Cash"))]);
    assert_eq!(broken(), 1);
    // Without the recorded commit every change of it would pass.
    fs::remove_dir_all(top.join(".git/modules/tp")).unwrap();
    let lost = abide(top, &["check"]);
    assert_eq!(lost.status, 2);
    says(&lost, "is not here: run `git submodule update --init tp`");
}

#[test]
fn a_submodule_that_was_emptied_breaks_those_who_import_it() {
    let (folder, _module) = with_submodule();
    let top = folder.path();
    fs::remove_dir_all(top.join("tp/ext")).unwrap();
    let ran = same_as_whole(top);
    assert_eq!((ran.status, files(&ran)), (1, 1));
    // Of one that is not checked out, git still has what was recorded.
    git(top, &["submodule", "--quiet", "deinit", "--force", "tp"]);
    let ran = same_as_whole(top);
    assert_eq!((ran.status, files(&ran)), (1, 1));
    // Without that, it can be compared with nothing.
    fs::remove_dir_all(top.join(".git/modules/tp")).unwrap();
    let ran = same_as_whole(top);
    assert_eq!((ran.status, files(&ran)), (1, PACKAGES));
    says(&ran, "`tp` is not tracked by git, so everything is reported");
}

#[test]
fn imports_that_git_does_not_track_may_have_changed() {
    let folder = repository(SETTINGS);
    let top = folder.path();
    put(top, &[(".gitignore", "/tp/\n"), ("tp/ext/money.proto", MONEY)]);
    commit(top);
    put(top, &[("tp/ext/money.proto", &MONEY.replace("message Money", "message Cash"))]);
    let ran = same_as_whole(top);
    assert_eq!((ran.status, files(&ran)), (1, PACKAGES));
    says(&ran, "`tp` is not tracked by git, so everything is reported");
    let quiet = abide(top, &["check", "--changed", "--quiet"]);
    assert_eq!((quiet.status, quiet.stderr.as_str()), (1, ""));
    // Where nothing is imported from there, it does not matter.
    put(top, &[(USER, &text("user"))]);
    commit(top);
    put(top, &[(USER, &format!("// A comment.\n{}", text("user")))]);
    assert_eq!(files(&changed(top)), 1);
}

/// Ignored and hidden files of a folder that is tracked otherwise can be imported, too.
#[test]
fn imports_that_are_ignored_one_by_one_are_seen() {
    let folder = repository(SETTINGS);
    let top = folder.path();
    put(top, &[(".gitignore", "money.proto\n"), ("tp/ext/more.proto", "syntax = \"proto3\";\n")]);
    commit(top);
    assert_eq!(files(&same_as_whole_in_user(top)), 0);
    put(top, &[("tp/ext/money.proto", MONEY)]);
    let ran = abide(top, &["check", "--changed", "--format", "json", "--verbose"]);
    assert_eq!((ran.status, files(&ran)), (0, 1));
    says(&ran, "imported files changed outside of it");
}

/// Nothing changed, while the whole run fails in every package that it fails in anyway.
fn same_as_whole_in_user(folder: &Path) -> Ran {
    let whole = abide(folder, &["check", "--format", "json"]);
    assert_eq!(whole.rules(), ["import-not-found"]);
    changed(folder)
}

#[test]
fn a_folder_outside_of_the_repository_counts_as_constant() {
    let beside = TempDir::new().unwrap();
    put(beside.path(), &[("ext/money.proto", MONEY)]);
    let settings = SETTINGS.replace("\"tp\"", &format!("{:?}", beside.path().to_str().unwrap()));
    let folder = repository(&settings);
    let top = folder.path();
    commit(top);
    put(beside.path(), &[("ext/money.proto", &MONEY.replace("message Money", "message Cash"))]);
    assert_eq!(files(&changed(top)), 0);
    // What was found there is now found in the repository, or the other way round.
    put(top, &[("proto/ext/money.proto", MONEY)]);
    assert_eq!(files(&changed(top)), 2);
}

/// Settings that are looked for elsewhere, or that apply because others are gone.
#[test]
fn settings_may_change_by_their_place() {
    let folder = repository(ROOTS);
    let top = folder.path();
    put(
        top,
        &[(USER, &text("user")), ("proto/abide.toml", "[rules]\nfield-name-case = \"off\"\n")],
    );
    put(top, &[("other.toml", ROOTS)]);
    commit(top);
    let below = top.join("proto");
    assert_eq!(files(&changed(&below)), 0);
    fs::remove_file(below.join("abide.toml")).unwrap();
    let ran = changed(&below);
    assert_eq!(files(&ran), PACKAGES);
    says(&ran, EVERYTHING);
    git(top, &["reset", "--quiet", "--hard"]);
    put(top, &[("other.toml", &format!("{ROOTS}[rules]\nfield-name-case = \"off\"\n"))]);
    let ran = abide(top, &["check", "--changed", "--config", "other.toml", "--format", "json"]);
    assert_eq!(files(&ran), PACKAGES);
    says(&ran, EVERYTHING);
}

/// The day is no change: what only time alone brings is reported by the whole run.
#[test]
fn the_day_counts_in_what_is_reported() {
    let folder = repository(&format!("{ROOTS}[rules]\nfield-name-case = \"error\"\n"));
    let top = folder.path();
    let waived = text("user").replace(
        "  string id",
        "  // abide:allow(field-name-case, until = \"2026-06-30\"): it is so\n  string badName",
    );
    put(top, &[(USER, &waived)]);
    commit(top);
    let on = |day: &str| abide(top, &["check", "--changed", "--format", "json", "--as-of", day]);
    assert_eq!(files(&on("2027-01-01")), 0);
    put(top, &[(USER, &format!("// A comment.\n{waived}"))]);
    assert_eq!(on("2026-01-01").status, 0);
    let late = on("2027-01-01");
    let whole = abide(top, &["check", "--format", "json", "--as-of", "2027-01-01"]);
    assert_eq!((late.status, late.rules()), (1, whole.rules()));
}

#[test]
fn rewritten_files_are_compared_as_git_stores_them_or_a_note_says_so() {
    let folder = repository(ROOTS);
    let top = folder.path();
    put(top, &[(USER, &text("user")), (".gitattributes", "*.proto text=auto eol=crlf\n")]);
    commit(top);
    // Git writes the files anew, with the line ends of the attributes.
    fs::remove_dir_all(top.join("proto")).unwrap();
    git(top, &["checkout", "--", "."]);
    assert!(fs::read_to_string(top.join(USER)).unwrap().contains("\r\n"));
    put(top, &[(USER, &text("user").replace('\n', "\r\n"))]);
    let ran = changed(top);
    assert_eq!((files(&ran), ran.stderr.contains("attributes")), (0, false), "{}", ran.stderr);

    put(
        top,
        &[(".gitattributes", "*.proto ident\n"), (USER, &format!("// $Id$\n{}", text("user")))],
    );
    commit(top);
    let id = git(top, &["rev-parse", &format!("HEAD:{USER}")]);
    put(top, &[(USER, &format!("// $Id: {id} $\n{}", text("user")))]);
    let ran = changed(top);
    assert_eq!(files(&ran), 1);
    let note = "note: git attributes rewrite files on checkout, so unchanged files may be listed";
    says(&ran, note);
}

/// A file that cannot be read is one error, and was not removed.
#[cfg(unix)]
#[test]
fn an_unreadable_file_is_one_error() {
    let folder = repository(&format!("{ROOTS}[rules]\npackage-version-missing = \"off\"\n"));
    let top = folder.path();
    put(top, &[("proto/ext/money.proto", MONEY)]);
    commit(top);
    for path in [USER, "proto/ext/money.proto"] {
        fs::remove_file(top.join(path)).unwrap();
        std::os::unix::fs::symlink("nowhere", top.join(path)).unwrap();
        for args in [&["check", "--changed"][..], &["check", "--against", "git:HEAD"]] {
            let ran = abide(top, &[args, &["--format", "json"]].concat());
            assert_eq!(ran.status, 2);
            assert_eq!(ran.rules(), [] as [&str; 0], "{args:?}");
            assert_eq!(ran.stderr.matches("error").count(), 1, "{}", ran.stderr);
            says(&ran, path);
        }
        git(top, &["checkout", "--quiet", "--", "."]);
    }
}

#[test]
fn a_tree_may_be_removed_as_a_whole() {
    let folder = repository(ROOTS);
    let top = folder.path();
    put(top, &[("proto/ext/money.proto", MONEY)]);
    commit(top);
    fs::remove_dir_all(top.join("proto")).unwrap();
    for args in [
        &["check", "--changed", "--against", "git:HEAD"][..],
        &["check", "--against", "git:HEAD"],
        &["breaking", "--against", "git:HEAD"],
    ] {
        let ran = abide(top, &[args, &["--format", "json"]].concat());
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        assert_eq!(ran.rules(), vec!["package-removed"; PACKAGES as usize + 1], "{args:?}");
        let note = "`.` has no `.proto` file left, so everything counts as removed";
        says(&ran, note);
    }
    // A root that never was there is a mistake.
    put(top, &[("abide.toml", "roots = [\"protos\"]\n")]);
    let ran = abide(top, &["check", "--against", "git:HEAD"]);
    assert_eq!(ran.status, 2);
    says(&ran, "the root `protos` does not exist");
}

/// What is no regular file is neither read nor written: a pipe would wait for the other end.
#[cfg(unix)]
#[test]
fn outlines_are_kept_in_nothing_but_a_file() {
    let folder = repository(ROOTS);
    let top = folder.path();
    put(top, &[("proto/ext/money.proto", MONEY)]);
    for number in 0..20 {
        let name = format!("more{number}");
        put(top, &[(&format!("proto/acme/{name}/v1/{name}.proto"), &text(&name))]);
    }
    commit(top);
    put(top, &[(USER, &text("user"))]);
    let expected = changed(top);
    let outlines = top.join(".git/abide/outlines");
    assert!(outlines.is_file());
    let target = top.join("target");
    fs::write(&target, "mine").unwrap();
    let make: [&dyn Fn(); 3] = [
        &|| {
            let made = std::process::Command::new("mkfifo").arg(&outlines).status();
            assert!(made.unwrap().success());
        },
        &|| std::os::unix::fs::symlink(&target, &outlines).unwrap(),
        &|| std::os::unix::fs::symlink("/dev/zero", &outlines).unwrap(),
    ];
    for make in make {
        fs::remove_file(&outlines).unwrap();
        make();
        let ran = changed(top);
        assert_eq!((ran.stdout, ran.stderr), (expected.stdout.clone(), expected.stderr.clone()));
    }
    assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
}

#[test]
fn runs_may_be_at_work_at_once() {
    let folder = repository(ROOTS);
    let top = folder.path();
    put(top, &[("proto/ext/money.proto", MONEY)]);
    commit(top);
    put(top, &[(USER, &text("user"))]);
    let expected = changed(top).stdout;
    for _ in 0..3 {
        drop(fs::remove_dir_all(top.join(".git/abide")));
        std::thread::scope(|scope| {
            let runs: Vec<_> = (0..4).map(|_| scope.spawn(|| changed(top).stdout)).collect();
            for run in runs {
                assert_eq!(run.join().unwrap(), expected);
            }
        });
        let left: Vec<_> = fs::read_dir(top.join(".git/abide"))
            .map(|it| it.map(|it| it.unwrap().file_name()).collect())
            .unwrap_or_default();
        assert!(left.iter().all(|it| it == "outlines"), "{left:?}");
    }
}
