//! Lives of packages under every command: from generated trees, and from parts of real ones.

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use abide_harness::corpora::{self, Corpus};
use abide_harness::programs::{self, workspace};
use abide_harness::{ExternalPaths, Result};
use fastrand::Rng;

use super::laws::report;
use super::run_in_parallel;
use super::version_lives::{Programs, RealTree, Start, Tally, live};

/// The most files of a part of a real tree: every command reads all of them.
const FILES: usize = 25;

/// Lives this many lives; true if no law is broken.
pub(crate) fn try_versions(count: u64, seed: u64, abide: Option<&Path>) -> Result<bool> {
    if count == 0 {
        return Ok(true);
    }
    let api = workspace()?.join("api");
    let programs = Programs { abide: programs::abide(abide)?, api };
    let none = ExternalPaths::default();
    let trees = corpora::unpack_archives(&none)?;
    let total = Mutex::new(Tally::default());
    let failures = run_in_parallel(count, |id| {
        let life = seed.wrapping_mul(1 << 32) ^ id;
        let mut rng = Rng::with_seed(life);
        let start = if id % 2 == 0 { choose_part(&trees, &mut rng) } else { None };
        let lived = catch_unwind(|| live(&programs, start, life));
        match lived {
            Ok(tally) => {
                if let Ok(mut total) = total.lock() {
                    *total = total.plus(tally);
                }
                None
            }
            Err(why) => Some(match why.downcast::<String>() {
                Ok(why) => *why,
                Err(_) => format!("life {life} panicked"),
            }),
        }
    })?;
    let Tally { commands, checks, upgrades, releases, merges, conflicts, refused } =
        total.into_inner().unwrap_or_default();
    let what = format!(
        "lives of packages, {commands} commands, {checks} checks of laws, {upgrades} upgrades, \
         {releases} releases, {merges} merges ({conflicts} in conflict, {refused} refused)"
    );
    Ok(report("versions", seed, count, &what, &failures))
}

/// A file of a real tree, with all that it imports there; `None` if no tree is there, or if that is
/// too much.
fn choose_part(trees: &[Corpus], rng: &mut Rng) -> Option<Start> {
    for _ in 0..20 {
        let tree = trees.get(rng.usize(..trees.len().max(1)))?;
        let first = tree.files.get(rng.usize(..tree.files.len()))?;
        let files = collect_imported(&tree.root, first);
        let has_version = first.contains("/v3/") || first.contains("/v2/");
        if files.len() > FILES || !has_version {
            continue;
        }
        let imports: Vec<PathBuf> =
            tree.imports.iter().filter_map(|it| it.canonicalize().ok()).collect();
        let part = RealTree {
            name: &tree.name,
            preset: "envoy",
            files: &files,
            root: &tree.root,
            imports: &imports,
        };
        return Some(Start::real(&part));
    }
    None
}

/// A file and those of its tree that it imports, directly or not: it first.
fn collect_imported(root: &Path, first: &str) -> Vec<String> {
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    let mut open = vec![first.to_owned()];
    while let Some(path) = open.pop() {
        let Ok(text) = fs::read_to_string(root.join(&path)) else { continue };
        if !seen.insert(path.clone()) {
            continue;
        }
        found.push(path);
        let imports = text.lines().filter_map(|it| it.strip_prefix("import ")?.split('"').nth(1));
        open.extend(imports.map(str::to_owned));
    }
    found
}
