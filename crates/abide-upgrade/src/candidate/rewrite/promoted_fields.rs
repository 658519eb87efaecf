//! The text of fields that become members of a oneof.

use abide_schema::{Element, Node};
use abide_syntax::{DeclId, DeclKind, Span};

use super::rewriter::FileRewriter;
use crate::edit::Edit;
use crate::plan::find_oneof_after;

/// The white space around the members of a oneof.
struct OneofLayout {
    /// True if its members have lines of their own.
    is_own: bool,
    /// Before the first member.
    inner: String,
    /// Before the closing brace.
    outer: String,
}

impl<'t> FileRewriter<'_, 't> {
    /// Encloses fields that are promoted together, or adds them to the oneof next
    /// to them.
    pub(crate) fn enclose_promoted_fields(&mut self, children: &[DeclId], gone: &[bool]) {
        let kept: Vec<DeclId> =
            children.iter().zip(gone).filter(|(_, gone)| !**gone).map(|(id, _)| *id).collect();
        let oneofs: Vec<Option<&'t str>> =
            kept.iter().map(|id| self.find_oneof_after(*id)).collect();
        let mut at = 0;
        while at < kept.len() {
            let Some(name) = oneofs[at] else {
                at += 1;
                continue;
            };
            let count = oneofs[at..].iter().take_while(|it| **it == Some(name)).count();
            self.enclose_in_oneof(name, &kept[at..at + count]);
            at += count;
        }
    }

    /// The oneof that a statement will be part of, or that it is.
    fn find_oneof_after(&self, id: DeclId) -> Option<&'t str> {
        match self.find_element(id)? {
            Element::Field(field) => find_oneof_after(field),
            Element::Oneof(oneof) => Some(oneof.name()),
            _ => None,
        }
    }

    fn enclose_in_oneof(&mut self, name: &str, members: &[DeclId]) {
        let is_oneof =
            |id: &DeclId| matches!(self.ast.decls[*id as usize].kind, DeclKind::Oneof { .. });
        let oneof = members.iter().position(is_oneof);
        let fields = |members: &[DeclId]| Some((*members.first()?, *members.last()?));
        let (before, after) = match oneof {
            Some(at) => (fields(&members[..at]), fields(&members[at + 1..])),
            None => (fields(members), None),
        };
        for id in members {
            if let DeclKind::Field(node) = self.ast.decls[*id as usize].kind
                && let Some(label) = node.label
            {
                // A member of a oneof has explicit presence without a label.
                let span = label.span(&self.ast.decls[*id as usize]);
                self.edits.push(Edit::delete(Span::new(span.start, node.ty.start)));
            }
        }
        let existing = oneof.map(|at| members[at]);
        if let Some((first, last)) = before {
            let start = self.find_start(first);
            let line = self.detect_oneof_layout(start);
            let end = self.find_end(last);
            match existing {
                None => {
                    let open = format!("oneof {name} {{{}", line.inner);
                    self.edits.push(Edit::insert(start, open));
                    self.edits.push(Edit::insert(end, format!("{}}}", line.outer)));
                }
                // The head of the oneof moves up.
                Some(oneof) => {
                    let options = |id: &DeclId| {
                        matches!(self.ast.decls[*id as usize].kind, DeclKind::Option(_))
                    };
                    let options = self.ast.children_of(Some(oneof)).take_while(options).last();
                    let head_end =
                        options.map_or(self.find_head_end(oneof), |id| self.find_end(id));
                    let head = Span::new(self.find_start(oneof), head_end).str(self.text);
                    let gap = if options.is_some() && line.is_own { "\n" } else { "" };
                    let head = format!("{}{gap}{}", self.links.rewrite_comment(head), line.inner);
                    self.edits.push(Edit::insert(start, head));
                    let rest = &self.text[head_end as usize..];
                    let space = rest.iter().take_while(|it| it.is_ascii_whitespace());
                    let lines = space.filter(|it| **it == b'\n').count();
                    let gap = if lines > 1 || !line.is_own { "" } else { "\n" };
                    self.edits.push(Edit::replace(Span::new(end, head_end), gap));
                }
            }
            self.indent_lines(start, end);
        }
        if let (Some((_, last)), Some(oneof)) = (after, existing) {
            let line = self.detect_oneof_layout(self.find_start(oneof));
            let close = self.ast.decls[oneof as usize].span.end;
            let end = self.find_end(last);
            self.edits.push(Edit::delete(Span::new(self.find_end_before(close - 1), close)));
            self.edits.push(Edit::insert(end, format!("{}}}", line.outer)));
            self.indent_lines(close, end);
        }
    }

    /// Detects the layout of a oneof whose first statement starts at an offset.
    fn detect_oneof_layout(&self, start: u32) -> OneofLayout {
        if !self.is_line_start(start) {
            return OneofLayout { is_own: false, inner: " ".to_owned(), outer: " ".to_owned() };
        }
        let indent = self.read_indent(start);
        let unit = self.detect_indent_unit();
        OneofLayout {
            is_own: true,
            inner: format!("\n{indent}{unit}"),
            outer: format!("\n{indent}"),
        }
    }

    /// Indents the lines that begin between two offsets.
    fn indent_lines(&mut self, start: u32, end: u32) {
        let text = Span::new(start, end).of(self.text);
        let lines: Vec<u32> =
            memchr::memchr_iter(b'\n', text).map(|at| start + at as u32 + 1).collect();
        let filled = |at: &u32| !matches!(self.text.get(*at as usize), None | Some(b'\n' | b'\r'));
        let unit = self.detect_indent_unit();
        self.edits.extend(lines.into_iter().filter(filled).map(|at| Edit::insert(at, unit)));
    }

    /// The start of a statement, including the comments before it.
    fn find_start(&self, id: DeclId) -> u32 {
        let comments = self.file.decl().comments(Node(id));
        let first = comments.detached.first().or(comments.leading.as_ref());
        first.map_or(self.ast.decls[id as usize].span.start, |comment| comment.span.start)
    }
}
