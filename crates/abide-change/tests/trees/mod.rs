//! Trees that tests of the comparison share: generated, from fixtures, and changed.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use abide_schema::{FileDecl, SourceFile, Tree};

pub(crate) type Files = BTreeMap<String, String>;

pub(crate) fn link<'a>(files: impl Iterator<Item = (&'a String, &'a String)>) -> Tree {
    let parse = |(path, text): (&String, &String)| {
        let path: Arc<str> = path.as_str().into();
        let (display, text) = (Arc::clone(&path), text.as_bytes().into());
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
    };
    Tree::link(files.map(parse).collect())
}

pub(crate) fn tree(files: &Files) -> Tree {
    link(files.iter())
}

/// Numbers that are the same in every run.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    pub(crate) fn one_in(&mut self, chance: u64) -> bool {
        self.below(chance) == 0
    }
}

pub(crate) const WORDS: [&str; 12] = [
    "User", "Order", "Shop", "Till", "Request", "Reply", "Address", "Place", "Name", "Empty",
    "Log", "Route",
];
pub(crate) const TYPES: [&str; 6] = ["string", "int32", "bytes", "bool", "double", "fixed64"];

/// A tree of packages in which many names and shapes come twice.
pub(crate) fn generated(seed: u64) -> Files {
    let mut numbers = Numbers(seed);
    let mut files = Files::new();
    for package in 0..2 + numbers.below(4) {
        let name = format!("acme.p{package}.v1");
        for file in 0..1 + numbers.below(3) {
            let mut text = format!("syntax = \"proto3\";\npackage {name};\n");
            for word in WORDS.iter().skip(file as usize).step_by(3) {
                if numbers.one_in(3) {
                    continue;
                }
                body(&mut text, word, 2, &mut numbers);
                if numbers.one_in(4) {
                    let _ = writeln!(
                        text,
                        "service {word}s {{ rpc Get({word}) returns ({word}); rpc Put({word}) \
                         returns (stream {word}); }}"
                    );
                }
            }
            files.insert(format!("acme/p{package}/v1/f{file}.proto"), text);
        }
    }
    files
}

pub(crate) fn body(text: &mut String, word: &str, depth: u32, numbers: &mut Numbers) {
    let _ = writeln!(text, "message {word} {{");
    let count = numbers.below(5);
    for number in 1..=count {
        let ty = TYPES[numbers.below(6) as usize];
        let name = WORDS[numbers.below(12) as usize].to_lowercase();
        let _ = match numbers.below(6) {
            0 => writeln!(text, "repeated {ty} {name}_{number} = {number};"),
            1 => writeln!(text, "map<string, {ty}> {name}_{number} = {number};"),
            2 => writeln!(text, "oneof of_{number} {{ {ty} {name}_{number} = {number}; }}"),
            _ => writeln!(text, "{ty} {name}_{number} = {number};"),
        };
    }
    if numbers.one_in(3) {
        let _ = writeln!(text, "reserved 100 to 10{};", numbers.below(10));
    }
    if depth > 0 && numbers.one_in(3) {
        body(text, "Inner", depth - 1, numbers);
        let _ = writeln!(text, "enum Kind {{ KIND_A = 0; KIND_{} = 1; }}", numbers.below(3));
    }
    text.push_str("}\n");
}

/// The fixtures that protoc takes, each a file of one tree.
pub(crate) fn fixtures() -> Files {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/protoc");
    let entries = std::fs::read_dir(&folder).expect("the folder is readable");
    let paths = entries.map(|entry| entry.expect("the folder is readable").path());
    let mut files = Files::new();
    for path in paths.filter(|path| path.extension().is_some_and(|it| it == "proto")) {
        let name = path.file_name().expect("it is a file").to_string_lossy().into_owned();
        // What is not UTF-8 is no law of its own here.
        if let Ok(text) = std::fs::read_to_string(&path) {
            files.insert(name, text);
        }
    }
    assert!(files.len() > 30, "the fixtures are gone");
    files
}

pub(crate) fn trees() -> Vec<Files> {
    (0..40).map(generated).chain([fixtures()]).collect()
}

/// The same files with another text each.
pub(crate) fn changed(files: &Files, text: impl Fn(&str) -> String) -> Files {
    files.iter().map(|(path, it)| (path.clone(), text(it))).collect()
}

/// The same on one line, with more space.
pub(crate) fn flat(text: &str) -> String {
    text.replace('\n', " ").replace(' ', "\t ").replace(';', " ;")
}

/// With packages that nothing but their names tells apart, more than a few.
pub(crate) fn with_twins(mut files: Files) -> Files {
    for twin in 0..50 {
        let text = format!(
            "syntax = \"proto3\";\npackage acme.twin{twin}.v1;\n\
             message Empty {{}}\nmessage One {{ string name = 1; }}\n"
        );
        files.insert(format!("acme/twin{twin}/v1/f.proto"), text);
    }
    files
}

/// The same packages with `zeta` in the place of `acme`.
pub(crate) fn renamed(files: &Files) -> Files {
    files
        .iter()
        .map(|(path, text)| (path.replace("acme/", "zeta/"), text.replace("acme.", "zeta.")))
        .collect()
}

/// A file of many messages whose names begin with a word.
pub(crate) fn many(word: &str, count: usize) -> Files {
    let mut text = format!("syntax = \"proto3\";\npackage {}.v1;\n", word.to_lowercase());
    for index in 0..count {
        let _ = writeln!(
            text,
            "message {word}{index} {{ string name = 1; int32 {word}_{index} = 2; {word}{} next = 3; }}",
            (index + 1) % count
        );
    }
    Files::from([(format!("{}/v1/many.proto", word.to_lowercase()), text)])
}

/// Two trees of which one file has the same text, whose names lead elsewhere.
pub(crate) fn turned() -> (Tree, Tree) {
    let user = "syntax = \"proto3\";\npackage acme.v1;\nimport \"inner.proto\";\n\
                message User { name.Name name = 1; }\n";
    let near = "syntax = \"proto3\";\npackage acme.v1.name;\nmessage Name { string first = 1; }\n";
    let far = "syntax = \"proto3\";\npackage name;\nmessage Name { repeated int64 id = 1; }\n";
    let with = |inner: &str| {
        let files = [("user.proto", user), ("inner.proto", inner)];
        tree(&files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect())
    };
    (with(near), with(far))
}
