//! The tree that a command would leave behind, judged before anything is written.

use std::collections::BTreeMap;

use abide_lint::{Finding, Lock, Options, Records, Report, new_errors};
use abide_schema::Tree;
use abide_source::{LoadedTree, Progress, Source, load_changed};

use super::file_changes::Changes;
use super::preconditions::render_findings_since;
use crate::args::Global;
use crate::error::Error;
use crate::settings::{Settings, today};
use crate::terminal::{eprint_block, use_error_color};

/// A planned change of a tree, and the tree.
#[derive(Clone, Copy)]
pub(super) struct PlannedChange<'a> {
    pub(super) global: &'a Global,
    pub(super) settings: &'a Settings,
    pub(super) source: &'a Source,
    pub(super) loaded: &'a LoadedTree,
    pub(super) lock: Option<&'a Lock>,
    pub(super) progress: &'a Progress,
}

/// The tree that changes of files would leave behind.
pub(super) struct PredictedTree {
    pub(super) tree: Tree,
    /// The errors that the tree does not have now.
    pub(super) errors: Report,
}

impl PlannedChange<'_> {
    /// Judges the tree that changes would leave behind. `sources` names, for files that are made,
    /// those that they are made from.
    pub(super) fn predict(
        self,
        changes: &Changes<'_>,
        sources: &BTreeMap<String, &str>,
    ) -> Result<PredictedTree, Error> {
        let protos = changes.iter().filter(|(path, _)| path.ends_with(".proto"));
        let texts = protos.map(|(path, change)| (path.as_str(), change.new));
        let tree = load_changed(self.source, &self.loaded.tree, texts, self.progress)?.tree;
        let accepted = self.settings.read_accepted(use_error_color(self.global))?;
        let options = Options {
            accepted: accepted.as_ref().map(|(accepted, _)| accepted),
            records: Records {
                version_in: self.settings.config.version_in,
                lock: self.lock,
                ..Records::default()
            },
            ..Options::on(self.global.as_of.unwrap_or_else(today))
        };
        let errors =
            new_errors(&self.loaded.tree, &tree, &self.settings.config.policy, options, &|path| {
                sources.get(path).copied()
            });
        Ok(PredictedTree { tree, errors })
    }

    /// Shows the errors that keep the changes from being made.
    pub(super) fn report_errors(self, outlook: &PredictedTree) {
        if !outlook.errors.findings.is_empty() {
            let old = Some(&self.loaded.tree);
            eprint_block(&render_findings_since(self.global, &outlook.tree, old, &outlook.errors));
        }
    }

    /// The file that an error is in, by the name that reports use.
    pub(super) fn locate<'t>(self, outlook: &'t PredictedTree, error: &Finding) -> Option<&'t str>
    where
        Self: 't,
    {
        let new = error.location.place().map(|it| (&outlook.tree, it));
        let (tree, place) = match new {
            Some(found) => found,
            None => (&self.loaded.tree, error.location.old_place()?),
        };
        Some(&tree.file(place.file).decl().display)
    }
}
