//! Kinds of sources: the ways to recognise, open and read one.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use abide_schema::{FileText, SourceFile};
use gix::ObjectId;

use super::contents::{DescriptorFormat, Gathered};
use super::failure::SourceError;
use super::git::index::OnRecord;
use super::imports::ImportPath;
use super::links::LinkLimits;
use super::listing::{FileListing, ListedFile};
use super::roots::RootLayout;
use super::spec::SourceOptions;
use super::text_cache::TextCache;

/// One kind of source. A new kind is one of these, in the list of `source.rs`.
pub(super) struct SourceKind {
    /// Its lines in the help of commands: what to write, and what that is.
    pub(super) help: &'static str,
    /// The name in a message where a name says no kind.
    pub(super) brief: &'static str,
    /// True if an argument is of this kind by its spelling, whatever is on disk.
    pub(super) is_spelled: fn(&str) -> bool,
    /// True if what is at the path that the argument names is of this kind.
    pub(super) is_found: fn(&SourceRequest<'_>, &io::Result<Metadata>) -> bool,
    /// True if one file holds the whole tree: what is beside it on disk is not part of that.
    pub(super) is_packed: bool,
    /// Opens what is of this kind.
    pub(super) open: fn(&SourceRequest<'_>, RootLayout) -> Result<OpenedSource, SourceError>,
}

/// The source that a command asks for.
pub(super) struct SourceRequest<'a> {
    /// The argument; none means the base folder.
    pub(super) spec: Option<&'a str>,
    /// The name of the source in messages: as the user wrote it.
    pub(super) name: &'a str,
    /// The argument as a path.
    pub(super) path: PathBuf,
    pub(super) options: &'a SourceOptions<'a>,
    pub(super) links: &'a Arc<LinkLimits>,
}

/// A source that was just opened.
pub(super) struct OpenedSource {
    pub(super) source: Box<dyn OpenSource>,
    pub(super) layout: RootLayout,
    pub(super) imports: Vec<ImportPath>,
    pub(super) notes: Vec<String>,
}

/// The data that an open source gives when it is read.
pub(super) enum SourceData {
    Files(Gathered),
    DescriptorSet { bytes: Vec<u8>, format: DescriptorFormat, notes: Vec<String> },
}

/// An open source. What a kind has not, it leaves out.
pub(super) trait OpenSource: Send + Sync {
    /// Reads everything; `name` is how messages call the source.
    fn read(&self, layout: &RootLayout, name: &str) -> Result<SourceData, SourceError>;

    /// Reads everything for the old side of a comparison, except texts that are known.
    fn read_old(
        &self,
        layout: &RootLayout,
        name: &str,
        _known: &TextCache,
    ) -> Result<SourceData, SourceError> {
        self.read(layout, name)
    }

    /// The blobs that git stores for these files, by their paths from the folder of the tree:
    /// `None` where that cannot be told without a look into the file.
    fn blobs(&self, _layout: &RootLayout, paths: &[&str]) -> Vec<Option<ObjectId>> {
        vec![None; paths.len()]
    }

    /// Git's index, to say later which files are still what it has on record now.
    fn read_index(&self) -> Option<OnRecord> {
        None
    }

    /// The names of Envoy's runtime guards that a program holds; `None` for all else.
    fn find_guards(&self) -> Option<BTreeSet<String>> {
        None
    }

    /// The files that reading would read; `None` if this kind cannot find them without.
    fn list(&self, _layout: &RootLayout) -> Result<Option<FileListing>, SourceError> {
        Ok(None)
    }

    /// Reads some of the files that it listed.
    fn read_listed(&self, _layout: &RootLayout, _files: &[&ListedFile]) -> Gathered {
        Gathered::default()
    }

    /// Returns true if git may give some of these files other bytes on disk than it stores.
    fn may_be_rewritten(&self, _paths: &[&str]) -> bool {
        false
    }

    /// Finds the newest commit before this revision with a text of a file that is `wanted`; the
    /// name of the commit. A text is offered once, however many commits have it.
    fn find_earlier(
        &self,
        _layout: &RootLayout,
        _root: u32,
        _path: &str,
        _wanted: &mut dyn FnMut(FileText) -> bool,
    ) -> Option<String> {
        None
    }

    /// Returns true if a path on disk lies in the checkout of the repository of a revision.
    fn contains_path(&self, _path: &Path) -> bool {
        false
    }

    /// Reads a file of the repository of a revision by its path on disk.
    fn read_at_revision(&self, _path: &Path) -> Result<Option<FileText>, SourceError> {
        Ok(None)
    }

    /// The folder in which git keeps what all its worktrees share.
    fn git_folder(&self) -> Option<PathBuf> {
        None
    }

    /// The time of its commit, in seconds since 1970, if it is one.
    fn read_commit_time(&self) -> Option<i64> {
        None
    }

    /// Returns true if its files are blobs of git, and those that are known need not be read.
    fn has_blobs(&self) -> bool {
        false
    }

    /// A file that the user names outright, and that is judged though reading passes it over.
    fn read_named(
        &self,
        _path: &str,
        _layout: &RootLayout,
        _name: &str,
    ) -> Result<Option<SourceFile>, SourceError> {
        Ok(None)
    }

    /// The blob of a file, by its path from the top of the repository of a revision.
    fn find_blob(&self, _path: &str) -> Result<Option<ObjectId>, SourceError> {
        Ok(None)
    }

    /// A file by its path on disk that a sparse checkout leaves out.
    fn find_left_out(&self, _path: &Path) -> Option<FileText> {
        None
    }

    /// Returns true if it is an API that runs, of which only what is used is shown.
    fn is_running(&self) -> bool {
        false
    }

    /// Returns true if it is an archive, which holds the settings of its tree.
    fn is_archive(&self) -> bool {
        false
    }

    /// A text of the settings that an archive holds, by its name.
    fn packed_settings(&self, _name: &str) -> Option<FileText> {
        None
    }

    /// A text beside the protos, by its path from the top of the repository or the archive.
    fn read_settings(&self, path: &str) -> Result<Option<FileText>, SourceError> {
        self.find(path)
    }

    /// A file by its path from the top of the repository or the archive.
    fn find(&self, _path: &str) -> Result<Option<FileText>, SourceError> {
        Ok(None)
    }

    /// An imported file among the roots, with the number of its root, where these hold more than
    /// what is read.
    fn find_in_roots(
        &self,
        _path: &str,
        _layout: &RootLayout,
    ) -> Result<Option<(usize, FileText)>, SourceError> {
        Ok(None)
    }

    /// Any other text of the tree, by its path from the folder of the tree.
    fn read_text(&self, _path: &str) -> Result<Option<FileText>, SourceError> {
        Ok(None)
    }

    /// The folder that the tree lies in, where it is one that can be written to.
    fn folder(&self) -> Option<&Path> {
        None
    }

    /// The folder of the tree from the top of the repository, where it is a revision of one.
    fn folder_in_repository(&self) -> Option<&str> {
        None
    }

    /// Returns true if it is a copy of the configured tree, or may be one, given whether there are
    /// roots.
    fn may_be_copy(&self, _has_roots: bool) -> bool {
        false
    }

    /// Returns true if it may be from before there was any proto file.
    fn may_be_empty(&self) -> bool {
        false
    }
}
