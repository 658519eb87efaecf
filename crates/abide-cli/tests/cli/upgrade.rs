//! `abide upgrade`: where candidates are written, and when none are generated.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::run::{Running, abide, put, repository};

const USER: &str = "\
syntax = \"proto3\";

package acme.user.v1;

import \"acme/base/v1/base.proto\";
import \"abide/annotations/v1/status.proto\";

option (abide.annotations.v1.file_policy).package_version_status = PACKAGE_VERSION_STATUS_ACTIVE;

message User {
  acme.base.v1.Id id = 1;

  // Use `id`.
  string name = 2 [deprecated = true];
}
";

const BASE: &str = "\
syntax = \"proto3\";

package acme.base.v1;

import \"abide/annotations/v1/status.proto\";

option (abide.annotations.v1.file_policy).package_version_status = PACKAGE_VERSION_STATUS_ACTIVE;

message Id {
  string text = 1;
}
";

const CANDIDATE: &str = "acme/user/v2alpha/user.proto";

fn tree() -> TempDir {
    let folder = TempDir::new().unwrap();
    let api = repository().join("api");
    let off = "rules.conversion-missing = \"off\"";
    let config = format!("import-paths = [{:?}]\n{off}\n", api.display().to_string());
    put(
        folder.path(),
        &[
            ("abide.toml", &config),
            ("acme/user/v1/user.proto", USER),
            ("acme/base/v1/base.proto", BASE),
        ],
    );
    folder
}

fn read(folder: &Path, path: &str) -> String {
    fs::read_to_string(folder.join(path)).unwrap_or_default()
}

fn replace(folder: &Path, path: &str, old: &str, new: &str) {
    let text = read(folder, path);
    assert!(text.contains(old), "`{old}` stands in {path}");
    fs::write(folder.join(path), text.replace(old, new)).unwrap();
}

/// The rules at error level that `abide check` reports.
fn errors(folder: &Path) -> Vec<String> {
    let ran = abide(folder, &["check", "--format", "json", "--as-of", "2026-01-15", "-q"]);
    ran.rules()
}

#[test]
fn out_leaves_the_tree_alone() {
    let tree = tree();
    let out = TempDir::new().unwrap();
    let ran = abide(tree.path(), &["upgrade", "--out", out.path().to_str().unwrap()]);
    assert_eq!((ran.status, ran.text().as_str()), (0, ""));
    assert_eq!(
        ran.stderr, "note: generated 1 candidate in 1 package from a tree of 2 files\n",
        "what was made is said"
    );
    assert!(read(out.path(), CANDIDATE).contains("reserved \"name\";"));
    assert!(!tree.path().join(CANDIDATE).exists());
    assert_eq!(read(tree.path(), "acme/user/v1/user.proto"), USER);
}

#[test]
fn what_is_written_is_what_is_checked() {
    let tree = tree();
    let folder = tree.path();
    let ran = abide(folder, &["upgrade", "--check"]);
    let missing = format!("{CANDIDATE}: is missing\n");
    assert_eq!((ran.status, ran.text()), (1, missing));
    let ran = abide(folder, &["upgrade", "--diff"]);
    assert_eq!(ran.status, 0);
    assert!(ran.text().starts_with(&format!("--- /dev/null\n+++ b/{CANDIDATE}\n@@ ")));

    assert_eq!(abide(folder, &["upgrade", "--write"]).status, 0);
    let made = read(folder, CANDIDATE);
    assert_eq!(abide(folder, &["upgrade", "--check"]).status, 0);
    assert_eq!(abide(folder, &["upgrade", "--diff"]).text(), "");
    assert_eq!(abide(folder, &["upgrade", "--write"]).status, 0);
    assert_eq!(read(folder, CANDIDATE), made, "the same upgrade makes the same bytes");
    assert_eq!(errors(folder), Vec::<String>::new());

    // A formatter may pass over it; a hand may not.
    replace(folder, CANDIDATE, "  reserved 2;", "    reserved\n  2;");
    assert_eq!(abide(folder, &["upgrade", "--check"]).status, 0);
    replace(folder, CANDIDATE, "reserved\n  2;", "reserved 2, 3;");
    let ran = abide(folder, &["upgrade", "--check"]);
    let differs = format!(
        "{CANDIDATE}: differs from the generated file; somebody edited it after abide wrote it\n"
    );
    assert_eq!((ran.status, ran.text()), (1, differs));
    assert_eq!(errors(folder), ["candidate-edited"]);
    assert_eq!(abide(folder, &["upgrade", "--write", "--overwrite"]).status, 0);
    assert_eq!(read(folder, CANDIDATE), made);
}

