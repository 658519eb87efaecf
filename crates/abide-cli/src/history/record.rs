//! What a commit itself says of the versions of its packages.

use std::collections::BTreeMap;

use abide::Lock;
use gix::ObjectId;
use semver::Version;

use crate::source::{Cursor, LOCK, SourceError};

/// The recorded versions by package.
pub(super) type Records = BTreeMap<String, Version>;

/// Reads `abide.lock` where it changed.
#[derive(Default)]
pub(super) struct Reader {
    blob: Option<ObjectId>,
}

impl Reader {
    /// The records of the commit that the cursor stands at; none if they are those of before. A
    /// lock that cannot be understood records nothing.
    pub(super) fn read(&mut self, cursor: &Cursor<'_>) -> Result<Option<Records>, SourceError> {
        let blob = cursor.beside(LOCK)?;
        if blob == self.blob {
            return Ok(None);
        }
        self.blob = blob;
        let Some(blob) = blob else { return Ok(Some(Records::new())) };
        let text = cursor.text(blob)?;
        let lock = std::str::from_utf8(&text).ok().and_then(|text| Lock::parse(text).ok());
        let packages = lock.iter().flat_map(|lock| {
            lock.packages().filter_map(|it| Some((it.to_owned(), lock.record(it)?.version.clone())))
        });
        Ok(Some(packages.collect()))
    }
}
