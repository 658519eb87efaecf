//! One layout for every file: what a text says, with the white space that the
//! syntax tree alone decides.
//!
//! A level is two columns, and a line breaks where it would pass the width. A
//! blank line stands between declarations, but not between options, imports of
//! one block and values of an enum without comments. Imports are sorted within
//! their blocks; `reserved` statements that nobody commented are one. All else
//! keeps its order. Comments stay where they belong by protoc's rules, so that
//! descriptors know them as before.

use abide_schema::{Gap, Run};
use abide_syntax::{
    Ast, DeclId, DeclKind, ImportKind, Lexer, OptionNode, Slice, Span, TokenKind, ValueId,
    ValueKind, comments_between, parse,
};

/// Where lines end, as far as that is ours to say.
pub(crate) const WIDTH: usize = 100;

/// How far what belongs to a line stands from it, on the lines that follow.
const CONTINUED: usize = 4;

/// How far what is in braces stands from what is before them.
const LEVEL: usize = 2;

/// A text in the canonical layout, in which another layout of it comes out the
/// same. `None` where it is not to be understood as a whole.
pub fn canonical_layout(text: &[u8]) -> Option<Vec<u8>> {
    let is_windows = is_windows(text);
    let text = std::str::from_utf8(text).ok()?.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let (ast, errors) = parse(text.as_bytes());
    if !errors.is_empty() {
        return None;
    }
    let mut printer = Printer { text: &text, ast: &ast, out: String::with_capacity(text.len()) };
    printer.body(None, 0);
    let made = printer.out.into_bytes();
    Some(if is_windows { windows(&made) } else { made })
}

/// Whether all lines of a text end in `\r\n`.
pub(crate) fn is_windows(text: &[u8]) -> bool {
    let lines = memchr::memchr_iter(b'\n', text).count();
    lines > 0 && memchr::memmem::find_iter(text, b"\r\n").count() == lines
}

/// A text whose lines all end in `\r\n`.
pub(crate) fn windows(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let Some(line) = line.strip_suffix(b"\n") else {
            out.extend_from_slice(line);
            break;
        };
        let end = line.iter().rposition(|byte| *byte != b'\r').map_or(0, |at| at + 1);
        out.extend_from_slice(&line[..end]);
        out.extend_from_slice(b"\r\n");
    }
    out
}

/// A declaration with the comments that go where it goes.
struct Statement {
    id: DeclId,
    /// Further `reserved` statements that are said with it.
    joined: Vec<DeclId>,
    detached: Vec<Run>,
    leading: Option<Run>,
    trailing: Option<Run>,
    /// Whether a blank line sets it apart from what is before.
    apart: bool,
}

impl Statement {
    fn is_headed(&self) -> bool {
        self.leading.is_some() || !self.detached.is_empty()
    }

    fn is_commented(&self) -> bool {
        self.is_headed() || self.trailing.is_some()
    }
}

/// The value of an option, on one line or on many.
enum Doc {
    Word(String),
    /// Adjacent literals.
    Literals(Vec<Item>),
    Group {
        marks: (char, char),
        /// Whether commas stand between items on lines of their own.
        commas: bool,
        items: Vec<Item>,
        /// Comments behind the last item.
        rest: Vec<Span>,
    },
}

/// One thing in a group.
struct Item {
    before: Vec<Span>,
    name: String,
    value: Doc,
    /// Comments on its last line.
    after: Vec<Span>,
}

impl Doc {
    /// On one line, where no comment stands inside.
    fn flat(&self) -> Option<String> {
        let join = |items: &[Item], by: &str| {
            let items: Option<Vec<String>> = items.iter().map(Item::flat).collect();
            items.map(|it| it.join(by))
        };
        match self {
            Doc::Word(word) => Some(word.clone()),
            Doc::Literals(items) => join(items, " "),
            Doc::Group { marks: (open, close), items, rest, .. } if rest.is_empty() => {
                join(items, ", ").map(|items| format!("{open}{items}{close}"))
            }
            Doc::Group { .. } => None,
        }
    }
}

impl Item {
    fn flat(&self) -> Option<String> {
        if !self.before.is_empty() || !self.after.is_empty() {
            return None;
        }
        self.value.flat().map(|value| format!("{}{value}", self.name))
    }
}

