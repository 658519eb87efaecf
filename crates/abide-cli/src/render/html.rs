//! One self-contained HTML page with the findings by file. It can be read without its script, which
//! only adds a filter.

use std::fmt::Write;
use std::ops::Range;

use abide_lint::{Finding, Location, Origin, Report, Severity, pluralize};
use abide_source::printable::escape_unprintable;
use codespan_reporting::files::Files;

use super::context::{RenderContext, TextPlace};
use super::markup::{HtmlPage, escape};
use super::prose::{ProsePiece, split_pieces};
use super::snippets::render_summary;
use super::sources::SnippetSources;

const BODY: &str = include_str!("html/body.html");
const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// The number of lines that are shown before and after the line of a finding.
const AROUND: usize = 2;

/// The number of bytes that are shown of the marked part, and on each side of it.
const LONG: usize = 240;

pub(super) fn render(report: &Report, context: &RenderContext) -> Vec<u8> {
    let sources = SnippetSources::new(context);
    let mut files = String::new();
    for (path, findings) in context.group_by_path(report) {
        let count = pluralize(findings.len(), "finding");
        // Writing to a string cannot fail.
        let _ = writeln!(
            files,
            "<details class=\"file\" open=\"\">\n<summary><h2><bdi>{}</bdi></h2> <span>{count}</span></summary>",
            escape_name(&path)
        );
        for finding in findings {
            write_article(&mut files, finding, context, &sources);
        }
        files.push_str("</details>\n");
    }
    if files.is_empty() {
        files.push_str("<p class=\"none\">Nothing to report.</p>\n");
    }
    let page = HtmlPage { title: "API findings", style: STYLE, script: Some(SCRIPT), body: BODY };
    page.fill(|mark| match mark {
        "summary" if context.style.quiet => String::new(),
        "summary" => format!("<p>{}.</p>\n", escape(render_summary(report).trim_end())),
        "severities" => render_severity_filter(report, context),
        "files" => files.clone(),
        _ => String::new(),
    })
}

/// The filter by severity: a button for each severity that occurs.
fn render_severity_filter(report: &Report, context: &RenderContext) -> String {
    let mut buttons = String::new();
    for severity in [Severity::Error, Severity::Warning, Severity::Note] {
        let count = context.visible_findings(report).filter(|it| it.severity == severity).count();
        if count > 0 {
            let word = severity.word();
            let _ = write!(
                buttons,
                "<button type=\"button\" class=\"chip {word}\" data-severity=\"{word}\" \
                 aria-pressed=\"true\"><i></i>{word}<b>{count}</b></button>"
            );
        }
    }
    buttons
}

fn write_article(
    out: &mut String,
    finding: &Finding,
    context: &RenderContext,
    sources: &SnippetSources,
) {
    let severity = finding.severity.word();
    let rule = escape_name(finding.rule);
    let _ = write!(
        out,
        "<article data-severity=\"{severity}\" data-rule=\"{rule}\">\n\
         <h3><span class=\"{severity}\">{severity}</span> {}</h3>\n\
         <p class=\"where\"><code>{rule}</code>",
        render_prose(&finding.message),
    );
    if let Some((start, _)) = context.locate(&finding.location).range {
        let old = if matches!(finding.location.origin, Origin::Old(_)) { " (old)" } else { "" };
        let _ = write!(out, " <span>line {}, column {}{old}</span>", start.line, start.column);
    }
    if !finding.element.is_empty() {
        let _ = write!(out, " <bdi>{}</bdi>", escape_name(&finding.element));
    }
    out.push_str("</p>\n");
    write_snippet(out, sources, &finding.location, AROUND, finding.at.as_deref());
    for label in &finding.labels {
        let lines = context.locate(&label.location);
        let at = render_place(&lines.full_path(), &lines);
        let _ = writeln!(
            out,
            "<p class=\"where\">{at} <span>{}</span></p>",
            render_prose(&label.message)
        );
        write_snippet(out, sources, &label.location, 0, None);
    }
    let old = finding.change.as_ref().and_then(|change| change.old);
    if let Some(old) = old.filter(|old| *old != finding.location) {
        // No prefix: the one in `scene` is for the new tree.
        let lines = context.locate(&old);
        let at = render_place(lines.path, &lines);
        let _ = writeln!(out, "<p class=\"where\">{at} <span>(old) as it was</span></p>");
        write_snippet(out, sources, &old, 0, None);
    }
    let notes = context.collect_notes(finding);
    if !notes.is_empty() {
        out.push_str("<dl>\n");
        for (head, text) in notes {
            let _ = writeln!(out, "<dt>{head}</dt><dd>{}</dd>", render_prose(&text));
        }
        out.push_str("</dl>\n");
    }
    out.push_str("</article>\n");
}

fn render_place(path: &str, lines: &TextPlace) -> String {
    let line = lines.range.map_or(String::new(), |(start, _)| format!(":{}", start.line));
    format!("<bdi>{}{line}</bdi>", escape_name(path))
}

/// The lines around a place. The part of its first line that it covers is marked.
fn write_snippet(
    out: &mut String,
    sources: &SnippetSources,
    location: &Location,
    around: usize,
    at: Option<&str>,
) {
    let Some((id, span)) = sources.locate(location) else { return };
    let marked = sources.clip_to_first_line(id, span);
    let (Ok(text), Ok(line)) = (sources.source(id), sources.line_index(id, marked.start)) else {
        return;
    };
    out.push_str("<pre>");
    for number in line.saturating_sub(around)..=line + around {
        let Ok(range) = sources.line_range(id, number) else { break };
        if range.is_empty() && number != line {
            // This is the empty line after the last line end.
            break;
        }
        let _ = write!(out, "<span class=\"line\"><i>{}</i>", number + 1);
        if number == line {
            let start = range.start.max(marked.start.saturating_sub(LONG));
            let more = if start > range.start { "…" } else { "" };
            let _ = write!(
                out,
                "{more}{}<mark>{}</mark>{}",
                escape_slice(text, start..marked.start),
                escape_start(text, marked.clone()),
                escape_start(text, marked.end..range.end),
            );
            if let Some(at) = at {
                let _ = write!(out, " <em>{}</em>", render_prose(at));
            }
        } else {
            out.push_str(&escape_start(text, range));
        }
        out.push_str("</span>\n");
    }
    out.push_str("</pre>\n");
}

/// A part of a line, escaped.
fn escape_slice(text: &str, range: Range<usize>) -> String {
    let [start, end] = [range.start, range.end].map(|at| text.floor_char_boundary(at));
    escape(text.get(start..end).unwrap_or_default().trim_end_matches(['\r', '\n']))
}

/// A part of a line, escaped and cut where it is long.
fn escape_start(text: &str, range: Range<usize>) -> String {
    let end = range.end.min(range.start + LONG);
    let more = if end < range.end { "…" } else { "" };
    format!("{}{more}", escape_slice(text, range.start..end))
}

fn escape_name(text: &str) -> String {
    escape(&escape_unprintable(text))
}

/// A text of Abide, in which backticks mark code.
fn render_prose(text: &str) -> String {
    let text = escape_unprintable(text);
    let mut out = String::with_capacity(text.len());
    for piece in split_pieces(&text) {
        let _ = match piece {
            ProsePiece::Words(words) => write!(out, "{}", escape(words)),
            ProsePiece::Code(code) => write!(out, "<code>{}</code>", escape(code)),
        };
    }
    out
}
