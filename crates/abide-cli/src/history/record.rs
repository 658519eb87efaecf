//! What a commit itself says of the versions of its packages.

use std::collections::BTreeMap;

use abide::Lock;
use gix::ObjectId;
use semver::Version;

use crate::source::{Commit, Cursor, LOCK, SourceError};

/// How many digits of the id of a commit are shown.
pub(super) const SHORT: usize = 10;

/// The recorded versions by package.
pub(super) type Records = BTreeMap<String, Version>;

/// Reads `abide.lock` where it changed.
#[derive(Default)]
pub(super) struct Reader {
    blob: Option<ObjectId>,
    /// The commits that brought a lock which cannot be understood.
    damaged: Vec<ObjectId>,
}

impl Reader {
    /// The records of the commit that the cursor stands at; none if they are those of before. A
    /// lock that cannot be understood records nothing.
    pub(super) fn read(
        &mut self,
        cursor: &Cursor<'_>,
        commit: &Commit,
    ) -> Result<Option<Records>, SourceError> {
        let blob = cursor.beside(LOCK)?;
        if blob == self.blob {
            return Ok(None);
        }
        self.blob = blob;
        let Some(blob) = blob else { return Ok(Some(Records::new())) };
        let text = cursor.text(blob)?;
        let lock = std::str::from_utf8(&text).ok().and_then(|text| Lock::parse(text).ok());
        if lock.is_none() {
            self.damaged.push(commit.id);
        }
        let packages = lock.iter().flat_map(|lock| {
            lock.packages().filter_map(|it| Some((it.to_owned(), lock.record(it)?.version.clone())))
        });
        Ok(Some(packages.collect()))
    }

    /// What the user should know of locks that were not understood.
    pub(super) fn note(&self) -> Option<String> {
        let first = self.damaged.first()?.to_hex_with_len(SHORT);
        let (count, noun) = match self.damaged.len() {
            1 => (String::new(), "one commit"),
            count => (format!("{count} "), "commits"),
        };
        Some(format!(
            "{count}{noun} brought an {LOCK} that cannot be read, {first} the first: from there on \
             versions are counted, until one is recorded again"
        ))
    }
}
