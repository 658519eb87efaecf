//! The order of a file: syntax, package, imports by path, options by name, and the rest.

use abide_syntax::{CommentBlock, DeclKind, ImportKind};

use crate::bodies::{CommentedBody, CommentedStatement};
use crate::option_names::OptionNames;
use crate::printer::{LinesBefore, Printer};

/// The parts of a file, in their order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum FileSection {
    Syntax,
    Package,
    Imports,
    Options,
    Types,
}

impl FileSection {
    fn of(kind: &DeclKind) -> FileSection {
        match kind {
            DeclKind::Syntax { .. } => FileSection::Syntax,
            DeclKind::Package { .. } => FileSection::Package,
            DeclKind::Import { .. } => FileSection::Imports,
            DeclKind::Option(_) => FileSection::Options,
            _ => FileSection::Types,
        }
    }

    /// Returns the lines before a statement of this section, behind one of `last`.
    fn lines_before(self, last: Option<FileSection>) -> LinesBefore {
        match (self, last) {
            (_, None) => LinesBefore::EmptyLine,
            (FileSection::Imports | FileSection::Options, Some(last)) if last == self => {
                LinesBefore::Nothing
            }
            (FileSection::Imports | FileSection::Options, _) => LinesBefore::EmptyLine,
            (FileSection::Types, Some(FileSection::Syntax)) => LinesBefore::EmptyLine,
            _ => LinesBefore::AsWritten,
        }
    }
}

impl Printer<'_> {
    /// Writes all of the file.
    pub(crate) fn write_file(&mut self) {
        let CommentedBody { statements, closing, .. } = self.collect_body(None);
        let last_in_text = statements.last().map(|it| it.id);
        let statements = self.sort_statements(statements);
        let mut previous = None;
        let mut trailing = None;
        let mut section = None;
        for statement in &statements {
            let next = statement.previous == previous;
            let line_end = self.find_line_end(trailing, next.then(|| self.start(statement)));
            let own = FileSection::of(&self.ast.decls[statement.id as usize].kind);
            let before =
                if self.is_empty() { LinesBefore::Nothing } else { own.lines_before(section) };
            self.next_statement(trailing, line_end, statement, before);
            (previous, trailing, section) = (Some(statement.id), statement.trailing, Some(own));
        }
        let end = self.text.len() as u32;
        let line_end = self.find_line_end(trailing, (previous == last_in_text).then_some(end));
        self.write_comments_between(trailing, line_end, &closing, LinesBefore::AsWritten);
    }

    /// Finds the end of the comments that stay on the line of the last statement: only the one that
    /// is about it, unless that follows which follows in the text.
    fn find_line_end(&self, trailing: Option<CommentBlock>, next: Option<u32>) -> u32 {
        match (next, trailing) {
            (Some(next), _) => self.find_end_of_line(next),
            (None, Some(run)) if self.count_line_ends(self.at, run.span.start) == 0 => run.span.end,
            (None, _) => self.at,
        }
    }

    /// The statements in their order. The comments at the top that are about nothing, such as a
    /// licence, stay there, wherever the first statement goes.
    fn sort_statements(&self, mut statements: Vec<CommentedStatement>) -> Vec<CommentedStatement> {
        let names = OptionNames::of(self.text, self.ast);
        statements.sort_by_cached_key(|it| {
            let kind = &self.ast.decls[it.id as usize].kind;
            (FileSection::of(kind), self.sort_key(kind, &names))
        });
        let moved = statements.iter().position(|it| it.previous.is_none()).filter(|&at| at > 0);
        if let Some(own) = moved.map(|at| &mut statements[at].own)
            && let (Some(first), Some(last)) = (own.detached.first(), own.detached.last())
        {
            let start = first.span.start;
            own.start = last.span.end;
            let head = std::mem::take(&mut own.detached);
            statements[0].own.start = start;
            statements[0].own.detached.splice(0..0, head);
        }
        statements
    }

    /// The sort key of imports and options: true for those behind the others, and the name.
    fn sort_key(&self, kind: &DeclKind, names: &OptionNames) -> (bool, Vec<u8>) {
        match *kind {
            // protoc wants `import option` behind the others.
            DeclKind::Import { kind, path, .. } => {
                (kind == ImportKind::Option, path.of(self.text).to_vec())
            }
            DeclKind::Option(id) => {
                let parts = self.ast.name_parts(&self.ast.options[id as usize]);
                let custom = parts.first().is_some_and(|it| it.extension);
                (custom, names.sort_key(self.text, parts))
            }
            _ => Default::default(),
        }
    }
}
