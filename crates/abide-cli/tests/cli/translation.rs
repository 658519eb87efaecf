//! `abide config upgrade` and `abide config downgrade`, as a user of plain protobuf has them.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::run::{Ran, abide, abide_with, put, repository};

const USER: &str = "syntax = \"proto3\";

package acme.user.v1;

import \"abide/annotations/v1/lifecycle.proto\";
import \"abide/annotations/v1/status.proto\";

option (abide.annotations.v1.file_policy).package_version_status = PACKAGE_VERSION_STATUS_ACTIVE;

// Somebody.
message User {
  string mail = 1 [(abide.annotations.v1.field_policy).migration.rename = \"email\"];
  string nick = 2 [deprecated = true, (abide.annotations.v1.field_policy).replaced_by = \"alias\"];
  string alias = 3;
  Level level = 4;
  string pager = 5 [deprecated = true, (abide.annotations.v1.field_policy).lossy = \"nobody has one\"];
  string phone = 6 [(abide.annotations.v1.field_policy).migration.promote_to_oneof = \"contact\"];
}

enum Level {
  LEVEL_UNSPECIFIED = 0;
  LEVEL_LOW = 1 [(abide.annotations.v1.enum_value_policy).migration.rename = \"LEVEL_BASIC\"];
}
";

const YAML: &str = "# proto-message: acme.user.v1.User\n# Ada.\nmail: ada@example.com   # at work\nnick: Al\nlevel: LEVEL_LOW\n";

/// A tree whose v1 became v2 by `abide upgrade` and `abide release`, and instances of v1.
fn released() -> TempDir {
    let folder = TempDir::new().unwrap();
    let api = repository().join("api").display().to_string();
    let config = format!("import-paths = [{api:?}]\nrules.conversion-missing = \"off\"\n");
    put(
        folder.path(),
        &[
            ("proto/abide.toml", &config),
            ("proto/acme/user/v1/user.proto", USER),
            ("conf/ada.yaml", YAML),
            (
                "conf/bob.json",
                "{\"@type\": \"type.googleapis.com/acme.user.v1.User\", \"mail\": \"b@example.com\"}\n",
            ),
            (
                "conf/cy.txtpb",
                "# proto-message: acme.user.v1.User\nmail: \"c\"  # by hand\nphone: \"1\"\n",
            ),
        ],
    );
    let proto = folder.path().join("proto");
    for args in [&["upgrade", "--write", "--mapping", "../v2.json"][..], &["release", "--write"]] {
        let ran = abide(&proto, args);
        assert_eq!(ran.status, 0, "{args:?}: {}{}", ran.text(), ran.stderr);
    }
    assert!(proto.join("acme/user/v2/user.proto").exists());
    folder
}

fn config(folder: &Path, args: &[&str]) -> Ran {
    let api = repository().join("api").display().to_string();
    let all = [&["config"], args, &["--api", "proto", "-I", &api]].concat();
    abide(folder, &all)
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn files_follow_a_release_and_come_back() {
    let folder = released();
    let folder = folder.path();
    let before: Vec<String> =
        ["ada.yaml", "bob.json", "cy.txtpb"].map(|it| read(folder, &format!("conf/{it}"))).into();
    let ran = config(folder, &["upgrade", "conf", "--check"]);
    assert_eq!((ran.status, ran.text().lines().count()), (1, 3), "{}{}", ran.text(), ran.stderr);
    let ran = config(folder, &["upgrade", "conf", "--write"]);
    assert_eq!(ran.status, 0, "{}{}", ran.text(), ran.stderr);
    assert_eq!(ran.stderr, "changed 3 of 3 files\n");
    assert_eq!(
        read(folder, "conf/ada.yaml"),
        "# proto-message: acme.user.v2.User\n# Ada.\nemail: ada@example.com   # at work\nalias: Al\n\
         level: LEVEL_BASIC\n"
    );
    assert_eq!(
        read(folder, "conf/bob.json"),
        "{\"@type\": \"type.googleapis.com/acme.user.v2.User\", \"email\": \"b@example.com\"}\n"
    );
    assert_eq!(
        read(folder, "conf/cy.txtpb"),
        "# proto-message: acme.user.v2.User\nemail: \"c\"  # by hand\nphone: \"1\"\n"
    );
    let ran = config(folder, &["upgrade", "conf", "--check"]);
    assert_eq!((ran.status, ran.text().as_str()), (0, ""), "{}", ran.stderr);
    let ran = config(folder, &["check", "conf"]);
    assert_eq!(ran.status, 0, "{}", ran.text());
    let ran = config(folder, &["downgrade", "conf", "--out", "old"]);
    assert_eq!(ran.status, 0, "{}{}", ran.text(), ran.stderr);
    assert_eq!(read(folder, "old/ada.yaml"), before[0].replace("nick", "alias"));
    assert_eq!(read(folder, "old/bob.json"), before[1]);
    assert_eq!(read(folder, "old/cy.txtpb"), before[2]);
}

#[test]
fn a_loss_keeps_everything_as_it_was() {
    let folder = released();
    let folder = folder.path();
    let lossy = format!("{YAML}pager: \"7\"\n");
    put(folder, &[("conf/lossy.yaml", &lossy)]);
    let mapped = ["upgrade", "conf", "--write", "--mapping", "v2.json"];
    let ran = config(folder, &[&mapped[..], &["--format", "json"]].concat());
    assert_eq!(
        (ran.status, ran.rules()),
        (1, vec!["translation-loss".to_owned()]),
        "{}",
        ran.stderr
    );
    let loss = ran.json().into_iter().find(|it| it["kind"] == "finding").unwrap();
    assert_eq!(
        (loss["start"]["line"].as_u64(), loss["start"]["column"].as_u64()),
        (Some(6), Some(1))
    );
    assert_eq!(loss["element"], "acme.user.v1.User.pager");
    assert_eq!(read(folder, "conf/lossy.yaml"), lossy);
    assert_eq!(read(folder, "conf/ada.yaml"), YAML);
    assert!(ran.stderr.contains("nothing was written"), "{}", ran.stderr);
    let ran = config(folder, &[&mapped[..], &["--allow-loss"]].concat());
    assert_eq!(ran.status, 0, "{}{}", ran.text(), ran.stderr);
    assert!(ran.text().contains("nobody has one"), "{}", ran.text());
    assert!(!read(folder, "conf/lossy.yaml").contains("pager"));
}

#[test]
fn one_file_goes_where_it_is_sent() {
    let folder = released();
    let folder = folder.path();
    let ran = config(folder, &["upgrade", "conf/ada.yaml", "--out", "new/v2.yaml"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(read(folder, "new/v2.yaml").contains("email: ada@example.com   # at work"));
    let ran = config(folder, &["upgrade", "conf/ada.yaml", "--out", "-"]);
    assert_eq!(ran.text(), read(folder, "new/v2.yaml"));
    let ran = config(folder, &["upgrade", "conf/ada.yaml", "--diff"]);
    assert_eq!(ran.status, 0);
    assert!(
        ran.text().contains("-nick: Al\n") && ran.text().contains("+alias: Al\n"),
        "{}",
        ran.text()
    );
    assert_eq!(read(folder, "conf/ada.yaml"), YAML);
    let api = repository().join("api").display().to_string();
    let args = ["config", "upgrade", "-", "--api", "proto", "-I", &api, "--out", "-"];
    let ran = abide_with(folder, &args, YAML.as_bytes());
    assert_eq!(ran.text(), read(folder, "new/v2.yaml"));
    for (args, why) in [
        (&["upgrade", "-", "--write"][..], "standard input"),
        (&["upgrade", "conf", "--out", "conf/ada.yaml"], "not a folder"),
        (&["upgrade", "conf/ada.yaml", "conf/../conf/ada.yaml", "--out", "new"], "both become"),
        (&["upgrade", "conf", "--check", "--to", "next"], "is not a version"),
        (&["upgrade", "conf", "--check", "--steps", "none.yaml"], "cannot read"),
        (&["upgrade", "conf", "--check", "--type", "acme.user.v1.Usr"], "did you mean"),
    ] {
        let ran = config(folder, args);
        assert_eq!(ran.status, 2, "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(why), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn errors_of_a_file_are_told_as_by_a_check() {
    let folder = released();
    let folder = folder.path();
    put(folder, &[("bad.yaml", "# proto-message: acme.user.v1.User\nmial: x\nlevel: 7up\n")]);
    let ran = config(folder, &["upgrade", "bad.yaml", "--write", "--format", "json"]);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert_eq!(ran.rules(), ["unknown-field", "unknown-enum-value"]);
    put(
        folder,
        &[(
            "steps.yaml",
            "steps:\n- message: acme.user.v1.User\n  moves: [{from: mail, to: post}]\n",
        )],
    );
    let ran = config(folder, &["upgrade", "conf", "--check", "--steps", "steps.yaml"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("`acme.user.v2.User` has no field `post`"), "{}", ran.stderr);
    put(folder, &[("steps.yaml", "steps:\n- mesage: acme.user.v1.User\n")]);
    let ran = config(folder, &["upgrade", "conf", "--check", "--steps", "steps.yaml"]);
    assert!(ran.stderr.contains("steps.yaml:2:3"), "{}", ran.stderr);
}

/// The steps that come with Abide are read with every run: they are well-formed.
#[test]
fn own_steps_are_those_of_the_test_data() {
    let folder = released();
    let ran = config(folder.path(), &["upgrade", "conf", "--check", "--steps", "envoy-v2-to-v3"]);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    let steps = repository().join("testdata/instances/envoy-v2-to-v3").display().to_string();
    let ran = config(folder.path(), &["upgrade", "conf", "--check", "--steps", &steps]);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
}

/// Fields that mean nothing in the newer version are left out, and named for people and for programs.
#[test]
fn a_field_that_is_left_out_is_named() {
    let folder = released();
    let folder = folder.path();
    let steps = "# proto-message: abide.migration.v1.Migration\nsteps:\n- message: \
                 acme.user.v1.User\n  drop: [level]\n";
    put(folder, &[("steps.yaml", steps)]);
    let args = ["upgrade", "conf/ada.yaml", "--steps", "steps.yaml", "--out", "new.yaml"];
    let ran = config(folder, &args);
    let note = "note: conf/ada.yaml:5:1: `acme.user.v1.User.level` is left out: it means nothing in \
                the newer version\n";
    assert_eq!((ran.status, &*ran.stderr), (0, note), "{}", ran.text());
    assert!(!read(folder, "new.yaml").contains("level"));

    let ran = config(folder, &[&args[..], &["--format", "json"]].concat());
    let changes = ran.json()[0]["changes"].clone();
    let left_out: Vec<&serde_json::Value> =
        changes.as_array().unwrap().iter().filter(|it| it.get("new").is_none()).collect();
    let expected = serde_json::json!({
        "start": {"line": 5, "column": 1},
        "old": "acme.user.v1.User.level",
    });
    assert_eq!(left_out, [&expected], "{changes}");
}

/// Files of a run depend on each other: where one cannot be written, none is.
#[test]
fn all_files_are_written_or_none() {
    let folder = released();
    let folder = folder.path();
    let before = read(folder, "conf/ada.yaml");
    let last = folder.join("conf/cy.txtpb");
    let mut permissions = fs::metadata(&last).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&last, permissions).unwrap();
    let ran = config(folder, &["upgrade", "conf/ada.yaml", "conf/cy.txtpb", "--write"]);
    assert_eq!(ran.status, 2, "{}{}", ran.text(), ran.stderr);
    assert!(ran.stderr.contains("cannot write `conf/cy.txtpb`"), "{}", ran.stderr);
    assert_eq!(read(folder, "conf/ada.yaml"), before);
}

/// A file with secrets that `--out` makes can be read by its owner alone, and others as ever.
#[cfg(unix)]
#[test]
fn what_is_written_with_secrets_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    let pair = |version: u32| {
        format!(
            "syntax = \"proto3\";\npackage envoy.acme.v{version};\nmessage TlsCertificate {{ \
             string private_key = 1; string name = 2; }}\nmessage Plain {{ string name = 1; }}\n"
        )
    };
    let secret = "# proto-message: envoy.acme.v1.TlsCertificate\nprivate_key: hidden\n";
    put(
        folder.path(),
        &[
            ("proto/envoy/acme/v1/a.proto", &pair(1)),
            ("proto/envoy/acme/v2/a.proto", &pair(2)),
            ("conf/secret.yaml", secret),
            ("conf/plain.yaml", "# proto-message: envoy.acme.v1.Plain\nname: a\n"),
        ],
    );
    let ran = config(folder.path(), &["upgrade", "conf", "--out", "made/"]);
    assert_eq!(ran.status, 0, "{}{}", ran.text(), ran.stderr);
    let mode = |name: &str| {
        let file = folder.path().join("made").join(name);
        fs::metadata(file).unwrap().permissions().mode() & 0o077
    };
    assert_eq!(mode("secret.yaml"), 0);
    assert_ne!(mode("plain.yaml"), 0);
}
