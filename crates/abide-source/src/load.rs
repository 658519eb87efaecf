//! Turns a source into a linked tree.

mod changed;
mod importable;
mod outlines;
mod outside;
mod running;
mod unparsed;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use abide_instance::read_yaml_value;
use abide_lint::without_record_conflicts;
use abide_schema::{
    FileDecl, FileText, SourceFile, Tree, find_missing_imports, read_descriptor_set_json,
    read_descriptor_set_text, read_descriptor_set_value,
};
use memchr::memmem;
use rayon::prelude::*;

use crate::error::LoadError;
use crate::printable::escape_unprintable;
use crate::progress::Progress;
use crate::source::{Contents, DescriptorFormat, ReadProblem, Source, SourceError, TextCache};
use crate::write;

pub use changed::{ChangedFiles, ChangedRecords, Reached};
pub use running::LeftOut;

/// A linked tree, with what could not be read.
pub struct LoadedTree {
    /// The tree.
    pub tree: Tree,
    /// The name for messages: what the user wrote.
    pub name: String,
    /// Files that could not be read; the tree consists of the others.
    pub unreadable: Vec<ReadProblem>,
    /// Notes for the user, one phrase each.
    pub notes: Vec<String>,
    /// The texts on disk of files with a merge conflict in what they record, of which both sides
    /// count, by the names that reports use.
    pub unresolved: HashMap<Arc<str>, FileText>,
    /// If it is an API that runs: what was not compared, because only one side knows it.
    pub left_out: LeftOut,
}

/// Reads, parses and links a source, with the files it imports.
pub fn load(source: &Source, progress: &Progress) -> Result<LoadedTree, LoadError> {
    progress.begin_step("reading");
    let parsed = parse_contents(source, source.read()?, &[], progress)?;
    progress.begin_step(format!("linking {} files", parsed.files.len()));
    importable::with_declaring(source, parsed.link_loaded(Tree::link))
}

/// Loads a tree with all files of other sources, which count as imported: of a path that several
/// have, the first one's.
pub fn load_beside(
    source: &Source,
    others: &[Source],
    progress: &Progress,
) -> Result<LoadedTree, LoadError> {
    progress.begin_step("reading");
    let mut tree = parse_contents(source, source.read()?, &[], progress)?;
    let mut paths: HashSet<Arc<str>> = tree.files.iter().map(|it| Arc::clone(&it.path)).collect();
    for other in others {
        let mut contents = other.read()?;
        if let Contents::Files { files, .. } = &mut contents {
            files.iter_mut().for_each(|file| file.imported = true);
        }
        let beside = parse_contents(other, contents, &tree.files, progress)?;
        tree.files.extend(beside.files.into_iter().filter(|it| paths.insert(Arc::clone(&it.path))));
    }
    progress.begin_step(format!("linking {} files", tree.files.len()));
    Ok(tree.link_loaded(Tree::link))
}

/// Loads what a tree would be with other texts of some files, by the names that reports use; a file
/// without a text goes.
pub fn load_changed<'a>(
    source: &Source,
    tree: &Tree,
    texts: impl Iterator<Item = (&'a str, Option<&'a [u8]>)>,
    progress: &Progress,
) -> Result<LoadedTree, LoadError> {
    let texts: BTreeMap<&str, Option<&[u8]>> = texts.collect();
    let known: Vec<Arc<FileDecl>> = tree.files().map(|it| Arc::clone(it.shared_decl())).collect();
    let kept = known.iter().filter(|it| !it.imported && !texts.contains_key(&*it.display));
    let mut files: Vec<Found> = kept.map(|it| Ok(Arc::clone(it))).collect();
    for (display, text) in &texts {
        let place = source.find_place(display);
        let Some(((root, path), text)) = place.zip(*text) else { continue };
        let (path, display, text) = (path.into(), (*display).into(), text.into());
        files.push(Err(SourceFile { path, display, root, imported: false, text }));
    }
    let mut files = parse(files);
    files.sort_unstable_by(|a, b| (a.root, &a.path).cmp(&(b.root, &b.path)));
    progress.begin_step(format!("linking {} files", files.len()));
    let files = with_imports(source, files, &KnownFiles::of(&known))?;
    let name = source.name().to_owned();
    let parsed = ParsedFiles { files, name, ..ParsedFiles::default() };
    importable::with_declaring(source, parsed.link_loaded(|files| Tree::link_again(files, tree)))
}

