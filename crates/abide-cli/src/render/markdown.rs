//! A changelog by package, for release notes.

use std::collections::BTreeMap;
use std::fmt::Write;

use abide::{Bump, ChangeFacts, Finding, Report, Severity};

use super::scene::Scene;
use crate::printable::shown;

pub(super) fn render(report: &Report, scene: &Scene) -> Vec<u8> {
    let mut out = String::from("# API changes\n");
    if let Some(bump) = report.required_bump {
        let _ = write!(out, "\n{}\n", needed(bump));
    }
    let mut packages: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in scene.by_weight(report) {
        packages.entry(&finding.package).or_default().push(finding);
    }
    if packages.is_empty() {
        out.push_str("\nNothing changed.\n");
    }
    for (package, findings) in packages {
        let title = match package {
            "" => "Files without a package".to_owned(),
            name => code(name),
        };
        let _ = write!(out, "\n## {title}\n");
        let part = |wanted: Part| -> Vec<&Finding> {
            findings.iter().copied().filter(|finding| Part::of(finding) == wanted).collect()
        };
        for wanted in [Part::Breaking, Part::Compatible, Part::Policy] {
            section(&mut out, wanted.title(), &part(wanted), scene);
        }
    }
    out.into_bytes()
}

/// A section of a package.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Breaking,
    Compatible,
    Policy,
}

impl Part {
    fn of(finding: &Finding) -> Part {
        match &finding.change {
            None => Part::Policy,
            Some(change) if change.effects.breaks_backward() => Part::Breaking,
            Some(_) if finding.severity == Severity::Error => Part::Breaking,
            Some(_) => Part::Compatible,
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Part::Breaking => "Breaking changes",
            Part::Compatible => "Compatible changes",
            Part::Policy => "Other findings",
        }
    }
}

fn needed(bump: Bump) -> String {
    match bump {
        Bump::None => "No bump is required.".to_owned(),
        bump => format!("Required bump: **{bump}**."),
    }
}

fn section(out: &mut String, title: &str, findings: &[&Finding], scene: &Scene) {
    if findings.is_empty() {
        return;
    }
    let _ = write!(out, "\n### {title}\n\n");
    for finding in findings {
        let lines = scene.lines(&finding.location);
        let at = match lines.range {
            Some((start, _)) => format!("{}:{}", lines.path, start.line),
            None => lines.path.to_owned(),
        };
        let inside = finding.element.strip_prefix(&finding.package).unwrap_or(&finding.element);
        let inside = inside.trim_start_matches('.');
        let element = if inside.is_empty() { &finding.element } else { inside };
        let message = shown(&finding.message);
        let _ = writeln!(out, "- {}: {message} ({})", code(element), code(&at));
        for line in finding.change.iter().flat_map(|change| consequences(change)) {
            let _ = writeln!(out, "  - {line}");
        }
        if let Some(help) = &finding.help {
            let _ = writeln!(out, "  - {}", shown(help));
        }
    }
}

fn consequences(change: &ChangeFacts) -> Vec<String> {
    let mut lines = Vec::new();
    if !change.effects.is_empty() {
        lines.push(format!("breaks {}", change.effects));
    }
    for lost in &change.symbols {
        lines.push(format!("{}: {}", lost.surface, shown(&lost.symbol)));
    }
    if let Some(witness) = &change.witness {
        let value = if witness.value.is_empty() {
            "the empty message".to_owned()
        } else {
            code(&witness.shown())
        };
        lines.push(format!("{}: {value}: {}", witness.surface, shown(&witness.observed)));
    }
    lines
}

/// The text as a code span, even if it contains backticks.
pub(super) fn code(text: &str) -> String {
    let text = shown(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    if longest == 0 { format!("`{text}`") } else { format!("{fence} {text} {fence}") }
}
