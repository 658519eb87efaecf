//! The sessions of the book, replayed. A block that says `tree=FOLDER` starts one in a copy of that
//! folder, committed on `main`; one that says `file=PATH` writes that file; and in a block of the
//! language `console` each line after `$ ` is run. `SNAPSHOTS=overwrite` writes what these print today
//! into the page.

use std::path::Path;
use std::process::{Command, Stdio};

use comrak::nodes::NodeValue;
use comrak::{Arena, Options, parse_document};
use tempfile::TempDir;

use crate::breaking::{commit, git};
use crate::run::{put, repository};

/// A copy of a tree of the repository, as the first commit of a repository of its own.
fn copied(tree: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut copy = Command::new("cp");
    copy.arg("-R").arg(repository().join(tree).join(".")).arg(folder.path());
    assert!(copy.status().unwrap().success(), "{tree}");
    git(folder.path(), &["init", "-q", "-b", "main"]);
    commit(folder.path());
    folder
}

/// The commands of a session, each with what it prints, as a terminal shows both.
fn replayed(folder: &Path, session: &str) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_abide")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = [binary.to_owned()].into_iter().chain(std::env::split_paths(&path));
    let path = std::env::join_paths(path).unwrap();
    let mut printed = String::new();
    for line in session.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec 2>&1; {line}")]).current_dir(folder).env("PATH", &path);
        shell.env("GIT_CONFIG_GLOBAL", "/dev/null").env_remove("NO_COLOR").stdin(Stdio::null());
        for role in ["AUTHOR", "COMMITTER"] {
            shell.env(format!("GIT_{role}_NAME"), "Ann");
            shell.env(format!("GIT_{role}_EMAIL"), "ann@example.org");
        }
        let output = shell.output().unwrap();
        assert_ne!(output.status.code(), Some(127), "`{line}` is not found");
        printed.push_str(&format!("$ {line}\n{}", String::from_utf8(output.stdout).unwrap()));
    }
    printed
}

/// The page with its sessions as they run today, and how many commands these have.
fn rerun(page: &str) -> (String, usize) {
    let arena = Arena::new();
    let root = parse_document(&arena, page, &Options::default());
    let (mut now, mut rest, mut commands) = (String::new(), page, 0);
    let mut folder: Option<TempDir> = None;
    for node in root.descendants() {
        let data = node.data.borrow();
        let NodeValue::CodeBlock(block) = &data.value else { continue };
        let said = |key: &str| block.info.split(' ').find_map(|word| word.strip_prefix(key));
        if let Some(tree) = said("tree=") {
            folder = Some(copied(tree));
        }
        if let (Some(file), Some(folder)) = (said("file="), &folder) {
            put(folder.path(), &[(file, &block.literal)]);
        }
        if !block.info.starts_with("console") {
            continue;
        }
        let folder = folder.as_ref().expect("a block with `tree=` comes first");
        let (before, after) = rest.split_once(block.literal.as_str()).expect("it is in the page");
        now += before;
        now += &replayed(folder.path(), &block.literal);
        rest = after;
        commands += block.literal.lines().filter(|line| line.starts_with("$ ")).count();
    }
    (now + rest, commands)
}

#[test]
fn every_session_of_the_book_prints_what_its_page_shows() {
    let mut replayed = 0;
    for entry in std::fs::read_dir(repository().join("crates/abide-cli/book")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|it| it != "md") {
            continue;
        }
        let page = std::fs::read_to_string(&path).unwrap();
        let (now, commands) = rerun(&page);
        replayed += commands;
        if std::env::var_os("SNAPSHOTS").is_some_and(|it| it == "overwrite") {
            std::fs::write(&path, &now).unwrap();
        } else {
            assert_eq!(now, page, "{} (SNAPSHOTS=overwrite refreshes it)", path.display());
        }
    }
    assert!(replayed > 0, "no page has a session");
}

#[test]
fn every_page_is_a_chapter() {
    let book = repository().join("crates/abide-cli/book");
    let chapters = std::fs::read_to_string(book.join("README.md")).unwrap();
    let mut pages = 0;
    for entry in std::fs::read_dir(book).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") && name != "README.md" {
            assert!(chapters.contains(&format!("]({name})")), "README.md does not link to {name}");
            pages += 1;
        }
    }
    assert!(pages > 10, "only {pages} pages were found");
}

