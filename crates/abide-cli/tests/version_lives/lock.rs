//! What has to stay in `abide.lock`.

use std::collections::{BTreeMap, BTreeSet};

/// The lines about what is frozen and what was ever used, be it still there or gone: git takes a
/// rename of a file together with the edits of the other branch, so that a release which one branch
/// made may lose in the merge what the other one deprecated.
pub(super) fn list_memory(lock: &str) -> BTreeSet<String> {
    let is_memory = |it: &&str| {
        ["frozen ", "field ", "value ", "name "].iter().any(|start| it.starts_with(start))
    };
    let without_state = |it: &str| it.strip_suffix(" gone").unwrap_or(it).to_owned();
    lock.lines().filter(is_memory).map(without_state).collect()
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
