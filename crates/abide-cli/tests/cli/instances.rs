//! Instances with overrides, waivers and several releases; those that `abide.toml` names.

use std::path::Path;

use serde_json::Value;

use crate::run::{Ran, abide, put};

/// What Envoy's bootstrap says about runtime, an Any, and a type with old fields.
const BOOTSTRAP: &str = "syntax = \"proto3\";
package envoy.config.bootstrap.v3;
import \"abide/annotations/v1/lifecycle.proto\";
import \"google/protobuf/any.proto\";
import \"google/protobuf/struct.proto\";
message Bootstrap {
  message Layer {
    string name = 1;
    google.protobuf.Struct static_layer = 2;
    DiskLayer disk_layer = 3;
  }
  message DiskLayer {
    string symlink_root = 1;
    bool append_service_cluster = 2;
    string subdirectory = 3;
  }
  message LayeredRuntime { repeated Layer layers = 1; }
  LayeredRuntime layered_runtime = 1;
  google.protobuf.Any extra = 2;
  Filter direct = 3;
}
message Filter {
  string old = 1 [deprecated = true];
  string older = 2 [deprecated = true, (abide.annotations.v1.field_policy).disallowed_by_default = true];
  Mode mode = 3;
}
enum Mode {
  AUTO = 0 [deprecated = true];
  MANUAL = 1;
}
";

const PREFIX: &str = "envoy.deprecated_features:envoy.config.bootstrap.v3";

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), &[("api/envoy/config/bootstrap/v3/bootstrap.proto", BOOTSTRAP)]);
    let lifecycle = crate::run::repository().join("api/abide/annotations/v1/lifecycle.proto");
    let lifecycle = std::fs::read_to_string(lifecycle).unwrap();
    put(folder.path(), &[("imports/abide/annotations/v1/lifecycle.proto", &lifecycle)]);
    put(folder.path(), files);
    folder
}

fn check(folder: &Path, args: &[&str]) -> Ran {
    let mut all = vec!["config", "check", "--api", "api", "-I", "imports", "--format", "json"];
    all.extend(args);
    abide(folder, &all)
}

/// What was found: severity and rule, and the line.
#[track_caller]
fn found(ran: &Ran) -> Vec<String> {
    assert!(ran.status < 2, "{}", ran.stderr);
    let lines = ran.json();
    let findings = lines.iter().filter(|line| line["kind"] == "finding");
    let text = |it: &Value| {
        let word = |key: &str| it[key].as_str().unwrap_or_default().to_owned();
        format!("{} {}:{}", word("severity"), word("rule"), it["start"]["line"])
    };
    findings.map(text).collect()
}

/// A bootstrap with layers, in an Any the given fields, and outside of one the given fields.
fn bootstrap(layers: &str, extra: &str, direct: &str) -> String {
    let mut text = "# proto-message: envoy.config.bootstrap.v3.Bootstrap\n".to_owned();
    if !layers.is_empty() {
        text += &format!("layered_runtime: {{layers: [{layers}]}}\n");
    }
    if !direct.is_empty() {
        text += &format!("direct: {direct}\n");
    }
    if !extra.is_empty() {
        text += "extra:\n  \"@type\": type.googleapis.com/envoy.config.bootstrap.v3.Filter\n";
        text += &format!("  {extra}\n");
    }
    text
}

fn layer(name: &str, values: &str) -> String {
    format!("{{name: {name}, static_layer: {{{values}}}}}")
}

/// What an element in an Any is under a runtime: `refused`, `allowed`, or neither.
#[track_caller]
fn verdict(layers: &[String], extra: &str) -> &'static str {
    let folder = folder(&[("b.yaml", &bootstrap(&layers.join(", "), extra, ""))]);
    let found = found(&check(folder.path(), &["b.yaml"]));
    let has = |rule: &str| found.iter().any(|it| it.contains(rule));
    match (has("error disallowed"), has("warning deprecated")) {
        (true, false) => "refused",
        (false, true) => "allowed",
        _ => "neither",
    }
}

