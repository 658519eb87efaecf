//! `cargo xtask oracle --only edition`: checks that `abide edition` changes nothing but the language.
//!
//! Trees are carried to every later edition. The real protoc must compile the result to the same
//! elements, and the runtime of Python must resolve the same features for each of them. Generated
//! code may differ in nothing but the descriptors within it, the hashes of the second implementation
//! must stay, `abide breaking` must report no break, and a second run must change nothing.

mod generated;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use abide_harness::Result;
use abide_harness::corpora::{self, Corpus};
use abide_harness::programs::{Protoc, output, stdout, workspace};
use serde_json::Value;

const EDITIONS: [&str; 3] = ["2023", "2024", "2026"];

/// The seed of the samples, and how many files each begins with.
const SEED: u64 = 32;
const SAMPLE: usize = 24;

/// The file of [`DENSE`] for which no generator writes code, although protoc compiles it.
const NOT_GENERATED: &str = "tolerated.proto";

/// How many lines a file may gain, in the median of a sample with all that it imports. The whole of
/// googleapis has a median of 2, but half of its files gain 3, so a sample is on either side. The
/// files of [`DENSE`] have no such limit: in a few lines each holds as much as it can of what has to
/// be stated, and types that Java keeps in the class of their file have to say so one by one.
const MAX_MEDIAN: usize = 3;
const DENSE: &str = "own";

/// Carries our own files, and samples of these trees; true if nothing differs.
pub(crate) fn run(trees: &[Corpus], protoc: &Protoc, abide: &Path, show: usize) -> Result<bool> {
    let mut agreed = true;
    let mut rng = fastrand::Rng::with_seed(SEED);
    let mut own = corpora::own()?;
    own.files.retain(|it| it != NOT_GENERATED);
    fs::remove_file(own.root.join(NOT_GENERATED))?;
    let mut sources = vec![own, api()?];
    for tree in trees {
        let mut files = tree.files.clone();
        rng.shuffle(&mut files);
        files.truncate(SAMPLE);
        sources.push(corpora::with_imports(tree, &format!("{}-editions", tree.name), files)?);
    }
    println!("edition: seed {SEED}, {SAMPLE} files of each tree, with what they import");
    for source in &sources {
        let before = Facts::collect(source, protoc)?;
        for edition in EDITIONS {
            let carried = CarriedTree::make(source, edition, abide)?;
            let faults = carried.find_faults(&before, protoc, abide)?;
            println!(
                "edition {edition} of {}: carried {} of {} files, {} added lines in the median; {} \
                 differences",
                source.name,
                carried.added_lines.len(),
                source.files.len(),
                carried.median(),
                faults.len()
            );
            for fault in faults.iter().take(show.max(1) * 4) {
                println!("  {fault}");
            }
            agreed &= faults.is_empty() && !carried.added_lines.is_empty();
        }
    }
    Ok(agreed)
}

/// The tree that Abide brings along.
fn api() -> Result<Corpus> {
    let folder = workspace()?.join("api");
    let root = corpora::make_fresh_folder("api")?;
    for file in corpora::list_proto_files(&folder)? {
        corpora::write(&root.join(&file), &fs::read(folder.join(&file))?)?;
    }
    corpora::tree("api", root, Vec::new())
}

/// A copy of a tree in a later edition.
struct CarriedTree<'s> {
    source: &'s Corpus,
    edition: &'static str,
    tree: Corpus,
    /// By file that changed: how many lines it has more than before.
    added_lines: BTreeMap<String, usize>,
}

