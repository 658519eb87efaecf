//! `abide init --from buf.yaml` takes over the settings of buf, and reports those that it drops.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::breaking::git;
use crate::run::{Ran, abide, put};

const ACME: &str =
    "syntax = \"proto3\";\npackage acme.NAME.v1;\nmessage M {\n  string id = 1;\n}\n";

fn tree(buf: &str, packages: &[&str]) -> TempDir {
    let folder = TempDir::new().unwrap();
    put(folder.path(), &[("buf.yaml", buf)]);
    for name in packages {
        let text = ACME.replace("NAME", name);
        put(folder.path(), &[(&format!("proto/acme/{name}/v1/{name}.proto"), &text)]);
    }
    folder
}

/// Writes `abide.toml`, which every command then reads.
fn init(folder: &TempDir) -> (String, Ran) {
    let ran = abide(folder.path(), &["init", "--from", "buf.yaml"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let text = fs::read_to_string(folder.path().join("abide.toml")).unwrap();
    assert_eq!(abide(folder.path(), &["rules"]).status, 0);
    (text, ran)
}

fn check(folder: &TempDir, args: &[&str]) -> Vec<(String, String)> {
    let ran = abide(folder.path(), &[&["check", "--format", "json"], args].concat());
    assert_ne!(ran.status, 2, "{}", ran.stderr);
    let findings = ran.json();
    let errors = findings.iter().filter(|it| it["severity"] == "error");
    let pair = |it: &serde_json::Value| {
        let text = |key: &str| it[key].as_str().unwrap_or_default().to_owned();
        (text("rule"), text("package"))
    };
    errors.map(pair).collect()
}

#[test]
fn defaults_are_those_of_buf() {
    let folder = tree("version: v2\nmodules: [{path: proto}]\n", &["user"]);
    let (text, ran) = init(&folder);
    assert!(
        text.contains("preset = \"buf-file\"") && text.contains("roots = [\"proto\"]"),
        "{text}"
    );
    assert!(!text.contains("off") && ran.stderr.is_empty(), "{text}{}", ran.stderr);
    assert_eq!(check(&folder, &[]), []);
}

#[test]
fn rules_and_categories_are_chosen_as_in_buf() {
    let buf = "version: v2\nmodules: [{path: proto}]\n\
               lint: {use: [STANDARD], except: [PACKAGE_DIRECTORY_MATCH, ENUM_VALUE_PREFIX]}\n\
               breaking: {use: [WIRE, FIELD_SAME_NAME], except: [FIELD_WIRE_COMPATIBLE_TYPE]}\n";
    let folder = tree(buf, &["user"]);
    let (text, ran) = init(&folder);
    assert!(ran.stderr.is_empty(), "{}", ran.stderr);
    assert!(text.contains("preset = \"buf-wire\"\n"), "{text}");
    assert!(text.contains("\"buf:PACKAGE_DIRECTORY_MATCH\" = \"off\""), "{text}");
    assert!(text.contains("\"buf:ENUM_VALUE_PREFIX\" = \"off\""), "{text}");
    assert!(text.contains("buf:FIELD_SAME_NAME"), "{text}");
    assert!(text.contains("buf:RPC_SAME_REQUEST_TYPE"), "{text}");
    assert!(!text.contains("buf:FIELD_WIRE_COMPATIBLE_TYPE"), "{text}");
    let misplaced = ACME.replace("NAME", "user").replace("string id", "string mail");
    put(folder.path(), &[("new/abide.toml", &text), ("new/proto/user.proto", &misplaced)]);
    let new = abide(&folder.path().join("new"), &["check", "--against", "..", "--format", "json"]);
    assert_eq!(new.rules(), ["field-renamed"], "{}", new.text());
    let retyped = ACME.replace("NAME", "user").replace("string id", "int32 id");
    put(folder.path(), &[("new/proto/user.proto", &retyped)]);
    let new = abide(&folder.path().join("new"), &["check", "--against", "..", "--format", "json"]);
    assert_eq!(new.status, 0, "{}", new.text());
}

#[test]
fn what_buf_ignores_is_off_for_these_files() {
    let buf = "version: v1\nbuild:\n  excludes: [proto/acme/old]\nlint:\n  ignore_only:\n    \
               PACKAGE_VERSION_SUFFIX: [proto/acme/plain.proto, ./proto/acme/user/]\n    \
               PACKAGE_DIRECTORY_MATCH: [proto]\nbreaking:\n  ignore: [proto/acme/shop, proto/acme/part/v1/a.proto]\n  \
               ignore_only: {FIELD_SAME_NAME: [proto/acme/user], FIELD_SAME_JSON_NAME: [proto/acme/user]}\n  ignore_unstable_packages: true\n";
    let folder = tree(buf, &["user", "shop", "old", "part"]);
    let plain = "syntax = \"proto3\";\npackage plain;\n";
    put(
        folder.path(),
        &[
            ("proto/acme/plain.proto", plain),
            ("proto/acme/part/v1/a.proto", "syntax = \"proto3\";\npackage acme.part.v1;\n"),
        ],
    );
    let (text, ran) = init(&folder);
    // buf reads some versions otherwise than Abide.
    let notes: Vec<&str> = ran.stderr.lines().collect();
    assert!(matches!(notes[..], [it] if it.contains("`v1test`")), "{}", ran.stderr);
    assert!(text.contains("import-paths = [\"proto/acme/old\"]"), "{text}");
    assert!(text.contains("stability = [\"alpha\", \"beta\"]"), "{text}");
    assert_eq!(check(&folder, &[]), []);
    let copy = TempDir::new().unwrap();
    for name in ["user", "shop", "part"] {
        let text = ACME.replace("NAME", name).replace("string id", "string mail");
        put(copy.path(), &[(&format!("proto/acme/{name}/v1/{name}.proto"), &text)]);
    }
    put(
        copy.path(),
        &[
            ("abide.toml", &text),
            ("proto/acme/plain.proto", plain),
            ("proto/acme/part/v1/a.proto", "syntax = \"proto3\";\npackage acme.part.v1;\n"),
        ],
    );
    let old = folder.path().to_str().unwrap();
    let renamed = ("field-renamed".to_owned(), "acme.part.v1".to_owned());
    assert_eq!(check(&copy, &["--against", old]), [renamed]);
}

/// A file of a folder that is excluded can be imported where its path counts from the root.
#[test]
fn an_excluded_folder_can_be_imported_from_the_root() {
    let import = |path: &str| {
        format!(
            "syntax = \"proto3\";\npackage acme.user.v1;\nimport \"{path}\";\nmessage User {{\n  google.api.Rule rule = 1;\n}}\n"
        )
    };
    let rule = "syntax = \"proto3\";\npackage google.api;\nmessage Rule {}\n";
    for (buf, root) in [
        ("version: v1\nbuild: {excludes: [google, gone]}\n", ""),
        ("version: v2\nmodules: [{path: proto, excludes: [proto/google, proto/gone]}]\n", "proto/"),
    ] {
        let folder = TempDir::new().unwrap();
        let user = import("google/api/rule.proto");
        put(
            folder.path(),
            &[
                ("buf.yaml", buf),
                (&format!("{root}acme/user/v1/user.proto"), &user),
                (&format!("{root}google/api/rule.proto"), rule),
            ],
        );
        let (text, ran) = init(&folder);
        let again = if root.is_empty() { "." } else { "proto" };
        assert!(text.contains(&format!("import-paths = [\"{root}google\",\"{again}\"]")), "{text}");
        assert!(ran.stderr.contains("gone` of `excludes` is not a folder"), "{}", ran.stderr);
        let ran = abide(folder.path(), &["check", "--format", "json"]);
        assert_eq!((ran.status, ran.json().last().unwrap()["files"].as_u64()), (0, Some(1)));
        assert!(!ran.stderr.contains("is not a folder"), "{}", ran.stderr);
    }
}

#[test]
fn what_cannot_be_said_is_told_with_its_line() {
    let buf = "version: v2\ndeps: [buf.build/a/b]\nlint:\n  use: [STANDARD, OF_A_PLUGIN]\n  \
               service_suffix: API\n  ignore:\n    - gone\nbreaking:\n  use: [FILE]\n  \
               except: [MESSAGE_SAME_MESSAGE_SET_WIRE_FORMAT]\nplugins: [{plugin: x}]\n";
    let folder = tree(buf, &["user"]);
    put(folder.path(), &[("buf.lock", ""), ("buf.gen.yaml", "")]);
    let (_, ran) = init(&folder);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    let told = [("4", "`OF_A_PLUGIN`"), ("10", "finds nothing any more"), ("11", "`plugins`")];
    assert_eq!(lines.len(), told.len() + 1, "{lines:#?}");
    for (line, (number, what)) in lines.iter().zip(told) {
        assert!(line.starts_with(&format!("note: buf.yaml: line {number}: ")), "{line}");
        assert!(line.contains(what), "{line}");
    }
    assert!(ran.stderr.contains("note: buf.gen.yaml was not read"), "{lines:#?}");
}

#[test]
fn what_buf_refuses_is_refused_with_its_place() {
    for (buf, place, said) in [
        ("", "1:1", "there is no key `version`"),
        ("[]", "1:1", "there is no key `version`"),
        ("version: v3\n", "1:1", "the version `v3` is unknown"),
        ("version: v1\ndirectories: a\n", "2:14", "expected a list of folders"),
        ("version: v1\nlint: [\n", "2:7", "unclosed bracket"),
        ("version: &a v1\nname: *b\n", "2:7", ""),
        ("\u{0}", "1:1", ""),
        ("version: v2\nlint:\n  use: [STANDRD]\n", "3:9", "did you mean `STANDARD`?"),
        ("version: v2\nlint:\n  use: [FIELD_SAME_NAME]\n", "3:9", "no lint rule or category"),
        ("version: v2\nlint:\n  except: [NO_SUCH]\n", "3:12", "no lint rule or category"),
        (
            "version: v2\nlint:\n  ignore_only:\n    ENUM_PASCAL: [a]\n",
            "4:5",
            "did you mean `ENUM_PASCAL_CASE`?",
        ),
        ("version: v2\nbreaking:\n  use: [FIELS]\n", "3:9", "did you mean `FI"),
        ("version: v2\nmoduls: []\n", "2:1", "did you mean `modules`?"),
        ("version: v1\nmodules: []\n", "2:1", "unknown key `modules`"),
        ("version: v1\nbuild: {roots: [a]}\n", "2:9", "unknown key `roots`"),
        ("version: v2\nlint:\n  service_sufix: A\n", "3:3", "did you mean `service_suffix`?"),
        ("version: v2\nlint:\n  allow_comment_ignores: true\n", "3:3", "did you mean `dis"),
        ("version: v2\nbreaking:\n  ignor: [a]\n", "3:3", "did you mean `ignore`?"),
        ("version: v2\nmodules: [{pth: a}]\n", "2:12", "did you mean `path`?"),
        ("version: v2\nlint: {}\nlint: {}\n", "3:1", "stands twice, first in line 2"),
        ("version: v2\nlint: []\n", "2:7", "expected a map"),
        ("version: v2\nbreaking:\n  use: FILE\n", "3:8", "expected a list"),
        ("version: v2\nlint:\n  use: [[A]]\n", "3:9", "expected a string"),
        ("version: v2\nlint:\n  disable_builtin: maybe\n", "3:20", "expected `true` or `false`"),
        ("version: v2\nlint:\n  ignore: [/abs]\n", "3:12", "expected a path inside"),
        ("version: v2\nmodules: [{path: ../x}]\n", "2:18", "expected a path inside"),
        ("version: v2\nlint: &l\n  use: *l\n", "3:8", ""),
        ("version: v2\nname: \"\u{e9}\u{1f980}\"\ntypo: 1\n", "3:1", "unknown key `typo`"),
    ] {
        let folder = tree(buf, &["user"]);
        let ran = abide(folder.path(), &["init", "--from", "buf.yaml"]);
        let at = format!("buf.yaml:{place}");
        assert!(ran.status == 2 && ran.stderr.contains(&at), "{buf}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{buf}: {}", ran.stderr);
        assert!(!folder.path().join("abide.toml").exists());
    }
    let nested = ["version: v1\nlint: ", &"[".repeat(100_000), &"]".repeat(100_000)].concat();
    let folder = tree(&nested, &[]);
    abide(folder.path(), &["init", "--from", "buf.yaml"]);
    let folder = tree("version: v1\n", &["user"]);
    let both = abide(folder.path(), &["init", "--from", "buf.yaml", "--preset", "google"]);
    assert!(both.status == 2 && both.stderr.contains("--preset"), "{}", both.stderr);
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let buf = "version: v2\ntypo: 1\nlint:\n  use: [A_RULE]\nbreaking: 3\n";
    let ran = abide(tree(buf, &["user"]).path(), &["init", "--from", "buf.yaml"]);
    let places: Vec<&str> =
        ran.stderr.lines().filter_map(|line| line.trim_start().strip_prefix("┌─ ")).collect();
    assert_eq!(places, ["buf.yaml:2:1", "buf.yaml:4:9", "buf.yaml:5:11"], "{}", ran.stderr);
}

#[test]
fn the_category_for_registries_of_schemas_has_a_preset() {
    for names in ["CSR", "WIRE_JSON, CSR"] {
        let modules = "version: v2\nmodules: [{path: proto}]\n";
        let buf = format!("{modules}breaking: {{use: [{names}]}}\n");
        let (text, ran) = init(&tree(&buf, &["user"]));
        assert!(ran.stderr.is_empty(), "{}", ran.stderr);
        assert!(text.contains("preset = \"buf-csr\"") && !text.contains("aliases"), "{text}");
    }
    // Only v2 has it.
    let folder = tree("version: v1\nbreaking: {use: [CSR]}\n", &["user"]);
    let ran = abide(folder.path(), &["init", "--from", "buf.yaml"]);
    assert!(ran.status == 2 && ran.stderr.contains("`CSR` is no breaking rule"), "{}", ran.stderr);
}

#[test]
fn aliases_of_yaml_stand_for_their_values() {
    let buf = "version: v2\nmodules: [{path: proto}]\nlint: &both\n  use: &names [MINIMAL]\n  \
               except: [PACKAGE_DIRECTORY_MATCH]\n  ignore: &paths [proto/acme/old]\nbreaking:\n  \
               <<: {ignore: *paths}\n  use: [WIRE]\n";
    let folder = tree(buf, &["user"]);
    let (text, ran) = init(&folder);
    assert!(ran.stderr.is_empty(), "{}", ran.stderr);
    assert!(text.contains("\"buf:MINIMAL\" = \"error\""), "{text}");
    assert!(text.contains("preset = \"buf-wire\""), "{text}");
    assert_eq!(text.matches("files = [\"proto/acme/old\"]").count(), 2, "{text}");
    // A few lines that stand for more values than memory holds.
    let mut bomb = String::from("version: v2\na0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let before = format!("*a{}", level - 1);
        let all = [before.as_str(); 9].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{all}]\n"));
    }
    let ran = abide(tree(&bomb, &[]).path(), &["init", "--from", "buf.yaml"]);
    assert!(ran.status == 2 && ran.stderr.contains("stand for"), "{}", ran.stderr);
}

#[test]
fn files_that_are_no_buf_yaml_say_what_they_are() {
    for (name, said) in [
        ("buf.gen.yaml", "how buf generates code"),
        ("buf.lock", "become dependencies"),
        (".protolint.yaml", "configures protolint"),
        ("prototool.yaml", "configures prototool"),
    ] {
        let folder = tree("version: v2\n", &["user"]);
        put(folder.path(), &[(name, "version: v2\n")]);
        let ran = abide(folder.path(), &["init", "--from", name]);
        assert!(ran.status == 2 && ran.stderr.contains(said), "{}", ran.stderr);
        assert!(!folder.path().join("abide.toml").exists());
    }
}

#[test]
fn a_module_without_files_is_taken_over() {
    let folder = tree("version: v2\nmodules: [{path: new}]\n", &[]);
    std::fs::create_dir(folder.path().join("new")).unwrap();
    let (text, _) = init(&folder);
    assert!(text.contains("roots = [\"new\"]"), "{text}");
}

#[test]
fn modules_have_only_what_they_include() {
    let buf =
        "version: v2\nmodules:\n  - path: proto\n    includes: [proto/acme/user, proto/other]\n";
    let folder = tree(buf, &["user", "shop"]);
    put(folder.path(), &[("proto/loose.proto", "syntax = \"proto3\";\n")]);
    let (text, ran) = init(&folder);
    assert!(text.contains("import-paths = [\"proto/acme/shop\"]"), "{text}");
    assert_eq!(ran.stderr, "note: `proto/loose.proto` is checked, although no `includes` has it\n");
}

#[test]
fn roots_count_from_the_folder_of_abide_toml() {
    let folder = tree("", &["user"]);
    put(
        folder.path(),
        &[
            ("proto/buf.yaml", "version: v1\nbuild: {excludes: [acme/old]}\n"),
            ("proto/acme/old/old.proto", USER),
        ],
    );
    let ran = abide(folder.path(), &["init", "--from", "proto/buf.yaml"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let text = fs::read_to_string(folder.path().join("abide.toml")).unwrap();
    assert!(text.contains("roots = [\"proto\"]"), "{text}");
    assert!(text.contains("import-paths = [\"proto/acme/old\"]"), "{text}");
    assert_eq!(check(&folder, &[]), []);
    let ran = abide(&folder.path().join("proto/acme"), &["init", "--from", "../buf.yaml"]);
    assert!(ran.status == 2 && ran.stderr.contains("below"), "{}", ran.stderr);
}

const USER: &str =
    "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {\n  string mail = 1;\n}\n";

/// Writes `abide.toml` without a `buf.yaml`; its text and what was said.
fn first(folder: &TempDir) -> (String, Ran) {
    let ran = abide(folder.path(), &["init"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    (fs::read_to_string(folder.path().join("abide.toml")).unwrap(), ran)
}

fn commit(folder: &TempDir, branch: &str) {
    git(folder.path(), &["init", "-q", "-b", branch]);
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-q", "-m", "protos"]);
}

#[test]
fn roots_are_where_the_packages_begin() {
    for (files, roots, imports) in [
        (&["proto/acme/user/v1/user.proto"][..], "[\"proto\"]", "[]"),
        (&["acme/user/v1/user.proto"], "[\".\"]", "[]"),
        (
            &["a/proto/acme/user/v1/user.proto", "b/acme/user/v1/more.proto"],
            "[\"a/proto\",\"b\"]",
            "[]",
        ),
        (&["user.proto"], "[\".\"]", "[]"),
        (
            &["proto/acme/user/v1/user.proto", "third_party/acme/user/v1/user.proto"],
            "[\"proto\"]",
            "[\"third_party\"]",
        ),
        (&["proto/acme/user/v1/user.proto", "vendor/x/any.proto"], "[\"proto\"]", "[\"vendor\"]"),
    ] {
        let folder = TempDir::new().unwrap();
        files.iter().for_each(|path| put(folder.path(), &[(path, USER)]));
        let (text, ran) = first(&folder);
        assert!(text.contains(&format!("\nroots = {roots}\n")), "{files:?} {text}");
        assert!(text.contains(&format!("\nimport-paths = {imports}\n")), "{files:?} {text}");
        assert!(ran.stderr.contains("no git repository"), "{}", ran.stderr);
    }
}

#[test]
fn files_outside_of_the_roots_are_counted() {
    let folder = TempDir::new().unwrap();
    put(folder.path(), &[("proto/acme/user/v1/user.proto", USER), ("lab/user.proto", USER)]);
    let (text, ran) = first(&folder);
    assert!(text.contains("roots = [\"proto\"]"), "{text}");
    assert!(ran.stderr.contains("1 file outside of `roots`"), "{}", ran.stderr);
}

#[test]
fn roots_follow_imports_if_no_package_says_where_it_begins() {
    let folder = TempDir::new().unwrap();
    let bare = "syntax = \"proto3\";\nmessage Bare {}\n";
    let user = "syntax = \"proto3\";\nimport \"common/bare.proto\";\nmessage A { Bare b = 1; }\n";
    put(folder.path(), &[("proto/common/bare.proto", bare), ("proto/app/user.proto", user)]);
    let (text, _) = first(&folder);
    assert!(text.contains("roots = [\"proto\"]"), "{text}");
}

#[test]
fn check_sees_a_break_right_after_init() {
    for branch in ["main", "master", "trunk"] {
        let folder = TempDir::new().unwrap();
        put(folder.path(), &[("proto/acme/user/v1/user.proto", USER)]);
        commit(&folder, branch);
        let (text, ran) = first(&folder);
        assert!(text.contains(&format!("\nagainst = \"git:{branch}...\"\n")), "{text}");
        assert!(ran.stderr.is_empty(), "{}", ran.stderr);
        assert!(ran.text().contains("next: `abide check`"), "{}", ran.text());
        assert_eq!(check(&folder, &[]), []);
        let broken = USER.replace("  string mail = 1;\n", "");
        put(folder.path(), &[("proto/acme/user/v1/user.proto", &broken)]);
        let removed = ("field-removed".to_owned(), "acme.user.v1".to_owned());
        assert_eq!(check(&folder, &[]), [removed]);
    }
}

#[test]
fn the_default_branch_is_that_of_the_remote() {
    let origin = TempDir::new().unwrap();
    put(origin.path(), &[("acme/user/v1/user.proto", USER)]);
    commit(&origin, "trunk");
    git(origin.path(), &["branch", "main"]);
    let home = TempDir::new().unwrap();
    let from = origin.path().to_str().unwrap();
    git(home.path(), &["clone", "-q", from, "clone"]);
    let clone = home.path().join("clone");
    git(&clone, &["checkout", "-q", "-b", "work"]);
    let against = |text: &str| {
        let text = text.lines().find(|line| line.starts_with("against")).map(str::to_owned);
        std::fs::remove_file(clone.join("abide.toml")).unwrap();
        text.unwrap()
    };
    let init = || {
        assert_eq!(abide(&clone, &["init"]).status, 0);
        fs::read_to_string(clone.join("abide.toml")).unwrap()
    };
    assert_eq!(against(&init()), "against = \"git:trunk...\"");
    git(&clone, &["branch", "-q", "-D", "trunk"]);
    assert_eq!(against(&init()), "against = \"git:origin/trunk...\"");
}

#[test]
fn nothing_is_compared_before_the_first_commit() {
    let folder = TempDir::new().unwrap();
    put(folder.path(), &[("acme/user/v1/user.proto", USER)]);
    git(folder.path(), &["init", "-q", "-b", "main"]);
    let (text, ran) = first(&folder);
    assert!(text.contains("\n# against = "), "{text}");
    assert!(ran.stderr.contains("the default branch is not known yet"), "{}", ran.stderr);
    assert_eq!(check(&folder, &[]), []);
}

#[test]
fn a_buf_yaml_that_lies_there_is_used() {
    let folder = tree("version: v2\nmodules: [{path: proto}]\n", &["user"]);
    commit(&folder, "main");
    let (text, ran) = first(&folder);
    assert!(text.contains("preset = \"buf-file\"") && text.contains("git:main..."), "{text}");
    assert!(ran.stderr.contains("took over the settings of"), "{}", ran.stderr);
    std::fs::remove_file(folder.path().join("abide.toml")).unwrap();
    let ran = abide(folder.path(), &["init", "--preset", "google"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let text = fs::read_to_string(folder.path().join("abide.toml")).unwrap();
    assert!(text.contains("preset = \"google\""), "{text}");
}

#[test]
fn a_check_without_an_old_tree_says_so() {
    let folder = TempDir::new().unwrap();
    put(folder.path(), &[("acme/user/v1/user.proto", USER)]);
    assert_eq!(abide(folder.path(), &["check"]).stderr, "", "nobody set anything up");
    put(folder.path(), &[("abide.toml", "")]);
    let said = abide(folder.path(), &["check"]).stderr;
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("note: compared with no old tree"), "{said}");
    for args in [&["check", "-q"][..], &["lint"], &["check", "--against", "."]] {
        assert_eq!(abide(folder.path(), args).stderr, "", "{args:?}");
    }
}

/// Files, by their paths.
type Files = &'static [(&'static str, &'static str)];

/// Trees that follow no version scheme, each with what `init` turns off in them.
const PUBLISHED: &[(&str, Files, &[&str])] = &[
    (
        "packages without a version",
        &[("shop/order.proto", "package shop;\nmessage Order {}\n")],
        &["unversioned = [\"google.protobuf*\",\"shop\"]"],
    ),
    (
        "a file without a package",
        &[("order.proto", "message Order {}\n")],
        &["files = [\"order.proto\"]\nrules = { package-version-missing = \"off\" }"],
    ),
    (
        "folders that have nothing to do with packages",
        &[
            ("src/main/order.proto", "package shop.order.v1;\nmessage Order {}\n"),
            ("src/main/user.proto", "package shop.user.v1;\nmessage User {}\n"),
        ],
        &["package-path-mismatch = \"off\"\npackage-spread = \"off\""],
    ),
    (
        "one package out of place",
        &[
            ("shop/order/v1/order.proto", "package shop.order.v1;\nmessage Order {}\n"),
            ("shop/cart/v1/cart.proto", "package shop.cart.v1;\nmessage Cart {}\n"),
            ("shop/people/user.proto", "package shop.user.v1;\nmessage User {}\n"),
        ],
        &["packages = [\"shop.user.v1\"]\nrules = { package-path-mismatch = \"off\" }"],
    ),
    (
        "a version of a form of its own, and one that skips",
        &[
            ("shop/v1dev/order.proto", "package shop.v1dev;\nmessage Order {}\n"),
            ("pay/v1/pay.proto", "package pay.v1;\nmessage Pay {}\n"),
            ("pay/v4/pay.proto", "package pay.v4;\nmessage Pay {}\n"),
        ],
        &[
            "packages = [\"shop.v1dev\"]\nrules = { package-version-malformed = \"off\" }",
            "packages = [\"pay.v4\"]\nrules = { major-gap = \"off\" }",
        ],
    ),
    (
        "packages that use each other, and an earlier major of themselves",
        &[
            (
                "a/v2/a.proto",
                "package a.v2;\nimport \"b/v1/b.proto\";\nimport \"a/v1/a.proto\";\n\
                 message A {\n  b.v1.B b = 1;\n  a.v1.Old old = 2;\n}\n",
            ),
            ("a/v2/part.proto", "package a.v2;\nmessage Part {}\n"),
            ("a/v1/a.proto", "package a.v1;\nmessage Old {}\n"),
            (
                "b/v1/b.proto",
                "package b.v1;\nimport \"a/v2/part.proto\";\nmessage B {\n  a.v2.Part part = 1;\n}\n",
            ),
        ],
        &["rules = { older-major-of-itself = \"off\" }", "rules = { package-cycle = \"off\" }"],
    ),
];

/// Writes files, each with its syntax.
fn put_protos(folder: &Path, files: &[(&str, &str)]) {
    for (path, rest) in files {
        put(folder, &[(path, &format!("syntax = \"proto3\";\n{rest}"))]);
    }
}

#[test]
fn the_first_check_of_a_published_tree_shows_what_can_be_mended() {
    for (name, files, expected) in PUBLISHED {
        let tree = TempDir::new().unwrap();
        put_protos(tree.path(), files);
        let ran = abide(tree.path(), &["init"]);
        assert!(
            ran.stderr.contains("`abide init --strict` leaves it on"),
            "{name}: {}",
            ran.stderr
        );
        let config = fs::read_to_string(tree.path().join("abide.toml")).unwrap();
        for line in *expected {
            assert!(config.contains(line), "{name}: no {line}\n{config}");
        }
        let ran = abide(tree.path(), &["check", "--format", "json"]);
        assert_eq!((ran.status, ran.json().len()), (0, 1), "{name}: {}", ran.text());
        // What is new is judged as ever.
        if !config.contains("[rules]\npackage-path") && !config.contains("# Most files") {
            put_protos(tree.path(), &[("elsewhere/new.proto", "package fresh.v1;\n")]);
            let ran = abide(tree.path(), &["check", "--format", "json"]);
            assert_eq!((ran.status, ran.rules()), (1, vec!["package-path-mismatch".to_owned()]));
            fs::remove_file(tree.path().join("elsewhere/new.proto")).unwrap();
        }
        // Whoever wants all rules gets them.
        fs::remove_file(tree.path().join("abide.toml")).unwrap();
        let ran = abide(tree.path(), &["init", "--strict"]);
        assert!(!ran.stderr.contains("off, because"), "{name}: {}", ran.stderr);
        let ran = abide(tree.path(), &["check", "--format", "json"]);
        assert!(ran.json().len() > 1, "{name}: {}", ran.text());
    }
}

/// Two branches that both record versions merge without a conflict after `init`, what stood in the
/// file stays, and whoever said how the lock is merged is not overruled.
#[test]
fn git_is_told_how_the_lock_is_merged() {
    let user = ACME.replace("NAME", "user");
    for (before, after) in [
        (None, "abide.lock merge=union\n"),
        (Some("*.bin binary"), "*.bin binary\nabide.lock merge=union\n"),
        (Some("*.bin binary\r\n"), "*.bin binary\r\nabide.lock merge=union\n"),
        (Some("abide.lock -merge\n"), "abide.lock -merge\n"),
    ] {
        let folder = TempDir::new().unwrap();
        put(folder.path(), &[("acme/user/v1/user.proto", &user)]);
        git(folder.path(), &["init", "--quiet", "-b", "main"]);
        if let Some(before) = before {
            put(folder.path(), &[(".gitattributes", before)]);
        }
        let ran = abide(folder.path(), &["init"]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let text = fs::read_to_string(folder.path().join(".gitattributes")).unwrap();
        assert_eq!(text, after);
        let is_written = before.is_none_or(|it| it != after);
        assert_eq!(ran.text().contains("git merges what two branches record"), is_written);
    }
    // A folder that is in no repository has nothing to merge.
    let folder = TempDir::new().unwrap();
    put(folder.path(), &[("acme/user/v1/user.proto", &user)]);
    assert_eq!(abide(folder.path(), &["init"]).status, 0);
    assert!(!folder.path().join(".gitattributes").exists());
}
