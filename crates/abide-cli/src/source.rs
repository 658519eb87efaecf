//! Where trees come from: folders, revisions, archives and descriptor sets.
//!
//! A [`Source`] is opened from what stands on the command line and then read at once. What is
//! judged is chosen the same way everywhere: files named `*.proto`, no hidden name and no
//! `node_modules` on the way from the root, each file belonging to the most specific folder among
//! the roots and the import paths that contains it. Only a folder on disk knows ignore files, and
//! they do not hold for what git tracks.

mod archive;
mod descriptors;
mod directory;
mod git;
mod ignored;
mod unpack;

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use abide_schema::{SourceFile, Text};

pub(crate) use descriptors::asked_for;
pub(crate) use git::timeline::{Commit, Content, Cursor, Step, Timeline};

/// The name of the record of versions.
pub const LOCK: &str = "abide.lock";

/// The largest file that is read: spans are 32-bit byte offsets.
pub const MAX_FILE: u64 = u32::MAX as u64;

/// Where a tree comes from, opened and ready to be read.
pub struct Source {
    kind: Kind,
    layout: Layout,
    imports: Vec<Import>,
    /// The folder or file of the tree that alone is judged, relative to it.
    focus: Option<String>,
    /// The part of it that is compared with a part of another tree.
    part: Option<Part>,
    notes: Vec<String>,
    /// How messages call this source: as the user wrote it.
    name: String,
}

/// How a [`Source`] is opened.
#[derive(Clone, Copy)]
pub struct SourceOptions<'a> {
    /// The folder that relative paths count from; the source when none is named.
    pub base: &'a Path,
    /// Folders that imports resolve in, in order; relative ones count from `base`.
    pub import_paths: &'a [String],
    /// Folders of the tree that paths count from, as in `abide.toml`; none means the tree itself.
    pub roots: &'a [String],
    /// The revision that `git:REV...` takes the merge base with; `HEAD` when absent.
    pub merge_with: Option<&'a str>,
}

impl<'a> SourceOptions<'a> {
    /// A tree of one root, without import paths.
    pub fn new(base: &'a Path) -> Self {
        Self { base, import_paths: &[], roots: &[], merge_with: None }
    }
}

/// What a [`Source`] holds.
pub enum Contents {
    /// The files of a proto tree.
    Files {
        /// Every judged file, sorted by root and path.
        files: Vec<SourceFile>,
        /// What could not be read, sorted by path; the rest is judged all the same.
        problems: Vec<ReadProblem>,
        /// What the user should know about how the tree was read, one phrase each.
        notes: Vec<String>,
    },
    /// A serialized `FileDescriptorSet` (descriptor.proto), decompressed.
    DescriptorSet {
        /// The serialized set.
        bytes: Vec<u8>,
        /// How the set is serialized.
        format: DescriptorFormat,
    },
}

/// How a descriptor set is serialized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescriptorFormat {
    /// The protobuf wire format.
    Binary,
    /// ProtoJSON.
    Json,
    /// The protobuf text format.
    Text,
}

/// A file or folder that could not be read, while the rest could.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReadProblem {
    /// The name that messages use, relative to the tree.
    pub path: String,
    /// Why it could not be read, as one phrase.
    pub reason: String,
}

impl fmt::Display for ReadProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read `{}`: {}", shown(&self.path), self.reason)
    }
}