impl<'s> CarriedTree<'s> {
    fn make(source: &'s Corpus, edition: &'static str, abide: &Path) -> Result<CarriedTree<'s>> {
        let name = format!("{}-{edition}", source.name);
        let root = corpora::make_fresh_folder(&name)?;
        for file in &source.files {
            corpora::write(&root.join(file), &fs::read(source.root.join(file))?)?;
        }
        let tree = corpora::tree(&name, root, source.imports.clone())?;
        let mut added_lines = BTreeMap::new();
        run_edition(&tree, edition, "--write", abide)?;
        for file in &source.files {
            let texts = [source, &tree].map(|it| fs::read(it.root.join(file)));
            let [before, after] = texts;
            let (before, after) = (before?, after?);
            if before != after {
                let count = |text: &[u8]| text.iter().filter(|it| **it == b'\n').count();
                added_lines.insert(file.clone(), count(&after).saturating_sub(count(&before)));
            }
        }
        Ok(CarriedTree { source, edition, tree, added_lines })
    }

    fn median(&self) -> usize {
        let mut counts: Vec<usize> = self.added_lines.values().copied().collect();
        counts.sort_unstable();
        counts.get(counts.len() / 2).copied().unwrap_or_default()
    }

    fn find_faults(&self, before: &Facts, protoc: &Protoc, abide: &Path) -> Result<Vec<String>> {
        let mut faults = before.compare(&Facts::collect(&self.tree, protoc)?);
        let again = run_edition(&self.tree, self.edition, "--check", abide)?;
        faults.extend(again.lines().map(|it| format!("a second run changes {it}")));
        if self.source.name != DENSE && self.median() > MAX_MEDIAN {
            faults.push(format!("{} added lines in the median", self.median()));
        }
        faults.extend(self.find_breaks(abide)?);
        Ok(faults)
    }

    /// What `abide breaking` reports as a break, on whatever surface.
    fn find_breaks(&self, abide: &Path) -> Result<Vec<String>> {
        let mut command =
            abide_on(&self.tree, abide, &["breaking", "--changes", "--format", "json"]);
        command.arg("--against").arg(&self.source.root);
        let said = output(&mut command)?;
        if !matches!(said.status.code(), Some(0 | 1)) {
            return Err(String::from_utf8_lossy(&said.stderr).into());
        }
        let mut found = Vec::new();
        for line in String::from_utf8_lossy(&said.stdout).lines() {
            let row: Value = serde_json::from_str(line)?;
            let breaks = row["breaks"].as_array().is_some_and(|it| !it.is_empty());
            if breaks || row["required_bump"].as_str().is_some_and(|it| it != "none") {
                found.push(format!("breaks: {line}"));
            }
        }
        Ok(found)
    }
}

/// Runs `abide edition`, which may leave files out; returns what it prints.
fn run_edition(tree: &Corpus, edition: &str, target: &str, abide: &Path) -> Result<String> {
    let said = output(&mut abide_on(tree, abide, &["edition", "--to", edition, target]))?;
    match said.status.code() {
        Some(0 | 1) => Ok(String::from_utf8(said.stdout)?),
        _ => Err(String::from_utf8_lossy(&said.stderr).into()),
    }
}

fn abide_on(tree: &Corpus, abide: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(abide);
    command.current_dir(&tree.root).args(args);
    for import in &tree.imports {
        command.arg("-I").arg(import);
    }
    command
}

/// What must be the same before and after, each by a program of others.
struct Facts {
    /// What the runtime of Python says about each element.
    elements: BTreeSet<String>,
    /// Own hashes by kind and name, from the second implementation.
    hashes: BTreeMap<String, String>,
    /// Generated files, without the descriptors in them.
    generated: BTreeMap<PathBuf, String>,
}

impl Facts {
    fn collect(tree: &Corpus, protoc: &Protoc) -> Result<Facts> {
        let set = corpora::stage()?.join(format!("{}.edition.binpb", tree.name));
        // The default visibility of a file stands in no other set.
        let mut compile = protoc.command(&tree.roots());
        compile.args(["--include_imports", "--retain_options", "--descriptor_set_out"]).arg(&set);
        stdout(compile.arg(format!("@{}", tree.list()?.display())))?;
        let scripts = workspace()?;
        let elements = scripts.join("crates/abide-oracle/src/edits/edition/elements.py");
        let elements = stdout(Command::new("python3").arg(elements).arg(&set))?;
        let hashes = scripts.join("testdata/hash/abide1.py");
        let mut own = BTreeMap::new();
        for line in stdout(Command::new("python3").arg(hashes).arg(&set))?.lines() {
            let row: Value = serde_json::from_str(line)?;
            own.insert(format!("{} {}", row["kind"], row["name"]), row["own"].to_string());
        }
        let generated = generated::generate(tree, protoc)?;
        if elements.is_empty() || own.is_empty() || generated.is_empty() {
            return Err(format!("nothing is known of {}", tree.name).into());
        }
        Ok(Facts {
            elements: elements.lines().map(str::to_owned).collect(),
            hashes: own,
            generated,
        })
    }

    fn compare(&self, after: &Facts) -> Vec<String> {
        let mut faults = Vec::new();
        let gone = self.elements.difference(&after.elements).map(|it| format!("before: {it}"));
        let new = after.elements.difference(&self.elements).map(|it| format!("after: {it}"));
        faults.extend(gone.chain(new));
        for (name, hash) in &self.hashes {
            if after.hashes.get(name) != Some(hash) {
                faults.push(format!("{name}: has another hash"));
            }
        }
        for path in self.generated.keys().chain(after.generated.keys()).collect::<BTreeSet<_>>() {
            let texts = (self.generated.get(path), after.generated.get(path));
            if texts.0 != texts.1 {
                let line = generated::find_first_difference(texts.0, texts.1);
                faults.push(format!("{}: {line}", path.display()));
            }
        }
        faults
    }
}
