//! Configuration files and other values of messages, checked against an API.

use std::path::Path;

use crate::run::{Ran, abide, abide_with, put};

const API: &str = "syntax = \"proto3\";
package acme.user.v1;

message User {
  string name = 1;
  int32 age = 2;
  string nick = 3 [deprecated = true];
  repeated User friends = 4;
}
";

/// A folder with an API in `api` and these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), &[("api/acme/user/v1/user.proto", API)]);
    put(folder.path(), files);
    folder
}

fn check(folder: &Path, args: &[&str]) -> Ran {
    let mut all = vec!["config", "check", "--api", "api", "--format", "json"];
    all.extend(args);
    abide(folder, &all)
}

/// What was found: rule, path, line and column.
#[track_caller]
fn found(ran: &Ran, expected: &[(&str, &str, u64, u64)]) {
    let lines = ran.json();
    let findings = lines.iter().filter(|line| line["kind"] == "finding");
    let found: Vec<(&str, &str, u64, u64)> = findings
        .map(|it| {
            let start = |key: &str| it["start"][key].as_u64().unwrap();
            (
                it["rule"].as_str().unwrap(),
                it["path"].as_str().unwrap(),
                start("line"),
                start("column"),
            )
        })
        .collect();
    assert_eq!(found, expected, "{}", ran.stderr);
}

const NOTATIONS: &[(&str, &str)] = &[
    ("user.yaml", "# proto-message: acme.user.v1.User\nname: Ann\nnmae: Bob\nfriends:\n- age: x\n"),
    (
        "user.json",
        "{\"@type\": \"type.googleapis.com/acme.user.v1.User\",\n \"nmae\": \"Bob\",\n \
         \"friends\": [{\"age\": \"x\"}]}\n",
    ),
    ("user.txtpb", "# proto-message: acme.user.v1.User\nname: 'Ann'\nnmae: 'Bob'\n"),
];

#[test]
fn every_notation_has_places() {
    let folder = folder(NOTATIONS);
    let ran = check(folder.path(), &["user.yaml"]);
    found(&ran, &[("unknown-field", "user.yaml", 3, 1), ("wrong-type", "user.yaml", 5, 8)]);
    assert_eq!(ran.status, 1);
    let ran = check(folder.path(), &["user.json"]);
    found(&ran, &[("unknown-field", "user.json", 2, 2), ("wrong-type", "user.json", 3, 22)]);
    let ran = check(folder.path(), &["user.txtpb"]);
    found(&ran, &[("unknown-field", "user.txtpb", 3, 1)]);
}

#[test]
fn a_folder_is_all_its_files() {
    let folder = folder(NOTATIONS);
    put(folder.path(), &[("in/a.yaml", NOTATIONS[0].1), ("in/b/c.txtpb", NOTATIONS[2].1)]);
    put(folder.path(), &[("in/README.md", "no instance"), ("in/.hidden.yaml", "x: 1")]);
    let ran = check(folder.path(), &["in"]);
    found(
        &ran,
        &[
            ("unknown-field", "in/a.yaml", 3, 1),
            ("wrong-type", "in/a.yaml", 5, 8),
            ("unknown-field", "in/b/c.txtpb", 3, 1),
        ],
    );
    assert_eq!(ran.json().last().unwrap()["files"], 2);
}