#[test]
fn a_candidate_of_nothing_goes() {
    let tree = tree();
    let folder = tree.path();
    assert_eq!(abide(folder, &["upgrade", "--write"]).status, 0);
    replace(folder, "acme/user/v1/user.proto", " [deprecated = true]", "");
    let ran = abide(folder, &["upgrade", "--check"]);
    let stale = format!("{CANDIDATE}: is no longer needed\n");
    assert_eq!((ran.status, ran.text()), (1, stale));
    assert_eq!(errors(folder), ["candidate-edited"]);
    let ran = abide(folder, &["upgrade", "--write"]);
    assert_eq!(ran.status, 0);
    let told = format!("warning: `{CANDIDATE}` is deleted: nothing calls for a candidate of");
    assert!(ran.stderr.starts_with(&told), "{}", ran.stderr);
    assert!(!folder.join(CANDIDATE).exists());
    assert_eq!(errors(folder), Vec::<String>::new());
    assert_eq!(abide(folder, &["upgrade", "--check"]).status, 0);
}

/// What is in a candidate and in no source is found, although nothing waits for an upgrade.
#[test]
fn what_is_only_in_candidates_is_found() {
    let tree = tree();
    let folder = tree.path();
    let base = "acme/base/v2alpha/base.proto";
    replace(folder, "acme/user/v1/user.proto", " [deprecated = true]", "");
    for package in ["acme.base.v1", "acme.user.v1"] {
        assert_eq!(abide(folder, &["upgrade", "--write", "--package", package]).status, 0);
    }
    assert_eq!(errors(folder), ["candidate-edited", "candidate-edited"], "nothing calls for them");
    let config = read(folder, "abide.toml");
    let always = format!("{config}upgrade.always = [\"acme.base.v1\"]\n");
    put(folder, &[("abide.toml", &always)]);
    assert_eq!(abide(folder, &["upgrade", "--write"]).status, 0);
    assert_eq!(errors(folder), Vec::<String>::new());

    // A person writes into one, and adds files of their own.
    replace(folder, base, "string text = 1;", "string text = 1;\n  string by_hand = 2;");
    assert_eq!(errors(folder), ["candidate-edited"]);
    put(folder, &[("abide.toml", &config)]);
    assert_eq!(errors(folder), ["candidate-edited", "candidate-edited"]);
    let own = read(folder, base).replace("message Id", "message Name");
    let lone = own.replace("acme.base.v2alpha", "acme.lone.v2alpha").replace("base.v1", "lone.v1");
    let lone_path = "acme/lone/v2alpha/name.proto";
    put(folder, &[("acme/base/v2alpha/name.proto", &own), (lone_path, &lone)]);
    assert_eq!(errors(folder), ["candidate-edited"; 4]);
    let ran = abide(folder, &["check", lone_path, "--format", "json", "-q"]);
    let found = ran.rules();
    assert!(!found.contains(&"candidate-edited".to_owned()), "its source may be elsewhere");

    assert_eq!(abide(folder, &["upgrade", "--write"]).status, 1);
    assert!(folder.join(base).exists(), "it is not deleted without a word");
    let ran = abide(folder, &["upgrade", "--write", "-q", "--overwrite"]);
    let told = |path: &str, why: &str| {
        let line = format!("warning: `{path}` is deleted: {why}");
        assert!(ran.stderr.contains(&line), "{line}: {}", ran.stderr);
    };
    told(base, "nothing calls for a candidate of `acme/base/v1/base.proto` any more, and it holds");
    told("acme/base/v2alpha/name.proto", "it is a candidate, and no file makes it");
    assert!(!ran.stderr.contains(CANDIDATE), "that is as an upgrade makes it: {}", ran.stderr);
    assert!(!folder.join("acme/base/v2alpha").exists());
    assert!(folder.join(lone_path).exists(), "its source may be elsewhere");
    assert_eq!(errors(folder), ["candidate-edited"]);
}

