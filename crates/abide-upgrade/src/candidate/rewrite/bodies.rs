//! Statements that leave a body, and statements that come into it.

use abide_schema::Node;
use abide_syntax::{DeclId, DeclKind, Span};

use super::rewriter::FileRewriter;
use crate::edit::Edit;
use crate::layout::MAX_LINE_WIDTH;

/// A statement to insert into a body, before the child with this index.
pub(super) enum InsertedStatement {
    Option(usize, String, String),
    Reserved(usize, String),
}

/// A body whose statements are removed and inserted.
pub(super) struct EditedBody<'b> {
    pub(super) parent: DeclId,
    /// The body with its braces.
    pub(super) span: Span,
    /// The end of the opening brace and of the comment on its line.
    pub(super) head: u32,
    pub(super) children: &'b [DeclId],
    /// For each child, true if it is removed.
    pub(super) removed: &'b [bool],
    /// The removed spans, with comments and white space.
    pub(super) regions: &'b [Span],
}

impl InsertedStatement {
    pub(super) fn index(&self) -> usize {
        match self {
            InsertedStatement::Option(at, ..) | InsertedStatement::Reserved(at, _) => *at,
        }
    }

    fn format_on_one_line(&self) -> String {
        match self {
            InsertedStatement::Option(_, name, value) => format!("option {name} = {value};"),
            InsertedStatement::Reserved(_, what) => format!("reserved {what};"),
        }
    }
}

/// `option name = value;`, on two lines if one is too short.
pub(super) fn format_option_statement(indent: &str, name: &str, value: &str) -> String {
    let line = format!("option {name} = {value};");
    if indent.len() + line.len() <= MAX_LINE_WIDTH {
        return line;
    }
    format!("option {name} =\n{indent}    {value};")
}

