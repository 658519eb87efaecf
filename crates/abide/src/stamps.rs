//! The days that an upgrade and a release record in `abide.lock`.

use std::collections::BTreeSet;

use abide_meaning::TreeHashes;
use abide_schema::{File, PackageVersion, Stability, Tree};
use abide_upgrade::{Release, Upgrade};
use jiff::civil::Date;

use crate::lifecycle::{apis, stable_major};
use crate::lock::{Freeze, Lock};

/// Records the day on which candidates were introduced, for an upgrade that makes
/// them. A candidate that is on record already is not new.
pub fn stamp_upgrade(lock: &mut Lock, tree: &Tree, made: &Upgrade, day: Date) {
    let made: BTreeSet<&str> = made.files.iter().map(|it| it.package.as_str()).collect();
    let is_on_record =
        |file: File<'_>| [file.released_version(), file.introduced()].iter().any(Option::is_some);
    for name in made.into_iter().filter(|it| !lock.knows(it)).collect::<Vec<_>>() {
        if !tree.package_named(name).is_some_and(|it| it.files().any(is_on_record)) {
            lock.introduce(name, day);
        }
    }
}

/// Records what a release of the candidates of a tree does: on its day the released
/// packages are introduced, and those that they replace are frozen as they are. Of an
/// interrupted release, only the candidates are left that it did not delete.
pub fn stamp_release(lock: &mut Lock, tree: &Tree, made: &Release, day: Date) {
    let risen = made.risen.iter();
    let mut released: BTreeSet<String> = risen.clone().flat_map(|it| it.next.clone()).collect();
    let mut replaced: BTreeSet<String> = risen.map(|it| it.package.clone()).collect();
    let apis = apis(tree);
    for &file in &made.deleted {
        let candidate = tree.file(file).package();
        let Some(major) = candidate.version().map(|it| it.major) else { continue };
        let versions = apis.values().find(|it| it.contains(&candidate));
        let stable = || versions.into_iter().flatten().filter(|it| stable_major(**it).is_some());
        let is_it = |it: &&_| stable_major(**it) == Some(major);
        released.extend(stable().find(is_it).map(|it| it.full_name()));
        let before = stable().filter(|it| stable_major(**it) < Some(major));
        replaced.extend(before.last().map(|it| it.full_name()));
    }
    let is_stable = |name: &String| {
        PackageVersion::of_package(name).is_none_or(|it| it.stability == Stability::Stable)
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
