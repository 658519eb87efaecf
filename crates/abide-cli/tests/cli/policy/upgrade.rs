//! What an upgrade and a release make, keep and refuse.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::run::{Ran, abide, put, repository};

/// The day of every run that asks for one.
pub(super) const DAY: &str = "2026-01-15";

/// A tree with these files, that can import the annotations.
pub(super) fn tree(config: &str, files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    let api = repository().join("api").display().to_string();
    put(folder.path(), &[("abide.toml", &format!("import-paths = [{api:?}]\n{config}"))]);
    put(folder.path(), files);
    folder
}

pub(super) fn read(folder: &Path, path: &str) -> String {
    fs::read_to_string(folder.join(path)).unwrap_or_default()
}

pub(super) fn edit(folder: &Path, path: &str, old: &str, new: &str) {
    let text = read(folder, path);
    assert!(text.contains(old), "`{old}` stands in {path}: {text}");
    fs::write(folder.join(path), text.replace(old, new)).unwrap();
}

/// Runs a command that must succeed.
pub(super) fn ok(folder: &Path, args: &[&str]) -> Ran {
    let ran = abide(folder, args);
    assert_eq!(ran.status, 0, "{args:?}: {}{}", ran.text(), ran.stderr);
    ran
}

/// Runs a command that must end with status 1, and returns what it says.
pub(super) fn refused(folder: &Path, args: &[&str]) -> String {
    let ran = abide(folder, args);
    assert_eq!(ran.status, 1, "{args:?}: {}{}", ran.text(), ran.stderr);
    ran.text() + &ran.stderr
}

/// The rules that `abide check` reports.
pub(super) fn reported(folder: &Path) -> Vec<String> {
    abide(folder, &["check", "--format", "json", "--as-of", DAY, "-q"]).rules()
}

pub(super) const SHOP: &str = "acme/shop/v1/shop.proto";
pub(super) const SHOP_NEXT: &str = "acme/shop/v2alpha/shop.proto";

/// A package without anything deprecated, with this at its end.
pub(super) fn shop(rest: &str) -> String {
    format!(
        "syntax = \"proto3\";\n\npackage acme.shop.v1;\n\nmessage Item {{\n  string name = 1;\n}}\n\
         {rest}"
    )
}

#[test]
fn an_upgrade_drops_a_deprecated_method() {
    let service = "\nservice Shops {\n  // Use `New`.\n  rpc Old(Item) returns (Item) {\n    option \
                   deprecated = true;\n  }\n  rpc New(Item) returns (Item);\n}\n";
    let tree = tree("", &[(SHOP, &shop(service))]);
    ok(tree.path(), &["upgrade", "--write"]);
    let made = read(tree.path(), SHOP_NEXT);
    assert!(made.ends_with("service Shops {\n  rpc New(Item) returns (Item);\n}\n"), "{made}");
    ok(tree.path(), &["upgrade", "--check"]);
}

#[test]
fn an_upgrade_drops_a_deprecated_service() {
    let service = "\n// Use another shop.\nservice Shops {\n  option deprecated = true;\n\n  rpc \
                   Get(Item) returns (Item);\n}\n";
    let tree = tree("", &[(SHOP, &shop(service))]);
    ok(tree.path(), &["upgrade", "--write"]);
    let made = read(tree.path(), SHOP_NEXT);
    assert!(made.ends_with("message Item {\n  string name = 1;\n}\n"), "{made}");
}

#[test]
fn an_upgrade_drops_deprecated_types_and_their_uses() {
    let types = "\nmessage Old {\n  option deprecated = true;\n}\n\nenum Size {\n  option \
                 deprecated = true;\n  SIZE_UNSPECIFIED = 0;\n}\n";
    let tree = tree("", &[(SHOP, &shop(types))]);
    ok(tree.path(), &["upgrade", "--write"]);
    let made = read(tree.path(), SHOP_NEXT);
    assert!(made.contains("message Item") && !made.contains("Old"), "{made}");
    assert!(!made.contains("Size"), "{made}");

    // What stays may not name what goes.
    edit(tree.path(), SHOP, "string name = 1;", "string name = 1;\n  Old old = 2;");
    let told = refused(tree.path(), &["upgrade", "--write"]);
    assert!(told.contains("deprecated-type-in-use") && told.contains("nothing was written"));
    assert_eq!(read(tree.path(), SHOP_NEXT), made);
}

