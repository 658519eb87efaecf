//! `abide format`: what it writes, names and leaves alone.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::breaking::commit;
use crate::run::{abide, abide_with, put};

const LOOSE: &str = "syntax=\"proto3\";\npackage acme.v1;message A{string a=1;} // a\n";
const NEAT: &str = "syntax = \"proto3\";\npackage acme.v1;\nmessage A {\n  string a = 1;\n} // a\n";

pub(crate) fn tree(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    put(folder.path(), files);
    folder
}

pub(crate) fn read(folder: &Path, path: &str) -> String {
    fs::read_to_string(folder.join(path)).unwrap()
}

#[test]
fn check_names_what_write_formats() {
    let tree = tree(&[("acme/v1/loose.proto", LOOSE), ("acme/v1/neat.proto", NEAT)]);
    let run = |option: &str| abide(tree.path(), &["format", option]);
    let check = run("--check");
    assert_eq!((check.status, &*check.text()), (1, "acme/v1/loose.proto\n"), "{}", check.stderr);
    assert_eq!(check.stderr, "note: 1 of 2 files not formatted\n");
    let diff = run("--diff");
    assert_eq!(diff.status, 0);
    assert!(diff.text().contains("--- a/acme/v1/loose.proto\n"), "{}", diff.text());
    assert!(diff.text().contains("+message A {\n"), "{}", diff.text());
    assert_eq!(read(tree.path(), "acme/v1/loose.proto"), LOOSE);
    let write = run("--write");
    assert_eq!((write.status, &*write.text()), (0, ""));
    assert_eq!(write.stderr, "note: formatted 1 of 2 files\n");
    assert_eq!(read(tree.path(), "acme/v1/loose.proto"), NEAT);
    for option in ["--check", "--diff", "--write"] {
        let run = run(option);
        assert_eq!((run.status, &*run.text(), &*run.stderr), (0, "", ""), "{option}");
    }
}

#[test]
fn a_file_with_errors_is_named_and_the_others_are_formatted() {
    let broken = "syntax = \"proto3\";\nmessage A { string = 1; }\n";
    let tree = tree(&[("a.proto", broken), ("b.proto", LOOSE)]);
    let run = abide(tree.path(), &["format", "--write"]);
    assert_eq!(run.status, 1);
    assert!(run.stderr.starts_with("error: a.proto:2:20: "), "{}", run.stderr);
    assert_eq!(read(tree.path(), "a.proto"), broken);
    assert_eq!(read(tree.path(), "b.proto"), NEAT);
}

