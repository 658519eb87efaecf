//! Where trees come from: folders, revisions, archives and descriptor sets.
//!
//! A [`Source`] is opened from what stands on the command line and then read at once. What is
//! judged is chosen the same way everywhere: files named `*.proto`, no hidden name and no
//! `node_modules` on the way from the root, each file belonging to the most specific folder among
//! the roots and the import paths that contains it. Only a folder on disk knows ignore files, and
//! they do not hold for what git tracks.

mod alone;
mod archive;
mod contents;
mod descriptors;
mod directory;
mod disk;
mod failure;
mod git;
mod ignored;
mod kind;
mod part;
mod paths;
mod roots;
mod spec;
mod unpack;

use std::fs;
use std::path::Path;

use abide_schema::{SourceFile, Text};

use self::contents::Gathered;
use self::disk::find_on_disk;
use self::failure::{NO_ROOT, io_reason};
use self::kind::{Asked, OpenSource, Opening, Reading, SourceKind};
use self::part::ComparedPart;
use self::paths::{below, is_proto, normalize};
use self::roots::{Import, Mount, RootLayout};

pub use contents::{Contents, DescriptorFormat, LOCK};
pub(crate) use descriptors::asked_for;
pub use disk::MAX_FILE;
pub use failure::{ReadProblem, SourceError};
pub(crate) use git::timeline::{Commit, Content, Cursor, Step, Timeline};
pub(crate) use paths::join;
pub use spec::SourceOptions;
pub(crate) use spec::subdir;

/// Every kind of source, in the order in which users read of them.
const KINDS: &[SourceKind] =
    &[directory::KIND, git::KIND, alone::KIND, descriptors::KIND, archive::KIND];

/// What a source may be, for the help of commands.
pub(crate) fn help() -> String {
    either(KINDS.iter().map(|kind| kind.help).filter(|help| !help.is_empty()))
}

/// `a, b or c`.
fn either<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        names => names.concat(),
    }
}

/// Where a tree comes from, opened and ready to be read.
pub struct Source {
    open: Box<dyn OpenSource>,
    layout: RootLayout,
    imports: Vec<Import>,
    /// The folder or file of the tree that alone is judged, relative to it.
    focus: Option<String>,
    /// The part of it that is compared with a part of another tree.
    part: Option<ComparedPart>,
    notes: Vec<String>,
    /// How messages call this source: as the user wrote it.
    name: String,
}

impl Source {
    /// Opens what `spec` names, or the base folder when it names nothing.
    ///
    /// An archive is unpacked into memory here; `archive.tar.gz:SUBDIR` makes a folder in it the
    /// tree, as release archives wrap theirs in one top folder, which is otherwise kept.
    pub fn open(spec: Option<&str>, options: &SourceOptions) -> Result<Source, SourceError> {
        let layout = RootLayout::new(options.roots)?;
        let name = spec.unwrap_or(".");
        let path = spec.map_or(options.base.to_owned(), |spec| options.base.join(spec));
        let asked = Asked { spec, name, path, options };
        let kind = match KINDS.iter().find(|kind| spec.is_some_and(kind.is_spelled)) {
            Some(kind) => kind,
            None => Source::found(&asked)?,
        };
        let Opening { source, layout, imports, notes } = (kind.open)(&asked, layout)?;
        let name = name.to_owned();
        Ok(Source { open: source, layout, imports, focus: None, part: None, notes, name })
    }

    /// The kind of what is on disk at the path that is asked for.
    fn found(asked: &Asked<'_>) -> Result<&'static SourceKind, SourceError> {
        let unusable = |reason: String| Err(SourceError::unusable(asked.name, reason));
        if asked.name.is_empty() {
            return unusable("the source is empty: name a folder, or leave it out".to_owned());
        }
        let found = fs::metadata(&asked.path);
        if let Some(kind) = KINDS.iter().find(|kind| (kind.is_found)(asked, &found)) {
            return Ok(kind);
        }
        match found {
            Err(error) => unusable(io_reason(&error)),
            Ok(found) if !found.is_file() => unusable(
                "it is neither a file nor a folder: pass its contents on standard input, as `-`"
                    .to_owned(),
            ),
            Ok(_) => unusable(format!(
                "its name says no known kind: give {}",
                either(KINDS.iter().map(|kind| kind.brief))
            )),
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
        let may_be_copy = self.open.may_be_copy(!roots.is_empty());
        self.part = Some(ComparedPart::of(part, roots, &self.layout, may_be_copy));
        self
    }

    /// Marks what is outside of the part of the tree that is judged, if one was named. For each
    /// file: as seen from the tree, as imports call it, and whether it is only imported.
    pub(crate) fn narrow_to_part(&self, files: &mut [(&str, &str, &mut bool)]) {
        if let Some(part) = &self.part {
            part.narrow(files);
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
        match self.read() {
            contents if !self.open.may_be_empty() => contents,
            Err(SourceError::NoProtoFiles { .. } | SourceError::NoFolder { .. }) => Ok(empty()),
            Ok(Contents::Files { files, problems, .. })
                if files.is_empty() && problems.iter().all(|it| it.reason == NO_ROOT) =>
            {
                Ok(empty())
            }
            contents => contents,
        }
    }

    /// Reads every judged file, sorted by root and path, on all threads of the current rayon pool.
    ///
    /// Standard input can be read once only.
    pub fn read(&self) -> Result<Contents, SourceError> {
        let mut gathered = match self.open.read(&self.layout, &self.name)? {
            Reading::Files(gathered) => gathered,
            Reading::DescriptorSet { bytes, format } => {
                return Ok(Contents::DescriptorSet { bytes, format });
            }
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
        if is_proto(focus.as_bytes())
            && gathered.files.iter().all(|file| &*file.display != focus)
            && let Some(file) = self.open.read_named(focus, &self.layout, &self.name)?
        {
            gathered.files.push(file);
        }
        let judged = |path: &str| path == focus || below(path, focus).is_some();
        for file in &mut gathered.files {
            file.imported |= !judged(&file.display);
        }
        gathered.problems.retain(|problem| judged(&problem.path));
        Ok(())
    }

    /// How messages call it: as the user wrote it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder that the tree lies in, where it is one that can be written to.
    pub fn folder(&self) -> Option<&Path> {
        self.open.folder()
    }

    /// What stands before a path of the tree so that it counts from the top of the repository, if
    /// the source is a revision.
    pub(crate) fn prefix(&self) -> Option<String> {
        let folder = self.open.folder_in_repository()?;
        Some(if folder.is_empty() { String::new() } else { format!("{folder}/") })
    }

    /// The record of versions that stands in the folder of the tree, if it is there.
    pub fn lock(&self) -> Result<Option<Text>, SourceError> {
        self.open.lock()
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
        if let Some((index, text)) = self.open.find_in_roots(path, &self.layout)? {
            return Ok(found(self.layout.display(index, path), index, text));
        }
        for (index, import) in self.imports.iter().enumerate() {
            let text = match &import.at {
                Mount::Inside(folder) => self.open.find(&join(folder, path))?,
                Mount::Disk(folder) => find_on_disk(&folder.join(path))?,
            };
            if let Some(text) = text {
                let display = join(import.written.trim_end_matches('/'), path);
                return Ok(found(display, roots + index, text));
            }
        }
        Ok(None)
    }
}
