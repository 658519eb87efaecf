//! Places in a text.

/// A half-open range of byte offsets into one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range `start..end`.
    pub const fn new(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    /// The empty range at `offset`.
    pub const fn at(offset: u32) -> Span {
        Span { start: offset, end: offset }
    }

    /// The smallest range that holds both.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Whether the range holds no byte.
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The range as an index into the bytes of its file.
    pub const fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The bytes of the range; empty where the range lies outside `text`.
    pub fn of(self, text: &[u8]) -> &[u8] {
        text.get(self.range()).unwrap_or_default()
    }

    /// The text of the range, empty where it is not UTF-8.
    pub fn str(self, text: &[u8]) -> &str {
        std::str::from_utf8(self.of(text)).unwrap_or_default()
    }
}

/// A line and a column, both counted from 1; columns count Unicode scalar
/// values (a byte that is not UTF-8 counts as one).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// The offsets at which the lines of a text begin.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Box<[u32]>,
}

impl LineIndex {
    /// Finds the lines of `text`. A line ends after `\n`.
    pub fn new(text: &[u8]) -> LineIndex {
        let ends = memchr::memchr_iter(b'\n', text).map(|at| at as u32 + 1);
        LineIndex { starts: std::iter::once(0).chain(ends).collect() }
    }

    /// The line that holds `offset`, from 0.
    pub fn line(&self, offset: u32) -> u32 {
        self.starts.partition_point(|&start| start <= offset) as u32 - 1
    }

    /// The offset at which a line (from 0) begins.
    pub fn line_start(&self, line: u32) -> Option<u32> {
        self.starts.get(line as usize).copied()
    }

    /// How many lines the text has.
    pub fn lines(&self) -> u32 {
        self.starts.len() as u32
    }

    /// The line and column of `offset` for a reader.
    pub fn position(&self, text: &[u8], offset: u32) -> Position {
        let line = self.line(offset);
        let start = self.starts[line as usize];
        let before = Span::new(start, offset.min(text.len() as u32)).of(text);
        let columns: usize = before
            .utf8_chunks()
            .map(|chunk| chunk.valid().chars().count() + chunk.invalid().len())
            .sum();
        Position { line: line + 1, column: columns as u32 + 1 }
    }

    /// The line and column of `offset` as protoc counts them: from 0, a tab
    /// moves to the next multiple of 8, and every other byte counts one.
    /// Source: `io::Tokenizer::NextChar` of protobuf.
    pub fn protoc_position(&self, text: &[u8], offset: u32) -> (i32, i32) {
        let line = self.line(offset);
        let start = self.starts[line as usize];
        let mut column = 0;
        for &byte in Span::new(start, offset.min(text.len() as u32)).of(text) {
            column = if byte == b'\t' { (column / 8 + 1) * 8 } else { column + 1 };
        }
        (line as i32, column)
    }
}
