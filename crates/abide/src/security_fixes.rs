//! Which changes are security fixes: `// abide:security-fix: REASON` on or above
//! the element, or `[[security-fix]]` of `abide.toml`.

use abide_schema::{Element, File, Package, Part, Tree};
use abide_syntax::Span;
use memchr::memmem;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::comment_scope::{self, Covers};
use crate::finding::Finding;
use crate::policy::{Policy, SecurityFix};

/// The text in a comment before `: REASON`.
pub(crate) const SECURITY_MARKER: &str = "abide:security-fix";

pub(crate) struct SecurityFixes<'p> {
    /// The spans that comments cover, by the index of the file.
    marked: FxHashMap<u32, Vec<Span>>,
    named: &'p [SecurityFix],
}

impl<'p> SecurityFixes<'p> {
    /// Finds the security fixes of a tree. A mark that the same element already had
    /// in the release, in any file of the package, belongs to an earlier fix and
    /// does not count.
    pub(crate) fn of(tree: &Tree, released: Option<&Tree>, policy: &'p Policy) -> Self {
        let files: Vec<File<'_>> = tree.files().filter(|it| it.is_judged()).collect();
        let marked = files.par_iter().with_min_len(16).map(|file| {
            let mut marks = marks(*file);
            if !marks.is_empty() {
                let old = released.and_then(|it| it.package_named(file.package().name()));
                let old: Vec<SecurityMark> =
                    old.into_iter().flat_map(Package::files).flat_map(self::marks).collect();
                let is_old = |it: &SecurityMark| {
                    old.iter().any(|old| (&old.words, &old.at) == (&it.words, &it.at))
                };
                marks.retain(|it| !is_old(it));
            }
            (file.id.0, marks.into_iter().map(|it| it.covers).collect())
        });
        let marked = marked.filter(|(_, spans): &(u32, Vec<Span>)| !spans.is_empty()).collect();
        SecurityFixes { marked, named: &policy.security_fixes }
    }

    pub(crate) fn covers(&self, finding: &Finding) -> bool {
        let marked = finding.location.place().is_some_and(|place| {
            let spans = self.marked.get(&place.file.0).into_iter().flatten();
            spans.into_iter().any(|it| it.start <= place.span.start && place.span.end <= it.end)
        });
        marked || self.named.iter().any(|it| it.target.covers(finding))
    }
}

/// A mark in a comment.
struct SecurityMark {
    /// The mark and its reason.
    words: String,
    /// The full name of the element that it marks; `None` for a file.
    at: Option<String>,
    covers: Span,
}

fn marks(file: File<'_>) -> Vec<SecurityMark> {
    let decl = file.decl();
    let (Some(text), Some(ast)) = (decl.source_text(), decl.ast()) else { return Vec::new() };
    if memmem::find(text, SECURITY_MARKER.as_bytes()).is_none() {
        return Vec::new();
    }
    // The covered span starts with the marked element, or is a part of it.
    let at = |span: Span| {
        let whole = |it: &Element<'_>| it.place(Part::Whole).span;
        let holds = |it: &Element<'_>| whole(it).start <= span.start && span.start < whole(it).end;
        let innermost = file.elements().filter(holds).max_by_key(|it| whole(it).start);
        innermost.map(Element::full_name)
    };
    let mut marks = Vec::new();
    for (comment, token_end) in comment_scope::comments(text) {
        for line in comment_scope::lines(text, comment.span) {
            let words = line.str(text);
            if gives_reason(words) == Some(true) {
                let (at, covers) = match comment_scope::covered(ast, text, comment, token_end) {
                    Covers::File => (None, Span::new(0, text.len() as u32)),
                    Covers::Span(span) => (at(span), span),
                };
                marks.push(SecurityMark { words: words.to_owned(), at, covers });
            }
        }
    }
    marks
}

/// Whether a mark has a reason; `None` if the text is not a mark.
pub(crate) fn gives_reason(words: &str) -> Option<bool> {
    let rest = words.strip_prefix(SECURITY_MARKER)?;
    Some(rest.trim_start().strip_prefix(':').is_some_and(|reason| !reason.trim().is_empty()))
}
