//! `abide deprecate` edits one file so that the policy is content with the deprecation, or nothing.

use std::fs;

use tempfile::TempDir;

use crate::breaking::{commit, git};
use crate::run::{Ran, abide, put};

const USER: &str = "acme/user/v1/user.proto";
const TEXT: &str = "syntax = \"proto3\";\npackage acme.user.v1;\n\n// A user.\nmessage User {\n  \
                    // The mail.\n  string mail = 1;\n  string email = 2;\n  oneof kind {\n    \
                    string nick = 3;\n  }\n}\n\nservice Users {\n  rpc Get(User) returns (User);\n}\n";

fn tree() -> TempDir {
    let tree = TempDir::new().unwrap();
    put(tree.path(), &[("abide.toml", ""), (USER, TEXT)]);
    tree
}

fn deprecate(tree: &TempDir, args: &[&str]) -> Ran {
    abide(tree.path(), &[&["deprecate"], args].concat())
}

fn text(tree: &TempDir) -> String {
    fs::read_to_string(tree.path().join(USER)).unwrap()
}

#[test]
fn the_policy_is_content_with_what_it_writes() {
    for (element, answer, added) in [
        ("mail", ["--replaced-by", "email"], "  // Deprecated: use `email` instead.\n"),
        ("email", ["--dropped", "nobody reads it."], "replacement: nobody reads it.\n"),
        ("nick", ["--replaced-by", "acme.user.v1.User.mail"], "use `acme.user.v1.User.mail`"),
    ] {
        let tree = tree();
        let element = format!("acme.user.v1.User.{element}");
        let args = [&[element.as_str()][..], &answer].concat();
        // The patch makes what `--write` writes.
        let patch = deprecate(&tree, &[&args[..], &["--diff"]].concat());
        assert_eq!((patch.status, text(&tree)), (0, TEXT.to_owned()), "{}", patch.stderr);
        let ran = deprecate(&tree, &[&args[..], &["--write"]].concat());
        assert_eq!((ran.status, ran.text()), (0, String::new()), "{}", ran.stderr);
        let written = text(&tree);
        assert!(written.contains(added) && written.contains("[deprecated = true]"), "{written}");
        put(tree.path(), &[(USER, TEXT), ("change.patch", &patch.text())]);
        git(tree.path(), &["apply", "change.patch"]);
        assert_eq!(text(&tree), written);
        let check = abide(tree.path(), &["check", "--format", "json"]);
        assert_eq!((check.status, check.rules()), (0, Vec::new()), "{}", check.text());
        let again = deprecate(&tree, &[&args[..], &["--write"]].concat());
        assert_eq!((again.status, text(&tree)), (2, written));
        assert!(again.stderr.contains("it is deprecated already"), "{}", again.stderr);
    }
}

#[test]
fn what_cannot_be_deprecated_is_told_and_left_alone() {
    let tree = tree();
    put(tree.path(), &[("abide.toml", "import-paths = [\"deps\"]\n")]);
    put(
        tree.path(),
        &[("deps/b/v1/b.proto", "syntax = \"proto3\";\npackage b.v1;\nmessage B {}\n")],
    );
    let user = TEXT.replace("\n// A user", "import \"b/v1/b.proto\";\n\n// A user");
    put(tree.path(), &[(USER, &user.replace("string nick", "b.v1.B nick"))]);
    let before = text(&tree);
    let mail = "acme.user.v1.User.mail";
    for (args, told) in [
        (&["User.mail"][..], "did you mean `acme.user.v1.User.mail`?"),
        (&["acme.user.v1.User.mial"], "did you mean `acme.user.v1.User.mail`?"),
        (&["acme.user.v1.User.kind"], "a oneof has no option `deprecated`: deprecate its fields"),
        (&["b.v1.B"], "its file is only imported"),
        (&[mail, "--replaced-by", "emial"], "did you mean `email`?"),
        (&[mail, "--replaced-by", "mail"], "`mail` is no replacement"),
        (&[mail, "--dropped", " "], "needs a reason of one line"),
        (&[mail, "--dropped", "a\nb"], "needs a reason of one line"),
        (&[mail, "--dropped", "x", "--replaced-by", "email"], "cannot be used with"),
    ] {
        let ran = deprecate(&tree, &[args, &["--write"]].concat());
        assert_eq!((ran.status, text(&tree)), (2, before.clone()), "{args:?}");
        assert!(ran.stderr.contains(told), "{args:?}: {}", ran.stderr);
    }
    // One of them has to be chosen.
    assert_eq!(deprecate(&tree, &[mail]).status, 2);
}

#[test]
fn a_deprecation_that_brings_an_error_is_not_written() {
    let tree = tree();
    put(tree.path(), &[("abide.toml", "[rules]\ndeprecation-without-replacement = \"error\"\n")]);
    let ran = deprecate(&tree, &["acme.user.v1.User", "--write"]);
    assert_eq!((ran.status, text(&tree)), (1, TEXT.to_owned()), "{}", ran.stderr);
    for told in ["error[deprecation-without-replacement]", "nothing was written"] {
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
    assert_eq!(deprecate(&tree, &["acme.user.v1.User", "--dropped", "x", "--write"]).status, 0);
}

#[test]
fn what_is_left_to_do_is_told() {
    let tree = tree();
    put(tree.path(), &[("abide.toml", "against = \"git:HEAD\"\n")]);
    commit(tree.path());
    assert_eq!(abide(tree.path(), &["bump", "--write"]).status, 0);
    git(tree.path(), &["add", "--all"]);
    git(tree.path(), &["commit", "--quiet", "--message", "versions"]);
    let ran = deprecate(&tree, &["acme.user.v1.Users.Get", "--write"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    for told in ["say in the comment what to use instead", "next: `abide bump --write`"] {
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
    let next = abide(tree.path(), &["bump", "--write"]);
    assert!(next.text().contains("acme.user.v1 1.0.0 → 1.1.0"), "{}", next.text());
}
