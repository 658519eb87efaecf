//! Which changes are security fixes: `// abide:security-fix: REASON` on or above
//! the element or what reserves it, or `[[security-fix]]` of `abide.toml`.

use std::collections::{BTreeMap, BTreeSet};

use abide_schema::{
    Element, File, FileDecl, FileId, Message, Part, Place, RangeDecl, ReservedNameDecl, Tree,
};
use abide_syntax::Span;
use memchr::memmem;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::nested_spans::NestedSpans;
use super::target_index::TargetIndex;
use crate::checks::{CommentScopes, Covers, comment_scope};
use crate::finding::Finding;
use crate::policy::Policy;

/// The text in a comment before `: REASON`.
pub(crate) const SECURITY_MARKER: &str = "abide:security-fix";

pub(crate) struct SecurityFixes<'a> {
    tree: &'a Tree,
    released: Option<&'a Tree>,
    /// What comments cover, by the index of the file.
    marked: FxHashMap<u32, NestedSpans<()>>,
    /// Those of `abide.toml`.
    named: TargetIndex<'a>,
}

impl<'a> SecurityFixes<'a> {
    /// Finds the security fixes of a tree. A mark that the same element already had
    /// in the release, in any file of the package, belongs to an earlier fix and
    /// does not count.
    pub(crate) fn of(tree: &'a Tree, released: Option<&'a Tree>, policy: &'a Policy) -> Self {
        let files: Vec<File<'_>> = tree.files().filter(|it| it.is_judged()).collect();
        let marked = files.par_iter().with_min_len(16).map(|file| (*file, find_marks(*file)));
        let marked: Vec<(File<'_>, Vec<SecurityMark>)> =
            marked.filter(|(_, marks)| !marks.is_empty()).collect();
        // Once for a package, however many of its files have marks.
        let names: BTreeSet<&str> = marked.iter().map(|(file, _)| file.package().name()).collect();
        let before: BTreeMap<&str, FxHashSet<Mark>> = names
            .into_par_iter()
            .filter_map(|name| {
                let old = released?.package_named(name)?.files().flat_map(find_marks);
                Some((name, old.map(|it| it.mark).collect()))
            })
            .collect();
        let covers = |(file, marks): (File<'_>, Vec<SecurityMark>)| {
            let before = before.get(file.package().name());
            let is_fix =
                |it: &SecurityMark| !before.is_some_and(|before| before.contains(&it.mark));
            let fixes = marks.into_iter().filter(is_fix).map(|it| (it.covers, ()));
            (file.id.0, NestedSpans::of(fixes))
        };
        let marked = marked.into_iter().map(covers);
        let marked = marked.filter(|(_, spans)| !spans.is_empty()).collect();
        let named = TargetIndex::of(policy.security_fixes.iter().map(|it| &it.target));
        SecurityFixes { tree, released, marked, named }
    }

    /// Returns true if a change is a fix, wherever it is reported: what changed may be a part
    /// of the reported element, or be gone.
    pub(crate) fn covers(&self, finding: &Finding) -> bool {
        finding.location.place().is_some_and(|it| self.is_marked(it))
            || !self.named.find_covering(finding).is_empty()
            || !self.is_empty() && self.covers_parts(finding)
    }

    /// Returns true if comments mark every part of an added element, or what reserves the
    /// number or the name of a removed one.
    fn covers_parts(&self, finding: &Finding) -> bool {
        let Some(change) = &finding.change else { return false };
        let element = |tree: &'a Tree| find_element(tree, finding);
        match (&change.old, &change.gone) {
            (None, _) => element(self.tree).is_some_and(|it| self.marks_all_of(it)),
            (Some(_), Some(_)) => {
                let old = self.released.and_then(element);
                old.is_some_and(|it| self.marks_removal_of(it))
            }
            (Some(_), None) => false,
        }
    }

    fn is_empty(&self) -> bool {
        self.marked.is_empty() && self.named.is_empty()
    }

    /// Returns true if a comment marks an element, or `abide.toml` names it or what encloses it.
    fn is_fix(&self, element: Element<'_>) -> bool {
        self.is_marked(element.place(Part::Whole)) || self.names(element)
    }

    fn names(&self, element: Element<'_>) -> bool {
        !self.named.is_empty() && !self.named.find_naming(&element.full_name()).is_empty()
    }

    fn is_marked(&self, place: Place) -> bool {
        let spans = self.marked.get(&place.file.0);
        spans.is_some_and(|it| it.find_around(place.span).next().is_some())
    }

    /// Returns true if a part of an element is marked or named, and not the whole.
    pub(crate) fn marks_within(&self, element: Element<'_>) -> bool {
        if self.is_empty() {
            return false;
        }
        let Place { file, span } = element.place(Part::Whole);
        let names_within =
            || parts(element).into_iter().any(|it| self.names(it) || self.marks_within(it));
        self.marked.get(&file.0).is_some_and(|it| it.has_behind_start_of(span))
            || !self.named.is_empty() && names_within()
    }

    fn marks_all_of(&self, element: Element<'_>) -> bool {
        let all = |parts: Vec<Element<'_>>| {
            !parts.is_empty() && parts.into_iter().all(|it| self.marks_all_of(it))
        };
        self.is_fix(element) || all(parts(element))
    }

