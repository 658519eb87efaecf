//! By package: a changelog for release notes, or without an old tree the findings.

use std::collections::BTreeMap;

use abide_lint::{Bump, ChangeFacts, Finding, Report, Severity};

use super::markdown_text::Markdown;
use super::scene::{Scene, reached};
use super::snippets::{spared, summary};

pub(super) fn render(report: &Report, scene: &Scene) -> Vec<u8> {
    let mut out = Markdown::new();
    let compares = scene.old.is_some();
    out.markup(if compares { "# API changes\n" } else { "# API findings\n" });
    match report.required_bump {
        None if !compares => {
            out.markup("\n").words(&sentence(&summary(report))).markup("\n");
        }
        None => {}
        Some(Bump::None) => drop(out.markup("\nNo bump is required.\n")),
        Some(bump) => {
            out.markup("\nRequired bump: **").words(bump.name()).markup("**.\n");
        }
    }
    let mut packages: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in scene.by_weight(report) {
        packages.entry(&finding.package).or_default().push(finding);
    }
    let spared = spared(report);
    if packages.is_empty() && compares {
        out.markup(match spared {
            None => "\nNothing changed.\n",
            Some(_) => "\nNothing to report.\n",
        });
    }
    // The summary counts them already.
    let is_counted = !compares && report.required_bump.is_none();
    if let Some(spared) = spared.filter(|_| !is_counted) {
        out.markup("\n").words(&format!("{spared}.")).markup("\n");
    }
    for (package, findings) in packages {
        out.markup("\n## ");
        match package {
            "" => out.markup("Files without a package"),
            name => out.code(name),
        };
        out.markup("\n");
        if !compares {
            for severity in [Severity::Error, Severity::Warning, Severity::Note] {
                let found: Vec<&Finding> =
                    findings.iter().copied().filter(|it| it.severity == severity).collect();
                section(&mut out, severities(severity), &found, scene);
            }
            continue;
        }
        for wanted in [Part::Breaking, Part::Compatible, Part::Policy] {
            let found: Vec<&Finding> =
                findings.iter().copied().filter(|it| Part::of(it) == wanted).collect();
            section(&mut out, wanted.title(), &found, scene);
        }
    }
    out.into_text().into_bytes()
}

/// The title of the findings with a severity.
const fn severities(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "Errors",
        Severity::Warning => "Warnings",
        Severity::Note => "Notes",
    }
}

/// A summary line as a sentence.
pub(super) fn sentence(summary: &str) -> String {
    format!("{}.", summary.trim_end())
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

fn section(out: &mut Markdown, title: &'static str, findings: &[&Finding], scene: &Scene) {
    if findings.is_empty() {
        return;
    }
    out.markup("\n### ").markup(title).markup("\n\n");
    for finding in findings {
        let inside = finding.element.strip_prefix(&finding.package).unwrap_or(&finding.element);
        let inside = inside.trim_start_matches('.');
        let element = if inside.is_empty() { &finding.element } else { inside };
        entry(out, "", element, finding, scene);
    }
}

/// An item of a list: a finding under this name of its element, with its consequences.
pub(super) fn entry(
    out: &mut Markdown,
    level: &'static str,
    element: &str,
    finding: &Finding,
    scene: &Scene,
) {
    let lines = scene.lines(&finding.location);
    let at = match lines.range {
        Some((start, _)) => format!("{}:{}", lines.path, start.line),
        None => lines.path.to_owned(),
    };
    out.markup("- ").markup(level);
    if !element.is_empty() {
        out.code(element).markup(": ");
    }
    out.prose(&finding.message);
    out.markup(" (").code(&at).markup(")\n");
    if let Some(change) = &finding.change {
        consequences(out, change);
    }
    if !finding.releases.is_empty() {
        let releases = format!("for {}", finding.releases.join(" and "));
        out.markup("  - ").prose(&releases).markup("\n");
    }
    if let Some(help) = &finding.help {
        out.markup("  - ").prose(help).markup("\n");
    }
}

fn consequences(out: &mut Markdown, change: &ChangeFacts) {
    if !change.effects.is_empty() {
        out.markup("  - breaks ").words(&change.effects.to_string()).markup("\n");
    }
    if let Some(text) = reached(&change.dependents) {
        out.markup("  - reaches ").prose(&text).markup("\n");
    }
    for lost in &change.symbols {
        out.markup("  - ").words(lost.surface.name()).markup(": ").prose(&lost.symbol);
        out.markup("\n");
    }
    if let Some(witness) = &change.witness {
        out.markup("  - ").words(witness.surface.name()).markup(": ");
        match witness.value.as_str() {
            "" => out.markup("the empty message"),
            _ => out.code(&witness.shown()),
        };
        out.markup(": ").prose(&witness.observed).markup("\n");
    }
}
