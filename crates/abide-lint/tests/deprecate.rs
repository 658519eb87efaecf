//! A deprecation marks one element and nothing else, however its file is written.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use abide_lint::{DeprecationAnswer, DeprecationError, DeprecationNotice, deprecate};
use abide_schema::{Element, FileDecl, SourceFile, Tree, find_missing_imports, find_well_known};
use abide_upgrade::{Edit, apply};
use jiff::civil::date;

const ANSWERS: [Option<DeprecationAnswer<'static>>; 3] = [
    Some(DeprecationAnswer::ReplacedBy("another")),
    Some(DeprecationAnswer::Dropped("nobody says \"it\" in \\ here.")),
    None,
];

fn parse(path: &str, text: &[u8], imported: bool) -> Arc<FileDecl> {
    let path: Arc<str> = path.into();
    let display = Arc::clone(&path);
    Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported, text: text.into() }))
}

/// A tree of files, with the well-known types that they import.
fn link(mut files: Vec<Arc<FileDecl>>) -> Tree {
    loop {
        let missing = find_missing_imports(&files);
        let known = missing.iter().filter_map(|path| Some((path, find_well_known(path)?)));
        let found: Vec<_> = known.map(|(path, text)| parse(path, text.as_bytes(), true)).collect();
        if found.is_empty() {
            return Tree::link(files);
        }
        files.extend(found);
    }
}

fn notice(answer: Option<DeprecationAnswer<'_>>) -> DeprecationNotice<'_> {
    DeprecationNotice { answer, since: date(2026, 11, 27), version: "1.2" }
}

/// The text of the file of an element once it is deprecated.
fn edited(element: Element<'_>, answer: Option<DeprecationAnswer<'_>>) -> Vec<u8> {
    let fix = deprecate(element, notice(answer)).expect("it can be deprecated");
    let edits = fix.edits.into_iter().map(|it| Edit::replace(it.location.span, it.text));
    let text = element.file().decl().source_text().expect("it has a text");
    apply(text, edits.collect()).expect("the edits are apart")
}

fn deprecated(tree: &Tree) -> Vec<String> {
    let judged = tree.files().filter(|it| it.is_judged());
    let all = judged.flat_map(|it| it.elements()).filter(|it| it.deprecated().is_some());
    all.map(|it| format!("{} {}", it.noun(), it.full_name())).collect()
}

/// The errors of a tree.
fn errors(tree: &Tree) -> Vec<String> {
    let errors = tree.problems().iter().filter(|it| it.kind.is_error());
    errors.map(|it| it.message.clone()).collect()
}

/// Deprecates each element of a file by itself, and returns how many there were.
fn try_each(path: &str, text: &[u8], others: &[Arc<FileDecl>]) -> usize {
    let files = |text: &[u8]| [others, &[parse(path, text, false)]].concat();
    let tree = link(files(text));
    let before = deprecated(&tree);
    let file = tree.files().find(|it| it.path() == path).expect("it is there");
    let mut tried = 0;
    for element in file.elements() {
        let of_map = |it: Element<'_>| matches!(it, Element::Message(it) if it.is_map_entry());
        if of_map(element) || element.parent().is_some_and(of_map) {
            continue;
        }
        let name = format!("{} {}", element.noun(), element.full_name());
        if let Element::Oneof(_) = element {
            assert_eq!(deprecate(element, notice(None)), Err(DeprecationError::Oneof), "{name}");
            continue;
        }
        if element.deprecated().is_some() {
            assert_eq!(deprecate(element, notice(None)), Err(DeprecationError::Already), "{name}");
            continue;
        }
        if deprecate(element, notice(None)) == Err(DeprecationError::Group) {
            let name = element.name().to_lowercase();
            let mut siblings = element.collect_siblings().into_iter();
            assert!(siblings.any(|it| it.noun() != "message" && it.name() == name), "{name}");
            continue;
        }
        for answer in ANSWERS {
            let text = edited(element, answer);
            let after = link(files(&text));
            let shown = String::from_utf8_lossy(&text);
            assert_eq!(errors(&after), Vec::<String>::new(), "{name}\n{shown}");
            let mut expected = before.clone();
            expected.push(name.clone());
            expected.sort();
            let mut found = deprecated(&after);
            found.sort();
            assert_eq!(found, expected, "{path}\n{shown}");
            tried += 1;
        }
    }
    tried
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the test reads files of the repository")]
fn each_element_can_be_deprecated_in_files_of_every_kind() {
    let folder = repository().join("testdata/protoc");
    let mut tried = 0;
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|it| it == "proto"))
        .collect();
    paths.sort();
    for path in paths {
        let text = std::fs::read(&path).expect("it can be read");
        let name = path.file_name().and_then(|it| it.to_str()).expect("it has a name");
        // What imports files beside it is no tree of its own.
        if link(vec![parse(name, &text, false)]).problems().is_empty() {
            tried += try_each(name, &text, &[]);
            let windows = String::from_utf8_lossy(&text).replace('\n', "\r\n");
            tried += try_each(name, windows.as_bytes(), &[]);
        }
    }
    assert!(tried > 1000, "{tried}");
}

