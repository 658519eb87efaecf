//! `cargo xtask oracle`: is Abide's reading of protos that of the real protoc?
//!
//! `abide build` must write what protoc writes, byte by byte for each file of
//! the set; `abide check` must refuse what protoc refuses, on the same line.

mod breaking;
mod browser;
mod diff;
mod findings;
mod hash;
mod history;
mod layout;
mod symbols;
mod upgrade;
mod validation;
mod verdicts;
mod versions;
mod wire;
mod witnesses;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use self::diff::{Counts, differences};
use self::wire::{Schema, messages, string, strings};
use crate::corpora::{self, Corpus};
use crate::tools::{Protoc, abide, output, stdout};
use crate::{Place, Result};

/// What there is besides the trees.
const PARTS: &[&str] = &[
    "own",
    "googleapis",
    "hash",
    "history",
    "findings",
    "verdicts",
    "breaking",
    "validation",
    "symbols",
    "layout",
    "upgrade",
    "versions",
];

/// Compares all that is asked for; true when nothing differs.
pub(crate) fn run(place: &Place, only: &[String], show: usize) -> Result<bool> {
    let wanted = |name: &str| only.is_empty() || only.iter().any(|part| part == name);
    let protoc = Protoc::find()?;
    println!("oracle: {}", protoc.version);
    let mut agreed = true;
    if wanted("validation") {
        agreed &= validation::run(&protoc, show)?;
    }
    if !only.is_empty() && only.iter().all(|part| part == "validation") {
        return Ok(agreed);
    }
    let abide = abide(place.abide.as_deref())?;
    if wanted("history") {
        agreed &= history::run(&abide)?;
    }
    if wanted("findings") {
        agreed &= findings::run(&abide)?;
    }
    if wanted("versions") {
        agreed &= versions::run(&abide)?;
    }

    let archives = corpora::archives(place)?;
    let mut corpora = Vec::new();
    let hashed = wanted("hash");
    if hashed || wanted("own") {
        corpora.push(corpora::own()?);
    }
    let chosen = |corpus: &&Corpus| hashed || wanted(&corpus.name);
    corpora.extend(archives.iter().filter(chosen).cloned());
    if hashed || wanted("googleapis") {
        corpora.push(corpora::googleapis(place)?);
    }

    let named = |part: &String| {
        PARTS.contains(&part.as_str()) || corpora.iter().any(|corpus| corpus.name == *part)
    };
    if let Some(part) = only.iter().find(|part| !named(part)) {
        return Err(format!("nothing is named `{part}`").into());
    }

    let mut total = Counts::default();
    let mut different = 0;
    for corpus in corpora.iter().filter(|corpus| wanted(&corpus.name)) {
        let (counts, differences) = compare(corpus, &protoc, &abide, show)?;
        println!("{}: {counts}; {differences} differences", corpus.name);
        if counts.files() == 0 {
            return Err(format!("nothing was compared in `{}`", corpus.name).into());
        }
        total += &counts;
        different += differences;
    }
    if total.files() > 0 {
        println!("all trees: {total}; {different} differences");
    }
    if hashed {
        for corpus in &corpora {
            agreed &= hash::run(corpus, &protoc, &abide, show)?;
        }
    }
    if wanted("verdicts") {
        agreed &= verdicts::run(&protoc, &abide)?;
    }
    if wanted("breaking") {
        agreed &= breaking::run(&archives, &protoc, &abide, show)?;
    }
    if wanted("symbols") {
        agreed &= symbols::run(&archives, &protoc, show)?;
    }
    if wanted("layout") {
        let mut trees = archives.clone();
        trees.extend([corpora::own()?, corpora::googleapis(place)?]);
        agreed &= layout::run(&trees, &protoc, show)?;
    }
    if wanted("upgrade") {
        agreed &= upgrade::run(&archives, &protoc, &abide, show)?;
    }
    Ok(different == 0 && agreed)
}

/// Compiles a tree with both and counts how their sets differ.
fn compare(corpus: &Corpus, protoc: &Protoc, abide: &Path, show: usize) -> Result<(Counts, usize)> {
    let theirs = fs::read(protoc_set(corpus, protoc)?)?;
    let theirs = by_name(&theirs)?;
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
    let ours = by_name(&ours)?;

    let mut found = ours.faults.len();
    for fault in &ours.faults {
        println!("  {fault}");
    }
    for (name, theirs) in &theirs.files {
        let differences = match ours.files.get(name) {
            Some(ours) => differences(&schema, ours, theirs)?,
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

/// What protoc makes of a tree, all of which it must compile.
fn protoc_set(corpus: &Corpus, protoc: &Protoc) -> Result<PathBuf> {
    let path = corpora::stage()?.join(format!("{}.protoc.binpb", corpus.name));
    let mut command = protoc.command(&corpus.roots());
    command.args(["--include_imports", "--include_source_info"]);
    command.arg("--descriptor_set_out").arg(&path);
    stdout(command.arg(format!("@{}", corpus.list()?.display())))?;
    Ok(path)
}

/// The descriptor of descriptor.proto, from which all names come.
fn descriptor_proto(protoc: &Protoc) -> Result<Vec<u8>> {
    let path = corpora::stage()?.join("descriptor.binpb");
    let mut command = protoc.command(&[]);
    stdout(command.arg("-o").arg(&path).arg("google/protobuf/descriptor.proto"))?;
    let set = fs::read(path)?;
    let file = messages(&set, 1)?.first().map(|file| file.to_vec());
    Ok(file.ok_or("protoc wrote no descriptor of descriptor.proto")?)
}

/// A FileDescriptorSet by the names of its files.
struct Set<'a> {
    files: BTreeMap<&'a str, &'a [u8]>,
    /// What is wrong with the set as a whole.
    faults: Vec<String>,
}

fn by_name(set: &[u8]) -> Result<Set<'_>> {
    let mut files = BTreeMap::new();
    let mut faults = Vec::new();
    for file in messages(set, 1)? {
        let name = string(file, 1)?.ok_or("a file without a name")?;
        for dependency in strings(file, 3)? {
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
