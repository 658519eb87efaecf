//! What has to stay in `abide.lock`.

use std::collections::{BTreeMap, BTreeSet};

/// The lines about what is frozen and what was ever used, of packages that are still there or not.
pub(super) fn list_memory(lock: &str) -> BTreeSet<String> {
    let is_memory = |it: &&str| {
        ["frozen ", "field ", "value ", "name "].iter().any(|start| it.starts_with(start))
    };
    lock.lines().filter(is_memory).map(str::to_owned).collect()
}

/// The recorded version of each package, so that a later one is greater.
pub(super) fn list_versions(lock: &str) -> BTreeMap<String, Vec<u64>> {
    let mut found = BTreeMap::new();
    for line in lock.lines().filter_map(|it| it.strip_prefix("package ")) {
        let mut words = line.split(' ');
        let (Some(package), Some(version)) = (words.next(), words.next()) else { continue };
        let (release, before) = version.split_once('-').unwrap_or((version, ""));
        let mut parts: Vec<u64> = release.split('.').filter_map(|it| it.parse().ok()).collect();
        let rank = match before.split('.').next() {
            Some("alpha") => 0,
            Some("beta") => 1,
            _ => 2,
        };
        parts.push(rank);
        parts.extend(before.split('.').skip(1).filter_map(|it| it.parse::<u64>().ok()));
        found.insert(package.to_owned(), parts);
    }
    found
}

/// The packages that are frozen.
pub(super) fn list_frozen(lock: &str) -> BTreeSet<String> {
    let lines = lock.lines().filter_map(|it| it.strip_prefix("frozen "));
    lines.filter_map(|it| it.split(' ').next()).map(str::to_owned).collect()
}