/// The commands of the book that no test of this file runs: the page, how each begins, and why.
const NOT_RUN: [(&str, &str, &str); 38] = [
    ("ci.md", "#!/bin/sh", "`server_hook` runs the script in a bare repository"),
    ("conformance.md", "abide-serve conformance", "it needs a server or a client to talk to"),
    ("editor.md", "npm install", "it needs npm and the network"),
    ("editor.md", "npx @vscode/vsce", "it needs npm and the network"),
    ("editor.md", "code --install-extension", "it needs an editor"),
    ("deploying.md", "abide-serve ", "the tests of abide-serve run it"),
    ("deploying.md", "kubectl ", "it needs a cluster"),
    ("deploying.md", "podman ", "it needs an image"),
    ("inside-other-tools.md", "protoc ", "`tests/plugins` runs the plugin as protoc does"),
    ("inside-other-tools.md", "bazel ", "it needs Bazel"),
    ("install.md", "docker run", "it needs an image"),
    ("install.md", "abide completions", "it writes to the home folder"),
    ("install.md", "abide man", "it writes to the home folder"),
    ("moving-from-protolock.md", "git rm", "git itself"),
    ("operators.md", "abide config check", "`config` checks bootstraps with an API"),
    ("performance.md", "cargo ", "it measures this workspace"),
    ("performance.md", "perf ", "it needs perf"),
    ("proofs.md", "cargo ", "it tests this workspace"),
    ("proofs.md", ".ci/package", "it packages this workspace"),
    ("real-apis.md", "cargo ", "it downloads releases of other projects"),
    ("real-apis.md", "cd target/oracle", "the line before makes the folder"),
    ("restarting.md", "abide-serve ", "the tests of abide-serve restart it"),
    ("restarting.md", "--restart-socket", "the rest of the line before"),
    ("restarting.md", "kill ", "the tests of abide-serve restart it"),
    ("running.md", "abide drift", "`remote` runs it"),
    ("running.md", "abide-remote ", "the tests of abide-remote run it"),
    ("running.md", "cargo install", "it builds this workspace"),
    ("running.md", "pip install", "it needs the network"),
    ("runtime.md", "# Seconds.", "it is a file, which a session of the page reads"),
    ("runtime.md", "7", "it is a file, which a session of the page reads"),
    ("runtime.md", "cp -r", "it changes the disk of a proxy"),
    ("runtime.md", "echo 9", "it changes the disk of a proxy"),
    ("runtime.md", "ln -s", "it changes the disk of a proxy"),
    ("runtime.md", "abide config diff", "`instance_diff` compares bootstraps with an API"),
    ("securing.md", "abide-serve ", "the tests of abide-serve run it"),
    ("serving.md", "abide-serve ", "the tests of abide-serve run it"),
    ("shutting-down.md", "abide-serve ", "the tests of abide-serve run it"),
    ("translating.md", "abide config", "`translation` translates with declared steps"),
];

/// A repository in which the commands of the book have what they name.
pub(crate) fn example() -> TempDir {
    let folder = TempDir::new().unwrap();
    let top = folder.path();
    let proto = |package: &str, name: &str| {
        format!(
            "syntax = \"proto3\";\npackage acme.{package}.v1;\nmessage {name} {{\n  string name = 1;\n}}\n"
        )
    };
    put(
        top,
        &[
            ("abide.toml", "roots = [\"proto\"]\n"),
            ("buf.yaml", "version: v2\nmodules:\n  - path: proto\n"),
            (".api-linter.yaml", "- included_paths: ['**/*.proto']\n  disabled_rules: ['all']\n"),
            ("proto.lock", "{\"definitions\": []}\n"),
            ("edited.proto", &proto("user", "User")),
            ("third_party/acme/far/v1/far.proto", &proto("far", "Far")),
            ("proto/acme/user/v1/user.proto", &proto("user", "User")),
            ("proto/acme/user/v1/role.proto", &proto("user", "Role")),
        ],
    );
    git(top, &["init", "-q", "-b", "main"]);
    commit(top);
    git(top, &["tag", "v1.4"]);
    git(top, &["tag", "v1.4.0"]);
    git(top, &["tag", "v1.4.2"]);
    git(top, &["tag", "v1.5.0"]);
    git(top, &["update-ref", "refs/remotes/origin/main", "HEAD"]);
    git(top, &["archive", "--output", "api-v1.tar.gz", "HEAD"]);
    put(
        top,
        &[("proto/acme/user/v1/user.proto", &format!("// A user.\n{}", proto("user", "User")))],
    );
    commit(top);
    folder
}

/// Runs a line of a shell. Returns what is wrong with it, unless it ends with a verdict.
pub(crate) fn run_line(folder: &Path, line: &str) -> Option<String> {
    let binary = Path::new(env!("CARGO_BIN_EXE_abide")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = [binary.to_owned()].into_iter().chain(std::env::split_paths(&path));
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(folder).stdin(Stdio::null());
    shell.env("PATH", std::env::join_paths(path).unwrap());
    let output = shell.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (!matches!(output.status.code(), Some(0 | 1))).then(|| format!("{line}: {said}"))
}

#[test]
fn every_command_of_the_book_is_run_or_says_why_not() {
    let mut used = vec![false; NOT_RUN.len()];
    let (mut run, mut wrong) = (0, Vec::new());
    let mut pages: Vec<_> = std::fs::read_dir(repository().join("crates/abide-cli/book"))
        .unwrap()
        .map(|it| it.unwrap().path())
        .filter(|it| it.extension().is_some_and(|it| it == "md"))
        .collect();
    pages.sort();
    for path in pages {
        let page = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let arena = Arena::new();
        for node in parse_document(&arena, &page, &Options::default()).descendants() {
            let data = node.data.borrow();
            let NodeValue::CodeBlock(block) = &data.value else { continue };
            if !["sh", "bash", "shell"].contains(&block.info.split(' ').next().unwrap_or_default())
            {
                continue;
            }
            let is_script = block.literal.starts_with("#!");
            let lines = block.literal.lines().map(str::trim).filter(|it| !it.is_empty());
            let lines = lines.take(if is_script { 1 } else { usize::MAX });
            let mut folder: Option<TempDir> = None;
            for line in lines {
                let reason = NOT_RUN.iter().position(|it| it.0 == name && line.starts_with(it.1));
                if let Some(at) = reason {
                    used[at] = true;
                    continue;
                }
                let folder = folder.get_or_insert_with(example);
                if line.starts_with("abide init") {
                    let _ = std::fs::remove_file(folder.path().join("abide.toml"));
                }
                run += 1;
                wrong.extend(run_line(folder.path(), line).map(|it| format!("{name}: {it}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let unused = NOT_RUN.iter().zip(&used).filter(|(_, used)| !**used);
    let unused: Vec<_> = unused.map(|(it, _)| (it.0, it.1)).collect();
    assert!(unused.is_empty(), "no longer in the book: {unused:?}");
    assert!(run > 15, "only {run} commands were run");
}
