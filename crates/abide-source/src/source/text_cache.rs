//! Texts that were read before, by the blobs that hold them.

use abide_schema::FileText;
use gix::ObjectId;
use rustc_hash::FxHashMap;

/// The texts of a tree, by the ids of their blobs. An old side that consists of blobs takes its
/// texts from here, and reads only those that are not.
#[derive(Default)]
pub struct TextCache(pub(super) FxHashMap<ObjectId, FileText>);

impl TextCache {
    /// Adds the texts of another tree.
    pub fn extend(&mut self, other: TextCache) {
        self.0.extend(other.0);
    }

    /// Finds the text of a blob. A file on disk is not always byte for byte what git stores: line
    /// ends may differ. `size` asks git for the size of the blob, which differs then, too.
    pub(super) fn find(
        &self,
        id: ObjectId,
        size: impl FnOnce() -> Option<u64>,
    ) -> Option<FileText> {
        let text = self.0.get(&id)?;
        (size() == Some(text.len() as u64)).then(|| text.clone())
    }
}