/// Why nothing could be read; always exit status 2.
#[derive(Debug)]
pub enum SourceError {
    /// What was named is no source: absent, of an unknown kind, or malformed.
    Unusable {
        /// What the user wrote.
        name: String,
        /// What is wrong with it and what to do, as one phrase.
        reason: String,
    },
    /// The source is there but holds no judged `.proto` file.
    NoProtoFiles {
        /// What the user wrote.
        name: String,
    },
    /// A revision that has no such folder.
    NoFolder {
        /// What the user wrote.
        name: String,
        /// The folder, from the top of the repository.
        folder: String,
    },
    /// A `git:` source without a repository around it.
    NoRepository {
        /// The folder the search started from.
        base: String,
        /// What git objects to.
        reason: String,
    },
    /// A revision that does not resolve.
    UnknownRevision {
        /// The revision as written.
        revision: String,
        /// What makes it known, or what else to do.
        advice: String,
    },
    /// Two revisions without a known common ancestor.
    NoMergeBase {
        /// The revision as written.
        revision: String,
        /// What it was compared with.
        with: String,
        /// What makes the ancestor known, or what else to do.
        advice: String,
    },
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unusable { name, reason } => write!(f, "cannot read `{}`: {reason}", shown(name)),
            Self::NoProtoFiles { name } => write!(
                f,
                "`{}` holds no `.proto` file: name the folder of the proto tree, and check `roots`, \
                 `--import-path` and ignore files",
                shown(name)
            ),
            Self::NoFolder { name, folder } => write!(
                f,
                "cannot read `{}`: the revision has no folder `{}`: name another, as in \
                 `git:REV:SUBDIR`",
                shown(name),
                shown(folder)
            ),
            Self::NoRepository { base, reason } => write!(
                f,
                "no git repository encloses `{}`: run abide inside a clone ({reason})",
                shown(base)
            ),
            Self::UnknownRevision { revision, advice } => {
                write!(f, "unknown revision `{}`: {advice}", shown(revision))
            }
            Self::NoMergeBase { revision, with, advice } => write!(
                f,
                "`{}` and `{}` have no known common ancestor: {advice}",
                shown(revision),
                shown(with)
            ),
        }
    }
}

impl std::error::Error for SourceError {}

impl SourceError {
    fn unusable(name: impl Into<String>, reason: impl fmt::Display) -> Self {
        Self::Unusable { name: name.into(), reason: reason.to_string() }
    }
}

/// A name on one line, whatever characters it is made of.
pub fn shown(name: &str) -> String {
    let mut line = String::with_capacity(name.len());
    for c in name.chars() {
        if is_unprintable(c) { line.extend(c.escape_default()) } else { line.push(c) }
    }
    line
}

/// Whether a terminal might obey the character instead of showing it: controls, and the marks
/// that turn the direction of text.
pub fn is_unprintable(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The part of a tree that is compared with a part of another.
enum Part {
    /// The folder or file at this place of the tree.
    At(String),
    /// What lies there by the paths that imports use.
    Named(Vec<String>),
}

enum Kind {
    Directory(PathBuf),
    /// A file alone, with the folder its imports resolve in.
    File {
        file: PathBuf,
        folder: PathBuf,
    },
    Git(Box<git::Revision>),
    Archive(archive::Archive),
    /// A descriptor set in a file, or on standard input.
    Descriptors(Option<PathBuf>),
}

/// Which folders of a tree are judged; all are relative to the tree, `/`-separated, "" is its top.
struct Layout {
    roots: Vec<String>,
    /// Import paths inside the tree that are no roots.
    excluded: Vec<String>,
}

impl Layout {
    fn new(roots: &[String]) -> Result<Self, SourceError> {
        let mut normal = Vec::new();
        for root in roots {
            let outside = || {
                SourceError::unusable(root.as_str(), "a root is a folder inside the tree: name one")
            };
            if Path::new(root).is_absolute() {
                return Err(outside());
            }
            let root = normalize(root).ok_or_else(outside)?;
            if !normal.contains(&root) {
                normal.push(root);
            }
        }
        if normal.is_empty() {
            normal.push(String::new());
        }
        Ok(Self { roots: normal, excluded: Vec::new() })
    }

    fn exclude(&mut self, folder: String) {
        if !self.roots.contains(&folder) {
            self.excluded.push(folder);
        }
    }

    /// Whether the walk of another root, or none, looks into this folder.
    fn ends_at(&self, folder: &str) -> bool {
        self.roots.iter().chain(&self.excluded).any(|it| it == folder)
    }

    /// The root a file belongs to and its path there, if the file is judged.
    fn place<'p>(&self, file: &'p str) -> Option<(u32, &'p str)> {
        let folders = self.roots.iter().chain(&self.excluded).enumerate();
        let (index, path) = folders
            .filter_map(|(index, folder)| Some((index, below(file, folder)?)))
            .min_by_key(|(_, path)| path.len())?;
        (index < self.roots.len() && path.split('/').all(|name| !is_skipped(name)))
            .then_some((index as u32, path))
    }

    /// The name of a root's file as seen from the tree.
    fn display(&self, root: usize, path: &str) -> String {
        join(&self.roots[root], path)
    }
}

