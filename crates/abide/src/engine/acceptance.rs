//! Findings that are accepted, and lines that accept nothing.

use crate::accepted::Accepted;
use crate::finding::{Finding, Severity};
use crate::location::Location;
use crate::rules;

/// Removes accepted findings, and reports lines that accept nothing although this run could have
/// matched them.
pub(super) fn accept(
    accepted: &Accepted,
    findings: &mut Vec<Finding>,
    could_match: &dyn Fn(&str) -> bool,
) -> usize {
    let lines = accepted.lines();
    let mut used = vec![false; lines.len()];
    let before = findings.len();
    findings.retain(|finding| {
        // Findings of policy rules can be accepted too.
        let mut found = false;
        for line in accepted.lines_of(finding) {
            used[line] = true;
            found = true;
        }
        !found
    });
    let count = before - findings.len();
    let stale = lines.iter().zip(used).filter(|(line, used)| !used && could_match(&line.rule));
    for (line, _) in stale {
        let message =
            format!("accepted finding of `{}` in `{}` no longer occurs", line.rule, line.element);
        let location = Location::accepted(line.span);
        let mut finding =
            Finding::new(rules::ACCEPTED_STALE.id, location, "", &line.element, message);
        finding.severity = Severity::Note;
        finding.help("delete the line, or run `abide check --accept`").fact(&line.fingerprint);
        findings.push(finding);
    }
    count
}
