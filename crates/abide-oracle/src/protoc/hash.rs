//! Compares the semantic hash with the Python implementation, which was written from
//! the specification alone, on every tree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use abide_harness::Result;
use abide_harness::corpora::{self, Corpus};
use abide_harness::programs::{Protoc, stdout, workspace};
use serde_json::Value;

use crate::protoc::sets::compile_with_protoc;

/// From the kind and name of an element to its own hash and its closure hash.
type Hashes = BTreeMap<(String, String), (String, String)>;

/// Hashes a tree with both implementations, from its sources and from protoc's
/// descriptors; true if all hashes agree. The default visibility of a file is only in
/// the sources and in descriptors that retain all options.
pub(crate) fn run(corpus: &Corpus, protoc: &Protoc, abide: &Path, show: usize) -> Result<bool> {
    let second = workspace()?.join("testdata/hash/abide1.py");
    let theirs = |set: &Path| read(Command::new("python3").arg(&second).arg(set));
    let (set, retained) = (compile_with_protoc(corpus, protoc)?, retained_set(corpus, protoc)?);
    let (of_set, of_retained) = (theirs(&set)?, theirs(&retained)?);
    let mut from_sources = Command::new(abide);
    from_sources.args(["hash", "--format", "json"]).arg(&corpus.root);
    for root in corpus.imports.iter().chain([&protoc.include]) {
        from_sources.arg("-I").arg(root);
    }
    let from = |set: &Path| {
        let mut command = Command::new(abide);
        command.args(["hash", "--format", "json"]).arg(set);
        command
    };
    let mut agreed = true;
    for (origin, mut command, theirs) in [
        ("sources", from_sources, &of_retained),
        ("descriptors with all options", from(&retained), &of_retained),
        ("descriptors", from(&set), &of_set),
    ] {
        let ours = read(&mut command)?;
        let missing = corpus
            .files
            .iter()
            .map(|path| ("file".to_owned(), path.clone()))
            .filter(|file| !ours.contains_key(file));
        let mut differences: Vec<String> =
            missing.map(|(_, path)| format!("{path} has no hash")).collect();
        for ((kind, name), hashes) in &ours {
            let their = theirs.get(&(kind.clone(), name.clone()));
            if their != Some(hashes) {
                differences.push(format!("{kind} {name}: {hashes:?}, in Python {their:?}"));
            }
        }
        let count = |kind: &str| ours.keys().filter(|(it, _)| it == kind).count();
        println!(
            "{} hashed from {origin}: {} files, {} messages, {} packages; {} differences",
            corpus.name,
            count("file"),
            count("message"),
            count("package"),
            differences.len()
        );
        for line in differences.iter().take(show) {
            println!("  {line}");
        }
        agreed &= differences.is_empty();
    }
    Ok(agreed)
}

/// The descriptor set that protoc writes for a tree with source-only options.
fn retained_set(corpus: &Corpus, protoc: &Protoc) -> Result<PathBuf> {
    let path = corpora::stage()?.join(format!("{}.retained.binpb", corpus.name));
    let mut command = protoc.command(&corpus.roots());
    command.args(["--include_imports", "--retain_options"]);
    command.arg("--descriptor_set_out").arg(&path);
    stdout(command.arg(format!("@{}", corpus.list()?.display())))?;
    Ok(path)
}

fn read(command: &mut Command) -> Result<Hashes> {
    let mut hashes = Hashes::new();
    for line in stdout(command)?.lines() {
        let row: Value = serde_json::from_str(line)?;
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        hashes.insert((text("kind"), text("name")), (text("own"), text("closure")));
    }
    if hashes.is_empty() {
        return Err("nothing was hashed".into());
    }
    Ok(hashes)
}
