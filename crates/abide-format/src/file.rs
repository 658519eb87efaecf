//! The order of a file: syntax, package, imports by path, options by name, and the rest.

use abide_syntax::{DeclId, DeclKind, ImportKind, Span, text_start};

use crate::printer::{Before, Entry, Printer};

/// A statement of the file, and where the text begins that goes with it.
#[derive(Clone, Copy)]
struct Statement {
    id: DeclId,
    /// The comments from here on stand before it.
    start: u32,
}

/// The parts of a file, in their order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Section {
    Syntax,
    Package,
    Imports,
    Options,
    Types,
}

impl Section {
    fn of(kind: &DeclKind) -> Section {
        match kind {
            DeclKind::Syntax { .. } => Section::Syntax,
            DeclKind::Package { .. } => Section::Package,
            DeclKind::Import { .. } => Section::Imports,
            DeclKind::Option(_) => Section::Options,
            _ => Section::Types,
        }
    }

    /// What stands before a statement of this section, when one of `last` is written.
    fn before(self, last: Option<Section>) -> Before {
        match (self, last) {
            (_, None) => Before::EmptyLine,
            (Section::Imports | Section::Options, Some(last)) if last == self => Before::Nothing,
            (Section::Imports | Section::Options, _) => Before::EmptyLine,
            (Section::Types, Some(Section::Syntax)) => Before::EmptyLine,
            _ => Before::AsWritten,
        }
    }
}

impl Printer<'_> {
    /// Writes all of the file.
    pub(crate) fn file(&mut self) {
        let (mut statements, end) = self.top_level();
        if let Some(first) = statements.first_mut() {
            first.start = self.head(self.ast.decls[first.id as usize].span.start);
        }
        let section = |it: &Statement| Section::of(&self.ast.decls[it.id as usize].kind);
        statements.sort_by_cached_key(|it| (section(it), self.name(it.id)));
        let mut last = None;
        for statement in statements {
            let section = Section::of(&self.ast.decls[statement.id as usize].kind);
            self.at = statement.start;
            let before = if self.is_empty() { Before::Nothing } else { section.before(last) };
            self.begin(before);
            self.statement(statement.id);
            self.trailing(Entry::Whole);
            last = Some(section);
        }
        self.at = end;
        self.comment_lines(self.text.len() as u32, Before::AsWritten);
    }

    /// The statements in the order of the text, and where the comments begin that stand behind all
    /// of them. Lone semicolons are left out, the comments before them are not.
    fn top_level(&self) -> (Vec<Statement>, u32) {
        let mut statements = Vec::new();
        let mut start = text_start(self.text);
        for id in self.ast.children(None) {
            let decl = &self.ast.decls[id as usize];
            if !matches!(decl.kind, DeclKind::Empty) {
                statements.push(Statement { id, start });
                let behind = Printer::from(self.text, self.ast, decl.span.end);
                start = behind.end_of_trailing(Entry::Whole);
            }
        }
        (statements, start)
    }

    /// Writes the comments at the beginning that no statement follows at once: a licence stays at
    /// the top, wherever the first statement goes. Returns where they end.
    fn head(&mut self, first: u32) -> u32 {
        let comments: Vec<_> = self.comments_to(first).collect();
        let next = comments.iter().skip(1).map(|it| it.span.start).chain([first]);
        let apart = |end: u32, next: u32| self.line_ends(end, next) > 1;
        let ends = comments.iter().map(|it| it.span.end);
        if let Some((end, _)) = ends.zip(next).filter(|&(end, next)| apart(end, next)).last() {
            self.comment_lines(end, Before::Nothing);
        }
        self.at
    }

    /// What imports and options are sorted by: whether they come behind the others, and the name.
    fn name(&self, id: DeclId) -> (bool, Vec<u8>) {
        match self.ast.decls[id as usize].kind {
            // protoc wants `import option` behind the others.
            DeclKind::Import { kind, path, .. } => {
                (kind == ImportKind::Option, path.of(self.text).to_vec())
            }
            DeclKind::Option(id) => {
                let option = &self.ast.options[id as usize];
                let custom = self.ast.parts(option).first().is_some_and(|it| it.extension);
                (custom, self.without_space(option.name))
            }
            _ => Default::default(),
        }
    }

    /// The tokens of a name.
    fn without_space(&self, name: Span) -> Vec<u8> {
        let mut place = Printer::from(self.text, self.ast, name.start);
        let mut tokens = Vec::new();
        while place.at < name.end {
            let token = place.next().span;
            tokens.extend_from_slice(token.of(self.text));
            place.at = token.end;
        }
        tokens
    }
}