/// Loads an old tree. Files that are the same in the new one are neither read nor parsed again.
pub fn load_old(
    old: &Source,
    new: &Source,
    tree: &Tree,
    progress: &Progress,
) -> Result<LoadedTree, LoadError> {
    let known: Vec<Arc<FileDecl>> = tree.files().map(|it| Arc::clone(it.shared_decl())).collect();
    let mut parsed = parse_old(old, new, &known, progress)?;
    if old.is_running() {
        let left_out = running::leave_out_of_old(&mut parsed.files, &known);
        parsed.name_left_out(left_out);
    }
    progress.begin_step(format!("linking {} files", parsed.files.len()));
    Ok(parsed.link_loaded(|files| Tree::link_beside(files, tree)))
}

/// Loads a tree; `None` if it has no proto file.
pub fn load_if_any(source: &Source, progress: &Progress) -> Result<Option<LoadedTree>, LoadError> {
    match load(source, progress) {
        Err(LoadError::Source(SourceError::NoProtoFiles { .. })) => Ok(None),
        loaded => loaded.map(Some),
    }
}

/// Loads a tree and the old one.
pub fn load_both(
    new: &Source,
    old: &Source,
    progress: &Progress,
) -> Result<(LoadedTree, LoadedTree), LoadError> {
    progress.begin_step("reading");
    let mut parsed_new = parse_contents(new, new.read_new(old)?, &[], progress)?;
    let mut parsed_old = parse_old(old, new, &parsed_new.files, progress)?;
    parsed_new.keep_unreadable(&parsed_old);
    let [of_old, of_new] = running::leave_out_unknown(
        (&mut parsed_old.files, old.is_running()),
        (&mut parsed_new.files, new.is_running()),
    );
    parsed_old.name_left_out(of_old);
    parsed_new.name_left_out(of_new);
    let count = parsed_new.files.len() + parsed_old.files.len();
    progress.begin_step(format!("linking {count} files"));
    let (new_tree, old_tree) = Tree::link_both(parsed_new.files.clone(), parsed_old.files.clone());
    let loaded = importable::with_declaring(new, parsed_new.link_loaded(|_| new_tree))?;
    Ok((loaded, parsed_old.link_loaded(|_| old_tree)))
}

/// Loads more old trees, each beside the one before it. What a tree shares with any of those before,
/// or with the new one, is neither read nor parsed again; and what it shares with the one before is
/// not linked again.
pub fn load_older(
    sources: &[Source],
    new: (&Source, &Tree),
    newest: Option<(&Source, &Tree)>,
    progress: &Progress,
) -> Result<Vec<LoadedTree>, LoadError> {
    let mut loaded = LoadedFiles::new(sources);
    for (source, tree) in [new].into_iter().chain(newest) {
        let files: Vec<_> = tree.files().map(|it| Arc::clone(it.shared_decl())).collect();
        loaded.add(source, &files);
    }
    let mut older: Vec<LoadedTree> = Vec::new();
    // Neighbours share the most, and the newest is loaded already.
    for source in sources.iter().rev() {
        progress.begin_step("reading the old trees");
        let contents = source.read_old(&loaded.texts)?;
        let mut parsed = parse_contents(source, contents, &loaded.files, progress)?;
        unparsed::read_as_last_parsed(source, &mut parsed);
        if source.is_running() {
            let whole: Vec<_> = new.1.files().map(|it| Arc::clone(it.shared_decl())).collect();
            let left_out = running::leave_out_of_old(&mut parsed.files, &whole);
            parsed.name_left_out(left_out);
        }
        progress.begin_step(format!("linking {} files", parsed.files.len()));
        loaded.add(source, &parsed.files);
        let beside = older.last().map(|it| &it.tree).or(newest.map(|it| it.1)).unwrap_or(new.1);
        older.push(parsed.link_loaded(|files| Tree::link_beside(files, beside)));
    }
    older.reverse();
    Ok(older)
}

/// What is loaded already while more old trees are.
struct LoadedFiles<'s> {
    files: Vec<Arc<FileDecl>>,
    texts: TextCache,
    /// One of the old trees that can find texts by their blobs.
    finder: Option<&'s Source>,
}

