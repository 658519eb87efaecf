//! Modules of buf: those that `buf.lock` records, in the cache of buf.
//!
//! The cache has had three layouts. The first and the third have the files of a module in a folder
//! for each commit. The second has them by their digests, and a manifest that says which is which.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::machine::Machine;
use super::package::{FoundPackage, TreePlace, is_path_part};
use crate::source::{MountedFiles, read_settings};

/// The modules that the `buf.lock` around a tree record; of two commits of one, that of the nearest
/// file.
pub(super) fn list_modules(place: &TreePlace<'_>, machine: &Machine) -> Vec<FoundPackage> {
    let mut found: Vec<FoundPackage> = Vec::new();
    for (_, text) in place.texts("buf.lock") {
        for module in parse_lock(&text) {
            if found.iter().any(|it| it.name == module.name) {
                continue;
            }
            let cached = machine.buf_cache.as_ref().and_then(|it| module.find_files(it));
            let files = cached.unwrap_or_else(|| {
                MountedFiles::Missing(format!(
                    "`{}` is not in buf's cache at commit {}: run `buf dep update` or `buf build`, \
                     or `abide deps vendor`",
                    module.name, module.commit
                ))
            });
            found.push(FoundPackage { name: module.name, version: module.commit, files });
        }
    }
    found
}

/// A module at a commit.
#[derive(Debug, PartialEq, Eq)]
struct LockedModule {
    /// `REMOTE/OWNER/NAME`.
    name: String,
    /// Without dashes.
    commit: String,
}

/// The modules of a `buf.lock` of any version. What is not one is left out.
fn parse_lock(text: &str) -> Vec<LockedModule> {
    let mut modules = Vec::new();
    let mut entry: BTreeMap<&str, &str> = BTreeMap::new();
    for line in text.lines() {
        let line = line.trim();
        let (is_new, line) = match line.strip_prefix("- ") {
            Some(rest) => (true, rest.trim()),
            None => (false, line),
        };
        if is_new {
            modules.extend(read_entry(&std::mem::take(&mut entry)));
        }
        if let Some((key, value)) = line.split_once(':') {
            entry.insert(key.trim(), value.trim().trim_matches(['"', '\'']));
        }
    }
    modules.extend(read_entry(&entry));
    modules
}

fn read_entry(entry: &BTreeMap<&str, &str>) -> Option<LockedModule> {
    let name = match (entry.get("name"), entry.get("remote")) {
        (Some(name), _) => (*name).to_owned(),
        (None, Some(remote)) => {
            format!("{remote}/{}/{}", entry.get("owner")?, entry.get("repository")?)
        }
        (None, None) => return None,
    };
    let commit = entry.get("commit")?.replace('-', "");
    let is_name = name.split('/').count() == 3 && name.split('/').all(is_path_part);
    let is_commit = !commit.is_empty() && commit.bytes().all(|it| it.is_ascii_hexdigit());
    (is_name && is_commit).then_some(LockedModule { name, commit })
}

impl LockedModule {
    /// Its files in a cache, the newest layout first.
    fn find_files(&self, cache: &Path) -> Option<MountedFiles> {
        let newest = ["b5", "b4", "shake256"].iter().map(|kind| {
            cache.join("v3").join("modules").join(kind).join(&self.name).join(&self.commit)
        });
        if let Some(folder) = newest.map(|it| it.join("files")).find(|it| it.is_dir()) {
            return Some(MountedFiles::Folder(folder));
        }
        let middle = cache.join("v2").join("module").join(&self.name);
        if let Some(files) = self.read_manifest(&middle) {
            return Some(MountedFiles::Listed(files));
        }
        let oldest = cache.join("v1").join("module").join("data").join(&self.name);
        let oldest = oldest.join(&self.commit);
        oldest.is_dir().then_some(MountedFiles::Folder(oldest))
    }

    /// Its files in a cache by digests.
    fn read_manifest(&self, module: &Path) -> Option<BTreeMap<String, PathBuf>> {
        let digest = read_text(&module.join("commits").join(&self.commit))?;
        let manifest = read_text(&find_blob(module, digest.trim())?)?;
        let file = |line: &str| {
            let (digest, path) = line.split_once("  ")?;
            let is_proto = path.ends_with(".proto");
            Some((path.to_owned(), find_blob(module, digest).filter(|_| is_proto)?))
        };
        Some(manifest.lines().filter_map(file).collect())
    }
}

/// The file with a digest such as `shake256:…`.
fn find_blob(module: &Path, digest: &str) -> Option<PathBuf> {
    let hex = digest.rsplit(':').next()?;
    let is_hex = hex.len() > 2 && hex.bytes().all(|it| it.is_ascii_hexdigit());
    let (first, rest) = hex.split_at_checked(2).filter(|_| is_hex)?;
    Some(module.join("blobs").join(first).join(rest))
}

fn read_text(path: &Path) -> Option<String> {
    String::from_utf8(read_settings(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_of_every_version_of_the_lock_are_read() {
        let old = "# Generated by buf. DO NOT EDIT.\nversion: v1\ndeps:\n  - remote: buf.build\n    \
                   owner: googleapis\n    repository: googleapis\n    commit: 28151c0d0a1641bf938a7672c500e01d\n    \
                   digest: shake256:49215edf8ef57f7863004539deff8834cfb2195113f0b890dd1f67815d9353e28e668019165b9d872395871eeafcbab3ccfdb2b5f11734d3cca95be9e8d139de\n";
        let new = "version: v2\ndeps:\n  - name: buf.build/acme/api\n    commit: \
                   0123-4567\n    digest: b5:00\n  - name: '../../escape/x'\n    commit: 00\n";
        assert_eq!(
            parse_lock(old),
            [LockedModule {
                name: "buf.build/googleapis/googleapis".into(),
                commit: "28151c0d0a1641bf938a7672c500e01d".into()
            }]
        );
        assert_eq!(
            parse_lock(new),
            [LockedModule { name: "buf.build/acme/api".into(), commit: "01234567".into() }]
        );
    }
}
