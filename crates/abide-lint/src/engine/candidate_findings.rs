//! Findings in candidates, which nobody may edit: what their sources have too is reported there.

use std::collections::BTreeSet;

use abide_schema::{File, ProblemKind};
use abide_upgrade::{FileRole, ImportOrder};

use crate::finding::Finding;
use crate::rule::Context;

/// What the sources of candidates were found to have.
pub(super) struct SourceFindings {
    /// By rule and element.
    found: BTreeSet<(&'static str, String)>,
}

impl SourceFindings {
    /// Collects them before waivers take any away: what is waived at the source is not reported at
    /// its candidate either. `None` if no candidate has a finding.
    pub(super) fn of(context: &Context<'_>, findings: &[Finding]) -> Option<SourceFindings> {
        if !findings.iter().any(|it| candidate_of(context, it).is_some()) {
            return None;
        }
        let elsewhere = findings.iter().filter(|it| candidate_of(context, it).is_none());
        Some(SourceFindings { found: elsewhere.map(|it| (it.rule, it.element.clone())).collect() })
    }

    /// Drops the findings in candidates that their sources have too.
    pub(super) fn drop_repeated(&self, context: &Context<'_>, findings: &mut Vec<Finding>) {
        let sources = context.candidate_sources();
        findings.retain(|finding| {
            let Some(candidate) = candidate_of(context, finding) else { return true };
            let is_repeated = || {
                let element = sources.find_source_name(&finding.element)?;
                Some(self.found.contains(&(finding.rule, element.to_owned())))
            };
            // Envoy's generator left imports in candidates that nothing used, and only the release
            // removes them.
            let is_made = finding.rule == ProblemKind::ImportUnused.id()
                && context.policy.upgrade.imports == ImportOrder::Computed
                && sources.find_source_file(candidate.id).is_some();
            !is_made && is_repeated() != Some(true)
        });
    }
}

/// The candidate in which a finding is that is not about a change.
fn candidate_of<'t>(context: &Context<'t>, finding: &Finding) -> Option<File<'t>> {
    let place = finding.location.place().filter(|_| finding.change.is_none())?;
    let file = context.tree.file(place.file);
    (context.standings().get(file) == FileRole::Candidate).then_some(file)
}