/// `abide bump` and `abide upgrade` call the next major version the same.
#[test]
fn a_break_goes_where_an_upgrade_makes_a_candidate() {
    let tree = tree();
    let folder = tree.path();
    let config = read(folder, "abide.toml");
    let majors = format!("{config}upgrade.majors = {{ 1 = \"v4alpha\" }}\n");
    put(folder, &[("abide.toml", &majors)]);
    let old = TempDir::new().unwrap();
    put(old.path(), &[("acme/user/v1/user.proto", USER), ("acme/base/v1/base.proto", BASE)]);
    replace(folder, "acme/user/v1/user.proto", "acme.base.v1.Id id = 1;", "string id = 1;");
    let ran = abide(folder, &["bump", "--against", old.path().to_str().unwrap()]);
    let named = "make it in the candidate `acme.user.v4alpha`";
    assert!(ran.text().contains(named), "{}{}", ran.text(), ran.stderr);
    let out = TempDir::new().unwrap();
    assert_eq!(abide(folder, &["upgrade", "--out", out.path().to_str().unwrap()]).status, 0);
    assert!(out.path().join("acme/user/v4alpha/user.proto").exists());
}

#[test]
fn what_cannot_be_made_is_not_made() {
    let tree = tree();
    let folder = tree.path();
    assert_eq!(abide(folder, &["upgrade", "--write"]).status, 0);
    let ran = abide(folder, &["upgrade", "--write", "--package", "acme.user.v2alpha"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("is a generated candidate"), "{}", ran.stderr);
    let ran = abide(folder, &["upgrade", "--write", "--package", "acme.nowhere.v1"]);
    assert_eq!(ran.stderr, "error: there is no package `acme.nowhere.v1`\n");

    let made = read(folder, CANDIDATE);
    let live = "\n\n  Old old = 3;\n}\n\nmessage Old {\n  option deprecated = true;\n}\n";
    replace(folder, "acme/user/v1/user.proto", "\n}\n", live);
    let ran = abide(folder, &["upgrade", "--write"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("error[deprecated-type-in-use]"), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("note: nothing was written\n"), "{}", ran.stderr);
    assert_eq!(read(folder, CANDIDATE), made);

    // A waiver takes the warning away, and makes no candidate that compiles.
    let waiver = "  // abide:allow(deprecated-type-in-use): it stays for a while\n  Old old";
    replace(folder, "acme/user/v1/user.proto", "  Old old", waiver);
    replace(folder, "abide.toml", "import", "rules.deprecated-type-in-use = \"off\"\nimport");
    let ran = abide(folder, &["upgrade", "--write"]);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("error[deprecated-type-in-use]"), "{}", ran.stderr);
    assert_eq!(read(folder, CANDIDATE), made);

    let ran = abide(folder, &["upgrade"]);
    assert_eq!(ran.status, 1, "the plan says what is in its way");
    assert!(ran.stderr.contains("error[deprecated-type-in-use]"), "{}", ran.stderr);
}

/// What is deprecated in a package that does not rise is still there.
#[test]
fn what_is_deprecated_elsewhere_keeps_nobody() {
    let tree = tree();
    let folder = tree.path();
    replace(folder, "abide.toml", "import", "upgrade.reasons = [\"deprecated\"]\nimport");
    replace(
        folder,
        "acme/base/v1/base.proto",
        "message Id {",
        "message Id {\n  option deprecated = true;\n",
    );
    assert_eq!(abide(folder, &["upgrade", "--write"]).status, 0);
    assert!(read(folder, CANDIDATE).contains("acme.base.v1.Id id = 1;"));
}

/// Two commands never write to one tree at once.
#[test]
fn a_writer_waits_for_another() {
    let tree = tree();
    let other = fs::File::open(tree.path()).unwrap();
    other.lock().unwrap();
    let waiting = |command: &str| {
        let run = Running::start(tree.path(), &[command, "--write"]);
        run.log.line(|it| it.contains("waiting for another"));
        run
    };
    drop(waiting("release"));
    let mut run = waiting("upgrade");
    assert!(!tree.path().join(CANDIDATE).exists());
    replace(tree.path(), "acme/user/v1/user.proto", "string name = 2", "string name = 3");
    other.unlock().unwrap();
    assert!(run.wait().success(), "{}", run.log.whole());
    assert!(read(tree.path(), CANDIDATE).contains("reserved 3;"), "it reads what it waited for");
}

/// Every candidate in one layout, also where a version is recorded in it.
#[test]
fn candidates_have_the_layout_that_is_configured() {
    let tree = tree();
    let folder = tree.path();
    let all = "version-in = \"option\"\nupgrade.layout = \"canonical\"\nimport";
    replace(folder, "abide.toml", "import", all);
    let status = "option (abide.annotations.v1.file_policy) = {package_version_status: \
                  PACKAGE_VERSION_STATUS_ACTIVE\n};";
    let old = "option (abide.annotations.v1.file_policy).package_version_status = \
               PACKAGE_VERSION_STATUS_ACTIVE;";
    replace(folder, "acme/user/v1/user.proto", old, status);
    replace(folder, "acme/user/v1/user.proto", "string name = 2", "string  name=2");
    assert_eq!(abide(folder, &["upgrade", "--write"]).status, 0);
    let ran = abide(folder, &["bump", "--write"]);
    assert_eq!(ran.status, 0, "{}{}", ran.text(), ran.stderr);
    let recorded = read(folder, CANDIDATE);
    assert!(recorded.contains("version: \"2.0.0-alpha"), "{recorded}");
    let ran = abide(folder, &["upgrade", "--check"]);
    assert_eq!((ran.status, ran.text().as_str()), (0, ""), "{recorded}");
    assert_eq!(errors(folder), Vec::<String>::new());
    assert_eq!(abide(folder, &["upgrade", "--write"]).status, 0);
    assert_eq!(read(folder, CANDIDATE), recorded);
}

/// What Bazel builds in Envoy's way: a BUILD file for each folder, which comes and goes with it.
#[test]
fn build_files_follow() {
    let tree = tree();
    let folder = tree.path();
    let api = repository().join("api").display().to_string();
    let config = format!(
        "import-paths = [{api:?}]\nrules.conversion-missing = \"off\"\n[upgrade]\n\
         build-files = true\n[upgrade.build-labels]\n\
         \"abide/\" = \"@abide//\"\n\"google/protobuf/\" = \"\"\n"
    );
    let service = "\nservice Users {\n  rpc Get(User) returns (User);\n}\n";
    let user = format!(
        "{}{service}",
        USER.replace("import \"acme", "import \"google/protobuf/any.proto\";\nimport \"acme")
            .replace("= 1;", "= 1;\n  google.protobuf.Any any = 3;")
    );
    put(folder, &[("abide.toml", &config), ("acme/user/v1/user.proto", &user)]);
    let build = "acme/user/v2alpha/BUILD";
    let ran = abide(folder, &["upgrade", "--check"]);
    assert_eq!(ran.text(), format!("{build}: is missing\n{CANDIDATE}: is missing\n"));
    assert_eq!(abide(folder, &["upgrade", "--write"]).status, 0);
    let made = "\
# Made by abide: DO NOT EDIT.

load(\"@envoy_api//bazel:api_build_system.bzl\", \"api_proto_package\")

licenses([\"notice\"])  # Apache 2

api_proto_package(
    has_services = True,
    deps = [
        \"//acme/base/v1:pkg\",
        \"//acme/user/v1:pkg\",
        \"@abide//abide/annotations/v1:pkg\",
    ],
)
";
    assert_eq!(read(folder, build), made);
    let out = TempDir::new().unwrap();
    assert_eq!(abide(folder, &["upgrade", "--out", out.path().to_str().unwrap()]).status, 0);
    assert_eq!(read(out.path(), build), made);
    assert_eq!(abide(folder, &["upgrade", "--check"]).status, 0);
    replace(folder, build, "has_services = True", "has_services = False");
    let ran = abide(folder, &["upgrade", "--check"]);
    let differs = "differs from the generated file; somebody edited it after abide wrote it";
    assert_eq!(ran.text(), format!("{build}: {differs}\n"));
    assert_eq!(abide(folder, &["upgrade", "--write"]).status, 1);
    assert_eq!(abide(folder, &["upgrade", "--write", "--overwrite"]).status, 0);
    assert_eq!(read(folder, build), made);

    assert_eq!(abide(folder, &["release", "--write"]).status, 0);
    assert!(!folder.join("acme/user/v2alpha").exists());
    assert_eq!(read(folder, "acme/user/v2/BUILD"), made);
    let versions = read(folder, "versioning/BUILD");
    let library = |name: &str, folders: &[&str]| {
        let labels = folders.iter().map(|it| format!("        \"//{it}:pkg\",\n"));
        let visible = "    visibility = [\"//visibility:public\"],\n";
        let deps = labels.collect::<String>();
        format!("proto_library(\n    name = \"{name}\",\n{visible}    deps = [\n{deps}    ],\n)\n")
    };
    let active = library("active_protos", &["acme/base/v1", "acme/user/v2"]);
    let frozen = library("frozen_protos", &["acme/user/v1"]);
    assert!(versions.ends_with(&format!("\n{active}\n{frozen}")), "{versions}");
    assert_eq!(abide(folder, &["release", "--write"]).status, 0);
    assert_eq!(read(folder, "versioning/BUILD"), versions);
    assert_eq!(abide(folder, &["upgrade", "--check"]).status, 0);
}

/// A file that a person wrote where a candidate belongs is named by every command, in the same words.
#[test]
fn a_taken_path_is_named() {
    let tree = tree();
    let folder = tree.path();
    let by_hand = "syntax = \"proto3\";\n\npackage acme.user.v2alpha;\n\nmessage User {}\n";
    put(folder, &[(CANDIDATE, by_hand)]);
    let why = format!("`{CANDIDATE}`, which no upgrade made");
    let help = "set `by_hand = true` in its `file_policy`, or name it in `by-hand` of [upgrade]";
    let told = |text: &str| {
        let text =
            text.split_whitespace().collect::<Vec<_>>().join(" ").replace(" = true", "=true");
        assert!(text.contains(&why), "{text}");
        assert!(text.contains(&help.replace(" = true", "=true")), "{text}");
    };
    let check = abide(folder, &["check"]);
    assert_eq!(check.status, 0, "who uses the active version loses nothing");
    told(&check.text().replace("=\n", "= "));
    let out = TempDir::new().unwrap();
    let out = out.path().to_str().unwrap();
    for args in [&["--write"][..], &["--check"], &["--diff"], &["--out", out], &["--write", "-q"]] {
        let ran = abide(folder, &[&["upgrade"], args].concat());
        assert_eq!((ran.status, ran.text().as_str()), (1, ""), "{args:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        told(&ran.stderr);
        assert_eq!(read(folder, CANDIDATE), by_hand);
    }
    told_by_hand(folder);
}

/// Either of the two things that the help names ends it.
fn told_by_hand(folder: &Path) {
    let config = read(folder, "abide.toml");
    put(folder, &[("abide.toml", &format!("{config}upgrade.by-hand = [\"acme.user.v2alpha\"]\n"))]);
    let ran = abide(folder, &["upgrade", "--check"]);
    assert_eq!((ran.status, ran.text().as_str()), (0, ""), "{}", ran.stderr);
    put(folder, &[("abide.toml", &config)]);
    fs::remove_file(folder.join(CANDIDATE)).unwrap();
    assert_eq!(abide(folder, &["upgrade", "--write"]).status, 0);
    assert_eq!(abide(folder, &["upgrade", "--check"]).status, 0);
}

/// Roots are worlds of their own: the same path is another file in each.
#[test]
fn each_of_two_roots_has_its_candidate() {
    let folder = tree();
    let path = folder.path();
    let config = format!("roots = [\"a\", \"b\"]\n{}", read(path, "abide.toml"));
    fs::remove_dir_all(path.join("acme")).unwrap();
    let one = USER.replace("import \"acme/base/v1/base.proto\";\n", "");
    let one = one.replace("  acme.base.v1.Id id = 1;\n", "");
    let other = one.replace("string name = 2", "string mail = 2");
    put(
        path,
        &[
            ("abide.toml", &config),
            ("a/acme/user/v1/user.proto", &one),
            ("b/acme/user/v1/user.proto", &other),
        ],
    );
    let [first, second] = ["a", "b"].map(|root| format!("{root}/{CANDIDATE}"));
    for _ in 0..2 {
        let ran = abide(path, &["upgrade", "--write"]);
        assert_eq!(ran.status, 0, "{}{}", ran.text(), ran.stderr);
        assert!(read(path, &first).contains("reserved \"name\""), "{}", read(path, &first));
        assert!(read(path, &second).contains("reserved \"mail\""), "{}", read(path, &second));
    }
    assert_eq!(abide(path, &["upgrade", "--check"]).status, 0);
    let out = abide(path, &["upgrade", "--out", "out"]);
    let why = format!("two roots have a candidate `{CANDIDATE}`");
    assert!(out.status == 2 && out.stderr.contains(&why), "{}", out.stderr);
    assert!(!path.join("out").exists());
}