#[test]
fn the_reasons_for_an_upgrade_can_be_chosen() {
    let service = "\nservice Shops {\n  option deprecated = true;\n}\n";
    let config = "upgrade.reasons = [\"deprecated\", \"deprecated-method\"]\n";
    let tree = tree(config, &[(SHOP, &shop(service))]);
    ok(tree.path(), &["upgrade", "--check"]);
    fs::write(tree.path().join("abide.toml"), "upgrade.reasons = [\"deprecated-service\"]\n")
        .unwrap();
    let told = refused(tree.path(), &["upgrade", "--check"]);
    assert_eq!(told, format!("{SHOP_NEXT}: is missing\n"));
}

#[test]
fn an_upgrade_keeps_statements_on_one_line() {
    let lines = "\nmessage A { string a = 1 [deprecated = true]; string b = 2; }\n\
                 message B { reserved 5; string b = 2; string a = 1 [deprecated = true]; }\n\
                 message C {oneof c { string a = 1 [deprecated = true]; string b = 2; }}\n\
                 enum E { E_UNSPECIFIED = 0; E_OLD = 1 [deprecated = true]; E_NEW = 2; }\n\
                 service S { rpc Old(A) returns (A) { option deprecated = true; } rpc New(A) \
                 returns (A); }\n";
    let made = "\nmessage A { reserved 1; reserved \"a\"; string b = 2; }\n\
                message B { reserved 5, 1; reserved \"a\"; string b = 2; }\n\
                message C { reserved 1; reserved \"a\"; oneof c { string b = 2; }}\n\
                enum E { reserved 1; reserved \"E_OLD\"; E_UNSPECIFIED = 0; E_NEW = 2; }\n\
                service S { rpc New(A) returns (A); }\n";
    let tree = tree("", &[(SHOP, &shop(lines))]);
    ok(tree.path(), &["upgrade", "--write"]);
    let text = read(tree.path(), SHOP_NEXT);
    assert!(text.ends_with(made), "{text}");
    ok(tree.path(), &["upgrade", "--check"]);

    // The same lines end as those of the source do.
    let windows = shop(lines).replace('\n', "\r\n");
    put(tree.path(), &[(SHOP, &windows)]);
    ok(tree.path(), &["upgrade", "--write", "-q"]);
}

#[test]
fn a_promotion_into_a_oneof_keeps_one_line() {
    let line = "\nmessage A { string a = 1 [(abide.annotations.v1.field_policy).migration.\
                promote_to_oneof = \"of\"]; string b = 2; }\n";
    let import = "package acme.shop.v1;\n\nimport \"abide/annotations/v1/lifecycle.proto\";\n";
    let text = shop(line).replace("package acme.shop.v1;\n", import);
    let tree = tree("", &[(SHOP, &text)]);
    ok(tree.path(), &["upgrade", "--write"]);
    let made = read(tree.path(), SHOP_NEXT);
    assert!(made.ends_with("message A { oneof of { string a = 1; } string b = 2; }\n"), "{made}");
}

pub(super) const USER: &str = "acme/user/v1/user.proto";
pub(super) const USER_NEXT: &str = "acme/user/v2alpha/user.proto";

/// A package with a deprecated field.
pub(super) const OLD_FIELD: &str = "syntax = \"proto3\";\n\npackage acme.user.v1;\n\nmessage User {\n  string \
                         name = 1;\n\n  // Use `name`.\n  string old = 2 [deprecated = true];\n}\n";

const WINDOW: &str = "[calendar]\napi-releases = [\"06-30\"]\n";

/// A tree whose candidate is ready to be released.
pub(super) fn ready(config: &str) -> TempDir {
    let off = "rules.conversion-missing = \"off\"\n";
    let tree = tree(&format!("{off}{config}"), &[(USER, OLD_FIELD)]);
    ok(tree.path(), &["upgrade", "--write"]);
    tree
}

#[test]
fn a_release_outside_of_the_window_is_refused() {
    let tree = ready(WINDOW);
    let folder = tree.path();
    let told = refused(folder, &["release", "--write", "--as-of", DAY]);
    assert!(told.contains("error[major-outside-window]"), "{told}");
    let window = "the next window is from 2026-05-31 to the API release on 2026-06-30";
    assert!(told.contains(window), "{told}");
    assert!(told.contains("--outside-window") && told.contains("nothing was released"), "{told}");
    assert!(folder.join(USER_NEXT).exists() && !folder.join("acme/user/v2").exists());
    refused(folder, &["release", "--check", "--as-of", DAY]);
    let ran = abide(folder, &["release", "--diff", "--as-of", DAY]);
    assert_eq!(ran.status, 1);
    assert!(ran.text().contains("package acme.user.v2;"), "what would be released can be seen");
    assert!(ran.stderr.contains(window), "{}", ran.stderr);

    ok(folder, &["release", "--write", "--as-of", "2026-06-15"]);
    assert!(folder.join("acme/user/v2/user.proto").exists(), "in the window it is released");
}

