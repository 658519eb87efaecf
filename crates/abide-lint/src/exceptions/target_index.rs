//! Which of many exceptions cover a finding.

use abide_schema::GlobIndex;
use rustc_hash::FxHashMap;

use crate::finding::Finding;
use crate::policy::WaiverTarget;

/// Finds the exceptions, of many, that cover a finding.
#[derive(Default)]
pub(crate) struct TargetIndex<'p> {
    targets: Vec<&'p WaiverTarget>,
    by_element: GlobIndex,
    by_fingerprint: FxHashMap<&'p str, Vec<usize>>,
}

impl<'p> TargetIndex<'p> {
    pub(crate) fn of(targets: impl IntoIterator<Item = &'p WaiverTarget>) -> TargetIndex<'p> {
        let mut index =
            TargetIndex { targets: targets.into_iter().collect(), ..TargetIndex::default() };
        for (number, target) in index.targets.iter().enumerate() {
            match target {
                WaiverTarget::Element(glob) => index.by_element.insert(glob, number),
                WaiverTarget::Fingerprint(text) => {
                    index.by_fingerprint.entry(text).or_default().push(number);
                }
            }
        }
        index
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// The numbers of the exceptions that name an element or a container of it.
    pub(crate) fn find_naming(&self, element: &str) -> Vec<usize> {
        let names = |it: &usize| match self.targets.get(*it) {
            Some(WaiverTarget::Element(glob)) => glob.matches_container(element),
            Some(WaiverTarget::Fingerprint(_)) | None => false,
        };
        let mut naming = self.by_element.find_candidates(element);
        naming.retain(names);
        naming
    }

    /// The numbers of the exceptions that cover a finding.
    pub(crate) fn find_covering(&self, finding: &Finding) -> Vec<usize> {
        let mut covering = self.find_naming(&finding.element);
        if !self.by_fingerprint.is_empty() {
            let named = self.by_fingerprint.get(&*finding.fingerprint());
            covering.extend(named.into_iter().flatten());
        }
        covering
    }
}
