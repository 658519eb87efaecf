//! Texts that were read before, by the blobs that hold them.

use std::sync::Arc;

use abide_schema::{FileDecl, FileText};
use gix::ObjectId;
use rustc_hash::FxHashMap;

use super::Source;

/// The texts of a tree, by the ids of their blobs. An old side that consists of blobs takes its
/// texts from here, and reads only those that are not.
#[derive(Default)]
pub struct KnownTexts(FxHashMap<ObjectId, FileText>);

impl KnownTexts {
    /// The texts of files that were read from `new`, for reading `old`.
    pub fn for_old(old: &Source, new: &Source, files: &[Arc<FileDecl>]) -> KnownTexts {
        // A text that was typed is not what git's index knows of the file.
        if !old.open.has_blobs() || new.typed.is_some() {
            return KnownTexts::default();
        }
        // What is found by an import path is named by that path, and not from the folder of the tree.
        let is_own = |it: &&Arc<FileDecl>| (it.root as usize) < new.layout.roots.len();
        let is_text = |it: &&Arc<FileDecl>| it.source_text().is_some();
        let files: Vec<&Arc<FileDecl>> = files.iter().filter(is_own).filter(is_text).collect();
        let paths: Vec<&str> = files.iter().map(|it| &*it.display).collect();
        let blobs = new.open.blobs(&new.layout, &paths);
        let texts = blobs.into_iter().zip(files);
        let texts = texts.filter_map(|(blob, file)| Some((blob?, file.strings.text().clone())));
        KnownTexts(texts.collect())
    }

    /// The text of a blob. A file on disk is not always byte for byte what git stores: line ends
    /// may differ. `size` asks git for the size of the blob, which differs then, too.
    pub(super) fn find(
        &self,
        id: ObjectId,
        size: impl FnOnce() -> Option<u64>,
    ) -> Option<FileText> {
        let text = self.0.get(&id)?;
        (size() == Some(text.len() as u64)).then(|| text.clone())
    }
}
