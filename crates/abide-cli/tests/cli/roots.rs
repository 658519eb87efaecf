//! `roots` of `abide.toml` and `--root`.

use tempfile::TempDir;

use crate::history::git;
use crate::run::{abide, abide_with, put};

const USER: &str =
    "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {\n  string mail = 1;\n}\n";

fn tree(config: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    put(folder.path(), &[("proto/acme/user/v1/user.proto", USER), ("abide.toml", config)]);
    folder
}

#[test]
fn a_root_that_does_not_exist_is_shown_in_abide_toml() {
    for (config, place, said) in [
        ("roots = [\"prto\"]\n", "1:10", "did you mean `proto`?"),
        ("# Ours.\nroots = [\"proto\", \"api\"]\n", "2:19", "create the folder, or remove it"),
        ("roots = [\"../proto\"]\n", "1:10", "is not inside the folder of abide.toml"),
        ("roots = [\"abide.toml\"]\n", "1:10", "the root `abide.toml` does not exist"),
    ] {
        let folder = tree(config);
        for command in ["check", "lint", "hash"] {
            let ran = abide(folder.path(), &[command]);
            assert_eq!(ran.status, 2, "{config}");
            let at = format!("abide.toml:{place}");
            assert!(ran.stderr.contains(&at) && ran.stderr.contains(said), "{}", ran.stderr);
        }
    }
}

#[test]
fn roots_of_the_command_line_replace_those_of_abide_toml() {
    let layout = "[rules]\npackage-path-mismatch = \"error\"\n";
    for config in [format!("roots = [\"gone\"]\n{layout}"), layout.to_owned()] {
        let folder = tree(&config);
        let ran = abide(folder.path(), &["check", "-q", "--root", "proto"]);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{}", ran.text());
        // They count from the current folder.
        let below = folder.path().join("proto");
        let ran = abide(&below, &["check", "-q", "--root", "."]);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{}", ran.text());
    }
    let folder = tree(layout);
    assert_eq!(abide(folder.path(), &["check", "-q"]).status, 1, "it begins in `proto`");
    for (root, said) in [("gone", "`gone`"), ("..", "is not inside the folder")] {
        let ran = abide(folder.path(), &["check", "-q", "--root", root]);
        assert!(ran.status == 2 && ran.stderr.contains(said), "{}", ran.stderr);
    }
}

#[test]
fn roots_hold_without_a_configuration_and_in_the_old_tree() {
    let folder = TempDir::new().unwrap();
    let used = "syntax = \"proto3\";\npackage acme.a.v1;\nimport \"acme/user/v1/user.proto\";\n\
                message A {\n  acme.user.v1.User user = 1;\n}\n";
    put(folder.path(), &[("one/acme/user/v1/user.proto", USER), ("two/acme/a/v1/a.proto", used)]);
    put(
        folder.path(),
        &[
            ("old/one/acme/user/v1/user.proto", USER),
            ("old/two/acme/a/v1/a.proto", &used.replace("user = 1", "user = 2")),
        ],
    );
    let args = ["check", "-q", "--root", "one", "--root", "two"];
    let ran = abide(folder.path(), &args);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{}", ran.text());
    let ran =
        abide(folder.path(), &[&args[..], &["--against", "old", "--format", "json"]].concat());
    assert_eq!(ran.rules(), ["field-number-changed"], "{}{}", ran.text(), ran.stderr);
}

/// A repository whose only commit has the user below `was`, and whose working tree has it with
/// another type below `api`.
fn moved(was: &str, configured: Option<&str>) -> TempDir {
    let folder = TempDir::new().unwrap();
    git(folder.path(), &["init", "--quiet"]);
    put(folder.path(), &[(&format!("{was}acme/user/v1/user.proto"), USER)]);
    if let Some(config) = configured {
        put(folder.path(), &[("abide.toml", config)]);
    }
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "--quiet", "--message", "first"]);
    let top = if was.is_empty() { "acme" } else { "proto" };
    std::fs::remove_dir_all(folder.path().join(top)).unwrap();
    put(
        folder.path(),
        &[
            ("api/acme/user/v1/user.proto", &USER.replace("string mail", "bytes mail")),
            ("abide.toml", "roots = [\"api\"]\n"),
        ],
    );
    folder
}