#[test]
fn the_type_can_be_named() {
    let folder = folder(&[("a.yaml", "name: Ann\n---\nage: 3\n---\nnmae: x\n")]);
    let ran = check(folder.path(), &["a.yaml"]);
    let unknown = |line| ("type-not-found", "a.yaml", line, 1);
    found(&ran, &[unknown(1), unknown(3), unknown(5)]);
    let ran = check(folder.path(), &["a.yaml", "--type", "acme.user.v1.User"]);
    found(&ran, &[("unknown-field", "a.yaml", 5, 1)]);
    let ran = check(folder.path(), &["a.yaml", "--type", "acme.user.v1.Usr"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("did you mean `acme.user.v1.User`?"), "{}", ran.stderr);
}

#[test]
fn standard_input_and_bytes_are_read() {
    let folder = folder(&[]);
    let args = ["config", "check", "-", "--api", "api", "--type", "acme.user.v1.User"];
    let ran = abide_with(folder.path(), &args, b"nick: ann\n");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.text().contains("field `acme.user.v1.User.nick` is deprecated"), "{}", ran.text());
    let with = |notation, input: &[u8]| {
        let mut args = args.to_vec();
        args.extend(["--notation", notation, "--format", "json"]);
        abide_with(folder.path(), &args, input)
    };
    // Field 3, two bytes.
    let ran = with("binary", b"\x1a\x02hi");
    assert_eq!(ran.rules(), ["deprecated-field-used"]);
    let ran = with("binary", b"\x1a\x09hi");
    assert_eq!((ran.status, ran.rules()), (1, vec!["malformed-value".to_owned()]));
}