#[test]
fn a_release_outside_of_the_window_can_be_forced() {
    let tree = ready(WINDOW);
    ok(tree.path(), &["release", "--write", "--as-of", DAY, "--outside-window"]);
    assert!(tree.path().join("acme/user/v2/user.proto").exists());
}

#[test]
fn a_waiver_opens_the_release_window() {
    let waiver = "\n[[waiver]]\nrule = \"major-outside-window\"\nelement = \"acme.user.v2\"\n\
                  reason = \"a contract requires it\"\nuntil = \"2026-02-01\"\n";
    let tree = ready(&format!("{WINDOW}{waiver}"));
    refused(tree.path(), &["release", "--write", "--as-of", "2026-02-15"]);
    ok(tree.path(), &["release", "--write", "--as-of", DAY]);
    assert!(tree.path().join("acme/user/v2/user.proto").exists());
}

#[test]
fn first_majors_and_a_disabled_rule_need_no_window() {
    let tree = ready(&format!("rules.major-outside-window = \"warning\"\n{WINDOW}"));
    ok(tree.path(), &["release", "--write", "--as-of", DAY]);
    assert!(tree.path().join("acme/user/v2/user.proto").exists());
}

/// A candidate that a person wrote is nobody else's.
#[test]
fn a_hand_written_candidate_is_left_alone() {
    let status = |name: &str| {
        format!(
            "import \"abide/annotations/v1/status.proto\";\n\noption \
             (abide.annotations.v1.file_policy).package_version_status = \
             PACKAGE_VERSION_STATUS_{name};\n"
        )
    };
    let by_hand = format!(
        "syntax = \"proto3\";\n\npackage acme.user.v2alpha;\n\n{}\nmessage User {{\n  string \
         nickname = 7;\n}}\n",
        status("NEXT_MAJOR_VERSION_CANDIDATE")
    );
    let active = OLD_FIELD.replace(
        "package acme.user.v1;\n",
        &format!("package acme.user.v1;\n\n{}", status("ACTIVE")),
    );
    let calm = active.replace(" [deprecated = true]", "");
    let tree = tree("", &[(USER, &calm), (USER_NEXT, &by_hand)]);
    let folder = tree.path();
    // Nothing calls for it, and then a deprecated field does.
    for (source, verb) in [(&calm, "deleted"), (&active, "overwritten")] {
        put(folder, &[(USER, source)]);
        assert_eq!(reported(folder), ["candidate-edited"]);
        let told = refused(folder, &["upgrade", "--write", "-q"]);
        let line = format!(
            "error: `{USER_NEXT}` was not {verb}, because nothing records that abide wrote it"
        );
        assert!(told.contains(&line) && told.contains("`by_hand = true`"), "{told}");
        assert_eq!(read(folder, USER_NEXT), by_hand);
        refused(folder, &["upgrade", "--check"]);
    }
    ok(folder, &["upgrade", "--write", "--overwrite"]);
    assert!(read(folder, USER_NEXT).contains("reserved \"old\";"));
    assert_eq!(reported(folder), [] as [&str; 0]);
}

#[test]
fn an_edited_and_an_outdated_candidate_are_different_findings() {
    let tree = ready("");
    let folder = tree.path();
    let found = || {
        let ran = abide(folder, &["check", "--format", "json", "--as-of", DAY, "-q"]);
        ran.json()[0]["message"].as_str().unwrap_or_default().to_owned()
    };
    edit(folder, USER, "string name = 1;", "string name = 1;\n\n  int32 age = 3;");
    assert!(found().contains("is out of date"), "{}", found());
    ok(folder, &["upgrade", "--write"]);
    assert_eq!(reported(folder), [] as [&str; 0]);

    edit(folder, USER_NEXT, "int32 age = 3;", "int32 age = 3;\n  string by_hand = 4;");
    assert!(found().contains("was edited by hand"), "{}", found());
    let edited = read(folder, USER_NEXT);
    edit(folder, USER, "int32 age = 3;", "int32 age = 3;\n\n  int32 size = 5;");
    let told = refused(folder, &["upgrade", "--write"]);
    assert!(told.contains("was not overwritten, because somebody edited it"), "{told}");
    assert_eq!(read(folder, USER_NEXT), edited);
    ok(folder, &["upgrade", "--write", "--overwrite"]);
    assert!(read(folder, USER_NEXT).contains("int32 size = 5;"));
}

