//! Unified diffs of files that a command would change.

use abide_source::printable::is_unprintable;
use similar::TextDiff;

/// The change of a file as a unified diff; empty if nothing changes. `None` stands for a file that
/// does not exist on that side.
///
/// Contents stay the bytes that they are, and a path cannot end its line: programs apply this.
pub(crate) fn render_unified(path: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> Vec<u8> {
    let (before, after) = (as_characters(old), as_characters(new));
    let (before, after) = (split_lines(&before), split_lines(&after));
    let diff = TextDiff::configure().newline_terminated(true).diff_slices(&before, &after);
    let mut unified = diff.unified_diff();
    unified.header(&side_name("a", path, old), &side_name("b", path, new));
    // Each character stands for one byte.
    unified.to_string().chars().map(|it| it as u8).collect()
}

/// The name of one side in the head of a patch.
fn side_name(side: &str, path: &str, content: Option<&[u8]>) -> String {
    match content {
        Some(_) => as_characters(Some(quote_file_name(&format!("{side}/{path}")).as_bytes())),
        None => "/dev/null".to_owned(),
    }
}

/// Bytes as characters of the same numbers: text need not be UTF-8.
fn as_characters(bytes: Option<&[u8]>) -> String {
    bytes.unwrap_or_default().iter().map(|it| char::from(*it)).collect()
}

fn split_lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// The name of a file in the head of a patch: as git quotes it, and with a tab behind a name with a
/// space, which would end the name otherwise.
fn quote_file_name(path: &str) -> String {
    if !path.contains(|it: char| matches!(it, '"' | '\\') || is_unprintable(it)) {
        return if path.contains(' ') { format!("{path}\t") } else { path.to_owned() };
    }
    let mut quoted = String::from("\"");
    for character in path.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            it if is_unprintable(it) => {
                let bytes = it.to_string().into_bytes();
                quoted.extend(bytes.iter().map(|byte| format!("\\{byte:03o}")));
            }
            it => quoted.push(it),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(path: &str) -> String {
        let patch = String::from_utf8(render_unified(path, Some(b"a\n"), Some(b"b\n")))
            .expect("it is text");
        patch.lines().take(2).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn a_path_does_not_end_its_line() {
        assert_eq!(head("x/y.proto"), "--- a/x/y.proto|+++ b/x/y.proto");
        assert_eq!(head("x y.proto"), "--- a/x y.proto\t|+++ b/x y.proto\t");
        assert_eq!(head("x\n+++ b/z"), "--- \"a/x\\n+++ b/z\"|+++ \"b/x\\n+++ b/z\"");
        assert_eq!(head("\u{1b}\"\\é"), "--- \"a/\\033\\\"\\\\é\"|+++ \"b/\\033\\\"\\\\é\"");
        assert_eq!(head("\u{202e}"), "--- \"a/\\342\\200\\256\"|+++ \"b/\\342\\200\\256\"");
    }

    #[test]
    fn bytes_that_are_no_text_stay() {
        let patch = render_unified("a", Some(b"// \xff\rx\nb\n"), Some(b"// \xff\rx\nc\n"));
        let wanted = b"--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n // \xff\rx\n-b\n+c\n";
        assert_eq!(patch, wanted, "{}", String::from_utf8_lossy(&patch));
    }

    #[test]
    fn a_missing_line_end_is_said() {
        let patch =
            String::from_utf8(render_unified("a", Some(b"a"), Some(b"b\n"))).expect("it is text");
        assert!(patch.contains("-a\n\\ No newline at end of file\n+b\n"), "{patch}");
    }
}