const SQUEEZED: &str = "syntax=\"proto3\";package a.v1;message A{string a=1;string b=2\
    [json_name=\"c\"];map<string,string>d=3;oneof e{string f=4;}/* g */ enum G{H=0;}message I{}}\
    service J{rpc K(A)returns(A);rpc L(A)returns(A){}rpc M(A)returns(A){;}}// end";

#[test]
fn a_text_in_one_line_stays_valid() {
    assert!(try_each("a.proto", SQUEEZED.as_bytes(), &[]) > 20);
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the test reads files of the repository")]
fn annotations_that_the_tree_imports_are_set_too() {
    const PATH: &str = "abide/annotations/v1/lifecycle.proto";
    let annotations = std::fs::read(repository().join("api").join(PATH)).expect("it is there");
    let other = format!("syntax = \"proto3\";\npackage b.v1;\nimport \"{PATH}\";\n");
    let others = [parse(PATH, &annotations, true), parse("b.proto", other.as_bytes(), false)];
    assert!(try_each("a.proto", SQUEEZED.as_bytes(), &others) > 20);
    let text = "syntax = \"proto3\";\n\npackage a.v1;\n\nmessage A {\n  string a = 1;\n  \
                string b = 2;\n}\n";
    let tree = link([&others[..], &[parse("a.proto", text.as_bytes(), false)]].concat());
    let element = tree.element_named("a.v1.A.a").expect("it is there");
    let text = edited(element, Some(DeprecationAnswer::ReplacedBy("b")));
    let tree = link([&others[..], &[parse("a.proto", &text, false)]].concat());
    let element = tree.element_named("a.v1.A.a").expect("it is there");
    assert_eq!(element.replaced_by().map(|it| it.0), Some("b"));
    assert_eq!(element.deprecated_since().map(|it| it.0), Some("2026-11-27"));
    // What is set as a whole takes the new fields.
    let whole = format!(
        "syntax = \"proto3\";\npackage a.v1;\nimport \"{PATH}\";\nmessage A {{\n  string a = 1 \
         [(abide.annotations.v1.field_policy) = {{ migration {{ rename: \"z\" }} }}];\n}}\n"
    );
    let tree = link([&others[..], &[parse("a.proto", whole.as_bytes(), false)]].concat());
    let element = tree.element_named("a.v1.A.a").expect("it is there");
    let text = edited(element, Some(DeprecationAnswer::Dropped("gone")));
    let tree = link([&others[..], &[parse("a.proto", &text, false)]].concat());
    let element = tree.element_named("a.v1.A.a").expect("it is there");
    assert_eq!(errors(&tree), Vec::<String>::new(), "{}", String::from_utf8_lossy(&text));
    assert_eq!(element.lossy().map(|it| it.0), Some("gone"));
    assert_eq!(element.migrations().len(), 1);
}