/// Files are written first and the record last, so a run can stop anywhere between.
#[test]
fn an_interrupted_upgrade_can_be_repeated() {
    let tree = ready("");
    let folder = tree.path();
    let lock = read(folder, "abide.lock");
    assert!(lock.contains(&format!(" {USER_NEXT}\n")), "{lock}");
    fs::remove_file(folder.join("abide.lock")).unwrap();
    ok(folder, &["upgrade", "--write"]);
    assert_eq!(read(folder, "abide.lock"), lock, "what equals a generated file is generated");
    // A lock with both sides of a merge knows both.
    let (head, line) = lock.split_once("made ").unwrap();
    let other = "made sha256:".to_owned() + &"0".repeat(64) + " " + USER_NEXT;
    let conflict = format!("{head}<<<<<<< a\nmade {line}=======\n{other}\n>>>>>>> b\n");
    put(folder, &[("abide.lock", &conflict)]);
    edit(folder, USER, "string name = 1;", "string name = 1;\n\n  int32 age = 3;");
    ok(folder, &["upgrade", "--write"]);
    assert!(read(folder, USER_NEXT).contains("int32 age = 3;"));
    let mended = read(folder, "abide.lock");
    assert_eq!(mended.matches("made ").count(), 1, "{mended}");
    ok(folder, &["release", "--write", "--as-of", DAY]);
    assert!(!read(folder, "abide.lock").contains("made "), "a released candidate has no line");
}

/// The record stays with versions beside it, and is not taken for one.
#[test]
fn generated_files_are_recorded_beside_versions() {
    for version_in in ["lock", "option"] {
        let tree = ready(&format!("version-in = \"{version_in}\"\n"));
        let folder = tree.path();
        assert_eq!(reported(folder), [] as [&str; 0], "no version is recorded yet");
        ok(folder, &["bump", "--write", "--as-of", DAY]);
        assert!(read(folder, "abide.lock").contains("\nmade sha256:"));
        assert_eq!(reported(folder), [] as [&str; 0], "{version_in}");
        ok(folder, &["upgrade", "--check"]);
        ok(folder, &["bump", "--check", "--as-of", DAY]);
        // The version in the candidate is no edit of a person.
        edit(folder, USER, "string name = 1;", "string name = 1;\n\n  int32 age = 3;");
        ok(folder, &["upgrade", "--write"]);
        assert!(read(folder, USER_NEXT).contains("int32 age = 3;"), "{version_in}");
    }
}

#[test]
fn an_upgrade_overwrites_no_other_folder_or_mapping() {
    let tree = ready("");
    let folder = tree.path();
    let out = TempDir::new().unwrap();
    let mapping = out.path().join("mapping.json").display().to_string();
    let args = ["upgrade", "--out", &out.path().display().to_string(), "--mapping", &mapping];
    ok(folder, &args);
    let (proto, json) = (read(out.path(), USER_NEXT), read(out.path(), "mapping.json"));
    ok(folder, &args);
    put(out.path(), &[(USER_NEXT, "// mine\n"), ("mapping.json", "{}\n")]);
    let told = refused(folder, &args);
    assert!(told.contains("user.proto` was not overwritten") && told.contains("mapping.json`"));
    assert_eq!(read(out.path(), USER_NEXT), "// mine\n");
    assert_eq!(read(out.path(), "mapping.json"), "{}\n");
    ok(folder, &[&args[..], &["--overwrite"]].concat());
    assert_eq!((read(out.path(), USER_NEXT), read(out.path(), "mapping.json")), (proto, json));
}

/// A file that `.gitignore` hides is there all the same.
#[test]
fn an_upgrade_overwrites_no_git_ignored_file() {
    let off = "rules.conversion-missing = \"off\"\n";
    let tree = tree(off, &[(USER, OLD_FIELD), (".gitignore", "v2*\n")]);
    let folder = tree.path();
    fs::create_dir(folder.join(".git")).unwrap();
    put(folder, &[(USER_NEXT, "// mine\n"), ("acme/user/v2/user.proto", "// mine\n")]);
    refused(folder, &["upgrade", "--write"]);
    assert_eq!(read(folder, USER_NEXT), "// mine\n");
    fs::remove_file(folder.join(".gitignore")).unwrap();
    for path in ["acme/user/v2/user.proto", USER_NEXT] {
        fs::remove_file(folder.join(path)).unwrap();
    }
    ok(folder, &["upgrade", "--write"]);
    put(folder, &[(".gitignore", "v2/\n"), ("acme/user/v2/user.proto", "// mine\n")]);
    let told = refused(folder, &["release", "--write", "--as-of", DAY]);
    assert!(told.contains("`acme/user/v2/user.proto` was not overwritten"), "{told}");
    assert_eq!(read(folder, "acme/user/v2/user.proto"), "// mine\n");
    assert!(folder.join(USER_NEXT).exists(), "a release is made whole or not at all");
}

