//! Compares the files that two trees of one repository import from outside of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use abide_schema::{FileDecl, Outline};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::changed::is_stored_as;
use super::outlines::OutlineCache;
use crate::source::{ImportOrigin, Source, SourceError};

/// The effect of a change on the files that are imported from outside of a tree.
pub(super) enum OutsideEffect {
    Same,
    Changed,
    /// Nobody knows what this import path held, because git does not track it.
    Untracked(String),
}

impl OutsideEffect {
    /// Compares what `imports` name, and what that imports, unless it is among the paths `inside`.
    pub(super) fn compare(
        new: &Source,
        old: &Source,
        inside: &FxHashSet<&str>,
        imports: BTreeSet<Arc<str>>,
        outlines: &OutlineCache,
    ) -> Result<OutsideEffect, SourceError> {
        let mut outside = OutsideEffect::Same;
        let mut seen = imports.clone();
        let mut open: Vec<Arc<str>> = imports.into_iter().collect();
        while !open.is_empty() {
            let compare = |path: &Arc<str>| ImportedFile::compare(new, old, path, outlines);
            let compared: Vec<Result<ImportedFile, SourceError>> =
                open.par_iter().map(compare).collect();
            open.clear();
            for imported in compared {
                let ImportedFile { outside: it, outline } = imported?;
                match it {
                    OutsideEffect::Same => {}
                    OutsideEffect::Changed => outside = it,
                    OutsideEffect::Untracked(_) => return Ok(it),
                }
                let imports = outline.iter().flat_map(|it| &it.imports);
                let imports = imports.filter(|it| !inside.contains(&***it));
                open.extend(imports.filter(|it| seen.insert(Arc::clone(it))).cloned());
            }
        }
        Ok(outside)
    }
}

/// An imported file.
struct ImportedFile {
    outside: OutsideEffect,
    /// The present blob.
    outline: Option<Arc<Outline>>,
}

impl ImportedFile {
    fn compare(
        new: &Source,
        old: &Source,
        path: &str,
        outlines: &OutlineCache,
    ) -> Result<ImportedFile, SourceError> {
        let origin = old.import_origin(path)?;
        if let ImportOrigin::Untracked(folder) = origin {
            return Ok(ImportedFile {
                outside: OutsideEffect::Untracked(folder.to_owned()),
                outline: None,
            });
        }
        let file = new.find_import(path)?;
        let is_same = match (&origin, &file) {
            (ImportOrigin::Blob(blob), Some(file)) => is_stored_as(&file.text, *blob),
            (ImportOrigin::Outside { root }, Some(file)) => file.root == *root,
            (ImportOrigin::Nowhere, None) => true,
            _ => false,
        };
        let known = match origin {
            ImportOrigin::Blob(blob) if is_same => outlines.get(blob).cloned(),
            _ => None,
        };
        let outline = known.or_else(|| Some(Arc::new(Outline::from_decl(&FileDecl::parse(file?)))));
        let outside = if is_same { OutsideEffect::Same } else { OutsideEffect::Changed };
        Ok(ImportedFile { outside, outline })
    }
}
