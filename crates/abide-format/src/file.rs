//! The order of a file: syntax, package, imports by path, options by name, and the rest.

use abide_syntax::{DeclKind, ImportKind, Run};

use crate::bodies::{Body, Statement};
use crate::option_names::OptionNames;
use crate::printer::{Before, Printer};

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
        let Body { statements, closing, .. } = self.body_of(None);
        let last_in_text = statements.last().map(|it| it.id);
        let statements = self.ordered(statements);
        let mut previous = None;
        let mut trailing = None;
        let mut section = None;
        for statement in &statements {
            let next = statement.previous == previous;
            let line_end = self.line_end(trailing, next.then(|| self.start(statement)));
            let own = Section::of(&self.ast.decls[statement.id as usize].kind);
            let before = if self.is_empty() { Before::Nothing } else { own.before(section) };
            self.next_statement(trailing, line_end, statement, before);
            (previous, trailing, section) = (Some(statement.id), statement.trailing, Some(own));
        }
        let end = self.text.len() as u32;
        let line_end = self.line_end(trailing, (previous == last_in_text).then_some(end));
        self.comments_between(trailing, line_end, &closing, Before::AsWritten);
    }

    /// Where the comments end that stay on the line of the last statement: only the one that is
    /// about it, unless that follows which follows in the text.
    fn line_end(&self, trailing: Option<Run>, next: Option<u32>) -> u32 {
        match (next, trailing) {
            (Some(next), _) => self.end_of_line(next),
            (None, Some(run)) if self.line_ends(self.at, run.span.start) == 0 => run.span.end,
            (None, _) => self.at,
        }
    }

    /// The statements in their order. The comments at the top that are about nothing, such as a
    /// licence, stay there, wherever the first statement goes.
    fn ordered(&self, mut statements: Vec<Statement>) -> Vec<Statement> {
        let names = OptionNames::of(self.text, self.ast);
        statements.sort_by_cached_key(|it| {
            let kind = &self.ast.decls[it.id as usize].kind;
            (Section::of(kind), self.key(kind, &names))
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

    /// What imports and options are sorted by: whether they come behind the others, and the name.
    fn key(&self, kind: &DeclKind, names: &OptionNames) -> (bool, Vec<u8>) {
        match *kind {
            // protoc wants `import option` behind the others.
            DeclKind::Import { kind, path, .. } => {
                (kind == ImportKind::Option, path.of(self.text).to_vec())
            }
            DeclKind::Option(id) => {
                let parts = self.ast.parts(&self.ast.options[id as usize]);
                let custom = parts.first().is_some_and(|it| it.extension);
                (custom, names.key(self.text, parts))
            }
            _ => Default::default(),
        }
    }
}