#[test]
fn a_root_that_had_another_name_is_compared_with_what_it_was() {
    for (was, configured) in [
        ("proto/", "roots = [\"proto\"]\n"),
        ("proto/src/", "roots = [\"./proto/src/\"]\n"),
        // The tree was the whole folder.
        ("", "[rules]\na-rule-of-long-ago = \"off\"\n"),
    ] {
        let folder = moved(was, Some(configured));
        for part in [None, Some("api"), Some("api/acme"), Some("api/acme/user/v1/user.proto")] {
            let args = ["check", "--against", "git:HEAD", "--format", "json"];
            let ran = abide(folder.path(), &[&args[..1], part.as_slice(), &args[1..]].concat());
            assert_eq!(
                ran.rules(),
                ["field-type-changed"],
                "{was} {part:?}: {}{}",
                ran.text(),
                ran.stderr
            );
        }
        let ran = abide(
            folder.path(),
            &["check", "--changed", "--against", "git:HEAD", "--format", "json"],
        );
        assert_eq!(ran.rules(), ["field-type-changed"], "{was}: {}{}", ran.text(), ran.stderr);
    }
    // Nothing says that this is the same root.
    for configured in [None, Some("roots = [\"proto\", \"more\"]\n")] {
        let folder = moved("proto/", configured);
        let ran = abide(folder.path(), &["check", "--against", "git:HEAD"]);
        assert_eq!(ran.status, 0, "{}", ran.text());
        let advice = "so everything counts as new; if they were in another folder, name it: \
                      `git:HEAD:DIR`";
        assert!(ran.stderr.contains(advice), "{}", ran.stderr);
        let args = ["check", "--against", "git:HEAD:proto", "--format", "json"];
        assert_eq!(abide(folder.path(), &args).rules(), ["field-type-changed"]);
    }
}

const ROLE: &str = "syntax = \"proto3\";\npackage acme.user.v1;\nimport \"acme/user/v1/user.proto\";\n\
                    message Role {\n  User user = 1;\n}\n";

/// A tree with a root for which nothing is configured.
fn rooted() -> TempDir {
    let folder = TempDir::new().unwrap();
    put(
        folder.path(),
        &[
            ("proto/acme/user/v1/user.proto", USER),
            ("proto/acme/user/v1/role.proto", ROLE),
            (
                "proto/acme/bad.proto",
                "syntax = \"proto3\";\npackage acme.bad.v1;\nmessage Bad {\n  None none = 1;\n}\n",
            ),
        ],
    );
    folder
}

#[test]
fn a_root_of_the_command_line_holds_for_a_file_and_a_folder_below_it() {
    let folder = rooted();
    let paths: [&[&str]; 4] = [
        &["proto/acme/user/v1/role.proto"],
        &["proto/acme/user"],
        &["proto/acme/user/v1/role.proto", "proto/acme/user/v1/user.proto"],
        &["proto/acme/user/v1", "proto/acme/user/v1/user.proto"],
    ];
    for command in ["lint", "check"] {
        for paths in paths {
            let ran = abide(folder.path(), &[&[command, "-q", "--root", "proto"], paths].concat());
            assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{paths:?}: {}", ran.text());
        }
        let ran = abide(folder.path(), &[command, "--root", "proto", "proto/acme"]);
        assert_eq!(ran.status, 1, "{}{}", ran.text(), ran.stderr);
    }
    // Nothing but the part is compared.
    put(folder.path(), &[("old/proto/acme/user/v1/user.proto", &USER.replace("string", "bytes"))]);
    put(folder.path(), &[("old/proto/acme/user/v1/role.proto", ROLE)]);
    let args = ["breaking", "--root", "proto", "--against", "old", "--format", "json"];
    std::fs::remove_file(folder.path().join("proto/acme/bad.proto")).unwrap();
    let rules = |path| abide(folder.path(), &[&args[..], &[path]].concat()).rules();
    assert_eq!(rules("proto/acme/user/v1/user.proto"), ["field-type-changed"]);
    assert_eq!(rules("proto/acme/user/v1/role.proto"), Vec::<String>::new());
}