impl<'t> FileRewriter<'_, 't> {
    /// Removes statements from a body, each with its comments and the white space
    /// before it, and returns the removed spans.
    pub(super) fn remove_statements(
        &mut self,
        head: u32,
        children: &[DeclId],
        gone: &[bool],
        nothing_comes: bool,
    ) -> Vec<Span> {
        let mut regions: Vec<Span> = Vec::new();
        let mut end = head;
        let mut at_head = true;
        for (id, gone) in children.iter().zip(gone) {
            let tail = self.find_end(*id);
            if !gone {
                (end, at_head) = (tail, false);
                continue;
            }
            let mut span = Span::new(end, tail);
            if !self.plan.policy.drop_detached_comments {
                let detached = self.file.decl().comments(Node(*id)).detached;
                if let Some(last) = detached.last() {
                    span.start = last.span.end.max(end);
                    at_head = false;
                }
            }
            let space = |from: u32| {
                let rest = self.text.get(from as usize..).unwrap_or_default();
                let length = rest.iter().take_while(|it| it.is_ascii_whitespace()).count();
                Span::new(from, from + length as u32)
            };
            let lines = |space: Span| memchr::memchr_iter(b'\n', space.of(self.text)).count();
            let (before, after) = (space(span.start), space(tail));
            let closes = self.text.get(after.end as usize).is_none_or(|it| *it == b'}');
            if at_head && nothing_comes && head > 0 {
                // The next statement moves up to the brace.
                let line = memchr::memrchr(b'\n', after.of(self.text));
                span.end = after.start + line.unwrap_or(0) as u32;
            } else if !at_head && !closes && lines(before) > lines(after) {
                // The blank line before it stays, since none follows.
                span = Span::new(before.end, after.end);
            }
            self.edits.push(Edit::delete(span));
            regions.push(span);
            end = span.end;
        }
        regions
    }

    /// Returns true if the statements of a body stand on the line of its braces.
    fn is_one_line(&self, body: Span, children: &[DeclId]) -> bool {
        !children.is_empty() && memchr::memchr(b'\n', body.of(self.text)).is_none()
    }

    fn is_option(&self, id: DeclId) -> bool {
        matches!(self.ast.decls[id as usize].kind, DeclKind::Option(_))
    }

    /// Inserts statements into a body that stands on the line of its braces.
    fn insert_on_one_line(&mut self, body: &EditedBody<'_>, blocks: &[InsertedStatement]) {
        for (at, block) in blocks.iter().enumerate() {
            let previous = block.index().checked_sub(1).and_then(|it| body.children.get(it));
            let position = previous.map_or(body.head, |id| self.find_end(*id));
            let next = self.text.get(position as usize);
            let is_close = next.is_none_or(|it| it.is_ascii_whitespace() || *it == b'}');
            let gap = if is_close || at + 1 < blocks.len() { "" } else { " " };
            let statement = block.format_on_one_line();
            self.edits.push(Edit::insert(position, format!(" {statement}{gap}")));
        }
    }

    /// Inserts statements into a body.
    pub(super) fn insert_statements(
        &mut self,
        body: &EditedBody<'_>,
        blocks: Vec<InsertedStatement>,
    ) {
        let EditedBody { head, children, .. } = *body;
        let outer = self.read_indent(self.ast.decls[body.parent as usize].span.start);
        let mut starts = children.iter().map(|id| self.ast.decls[*id as usize].span.start);
        let indent = match starts.find(|start| self.is_line_start(*start)) {
            Some(start) => self.read_indent(start),
            None => format!("{outer}{}", self.detect_indent_unit()),
        };
        if self.is_one_line(body.span, children) {
            return self.insert_on_one_line(body, &blocks);
        }
        let mut at = 0;
        // The last child before the place that stays; places ascend.
        let (mut kept, mut seen) = (None, 0);
        while let Some(block) = blocks.get(at) {
            let place = block.index();
            let count = blocks[at..].iter().take_while(|it| it.index() == place).count();
            let previous = place.checked_sub(1).and_then(|before| children.get(before));
            let position = previous.map_or(head, |id| self.find_end(*id));
            kept = (seen..place).rev().find(|before| !body.removed[*before]).or(kept);
            seen = place;
            let mut text = match (kept, block) {
                // A comment after the brace stays apart from the new statements.
                (None, _) if position == head && head > body.span.start + 1 => "\n".to_owned(),
                (None, _) => String::new(),
                (Some(before), InsertedStatement::Option(..))
                    if self.is_option(children[before]) =>
                {
                    String::new()
                }
                // Earlier blocks in this place are already separated.
                (Some(_), _) => "\n".to_owned(),
            };
            let lines: Vec<String> = blocks[at..at + count]
                .iter()
                .map(|block| match block {
                    InsertedStatement::Option(_, name, value) => {
                        let statement = format_option_statement(&indent, name, value);
                        format!("\n{indent}{statement}")
                    }
                    InsertedStatement::Reserved(_, what) => format!("\n{indent}reserved {what};"),
                })
                .collect();
            if kept.is_none() && at > 0 {
                text.push('\n');
            }
            text.push_str(&lines.join("\n"));
            let follow = skip_removed(body.regions, position);
            let rest = Span::new(follow, body.span.end).of(self.text);
            let space: &[u8] =
                &rest[..rest.iter().take_while(|it| it.is_ascii_whitespace()).count()];
            let lines = space.iter().filter(|it| **it == b'\n').count();
            match (rest.get(space.len()), lines) {
                (Some(b'}'), 0) => {
                    let space = Span::new(follow, follow + space.len() as u32);
                    self.edits.push(Edit::delete(space));
                    text.push_str(&format!("\n{outer}"));
                }
                (Some(b'}'), _) => {}
                (_, 0) => text.push_str(&format!("\n\n{indent}")),
                (_, 1) => text.push('\n'),
                _ => {}
            }
            self.edits.push(Edit::insert(position, text));
            at += count;
        }
    }
}

/// Finds the start of the text behind a position, when the removed regions that follow each other
/// from there are gone. The regions ascend.
fn skip_removed(regions: &[Span], position: u32) -> u32 {
    let first = regions.partition_point(|it| it.start < position);
    let mut end = position;
    for region in regions[first..].iter().filter(|it| !it.is_empty()) {
        if region.start != end {
            break;
        }
        end = region.end;
    }
    end
}
