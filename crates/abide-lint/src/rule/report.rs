//! What a run found.

use super::rule::Rule;
use crate::finding::{Bump, Finding, Severity};

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
    /// The waived findings, with the severities of the policy.
    pub spared: Vec<Finding>,
}

impl Report {
    /// Keeps only some of the findings, and counts those.
    pub fn retain(&mut self, keep: impl FnMut(&Finding) -> bool) {
        self.findings.retain(keep);
        let count = |severity| self.findings.iter().filter(|it| it.severity == severity).count();
        self.errors = count(Severity::Error);
        self.warnings = count(Severity::Warning);
        self.notes = count(Severity::Note);
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
        self.retain(|_| true);
    }

    /// Adds the findings of another run over other files, whose files of instances follow those
    /// of this one: `before` is how many those are.
    pub fn append(&mut self, mut other: Report, before: u32) {
        for finding in other.findings.iter_mut().chain(&mut other.spared) {
            finding.location.renumber(before);
            finding.labels.iter_mut().for_each(|label| label.location.renumber(before));
        }
        self.findings.extend(other.findings);
        self.spared.extend(other.spared);
        self.files += other.files;
        self.waived += other.waived;
        self.accepted += other.accepted;
        self.retain(|_| true);
    }
}
