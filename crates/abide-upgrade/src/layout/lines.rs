//! The lines of a text: how wide they may be, and how they end.

/// The most columns of a line, where it can be broken.
pub(crate) const MAX_LINE_WIDTH: usize = 100;

/// Returns true if all lines of a text end in `\r\n`.
pub(crate) fn has_windows_line_ends(text: &[u8]) -> bool {
    let lines = memchr::memchr_iter(b'\n', text).count();
    lines > 0 && memchr::memmem::find_iter(text, b"\r\n").count() == lines
}

/// A text whose lines all end in `\r\n`.
pub(crate) fn to_windows_line_ends(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let Some(line) = line.strip_suffix(b"\n") else {
            out.extend_from_slice(line);
            break;
        };
        let end = line.iter().rposition(|byte| *byte != b'\r').map_or(0, |at| at + 1);
        out.extend_from_slice(&line[..end]);
        out.extend_from_slice(b"\r\n");
    }
    out
}
