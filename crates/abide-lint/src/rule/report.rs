//! What a run found.

use super::rule::Rule;
use crate::finding::{Bump, ExceptionKind, Finding, Severity};

/// The result of a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The findings, sorted by path, place and rule.
    pub findings: Vec<Finding>,
    /// How many files were checked.
    pub files: usize,
    /// How many packages were checked.
    pub packages: usize,
    /// How many findings are errors.
    pub errors: usize,
    /// How many findings are warnings.
    pub warnings: usize,
    /// How many findings are notes.
    pub notes: usize,
    /// How many findings were waived. A break among them still counts for the
    /// bump.
    pub waived: usize,
    /// How many findings were accepted before.
    pub accepted: usize,
    /// The highest bump that any package needs, if there is a baseline. A refused
    /// break is a major. A break that a waiver, the policy or `abide.accepted`
    /// allows is a minor, and so is a break in an alpha or beta.
    pub required_bump: Option<Bump>,
    /// True if only a waiver or `abide.accepted` keeps it from being a major.
    pub waives_breaks: bool,
    /// True if findings may depend on every file of the tree: on what a name that is not found
    /// may mean, or on how rare the shape of a renamed type is.
    pub depends_on_everything: bool,
    /// The packages that were not judged, because a file of theirs does not parse, in the order of
    /// their names; the empty name stands for files without a package.
    pub not_judged: Vec<String>,
    /// Services that run, and that the tree does not declare.
    pub unknown_services: Vec<String>,
    /// Packages of the tree of which what runs shows nothing.
    pub hidden_packages: Vec<String>,
    /// The rules that the configuration declares.
    pub own_rules: Vec<&'static Rule>,
    /// The findings under an exception: waived and accepted ones, with the severities of the
    /// policy.
    pub exempted: Vec<Finding>,
}

impl Report {
    /// Keeps only some of the findings, and counts those.
    pub fn retain(&mut self, mut keep: impl FnMut(&Finding) -> bool) {
        self.findings.retain(&mut keep);
        self.exempted.retain(keep);
        self.count();
    }

    /// Counts the findings anew.
    pub(crate) fn count(&mut self) {
        let count = |severity| self.findings.iter().filter(|it| it.severity == severity).count();
        self.errors = count(Severity::Error);
        self.warnings = count(Severity::Warning);
        self.notes = count(Severity::Note);
        let is_accepted = |it: &&Finding| {
            it.exception.as_ref().is_some_and(|it| it.kind == ExceptionKind::Accepted)
        };
        self.accepted = self.exempted.iter().filter(is_accepted).count();
        self.waived = self.exempted.len() - self.accepted;
    }

    /// Gives the findings of a rule another severity, for a reason.
    pub fn reweigh(&mut self, rule: &Rule, reason: &str, weigh: impl Fn(Severity) -> Severity) {
        for finding in self.findings.iter_mut().filter(|it| it.rule == rule.id) {
            let severity = weigh(finding.severity);
            if severity != finding.severity {
                finding.severity = severity;
                finding.severity_reason = Some(reason.to_owned());
            }
        }
        self.count();
    }

    /// Adds the findings of another run over other files, whose files of instances follow those
    /// of this one: `before` is how many those are.
    pub fn append(&mut self, mut other: Report, before: u32) {
        for finding in other.findings.iter_mut().chain(&mut other.exempted) {
            finding.location.renumber(before);
            finding.labels.iter_mut().for_each(|label| label.location.renumber(before));
        }
        self.findings.extend(other.findings);
        self.exempted.extend(other.exempted);
        self.files += other.files;
        self.count();
    }
}
