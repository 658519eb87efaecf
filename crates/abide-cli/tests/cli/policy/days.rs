//! The days that commands record, and what follows from them: the ages of alphas, the support of
//! majors, and freezes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::lifecycle::{USER, check, file, found, tree};
use crate::breaking::{commit, git};
use crate::run::{abide, put};
use crate::stories::{edit, ok, read};

const ALPHA: &str = "acme/user/v2alpha/user.proto";
const NEXT: &str = "acme/user/v2/user.proto";
const NEW: &str = "acme/new/v1alpha/new.proto";
const LOCK: &str = "abide.lock";
const MODES: [&str; 2] = ["lock", "option"];

/// A tree with a package that needs a candidate.
fn world(version_in: &str) -> TempDir {
    let config = format!(
        "version-in = \"{version_in}\"\n[calendar]\nalpha-max-months = 6\n\
         previous-major-months = 12\n"
    );
    let fields = "  string name = 1;\n\n  // Use `name`.\n  string nick = 2 [\n    deprecated = true,\n    \
                  (abide.annotations.v1.field_policy).replaced_by = \"name\"\n  ];\n";
    let text = file("acme.user.v1", &format!("message User {{\n{fields}}}\n"));
    tree(&config, &[(USER, &text)])
}

fn on(folder: &Path, day: &str, args: &[&str]) {
    ok(folder, &[args, &["--as-of", day, "-q"]].concat());
}

/// Every file of a tree.
fn bytes(folder: &Path) -> BTreeMap<String, String> {
    let paths = ["abide.toml", LOCK, USER, ALPHA, NEXT];
    paths.into_iter().map(|path| (path.to_owned(), read(folder, path))).collect()
}

/// The recorded days of packages: of the lock, or of the options.
fn days(folder: &Path) -> Vec<String> {
    let lock = read(folder, LOCK);
    let is_day = |it: &&str| it.starts_with("introduced ") || it.starts_with("frozen ");
    let short = |line: &str| line.split(' ').take(3).collect::<Vec<_>>().join(" ");
    let mut days: Vec<String> = lock.lines().filter(is_day).map(short).collect();
    days.sort();
    days
}

#[test]
fn the_age_of_an_alpha_counts_from_its_recorded_upgrade() {
    for mode in MODES {
        let tree = world(mode);
        let folder = tree.path();
        on(folder, "2026-01-10", &["bump", "--write"]);
        on(folder, "2026-01-15", &["upgrade", "--write"]);
        assert_eq!(
            days(folder),
            ["introduced acme.user.v1 2026-01-10", "introduced acme.user.v2alpha 2026-01-15"]
        );
        on(folder, "2026-02-01", &["bump", "--write"]);
        let text = read(folder, ALPHA);
        assert_eq!(text.contains("introduced: \"2026-01-15\""), mode == "option", "{text}");
        for (day, told) in [("2026-07-15", 0), ("2026-07-16", 1)] {
            let ran = check(folder, &["--as-of", day]);
            let old = found(&ran, "alpha-too-old");
            assert_eq!(old.len(), told, "{mode} {day}: {}", ran.text());
            assert!(old.iter().all(|[message, ..]| message.contains("since 2026-01-15")));
        }
        // The audit of a release names it.
        let ran = abide(folder, &["release", "--diff", "--as-of", "2026-07-16"]);
        assert!(ran.stderr.contains("promote or remove: package `acme.user.v2alpha`"));
    }
}

