//! The list of rules, with their severities in a tree.

use std::collections::BTreeSet;

use abide_lint::{Applied, Policy, Rule, RuleSettings, Severity, rules_of};
use serde_json::{Value, json};

pub(super) fn render_human(policy: &Policy) -> String {
    let width = rules_of(policy).map(|rule| rule.id.len()).max().unwrap_or(0);
    let mut out = String::new();
    for rule in rules_of(policy) {
        let RuleSettings { whole: (severity, reason), parts } = policy.settings(rule.defaults());
        let reason = reason.map_or(String::new(), |reason| format!(" (by {reason})"));
        let fixed = rule.fix_info().is_some_and(|it| it.applied != Applied::Never);
        let fixed = if fixed { " [--fix]" } else { "" };
        let text = format!("{}{fixed}{reason}", rule.summary);
        write_row(&mut out, width, rule.id, severity, &text);
        for (severity, reason) in parts {
            write_row(&mut out, width, "", severity, &format!("by {reason}"));
        }
    }
    out
}

fn write_row(out: &mut String, width: usize, id: &str, severity: Option<Severity>, text: &str) {
    out.push_str(&format!("{id:width$}  {:7}  {text}\n", name_level(severity)));
}

pub(super) fn render_json(policy: &Policy) -> String {
    rules_of(policy).map(|rule| format!("{}\n", build_rule(rule, policy))).collect()
}

fn build_rule(rule: &Rule, policy: &Policy) -> Value {
    let RuleSettings { whole: (severity, reason), parts } = policy.settings(rule.defaults());
    let mut line = json!({
        "kind": "rule",
        "id": rule.id,
        "summary": rule.summary,
        "group": rule.group.name(),
        "severity": name_level(rule.severity),
        "effective_severity": name_level(severity),
        "aliases": rule.all_aliases().collect::<BTreeSet<_>>(),
    });
    // A rule of one's own has the version of nothing.
    if !rule.since.is_empty() {
        line["since"] = rule.since.into();
    }
    if let Some(reason) = reason {
        line["severity_reason"] = reason.into();
    }
    if let Some(remedy) = rule.fix_info() {
        line["fix"] = remedy.does.into();
        line["fix_applied"] = remedy.applied.word().into();
    }
    if !parts.is_empty() {
        line["overrides"] = parts.iter().map(build_override).collect();
    }
    line
}

/// A severity that settings give to a part of the tree, as JSON.
fn build_override((severity, reason): &(Option<Severity>, String)) -> Value {
    json!({ "severity": name_level(*severity), "reason": reason })
}

fn name_level(severity: Option<Severity>) -> &'static str {
    severity.map_or("off", Severity::word)
}
