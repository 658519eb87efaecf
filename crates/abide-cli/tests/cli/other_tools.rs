//! `abide init --from` with the files of protolock and api-linter.

use tempfile::TempDir;

use crate::run::{abide, put};

const LOCK: &str = "{\"definitions\": [{\"protopath\": \"a.proto\", \"def\": {}}]}\n";

fn taken_over(name: &str, text: &str, files: &[(&str, &str)]) -> (TempDir, String, String) {
    let folder = TempDir::new().unwrap();
    put(folder.path(), files);
    put(folder.path(), &[(name, text)]);
    let ran = abide(folder.path(), &["init", "--from", name]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let config = std::fs::read_to_string(folder.path().join("abide.toml")).unwrap();
    (folder, config, ran.stderr)
}

fn file(body: &str) -> String {
    format!("syntax = \"proto3\";\npackage acme.a;\n{body}\n")
}

#[test]
fn what_protolock_refuses_is_refused() {
    let service = "message M {}\nmessage N {}\nservice S { ";
    let method = |it: &str| format!("{service}{it} }}");
    for (rule, old, new) in [
        (
            "NoUsingReservedFields",
            "message M { reserved 1; }".to_owned(),
            "message M { string a = 1; }".to_owned(),
        ),
        (
            "NoRemovingReservedFields",
            "message M { reserved 1; reserved \"a\"; }".to_owned(),
            "message M {}".to_owned(),
        ),
        (
            "NoRemovingFieldsWithoutReserve",
            "message M { string a = 1; }".to_owned(),
            "message M {}".to_owned(),
        ),
        (
            "NoChangingFieldIDs",
            "message M { string a = 1; }".to_owned(),
            "message M { string a = 2; }".to_owned(),
        ),
        (
            "NoChangingFieldTypes",
            "message M { string a = 1; }".to_owned(),
            "message M { int32 a = 1; }".to_owned(),
        ),
        (
            "NoChangingFieldNames",
            "message M { string a = 1; }".to_owned(),
            "message M { string b = 1; }".to_owned(),
        ),
        (
            "NoRemovingRPCs",
            method("rpc A(M) returns (M); rpc B(M) returns (M);"),
            method("rpc A(M) returns (M);"),
        ),
        (
            "NoChangingRPCSignature",
            method("rpc A(M) returns (M);"),
            method("rpc A(M) returns (stream M);"),
        ),
        (
            "NoMovingExistingFieldsIntoOrOutOfOneof",
            "message M { string a = 1; string b = 2; oneof o { string c = 3; } }".to_owned(),
            "message M { string b = 2; oneof o { string a = 1; string c = 3; } }".to_owned(),
        ),
    ] {
        let path = "proto/acme/a/a.proto";
        let (folder, config, _) = taken_over("proto.lock", LOCK, &[(path, &file(&new))]);
        assert!(config.contains("roots = [\"proto\"]"), "{config}");
        put(folder.path(), &[("old/proto/acme/a/a.proto", &file(&old))]);
        let args = ["check", "-q", "--against", "old", "--format", "json"];
        let ran = abide(folder.path(), &args);
        assert_eq!(ran.status, 1, "{rule}: {}{}", ran.text(), ran.stderr);
        let wanted = format!("protolock:{rule}");
        for finding in ran.json().iter().filter(|it| it["severity"] == "error") {
            let aliases = finding["aliases"].as_array().cloned().unwrap_or_default();
            assert!(aliases.iter().any(|it| *it == wanted), "{rule}: {}", ran.text());
        }
        // What protolock does not judge is no error here.
        put(folder.path(), &[(path, &file(&format!("option java_package = \"x\";\n{old}")))]);
        assert_eq!(abide(folder.path(), &args).status, 0, "{rule}: {}", ran.text());
    }
}

#[test]
fn a_lock_is_not_read_as_an_old_tree() {
    let (_, config, said) = taken_over("proto.lock", LOCK, &[("a.proto", &file(""))]);
    assert!(said.contains("the lock of 1 file is not read"), "{said}");
    assert!(config.contains("# Converted from proto.lock."), "{config}");
    assert!(config.contains("preset = \"standard\""), "{config}");
}

#[test]
fn rules_of_api_linter_are_on_and_off_where_they_were() {
    let config = "- included_paths: ['proto/acme/a/**/*.proto']\n  disabled_rules:\n    - core::0140::lower-snake\n    \
                  - cloud::9999::no-such-rule\n- included_paths: ['**/*.proto']\n  enabled_rules: [core::0126]\n\
                  - included_paths: ['proto/*.proto']\n  disabled_rules: [core::9998]\n";
    let files = [("proto/acme/a/a.proto", "syntax = \"proto3\";\npackage acme.a;\n")];
    let (folder, text, said) = taken_over(".api-linter.yaml", config, &files);
    assert!(text.contains("preset = \"google\""), "{text}");
    assert!(text.contains("[rules]\n\"api-linter\" = \"error\"\n"), "{text}");
    let part = "files = [\"proto/acme/a\"]\nrules = { \"api-linter:core::0140::lower-snake\" = \"off\" }\n";
    assert!(text.contains(part), "{text}");
    assert!(
        text.contains("[[override]]\nrules = { \"api-linter:core::0126\" = \"error\" }\n"),
        "{text}"
    );
    for dropped in
        ["line 4: `cloud::9999::no-such-rule`", "line 7: `proto/*.proto`", "line 8: `core::9998`"]
    {
        assert!(said.contains(dropped), "{dropped}: {said}");
    }
    assert_ne!(abide(folder.path(), &["check", "-q"]).status, 2);
    let json =
        "[{\"included_paths\": [\"proto/**\"], \"disabled_rules\": [\"core::0140\", \"all\"]}]";
    let (_, text, _) = taken_over("api-linter.json", json, &files);
    assert!(text.contains("files = [\"proto\"]\nrules = { \"api-linter\" = \"off\", \"api-linter:core::0140\" = \"off\" }"), "{text}");
}

#[test]
fn what_no_path_can_be_said_for_holds_nowhere() {
    let config = "- included_paths: ['zzz/*_test.proto']\n  disabled_rules: ['core']\n- included_paths: \
                  ['a/**/*.proto']\n  enabled_rules: ['core::0140']\n  disabled_rules: ['core::0140']\n";
    let (folder, text, said) = taken_over(".api-linter.yaml", config, &[]);
    assert_eq!(text.matches("[[override]]").count(), 1, "{text}");
    assert!(text.contains("rules = { \"api-linter:core::0140\" = \"off\" }"), "{text}");
    assert!(said.contains("`zzz/*_test.proto` was dropped"), "{said}");
    let ran = crate::run::abide(folder.path(), &["rules"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
}
