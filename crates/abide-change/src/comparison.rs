//! Two trees compared: what rules ask of a change.

use std::ops::Deref;
use std::sync::Arc;

use abide_schema::{Element, Tree};

use crate::api_client::{PathHelpers, find_lost_path_helper};
use crate::constraint::{ConstraintCache, ConstraintChange};
use crate::diff::{ComparedTexts, Diff};
use crate::prove::{ProofCache, Prover};
use crate::symbols::{GeneratedNames, LostSymbol};

/// The pairs of two trees, and what is computed from them once for many findings.
///
/// Its parts do not know it: they are given the pairs, and the caches that are theirs. Most
/// questions of a rule are about pairs, which it can ask here as well.
#[derive(Debug)]
pub struct Comparison<'t> {
    diff: Diff<'t>,
    proofs: ProofCache,
    constraints: ConstraintCache,
    /// The names in generated code of the old tree and the new one.
    pub(crate) generated_names: [GeneratedNames; 2],
    /// The helpers of API clients of the old tree and the new one.
    path_helpers: [PathHelpers; 2],
}

impl<'t> Deref for Comparison<'t> {
    type Target = Diff<'t>;

    fn deref(&self) -> &Diff<'t> {
        &self.diff
    }
}

impl<'t> Comparison<'t> {
    /// Pairs the elements of two trees. Everything else is computed when it is first asked for.
    pub fn new(old: &'t Tree, new: &'t Tree) -> Comparison<'t> {
        Comparison::with_texts(old, new, &ComparedTexts::default())
    }

    /// The same for one of several old trees, given the texts that were compared before.
    pub fn with_texts(old: &'t Tree, new: &'t Tree, texts: &ComparedTexts) -> Comparison<'t> {
        Comparison {
            diff: Diff::with_texts(old, new, texts),
            proofs: ProofCache::default(),
            constraints: ConstraintCache::default(),
            generated_names: Default::default(),
            path_helpers: Default::default(),
        }
    }

    /// Proves what changes break, with values that one side writes and the other reads.
    pub fn prover(&self) -> Prover<'_, 't> {
        Prover::new(&self.diff, &self.proofs)
    }

    /// Compares the constraints of an element with those that it had; `None` for what has none.
    pub fn compare_constraints(
        &self,
        old: Element<'t>,
        new: Element<'t>,
    ) -> Option<Arc<ConstraintChange>> {
        debug_assert!(self.is_old(old.file().tree), "{old:?} is not of the old tree");
        debug_assert!(self.is_new(new.file().tree), "{new:?} is not of the new tree");
        self.constraints.compare(old, new)
    }

    /// Returns what clients lose that had a helper for this type of resource.
    pub fn find_lost_path_helper(&self, resource_type: &str) -> Option<LostSymbol> {
        find_lost_path_helper(&self.diff, &self.path_helpers, resource_type)
    }
}
