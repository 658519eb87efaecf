//! `cargo xtask oracle --only upgrade`: compares `abide upgrade` with Envoy's own
//! generator.
//!
//! Trees with candidates are upgraded without the candidates. The result must be the
//! same files, with equal descriptors from the real protoc, the same comments at the
//! same elements, and the same text except for white space.
//!
//! Then candidates of every closure are written into the trees and released, and those of a
//! sample of googleapis' packages: see `release`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use abide_harness::Result;
use abide_harness::corpora::{self, Corpus};
use abide_harness::programs::{Protoc, output, stdout, workspace};

use crate::edits::release::{CANDIDATE, Life, release_sample};
use crate::protoc::diff::compare_descriptors;
use crate::protoc::sets::{descriptor_proto, index_by_name};
use crate::protoc::wire::{self, Schema, read_fields, read_messages, read_packed, read_strings};

/// The preset that reproduces the generator, and the default preset.
const PRESETS: [&str; 2] = ["envoy", STANDARD];
const STANDARD: &str = "standard";

/// Upgrades every tree with candidates, and a sample of the packages of googleapis; true if
/// nothing differs.
pub(crate) fn run(
    archives: &[Corpus],
    googleapis: &Corpus,
    protoc: &Protoc,
    abide: &Path,
    show: usize,
) -> Result<bool> {
    let mut agreed = release_sample(googleapis, protoc, abide, show)?;
    let newest = Protoc::find_newest()?;
    for edition in ["2024", "2026"] {
        let faults = live_with_closures(&open_edition_tree(edition)?, STANDARD, &newest, abide)?;
        faults.iter().for_each(|it| println!("  {it}"));
        agreed &= faults.is_empty();
    }
    let mut compared = 0;
    for corpus in archives {
        let mut expected = BTreeMap::new();
        for file in &corpus.files {
            let text = fs::read_to_string(corpus.root.join(file))?;
            if text.contains(CANDIDATE) {
                expected.insert(file.clone(), text);
            }
        }
        if !expected.is_empty() {
            agreed &= compare(corpus, &expected, protoc, abide, show)?;
            compared += 1;
        }
    }
    if compared == 0 {
        return Err("no tree has candidates".into());
    }
    Ok(agreed)
}

fn compare(
    corpus: &Corpus,
    expected: &BTreeMap<String, String>,
    protoc: &Protoc,
    abide: &Path,
    show: usize,
) -> Result<bool> {
    let name = &corpus.name;
    let source = corpora::make_fresh_folder(&format!("{name}-source"))?;
    for file in corpus.files.iter().filter(|file| !expected.contains_key(*file)) {
        corpora::write(&source.join(file), &fs::read(corpus.root.join(file))?)?;
    }
    let source = corpora::tree(&format!("{name}-source"), source, corpus.imports.clone())?;
    let made = upgrade_tree(&source, abide, "made", &["--preset", "envoy"])?;
    let again = upgrade_tree(&source, abide, "again", &["--preset", "envoy", "--jobs", "1"])?;

    let mut faults = Vec::new();
    let got: BTreeSet<&String> = made.files.iter().collect();
    for file in expected.keys().filter(|file| !got.contains(file)) {
        faults.push(format!("{file}: is not generated"));
    }
    for file in made.files.iter().filter(|file| !expected.contains_key(*file)) {
        faults.push(format!("{file}: is generated, but not by Envoy's generator"));
    }
    let mut texts = 0;
    let mut bytes = 0;
    for (file, theirs) in expected.iter().filter(|(file, _)| got.contains(file)) {
        let ours = fs::read_to_string(made.root.join(file))?;
        if fs::read_to_string(again.root.join(file))? != ours {
            faults.push(format!("{file}: a second upgrade gives another text"));
        }
        bytes += usize::from(ours == *theirs);
        if squeeze_spaces(&ours) == squeeze_spaces(theirs) {
            texts += 1;
        } else {
            faults.push(format!("{file}: has another text"));
        }
    }

    // Their candidates with the other files of the tree, and ours with the same files.
    let theirs = compile_tree(corpus, &corpus.roots(), &corpus.files, protoc, false)?;
    let their_comments = compile_tree(corpus, &corpus.roots(), &corpus.files, protoc, true)?;
    let mut roots = vec![source.root.as_path(), made.root.as_path()];
    roots.extend(source.imports.iter().map(|root| root.as_path()));
    let files: Vec<String> = source.files.iter().chain(&made.files).cloned().collect();
    let ours = compile_tree(&made, &roots, &files, protoc, false)?;
    let our_comments = compile_tree(&made, &roots, &files, protoc, true)?;

    let (ours, theirs) = (index_by_name(&ours)?, index_by_name(&theirs)?);
    let (our_comments, their_comments) =
        (index_by_name(&our_comments)?, index_by_name(&their_comments)?);
    let mut schema = Schema::default();
    schema.add_file(&descriptor_proto(protoc)?)?;
    for file in theirs.files.values() {
        schema.add_file(file)?;
    }
    let (mut descriptors, mut comments) = (0, 0);
    for file in expected.keys() {
        let name = file.as_str();
        let (Some(our), Some(their)) = (ours.files.get(name), theirs.files.get(name)) else {
            continue;
        };
        let found = compare_descriptors(&schema, our, their)?;
        descriptors += usize::from(found.is_empty());
        faults.extend(found.into_iter().map(|line| format!("{file}: {line}")));
        let (our, their) = (
            read_attached_comments(our_comments.files[name])?,
            read_attached_comments(their_comments.files[name])?,
        );
        comments += usize::from(our == their);
        if let Some(at) = our.keys().chain(their.keys()).find(|at| our.get(*at) != their.get(*at)) {
            faults.push(format!("{file}: has other comments at {at:?}"));
        }
    }
    let total = expected.len();
    println!(
        "upgrade of {name}: of {total} candidates {descriptors} descriptors are equal, comments of \
         {comments}, texts but for white space of {texts} (byte for byte {bytes})"
    );
    for preset in PRESETS {
        faults.extend(live_with_closures(&source, preset, protoc, abide)?);
    }
    for fault in faults.iter().take(show.max(1) * 8) {
        println!("  {fault}");
    }
    if !faults.is_empty() {
        println!("  {} differences", faults.len());
    }
    Ok(faults.is_empty())
}