/// As hooks pass them: lint-staged, lefthook, pre-commit.
#[test]
fn several_files_of_a_tree_are_judged_together() {
    let good = ["proto/acme/user/v1/user.proto", "proto/acme/user/v1/role.proto"];
    let bad = [good[0], "proto/acme/bad.proto"];
    for config in [None, Some("roots = [\"proto\"]\n")] {
        let folder = rooted();
        let mut here = folder.path().to_owned();
        let mut strip = "";
        match config {
            Some(config) => put(folder.path(), &[("abide.toml", config)]),
            // Without a root, imports count from the current folder.
            None => (here, strip) = (here.join("proto"), "proto/"),
        }
        let run = |command: &str, paths: [&str; 2]| {
            let paths = paths.map(|it| it.strip_prefix(strip).unwrap());
            abide(&here, &[command, "-q", "--format", "json", paths[0], paths[1]])
        };
        for command in ["lint", "check"] {
            let ran = run(command, good);
            assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{config:?}: {}", ran.text());
            let ran = run(command, bad);
            assert_eq!(ran.status, 1, "{config:?}: {}{}", ran.text(), ran.stderr);
            assert!(ran.rules().contains(&"name-not-found".to_owned()), "{}", ran.text());
        }
        let ran = run("lint", [good[0], "proto/acme/none.txt"]);
        assert!(ran.status == 2 && ran.stderr.contains("none.txt"), "{}", ran.stderr);
    }
    // Each part is compared with the same part of the old tree.
    let folder = rooted();
    put(folder.path(), &[("abide.toml", "roots = [\"proto\"]\n")]);
    git(folder.path(), &["init", "--quiet"]);
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "--quiet", "-m", "first"]);
    put(folder.path(), &[(good[0], &USER.replace("string", "bytes"))]);
    let args = ["breaking", "--against", "git:HEAD", "--format", "json"];
    let rules = |paths: &[&str]| abide(folder.path(), &[&args[..], paths].concat()).rules();
    assert_eq!(rules(&good), ["name-not-found", "field-type-changed"]);
    assert_eq!(rules(&[good[1], bad[1]]), ["name-not-found"]);
}

#[test]
fn a_file_is_judged_with_the_text_on_standard_input() {
    let path = "proto/acme/user/v1/user.proto";
    for config in [None, Some("roots = [\"proto\"]\n")] {
        let folder = rooted();
        std::fs::remove_file(folder.path().join("proto/acme/bad.proto")).unwrap();
        let mut args = vec!["breaking", "--against", "git:HEAD", "--format", "json"];
        match config {
            Some(config) => put(folder.path(), &[("abide.toml", config)]),
            None => args.extend(["--root", "proto"]),
        }
        git(folder.path(), &["init", "--quiet"]);
        git(folder.path(), &["add", "."]);
        git(folder.path(), &["commit", "--quiet", "-m", "first"]);
        let edited = USER.replace("string mail", "bytes mail");
        let input = |args: &[&str], path: &str, text: &str| {
            let args = [args, &["--stdin-filepath", path]].concat();
            abide_with(folder.path(), &args, text.as_bytes())
        };
        assert_eq!(input(&args, path, USER).rules(), Vec::<String>::new(), "{config:?}");
        let ran = input(&args, path, &edited);
        assert_eq!(ran.rules(), ["field-type-changed"], "{config:?}: {}", ran.stderr);
        // A file that is not written yet, and what others import of it.
        let lint = if config.is_some() {
            vec!["lint", "-q"]
        } else {
            vec!["lint", "-q", "--root", "proto"]
        };
        let new = "proto/acme/user/v1/new.proto";
        let ran = input(&lint, new, &ROLE.replace("Role", "New"));
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{config:?}: {}", ran.text());
        let ran = input(
            &[&lint[..], &["proto/acme/user/v1/role.proto"]].concat(),
            path,
            &edited.replace("User", "Users"),
        );
        assert!(ran.status == 1 && ran.text().contains("`User` was not found"), "{}", ran.text());
        let ran = input(&[&lint[..], &["--fix"]].concat(), path, USER);
        assert!(ran.status == 2 && ran.stderr.contains("cannot be fixed"), "{}", ran.stderr);
        assert_eq!(std::fs::read_to_string(folder.path().join(path)).unwrap(), USER);
    }
}

#[test]
fn a_root_that_a_revision_does_not_have_is_empty_there() {
    let folder = tree("roots = [\"proto\"]\n");
    git(folder.path(), &["init", "--quiet"]);
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "--quiet", "-m", "first"]);
    put(folder.path(), &[("abide.toml", "roots = [\"proto\", \"more\"]\n")]);
    let more = "syntax = \"proto3\";\npackage acme.more.v1;\nmessage More {}\n";
    put(folder.path(), &[("more/acme/more/v1/more.proto", more)]);
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "--quiet", "-m", "second"]);
    for args in [
        &["breaking", "--against", "git:HEAD~1"][..],
        &["breaking", "git:HEAD", "--against", "git:HEAD~1"],
        &["breaking", "git:HEAD~1", "--against", "git:HEAD~1"],
        &["check", "git:HEAD~1"],
    ] {
        let ran = abide(folder.path(), args);
        assert_eq!(ran.status, 0, "{args:?}: {}{}", ran.text(), ran.stderr);
        let said = "`git:HEAD~1` has no root `more`, which counts as empty";
        assert!(ran.stderr.contains(said), "{args:?}: {}", ran.stderr);
    }
    // What leaves with its root is removed.
    let ran = abide(
        folder.path(),
        &["breaking", "git:HEAD~1", "--against", "git:HEAD", "--format", "json"],
    );
    assert_eq!(ran.rules(), ["package-removed"], "{}", ran.stderr);
}
