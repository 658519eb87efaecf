//! Findings that existed when the tool was adopted.

use abide_syntax::Span;
use rustc_hash::FxHashMap;

use crate::finding::{ConfigError, Finding, is_fingerprint};

/// The content of `abide.accepted`: the fingerprints of findings that are not
/// reported. Each has one line, sorted, so that branches merge line by line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accepted {
    lines: Vec<AcceptedLine>,
    /// Where the lines of each fingerprint are.
    by_fingerprint: FxHashMap<String, Vec<usize>>,
}

/// A line of `abide.accepted`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AcceptedLine {
    pub(crate) rule: String,
    pub(crate) element: String,
    pub(crate) fingerprint: String,
    pub(crate) span: Span,
    /// The line with its end.
    pub(crate) line: Span,
}

const HEADER: &str = "\
# Findings that existed when Abide was adopted. They are not reported.
# A line is RULE ELEMENT FINGERPRINT. Fix a finding and delete its line;
# `abide check --accept` rewrites this file.
";

impl Accepted {
    /// Reads `abide.accepted`; every malformed line is an error.
    pub fn parse(text: &str) -> Result<Accepted, Vec<ConfigError>> {
        let mut lines = Vec::new();
        let mut errors = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let content = line.trim_end();
            let span = Span::new(start as u32, (start + content.len()) as u32);
            let whole = Span::new(start as u32, (start + line.len()) as u32);
            start += line.len();
            if content.is_empty() || content.starts_with('#') {
                continue;
            }
            let words: Vec<&str> = content.split_whitespace().collect();
            match words[..] {
                [rule, element, fingerprint] if is_fingerprint(fingerprint) => {
                    lines.push(AcceptedLine {
                        rule: rule.to_owned(),
                        element: element.to_owned(),
                        fingerprint: fingerprint.to_owned(),
                        span,
                        line: whole,
                    });
                }
                _ => errors.push(ConfigError {
                    message: "expected a rule, an element and a fingerprint".to_owned(),
                    span,
                    help: Some("`abide check --accept` rewrites this file".to_owned()),
                }),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let mut by_fingerprint: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        for (index, line) in lines.iter().enumerate() {
            by_fingerprint.entry(line.fingerprint.clone()).or_default().push(index);
        }
        Ok(Accepted { lines, by_fingerprint })
    }

    /// The text of an `abide.accepted` that holds these findings. The comments of the text before
    /// stay above their lines; those of a line that goes stand above the next one that stays.
    pub fn text<'f>(before: &str, findings: impl IntoIterator<Item = &'f Finding>) -> String {
        let mut lines: Vec<String> = findings
            .into_iter()
            .flat_map(|finding| {
                // An element never contains white space, but the path of a file may.
                let element: String = finding
                    .element
                    .chars()
                    .map(|it| if it.is_whitespace() || it.is_control() { '?' } else { it })
                    .collect();
                let element = if element.is_empty() { "-" } else { &element };
                let line = |fingerprint| format!("{} {element} {fingerprint}\n", finding.rule);
                finding.fingerprints().into_iter().map(line).collect::<Vec<String>>()
            })
            .collect();
        lines.sort();
        lines.dedup();
        let mut comments: FxHashMap<&str, String> = FxHashMap::default();
        let mut open = String::new();
        for line in before.lines().map(str::trim_end).filter(|it| !it.is_empty()) {
            if line.starts_with('#') {
                let is_header = HEADER.lines().any(|it| it == line);
                open.push_str(&if is_header { String::new() } else { format!("{line}\n") });
            } else if let Ok(at) = lines.binary_search_by(|it| it.trim_end().cmp(line)) {
                comments.entry(&lines[at]).or_default().push_str(&std::mem::take(&mut open));
            }
        }
        let mut text = HEADER.to_owned();
        for line in &lines {
            text.push_str(comments.get(&**line).map_or("", String::as_str));
            text.push_str(line);
        }
        text + &open
    }

    /// Returns true if a finding is among them.
    pub(crate) fn holds(&self, finding: &Finding) -> bool {
        self.lines_of(finding).next().is_some()
    }

    /// Returns which lines name a finding.
    pub(crate) fn lines_of(&self, finding: &Finding) -> impl Iterator<Item = usize> {
        let of_fingerprint = match self.lines.is_empty() {
            true => None,
            false => self.by_fingerprint.get(&finding.fingerprint()),
        };
        let of_rule = |it: &usize| self.lines.get(*it).is_some_and(|it| it.rule == finding.rule);
        of_fingerprint.into_iter().flatten().copied().filter(of_rule)
    }

    pub(crate) fn lines(&self) -> &[AcceptedLine] {
        &self.lines
    }
}
