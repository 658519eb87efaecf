//! Helpers that the writers of block and flow style share.

use std::collections::HashSet;

use abide_schema::value::{JsonKind, JsonMember, JsonNode};
use abide_syntax::Span;
use abide_upgrade::Edit;

use super::anchors::AnchorNames;
use super::edit_plan::{EditPlan, PlannedMember, quote_text};
use super::lines::TextLines;
use super::nodes::{NodeIndex, get_members};

/// Writes a draft as edits of the text that it is made from.
pub(super) struct PlanWriter<'a, 'n> {
    pub(super) lines: TextLines<'a>,
    pub(super) nodes: &'a NodeIndex<'n>,
    pub(super) anchors: &'a AnchorNames,
    /// Comments, in their order.
    pub(super) comments: &'a [Span],
    /// True if the text is JSON, so that all is in quotes.
    pub(super) is_json: bool,
    /// By how many spaces the text indents.
    pub(super) step: usize,
    /// By how many spaces it indents lists below their keys.
    pub(super) list_step: usize,
    /// True if the text has spaces inside of the brackets of objects.
    pub(super) pads: bool,
    /// Keys that stay where they are.
    pub(super) staying: HashSet<Span>,
    /// Keys that something is made from, also in other places.
    pub(super) claimed_keys: HashSet<Span>,
    /// Comments that are written in another place.
    pub(super) written: HashSet<Span>,
    pub(super) edits: Vec<Edit>,
}

