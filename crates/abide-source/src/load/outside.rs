//! Compares the files that two trees of one repository import from outside of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use abide_schema::{FileDecl, Outline};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::changed::stores;
use super::outlines::Outlines;
use crate::source::{Origin, Source, SourceError};

/// The effect of a change on the files that are imported from outside of a tree.
pub(super) enum Outside {
    Same,
    Changed,
    /// Nobody knows what this import path held, because git does not track it.
    Untracked(String),
}

impl Outside {
    /// Compares what `imports` name, and what that imports, unless it is among the paths `inside`.
    pub(super) fn compare(
        new: &Source,
        old: &Source,
        inside: &FxHashSet<&str>,
        imports: BTreeSet<Arc<str>>,
        outlines: &Outlines,
    ) -> Result<Outside, SourceError> {
        let mut outside = Outside::Same;
        let mut seen = imports.clone();
        let mut open: Vec<Arc<str>> = imports.into_iter().collect();
        while !open.is_empty() {
            let compare = |path: &Arc<str>| Imported::compare(new, old, path, outlines);
            let compared: Vec<Result<Imported, SourceError>> =
                open.par_iter().map(compare).collect();
            open.clear();
            for imported in compared {
                let Imported { outside: it, outline } = imported?;
                match it {
                    Outside::Same => {}
                    Outside::Changed => outside = it,
                    Outside::Untracked(_) => return Ok(it),
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
struct Imported {
    outside: Outside,
    /// The present blob.
    outline: Option<Arc<Outline>>,
}

impl Imported {
    fn compare(
        new: &Source,
        old: &Source,
        path: &str,
        outlines: &Outlines,
    ) -> Result<Imported, SourceError> {
        let origin = old.import_origin(path)?;
        if let Origin::Untracked(folder) = origin {
            return Ok(Imported { outside: Outside::Untracked(folder.to_owned()), outline: None });
        }
        let file = new.import(path)?;
        let is_same = match (&origin, &file) {
            (Origin::Blob(blob), Some(file)) => stores(&file.text, *blob),
            (Origin::Outside { root }, Some(file)) => file.root == *root,
            (Origin::Nowhere, None) => true,
            _ => false,
        };
        let known = match origin {
            Origin::Blob(blob) if is_same => outlines.get(blob).cloned(),
            _ => None,
        };
        let outline = known.or_else(|| Some(Arc::new(Outline::from_decl(&FileDecl::parse(file?)))));
        let outside = if is_same { Outside::Same } else { Outside::Changed };
        Ok(Imported { outside, outline })
    }
}