impl<'s> LoadedFiles<'s> {
    fn new(sources: &'s [Source]) -> LoadedFiles<'s> {
        let finder = sources.iter().find(|it| it.has_blobs());
        LoadedFiles { files: Vec::new(), texts: TextCache::default(), finder }
    }

    fn add(&mut self, source: &Source, files: &[Arc<FileDecl>]) {
        if let Some(finder) = self.finder {
            self.texts.extend(source.collect_known_texts(finder, files));
        }
        self.files.extend_from_slice(files);
    }
}

/// Reads and parses an old tree, given the files of the new one.
pub fn parse_old(
    old: &Source,
    new: &Source,
    files: &[Arc<FileDecl>],
    progress: &Progress,
) -> Result<ParsedFiles, LoadError> {
    progress.begin_step("reading the old tree");
    let contents = old.read_old(&new.collect_known_texts(old, files))?;
    let mut parsed = parse_contents(old, contents, files, progress)?;
    unparsed::read_as_last_parsed(old, &mut parsed);
    Ok(parsed)
}

/// Reads and parses a tree with the files it imports, except for files that are known.
pub fn parse_tree(
    source: &Source,
    known: &[Arc<FileDecl>],
    progress: &Progress,
) -> Result<ParsedFiles, LoadError> {
    progress.begin_step("reading");
    parse_contents(source, source.read()?, known, progress)
}

/// A source whose files are parsed but not linked.
#[derive(Default)]
pub struct ParsedFiles {
    /// Its files, with those they import.
    pub files: Vec<Arc<FileDecl>>,
    name: String,
    /// Files that could not be read.
    pub unreadable: Vec<ReadProblem>,
    notes: Vec<String>,
    unresolved: HashMap<Arc<str>, FileText>,
    left_out: LeftOut,
}

impl ParsedFiles {
    /// Takes files that cannot be read from the old tree: nothing else follows from them.
    fn keep_unreadable(&mut self, old: &ParsedFiles) {
        let unreadable: Vec<&str> =
            self.unreadable.iter().filter(|it| !it.is_absence()).map(|it| &*it.path).collect();
        let is_unreadable = |file: &&Arc<FileDecl>| {
            let at_or_below = |it: &&&str| {
                file.display
                    .strip_prefix(**it)
                    .is_some_and(|it| it.is_empty() || it.starts_with('/'))
            };
            unreadable.iter().any(|it| at_or_below(&it))
        };
        let read: HashSet<&str> = self.files.iter().map(|it| &*it.display).collect();
        let kept = old.files.iter().filter(|it| !it.imported && !read.contains(&*it.display));
        let kept: Vec<Arc<FileDecl>> = kept.filter(is_unreadable).cloned().collect();
        self.files.extend(kept);
    }

    /// Notes what is not compared, because only one side knows it.
    fn name_left_out(&mut self, left_out: LeftOut) {
        self.notes.extend(left_out.describe(&self.name));
        self.left_out = left_out;
    }

