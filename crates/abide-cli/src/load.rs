//! Turns a source into a linked tree.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use abide_schema::{
    FileDecl, SourceFile, Tree, descriptor_set_from_json, descriptor_set_from_text, missing_imports,
};
use rayon::prelude::*;

use crate::error::Error;
use crate::progress::Progress;
use crate::source::{Contents, DescriptorFormat, ReadProblem, Source};

/// A linked tree, with what could not be read.
pub(crate) struct Loaded {
    /// The tree.
    pub(crate) tree: Tree,
    /// The name for messages: what the user wrote.
    pub(crate) name: String,
    /// Files that could not be read; the tree consists of the others.
    pub(crate) unreadable: Vec<ReadProblem>,
    /// What the user should know, one phrase each.
    pub(crate) notes: Vec<String>,
}

/// Reads, parses and links a source, with the files it imports.
pub(crate) fn load(source: &Source, progress: &Progress) -> Result<Loaded, Error> {
    progress.step("reading");
    Ok(linked(parsed(source, source.read()?, &[], progress)?, progress))
}

/// Loads an old tree. Files that are the same in the new one are not parsed again.
pub(crate) fn load_old(source: &Source, new: &Tree, progress: &Progress) -> Result<Loaded, Error> {
    progress.step("reading");
    let known: Vec<Arc<FileDecl>> = new.files().map(|it| Arc::clone(it.shared_decl())).collect();
    Ok(linked(parsed(source, source.read_old()?, &known, progress)?, progress))
}

fn linked(parsed: Parsed, progress: &Progress) -> Loaded {
    progress.step(format!("linking {} files", parsed.files.len()));
    parsed.link()
}

/// Loads a tree and the old one at the same time: the parts of the work that are sequential in one
/// tree leave a core to the other.
pub(crate) fn load_both(
    new: &Source,
    old: &Source,
    progress: &Progress,
) -> Result<(Loaded, Loaded), Error> {
    progress.step("reading");
    let (contents, old_contents) = rayon::join(|| new.read(), || old.read_old());
    let new = parsed(new, contents?, &[], progress)?;
    let old = parsed(old, old_contents?, &new.files, progress)?;
    progress.step(format!("linking {} files", new.files.len() + old.files.len()));
    Ok(rayon::join(|| new.link(), || old.link()))
}

/// A source whose files are parsed but not linked.
struct Parsed {
    files: Vec<Arc<FileDecl>>,
    name: String,
    unreadable: Vec<ReadProblem>,
    notes: Vec<String>,
}

impl Parsed {
    fn link(self) -> Loaded {
        let Parsed { files, name, unreadable, notes } = self;
        Loaded { tree: Tree::link(files), name, unreadable, notes }
    }
}

/// Parses what was read, except for files that are already known.
fn parsed(
    source: &Source,
    contents: Contents,
    known: &[Arc<FileDecl>],
    progress: &Progress,
) -> Result<Parsed, Error> {
    let known = Known::of(known);
    let (files, unreadable, notes) = match contents {
        Contents::Files { files, problems, notes } => {
            if let (true, Some(first)) = (files.is_empty(), problems.first()) {
                // No file could be read; the first reason says enough.
                return Err(Error::Usage(first.to_string()));
            }
            progress.step(format!("parsing {} files", files.len()));
            (parse(known.find(files)), problems, notes)
        }
        Contents::DescriptorSet { bytes, format } => {
            progress.step("reading the descriptor set");
            (descriptors(source, bytes, format)?, Vec::new(), Vec::new())
        }
    };
    let files = with_imports(source, files, &known)?;
    Ok(Parsed { files, name: source.name().to_owned(), unreadable, notes })
}

/// A file that is already parsed, or one to parse.
type Found = Result<Arc<FileDecl>, SourceFile>;

/// The files of another tree, by path.
struct Known<'t>(HashMap<&'t str, &'t Arc<FileDecl>>);

impl<'t> Known<'t> {
    fn of(files: &'t [Arc<FileDecl>]) -> Known<'t> {
        Known(files.iter().map(|file| (&*file.path, file)).collect())
    }

    /// A known file is used again if its text is the same: parsing depends on the text alone.
    fn find(&self, files: Vec<SourceFile>) -> Vec<Found> {
        let find = |file: SourceFile| match self.0.get(&*file.path) {
            Some(&known) if known.is_of(&file) => Ok(Arc::clone(known)),
            _ => Err(file),
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
    known: &Known<'_>,
) -> Result<Vec<Arc<FileDecl>>, Error> {
    let mut asked: HashSet<Box<str>> = HashSet::new();
    loop {
        let mut missing = missing_imports(&files);
        missing.retain(|path| asked.insert(path.clone()));
        let found: Vec<_> = missing.par_iter().map(|path| source.import(path)).collect();
        let found = found.into_iter().filter_map(Result::transpose);
        let found = found.collect::<Result<Vec<SourceFile>, _>>()?;
        if found.is_empty() {
            return Ok(files);
        }
        files.extend(parse(known.find(found)));
    }
}

fn descriptors(
    source: &Source,
    bytes: Vec<u8>,
    format: DescriptorFormat,
) -> Result<Vec<Arc<FileDecl>>, Error> {
    let bytes = match format {
        DescriptorFormat::Binary => Ok(bytes),
        DescriptorFormat::Json => descriptor_set_from_json(&bytes),
        DescriptorFormat::Text => descriptor_set_from_text(&bytes),
    };
    let files = bytes.and_then(|bytes| FileDecl::from_descriptor_set(&bytes.into()));
    let mut files = files.map_err(|error| Error::Descriptor {
        name: source.name().to_owned(),
        reason: error.to_string(),
    })?;
    let mut judged: Vec<(&str, &str, &mut bool)> =
        files.iter_mut().map(|file| (&*file.display, &*file.path, &mut file.imported)).collect();
    source.narrow_to_part(&mut judged);
    Ok(files.into_iter().map(Arc::new).collect())
}