    /// Returns true if a comment marks what reserves the number or the name of a removed
    /// element, or `abide.toml` names it. The fields of a removed oneof may also be in
    /// its message, marked.
    fn marks_removal_of(&self, old: Element<'_>) -> bool {
        if self.names(old) {
            return true;
        }
        let reserves = |element: Element<'_>, number: i32, name: &str| {
            let Some(holder) = Reservations::of(element) else { return false };
            let numbers = holder.numbers.iter().filter(|it| holder.has(it, number));
            let names = holder.names.iter().filter(|it| holder.decl.str(it.name) == name);
            numbers
                .map(|it| it.span)
                .chain(names.map(|it| it.span))
                .any(|span| self.is_marked(Place { file: holder.file, span }))
        };
        match old {
            Element::Field(old) => {
                let holder = old.containing_message().map(Message::full_name);
                let holder = holder.and_then(|it| self.tree.message_named(&it));
                let new = holder.and_then(|it| it.field_named(old.name()));
                match new {
                    Some(new) => self.is_fix(Element::Field(new)),
                    None => holder
                        .is_some_and(|it| reserves(Element::Message(it), old.number(), old.name())),
                }
            }
            Element::EnumValue(old) => {
                let holder = self.tree.enum_named(&old.parent().full_name());
                holder.is_some_and(|it| reserves(Element::Enum(it), old.number(), old.name()))
            }
            Element::Oneof(old) => old.fields().all(|it| self.marks_removal_of(Element::Field(it))),
            Element::Message(_) | Element::Enum(_) | Element::Service(_) | Element::Method(_) => {
                false
            }
        }
    }

    /// Returns true if comments mark everything that a message or an enum reserves anew, and
    /// every range of extensions that it gained.
    pub(crate) fn marks_reservations(&self, old: Element<'_>, new: Element<'_>) -> bool {
        let (Some(before), Some(after)) = (Reservations::of(old), Reservations::of(new)) else {
            return false;
        };
        let removed: Vec<(i32, &str)> = parts(old)
            .into_iter()
            .filter(|it| self.marks_removal_of(*it))
            .filter_map(|it| match it {
                Element::Field(it) => Some((it.number(), it.name())),
                Element::EnumValue(it) => Some((it.number(), it.name())),
                _ => None,
            })
            .collect();
        let is_marked = |span: Span| self.is_marked(Place { file: after.file, span });
        let is_known = |it: &RangeDecl, known: &[RangeDecl]| {
            known.iter().any(|old| (old.start, old.end) == (it.start, it.end))
        };
        after.numbers.iter().all(|it| {
            let only = |number: i32| {
                after.has(it, number)
                    && !after.has(it, number.saturating_add(1))
                    && !after.has(it, number.saturating_sub(1))
            };
            is_known(it, before.numbers)
                || is_marked(it.span)
                || removed.iter().any(|(number, _)| only(*number))
        }) && after.names.iter().all(|it| {
            let name = after.decl.str(it.name);
            before.names.iter().any(|old| before.decl.str(old.name) == name)
                || is_marked(it.span)
                || removed.iter().any(|(_, of)| *of == name)
        }) && after
            .extensions
            .iter()
            .all(|it| is_known(it, before.extensions) || is_marked(it.span))
    }
}

