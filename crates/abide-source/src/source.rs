//! Sources of trees: folders, revisions, archives, descriptor sets and programs.
//!
//! A [`Source`] is opened from an argument of the command line and then read in one go. Every kind
//! of source selects the judged files in the same way: they are named `*.proto`, and no folder
//! between them and the root is hidden or called `node_modules`. If several roots and import paths
//! contain a file, it belongs to the deepest. Ignore files count only for a folder on disk, and
//! never for files that git tracks.

mod archive;
mod contents;
mod descriptors;
mod directory;
mod disk;
mod failure;
mod git;
mod ignored;
mod imports;
mod kind;
mod launcher;
mod links;
mod listing;
mod mounts;
mod paths;
mod program;
mod remote;
mod roots;
mod server;
mod single_file;
mod spec;
mod subset;
mod text_cache;
mod unpack;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use abide_lint::FeatureFile;
use abide_schema::{FileDecl, FileText, SourceFile};
use gix::ObjectId;
use jiff::civil::Date;

use self::contents::Gathered;
use self::failure::{io_reason, join_alternatives};
pub(crate) use self::git::index::OnRecord;
use self::imports::{ImportPath, ImportPlace};
use self::kind::{OpenSource, OpenedSource, SourceData, SourceKind, SourceRequest};
use self::paths::{is_git_folder, is_proto, normalize, strip_folder};
use self::roots::RootLayout;
use self::subset::ComparedSubset;
use crate::printable::escape_unprintable;

pub use contents::{ACCEPTED, CONFIG, OWNERS};
pub use contents::{Contents, DescriptorFormat, LOCK};
pub use descriptors::detect_requested_format;
pub use disk::MAX_FILE;
use disk::find_listed;
pub use disk::{read_limited, read_settings};
pub use failure::{ReadProblem, SourceError};
pub use git::default_branch::{DefaultBranch, default_branch, has_long_history};
pub use git::forge::ForgeLinks;
pub use git::index::is_committed;
pub use git::old_trees::list_old_trees;
pub use git::timeline::{Commit, Content, Cursor, Step, Timeline};
pub use git::tracked_revision::{FolderFiles, TrackedRevision};
use ignored::find_private_folder;
pub use ignored::list_visible_files;
pub use links::LinkLimits;
pub use listing::{FileListing, ListedFile};
pub use mounts::{ImportMount, MountedFiles};
pub use paths::{canonicalize, home_by_package, join, normalize_lexically};
pub use spec::SourceOptions;
pub use spec::get_subdir;
pub use text_cache::TextCache;

/// The place of a file that a revision imports.
pub enum ImportOrigin<'s> {
    /// It is in the repository, or in a submodule.
    Blob(ObjectId),
    /// It is on disk outside of the repository, in the import path that this root stands for.
    Outside {
        /// The number of the root.
        root: u32,
    },
    /// It may be in this import path, which lies in the checkout: git does not know what was there.
    Untracked(&'s str),
    /// No such file was found.
    Nowhere,
}

/// Every kind of source, in the order in which users read of them.
const KINDS: &[SourceKind] = &[
    directory::KIND,
    git::KIND,
    single_file::KIND,
    descriptors::KIND,
    archive::KIND,
    program::KIND,
    server::KIND,
];

/// Describes every kind of source for the help of commands: the lines of each kind.
pub fn describe_kinds() -> String {
    KINDS.iter().flat_map(|kind| kind.help.lines()).map(|line| format!("  {line}\n")).collect()
}

/// Returns true if a source is one file that holds a whole tree, such as an archive or a descriptor
/// set.
pub fn is_packed(spec: &str, options: &SourceOptions<'_>) -> bool {
    let links = Arc::new(LinkLimits::around(options.base, options.links));
    let path = options.base.join(spec);
    let found = fs::metadata(&path);
    let asked = SourceRequest { spec: Some(spec), name: spec, path, options, links: &links };
    let spelled = KINDS.iter().find(|kind| (kind.is_spelled)(spec));
    let kind = spelled.or_else(|| KINDS.iter().find(|kind| (kind.is_found)(&asked, &found)));
    kind.is_some_and(|kind| kind.is_packed)
}

