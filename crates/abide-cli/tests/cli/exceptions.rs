//! Exceptions are for what was agreed: an accepted break or a waiver does not hide the next one, and
//! every report counts what it leaves out.

use std::path::Path;

use tempfile::TempDir;

use crate::breaking::{commit, git};
use crate::run::{Ran, abide, put};
use crate::stories::ok;

const USER: &str = "acme/user/v1/user.proto";

fn file(rest: &str) -> String {
    format!("syntax = \"proto3\";\npackage acme.user.v1;\n{rest}")
}

fn user(fields: &str) -> String {
    file(&format!("message User {{\n  string name = 1;\n{fields}}}\n"))
}

fn repository(config: &str, text: &str) -> TempDir {
    let tree = TempDir::new().unwrap();
    put(tree.path(), &[("abide.toml", config), (USER, text)]);
    commit(tree.path());
    git(tree.path(), &["branch", "--move", "main"]);
    git(tree.path(), &["tag", "v1"]);
    tree
}

fn committed(folder: &Path) {
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--allow-empty", "--message", "next"]);
}

fn rules(ran: &Ran) -> Vec<String> {
    ran.rules()
}

fn check(folder: &Path) -> Ran {
    abide(folder, &["check", "--format", "json"])
}

#[test]
fn an_accepted_removal_does_not_hide_the_next_one_of_its_name() {
    let (r, q) = ("message R {}\n", "message Q {\n  int32 a = 1;\n}\n");
    let service = |methods: &str| {
        file(&format!("{r}{q}service S {{\n  rpc Keep(R) returns (R);\n{methods}}}\n"))
    };
    let field = |ty: &str| user(&format!("  {ty} mail = 2;\n"));
    let cases = [
        (
            "method-removed",
            service("  rpc G(R) returns (R);\n"),
            service("  rpc G(Q) returns (stream Q);\n"),
            service(""),
        ),
        (
            "service-removed",
            file(&format!("{r}{q}service S {{\n  rpc G(R) returns (R);\n}}\n")),
            file(&format!("{r}{q}service S {{\n  rpc G(R) returns (Q);\n}}\n")),
            file(&format!("{r}{q}")),
        ),
        (
            "message-removed",
            file("message Keep {}\nmessage M {\n  string a = 1;\n}\n"),
            file("message Keep {}\nmessage M {\n  string a = 1;\n  string b = 2;\n}\n"),
            file("message Keep {}\n"),
        ),
        (
            "enum-removed",
            file("message Keep {}\nenum E {\n  E_UNSPECIFIED = 0;\n}\n"),
            file("message Keep {}\nenum E {\n  E_UNSPECIFIED = 0;\n  E_ONE = 1;\n}\n"),
            file("message Keep {}\n"),
        ),
        ("field-removed", field("string"), field("int64"), user("")),
        (
            "oneof-removed",
            user("  oneof o {\n    string a = 2;\n    string b = 3;\n  }\n"),
            user("  oneof o {\n    string a = 2;\n    string c = 4;\n  }\n"),
            user("  string a = 2;\n"),
        ),
        (
            "field-cardinality-changed",
            user("  string a = 2;\n"),
            user("  string a = 2;\n"),
            user("  map<string, string> a = 2;\n"),
        ),
    ];
    for (rule, before, other, after) in cases {
        let tree = repository("against = \"git:main\"\n", &before);
        let folder = tree.path();
        put(folder, &[(USER, &after)]);
        assert!(rules(&check(folder)).contains(&rule.to_owned()), "{rule}");
        ok(folder, &["check", "--accept"]);
        assert!(!rules(&check(folder)).contains(&rule.to_owned()), "{rule}");
        committed(folder);
        put(folder, &[(USER, &other)]);
        committed(folder);
        let after = match rule {
            "field-cardinality-changed" => user("  map<string, bytes> a = 2;\n"),
            _ => after,
        };
        put(folder, &[(USER, &after)]);
        let ran = check(folder);
        assert!(rules(&ran).contains(&rule.to_owned()), "{rule}: {}", ran.text());
        assert!(ran.text().contains("is another one now"), "{rule}: {}", ran.text());
    }
}

