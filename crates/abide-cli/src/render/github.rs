//! Workflow commands of GitHub Actions, which turn each finding into an annotation.

use std::fmt::Write;

use abide_lint::{Report, Severity};
use abide_source::printable::escape_unprintable;

use super::context::{RenderContext, describe_effects, list_concerned};
use super::owner_list::describe_touched;
use super::snippets::describe_exempted;
use super::workflow_command::{escape_data, escape_property, render_touched_packages};

pub(super) fn render(report: &Report, context: &RenderContext) -> Vec<u8> {
    let mut out = String::new();
    // GitHub shows only the first annotations of a step.
    for finding in context.sort_by_impact(report) {
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        let lines = context.locate(&finding.location);
        let path = lines.full_path();
        let mut text = escape_unprintable(&finding.message);
        for label in &finding.labels {
            let at = context.locate(&label.location);
            let line = at.range.map_or(String::new(), |(start, _)| format!(":{}", start.line));
            let path = at.full_path();
            let _ = write!(
                text,
                "\n{}{line}: {}",
                escape_unprintable(&path),
                escape_unprintable(&label.message)
            );
        }
        for (since, names) in list_concerned(finding) {
            let _ = write!(text, "\n{}", escape_unprintable(&format!("{since}: {names}")));
        }
        if !finding.effects().is_empty() {
            let _ = write!(text, "\nbreaks: {}", describe_effects(finding.effects()));
        }
        for part in [&finding.why, &finding.help].into_iter().flatten() {
            text.push('\n');
            text.push_str(&escape_unprintable(part));
        }
        let _ = write!(out, "::{command} file={}", escape_property(&escape_unprintable(&path)));
        if let Some((start, end)) = lines.range {
            let _ = write!(out, ",line={},endLine={}", start.line, end.line);
            // GitHub accepts columns only if the annotation is on one line.
            if start.line == end.line {
                let _ = write!(out, ",col={},endColumn={}", start.column, end.column);
            }
        }
        let _ = writeln!(out, ",title={}::{}", escape_property(finding.rule), escape_data(&text));
    }
    if let Some(spared) = describe_exempted(report).filter(|_| !context.style.quiet) {
        let _ = writeln!(out, "::notice title=exceptions::{}", escape_data(&spared));
    }
    let touched = describe_touched(context.touched).filter(|_| !context.style.quiet);
    out.extend(touched.map(|sentence| render_touched_packages(&sentence)));
    out.into_bytes()
}
