//! What an upgrade makes of small trees.
//!
//! Every file of `testdata/upgrade` holds the files of a tree behind lines
//! `// === PATH`, and what is made of them behind lines `// === made PATH`.
//! Above them stand a sentence about the case and how it is run:
//! `// preset: NAME`, `// layout: NAME`, `// closure: NAME`, `// package: NAME`;
//! or `// refused: why`, in place of what is made.

#![allow(clippy::disallowed_methods, reason = "the test reads its own fixtures")]

#[path = "../../abide-schema/tests/protos/mod.rs"]
mod protos;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use abide_lint::{Config, Preset};
use abide_schema::{FileDecl, SourceFile, Tree};
use abide_upgrade::{UpgradeClosure, UpgradeOptions, UpgradeResult, upgrade};
use protos::protos;

fn workspace(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder)
}

fn imports() -> BTreeMap<String, String> {
    let mut imports = protos(&workspace("testdata/imports"));
    imports.extend(protos(&workspace("api")));
    imports
}

fn link(files: &BTreeMap<String, String>, imports: &BTreeMap<String, String>) -> Tree {
    let imported = imports.iter().filter(|(path, _)| !files.contains_key(*path));
    let all = imported.map(|it| (it, true)).chain(files.iter().map(|it| (it, false)));
    let parse = |((path, text), imported): ((&String, &String), bool)| {
        let path: Arc<str> = path.as_str().into();
        let (display, text) = (Arc::clone(&path), text.as_bytes().into());
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported, text }))
    };
    Tree::link(all.map(parse).collect())
}

/// A file of `testdata/upgrade`.
struct Case {
    name: String,
    /// What stands above the files.
    head: String,
    files: BTreeMap<String, String>,
    made: BTreeMap<String, String>,
}

impl Case {
    fn read(name: String, text: &str) -> Case {
        let mut parts = text.split("// === ");
        let head = parts.next().expect("a split has a first part").to_owned();
        let mut case = Case { name, head, files: BTreeMap::new(), made: BTreeMap::new() };
        for part in parts {
            let (path, text) = part.split_once('\n').expect("a file follows its path");
            match path.strip_prefix("made ") {
                Some(path) => case.made.insert(path.to_owned(), text.to_owned()),
                None => case.files.insert(path.to_owned(), text.to_owned()),
            };
        }
        case
    }

    fn said(&self, key: &str) -> Vec<String> {
        let lines = self.head.lines().filter_map(|line| line.strip_prefix("// "));
        let said = lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
        said.map(str::to_owned).collect()
    }

    fn run(&self, tree: &Tree) -> Result<UpgradeResult, String> {
        let preset = self.said("preset").first().map(|name| Preset::find(name).expect("it is one"));
        let layout = self.said("layout").into_iter();
        let named = layout.map(|name| format!("[upgrade]\nlayout = \"{name}\"\n"));
        let config = Config::parse(&named.collect::<String>(), preset).expect("it is well-formed");
        let packages = self.said("package");
        let closure = self.said("closure");
        let closure = closure.first().map(|name| {
            UpgradeClosure::ALL.iter().find(|(known, _)| known == name).expect("it is one").1
        });
        upgrade(
            tree,
            config.policy.upgrade_settings(),
            &UpgradeOptions { packages: &packages, closure },
        )
        .map_err(|refusal| refusal.to_string())
    }

    fn text(&self, made: &BTreeMap<String, String>) -> String {
        let mut out = self.head.clone();
        for (path, text) in &self.files {
            out += &format!("// === {path}\n{text}");
        }
        for (path, text) in made {
            if !out.ends_with("\n\n") {
                out.push('\n');
            }
            out += &format!("// === made {path}\n{text}");
        }
        out
    }
}

fn errors(tree: &Tree) -> Vec<String> {
    let shown = |it: &abide_schema::Problem| {
        let file = tree.file(it.place.file);
        let line = file.decl().line_range(it.place.span).map_or(0, |(start, _)| start.line);
        format!("{}:{line}: {}", file.path(), it.message)
    };
    tree.problems().iter().filter(|it| it.kind.is_error()).map(shown).collect()
}

