//! Records the versions of what a command made of a tree.

use std::collections::BTreeSet;

use abide_hash::TreeHashes;
use abide_schema::Tree;
use jiff::civil::Date;
use semver::Version;

use super::version_plan::plan_versions;
use crate::inputs::Options;
use crate::lock::{Lock, Record, Records, VersionIn};
use crate::policy::Policy;

/// Records the versions that a command knows of what it made of a tree: those of these packages, and
/// of others that are not stable and were recorded as they were. A lock that records no versions
/// stays without them.
///
/// `released` is the lock of the last release: what was counted up since then is counted once.
pub fn record_made_versions(
    lock: &mut Lock,
    (before, after): (&Tree, &Tree),
    policy: &Policy,
    records: Records<'_>,
    packages: &BTreeSet<String>,
    day: Date,
) {
    if records.version_in != VersionIn::Lock || lock.packages().all(|it| lock.record(it).is_none())
    {
        return;
    }
    let known = lock.clone();
    let options = Options {
        records: Records { lock: Some(&known), released: None, ..records },
        versions: true,
        ..Options::on(day)
    };
    let plan = plan_versions(after, policy, options);
    let (was, is) = (TreeHashes::of(before), TreeHashes::of(after));
    let was_recorded = |name: &str| {
        let recorded = known.record(name).map(|it| it.hashes);
        recorded.is_some() && recorded == was.package(name)
    };
    let is_released = |name: &str, version: &Version| {
        let released = records.released.and_then(|it| it.record(name));
        records.released.is_none() || released.is_some_and(|it| it.version >= *version)
    };
    for found in &plan.packages {
        let name = found.name.as_str();
        let known_version = found.recorded.as_ref();
        let follows = || was_recorded(name) && known_version.is_some_and(|it| !it.pre.is_empty());
        let is_gone = is.package(name).is_none();
        if !(packages.contains(name) || !is_gone && follows()) || found.to.is_none() && !is_gone {
            continue;
        }
        lock.adopt(&plan.lock, name);
        let counted = known_version.filter(|it| !is_gone && !is_released(name, it));
        if let Some((version, hashes)) = counted.zip(is.package(name)) {
            lock.set_record(name, Some(Record { version: version.clone(), hashes }));
        }
    }
}
