//! A folder that repeats the files of another one.

use tempfile::TempDir;

use crate::run::{abide, put};

const ACCOUNT: (&str, &str) = (
    "acme/user/v1/account.proto",
    "syntax = \"proto3\";\npackage acme.user.v1;\nimport \"acme/user/v1/user.proto\";\n\
     message Account { User user = 1; }\nmessage Office { User head = 1; }\n",
);
const USER: (&str, &str) = (
    "acme/user/v1/user.proto",
    "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User { string name = 1; }\n\
     message Group { repeated User users = 1; }\n",
);

/// A tree in which these folders have the same two files.
fn repeated(above: &[&str]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for above in above {
        for (path, text) in [ACCOUNT, USER] {
            put(folder.path(), &[(format!("{above}{path}").as_str(), text)]);
        }
    }
    folder
}

#[test]
fn a_repeated_folder_is_one_finding_that_says_how_to_set_the_roots() {
    let folder = repeated(&["", "preview/"]);
    let ran = abide(folder.path(), &["check", "--format", "json"]);
    assert_eq!(ran.rules(), ["name-duplicated"], "{}", ran.text());
    let finding = &ran.json()[0];
    assert_eq!(
        finding["message"],
        "the folder `preview` repeats 2 files of the folder that it is in"
    );
    let help = finding["help"].as_str().unwrap();
    let roots = "roots = [\".\", \"preview\"]";
    assert!(help.contains(roots), "{help}");
    // The help works.
    put(folder.path(), &[("abide.toml", &format!("{roots}\n"))]);
    let ran = abide(folder.path(), &["check", "--format", "json"]);
    assert_eq!(ran.rules(), Vec::<String>::new(), "{}", ran.text());
    // So does the other one.
    std::fs::remove_file(folder.path().join("abide.toml")).unwrap();
    put(folder.path(), &[(".ignore", "/preview/\n")]);
    let ran = abide(folder.path(), &["check", "--format", "json"]);
    assert_eq!(ran.rules(), Vec::<String>::new(), "{}", ran.text());
}

#[test]
fn the_roots_are_written_from_the_folder_of_the_configuration() {
    let folder = repeated(&["proto/", "proto/next/preview/"]);
    put(folder.path(), &[("abide.toml", "roots = [\"proto\"]\n")]);
    let ran = abide(folder.path(), &["check", "--format", "json"]);
    assert_eq!(ran.rules(), ["name-duplicated"], "{}", ran.text());
    let help = ran.json()[0]["help"].as_str().unwrap().to_owned();
    let roots = "roots = [\"proto\", \"proto/next/preview\"]";
    assert!(help.contains(roots), "{help}");
    put(folder.path(), &[("abide.toml", &format!("{roots}\n"))]);
    let ran = abide(folder.path(), &["check", "--format", "json"]);
    assert_eq!(ran.rules(), Vec::<String>::new(), "{}", ran.text());
}

/// What one finding says about the roots keeps what is configured and what another one says.
#[test]
fn several_repeated_folders_are_roots_together() {
    let folder = repeated(&["", "old/", "preview/"]);
    for config in [None, Some("roots = [\".\", \"old\"]\n")] {
        if let Some(config) = config {
            put(folder.path(), &[("abide.toml", config)]);
        }
        let ran = abide(folder.path(), &["check", "--format", "json"]);
        let roots = "roots = [\".\", \"old\", \"preview\"]";
        for finding in ran.json().iter().filter(|it| it["kind"] == "finding") {
            assert_eq!(finding["rule"], "name-duplicated");
            let help = finding["help"].as_str().unwrap();
            assert!(help.contains(roots), "{help}");
        }
        assert!(!ran.rules().is_empty());
        put(folder.path(), &[("abide.toml", &format!("{roots}\n"))]);
        let ran = abide(folder.path(), &["check", "--format", "json"]);
        assert_eq!(ran.rules(), Vec::<String>::new(), "{}", ran.text());
    }
}

#[test]
fn folders_that_repeat_each_other_leave_the_rest_a_root() {
    let folder = repeated(&["a/", "b/"]);
    put(folder.path(), &[("acme/c/v1/c.proto", "syntax = \"proto3\";\npackage acme.c.v1;\n")]);
    let ran = abide(folder.path(), &["check", "--format", "json"]);
    let findings = ran.json();
    let help = findings.iter().find(|it| it["rule"] == "name-duplicated").unwrap()["help"].as_str();
    assert!(help.unwrap().contains("roots = [\".\", \"a\", \"b\"]"), "{help:?}");
    std::fs::remove_file(folder.path().join("acme/c/v1/c.proto")).unwrap();
    let ran = abide(folder.path(), &["check", "--format", "json"]);
    let findings = ran.json();
    let help = findings.iter().find(|it| it["rule"] == "name-duplicated").unwrap()["help"].as_str();
    assert!(help.unwrap().contains("roots = [\"a\", \"b\"]"), "{help:?}");
}

#[test]
fn a_name_that_is_declared_twice_in_one_folder_is_reported_as_such() {
    let folder = repeated(&[""]);
    let other = USER.1.replace("message User { string name = 1; }\n", "");
    let other = format!("{other}message User {{}}\n").replace("Group", "Crowd");
    let user = ACCOUNT.1.replace("Account", "Club").replace("Office", "Board");
    let user = user.replace("user.proto", "other.proto\";\nimport \"acme/user/v1/user.proto");
    put(folder.path(), &[("acme/user/v1/other.proto", &other), ("acme/user/v1/club.proto", &user)]);
    let ran = abide(folder.path(), &["check", "--format", "json"]);
    assert_eq!(ran.rules(), ["import-unused", "name-duplicated"], "{}", ran.text());
    let message = ran.json()[1]["message"].to_string();
    assert!(message.contains("the message `User` is declared twice"), "{message}");
}