fn texts(made: &UpgradeResult) -> BTreeMap<String, String> {
    let text =
        |file: &abide_upgrade::GeneratedFile| String::from_utf8_lossy(&file.text).into_owned();
    made.files.iter().map(|file| (file.path.clone(), text(file))).collect()
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(workspace("testdata/upgrade")).expect("the folder is readable") {
        let path = entry.expect("the folder is readable").path();
        if path.extension().is_some_and(|it| it == "proto") {
            let name = path.file_stem().expect("it has one").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).expect("the file is readable");
            cases.push(Case::read(name, &text));
        }
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(!cases.is_empty(), "there are no cases");
    cases
}

#[test]
fn every_case_is_made_as_recorded() {
    let imports = imports();
    let overwrite = std::env::var_os("SNAPSHOTS").is_some_and(|it| it == "overwrite");
    let mut complaints = String::new();
    for case in cases() {
        let tree = link(&case.files, &imports);
        assert_eq!(errors(&tree), Vec::<String>::new(), "{}: its source", case.name);
        let made = case.run(&tree);
        let refused = case.said("refused");
        let (made, refusal) = match made {
            Ok(made) => (texts(&made), None),
            Err(refusal) => (BTreeMap::new(), Some(refusal)),
        };
        assert_eq!(refusal.as_ref(), refused.first(), "{}", case.name);
        let text = case.text(&made);
        if text == case.text(&case.made) {
            continue;
        }
        if overwrite {
            let path = workspace("testdata/upgrade").join(format!("{}.proto", case.name));
            std::fs::write(path, &text).expect("the fixture can be written");
        } else {
            complaints += &format!("{}: this is made:\n{}\n", case.name, case.text(&made));
        }
    }
    assert!(complaints.is_empty(), "{complaints}\n`SNAPSHOTS=overwrite` records it");
}

/// What is made links together with what it is made from, and an upgrade of
/// both makes the same again: candidates are passed over, not upgraded.
#[test]
fn what_is_made_links_and_is_made_again() {
    let imports = imports();
    let mut count = 0;
    for case in cases() {
        let Ok(made) = case.run(&link(&case.files, &imports)) else { continue };
        let made = texts(&made);
        let mut files = case.files.clone();
        files.extend(made.clone());
        let tree = link(&files, &imports);
        assert_eq!(errors(&tree), Vec::<String>::new(), "{}", case.name);
        let again = case.run(&tree).expect("it was upgraded before");
        assert_eq!(texts(&again), made, "{}", case.name);
        assert_eq!(again.stale, Vec::new(), "{}", case.name);
        count += made.len();
    }
    assert!(count > 0, "nothing is made of any case");
}

/// A byte order mark does not get into the middle of what is made.
#[test]
fn a_byte_order_mark_is_none_of_the_text() {
    let text = "syntax = \"proto3\";\npackage acme.v1;\nmessage A {\n  int32 a = 1 [deprecated = true];\n}\n";
    let made = |text: &str| {
        let files = BTreeMap::from([("acme/v1/a.proto".to_owned(), text.to_owned())]);
        let config = Config::parse("", None).expect("it is well-formed");
        let made = upgrade(
            &link(&files, &BTreeMap::new()),
            config.policy.upgrade_settings(),
            &UpgradeOptions::default(),
        );
        texts(&made.expect("it can be made"))
    };
    assert_eq!(made(&format!("\u{feff}{text}")), made(text));
    assert_eq!(made(text).len(), 1);
}

/// Lines end in what is made as they do in what it is made from.
#[test]
fn lines_end_as_they_did() {
    let imports = imports();
    let windows = |files: &BTreeMap<String, String>| -> BTreeMap<String, String> {
        files.iter().map(|(path, text)| (path.clone(), text.replace('\n', "\r\n"))).collect()
    };
    for case in cases() {
        let Ok(made) = case.run(&link(&case.files, &imports)) else { continue };
        let again =
            case.run(&link(&windows(&case.files), &imports)).expect("only its lines differ");
        assert_eq!(texts(&again), windows(&texts(&made)), "{}", case.name);
    }
}
