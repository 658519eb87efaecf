//! For people: a snippet for each finding, with the path through the tree as labels.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use abide::{Bump, ChangeFacts, ConfigError, Finding, Location, Report, Severity};
use abide_schema::FileId;
use abide_syntax::{LineIndex, Span};
use codespan_reporting::diagnostic::{self, Diagnostic};
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term::termcolor::{Ansi, NoColor, WriteColor};
use codespan_reporting::term::{self, Config};

use super::{Scene, TextFile};
use crate::source::{is_unprintable, shown};

pub(super) fn render(report: &Report, scene: &Scene) -> Vec<u8> {
    let mut out = if scene.color {
        let mut writer = Ansi::new(Vec::new());
        findings(&mut writer, report, scene);
        writer.into_inner()
    } else {
        let mut writer = NoColor::new(Vec::new());
        findings(&mut writer, report, scene);
        writer.into_inner()
    };
    if !scene.quiet {
        out.extend(summary(report).bytes());
    }
    out
}

fn findings(out: &mut dyn WriteColor, report: &Report, scene: &Scene) {
    let sources = Sources::new(scene);
    let config = Config::default();
    for finding in scene.shown(report) {
        let diagnostic = diagnostic(finding, scene, &sources);
        // Writing into memory does not fail, and every place is one of `sources`.
        let written = term::emit_to_write_style(out, &config, &sources, &diagnostic);
        debug_assert!(written.is_ok(), "{written:?}");
    }
}

/// One line that is true on its own.
fn summary(report: &Report) -> String {
    let count = |count: usize, noun: &str| match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    };
    let mut found = Vec::new();
    for (number, noun) in
        [(report.errors, "error"), (report.warnings, "warning"), (report.notes, "note")]
    {
        if number > 0 {
            found.push(count(number, noun));
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
        Some(Bump::None) => "; no bump is needed",
        Some(Bump::Patch) => "; the tree needs a patch bump",
        Some(Bump::Minor) => "; the tree needs a minor bump",
        Some(Bump::Major) => "; the tree needs a major bump",
    };
    format!(
        "{} in {}: {found}{spared}{bump}\n",
        count(report.files, "file"),
        count(report.packages, "package"),
    )
}

fn diagnostic(finding: &Finding, scene: &Scene, sources: &Sources) -> Diagnostic<usize> {
    let severity = match finding.severity {
        Severity::Error => diagnostic::Severity::Error,
        Severity::Warning => diagnostic::Severity::Warning,
        Severity::Note => diagnostic::Severity::Note,
    };
    let mut labels = Vec::new();
    let mut notes = Vec::new();
    match sources.place(&finding.location) {
        Some((file, span)) => {
            let label = diagnostic::Label::primary(file, sources.first_line(file, span));
            labels.push(label.with_message(finding.at.as_deref().unwrap_or("")));
        }
        None => {
            let lines = scene.lines(&finding.location);
            notes.push(match lines.range {
                Some((start, _)) => format!("at {}:{}:{}", lines.path, start.line, start.column),
                None => format!("at {}", lines.path),
            });
        }
    }
    for label in &finding.labels {
        let place = Location::Tree(label.place);
        match sources.place(&place) {
            Some((file, span)) => labels.push(
                diagnostic::Label::secondary(file, sources.first_line(file, span))
                    .with_message(&label.message),
            ),
            None => notes.push(format!("{}: {}", scene.lines(&place).path, label.message)),
        }
    }
    if let Some(change) = &finding.change {
        let old = change.old.map(Location::Old).filter(|old| *old != finding.location);
        if let Some((file, span)) = old.and_then(|old| sources.place(&old)) {
            let label = diagnostic::Label::secondary(file, sources.first_line(file, span));
            labels.push(label.with_message("as it was"));
        }
        notes.extend(effects(change));
    }
    if let Some(why) = &finding.why {
        notes.push(format!("why: {why}"));
    }
    if let Some(help) = &finding.help {
        notes.push(format!("help: {help}"));
    }
    if scene.verbose {
        if let Some(reason) = &finding.severity_reason {
            notes.push(format!("severity: {reason}"));
        }
        notes.push(format!("fingerprint: {}", finding.fingerprint()));
    }
    for label in &mut labels {
        label.message = shown(&label.message);
    }
    let width = scene.width.saturating_sub(NOTE_INDENT);
    Diagnostic::new(severity)
        .with_code(finding.rule)
        .with_message(shown(&finding.message))
        .with_labels(labels)
        .with_notes(notes.iter().map(|note| wrap(&shown(note), width)).collect())
}

