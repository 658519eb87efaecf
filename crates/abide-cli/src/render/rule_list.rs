//! The list of rules, with their severities in a tree.

use std::collections::BTreeSet;

use abide_lint::{
    Applied, Config, ConfigTexts, ConfigValue, Policy, Rule, RuleSetting, RuleSettings, Severity,
    rules_of,
};
use serde_json::{Value, json};

/// The rules of a tree, with the texts of its configuration.
pub(crate) struct RuleList<'a> {
    /// The policy.
    pub(crate) policy: &'a Policy,
    /// The texts, if there is a configuration.
    pub(crate) texts: Option<&'a ConfigTexts>,
}

impl RuleList<'_> {
    /// The file and line that set a severity.
    fn find_line(&self, setting: &RuleSetting) -> Option<(&str, usize)> {
        Some(self.texts?.find_line(setting.place?))
    }

    /// The other values of the configuration, each with its file and line.
    fn list_values(&self) -> Vec<(ConfigValue, &str, usize)> {
        let Some(texts) = self.texts else { return Vec::new() };
        let place = |value: ConfigValue| {
            let (path, line) = texts.find_line(value.span);
            (value, path, line)
        };
        Config::values_of(texts).into_iter().map(place).collect()
    }

    /// What sets a severity, with the line.
    fn describe(&self, setting: &RuleSetting) -> Option<String> {
        let reason = setting.reason.as_ref()?;
        let line = self.find_line(setting).map(|(_, line)| format!(", line {line}"));
        Some(format!("{reason}{}", line.unwrap_or_default()))
    }
}

pub(super) fn render_human(list: &RuleList<'_>) -> String {
    let width = rules_of(list.policy).map(|rule| rule.id.len()).max().unwrap_or(0);
    let mut out = String::new();
    for rule in rules_of(list.policy) {
        let RuleSettings { whole, parts } = list.policy.settings(rule.defaults());
        let reason = list.describe(&whole).map_or(String::new(), |it| format!(" (by {it})"));
        let fixed = rule.fix_info().is_some_and(|it| it.applied != Applied::Never);
        let fixed = if fixed { " [--fix]" } else { "" };
        let text = format!("{}{fixed}{reason}", rule.summary);
        write_row(&mut out, width, rule.id, whole.level, &text);
        for part in parts {
            let reason = list.describe(&part).unwrap_or_default();
            write_row(&mut out, width, "", part.level, &format!("by {reason}"));
        }
    }
    for (value, path, line) in list.list_values() {
        out.push_str(&format!("{} = {} (in `{path}`, line {line})\n", value.key, value.text));
    }
    out
}

fn write_row(out: &mut String, width: usize, id: &str, severity: Option<Severity>, text: &str) {
    out.push_str(&format!("{id:width$}  {:7}  {text}\n", name_level(severity)));
}

pub(super) fn render_json(list: &RuleList<'_>) -> String {
    let rules = rules_of(list.policy).map(|rule| build_rule(rule, list));
    let values = list.list_values().into_iter().map(|(value, path, line)| {
        json!({ "kind": "value", "key": value.key, "value": value.text, "path": path, "line": line })
    });
    rules.chain(values).map(|line| format!("{line}\n")).collect()
}

fn build_rule(rule: &Rule, list: &RuleList<'_>) -> Value {
    let RuleSettings { whole, parts } = list.policy.settings(rule.defaults());
    let mut line = json!({
        "kind": "rule",
        "id": rule.id,
        "summary": rule.summary,
        "group": rule.group.name(),
        "severity": name_level(rule.severity),
        "effective_severity": name_level(whole.level),
        "aliases": rule.all_aliases().collect::<BTreeSet<_>>(),
    });
    // A rule of one's own has the version of nothing.
    if !rule.since.is_empty() {
        line["since"] = rule.since.into();
    }
    if let Some(reason) = &whole.reason {
        line["severity_reason"] = reason.as_str().into();
    }
    if let Some((path, number)) = list.find_line(&whole) {
        line["severity_path"] = path.into();
        line["severity_line"] = number.into();
    }
    if let Some(remedy) = rule.fix_info() {
        line["fix"] = remedy.does.into();
        line["fix_applied"] = remedy.applied.word().into();
    }
    if !parts.is_empty() {
        line["overrides"] = parts.iter().map(|it| build_override(it, list)).collect();
    }
    line
}

/// A severity that settings give to a part of the tree, as JSON.
fn build_override(setting: &RuleSetting, list: &RuleList<'_>) -> Value {
    let reason = setting.reason.as_deref().unwrap_or_default();
    let mut part = json!({ "severity": name_level(setting.level), "reason": reason });
    if let Some((path, number)) = list.find_line(setting) {
        part["path"] = path.into();
        part["line"] = number.into();
    }
    part
}

fn name_level(severity: Option<Severity>) -> &'static str {
    severity.map_or("off", Severity::word)
}
