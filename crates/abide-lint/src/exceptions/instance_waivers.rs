//! Waivers in the comments of instances: `# abide:allow(RULE): REASON`.
//!
//! A comment behind something covers what begins on its line. One on a line of its own covers what
//! begins on the next line that holds more than a comment; before `---`, and before a line without
//! anything at the head of a document, it covers the document.

use abide_schema::value::{Message, Value};
use abide_syntax::Span;
use jiff::civil::Date;

use super::allowance::{NamedChange, WaiverText, parse};
use super::waiver_defect::find_defect;
use crate::checks::MARKER;
use crate::finding::{ExceptionKind, Finding, Location, Origin};
use crate::inputs::InstanceFile;
use crate::policy::Policy;
use crate::rule::Rule;

/// A waiver in a comment of an instance.
struct InstanceWaiver {
    rule: &'static Rule,
    until: Option<Date>,
    change: NamedChange,
    reason: String,
    file: u32,
    /// The words of the waiver.
    span: Span,
    /// What it covers: whatever begins in one of them.
    covers: Vec<Span>,
    used: bool,
}

/// The waivers in the comments of a run.
pub(crate) struct InstanceWaivers {
    waivers: Vec<InstanceWaiver>,
    invalid: Vec<Finding>,
}

impl InstanceWaivers {
    pub(crate) fn of(policy: &Policy, files: &[InstanceFile<'_>]) -> InstanceWaivers {
        let mut all = InstanceWaivers { waivers: Vec::new(), invalid: Vec::new() };
        for (number, file) in (0..).zip(files).filter(|(_, file)| file.is_judged) {
            all.read(policy, number, file);
        }
        all
    }

    fn read(&mut self, policy: &Policy, number: u32, file: &InstanceFile<'_>) {
        for comment in &file.instance.comments {
            let text = comment.str(file.text);
            let words = text.trim_start_matches('#').trim();
            if !words.starts_with(MARKER) {
                continue;
            }
            let start = comment.start
                + (text.len() - text.trim_start_matches('#').trim_start().len()) as u32;
            let span = Span::new(start, start + words.len() as u32);
            match parse(policy, words) {
                Ok(WaiverText { rule, until, change, reason }) => {
                    self.waivers.push(InstanceWaiver {
                        rule,
                        until,
                        change,
                        reason,
                        file: number,
                        span,
                        covers: find_covered(file, *comment),
                        used: false,
                    })
                }
                Err((at, defect)) => {
                    let at = Span::new(start + at.start, start + at.end);
                    let location = Location::instance(number, at);
                    self.invalid.push(defect.finding(location, "", ""));
                }
            }
        }
    }

    /// Removes the findings that a waiver covers, and returns them.
    pub(crate) fn take(&mut self, findings: &mut Vec<Finding>, as_of: Date) -> Vec<Finding> {
        let taken = findings.extract_if(.., |finding| {
            let Origin::Instance(file) = finding.location.origin else { return false };
            let start = finding.location.span.start;
            let is_covering = |it: &&mut InstanceWaiver| {
                it.file == file
                    && it.rule.id == finding.rule
                    && it.change.is_of(finding)
                    && it.until.is_none_or(|until| as_of <= until)
                    && it.covers.iter().any(|span| span.start <= start && start < span.end)
            };
            let covering: Vec<&mut InstanceWaiver> =
                self.waivers.iter_mut().filter(is_covering).collect();
            for waiver in covering {
                waiver.used = true;
                finding.except(ExceptionKind::Comment, &waiver.reason);
            }
            finding.exception.is_some()
        });
        taken.collect()
    }

    /// The findings about the waivers themselves. `ran` says whether a rule ran.
    pub(crate) fn report_defects(self, as_of: Date, ran: &dyn Fn(&Rule) -> bool) -> Vec<Finding> {
        let mut findings = self.invalid;
        for waiver in self.waivers {
            let id = waiver.rule.id;
            let found = find_defect(id, waiver.until, as_of, waiver.used || !ran(waiver.rule));
            let location = Location::instance(waiver.file, waiver.span);
            findings.extend(found.map(|it| it.finding(location, id, "")));
        }
        findings
    }
}

/// Returns what a comment covers: its target line, and all of what begins there.
fn find_covered(file: &InstanceFile<'_>, comment: Span) -> Vec<Span> {
    let text = file.text;
    let line = line_at(text, comment.start);
    let is_alone = Span::new(line.start, comment.start).of(text).trim_ascii().is_empty();
    let mut target = line;
    if is_alone {
        loop {
            if target.end as usize >= text.len() {
                return Vec::new();
            }
            target = line_at(text, target.end + 1);
            let words = target.of(text).trim_ascii();
            let document = || {
                let documents = &file.instance.documents;
                let next = documents.iter().find(|it| it.span.start >= comment.start);
                let begins_here = |it: &Span| {
                    let head = Span::new(comment.start, it.start).of(text);
                    head.split(|&it| it == b'\n').all(is_head)
                };
                next.map(|it| it.span).filter(begins_here)
            };
            match words {
                [] | [b'-', b'-', b'-', ..] => {
                    if let Some(document) = document() {
                        return vec![document];
                    }
                }
                [b'#', ..] => {}
                _ => break,
            }
        }
    }
    let mut spans = vec![target];
    for document in &file.instance.documents {
        if let Some(message) = document.message() {
            collect_begun(message, target, &mut spans);
        }
        let undeclared = document.reading.iter().flat_map(|it| &it.undeclared);
        spans.extend(undeclared.map(|it| it.key.to(it.value)).filter(|it| begins(*it, target)));
    }
    spans
}

fn begins(span: Span, line: Span) -> bool {
    line.start <= span.start && span.start < line.end
}

/// Returns true if a line may stand between the head of a document and its first key.
fn is_head(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.is_empty() || line.starts_with(b"#") || line.starts_with(b"---")
}

/// Finds what of a message begins on a line.
fn collect_begun(message: &Message, line: Span, spans: &mut Vec<Span>) {
    if let Some(content) = &message.content {
        return collect_begun(content, line, spans);
    }
    for entry in &message.entries {
        // What is said once by its key covers every value of a list.
        let whole = if begins(entry.key, line) { entry.key.to(entry.span) } else { entry.span };
        if !entry.span.is_empty() && begins(whole, line) {
            spans.push(whole);
        } else if let Value::Message(inner) = &entry.value {
            collect_begun(inner, line, spans);
        }
    }
}

/// The line that holds a place, without its end.
fn line_at(text: &[u8], at: u32) -> Span {
    let at = (at as usize).min(text.len());
    let start = text[..at].iter().rposition(|&it| it == b'\n').map_or(0, |it| it + 1);
    let end = text[at..].iter().position(|&it| it == b'\n').map_or(text.len(), |it| at + it);
    Span::new(start as u32, end as u32)
}
