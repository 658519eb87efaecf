//! The fix of a finding as a patch that `git apply` takes.

use abide_lint::{Finding, Fix, Origin};
use abide_syntax::Span;

use crate::render::context::RenderContext;

/// The lines around a change, as patches have them.
const AROUND: usize = 3;
/// A longer patch is nothing to copy from a page.
const LONGEST: usize = 4_000;

/// The first fix of a finding, as a patch of one file; `None` if it edits several, or too much.
pub(super) fn render_fix(finding: &Finding, context: &RenderContext) -> Option<String> {
    let fix: &Fix = finding.fixes.first()?;
    let first = fix.edits.first()?.location;
    let is_in_file = |origin| matches!(origin, Origin::Tree(_)) && origin == first.origin;
    if !fix.edits.iter().all(|it| is_in_file(it.location.origin)) {
        return None;
    }
    let text = std::str::from_utf8(context.find_text(first.origin)?.bytes()?).ok()?;
    let path = context.locate(&first).full_path();
    let start = fix.edits.iter().map(|it| it.location.span.start).min()? as usize;
    let end = fix.edits.iter().map(|it| it.location.span.end).max()? as usize;
    let (start, end) = (find_line_start(text, start), find_line_end(text, end)?);
    let mut edits: Vec<(Span, &str)> =
        fix.edits.iter().map(|it| (it.location.span, &*it.text)).collect();
    edits.sort_by_key(|(span, _)| std::cmp::Reverse((span.start, span.end)));
    let mut fixed = text.get(start..end)?.to_owned();
    for (span, new) in edits {
        fixed.replace_range(span.start as usize - start..span.end as usize - start, new);
    }
    let patch = render_hunk(&path, text, start..end, &fixed);
    (patch.len() <= LONGEST && !patch.contains('\r')).then_some(patch)
}

/// A patch with one hunk, which replaces whole lines.
fn render_hunk(path: &str, text: &str, range: std::ops::Range<usize>, fixed: &str) -> String {
    let before: Vec<&str> = text[..range.start].lines().collect();
    let before = &before[before.len().saturating_sub(AROUND)..];
    let after: Vec<&str> = text[range.end..].lines().take(AROUND).collect();
    let (old, new): (Vec<&str>, Vec<&str>) =
        (text[range.clone()].lines().collect(), fixed.lines().collect());
    let line = text[..range.start].lines().count() + 1 - before.len();
    let around = before.len() + after.len();
    let (old_count, new_count) = (old.len() + around, new.len() + around);
    let mut patch =
        format!("--- a/{path}\n+++ b/{path}\n@@ -{line},{old_count} +{line},{new_count} @@\n");
    for (mark, lines) in [(' ', before), ('-', &old), ('+', &new), (' ', &after)] {
        lines.iter().for_each(|it| patch.push_str(&format!("{mark}{it}\n")));
    }
    patch
}

fn find_line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|it| it.rfind('\n')).map_or(0, |it| it + 1)
}

/// The end of a line, behind its line end; `None` if it has none, as a patch would have to say.
fn find_line_end(text: &str, at: usize) -> Option<usize> {
    text.get(at..)?.find('\n').map(|it| at + it + 1)
}
