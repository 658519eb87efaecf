//! What protoc refuses or warns about is a problem, and what it accepts is
//! none: over `testdata/protoc`, whose README explains the first lines.

#![allow(clippy::disallowed_methods, reason = "the cases are files")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use abide_schema::{
    FileDecl, Problem, ProblemKind, SourceFile, Tree, encode_set, find_missing_imports,
};

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/protoc")
}

fn read(folder: &Path, path: &str, root: u32) -> Arc<FileDecl> {
    let text = fs::read(folder.join(path)).expect("the file is there");
    let imported = root != 0;
    let (path, display) = (path.into(), path.into());
    Arc::new(FileDecl::parse(SourceFile { path, display, root, imported, text: text.into() }))
}

fn protos(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .filter(|name| name.ends_with(".proto"))
        .collect();
    names.sort();
    names
}

/// Links a file alone, with what it imports from the folder of helpers, and
/// from its own folder for what imports it back.
fn link_case(folder: &Path, name: &str) -> Tree {
    let mut files = vec![read(folder, name, 0)];
    loop {
        let helpers = folder.join("imports");
        let missing = find_missing_imports(&files);
        let found: Vec<_> =
            missing.iter().filter(|path| helpers.join(&***path).is_file()).collect();
        if found.is_empty() {
            return Tree::link(files);
        }
        files.extend(found.into_iter().map(|path| read(&helpers, path, 1)));
    }
}

fn line(tree: &Tree, place: abide_schema::Place) -> Option<(String, u32)> {
    let file = tree.file(place.file);
    let (start, _) = file.decl().line_range(place.span)?;
    Some((file.path().to_owned(), start.line))
}

fn show(tree: &Tree, problems: &[Problem]) -> String {
    let show = |problem: &Problem| {
        let place = line(tree, problem.place);
        format!("\n    {place:?} {}: {}", problem.kind.id(), problem.message)
    };
    problems.iter().map(show).collect()
}

