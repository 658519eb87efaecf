//! The folder that kept reports are in.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use super::ReportKey;
use crate::write::write;

/// The folder of the reports, from the folder of git.
const FOLDER: &str = "abide/reports";
/// The first bytes of a report. Those of other versions are made anew.
const HEAD: &[u8] = b"abide report 1\n";
/// The number of reports that are kept: those of the states and settings that were judged last.
const MOST: usize = 8;
/// A report larger than this is neither kept nor read.
const LARGEST: usize = 1 << 26;
/// The ending of their names.
const ENDING: &str = "report";

/// The reports that are kept in one folder, by digests of everything that they depend on.
pub(super) struct ReportStore {
    folder: PathBuf,
}

impl ReportStore {
    /// The reports in a folder of git.
    pub(super) fn in_folder(git: &Path) -> ReportStore {
        ReportStore { folder: git.join(FOLDER) }
    }

    /// Returns true if nothing is kept.
    pub(super) fn is_empty(&self) -> bool {
        fs::read_dir(&self.folder).map_or(true, |mut it| it.next().is_none())
    }

    /// Reads a report; `None` if there is none, or it is not as it was written.
    pub(super) fn read(&self, key: ReportKey) -> Option<Vec<u8>> {
        let path = self.path(&key);
        let found = fs::symlink_metadata(&path).ok()?;
        if !found.is_file() || found.len() > LARGEST as u64 {
            return None;
        }
        let bytes = fs::read(path).ok()?;
        let rest = bytes.strip_prefix(HEAD)?;
        let (seal, body) = rest.split_at_checked(32)?;
        (compute_seal(&key, body)[..] == *seal).then(|| body.to_vec())
    }

    /// Writes a report beside its place and moves it there, and removes the oldest ones.
    pub(super) fn write(&self, key: ReportKey, body: &[u8]) {
        let path = self.path(&key);
        // What somebody else put there is left alone: a write into a pipe would wait for a reader.
        let is_ours = |path: &Path, is_kind: fn(&fs::Metadata) -> bool| {
            fs::symlink_metadata(path).map_or(true, |it| is_kind(&it))
        };
        let has_place =
            is_ours(&path, fs::Metadata::is_file) && is_ours(&self.folder, fs::Metadata::is_dir);
        if !has_place || body.len() > LARGEST {
            return;
        }
        let bytes = [HEAD, &compute_seal(&key, body), body].concat();
        if write(Some(&path), &bytes).is_ok() {
            self.remove_oldest();
        }
    }

    fn path(&self, key: &ReportKey) -> PathBuf {
        let name: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(name).with_extension(ENDING)
    }

    fn remove_oldest(&self) {
        let Ok(listing) = fs::read_dir(&self.folder) else { return };
        let is_report = |path: &PathBuf| path.extension().is_some_and(|it| it == ENDING);
        let paths = listing.filter_map(|it| Some(it.ok()?.path())).filter(is_report);
        let mut reports: Vec<(SystemTime, PathBuf)> = paths
            .filter_map(|path| Some((fs::symlink_metadata(&path).ok()?.modified().ok()?, path)))
            .collect();
        reports.sort_unstable();
        let excess = reports.len().saturating_sub(MOST);
        for (_, path) in reports.into_iter().take(excess) {
            // Another run may have removed it.
            let _ = fs::remove_file(path);
        }
    }
}

/// What shows that a body is whole, and that it belongs to a key.
fn compute_seal(key: &ReportKey, body: &[u8]) -> [u8; 32] {
    let mut seal = Sha256::new();
    seal.update(key);
    seal.update(body);
    seal.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(folder: &Path) -> ReportStore {
        ReportStore::in_folder(folder)
    }

    #[test]
    fn a_report_is_read_as_it_was_written_and_by_its_own_key() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = store(folder.path());
        assert!(store.is_empty() && store.read([1; 32]).is_none());
        store.write([1; 32], b"body");
        assert!(!store.is_empty());
        assert_eq!(store.read([1; 32]).as_deref(), Some(&b"body"[..]));
        // A report in the place of another one belongs to nobody.
        fs::copy(store.path(&[1; 32]), store.path(&[2; 32])).expect("a copy");
        assert_eq!(store.read([2; 32]), None);
    }

    #[test]
    fn a_damaged_report_counts_as_absent() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = store(folder.path());
        store.write([1; 32], b"a body of some length");
        let path = store.path(&[1; 32]);
        let bytes = fs::read(&path).expect("it was written");
        for at in 0..bytes.len() {
            fs::write(&path, &bytes[..at]).expect("the place is ours");
            assert_eq!(store.read([1; 32]), None, "cut at {at}");
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x20;
            fs::write(&path, damaged).expect("the place is ours");
            assert_eq!(store.read([1; 32]), None, "damaged at {at}");
        }
    }

    #[test]
    fn the_folder_does_not_grow() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = store(folder.path());
        for number in 0..3 * MOST as u8 {
            store.write([number; 32], b"body");
        }
        let count = fs::read_dir(&store.folder).expect("it was made").count();
        assert_eq!(count, MOST);
    }
}
