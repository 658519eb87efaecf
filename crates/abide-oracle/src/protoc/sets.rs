//! Sets of descriptors, ours beside those of protoc.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use abide_harness::Result;
use abide_harness::corpora::{self, Corpus};
use abide_harness::programs::{Protoc, output, stdout};

use crate::protoc::diff::{Counts, compare_descriptors};
use crate::protoc::wire::{Schema, read_messages, read_string, read_strings};

/// Compiles a tree with both and counts how their sets differ.
pub(crate) fn compare(
    corpus: &Corpus,
    protoc: &Protoc,
    abide: &Path,
    show: usize,
) -> Result<(Counts, usize)> {
    let theirs = fs::read(compile_with_protoc(corpus, protoc)?)?;
    let theirs = index_by_name(&theirs)?;
    let mut schema = Schema::default();
    schema.add_file(&descriptor_proto(protoc)?)?;
    for file in theirs.files.values() {
        schema.add_file(file)?;
    }
    let mut counts = Counts::default();
    for file in theirs.files.values() {
        counts.add_file(&schema, file)?;
    }

    let path = corpora::stage()?.join(format!("{}.abide.binpb", corpus.name));
    let mut build = Command::new(abide);
    build.arg("build").arg(&corpus.root);
    for root in corpus.imports.iter().chain([&protoc.include]) {
        build.arg("-I").arg(root);
    }
    let built = output(build.arg("-o").arg(&path))?;
    if !built.status.success() {
        let said = [built.stdout, built.stderr].concat();
        for line in String::from_utf8_lossy(&said).lines().take(show.max(1) * 8) {
            println!("  {line}");
        }
        println!("  `abide build` failed on `{}`: {}", corpus.name, built.status);
        return Ok((counts, 1));
    }
    let ours = fs::read(path)?;
    let ours = index_by_name(&ours)?;

    let mut found = ours.faults.len();
    for fault in &ours.faults {
        println!("  {fault}");
    }
    for (name, theirs) in &theirs.files {
        let differences = match ours.files.get(name) {
            Some(ours) => compare_descriptors(&schema, ours, theirs)?,
            None => vec!["not in our set".to_owned()],
        };
        found += differences.len();
        for line in differences.iter().take(show) {
            println!("  {name}: {line}");
        }
        if differences.len() > show {
            println!("  {name}: and {} more", differences.len() - show);
        }
    }
    for name in ours.files.keys().filter(|name| !theirs.files.contains_key(*name)) {
        println!("  {name}: not in protoc's set");
        found += 1;
    }
    Ok((counts, found))
}

/// The descriptor set that protoc writes for a tree; all of it must compile.
pub(crate) fn compile_with_protoc(corpus: &Corpus, protoc: &Protoc) -> Result<PathBuf> {
    let path = corpora::stage()?.join(format!("{}.protoc.binpb", corpus.name));
    let mut command = protoc.command(&corpus.roots());
    command.args(["--include_imports", "--include_source_info"]);
    command.arg("--descriptor_set_out").arg(&path);
    stdout(command.arg(format!("@{}", corpus.list()?.display())))?;
    Ok(path)
}

/// The descriptor of descriptor.proto, the source of all names.
pub(crate) fn descriptor_proto(protoc: &Protoc) -> Result<Vec<u8>> {
    let path = corpora::stage()?.join("descriptor.binpb");
    let mut command = protoc.command(&[]);
    stdout(command.arg("-o").arg(&path).arg("google/protobuf/descriptor.proto"))?;
    let set = fs::read(path)?;
    let file = read_messages(&set, 1)?.first().map(|file| file.to_vec());
    Ok(file.ok_or("protoc wrote no descriptor of descriptor.proto")?)
}

/// A FileDescriptorSet, indexed by the names of its files.
pub(crate) struct Set<'a> {
    pub(crate) files: BTreeMap<&'a str, &'a [u8]>,
    /// Faults of the set as a whole.
    pub(crate) faults: Vec<String>,
}

pub(crate) fn index_by_name(set: &[u8]) -> Result<Set<'_>> {
    let mut files = BTreeMap::new();
    let mut faults = Vec::new();
    for file in read_messages(set, 1)? {
        let name = read_string(file, 1)?.ok_or("a file without a name")?;
        for dependency in read_strings(file, 3)? {
            if !files.contains_key(dependency) {
                faults.push(format!("{name}: comes before its dependency `{dependency}`"));
            }
        }
        if files.insert(name, file).is_some() {
            faults.push(format!("{name}: is in the set twice"));
        }
    }
    Ok(Set { files, faults })
}