#[test]
fn imported_files_are_left_alone() {
    let tree = tree(&[("api/a.proto", LOOSE), ("vendor/b.proto", LOOSE)]);
    let run = abide(tree.path(), &["format", "api", "-I", "vendor", "--write"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(read(tree.path(), "api/a.proto"), NEAT);
    assert_eq!(read(tree.path(), "vendor/b.proto"), LOOSE);
}

#[test]
fn generated_candidates_are_left_to_the_upgrade() {
    let frozen = "syntax = \"proto3\";\npackage acme.v1;\nmessage A {string a=1; string b = 2 \
                  [deprecated = true];}\n";
    let tree = tree(&[("abide.toml", ""), ("acme/v1/a.proto", frozen)]);
    let upgrade = abide(tree.path(), &["upgrade", "--write"]);
    assert_eq!(upgrade.status, 0, "{}", upgrade.stderr);
    let candidate = read(tree.path(), "acme/v2alpha/a.proto");
    let format = abide(tree.path(), &["format", "--write"]);
    assert_eq!(format.status, 0, "{}", format.stderr);
    assert!(format.stderr.contains("left out 1 file that `abide upgrade` wrote"));
    assert_eq!(read(tree.path(), "acme/v2alpha/a.proto"), candidate);
    assert_ne!(read(tree.path(), "acme/v1/a.proto"), frozen);
    // The candidate follows the file that was formatted.
    assert_eq!(abide(tree.path(), &["upgrade", "--write"]).status, 0);
    assert_eq!(abide(tree.path(), &["upgrade", "--check"]).status, 0);
    assert_eq!(abide(tree.path(), &["format", "--check"]).status, 0);
}

#[test]
fn what_is_formatted_means_the_same() {
    let text = "syntax=\"proto3\";\npackage acme.v1;option java_package=\"b\";\nmessage A{string a=1 \
                [deprecated=true,json_name=\"x\"];map<string,A> b=2;reserved 4,6 to 8;}\n";
    let tree = tree(&[("acme/v1/a.proto", text)]);
    let hashes = || abide(tree.path(), &["hash", "--format", "json"]).text();
    let before = hashes();
    assert!(before.contains("abide1:sha256:"));
    assert_eq!(abide(tree.path(), &["format", "--write"]).status, 0);
    assert_ne!(read(tree.path(), "acme/v1/a.proto"), text);
    assert_eq!(hashes(), before);
}

#[test]
fn standard_input_comes_back_formatted() {
    let tree = tree(&[]);
    let run = |text: &str| {
        let args = ["format", "--stdin-filepath", "x.proto"];
        let ran = abide_with(tree.path(), &args, text.as_bytes());
        (ran.status, ran.text(), ran.stderr)
    };
    assert_eq!(run(LOOSE), (0, NEAT.to_owned(), String::new()));
    let (code, stdout, stderr) = run("message {");
    assert_eq!((code, &*stdout), (1, ""));
    assert!(stderr.starts_with("error: x.proto:1:9: "), "{stderr}");
}

#[test]
fn a_revision_is_checked_and_not_written() {
    let tree = tree(&[("acme/v1/a.proto", LOOSE)]);
    commit(tree.path());
    let check = abide(tree.path(), &["format", "git:HEAD", "--check"]);
    assert_eq!((check.status, &*check.text()), (1, "acme/v1/a.proto\n"), "{}", check.stderr);
    let write = abide(tree.path(), &["format", "git:HEAD", "--write"]);
    assert_eq!(write.status, 2);
    assert!(write.stderr.contains("needs a tree on disk"), "{}", write.stderr);
    assert_eq!(read(tree.path(), "acme/v1/a.proto"), LOOSE);
}

/// As with other formatters: files and folders in any number, named as the user sees them.
#[test]
fn files_and_folders_are_named_on_the_command_line() {
    let files = [("one.proto", LOOSE), ("a/x.proto", LOOSE), ("b/c/y.proto", LOOSE)];
    let tree = tree(&[("one.proto", LOOSE), ("a/x.proto", LOOSE), ("b/c/y.proto", LOOSE)]);
    let run = |args: &[&str]| abide(tree.path(), &[&["format"], args].concat());
    let check = |args: &[&str]| run(&[args, &["--check"]].concat()).text();
    assert_eq!(check(&["one.proto"]), "one.proto\n");
    assert_eq!(check(&["a", "b/c", "one.proto"]), "a/x.proto\nb/c/y.proto\none.proto\n");
    assert_eq!(check(&["b", "./b/c/y.proto", "a/../b"]), "b/c/y.proto\n", "each file once");
    let beside = abide(&tree.path().join("a"), &["format", "--check", ".", "../b"]);
    assert_eq!((beside.status, &*beside.text()), (1, "x.proto\n../b/c/y.proto\n"));
    assert_eq!(beside.stderr, "note: 2 of 2 files not formatted\n");
    let write = run(&["one.proto", "b", "--write"]);
    assert_eq!((write.status, &*write.stderr), (0, "note: formatted 2 of 2 files\n"));
    assert_eq!(files.map(|(path, _)| read(tree.path(), path)), [NEAT, LOOSE, NEAT]);
    let missing = run(&["a", "nowhere.proto", "--check"]);
    assert_eq!(missing.status, 2);
    assert!(missing.stderr.contains("nowhere.proto"), "{}", missing.stderr);
}

#[test]
fn one_file_of_a_configured_tree_or_beside_it_is_written() {
    let config = "roots = [\"a\"]\n";
    let tree = tree(&[("abide.toml", config), ("one.proto", LOOSE), ("a/x.proto", LOOSE)]);
    for path in ["one.proto", "a/x.proto"] {
        let write = abide(tree.path(), &["format", "--write", path]);
        assert_eq!((write.status, &*write.stderr), (0, "note: formatted 1 of 1 file\n"), "{path}");
        assert_eq!(read(tree.path(), path), NEAT);
    }
}

/// Without the semicolon it would become the comment of a field.
#[test]
fn a_comment_behind_a_lone_semicolon_stays_nobodys() {
    let text = "syntax = \"proto3\";\nmessage A {; // a\n  string a = 1;; // b\n};; // c\n";
    let neat = "syntax = \"proto3\";\n\nmessage A {\n  ; // a\n  string a = 1;\n  ; // b\n} // c\n";
    let ran = abide_with(Path::new("."), &["format", "--stdin-filepath", "a"], text.as_bytes());
    assert_eq!(ran.text(), neat);
}

#[cfg(unix)]
#[test]
fn the_mode_and_the_other_names_of_a_file_stay() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    let tree = tree(&[("a.proto", LOOSE), ("b.proto", LOOSE), ("c.proto", LOOSE)]);
    let at = |path: &str| tree.path().join(path);
    let mode = |path: &str| fs::metadata(at(path)).unwrap().permissions().mode() & 0o777;
    let set = |path, mode| fs::set_permissions(at(path), fs::Permissions::from_mode(mode)).unwrap();
    fs::hard_link(at("b.proto"), at("b.other")).unwrap();
    set("a.proto", 0o640);
    set("c.proto", 0o444);
    let refused = abide(tree.path(), &["format", "--write"]);
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.ends_with("c.proto`: it is read-only\n"), "{}", refused.stderr);
    assert_eq!(read(tree.path(), "a.proto"), LOOSE, "nothing is written before that is known");
    let output = ["rules", "--format", "json", "--output", "c.proto"];
    assert_eq!(abide(tree.path(), &output).status, 2, "no command replaces it");
    set("c.proto", 0o600);
    assert_eq!(abide(tree.path(), &["format", "--write"]).status, 0);
    assert_eq!((mode("a.proto"), mode("c.proto")), (0o640, 0o600));
    assert_eq!(read(tree.path(), "b.other"), NEAT);
    assert_eq!(fs::metadata(at("b.proto")).unwrap().nlink(), 2);
}