struct Printer<'t> {
    text: &'t str,
    ast: &'t Ast,
    out: String,
}

impl Printer<'_> {
    /// What stands between the braces of a declaration, or in the file.
    fn body(&mut self, parent: Option<DeclId>, indent: usize) {
        let (opening, statements, closing) = self.statements(parent);
        if let Some(run) = opening {
            self.trailing(run, indent);
        }
        let is_value = |it: &Statement| {
            matches!(self.ast.decls[it.id as usize].kind, DeclKind::EnumValue { .. })
        };
        let roomy = statements.iter().any(|it| is_value(it) && it.is_headed());
        let mut before: Option<&Statement> = None;
        for statement in &statements {
            let blank = match before {
                None => opening.is_some() || !statement.detached.is_empty(),
                Some(before) => {
                    statement.is_headed()
                        || before.trailing.is_some_and(|run| self.is_tall(run))
                        || !self.are_close(before, statement)
                        || roomy && is_value(statement)
                }
            };
            if blank && !self.out.is_empty() {
                self.line();
            }
            self.statement(statement, indent);
            before = Some(statement);
        }
        for run in closing {
            if !self.out.is_empty() {
                self.line();
            }
            self.comment(run.span, indent);
            self.line();
        }
    }

    /// What stands in a body, in the order in which it is printed: the comments
    /// behind the brace, the declarations, the comments behind the last of them.
    fn statements(&self, parent: Option<DeclId>) -> (Option<Run>, Vec<Statement>, Vec<Run>) {
        let text = self.text.as_bytes();
        let children: Vec<DeclId> = self.ast.children(parent).collect();
        let decl = |id: DeclId| &self.ast.decls[id as usize];
        let mut opening = None;
        let mut carried = Vec::new();
        let mut statements: Vec<Statement> = Vec::new();
        for (at, &id) in children.iter().enumerate() {
            let gap = match (at, parent) {
                (0, None) => Gap::at_start(text, decl(id).gap),
                _ => Gap::after(text, decl(id).gap),
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
            // A lone semicolon goes, unless a comment is its own; those that
            // float before it belong to what follows.
            let is_empty = matches!(decl(id).kind, DeclKind::Empty);
            let behind = || Gap::after(text, decl(id).span.end).trailing;
            if is_empty && gap.leading.is_none() && behind().is_none() {
                continue;
            }
            let detached = if is_empty { Vec::new() } else { std::mem::take(&mut carried) };
            statements.push(Statement {
                id,
                joined: Vec::new(),
                detached,
                leading: gap.leading,
                trailing: None,
                apart,
            });
        }
        let end = children.last().map(|id| decl(*id).span.end);
        let body = parent.and_then(|id| self.ast.body(decl(id)));
        let gap = match (end, body) {
            (Some(end), _) => Gap::after(text, end),
            (None, Some(body)) => Gap::after(text, body.start + 1),
            (None, None) => Gap::at_start(text, 0),
        };
        match statements.last_mut() {
            Some(before) => before.trailing = before.trailing.or(gap.trailing),
            None => opening = opening.or(gap.trailing),
        }
        self.gather_reserved(&mut statements);
        self.sort_imports(&mut statements);
        let mut closing = carried;
        closing.extend(gap.detached);
        closing.extend(gap.leading);
        (opening, statements, closing)
    }

    /// Joins `reserved` statements, as far as the order of what they say and
    /// all comments stay.
    fn gather_reserved(&self, statements: &mut Vec<Statement>) {
        let mut last: [Option<usize>; 2] = [None; 2];
        let mut gathered: Vec<Statement> = Vec::new();
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
            let plain = !statement.is_commented() && self.comments_in(decl.span).is_empty();
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

    /// Sorts the imports of each block; one that detached comments are above
    /// stays at the head.
    fn sort_imports(&self, statements: &mut [Statement]) {
        let path = |it: &Statement| match self.ast.decls[it.id as usize].kind {
            // protoc wants those for options behind all others.
            DeclKind::Import { path, kind, .. } => {
                Some((kind == ImportKind::Option, path.str(self.text.as_bytes())))
            }
            _ => None,
        };
        let same = |a: &Statement, b: &Statement| {
            path(a).is_some() && path(b).is_some() && !b.apart && b.detached.is_empty()
        };
        for block in statements.chunk_by_mut(same) {
            let apart = block[0].apart;
            let pinned = usize::from(!block[0].detached.is_empty());
            block[pinned..].sort_by_key(|it| path(it));
            block.iter_mut().for_each(|it| it.apart = false);
            block[0].apart = apart;
        }
    }

    /// Whether no blank line stands between two declarations by themselves.
    fn are_close(&self, before: &Statement, statement: &Statement) -> bool {
        let kind = |it: &Statement| self.ast.decls[it.id as usize].kind;
        match (kind(before), kind(statement)) {
            (DeclKind::Import { .. }, DeclKind::Import { .. }) => !statement.apart,
            (DeclKind::Option(_), DeclKind::Option(_))
            | (DeclKind::EnumValue { .. }, DeclKind::EnumValue { .. }) => true,
            _ => false,
        }
    }

    fn statement(&mut self, statement: &Statement, indent: usize) {
        for run in &statement.detached {
            self.comment(run.span, indent);
            self.out.push_str("\n\n");
        }
        if let Some(run) = statement.leading {
            self.comment(run.span, indent);
            self.line();
        }
        let decl = self.ast.decls[statement.id as usize];
        let body = self.ast.body(&decl);
        let end = body.map_or(decl.span.end.saturating_sub(1), |body| body.start);
        let (head, value, rest) = self.parts(statement.id, end);
        let mut words = self.words(head);
        for id in &statement.joined {
            let decl = self.ast.decls[*id as usize];
            if let Some(last) = words.last_mut() {
                last.push(',');
            }
            let more = self.words(Span::new(decl.span.start, decl.span.end.saturating_sub(1)));
            words.extend(more.into_iter().skip(1));
        }
        self.indent(indent);
        self.words_within(&words, indent, if body.is_some() { 2 } else { 1 });
        let mut comments = self.comments_in(head);
        comments.extend(self.comments_in(rest));
        for comment in comments {
            // Where no comment is expected it is not moved far.
            self.space();
            self.out.push_str(comment.str(self.text.as_bytes()));
            if comment.str(self.text.as_bytes()).starts_with("//") {
                self.line();
                self.indent(indent + CONTINUED);
            }
        }
        if let Some(value) = value {
            self.space();
            self.value(&value, indent, if body.is_some() { 2 } else { 1 });
        }
        if body.is_none() {
            self.out.push(';');
        } else {
            self.space();
            self.out.push('{');
            let start = self.out.len();
            self.line();
            self.body(Some(statement.id), indent + LEVEL);
            if self.out.len() == start + 1 {
                self.out.truncate(start);
            } else {
                self.indent(indent);
            }
            self.out.push('}');
        }
        self.line();
        if let Some(run) = statement.trailing {
            self.trailing(run, indent);
        }
    }

    /// What a declaration begins with, the options that are part of it or its
    /// own value, and what is left before its `;` or `{`.
    fn parts(&self, id: DeclId, end: u32) -> (Span, Option<Doc>, Span) {
        let text = self.text.as_bytes();
        let decl = &self.ast.decls[id as usize];
        let start = decl.span.start;
        let options = match decl.kind {
            DeclKind::Option(option) => {
                let value = self.ast.options[option as usize].value;
                let span = self.ast.values[value as usize].span;
                let head = Span::new(start, span.start);
                return (head, Some(self.doc(value)), Span::new(span.end, end));
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
        let item = |at: usize| self.option(&options[at]);
        let group = self.group(('[', ']'), true, Span::new(open.end, close.start), &spans, &item);
        (Span::new(start, open.start), Some(group), Span::new(close.end, end))
    }

    /// An option in brackets.
    fn option(&self, option: &OptionNode) -> Item {
        let value = self.ast.values[option.value as usize].span;
        let head = Span::new(option.span.start, value.start);
        let name = self.words(head).join(" ") + " ";
        Item {
            before: self.comments_in(head),
            name,
            value: self.doc(option.value),
            after: Vec::new(),
        }
    }

    fn doc(&self, id: ValueId) -> Doc {
        let value = self.ast.values[id as usize];
        let children: Vec<ValueId> = self.ast.value_children(id).collect();
        let spans = || -> Vec<Span> {
            children.iter().map(|it| self.ast.values[*it as usize].span).collect()
        };
        let inner = Span::new(value.span.start + 1, value.span.end.saturating_sub(1));
        match value.kind {
            ValueKind::Message => {
                let field = |at: usize| self.field(children[at]);
                self.group(('{', '}'), false, inner, &spans(), &field)
            }
            ValueKind::List => {
                let element = |at: usize| self.element(children[at]);
                self.group(('[', ']'), true, inner, &spans(), &element)
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
                let literal = |at: usize| Item {
                    before: Vec::new(),
                    name: String::new(),
                    value: Doc::Word(spans[at].str(self.text.as_bytes()).to_owned()),
                    after: Vec::new(),
                };
                match self.group(('"', '"'), false, value.span, &spans, &literal) {
                    Doc::Group { items, .. } => Doc::Literals(items),
                    other => other,
                }
            }
            _ => Doc::Word(self.words(value.span).join(" ")),
        }
    }

    /// A field of a value.
    fn field(&self, id: ValueId) -> Item {
        let ValueKind::Field { key, .. } = self.ast.values[id as usize].kind else {
            return self.element(id);
        };
        let value = id + 1;
        let span = self.ast.values[value as usize].span;
        let mut item = self.element(value);
        item.before.splice(0..0, self.comments_in(Span::new(key.start, span.start)));
        item.name = self.words(key).concat() + ": ";
        item
    }

    fn element(&self, id: ValueId) -> Item {
        let value = self.ast.values[id as usize];
        let group = matches!(value.kind, ValueKind::Message | ValueKind::List | ValueKind::String);
        let before = if group { Vec::new() } else { self.comments_in(value.span) };
        Item { before, name: String::new(), value: self.doc(id), after: Vec::new() }
    }

    /// Items with the comments around them.
    fn group(
        &self,
        marks: (char, char),
        commas: bool,
        inner: Span,
        spans: &[Span],
        item: &dyn Fn(usize) -> Item,
    ) -> Doc {
        let mut items: Vec<Item> = Vec::new();
        let mut end = inner.start;
        for at in 0..=spans.len() {
            let next = spans.get(at).map_or(inner.end, |it| it.start);
            let mut comments = self.comments_in(Span::new(end, next));
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
                return Doc::Group { marks, commas, items, rest: comments };
            };
            let mut item = item(at);
            item.before.splice(0..0, comments);
            items.push(item);
            end = span.end;
        }
        Doc::Group { marks, commas, items, rest: Vec::new() }
    }

    /// Prints a value where it fits: behind what is there, with `tail` columns
    /// behind it, or on lines of its own.
    fn value(&mut self, doc: &Doc, indent: usize, tail: usize) {
        if let Some(flat) = doc.flat() {
            let breaks = match doc {
                Doc::Word(_) => false,
                Doc::Literals(items) | Doc::Group { items, .. } => !items.is_empty(),
            };
            if !breaks || self.column() + flat.chars().count() + tail <= WIDTH {
                self.out.push_str(&flat);
                return;
            }
        }
        match doc {
            Doc::Word(word) => self.out.push_str(word),
            Doc::Literals(items) => {
                self.out.truncate(self.out.trim_end_matches(' ').len());
                let alone = self.out.ends_with('\n');
                let indent = if alone { indent } else { indent + CONTINUED };
                for (at, item) in items.iter().enumerate() {
                    if at > 0 || !alone {
                        self.line();
                    }
                    self.item(item, indent, "");
                }
            }
            Doc::Group { marks: (open, close), commas, items, rest } => {
                self.out.push(*open);
                self.line();
                for (at, item) in items.iter().enumerate() {
                    let comma = if *commas && at + 1 < items.len() { "," } else { "" };
                    self.item(item, indent + LEVEL, comma);
                    self.line();
                }
                for comment in rest {
                    self.comment(*comment, indent + LEVEL);
                    self.line();
                }
                self.indent(indent);
                self.out.push(*close);
            }
        }
    }

    /// An item on lines of its own.
    fn item(&mut self, item: &Item, indent: usize, comma: &str) {
        for comment in &item.before {
            self.comment(*comment, indent);
            self.line();
        }
        self.indent(indent);
        self.out.push_str(&item.name);
        self.value(&item.value, indent, comma.len());
        self.out.push_str(comma);
        for comment in &item.after {
            self.space();
            self.out.push_str(comment.str(self.text.as_bytes()));
        }
    }

    /// The tokens of a part of a declaration, in words that no line may break.
    fn words(&self, span: Span) -> Vec<String> {
        let text = self.text.as_bytes();
        let mut words: Vec<String> = Vec::new();
        let mut lexer = Lexer::new(text, span.start);
        let (mut first, mut before) = ("", "");
        loop {
            let token = lexer.next_token();
            if token.kind == TokenKind::End || token.span.start >= span.end {
                return words;
            }
            let own = token.span.str(text);
            let glued = match own {
                _ if matches!(before, "(" | "<" | "." | "-" | "/" | "[") => true,
                ")" | ">" | "," | "<" | "/" | "]" | ";" => true,
                // A name may begin with a dot, and then it begins here.
                "." => {
                    let label = ["extend", "optional", "repeated", "required"].contains(&before);
                    let streams = first == "rpc" && before == "stream";
                    !(before == "," || streams || label && words.len() == 1)
                }
                "(" => !(before == "returns" || before == "=" || first == "option"),
                _ => false,
            };
            match words.last_mut().filter(|_| glued) {
                Some(word) => word.push_str(own),
                None => words.push(own.to_owned()),
            }
            if first.is_empty() {
                first = own;
            }
            before = own;
        }
    }

    /// Prints words, on more lines where one is too short.
    fn words_within(&mut self, words: &[String], indent: usize, tail: usize) {
        let length: usize = words.iter().map(|it| it.chars().count() + 1).sum();
        let fits = self.column() + length.saturating_sub(1) + tail <= WIDTH;
        for (at, word) in words.iter().enumerate() {
            if at > 0 {
                let may_break = word == "returns" || words[at - 1].ends_with(',');
                if !fits && may_break && self.column() + 1 + word.chars().count() + tail > WIDTH
                    || !fits && word == "returns"
                {
                    self.line();
                    self.indent(indent + CONTINUED);
                } else {
                    self.space();
                }
            }
            self.out.push_str(word);
        }
    }

    /// Every comment between the tokens of a part of the text.
    fn comments_in(&self, span: Span) -> Vec<Span> {
        let text = self.text.as_bytes();
        let mut found = Vec::new();
        let mut lexer = Lexer::new(text, span.start);
        let mut at = span.start;
        while at < span.end {
            let token = lexer.next_token();
            let gap = Span::new(at, token.span.start.min(span.end));
            found.extend(comments_between(text, gap).map(|it| it.span));
            if token.kind == TokenKind::End {
                break;
            }
            at = token.span.end;
        }
        found
    }

    /// Whether a comment behind something needs lines of its own.
    fn is_tall(&self, run: Run) -> bool {
        run.span.str(self.text.as_bytes()).contains('\n')
    }

    /// A comment that belongs to what stands on the line before.
    fn trailing(&mut self, run: Run, indent: usize) {
        if self.is_tall(run) {
            self.comment(run.span, indent);
        } else {
            self.out.truncate(self.out.trim_end_matches('\n').len());
            self.space();
            self.out.push_str(run.span.str(self.text.as_bytes()));
        }
        self.line();
    }

    /// A comment on lines of its own, moved to where it begins now.
    fn comment(&mut self, span: Span, indent: usize) {
        let comment = span.str(self.text.as_bytes());
        let is_block = comment.starts_with("/*");
        let start = span.start as usize;
        let line = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let column = self.text[line..start].chars().count();
        for (at, line) in comment.split('\n').enumerate() {
            if at > 0 {
                self.line();
            }
            let bare = line.trim_start_matches([' ', '\t']);
            let own = match is_block && at > 0 {
                true if bare.is_empty() => 0,
                true => (line.len() - bare.len() + indent).saturating_sub(column),
                false => indent,
            };
            self.indent(own);
            self.out.push_str(bare);
        }
    }

    fn line(&mut self) {
        self.out.push('\n');
    }

    fn indent(&mut self, columns: usize) {
        self.out.extend(std::iter::repeat_n(' ', columns));
    }

    /// A space, unless a line begins here.
    fn space(&mut self) {
        if !self.out.ends_with([' ', '\n']) {
            self.out.push(' ');
        }
    }

    fn column(&self) -> usize {
        let line = self.out.rfind('\n').map_or(0, |at| at + 1);
        self.out[line..].chars().count()
    }
}
