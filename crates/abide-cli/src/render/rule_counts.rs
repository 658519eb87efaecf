//! Counts of findings by rule.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use abide_lint::{Report, Severity};
use serde_json::json;

/// The counts by rule and severity: errors first, and the rule that reports most.
fn count_by_rule(report: &Report) -> Vec<(Severity, usize, &'static str)> {
    let mut counts: BTreeMap<(Severity, &'static str), usize> = BTreeMap::new();
    for finding in &report.findings {
        *counts.entry((finding.severity, finding.rule)).or_default() += 1;
    }
    let mut rows: Vec<_> =
        counts.into_iter().map(|((severity, rule), count)| (severity, count, rule)).collect();
    rows.sort_by_key(|&(severity, count, rule)| (Reverse(severity), Reverse(count), rule));
    rows
}

/// A table, and the summary line below it.
pub(crate) fn count_table(report: &Report) -> String {
    let mut out = String::new();
    for (severity, count, rule) in count_by_rule(report) {
        out.push_str(&format!("{count:7}  {:7}  {rule}\n", severity.word()));
    }
    out + &super::snippets::render_summary(report)
}

/// JSON Lines: a line for each rule, then the summary.
pub(crate) fn render_counts_as_json_lines(report: &Report) -> String {
    let mut out = String::new();
    for (severity, count, rule) in count_by_rule(report) {
        let severity = severity.word();
        let line =
            json!({ "kind": "count", "rule": rule, "severity": severity, "findings": count });
        out.push_str(&format!("{line}\n"));
    }
    out + &super::json_lines::render_summary(report)
}