/// What lies outside of a part calls for candidates in it, and is named in them.
#[test]
fn a_part_of_a_tree_is_not_upgraded() {
    let feed = "syntax = \"proto3\";\n\npackage acme.feed.v1;\n\nimport \
                \"acme/user/v1/user.proto\";\n\nmessage Feed {\n  acme.user.v1.User user = 1;\n  \
                string old = 2 [deprecated = true];\n}\n";
    let (user, next) = ("one/acme/user/v1/user.proto", "two/acme/feed/v2alpha/feed.proto");
    let tree = tree(
        "roots = [\"one\", \"two\"]\n",
        &[(user, OLD_FIELD), ("two/acme/feed/v1/feed.proto", feed)],
    );
    let folder = tree.path();
    ok(folder, &["upgrade", "--write"]);
    let made = read(folder, next);
    assert!(made.contains("acme.user.v2alpha.User user = 1;"), "{made}");
    let ran = abide(folder, &["check", "two", "--format", "json", "--as-of", DAY, "-q"]);
    assert_eq!(ran.status, 0, "{}", ran.text());
    for how in ["--write", "--check", "--diff"] {
        let ran = abide(folder, &["upgrade", "two", how]);
        assert_eq!(ran.status, 2, "{how}: {}{}", ran.text(), ran.stderr);
        assert!(ran.stderr.contains("leave SOURCE out"), "{}", ran.stderr);
    }
    assert_eq!(read(folder, next), made);
    ok(folder, &["upgrade", "--check", "--package", "acme.feed.v1", "--package", "acme.user.v1"]);
    // An edit is an edit in any part.
    edit(folder, next, "message Feed {", "message Feed {\n  int32 more = 3;");
    let ran = abide(folder, &["check", "two", "--format", "json", "--as-of", DAY, "-q"]);
    assert!(ran.rules().contains(&"candidate-edited".to_owned()), "{}", ran.text());
}

/// A file that people wrote in the place of a candidate, and a candidate that depends on it.
#[test]
fn all_commands_agree_on_a_candidate_whose_path_is_taken() {
    let feed = "syntax = \"proto3\";\n\npackage acme.feed.v1;\n\nimport \
                \"acme/user/v1/user.proto\";\n\nmessage Feed {\n  acme.user.v1.User user = 1;\n}\n";
    let people = "syntax = \"proto3\";\n\npackage acme.user.v2alpha;\n\nmessage User {}\n";
    let tree =
        tree("", &[(USER, OLD_FIELD), (USER_NEXT, people), ("acme/feed/v1/feed.proto", feed)]);
    let folder = tree.path();
    // The candidate of the dependent is made, and the other is named.
    let told =
        format!("cannot be written to `{USER_NEXT}`, which no upgrade made: delete that file");
    for action in ["--write", "--check"] {
        let named = refused(folder, &["upgrade", action]);
        assert!(named.contains(&told), "{named}");
    }
    ok(folder, &["bump", "--write"]);
    ok(folder, &["bump", "--check"]);
    assert!(!reported(folder).contains(&"candidate-edited".to_owned()));
    let ran = abide(folder, &["release", "--write", "--as-of", DAY]);
    let told = format!("would depend on `{USER_NEXT}`, which no upgrade made: delete that file");
    assert!(ran.status == 1 && ran.stderr.contains(&told), "{}", ran.stderr);
    assert_eq!(read(folder, USER_NEXT), people);

    fs::remove_file(folder.join(USER_NEXT)).unwrap();
    ok(folder, &["upgrade", "--write"]);
    put(
        folder,
        &[("abide.toml", &(read(folder, "abide.toml") + "upgrade.lossy = [\"acme.**\"]\n"))],
    );
    ok(folder, &["release", "--write", "--as-of", DAY]);
    assert!(read(folder, "acme/feed/v2/feed.proto").contains("acme.user.v2.User"));
    ok(folder, &["upgrade", "--check"]);
}

