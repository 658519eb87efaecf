//! What changed between two files with instances.

use std::path::Path;

use serde_json::json;

use crate::run::{Ran, abide, put};

/// A part of an API under the names that costs are known of.
const API: &[(&str, &str)] = &[
    (
        "api/envoy/config/bootstrap/v3/bootstrap.proto",
        "syntax = \"proto3\";
package envoy.config.bootstrap.v3;
import \"envoy/config/cluster/v3/cluster.proto\";
message Bootstrap {
  message StaticResources { repeated envoy.config.cluster.v3.Cluster clusters = 1; }
  StaticResources static_resources = 1;
  string flags_path = 2;
}
",
    ),
    (
        "api/envoy/config/cluster/v3/cluster.proto",
        "syntax = \"proto3\";
package envoy.config.cluster.v3;
import \"google/protobuf/duration.proto\";
message Cluster { string name = 1; google.protobuf.Duration connect_timeout = 2; }
",
    ),
    (
        "api/acme/v1/user.proto",
        "syntax = \"proto3\"; package acme.v1; message User { string n = 1; }",
    ),
];

const OLD: &str = "static_resources:
  clusters:
  - name: a
    connect_timeout: 1s
  - name: b
";
const NEW: &str = "# A comment.
flags_path: /flags
static_resources:
  clusters:
  - name: b
  - name: a
    connect_timeout: 2s
";

fn run(files: &[(&str, &str)], args: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), API);
    put(folder.path(), files);
    let at: &Path = folder.path();
    abide(at, &[&["config", "diff", "--api", "api"], args].concat())
}

const BOTH: &[(&str, &str)] = &[("old.yaml", OLD), ("new.yaml", NEW)];

#[test]
fn each_change_has_its_places_and_its_cost() {
    let ran = run(BOTH, &["old.yaml", "new.yaml"]);
    let expected = "\
static_resources.clusters[\"a\"].connect_timeout changed: 1s to 2s
  old.yaml:4:22, new.yaml:7:22
  needs a hot restart; by CDS it warms the cluster again
static_resources.clusters reordered
  old.yaml:2:3, new.yaml:4:3
  changes nothing
flags_path added
  new.yaml:2:1
  needs a hot restart

3 changes; 2 of them need a hot restart
";
    assert_eq!((ran.status, &*ran.text(), &*ran.stderr), (0, expected, ""));
}

#[test]
fn programs_get_the_same() {
    let ran = run(BOTH, &["old.yaml", "new.yaml", "--format", "json"]);
    let lines = ran.json();
    let expected = json!({
        "kind": "change",
        "change": "changed",
        "path": "static_resources.clusters[\"a\"].connect_timeout",
        "element": "envoy.config.cluster.v3.Cluster.connect_timeout",
        "old": {
            "path": "old.yaml",
            "start": {"line": 4, "column": 22},
            "end": {"line": 4, "column": 24},
            "text": "1s",
        },
        "new": {
            "path": "new.yaml",
            "start": {"line": 7, "column": 22},
            "end": {"line": 7, "column": 24},
            "text": "2s",
        },
        "cost": "hot-restart",
        "services": [{"service": "CDS", "cost": "warms-cluster"}],
    });
    assert_eq!(lines[0], expected);
    assert_eq!(lines[3], json!({"kind": "summary", "changes": 3, "cost": "hot-restart"}));
    let ran = run(BOTH, &["old.yaml", "new.yaml", "--format", "markdown"]);
    let row = "| changed `static_resources.clusters[\"a\"].connect_timeout` | `1s`<br>old.yaml:4:22 \
               | `2s`<br>new.yaml:7:22 | needs a hot restart; by CDS it warms the cluster again |\n";
    assert!(ran.text().contains(row), "{}", ran.text());
}

#[test]
fn notation_and_form_are_no_change() {
    let json = r#"{"static_resources": {"clusters": [{"name": "a", "connectTimeout": "1.0s"},
                  {"name": "b"}]}, "flagsPath": ""}"#;
    let ran = run(&[("old.yaml", OLD), ("new.json", json)], &["old.yaml", "new.json"]);
    assert_eq!((ran.status, &*ran.text()), (0, "no value changed\n"), "{}", ran.stderr);
    let ran = run(BOTH, &["old.yaml", "old.yaml"]);
    assert_eq!(&*ran.text(), "the files are the same\n");
}

