//! The contract about sources, options, exit status and waivers.

use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::run::{abide, abide_with, put, repository};

const CLEAN: &str = "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {}\n";
const BROKEN: &str = "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User { Gone x = 1; }\n";
const SHOP: &str = "syntax = \"proto3\";\npackage acme.shop.v1;\nimport \"acme/user/v1/user.proto\";\n\
                    message Shop { acme.user.v1.User owner = 1; }\n";

fn tree(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    put(folder.path(), files);
    folder
}

#[test]
fn exit_status() {
    let clean = tree(&[("acme/user/v1/user.proto", CLEAN)]);
    let ran = abide(clean.path(), &["check"]);
    assert_eq!((ran.status, ran.stderr.as_str(), ran.text().as_str()), (0, "", ""));
    let ran = abide(clean.path(), &["check", "-v"]);
    assert_eq!(ran.text(), "1 file in 1 package: nothing to report\n");
    let broken = tree(&[("acme/user/v1/user.proto", BROKEN)]);
    for command in ["check", "lint"] {
        let ran = abide(broken.path(), &[command]);
        let note = "note: there is no abide.toml: `abide init` writes one that fits this tree\n";
        assert_eq!((ran.status, ran.stderr.as_str()), (1, note));
        assert!(ran.text().contains("error[name-not-found]: `Gone` was not found"));
    }
    // Warnings and notes leave the status as it is.
    put(broken.path(), &[("abide.toml", "[rules]\nname-not-found = \"warning\"\n")]);
    assert_eq!(abide(broken.path(), &["check"]).status, 0);
    for args in [
        &["chek"][..],
        &["check", "nowhere"],
        &["check", "--as-of", "soon"],
        &["check", "--jobs", "0"],
        &["check", "--config", "gone.toml"],
        &["check", "--against", "git:main"],
        &["check", "--against", "gone"],
        &["check", "-q", "-v"],
        &["explain", "no-such-rule"],
        &["build"],
        &["check", "--output", "."],
    ] {
        let ran = abide(clean.path(), args);
        assert_eq!((ran.status, ran.text().as_str()), (2, ""), "{args:?}");
    }
}

#[test]
fn typos_are_answered_with_what_was_meant() {
    let folder = tree(&[("a.proto", CLEAN)]);
    for (args, meant) in [
        (&["chek"][..], "check"),
        (&["check", "--frmat", "json"], "--format"),
        (&["check", "--preset", "envy"], "envoy"),
        (&["check", "--format", "jsn"], "json"),
        (&["explain", "one-definitio"], "one-definition"),
    ] {
        let ran = abide(folder.path(), args);
        assert_eq!(ran.status, 2);
        assert!(ran.stderr.contains(meant), "{}", ran.stderr);
    }
    put(
        folder.path(),
        &[(
            "abide.toml",
            "preset = \"goggle\"\nroot = [\".\"]\n\n[rules]\none-defnition = \"off\"\nmajor-gap = \"of\"\n",
        )],
    );
    let ran = abide(folder.path(), &["check"]);
    assert_eq!(ran.status, 2);
    for meant in ["google", "roots", "one-definition", "`off`", "abide.toml:2:1", "abide.toml:5:1"]
    {
        assert!(ran.stderr.contains(meant), "no {meant}: {}", ran.stderr);
    }
}

#[test]
fn the_configured_tree_is_found_upward_and_its_folders_count_from_it() {
    let folder = tree(&[
        ("abide.toml", "roots = [\"proto\"]\nimport-paths = [\"third_party\"]\n"),
        (
            "proto/acme/shop/v1/shop.proto",
            &format!("{SHOP}import \"lib/v1/lib.proto\";\nmessage L {{ lib.v1.L l = 1; }}\n"),
        ),
        ("proto/acme/user/v1/user.proto", CLEAN),
        ("third_party/lib/v1/lib.proto", "syntax = \"proto3\";\npackage lib.v1;\nmessage L {}\n"),
        ("elsewhere/x.proto", BROKEN),
        ("deep/er/readme.txt", ""),
    ]);
    let whole = abide(folder.path(), &["check", "-v"]);
    assert_eq!(
        (whole.status, whole.text().as_str()),
        (0, "2 files in 2 packages: nothing to report\n")
    );
    for inside in ["proto", "proto/acme/shop", "deep/er", "third_party"] {
        let ran = abide(&folder.path().join(inside), &["check", "-v"]);
        assert_eq!(ran.text(), whole.text(), "{inside}");
    }
    let path = folder.path().to_str().unwrap();
    assert_eq!(abide(Path::new("/"), &["check", "-v", path]).text(), whole.text());
    let ran = abide(&folder.path().join("proto"), &["check", "-v", ".."]);
    assert_eq!(ran.text(), whole.text());
}

