//! Unified diffs of files that a command would change.

use std::borrow::Cow;

use similar::TextDiff;

/// The change of a file as a unified diff; empty if nothing changes. `None` stands for a file that
/// does not exist on that side.
pub(crate) fn unified(path: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> String {
    let text = |side: Option<&[u8]>| {
        side.map_or(Cow::Borrowed(""), |bytes| Cow::Owned(String::from_utf8_lossy(bytes).into()))
    };
    let (before, after) = (text(old), text(new));
    let name = |side: &str, exists: bool| match exists {
        true => format!("{side}/{path}"),
        false => "/dev/null".to_owned(),
    };
    TextDiff::from_lines(&*before, &*after)
        .unified_diff()
        .header(&name("a", old.is_some()), &name("b", new.is_some()))
        .to_string()
}
