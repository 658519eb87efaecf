//! Lines and columns of a text.

use abide_syntax::Span;

/// A text, by its lines.
#[derive(Clone, Copy)]
pub(super) struct TextLines<'t>(pub(super) &'t str);

impl<'t> TextLines<'t> {
    pub(super) fn slice(self, span: Span) -> &'t str {
        self.0.get(span.range()).unwrap_or_default()
    }

    /// Finds the start of the line of a position.
    pub(super) fn start(self, at: u32) -> u32 {
        let before = self.0.get(..at as usize).unwrap_or_default();
        before.rfind('\n').map_or(0, |it| it as u32 + 1)
    }

    /// Finds the end of the line of a position, before its line break.
    pub(super) fn end(self, at: u32) -> u32 {
        let behind = self.0.get(at as usize..).unwrap_or_default();
        let length = behind.find('\n').unwrap_or(behind.len());
        let line = &behind[..length];
        at + line.strip_suffix('\r').unwrap_or(line).len() as u32
    }

    /// Finds the start of the line behind that of a position, or the end of the text.
    pub(super) fn next(self, at: u32) -> u32 {
        let behind = self.0.get(at as usize..).unwrap_or_default();
        at + behind.find('\n').map_or(behind.len(), |it| it + 1) as u32
    }

    /// Counts the bytes before a position in its line.
    pub(super) fn column(self, at: u32) -> usize {
        (at - self.start(at)) as usize
    }

    /// Returns the text before a position in its line.
    pub(super) fn before(self, at: u32) -> &'t str {
        self.slice(Span { start: self.start(at), end: at })
    }

    /// Returns true if nothing but spaces is before a place in its line.
    pub(super) fn is_first(self, at: u32) -> bool {
        self.before(at).chars().all(|it| it == ' ' || it == '\t')
    }

    /// The spaces at the start of the line of a place.
    pub(super) fn indent(self, at: u32) -> usize {
        let line = self.slice(Span { start: self.start(at), end: self.end(at) });
        line.len() - line.trim_start_matches(' ').len()
    }

    /// Returns true if a span is of more than one line.
    pub(super) fn is_multi(self, span: Span) -> bool {
        self.slice(span).contains('\n')
    }
}

/// Returns true if a dash is that of an element of a list: nothing is before it in its line but
/// spaces and other dashes.
pub(super) fn is_element_start(text: &str, dash: usize) -> bool {
    let line = text[..dash].rsplit('\n').next().unwrap_or_default();
    line.chars().all(|it| it == ' ' || it == '-')
}
