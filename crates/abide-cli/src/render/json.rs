//! JSON Lines: an object for each finding, then the summary.

use abide::{Finding, RULES, Report};
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::{Lines, Scene};

pub(super) fn render(report: &Report, scene: &Scene) -> Vec<u8> {
    let findings: Vec<&Finding> = scene.shown(report).collect();
    let lines: Vec<String> =
        findings.into_par_iter().map(|finding| line(&object(finding, scene))).collect();
    let summary = line(&json!({
        "kind": "summary",
        "files": report.files,
        "packages": report.packages,
        "errors": report.errors,
        "warnings": report.warnings,
        "notes": report.notes,
        "waived": report.waived,
        "accepted": report.accepted,
    }));
    (lines.concat() + &summary).into_bytes()
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}

fn object(finding: &Finding, scene: &Scene) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("kind", "finding".into());
    put("rule", finding.rule.into());
    put("severity", finding.severity.word().into());
    put("message", finding.message.as_str().into());
    if !finding.package.is_empty() {
        put("package", finding.package.as_str().into());
    }
    if !finding.element.is_empty() {
        put("element", finding.element.as_str().into());
    }
    for (key, value) in place(&scene.lines(&finding.location)) {
        put(&key, value);
    }
    let labels: Vec<Value> = finding
        .labels
        .iter()
        .map(|label| {
            let mut object = place(&scene.label_lines(label));
            object.insert("message".to_owned(), label.message.as_str().into());
            Value::Object(object)
        })
        .collect();
    if !labels.is_empty() {
        put("labels", labels.into());
    }
    let texts = [("at", &finding.at), ("why", &finding.why), ("help", &finding.help)].into_iter();
    for (key, text) in texts {
        if let Some(text) = text {
            put(key, text.as_str().into());
        }
    }
    let aliases = aliases(finding);
    if !aliases.is_empty() {
        put("aliases", aliases.into());
    }
    put("fingerprint", finding.fingerprint().into());
    Value::Object(object)
}

fn aliases(finding: &Finding) -> &'static [&'static str] {
    if finding.own_only {
        return &[];
    }
    RULES.iter().find(|rule| rule.id == finding.rule).map_or(&[], |rule| rule.aliases)
}

fn place(lines: &Lines) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("path".to_owned(), lines.path.into());
    if let Some((start, end)) = lines.range {
        for (key, position) in [("start", start), ("end", end)] {
            let value = json!({ "line": position.line, "column": position.column });
            object.insert(key.to_owned(), value);
        }
    }
    object
}