/// A merge can bring a candidate back that was released before.
#[test]
fn a_merged_back_candidate_of_a_past_release_is_explained() {
    let tree = ready("");
    let folder = tree.path();
    let candidate = read(folder, USER_NEXT);
    ok(folder, &["release", "--write", "--as-of", DAY]);
    let released = "acme/user/v2/user.proto";
    edit(folder, released, "string name = 1;", "string name = 1;\n\n  int32 age = 3;");
    put(folder, &[(USER_NEXT, &candidate)]);
    let ran = abide(folder, &["release", "--write", "--as-of", DAY]);
    let told = format!("`{released}` already exists, and a release overwrites no file: delete its");
    assert!(ran.status == 1 && ran.stderr.contains(&told), "{}", ran.stderr);
    fs::remove_file(folder.join(USER_NEXT)).unwrap();
    for args in [["release", "--check"], ["upgrade", "--check"]] {
        ok(folder, &args);
    }
    assert!(read(folder, released).contains("int32 age = 3;"));
}

/// The oldest major is in no candidate, so nothing can be changed there instead.
#[test]
fn a_removed_frozen_package_can_only_be_restored() {
    let tree = ready("");
    let folder = tree.path();
    ok(folder, &["release", "--write", "--as-of", DAY]);
    ok(folder, &["bump", "--write", "--as-of", DAY]);
    let old = TempDir::new().unwrap();
    for path in ["abide.toml", "abide.lock", USER, "acme/user/v2/user.proto"] {
        put(old.path(), &[(path, &read(folder, path))]);
    }
    fs::remove_file(folder.join(USER)).unwrap();
    let against = old.path().display().to_string();
    let told = refused(folder, &["bump", "--check", "--against", &against, "--as-of", DAY]);
    assert!(told.contains("  undo it, or waive it with a reason\n"), "{told}");
}

#[test]
fn a_hand_written_build_file_is_left_alone_without_proto_advice() {
    let tree = tree("upgrade.build-files = true\n", &[(USER, OLD_FIELD)]);
    let folder = tree.path();
    let build = "acme/user/v2alpha/BUILD";
    put(folder, &[(build, "# mine\n")]);
    let told = refused(folder, &["upgrade", "--write"]);
    let line = format!(
        "error: `{build}` was not overwritten, because nothing records that abide wrote it: \
         `--overwrite` replaces it\n"
    );
    assert!(told.contains(&line), "{told}");
    assert_eq!(read(folder, build), "# mine\n");
    ok(folder, &["upgrade", "--write", "--overwrite"]);
    ok(folder, &["upgrade", "--check"]);
}

/// What git merges of two candidates is what an upgrade makes, though neither side made it.
#[test]
fn a_candidate_merged_by_git_is_not_taken_for_an_edit() {
    let comment = |first: &str, last: &str| {
        OLD_FIELD.replace(
            "  string name = 1;\n",
            &format!("  // {first}\n  string name = 1;\n\n  // {last}\n  int32 age = 3;\n"),
        )
    };
    let tree = tree("", &[(USER, &comment("A name.", "An age."))]);
    let folder = tree.path();
    let side = |first: &str, last: &str| {
        put(folder, &[(USER, &comment(first, last))]);
        ok(folder, &["upgrade", "--write"]);
        ok(folder, &["bump", "--write", "--as-of", DAY]);
        (read(folder, USER_NEXT), read(folder, "abide.lock"))
    };
    let merged = side("The name.", "The age.").0;
    side("A name.", "The age.");
    let lock = side("The name.", "An age.").1;
    put(folder, &[(USER, &comment("The name.", "The age.")), (USER_NEXT, &merged)]);
    put(folder, &[("abide.lock", &lock)]);
    ok(folder, &["upgrade", "--check"]);
    ok(folder, &["bump", "--write", "--as-of", DAY]);
    ok(folder, &["bump", "--check", "--as-of", DAY]);
    edit(folder, USER, "The age.", "The age in years.");
    ok(folder, &["upgrade", "--write"]);
    assert!(read(folder, USER_NEXT).contains("The age in years."));

    // An edit stays an edit.
    edit(folder, USER_NEXT, "The name.", "My name.");
    ok(folder, &["bump", "--write", "--as-of", DAY]);
    assert!(refused(folder, &["upgrade", "--write"]).contains("somebody edited it"));
    assert!(read(folder, USER_NEXT).contains("My name."));
}
