//! Sources of candidates, element by element.

use abide_schema::{Element, File, FileId};
use rustc_hash::FxHashMap;

use crate::plan::{PackageSelection, ReleaseStage, UpgradeInputs, UpgradePlan};

/// The sources of the candidates of a tree.
#[derive(Clone, Debug, Default)]
pub struct CandidateSources {
    files: FxHashMap<FileId, FileId>,
    names: FxHashMap<String, String>,
}

impl CandidateSources {
    /// Finds them as an upgrade does; none if an upgrade is refused.
    pub fn find(basis: UpgradeInputs<'_, '_>) -> CandidateSources {
        let mut sources = CandidateSources::default();
        let choice = PackageSelection::Present(&[]);
        let Ok(plan) = UpgradePlan::build(basis, choice, ReleaseStage::Candidate) else {
            return sources;
        };
        for source in basis.tree.files() {
            let Some(next) = plan.next(source.id) else { continue };
            let Some(candidate) = plan.find_candidate(source, &next.path) else { continue };
            sources.files.insert(candidate.id, source.id);
            sources.names.insert(candidate.full_name(), source.full_name());
            let package = |it: File<'_>| it.package().full_name();
            sources.names.insert(package(candidate), package(source));
            let named = source.elements().filter_map(|it| Some((plan.find_next_name(it)?, it)));
            sources.names.extend(named.map(|(next, it)| (next, Element::full_name(it))));
        }
        sources
    }

    /// The file that a candidate is made from.
    pub fn find_source_file(&self, candidate: FileId) -> Option<FileId> {
        self.files.get(&candidate).copied()
    }

    /// Returns the name in its source of an element, a file or a package of a candidate.
    pub fn find_source_name(&self, next: &str) -> Option<&str> {
        self.names.get(next).map(String::as_str)
    }
}