impl<'n> PlanWriter<'_, 'n> {
    /// Returns true if a value is in the brackets of flow style, or a scalar.
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

    /// Finds the start of a value with its anchor and its tag.
    pub(super) fn find_start(&self, node: &JsonNode<'_>) -> u32 {
        let mut start = node.span.start;
        if self.is_json || self.is_alias(node) {
            return start;
        }
        loop {
            let before = self.lines.slice(Span { start: 0, end: start }).trim_end();
            let is_outside = |it: char| it.is_whitespace() || matches!(it, '[' | '{' | ',');
            let at = before.rfind(is_outside).map_or(0, |it| it + 1);
            if !before[at..].starts_with(['&', '!']) {
                return start;
            }
            start = at as u32;
        }
    }

    /// Finds the end of a value, without the white space and comments behind it.
    pub(super) fn find_end(&self, node: &JsonNode<'_>) -> u32 {
        if !self.is_flow(node) {
            let last = match &node.kind {
                JsonKind::Array(elements) => elements.last().map(|it| self.find_end(it)),
                JsonKind::Object(members) => members.last().map(|it| self.find_member_end(it)),
                _ => None,
            };
            if let Some(last) = last {
                return last;
            }
        }
        node.span.start + self.lines.slice(node.span).trim_end().len() as u32
    }

    pub(super) fn find_member_end(&self, member: &JsonMember<'_>) -> u32 {
        match member.value.span.is_empty() {
            // Nothing is written, which is `null`.
            true => member.key_span.end + 1,
            false => self.find_end(&member.value),
        }
    }

    /// The comment behind a place in its line.
    pub(super) fn find_comment_behind(&self, at: u32) -> Option<Span> {
        let end = self.lines.end(at);
        let first = self.comments.iter().find(|it| it.start >= at)?;
        let gap = self.lines.slice(Span { start: at, end: first.start });
        (first.start < end && gap.trim().is_empty()).then_some(*first)
    }

    /// The comments in the lines right above that of a place.
    pub(super) fn find_comments_above(&self, at: u32) -> Vec<Span> {
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

    /// Formats a key in the style of the key in its place.
    pub(super) fn format_key(&self, name: &str, old: Option<Span>) -> String {
        let first = old.and_then(|it| self.lines.slice(it).chars().next());
        match first.filter(|it| matches!(it, '\'' | '"')) {
            Some('\'') if !name.contains(['\'', '\n']) => format!("'{name}'"),
            None if !self.is_json && is_plain(name) => name.to_owned(),
            _ => quote_text(name),
        }
    }

    /// Formats a scalar of JSON in the style of the scalar in its place.
    pub(super) fn format_scalar(&self, json: &str, old: Option<Span>) -> String {
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

    /// Returns true if a value can be changed where it stands.
    pub(super) fn can_edit_in_place(&self, draft: &EditPlan, node: &JsonNode<'_>) -> bool {
        if self.is_alias(node) || draft.origin() != Some(node.span) {
            return matches!(draft, EditPlan::Scalar(_)) && self.is_short_scalar(node);
        }
        match draft {
            EditPlan::Kept(_) => true,
            EditPlan::Scalar(_) => false,
            EditPlan::Object(_, members) => {
                let own = get_members(node);
                members.iter().any(|it| it.in_place) && own.iter().all(|it| !it.key_span.is_empty())
            }
            EditPlan::List(_, elements) => {
                let JsonKind::Array(written) = &node.kind else { return false };
                let origins: Vec<Span> = elements.iter().filter_map(EditPlan::origin).collect();
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
        let is_short = !text.is_empty() && !text.starts_with(['|', '>']) && !text.contains('\n');
        is_scalar && is_short && self.find_block_text(node).is_none()
    }

    /// The text of a scalar in block style, whose place is only that of its lines.
    pub(super) fn find_block_text<'m>(&self, node: &'m JsonNode<'_>) -> Option<&'m str> {
        let JsonKind::String(text) = &node.kind else { return None };
        let before = self.lines.slice(Span { start: 0, end: node.span.start }).trim_end();
        let header = before.rsplit('\n').next().unwrap_or_default();
        let header = header.split(" #").next().unwrap_or_default().trim_end();
        let header = header.trim_end_matches(|it: char| it.is_ascii_digit() || "+-".contains(it));
        let behind = header.strip_suffix(['|', '>'])?;
        let is_header = behind.ends_with([' ', '\t']) && !behind.trim_start().starts_with('#');
        (is_header && !self.is_json && self.lines.is_first(node.span.start)).then_some(&**text)
    }

    /// Changes a value where it stands.
    pub(super) fn edit_in_place(&mut self, draft: &EditPlan, node: &'n JsonNode<'n>) {
        match draft {
            EditPlan::Kept(_) => {}
            EditPlan::Scalar(json) => {
                let text = self.format_scalar(json, Some(node.span));
                self.edits.push(Edit::replace(node.span, text));
            }
            EditPlan::Object(_, members) if self.is_flow(node) => {
                self.edit_flow_object(members, node)
            }
            EditPlan::Object(_, members) => self.edit_block_object(members, node),
            EditPlan::List(_, elements) if self.is_flow(node) => {
                self.edit_flow_list(elements, node)
            }
            EditPlan::List(_, elements) => self.edit_block_list(elements, node),
        }
    }
}

/// Returns true if YAML takes a text without quotes for this text, in every version.
fn is_plain(text: &str) -> bool {
    const WORDS: &[&str] =
        &["true", "false", "null", "yes", "no", "on", "off", "y", "n", "inf", "nan"];
    let is_inner = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.' | '/');
    text.starts_with(|it: char| it.is_ascii_alphabetic() || it == '/')
        && text.chars().all(is_inner)
        && !WORDS.iter().any(|it| text.eq_ignore_ascii_case(it))
}

/// The keys of a draft that stay where they are.
pub(super) fn collect_staying_keys(draft: &EditPlan, keys: &mut HashSet<Span>) {
    match draft {
        EditPlan::Kept(_) | EditPlan::Scalar(_) => {}
        EditPlan::List(_, elements) => {
            elements.iter().for_each(|it| collect_staying_keys(it, keys))
        }
        EditPlan::Object(_, members) => {
            for PlannedMember { key, in_place, value, .. } in members {
                keys.extend(key.filter(|_| *in_place));
                collect_staying_keys(value, keys);
            }
        }
    }
}
