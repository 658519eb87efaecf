//! What is said of candidates, which nobody may edit.

use std::path::Path;

use super::upgrade::{DAY, ok, read, refused, tree};
use crate::run::{abide, put};

const USER: &str = "acme/user/v1/user.proto";
const USER_NEXT: &str = "acme/user/v2alpha/user.proto";

/// What `abide check` reports: severity, rule and path.
fn found(folder: &Path) -> Vec<String> {
    let ran = abide(folder, &["check", "--format", "json", "--as-of", DAY]);
    let findings = ran.json().into_iter().filter(|it| it["kind"] == "finding");
    let word = |it: &serde_json::Value| it.as_str().unwrap_or_default().to_owned();
    findings
        .map(|it| format!("{} {} {}", word(&it["severity"]), word(&it["rule"]), word(&it["path"])))
        .collect()
}

/// A file of a package with a status.
fn file(package: &str, status: &str, rest: &str) -> String {
    format!(
        "syntax = \"proto3\";\n\npackage {package};\n\nimport \"abide/annotations/v1/status.proto\";\n\
         \noption (abide.annotations.v1.file_policy).package_version_status = \
         PACKAGE_VERSION_STATUS_{status};\n\n{rest}"
    )
}

#[test]
fn a_finding_of_a_source_is_not_repeated_at_its_candidate() {
    let text = "syntax = \"proto3\";\n\npackage acme.user.v1;\n\nimport \
                \"google/protobuf/any.proto\";\n\nmessage bad_name {\n  string Old = 1 [deprecated = \
                true];\n  string camelCase = 2;\n  // abide:allow(field-name-case): it is an old \
                name\n  string otherCase = 3;\n}\n\nenum Kind {\n  KIND_UNSPECIFIED = 0 [deprecated \
                = true];\n  KIND_ONE = 1;\n}\n";
    let tree = tree("rules.style = \"warning\"\n", &[(USER, text)]);
    let before = found(tree.path());
    assert!(before.len() > 3, "{before:?}");
    ok(tree.path(), &["upgrade", "--write", "--as-of", DAY]);
    assert!(read(tree.path(), USER_NEXT).contains("camelCase"));
    let notes = |it: &String| it.starts_with("note conversion-missing");
    let mut after = found(tree.path());
    after.retain(|it| !notes(it));
    assert_eq!(after, before);

    // What only the candidate has is reported there.
    let added = "\nmessage other_name {\n  option \
                 (abide.annotations.v1.message_policy).next_major_only = true;\n}\n";
    let made = read(tree.path(), USER_NEXT).replace(
        "package acme.user.v2alpha;\n",
        "package acme.user.v2alpha;\n\nimport \"abide/annotations/v1/lifecycle.proto\";\n",
    );
    put(tree.path(), &[(USER_NEXT, &(made + added))]);
    let mut after = found(tree.path());
    after.retain(|it| !before.contains(it) && !notes(it));
    assert_eq!(after, [format!("warning type-name-case {USER_NEXT}")]);
}

#[test]
fn an_import_that_only_removed_elements_used_is_no_finding_in_a_candidate() {
    let text = "syntax = \"proto3\";\n\npackage acme.user.v1;\n\nimport \
                \"google/protobuf/any.proto\";\n\nmessage User {\n  // Use `name`.\n  \
                google.protobuf.Any any = 1 [deprecated = true];\n  string name = 2;\n}\n";
    for preset in ["standard", "envoy"] {
        let config = format!("preset = \"{preset}\"\nupgrade.majors = {{}}\n");
        let tree = tree(&config, &[(USER, text)]);
        ok(tree.path(), &["upgrade", "--write", "--as-of", DAY]);
        let unused = |it: &String| it.contains("import-unused");
        assert_eq!(found(tree.path()).into_iter().filter(unused).count(), 0, "{preset}");
    }
}

