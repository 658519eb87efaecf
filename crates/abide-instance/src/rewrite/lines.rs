//! Lines and columns of a text.

use abide_syntax::Span;

/// A text, by its lines.
#[derive(Clone, Copy)]
pub(super) struct Lines<'t>(pub(super) &'t str);

impl<'t> Lines<'t> {
    pub(super) fn slice(self, span: Span) -> &'t str {
        self.0.get(span.range()).unwrap_or_default()
    }

    /// Where the line of a place begins.
    pub(super) fn start(self, at: u32) -> u32 {
        let before = self.0.get(..at as usize).unwrap_or_default();
        before.rfind('\n').map_or(0, |it| it as u32 + 1)
    }

    /// Where the line of a place ends, before its line break.
    pub(super) fn end(self, at: u32) -> u32 {
        let behind = self.0.get(at as usize..).unwrap_or_default();
        let length = behind.find('\n').unwrap_or(behind.len());
        let line = &behind[..length];
        at + line.strip_suffix('\r').unwrap_or(line).len() as u32
    }

    /// Where the line behind that of a place begins, or the text ends.
    pub(super) fn next(self, at: u32) -> u32 {
        let behind = self.0.get(at as usize..).unwrap_or_default();
        at + behind.find('\n').map_or(behind.len(), |it| it + 1) as u32
    }

    /// How many bytes are before a place in its line.
    pub(super) fn column(self, at: u32) -> usize {
        (at - self.start(at)) as usize
    }

    /// What is before a place in its line.
    pub(super) fn before(self, at: u32) -> &'t str {
        self.slice(Span { start: self.start(at), end: at })
    }

    /// Whether nothing but spaces is before a place in its line.
    pub(super) fn is_first(self, at: u32) -> bool {
        self.before(at).chars().all(|it| it == ' ' || it == '\t')
    }

    /// The spaces at the start of the line of a place.
    pub(super) fn indent(self, at: u32) -> usize {
        let line = self.slice(Span { start: self.start(at), end: self.end(at) });
        line.len() - line.trim_start_matches(' ').len()
    }

    /// Whether a span is of more than one line.
    pub(super) fn is_multi(self, span: Span) -> bool {
        self.slice(span).contains('\n')
    }
}
