//! Findings as an editor shows them.

use abide_editor::TreeAnalysis;
use abide_lint::{Finding, Location, Severity};
use abide_schema::FileKey;
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag,
    Location as UriLocation, NumberOrString, Range,
};
use serde_json::json;

use super::encoding::{LineOffsets, PositionEncoding};
use super::project_root::EditedTree;
use super::uri::format_uri;

/// Converts the findings in a file to diagnostics.
pub(super) fn collect_diagnostics(
    tree: &EditedTree,
    analysis: &TreeAnalysis,
    key: &FileKey,
    encoding: PositionEncoding,
) -> Vec<Diagnostic> {
    let Some(file) = analysis.find_file(key) else { return Vec::new() };
    let lines = LineOffsets::new(file.decl().source_text().unwrap_or_default(), encoding);
    analysis
        .iter_findings_in(key)
        .map(|finding: &Finding| Diagnostic {
            range: find_range(analysis, &finding.location, &lines, encoding),
            severity: Some(convert_severity(finding.severity)),
            code: Some(NumberOrString::String(finding.rule.to_owned())),
            source: Some("abide".to_owned()),
            message: format_message(finding),
            related_information: collect_related(tree, analysis, finding, encoding),
            tags: collect_tags(finding),
            data: Some(json!({ "fingerprint": finding.fingerprint() })),
            ..Diagnostic::default()
        })
        .collect()
}

/// The range of a location in a file. A removed element is shown where it was.
fn find_range(
    analysis: &TreeAnalysis,
    location: &Location,
    lines: &LineOffsets<'_>,
    encoding: PositionEncoding,
) -> Range {
    match analysis.find_declaring_file(location) {
        Some((old, true)) => {
            LineOffsets::new(old.source_text().unwrap_or_default(), encoding).range(location.span)
        }
        _ => lines.range(location.span),
    }
}

fn convert_severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Note => DiagnosticSeverity::INFORMATION,
    }
}

/// The message, and below it what a report shows there, too.
fn format_message(finding: &Finding) -> String {
    let mut text = finding.message.clone();
    if let Some(change) = finding.change.as_ref().filter(|it| !it.effects.is_empty()) {
        text.push_str(&format!("\nbreaks: {}", change.effects));
    }
    for (head, more) in [("why", &finding.why), ("help", &finding.help)] {
        if let Some(more) = more {
            text.push_str(&format!("\n{head}: {more}"));
        }
    }
    text
}

fn collect_tags(finding: &Finding) -> Option<Vec<DiagnosticTag>> {
    let is_unused = finding.rule == abide_schema::ProblemKind::ImportUnused.id();
    is_unused.then(|| vec![DiagnosticTag::UNNECESSARY])
}

/// The other places that a finding names. A place of the old tree is shown in the file of today.
fn collect_related(
    tree: &EditedTree,
    analysis: &TreeAnalysis,
    finding: &Finding,
    encoding: PositionEncoding,
) -> Option<Vec<DiagnosticRelatedInformation>> {
    let old = finding.change.as_ref().and_then(|it| it.old);
    let before = old.and_then(|old| {
        let (decl, _) = analysis.find_declaring_file(&old)?;
        let text = old.span.str(decl.source_text()?);
        let first = text.lines().next().unwrap_or_default();
        build_related(tree, analysis, &old, &format!("before: {first}"), encoding)
    });
    let labels = finding
        .labels
        .iter()
        .filter_map(|it| build_related(tree, analysis, &it.location, &it.message, encoding));
    let all: Vec<DiagnosticRelatedInformation> = before.into_iter().chain(labels).collect();
    (!all.is_empty()).then_some(all)
}

/// A message about another place.
fn build_related(
    tree: &EditedTree,
    analysis: &TreeAnalysis,
    location: &Location,
    message: &str,
    encoding: PositionEncoding,
) -> Option<DiagnosticRelatedInformation> {
    let (decl, is_old) = analysis.find_declaring_file(location)?;
    let uri = format_uri(&tree.path(decl))?;
    let text = decl.source_text()?;
    let range = LineOffsets::new(text, encoding).range(location.span);
    let message = if is_old {
        let line = decl.line_index().line(location.span.start) + 1;
        format!("{message} (line {line} of the old file)")
    } else {
        message.to_owned()
    };
    Some(DiagnosticRelatedInformation { location: UriLocation { uri, range }, message })
}

/// An error that keeps a whole file from being read.
pub(super) fn build_error(range: Range, message: String) -> Diagnostic {
    Diagnostic {
        range,
        severity: Some(DiagnosticSeverity::ERROR),
        source: Some("abide".to_owned()),
        message,
        ..Diagnostic::default()
    }
}
