//! The hook of the book that runs on a server, in a bare repository.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::history::git;
use crate::run::{put, repository};

const USER: &str = "proto/acme/user/v1/user.proto";

fn user(ty: &str) -> String {
    format!(
        "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {{\n  string name = 1;\n  {ty} mail \
         = 2;\n}}\n"
    )
}

/// The script of the book.
fn script() -> String {
    let page = fs::read_to_string(repository().join("crates/abide-cli/book/ci.md")).unwrap();
    let mut blocks = page.split("```sh\n").skip(1).filter_map(|it| it.split("```").next());
    blocks.find(|it| it.starts_with("#!/bin/sh")).expect("ci.md has a hook").to_owned()
}

/// A server with the hook, and a clone of it.
struct Server {
    folder: TempDir,
}

impl Server {
    fn new() -> Server {
        let folder = TempDir::new().unwrap();
        let top = folder.path();
        for name in ["first", "tmp"] {
            fs::create_dir(top.join(name)).unwrap();
        }
        let first = top.join("first");
        git(&first, &["init", "--quiet", "--initial-branch=main"]);
        put(&first, &[("abide.toml", "roots = [\"proto\"]\n"), (USER, &user("string"))]);
        git(&first, &["add", "."]);
        git(&first, &["commit", "--quiet", "-m", "first"]);
        git(top, &["clone", "--quiet", "--bare", "first", "server.git"]);
        let hook = top.join("server.git/hooks/pre-receive");
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::write(&hook, script()).unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
        git(top, &["clone", "--quiet", "server.git", "clone"]);
        Server { folder }
    }

    fn clone(&self) -> std::path::PathBuf {
        self.folder.path().join("clone")
    }

    fn commit(&self, files: &[(&str, &str)]) {
        put(&self.clone(), files);
        git(&self.clone(), &["add", "."]);
        git(&self.clone(), &["commit", "--quiet", "-m", "change"]);
    }

    /// Pushes, and returns whether it was accepted, and what the server said.
    fn push(&self, what: &[&str]) -> (bool, String) {
        let binary = Path::new(env!("CARGO_BIN_EXE_abide")).parent().unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = [binary.to_owned()].into_iter().chain(std::env::split_paths(&path));
        let tmp = self.folder.path().join("tmp");
        let mut push = Command::new("git");
        push.args(["push", "origin"]).args(what).current_dir(self.clone());
        push.env("PATH", std::env::join_paths(path).unwrap()).env("TMPDIR", &tmp);
        let output = push.output().unwrap();
        let left: Vec<_> = fs::read_dir(&tmp).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert!(left.iter().all(|it| it == "abide.toml"), "{what:?} left {left:?}");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    fn accepts(&self, what: &[&str]) {
        let (is_accepted, said) = self.push(what);
        assert!(is_accepted, "{what:?}: {said}");
    }

    fn refuses(&self, what: &[&str], why: &str) {
        let (is_accepted, said) = self.push(what);
        assert!(!is_accepted && said.contains(why), "{what:?}: {said}");
    }
}

#[test]
fn the_hook_of_the_book_judges_every_kind_of_push() {
    let server = Server::new();
    let comment = format!("// A comment.\n{}", user("string"));
    server.commit(&[(USER, &comment)]);
    server.accepts(&["HEAD:main"]);
    server.accepts(&["HEAD:refs/heads/new"]);
    git(&server.clone(), &["tag", "v1"]);
    git(&server.clone(), &["tag", "-a", "-m", "one", "v1-annotated"]);
    server.accepts(&["v1", "v1-annotated"]);
    server.accepts(&[":refs/heads/new", ":refs/tags/v1"]);

    server.commit(&[(USER, &user("bytes"))]);
    for branch in ["main", "other"] {
        server.refuses(&[&format!("HEAD:refs/heads/{branch}")], "field-type-changed");
    }
    // One of several branches is enough.
    server.refuses(&["HEAD~1:refs/heads/good", "HEAD:refs/heads/bad"], "field-type-changed");
    // What is pushed by force is compared with what it replaces.
    server.refuses(&["+HEAD:main"], "field-type-changed");
    git(&server.clone(), &["reset", "--quiet", "--hard", "HEAD~2"]);
    server.commit(&[("README.md", "Read me.\n")]);
    server.accepts(&["+HEAD:main"]);

    // Neither the folder for temporary files nor the attributes of the push say what is judged.
    let off = "[rules]\ncompatibility = \"off\"\n";
    fs::write(server.folder.path().join("tmp/abide.toml"), off).unwrap();
    server.commit(&[(USER, &user("bytes")), (".gitattributes", "* export-ignore\n")]);
    server.refuses(&["HEAD:main"], "field-type-changed");
    // The policy is that of the repository.
    server.commit(&[("abide.toml", &format!("roots = [\"proto\"]\n{off}"))]);
    server.accepts(&["HEAD:main"]);
}

#[test]
fn the_hook_of_the_book_judges_the_first_push() {
    let server = Server::new();
    let top = server.folder.path();
    fs::remove_dir_all(top.join("server.git/refs")).unwrap();
    fs::create_dir_all(top.join("server.git/refs/heads")).unwrap();
    let _ = fs::remove_file(top.join("server.git/packed-refs"));
    server.accepts(&["HEAD:main"]);
    git(&server.clone(), &["checkout", "--quiet", "--orphan", "apart"]);
    server.commit(&[(USER, "syntax = \"proto3\"; message {\n")]);
    server.refuses(&["HEAD:refs/heads/apart"], "syntax-error");
}