struct Import {
    /// As the user wrote it.
    written: String,
    at: Mount,
}

/// Where an import path is.
enum Mount {
    /// In the revision or the archive itself, from its top.
    Inside(String),
    Disk(PathBuf),
}

/// What no walk enters and no tree keeps: hidden names and installed JavaScript packages.
fn is_skipped(name: &str) -> bool {
    name.starts_with('.') || name == "node_modules"
}

/// Whether a name is that of a judged file, as `*.proto` matches it.
fn is_proto(name: &[u8]) -> bool {
    name.ends_with(b".proto")
}

/// A `/`-separated relative path without empty, `.` and `..` parts; none if it climbs out.
fn normalize(path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in path.split(['/', std::path::MAIN_SEPARATOR]) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// What follows `folder` in `path`; none if the path is not below the folder.
fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    if folder.is_empty() { Some(path) } else { path.strip_prefix(folder)?.strip_prefix('/') }
}

/// A path below a folder, both with `/`; either may be empty.
pub(crate) fn join(folder: &str, path: &str) -> String {
    if folder.is_empty() || path.is_empty() {
        format!("{folder}{path}")
    } else {
        format!("{folder}/{path}")
    }
}

/// The path with links resolved as far as it exists, so that two names of a folder compare equal.
fn canonical(path: &Path) -> PathBuf {
    let mut rest = Vec::new();
    let mut head = path;
    loop {
        if let Ok(found) =
            fs::canonicalize(if head.as_os_str().is_empty() { ".".as_ref() } else { head })
        {
            let mut full = found;
            for part in rest.into_iter().rev() {
                full.push(part);
            }
            return full;
        }
        match (head.parent(), head.file_name()) {
            (Some(parent), Some(name)) => {
                rest.push(name);
                head = parent;
            }
            _ => return path.to_owned(),
        }
    }
}

/// `path` below `folder` with `/` between names, if it is there and is Unicode.
fn relative(path: &Path, folder: &Path) -> Option<String> {
    normalize(path.strip_prefix(folder).ok()?.to_str()?)
}

/// The SUBDIR of `REV:SUBDIR`, if one is named.
pub fn subdir(spec: &str) -> Option<&str> {
    split_subdir(spec).1.filter(|subdir| !subdir.is_empty())
}

/// Splits `NAME:SUBDIR` at the first colon that no brace encloses, as in `main@{12:00}:proto`.
fn split_subdir(spec: &str) -> (&str, Option<&str>) {
    let mut depth = 0i32;
    for (at, c) in spec.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ':' if depth <= 0 => return (&spec[..at], Some(&spec[at + 1..])),
            _ => {}
        }
    }
    (spec, None)
}

