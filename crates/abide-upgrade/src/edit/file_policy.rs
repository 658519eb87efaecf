//! The policy of a file, which it declares in the option
//! `(abide.annotations.v1.file_policy)`, edited in place.

use abide_schema::value::{self, Entry};
use abide_schema::{File, Node, Part, RawOptions};
use abide_syntax::{Ast, Lexer, OptionNode, Span, TokenKind, find_comments, skip_byte_order_mark};

use super::text_edit::Edit;

const OPTION: &str = "abide.annotations.v1.file_policy";
/// The file that declares the option in which files record their version.
/// Imports must be able to find it.
pub const STATUS_PROTO: &str = "abide/annotations/v1/status.proto";

/// The edits that write these values of the annotation into a file that was read
/// from source.
pub fn build_record_edits(file: File<'_>, wanted: &[(&str, String)]) -> Vec<Edit> {
    PolicyEditor::new(file).map(|it| it.collect_edits(wanted)).unwrap_or_default()
}

/// One file, as text.
struct PolicyEditor<'t> {
    file: File<'t>,
    text: &'t [u8],
    ast: &'t Ast,
    /// The line ending of the file.
    newline: &'static str,
}

impl<'t> PolicyEditor<'t> {
    /// `None` for a file that was not read from text.
    fn new(file: File<'t>) -> Option<PolicyEditor<'t>> {
        let decl = file.decl();
        let (text, ast) = (decl.source_text()?, decl.ast()?);
        let newline = if text.windows(2).any(|it| it == b"\r\n") { "\r\n" } else { "\n" };
        Some(PolicyEditor { file, text, ast, newline })
    }

    fn collect_edits(&self, wanted: &[(&str, String)]) -> Vec<Edit> {
        let mut edits = Vec::new();
        let tree = self.file.tree;
        let outer = self.file.options().and_then(|it| it.find_extension(tree, OPTION));
        let policy = outer.and_then(|it| it.value.as_message());
        let found = |name: &str| policy.and_then(|it| it.get(tree, name));
        let mut missing: Vec<(&str, &str)> = Vec::new();
        for (name, value) in wanted {
            match found(name) {
                Some(entry) if entry.value.as_str() == Some(value) => {}
                Some(entry) => edits.extend(self.replace_string(entry.span, value)),
                None => missing.push((*name, value)),
            }
        }
        if missing.is_empty() {
            return edits;
        }
        match outer.and_then(|outer| self.find_statement(outer, policy)) {
            Some(option) => edits.push(self.extend_statement(option, &missing)),
            None => self.add_statement(&missing, &mut edits),
        }
        edits
    }

    /// Replaces a string. If it has several pieces, the comments between them
    /// stay.
    fn replace_string(&self, span: Span, value: &str) -> Vec<Edit> {
        let mut lexer = Lexer::new(self.text, span.start);
        let mut edits = Vec::new();
        loop {
            let token = lexer.next_token();
            if token.kind == TokenKind::End || token.span.start >= span.end {
                return edits;
            }
            let text = if edits.is_empty() { format!("\"{value}\"") } else { String::new() };
            edits.push(Edit::replace(token.span, text));
        }
    }

    /// The statement that sets the option, or a part of it.
    fn find_statement(&self, outer: &Entry, policy: Option<&value::Message>) -> Option<OptionNode> {
        let inner = policy.into_iter().flat_map(|it| it.entries.iter().map(|it| it.span));
        let spans: Vec<Span> = inner.chain([outer.span]).collect();
        let holds = |option: &OptionNode| {
            let within = |it: &Span| option.span.start <= it.start && it.end <= option.span.end;
            spans.iter().any(|it| !it.is_empty() && within(it))
        };
        self.iter_options().find(holds)
    }

    /// The options of the file.
    fn iter_options(&self) -> impl Iterator<Item = OptionNode> {
        let decl = self.file.decl();
        let ids = match decl.options {
            RawOptions::Syntax(slice) => &decl.option_ids[slice.range()],
            RawOptions::None | RawOptions::Wire(_) => &[],
        };
        ids.iter().map(|&id| self.ast.options[id as usize])
    }

    /// Adds fields to a statement: inside its braces, or as statements of the same
    /// form after it.
    fn extend_statement(&self, option: OptionNode, missing: &[(&str, &str)]) -> Edit {
        let parts = self.ast.name_parts(&option);
        let [_] = parts else {
            let name = parts.first().map_or("", |it| it.span.str(self.text));
            let statement = |(field, value): &(&str, &str)| {
                format!("{}option {name}.{field} = \"{value}\";", self.newline)
            };
            let at = self.find_line_end(option.span.end);
            return Edit::replace(at, missing.iter().map(statement).collect::<String>());
        };
        let value = self.ast.values[option.value as usize].span;
        let inside = Span::new(value.start + 1, value.end);
        let rest = inside.str(self.text);
        let blank = &rest[..rest.len() - rest.trim_start().len()];
        let fields = missing.iter().map(|(name, value)| format!("{name}: \"{value}\""));
        let is_empty = rest.trim_start().starts_with('}');
        let text: String = if blank.contains('\n') && !is_empty {
            // Each on its own line, like the existing ones.
            fields.map(|it| format!("{blank}{it}")).collect()
        } else {
            let fields: Vec<String> = fields.collect();
            fields.join(" ") + if is_empty { "" } else { " " }
        };
        let at =
            if blank.contains('\n') { inside.start } else { inside.start + blank.len() as u32 };
        Edit::replace(Span::new(at, at), text)
    }

    /// Adds a new statement after the options, and the import that it needs.
    fn add_statement(&self, missing: &[(&str, &str)], edits: &mut Vec<Edit>) {
        let (decl, newline) = (self.file.decl(), self.newline);
        // Names are looked up from the inside out.
        let mut inner = self.file.package().name().split('.').skip(1);
        let dot = if inner.any(|it| it == "abide") { "." } else { "" };
        let fields = missing.iter().map(|(name, value)| format!("  {name}: \"{value}\"{newline}"));
        let fields: String = fields.collect();
        let statement = format!("option ({dot}{OPTION}) = {{{newline}{fields}}};");

        let end = |node: Node| self.file.place_of(node, Part::Whole).span.end;
        let head = decl.package.map(|it| it.node).or(decl.syntax.map(|it| it.node)).map(end);
        let head = head.or(self.find_header_end());
        let start = skip_byte_order_mark(self.text);
        let last_import = decl.imports.iter().map(|it| end(it.node)).max();
        let last_option = self.iter_options().map(|it| it.span.end).max();
        let behind = |near: Option<u32>, far: Option<u32>| match (near, far) {
            (Some(at), _) => (self.find_line_end(at), newline.to_owned()),
            (None, Some(at)) => (self.find_line_end(at), newline.repeat(2)),
            (None, None) => (Span::at(start), String::new()),
        };
        let (option_at, lead) = behind(last_option, last_import.or(head));
        let mut text = lead + &statement;
        if decl.imports.iter().all(|it| &*it.path != STATUS_PROTO) {
            let (import_at, lead) = behind(last_import, head);
            let import = format!("{lead}import \"{STATUS_PROTO}\";");
            if import_at == option_at {
                text = import + &newline.repeat(2) + &statement;
            } else if import_at.end == start {
                edits.push(Edit::replace(import_at, import + &newline.repeat(2)));
            } else {
                edits.push(Edit::replace(import_at, import));
            }
        }
        // A blank line comes after it, unless it is at the end of the file.
        let rest = Span::new(option_at.end, self.text.len() as u32).str(self.text);
        let mut lines = rest.lines();
        let at_start = option_at.end == start;
        let next = if at_start { lines.next() } else { lines.nth(1) };
        if last_option.is_none() && next.is_some_and(|it| !it.trim().is_empty()) {
            text += newline;
        }
        if at_start {
            text += newline;
        }
        edits.push(Edit::replace(option_at, text));
    }

    /// The end of the comment at the start of the file, such as a licence. `None` if no blank line
    /// follows it: it then belongs to the next statement.
    fn find_header_end(&self) -> Option<u32> {
        let first = Lexer::new(self.text, 0).next_token().span.start;
        let mut comments = find_comments(self.text, Span::new(0, first)).peekable();
        while let Some(comment) = comments.next() {
            let next = comments.peek().map_or(first, |it| it.span.start);
            let between = Span::new(comment.span.end, next).str(self.text);
            if between.matches('\n').count() > 1 || next as usize == self.text.len() {
                let text = comment.span.str(self.text).trim_end();
                return Some(comment.span.start + text.len() as u32);
            }
        }
        None
    }

    /// The end of the line after a statement: a comment there belongs to the
    /// statement.
    fn find_line_end(&self, end: u32) -> Span {
        let rest = Span::new(end, self.text.len() as u32).str(self.text);
        let line = rest.lines().next().unwrap_or_default();
        let told = line.trim_start();
        let at =
            if told.is_empty() || told.starts_with("//") { end + line.len() as u32 } else { end };
        Span::new(at, at)
    }
}