#[test]
fn a_part_of_the_tree_is_judged_with_the_whole_in_sight() {
    let folder = tree(&[
        ("abide.toml", "roots = [\"proto\"]\n"),
        ("proto/acme/shop/v1/shop.proto", &SHOP.replace("owner", "owner = 2; Missing gone")),
        ("proto/acme/user/v1/user.proto", CLEAN),
        (
            "proto/acme/junk/v1/junk.proto",
            "syntax = \"proto3\";\npackage acme.junk.v1;\nmessage J { Gone g = 1; }\n",
        ),
    ]);
    for (from, part) in [
        ("", "proto/acme/shop"),
        ("", "proto/acme/shop/v1/shop.proto"),
        ("proto/acme", "shop"),
        ("proto/acme/shop/v1", "shop.proto"),
        ("proto/acme/user", "../shop/"),
    ] {
        let ran = abide(&folder.path().join(from), &["check", part, "--format", "json"]);
        let lines = ran.json();
        assert_eq!(ran.status, 1, "{part}: {}", ran.stderr);
        let summary = &lines[lines.len() - 1];
        assert_eq!(
            (&summary["files"], &summary["errors"]),
            (&1.into(), &1.into()),
            "{}",
            ran.text()
        );
        let errors: Vec<_> = lines.iter().filter(|line| line["severity"] == "error").collect();
        assert_eq!(
            errors[0]["path"], "proto/acme/shop/v1/shop.proto",
            "from the folder of abide.toml"
        );
    }
    assert_eq!(abide(folder.path(), &["check", "proto/acme/user", "-q"]).status, 0);
    let ran = abide(folder.path(), &["check", "proto/acme/shop", "--accept"]);
    assert!(ran.status == 2 && ran.stderr.contains("leave SOURCE out"), "{}", ran.stderr);
}

#[test]
fn import_paths_are_linked_and_never_judged() {
    let lib = "syntax = \"proto3\";\npackage lib;\nmessage L { Gone g = 1; }\n";
    let folder = tree(&[
        (
            "acme/user/v1/user.proto",
            "syntax = \"proto3\";\npackage acme.user.v1;\nimport \"lib.proto\";\nmessage U { lib.L l = 1; }\n",
        ),
        ("vendor/lib.proto", lib),
    ]);
    let ran = abide(
        folder.path(),
        &["check", ".", "-I", "vendor", "--format", "json", "--preset", "standard"],
    );
    let lines = ran.json();
    assert_eq!(lines[lines.len() - 1]["files"], 1, "{}", ran.text());
    assert!(lines.iter().any(|line| line["path"] == "vendor/lib.proto"), "{}", ran.text());
    let ran = abide(folder.path(), &["check", ".", "--format", "json"]);
    assert!(ran.rules().contains(&"import-not-found".to_owned()));
    let ran =
        abide(&folder.path().join("vendor"), &["check", "../acme/user/v1/user.proto", "-I", "."]);
    assert!(!ran.text().contains("import-not-found"), "{}", ran.text());
}

#[test]
fn import_paths_of_the_configuration_are_those_of_an_old_folder_too() {
    let [new, old] = ["", "message Gone {}\n"].map(|more| {
        tree(&[
            ("abide.toml", "import-paths = [\"third_party\"]\n"),
            ("acme/user/v1/user.proto", CLEAN),
            ("third_party/lib/v1/lib.proto", &format!("package lib.v1;\n{more}")),
        ])
    });
    let old = old.path().to_str().unwrap();
    let ran = abide(new.path(), &["breaking", "--against", old, "--changes", "--format", "json"]);
    assert_eq!((ran.status, ran.json().len()), (0, 1), "{}", ran.text());
}