#[test]
fn what_cannot_be_done_is_exit_2() {
    let folder = folder(&[("a.conf", "name: x")]);
    let ran = check(folder.path(), &["none.yaml"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("cannot read `none.yaml`"), "{}", ran.stderr);
    let ran = check(folder.path(), &["a.conf"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("--notation"), "{}", ran.stderr);
    let ran = check(folder.path(), &["api"]);
    assert_eq!(ran.status, 2, "a folder without instances: {}", ran.text());
}

#[test]
fn severities_and_waivers_are_those_of_the_policy() {
    let folder = folder(NOTATIONS);
    let config = "roots = [\"api\"]\n\n[rules]\nunknown-field = \"warning\"\n\n[[waiver]]\n\
                  rule = \"wrong-type\"\nelement = \"acme.user.v1.User\"\nreason = \"old\"\n";
    put(folder.path(), &[("abide.toml", config)]);
    let ran = abide(folder.path(), &["config", "check", "user.yaml", "--format", "json"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(ran.rules(), ["unknown-field"]);
    let summary = ran.json().pop().unwrap();
    assert_eq!((&summary["waived"], &summary["warnings"]), (&1.into(), &1.into()));
}

#[test]
fn a_file_of_envoy_is_recognised_and_read_as_envoy_does() {
    let folder = tempfile::tempdir().unwrap();
    let api = "syntax = \"proto3\";\npackage envoy.config.bootstrap.v3;\nmessage Bootstrap {\n  \
               bool enabled = 1;\n  string name = 2;\n}\n";
    put(
        folder.path(),
        &[
            ("api/envoy/config/bootstrap/v3/bootstrap.proto", api),
            ("envoy.yaml", "enabled: on\nname: 1.5\n"),
            ("words.yaml", "enabled: true\nname: on\n"),
        ],
    );
    let ran = check(folder.path(), &["envoy.yaml"]);
    found(&ran, &[]);
    assert_eq!(ran.stderr, "");
    let told = check(folder.path(), &["envoy.yaml", "--verbose"]);
    let read_as = "`envoy.yaml` is read as `envoy.config.bootstrap.v3.Bootstrap` of api";
    assert!(told.stderr.contains(read_as), "{}", told.stderr);
    let ran = check(folder.path(), &["envoy.yaml", "--reader", "protobuf"]);
    found(&ran, &[("wrong-type", "envoy.yaml", 1, 10), ("wrong-type", "envoy.yaml", 2, 7)]);
    let ran = check(folder.path(), &["words.yaml"]);
    found(&ran, &[("wrong-type", "words.yaml", 2, 7)]);
}

#[test]
fn each_document_has_its_own_type() {
    let other =
        "syntax = \"proto3\";\npackage acme.pet.v1;\nmessage Pet {\n  string kind = 1;\n}\n";
    let text = "\u{feff}# proto-message: acme.user.v1.User\nage: 1\n---\n\n---\n# proto-message: \
                acme.pet.v1.Pet\nage: 1\n---\n\"@type\": type.googleapis.com/acme.pet.v1.Pet\nkind: \
                cat\n---\n# proto-message: acme.pet.v1.Pat\nkind: cat\n---\n";
    let folder = folder(&[("api/acme/pet/v1/pet.proto", other), ("a.yaml", text)]);
    let ran = check(folder.path(), &["a.yaml"]);
    found(&ran, &[("unknown-field", "a.yaml", 7, 1), ("type-not-found", "a.yaml", 13, 1)]);
    assert!(ran.text().contains("did you mean `acme.pet.v1.Pet`?"), "{}", ran.text());
}

#[test]
fn a_type_with_its_own_notation_stands_below_value() {
    let api = "syntax = \"proto3\";\npackage acme.time.v1;\nimport \"google/protobuf/duration.proto\";\n\
               message Wait {\n  google.protobuf.Duration time = 1;\n}\n";
    let folder = folder(&[("api/acme/time/v1/time.proto", api)]);
    let args = ["config", "check", "-", "--api", "api", "--notation", "json", "--format", "json"];
    let url = "type.googleapis.com/google.protobuf.Duration";
    for (value, rules) in [("1s", &[][..]), ("1 s", &["malformed-value"])] {
        let text = format!("{{\"@type\": \"{url}\", \"value\": \"{value}\"}}");
        let ran = abide_with(folder.path(), &args, text.as_bytes());
        assert_eq!(ran.rules(), rules, "{text}");
    }
}

#[cfg(unix)]
#[test]
fn links_inside_of_a_folder_are_read() {
    use std::os::unix::fs::symlink;

    let folder = folder(&[("mount/..2026/a.yaml", NOTATIONS[0].1), ("out.yaml", NOTATIONS[0].1)]);
    symlink("..2026", folder.path().join("mount/..data")).unwrap();
    symlink("..data/a.yaml", folder.path().join("mount/a.yaml")).unwrap();
    symlink("../out.yaml", folder.path().join("mount/b.yaml")).unwrap();
    let ran = check(folder.path(), &["mount"]);
    let (first, second) = ("unknown-field", "wrong-type");
    found(&ran, &[(first, "mount/a.yaml", 3, 1), (second, "mount/a.yaml", 5, 8)]);
    assert!(ran.stderr.contains("`mount/b.yaml` was not read"), "{}", ran.stderr);
}

#[test]
fn equal_findings_have_fingerprints_of_their_own() {
    let text = "# proto-message: acme.user.v1.User\nfriends:\n- age: x\n- age: x\n";
    let folder = folder(&[("a.yaml", text)]);
    let ran = check(folder.path(), &["a.yaml"]);
    let prints: Vec<String> =
        ran.json().iter().filter_map(|it| it["fingerprint"].as_str().map(str::to_owned)).collect();
    assert!(prints.len() == 2 && prints[0] != prints[1], "{prints:?}");
    // A waiver of a rule about instances is not stale in a run that judges none.
    let config = "roots = [\"api\"]\n[[waiver]]\nrule = \"wrong-type\"\nelement = \"acme.user.v1.User\"\n\
                  reason = \"x\"\n";
    put(folder.path(), &[("abide.toml", config)]);
    let ran = abide(folder.path(), &["check", "--format", "json"]);
    assert!(!ran.rules().contains(&"waiver-unused".to_owned()), "{}", ran.text());
}

#[test]
fn what_most_keys_do_not_speak_for_is_not_recognised() {
    let folder = tempfile::tempdir().unwrap();
    let api = "syntax = \"proto3\";\npackage envoy.config.listener.v3;\nmessage Listener {\n  \
               string name = 1;\n  bool freebind = 2;\n}\n";
    let old = api.replace("config.listener.v3", "api.v2").replace("freebind = 2", "gone = 3");
    put(
        folder.path(),
        &[
            ("api/envoy/config/listener/v3/listener.proto", api),
            ("api/envoy/api/v2/lds.proto", &old),
            ("ci.yaml", "name: CI\nruns: {a: 1}\njobs: [b]\n"),
            ("old.yaml", "name: x\nfreebind: true\ngone: true\n"),
        ],
    );
    let ran = check(folder.path(), &["ci.yaml"]);
    found(&ran, &[("type-not-found", "ci.yaml", 1, 1)]);
    let ran = check(folder.path(), &["old.yaml"]);
    found(&ran, &[("unknown-field", "old.yaml", 3, 1)]);
}

#[test]
fn a_program_with_descriptors_is_an_api() {
    let folder = folder(&[("a.yaml", "# proto-message: acme.user.v1.User\nnmae: x\n")]);
    let set = abide(folder.path(), &["build", "api", "-o", "api.binpb"]);
    assert_eq!(set.status, 0, "{}", set.stderr);
    // A set holds the descriptor behind a tag and its length.
    let set = std::fs::read(folder.path().join("api.binpb")).unwrap();
    let at = set.windows(2).position(|it| it == [b'\n', 23]).expect("the name of the file");
    let program = [b"\x7fELF\x02\0\0\0", &set[at..], b"\0\0and more text\n\x07x.proto"].concat();
    std::fs::write(folder.path().join("server"), program).unwrap();
    let args = ["config", "check", "a.yaml", "--api", "server", "--format", "json"];
    let ran = abide(folder.path(), &args);
    found(&ran, &[("unknown-field", "a.yaml", 2, 1)]);
    let ran = abide(folder.path(), &["hash", "server"]);
    assert_eq!(ran.text(), abide(folder.path(), &["hash", "api.binpb"]).text());
    std::fs::write(folder.path().join("tool"), b"\x7fELF\x02\0\0\0nothing.proto").unwrap();
    let ran = abide(folder.path(), &["lint", "tool"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("no descriptors are compiled into this program"), "{}", ran.stderr);
}

#[test]
fn instances_stand_inside_of_documents() {
    let map = "kind: ConfigMap\ndata:\n  user.yaml: |\n    name: Ann\n    nmae: Bob\n";
    let folder = folder(&[("in/map.yaml", map), ("in/other.yaml", "kind: Service\n")]);
    let at = |path| check(folder.path(), &["in", "--at", path, "--type", "acme.user.v1.User"]);
    let ran = at("data.user.yaml");
    found(&ran, &[("unknown-field", "in/map.yaml", 5, 5)]);
    assert!(
        ran.stderr.contains("1 file passed, nothing stands at `data.user.yaml`"),
        "{}",
        ran.stderr
    );
    let ran = at("data.users");
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("nothing stands at `data.users`"), "{}", ran.stderr);
}

#[test]
fn an_import_path_supplies_types_that_nothing_imports() {
    let folder = folder(&[("a.yaml", "# proto-message: acme.tool.v1.Tool\nsize: x\n")]);
    let tool =
        "syntax = \"proto3\";\npackage acme.tool.v1;\nmessage Tool {\n  int32 size = 1;\n}\n";
    put(folder.path(), &[("more/acme/tool/v1/tool.proto", tool)]);
    found(&check(folder.path(), &["a.yaml"]), &[("type-not-found", "a.yaml", 2, 1)]);
    let ran = check(folder.path(), &["a.yaml", "-I", "more"]);
    found(&ran, &[("wrong-type", "a.yaml", 2, 7)]);
    assert_eq!(ran.json()[0]["element"], "acme.tool.v1.Tool.size");
    let ran = check(folder.path(), &["a.yaml", "-I", "more", "--type", "acme.tool.v1.Tool"]);
    found(&ran, &[("wrong-type", "a.yaml", 2, 7)]);
}

#[test]
fn a_report_is_not_written_over_what_is_checked() {
    let folder = folder(&[("in/a.yaml", NOTATIONS[0].1)]);
    for checked in ["in", "in/a.yaml"] {
        let ran = check(folder.path(), &[checked, "--output", "in/a.yaml"]);
        assert_eq!(ran.status, 2);
        assert!(ran.stderr.contains("`--output` would overwrite"), "{}", ran.stderr);
    }
    let text = std::fs::read_to_string(folder.path().join("in/a.yaml")).unwrap();
    assert_eq!(text, NOTATIONS[0].1);
    assert_eq!(check(folder.path(), &["in", "--output", "report.json"]).status, 1);
}
