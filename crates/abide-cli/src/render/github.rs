//! Workflow commands of GitHub Actions, which turn each finding into an annotation.

use std::fmt::Write;

use abide_lint::{Report, Severity};

use super::owner_list::sentence;
use super::scene::Scene;
use super::snippets::spared;
use super::workflow_command::{data, property, touched_packages};
use crate::printable::shown;

pub(super) fn render(report: &Report, scene: &Scene) -> Vec<u8> {
    let mut out = String::new();
    for finding in scene.shown(report) {
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        let lines = scene.lines(&finding.location);
        let path = lines.full_path();
        let mut text = shown(&finding.message);
        for label in &finding.labels {
            let at = scene.lines(&label.location);
            let line = at.range.map_or(String::new(), |(start, _)| format!(":{}", start.line));
            let path = at.full_path();
            let _ = write!(text, "\n{}{line}: {}", shown(&path), shown(&label.message));
        }
        for part in [&finding.why, &finding.help].into_iter().flatten() {
            text.push('\n');
            text.push_str(&shown(part));
        }
        let _ = write!(out, "::{command} file={}", property(&shown(&path)));
        if let Some((start, end)) = lines.range {
            let _ = write!(out, ",line={},endLine={}", start.line, end.line);
            // GitHub accepts columns only if the annotation is on one line.
            if start.line == end.line {
                let _ = write!(out, ",col={},endColumn={}", start.column, end.column);
            }
        }
        let _ = writeln!(out, ",title={}::{}", property(finding.rule), data(&text));
    }
    if let Some(spared) = spared(report).filter(|_| !scene.look.quiet) {
        let _ = writeln!(out, "::notice title=exceptions::{}", data(&spared));
    }
    let touched = sentence(scene.touched).filter(|_| !scene.look.quiet);
    out.extend(touched.map(|sentence| touched_packages(&sentence)));
    out.into_bytes()
}
