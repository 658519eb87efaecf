//! The annotation that names the type a message was made from.

use abide_schema::Message;
use abide_syntax::{DeclId, DeclKind};

use super::annotation_names::ANCESTRIES;
use super::bodies::{InsertedStatement, format_option_statement};
use super::rewriter::{FileRewriter, find_option_value};
use crate::edit::Edit;

impl<'t> FileRewriter<'_, 't> {
    /// The annotation that names the type a message was generated from. Edits an
    /// existing one, or returns the statement to add.
    pub(super) fn update_previous_type(
        &mut self,
        message: Message<'t>,
        children: &[DeclId],
    ) -> Option<InsertedStatement> {
        let tree = self.file.tree;
        let name = message.full_name();
        for (_, (option, field, _)) in ANCESTRIES {
            let value = find_option_value(message.options(), tree, option);
            if let Some(entry) = value.and_then(|it| it.get(tree, field)) {
                let statement =
                    self.ast.options.iter().find(|it| {
                        it.span.start <= entry.span.start && entry.span.end <= it.span.end
                    });
                let value = format!("\"{name}\"");
                // Replaces the whole statement, since it may need another layout.
                match statement.filter(|it| it.span.of(self.text).starts_with(b"option")) {
                    Some(it) if self.ast.values[it.value as usize].span == entry.span => {
                        let name = it.name.str(self.text);
                        let indent = self.read_indent(it.span.start);
                        let text = format_option_statement(&indent, name, &value);
                        self.edits.push(Edit::replace(it.span, text));
                    }
                    _ => self.edits.push(Edit::replace(entry.span, value)),
                }
                return None;
            }
        }
        let (option, field, path) = self.ancestry?;
        self.needs.added.insert(path.to_owned());
        let is_option =
            |id: &&DeclId| matches!(self.ast.decls[**id as usize].kind, DeclKind::Option(_));
        let options = children.iter().take_while(is_option).count();
        Some(InsertedStatement::Option(
            options,
            format!("({option}).{field}"),
            format!("\"{name}\""),
        ))
    }
}