#[test]
fn an_accepted_removal_of_a_file_or_package_is_of_its_content() {
    let other = "acme/user/v1/other.proto";
    let gone = "acme/gone/v1/gone.proto";
    let text = |package: &str, fields: &str| {
        format!("syntax = \"proto3\";\npackage {package};\nmessage Other {{\n{fields}}}\n")
    };
    for (path, package, rule) in
        [(other, "acme.user.v1", "file-removed"), (gone, "acme.gone.v1", "package-removed")]
    {
        let tree = TempDir::new().unwrap();
        let folder = tree.path();
        put(folder, &[("abide.toml", "against = \"git:main\"\n"), (USER, &user(""))]);
        put(folder, &[(path, &text(package, ""))]);
        commit(folder);
        git(folder, &["branch", "--move", "main"]);
        std::fs::remove_file(folder.join(path)).unwrap();
        ok(folder, &["check", "--accept"]);
        assert_eq!(check(folder).status, 0, "{rule}");
        put(folder, &[(path, &text(package, "  string a = 1;\n"))]);
        committed(folder);
        std::fs::remove_file(folder.join(path)).unwrap();
        assert!(rules(&check(folder)).contains(&rule.to_owned()), "{rule}");
    }
}

#[test]
fn a_removal_without_reserving_is_not_the_one_that_reserves() {
    let tree = repository("against = \"git:main\"\n", &user("  string mail = 2;\n"));
    let folder = tree.path();
    put(folder, &[(USER, &user("  reserved 2;\n  reserved \"mail\";\n"))]);
    ok(folder, &["check", "--accept"]);
    put(folder, &[(USER, &user(""))]);
    assert_eq!(rules(&check(folder))[0], "field-removed");
}

/// A waiver above a field whose type changed.
fn waived(what: &str, ty: &str) -> String {
    user(&format!("  // abide:allow({what}): agreed with all users\n  {ty} mail = 2;\n"))
}

#[test]
fn a_waiver_can_name_its_change() {
    let config = "against = \"git:main\"\nbump-against = \"git:v1\"\n";
    let tree = repository(config, &user("  string mail = 2;\n"));
    let folder = tree.path();
    let named = "field-type-changed, from = \"string\", to = \"bytes\"";
    put(folder, &[(USER, &waived(named, "bytes"))]);
    let ran = check(folder);
    assert_eq!((ran.status, rules(&ran).len()), (0, 0), "{}", ran.text());
    // Merged: it still counts for the bump, and allows nothing else.
    committed(folder);
    assert_eq!(rules(&check(folder)).len(), 0);
    put(folder, &[(USER, &waived(named, "int32"))]);
    let ran = check(folder);
    assert_eq!(ran.status, 1, "{}", ran.text());
    assert!(rules(&ran).contains(&"field-type-changed".to_owned()));
    // Each key alone, with the last day, and by its fingerprint.
    for named in [
        "field-type-changed, to = \"int32\"",
        "field-type-changed, from = \"bytes\", until = \"2099-01-01\"",
    ] {
        put(folder, &[(USER, &waived(named, "int32"))]);
        assert_eq!(check(folder).status, 0, "{named}");
    }
    put(folder, &[(USER, &user("  int32 mail = 2;\n"))]);
    let lines = check(folder).json();
    let fingerprint = lines[0]["fingerprint"].as_str().unwrap();
    let named = format!("field-type-changed, fingerprint = \"{fingerprint}\"");
    put(folder, &[(USER, &waived(&named, "int32"))]);
    assert_eq!(check(folder).status, 0, "{named}");
    // What cannot be read is said.
    for wrong in [
        "field-type-changed, form = \"a\"",
        "field-type-changed, to = int32",
        "field-type-changed, fingerprint = \"1\"",
    ] {
        put(folder, &[(USER, &waived(wrong, "int32"))]);
        assert!(rules(&check(folder)).contains(&"waiver-invalid".to_owned()), "{wrong}");
    }
}

#[test]
fn a_waiver_whose_change_is_merged_is_said_to_be_unused() {
    for config in
        ["against = \"git:main\"\n", "against = \"git:main\"\nbump-against = \"git:v1\"\n"]
    {
        let tree = repository(config, &user("  string mail = 2;\n"));
        let folder = tree.path();
        put(folder, &[(USER, &waived("field-type-changed", "bytes"))]);
        assert_eq!(rules(&check(folder)).len(), 0);
        committed(folder);
        let ran = check(folder);
        assert_eq!(rules(&ran), ["waiver-unused"], "{}", ran.text());
    }
}