/// Whom a change breaks, and the value that shows it.
fn effects(change: &ChangeFacts) -> Vec<String> {
    let mut notes = Vec::new();
    if !change.effects.is_empty() {
        notes.push(format!("breaks: {}", change.effects));
    }
    for lost in &change.symbols {
        notes.push(format!("{}: {}", lost.surface, lost.symbol));
    }
    if let Some(witness) = &change.witness {
        let side = witness.direction.writer();
        let value = match witness.value.as_str() {
            "" => "the empty message".to_owned(),
            _ => witness.shown(),
        };
        notes.push(format!(
            "witness: {value} as {side} {} on {}: {}",
            witness.message, witness.surface, witness.observed,
        ));
    }
    notes
}

/// What stands before a note: the line numbers' column and a bullet.
const NOTE_INDENT: usize = 9;

/// Breaks a line at spaces so that it fits; a word that is longer stays whole.
fn wrap(text: &str, width: usize) -> String {
    let mut wrapped = String::with_capacity(text.len());
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            wrapped.push('\n');
            used = 0;
        } else if used > 0 {
            wrapped.push(' ');
            used += 1;
        }
        wrapped.push_str(word);
        used += length;
    }
    wrapped
}

/// Renders the errors of a configuration.
pub(crate) fn config_errors(errors: &[ConfigError], file: &TextFile, color: bool) -> String {
    let files =
        Sources { old_from: 0, files: Vec::new(), extra: vec![Text::new(&file.name, &file.text)] };
    let config = Config::default();
    let mut out = Ansi::new(Vec::new());
    let mut plain = NoColor::new(Vec::new());
    for error in errors {
        let diagnostic = Diagnostic::error()
            .with_message(shown(&error.message))
            .with_label(diagnostic::Label::primary(0, error.span.range()))
            .with_notes(error.help.iter().map(|help| format!("help: {}", shown(help))).collect());
        let writer: &mut dyn WriteColor = if color { &mut out } else { &mut plain };
        let written = term::emit_to_write_style(writer, &config, &files, &diagnostic);
        debug_assert!(written.is_ok(), "{written:?}");
    }
    let bytes = if color { out.into_inner() } else { plain.into_inner() };
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Texts by number: the files of the tree, those of the old tree, then the others.
struct Sources<'a> {
    /// The number of the first file of the old tree.
    old_from: usize,
    files: Vec<Text<'a>>,
    extra: Vec<Text<'a>>,
}

struct Text<'a> {
    name: &'a str,
    /// `None` for a file that was read from a descriptor.
    bytes: Option<&'a [u8]>,
    lines: Lines<'a>,
    /// What is shown of the text, made when it is first needed.
    shown: OnceCell<Cow<'a, str>>,
}

enum Lines<'a> {
    Of(abide_schema::File<'a>),
    Own(LineIndex),
}

impl<'a> Text<'a> {
    fn new(name: &'a str, text: &'a str) -> Text<'a> {
        let lines = Lines::Own(LineIndex::new(text.as_bytes()));
        Text { name, bytes: Some(text.as_bytes()), lines, shown: OnceCell::new() }
    }

    fn index(&self) -> &LineIndex {
        match &self.lines {
            Lines::Of(file) => file.decl().line_index(),
            Lines::Own(index) => index,
        }
    }

    /// The text with a question mark for each byte that is not UTF-8 or that a terminal would
    /// obey, so that offsets hold.
    fn text(&self) -> &str {
        self.shown.get_or_init(|| {
            let bytes = self.bytes.unwrap_or_default();
            let plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
            // In blocks, so that the compiler can look at many bytes at once.
            let block = |block: &[u8]| block.iter().fold(true, |all, byte| all & plain(byte));
            if let (true, Ok(text)) = (bytes.chunks(64).all(block), std::str::from_utf8(bytes)) {
                return text.into();
            }
            let hidden = |c: char| is_unprintable(c) && !matches!(c, '\n' | '\t' | '\r');
            match std::str::from_utf8(bytes) {
                Ok(text) if !text.contains(hidden) && !has_lone_return(bytes) => text.into(),
                _ => {
                    let mut text = String::with_capacity(bytes.len());
                    for chunk in bytes.utf8_chunks() {
                        let mut chars = chunk.valid().chars().peekable();
                        while let Some(c) = chars.next() {
                            if hidden(c) || c == '\r' && chars.peek() != Some(&'\n') {
                                text.extend(std::iter::repeat_n('?', c.len_utf8()));
                            } else {
                                text.push(c);
                            }
                        }
                        text.extend(chunk.invalid().iter().map(|_| '?'));
                    }
                    text.into()
                }
            }
        })
    }
}