#[test]
fn runtime_decides_about_phases() {
    let (old, older) = ("{mode: MANUAL, old: x}", "{mode: MANUAL, older: x}");
    let (old, older) = (old.trim_matches(['{', '}']), older.trim_matches(['{', '}']));
    let (old, older) = (old.replace(", ", "\n  "), older.replace(", ", "\n  "));
    let key = format!("{PREFIX}.Filter.older");
    let old_key = format!("{PREFIX}.Filter.old");
    let all = "envoy.features.enable_all_deprecated_features";
    let fail = "envoy.features.fail_on_any_deprecated_feature";
    let one = |key: &str, value: &str| vec![layer("a", &format!("\"{key}\": {value}"))];
    let two = |key: &str, first: &str, second: &str| {
        let values = |value: &str| format!("\"{key}\": {value}");
        vec![layer("a", &values(first)), layer("b", &values(second))]
    };
    let cases: &[(&str, Vec<String>, &str, &str)] = &[
        ("phase 1", vec![], &old, "allowed"),
        ("phase 2", vec![], &older, "refused"),
        ("a key", one(&key, "true"), &older, "allowed"),
        ("a key with 1", one(&key, "1"), &older, "allowed"),
        ("a key with a number in quotes", one(&key, "\"1\""), &older, "allowed"),
        ("a key with a word in quotes", one(&key, "\"true\""), &older, "refused"),
        ("a key with a half", one(&key, "0.5"), &older, "refused"),
        ("a key with false", one(&old_key, "false"), &old, "refused"),
        ("all", one(all, "true"), &older, "allowed"),
        ("none", one(all, "false"), &old, "refused"),
        (
            "the singular",
            one("envoy.features.enable_all_deprecated_feature", "true"),
            &older,
            "refused",
        ),
        ("fail on any", one(fail, "true"), &old, "refused"),
        (
            "a key beats all",
            vec![layer("a", &format!("{all}: true, \"{key}\": false"))],
            &older,
            "refused",
        ),
        (
            "a key beats fail",
            vec![layer("a", &format!("{fail}: true, \"{old_key}\": true"))],
            &old,
            "allowed",
        ),
        (
            "all beats fail",
            vec![layer("a", &format!("{fail}: true, {all}: true"))],
            &old,
            "allowed",
        ),
        ("the later layer", two(&key, "false", "true"), &older, "allowed"),
        ("the later layer hides", two(&key, "true", "\"\""), &older, "refused"),
        ("another case", one(&key.to_uppercase(), "true"), &older, "refused"),
    ];
    for (name, layers, extra, expected) in cases {
        assert_eq!(verdict(layers, extra), *expected, "{name}");
    }
}

#[test]
fn outside_of_an_any_a_bootstrap_only_warns() {
    let direct = "{mode: MANUAL, older: x}";
    let layers = layer("a", "envoy.features.fail_on_any_deprecated_feature: true");
    let folder = folder(&[("b.yaml", &bootstrap(&layers, "", direct))]);
    let ran = check(folder.path(), &["b.yaml"]);
    assert_eq!(found(&ran), ["warning deprecated-field-used:3"]);
    assert_eq!(ran.status, 0);
    let why = ran.json()[0]["why"].as_str().unwrap().to_owned();
    assert!(why.contains("before runtime"), "{why}");
}

#[test]
fn the_default_of_an_enum_is_a_use() {
    let folder = folder(&[("b.yaml", &bootstrap("", "", "{}"))]);
    let ran = check(folder.path(), &["b.yaml"]);
    assert_eq!(found(&ran), ["warning deprecated-enum-value-used:2"]);
    let message = ran.json()[0]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("`mode` is not set, and its default"), "{message}");
}

