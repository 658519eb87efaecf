//! The newest stable version of each API.

use abide_schema::{File, Package, Tree, format_api_name};
use rustc_hash::FxHashMap;

use super::file_role::find_generated_mark;

/// The newest stable version of each API of a tree, by major and minor.
pub(crate) struct NewestStable(FxHashMap<String, (u32, Option<u32>)>);

impl NewestStable {
    pub(crate) fn from_tree(tree: &Tree) -> NewestStable {
        let mut newest: FxHashMap<String, (u32, Option<u32>)> = FxHashMap::default();
        // A candidate may have the name of a stable version, and is none before its release.
        let is_candidate = |it: File<'_>| it.is_candidate() || find_generated_mark(it).is_some();
        for package in tree.packages() {
            let stable = package.version().filter(|it| it.is_stable());
            let stable = stable.filter(|_| !package.files().all(is_candidate));
            if let Some((api, version)) = format_api_name(package.name()).zip(stable) {
                let newest = newest.entry(api).or_default();
                *newest = (version.major, version.minor).max(*newest);
            }
        }
        NewestStable(newest)
    }

    /// The newest stable major of the API of a package.
    pub(crate) fn find_major(&self, package: Package<'_>) -> Option<u32> {
        let newest = format_api_name(package.name()).and_then(|api| self.0.get(&api));
        newest.map(|(major, _)| *major)
    }

    /// Returns true if a stable version has taken the place of an alpha or a beta. That belongs
    /// to the past like a frozen version, so it keeps using what it was written for.
    pub(crate) fn has_superseded(&self, package: Package<'_>) -> bool {
        let unstable = package.version().filter(|it| !it.is_stable());
        let newest = format_api_name(package.name()).and_then(|api| self.0.get(&api));
        unstable.zip(newest).is_some_and(|(own, newest)| *newest >= (own.major, own.minor))
    }
}
