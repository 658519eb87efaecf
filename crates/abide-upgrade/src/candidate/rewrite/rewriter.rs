//! One file on its way to its candidate: its text, where things stand in it,
//! and the edits so far.

use std::collections::BTreeSet;

use abide_schema::{Element, File, FileId, Tree, value};
use abide_syntax::{Ast, DeclId, Lexer, Span, TokenKind};
use rustc_hash::FxHashMap;

use super::annotation_names::Ancestry;
use crate::candidate::comment_links::CommentLinks;
use crate::candidate::shortest_name::VisibleNames;
use crate::edit::{Edit, FileOutline};
use crate::plan::{NextVersion, UpgradePlan, resolve_next_name};

/// The full name of the element around a reference, before and after.
pub(super) type ScopeChange<'s> = (&'s str, &'s str);

pub(super) struct FileRewriter<'p, 't> {
    pub(super) plan: &'p UpgradePlan<'t>,
    pub(super) links: &'p CommentLinks<'p, 't>,
    pub(super) file: File<'t>,
    pub(super) next: &'p NextVersion,
    pub(super) ast: &'t Ast,
    pub(super) text: &'t [u8],
    pub(super) elements: FxHashMap<DeclId, Element<'t>>,
    pub(super) ancestry: Option<Ancestry>,
    pub(super) mode: RewriteMode,
    /// The records of an existing candidate about itself.
    pub(super) recorded: Vec<(&'static str, String)>,
    pub(super) edits: Vec<Edit>,
    pub(super) needs: ImportNeeds,
    /// The names that the file sees.
    pub(super) names: VisibleNames,
    /// References to types and extensions. How they are written depends on the
    /// final imports.
    pub(super) references: Vec<PendingReference>,
    /// The places where types are used that the next version does not have.
    pub(super) dangling: Vec<Span>,
}

/// The rewritten text of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RewriteMode {
    /// It becomes the next major version, with its migrations.
    Upgrade,
    /// It stays, and only its references change.
    UpdateReferences,
    /// It becomes stable as it is.
    Stabilize,
}

/// A reference to a type or an extension.
pub(super) struct PendingReference {
    pub(super) span: Span,
    pub(super) old: String,
    pub(super) new: String,
    pub(super) old_scope: String,
    pub(super) new_scope: String,
}

/// The files that a candidate needs to import.
#[derive(Debug, Default)]
pub(super) struct ImportNeeds {
    /// Files whose types are used.
    pub(super) types: BTreeSet<FileId>,
    /// Files whose options are set.
    pub(super) options: BTreeSet<FileId>,
    /// The paths of files with annotations that the upgrade adds.
    pub(super) added: BTreeSet<String>,
}

impl ImportNeeds {
    pub(super) fn contains_file(&self, file: FileId) -> bool {
        self.types.contains(&file) || self.options.contains(&file)
    }
}

/// The value of an option, by its full name.
pub(super) fn find_option_value<'t>(
    options: Option<&'t value::Message>,
    tree: &Tree,
    name: &str,
) -> Option<&'t value::Message> {
    options?.find_extension(tree, name)?.value.as_message()
}

impl<'t> FileRewriter<'_, 't> {
    /// The element that a statement declares.
    pub(super) fn find_element(&self, id: DeclId) -> Option<Element<'t>> {
        self.elements.get(&id).copied()
    }

    pub(super) fn rename(&mut self, element: Option<Element<'t>>, name: Span) {
        if let Some(element) = element.filter(|_| self.mode == RewriteMode::Upgrade)
            && resolve_next_name(element) != element.name()
        {
            self.edits.push(Edit::replace(name, resolve_next_name(element)));
        }
    }

    /// From `{` to `}`, where a declaration has them.
    pub(super) fn find_body(&self, id: DeclId) -> Option<Span> {
        self.build_outline().find_body(id)
    }

    fn build_outline(&self) -> FileOutline<'t> {
        FileOutline { decl: self.file.decl(), ast: self.ast, text: self.text }
    }

    /// The end of the `{` of a declaration, including its comment.
    pub(super) fn find_head_end(&self, id: DeclId) -> u32 {
        self.build_outline().find_head_end(id)
    }

    /// The end of a statement, including its comment unless it ends with `}`.
    pub(super) fn find_end(&self, id: DeclId) -> u32 {
        self.build_outline().find_end(id)
    }

    /// The end of the text before an offset, without white space.
    pub(super) fn find_end_before(&self, offset: u32) -> u32 {
        let before = Span::new(0, offset).of(self.text);
        before.iter().rposition(|it| !it.is_ascii_whitespace()).map_or(0, |at| at as u32 + 1)
    }

    /// The end of the next token, if it is this symbol.
    pub(super) fn next_symbol(&self, from: u32, symbol: u8) -> Option<u32> {
        let token = Lexer::new(self.text, from).next_token();
        (token.kind == TokenKind::Symbol(symbol)).then_some(token.span.end)
    }

    pub(super) fn find_line_start(&self, offset: u32) -> u32 {
        let before = Span::new(0, offset).of(self.text);
        memchr::memrchr(b'\n', before).map_or(0, |at| at as u32 + 1)
    }

    /// Returns true if only white space stands before an offset in its line.
    pub(super) fn is_line_start(&self, offset: u32) -> bool {
        let before = Span::new(self.find_line_start(offset), offset).of(self.text);
        before.trim_ascii().is_empty()
    }

    /// The white space by which the file indents what stands inside of something else.
    pub(super) fn detect_indent_unit(&self) -> &'t str {
        let begins_line = |id: DeclId| self.is_line_start(self.ast.decls[id as usize].span.start);
        let white_space = |id: DeclId| {
            let start = self.ast.decls[id as usize].span.start;
            Span::new(self.find_line_start(start), start).str(self.text)
        };
        let parents = 0..self.ast.decls.len() as DeclId;
        let deeper = parents.filter(|id| begins_line(*id)).find_map(|parent| {
            let child = self.ast.children_of(Some(parent)).find(|id| begins_line(*id))?;
            white_space(child).strip_prefix(white_space(parent)).filter(|it| !it.is_empty())
        });
        deeper.unwrap_or("  ")
    }

    /// The white space at the start of the line of an offset.
    pub(super) fn read_indent(&self, offset: u32) -> String {
        let line = &self.text[self.find_line_start(offset) as usize..];
        line.iter().take_while(|it| matches!(it, b' ' | b'\t')).map(|it| *it as char).collect()
    }
}