/// Lists the paths of the configuration of a folder, the nearest place first: in the folder and in
/// those above it, as far as the top of the repository. What is above that belongs to somebody
/// else.
pub fn list_config_paths(folder: &Path) -> Vec<PathBuf> {
    let mut places = Vec::new();
    for folder in folder.ancestors() {
        places.push(folder.join(CONFIG));
        if folder.join(".git").exists() && !is_submodule(folder) {
            break;
        }
    }
    places
}

/// Returns true if the repository of a folder is a submodule of one above: that keeps its objects.
fn is_submodule(folder: &Path) -> bool {
    let Some(own) = find_private_folder(&folder.join(".git")) else { return false };
    let own = canonicalize(&own);
    let mut above = folder.ancestors().skip(1).map(|it| it.join(".git"));
    let around = above.find(|it| it.exists()).and_then(|it| find_private_folder(&it));
    around.is_some_and(|it| own.starts_with(canonicalize(&it).join("modules")))
}

/// Returns true if something is in the place of a configuration. What cannot be read is not passed
/// over.
pub fn is_config(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| !it.is_dir())
}

/// A place that a tree comes from, opened and ready to be read.
pub struct Source {
    open: Box<dyn OpenSource>,
    layout: RootLayout,
    imports: Vec<ImportPath>,
    /// The beginning of the import paths of its files that its roots leave out.
    prefix: String,
    links: Arc<LinkLimits>,
    /// The only folders and files of the tree to judge, relative to the tree, if it is not all.
    focus: Vec<String>,
    /// The text of one file, which is not that on disk.
    typed: Option<(String, FileText)>,
    /// True if a descriptor set is what a server says of itself.
    is_reflected: bool,
    /// The only part of the tree to compare, if a part of another tree is judged.
    part: Option<ComparedSubset>,
    notes: Vec<String>,
    /// The name for messages: what the user wrote.
    name: String,
}

impl Source {
    /// Opens the source that `spec` names, or the base folder without one.
    ///
    /// An archive is unpacked into memory here. `archive.tar.gz:SUBDIR` makes a folder in it the
    /// tree; release archives often wrap their tree in one top folder.
    pub fn open(spec: Option<&str>, options: &SourceOptions) -> Result<Source, SourceError> {
        let layout = RootLayout::new(options.roots)?;
        let name = spec.unwrap_or(".");
        let path = spec.map_or(options.base.to_owned(), |spec| options.base.join(spec));
        if let Some(advice) = spec.filter(|_| !path.exists()).and_then(remote::advise_on_remote) {
            return Err(SourceError::unusable(name, advice));
        }
        let links = Arc::new(LinkLimits::of(&path, options));
        let asked = SourceRequest { spec, name, path, options, links: &links };
        let kind = match KINDS.iter().find(|kind| spec.is_some_and(kind.is_spelled)) {
            Some(kind) => kind,
            None => Source::detect_kind(&asked)?,
        };
        let OpenedSource { source, layout, imports, notes } = (kind.open)(&asked, layout)?;
        let name = name.to_owned();
        let focus = Vec::new();
        let (typed, part, is_reflected) = (None, None, false);
        let prefix = options.import_prefix.to_owned();
        Ok(Source {
            open: source,
            layout,
            imports,
            prefix,
            links,
            focus,
            typed,
            is_reflected,
            part,
            notes,
            name,
        })
    }