/// With `closure = "type"`, a candidate uses the next version of a package that it also reaches in the
/// active one, through a package of which no type changes.
#[test]
fn a_candidate_by_types_is_taken_by_a_check() {
    let policy = "(abide.annotations.v1.field_policy)";
    let core = format!(
        "message X {{\n  string name = 1;\n  string old = 2 [deprecated = true, \
         {policy}.deprecated_at = \"2026-01-01\", {policy}.replaced_by = \"name\"];\n}}\n"
    );
    let core = file("envoy.core.v3", "ACTIVE", &core)
        .replace("import", "import \"abide/annotations/v1/lifecycle.proto\";\nimport");
    let other = file("envoy.core.v3", "ACTIVE", "message Y {\n  string id = 1;\n}\n");
    let middle = file("envoy.mid.v3", "ACTIVE", "message Mid {\n  envoy.core.v3.Y y = 1;\n}\n")
        .replace("import", "import \"envoy/core/v3/b.proto\";\nimport");
    let edge = "message Edge {\n  envoy.core.v3.X x = 1;\n  envoy.mid.v3.Mid mid = 2;\n}\n";
    let edge = file("envoy.edge.v3", "ACTIVE", edge).replace(
        "import",
        "import \"envoy/core/v3/a.proto\";\nimport \"envoy/mid/v3/a.proto\";\nimport",
    );
    let files = [
        ("envoy/core/v3/a.proto", &*core),
        ("envoy/core/v3/b.proto", &other),
        ("envoy/mid/v3/a.proto", &middle),
        ("envoy/edge/v3/a.proto", &edge),
    ];
    let tree = tree("preset = \"envoy\"\n", &files);
    ok(tree.path(), &["bump", "--write", "--as-of", DAY]);
    ok(tree.path(), &["check", "--as-of", DAY]);
    ok(tree.path(), &["upgrade", "--write", "--as-of", DAY]);
    ok(tree.path(), &["bump", "--write", "--as-of", DAY]);
    let ran = ok(tree.path(), &["check", "--as-of", DAY]);
    assert!(ran.text().contains("warning[one-definition]"), "{}", ran.text());
    assert_eq!(found(tree.path()), ["warning one-definition envoy/edge/v4alpha/a.proto"]);

    // A release takes the package between them along.
    let ran = ok(tree.path(), &["release", "--write", "--outside-window", "--as-of", DAY]);
    assert!(ran.stderr.contains("`envoy.mid.v3` becomes `envoy.mid.v4`"), "{}", ran.stderr);
    let diamonds = |it: &String| it.contains("one-definition");
    assert_eq!(found(tree.path()).into_iter().filter(diamonds).count(), 0);
}

#[test]
fn a_release_names_a_candidate_that_no_upgrade_made() {
    let message = "message User {\n  string name = 1;\n}\n";
    let files = [
        (USER, &*file("acme.user.v1", "ACTIVE", message)),
        (USER_NEXT, &*file("acme.user.v2alpha", "NEXT_MAJOR_VERSION_CANDIDATE", message)),
    ];
    let tree = tree("", &files);
    let said = "error: `acme/user/v2alpha/user.proto` is not released: it is a candidate, but nothing \
                in `acme/user/v1/user.proto` requires one: if people maintain this package, set \
                `by_hand = true` in its `file_policy`, or name it in `by-hand` of [upgrade]; or \
                delete it\n";
    for target in ["--check", "--write", "--diff"] {
        assert_eq!(refused(tree.path(), &["release", target, "--as-of", DAY]), said, "{target}");
    }
    assert!(read(tree.path(), USER_NEXT).contains("v2alpha"));

    // The advice, obeyed.
    put(
        tree.path(),
        &[(
            "abide.toml",
            &(read(tree.path(), "abide.toml") + "upgrade.by-hand = [\"acme.user.*\"]\n"),
        )],
    );
    let ran = ok(tree.path(), &["release", "--write", "--as-of", DAY]);
    assert!(ran.stderr.contains("1 file released"), "{}", ran.stderr);
    assert!(read(tree.path(), "acme/user/v2/user.proto").contains("package acme.user.v2;"));
}
