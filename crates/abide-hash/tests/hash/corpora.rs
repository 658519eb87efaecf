//! Laws over real trees: `../shared/corpora`, where it is.

use std::fs;
use std::io::Read;
use std::path::Path;

use abide_hash::TreeHashes;
use abide_schema::Tree;
use abide_syntax::TokenKind;

use super::mutants::{Token, tokens};
use super::{errors, link, through_descriptors, workspace};

pub(crate) type Texts = Vec<(String, Vec<u8>)>;

fn archive(path: &Path) -> Texts {
    let file = fs::File::open(path).expect("it was listed");
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    let mut files = Vec::new();
    for entry in archive.entries().expect("it is a tar archive") {
        let mut entry = entry.expect("the archive is whole");
        let name = entry.path().expect("it has a name").to_string_lossy().into_owned();
        if name.ends_with(".proto") {
            let mut text = Vec::new();
            entry.read_to_end(&mut text).expect("the archive is whole");
            files.push((name.trim_start_matches("./").to_owned(), text));
        }
    }
    files
}

/// The trees of the corpora, each with what it imports.
pub(crate) fn trees() -> Vec<(String, Texts, Texts)> {
    let folder = workspace().join("../shared/corpora");
    let Ok(entries) = fs::read_dir(&folder) else {
        eprintln!("WARNING: no `../shared/corpora`: the laws are not tested over real trees");
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.expect("it is readable").path());
    let mut paths: Vec<_> =
        paths.filter(|path| path.to_string_lossy().ends_with(".tar.gz")).collect();
    paths.sort();
    let deps = paths.iter().find(|path| path.ends_with("deps.tar.gz"));
    let deps = deps.map(|path| archive(path)).expect("the trees come with what they import");
    let trees = paths.iter().filter(|path| !path.ends_with("deps.tar.gz"));
    let name = |path: &Path| path.file_name().expect("it is a file").to_string_lossy().into_owned();
    let trees: Vec<_> = trees.map(|path| (name(path), archive(path), deps.clone())).collect();
    assert!(!trees.is_empty(), "no tree in `../shared/corpora`");
    trees
}

fn tree(files: &Texts, deps: &Texts) -> Tree {
    let have = |path: &str| files.iter().any(|(known, _)| known == path);
    let files = files.iter().map(|(path, text)| (path.as_str(), text.as_slice(), false));
    let deps = deps.iter().filter(|(path, _)| !have(path));
    link(files.chain(deps.map(|(path, text)| (path.as_str(), text.as_slice(), true))))
}

/// The same declarations without comments, in another order and on few lines.
fn shuffled(text: &[u8]) -> Vec<u8> {
    let tokens = tokens(text);
    let mut out = Vec::new();
    reordered(&tokens, true, &mut out);
    out
}

