//! Statements of a body and the order in which they are printed.

use abide_syntax::{CommentBlock, CommentGap, DeclId, DeclKind, ImportKind, Span};

use super::source_text::SourceText;

/// A declaration with the comments that move with it.
pub(super) struct CommentedStatement {
    pub(super) id: DeclId,
    /// Further `reserved` statements that are joined with it.
    pub(super) joined: Vec<DeclId>,
    pub(super) detached: Vec<CommentBlock>,
    pub(super) leading: Option<CommentBlock>,
    pub(super) trailing: Option<CommentBlock>,
    /// True if there is a blank line before it.
    pub(super) has_blank_line_before: bool,
}

impl CommentedStatement {
    pub(super) fn is_headed(&self) -> bool {
        self.leading.is_some() || !self.detached.is_empty()
    }

    pub(super) fn is_commented(&self) -> bool {
        self.is_headed() || self.trailing.is_some()
    }
}

impl SourceText<'_> {
    /// The content of a body in the order in which it is printed: the comments
    /// after the brace, the declarations, and the comments after the last one.
    pub(super) fn collect_statements(
        &self,
        parent: Option<DeclId>,
    ) -> (Option<CommentBlock>, Vec<CommentedStatement>, Vec<CommentBlock>) {
        let text = self.text.as_bytes();
        let children: Vec<DeclId> = self.ast.children_of(parent).collect();
        let decl = |id: DeclId| &self.ast.decls[id as usize];
        let mut opening = None;
        let mut carried = Vec::new();
        let mut statements: Vec<CommentedStatement> = Vec::new();
        for (at, &id) in children.iter().enumerate() {
            let gap = match (at, parent) {
                (0, None) => CommentGap::read_at_start(text, decl(id).gap),
                _ => CommentGap::read_after(text, decl(id).gap),
            };
            let first = gap.detached.first().or(gap.leading.as_ref());
            let start = first.map_or(decl(id).span.start, |run| run.span.start);
            let end = gap.trailing.map_or(decl(id).gap, |run| run.span.end);
            let apart = Span::new(end, start).str(text).matches('\n').count() > 1;
            match statements.last_mut() {
                Some(before) => before.trailing = before.trailing.or(gap.trailing),
                None => opening = opening.or(gap.trailing),
            }
            carried.extend(gap.detached);
            // A lone semicolon is dropped, unless it has its own comment; detached
            // comments before it belong to the next statement.
            let is_empty = matches!(decl(id).kind, DeclKind::Empty);
            let behind = || CommentGap::read_after(text, decl(id).span.end).trailing;
            if is_empty && gap.leading.is_none() && behind().is_none() {
                continue;
            }
            let detached = if is_empty { Vec::new() } else { std::mem::take(&mut carried) };
            statements.push(CommentedStatement {
                id,
                joined: Vec::new(),
                detached,
                leading: gap.leading,
                trailing: None,
                has_blank_line_before: apart,
            });
        }
        let end = children.last().map(|id| decl(*id).span.end);
        let body = parent.and_then(|id| self.ast.body_of(decl(id)));
        let gap = match (end, body) {
            (Some(end), _) => CommentGap::read_after(text, end),
            (None, Some(body)) => CommentGap::read_after(text, body.start + 1),
            (None, None) => CommentGap::read_at_start(text, 0),
        };
        match statements.last_mut() {
            Some(before) => before.trailing = before.trailing.or(gap.trailing),
            None => opening = opening.or(gap.trailing),
        }
        self.join_reserved(&mut statements);
        self.sort_imports(&mut statements);
        let mut closing = carried;
        closing.extend(gap.detached);
        closing.extend(gap.leading);
        (opening, statements, closing)
    }

    /// Joins `reserved` statements if their order and all comments stay.
    fn join_reserved(&self, statements: &mut Vec<CommentedStatement>) {
        let mut last: [Option<usize>; 2] = [None; 2];
        let mut gathered: Vec<CommentedStatement> = Vec::new();
        for statement in statements.drain(..) {
            let decl = &self.ast.decls[statement.id as usize];
            let kind = match decl.kind {
                DeclKind::ReservedNumbers { .. } => 0,
                DeclKind::ReservedNames { .. } => 1,
                _ => {
                    gathered.push(statement);
                    continue;
                }
            };
            let plain = !statement.is_commented() && self.find_comments(decl.span).is_empty();
            match last[kind].filter(|_| plain) {
                Some(at) => gathered[at].joined.push(statement.id),
                None => {
                    last[kind] = plain.then_some(gathered.len());
                    gathered.push(statement);
                }
            }
        }
        *statements = gathered;
    }

    /// Sorts the imports of each block. An import with detached comments above it
    /// stays first.
    fn sort_imports(&self, statements: &mut [CommentedStatement]) {
        let path = |it: &CommentedStatement| match self.ast.decls[it.id as usize].kind {
            // protoc requires `import option` after all other imports.
            DeclKind::Import { path, kind, .. } => {
                Some((kind == ImportKind::Option, path.str(self.text.as_bytes())))
            }
            _ => None,
        };
        let same = |a: &CommentedStatement, b: &CommentedStatement| {
            path(a).is_some()
                && path(b).is_some()
                && !b.has_blank_line_before
                && b.detached.is_empty()
        };
        for block in statements.chunk_by_mut(same) {
            let apart = block[0].has_blank_line_before;
            let pinned = usize::from(!block[0].detached.is_empty());
            block[pinned..].sort_by_key(|it| path(it));
            block.iter_mut().for_each(|it| it.has_blank_line_before = false);
            block[0].has_blank_line_before = apart;
        }
    }
}
