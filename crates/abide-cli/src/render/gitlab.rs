//! A GitLab Code Quality report: a JSON array with an object per finding.

use std::collections::BTreeMap;

use abide_lint::{PackageOwners, Report, Severity};
use abide_source::printable::escape_unprintable;
use serde_json::{Value, json};

use super::context::{RenderContext, full_path, list_concerned};
use super::owner_list::describe_touched;
use super::snippets::describe_exempted;

pub(super) fn render(report: &Report, context: &RenderContext) -> Vec<u8> {
    // GitLab merges findings with the same fingerprint.
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let findings = context.visible_findings(report).map(|finding| {
        let fingerprint = finding.fingerprint();
        let before = seen.entry(fingerprint.clone()).or_default();
        *before += 1;
        let fingerprint = match before {
            1 => fingerprint,
            more => format!("{fingerprint}-{more}"),
        };
        let severity = match finding.severity {
            Severity::Error => "major",
            Severity::Warning => "minor",
            Severity::Note => "info",
        };
        let mut description = finding.message.clone();
        for (head, names) in list_concerned(finding) {
            description += &format!(" ({head}: {names})");
        }
        let lines = context.locate(&finding.location);
        let (begin, end) = lines.range.map_or((1, 1), |(start, end)| (start.line, end.line));
        json!({
            "description": escape_unprintable(&description),
            "check_name": finding.rule,
            "fingerprint": fingerprint,
            "severity": severity,
            "location": {
                "path": lines.full_path(),
                "lines": { "begin": begin, "end": end },
            },
        })
    });
    let mut findings: Vec<Value> = findings.collect();
    if !context.style.quiet {
        findings.extend(context.touched.iter().filter_map(build_touched));
    }
    findings.extend(build_exceptions(report, context).filter(|_| !context.style.quiet));
    format!("{:#}\n", Value::Array(findings)).into_bytes()
}

/// Counts the waived and accepted findings, as an entry without a rule at the first file.
fn build_exceptions(report: &Report, context: &RenderContext) -> Option<Value> {
    let first = context.tree.files().find(|it| it.is_judged())?;
    Some(json!({
        "description": describe_exempted(report)?,
        "check_name": "exceptions",
        "fingerprint": "exceptions",
        "severity": "info",
        "location": {
            "path": full_path(context.prefix, &first.decl().display),
            "lines": { "begin": 1, "end": 1 },
        },
    }))
}

/// A package that the change touches, as an entry without a rule at the first of its files.
fn build_touched(package: &PackageOwners) -> Option<Value> {
    let (path, _) = package.files.first_key_value()?;
    Some(json!({
        "description": describe_touched(std::slice::from_ref(package))?,
        "check_name": "touched packages",
        "fingerprint": format!("touched:{}", package.package),
        "severity": "info",
        "location": { "path": path, "lines": { "begin": 1, "end": 1 } },
    }))
}