#[test]
fn overrides_that_decide_are_shown_and_can_be_refused() {
    let key = format!("\"{PREFIX}.Filter.older\": true");
    let extra = "older: x\n  mode: MANUAL";
    let folder = folder(&[("b.yaml", &bootstrap(&layer("a", &key), extra, ""))]);
    let ran = check(folder.path(), &["b.yaml"]);
    assert_eq!(found(&ran), ["note override-used:2", "warning deprecated-field-used:5"]);
    assert_eq!(ran.status, 0);
    let ran = check(folder.path(), &["b.yaml", "--deny-overrides"]);
    assert_eq!(found(&ran), ["error override-used:2", "warning deprecated-field-used:5"]);
    assert_eq!(ran.status, 1);
}

#[test]
fn an_instance_of_the_previous_major_is_refused_unless_allowed() {
    let user = |major: u32| {
        format!(
            "syntax = \"proto3\";\npackage acme.user.v{major};\nmessage User {{ string name = 1; }}\n"
        )
    };
    let files = [
        ("api/acme/user/v1/user.proto", user(1)),
        ("api/acme/user/v2/user.proto", user(2)),
        ("a.yaml", "# proto-message: acme.user.v1.User\nname: ann\n".to_owned()),
    ];
    let folder = folder(&files.each_ref().map(|(name, text)| (*name, &**text)));
    let ran = check(folder.path(), &["a.yaml"]);
    assert_eq!((ran.status, found(&ran)), (1, vec!["error older-major-used:2".to_owned()]));
    let help = ran.json()[0]["help"].as_str().unwrap().to_owned();
    assert_eq!(
        help,
        "use `acme.user.v2.User`, or take the older one with `--allow-previous-major`"
    );
    let ran = check(folder.path(), &["a.yaml", "--allow-previous-major"]);
    assert_eq!((ran.status, found(&ran)), (0, vec!["warning older-major-used:2".to_owned()]));
    // What the configuration says is not raised by the flag.
    put(folder.path(), &[("abide.toml", "[rules]\nolder-major-used = \"note\"\n")]);
    let ran = check(folder.path(), &["a.yaml", "--allow-previous-major"]);
    assert_eq!((ran.status, found(&ran)), (0, vec!["note older-major-used:2".to_owned()]));
}

#[test]
fn layers_of_the_command_line_lie_on_top() {
    let key = format!("{PREFIX}.Filter.older");
    let files = [
        (
            "b.yaml",
            bootstrap(&layer("a", &format!("\"{key}\": true")), "older: x\n  mode: MANUAL", ""),
        ),
        ("above.yaml", format!("\"{key}\": false\n")),
        (&*format!("disk/{key}"), "true\n".to_owned()),
    ];
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let folder = folder(&files);
    let refused = check(folder.path(), &["b.yaml", "--runtime", "above.yaml"]);
    assert_eq!(found(&refused), ["error disallowed-field-used:5"]);
    let args = ["b.yaml", "--runtime", "above.yaml", "--runtime", "disk"];
    let allowed = check(folder.path(), &args);
    assert_eq!(found(&allowed), ["warning deprecated-field-used:5"]);
    let missing = check(folder.path(), &["b.yaml", "--runtime", "no.yaml"]);
    assert_eq!(missing.status, 2);
}

