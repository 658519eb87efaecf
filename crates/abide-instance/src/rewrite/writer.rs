//! What writers of block and flow style share.

use std::collections::HashSet;

use abide_schema::value::{JsonKind, JsonMember, JsonNode};
use abide_syntax::Span;
use abide_upgrade::Edit;

use super::anchors::Anchors;
use super::edit_plan::{Draft, Member, quote};
use super::lines::Lines;
use super::nodes::{Nodes, members_of};

/// Writes a draft as edits of the text that it is made from.
pub(super) struct Writer<'a, 'n> {
    pub(super) lines: Lines<'a>,
    pub(super) nodes: &'a Nodes<'n>,
    pub(super) anchors: &'a Anchors,
    /// Comments, in their order.
    pub(super) comments: &'a [Span],
    /// Whether the text is JSON, so that all is in quotes.
    pub(super) is_json: bool,
    /// By how many spaces the text indents.
    pub(super) step: usize,
    /// By how many spaces it indents lists below their keys.
    pub(super) list_step: usize,
    /// Whether the text has spaces inside of the brackets of objects.
    pub(super) pads: bool,
    /// Keys that stay where they are.
    pub(super) staying: HashSet<Span>,
    /// Keys that something is made from, also in other places.
    pub(super) claimed: HashSet<Span>,
    /// Comments that are written in another place.
    pub(super) written: HashSet<Span>,
    pub(super) edits: Vec<Edit>,
}

