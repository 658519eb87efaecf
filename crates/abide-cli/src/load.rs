//! A source to a linked tree.

use std::sync::Arc;

use abide_schema::{
    FileDecl, Tree, descriptor_set_from_json, descriptor_set_from_text, missing_imports,
};
use rayon::prelude::*;

use crate::error::Error;
use crate::progress::Progress;
use crate::source::{Contents, DescriptorFormat, ReadProblem, Source};

/// A tree and what happened on the way to it.
pub(crate) struct Loaded {
    /// The tree.
    pub(crate) tree: Tree,
    /// Files that could not be read; the tree is what the others make.
    pub(crate) unreadable: Vec<ReadProblem>,
    /// What the user should know, one phrase each.
    pub(crate) notes: Vec<String>,
}

/// Reads, parses and links a source, with the files it imports.
pub(crate) fn load(source: &Source, progress: &Progress) -> Result<Loaded, Error> {
    progress.step("reading");
    let (files, unreadable, notes) = match source.read()? {
        Contents::Files { files, problems, notes } => {
            if files.is_empty() {
                // Nothing to judge: the first reason says enough.
                let first = problems.first();
                return Err(Error::Usage(first.map_or_else(String::new, ReadProblem::to_string)));
            }
            progress.step(format!("parsing {} files", files.len()));
            (parse(files), problems, notes)
        }
        Contents::DescriptorSet { bytes, format } => {
            progress.step("reading the descriptor set");
            (descriptors(source, bytes, format)?, Vec::new(), Vec::new())
        }
    };
    let files = with_imports(source, files)?;
    progress.step(format!("linking {} files", files.len()));
    Ok(Loaded { tree: Tree::link(files), unreadable, notes })
}

fn parse(files: Vec<abide_schema::SourceFile>) -> Vec<Arc<FileDecl>> {
    files.into_par_iter().map(|file| Arc::new(FileDecl::parse(file))).collect()
}

/// Adds what is imported and lies outside of the tree, until nothing is missing that could be
/// found.
fn with_imports(
    source: &Source,
    mut files: Vec<Arc<FileDecl>>,
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
        files.extend(parse(found));
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
    let files = files.map_err(|error| Error::Descriptor {
        name: source.name().to_owned(),
        reason: error.to_string(),
    })?;
    Ok(files.into_iter().map(Arc::new).collect())
}