#[test]
fn what_protoc_refuses_or_warns_about_is_a_problem_on_its_line() {
    let folder = testdata().join("invalid");
    let cases = protos(&folder);
    // Where our place is another one than protoc's, and why.
    let elsewhere = fs::read_to_string(testdata().join("elsewhere.txt")).expect("the list");
    assert!(!cases.is_empty(), "no cases in {}", folder.display());
    let mut wrong = String::new();
    for case in &cases {
        let text = fs::read(folder.join(case)).expect("the file is there");
        let text = String::from_utf8_lossy(&text);
        let promise = text.lines().next().unwrap_or_default();
        let promise = promise.strip_prefix("// protoc: ").expect("what protoc makes of it");
        let (severity, wanted) = match promise.split_once(" on line ") {
            Some((severity, line)) => (severity, Some(line.parse::<u32>().expect("a line"))),
            None => (promise, None),
        };
        let tree = link_case(&folder, case);
        let elsewhere = elsewhere.lines().any(|line| line.starts_with(&format!("{case}: ")));
        // The place of a problem or of what explains it.
        let agrees = |problem: &Problem| {
            let mut places =
                std::iter::once(problem.place).chain(problem.labels.iter().map(|label| label.0));
            (problem.kind.is_error() || severity == "warning")
                && places.any(|place| {
                    let found = line(&tree, place);
                    elsewhere
                        || found.is_some_and(|(path, line)| {
                            path == *case && wanted.is_none_or(|wanted| line == wanted)
                        })
                })
        };
        if !tree.problems().iter().any(agrees) {
            wrong.push_str(&format!("\n{case}: {promise}{}", show(&tree, tree.problems())));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn errors(tree: &Tree) -> Vec<Problem> {
    tree.problems().iter().filter(|problem| problem.kind.is_error()).cloned().collect()
}

fn source(root: u32, path: &str, text: &str) -> Arc<FileDecl> {
    let (path, display, text) = (path.into(), path.into(), text.as_bytes().into());
    Arc::new(FileDecl::parse(SourceFile { path, display, root, imported: false, text }))
}

#[test]
fn small_files_are_taken_and_refused_as_by_protoc() {
    let cases = fs::read_to_string(testdata().join("../validate/cases.txt")).expect("the cases");
    let mut counts = [0, 0];
    let mut wrong = String::new();
    for case in cases.lines() {
        let (verdict, text) = case.split_once(": ").expect("a verdict and a file");
        let refused = match verdict {
            "accepted" => false,
            "refused" => true,
            other => panic!("`{other}` is no verdict"),
        };
        counts[usize::from(refused)] += 1;
        let tree = Tree::link(vec![source(0, "case.proto", text)]);
        if errors(&tree).is_empty() == refused {
            wrong.push_str(&format!("\n{case}{}", show(&tree, tree.problems())));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(counts.iter().all(|&count| count > 0), "{counts:?}");
}

#[test]
fn one_symbol_under_two_roots_is_wrong_only_where_both_are_seen() {
    let a = || source(0, "a.proto", "syntax = \"proto3\"; package p; message M {}");
    let b = |root| source(root, "b.proto", "syntax = \"proto3\"; package p; message M {}");
    let apart = Tree::link(vec![a(), b(1)]);
    assert!(errors(&apart).is_empty(), "{}", show(&apart, apart.problems()));

    let same = Tree::link(vec![a(), b(0)]);
    let found = errors(&same);
    assert_eq!(found.len(), 1, "{}", show(&same, &found));
    assert_eq!(same.file(found[0].place.file).path(), "b.proto");
    assert_eq!(same.file(found[0].labels[0].0.file).path(), "a.proto");

    let both = "syntax = \"proto3\"; import \"a.proto\"; import \"c.proto\";";
    let c = source(0, "c.proto", "syntax = \"proto3\"; import public \"b.proto\";");
    let met = Tree::link(vec![a(), b(1), c, source(0, "user.proto", both)]);
    assert_eq!(errors(&met).len(), 1, "{}", show(&met, met.problems()));
}

#[test]
fn every_repetition_names_the_first() {
    let head = "syntax = \"proto3\"; package p;";
    let file = |root, path: &str, rest: &str| source(root, path, &format!("{head} {rest}"));
    let told = |files| {
        let tree = Tree::link(files);
        let found = errors(&tree).into_iter();
        let pair = |it: Problem| [it.place, it.labels[0].0].map(|at| tree.file(at.file).path());
        found.map(|it| pair(it).map(str::to_owned).join(" after ")).collect::<Vec<_>>()
    };
    let m = "message M {}";
    let three = |a: &str, b: &str| vec![file(0, "a", a), file(0, "b", b), file(0, "c", m)];
    assert_eq!(told(three(m, m)), ["b after a", "c after a"]);
    // What is imported is compiled first.
    let chain = three(&format!("import \"b\"; {m}"), &format!("import \"c\"; {m}"));
    assert_eq!(told(chain), ["a after c", "b after c"]);
    assert_eq!(told(three(&format!("import \"c\"; {m}"), m)), ["a after c", "b after c"]);
    let twice = format!("{m} {m}");
    assert_eq!(told(three(&twice, m)), ["a after a", "b after a", "c after a"]);
    // Two roots are compared where a file sees both.
    let both = "import \"a\"; import \"b\";";
    let roots = vec![file(0, "a", m), file(1, "b", m), file(1, "c", m), file(2, "d", both)];
    assert_eq!(told(roots), ["b after a", "c after b"]);
}

#[test]
fn what_comes_from_a_descriptor_set_is_judged_by_its_options_too() {
    let folder = testdata();
    let cases = protos(&folder);
    let tree = Tree::link(cases.iter().map(|case| read(&folder, case, 0)).collect());
    let ids: Vec<_> = tree.files().map(|file| file.id).collect();
    let set: Arc<[u8]> = encode_set(&tree, &ids, true, true).into();
    let files = FileDecl::from_descriptor_set(&set).expect("our own bytes");
    let again = Tree::link(files.into_iter().map(Arc::new).collect());
    let found = errors(&again);
    assert!(found.is_empty(), "{}", show(&again, &found));
}

#[test]
fn what_protoc_accepts_has_no_error() {
    let folder = testdata();
    let cases = protos(&folder);
    assert!(!cases.is_empty(), "no cases in {}", folder.display());
    let tree = Tree::link(cases.iter().map(|case| read(&folder, case, 0)).collect());
    let found = errors(&tree);
    assert!(found.is_empty(), "{}", show(&tree, &found));
}

/// Of a name that is not found, every scope is looked through again and again: here a failure takes
/// hours.
#[test]
fn a_package_of_thousands_of_parts_costs_what_its_bytes_do() {
    let package = vec!["a"; 4000].join(".");
    let fields: String = (1..=4000)
        .map(|n| format!("  Q{n} f{n} = {n};\n  a.a.a.a.Q{n} g{n} = {};\n", n + 10_000))
        .collect();
    let long = vec!["b"; 4000].join(".");
    let text = format!(
        "syntax = \"proto3\";\npackage {package};\nmessage M {{\n{fields}  {long} h = 9001;\n}}\n"
    );
    let (path, display) = ("a.proto".into(), "a.proto".into());
    let text = text.into_bytes().into();
    let file = SourceFile { path, display, root: 0, imported: false, text };
    let tree = Tree::link(vec![Arc::new(FileDecl::parse(file))]);
    let missing = tree.problems().iter().filter(|it| it.kind == ProblemKind::NameNotFound);
    assert_eq!(missing.count(), 8001);
    let refused = tree.problems().iter().filter(|it| it.kind == ProblemKind::NameMisused);
    assert_eq!(refused.count(), 1);
}
