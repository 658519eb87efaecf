//! A source to a linked tree.

use std::collections::HashMap;
use std::sync::Arc;

use abide_schema::{
    FileDecl, SourceFile, Tree, descriptor_set_from_json, descriptor_set_from_text, missing_imports,
};
use rayon::prelude::*;

use crate::error::Error;
use crate::progress::Progress;
use crate::source::{Contents, DescriptorFormat, ReadProblem, Source};

/// A tree and what happened on the way to it.
pub(crate) struct Loaded {
    /// The tree.
    pub(crate) tree: Tree,
    /// How messages call it: as the user wrote it.
    pub(crate) name: String,
    /// Files that could not be read; the tree is what the others make.
    pub(crate) unreadable: Vec<ReadProblem>,
    /// What the user should know, one phrase each.
    pub(crate) notes: Vec<String>,
}

/// Reads, parses and links a source, with the files it imports.
pub(crate) fn load(source: &Source, progress: &Progress) -> Result<Loaded, Error> {
    load_beside(source, None, progress)
}

/// The same for an old tree: what it shares with the new one is not parsed again. Of what they do
/// not share both give up the syntax, for of most files no place is asked for.
pub(crate) fn load_old(
    source: &Source,
    new: &mut Tree,
    progress: &Progress,
) -> Result<Loaded, Error> {
    let mut old = load_beside(source, Some(new), progress)?;
    old.tree.give_up_syntax();
    Ok(old)
}

fn load_beside(
    source: &Source,
    mut other: Option<&mut Tree>,
    progress: &Progress,
) -> Result<Loaded, Error> {
    progress.step("reading");
    let (files, unreadable, notes) = match source.read()? {
        Contents::Files { files, problems, notes } => {
            if files.is_empty() {
                // Nothing to judge: the first reason says enough.
                let first = problems.first();
                return Err(Error::Usage(first.map_or_else(String::new, ReadProblem::to_string)));
            }
            progress.step(format!("parsing {} files", files.len()));
            let files = Known::of(other.as_deref()).find(files);
            if let Some(other) = &mut other {
                other.give_up_syntax();
            }
            (parse(files), problems, notes)
        }
        Contents::DescriptorSet { bytes, format } => {
            progress.step("reading the descriptor set");
            (descriptors(source, bytes, format)?, Vec::new(), Vec::new())
        }
    };
    let files = with_imports(source, files, &Known::of(other.as_deref()))?;
    progress.step(format!("linking {} files", files.len()));
    Ok(Loaded { tree: Tree::link(files), name: source.name().to_owned(), unreadable, notes })
}

/// A file that is parsed, or one that has to be.
type Found = Result<Arc<FileDecl>, SourceFile>;

/// The files of another tree, by path.
struct Known<'t>(HashMap<&'t str, &'t Arc<FileDecl>>);

impl<'t> Known<'t> {
    fn of(tree: Option<&'t Tree>) -> Known<'t> {
        let files = tree.into_iter().flat_map(Tree::files);
        Known(files.map(|file| (file.path(), file.shared_decl())).collect())
    }

    /// What is declared depends on nothing but the text.
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

/// Adds what is imported and lies outside of the tree, until nothing is missing that could be
/// found.
fn with_imports(
    source: &Source,
    mut files: Vec<Arc<FileDecl>>,
    known: &Known<'_>,
) -> Result<Vec<Arc<FileDecl>>, Error> {
    let mut absent = std::collections::BTreeSet::new();
    loop {
        let mut found = Vec::new();
        for path in missing_imports(&files) {
            if absent.contains(&path) {
                continue;
            }
            match source.import(&path)? {
                Some(file) => found.push(file),
                None => {
                    absent.insert(path);
                }
            }
        }
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