#[test]
fn an_import_path_that_is_not_there_is_told_once() {
    let folder = tree(&[("p/acme/user/v1/user.proto", CLEAN)]);
    let ran = abide(folder.path(), &["check", "p", "--against", "p", "-I", "gone", "-I", "p/gone"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("`gone`") && lines[1].contains("`p/gone`"), "{lines:?}");
    assert_eq!(abide(folder.path(), &["check", "p", "-I", "gone", "-q"]).stderr, "");
}

#[test]
fn standard_input_is_one_source() {
    let folder = tree(&[]);
    let ran = abide(folder.path(), &["check", "-", "--against", "-"]);
    assert!(ran.status == 2 && ran.stderr.contains("once"), "{}", ran.stderr);
}

#[test]
fn a_report_that_cannot_be_written() {
    let folder = tree(&[("acme/user/v1/user.proto", CLEAN)]);
    // Nobody creates files there, not even the superuser.
    let ran = abide(folder.path(), &["check", "--output", "/proc/report"]);
    assert_eq!(ran.status, 2, "{}", ran.stderr);
    assert!(ran.stderr.starts_with("error: cannot write `/proc/report`: "), "{}", ran.stderr);
    assert!(!ran.stderr.contains(".abide-"), "a name by chance: {}", ran.stderr);
}

#[test]
fn places_count_from_one_and_end_behind() {
    let folder = tree(&[("acme/user/v1/user.proto", BROKEN)]);
    let lines = abide(folder.path(), &["check", "--format", "json"]).json();
    assert_eq!(lines[0]["path"], "acme/user/v1/user.proto");
    assert_eq!(lines[0]["start"], serde_json::json!({"line": 3, "column": 16}));
    assert_eq!(lines[0]["end"], serde_json::json!({"line": 3, "column": 20}));
    assert_eq!(lines[0]["fingerprint"].as_str().unwrap().len(), 16);
}

#[test]
fn what_is_accepted_is_not_reported_until_it_is_gone() {
    let folder = tree(&[("a.proto", "syntax = \"proto3\";\npackage acme;\nmessage A {}\n")]);
    let before = abide(folder.path(), &["check", "--format", "json"]);
    assert_eq!((before.status, before.rules().is_empty()), (1, false));
    let ran = abide(folder.path(), &["check", "--accept"]);
    assert_eq!(ran.status, 0, "{}", ran.text());
    assert!(ran.stderr.contains("recorded in abide.accepted"), "{}", ran.stderr);
    let recorded = std::fs::read_to_string(folder.path().join("abide.accepted")).unwrap();
    let ran = abide(folder.path(), &["check", "--format", "json"]);
    assert_eq!((ran.status, ran.rules().len()), (0, 0), "{}", ran.text());
    assert_eq!(ran.json()[0]["accepted"], before.rules().len());
    // Lines move, another defect comes: the first stays accepted, the second is told.
    put(
        folder.path(),
        &[
            ("a.proto", "// A comment.\n\nsyntax = \"proto3\";\n\npackage acme;\n\nmessage A {}\n"),
            ("b.proto", "syntax = \"proto3\";\npackage zeta;\nmessage B {}\n"),
        ],
    );
    let ran = abide(folder.path(), &["check", "--format", "json"]);
    assert_eq!(ran.status, 1);
    assert!(ran.json().iter().all(|line| line["kind"] == "summary" || line["package"] == "zeta"));
    abide(folder.path(), &["check", "--accept"]);
    abide(folder.path(), &["check", "--accept"]);
    assert_eq!(abide(folder.path(), &["check"]).status, 0);
    std::fs::remove_file(folder.path().join("b.proto")).unwrap();
    let ran = abide(folder.path(), &["check", "--format", "json"]);
    assert_eq!((ran.status, &ran.rules()[0][..]), (0, "accepted-stale"));
    assert_eq!(ran.json()[0]["path"], "abide.accepted");
    abide(folder.path(), &["check", "--accept"]);
    assert_eq!(std::fs::read_to_string(folder.path().join("abide.accepted")).unwrap(), recorded);
    // What is not understood cannot be accepted.
    put(folder.path(), &[("a.proto", BROKEN)]);
    assert_eq!(abide(folder.path(), &["check", "--accept"]).status, 1);
}

#[test]
fn all_that_the_compiler_takes_can_be_accepted() {
    let user = "syntax = \"proto3\";\n\npackage acme.user.v1;\n\nmessage User {}\n";
    let shop = "syntax = \"proto3\";\n\npackage acme.shop.v1;\n\nmessage Shop {}\n";
    let unused = user.replace("message", "import \"google/protobuf/any.proto\";\n\nmessage");
    let folder = tree(&[
        ("old/acme/user/v1/user.proto", user),
        ("old/acme/shop/v1/shop.proto", shop),
        ("new/abide.toml", "preset = \"buf-file\"\n[rules]\ncompiler-warning = \"error\"\n"),
        ("new/acme/user/v1/user.proto", &unused),
    ]);
    let folder = folder.path().join("new");
    let check = |more: &[&str]| {
        abide(&folder, &[&["check", "--against", "../old", "--format", "json"], more].concat())
    };
    // The one is a warning of the compiler, the other stands in the old tree alone.
    let before = check(&[]);
    assert_eq!(
        (before.status, before.rules()),
        (1, vec!["package-removed".to_owned(), "import-unused".to_owned()])
    );
    assert_eq!(check(&["--accept"]).status, 0);
    let ran = check(&[]);
    assert_eq!((ran.status, ran.rules()), (0, Vec::new()), "{}", ran.text());
}

#[test]
fn what_is_accepted_counts_as_in_the_next_run() {
    let user = "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User { string name = 1; }\n";
    let folder = tree(&[
        ("old/acme/user/v1/user.proto", user),
        ("new/abide.toml", ""),
        ("new/acme/user/v1/user.proto", &user.replace("string", "bytes")),
    ]);
    let folder = folder.path().join("new");
    let against = |more: &[&str]| {
        abide(&folder, &[&["check", "--against", "../old", "--format", "json"], more].concat())
    };
    let first = against(&[]);
    assert_eq!(first.json().pop().unwrap()["required_bump"], "major");
    let accepting = against(&["--accept"]);
    let next = against(&[]);
    assert_eq!((accepting.status, accepting.text()), (0, next.text()));
    assert_eq!(next.json().pop().unwrap()["required_bump"], "minor");
}

#[test]
fn what_is_accepted_changes_no_other_finding() {
    let user = "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User { string name = 1; }\n";
    let folder = tree(&[
        ("old/acme/user/v1/user.proto", user),
        ("new/abide.toml", ""),
        ("new/acme/user/v1/user.proto", &user.replace("string name = 1;", "")),
    ]);
    let folder = folder.path().join("new");
    let judge = || abide(&folder, &["check", "--against", "../old"]);
    let before = judge();
    assert!(before.text().contains("put it back and deprecate it"), "{}", before.text());
    // It holds no line for them.
    let accepting = abide(&folder, &["check", "--accept"]);
    assert!(accepting.stderr.contains("0 findings recorded"), "{}", accepting.stderr);
    assert_eq!(judge().text(), before.text());
}

#[test]
fn waivers_in_comments_and_in_the_configuration() {
    let rule = "package-version-missing";
    let source =
        |comment: &str| format!("syntax = \"proto3\";\n{comment}\npackage acme;\nmessage A {{}}\n");
    let folder = tree(&[("acme/a.proto", &source(""))]);
    let rules = |text: &str, config: &str, date: &str| {
        put(folder.path(), &[("acme/a.proto", &source(text)), ("abide.toml", config)]);
        let ran = abide(folder.path(), &["check", "--format", "json", "--as-of", date]);
        (ran.status, ran.rules())
    };
    let day = "2026-01-15";
    assert_eq!(rules("", "", day), (1, vec![rule.to_owned()]));
    assert_eq!(rules("// abide:allow(package-version-missing): old", "", day), (0, vec![]));
    let until = "// abide:allow(package-version-missing, until = \"2026-01-15\"): old";
    assert_eq!(rules(until, "", day), (0, vec![]));
    let (status, found) = rules(until, "", "2026-01-16");
    assert!(status == 1 && found.contains(&"waiver-expired".to_owned()), "{found:?}");
    let (_, found) = rules("// abide:allow(package-version-missing)", "", day);
    assert!(found.contains(&"waiver-invalid".to_owned()), "{found:?}");
    let waiver =
        "[[waiver]]\nrule = \"package-version-missing\"\nelement = \"acme\"\nreason = \"old\"\n";
    assert_eq!(rules("", waiver, day), (0, vec![]));
    let (status, found) = rules("", &format!("{waiver}until = \"2025-01-01\"\n"), day);
    assert!(status == 1 && found.contains(&"waiver-expired".to_owned()), "{found:?}");
    let unused = waiver.replace("\"acme\"", "\"zeta\"");
    let (_, found) = rules("", &unused, day);
    assert!(found.contains(&"waiver-unused".to_owned()), "{found:?}");
    let (status, _) =
        rules("", "[[waiver]]\nrule = \"package-version-missing\"\nelement = \"acme\"\n", day);
    assert_eq!(status, 2, "a waiver without a reason");
}

#[test]
fn reports_go_to_standard_output_or_a_file() {
    let folder = tree(&[("acme/user/v1/user.proto", BROKEN)]);
    let plain = abide(folder.path(), &["check"]);
    let ran = abide(folder.path(), &["check", "--output", "out/report.txt"]);
    assert_eq!((ran.status, ran.text().as_str()), (1, ""));
    let written = std::fs::read(folder.path().join("out/report.txt")).unwrap();
    assert_eq!(written, plain.stdout);
    assert_eq!(std::fs::read_dir(folder.path().join("out")).unwrap().count(), 1);
    let ran = abide(folder.path(), &["check", "--output", "-"]);
    assert_eq!(ran.stdout, plain.stdout);
    assert!(!plain.stdout.contains(&b'\x1b'));
    assert!(abide(folder.path(), &["check", "--color", "always"]).stdout.contains(&b'\x1b'));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_abide"))
        .args(["explain", "one-definition"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn init_writes_a_configuration_that_works() {
    let folder = tree(&[("acme/user/v1/user.proto", CLEAN)]);
    assert_eq!(abide(folder.path(), &["init", "--preset", "google"]).status, 0);
    let text = std::fs::read_to_string(folder.path().join("abide.toml")).unwrap();
    assert!(text.contains("preset = \"google\""));
    assert_eq!(abide(folder.path(), &["check"]).status, 0);
    let ran = abide(folder.path(), &["init"]);
    assert!(ran.status == 2 && ran.stderr.contains("exists"), "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(folder.path().join("abide.toml")).unwrap(), text);
    // So do the keys that it only suggests.
    let suggested = |line: &&str| line.starts_with('[') || line.contains(" = ");
    let text = text.replace("git:main...", ".");
    let lines = text.lines().map(|it| it.strip_prefix("# ").filter(suggested).unwrap_or(it));
    let lines: Vec<&str> = lines.collect();
    assert!(lines.contains(&"[calendar]"));
    std::fs::write(folder.path().join("abide.toml"), lines.join("\n")).unwrap();
    assert_eq!(abide(folder.path(), &["check"]).status, 0);
}

#[test]
fn the_calendar_counts_from_as_of() {
    let config = r#"
        [calendar]
        client-releases = ["03-31", "06-30", "09-30", "12-31"]
        api-releases = ["06-30"]
        previous-major-months = 12
        stable-since = { "acme.user.v2" = 2025-06-30 }
    "#;
    let old = r#"
        syntax = "proto3";
        package acme.user.v1;
        import "abide/annotations/v1/lifecycle.proto";
        message User {
          // Use `nickname`.
          string nick = 1 [
            deprecated = true,
            (abide.annotations.v1.field_policy).deprecated_at = "2026-02-10"
          ];
          string nickname = 2;
        }
    "#;
    let folder = tree(&[
        ("abide.toml", config),
        ("acme/user/v1/user.proto", old),
        (
            "acme/user/v2/user.proto",
            "syntax = \"proto3\";\npackage acme.user.v2;\nmessage User {}\n",
        ),
    ]);
    let api = concat!(env!("CARGO_MANIFEST_DIR"), "/../../api");
    let (refuses, ends) = ("deprecated-not-disallowed", "major-past-support");
    let expected: [(&str, &[&str]); 4] = [
        ("2026-06-29", &[]),
        ("2026-06-30", &[refuses]),
        ("2026-07-01", &[ends, refuses]),
        ("2027-01-01", &[ends, refuses]),
    ];
    for (day, rules) in expected {
        let args = ["check", ".", "-I", api, "--as-of", day, "--format", "json"];
        let ran = abide(folder.path(), &args);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert_eq!(ran.rules(), rules, "on {day}");
    }
    let bump = |day, more: &[&str]| {
        let args = [&["bump", ".", "-I", api, "--as-of", day], more].concat();
        abide(folder.path(), &args)
    };
    for (day, says) in [
        ("2026-05-30", "window for new majors: 2026-05-31 to 2026-06-30"),
        ("2026-05-31", "window for new majors: open until 2026-06-30"),
        ("2026-05-31", "next client release: 2026-06-30"),
        ("2026-06-30", "next client release: 2026-09-30"),
        ("2026-05-31", "acme.user.v1 is supported until 2026-06-30"),
        (
            "2026-06-30",
            "v1 is supported until 2026-06-30: acme.user.v2 has been stable since 2025-06-30",
        ),
        ("2026-07-01", "acme.user.v1 was supported until 2026-06-30"),
        ("2025-06-29", "acme.user.v2 will be stable on 2025-06-30"),
        ("2026-06-29", "User.nick: disallowed by default from 2026-06-30"),
        ("2026-06-30", "User.nick: disallowed by default, removed in acme.user.v2"),
    ] {
        let text = bump(day, &[]).text();
        assert!(text.contains(says), "on {day}: {text}");
    }
    let json = bump("2026-06-30", &["--format", "json"]).json();
    let calendar = json.iter().find(|it| it["kind"] == "calendar").expect("there is a calendar");
    assert_eq!(calendar["api_release"], "2027-06-30");
    assert_eq!(calendar["major_may_rise"], true);
    assert_eq!(calendar["deprecations"][0]["phase"], "disallowed");
    assert_eq!(json.last().expect("there is a summary")["kind"], "summary");
    std::fs::write(folder.path().join("abide.toml"), "").unwrap();
    assert!(!bump("2026-06-30", &[]).text().contains("calendar"));
    for day in ["soon", "2026-02-30", "26-6-3", "2026-06-30T12:00", ""] {
        let refused = bump(day, &[]);
        assert_eq!(refused.status, 2, "{day}");
        assert!(refused.stderr.contains("write one like 2026-06-30"), "{}", refused.stderr);
    }
}

#[test]
fn every_rule_is_listed_and_explained() {
    let listed = abide(&repository(), &["rules", "--format", "json"]).json();
    assert!(listed.iter().any(|rule| rule["id"] == "one-definition"));
    for rule in ["one-definition", "syntax-error", "waiver-expired"] {
        let page = abide(&repository(), &["explain", rule]);
        assert!(page.status == 0 && page.text().starts_with(&format!("# {rule}\n")));
    }
    let lines = abide(&repository(), &["rules"]).text();
    assert_eq!(lines.lines().count(), listed.len());
}

#[test]
fn a_set_is_built_only_of_a_tree_that_links() {
    let folder = tree(&[("acme/user/v1/user.proto", CLEAN)]);
    let ran = abide(folder.path(), &["build", "-o", "set.binpb"]);
    assert_eq!((ran.status, ran.text().as_str(), ran.stderr.as_str()), (0, "", ""));
    let set = std::fs::read(folder.path().join("set.binpb")).unwrap();
    assert!(set.windows(12).any(|part| part == b"acme.user.v1"));
    assert_eq!(abide(folder.path(), &["build", "-o", "-"]).stdout, set);
    put(folder.path(), &[("acme/user/v1/user.proto", BROKEN)]);
    let ran = abide(folder.path(), &["build", "-o", "set.binpb"]);
    assert_eq!((ran.status, ran.text().as_str()), (1, ""));
    assert!(
        ran.stderr.contains("`Gone` was not found") && ran.stderr.contains("nothing was written")
    );
    assert_eq!(std::fs::read(folder.path().join("set.binpb")).unwrap(), set);
}

#[test]
fn a_set_is_in_the_order_of_imports() {
    let folder = tree(&[
        ("a.proto", "syntax = \"proto3\";\nimport \"b.proto\";\nmessage A { B b = 1; }\n"),
        ("b.proto", "syntax = \"proto3\";\nmessage B {}\n"),
    ]);
    for with_or_without in [&["build", "-o", "-"][..], &["build", "-o", "-", "--exclude-imports"]] {
        let set = abide(folder.path(), with_or_without).stdout;
        let at = |name: &[u8]| set.windows(name.len()).position(|part| part == name);
        let (a, b) = (at(b"\x0a\x07a.proto"), at(b"\x0a\x07b.proto"));
        assert!(b.is_some() && b < a, "{with_or_without:?}: {a:?} {b:?}");
    }
}

#[test]
fn a_set_is_not_built_of_two_worlds() {
    let folder = tree(&[
        ("abide.toml", "roots = [\"a\", \"b\"]\n"),
        ("a/p/v1/x.proto", "syntax = \"proto3\";\npackage p.v1;\nmessage M {}\n"),
        ("b/p/v1/x.proto", "syntax = \"proto3\";\npackage p.v1;\nmessage N {}\n"),
    ]);
    let refused = |why: &str| {
        assert_eq!(abide(folder.path(), &["check"]).status, 0);
        for args in [&["build", "-o", "set.binpb"][..], &["build", "-o", "-", "--exclude-imports"]]
        {
            let ran = abide(folder.path(), args);
            assert_eq!((ran.status, ran.text().as_str()), (1, ""), "{}", ran.stderr);
            for part in [why, "`abide build a`", "note: nothing was written"] {
                assert!(ran.stderr.contains(part), "no {part}: {}", ran.stderr);
            }
        }
        assert!(!folder.path().join("set.binpb").exists());
        let one = abide(folder.path(), &["build", "a", "-o", "one.binpb"]);
        assert_eq!((one.status, one.stderr.as_str()), (0, ""));
        assert_eq!(abide(folder.path(), &["check", "one.binpb"]).status, 0);
    };
    refused("error: `a/p/v1/x.proto` and `b/p/v1/x.proto` are both imported as `p/v1/x.proto`\n");
    std::fs::remove_file(folder.path().join("b/p/v1/x.proto")).unwrap();
    let name = "syntax = \"proto3\";\npackage p.v1;\n\nmessage M {}\n";
    put(folder.path(), &[("b/p/v1/y.proto", name)]);
    refused(
        "error: the message `M` is declared twice in `p.v1`, first in `p/v1/x.proto`: \
         `a/p/v1/x.proto:3` and `b/p/v1/y.proto:4`\n",
    );
    put(folder.path(), &[("b/p/v1/y.proto", &name.replace('M', "N"))]);
    assert_eq!(abide(folder.path(), &["build", "-o", "set.binpb"]).status, 0);
    put(folder.path(), &[("b/p/v1/y.proto", &name.replace("p.v1", "p.v1.M"))]);
    let ran = abide(folder.path(), &["build", "-o", "-"]);
    let both = "error: `p.v1.M` is both a message and a package";
    assert!(ran.status == 1 && ran.stderr.contains(both), "{}", ran.stderr);
}

#[test]
fn a_graph_of_a_tree_that_does_not_link_says_so() {
    let folder = tree(&[("acme/user/v1/user.proto", CLEAN)]);
    let ran = abide(folder.path(), &["graph"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    // Of what does not parse nobody knows where it leads.
    let half = "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {\n";
    for (broken, is_drawn) in [(BROKEN, true), (half, false)] {
        put(folder.path(), &[("acme/user/v1/user.proto", broken)]);
        let ran = abide(folder.path(), &["graph"]);
        assert!(
            ran.status == 1 && ran.text().contains("acme.user.v1") == is_drawn,
            "{}",
            ran.text()
        );
        let told = "note: the tree is not valid, so the graph may be incomplete";
        assert!(ran.stderr.contains("error[") && ran.stderr.contains(told), "{}", ran.stderr);
    }
}

#[test]
fn a_set_is_written_as_its_name_says_and_read_back() {
    const OPTION: &str = "syntax = \"proto3\";\npackage acme.user.v1;\n\
        import \"google/protobuf/descriptor.proto\";\n\
        extend google.protobuf.FieldOptions { string note = 50000; }\n\
        message User { string name = 1 [(note) = \"é\\n\"]; }\n";
    let folder = tree(&[("acme/user/v1/user.proto", OPTION)]);
    let run = |args: &[&str]| {
        let ran = abide(folder.path(), args);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{args:?}");
        ran.stdout
    };
    let set = run(&["build", "-o", "-"]);
    for (name, head) in [
        ("set.pb", &set[..4]),
        ("set.bin", &set[..4]),
        ("set.desc", &set[..4]),
        ("set.protoset.gz", b"\x1f\x8b"),
        ("set.yaml", b"{\""),
        ("set.yml.zst", b"\x28\xb5\x2f\xfd"),
        ("set.json", b"{\""),
        ("set.txtpb", b"file {"),
        ("set.binpb.gz", b"\x1f\x8b"),
        ("set.json.zst", b"\x28\xb5\x2f\xfd"),
        ("set.txtpb.gz", b"\x1f\x8b"),
    ] {
        run(&["build", "-o", name]);
        let written = std::fs::read(folder.path().join(name)).unwrap();
        assert!(written.starts_with(head), "{name}: {:?}", &written[..8]);
        assert_eq!(run(&["build", name, "-o", "-"]), set, "{name}");
    }
}

#[test]
fn a_verbose_build_names_its_stages_with_their_times() {
    let folder = tree(&[("acme/user/v1/user.proto", CLEAN)]);
    let quiet = abide(folder.path(), &["build", "-o", "quiet.binpb"]);
    let ran = abide(folder.path(), &["build", "-v", "-o", "set.binpb"]);
    assert_eq!((ran.status, quiet.status, quiet.stderr.as_str()), (0, 0, ""));
    let stages: Vec<_> = ran.stderr.lines().map(|it| it.split(" took ").next()).collect();
    assert_eq!(
        stages,
        [
            Some("note: reading"),
            Some("note: parsing 1 files"),
            Some("note: linking 1 files"),
            Some("note: checking the links"),
            Some("note: looking for clashes"),
            Some("note: writing descriptors of 1 files"),
        ]
    );
    let read = |name| std::fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("set.binpb"), read("quiet.binpb"));
}

/// The set is written while it is made, so a disk that is full shows up in the middle.
#[cfg(unix)]
#[test]
fn a_build_that_cannot_be_written_leaves_what_was_there() {
    let large: String = (0..2000).map(|at| format!("message User{at} {{}}\n")).collect();
    let large = format!("{CLEAN}{large}");
    let folder = tree(&[("acme/user/v1/user.proto", &large), ("out/old.binpb", "old")]);
    let abide = env!("CARGO_BIN_EXE_abide");
    for name in ["new.binpb", "old.binpb", "new.json", "new.txtpb", "new.binpb.gz", "new.pb.zst"] {
        let script = format!("trap '' XFSZ; ulimit -f 2; exec {abide} build -o out/{name}");
        let mut shell = std::process::Command::new("sh");
        let ran = shell.args(["-c", &script]).current_dir(folder.path()).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{name}: {said}");
        assert!(said.contains(&format!("cannot write `out/{name}`")), "{said}");
        let left: Vec<_> = std::fs::read_dir(folder.path().join("out")).unwrap().collect();
        assert_eq!(left.len(), 1, "{name}: {left:?}");
        assert_eq!(std::fs::read(folder.path().join("out/old.binpb")).unwrap(), b"old");
    }
}

#[test]
fn standard_input_is_a_descriptor_set() {
    let folder = tree(&[("a.proto", CLEAN)]);
    let ran = abide_with(folder.path(), &["check", "-"], b"");
    assert!(ran.status == 2 && ran.stderr.contains("standard input"), "{}", ran.stderr);
}
