//! Fixes that are proposed for findings.

use rustc_hash::FxHashMap;

use crate::finding::{Applied, Finding, Fix};

/// The names of elements that were renamed, with those that they have since.
pub(super) type Renames = FxHashMap<String, String>;

/// A fix of a finding.
#[derive(Clone, Copy)]
pub(super) struct ProposedFix<'f> {
    pub(super) finding: &'f Finding,
    pub(super) fix: &'f Fix,
}

impl<'f> ProposedFix<'f> {
    /// The name of the element without those around it.
    pub(super) fn simple_name(&self) -> Option<&'f str> {
        self.finding.element.rsplit('.').next()
    }

    /// The name of the element and the one that it gets, if it is a rename.
    pub(super) fn rename(&self) -> Option<(String, String)> {
        let name = self.fix.edits.first().filter(|_| self.fix.applied == Applied::IfCompatible)?;
        let (_, old) = self.finding.element.rsplit_once('.')?;
        Some((old.to_owned(), name.text.clone()))
    }

    /// The full name that it gives to the element, if it is a rename.
    pub(super) fn renamed(&self) -> Option<String> {
        let (scope, _) = self.finding.element.rsplit_once('.')?;
        Some(format!("{scope}.{}", self.rename()?.1))
    }
}
