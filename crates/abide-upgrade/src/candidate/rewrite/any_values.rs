//! Updates messages that options hold in an `Any` to the next version of their
//! types.

use abide_schema::{Element, Field, Message};
use abide_syntax::{
    KeyForm, Lexer, OptionNode, Span, TokenKind, ValueId, ValueKind, join_dotted_name,
};

use super::rewriter::FileRewriter;
use crate::edit::Edit;
use crate::plan::iter_extensions;

impl<'t> FileRewriter<'_, 't> {
    /// Updates every `[host/type] { … }` in the value of an option.
    pub(crate) fn rewrite_any_values(&mut self, option: &OptionNode) {
        let end = self.ast.values[option.value as usize].end;
        let mut at = option.value;
        while at < end {
            let node = self.ast.values[at as usize];
            match node.kind {
                ValueKind::Field { key, form: KeyForm::AnyUrl } => {
                    let value = self.ast.value_children(at).next();
                    if let Some((message, value)) = self.rewrite_any_type(key).zip(value) {
                        self.rewrite_any_message(value, message);
                    }
                    at = node.end;
                }
                _ => at += 1,
            }
        }
    }

    /// The message that a key in brackets names, if its name changes.
    fn rewrite_any_type(&mut self, key: Span) -> Option<Message<'t>> {
        let slash = key.of(self.text).iter().rposition(|it| *it == b'/')?;
        let span = Span::new(key.start + slash as u32 + 1, key.end - 1);
        let joined = join_dotted_name(self.text, span);
        let name = joined.as_deref().unwrap_or_else(|| span.str(self.text));
        let element = self.links.find_type(name)?;
        let Element::Message(message) = element else { return None };
        if self.plan.is_removed_with_parent(element) {
            self.dangling.push(span);
        }
        let next = self.plan.find_next_name(element)?;
        self.edits.push(Edit::replace(span, next));
        self.needs.types.insert(self.plan.resolve_file(element).id);
        Some(message)
    }

    /// Updates a message value, or a list of them.
    fn rewrite_any_message(&mut self, value: ValueId, message: Message<'t>) {
        let children: Vec<ValueId> = self.ast.value_children(value).collect();
        for id in children {
            let node = self.ast.values[id as usize];
            match node.kind {
                ValueKind::Message => self.rewrite_any_message(id, message),
                ValueKind::Field { key, form: KeyForm::AnyUrl } => {
                    let value = self.ast.value_children(id).next();
                    if let Some((message, value)) = self.rewrite_any_type(key).zip(value) {
                        self.rewrite_any_message(value, message);
                    }
                }
                ValueKind::Field { key, form } => {
                    let joined = join_dotted_name(self.text, key);
                    let key_text = joined.as_deref().unwrap_or_else(|| key.str(self.text));
                    let field = match form {
                        KeyForm::Field => message.field_named(key_text),
                        _ => self.find_extension(message, key_text.trim_matches(['[', ']'])),
                    };
                    let Some(field) = field else { continue };
                    let element = Element::Field(field);
                    if self.plan.is_removed(element) && self.plan.next(field.file().id).is_some() {
                        let token = Lexer::new(self.text, node.span.end).next_token();
                        let parts = matches!(token.kind, TokenKind::Symbol(b',' | b';'));
                        let end = if parts { token.span.end } else { node.span.end };
                        self.edits.push(Edit::delete(Span::new(node.span.start, end)));
                        continue;
                    }
                    self.rewrite_any_key(key, form, field);
                    if let Some(value) = self.ast.value_children(id).next() {
                        self.rewrite_any_field_value(value, field);
                    }
                }
                _ => {}
            }
        }
    }

    fn rewrite_any_key(&mut self, key: Span, form: KeyForm, field: Field<'t>) {
        let element = Element::Field(field);
        let Some(next) = self.plan.find_next_name(element) else { return };
        match form {
            KeyForm::Field => {
                let name = self.plan.resolve_simple_name(element);
                if name != field.name() {
                    self.edits.push(Edit::replace(key, name));
                }
            }
            _ => {
                self.needs.types.insert(field.file().id);
                self.edits.push(Edit::replace(key, format!("[{next}]")));
            }
        }
    }

    fn rewrite_any_field_value(&mut self, value: ValueId, field: Field<'t>) {
        if let Some(message) = field.message_type() {
            return self.rewrite_any_message(value, message);
        }
        let Some(it) = field.enum_type().filter(|it| self.plan.next(it.file().id).is_some()) else {
            return;
        };
        for id in value..self.ast.values[value as usize].end {
            let ValueKind::Ident { word, .. } = self.ast.values[id as usize].kind else { continue };
            let named = it.values().find(|it| it.name() == word.str(self.text));
            if let Some(named) = named.map(Element::EnumValue)
                && self.plan.resolve_simple_name(named) != named.name()
            {
                let name = self.plan.resolve_simple_name(named);
                self.edits.push(Edit::replace(word, name));
            }
        }
    }

    /// The extension that a key in brackets names: protoc looks from the message
    /// outwards.
    fn find_extension(&self, message: Message<'t>, written: &str) -> Option<Field<'t>> {
        let all = || self.file.tree.files().flat_map(iter_extensions);
        let full = message.full_name();
        let ends = full.match_indices('.').map(|(at, _)| at).rev().chain([0]);
        [full.len()].into_iter().chain(ends).find_map(|end| {
            let scope = &full[..end];
            let name =
                if scope.is_empty() { written.to_owned() } else { format!("{scope}.{written}") };
            all().find(|it| it.full_name() == name)
        })
    }
}