#[test]
fn support_of_a_major_ends_a_year_after_the_next_release() {
    for mode in MODES {
        let tree = world(mode);
        let folder = tree.path();
        on(folder, "2026-01-10", &["bump", "--write"]);
        on(folder, "2026-01-15", &["upgrade", "--write"]);
        on(folder, "2026-06-30", &["release", "--write"]);
        on(folder, "2026-07-05", &["bump", "--write"]);
        // The released package is introduced on the day of the release, not of its alpha.
        let known = [
            "frozen acme.user.v1 2026-06-30",
            "introduced acme.user.v1 2026-01-10",
            "introduced acme.user.v2 2026-06-30",
        ];
        assert_eq!(days(folder), known, "{mode}: {}", read(folder, LOCK));
        let said = [(USER, "frozen: \"2026-06-30\""), (NEXT, "introduced: \"2026-06-30\"")];
        for (path, text) in said {
            assert_eq!(read(folder, path).contains(text), mode == "option", "{path}");
        }
        for (day, ended) in [("2027-06-30", 0), ("2027-07-01", 1)] {
            let ran = check(folder, &["--as-of", day]);
            assert_eq!(found(&ran, "major-past-support").len(), ended, "{}", ran.text());
        }
        let bump = ok(folder, &["bump", "--as-of", "2026-08-01"]).text();
        let says = "acme.user.v1 is supported until 2027-06-30: acme.user.v2 has been stable since \
                    2026-06-30";
        assert!(bump.contains(says), "{bump}");
        // A day that is written by hand wins.
        let config =
            read(folder, "abide.toml") + "stable-since = { \"acme.user.v2\" = 2026-04-01 }\n";
        put(folder, &[("abide.toml", &config)]);
        let bump = ok(folder, &["bump", "--as-of", "2026-08-01"]).text();
        assert!(bump.contains("supported until 2027-04-01"), "{bump}");
        ok(folder, &["bump", "--check"]);
    }
}

/// Stamping twice is stamping once.
#[test]
fn recording_again_on_a_later_day_changes_nothing() {
    for mode in MODES {
        let tree = world(mode);
        let folder = tree.path();
        let steps: [(&str, &[&str]); 5] = [
            ("2026-01-10", &["bump", "--write"]),
            ("2026-01-15", &["upgrade", "--write"]),
            ("2026-01-20", &["bump", "--write"]),
            ("2026-06-30", &["release", "--write"]),
            ("2026-07-05", &["bump", "--write"]),
        ];
        for (day, args) in steps {
            on(folder, day, args);
            let once = bytes(folder);
            for again in [day, "2029-01-01"] {
                on(folder, again, args);
                assert_eq!(bytes(folder), once, "{mode}: {args:?} of {day} again on {again}");
            }
        }
        on(folder, "2029-01-01", &["bump", "--check"]);
    }
}

/// Whatever is run in between, the days are the same.
#[test]
fn recorded_days_do_not_depend_on_the_order_of_commands() {
    for mode in MODES {
        let mut ends = Vec::new();
        let up = ["upgrade", "--write"];
        let bump = ["bump", "--write"];
        for early in
            [&[&up[..], &bump, &up, &bump][..], &[&bump, &up, &bump], &[&bump, &up], &[&up]]
        {
            let tree = world(mode);
            early.iter().for_each(|args| on(tree.path(), "2026-01-15", args));
            on(tree.path(), "2026-06-30", &["release", "--write"]);
            on(tree.path(), "2026-06-30", &bump);
            ends.push((days(tree.path()), read(tree.path(), NEXT)));
        }
        // The last never recorded v1 while it was alone.
        let last = ends.pop().unwrap();
        assert!(ends.windows(2).all(|pair| pair[0] == pair[1]), "{mode}: {ends:#?}");
        assert_eq!(last.0[..1], ends[0].0[..1], "the freeze is the same");
    }
}

#[test]
fn only_new_packages_need_a_recorded_day() {
    for mode in MODES {
        let tree = world(mode);
        let folder = tree.path();
        on(folder, "2026-01-10", &["bump", "--write"]);
        // A lock of an earlier Abide has no days, and none are invented.
        let lock = read(folder, LOCK);
        let old: String = lock
            .lines()
            .filter(|it| !it.starts_with("introduced"))
            .map(|it| format!("{it}\n"))
            .collect();
        assert_ne!(lock, old);
        put(folder, &[(LOCK, &old)]);
        if mode == "option" {
            edit(folder, USER, "introduced: \"2026-01-10\"", "work_in_progress: false");
        }
        let before = bytes(folder);
        on(folder, "2026-02-01", &["bump", "--check"]);
        on(folder, "2026-02-01", &["bump", "--write"]);
        assert_eq!(bytes(folder), before, "{mode}");
        put(folder, &[("acme/new/v1/new.proto", &file("acme.new.v1", "message New {}\n"))]);
        assert_eq!(abide(folder, &["bump", "--check"]).status, 1);
        on(folder, "2026-02-02", &["bump", "--write"]);
        assert_eq!(days(folder), ["introduced acme.new.v1 2026-02-02"]);
        on(folder, "2026-02-03", &["bump", "--check"]);
    }
}

