//! Options of a file against what protoc 35.1 makes of them.
//!
//! Each case of `value_options/cases.txt` is a line of options, then either
//! `= ` and the bytes of the FileOptions that protoc writes, or `! ` and the
//! text that a problem must point at, where protoc refuses the file.

use std::sync::Arc;

use abide_schema::{FileDecl, SourceFile, Tree};

const BASE: &str = include_str!("value_options/base.proto");
const BASE3: &str = include_str!("value_options/base3.proto");
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

#[test]
fn options_are_what_protoc_makes_of_them() {
    let base = file("base.proto", BASE);
    let base3 = file("base3.proto", BASE3);
    let lines: Vec<&str> = CASES.lines().collect();
    assert!(!lines.is_empty() && lines.len().is_multiple_of(2), "cases are pairs of lines");
    let mut failures = Vec::new();
    for case in lines.chunks(2) {
        let (body, expected) = (case[0], case[1]);
        let head = "syntax = \"proto2\";\npackage c;\n";
        let imports = "import \"base.proto\";\nimport \"base3.proto\";\n";
        let text = format!("{head}{imports}{body}\n");
        let tree = Tree::link(vec![base.clone(), base3.clone(), file("t.proto", &text)]);
        let errors: Vec<String> = tree
            .problems()
            .iter()
            .filter(|problem| problem.kind.is_error())
            .map(|problem| {
                format!("! {}", String::from_utf8_lossy(problem.place.span.of(text.as_bytes())))
            })
            .collect();
        let actual = errors.first().cloned().unwrap_or_else(|| {
            let file = tree.files().find(|file| file.path() == "t.proto");
            let options = file.and_then(abide_schema::File::options);
            let bytes = options.map(|options| options.encode(&tree)).unwrap_or_default();
            format!("= {}", hex(&bytes))
        });
        if actual != expected {
            failures.push(format!("{body}\n  expected {expected}\n  found    {actual}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
