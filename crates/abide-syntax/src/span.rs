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

    /// Returns true if the range holds no byte.
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
    /// Known columns inside long lines, so that no column is counted from the start of its line.
    /// A whole text may be one line.
    marks: Box<[LineMark]>,
}

/// About how many bytes lie between two marks.
const STRIDE: usize = 1024;

/// The columns of a line, counted up to an offset.
#[derive(Clone, Copy, Debug)]
struct LineMark {
    offset: u32,
    /// Counted as a reader does.
    characters: u32,
    /// Counted as protoc does.
    protoc: u32,
}

impl LineMark {
    /// The start of a line.
    fn begin(offset: u32) -> LineMark {
        LineMark { offset, characters: 0, protoc: 0 }
    }
}

/// Unicode scalar values, and bytes that are not UTF-8.
fn count_characters(text: &[u8]) -> u32 {
    let chunks = text.utf8_chunks();
    let counts = chunks.map(|chunk| chunk.valid().chars().count() + chunk.invalid().len());
    counts.sum::<usize>() as u32
}

/// The column, as protoc counts, after `text` that starts at `column`.
fn advance_protoc_column(column: u32, text: &[u8]) -> u32 {
    let step = |column, byte: &u8| if *byte == b'\t' { (column / 8 + 1) * 8 } else { column + 1 };
    text.iter().fold(column, step)
}

/// The marks of a line.
fn iter_marks(text: &[u8], start: u32, end: u32) -> impl Iterator<Item = LineMark> {
    // Counting can only resume between characters.
    let is_inside = |at: &usize| text[*at] & 0b1100_0000 == 0b1000_0000;
    let next = move |mark: &LineMark| {
        let from = mark.offset as usize + STRIDE;
        let at = (from..end as usize).find(|at| !is_inside(at))?;
        let more = Span::new(mark.offset, at as u32).of(text);
        Some(LineMark {
            offset: at as u32,
            characters: mark.characters + count_characters(more),
            protoc: advance_protoc_column(mark.protoc, more),
        })
    };
    std::iter::successors(next(&LineMark::begin(start)), next)
}

impl LineIndex {
    /// Finds the lines of `text`. A line ends after `\n`.
    pub fn new(text: &[u8]) -> LineIndex {
        let ends = memchr::memchr_iter(b'\n', text).map(|at| at as u32 + 1);
        // Lines are seldom shorter, and what is too much is given back.
        let mut starts = Vec::with_capacity(text.len() / 24 + 1);
        starts.push(0);
        starts.extend(ends);
        let starts = starts.into_boxed_slice();
        let ends = starts.iter().skip(1).copied().chain([text.len() as u32]);
        let lines = starts.iter().copied().zip(ends);
        let long = lines.filter(|(start, end)| (end - start) as usize > STRIDE);
        let marks = long.flat_map(|(start, end)| iter_marks(text, start, end)).collect();
        LineIndex { starts, marks }
    }

    /// The nearest mark before an offset in its line, and the text from there to the offset.
    fn count_to<'t>(&self, text: &'t [u8], line: u32, offset: u32) -> (LineMark, &'t [u8]) {
        let start = self.starts[line as usize];
        let behind = self.marks.partition_point(|mark| mark.offset <= offset);
        let mark = behind.checked_sub(1).map(|at| self.marks[at]).filter(|it| it.offset > start);
        let mark = mark.unwrap_or(LineMark::begin(start));
        let end = offset.min(text.len() as u32);
        (mark, Span::new(mark.offset.min(end), end).of(text))
    }

    /// The line that holds `offset`, from 0.
    pub fn line(&self, offset: u32) -> u32 {
        self.starts.partition_point(|&start| start <= offset) as u32 - 1
    }

    /// The line that holds `offset`, from 0. It is found sooner if it is `near` or one of the next
    /// two.
    pub fn line_near(&self, near: u32, offset: u32) -> u32 {
        let begins_before = |line: u32| self.line_start(line).is_some_and(|start| start <= offset);
        if begins_before(near)
            && let Some(line) = (near..near.saturating_add(3)).find(|line| !begins_before(line + 1))
        {
            return line;
        }
        self.line(offset)
    }

    /// The offset at which a line (from 0) begins.
    pub fn line_start(&self, line: u32) -> Option<u32> {
        self.starts.get(line as usize).copied()
    }

    /// Returns the number of lines.
    pub fn line_count(&self) -> u32 {
        self.starts.len() as u32
    }

    /// The line and column of `offset` for a reader.
    pub fn position(&self, text: &[u8], offset: u32) -> Position {
        let line = self.line(offset);
        let (mark, rest) = self.count_to(text, line, offset);
        Position { line: line + 1, column: mark.characters + count_characters(rest) + 1 }
    }

    /// The line and column of `offset` as protoc counts them: from 0, a tab
    /// moves to the next multiple of 8, and every other byte counts one.
    /// Source: `io::Tokenizer::NextChar` of protobuf.
    pub fn protoc_position(&self, text: &[u8], offset: u32) -> (i32, i32) {
        let line = self.line(offset);
        let (mark, rest) = self.count_to(text, line, offset);
        (line as i32, advance_protoc_column(mark.protoc, rest) as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marks save counting, and change nothing.
    #[test]
    fn columns_of_a_long_line_are_those_of_counting_from_its_begin() {
        let pieces: [&[u8]; 7] =
            [b"a", b"\t", "é".as_bytes(), "日".as_bytes(), b"\xff", b"\x80", b"\xe2\x82"];
        let mut random = 7u32;
        let mut text = Vec::new();
        for line in 0..4 {
            for _ in 0..1500 * line {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                text.extend_from_slice(pieces[(random >> 16) as usize % pieces.len()]);
            }
            text.push(b'\n');
        }
        text.extend(vec![0x80; 5000]);
        let index = LineIndex::new(&text);
        assert!(index.marks.len() > 8, "{} marks", index.marks.len());
        for offset in 0..=text.len() {
            let start =
                text[..offset].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let before = &text[start..offset];
            let position = index.position(&text, offset as u32);
            assert_eq!(position.column, count_characters(before) + 1, "at {offset}");
            let (line, column) = index.protoc_position(&text, offset as u32);
            for near in [0, line as u32, (line as u32).saturating_sub(1), u32::MAX] {
                assert_eq!(index.line_near(near, offset as u32), line as u32, "at {offset}");
            }
            assert_eq!(column, advance_protoc_column(0, before) as i32, "at {offset}");
        }
    }
}
