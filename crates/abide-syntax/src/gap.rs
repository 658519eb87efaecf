//! The comments between two tokens, sorted by whom protoc gives them to: `Tokenizer::NextWithComments`.

use crate::span::Span;

/// A block comment, or line comments on consecutive lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommentBlock {
    /// Marks included, the end of the last line not.
    pub span: Span,
    /// True if it is `/* … */`.
    pub block: bool,
}

impl CommentBlock {
    /// The comment without its marks. In a line comment each line keeps its
    /// end; in a block comment each line after the first loses its white space
    /// and one asterisk at the front. Source: `Tokenizer::ConsumeLineComment`
    /// and `ConsumeBlockComment`.
    pub fn text(self, source: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity((self.span.end - self.span.start) as usize);
        self.comment_lines(source).for_each(|line| out.extend_from_slice(line));
        out
    }

    /// The lines of [`CommentBlock::text`], each with its end.
    pub fn comment_lines(self, source: &[u8]) -> impl Iterator<Item = &[u8]> {
        let text = if self.block {
            let body = self.span.of(source).get(2..).unwrap_or_default();
            body.strip_suffix(b"*/").unwrap_or(body)
        } else {
            // The end of the last line belongs to the text, not to the span.
            let end = find_line_end(source, self.span.end as usize) as u32;
            Span::new(self.span.start, end).of(source)
        };
        let mut first = true;
        split_lines(text).map(move |line| {
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

    /// Returns true if its text is empty.
    pub fn is_empty(self, source: &[u8]) -> bool {
        self.comment_lines(source).all(<[u8]>::is_empty)
    }
}

/// The lines of a text, each with its end.
fn split_lines(mut text: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (line, rest) = text.split_at_checked(find_line_end(text, 0))?;
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
fn find_line_end(text: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', text.get(at..).unwrap_or_default())
        .map_or(text.len(), |length| at + length + 1)
}

/// The comments between two declarations, all of them, by where protoc
/// attaches them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommentGap {
    /// The comment that belongs to the token before.
    pub trailing: Option<CommentBlock>,
    /// The comments that belong to neither.
    pub detached: Vec<CommentBlock>,
    /// The comment that belongs to the token behind.
    pub leading: Option<CommentBlock>,
}

impl CommentGap {
    /// Sorts the comments behind the token that ends at `start`.
    pub fn read_after(text: &[u8], start: u32) -> CommentGap {
        sort(text, start as usize, true)
    }

    /// Sorts the comments before the first token of a file.
    pub fn read_at_start(text: &[u8], start: u32) -> CommentGap {
        sort(text, start as usize, false)
    }
}

/// `Tokenizer::NextWithComments`.
fn sort(text: &[u8], start: usize, behind_token: bool) -> CommentGap {
    let mut scan = GapScanner { text, at: start };
    let mut collector = BlockCollector { attachable: behind_token, ..BlockCollector::default() };
    // Whether the next token is on the line of the token before, or on the
    // line on which a trailing block comment ends.
    let mut same_line = behind_token;
    if behind_token {
        scan.skip_space();
        match scan.read_comment_block() {
            Some(run) => {
                collector.add(run);
                collector.flush();
                // The loop below sees a line that is blank behind a comment.
                if run.block {
                    scan.skip_space();
                    if scan.skip_newline() {
                        same_line = false;
                    }
                } else {
                    same_line = false;
                }
            }
            None if scan.skip_newline() => same_line = false,
            None => return CommentGap::default(),
        }
    }
    loop {
        scan.skip_space();
        if let Some(run) = scan.read_comment_block() {
            collector.add(run);
            same_line &= run.block && !run.span.of(text).contains(&b'\n');
            if run.block {
                scan.skip_space();
                same_line &= !scan.skip_newline();
            }
        } else if scan.skip_newline() {
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
            let BlockCollector { trailing, detached, pending, .. } = collector;
            return CommentGap { trailing, detached, leading: pending };
        }
    }
}

struct GapScanner<'t> {
    text: &'t [u8],
    at: usize,
}

impl GapScanner<'_> {
    fn skip_space(&mut self) {
        while self.text.get(self.at).is_some_and(|&byte| is_space(byte)) {
            self.at += 1;
        }
    }

    fn skip_newline(&mut self) -> bool {
        let found = self.text.get(self.at) == Some(&b'\n');
        self.at += usize::from(found);
        found
    }

    /// Passes a comment, for a line comment with the end of its line.
    fn read_comment_block(&mut self) -> Option<CommentBlock> {
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
            find_line_end(self.text, self.at)
        };
        self.at = end;
        let last = if block || self.text.get(end - 1) != Some(&b'\n') { end } else { end - 1 };
        Some(CommentBlock { span: Span::new(start, last as u32), block })
    }
}

/// `CommentCollector` of protobuf's tokenizer.cc.
#[derive(Default)]
struct BlockCollector {
    attachable: bool,
    trailing: Option<CommentBlock>,
    detached: Vec<CommentBlock>,
    pending: Option<CommentBlock>,
}

impl BlockCollector {
    fn add(&mut self, run: CommentBlock) {
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