impl Source {
    /// Opens what `spec` names, or the base folder when it names nothing.
    ///
    /// An archive is unpacked into memory here; `archive.tar.gz:SUBDIR` makes a folder in it the
    /// tree, as release archives wrap theirs in one top folder, which is otherwise kept.
    pub fn open(spec: Option<&str>, options: &SourceOptions) -> Result<Source, SourceError> {
        let layout = Layout::new(options.roots)?;
        let name = spec.unwrap_or(".").to_owned();
        let mut source = Source {
            kind: Kind::Descriptors(None),
            layout,
            imports: Vec::new(),
            focus: None,
            part: None,
            notes: Vec::new(),
            name,
        };
        if spec == Some("-") {
            source.import_from(options, |_| None, None);
            return Ok(source);
        }
        if let Some(spec) = spec.and_then(|spec| spec.strip_prefix("git:")) {
            let (revision, note) = git::Revision::open(spec, options)?;
            source.notes.extend(note);
            source.import_from(
                options,
                |written| revision.locate(written, options.base),
                Some(&revision.top),
            );
            source.kind = Kind::Git(Box::new(revision));
            return Ok(source);
        }
        if spec == Some("") {
            return Err(SourceError::unusable(
                "",
                "the source is empty: name a folder, or leave it out",
            ));
        }
        let path = spec.map_or(options.base.to_owned(), |spec| options.base.join(spec));
        let found = match fs::metadata(&path) {
            Ok(found) => found,
            Err(error) => {
                let (file, subdir) = split_subdir(&source.name);
                let (Some(format), Some(subdir)) = (archive::format(file), subdir) else {
                    return Err(SourceError::unusable(source.name, io_reason(&error)));
                };
                let archive =
                    archive::Archive::open(&options.base.join(file), file, format, subdir)?;
                return Ok(source.with_archive(archive, options));
            }
        };
        if found.is_dir() {
            let top = fs::canonicalize(&path)
                .map_err(|error| SourceError::unusable(source.name.as_str(), io_reason(&error)))?;
            let inside = |written: &str| {
                let folder = canonical(&options.base.join(written));
                relative(&folder, &top).filter(|_| folder.is_dir()).map(Mount::Inside)
            };
            source.import_from(options, inside, Some(""));
            // Inside or not, the folder on disk is what it is.
            for import in &mut source.imports {
                import.at = Mount::Disk(options.base.join(&import.written));
            }
            source.kind = Kind::Directory(top);
            return Ok(source);
        }
        if !found.is_file() {
            return Err(SourceError::unusable(
                source.name,
                "it is neither a file nor a folder: pass its contents on standard input, as `-`",
            ));
        }
        if is_proto(source.name.as_bytes()) {
            source.import_from(options, |_| None, None);
            let folder = match canonical(&path).starts_with(canonical(options.base)) {
                true => options.base.to_owned(),
                false => path.parent().unwrap_or(options.base).to_owned(),
            };
            source.kind = Kind::File { file: path, folder };
        } else if let Some(format) = archive::format(&source.name) {
            let archive = archive::Archive::open(&path, &source.name, format, "")?;
            return Ok(source.with_archive(archive, options));
        } else if descriptors::format(&source.name).is_some() {
            source.import_from(options, |_| None, None);
            source.kind = Kind::Descriptors(Some(path));
        } else {
            return Err(SourceError::unusable(
                source.name,
                "its name says no known kind: give a folder, `git:REV`, a `.proto` file, a descriptor \
                 set (`.binpb`, `.pb`, `.json`, `.txtpb`) or an archive (`.tar`, `.tar.gz`, `.tar.zst`, \
                 `.zip`)",
            ));
        }
        Ok(source)
    }

    fn with_archive(mut self, archive: archive::Archive, options: &SourceOptions) -> Self {
        let inside = |written: &str| {
            let folder = normalize(written).filter(|_| !Path::new(written).is_absolute())?;
            let folder = join(&archive.top, &folder);
            archive.has_folder(&folder).then_some(Mount::Inside(folder))
        };
        self.import_from(options, inside, Some(&archive.top));
        self.kind = Kind::Archive(archive);
        self
    }

