//! One self-contained HTML page with the findings by file. It can be read without its script, which
//! only adds a filter, an order by weight, and buttons that copy.

mod both_sides;
mod fix_patch;
mod summary;

use std::collections::BTreeMap;
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
use super::waiver_line::format_waiver_line;

use both_sides::{BothSides, DiffLine};

const BODY: &str = include_str!("html/body.html");
const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// The number of lines that are shown before and after the line of a finding.
const AROUND: usize = 2;

/// The number of bytes that are shown of the marked part, and on each side of it.
const LONG: usize = 240;

pub(super) fn render(report: &Report, context: &RenderContext) -> Vec<u8> {
    let mut writer = ArticleWriter::new(report, context);
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
            writer.write_article(&mut files, finding);
        }
        files.push_str("</details>\n");
    }
    if files.is_empty() {
        files.push_str("<p class=\"none\">Nothing to report.</p>\n");
    }
    let page = HtmlPage { title: "API findings", style: STYLE, script: Some(SCRIPT), body: BODY };
    page.fill(|mark| match mark {
        "summary" if context.style.quiet => String::new(),
        "summary" => format!(
            "<p>{}.</p>\n{}{}",
            escape(render_summary(report).trim_end()),
            summary::render_origin(context),
            summary::render_tables(report, context)
        ),
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

/// Writes the findings of a page.
struct ArticleWriter<'a> {
    context: &'a RenderContext<'a>,
    sources: SnippetSources<'a>,
    sides: BothSides<'a>,
    /// The places of the findings in the order of their weight, by their addresses in the report.
    ranks: BTreeMap<*const Finding, usize>,
    /// How many findings have each fingerprint so far.
    anchors: BTreeMap<String, usize>,
}

impl<'a> ArticleWriter<'a> {
    fn new(report: &Report, context: &'a RenderContext<'a>) -> ArticleWriter<'a> {
        let by_weight = context.sort_by_impact(report).into_iter().map(std::ptr::from_ref);
        ArticleWriter {
            context,
            sources: SnippetSources::new(context),
            sides: BothSides::default(),
            ranks: by_weight.zip(0..).collect(),
            anchors: BTreeMap::new(),
        }
    }

    fn write_article(&mut self, out: &mut String, finding: &Finding) {
        let context = self.context;
        let severity = finding.severity.word();
        let rule = escape_name(finding.rule);
        let anchor = self.name_anchor(finding);
        let rank = self.ranks.get(&std::ptr::from_ref(finding)).copied().unwrap_or_default();
        let _ = write!(
            out,
            "<article id=\"{anchor}\" data-severity=\"{severity}\" data-rule=\"{rule}\" \
             data-rank=\"{rank}\">\n\
             <h3><span class=\"{severity}\">{severity}</span> {} <a class=\"anchor\" \
             href=\"#{anchor}\" title=\"Link to this finding\">#</a></h3>\n\
             <p class=\"where\"><code>{rule}</code>",
            render_prose(&finding.message),
        );
        self.write_place(out, finding);
        if !finding.element.is_empty() {
            let _ = write!(out, " <bdi>{}</bdi>", escape_name(&finding.element));
        }
        out.push_str("</p>\n");
        write_snippet(out, &self.sources, &finding.location, AROUND, finding.at.as_deref());
        for label in &finding.labels {
            let lines = context.locate(&label.location);
            let at = render_place(&lines.full_path(), &lines);
            let _ = writeln!(
                out,
                "<p class=\"where\">{at} <span>{}</span></p>",
                render_prose(&label.message)
            );
            write_snippet(out, &self.sources, &label.location, 0, None);
        }
        self.write_old_side(out, finding);
        let notes = context.collect_notes(finding);
        if !notes.is_empty() {
            out.push_str("<dl>\n");
            for (head, text) in notes {
                let (head, text) = (escape_name(&head), render_prose(&text));
                let _ = writeln!(out, "<dt>{head}</dt><dd>{text}</dd>");
            }
            out.push_str("</dl>\n");
        }
        self.write_buttons(out, finding);
        out.push_str("</article>\n");
    }

    /// The name of a finding in addresses: its fingerprint, which stays when lines move.
    fn name_anchor(&mut self, finding: &Finding) -> String {
        let fingerprint = finding.fingerprint();
        let count = self.anchors.entry(fingerprint.clone()).or_insert(0);
        *count += 1;
        match *count {
            1 => format!("f-{fingerprint}"),
            number => format!("f-{fingerprint}-{number}"),
        }
    }

    /// The line and column of a finding, as a link to the forge where there is one.
    fn write_place(&self, out: &mut String, finding: &Finding) {
        let place = self.context.locate(&finding.location);
        let Some((start, _)) = place.range else { return };
        let is_old = matches!(finding.location.origin, Origin::Old(_));
        let old = if is_old { " (old)" } else { "" };
        let text = format!("line {}, column {}{old}", start.line, start.column);
        let forge = self.context.origin.and_then(|it| it.forge.as_ref()).filter(|_| !is_old);
        let _ = match forge {
            Some(forge) => {
                let link = forge.link(&place.full_path(), start.line);
                write!(out, " <a href=\"{}\">{text}</a>", escape(&link))
            }
            None => write!(out, " <span>{text}</span>"),
        };
    }

    /// The old side of a change: the lines that differ, else the old place.
    fn write_old_side(&mut self, out: &mut String, finding: &Finding) {
        let old = finding.change.as_ref().and_then(|change| change.old);
        let Some(old) = old.filter(|old| *old != finding.location) else { return };
        // No prefix: the one in `scene` is for the new tree.
        let lines = self.context.locate(&old);
        let at = render_place(lines.path, &lines);
        let _ = writeln!(out, "<p class=\"where\">{at} <span>(old) as it was</span></p>");
        let changed = self.sides.find_lines(finding, self.context);
        match changed.is_empty() {
            true => write_snippet(out, &self.sources, &old, 0, None),
            false => write_difference(out, &changed),
        }
    }

    /// The buttons that copy the waiver and the fix.
    fn write_buttons(&self, out: &mut String, finding: &Finding) {
        let waiver = format_waiver_line(finding, self.context);
        let fix = fix_patch::render_fix(finding, self.context);
        let texts = [("Copy waiver", waiver), ("Copy fix", fix)];
        let texts: Vec<(&str, String)> =
            texts.into_iter().filter_map(|(title, text)| Some((title, text?))).collect();
        if texts.is_empty() {
            return;
        }
        out.push_str("<p class=\"copies\">");
        for (title, text) in texts {
            let text: Vec<String> = text.lines().map(escape_name).collect();
            let _ = write!(
                out,
                "<button type=\"button\" hidden=\"\" data-copy=\"{}\">{title}</button>",
                text.join("&#10;")
            );
        }
        out.push_str("</p>\n");
    }
}

/// The lines that differ, with those around them.
fn write_difference(out: &mut String, lines: &[DiffLine<'_>]) {
    out.push_str("<pre class=\"sides\">");
    for DiffLine { mark, number, text } in lines {
        let class = match mark {
            '-' => " del",
            '+' => " ins",
            _ => "",
        };
        let text = escape_start(text, 0..text.len());
        let _ = writeln!(out, "<span class=\"line{class}\"><i>{number} {mark}</i>{text}</span>");
    }
    out.push_str("</pre>\n");
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
