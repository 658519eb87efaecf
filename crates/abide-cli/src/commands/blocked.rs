//! The packages of an upgrade that cannot be made, so that the others can.

use std::collections::{BTreeMap, BTreeSet};

use abide::Report;
use abide_schema::{PackageId, Tree};
use abide_upgrade::Upgrade;

/// The packages that get no candidates: each with the package whose candidates it would use and that
/// gets none either, or `None` if it has an error itself.
pub(super) struct Blocked(BTreeMap<PackageId, Option<PackageId>>);

impl Blocked {
    /// Takes out of an upgrade what findings keep from being made, and everything that would use it.
    /// `None` if nothing would be left: that is an upgrade that cannot be made at all.
    pub(super) fn take(tree: &Tree, findings: &Report, made: &mut Upgrade) -> Option<Blocked> {
        let sources: BTreeMap<_, _> =
            made.files.iter().map(|it| (it.from, tree.file(it.from).package().id)).collect();
        let candidates: BTreeMap<(u32, &str), PackageId> = made
            .files
            .iter()
            .map(|it| ((tree.file(it.from).decl().root, &*it.path), sources[&it.from]))
            .collect();
        let mut blocked: BTreeMap<PackageId, Option<PackageId>> = BTreeMap::new();
        for finding in &findings.findings {
            let file = tree.file(finding.location.place()?.file);
            let own = candidates.get(&(file.decl().root, file.path())).copied();
            match own.or_else(|| sources.get(&file.id).copied()) {
                Some(package) => drop(blocked.insert(package, None)),
                // Why a candidate is deleted is not known then.
                None => made.stale.clear(),
            }
        }
        let graph = tree.graph();
        let packages: BTreeSet<PackageId> = sources.values().copied().collect();
        loop {
            let uses_blocked = |package: &PackageId| {
                let mut edges = graph.edges_of(tree.package(*package)).map(|edge| edge.to.id);
                edges.find(|to| blocked.contains_key(to)).map(|to| (*package, Some(to)))
            };
            let open = packages.iter().filter(|it| !blocked.contains_key(it));
            let found: Vec<_> = open.filter_map(uses_blocked).collect();
            if found.is_empty() {
                break;
            }
            blocked.extend(found);
        }
        made.files.retain(|it| !blocked.contains_key(&tree.file(it.from).package().id));
        // Candidates of what is blocked stay as they are.
        made.stale.retain(|it| {
            it.from.is_none_or(|from| !blocked.contains_key(&tree.file(from).package().id))
        });
        (!made.files.is_empty()).then_some(Blocked(blocked))
    }

    /// What is said about each of them.
    pub(super) fn notes<'a>(&'a self, tree: &'a Tree) -> impl Iterator<Item = String> + 'a {
        let name = |id: PackageId| tree.package(id).name();
        self.0.iter().map(move |(package, uses)| match uses {
            None => format!("error: `{}` was not upgraded: see its errors above", name(*package)),
            Some(used) => format!(
                "error: `{}` was not upgraded: it uses `{}`, which was not upgraded",
                name(*package),
                name(*used)
            ),
        })
    }
}