    fn link_loaded(self, link: impl FnOnce(Vec<Arc<FileDecl>>) -> Tree) -> LoadedTree {
        let ParsedFiles { files, name, unreadable, notes, unresolved, left_out } = self;
        LoadedTree { tree: link(files), name, unreadable, notes, unresolved, left_out }
    }
}

/// Parses what was read, except for files that are already known.
fn parse_contents(
    source: &Source,
    contents: Contents,
    known: &[Arc<FileDecl>],
    progress: &Progress,
) -> Result<ParsedFiles, LoadError> {
    let known = KnownFiles::of(known);
    let mut unresolved = HashMap::new();
    let (files, unreadable, notes) = match contents {
        Contents::Files { mut files, problems, mut notes } => {
            unresolved = resolve_records(&mut files);
            let mut paths: Vec<&Arc<str>> = unresolved.keys().collect();
            paths.sort_unstable();
            notes.extend(paths.into_iter().map(|path| {
                format!(
                    "`{}` has a merge conflict in what it records; both sides count until `abide \
                     bump --write` resolves it",
                    escape_unprintable(path)
                )
            }));
            if let (true, Some(first)) = (files.is_empty(), problems.first()) {
                // No file could be read; the first reason says enough.
                return Err(LoadError::Unreadable(first.clone()));
            }
            progress.begin_step(format!("parsing {} files", files.len()));
            (parse(known.find(files)), problems, notes)
        }
        Contents::DescriptorSet { bytes, format, notes } => {
            progress.begin_step("reading the descriptor set");
            (read_descriptors(source, bytes, format)?, Vec::new(), notes)
        }
    };
    let mut notes = notes;
    if source.folder().is_some_and(write::is_half_written) {
        notes.push(format!(
            "`{}`: a run that wrote to this tree was interrupted, or goes on, so a part of it may be \
             old and a part new; the next command that writes to it undoes an interrupted run",
            source.name()
        ));
    }
    let files = with_imports(source, files, &known)?;
    let (name, left_out) = (source.name().to_owned(), LeftOut::default());
    Ok(ParsedFiles { files, name, unreadable, notes, unresolved, left_out })
}

/// Resolves merge conflicts in what files record of their versions. Returns the texts as they were.
fn resolve_records(files: &mut [SourceFile]) -> HashMap<Arc<str>, FileText> {
    let resolved = files.par_iter_mut().filter_map(|file| {
        memmem::find(&file.text, b"<<<<<<<")?;
        let text = without_record_conflicts(&file.text)?;
        Some((Arc::clone(&file.display), std::mem::replace(&mut file.text, text.into())))
    });
    resolved.collect()
}

/// A file that is already parsed, or one to parse.
type Found = Result<Arc<FileDecl>, SourceFile>;

/// The files of other trees, by path.
struct KnownFiles<'t>(HashMap<&'t str, Vec<&'t Arc<FileDecl>>>);

impl<'t> KnownFiles<'t> {
    fn of(files: &'t [Arc<FileDecl>]) -> KnownFiles<'t> {
        let mut by_path: HashMap<&str, Vec<&Arc<FileDecl>>> = HashMap::new();
        for file in files {
            let same_path = by_path.entry(&*file.path).or_default();
            // Most trees share most files.
            if !same_path.iter().any(|it| Arc::ptr_eq(it, file)) {
                same_path.push(file);
            }
        }
        KnownFiles(by_path)
    }

    /// A known file is used again if its text is the same: parsing depends on the text alone.
    fn find(&self, files: Vec<SourceFile>) -> Vec<Found> {
        let find = |file: SourceFile| {
            let same_path = self.0.get(&*file.path).map(Vec::as_slice).unwrap_or_default();
            let known = same_path.iter().find(|it| it.is_of(&file));
            known.map(|it| Arc::clone(it)).ok_or(file)
        };
        files.into_par_iter().map(find).collect()
    }
}

fn parse(files: Vec<Found>) -> Vec<Arc<FileDecl>> {
    let parse = |file: Found| file.unwrap_or_else(|file| Arc::new(FileDecl::parse(file)));
    files.into_par_iter().map(parse).collect()
}

/// Adds imported files from outside the tree, until every import is found or known to be missing.
fn with_imports(
    source: &Source,
    mut files: Vec<Arc<FileDecl>>,
    known: &KnownFiles<'_>,
) -> Result<Vec<Arc<FileDecl>>, LoadError> {
    let mut asked: HashSet<Box<str>> = HashSet::new();
    loop {
        let mut missing = find_missing_imports(&files);
        missing.retain(|path| asked.insert(path.clone()));
        let found: Vec<_> = missing.par_iter().map(|path| source.find_import(path)).collect();
        let found = found.into_iter().filter_map(Result::transpose);
        let found = found.collect::<Result<Vec<SourceFile>, _>>()?;
        if found.is_empty() {
            return Ok(files);
        }
        files.extend(parse(known.find(found)));
    }
}

fn read_descriptors(
    source: &Source,
    bytes: Vec<u8>,
    format: DescriptorFormat,
) -> Result<Vec<Arc<FileDecl>>, LoadError> {
    let bytes = match format {
        DescriptorFormat::Binary => Ok(bytes),
        DescriptorFormat::Json => read_descriptor_set_json(&bytes),
        DescriptorFormat::Text => read_descriptor_set_text(&bytes),
        DescriptorFormat::Yaml => {
            read_descriptor_set_value(&read_yaml_value(&String::from_utf8_lossy(&bytes)))
        }
    };
    let files = bytes.and_then(|bytes| FileDecl::from_descriptor_set(&bytes.into()));
    let mut files =
        files.map_err(|error| LoadError::Descriptors { name: source.name().to_owned(), error })?;
    let mut judged: Vec<(&str, &str, &mut bool)> =
        files.iter_mut().map(|file| (&*file.display, &*file.path, &mut file.imported)).collect();
    source.narrow_to_part(&mut judged);
    Ok(files.into_iter().map(Arc::new).collect())
}
