//! What is said of candidates, which nobody may edit.

use super::upgrade::{DAY, ok, read, refused, tree};
use crate::run::put;

const USER: &str = "acme/user/v1/user.proto";
const USER_NEXT: &str = "acme/user/v2alpha/user.proto";

/// A file of a package with a status.
fn file(package: &str, status: &str, rest: &str) -> String {
    format!(
        "syntax = \"proto3\";\n\npackage {package};\n\nimport \"abide/annotations/v1/status.proto\";\n\
         \noption (abide.annotations.v1.file_policy).package_version_status = \
         PACKAGE_VERSION_STATUS_{status};\n\n{rest}"
    )
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
