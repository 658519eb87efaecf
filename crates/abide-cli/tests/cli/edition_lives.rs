//! Trees of editions go through an upgrade and a release: features, visibility, options of languages
//! and JSON names of enum values follow them into the next major version.

use std::path::Path;

use tempfile::TempDir;

use crate::run::{Ran, abide, repository};
use crate::strict_json::copy;

const DAY: &str = "2026-01-15";

/// The tree of an edition, in which `base` has deprecated elements and `user` uses it.
fn tree(edition: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    copy(&repository().join("testdata/trees/editions").join(edition), folder.path());
    folder
}

fn succeed(folder: &Path, args: &[&str]) -> Ran {
    let ran = abide(folder, args);
    assert_eq!(ran.status, 0, "{}: {} {}", args.join(" "), ran.text(), ran.stderr);
    ran
}

/// The tree has no finding, and nothing to format.
fn is_in_order(folder: &Path) {
    let ran = succeed(folder, &["check", "-q", "--format", "json", "--as-of", DAY]);
    assert_eq!(ran.rules(), [""; 0], "{}", ran.text());
    succeed(folder, &["format", "--check"]);
}

fn read(folder: &Path, path: &str) -> String {
    std::fs::read_to_string(folder.join(path)).unwrap()
}

#[test]
fn trees_of_editions_live_on() {
    for edition in ["2024", "2026"] {
        for closure in ["type", "package"] {
            let tree = tree(edition);
            let folder = tree.path();
            is_in_order(folder);
            succeed(folder, &["upgrade", "--write", "--closure", closure]);
            is_in_order(folder);
            succeed(folder, &["release", "--write", "--as-of", DAY]);
            is_in_order(folder);
            succeed(folder, &["bump", "--write", "--as-of", DAY]);
            is_in_order(folder);
            let again = succeed(folder, &["upgrade", "--write", "--closure", closure]);
            assert!(again.stderr.contains("no candidate is needed"), "{}", again.stderr);
        }
    }
}

#[test]
fn a_release_keeps_what_editions_say() {
    for (edition, kept) in [
        (
            "2024",
            &[
                "  default_symbol_visibility: LOCAL_ALL\n",
                "  [pb.cpp]: {string_type: STRING}\n",
                "option features.(pb.go).api_level = API_OPEN;\n",
                "export message Id {\n  option features.(pb.java).nest_in_file_class = YES;\n",
                "  Deep deep = 5 [features.message_encoding = DELIMITED];\n  local message Deep {",
                "    string a = 1 [features.field_presence = LEGACY_REQUIRED];\n",
                "  reserved gone_name, old, left;\n",
                "  option features.enum_type = CLOSED;\n",
            ][..],
        ),
        (
            "2026",
            &[
                "option (pb.file.cpp).namespace = \"acme::base::v2\";\n",
                "  option features.enforce_proto_limits = LEGACY_NO_EXPLICIT_LIMITS;\n",
                "  string has_text = 4 [features.enforce_naming_style = STYLE2024];\n",
                "  KIND_NEW = 2 [(pb.enumvalue.json).string = \"new\"];\n",
                "\nlocal message Inner {",
            ],
        ),
    ] {
        let tree = tree(edition);
        succeed(tree.path(), &["upgrade", "--write", "--closure", "type"]);
        succeed(tree.path(), &["release", "--write", "--as-of", DAY]);
        let text = read(tree.path(), "acme/base/v2/base.proto");
        for part in kept {
            assert!(text.contains(part), "{part}\n---\n{text}");
        }
        assert!(!text.contains("KIND_OLD = 1"), "{text}");
    }
}
