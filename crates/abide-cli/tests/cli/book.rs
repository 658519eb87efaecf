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
