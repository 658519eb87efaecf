//! Steps from file to file, with the evidence for each.

use std::collections::VecDeque;

use abide_syntax::ImportKind;
use rustc_hash::FxHashMap;

use super::evidence::{DependencyEvidence, visit_uses};
use super::level::DependencyLevel;
use crate::ids::FileId;
use crate::tree::Tree;

/// A step of a path: one file depends on another.
#[derive(Clone, Debug)]
pub struct DependencyStep<'t> {
    /// The evidence: a type goes before an option, an option before an import.
    pub used: DependencyEvidence<'t>,
    /// The imports through which the file sees what it uses, where it does not
    /// import the file itself: its own import first, then public imports.
    pub imports: Vec<DependencyEvidence<'t>>,
}

/// The first evidence for each file that a file depends on, by level.
type Evidence<'t> = FxHashMap<FileId, [Option<DependencyEvidence<'t>>; 3]>;

/// Finds the evidence for steps. A file is searched only once, however many steps begin there.
#[derive(Debug)]
pub struct StepFinder<'t> {
    tree: &'t Tree,
    of_file: FxHashMap<FileId, Evidence<'t>>,
}

impl<'t> StepFinder<'t> {
    pub(super) fn new(tree: &'t Tree) -> StepFinder<'t> {
        StepFinder { tree, of_file: FxHashMap::default() }
    }

    /// The first evidence, in the order of declaration, that a file depends on another, by level.
    pub(super) fn find_evidence(
        &mut self,
        from: FileId,
        to: FileId,
    ) -> [Option<DependencyEvidence<'t>>; 3] {
        let of_file = self.of_file.entry(from).or_insert_with(|| {
            let mut evidence = Evidence::default();
            visit_uses(self.tree.file(from), &mut |used| {
                let of_target = evidence.entry(used.target_file().id).or_default();
                of_target[used.level() as usize].get_or_insert(used);
            });
            evidence
        });
        of_file.get(&to).copied().unwrap_or_default()
    }

    /// The step from a file to another at one of the levels.
    pub(super) fn find_step(
        &mut self,
        from: FileId,
        to: FileId,
        levels: &[DependencyLevel],
    ) -> Option<DependencyStep<'t>> {
        let best = self.find_evidence(from, to);
        let used = [DependencyLevel::Type, DependencyLevel::Option, DependencyLevel::Import]
            .into_iter()
            .filter(|level| levels.contains(level))
            .find_map(|level| best[level as usize])?;
        let imports = match best[DependencyLevel::Import as usize] {
            Some(_) => Vec::new(),
            None => import_chain(self.tree, from, to),
        };
        Some(DependencyStep { used, imports })
    }
}

/// The imports through which one file sees another: an import, then public
/// imports. Empty where it does not.
fn import_chain(tree: &Tree, from: FileId, to: FileId) -> Vec<DependencyEvidence<'_>> {
    let mut came: FxHashMap<FileId, DependencyEvidence<'_>> = FxHashMap::default();
    let mut queue = VecDeque::from([from]);
    'search: while let Some(at) = queue.pop_front() {
        let file = tree.file(at);
        for import in file.imports() {
            let Some(target) = import.file else { continue };
            if at != from && import.decl.kind != ImportKind::Public
                || target.id == from
                || came.contains_key(&target.id)
            {
                continue;
            }
            came.insert(target.id, DependencyEvidence::Import { file, import, target });
            if target.id == to {
                break 'search;
            }
            queue.push_back(target.id);
        }
    }
    let mut chain = Vec::new();
    let mut at = to;
    while let Some(&used) = came.get(&at) {
        chain.push(used);
        at = used.file().id;
    }
    chain.reverse();
    chain
}
