//! The values of options, which go on one line or on many.

use abide_syntax::{
    DeclId, DeclKind, Lexer, OptionNode, Slice, Span, TokenKind, ValueId, ValueKind,
};

use super::source_text::SourceText;

/// The value of an option, on one line or on many.
pub(super) enum ValueDoc {
    Word(String),
    /// Adjacent literals.
    Literals(Vec<DocItem>),
    Group {
        marks: (char, char),
        /// True if items on their own lines are separated by commas.
        commas: bool,
        items: Vec<DocItem>,
        /// Comments after the last item.
        rest: Vec<Span>,
    },
}

/// One item of a group.
pub(super) struct DocItem {
    pub(super) before: Vec<Span>,
    pub(super) name: String,
    pub(super) value: ValueDoc,
    /// Comments on its last line.
    pub(super) after: Vec<Span>,
}

impl ValueDoc {
    /// The value on one line, unless there is a comment inside.
    pub(super) fn render_flat(&self) -> Option<String> {
        let join = |items: &[DocItem], by: &str| {
            let items: Option<Vec<String>> = items.iter().map(DocItem::render_flat).collect();
            items.map(|it| it.join(by))
        };
        match self {
            ValueDoc::Word(word) => Some(word.clone()),
            ValueDoc::Literals(items) => join(items, " "),
            ValueDoc::Group { marks: (open, close), items, rest, .. } if rest.is_empty() => {
                join(items, ", ").map(|items| format!("{open}{items}{close}"))
            }
            ValueDoc::Group { .. } => None,
        }
    }
}

impl DocItem {
    fn render_flat(&self) -> Option<String> {
        if !self.before.is_empty() || !self.after.is_empty() {
            return None;
        }
        self.value.render_flat().map(|value| format!("{}{value}", self.name))
    }
}

