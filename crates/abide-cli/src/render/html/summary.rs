//! The head of the page: where the report comes from, and its findings by rule, package, owner and
//! weight.

use std::collections::BTreeMap;
use std::fmt::Write;

use abide_lint::{Finding, Impact, Report, Severity};

use super::escape_name;
use crate::render::context::RenderContext;

/// Says what was judged, against what, when, and by which version.
pub(super) fn render_origin(context: &RenderContext) -> String {
    let Some(origin) = context.origin else { return String::new() };
    let mut out = format!("<p id=\"origin\"><code>{}</code>", escape_name(&origin.source));
    for (at, old) in origin.old.iter().enumerate() {
        let word = if at == 0 { "compared with" } else { "and" };
        let _ = write!(out, " {word} <code>{}</code>", escape_name(old));
    }
    let (day, version) = (&origin.as_of, env!("CARGO_PKG_VERSION"));
    let _ = writeln!(out, ", as of <time>{day}</time>, by Abide {version}</p>");
    out
}

/// How often something is found, by severity.
#[derive(Clone, Copy, Default)]
struct SeverityCounts {
    errors: usize,
    warnings: usize,
    notes: usize,
}

impl SeverityCounts {
    fn add(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Note => self.notes += 1,
        }
    }
}

/// The tables of the findings by rule, package, owner and weight; none for an empty report.
pub(super) fn render_tables(report: &Report, context: &RenderContext) -> String {
    let findings: Vec<&Finding> = context.visible_findings(report).collect();
    if findings.is_empty() {
        return String::new();
    }
    let mut out = String::from("<div id=\"tables\">\n");
    write_table(&mut out, "Rule", &findings, |it| vec![it.rule.to_owned()]);
    write_table(&mut out, "Package", &findings, |it| vec![it.package.clone()]);
    if !context.touched.is_empty() {
        write_table(&mut out, "Owner", &findings, |it| {
            let owners = context.find_owners(it);
            let names: Vec<String> = owners.into_iter().map(str::to_owned).collect();
            if names.is_empty() { vec!["no owner".to_owned()] } else { names }
        });
    }
    if findings.iter().any(|it| it.change.is_some()) {
        write_table(&mut out, "Breaks", &findings, |it| vec![name_impact(it).to_owned()]);
    }
    out.push_str("</div>\n");
    out
}

/// Whom a finding breaks, in words.
fn name_impact(finding: &Finding) -> &'static str {
    match Impact::of(finding) {
        _ if finding.change.is_none() => "nobody: no change",
        Impact::Clients => "old clients and stored values",
        Impact::Source => "code that is compiled again",
        Impact::Options => "nobody, or little",
    }
}

/// A table of findings by a key, the most errors first.
fn write_table(
    out: &mut String,
    title: &str,
    findings: &[&Finding],
    keys_of: impl Fn(&Finding) -> Vec<String>,
) {
    let mut counts: BTreeMap<String, SeverityCounts> = BTreeMap::new();
    for finding in findings {
        for key in keys_of(finding) {
            counts.entry(key).or_default().add(finding.severity);
        }
    }
    let mut rows: Vec<(String, SeverityCounts)> = counts.into_iter().collect();
    rows.sort_by_key(|(_, it)| std::cmp::Reverse((it.errors, it.warnings, it.notes)));
    let _ = writeln!(
        out,
        "<details><summary>By {} ({})</summary>\n<table><thead><tr><th>{title}</th>\
         <th>errors</th><th>warnings</th><th>notes</th></tr></thead><tbody>",
        title.to_lowercase(),
        rows.len()
    );
    for (key, count) in rows {
        let name = if key.is_empty() { "no package".to_owned() } else { escape_name(&key) };
        let SeverityCounts { errors, warnings, notes } = count;
        let _ = writeln!(
            out,
            "<tr><td><bdi>{name}</bdi></td><td>{errors}</td><td>{warnings}</td><td>{notes}</td></tr>"
        );
    }
    out.push_str("</tbody></table></details>\n");
}
