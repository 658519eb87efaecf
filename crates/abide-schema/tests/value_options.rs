//! Options of a file against what protoc 35.1 makes of them.
//!
//! Each case of `value_options/cases*.txt` is a line of options, then either
//! `= ` and the bytes of the FileOptions that protoc writes, or `! ` and the
//! text that a problem must point at, where protoc refuses the file.

use std::sync::Arc;

use abide_schema::value::Codec;
use abide_schema::{FileDecl, SourceFile, Tree};

const BASE: &str = include_str!("value_options/base.proto");
const BASE3: &str = include_str!("value_options/base3.proto");
const EDITIONS: &str = include_str!("value_options/editions.proto");
const CASES_2023: &str = include_str!("value_options/cases_2023.txt");
const CASES_2024: &str = include_str!("value_options/cases_2024.txt");
const CASES: &str = include_str!("value_options/cases.txt");

fn file(path: &str, text: &str) -> Arc<FileDecl> {
    Arc::new(FileDecl::parse(SourceFile {
        path: path.into(),
        display: path.into(),
        root: 0,
        imported: false,
        text: text.as_bytes().into(),
    }))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn check(head: &str, imports: &[Arc<FileDecl>], cases: &str) {
    let lines: Vec<&str> = cases.lines().collect();
    assert!(!lines.is_empty() && lines.len().is_multiple_of(2), "cases are pairs of lines");
    let mut failures = Vec::new();
    for case in lines.chunks(2) {
        let (body, expected) = (case[0], case[1]);
        let text = format!("{head}{body}\n");
        let mut files = imports.to_vec();
        files.push(file("t.proto", &text));
        let tree = Tree::link(files);
        let error = tree.problems().iter().find(|problem| problem.kind.is_error());
        let actual = match error {
            Some(problem) => format!("! {}", problem.place.span.str(text.as_bytes())),
            None => {
                let file = tree.files().find(|file| file.path() == "t.proto");
                let options = file.and_then(abide_schema::File::options);
                let bytes =
                    options.map(|it| Codec::new(&tree).encode(&it.without_source_retention(&tree)));
                format!("= {}", hex(&bytes.unwrap_or_default()))
            }
        };
        if actual != expected {
            failures.push(format!("{body}\n  expected {expected}\n  found    {actual}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn options_are_what_protoc_makes_of_them() {
    let head = "syntax = \"proto2\";\npackage c;\n\
                import \"base.proto\";\nimport \"base3.proto\";\n";
    check(head, &[file("base.proto", BASE), file("base3.proto", BASE3)], CASES);
}

#[test]
fn options_of_editions_are_what_protoc_makes_of_them() {
    for (edition, cases) in [("2023", CASES_2023), ("2024", CASES_2024)] {
        let head = format!("edition = \"{edition}\";\npackage c;\nimport \"editions.proto\";\n");
        check(&head, &[file("editions.proto", EDITIONS)], cases);
    }
}