#[test]
fn other_apis_have_differences_without_costs() {
    let files = [("a.txtpb", "n: 'a'"), ("b.txtpb", "n: 'b'")];
    let ran = run(&files, &["a.txtpb", "b.txtpb", "--type", "acme.v1.User"]);
    let expected = "n changed: 'a' to 'b'\n  a.txtpb:1:4, b.txtpb:1:4\n\n1 change\n";
    assert_eq!((ran.status, &*ran.text()), (0, expected), "{}", ran.stderr);
}

#[test]
fn what_cannot_be_compared_is_said() {
    let user = "# proto-message: acme.v1.User\nn: a\n";
    for (new, args, expected) in [
        (user, &[][..], "the old value is a `envoy.config.bootstrap.v3.Bootstrap` and the new one"),
        ("a: b\n", &[], "nothing in `new.yaml` says of which message it is"),
        ("a: [\n", &[], "new.yaml:"),
        (OLD, &["--type", "acme.v1.Usr"], "did you mean `acme.v1.User`?"),
    ] {
        let files = [("old.yaml", OLD), ("new.yaml", new)];
        let ran = run(&files, &[&["old.yaml", "new.yaml"], args].concat());
        assert_eq!(ran.status, 2, "{new}");
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
    let odd = format!("{OLD}  clusterz: x\n");
    let ran = run(&[("old.yaml", OLD), ("new.yaml", &odd)], &["old.yaml", "new.yaml"]);
    assert_eq!((ran.status, &*ran.text()), (0, "no value changed\n"));
    assert!(
        ran.stderr.contains("`new.yaml` has 1 part that the API does not take"),
        "{}",
        ran.stderr
    );
}

/// An API with a field that is marked as a secret.
const SECRETS: &[(&str, &str)] = &[
    (
        "api/udpa/annotations/sensitive.proto",
        "syntax = \"proto3\"; package udpa.annotations; import \"google/protobuf/descriptor.proto\";
extend google.protobuf.FieldOptions { bool sensitive = 76569463; }
",
    ),
    (
        "api/acme/v1/pair.proto",
        "syntax = \"proto3\"; package acme.v1; import \"udpa/annotations/sensitive.proto\";
message Pair { Source key = 1 [(udpa.annotations.sensitive) = true]; string name = 2; }
message Source { string inline = 1; }
",
    ),
];

#[test]
fn no_format_shows_a_secret() {
    let old = "# proto-message: acme.v1.Pair\nname: a\nkey: {inline: s3cr3t-old}\n";
    let new = "# proto-message: acme.v1.Pair\nname: b\nkey: {inline: s3cr3t-new}\n";
    let without = "# proto-message: acme.v1.Pair\nname: a\n";
    for format in ["human", "json", "markdown"] {
        for (old, new) in [(old, new), (without, new), (old, without)] {
            let files = [SECRETS, &[("old.yaml", old), ("new.yaml", new)]].concat();
            let ran = run(&files, &["old.yaml", "new.yaml", "--format", format]);
            let text = String::from_utf8(ran.stdout).unwrap();
            assert!(text.contains("key"), "{text}");
            assert!(!text.contains("s3cr3t"), "{text}");
            if format == "human" && old != without && new != without {
                assert!(text.contains("changed: [redacted] to [redacted]"), "{text}");
                assert!(text.contains("name changed: a to b"), "{text}");
            }
        }
    }
}

#[test]
fn no_snippet_of_a_check_shows_a_secret() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), SECRETS);
    let text = "# proto-message: acme.v1.Pair\nkey: {inline: s3cr3t, unknown: s3cr3t}\nother: 1\n";
    put(folder.path(), &[("pair.yaml", text)]);
    for format in ["human", "json", "markdown", "html", "sarif", "github"] {
        let args = ["config", "check", "pair.yaml", "--api", "api", "--format", format];
        let ran = abide(folder.path(), &args);
        let text = String::from_utf8(ran.stdout).unwrap();
        assert!(text.contains("unknown"), "{format}: {text}");
        assert!(!text.contains("s3cr3t"), "{format}: {text}");
    }
}