impl<'n> Writer<'_, 'n> {
    /// Whether a value is in the brackets of flow style, or a scalar.
    pub(super) fn is_flow(&self, node: &JsonNode<'_>) -> bool {
        match node.kind {
            JsonKind::Array(_) | JsonKind::Object(_) => {
                self.lines.slice(node.span).starts_with(['[', '{', '*'])
            }
            _ => true,
        }
    }

    pub(super) fn is_alias(&self, node: &JsonNode<'_>) -> bool {
        !self.is_json && self.lines.slice(node.span).starts_with('*')
    }

    /// Where a value ends, without the white space and comments behind it.
    pub(super) fn tail(&self, node: &JsonNode<'_>) -> u32 {
        if !self.is_flow(node) {
            let last = match &node.kind {
                JsonKind::Array(elements) => elements.last().map(|it| self.tail(it)),
                JsonKind::Object(members) => members.last().map(|it| self.member_tail(it)),
                _ => None,
            };
            if let Some(last) = last {
                return last;
            }
        }
        node.span.start + self.lines.slice(node.span).trim_end().len() as u32
    }

    pub(super) fn member_tail(&self, member: &JsonMember<'_>) -> u32 {
        match member.value.span.is_empty() {
            // Nothing is written, which is `null`.
            true => member.key_span.end + 1,
            false => self.tail(&member.value),
        }
    }

    /// The comment behind a place in its line.
    pub(super) fn comment_behind(&self, at: u32) -> Option<Span> {
        let end = self.lines.end(at);
        let first = self.comments.iter().find(|it| it.start >= at)?;
        let gap = self.lines.slice(Span { start: at, end: first.start });
        (first.start < end && gap.trim().is_empty()).then_some(*first)
    }

    /// The comments in the lines right above that of a place.
    pub(super) fn comments_above(&self, at: u32) -> Vec<Span> {
        let mut found = Vec::new();
        let mut line = self.lines.start(at);
        for comment in self.comments.iter().rev().filter(|it| it.start < at) {
            let is_above = self.lines.next(comment.start) == line;
            if !is_above || !self.lines.is_first(comment.start) {
                break;
            }
            line = self.lines.start(comment.start);
            found.insert(0, *comment);
        }
        found
    }

    /// How a key is written, as the key in its place is.
    pub(super) fn key_text(&self, name: &str, old: Option<Span>) -> String {
        let first = old.and_then(|it| self.lines.slice(it).chars().next());
        match first.filter(|it| matches!(it, '\'' | '"')) {
            Some('\'') if !name.contains(['\'', '\n']) => format!("'{name}'"),
            None if !self.is_json && is_plain(name) => name.to_owned(),
            _ => {
                let mut text = String::new();
                quote(name, &mut text);
                text
            }
        }
    }

    /// How a scalar of JSON is written, as the scalar in its place is.
    pub(super) fn scalar_text(&self, json: &str, old: Option<Span>) -> String {
        let inside = json.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
        let Some(inside) = inside.filter(|_| !self.is_json) else { return json.to_owned() };
        let first = old.and_then(|it| self.lines.slice(it).chars().next());
        match first {
            Some('\'') if !inside.contains(['\'', '\\']) => format!("'{inside}'"),
            Some('"') => json.to_owned(),
            _ if is_plain(inside) => inside.to_owned(),
            _ => json.to_owned(),
        }
    }

    /// Whether a value can be changed where it stands.
    pub(super) fn fits_in_place(&self, draft: &Draft, node: &JsonNode<'_>) -> bool {
        if self.is_alias(node) || draft.origin() != Some(node.span) {
            return matches!(draft, Draft::Scalar(_)) && self.is_short_scalar(node);
        }
        match draft {
            Draft::Kept(_) => true,
            Draft::Scalar(_) => false,
            Draft::Object(_, members) => {
                let own = members_of(node);
                members.iter().any(|it| it.in_place) && own.iter().all(|it| !it.key_span.is_empty())
            }
            Draft::List(_, elements) => {
                let JsonKind::Array(written) = &node.kind else { return false };
                let origins: Vec<Span> = elements.iter().filter_map(Draft::origin).collect();
                let mut left = written.iter().map(|it| it.span);
                !origins.is_empty()
                    && elements
                        .iter()
                        .all(|it| it.origin().is_some_and(|origin| left.any(|span| span == origin)))
            }
        }
    }

    fn is_short_scalar(&self, node: &JsonNode<'_>) -> bool {
        let is_scalar = !matches!(node.kind, JsonKind::Array(_) | JsonKind::Object(_));
        let text = self.lines.slice(node.span);
        is_scalar && !text.is_empty() && !text.starts_with(['|', '>']) && !text.contains('\n')
    }

    /// Changes a value where it stands.
    pub(super) fn in_place(&mut self, draft: &Draft, node: &'n JsonNode<'n>) {
        match draft {
            Draft::Kept(_) => {}
            Draft::Scalar(json) => {
                let text = self.scalar_text(json, Some(node.span));
                self.edits.push(Edit::replace(node.span, text));
            }
            Draft::Object(_, members) if self.is_flow(node) => self.flow_object(members, node),
            Draft::Object(_, members) => self.block_object(members, node),
            Draft::List(_, elements) if self.is_flow(node) => self.flow_list(elements, node),
            Draft::List(_, elements) => self.block_list(elements, node),
        }
    }
}

/// Whether YAML takes a text without quotes for this text, in every version.
fn is_plain(text: &str) -> bool {
    const WORDS: &[&str] =
        &["true", "false", "null", "yes", "no", "on", "off", "y", "n", "inf", "nan"];
    let is_inner = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.' | '/');
    text.starts_with(|it: char| it.is_ascii_alphabetic() || it == '/')
        && text.chars().all(is_inner)
        && !WORDS.iter().any(|it| text.eq_ignore_ascii_case(it))
}

/// The keys of a draft that stay where they are.
pub(super) fn staying(draft: &Draft, keys: &mut HashSet<Span>) {
    match draft {
        Draft::Kept(_) | Draft::Scalar(_) => {}
        Draft::List(_, elements) => elements.iter().for_each(|it| staying(it, keys)),
        Draft::Object(_, members) => {
            for Member { key, in_place, value, .. } in members {
                keys.extend(key.filter(|_| *in_place));
                staying(value, keys);
            }
        }
    }
}
