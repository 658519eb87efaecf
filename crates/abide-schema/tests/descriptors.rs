//! Laws about files that become descriptors and come back.

#![allow(clippy::disallowed_methods, reason = "the fixtures are files")]
#![allow(clippy::print_stderr, reason = "the test says what it could not read")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use abide_schema::{FileDecl, Part, ProblemKind, SourceFile, Tree, encode_file, encode_set};

fn parse(path: &str, text: &[u8]) -> Arc<FileDecl> {
    Arc::new(FileDecl::parse(SourceFile {
        path: path.into(),
        display: path.into(),
        root: 0,
        imported: false,
        text: text.into(),
    }))
}

fn decode(set: Vec<u8>) -> Vec<Arc<FileDecl>> {
    let set = Arc::from(set);
    let files = FileDecl::from_descriptor_set(&set).expect("what was encoded is decoded");
    files.into_iter().map(Arc::new).collect()
}

fn encode(tree: &Tree, source_info: bool) -> Vec<u8> {
    let files: Vec<_> = tree.files().map(|file| file.id).collect();
    encode_set(tree, &files, true, source_info)
}

fn by_path(tree: &Tree, source_info: bool) -> BTreeMap<&str, Vec<u8>> {
    tree.files().map(|file| (file.path(), encode_file(tree, file.id, source_info))).collect()
}

/// The errors of a tree, without their places.
fn errors(tree: &Tree) -> Vec<(ProblemKind, &str)> {
    let problems = tree.problems().iter().filter(|problem| problem.kind.is_error());
    let mut errors: Vec<_> =
        problems.map(|problem| (problem.kind, problem.message.as_str())).collect();
    errors.sort();
    errors
}

/// Text to tree to bytes to tree to the same bytes.
fn round_trip(name: &str, files: Vec<Arc<FileDecl>>) {
    assert!(!files.is_empty(), "{name}: there is nothing to test");
    let tree = Tree::link(files);
    for source_info in [true, false] {
        let again = Tree::link(decode(encode(&tree, source_info)));
        let (first, second) = (by_path(&tree, source_info), by_path(&again, source_info));
        for (path, bytes) in &first {
            assert!(second.get(path) == Some(bytes), "{name}: {path} (info: {source_info})");
        }
        assert_eq!(first.len(), second.len(), "{name}");
        assert_eq!(errors(&tree), errors(&again), "{name}");
    }
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn own_files() -> Vec<(String, Vec<u8>)> {
    let folder = workspace().join("testdata/protoc");
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).expect("the folder of fixtures is there") {
        let path = entry.expect("it is readable").path();
        if path.extension() == Some("proto".as_ref()) {
            let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
            files.push((name, fs::read(&path).expect("it is readable")));
        }
    }
    files.sort();
    files
}

#[test]
fn own_files_come_back() {
    let files = own_files();
    round_trip("testdata/protoc", files.iter().map(|(name, text)| parse(name, text)).collect());
}

fn archive(path: &Path) -> Vec<(String, Vec<u8>)> {
    let file = fs::File::open(path).expect("the archive is readable");
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    let mut files = Vec::new();
    for entry in archive.entries().expect("it is a tar archive") {
        let mut entry = entry.expect("the archive is whole");
        let name = entry.path().expect("paths are text").to_string_lossy().into_owned();
        if name.ends_with(".proto") {
            let mut text = Vec::new();
            entry.read_to_end(&mut text).expect("the archive is whole");
            files.push((name.trim_start_matches("./").to_owned(), text));
        }
    }
    files
}