impl<'a> Sources<'a> {
    fn new(scene: &Scene<'a>) -> Sources<'a> {
        let source = |file: abide_schema::File<'a>| Text {
            name: &file.decl().display,
            bytes: file.decl().source_text(),
            lines: Lines::Of(file),
            shown: OnceCell::new(),
        };
        let old = scene.old.into_iter().flat_map(|tree| tree.files()).map(source);
        let extra = [scene.config, scene.accepted]
            .map(|file| file.map_or(Text::new("", ""), |file| Text::new(&file.name, &file.text)));
        let new: Vec<Text<'a>> = scene.tree.files().map(source).collect();
        let old_from = new.len();
        Sources { old_from, files: new.into_iter().chain(old).collect(), extra: extra.into() }
    }

    fn text(&self, id: usize) -> Option<&Text<'a>> {
        self.files.get(id).or_else(|| self.extra.get(id - self.files.len()))
    }

    /// Where a location stands, if there is text to show for it.
    fn place(&self, location: &Location) -> Option<(usize, Span)> {
        let (id, span) = match location {
            Location::Tree(place) => {
                let FileId(id) = place.file;
                (id as usize, place.span)
            }
            Location::Old(place) => {
                let FileId(id) = place.file;
                (self.old_from + id as usize, place.span)
            }
            Location::Config(span) => (self.files.len(), *span),
            Location::Accepted(span) => (self.files.len() + 1, *span),
        };
        self.text(id)?.bytes.map(|_| (id, span))
    }

    /// A span cut at the end of its first line: a whole message would fill the screen.
    fn first_line(&self, id: usize, span: Span) -> Range<usize> {
        let Some(text) = self.text(id) else { return 0..0 };
        let rest = &text.bytes.unwrap_or_default()[span.start as usize..];
        let length = rest.iter().position(|&b| b == b'\n' || b == b'\r').unwrap_or(rest.len());
        span.start as usize..(span.end as usize).min(span.start as usize + length)
    }
}

/// Whether a carriage return stands without a line feed: it would overwrite its line.
fn has_lone_return(text: &[u8]) -> bool {
    let mut returns = text.iter().enumerate().filter(|(_, byte)| **byte == b'\r');
    returns.any(|(at, _)| text.get(at + 1) != Some(&b'\n'))
}

impl<'f> Files<'f> for Sources<'_> {
    type FileId = usize;
    type Name = String;
    type Source = &'f str;

    fn name(&'f self, id: usize) -> Result<String, Error> {
        // A name may hold a line feed; a report line may not.
        let name = shown(self.text(id).ok_or(Error::FileMissing)?.name);
        let old = (self.old_from..self.files.len()).contains(&id);
        Ok(if old { format!("{name} (old)") } else { name })
    }

    fn source(&'f self, id: usize) -> Result<&'f str, Error> {
        Ok(self.text(id).ok_or(Error::FileMissing)?.text())
    }

    fn line_index(&'f self, id: usize, byte: usize) -> Result<usize, Error> {
        Ok(self.text(id).ok_or(Error::FileMissing)?.index().line(byte as u32) as usize)
    }

    fn line_range(&'f self, id: usize, line: usize) -> Result<Range<usize>, Error> {
        let text = self.text(id).ok_or(Error::FileMissing)?;
        let index = text.index();
        let length = text.bytes.unwrap_or_default().len();
        let start = index
            .line_start(line as u32)
            .ok_or(Error::LineTooLarge { given: line, max: index.lines() as usize })?;
        let end = index.line_start(line as u32 + 1).map_or(length, |end| end as usize);
        Ok(start as usize..end)
    }
}