    /// The kind of what is on disk at the path that is asked for.
    fn detect_kind(asked: &SourceRequest<'_>) -> Result<&'static SourceKind, SourceError> {
        let unusable = |reason: String| Err(SourceError::unusable(asked.name, reason));
        if asked.name.is_empty() {
            return unusable("the source is empty: name a folder, or leave it out".to_owned());
        }
        let found = fs::metadata(&asked.path);
        if let Some(kind) = KINDS.iter().find(|kind| (kind.is_found)(asked, &found)) {
            return Ok(kind);
        }
        match found {
            Err(error) => match git::guess_meant(asked.name, asked.options) {
                Some(meant) => unusable(format!("{}; did you mean `{meant}`?", io_reason(&error))),
                None => unusable(io_reason(&error)),
            },
            Ok(found) if !found.is_file() => unusable(
                "it is neither a file nor a folder: pass its contents on standard input, as `-`"
                    .to_owned(),
            ),
            Ok(_) => unusable(format!(
                "unknown kind of file: name {}",
                join_alternatives(KINDS.iter().map(|kind| kind.brief))
            )),
        }
    }

    /// Judges only some folders and files of the tree, which the user calls `name`. The rest can
    /// still be imported.
    pub fn judge_only(mut self, focus: &[String], name: &str) -> Source {
        self.focus = focus.to_owned();
        self.name = name.to_owned();
        self
    }

    /// Takes a descriptor set for what a server says of itself. Whatever has texts stays what it is.
    pub fn as_running(mut self) -> Source {
        self.is_reflected = !self.has_texts() && !self.is_archive();
        self
    }

    /// Returns true if it is an API that runs, of which only what is used is shown.
    pub fn is_running(&self) -> bool {
        self.is_reflected || self.open.is_running()
    }

    /// Takes this text for the one of a file of the tree, whether or not there is one on disk.
    pub fn with_typed_text(mut self, display: String, text: FileText) -> Source {
        self.typed = Some((display, text));
        self
    }

    /// Judges only what corresponds to folders and files of another tree, which has these roots.
    ///
    /// A tree with the same roots has the part at the same place; if nothing is there, nothing is
    /// judged. In any other tree the part is found by import path. A tree without any of these
    /// paths is taken for the part itself.
    pub fn compare_parts(mut self, parts: &[&String], roots: &[String]) -> Source {
        let may_be_copy = self.open.may_be_copy(!roots.is_empty());
        self.part = Some(ComparedSubset::of(parts, roots, &self.layout, may_be_copy));
        self
    }

    /// Marks files outside the judged part as only imported, if a part was named. Each file comes
    /// as its path in the tree, its import path, and whether it is only imported.
    pub fn narrow_to_part(&self, files: &mut [(&str, &str, &mut bool)]) {
        if let Some(part) = &self.part {
            part.narrow(files);
        }
    }

    /// Reads the source as the old side of a comparison: a revision without a `.proto` file,
    /// perhaps from before there were any, counts as an empty tree.
    ///
    /// Texts that are known are not read again.
    pub fn read_old(&self, known: &TextCache) -> Result<Contents, SourceError> {
        let empty = || {
            let name = &self.name;
            let advice = match name.strip_prefix("git:").and_then(get_subdir) {
                None => format!("; if they were in another folder, name it: `{name}:DIR`"),
                Some(_) => String::new(),
            };
            let note = format!(
                "the baseline `{name}` has no `.proto` file, so everything counts as new{advice}"
            );
            Contents::Files { files: Vec::new(), problems: Vec::new(), notes: vec![note] }
        };
        let read = self.open.read_old(&self.layout, &self.name, known);
        match read.and_then(|reading| self.build_contents(reading)) {
            contents if !self.open.may_be_empty() => contents,
            Err(SourceError::NoProtoFiles { .. } | SourceError::NoFolder { .. }) => Ok(empty()),
            Ok(Contents::Files { files, problems, .. })
                if files.is_empty() && problems.iter().all(ReadProblem::is_absence) =>
            {
                Ok(empty())
            }
            contents => contents,
        }
    }

    /// Collects the texts of files that were read from this source, for reading `old` without
    /// reading them again.
    pub fn collect_known_texts(&self, old: &Source, files: &[Arc<FileDecl>]) -> TextCache {
        // A text that was typed is not what git's index knows of the file.
        if !old.has_blobs() || self.typed.is_some() {
            return TextCache::default();
        }
        // What is found by an import path is named by that path, and not from the folder of the tree.
        let is_own = |it: &&Arc<FileDecl>| (it.root as usize) < self.layout.roots.len();
        let is_text = |it: &&Arc<FileDecl>| it.source_text().is_some();
        let files: Vec<&Arc<FileDecl>> = files.iter().filter(is_own).filter(is_text).collect();
        let paths: Vec<&str> = files.iter().map(|it| &*it.display).collect();
        let blobs = self.open.blobs(&self.layout, &paths);
        let texts = blobs.into_iter().zip(files);
        let texts = texts.filter_map(|(blob, file)| Some((blob?, file.strings.text().clone())));
        TextCache(texts.collect())
    }

    /// Reads every judged file, on all threads of the current rayon pool. The result is sorted by
    /// root and path.
    ///
    /// Standard input can be read only once.
    pub fn read(&self) -> Result<Contents, SourceError> {
        self.build_contents(self.open.read(&self.layout, &self.name)?)
    }

    /// Reads the source as the new side of a comparison: if every file of the old tree was removed,
    /// it counts as an empty tree.
    pub fn read_new(&self, old: &Source) -> Result<Contents, SourceError> {
        let contents = self.read();
        let is_empty = match &contents {
            Err(SourceError::NoProtoFiles { .. }) => true,
            Ok(Contents::Files { files, problems, .. }) => {
                files.is_empty() && problems.iter().all(ReadProblem::is_absence)
            }
            _ => false,
        };
        let had_files = || match old.read_old(&TextCache::default()) {
            Ok(Contents::Files { files, .. }) => !files.is_empty(),
            _ => false,
        };
        if !(is_empty && had_files()) {
            return contents;
        }
        let note = format!(
            "`{}` has no `.proto` file left, so everything counts as removed",
            escape_unprintable(&self.name)
        );
        Ok(Contents::Files { files: Vec::new(), problems: Vec::new(), notes: vec![note] })
    }

    fn build_contents(&self, reading: SourceData) -> Result<Contents, SourceError> {
        let mut gathered = match reading {
            SourceData::Files(gathered) => gathered,
            SourceData::DescriptorSet { bytes, format, notes } => {
                return Ok(Contents::DescriptorSet { bytes, format, notes });
            }
        };
        if let Some((display, text)) = &self.typed {
            self.replace(display, text, &mut gathered);
        }
        if !self.focus.is_empty() {
            self.narrow(&mut gathered)?;
        }
        if gathered.files.iter().all(|file| file.imported) && gathered.problems.is_empty() {
            return Err(SourceError::NoProtoFiles { name: self.name.clone() });
        }
        let mut files: Vec<(&str, &str, &mut bool)> = gathered
            .files
            .iter_mut()
            .map(|file| (&*file.display, &*file.path, &mut file.imported))
            .collect();
        self.narrow_to_part(&mut files);
        if !self.prefix.is_empty() {
            gathered.files.iter_mut().for_each(|it| it.path = join(&self.prefix, &it.path).into());
        }
        gathered.files.sort_unstable_by(|a, b| (a.root, &a.path).cmp(&(b.root, &b.path)));
        gathered.problems.sort_unstable();
        gathered.notes.sort_unstable();
        gathered.notes.dedup();
        let mut notes = self.notes.clone();
        notes.append(&mut gathered.notes);
        Ok(Contents::Files { files: gathered.files, problems: gathered.problems, notes })
    }

    /// Puts a text in the place of a file.
    fn replace(&self, display: &str, text: &FileText, gathered: &mut Gathered) {
        gathered.problems.retain(|it| it.path != display);
        if let Some(file) = gathered.files.iter_mut().find(|it| &*it.display == display) {
            file.text = text.clone();
        } else if let Some((root, path)) = self.layout.place(display) {
            let (path, display, text) = (path.into(), display.into(), text.clone());
            gathered.files.push(SourceFile { path, display, root, imported: false, text });
        }
    }

    fn narrow(&self, gathered: &mut Gathered) -> Result<(), SourceError> {
        for focus in self.focus.iter().filter(|it| is_proto(it.as_bytes())) {
            // A file that the user names is judged even if an ignore file matches it.
            if gathered.files.iter().all(|file| *file.display != **focus)
                && let Some(file) = self.open.read_named(focus, &self.layout, &self.name)?
            {
                gathered.files.push(file);
            }
        }
        let judged = |path: &str| {
            self.focus.iter().any(|focus| path == focus || strip_folder(path, focus).is_some())
        };
        for file in &mut gathered.files {
            file.imported |= !judged(&file.display);
        }
        gathered.problems.retain(|problem| judged(&problem.path));
        Ok(())
    }

    /// Finds the files that [`read`](Source::read) would read from the whole tree, also where only
    /// a part of it is judged; `None` if this kind of source cannot find them without reading.
    pub fn list(&self) -> Result<Option<FileListing>, SourceError> {
        let mut listed = self.open.list(&self.layout);
        if let (Ok(Some(listing)), false) = (&mut listed, self.prefix.is_empty()) {
            listing.files.iter_mut().for_each(|it| it.path = join(&self.prefix, &it.path));
        }
        match listed {
            Err(SourceError::NoFolder { .. }) if self.open.may_be_empty() => {
                Ok(Some(FileListing::default()))
            }
            Ok(Some(mut listing)) => {
                listing.notes.sort_unstable();
                listing.notes.dedup();
                listing.notes.splice(0..0, self.notes.iter().cloned());
                Ok(Some(listing))
            }
            listing => listing,
        }
    }

    /// Git's index, to say later which files of a folder on disk are still what it has on record
    /// now; `None` if there is none.
    pub(crate) fn read_index(&self) -> Option<OnRecord> {
        self.open.read_index()
    }

    /// The blobs that files of the tree are on record as, by their names in reports; `None` for each
    /// that may have changed since.
    pub(crate) fn find_blobs(&self, displays: &[&str]) -> Vec<Option<ObjectId>> {
        self.open.blobs(&self.layout, displays)
    }

    /// Returns true if every file of the source is judged, as it is on disk.
    pub(crate) fn is_whole(&self) -> bool {
        self.focus.is_empty() && self.part.is_none() && self.typed.is_none()
    }

    /// Reads some of the files that were listed, and says which could not be read.
    pub fn read_listed(&self, files: &[&ListedFile]) -> (Vec<SourceFile>, Vec<ReadProblem>) {
        if self.prefix.is_empty() {
            let Gathered { files, problems, .. } = self.open.read_listed(&self.layout, files);
            return (files, problems);
        }
        let in_root = |it: &&ListedFile| ListedFile {
            path: self.strip_prefix(&it.path).to_owned(),
            ..(*it).clone()
        };
        let files: Vec<ListedFile> = files.iter().map(in_root).collect();
        let files: Vec<&ListedFile> = files.iter().collect();
        let Gathered { mut files, problems, .. } = self.open.read_listed(&self.layout, &files);
        files.iter_mut().for_each(|it| it.path = join(&self.prefix, &it.path).into());
        (files, problems)
    }

    /// Returns true if the files of both are in the same roots, and all of them are judged.
    pub fn is_laid_out_as(&self, other: &Source) -> bool {
        let is_whole = |it: &Source| it.focus.is_empty() && it.part.is_none();
        is_whole(self)
            && is_whole(other)
            && (&self.layout, &self.prefix) == (&other.layout, &other.prefix)
    }

    /// The path of a root's file, relative to the tree.
    pub fn display(&self, root: u32, path: &str) -> String {
        self.layout.display(root as usize, self.strip_prefix(path))
    }

    /// The path of a file in its root, by its import path.
    fn strip_prefix<'p>(&self, path: &'p str) -> &'p str {
        strip_folder(path, &self.prefix).unwrap_or(path)
    }

    /// The root that a file of the tree belongs to, and its import path.
    pub fn find_place(&self, display: &str) -> Option<(u32, String)> {
        self.layout.place(display).map(|(root, path)| (root, join(&self.prefix, path)))
    }

    /// Returns true if files outside of the tree can be imported.
    pub fn has_import_paths(&self) -> bool {
        !self.imports.is_empty()
    }

    /// Finds the origin of an imported file that is not in the tree, if the source is a revision.
    pub fn import_origin(&self, path: &str) -> Result<ImportOrigin<'_>, SourceError> {
        if !is_import(path) {
            return Ok(ImportOrigin::Nowhere);
        }
        let in_checkout = |path: &Path| {
            self.open.contains_path(path) || self.open.contains_path(&canonicalize(path))
        };
        for (index, import) in self.imports.iter().enumerate() {
            let Some(path) = import.find_inner(path) else { continue };
            let blob = match &import.at {
                ImportPlace::Inside(folder) => self.open.find_blob(&join(folder, path))?,
                ImportPlace::Beside(source, folder) => source.find_blob(&join(folder, path))?,
                ImportPlace::Disk(folder) if in_checkout(folder) => {
                    return Ok(ImportOrigin::Untracked(&import.written));
                }
                ImportPlace::Disk(folder) if self.links.find(folder, path)?.is_some() => {
                    return Ok(ImportOrigin::Outside { root: self.import_root(index) });
                }
                ImportPlace::Listed(files) if files.contains_key(path) => {
                    return Ok(ImportOrigin::Outside { root: self.import_root(index) });
                }
                ImportPlace::Disk(_) | ImportPlace::Listed(_) => None,
            };
            if let Some(blob) = blob {
                return Ok(ImportOrigin::Blob(blob));
            }
        }
        Ok(ImportOrigin::Nowhere)
    }

    /// The number that stands for an import path, as the root of its files.
    fn import_root(&self, index: usize) -> u32 {
        (self.layout.roots.len() + index) as u32
    }

    /// Finds what `read` makes of the newest text that a file had before this revision, by its root
    /// and its path there, and the commit that had it; `None` if it makes nothing of any, or the
    /// source has no history.
    pub fn find_earlier<T>(
        &self,
        root: u32,
        path: &str,
        read: &dyn Fn(FileText) -> Option<T>,
    ) -> Option<(T, String)> {
        let mut found = None;
        let path = self.strip_prefix(path);
        let commit = self.open.find_earlier(&self.layout, root, path, &mut |text| {
            found = read(text);
            found.is_some()
        })?;
        found.map(|it| (it, commit))
    }

    /// Returns true if git may give some of these files other bytes on disk than it stores.
    pub fn may_be_rewritten(&self, paths: &[&str]) -> bool {
        self.open.may_be_rewritten(paths)
    }

    /// Returns true if it consists of blobs of git.
    pub fn has_blobs(&self) -> bool {
        self.open.has_blobs()
    }

    /// Returns true if a path on disk lies in the checkout of the repository of a revision.
    pub fn contains_path(&self, path: &Path) -> bool {
        self.open.contains_path(path)
    }

    /// Reads a file of the repository of a revision by its path on disk.
    pub fn read_at_revision(&self, path: &Path) -> Result<Option<FileText>, SourceError> {
        self.open.read_at_revision(path)
    }

    /// The folder in which git keeps what all worktrees of the repository share.
    pub fn git_folder(&self) -> Option<PathBuf> {
        self.open.git_folder()
    }

    /// The day of its commit, if it is a revision, in the time zone that is furthest behind: who
    /// writes a day next to it may live there.
    pub fn get_commit_day(&self) -> Option<Date> {
        const FURTHEST_BEHIND: i64 = 12 * 60 * 60;
        let seconds = self.open.read_commit_time()?.checked_sub(FURTHEST_BEHIND)?;
        let moment = jiff::Timestamp::from_second(seconds).ok()?;
        Some(moment.to_zoned(jiff::tz::TimeZone::UTC).date())
    }

    /// The name for messages: what the user wrote.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of Envoy's runtime guards, if the source is a program that has them.
    pub fn find_guards(&self) -> Option<BTreeSet<String>> {
        self.open.find_guards()
    }

    /// The folder of the tree, if the source is a folder on disk.
    pub fn folder(&self) -> Option<&Path> {
        self.open.folder()
    }

    /// The prefix that makes a path of the tree relative to the top of the repository, if the
    /// source is a revision.
    pub fn prefix(&self) -> Option<String> {
        let folder = self.open.folder_in_repository()?;
        Some(if folder.is_empty() { String::new() } else { format!("{folder}/") })
    }

    /// The `abide.lock` in the folder of the tree, if there is one.
    pub fn lock(&self) -> Result<Option<FileText>, SourceError> {
        self.open.read_text(LOCK)
    }

    /// Returns true if it is an archive, which holds the settings of its tree.
    pub fn is_archive(&self) -> bool {
        self.open.is_archive()
    }

    /// A text of the settings that an archive holds, by its name.
    pub fn packed_settings(&self, name: &str) -> Option<FileText> {
        self.open.packed_settings(name)
    }

    /// A file by its path from the folder of the tree. An archive has only its protos, its
    /// Markdown and texts, `abide.lock` and `CODEOWNERS`.
    pub fn read_text(&self, path: &str) -> Result<Option<FileText>, SourceError> {
        self.open.read_text(path)
    }

    /// A file by its path from the top of the repository or the archive, if the source is a
    /// revision or an archive.
    pub fn read_at_top(&self, path: &str) -> Result<Option<FileText>, SourceError> {
        self.open.read_settings(path)
    }

    /// The lists of features: these, or without a list `features.txt` in each root. Of a part of a
    /// tree, those in it.
    pub fn read_features(&self, named: Option<&[String]>) -> Result<Vec<FeatureFile>, SourceError> {
        const USUAL: &str = "features.txt";
        let usual = || (0..self.layout.roots.len()).map(|it| self.layout.display(it, USUAL));
        let paths: Vec<String> = named.map_or_else(|| usual().collect(), <[String]>::to_vec);
        let mut files = Vec::new();
        for path in paths {
            let is_outside = |focus: &String| strip_folder(&path, focus).is_none();
            if !self.focus.is_empty() && self.focus.iter().all(is_outside) {
                continue;
            }
            match self.open.read_text(&path)? {
                Some(text) => {
                    let text = String::from_utf8_lossy(&text).into_owned();
                    files.push(FeatureFile { path, text });
                }
                None if named.is_some() && self.has_texts() => {
                    return Err(SourceError::unusable(
                        path,
                        "`features` in abide.toml names it, but it is not in the tree",
                    ));
                }
                None => {}
            }
        }
        Ok(files)
    }

    /// Returns true if it can hold texts that are no protos.
    fn has_texts(&self) -> bool {
        self.open.folder().is_some() || self.open.folder_in_repository().is_some()
    }

    /// The paths of the protos in a folder of the import paths on disk.
    pub fn list_importable(&self, folder: &str) -> Vec<String> {
        let names = self.imports.iter().flat_map(|import| {
            let inner = if folder == import.prefix { Some("") } else { import.find_inner(folder) };
            match (&import.at, inner) {
                (ImportPlace::Disk(at), Some(inner)) => self.links.list_names(at, inner),
                (ImportPlace::Listed(files), Some(inner)) => {
                    let below = files.keys().filter_map(|it| strip_folder(it, inner));
                    below.filter(|it| !it.contains('/')).map(str::to_owned).collect()
                }
                _ => Vec::new(),
            }
        });
        names.filter(|it| is_proto(it.as_bytes())).map(|it| join(folder, &it)).collect()
    }

    /// Looks up an imported file that is not in the tree.
    ///
    /// Searches the import paths in order, like `protoc -I`. For a single file, its own roots come
    /// first.
    pub fn find_import(&self, path: &str) -> Result<Option<SourceFile>, SourceError> {
        if !is_import(path) {
            return Ok(None);
        }
        let found = |display: String, root: u32, text| {
            Some(SourceFile {
                path: path.into(),
                display: display.into(),
                root,
                imported: true,
                text,
            })
        };
        if let Some(own) = strip_folder(path, &self.prefix)
            && let Some((index, text)) = self.open.find_in_roots(own, &self.layout)?
        {
            return Ok(found(self.layout.display(index, own), index as u32, text));
        }
        for (index, import) in self.imports.iter().enumerate() {
            let Some(inner) = import.find_inner(path) else { continue };
            let text = match &import.at {
                ImportPlace::Inside(folder) => self.open.find(&join(folder, inner))?,
                ImportPlace::Beside(source, folder) => source.find(&join(folder, inner))?,
                ImportPlace::Listed(files) => find_listed(files, inner)?,
                ImportPlace::Disk(folder) => match self.links.find(folder, inner)? {
                    None => self.open.find_left_out(&canonicalize(folder).join(inner)),
                    text => text,
                },
            };
            if let Some(text) = text {
                return Ok(found(import.display(path), self.import_root(index), text));
            }
        }
        Ok(None)
    }
}

/// Returns true if an import can have this path. Like protoc, refuses names that would give one
/// file two names; and those of git's own files, which may hold the credentials of a clone.
fn is_import(path: &str) -> bool {
    let is_git = || path.split('/').any(|name| is_git_folder(name.as_ref()));
    normalize(path).as_deref() == Some(path)
        && !Path::new(path).is_absolute()
        && !path.is_empty()
        && !is_git()
}
