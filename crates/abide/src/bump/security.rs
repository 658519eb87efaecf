//! Which changes only mend a hole: `// abide:security-fix: REASON` on or above
//! the element, or `[[security-fix]]` of `abide.toml`.

use abide_schema::{File, Tree};
use abide_syntax::Span;
use memchr::memmem;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::finding::Finding;
use crate::policy::{Policy, SecurityFix};
use crate::waiver::{self, Covers};

/// What stands in a comment, before `: REASON`.
pub(crate) const SECURITY_MARKER: &str = "abide:security-fix";

pub(super) struct SecurityFixes<'p> {
    /// What comments cover, by the index of the file.
    marked: FxHashMap<u32, Vec<Span>>,
    named: &'p [SecurityFix],
}

impl<'p> SecurityFixes<'p> {
    /// Of a tree. A mark that was there at the release is of an earlier fix and
    /// says nothing about what changed since.
    pub(super) fn of(tree: &Tree, released: Option<&Tree>, policy: &'p Policy) -> Self {
        let files: Vec<File<'_>> = tree.files().filter(|it| it.is_judged()).collect();
        let marked = files.par_iter().with_min_len(16).map(|file| {
            let old = || released.and_then(|old| old.files().find(|it| it.path() == file.path()));
            (file.id.0, marks(*file, old))
        });
        let marked = marked.filter(|(_, spans)| !spans.is_empty()).collect();
        SecurityFixes { marked, named: &policy.security_fixes }
    }

    pub(super) fn covers(&self, finding: &Finding) -> bool {
        let marked = finding.location.place().is_some_and(|place| {
            let spans = self.marked.get(&place.file.0).into_iter().flatten();
            spans.into_iter().any(|it| it.start <= place.span.start && place.span.end <= it.end)
        });
        marked || self.named.iter().any(|it| it.target.covers(finding))
    }
}

fn marks<'t>(file: File<'t>, old: impl Fn() -> Option<File<'t>>) -> Vec<Span> {
    let decl = file.decl();
    let (Some(text), Some(ast)) = (decl.source_text(), decl.ast()) else { return Vec::new() };
    if memmem::find(text, SECURITY_MARKER.as_bytes()).is_none() {
        return Vec::new();
    }
    let before = old().and_then(|it| it.decl().source_text()).unwrap_or_default();
    let mut spans = Vec::new();
    for (comment, token_end) in waiver::comments(text) {
        for line in waiver::lines(text, comment.span) {
            let words = line.str(text);
            let is_new = memmem::find(before, words.as_bytes()).is_none();
            if gives_reason(words) == Some(true) && is_new {
                spans.push(match waiver::covered(ast, text, comment, token_end) {
                    Covers::File => Span::new(0, text.len() as u32),
                    Covers::Span(span) => span,
                });
            }
        }
    }
    spans
}

/// Whether a mark gives a reason; none where it is no mark.
pub(crate) fn gives_reason(words: &str) -> Option<bool> {
    let rest = words.strip_prefix(SECURITY_MARKER)?;
    Some(rest.trim_start().strip_prefix(':').is_some_and(|reason| !reason.trim().is_empty()))
}
