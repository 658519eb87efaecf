//! Updates links to elements in comments.

use std::cell::OnceCell;

use abide_schema::Element;
use abide_syntax::{Lexer, Span, TokenKind, find_comments};
use rustc_hash::FxHashMap;

use crate::edit::Edit;
use crate::plan::{UpgradePlan, resolve_next_name};

/// The elements that a comment can link to, by full name.
#[derive(Debug)]
pub(crate) struct CommentLinks<'p, 't> {
    plan: &'p UpgradePlan<'t>,
    types: OnceCell<FxHashMap<String, Element<'t>>>,
}

impl<'p, 't> CommentLinks<'p, 't> {
    pub(crate) fn new(plan: &'p UpgradePlan<'t>) -> CommentLinks<'p, 't> {
        CommentLinks { plan, types: OnceCell::new() }
    }

    /// The edits that update the links in all comments of a text.
    pub(crate) fn collect_edits(&self, text: &[u8]) -> Vec<Edit> {
        let mut edits = Vec::new();
        let mut lexer = Lexer::new(text, 0);
        let mut end = 0;
        loop {
            let token = lexer.next_token();
            for comment in find_comments(text, Span::new(end, token.span.start)) {
                let found = self.find_replacements(comment.span.str(text));
                edits.extend(found.into_iter().map(|(at, length, new)| {
                    let start = comment.span.start + at as u32;
                    Edit::replace(Span::new(start, start + length as u32), new)
                }));
            }
            if token.kind == TokenKind::End {
                return edits;
            }
            end = token.span.end;
        }
    }

    /// The same text with updated links.
    pub(crate) fn rewrite_comment(&self, comment: &str) -> String {
        let mut out = String::with_capacity(comment.len());
        let mut done = 0;
        for (at, length, new) in self.find_replacements(comment) {
            out.push_str(&comment[done..at]);
            out.push_str(&new);
            done = at + length;
        }
        out.push_str(&comment[done..]);
        out
    }

    /// The offset, length and new name of each name in a comment that changes.
    fn find_replacements(&self, comment: &str) -> Vec<(usize, usize, String)> {
        match &self.plan.policy.links.label {
            Some(label) => self.find_label_links(comment, label),
            None => self.find_bracket_links(comment),
        }
    }

    /// `<acme_api_msg_config.v1.User>` and `` `acme_api_field_…` ``.
    fn find_label_links(&self, comment: &str, label: &str) -> Vec<(usize, usize, String)> {
        let mut found = Vec::new();
        for (at, _) in comment.match_indices(label) {
            if !comment[..at].ends_with(['<', '`']) {
                continue;
            }
            let rest = &comment[at + label.len()..];
            let kinds =
                [("_msg_", false), ("_field_", true), ("_enum_value_", true), ("_enum_", false)];
            let kind =
                kinds.iter().find_map(|(kind, of)| Some((kind, of, rest.strip_prefix(kind)?)));
            let Some((kind, is_member, rest)) = kind else { continue };
            let length = rest.bytes().take_while(|it| is_name(*it)).count();
            if !rest[length..].starts_with(['>', '`']) {
                continue;
            }
            let name = &rest[..length];
            let roots = &self.plan.policy.links.roots;
            let next = roots.iter().find_map(|root| {
                let full = format!("{root}.{name}");
                Some(if *is_member {
                    self.resolve_next_member(&full)?
                } else {
                    self.resolve_next_type(&full)?
                })
            });
            let Some(Some(next)) = next else { continue };
            let first = roots.first().map_or("", String::as_str);
            let short = next.strip_prefix(first).and_then(|it| it.strip_prefix('.'));
            let start = at + label.len() + kind.len();
            found.push((start, length, short.unwrap_or(&next).to_owned()));
        }
        found
    }

    /// `[acme.config.v1.User]`, alone or after a text in brackets.
    fn find_bracket_links(&self, comment: &str) -> Vec<(usize, usize, String)> {
        let mut found = Vec::new();
        for (at, _) in comment.match_indices('[') {
            let rest = &comment[at + 1..];
            let length = rest.bytes().take_while(|it| is_name(*it)).count();
            let name = &rest[..length];
            if !rest[length..].starts_with(']') || !name.contains('.') {
                continue;
            }
            if let Some(Some(next)) =
                self.resolve_next_type(name).or_else(|| self.resolve_next_member(name))
            {
                found.push((at + 1, length, next));
            }
        }
        found
    }

    fn types(&self) -> &FxHashMap<String, Element<'t>> {
        self.types.get_or_init(|| {
            let mut types = FxHashMap::default();
            for file in self.plan.tree.files() {
                let messages = file.all_messages().map(Element::Message);
                let enums = file.all_enums().map(Element::Enum);
                let services = file.services().map(Element::Service);
                for element in messages.chain(enums).chain(services) {
                    types.entry(element.full_name()).or_insert(element);
                }
            }
            types
        })
    }

    /// The type with this full name.
    pub(crate) fn find_type(&self, name: &str) -> Option<Element<'t>> {
        self.types().get(name).copied()
    }

    /// The new name of a type, if it changes.
    pub(crate) fn find_next_type(&self, name: &str) -> Option<String> {
        self.resolve_next_type(name).flatten()
    }

    /// The new name of a type, if there is such a type and its name changes.
    fn resolve_next_type(&self, name: &str) -> Option<Option<String>> {
        self.types().get(name).map(|element| self.plan.find_next_name(*element))
    }

    /// The new name of a member of a type.
    fn resolve_next_member(&self, full: &str) -> Option<Option<String>> {
        let (ty, name) = full.rsplit_once('.')?;
        let element = *self.types().get(ty)?;
        let Some(ty) = self.plan.find_next_name(element) else { return Some(None) };
        let links = &self.plan.policy.links;
        if let Some(name) = links.members.get(full) {
            return Some(Some(format!("{ty}.{name}")));
        }
        let member = find_member(element, name).filter(|_| !links.stale_members);
        let name = member.map_or(name, resolve_next_name);
        Some(Some(format!("{ty}.{name}")))
    }
}

fn find_member<'t>(element: Element<'t>, name: &str) -> Option<Element<'t>> {
    match element {
        Element::Message(message) => message.field_named(name).map(Element::Field),
        Element::Enum(it) => it.values().find(|it| it.name() == name).map(Element::EnumValue),
        _ => None,
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')
}
