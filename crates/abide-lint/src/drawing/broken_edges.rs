//! Which edges break the policy.

use std::collections::{BTreeMap, BTreeSet};

use abide_schema::{PackageDependency, PackageId, Place, Tree};

use crate::finding::{Finding, Group, Severity};
use crate::rules::find_rule;

/// The findings about dependencies, by the packages and places of their evidence.
pub(super) struct BrokenEdges<'r>(BTreeMap<PackageId, BTreeMap<Place, BTreeSet<&'r str>>>);

impl<'r> BrokenEdges<'r> {
    /// Errors and warnings count.
    pub(super) fn of(tree: &Tree, findings: &'r [Finding]) -> BrokenEdges<'r> {
        let is_dependency =
            |it: &Finding| find_rule(it.rule).is_some_and(|rule| rule.group == Group::Dependencies);
        let mut found: BTreeMap<_, BTreeMap<_, BTreeSet<_>>> = BTreeMap::new();
        for finding in findings {
            if finding.severity == Severity::Note || !is_dependency(finding) {
                continue;
            }
            let labels = finding.labels.iter().map(|label| &label.location);
            for place in labels.chain([&finding.location]).filter_map(|it| it.place()) {
                let package = tree.file(place.file).package().id;
                let places = found.entry(package).or_default();
                places.entry(place).or_default().insert(&*finding.message);
            }
        }
        BrokenEdges(found)
    }

    /// Returns what the findings say against an edge: those that show a use of it.
    pub(super) fn against(&self, edge: &PackageDependency<'_, '_>) -> Vec<&'r str> {
        let Some(places) = self.0.get(&edge.from.id) else { return Vec::new() };
        let uses = edge.collect_uses();
        let said = uses.iter().filter_map(|used| places.get(&used.place())).flatten().copied();
        said.collect::<BTreeSet<_>>().into_iter().collect()
    }
}
