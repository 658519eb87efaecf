//! The comments between two tokens, sorted by whom protoc gives them to: `Tokenizer::NextWithComments`.

use crate::span::Span;

/// A block comment, or line comments on consecutive lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Marks included, the end of the last line not.
    pub span: Span,
    /// Whether it is `/* … */`.
    pub block: bool,
}

impl Run {
    /// The comment without its marks. In a line comment each line keeps its
    /// end; in a block comment each line after the first loses its white space
    /// and one asterisk at the front. Source: `Tokenizer::ConsumeLineComment`
    /// and `ConsumeBlockComment`.
    pub fn text(self, source: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity((self.span.end - self.span.start) as usize);
        self.lines(source).for_each(|line| out.extend_from_slice(line));
        out
    }

    /// The lines of [`Run::text`], each with its end.
    pub fn lines(self, source: &[u8]) -> impl Iterator<Item = &[u8]> {
        let text = if self.block {
            let body = self.span.of(source).get(2..).unwrap_or_default();
            body.strip_suffix(b"*/").unwrap_or(body)
        } else {
            // The end of the last line belongs to the text, not to the span.
            let end = line_end(source, self.span.end as usize) as u32;
            Span::new(self.span.start, end).of(source)
        };
        let mut first = true;
        lines(text).map(move |line| {
            let first = std::mem::take(&mut first);
            if !self.block {
                let slashes = line.iter().position(|&byte| byte == b'/').unwrap_or(line.len());
                line.get(slashes + 2..).unwrap_or_default()
            } else if first {
                line
            } else {
                strip_margin(line)
            }
        })
    }

    /// Whether its text is empty.
    pub fn is_empty(self, source: &[u8]) -> bool {
        self.lines(source).all(<[u8]>::is_empty)
    }
}

/// The lines of a text, each with its end.
fn lines(mut text: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (line, rest) = text.split_at_checked(line_end(text, 0))?;
        text = rest;
        (!line.is_empty()).then_some(line)
    })
}

fn strip_margin(line: &[u8]) -> &[u8] {
    let space = line.iter().take_while(|&&byte| is_space(byte)).count();
    let rest = &line[space..];
    rest.strip_prefix(b"*").unwrap_or(rest)
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

/// One past the `\n` at or after `at`, or the end of the text.
fn line_end(text: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', text.get(at..).unwrap_or_default())
        .map_or(text.len(), |length| at + length + 1)
}

/// The comments between two declarations, all of them, by where protoc
/// attaches them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// What belongs to the token before.
    pub trailing: Option<Run>,
    /// What belongs to neither.
    pub detached: Vec<Run>,
    /// What belongs to the token behind.
    pub leading: Option<Run>,
}

impl Gap {
    /// Sorts the comments behind the token that ends at `start`.
    pub fn after(text: &[u8], start: u32) -> Gap {
        sort(text, start as usize, true)
    }

    /// Sorts the comments before the first token of a file.
    pub fn at_start(text: &[u8], start: u32) -> Gap {
        sort(text, start as usize, false)
    }
}

/// `Tokenizer::NextWithComments`.
fn sort(text: &[u8], start: usize, behind_token: bool) -> Gap {
    let mut scan = Scan { text, at: start };
    let mut collector = Collector { attachable: behind_token, ..Collector::default() };
    // Whether the next token is on the line of the token before, or on the
    // line on which a trailing block comment ends.
    let mut same_line = behind_token;
    if behind_token {
        scan.skip_space();
        match scan.comment() {
            Some(run) => {
                collector.add(run);
                collector.flush();
                // The loop below sees a line that is blank behind a comment.
                if run.block {
                    scan.skip_space();
                    if scan.newline() {
                        same_line = false;
                    }
                } else {
                    same_line = false;
                }
            }
            None if scan.newline() => same_line = false,
            None => return Gap::default(),
        }
    }
    loop {
        scan.skip_space();
        if let Some(run) = scan.comment() {
            collector.add(run);
            same_line &= run.block && !run.span.of(text).contains(&b'\n');
            if run.block {
                scan.skip_space();
                same_line &= !scan.newline();
            }
        } else if scan.newline() {
            collector.flush();
            collector.attachable = false;
            same_line = false;
        } else {
            // At the end of a scope a comment does not belong to what follows.
            if matches!(text.get(scan.at), None | Some(b'}' | b']' | b')')) {
                collector.flush();
            }
            if same_line {
                collector.detach();
            }
            let Collector { trailing, detached, pending, .. } = collector;
            return Gap { trailing, detached, leading: pending };
        }
    }
}

struct Scan<'t> {
    text: &'t [u8],
    at: usize,
}

impl Scan<'_> {
    fn skip_space(&mut self) {
        while self.text.get(self.at).is_some_and(|&byte| is_space(byte)) {
            self.at += 1;
        }
    }

    fn newline(&mut self) -> bool {
        let found = self.text.get(self.at) == Some(&b'\n');
        self.at += usize::from(found);
        found
    }

    /// Passes a comment, for a line comment with the end of its line.
    fn comment(&mut self) -> Option<Run> {
        let rest = self.text.get(self.at..)?;
        let start = self.at as u32;
        let block = match rest {
            [b'/', b'/', ..] => false,
            [b'/', b'*', ..] => true,
            _ => return None,
        };
        let end = if block {
            let body = &rest[2..];
            self.at + 2 + memchr::memmem::find(body, b"*/").map_or(body.len(), |at| at + 2)
        } else {
            line_end(self.text, self.at)
        };
        self.at = end;
        let last = if block || self.text.get(end - 1) != Some(&b'\n') { end } else { end - 1 };
        Some(Run { span: Span::new(start, last as u32), block })
    }
}

/// `CommentCollector` of protobuf's tokenizer.cc.
#[derive(Default)]
struct Collector {
    attachable: bool,
    trailing: Option<Run>,
    detached: Vec<Run>,
    pending: Option<Run>,
}

impl Collector {
    fn add(&mut self, run: Run) {
        match &mut self.pending {
            Some(pending) if !pending.block && !run.block => pending.span.end = run.span.end,
            _ => {
                self.flush();
                self.pending = Some(run);
            }
        }
    }

    fn flush(&mut self) {
        let Some(run) = self.pending.take() else { return };
        if std::mem::take(&mut self.attachable) {
            self.trailing = Some(run);
        } else {
            self.detached.push(run);
        }
    }

    /// A single comment between two tokens of one line may belong to either,
    /// so it belongs to none.
    fn detach(&mut self) {
        let pending = usize::from(self.pending.is_some());
        let trailing = usize::from(self.trailing.is_some());
        if pending + trailing + self.detached.len() == 1 {
            if let Some(trailing) = self.trailing.take() {
                self.detached.push(trailing);
            }
            self.flush();
        }
    }
}