#[test]
fn every_report_counts_what_is_waived_and_accepted() {
    let tree =
        repository("against = \"git:main\"\n", &user("  string mail = 2;\n  string nick = 3;\n"));
    let folder = tree.path();
    let changed =
        "  // abide:allow(field-type-changed): agreed\n  bytes mail = 2;\n  bytes nick = 3;\n";
    put(folder, &[(USER, &user(changed))]);
    ok(folder, &["check", "--accept"]);
    let formats = [
        ("human", "1 waived, 1 accepted"),
        ("json", "\"waived\":1,\"accepted\":1"),
        ("sarif", "\"waived\":1,\"accepted\":1"),
        ("junit", "1 waived finding"),
        ("github", "1 waived finding and 1 accepted finding are not shown"),
        ("gitlab", "1 waived finding and 1 accepted finding are not shown"),
        ("markdown", "1 waived finding and 1 accepted finding are not shown"),
        ("comment", "1 waived, 1 accepted"),
        ("html", "1 waived, 1 accepted"),
    ];
    for command in ["check", "breaking"] {
        for (format, words) in formats {
            let ran = abide(folder, &[command, "--format", format]);
            assert!(ran.text().contains(words), "{command} {format}: {}", ran.text());
            assert!(!ran.text().contains("Nothing changed"), "{command} {format}");
        }
    }
}

/// A tree with findings of one rule: one that a comment waives, one of a `[[waiver]]`, one of a
/// comment of buf, and one that is accepted.
fn exempted() -> TempDir {
    let config = "[rules]\nfield-name-case = \"warning\"\n[[waiver]]\nrule = \"field-name-case\"\n\
                  element = \"acme.user.v1.User.fooBar\"\nreason = \"spelled by the partner\"\n";
    let fields = "  // abide:allow(field-name-case): old clients\n  string badName = 2;\n  \
                  string fooBar = 3;\n  // buf:lint:ignore FIELD_LOWER_SNAKE_CASE\n  \
                  string bazQux = 4;\n  string lastOne = 5;\n";
    let tree = TempDir::new().unwrap();
    put(tree.path(), &[("abide.toml", config), (USER, &user(fields))]);
    ok(tree.path(), &["check", "--accept"]);
    tree
}

#[test]
fn waived_findings_are_shown_where_they_are_asked_for() {
    let tree = exempted();
    let expected = [
        ("badName", "waiver", "old clients"),
        ("fooBar", "waiver", "spelled by the partner"),
        ("bazQux", "waiver", "buf:lint:ignore FIELD_LOWER_SNAKE_CASE"),
        ("lastOne", "accepted", "it is recorded in `abide.accepted`"),
    ];
    for command in ["check", "lint"] {
        let ran = abide(tree.path(), &[command, "--waived", "--format", "json"]);
        let lines = ran.json();
        let shown: Vec<_> = lines.iter().filter(|it| it["kind"] == "waived").collect();
        assert_eq!((ran.status, shown.len()), (0, expected.len()), "{}", ran.text());
        for (line, (field, by, reason)) in shown.iter().zip(expected) {
            assert_eq!(line["element"], format!("acme.user.v1.User.{field}"));
            assert_eq!((&line["by"], &line["reason"]), (&by.into(), &reason.into()));
            assert_eq!(line["severity"], "warning", "its severity is that of the policy");
        }
        let human = abide(tree.path(), &[command, "--waived"]);
        for (_, _, reason) in expected {
            assert!(human.text().contains(reason), "{}", human.text());
        }
        let silent = abide(tree.path(), &[command, "--format", "json"]);
        assert!(!silent.text().contains("\"waived\",\"rule\""), "{}", silent.text());
    }
    let ran = abide(tree.path(), &["check", "--waived", "--format", "html"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("`--waived` has no format `html`"), "{}", ran.stderr);
}

#[test]
fn sarif_suppresses_what_is_waived_or_accepted() {
    let tree = exempted();
    let ran = abide(tree.path(), &["check", "--format", "sarif"]);
    let log: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let kinds: Vec<_> = results.iter().map(|it| &it["suppressions"][0]["kind"]).collect();
    assert_eq!(kinds, ["inSource", "external", "inSource", "external"]);
    assert!(results.iter().all(|it| it["suppressions"][0]["justification"].is_string()));
}

#[test]
fn ignored_rules_are_left_out_and_count_nowhere() {
    let tree = exempted();
    let ignored = ["check", "--ignore", "field-name-case", "--format", "json"];
    let summary = abide(tree.path(), &ignored).json().pop().unwrap();
    assert_eq!((&summary["waived"], &summary["accepted"]), (&0.into(), &0.into()));
    // It wins over what is selected, and takes names of groups and other tools.
    put(tree.path(), &[("abide.accepted", "")]);
    for name in ["buf:FIELD_LOWER_SNAKE_CASE", "style", "import-unused"] {
        let ran = abide(tree.path(), &["lint", "--select", "field-name-case", "--ignore", name]);
        let is_left_out = !ran.text().contains("lastOne");
        assert_eq!(is_left_out, name != "import-unused", "{name}: {}", ran.text());
    }
    let ran = abide(tree.path(), &["lint", "--ignore", "field-name-cas"]);
    assert!(ran.status == 2 && ran.stderr.contains("field-name-case"), "{}", ran.stderr);
}
