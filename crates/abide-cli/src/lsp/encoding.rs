//! Positions as editors count them: lines and, in each, code units of an encoding that the client
//! and the server agree on.

use abide_syntax::Span;
use lsp_types::{GeneralClientCapabilities, Position, PositionEncodingKind, Range};

/// In which code units columns are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PositionEncoding {
    Utf8,
    Utf16,
    Utf32,
}

impl PositionEncoding {
    /// Bytes if the client can count them, since everything else here does; else what it prefers.
    pub(super) fn choose(general: Option<&GeneralClientCapabilities>) -> PositionEncoding {
        let offered = general.and_then(|it| it.position_encodings.as_deref()).unwrap_or_default();
        if offered.contains(&PositionEncodingKind::UTF8) {
            PositionEncoding::Utf8
        } else if offered.first() == Some(&PositionEncodingKind::UTF32) {
            PositionEncoding::Utf32
        } else {
            PositionEncoding::Utf16
        }
    }

    /// Its name in the protocol.
    pub(super) fn kind(self) -> PositionEncodingKind {
        match self {
            PositionEncoding::Utf8 => PositionEncodingKind::UTF8,
            PositionEncoding::Utf16 => PositionEncodingKind::UTF16,
            PositionEncoding::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    /// Counts the units of a character.
    fn count_units(self, character: char) -> usize {
        match self {
            PositionEncoding::Utf8 => character.len_utf8(),
            PositionEncoding::Utf16 => character.len_utf16(),
            PositionEncoding::Utf32 => 1,
        }
    }
}

/// The lines of a text, which end after `\n`, `\r\n` and `\r` alone.
pub(super) struct LineOffsets<'t> {
    text: &'t [u8],
    starts: Vec<usize>,
    encoding: PositionEncoding,
}

impl<'t> LineOffsets<'t> {
    pub(super) fn new(text: &'t [u8], encoding: PositionEncoding) -> LineOffsets<'t> {
        let ends = memchr::memchr2_iter(b'\n', b'\r', text)
            .filter(|at| text[*at] == b'\n' || text.get(at + 1) != Some(&b'\n'));
        let starts = std::iter::once(0).chain(ends.map(|at| at + 1)).collect();
        LineOffsets { text, starts, encoding }
    }

    /// The line and column of a byte.
    pub(super) fn position(&self, offset: u32) -> Position {
        let offset = (offset as usize).min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or_default();
        let before = self.text.get(start..offset).unwrap_or_default();
        let units = before.utf8_chunks().map(|chunk| {
            let valid: usize = chunk.valid().chars().map(|it| self.encoding.count_units(it)).sum();
            // An editor shows one character in the place of bytes that are none.
            valid + usize::from(!chunk.invalid().is_empty())
        });
        Position::new(line as u32, units.sum::<usize>() as u32)
    }

    /// The lines and columns of a span.
    pub(super) fn range(&self, span: Span) -> Range {
        Range::new(self.position(span.start), self.position(span.end))
    }

    /// The byte at a line and column; the end of the line or of the text if there is none.
    pub(super) fn offset(&self, position: Position) -> u32 {
        let Some(&start) = self.starts.get(position.line as usize) else {
            return self.text.len() as u32;
        };
        let next = self.starts.get(position.line as usize + 1);
        let line = self.text.get(start..next.copied().unwrap_or(self.text.len()));
        let line = String::from_utf8_lossy(line.unwrap_or_default());
        let line = line.trim_end_matches(['\r', '\n']);
        let (mut units, mut at) = (0, start);
        for character in line.chars() {
            if units >= position.character as usize {
                break;
            }
            units += self.encoding.count_units(character);
            at += character.len_utf8();
        }
        at.min(self.text.len()) as u32
    }

    /// The bytes of a range.
    pub(super) fn span(&self, range: Range) -> Span {
        let (start, end) = (self.offset(range.start), self.offset(range.end));
        Span::new(start.min(end), end.max(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Positions of every character, there and back.
    #[test]
    fn positions_are_counted_in_the_units_of_the_encoding() {
        let text = "// 😀 字\r\nmessage é {}\rlast";
        for (encoding, emoji, ideograph) in [
            (PositionEncoding::Utf8, 7, 11),
            (PositionEncoding::Utf16, 5, 7),
            (PositionEncoding::Utf32, 4, 6),
        ] {
            let lines = LineOffsets::new(text.as_bytes(), encoding);
            let after = |letter: &str| text.find(letter).unwrap_or_default() + letter.len();
            assert_eq!(lines.position(after("😀") as u32), Position::new(0, emoji));
            assert_eq!(lines.position(after("字") as u32), Position::new(0, ideograph));
            assert_eq!(lines.position(after("last") as u32), Position::new(2, 4));
            for (offset, letter) in text.char_indices() {
                let position = lines.position(offset as u32);
                if !matches!(letter, '\r' | '\n') {
                    assert_eq!(lines.offset(position), offset as u32, "{encoding:?} {offset}");
                }
            }
            // A column behind the end of a line is that end, a line behind the last the end.
            let end = text.find('\r').unwrap_or_default() as u32;
            assert_eq!(lines.offset(Position::new(0, 99)), end);
            assert_eq!(lines.offset(Position::new(9, 0)), text.len() as u32);
        }
    }
}