#[test]
fn layers_on_disk_are_read_where_the_bootstrap_says() {
    let key = format!("{PREFIX}.Filter.older");
    let extra = "older: x\n  mode: MANUAL";
    let folder = folder(&[
        (&format!("disk/current/envoy/{key}"), "true\n"),
        (&format!("image/no/such/current/envoy/{key}"), "true\n"),
        ("above.yaml", &format!("\"{key}\": false\n")),
    ]);
    let layer = |root: &str| {
        let disk = format!("{{symlink_root: {root}, subdirectory: envoy}}");
        bootstrap(&format!("{{name: d, disk_layer: {disk}}}"), extra, "")
    };
    let here = folder.path().join("disk/current").display().to_string();
    put(folder.path(), &[("here.yaml", &layer(&here)), ("there.yaml", &layer("/no/such/current"))]);
    put(folder.path(), &[("below.yaml", &layer("./disk/current"))]);
    let (allowed, refused) =
        (["warning deprecated-field-used:5"], ["error disallowed-field-used:5"]);
    for name in ["here.yaml", "below.yaml"] {
        let ran = check(folder.path(), &[name]);
        assert_eq!(found(&ran), allowed, "{name}");
        assert!(!ran.stderr.contains("note:"), "{}", ran.stderr);
    }
    let missing = check(folder.path(), &["there.yaml"]);
    assert_eq!(found(&missing), refused);
    let note = "`there.yaml` is judged without its runtime layer `d`: there is no folder \
                `/no/such/current/envoy`";
    assert!(missing.stderr.contains(note), "{}", missing.stderr);
    let copied = check(folder.path(), &["there.yaml", "--disk-root", "image"]);
    assert_eq!(found(&copied), allowed);
    let above = check(folder.path(), &["here.yaml", "--runtime", "above.yaml"]);
    assert_eq!(found(&above), refused);
    let above = check(folder.path(), &["there.yaml", "--runtime", "above.yaml"]);
    assert!(!above.stderr.contains("runtime layer"), "{}", above.stderr);
    assert_eq!(check(folder.path(), &["here.yaml", "--disk-root", "no"]).status, 2);
}

/// A bootstrap of the tree may name any folder of the machine that checks it.
#[test]
fn layers_of_a_bootstrap_that_the_tree_has_are_read_within_it() {
    let key = format!("{PREFIX}.Filter.older");
    let extra = "older: x\n  mode: MANUAL";
    let folder = folder(&[
        ("outside/envoy/other", "hunter2\n"),
        (&format!("tree/disk/envoy/{key}"), "true\n"),
    ]);
    let top = folder.path().join("tree");
    let outside = folder.path().join("outside").display().to_string();
    let layer = |root: &str, below: &str| {
        let disk = format!("{{symlink_root: {root}, subdirectory: {below}}}");
        bootstrap(&format!("{{name: d, disk_layer: {disk}}}"), extra, "")
    };
    let config = "[[instances]]\nfiles = [\"b.yaml\"]\napi = \"it\"\n[api.it]\nsource = \"../api\"\n\
                  import-paths = [\"../imports\"]\n";
    put(&top, &[("abide.toml", config), (".git/HEAD", ""), ("b.yaml", &layer("disk", "envoy"))]);
    let inside = abide(&top, &["config", "check"]);
    assert!(!inside.stderr.contains("runtime layer"), "{}", inside.stderr);
    std::os::unix::fs::symlink("../../outside", top.join("disk/linked")).unwrap();
    for (root, below) in [(&*outside, "envoy"), ("disk", "linked/envoy"), ("disk/linked", "envoy")]
    {
        put(&top, &[("b.yaml", &layer(root, below))]);
        let ran = abide(&top, &["config", "check"]);
        assert!(ran.stderr.contains("is judged without its runtime layer `d`"), "{}", ran.stderr);
        assert!(!(ran.text() + &ran.stderr).contains("hunter2"), "{}", ran.text());
    }
}

const USERS: &str = "syntax = \"proto3\";
package acme.user.v1;
message User {
  string name = 1;
  string nick = 2 [deprecated = true];
  repeated User friends = 3;
}
";

/// A folder with two releases of an API, configured.
fn releases(config: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let newer = USERS.replace("  string nick = 2 [deprecated = true];\n", "  reserved 2;\n");
    put(folder.path(), &[("v2/acme/user/v1/user.proto", &newer)]);
    put(folder.path(), &[("v1/acme/user/v1/user.proto", USERS)]);
    let apis = "[api.\"2.0\"]\nsource = \"v2\"\n[api.\"1.0\"]\nsource = \"v1\"\n";
    put(folder.path(), &[("abide.toml", &format!("{apis}{config}"))]);
    folder
}