/// Commits everything on a day.
fn commit_on(folder: &Path, day: &str) {
    commit(folder);
    let date = format!("--date={day}T12:00:00Z");
    let filter = format!("GIT_COMMITTER_DATE={day}T12:00:00Z");
    git(folder, &["commit", "--quiet", "--amend", "--no-edit", &date]);
    // The day of the committer counts.
    let status = std::process::Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--amend", "--no-edit"])
        .env("GIT_COMMITTER_DATE", filter.split_once('=').unwrap().1)
        .current_dir(folder)
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn git_history_supplies_days_that_were_never_recorded() {
    for mode in MODES {
        let tree = world(mode);
        let folder = tree.path();
        commit_on(folder, "2024-03-01");
        let frozen = file(
            "acme.user.v1",
            "option (abide.annotations.v1.file_policy).package_version_status = \
             PACKAGE_VERSION_STATUS_FROZEN;\n\nmessage User {}\n",
        );
        put(folder, &[(USER, &frozen), (NEXT, &file("acme.user.v2", "message User {}\n"))]);
        commit_on(folder, "2025-06-30");
        let new = file("acme.new.v1alpha", "message New {}\n");
        put(folder, &[(NEW, &new)]);
        on(folder, "2026-02-01", &["bump", "--write", "--from-history"]);
        let known = [
            "frozen acme.user.v1 2025-06-30",
            "introduced acme.new.v1alpha 2026-02-01",
            "introduced acme.user.v1 2024-03-01",
            "introduced acme.user.v2 2025-06-30",
        ];
        assert_eq!(days(folder), known, "{mode}");
        let said = read(folder, NEXT).contains("introduced: \"2025-06-30\"");
        assert_eq!(said, mode == "option", "{}", read(folder, NEXT));
        let once = bytes(folder);
        on(folder, "2026-03-01", &["bump", "--write", "--from-history"]);
        on(folder, "2026-03-01", &["bump", "--write"]);
        assert_eq!(bytes(folder), once, "{mode}");
        // Who recorded today's day first gets the true ones, too.
        fs::remove_file(folder.join(LOCK)).unwrap();
        git(folder, &["checkout", "-q", "."]);
        put(folder, &[(NEW, &new)]);
        on(folder, "2026-02-01", &["bump", "--write"]);
        assert!(!days(folder).contains(&known[2].to_owned()));
        on(folder, "2026-02-02", &["bump", "--write", "--from-history"]);
        assert_eq!(days(folder), known, "{mode}");
        on(folder, "2026-02-02", &["bump", "--check"]);
    }
    let tree = world("lock");
    let ran = abide(tree.path(), &["bump", "--write", "--from-history"]);
    assert_eq!(ran.status, 2, "{}", ran.stderr);
    assert_eq!(read(tree.path(), LOCK), "", "nothing is recorded without the history");
}

#[test]
fn a_release_freezes_the_predecessor_without_a_status_option() {
    for mode in MODES {
        let tree = world(mode);
        let folder = tree.path();
        on(folder, "2026-01-10", &["bump", "--write"]);
        on(folder, "2026-01-15", &["upgrade", "--write"]);
        git(folder, &["init", "-q"]);
        commit(folder);
        on(folder, "2026-06-30", &["release", "--write"]);
        on(folder, "2026-06-30", &["bump", "--write"]);
        let as_of = ["--as-of", "2026-07-01"];
        // Nothing is left to do, and the predecessor is not upgraded again.
        assert_eq!(check(folder, &as_of).rules(), Vec::<String>::new(), "{mode}");
        ok(folder, &["upgrade", "--check"]);
        let released = read(folder, LOCK);
        // What does not change its meaning is free.
        edit(folder, USER, "string name = 1;", "string name = 1; // The name.");
        assert_eq!(check(folder, &as_of).rules(), Vec::<String>::new(), "{mode}");
        edit(folder, USER, "string name = 1;", "string name = 1;\n  string mail = 3;");
        for against in [&[][..], &["--against", "git:HEAD"]] {
            let ran = check(folder, &[&as_of, against].concat());
            assert_eq!(ran.status, 1);
            let [[message, ..]] = &found(&ran, "frozen-package-changed")[..] else {
                panic!("{mode} {against:?}: {}", ran.text())
            };
            let told = match against {
                [] => "package `acme.user.v1` changed since it was frozen on 2026-06-30",
                _ => "`acme.user.v1.User` changed in the frozen package `acme.user.v1`",
            };
            assert_eq!(message, told, "{mode}");
            let args = [&["bump", "--write"], &as_of[..], against].concat();
            let ran = abide(folder, &args);
            assert_eq!(ran.status, 1);
            assert!(ran.text().contains("acme.user.v1 1.0.0 is frozen, and its change is refused"));
            assert_eq!(read(folder, LOCK), released, "{mode}: no version is recorded over it");
        }
        // A waiver lets it pass, and then a version is recorded.
        let waiver = "\n[[waiver]]\nrule = \"frozen-package-changed\"\nelement = \"acme.user.v1\"\n\
                      reason = \"an urgent fix\"\n";
        put(folder, &[("abide.toml", &(read(folder, "abide.toml") + waiver))]);
        on(folder, "2026-07-01", &["bump", "--write", "--against", "git:HEAD"]);
        assert_eq!(check(folder, &as_of).rules(), Vec::<String>::new(), "{mode}");
    }
}

#[test]
fn reordered_imports_and_new_dependencies_keep_a_package_frozen() {
    let tree = world("lock");
    let folder = tree.path();
    let base = file("acme.base.v1", "message Id {\n  string text = 1;\n}\n");
    put(folder, &[("acme/base/v1/base.proto", &base)]);
    edit(
        folder,
        USER,
        "message User {",
        "import \"acme/base/v1/base.proto\";\n\nmessage User {\n  acme.base.v1.Id id = 4;",
    );
    on(folder, "2026-01-15", &["upgrade", "--write"]);
    // Versions are not recorded in this tree: only days.
    on(folder, "2026-06-30", &["release", "--write"]);
    let lock = read(folder, LOCK);
    assert!(lock.contains("\nfrozen acme.user.v1 2026-06-30 abide1:sha256:"), "{lock}");
    let as_of = ["--as-of", "2026-07-01"];
    assert_eq!(check(folder, &as_of).rules(), Vec::<String>::new());
    edit(folder, "acme/base/v1/base.proto", "string text = 1;", "string text = 1;\n  int32 n = 2;");
    assert_eq!(check(folder, &as_of).rules(), Vec::<String>::new());
    // A part of the tree is not a part that changed.
    let ran = abide(folder, &["check", USER, "--format", "json", "--as-of", "2026-07-01"]);
    assert_eq!(ran.rules(), Vec::<String>::new());
    edit(folder, USER, "acme.base.v1.Id id = 4;", "acme.base.v1.Id key = 4;");
    assert_eq!(check(folder, &as_of).rules(), ["frozen-package-changed"]);
}

#[test]
fn dependents_of_a_changed_frozen_package_wait_until_the_change_is_undone() {
    let tree = world("lock");
    let folder = tree.path();
    on(folder, "2026-01-15", &["upgrade", "--write"]);
    on(folder, "2026-06-30", &["release", "--write"]);
    let pay =
        "import \"acme/user/v1/user.proto\";\n\nmessage Pay {\n  acme.user.v1.User user = 1;\n}\n";
    put(folder, &[("acme/pay/v1/pay.proto", &file("acme.pay.v1", pay))]);
    on(folder, "2026-07-01", &["bump", "--write"]);
    commit(folder);
    let recorded = read(folder, LOCK);
    edit(folder, USER, "string name = 1;", "string name = 1;\n  string mail = 3;");
    let ran = abide(folder, &["bump", "--write", "--against", "git:HEAD"]);
    assert_eq!(ran.status, 1);
    assert!(ran.text().contains("acme.pay.v1 1.0.0 waits until the break in acme.user.v1"));
    assert_eq!(read(folder, LOCK), recorded);
}
