//! A GitLab Code Quality report: a JSON array with an object per finding.

use std::collections::BTreeMap;

use abide_lint::{PackageOwners, Report, Severity};
use serde_json::{Value, json};

use super::owner_list::sentence;
use super::scene::{Scene, full_path};
use super::snippets::spared;
use crate::printable::shown;

pub(super) fn render(report: &Report, scene: &Scene) -> Vec<u8> {
    // GitLab merges findings with the same fingerprint.
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let findings = scene.shown(report).map(|finding| {
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
        let lines = scene.lines(&finding.location);
        let (begin, end) = lines.range.map_or((1, 1), |(start, end)| (start.line, end.line));
        json!({
            "description": shown(&finding.message),
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
    if !scene.look.quiet {
        findings.extend(scene.touched.iter().filter_map(touched));
    }
    findings.extend(exceptions(report, scene).filter(|_| !scene.look.quiet));
    format!("{:#}\n", Value::Array(findings)).into_bytes()
}

/// Counts the waived and accepted findings, as an entry without a rule at the first file.
fn exceptions(report: &Report, scene: &Scene) -> Option<Value> {
    let first = scene.tree.files().find(|it| it.is_judged())?;
    Some(json!({
        "description": spared(report)?,
        "check_name": "exceptions",
        "fingerprint": "exceptions",
        "severity": "info",
        "location": {
            "path": full_path(scene.prefix, &first.decl().display),
            "lines": { "begin": 1, "end": 1 },
        },
    }))
}

/// A package that the change touches, as an entry without a rule at the first of its files.
fn touched(package: &PackageOwners) -> Option<Value> {
    let (path, _) = package.files.first_key_value()?;
    Some(json!({
        "description": sentence(std::slice::from_ref(package))?,
        "check_name": "touched packages",
        "fingerprint": format!("touched:{}", package.package),
        "severity": "info",
        "location": { "path": path, "lines": { "begin": 1, "end": 1 } },
    }))
}