/// The element that a finding is about.
fn find_element<'t>(tree: &'t Tree, finding: &Finding) -> Option<Element<'t>> {
    let name = finding.element.as_str();
    let (scope, last) = name.rsplit_once('.')?;
    // Most are in messages, which are found by name.
    let in_message = || {
        let holder = tree.message_named(scope)?;
        let oneof = || holder.oneofs().find(|it| it.name() == last).map(Element::Oneof);
        holder.field_named(last).map(Element::Field).or_else(oneof)
    };
    let elsewhere = || {
        let mut files = tree.package_named(&finding.package)?.files();
        files.find_map(|it| it.elements().find(|it| it.full_name() == name))
    };
    let message = tree.message_named(name).map(Element::Message);
    message.or_else(in_message).or_else(elsewhere)
}

/// The elements in an element.
fn parts(element: Element<'_>) -> Vec<Element<'_>> {
    match element {
        Element::Oneof(it) => it.fields().map(Element::Field).collect(),
        Element::Message(_) | Element::Enum(_) | Element::Service(_) => {
            let place = |it: Element<'_>| it.place(Part::Whole);
            let is_in = |it: &Element<'_>| it.parent().map(place) == Some(place(element));
            let is_oneof = |it: &Element<'_>| matches!(it, Element::Oneof(_));
            element.file().elements().filter(|it| is_in(it) && !is_oneof(it)).collect()
        }
        Element::Field(_) | Element::EnumValue(_) | Element::Method(_) => Vec::new(),
    }
}

/// What a message or an enum reserves.
struct Reservations<'t> {
    file: FileId,
    decl: &'t FileDecl,
    numbers: &'t [RangeDecl],
    /// True if the end of a range belongs to it.
    is_closed: bool,
    names: &'t [ReservedNameDecl],
    extensions: &'t [RangeDecl],
}

impl<'t> Reservations<'t> {
    fn of(element: Element<'t>) -> Option<Reservations<'t>> {
        let (numbers, is_closed, names, extensions) = match element {
            Element::Message(it) => {
                (it.reserved_ranges(), false, it.reserved_names(), it.extension_ranges())
            }
            Element::Enum(it) => (it.reserved_ranges(), true, it.reserved_names(), &[][..]),
            _ => return None,
        };
        let (file, decl) = (element.file().id, element.file().decl());
        Some(Reservations { file, decl, numbers, is_closed, names, extensions })
    }

    fn has(&self, range: &RangeDecl, number: i32) -> bool {
        range.start <= number && (number < range.end || self.is_closed && number == range.end)
    }
}

/// A mark in a comment.
struct SecurityMark {
    mark: Mark,
    covers: Span,
}

/// What makes two marks one.
#[derive(PartialEq, Eq, Hash)]
struct Mark {
    /// The mark and its reason.
    words: String,
    /// The full name of the element that it marks; `None` for a file.
    at: Option<String>,
}

fn find_marks(file: File<'_>) -> Vec<SecurityMark> {
    let decl = file.decl();
    let (Some(text), Some(ast)) = (decl.source_text(), decl.ast()) else { return Vec::new() };
    if memmem::find(text, SECURITY_MARKER.as_bytes()).is_none() {
        return Vec::new();
    }
    // The covered span starts with the marked element, or is a part of it.
    let elements = NestedSpans::of(file.elements().map(|it| (it.place(Part::Whole).span, it)));
    let at = |span: Span| {
        let first = Span::new(span.start, span.start.saturating_add(1));
        elements.find_around(first).next().map(|it| it.full_name())
    };
    let scopes = CommentScopes::of(ast, text);
    let mut marks = Vec::new();
    for (comment, token_end) in comment_scope::collect_comments(text) {
        for line in comment_scope::split_lines(text, comment.span) {
            let words = line.str(text);
            if gives_reason(words) == Some(true) {
                let (at, covers) = match scopes.find_covered(comment, token_end) {
                    Covers::File => (None, Span::new(0, text.len() as u32)),
                    Covers::Span(span) => (at(span), span),
                };
                let mark = Mark { words: words.to_owned(), at };
                marks.push(SecurityMark { mark, covers });
            }
        }
    }
    marks
}

/// Returns true if a mark has a reason; `None` if the text is not a mark.
pub(crate) fn gives_reason(words: &str) -> Option<bool> {
    let rest = words.strip_prefix(SECURITY_MARKER)?;
    Some(rest.trim_start().strip_prefix(':').is_some_and(|reason| !reason.trim().is_empty()))
}