#[test]
fn several_releases_share_their_findings() {
    let folder = releases("");
    let text = "# proto-message: acme.user.v1.User\nnick: x\nnmae: y\n";
    put(folder.path(), &[("u.yaml", text)]);
    let args =
        ["config", "check", "u.yaml", "--release", "1.0", "--release", "2.0", "--format", "json"];
    let ran = abide(folder.path(), &args);
    let expected =
        ["error unknown-field:3", "warning deprecated-field-used:2", "error unknown-field:2"];
    assert_eq!(found(&ran), expected);
    let lines = ran.json();
    assert_eq!(lines[0]["releases"], serde_json::json!(["1.0", "2.0"]));
    assert_eq!(lines[1]["releases"], serde_json::json!(["1.0"]));
    assert_eq!(lines[2]["releases"], serde_json::json!(["2.0"]));
    let why = lines[2]["why"].as_str().unwrap();
    assert!(why.contains("it is a field in 1.0, as `string`, deprecated"), "{why}");
    let ran = abide(folder.path(), &["config", "check", "u.yaml", "--release", "1.O"]);
    assert!(ran.stderr.contains("no API is named `1.O`; did you mean `1.0`?"), "{}", ran.stderr);
    assert_eq!(ran.status, 2);
}

#[test]
fn a_gone_field_is_explained_by_another_configured_release() {
    let folder = releases("");
    put(folder.path(), &[("u.yaml", "# proto-message: acme.user.v1.User\nnick: x\n")]);
    let args = ["config", "check", "u.yaml", "--release", "2.0", "--format", "json"];
    let why = abide(folder.path(), &args).json()[0]["why"].as_str().unwrap().to_owned();
    assert!(why.contains("it is a field in 1.0"), "{why}");
}

/// The discovery of endpoints had the name that the discovery of secrets has now.
#[test]
fn the_former_sds_endpoint_discovery_is_not_taken_for_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = "syntax = \"proto3\";
package envoy.config.cluster.v3;
message Cluster {
  enum DiscoveryType { STATIC = 0; EDS = 3; }
  message EdsClusterConfig { string eds_config = 1; }
  string name = 1;
  DiscoveryType type = 2;
  EdsClusterConfig eds_cluster_config = 3;
}
";
    let bootstrap = "syntax = \"proto3\";
package envoy.config.bootstrap.v3;
message Bootstrap {
  message DynamicResources { string cds_config = 2; }
  DynamicResources dynamic_resources = 3;
  ClusterManager cluster_manager = 4;
}
message ClusterManager { string local_cluster_name = 1; }
";
    put(folder.path(), &[("api/cluster.proto", cluster), ("api/bootstrap.proto", bootstrap)]);
    let old = "# proto-message: envoy.config.cluster.v3.Cluster
name: users
type: SDS
eds_cluster_config: {sds_config: x}
---
# proto-message: envoy.config.bootstrap.v3.Bootstrap
dynamic_resources: {sds_config: x}
cluster_manager: {sds: x}
";
    put(folder.path(), &[("old.yaml", old)]);
    let args = ["config", "check", "old.yaml", "--api", "api", "--format", "json"];
    let lines = abide(folder.path(), &args).json();
    let told: Vec<(&str, i64, &str)> = lines
        .iter()
        .filter(|it| it["kind"] == "finding")
        .map(|it| {
            let why = it["why"].as_str().unwrap();
            assert!(why.contains("EDS does, and SDS finds secrets"), "{why}");
            (
                it["rule"].as_str().unwrap(),
                it["start"]["line"].as_i64().unwrap(),
                it["help"].as_str().unwrap(),
            )
        })
        .collect();
    let each = "say in `eds_cluster_config` of each cluster where its endpoints are";
    let both = format!("{each}, and in `SdsSecretConfig` where a secret is");
    let expected = [
        ("unknown-enum-value", 3, "use `EDS`"),
        ("unknown-field", 4, "use `eds_config`"),
        ("unknown-field", 7, &both),
        ("unknown-field", 8, each),
    ];
    assert_eq!(told, expected, "{lines:?}");
    let new = "# proto-message: envoy.config.cluster.v3.Cluster