/// Writes the statements of a block, those behind its options in reverse where
/// their order means nothing.
fn reordered(tokens: &[Token<'_>], free: bool, out: &mut Vec<u8>) {
    let mut rest = tokens;
    let mut first = Vec::new();
    let mut others = Vec::new();
    while !rest.is_empty() {
        let length = statement(rest);
        let (head, behind) = rest.split_at(length);
        let fixed = matches!(head[0].1, b"syntax" | b"edition" | b"package" | b"option");
        if fixed || !free { &mut first } else { &mut others }.push(head);
        rest = behind;
    }
    others.reverse();
    for statement in first.into_iter().chain(others) {
        let opens = statement.iter().position(|(_, text)| *text == b"{");
        match (statement[0].1, opens) {
            (b"message" | b"service" | b"oneof" | b"extend" | b"enum", Some(opens)) => {
                write(&statement[..=opens], out);
                // The order of enum values tells the first, and aliases.
                let free = statement[0].1 != b"enum";
                reordered(&statement[opens + 1..statement.len() - 1], free, out);
                write(&statement[statement.len() - 1..], out);
            }
            _ => write(statement, out),
        }
    }
}

fn write(tokens: &[Token<'_>], out: &mut Vec<u8>) {
    for (_, text) in tokens {
        out.extend_from_slice(text);
        out.push(b' ');
    }
}

/// How many tokens a statement has.
fn statement(tokens: &[Token<'_>]) -> usize {
    // A block ends these; an aggregate ends no option, and `[ … { … } ]` no field.
    let has_block =
        matches!(tokens[0].1, b"message" | b"service" | b"oneof" | b"extend" | b"enum" | b"rpc")
            || tokens.iter().take(3).any(|(_, text)| *text == b"group");
    let mut depth = 0;
    for (at, (kind, _)) in tokens.iter().enumerate() {
        match kind {
            TokenKind::Symbol(b'{' | b'[') => depth += 1,
            TokenKind::Symbol(b']') => depth -= 1,
            TokenKind::Symbol(b'}') => {
                depth -= 1;
                if depth == 0 && has_block {
                    return at + 1;
                }
            }
            TokenKind::Symbol(b';') if depth == 0 => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

fn all(hashes: &TreeHashes) -> Vec<(String, abide_hash::Hashes)> {
    let of = |kind: &str, (name, it): (&str, abide_hash::Hashes)| (format!("{kind} {name}"), it);
    let files = hashes.files().map(|it| of("file", it));
    let packages = hashes.packages().map(|it| of("package", it));
    let messages = hashes.messages().map(|it| of("message", it));
    files.chain(packages).chain(messages).collect()
}

#[test]
fn layout_and_order_change_no_hash_of_a_real_tree() {
    for (name, files, deps) in trees() {
        let wanted = tree(&files, &deps);
        let other: Texts =
            files.iter().map(|(path, text)| (path.clone(), shuffled(text))).collect();
        assert!(files.iter().zip(&other).all(|(old, new)| old.1 != new.1));
        let other = tree(&other, &deps);
        assert_eq!(errors(&wanted), errors(&other), "{name}");
        assert_eq!(all(&TreeHashes::of(&wanted)), all(&TreeHashes::of(&other)), "{name}");
    }
}

#[test]
fn descriptors_of_a_real_tree_have_its_hashes() {
    for (name, files, deps) in trees() {
        let source = tree(&files, &deps);
        let wanted = TreeHashes::of(&source);
        let found = TreeHashes::of(&through_descriptors(&source));
        for (path, file) in source.files().filter(|it| it.is_judged()).map(|it| (it.path(), it)) {
            assert_eq!(wanted.file(path), found.file(path), "{name}: {path}");
            let package = file.package().name();
            if file.package().files().all(|it| it.is_judged()) {
                assert_eq!(wanted.package(package), found.package(package), "{name}: {package}");
            }
        }
    }
}

#[test]
fn a_changed_leaf_reaches_some_packages_and_spares_the_others() {
    for (name, files, deps) in trees() {
        let source = tree(&files, &deps);
        let before = TreeHashes::of(&source);
        // A file in the middle of the tree that others import.
        let imported = |path: &str| {
            let users = source.files().filter(|file| {
                file.imports().any(|it| it.file.is_some_and(|it| it.path() == path))
            });
            users.count()
        };
        let candidates = files.iter().filter(|(path, _)| path.contains("/core/"));
        let (path, _) =
            candidates.max_by_key(|(path, _)| imported(path)).expect("Envoy has a core");
        let mut other = files.clone();
        for (known, text) in &mut other {
            if known == path {
                text.extend_from_slice(b"\nmessage AddedAtTheEnd {}\n");
            }
        }
        let after = TreeHashes::of(&tree(&other, &deps));
        let own: Vec<&str> = before
            .packages()
            .filter(|(package, it)| after.package(package).is_some_and(|now| now.own != it.own))
            .map(|(package, _)| package)
            .collect();
        // A message that nobody refers to concerns its own package alone.
        let package = source.files().find(|it| it.path() == path).map(|it| it.package().name());
        assert_eq!(own, Vec::from_iter(package), "{name}: {path}");
        let closures = before.packages().filter(|(package, it)| {
            after.package(package).is_some_and(|now| now.closure != it.closure)
        });
        assert_eq!(closures.map(|it| it.0).collect::<Vec<_>>(), own, "{name}: {path}");
    }
}