#[test]
fn corpora_come_back() {
    let folder = workspace().join("../shared/corpora");
    let Ok(entries) = fs::read_dir(&folder) else {
        eprintln!("WARNING: no `{}`: its trees are not tested", folder.display());
        return;
    };
    let mut archives: Vec<PathBuf> = entries
        .map(|entry| entry.expect("it is readable").path())
        .filter(|path| path.to_string_lossy().ends_with(".tar.gz"))
        .collect();
    archives.sort();
    let (deps, trees): (Vec<_>, Vec<_>) =
        archives.into_iter().partition(|path| path.ends_with("deps.tar.gz"));
    assert!(!trees.is_empty(), "`{}` holds no tree", folder.display());
    let deps: Vec<_> = deps.iter().flat_map(|path| archive(path)).collect();
    for path in trees {
        let files = archive(&path);
        let all = deps.iter().chain(&files).map(|(name, text)| parse(name, text));
        round_trip(&path.to_string_lossy(), all.collect());
    }
}

#[test]
fn places_and_comments_are_those_of_the_text() {
    let text = b"syntax = \"proto3\";

// Of the package.
package a.b;

import \"google/protobuf/any.proto\";  // Behind.

// Detached.

// Of the message.
message M {
  reserved 5 to 7, 9;
  // Of the field.
  repeated google.protobuf.Any many = 1;
  map<string, M> by_name = 2;
  optional int32 number = 3;
  oneof choice {
    E value = 4;
  }
  enum E {
    ZERO = 0;
  }
}

service S {
  rpc Call(stream M) returns (M);
}
";
    let parts = [
        Part::Whole,
        Part::Name,
        Part::Number,
        Part::Type,
        Part::Label,
        Part::Input,
        Part::Output,
        Part::Head,
    ];
    let tree = Tree::link(vec![parse("a/b/m.proto", text)]);
    let again = Tree::link(decode(encode(&tree, true)));
    let bare = Tree::link(decode(encode(&tree, false)));
    let [file, again, bare] = [&tree, &again, &bare].map(|tree| {
        tree.files().find(|file| file.path() == "a/b/m.proto").expect("it is in the tree")
    });
    let mut count = 0;
    for ((old, new), bare) in file.elements().zip(again.elements()).zip(bare.elements()) {
        let name = old.full_name();
        assert_eq!(name, new.full_name());
        // What is synthesised has no place of its own.
        if name.contains("Entry") || name.contains("._") {
            continue;
        }
        count += 1;
        assert_eq!(
            file.decl().comments(old.node()).leading.map(|it| it.text),
            again.decl().comments(new.node()).leading.map(|it| it.text),
            "{name}"
        );
        for part in parts {
            // The type of a map is in one place its value, in the other all of it.
            if name == "a.b.M.by_name" && part == Part::Type {
                continue;
            }
            let old = file.decl().line_range(old.place(part).span);
            let new = again.decl().line_range(new.place(part).span);
            assert_eq!(old, new, "{name}: {part:?}");
            assert_eq!(bare.file().decl().line_range(bare.place(part).span), None, "{name}");
        }
    }
    assert_eq!(count, 10);
    assert_eq!(
        file.decl().line_range(file.package_place().span),
        again.decl().line_range(again.package_place().span)
    );
}

/// A sequence that is the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        let end = (at + random.below(24)).min(bytes.len());
        match random.below(5) {
            0 if at < bytes.len() => bytes[at] = random.below(256) as u8,
            1 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let part = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, part);
            }
            _ => bytes.truncate(bytes.len() - random.below(3).min(bytes.len())),
        }
    }
}

#[test]
fn no_bytes_make_it_panic() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut read, mut refused) = (0, 0);
    for (name, text) in own_files() {
        let tree = Tree::link(vec![parse(&name, &text)]);
        let file = tree.files().find(|file| file.path() == name).expect("it was linked");
        for _ in 0..12 {
            // The length of the file is right, so that more of it is read.
            let mut bytes = encode_file(&tree, file.id, true);
            mutate(&mut bytes, &mut random);
            let mut set = vec![0x0a];
            let mut length = bytes.len();
            while length >= 0x80 {
                set.push(length as u8 | 0x80);
                length >>= 7;
            }
            set.push(length as u8);
            set.extend(bytes);
            match FileDecl::from_descriptor_set(&set.into()) {
                Err(_) => refused += 1,
                Ok(files) => {
                    read += 1;
                    let tree = Tree::link(files.into_iter().map(Arc::new).collect());
                    for problem in tree.problems() {
                        tree.file(problem.place.file).decl().line_range(problem.place.span);
                    }
                    for element in tree.files().flat_map(|file| file.elements()) {
                        element.file().decl().line_range(element.place(Part::Head).span);
                        element.file().decl().comments(element.node());
                    }
                    encode(&tree, true);
                }
            }
        }
    }
    assert!(read > 50 && refused > 50, "{read} read, {refused} refused");
}