name: users
type: EDS
eds_cluster_config: {eds_config: x}
";
    put(folder.path(), &[("new.yaml", new)]);
    let ran = abide(folder.path(), &["config", "check", "new.yaml", "--api", "api"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
}

#[test]
fn check_judges_the_instances_of_the_configuration() {
    let config =
        "[[instances]]\nfiles = \"fixtures/*.yaml\"\ntype = \"acme.user.v1.User\"\napi = \"2.0\"\n";
    let folder = releases(&format!("roots = [\"v2\"]\n{config}"));
    // A key before the tables belongs to none of them.
    let text = std::fs::read_to_string(folder.path().join("abide.toml")).unwrap();
    let text = format!("roots = [\"v2\"]\n{}", text.replace("roots = [\"v2\"]\n", ""));
    put(folder.path(), &[("abide.toml", &text)]);
    put(folder.path(), &[("fixtures/a.yaml", "nmae: x\n"), ("fixtures/b.yaml", "name: x\n")]);
    put(folder.path(), &[("other/c.yaml", "nmae: x\n")]);
    for args in [&["check", "--format", "json"][..], &["config", "check", "--format", "json"]] {
        let ran = abide(folder.path(), args);
        let lines = ran.json();
        let of_instances: Vec<&Value> =
            lines.iter().filter(|it| it["rule"] == "unknown-field").collect();
        assert_eq!(of_instances.len(), 1, "{args:?} {lines:?}");
        assert_eq!(of_instances[0]["path"], "fixtures/a.yaml");
        assert_eq!(ran.status, 1);
    }
    // Every format serves them.
    for format in ["human", "sarif", "junit", "github", "gitlab", "markdown", "html"] {
        let ran = abide(folder.path(), &["check", "--format", format]);
        let text = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(text.contains("fixtures/a.yaml"), "{format}: {text}");
        assert!(text.contains("nmae"), "{format}");
    }
    // From another folder the names are those of the configuration, too.
    let ran = abide(&folder.path().join("fixtures"), &["check", "--format", "json"]);
    assert!(ran.json().iter().any(|it| it["path"] == "fixtures/a.yaml"), "{:?}", ran.json());
    let ran = abide(folder.path(), &["check", "--accept"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(abide(folder.path(), &["check"]).status, 0, "what is accepted is not reported");
}

#[test]
fn a_wrong_table_of_instances_is_said() {
    let folder = releases("[[instances]]\nfiles = \"*.yaml\"\napi = \"2.1\"\nfile = 1\n");
    let ran = abide(folder.path(), &["check"]);
    assert_eq!(ran.status, 2);
    for text in ["no API is named `2.1`", "unknown key `file` in `[[instances]]`"] {
        assert!(ran.stderr.contains(text), "{}", ran.stderr);
    }
    let folder = releases("[[instances]]\nfiles = \"no/*.yaml\"\n");
    let ran = abide(folder.path(), &["config", "check"]);
    assert!(ran.stderr.contains("matches no file: no/*.yaml"), "{}", ran.stderr);
    let folder = releases("");
    assert_eq!(abide(folder.path(), &["config", "check"]).status, 2);
}

#[test]
fn comments_of_instances_waive() {
    let folder = releases("");
    let cases: &[(&str, &[&str])] = &[
        // Behind what it covers, and above it.
        ("nmae: x # abide:allow(unknown-field): a test\n", &[]),
        ("# abide:allow(unknown-field): a test\nnmae: x\n", &[]),
        (
            "# abide:allow(unknown-field): a test\n# more\nnmae: x\naeg: y\n",
            &["error unknown-field:5"],
        ),
        // All that begins there, and nothing else.
        (
            "# abide:allow(unknown-field): a test\nfriends:\n- nmae: x\n- name: x\n  nmae: x\naeg: 1\n",
            &["error unknown-field:7"],
        ),
        (
            "friends:\n- nmae: x # abide:allow(unknown-field): a test\n- nmae: x\n",
            &["error unknown-field:4"],
        ),
        // The whole document.
        ("# abide:allow(unknown-field): a test\n\nnmae: x\naeg: x\n", &[]),
        // One that matches nothing, is over, or is none.
        ("# abide:allow(unknown-field): a test\nname: x\n", &["warning waiver-unused:2"]),
        (
            "nmae: x # abide:allow(unknown-field, until = \"2020-01-01\"): a test\n",
            &["error unknown-field:2", "error waiver-expired:2"],
        ),
        (
            "nmae: x # abide:allow(unknown-field)\n",
            &["error unknown-field:2", "error waiver-invalid:2"],
        ),
    ];
    for (text, expected) in cases {
        let text = format!("# proto-message: acme.user.v1.User\n{text}");
        put(folder.path(), &[("u.yaml", &text)]);
        let args = ["config", "check", "u.yaml", "--release", "2.0", "--format", "json"];
        assert_eq!(found(&abide(folder.path(), &args)), *expected, "{text}");
    }
    let text =
        "# proto-message: acme.user.v1.User\n# abide:allow(unknown-field): a test\nnmae: 'x'\n";
    put(folder.path(), &[("u.txtpb", text)]);
    let args = ["config", "check", "u.txtpb", "--release", "2.0", "--format", "json"];
    assert_eq!(found(&abide(folder.path(), &args)), [""; 0]);
}

#[test]
fn fingerprints_name_places_and_survive_what_is_added_before() {
    let folder = releases("");
    let prints = |text: &str| -> Vec<String> {
        let text = format!("# proto-message: acme.user.v1.User\n{text}");
        put(folder.path(), &[("u.yaml", &text)]);
        let args = ["config", "check", "u.yaml", "--release", "2.0", "--format", "json"];
        let lines = abide(folder.path(), &args).json();
        let findings = lines.iter().filter(|it| it["kind"] == "finding");
        findings.map(|it| it["fingerprint"].as_str().unwrap().to_owned()).collect()
    };
    let one = prints("friends:\n- name: b\n  nmae: x\n");
    let two = prints("friends:\n- name: a\n  nmae: x\n- name: b\n  nmae: x\n");
    assert_eq!(one.len(), 1);
    assert!(two.contains(&one[0]), "{one:?} {two:?}");
    assert_ne!(two[0], two[1]);
}

#[test]
fn the_list_of_deprecations_has_runtime_keys() {
    let folder = folder(&[]);
    let args = ["config", "deprecations", "--api", "api", "-I", "imports", "--format", "json"];
    let lines = abide(folder.path(), &args).json();
    let line = |element: &str| {
        let element = format!("envoy.config.bootstrap.v3.{element}");
        lines.iter().find(|it| it["element"] == *element).cloned().unwrap_or_default()
    };
    assert_eq!(lines.len(), 3);
    let expected = serde_json::json!({
        "element": "envoy.config.bootstrap.v3.Filter.older", "kind": "field", "phase": "disallowed",
        "runtime_key": format!("{PREFIX}.Filter.older"),
    });
    assert_eq!(line("Filter.older"), expected);
    assert_eq!(line("Filter.old")["phase"], "deprecated");
    assert_eq!(line("AUTO")["kind"], "enum-value");
    assert_eq!(line("AUTO")["runtime_key"], format!("{PREFIX}.AUTO"));
    let args = ["config", "deprecations", "--api", "api", "-I", "imports"];
    let text = String::from_utf8(abide(folder.path(), &args).stdout).unwrap();
    assert!(text.ends_with("3 deprecated elements, 1 of them disallowed by default\n"), "{text}");
}

#[test]
fn replacements_are_named_by_comments_too() {
    let folder = tempfile::tempdir().unwrap();
    let proto = "syntax = \"proto3\";
package acme.v1;
message Source {
  // Deprecated in favor of ``file``. Use that field instead.
  string path = 1 [deprecated = true];
  string file = 2;
  // Deprecated in favor of path_b.
  string path_a = 3 [deprecated = true];
  // Deprecated: use `file` instead.
  string path_b = 4 [deprecated = true];
  // This field is deprecated and not implemented.
  string none = 5 [deprecated = true];
}
";
    let file = ("file.yaml", "# proto-message: acme.v1.Source\npath: a\npath_a: b\nnone: c\n");
    put(folder.path(), &[("api/acme/v1/source.proto", proto), file]);
    let args = ["config", "deprecations", "--api", "api", "--format", "json"];
    let lines = abide(folder.path(), &args).json();
    let named = |name: &str, key: &str| {
        let name = format!("acme.v1.Source.{name}");
        lines.iter().find(|it| it["element"] == *name).expect("the element")[key].clone()
    };
    for name in ["path", "path_a", "path_b"] {
        assert_eq!(named(name, "replacement"), "acme.v1.Source.file", "{name}");
        assert!(named(name, "advice").is_null());
    }
    assert_eq!(named("none", "advice"), "This field is deprecated and not implemented.");
    let ran = abide(folder.path(), &["config", "check", "file.yaml", "--api", "api"]);
    let text = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(text.matches("= help: use `acme.v1.Source.file`").count(), 2, "{text}");
    assert!(text.contains("= help: This field is deprecated and not implemented"), "{text}");
}

const ROUTES: &str = "syntax = \"proto3\";
package envoy.config.route.v3;
import \"google/protobuf/wrappers.proto\";
message RouteConfiguration {
  google.protobuf.BoolValue validate_clusters = 1;
  RouteAction action = 2;
}
message RouteAction { string cluster = 1; }
";

#[test]
fn a_bootstrap_needs_the_clusters_of_its_routes() {
    let route = "api/envoy/config/route/v3/route.proto";
    let bootstrap = |fields: &str| {
        format!(
            "# proto-message: envoy.config.bootstrap.v3.Bootstrap\nextra:\n  \"@type\": \
             type.googleapis.com/envoy.config.route.v3.RouteConfiguration\n  {fields}\n"
        )
    };
    let cases: &[(&str, &[&str])] = &[
        ("action: {cluster: users}", &["error reference-dangling:4"]),
        ("validate_clusters: true\n  action: {cluster: users}", &["error reference-dangling:5"]),
        // The reader waits for the cluster.
        ("validate_clusters: false\n  action: {cluster: users}", &["warning reference-dangling:5"]),
        ("action: {}", &[]),
    ];
    for (fields, expected) in cases {
        let folder = folder(&[("b.yaml", &bootstrap(fields)), (route, ROUTES)]);
        assert_eq!(found(&check(folder.path(), &["b.yaml"])), *expected, "{fields}");
    }
}

#[test]
fn with_several_releases_every_format_says_for_which() {
    let folder = releases("");
    put(folder.path(), &[("u.yaml", "# proto-message: acme.user.v1.User\nnick: x\n")]);
    let args = ["config", "check", "u.yaml", "--release", "1.0", "--release", "2.0", "--format"];
    for format in ["human", "sarif", "junit", "markdown", "html"] {
        let ran = abide(folder.path(), &[&args[..], &[format]].concat());
        let text = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(text.contains("for 1.0") && text.contains("for 2.0"), "{format}: {text}");
    }
}
