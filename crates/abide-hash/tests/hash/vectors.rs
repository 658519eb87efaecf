//! The vectors of `testdata/hash`: a folder is a tree, and beside it stand what
//! was hashed and the hashes. `SNAPSHOTS=overwrite` records them anew.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use abide_hash::{TreeHashes, print_facts};

use super::protos::protos;
use super::{Files, errors, through_descriptors, tree, workspace};

pub(crate) fn cases() -> Vec<PathBuf> {
    let folder = workspace().join("testdata/hash");
    let entries = std::fs::read_dir(folder).expect("the folder is part of the repository");
    let paths = entries.map(|entry| entry.expect("the folder is readable").path());
    let mut cases: Vec<PathBuf> = paths.filter(|path| path.is_dir()).collect();
    cases.sort();
    assert!(cases.len() > 10, "the vectors are gone");
    cases
}

/// Everything that has facts, by name, with the facts of both hashes.
fn all_facts(tree: &abide_schema::Tree) -> String {
    let mut names: Vec<String> = Vec::new();
    for file in tree.files().filter(|it| it.is_judged()) {
        names.push(file.full_name());
        names.push(file.package().full_name());
        let messages = file.all_messages().filter(|it| !it.is_map_entry());
        names.extend(messages.map(|it| it.full_name()));
        names.extend(file.all_enums().map(|it| it.full_name()));
        names.extend(file.services().map(|it| it.full_name()));
        names.extend(file.extensions().map(|it| it.full_name()));
    }
    names.sort();
    names.dedup();
    let mut out = String::new();
    for name in names {
        let facts = print_facts(tree, &name).expect("it is in the tree");
        let _ = writeln!(out, "=== {name}\n{facts}");
    }
    out
}

/// The lines of `abide hash --format json`.
fn all_hashes(tree: &abide_schema::Tree, hashes: &TreeHashes) -> String {
    let mut rows: Vec<(&str, String)> = Vec::new();
    for file in tree.files().filter(|it| it.is_judged()) {
        rows.push(("file", file.full_name()));
        rows.push(("package", file.package().full_name()));
        let messages = file.all_messages().filter(|it| !it.is_map_entry());
        rows.extend(messages.map(|it| ("message", it.full_name())));
    }
    rows.sort();
    rows.dedup();
    let mut out = String::new();
    for (kind, name) in rows {
        let found = match kind {
            "file" => hashes.file(&name),
            "package" => hashes.package(&name),
            _ => hashes.message(&name),
        };
        let found = found.expect("it is in the tree");
        let _ = writeln!(
            out,
            "{{\"kind\":\"{kind}\",\"name\":\"{name}\",\"own\":\"{}\",\"closure\":\"{}\"}}",
            found.own, found.closure
        );
    }
    out
}

fn golden(path: &Path, actual: &str) {
    if std::env::var_os("SNAPSHOTS").is_some_and(|it| it == "overwrite") {
        std::fs::write(path, actual).expect("the folder is writable");
    }
    let wanted = std::fs::read_to_string(path).unwrap_or_default();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    assert!(
        wanted == actual,
        "testdata/hash/{name} differs; `SNAPSHOTS=overwrite cargo test` records this:\n{actual}"
    );
}

/// The files of a vector, without the one feature that protoc keeps from a
/// descriptor set and that means something.
fn without_what_sets_lack(case: &Path) -> Files {
    let mut files = protos(case);
    for text in files.values_mut() {
        let lines = text.lines().filter(|line| !line.contains("default_symbol_visibility"));
        *text = lines.map(|line| format!("{line}\n")).collect();
    }
    files
}

#[test]
fn every_vector_has_the_facts_and_the_hashes_on_record() {
    for case in cases() {
        let source = tree(&protos(&case));
        assert_eq!(errors(&source), Vec::<&str>::new(), "{}", case.display());
        let hashes = TreeHashes::of(&source);
        golden(&case.with_extension("facts"), &all_facts(&source));
        golden(&case.with_extension("json"), &all_hashes(&source, &hashes));
        let described = through_descriptors(&source);
        let stripped = tree(&without_what_sets_lack(&case));
        for name in source.files().filter(|it| it.is_judged()).map(|it| it.full_name()) {
            assert_eq!(
                print_facts(&described, &name),
                print_facts(&stripped, &name),
                "{}: by way of descriptors",
                case.display()
            );
        }
    }
}

/// The example of the specification, as it stands there.
#[test]
fn the_example_of_the_specification_is_true() {
    let text = std::fs::read_to_string(workspace().join("crates/abide-hash/src/hash.md"));
    let text = text.expect("the specification stands beside the code");
    let example = text.split("```proto\n").nth(1).and_then(|rest| rest.split("```").next());
    let example = example.expect("it has an example").to_owned();
    let blocks = text.split("```text\n").nth(1).and_then(|rest| rest.split("```").next());
    let blocks: Vec<(&str, &str)> = blocks
        .expect("it has what is hashed")
        .split("\n\n")
        .map(|block| block.trim().rsplit_once("\n→ ").expect("a hash ends each block"))
        .collect();
    let path = "acme/user/v1/user.proto";
    let tree = tree(&Files::from([(path.to_owned(), example)]));
    let hashes = TreeHashes::of(&tree);
    let user = "acme.user.v1.User";
    let found: Vec<String> = [user, "acme.user.v1.User.Kind", path, "acme.user.v1"]
        .iter()
        .flat_map(|name| {
            let facts = print_facts(&tree, name).expect("it is in the tree");
            facts.split("\n\n").map(|it| it.trim_end().to_owned()).collect::<Vec<_>>()
        })
        .collect();
    for (text, _) in &blocks {
        assert!(found.iter().any(|it| it == text), "{text}\n\nis none of\n\n{found:#?}");
    }
    let hash = |title: &str| {
        let block =
            blocks.iter().find(|(text, _)| text.starts_with(title)).expect("the block is there");
        format!("abide1:sha256:{}", block.1)
    };
    let package = hashes.package("acme.user.v1").expect("it is in the tree");
    assert_eq!(package.own.to_string(), hash("abide1 package own"));
    assert_eq!(package.closure.to_string(), hash("abide1 package closure"));
    let file = hashes.file(path).expect("it is in the tree");
    assert_eq!(file.own.to_string(), hash("abide1 file own"));
    assert_eq!(file.closure.to_string(), hash("abide1 file closure"));
    let message = hashes.message(user).expect("it is in the tree");
    assert_eq!(message.own.to_string(), hash("abide1 message own"));
    assert_eq!(message.closure.to_string(), hash("abide1 type closure\ncomponent"));
}
