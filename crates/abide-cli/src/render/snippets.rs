//! The format for people: a snippet for each finding, with the path through the tree as labels.

use abide_lint::{Applied, Bump, ConfigError, ExceptionKind, Finding, Report, Severity, pluralize};
use abide_source::printable::escape_unprintable;
use codespan_reporting::diagnostic::{self, Diagnostic};
use codespan_reporting::term::termcolor::{Ansi, NoColor, WriteColor};
use codespan_reporting::term::{self, Config};
use rayon::prelude::*;

use super::context::{RenderContext, TextFile};
use super::sources::SnippetSources;
use super::waiver_line::format_waiver_line;

/// The number of findings that one task renders.
const CHUNK: usize = 32;

pub(super) fn render(report: &Report, context: &RenderContext) -> Vec<u8> {
    let sources = SnippetSources::new(context);
    let mut shown = context.sort_by_impact(report);
    shown.extend(context.visible_exempted(report));
    let (mut out, hidden) = match context.style.max_lines {
        Some(max_lines) => render_screen(&shown, context, &sources, max_lines),
        None => {
            let written = shown
                .par_chunks(CHUNK)
                .map(|findings| render_findings(findings, context, &sources));
            (written.collect::<Vec<_>>().concat(), 0)
        }
    };
    if hidden > 0 {
        out.extend(describe_hidden(hidden).bytes());
    }
    // A program that reads a clean report has nothing to read.
    let is_asked = context.style.is_terminal || context.style.verbose;
    if !context.style.quiet && (is_asked || !is_clean(report)) {
        out.extend(render_summary(report).bytes());
        // A log is read when nobody can act on it.
        if context.style.is_terminal {
            out.extend(count_fixable(report).bytes());
        }
    }
    out
}

fn render_findings(
    findings: &[&Finding],
    context: &RenderContext,
    sources: &SnippetSources,
) -> Vec<u8> {
    let diagnostics = findings.iter().map(|finding| build_diagnostic(finding, context, sources));
    emit(diagnostics, sources, context.style.color)
}

/// The first findings, as many as fit, and how many do not.
fn render_screen(
    findings: &[&Finding],
    context: &RenderContext,
    sources: &SnippetSources,
    max_lines: usize,
) -> (Vec<u8>, usize) {
    let (mut out, mut lines) = (Vec::new(), 0);
    for (at, finding) in findings.iter().enumerate() {
        let text = render_findings(&[finding], context, sources);
        lines += text.iter().filter(|it| **it == b'\n').count();
        if at > 0 && lines > max_lines {
            return (out, findings.len() - at);
        }
        out.extend(text);
    }
    (out, 0)
}

/// The line about findings that are not shown.
fn describe_hidden(count: usize) -> String {
    format!(
        "{}: `--limit 0` shows all, `--statistics` counts them by rule, and `abide check --accept` \
         records what is there today\n",
        pluralize(count, "more finding")
    )
}

fn emit(
    diagnostics: impl Iterator<Item = Diagnostic<usize>>,
    sources: &SnippetSources,
    color: bool,
) -> Vec<u8> {
    let (mut ansi, mut plain) = (Ansi::new(Vec::new()), NoColor::new(Vec::new()));
    let out: &mut dyn WriteColor = if color { &mut ansi } else { &mut plain };
    let config = Config::default();
    for mut diagnostic in diagnostics {
        let excerpt = sources.extract(&mut diagnostic);
        // Writing to memory does not fail, and every place is in `sources`.
        let written = term::emit_to_write_style(out, &config, &excerpt, &diagnostic);
        debug_assert!(written.is_ok(), "{written:?}");
    }
    if color { ansi.into_inner() } else { plain.into_inner() }
}

/// Returns true if there is nothing to say.
fn is_clean(report: &Report) -> bool {
    let spared = report.waived + report.accepted;
    report.findings.is_empty()
        && spared == 0
        && report.required_bump.is_none_or(|it| it == Bump::None)
}

/// Counts the findings that `--fix` fixes.
fn count_fixable(report: &Report) -> String {
    match report
        .findings
        .iter()
        .filter(|it: &&Finding| it.fixes.iter().any(|it| it.applied == Applied::Always))
        .count()
    {
        0 => String::new(),
        count => format!("{} can be fixed with `--fix`\n", pluralize(count, "finding")),
    }
}

/// Counts the waived and accepted findings, in words; `None` without any.
pub(super) fn describe_exempted(report: &Report) -> Option<String> {
    let kinds = [(report.waived, "waived finding"), (report.accepted, "accepted finding")];
    let some = kinds.into_iter().filter(|(number, _)| *number > 0);
    let words: Vec<String> = some.map(|(number, noun)| pluralize(number, noun)).collect();
    let is_one = report.waived + report.accepted == 1;
    let verb = if is_one { "is" } else { "are" };
    (!words.is_empty()).then(|| format!("{} {verb} not shown", words.join(" and ")))
}