/// Such a name is read as an empty one, and found by that.
#[test]
fn a_name_that_is_not_utf_8_is_a_problem_and_can_be_asked_for() {
    let text = b"syntax = \"proto3\"; message M { int32 named = 1; }";
    let mut set = encode(&Tree::link(vec![parse("a.proto", text)]), false);
    let at = set.windows(5).position(|it| it == b"named").expect("the name is there");
    set[at + 2] = 0xff;
    let tree = Tree::link(decode(set));
    let problems: Vec<&str> = tree.problems().iter().map(|it| &*it.message).collect();
    assert_eq!(problems, ["`na\u{fffd}ed` is not a valid name"]);
    let message = tree.files().flat_map(|it| it.messages()).next().expect("it is there");
    let field = message.fields().next().expect("it is there");
    assert_eq!(message.field_named(field.name()), Some(field));
}

#[test]
fn a_file_that_is_given_twice_is_a_problem_if_the_two_differ() {
    let set =
        |text: &[u8], source_info| encode(&Tree::link(vec![parse("a.proto", text)]), source_info);
    let first = b"syntax = \"proto3\"; package a;";
    let twice = |other: Vec<u8>| Tree::link(decode([set(first, false), other].concat()));
    let says = |tree: &Tree| {
        let said = "the file `a.proto` is given twice, and the two differ";
        tree.problems().iter().any(|problem| problem.message == said)
    };
    for source_info in [false, true] {
        let tree = twice(set(first, source_info));
        assert!(!says(&tree) && tree.files().filter(|it| it.is_judged()).count() == 1);
        assert!(says(&twice(set(b"syntax = \"proto3\"; package b;", source_info))));
    }
}

/// As protoc 35.1 orders these, with and without `--include_imports`.
#[test]
fn files_of_a_set_stand_behind_what_they_import() {
    let head = "edition = \"2024\";\npackage o;\n";
    let files = [
        ("a.proto", "import \"b.proto\"; import \"x.proto\"; import option \"opt.proto\";"),
        ("b.proto", ""),
        ("c.proto", ""),
        ("d.proto", ""),
        ("opt.proto", "import \"d.proto\";"),
        ("x.proto", "import \"c.proto\";"),
    ];
    let parse =
        |&(path, imports): &(&str, &str)| parse(path, format!("{head}{imports}").as_bytes());
    let tree = Tree::link(files.iter().map(parse).collect());
    let order = |names: &str, include_imports: bool| {
        let id = |name: &str| {
            let mut files = tree.files();
            files.find(|it| it.path() == format!("{name}.proto")).expect("it is there").id
        };
        let ids: Vec<_> = names.split(' ').map(id).collect();
        let written = decode(encode_set(&tree, &ids, include_imports, false));
        let names: Vec<_> = written.iter().map(|it| it.path.replace(".proto", "")).collect();
        names.join(" ")
    };
    for (named, alone, with_imports) in [
        ("a b", "b a", "b c x d opt a"),
        ("a x c b", "b c x a", "b c x d opt a"),
        ("a d opt", "d opt a", "b c x d opt a"),
        ("a opt", "opt a", "b c x d opt a"),
        ("d a", "d a", "d b c x opt a"),
        // What is left out is not looked behind.
        ("a c", "a c", "b c x d opt a"),
        ("a d b", "b a d", "b c x d opt a"),
        ("a a", "a", "b c x d opt a"),
    ] {
        assert_eq!(order(named, false), alone, "{named}");
        assert_eq!(order(named, true), with_imports, "{named}");
    }
}
