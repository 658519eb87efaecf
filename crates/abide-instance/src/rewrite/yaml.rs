//! Edits of YAML in block style.

use abide_schema::value::{JsonKind, JsonMember, JsonNode};
use abide_syntax::Span;
use abide_upgrade::Edit;

use super::edit_plan::{Draft, Member};
use super::nodes::members_of;
use super::writer::Writer;

/// What a value is written behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// A key and its colon.
    Key,
    /// The dash of an element.
    Dash,
}

fn spaces(count: usize) -> String {
    " ".repeat(count)
}

impl<'n> Writer<'_, 'n> {
    /// Changes the members of a mapping.
    pub(super) fn block_object(&mut self, members: &[Member], node: &'n JsonNode<'n>) {
        let own = members_of(node);
        let indent = own.first().map_or(0, |it| self.lines.column(it.key_span.start));
        for (at, written) in own.iter().enumerate() {
            let found = members.iter().find(|it| it.in_place && it.key == Some(written.key_span));
            match found {
                Some(member) => self.block_member(member, written, indent),
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
            let text = self.member_text(member, indent);
            match previous {
                Some(previous) => {
                    let at = self.lines.end(self.member_tail(previous));
                    self.edits.push(Edit::insert(at, format!("\n{text}")));
                }
                None => {
                    let first = own.first().map_or(node.span.start, |it| it.key_span.start);
                    if self.lines.is_first(first) {
                        let above = self.comments_above(first);
                        let at = self.lines.start(above.first().map_or(first, |it| it.start));
                        self.edits.push(Edit::insert(at, format!("{text}\n")));
                        continue;
                    }
                    let text = text.strip_prefix(&spaces(indent)).unwrap_or(&text);
                    let text = format!("{text}\n{}", spaces(indent));
                    self.edits.push(Edit::insert(first, text));
                }
            }
        }
    }

    fn block_member(&mut self, member: &Member, written: &'n JsonMember<'n>, indent: usize) {
        if member.is_renamed {
            let text = self.key_text(&member.name, Some(written.key_span));
            self.edits.push(Edit::replace(written.key_span, text));
        }
        if self.fits_in_place(&member.value, &written.value) {
            return self.in_place(&member.value, &written.value);
        }
        let region = Span { start: written.key_span.end, end: self.member_tail(written) };
        let header = self.comment_behind(self.colon(written.key_span.end));
        let header = header.filter(|it| it.start < region.end);
        self.written.extend(header);
        let text = self.block(&member.value, indent, After::Key);
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
                let text = format!("{}{}\n", spaces(indent), self.lines.slice(comment));
                self.edits.push(Edit::insert(at, text));
                self.written.insert(comment);
            }
        }
    }

    /// The place behind the colon of a key.
    fn colon(&self, key_end: u32) -> u32 {
        let behind = self.lines.slice(Span { start: key_end, end: self.lines.end(key_end) });
        key_end + behind.find(':').map_or(0, |it| it as u32 + 1)
    }

    /// Takes a member out; `next` is the next one that stays.
    fn delete_member(&mut self, written: &JsonMember<'_>, next: Option<&JsonMember<'_>>) {
        let key = written.key_span;
        let tail = self.member_tail(written);
        let is_moved = self.claimed.contains(&key) && !self.staying.contains(&key);
        let span = if self.lines.is_first(key.start) {
            let above = self.comments_above(key.start);
            let from = above.first().filter(|_| is_moved).map_or(key.start, |it| it.start);
            Span { start: self.lines.start(from), end: self.lines.next(tail) }
        } else {
            let end = next.map_or(self.lines.end(tail), |next| {
                let above = self.comments_above(next.key_span.start);
                above.first().map_or(next.key_span.start, |it| it.start)
            });
            Span { start: key.start, end }
        };
        self.edits.push(Edit::delete(span));
    }

    /// Changes the elements of a sequence, none of which is another one than before.
    pub(super) fn block_list(&mut self, elements: &[Draft], node: &'n JsonNode<'n>) {
        let JsonKind::Array(written) = &node.kind else { return };
        let indent = self.lines.column(node.span.start);
        for (at, old) in written.iter().enumerate() {
            let found = elements.iter().find(|it| it.origin() == Some(old.span));
            match found {
                Some(draft) if self.fits_in_place(draft, old) => self.in_place(draft, old),
                Some(draft) => {
                    let region = Span { start: self.dash(old, indent) + 1, end: self.tail(old) };
                    let text = self.block(draft, indent, After::Dash);
                    self.edits.push(Edit::replace(region, text));
                }
                None => {
                    let start = self.dash(old, indent);
                    let end = match written.get(at + 1) {
                        Some(next) if !self.lines.is_first(start) => self.dash(next, indent),
                        _ => self.lines.next(self.tail(old)),
                    };
                    let is_first = self.lines.is_first(start);
                    let start = if is_first { self.lines.start(start) } else { start };
                    self.edits.push(Edit::delete(Span { start, end }));
                }
            }
        }
    }

    /// The dash of an element of a sequence that begins in a column.
    fn dash(&self, element: &JsonNode<'_>, column: usize) -> u32 {
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
    fn member_text(&mut self, member: &Member, indent: usize) -> String {
        let mut text = String::new();
        for comment in self.comments_of(member) {
            text.push_str(&format!("{}{}\n", spaces(indent), self.lines.slice(comment)));
        }
        text.push_str(&spaces(indent));
        text.push_str(&self.key_text(&member.name, member.key));
        text.push(':');
        text.push_str(&self.block(&member.value, indent, After::Key));
        text
    }

    /// The comments above the key that a member is made from, if they are not written yet.
    fn comments_of(&mut self, member: &Member) -> Vec<Span> {
        let Some(key) = member.key else { return Vec::new() };
        if !member.in_place && self.staying.contains(&key) || !self.lines.is_first(key.start) {
            return Vec::new();
        }
        let mut above = self.comments_above(key.start);
        above.retain(|it| self.written.insert(*it));
        above
    }

    /// The comment behind a value that moves, with the spaces before it.
    fn comment_with(&mut self, tail: u32) -> String {
        match self.comment_behind(tail) {
            Some(comment) if self.written.insert(comment) => {
                self.lines.slice(Span { start: tail, end: comment.end }).to_owned()
            }
            _ => String::new(),
        }
    }

    /// A value behind a key or a dash in a column.
    pub(super) fn block(&mut self, draft: &Draft, indent: usize, after: After) -> String {
        let anchor = self.anchor_of(draft);
        match draft {
            Draft::Kept(span) => self.kept(*span, indent, after),
            Draft::Scalar(json) => format!(" {}", self.scalar_text(json, None)),
            Draft::List(_, elements) if elements.is_empty() => " []".to_owned(),
            Draft::Object(_, members) if members.is_empty() => " {}".to_owned(),
            Draft::Object(_, members) => {
                let inner = match after {
                    After::Key => indent + self.step,
                    After::Dash => indent + 2,
                };
                let mut text = anchor;
                for member in members {
                    let is_inline = after == After::Dash && text.is_empty();
                    let lines = self.member_text(member, inner);
                    match lines.strip_prefix(&spaces(inner)) {
                        Some(rest) if is_inline => text = format!(" {rest}"),
                        _ => text = format!("{text}\n{lines}"),
                    }
                }
                text
            }
            Draft::List(_, elements) => {
                let inner = match after {
                    After::Key => indent + self.list_step,
                    After::Dash => indent + 2,
                };
                let mut text = anchor;
                for element in elements {
                    let above = self.comments_of_element(element);
                    let is_inline = after == After::Dash && text.is_empty() && above.is_empty();
                    let value = self.block(element, inner, After::Dash);
                    match is_inline {
                        true => text = format!(" -{value}"),
                        false => {
                            for comment in above {
                                let comment = self.lines.slice(comment);
                                text = format!("{text}\n{}{comment}", spaces(inner));
                            }
                            text = format!("{text}\n{}-{value}", spaces(inner));
                        }
                    }
                }
                text
            }
        }
    }

    /// The comments above an element that moves.
    fn comments_of_element(&mut self, element: &Draft) -> Vec<Span> {
        // The comments of an element inside of a list that it holds are not its own.
        let Some(node) = first_origin(element).and_then(|it| self.nodes.value(it)) else {
            return Vec::new();
        };
        let before = self.lines.before(node.span.start).trim();
        if before != "-" {
            return Vec::new();
        }
        let mut above = self.comments_above(node.span.start);
        above.retain(|it| self.written.insert(*it));
        above
    }

    /// The anchor of the value that a draft is made from, behind a space.
    fn anchor_of(&self, draft: &Draft) -> String {
        let origin = draft.origin().and_then(|it| self.anchors.names.get(&it.start));
        origin.map_or_else(String::new, |it| format!(" {}", self.lines.slice(*it)))
    }

    /// A value as the text has it, in another column.
    fn kept(&mut self, span: Span, indent: usize, after: After) -> String {
        let Some(node) = self.nodes.value(span) else { return " null".to_owned() };
        let tail = self.tail(node);
        let mut anchor = self.anchor_of(&Draft::Kept(span));
        if self.is_alias(node) {
            anchor.clear();
        }
        if self.is_flow(node) {
            let text = self.lines.slice(Span { start: span.start, end: tail });
            let text = shifted(text, self.lines.indent(span.start), indent);
            let inside = |it: &&Span| it.start >= span.start && it.end <= tail;
            self.written.extend(self.comments.iter().filter(inside));
            let comment = self.comment_with(tail);
            return format!("{anchor} {text}{comment}");
        }
        let column = self.lines.column(span.start);
        let is_list = matches!(node.kind, JsonKind::Array(_));
        let inner = match after {
            After::Key if is_list => indent + self.list_step,
            After::Key => indent + self.step,
            After::Dash => indent + 2,
        };
        let end = self.comment_behind(tail).map_or(tail, |it| it.end);
        let inside = |it: &&Span| it.start >= span.start && it.end <= end;
        self.written.extend(self.comments.iter().filter(inside));
        let text = shifted(self.lines.slice(Span { start: span.start, end }), column, inner);
        match after == After::Dash && anchor.is_empty() {
            true => format!(" {text}"),
            false => format!("{anchor}\n{}{text}", spaces(inner)),
        }
    }
}

/// The first value of the text that a draft is made from, outside of lists.
fn first_origin(draft: &Draft) -> Option<Span> {
    let inside = || match draft {
        Draft::Object(_, members) => members.iter().find_map(|it| first_origin(&it.value)),
        Draft::List(..) | Draft::Kept(_) | Draft::Scalar(_) => None,
    };
    draft.origin().or_else(inside)
}

/// A text whose lines but the first begin in another column.
pub(super) fn shifted(text: &str, from: usize, to: usize) -> String {
    let mut lines = text.split('\n');
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        out.push('\n');
        let bare = line.trim_start_matches(' ');
        if bare.trim().is_empty() {
            continue;
        }
        let column = line.len() - bare.len();
        out.push_str(&spaces((column + to).saturating_sub(from)));
        out.push_str(bare);
    }
    out
}