/// The summary line.
pub(super) fn render_summary(report: &Report) -> String {
    let mut found = Vec::new();
    for (number, noun) in
        [(report.errors, "error"), (report.warnings, "warning"), (report.notes, "note")]
    {
        if number > 0 {
            found.push(pluralize(number, noun));
        }
    }
    let found = if found.is_empty() { "nothing to report".to_owned() } else { found.join(", ") };
    let mut spared = Vec::new();
    for (number, word) in [(report.waived, "waived"), (report.accepted, "accepted")] {
        if number > 0 {
            spared.push(format!("{number} {word}"));
        }
    }
    let spared =
        if spared.is_empty() { String::new() } else { format!(" ({})", spared.join(", ")) };
    let bump = match report.required_bump {
        None => "",
        Some(Bump::None) => "; needs no bump",
        Some(Bump::Patch) => "; needs a patch bump",
        Some(Bump::Minor) if report.waives_breaks => {
            "; needs a minor bump (waived breaks count as minor)"
        }
        Some(Bump::Minor) => "; needs a minor bump",
        Some(Bump::Major) => "; needs a major bump",
    };
    let packages = match (report.files, report.packages) {
        // Files that hold instances belong to no package.
        (1.., 0) => String::new(),
        (_, packages) => format!(" in {}", pluralize(packages, "package")),
    };
    format!("{}{packages}: {found}{spared}{bump}\n", pluralize(report.files, "file"))
}

fn build_diagnostic(
    finding: &Finding,
    context: &RenderContext,
    sources: &SnippetSources,
) -> Diagnostic<usize> {
    let severity = match finding.severity {
        // It counts for nothing, whatever its rule says.
        _ if finding.exception.is_some() => diagnostic::Severity::Note,
        Severity::Error => diagnostic::Severity::Error,
        Severity::Warning => diagnostic::Severity::Warning,
        Severity::Note => diagnostic::Severity::Note,
    };
    let mut labels = Vec::new();
    let mut notes = Vec::new();
    match sources.locate(&finding.location) {
        Some((file, span)) => {
            let label = diagnostic::Label::primary(file, sources.clip_to_first_line(file, span));
            labels.push(label.with_message(finding.at.as_deref().unwrap_or("")));
        }
        None => {
            let lines = context.locate(&finding.location);
            notes.push(match lines.range {
                Some((start, _)) => format!("at {}:{}:{}", lines.path, start.line, start.column),
                None => format!("at {}", lines.path),
            });
        }
    }
    for label in &finding.labels {
        match sources.locate(&label.location) {
            Some((file, span)) => labels.push(
                diagnostic::Label::secondary(file, sources.clip_to_first_line(file, span))
                    .with_message(&label.message),
            ),
            None => {
                notes.push(format!("{}: {}", context.locate(&label.location).path, label.message))
            }
        }
    }
    if let Some(change) = &finding.change {
        let old = change.old.filter(|old| *old != finding.location);
        if let Some((file, span)) = old.and_then(|old| sources.locate(&old)) {
            let label = diagnostic::Label::secondary(file, sources.clip_to_first_line(file, span));
            labels.push(label.with_message("as it was"));
        }
    }
    let more = context.collect_notes(finding).into_iter();
    notes.extend(more.map(|(head, text)| format!("{head}: {text}")));
    for label in &mut labels {
        label.message = escape_unprintable(&label.message);
    }
    let width = context.style.width.saturating_sub(NOTE_INDENT);
    let mut notes: Vec<String> = notes
        .iter()
        .map(|note| wrap(&escape_unprintable(note), LineWidth { width, ..LINE }))
        .collect();
    // A line to copy stays whole. What is only a note needs none.
    let waiver = format_waiver_line(finding, context).filter(|_| finding.severity > Severity::Note);
    notes.extend(waiver.map(|line| format!("waive: {}", escape_lines(&line))));
    Diagnostic::new(severity)
        .with_code(finding.rule)
        .with_message(render_headline(finding, context))
        .with_labels(labels)
        .with_notes(notes)
}

/// Escapes each line of a text.
fn escape_lines(text: &str) -> String {
    text.lines().map(escape_unprintable).collect::<Vec<_>>().join("\n")
}

/// The word for people before what falls under an exception.
fn describe_exception(kind: ExceptionKind) -> &'static str {
    match kind {
        ExceptionKind::Comment | ExceptionKind::Waiver => "waived",
        ExceptionKind::Accepted => "accepted",
    }
}