impl SourceText<'_> {
    /// The parts of a declaration: its start, its options or value, and the rest
    /// before its `;` or `{`.
    pub(super) fn split_parts(&self, id: DeclId, end: u32) -> (Span, Option<ValueDoc>, Span) {
        let text = self.text.as_bytes();
        let decl = &self.ast.decls[id as usize];
        let start = decl.span.start;
        let options = match decl.kind {
            DeclKind::Option(option) => {
                let value = self.ast.options[option as usize].value;
                let span = self.ast.values[value as usize].span;
                let head = Span::new(start, span.start);
                let rest = if self.is_word(value) { span.start } else { span.end };
                return (head, Some(self.build_doc(value)), Span::new(rest, end));
            }
            DeclKind::Field(node) => node.options,
            DeclKind::MapField(map) => self.ast.maps[map as usize].options,
            DeclKind::EnumValue { options, .. } | DeclKind::Extensions { options, .. } => options,
            _ => Slice::default(),
        };
        let options = &self.ast.options[options.range()];
        let (Some(first), Some(last)) = (options.first(), options.last()) else {
            return (Span::new(start, end), None, Span::at(end));
        };
        let mut open = Span::at(start);
        let mut lexer = Lexer::new(text, start);
        loop {
            let token = lexer.next_token();
            if token.kind == TokenKind::End || token.span.start >= first.span.start {
                break;
            }
            open = token.span;
        }
        let close = Lexer::new(text, last.span.end).next_token().span;
        let spans: Vec<Span> = options.iter().map(|it| it.span).collect();
        let item = |at: usize| self.build_option(&options[at]);
        let group =
            self.build_group(('[', ']'), true, Span::new(open.end, close.start), &spans, &item);
        (Span::new(start, open.start), Some(group), Span::new(close.end, end))
    }

    /// An option in brackets.
    fn build_option(&self, option: &OptionNode) -> DocItem {
        let value = self.ast.values[option.value as usize].span;
        let head = Span::new(option.span.start, value.start);
        let mut item = self.build_element(option.value);
        item.before.splice(0..0, self.find_comments(head));
        item.name = self.split_words(head).join(" ") + " ";
        item
    }

    fn build_doc(&self, id: ValueId) -> ValueDoc {
        let value = self.ast.values[id as usize];
        let children: Vec<ValueId> = self.ast.value_children(id).collect();
        let spans = || -> Vec<Span> {
            children.iter().map(|it| self.ast.values[*it as usize].span).collect()
        };
        let inner = Span::new(value.span.start + 1, value.span.end.saturating_sub(1));
        match value.kind {
            ValueKind::Message => {
                let field = |at: usize| self.build_field(children[at]);
                self.build_group(('{', '}'), false, inner, &spans(), &field)
            }
            ValueKind::List => {
                let element = |at: usize| self.build_element(children[at]);
                self.build_group(('[', ']'), true, inner, &spans(), &element)
            }
            ValueKind::String => {
                let mut spans = Vec::new();
                let mut lexer = Lexer::new(self.text.as_bytes(), value.span.start);
                loop {
                    let span = lexer.next_token().span;
                    if span.is_empty() || span.start >= value.span.end {
                        break;
                    }
                    spans.push(span);
                }
                let literal = |at: usize| DocItem {
                    before: Vec::new(),
                    name: String::new(),
                    value: ValueDoc::Word(spans[at].str(self.text.as_bytes()).to_owned()),
                    after: Vec::new(),
                };
                match self.build_group(('"', '"'), false, value.span, &spans, &literal) {
                    ValueDoc::Group { items, .. } => ValueDoc::Literals(items),
                    other => other,
                }
            }
            _ => ValueDoc::Word(self.split_words(value.span).join(" ")),
        }
    }

    /// A field of a value.
    fn build_field(&self, id: ValueId) -> DocItem {
        let ValueKind::Field { key, .. } = self.ast.values[id as usize].kind else {
            return self.build_element(id);
        };
        let value = id + 1;
        let span = self.ast.values[value as usize].span;
        let mut item = self.build_element(value);
        item.before.splice(0..0, self.find_comments(Span::new(key.start, span.start)));
        item.name = self.split_words(key).concat() + ": ";
        item
    }

    fn build_element(&self, id: ValueId) -> DocItem {
        let span = self.ast.values[id as usize].span;
        let before = if self.is_word(id) { self.find_comments(span) } else { Vec::new() };
        DocItem { before, name: String::new(), value: self.build_doc(id), after: Vec::new() }
    }

    /// Returns true if a value is a [`Doc::Word`], which has no place for the comments inside.
    fn is_word(&self, id: ValueId) -> bool {
        let kind = self.ast.values[id as usize].kind;
        !matches!(kind, ValueKind::Message | ValueKind::List | ValueKind::String)
    }

    /// Items with the comments around them.
    fn build_group(
        &self,
        marks: (char, char),
        commas: bool,
        inner: Span,
        spans: &[Span],
        item: &dyn Fn(usize) -> DocItem,
    ) -> ValueDoc {
        let mut items: Vec<DocItem> = Vec::new();
        let mut end = inner.start;
        for at in 0..=spans.len() {
            let next = spans.get(at).map_or(inner.end, |it| it.start);
            let mut comments = self.find_comments(Span::new(end, next));
            if let Some(before) = items.last_mut() {
                let breaks = |span: Span| span.str(self.text.as_bytes()).contains('\n');
                let here = comments.iter().scan(end, |end, comment| {
                    let gap = Span::new(*end, comment.start);
                    *end = comment.end;
                    (!breaks(gap) && !breaks(*comment)).then_some(())
                });
                before.after.extend(comments.drain(..here.count()).collect::<Vec<_>>());
            }
            let Some(span) = spans.get(at) else {
                return ValueDoc::Group { marks, commas, items, rest: comments };
            };
            let mut item = item(at);
            item.before.splice(0..0, comments);
            items.push(item);
            end = span.end;
        }
        ValueDoc::Group { marks, commas, items, rest: Vec::new() }
    }
}