    /// Places every import path: inside the source where `inside` says so, else on disk; what is
    /// below `top`, the folder of the tree, is not judged.
    fn import_from(
        &mut self,
        options: &SourceOptions,
        inside: impl Fn(&str) -> Option<Mount>,
        top: Option<&str>,
    ) {
        for written in options.import_paths {
            let at = inside(written).unwrap_or_else(|| Mount::Disk(options.base.join(written)));
            if let (Mount::Inside(folder), Some(top)) = (&at, top) {
                if folder == top {
                    self.layout.exclude(String::new());
                } else if let Some(folder) = below(folder, top) {
                    self.layout.exclude(folder.to_owned());
                }
            }
            if let Mount::Disk(folder) = &at
                && !folder.is_dir()
            {
                self.notes.push(format!(
                    "the import path `{}` is no folder: nothing is found there",
                    shown(written)
                ));
            }
            self.imports.push(Import { written: written.clone(), at });
        }
    }

    /// Judges nothing but a folder or a file of the tree, which the user calls `name`; the rest
    /// is there to be imported and looked at.
    pub fn only(mut self, focus: &str, name: &str) -> Source {
        self.focus = Some(focus.to_owned());
        self.name = name.to_owned();
        self
    }

    /// Judges nothing but what is compared with a folder or a file of another tree, which has
    /// these roots.
    ///
    /// A tree of the same roots has the part at the same place; if it has none, nothing of it is
    /// judged. In any other tree the part is looked for by the paths that imports use, and a tree
    /// that has none of these is taken for the part itself.
    pub fn part(mut self, part: &str, roots: &[String]) -> Source {
        let copy = match self.kind {
            Kind::Git(_) => true,
            Kind::Directory(_) | Kind::Archive(_) => !roots.is_empty(),
            Kind::File { .. } | Kind::Descriptors(_) => false,
        };
        let layout = Layout::new(roots).ok();
        let same_roots = layout.as_ref().is_some_and(|it| it.roots == self.layout.roots);
        let named = layout.into_iter().flat_map(|it| it.roots).filter_map(|root| {
            let inside = below(part, &root).or_else(|| (part == root).then_some(""));
            // A root inside of the part belongs to it as a whole.
            inside.or_else(|| below(&root, part).map(|_| "")).map(str::to_owned)
        });
        self.part = Some(match copy && same_roots {
            true => Part::At(part.to_owned()),
            false => Part::Named(named.collect()),
        });
        self
    }

    /// Marks what is outside of the part of the tree that is judged, if one was named. For each
    /// file: as seen from the tree, as imports call it, and whether it is only imported.
    pub(crate) fn narrow_to_part(&self, files: &mut [(&str, &str, &mut bool)]) {
        let has = |part: &str, path: &str| path == part || below(path, part).is_some();
        match &self.part {
            None => {}
            Some(Part::At(part)) => {
                files
                    .iter_mut()
                    .for_each(|(display, _, imported)| **imported |= !has(part, display));
            }
            Some(Part::Named(parts)) => {
                let inside = |path: &str| parts.iter().any(|part| has(part, path));
                if files.iter().any(|(_, path, imported)| !**imported && inside(path)) {
                    files.iter_mut().for_each(|(_, path, imported)| **imported |= !inside(path));
                }
            }
        }
    }

    /// Reads it as the old side of a comparison: a revision that has no judged file, perhaps from
    /// before there were any, is an empty tree.
    pub fn read_old(&self) -> Result<Contents, SourceError> {
        let empty = || Contents::Files {
            files: Vec::new(),
            problems: Vec::new(),
            notes: vec![format!(
                "the baseline `{}` holds no `.proto` file: everything counts as new",
                self.name
            )],
        };
        match (&self.kind, self.read()) {
            (
                Kind::Git(_),
                Err(SourceError::NoProtoFiles { .. } | SourceError::NoFolder { .. }),
            ) => Ok(empty()),
            (Kind::Git(_), Ok(Contents::Files { files, problems, .. }))
                if files.is_empty() && problems.iter().all(|it| it.reason == NO_ROOT) =>
            {
                Ok(empty())
            }
            (_, contents) => contents,
        }
    }