/// A tree of ours in an edition, with what it imports from the annotations.
fn open_edition_tree(edition: &str) -> Result<Corpus> {
    let root = workspace()?.join("testdata/trees/editions").join(edition);
    corpora::tree(&format!("editions-{edition}"), root, vec![workspace()?.join("api")])
}

/// The faults of a tree that is upgraded and released with each closure.
fn live_with_closures(
    source: &Corpus,
    preset: &str,
    protoc: &Protoc,
    abide: &Path,
) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for closure in ["package", "all", "type"] {
        let config = format!("upgrade.closure = \"{closure}\"\n");
        let told = format!("{} with preset {preset} and closure {closure}", source.name);
        let life = Life { source, told, preset, config, closure };
        let lived = life.live(protoc, abide)?;
        println!("upgrade of {}: {}", life.told, lived.told);
        faults.extend(lived.faults);
    }
    Ok(faults)
}

/// The result of an upgrade of a tree.
fn upgrade_tree(source: &Corpus, abide: &Path, to: &str, options: &[&str]) -> Result<Corpus> {
    let name = format!("{}-{to}", source.name);
    let out = corpora::make_fresh_folder(&name)?;
    let mut command = Command::new(abide);
    command.args(["upgrade", "--quiet"]).args(options).arg(&source.root).arg("--out").arg(&out);
    for root in &source.imports {
        command.arg("-I").arg(root);
    }
    let ran = output(&mut command)?;
    if !ran.status.success() {
        let said = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
        return Err(format!("`abide upgrade` failed on `{}`: {said}", source.name).into());
    }
    corpora::tree(&name, out, Vec::new())
}

/// The descriptors that protoc writes for files.
pub(crate) fn compile_tree(
    corpus: &Corpus,
    roots: &[&Path],
    files: &[String],
    protoc: &Protoc,
    source_info: bool,
) -> Result<Vec<u8>> {
    let path = corpora::stage()?.join(format!("{}.upgrade.binpb", corpus.name));
    let list = corpora::stage()?.join(format!("{}.upgrade.files", corpus.name));
    fs::write(&list, files.join("\n") + "\n")?;
    let mut command = protoc.command(roots);
    command.args(["--include_imports", "--descriptor_set_out"]).arg(&path);
    if source_info {
        command.arg("--include_source_info");
    }
    stdout(command.arg(format!("@{}", list.display())))?;
    Ok(fs::read(path)?)
}

/// A text without white space, adjacent literals joined.
fn squeeze_spaces(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    text.replace("\"\"", "")
}

/// The leading, trailing and detached comments of a location.
pub(crate) type Comments<'a> = [Vec<&'a str>; 3];

/// The comments of a file by the path of the element that they belong to.
pub(crate) fn read_attached_comments(file: &[u8]) -> Result<BTreeMap<Vec<u64>, Vec<Comments<'_>>>> {
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for info in read_messages(file, 9)? {
        for location in read_messages(info, 1)? {
            let comments = [
                read_strings(location, 3)?,
                read_strings(location, 4)?,
                read_strings(location, 6)?,
            ];
            if comments.iter().all(Vec::is_empty) {
                continue;
            }
            let path = read_fields(location)?.into_iter().find_map(|field| match field {
                (1, wire::Value::Bytes(path)) => Some(path),
                _ => None,
            });
            found.entry(read_packed(path.unwrap_or_default())?).or_default().push(comments);
        }
    }
    Ok(found)
}
