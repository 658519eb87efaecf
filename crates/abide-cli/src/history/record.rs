//! The versions and hashes that a commit records in `abide.lock`.

use std::collections::BTreeMap;

use abide_lint::{Lock, Record};
use abide_source::{Commit, Cursor, LOCK};
use gix::ObjectId;

/// The number of digits that are shown of the id of a commit.
pub(super) const SHORT: usize = 10;

/// The recorded versions and hashes, by package.
pub(super) type Records = BTreeMap<String, Record>;

/// Reads `abide.lock` where it changed.
#[derive(Default)]
pub(super) struct RecordReader {
    blob: Option<ObjectId>,
    /// The commits that added a lock which cannot be read.
    damaged: Vec<ObjectId>,
}

impl RecordReader {
    /// The records of the current commit; `None` if they did not change or are lost. A lock that
    /// cannot be parsed records nothing.
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>, commit: &Commit) -> Option<Records> {
        let Ok(blob) = cursor.find_beside(LOCK) else { return None };
        if blob == self.blob {
            return None;
        }
        self.blob = blob;
        let Some(blob) = blob else { return Some(Records::new()) };
        let text = cursor.text(blob, LOCK)?;
        let lock = std::str::from_utf8(&text).ok().and_then(|text| Lock::parse(text).ok());
        if lock.is_none() {
            self.damaged.push(commit.id);
        }
        let packages = lock.iter().flat_map(|lock| {
            lock.packages().filter_map(|it| Some((it.to_owned(), lock.record(it)?.clone())))
        });
        Some(packages.collect())
    }

    /// A note about locks that could not be read.
    pub(super) fn note(&self) -> Option<String> {
        let first = self.damaged.first()?.to_hex_with_len(SHORT);
        let whose = match self.damaged.len() {
            1 => format!("{first} has"),
            count => format!("{count} commits, starting with {first}, have"),
        };
        Some(format!(
            "{whose} an {LOCK} that cannot be read; versions are counted until one is recorded \
             again"
        ))
    }
}
