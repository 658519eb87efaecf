//! Finds the files that may read their options otherwise because the types of options changed.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

use abide_syntax::{Ast, DeclId, DeclKind, Lexer, Span, TokenKind};
use rustc_hash::FxHasher;

use super::exports::hash_word;
use super::{FileChange, FileKey, Workspace};
use crate::decl::FileDecl;
use crate::protobuf::DESCRIPTOR_PROTO;

/// A declaration at the top level of a file.
struct OptionTypeDecl {
    /// The hash of its tokens: comments and layout mean nothing.
    tokens: u64,
    /// The simple names of the types, values, extensions and services in it, as words.
    names: Vec<u32>,
    /// Every identifier in it, as words in order.
    idents: Vec<u32>,
}

/// The declarations of a file that types of options depend on, without comments and layout.
struct OptionTypeDecls {
    /// The hash of what holds of the whole file: syntax, package, imports and options.
    head: u64,
    items: Vec<OptionTypeDecl>,
}

impl OptionTypeDecls {
    /// `None` without a syntax tree.
    fn parse(decl: &FileDecl) -> Option<OptionTypeDecls> {
        let (ast, text) = (decl.ast()?, decl.source_text()?);
        let mut head = FxHasher::default();
        let mut items = Vec::new();
        for id in ast.children_of(None) {
            let item = &ast.decls[id as usize];
            match item.kind {
                DeclKind::Message { .. }
                | DeclKind::Enum { .. }
                | DeclKind::Service { .. }
                | DeclKind::Extend { .. } => {
                    let mut tokens = FxHasher::default();
                    let mut idents = Vec::new();
                    for (kind, token) in iter_tokens(text, item.span) {
                        token.hash(&mut tokens);
                        idents.extend((kind == TokenKind::Ident).then(|| hash_word(token)));
                    }
                    idents.sort_unstable();
                    idents.dedup();
                    let names = collect_names(ast, id).map(|it| hash_word(it.of(text))).collect();
                    items.push(OptionTypeDecl { tokens: tokens.finish(), names, idents });
                }
                DeclKind::Empty => {}
                _ => iter_tokens(text, item.span).for_each(|(_, token)| token.hash(&mut head)),
            }
        }
        Some(OptionTypeDecls { head: head.finish(), items })
    }
}

fn iter_tokens(text: &[u8], span: Span) -> impl Iterator<Item = (TokenKind, &[u8])> {
    let mut lexer = Lexer::new(text, span.start);
    std::iter::from_fn(move || {
        let token = lexer.next_token();
        let is_in = token.kind != TokenKind::End && token.span.start < span.end;
        is_in.then(|| (token.kind, token.span.of(text)))
    })
}

/// Collects the places of the names that a declaration, or one in it, gives to something that a
/// name in another file can mean.
fn collect_names(ast: &Ast, id: DeclId) -> impl Iterator<Item = Span> {
    let ids = id..ast.decls[id as usize].end;
    let extensions = |id: DeclId| {
        let item = &ast.decls[id as usize];
        let is_extend = matches!(item.kind, DeclKind::Extend { .. });
        is_extend.then(|| ast.children_of(Some(id))).into_iter().flatten()
    };
    let field = |id: DeclId| match ast.decls[id as usize].kind {
        DeclKind::Field(node) => Some(node.name),
        _ => None,
    };
    let named = move |id: DeclId| {
        let item = &ast.decls[id as usize];
        match item.kind {
            DeclKind::Message { name, .. }
            | DeclKind::Enum { name, .. }
            | DeclKind::Service { name, .. }
            | DeclKind::EnumValue { name, .. } => Some(name),
            // A group is a message of the same name.
            DeclKind::Field(node) => node.body(item).map(|_| node.name),
            _ => None,
        }
    };
    ids.clone().filter_map(named).chain(ids.flat_map(extensions).filter_map(field))
}

impl FileChange {
    /// The names of what differs between both sides, as words; `None` if everything may.
    fn find_differing_names(&self) -> Option<BTreeSet<u32>> {
        let (before, after) = (self.before.as_ref()?, self.after.as_ref()?);
        let before = OptionTypeDecls::parse(&before.decl)?;
        let after = OptionTypeDecls::parse(&after.decl)?;
        if before.head != after.head {
            return None;
        }
        let tokens = |side: &OptionTypeDecls| side.items.iter().map(|it| it.tokens).collect();
        let (was, is): (BTreeSet<u64>, BTreeSet<u64>) = (tokens(&before), tokens(&after));
        let all = before.items.iter().chain(&after.items);
        let differs = |it: &&OptionTypeDecl| was.contains(&it.tokens) != is.contains(&it.tokens);
        Some(all.filter(differs).flat_map(|it| &it.names).copied().collect())
    }
}

impl Workspace {
    /// The files that may read their options otherwise because of files that declare options, or by
    /// way of which these do, and which changed: those that mention an option of a type that differs,
    /// or that holds one that does.
    pub(super) fn find_option_users<'c>(
        &self,
        changed: impl Iterator<Item = (&'c FileKey, &'c FileChange)>,
        closure: &BTreeSet<&str>,
    ) -> BTreeSet<FileKey> {
        let mut found = BTreeSet::new();
        let mut names: BTreeSet<u32> = BTreeSet::new();
        let mut partly: Vec<(&FileKey, &FileChange)> = Vec::new();
        for (key, change) in changed {
            match change.find_differing_names().filter(|_| *key.1 != *DESCRIPTOR_PROTO) {
                None => found.extend(self.collect_importers(&key.1)),
                Some(differing) if differing.is_empty() => {}
                Some(differing) => {
                    names.extend(differing);
                    partly.push((key, change));
                }
            }
        }
        if partly.is_empty() {
            return found;
        }
        let known = closure.iter().flat_map(|path| {
            self.roots_of(path).filter_map(|root| self.files.get(&(root, (*path).into())))
        });
        let gone = partly.iter().filter_map(|(_, change)| change.before.as_ref());
        let mut others: Vec<OptionTypeDecl> = known
            .chain(gone)
            .filter_map(|it| OptionTypeDecls::parse(&it.decl))
            .flat_map(|it| it.items)
            .collect();
        loop {
            let mentions = |it: &OptionTypeDecl| {
                names.iter().any(|name| it.idents.binary_search(name).is_ok())
            };
            let (with, without): (Vec<_>, Vec<_>) = others.into_iter().partition(mentions);
            if with.is_empty() {
                break;
            }
            names.extend(with.iter().flat_map(|it| &it.names));
            others = without;
        }
        for (key, _) in partly {
            found.extend(self.collect_importers(&key.1).into_iter().filter(|key| {
                // Serialised options mention nothing.
                let mentions = |it: &super::exports::FileExports| {
                    it.decl.ast().is_none() || names.iter().any(|name| it.contains_word(*name))
                };
                self.files.get(key).is_some_and(|it| mentions(it))
            }));
        }
        found
    }
}
