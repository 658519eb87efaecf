//! The days that an upgrade and a release record in `abide.lock`.

use std::collections::{BTreeMap, BTreeSet};

use abide_hash::TreeHashes;
use abide_schema::{File, PackageVersion, Stability, Tree, format_api_name};
use abide_upgrade::{
    ReleaseResult, UpgradeOptions, UpgradeResult, extract_comparable_text, matches_generated,
    upgrade,
};
use jiff::civil::Date;

use crate::lifecycle::{apis, stable_major};
use crate::lock::{Freeze, Lock};
use crate::policy::Policy;

/// Records the day on which candidates were introduced, for an upgrade that makes
/// them. A candidate that is on record already is not new.
pub fn record_upgrade(lock: &mut Lock, tree: &Tree, made: &UpgradeResult, day: Date) {
    let made: BTreeSet<&str> = made.files.iter().map(|it| it.package.as_str()).collect();
    let is_on_record =
        |file: File<'_>| [file.released_version(), file.introduced()].iter().any(Option::is_some);
    for name in made.into_iter().filter(|it| !lock.knows(it)).collect::<Vec<_>>() {
        if !tree.package_named(name).is_some_and(|it| it.files().any(is_on_record)) {
            lock.introduce(name, day);
        }
    }
}

/// Records the candidates that are what an upgrade makes, where another text is on
/// record: after a merge, neither side made them.
pub(crate) fn record_merge(lock: &mut Lock, tree: &Tree, policy: &Policy) {
    let mut unknown = BTreeMap::new();
    for file in tree.files() {
        let path = &*file.decl().display;
        if let Some(text) = file.decl().source_text().filter(|_| lock.has_made(path)) {
            let text = extract_comparable_text(&policy.upgrade, Some(file), text);
            if !lock.is_made(path, &text) {
                unknown.insert(file.path(), (file, text));
            }
        }
    }
    if unknown.is_empty() {
        return;
    }
    let options = UpgradeOptions::default();
    let Ok(made) = upgrade(tree, policy.upgrade_settings(), &options) else { return };
    for generated in &made.files {
        let candidate = unknown.remove(generated.path.as_str());
        if let Some((file, text)) = candidate.filter(|it| matches_generated(it.0, generated)) {
            lock.set_made(&file.decl().display, &text);
        }
    }
}

/// Records what a release of the candidates of a tree does: on its day the released
/// packages are introduced, and those that they replace are frozen as they are. Of an
/// interrupted release, only the candidates are left that it did not delete.
pub fn record_release(lock: &mut Lock, tree: &Tree, made: &ReleaseResult, day: Date) {
    let promoted = made.promoted.iter();
    let mut released: BTreeSet<String> = promoted.clone().flat_map(|it| it.next.clone()).collect();
    let mut replaced: BTreeSet<String> = promoted.map(|it| it.package.clone()).collect();
    let apis = apis(tree);
    for &file in &made.deleted {
        let candidate = tree.file(file).package();
        let Some(major) = candidate.version().map(|it| it.major) else { continue };
        let versions = format_api_name(candidate.name()).and_then(|api| apis.get(&api));
        let stable = || versions.into_iter().flatten().filter(|it| stable_major(**it).is_some());
        let is_it = |it: &&_| stable_major(**it) == Some(major);
        released.extend(stable().find(is_it).map(|it| it.full_name()));
        let mut before = stable().filter(|it| stable_major(**it) < Some(major));
        replaced.extend(before.next_back().map(|it| it.full_name()));
    }
    let is_stable = |name: &String| {
        PackageVersion::from_package(name).is_none_or(|it| it.stability == Stability::Stable)
    };
    for package in released.iter().filter(|it| is_stable(it)) {
        lock.introduce(package, day);
    }
    let hashes = TreeHashes::of(tree);
    for package in replaced.iter().filter(|it| is_stable(it) && !released.contains(*it)) {
        if let Some(hashes) = hashes.package(package) {
            lock.freeze(package, Freeze { day, own: hashes.own });
        }
    }
}