    /// Reads every judged file, sorted by root and path, on all threads of the current rayon pool.
    ///
    /// Standard input can be read once only.
    pub fn read(&self) -> Result<Contents, SourceError> {
        let mut gathered = match &self.kind {
            Kind::Descriptors(path) => {
                let (bytes, format) = descriptors::read(path.as_deref(), &self.name)?;
                return Ok(Contents::DescriptorSet { bytes, format });
            }
            Kind::Directory(top) => directory::read(top, &self.layout),
            Kind::File { file, folder } => self.read_alone(file, folder)?,
            Kind::Git(revision) => revision.read(&self.layout)?,
            Kind::Archive(archive) => archive.read(&self.layout),
        };
        if let Some(focus) = &self.focus {
            self.narrow(focus, &mut gathered)?;
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
        gathered.files.sort_unstable_by(|a, b| (a.root, &a.path).cmp(&(b.root, &b.path)));
        gathered.problems.sort_unstable();
        gathered.notes.sort_unstable();
        gathered.notes.dedup();
        let mut notes = self.notes.clone();
        notes.append(&mut gathered.notes);
        Ok(Contents::Files { files: gathered.files, problems: gathered.problems, notes })
    }

    fn narrow(&self, focus: &str, gathered: &mut Gathered) -> Result<(), SourceError> {
        // What is named outright is judged, whatever ignore files say of it.
        if let Kind::Directory(top) = &self.kind
            && is_proto(focus.as_bytes())
            && gathered.files.iter().all(|file| &*file.display != focus)
            && top.join(focus).is_file()
        {
            gathered.files.append(&mut self.read_alone(&top.join(focus), top)?.files);
        }
        let judged = |path: &str| path == focus || below(path, focus).is_some();
        for file in &mut gathered.files {
            file.imported |= !judged(&file.display);
        }
        gathered.problems.retain(|problem| judged(&problem.path));
        Ok(())
    }

    fn read_alone(&self, file: &Path, folder: &Path) -> Result<Gathered, SourceError> {
        let error = |reason: String| SourceError::unusable(self.name.as_str(), reason);
        let text =
            read_regular(file, &mut Vec::new()).map_err(|problem| error(io_reason(&problem)))?;
        let display = relative(&canonical(file), &canonical(folder))
            .ok_or_else(|| error(NOT_UNICODE.to_owned()))?;
        // No root may hold the file; then it counts from the folder.
        let roots = self.layout.roots.iter().enumerate();
        let (root, path) = roots
            .filter_map(|(index, root)| Some((index, below(&display, root)?)))
            .min_by_key(|(_, path)| path.len())
            .unwrap_or((0, &display));
        let file = SourceFile {
            path: path.into(),
            display: display.as_str().into(),
            root: root as u32,
            imported: false,
            text,
        };
        Ok(Gathered { files: vec![file], ..Gathered::default() })
    }

    /// How messages call it: as the user wrote it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder that the tree lies in, where it is one that can be written to.
    pub fn folder(&self) -> Option<&Path> {
        match &self.kind {
            Kind::Directory(top) => Some(top),
            Kind::File { .. } | Kind::Git(_) | Kind::Archive(_) | Kind::Descriptors(_) => None,
        }
    }

    /// What stands before a path of the tree so that it counts from the top of the repository, if
    /// the source is a revision.
    pub(crate) fn prefix(&self) -> Option<String> {
        let Kind::Git(revision) = &self.kind else { return None };
        Some(if revision.top.is_empty() { String::new() } else { format!("{}/", revision.top) })
    }

    /// The record of versions that stands in the folder of the tree, if it is there.
    pub fn lock(&self) -> Result<Option<Text>, SourceError> {
        match &self.kind {
            Kind::Directory(top) => find_on_disk(&top.join(LOCK)),
            Kind::Git(revision) => revision.find(&join(&revision.top, LOCK)),
            Kind::Archive(archive) => Ok(archive.find(&join(&archive.top, LOCK))),
            Kind::File { .. } | Kind::Descriptors(_) => Ok(None),
        }
    }

    /// Looks up a file that judged files import but that is not in the tree.
    ///
    /// The import paths are searched in order, as `protoc -I` does; for a file judged alone, its
    /// own roots come first.
    pub fn import(&self, path: &str) -> Result<Option<SourceFile>, SourceError> {
        // protoc refuses such names too: they would give one file two names.
        if normalize(path).as_deref() != Some(path)
            || Path::new(path).is_absolute()
            || path.is_empty()
        {
            return Ok(None);
        }
        let found = |display: String, root: usize, text| {
            Some(SourceFile {
                path: path.into(),
                display: display.into(),
                root: root as u32,
                imported: true,
                text,
            })
        };
        let roots = self.layout.roots.len();
        if let Kind::File { folder, .. } = &self.kind {
            for (index, root) in self.layout.roots.iter().enumerate() {
                if let Some(text) = find_on_disk(&folder.join(root).join(path))? {
                    return Ok(found(self.layout.display(index, path), index, text));
                }
            }
        }
        for (index, import) in self.imports.iter().enumerate() {
            let display = || join(import.written.trim_end_matches('/'), path);
            match (&import.at, &self.kind) {
                (Mount::Inside(folder), Kind::Git(revision)) => {
                    if let Some(text) = revision.find(&join(folder, path))? {
                        return Ok(found(display(), roots + index, text));
                    }
                }
                (Mount::Inside(folder), Kind::Archive(archive)) => {
                    if let Some(text) = archive.find(&join(folder, path)) {
                        return Ok(found(display(), roots + index, text));
                    }
                }
                (Mount::Inside(_), _) => {}
                (Mount::Disk(folder), _) => {
                    if let Some(text) = find_on_disk(&folder.join(path))? {
                        return Ok(found(display(), roots + index, text));
                    }
                }
            }
        }
        Ok(None)
    }
}

/// What a walk brings home.
#[derive(Default)]
struct Gathered {
    files: Vec<SourceFile>,
    problems: Vec<ReadProblem>,
    notes: Vec<String>,
}

impl Gathered {
    fn problem(&mut self, path: impl Into<String>, reason: impl Into<String>) {
        self.problems.push(ReadProblem { path: path.into(), reason: reason.into() });
    }
}

const NOT_UNICODE: &str = "its name is not valid UTF-8, which no import can spell: rename it";
const TOO_LARGE: &str =
    "it is larger than 4 GiB - 1, the most that a `.proto` file may hold: split it";
const NOT_REGULAR: &str = "it is not a regular file";
const NO_ROOT: &str = "the root does not exist: create it, or correct `roots`";

fn io_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied: make it readable".to_owned(),
        _ => error.to_string(),
    }
}

fn find_on_disk(path: &Path) -> Result<Option<Text>, SourceError> {
    use io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound};
    match fs::metadata(path) {
        // Asked before opening: a FIFO would wait for a writer.
        Ok(found) if found.is_file() => {}
        Ok(_) => return Ok(None),
        Err(error)
            if matches!(
                error.kind(),
                NotFound | NotADirectory | InvalidInput | InvalidFilename
            ) =>
        {
            return Ok(None);
        }
        Err(error) => {
            return Err(SourceError::unusable(path.to_string_lossy(), io_reason(&error)));
        }
    }
    read_regular(path, &mut Vec::new())
        .map(Some)
        .map_err(|error| SourceError::unusable(path.to_string_lossy(), io_reason(&error)))
}

/// Reads a file that is known to be regular, with four system calls and, where the buffer is large
/// enough, one allocation.
fn read_regular(path: &Path, buffer: &mut Vec<u8>) -> io::Result<Text> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    if length > MAX_FILE {
        return Err(io::Error::other(TOO_LARGE));
    }
    let length = length as usize;
    if buffer.len() < length {
        buffer.resize(length, 0);
    }
    let mut filled = 0;
    while filled < length {
        match file.read(&mut buffer[filled..length]) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(buffer[..filled].into())
}
