//! `cargo xtask oracle --only upgrade`: does `abide upgrade` make what Envoy's
//! own generator made?
//!
//! Trees that hold candidates are upgraded without them. What comes out must
//! be the same files, with descriptors that the real protoc finds equal, the
//! same comments at the same elements, and the same text but for white space.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use super::diff::differences;
use super::wire::{Schema, Value, fields, messages, packed, strings};
use super::{by_name, descriptor_proto};
use crate::Result;
use crate::corpora::{self, Corpus};
use crate::tools::{Protoc, output, stdout};

const CANDIDATE: &str = "package_version_status = NEXT_MAJOR_VERSION_CANDIDATE";

/// Upgrades every tree that holds candidates; true when nothing differs.
pub(super) fn run(archives: &[Corpus], protoc: &Protoc, abide: &Path, show: usize) -> Result<bool> {
    let mut agreed = true;
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
        return Err("no tree holds candidates".into());
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
    let source = corpora::fresh(&format!("{name}-source"))?;
    for file in corpus.files.iter().filter(|file| !expected.contains_key(*file)) {
        corpora::write(&source.join(file), &fs::read(corpus.root.join(file))?)?;
    }
    let source = corpora::tree(&format!("{name}-source"), source, corpus.imports.clone())?;
    let made = upgraded(&source, abide, "made", &["--preset", "envoy"])?;
    let again = upgraded(&source, abide, "again", &["--preset", "envoy", "--jobs", "1"])?;

    let mut faults = Vec::new();
    let got: BTreeSet<&String> = made.files.iter().collect();
    for file in expected.keys().filter(|file| !got.contains(file)) {
        faults.push(format!("{file}: is not made"));
    }
    for file in made.files.iter().filter(|file| !expected.contains_key(*file)) {
        faults.push(format!("{file}: is made, and was not by the generator"));
    }
    let mut texts = 0;
    let mut bytes = 0;
    for (file, theirs) in expected.iter().filter(|(file, _)| got.contains(file)) {
        let ours = fs::read_to_string(made.root.join(file))?;
        if fs::read_to_string(again.root.join(file))? != ours {
            faults.push(format!("{file}: the same upgrade makes another text"));
        }
        bytes += usize::from(ours == *theirs);
        if squeezed(&ours) == squeezed(theirs) {
            texts += 1;
        } else {
            faults.push(format!("{file}: another text"));
        }
    }

    // Their candidates among the files they came with, ours among the same.
    let theirs = compiled(corpus, &corpus.roots(), &corpus.files, protoc, false)?;
    let their_comments = compiled(corpus, &corpus.roots(), &corpus.files, protoc, true)?;
    let mut roots = vec![source.root.as_path(), made.root.as_path()];
    roots.extend(source.imports.iter().map(|root| root.as_path()));
    let files: Vec<String> = source.files.iter().chain(&made.files).cloned().collect();
    let ours = compiled(&made, &roots, &files, protoc, false)?;
    let our_comments = compiled(&made, &roots, &files, protoc, true)?;

    let (ours, theirs) = (by_name(&ours)?, by_name(&theirs)?);
    let (our_comments, their_comments) = (by_name(&our_comments)?, by_name(&their_comments)?);
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
        let found = differences(&schema, our, their)?;
        descriptors += usize::from(found.is_empty());
        faults.extend(found.into_iter().map(|line| format!("{file}: {line}")));
        let (our, their) =
            (attached(our_comments.files[name])?, attached(their_comments.files[name])?);
        comments += usize::from(our == their);
        if let Some(at) = our.keys().chain(their.keys()).find(|at| our.get(*at) != their.get(*at)) {
            faults.push(format!("{file}: other comments at {at:?}"));
        }
    }
    let total = expected.len();
    println!(
        "upgrade of {name}: of {total} candidates {descriptors} descriptors are equal, comments of \
         {comments}, texts but for white space of {texts} (byte for byte {bytes})"
    );
    for closure in ["package", "all"] {
        let made = upgraded(&source, abide, closure, &["--preset", "envoy", "--closure", closure])?;
        let mut roots = vec![source.root.as_path(), made.root.as_path()];
        roots.extend(source.imports.iter().map(|root| root.as_path()));
        let files: Vec<String> = source.files.iter().chain(&made.files).cloned().collect();
        compiled(&made, &roots, &files, protoc, false)?;
        println!("upgrade of {name}: closure {closure} makes {}, which link", made.files.len());
    }
    for fault in faults.iter().take(show.max(1) * 8) {
        println!("  {fault}");
    }
    if !faults.is_empty() {
        println!("  {} differences", faults.len());
    }
    Ok(faults.is_empty())
}

/// What an upgrade of a tree makes.
fn upgraded(source: &Corpus, abide: &Path, to: &str, options: &[&str]) -> Result<Corpus> {
    let name = format!("{}-{to}", source.name);
    let out = corpora::fresh(&name)?;
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

/// What protoc makes of files.
fn compiled(
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
fn squeezed(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    text.replace("\"\"", "")
}

/// The leading, trailing and detached comments of a location.
type Comments<'a> = [Vec<&'a str>; 3];

/// The comments of a file by the path of what they are attached to.
fn attached(file: &[u8]) -> Result<BTreeMap<Vec<u64>, Comments<'_>>> {
    let mut found = BTreeMap::new();
    for info in messages(file, 9)? {
        for location in messages(info, 1)? {
            let comments = [strings(location, 3)?, strings(location, 4)?, strings(location, 6)?];
            if comments.iter().all(Vec::is_empty) {
                continue;
            }
            let path = fields(location)?.into_iter().find_map(|field| match field {
                (1, Value::Bytes(path)) => Some(path),
                _ => None,
            });
            found.insert(packed(path.unwrap_or_default())?, comments);
        }
    }
    Ok(found)
}
