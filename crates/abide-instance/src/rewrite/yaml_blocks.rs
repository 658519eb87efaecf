//! Edits of YAML in block style.

use abide_schema::value::{JsonKind, JsonMember, JsonNode};
use abide_syntax::Span;
use abide_upgrade::Edit;

use super::edit_plan::{EditPlan, PlannedMember, quote_text};
use super::nodes::get_members;
use super::writer::PlanWriter;

/// The text that a value is written behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WrittenAfter {
    /// A key and its colon.
    Key,
    /// The dash of an element.
    Dash,
}

fn repeat_space(count: usize) -> String {
    " ".repeat(count)
}

impl<'n> PlanWriter<'_, 'n> {
    /// Changes the members of a mapping.
    pub(super) fn edit_block_object(&mut self, members: &[PlannedMember], node: &'n JsonNode<'n>) {
        let own = get_members(node);
        let indent = own.first().map_or(0, |it| self.lines.column(it.key_span.start));
        for (at, written) in own.iter().enumerate() {
            let found = members.iter().find(|it| it.in_place && it.key == Some(written.key_span));
            match found {
                Some(member) => self.edit_block_member(member, written, indent),
                None => {
                    let stays = |it: &&JsonMember<'_>| {
                        members.iter().any(|new| new.in_place && new.key == Some(it.key_span))
                    };
                    self.delete_member(written, own[at + 1..].iter().find(stays));
                }
            }
        }
        let mut previous: Option<&JsonMember<'_>> = None;
        for member in members {
            if member.in_place {
                previous = own.iter().find(|it| Some(it.key_span) == member.key);
                continue;
            }
            let text = self.format_member(member, indent);
            match previous {
                Some(previous) => {
                    let at = self.lines.end(self.find_member_end(previous));
                    self.edits.push(Edit::insert(at, format!("\n{text}")));
                }
                None => {
                    let first = own.first().map_or(node.span.start, |it| it.key_span.start);
                    if self.lines.is_first(first) {
                        let above = self.find_comments_above(first);
                        let at = self.lines.start(above.first().map_or(first, |it| it.start));
                        self.edits.push(Edit::insert(at, format!("{text}\n")));
                        continue;
                    }
                    let text = text.strip_prefix(&repeat_space(indent)).unwrap_or(&text);
                    let text = format!("{text}\n{}", repeat_space(indent));
                    self.edits.push(Edit::insert(first, text));
                }
            }
        }
    }

    fn edit_block_member(
        &mut self,
        member: &PlannedMember,
        written: &'n JsonMember<'n>,
        indent: usize,
    ) {
        if member.is_renamed {
            let text = self.format_key(&member.name, Some(written.key_span));
            self.edits.push(Edit::replace(written.key_span, text));
        }
        if self.can_edit_in_place(&member.value, &written.value) {
            return self.edit_in_place(&member.value, &written.value);
        }
        let region = Span { start: written.key_span.end, end: self.find_member_end(written) };
        let header = self.find_comment_behind(self.find_colon_end(written.key_span.end));
        let header = header.filter(|it| it.start < region.end);
        self.written.extend(header);
        let text = self.format_block(&member.value, indent, WrittenAfter::Key);
        let header = header.map(|it| format!(" {}", self.lines.slice(it))).unwrap_or_default();
        let text = match text.starts_with('\n') {
            true => format!(":{header}{text}"),
            false => format!(":{text}{header}"),
        };
        self.edits.push(Edit::replace(region, text));
        // No comment gets lost: what has no place stands above.
        let inside = |it: &&Span| it.start >= region.start && it.end <= region.end;
        let left = self.comments.iter().filter(inside).filter(|it| !self.written.contains(it));
        let left: Vec<Span> = left.copied().collect();
        if self.lines.is_first(written.key_span.start) {
            let at = self.lines.start(written.key_span.start);
            for comment in left {
                let text = format!("{}{}\n", repeat_space(indent), self.lines.slice(comment));
                self.edits.push(Edit::insert(at, text));
                self.written.insert(comment);
            }
        }
    }

    /// The place behind the colon of a key.
    fn find_colon_end(&self, key_end: u32) -> u32 {
        let behind = self.lines.slice(Span { start: key_end, end: self.lines.end(key_end) });
        key_end + behind.find(':').map_or(0, |it| it as u32 + 1)
    }

    /// Takes a member out; `next` is the next one that stays.
    fn delete_member(&mut self, written: &JsonMember<'_>, next: Option<&JsonMember<'_>>) {
        let key = written.key_span;
        let tail = self.find_member_end(written);
        let is_moved = self.claimed_keys.contains(&key) && !self.staying.contains(&key);
        let span = if self.lines.is_first(key.start) {
            let above = self.find_comments_above(key.start);
            let from = above.first().filter(|_| is_moved).map_or(key.start, |it| it.start);
            Span { start: self.lines.start(from), end: self.lines.next(tail) }
        } else {
            let end = next.map_or(self.lines.end(tail), |next| {
                let above = self.find_comments_above(next.key_span.start);
                above.first().map_or(next.key_span.start, |it| it.start)
            });
            Span { start: key.start, end }
        };
        self.edits.push(Edit::delete(span));
    }

    /// Changes the elements of a sequence, none of which is another one than before.
    pub(super) fn edit_block_list(&mut self, elements: &[EditPlan], node: &'n JsonNode<'n>) {
        let JsonKind::Array(written) = &node.kind else { return };
        let indent = self.lines.column(node.span.start);
        for (at, old) in written.iter().enumerate() {
            let found = elements.iter().find(|it| it.origin() == Some(old.span));
            match found {
                Some(draft) if self.can_edit_in_place(draft, old) => self.edit_in_place(draft, old),
                Some(draft) => {
                    let region =
                        Span { start: self.find_dash(old, indent) + 1, end: self.find_end(old) };
                    let text = self.format_block(draft, indent, WrittenAfter::Dash);
                    self.edits.push(Edit::replace(region, text));
                }
                None => {
                    let start = self.find_dash(old, indent);
                    let end = match written.get(at + 1) {
                        Some(next) if !self.lines.is_first(start) => self.find_dash(next, indent),
                        _ => self.lines.next(self.find_end(old)),
                    };
                    let is_first = self.lines.is_first(start);
                    let start = if is_first { self.lines.start(start) } else { start };
                    self.edits.push(Edit::delete(Span { start, end }));
                }
            }
        }
    }

    /// The dash of an element of a sequence that begins in a column.
    fn find_dash(&self, element: &JsonNode<'_>, column: usize) -> u32 {
        let mut line = self.lines.start(element.span.start);
        loop {
            let at = line + column as u32;
            let is_dash = self.lines.0.as_bytes().get(at as usize) == Some(&b'-');
            if at <= element.span.start && is_dash && at < self.lines.next(line) || line == 0 {
                return at;
            }
            line = self.lines.start(line - 1);
        }
    }

    /// A member on lines of its own, with the comments that go with it.
    fn format_member(&mut self, member: &PlannedMember, indent: usize) -> String {
        let mut text = String::new();
        for comment in self.take_comments(member) {
            text.push_str(&format!("{}{}\n", repeat_space(indent), self.lines.slice(comment)));
        }
        text.push_str(&repeat_space(indent));
        text.push_str(&self.format_key(&member.name, member.key));
        text.push(':');
        text.push_str(&self.format_block(&member.value, indent, WrittenAfter::Key));
        text
    }

    /// The comments above the key that a member is made from, if they are not written yet.
    fn take_comments(&mut self, member: &PlannedMember) -> Vec<Span> {
        let Some(key) = member.key else { return Vec::new() };
        if !member.in_place && self.staying.contains(&key) || !self.lines.is_first(key.start) {
            return Vec::new();
        }
        let mut above = self.find_comments_above(key.start);
        above.retain(|it| self.written.insert(*it));
        above
    }

    /// The comment behind a value that moves, with the spaces before it.
    fn take_comment_behind(&mut self, tail: u32) -> String {
        match self.find_comment_behind(tail) {
            Some(comment) if self.written.insert(comment) => {
                self.lines.slice(Span { start: tail, end: comment.end }).to_owned()
            }
            _ => String::new(),
        }
    }

    /// A value behind a key or a dash in a column.
    pub(super) fn format_block(
        &mut self,
        draft: &EditPlan,
        indent: usize,
        after: WrittenAfter,
    ) -> String {
        let anchor = self.format_anchor(draft);
        match draft {
            EditPlan::Kept(span) => self.format_kept(*span, indent, after),
            EditPlan::Scalar(json) => format!(" {}", self.format_scalar(json, None)),
            EditPlan::List(_, elements) if elements.is_empty() => format!("{anchor} []"),
            EditPlan::Object(_, members) if members.is_empty() => format!("{anchor} {{}}"),
            EditPlan::Object(_, members) => {
                let inner = match after {
                    WrittenAfter::Key => indent + self.step,
                    WrittenAfter::Dash => indent + 2,
                };
                let mut text = anchor;
                for member in members {
                    let is_inline = after == WrittenAfter::Dash && text.is_empty();
                    let lines = self.format_member(member, inner);
                    match lines.strip_prefix(&repeat_space(inner)) {
                        Some(rest) if is_inline => text = format!(" {rest}"),
                        _ => text = format!("{text}\n{lines}"),
                    }
                }
                text
            }
            EditPlan::List(_, elements) => {
                let inner = match after {
                    WrittenAfter::Key => indent + self.list_step,
                    WrittenAfter::Dash => indent + 2,
                };
                let mut text = anchor;
                for element in elements {
                    let above = self.take_element_comments(element);
                    let is_inline =
                        after == WrittenAfter::Dash && text.is_empty() && above.is_empty();
                    let value = self.format_block(element, inner, WrittenAfter::Dash);
                    match is_inline {
                        true => text = format!(" -{value}"),
                        false => {
                            for comment in above {
                                let comment = self.lines.slice(comment);
                                text = format!("{text}\n{}{comment}", repeat_space(inner));
                            }
                            text = format!("{text}\n{}-{value}", repeat_space(inner));
                        }
                    }
                }
                text
            }
        }
    }

    /// The comments above an element that moves.
    fn take_element_comments(&mut self, element: &EditPlan) -> Vec<Span> {
        // The comments of an element inside of a list that it holds are not its own.
        let Some(node) = find_first_origin(element).and_then(|it| self.nodes.find_value(it)) else {
            return Vec::new();
        };
        let before = self.lines.before(node.span.start).trim();
        if before != "-" {
            return Vec::new();
        }
        let mut above = self.find_comments_above(node.span.start);
        above.retain(|it| self.written.insert(*it));
        above
    }

    /// The anchor of the value that a draft is made from, behind a space.
    pub(super) fn format_anchor(&self, draft: &EditPlan) -> String {
        let origin = draft.origin().and_then(|it| self.anchors.names.get(&it.start));
        origin.map_or_else(String::new, |it| format!(" {}", self.lines.slice(*it)))
    }

    /// A value as the text has it, in another column.
    fn format_kept(&mut self, span: Span, indent: usize, after: WrittenAfter) -> String {
        let Some(node) = self.nodes.find_value(span) else { return " null".to_owned() };
        let tail = self.find_end(node);
        let mut anchor = self.format_anchor(&EditPlan::Kept(span));
        if self.is_alias(node) {
            anchor.clear();
        }
        if let Some(text) = self.find_block_text(node) {
            return format!("{anchor} {}", self.format_scalar(&quote_text(text), None));
        }
        if self.is_flow(node) {
            let text = self.lines.slice(Span { start: span.start, end: tail });
            let text = shift_lines(text, self.lines.indent(span.start), indent);
            let inside = |it: &&Span| it.start >= span.start && it.end <= tail;
            self.written.extend(self.comments.iter().filter(inside));
            let comment = self.take_comment_behind(tail);
            return format!("{anchor} {text}{comment}");
        }
        let column = self.lines.column(span.start);
        let is_list = matches!(node.kind, JsonKind::Array(_));
        let inner = match after {
            WrittenAfter::Key if is_list => indent + self.list_step,
            WrittenAfter::Key => indent + self.step,
            WrittenAfter::Dash => indent + 2,
        };
        let end = self.find_comment_behind(tail).map_or(tail, |it| it.end);
        let inside = |it: &&Span| it.start >= span.start && it.end <= end;
        self.written.extend(self.comments.iter().filter(inside));
        let text = shift_lines(self.lines.slice(Span { start: span.start, end }), column, inner);
        match after == WrittenAfter::Dash && anchor.is_empty() {
            true => format!(" {text}"),
            false => format!("{anchor}\n{}{text}", repeat_space(inner)),
        }
    }
}

/// The first value of the text that a draft is made from, outside of lists.
fn find_first_origin(draft: &EditPlan) -> Option<Span> {
    let inside = || match draft {
        EditPlan::Object(_, members) => members.iter().find_map(|it| find_first_origin(&it.value)),
        EditPlan::List(..) | EditPlan::Kept(_) | EditPlan::Scalar(_) => None,
    };
    draft.origin().or_else(inside)
}

/// A text whose lines but the first begin in another column.
pub(super) fn shift_lines(text: &str, from: usize, to: usize) -> String {
    let mut lines = text.split('\n');
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        out.push('\n');
        let bare = line.trim_start_matches(' ');
        if bare.trim().is_empty() {
            continue;
        }
        let column = line.len() - bare.len();
        out.push_str(&repeat_space((column + to).saturating_sub(from)));
        out.push_str(bare);
    }
    out
}
