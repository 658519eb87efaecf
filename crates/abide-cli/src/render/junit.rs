//! JUnit XML for the test pages of CI systems: a suite per file, and a case per finding.
//!
//! Findings at error level are failures, as in the exit status. Others pass, with their text as
//! output. A judged file without findings is a case that passes.

use std::fmt::Write;

use abide_lint::{Finding, Report, Severity, pluralize};
use abide_source::printable::escape_unprintable;

use super::context::{RenderContext, full_path};
use super::markup::escape;

pub(super) fn render(report: &Report, context: &RenderContext) -> Vec<u8> {
    let mut files = context.group_by_path(report);
    if !context.are_only_instances {
        for file in context.tree.files().filter(|file| file.is_judged()) {
            files.entry(full_path(context.prefix, &file.decl().display)).or_default();
        }
    }
    for file in context.instances {
        files.entry(full_path(context.config_prefix, &file.name)).or_default();
    }
    let mut suites = String::new();
    let (mut tests, mut failures) = (0, 0);
    for (path, findings) in &files {
        let failed = findings.iter().filter(|it| it.severity == Severity::Error).count();
        let cases = findings.len().max(1);
        tests += cases;
        failures += failed;
        let name = escape_attribute(path);
        // Writing to a string cannot fail.
        let _ = writeln!(
            suites,
            "  <testsuite name=\"{name}\" tests=\"{cases}\" failures=\"{failed}\" errors=\"0\" skipped=\"0\">"
        );
        let class = escape_attribute(path.strip_suffix(".proto").unwrap_or(path));
        for finding in findings {
            let what = format!("{}: {} ({})", finding.rule, finding.message, finding.element);
            let _ = writeln!(
                suites,
                "{}>\n{}    </testcase>",
                render_case_start(&what, &class, &name),
                render_body(finding, context)
            );
        }
        if findings.is_empty() {
            let _ = writeln!(suites, "{}/>", render_case_start("nothing to report", &class, &name));
        }
        suites.push_str("  </testsuite>\n");
    }
    for (number, noun) in [(report.waived, "waived finding"), (report.accepted, "accepted finding")]
    {
        if number > 0 {
            tests += 1;
            let what = pluralize(number, noun);
            let _ = writeln!(
                suites,
                "  <testsuite name=\"exceptions\" tests=\"1\" failures=\"0\" errors=\"0\" \
                 skipped=\"1\">\n    <testcase name=\"{what}\" classname=\"exceptions\">\n      \
                 <skipped/>\n    </testcase>\n  </testsuite>"
            );
        }
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"abide\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\">\n\
         {suites}</testsuites>\n"
    )
    .into_bytes()
}

/// The open tag of a case; `class` and `file` are escaped.
fn render_case_start(what: &str, class: &str, file: &str) -> String {
    let what = escape_attribute(what);
    format!("    <testcase name=\"{what}\" classname=\"{class}\" file=\"{file}\"")
}

fn render_body(finding: &Finding, context: &RenderContext) -> String {
    let mut text = format_place(finding, context);
    for label in &finding.labels {
        let lines = context.locate(&label.location);
        let line = lines.range.map_or(String::new(), |(start, _)| format!(":{}", start.line));
        let path = lines.full_path();
        let _ = write!(
            text,
            "\n{}{line}: {}",
            escape_unprintable(&path),
            escape_unprintable(&label.message)
        );
    }
    for (head, note) in context.collect_notes(finding) {
        let _ = write!(text, "\n{head}: {}", escape_unprintable(&note));
    }
    let text = escape(&text);
    match finding.severity {
        Severity::Error => format!(
            "      <failure message=\"{}\" type=\"{}\">{text}</failure>\n",
            escape_attribute(&finding.message),
            escape_attribute(finding.rule),
        ),
        severity => format!("      <system-out>{}: {text}</system-out>\n", severity.word()),
    }
}

/// Path, line and column.
fn format_place(finding: &Finding, context: &RenderContext) -> String {
    let lines = context.locate(&finding.location);
    let path = escape_unprintable(&lines.full_path());
    match lines.range {
        Some((start, _)) => format!("{path}:{}:{}", start.line, start.column),
        None => path,
    }
}

/// The text on one line: XML turns line ends in attributes into spaces.
fn escape_attribute(text: &str) -> String {
    escape(&escape_unprintable(text))
}
