//! The list of rules.

use abide::{RULES, Severity};
use serde_json::json;

pub(super) fn human() -> String {
    let width = RULES.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
    let rows = RULES.iter().map(|rule| {
        let severity = rule.severity.map_or("off", Severity::word);
        format!("{:width$}  {severity:7}  {}\n", rule.id, rule.summary)
    });
    rows.collect()
}

pub(super) fn json() -> String {
    let rows = RULES.iter().map(|rule| {
        let row = json!({
            "kind": "rule",
            "id": rule.id,
            "summary": rule.summary,
            "group": rule.group.name(),
            "severity": rule.severity.map_or("off", Severity::word),
            "since": rule.since,
            "aliases": rule.aliases,
        });
        format!("{row}\n")
    });
    rows.collect()
}