/// The message of a finding. On a terminal its lines end at words; elsewhere it is one line, to be
/// searched for.
fn render_headline(finding: &Finding, context: &RenderContext) -> String {
    let mut message = escape_unprintable(&finding.message);
    if let Some(exception) = &finding.exception {
        message = format!("{}: {message}", describe_exception(exception.kind));
    }
    if !context.style.is_terminal {
        return message;
    }
    let before = format!("{}[{}]: ", finding.severity.word(), finding.rule);
    wrap(&message, LineWidth { before: before.len(), indent: 2, width: context.style.width })
}

/// The width of what precedes a note: the column of line numbers, and a bullet.
const NOTE_INDENT: usize = 9;

/// The width and indent of a line to break, in columns.
#[derive(Clone, Copy)]
struct LineWidth {
    /// The columns that are used already.
    before: usize,
    /// The white space before the lines that follow.
    indent: usize,
    width: usize,
}

const LINE: LineWidth = LineWidth { before: 0, indent: 0, width: 0 };

/// Breaks a line at spaces to fit the width. A longer word stays whole.
fn wrap(text: &str, line: LineWidth) -> String {
    let mut wrapped = String::with_capacity(text.len());
    let (mut used, mut is_empty) = (line.before, line.before == 0);
    for (at, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        let gap = usize::from(at > 0 && !is_empty);
        if !is_empty && used + gap + length > line.width {
            wrapped.push('\n');
            wrapped.extend(std::iter::repeat_n(' ', line.indent));
            used = line.indent;
        } else if gap > 0 {
            wrapped.push(' ');
            used += gap;
        }
        wrapped.push_str(word);
        used += length;
        is_empty = false;
    }
    wrapped
}

/// Renders the errors of a configuration.
pub(crate) fn render_config_errors(errors: &[ConfigError], file: &TextFile, color: bool) -> String {
    let sources = SnippetSources::from_text(file);
    let diagnostics = errors.iter().map(|error| {
        Diagnostic::error()
            .with_message(escape_unprintable(&error.message))
            .with_label(diagnostic::Label::primary(0, error.span.range()))
            .with_notes(
                error
                    .help
                    .iter()
                    .map(|help| format!("help: {}", escape_unprintable(help)))
                    .collect(),
            )
    });
    String::from_utf8_lossy(&emit(diagnostics, &sources, color)).into_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use abide_lint::{Config, Options};
    use abide_schema::{FileDecl, SourceFile, Tree};

    use super::super::context::Style;
    use super::*;

    #[test]
    fn a_line_ends_before_a_word_that_does_not_fit() {
        let line = LineWidth { before: 10, indent: 2, width: 20 };
        for (text, expected) in [
            ("short", "short"),
            ("ten_column", "ten_column"),
            ("ten_columns", "\n  ten_columns"),
            ("a b ten_column_", "a b\n  ten_column_"),
            ("a seventeen_columns c", "a\n  seventeen_columns\n  c"),
            ("wider_than_all_of_the_line", "\n  wider_than_all_of_the_line"),
        ] {
            assert_eq!(wrap(text, line), expected, "{text}");
        }
        assert_eq!(wrap("wider_than_all a", LineWidth { width: 5, ..LINE }), "wider_than_all\na");
    }

    #[test]
    fn a_screen_has_the_first_findings_that_fit_and_says_how_many_do_not() {
        let names = (0..20).map(|it| format!("a{it}/v1"));
        let files = names.map(|name| {
            let path: Arc<str> = format!("{name}/a.proto").into();
            let text = format!("syntax = \"proto3\";\npackage b{};\n", name.replace('/', "."));
            let (display, text) = (Arc::clone(&path), text.into_bytes().into());
            let file = SourceFile { path, display, root: 0, imported: false, text };
            Arc::new(FileDecl::parse(file))
        });
        let tree = Tree::link(files.collect());
        let config = Config::default();
        let day = jiff::civil::date(2026, 1, 15);
        let report = abide_lint::check(&tree, &config.policy, Options::on(day));
        assert_eq!(report.errors, 20);
        let render_lines = |max_lines| {
            let style = Style { is_terminal: true, max_lines, ..Style::plain(80) };
            let context = RenderContext::of_trees(&tree, None, style);
            String::from_utf8(render(&report, &context)).expect("it is text")
        };
        let all = render_lines(None);
        assert_eq!(all.matches("error[").count(), 20);
        for max_lines in [0, 30, 80] {
            let text = render_lines(Some(max_lines));
            let shown = text.matches("error[").count();
            let (findings, rest) = text.rsplit_once("\n\n").expect("the findings end");
            assert!(shown == 1 || findings.lines().count() <= max_lines, "{max_lines}: {text}");
            assert!(all.starts_with(findings) && shown < 20, "{max_lines}: {text}");
            let more = format!("{} more findings: `--limit 0` shows all", 20 - shown);
            assert!(rest.starts_with(&more), "{max_lines}: {text}");
        }
        assert_eq!(render_lines(Some(10_000)), all);
    }
}
