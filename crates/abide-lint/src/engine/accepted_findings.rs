//! Findings that are accepted, and lines that accept nothing.

use std::collections::BTreeSet;

use crate::finding::{Applied, ExceptionKind, Finding, Fix, FixEdit, Location, Severity};
use crate::inputs::Accepted;
use crate::rules;

/// The reason of every line of `abide.accepted`.
const RECORDED: &str = "it is recorded in `abide.accepted`";

/// Removes accepted findings. Returns these, and findings about lines that accept nothing although
/// this run could have matched them.
pub(super) fn accept(
    accepted: &Accepted,
    findings: &mut Vec<Finding>,
    could_match: &dyn Fn(&str) -> bool,
) -> (Vec<Finding>, Vec<Finding>) {
    let lines = accepted.lines();
    let mut used = vec![false; lines.len()];
    // Findings of policy rules can be accepted too.
    let taken = findings.extract_if(.., |finding| {
        let lines: Vec<usize> = accepted.lines_of(finding).collect();
        for line in &lines {
            used[*line] = true;
            finding.except(ExceptionKind::Accepted, RECORDED);
        }
        !lines.is_empty()
    });
    let taken = taken.collect();
    let stale = lines.iter().zip(used).filter(|(line, used)| !used && could_match(&line.rule));
    let left: BTreeSet<(&str, &str)> =
        findings.iter().map(|it| (it.rule, it.element.as_str())).collect();
    let about = stale.map(|(line, _)| {
        let (rule, element) = (&line.rule, &line.element);
        let is_other = left.contains(&(rule.as_str(), element.as_str()));
        let message = match is_other {
            true => format!("the accepted finding of `{rule}` in `{element}` is another one now"),
            false => format!("accepted finding of `{rule}` in `{element}` no longer occurs"),
        };
        let location = Location::accepted(line.span);
        let mut finding =
            Finding::new(rules::ACCEPTED_STALE.id, location, "", &line.element, message);
        finding.severity = Severity::Note;
        finding.help("delete the line, or run `abide check --accept`").fact(&line.fingerprint);
        if is_other {
            finding.why(
                "its line has another fingerprint: the change is another one, or an earlier version \
                 of Abide wrote the line",
            );
        }
        finding.fix(Some(Fix {
            title: "delete the line".to_owned(),
            applied: Applied::Always,
            edits: vec![FixEdit { location: Location::accepted(line.line), text: String::new() }],
        }));
        finding
    });
    let about = about.collect();
    (taken, about)
}
