//! By package: a changelog for release notes, or without an old tree the findings.

use std::collections::BTreeMap;

use abide_lint::{Bump, ChangeFacts, Finding, Report, Severity};

use super::context::{RenderContext, describe_dependents, describe_effects, list_concerned};
use super::markdown_text::MarkdownText;
use super::snippets::{describe_exempted, render_summary};

pub(super) fn render(report: &Report, context: &RenderContext) -> Vec<u8> {
    let mut out = MarkdownText::new();
    let compares = context.old.is_some();
    out.add_markup(if compares { "# API changes\n" } else { "# API findings\n" });
    match report.required_bump {
        None if !compares => {
            out.add_markup("\n")
                .add_words(&format_sentence(&render_summary(report)))
                .add_markup("\n");
        }
        None => {}
        Some(Bump::None) => drop(out.add_markup("\nNo bump is required.\n")),
        Some(bump) => {
            out.add_markup("\nRequired bump: **").add_words(bump.name()).add_markup("**.\n");
        }
    }
    let mut packages: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    let is_shown = |it: &&Finding| !compares || ReportSection::of(it).is_some();
    for finding in context.sort_by_impact(report).into_iter().filter(is_shown) {
        packages.entry(&finding.package).or_default().push(finding);
    }
    let spared = describe_exempted(report);
    if packages.is_empty() && compares {
        out.add_markup(match spared {
            None => "\nNothing changed.\n",
            Some(_) => "\nNothing to report.\n",
        });
    }
    // The summary counts them already.
    let is_counted = !compares && report.required_bump.is_none();
    if let Some(spared) = spared.filter(|_| !is_counted) {
        out.add_markup("\n").add_words(&format!("{spared}.")).add_markup("\n");
    }
    for (package, findings) in packages {
        out.add_markup("\n## ");
        match package {
            "" => out.add_markup("Files without a package"),
            name => out.add_code(name),
        };
        out.add_markup("\n");
        if !compares {
            for severity in [Severity::Error, Severity::Warning, Severity::Note] {
                let found: Vec<&Finding> =
                    findings.iter().copied().filter(|it| it.severity == severity).collect();
                write_section(&mut out, name_severity(severity), &found, context);
            }
            continue;
        }
        for wanted in ReportSection::ALL {
            let found: Vec<&Finding> = findings
                .iter()
                .copied()
                .filter(|it| ReportSection::of(it) == Some(wanted))
                .collect();
            write_section(&mut out, wanted.title(), &found, context);
        }
    }
    out.into_text().into_bytes()
}

/// The title of the findings with a severity.
const fn name_severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "Errors",
        Severity::Warning => "Warnings",
        Severity::Note => "Notes",
    }
}

/// A summary line as a sentence.
pub(super) fn format_sentence(summary: &str) -> String {
    format!("{}.", summary.trim_end())
}

/// A section of a package.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReportSection {
    Breaking,
    New,
    Changed,
    Removed,
}

impl ReportSection {
    /// The sections in their order.
    const ALL: [ReportSection; 4] = [
        ReportSection::Breaking,
        ReportSection::New,
        ReportSection::Changed,
        ReportSection::Removed,
    ];

    /// The section of a change; `None` for housekeeping, which readers of the API do not need.
    fn of(finding: &Finding) -> Option<ReportSection> {
        let change = finding.change.as_ref()?;
        Some(match finding.severity {
            _ if change.effects.breaks_backward() => ReportSection::Breaking,
            Severity::Error => ReportSection::Breaking,
            _ if change.gone.is_some() => ReportSection::Removed,
            _ if finding.rule.ends_with("-added") => ReportSection::New,
            _ => ReportSection::Changed,
        })
    }

    const fn title(self) -> &'static str {
        match self {
            ReportSection::Breaking => "Breaking changes",
            ReportSection::New => "New",
            ReportSection::Changed => "Changed",
            ReportSection::Removed => "Removed",
        }
    }
}

fn write_section(
    out: &mut MarkdownText,
    title: &'static str,
    findings: &[&Finding],
    context: &RenderContext,
) {
    if findings.is_empty() {
        return;
    }
    out.add_markup("\n### ").add_markup(title).add_markup("\n\n");
    for finding in findings {
        let inside = finding.element.strip_prefix(&finding.package).unwrap_or(&finding.element);
        let inside = inside.trim_start_matches('.');
        let element = if inside.is_empty() { &finding.element } else { inside };
        write_entry(out, "", element, finding, context);
        write_details(out, finding);
    }
}

/// An item of a list: a finding under this name of its element, without its details.
pub(super) fn write_entry(
    out: &mut MarkdownText,
    level: &'static str,
    element: &str,
    finding: &Finding,
    context: &RenderContext,
) {
    let lines = context.locate(&finding.location);
    let at = match lines.range {
        Some((start, _)) => format!("{}:{}", lines.path, start.line),
        None => lines.path.to_owned(),
    };
    out.add_markup("- ").add_markup(level);
    if !element.is_empty() {
        out.add_code(element).add_markup(": ");
    }
    out.add_prose(&finding.message);
    out.add_markup(" (").add_code(&at).add_markup(")\n");
}

/// Returns true if more can be said of a finding than its item.
pub(super) fn has_details(finding: &Finding) -> bool {
    finding.help.is_some()
        || !finding.releases.is_empty()
        || !finding.users.is_empty()
        || finding.change.is_some()
}

/// What a finding means, and what to do about it, as a list inside its item.
pub(super) fn write_details(out: &mut MarkdownText, finding: &Finding) {
    for (since, names) in list_concerned(finding) {
        out.add_markup("  - ").add_prose(&format!("{since}: {names}")).add_markup("\n");
    }
    if let Some(change) = &finding.change {
        write_consequences(out, change);
    }
    if !finding.releases.is_empty() {
        let releases = format!("for {}", finding.releases.join(" and "));
        out.add_markup("  - ").add_prose(&releases).add_markup("\n");
    }
    if let Some(help) = &finding.help {
        out.add_markup("  - ").add_prose(help).add_markup("\n");
    }
}

fn write_consequences(out: &mut MarkdownText, change: &ChangeFacts) {
    // What breaks nobody who is there is no break to a reader.
    if change.effects.breaks_backward() {
        out.add_markup("  - breaks ").add_words(&describe_effects(change.effects)).add_markup("\n");
    }
    if let Some(text) = describe_dependents(&change.dependents) {
        out.add_markup("  - reaches ").add_prose(&text).add_markup("\n");
    }
    for (at, lost) in change.symbols.iter().enumerate() {
        out.add_markup(if at == 0 { "  - generated code: " } else { "; " })
            .add_words(lost.surface.name().trim_start_matches("source-"))
            .add_markup(" ")
            .add_prose(&lost.symbol);
    }
    if !change.symbols.is_empty() {
        out.add_markup("\n");
    }
    if let Some(witness) = &change.witness {
        out.add_markup("  - ").add_words(witness.surface.name()).add_markup(": ");
        match witness.value.as_str() {
            "" => out.add_markup("the empty message"),
            _ => out.add_code(&witness.shown()),
        };
        out.add_markup(": ").add_prose(&witness.observed).add_markup("\n");
    }
}
