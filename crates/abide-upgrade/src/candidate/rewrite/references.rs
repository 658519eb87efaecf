//! Types and extensions where they are named.

use abide_schema::{Element, Field, FileId};
use abide_syntax::{OptionNode, Slice, Span, join_dotted_name};

use super::rewriter::{Pending, Rewriter, ScopeChange, extension};
use super::vocabulary::TYPE_NAMES;
use crate::candidate::shortest_name::{Reference, VisibleNames, rewritten};
use crate::edit::Edit;

impl<'t> Rewriter<'_, 't> {
    /// Records a reference to a type.
    pub(super) fn reference(
        &mut self,
        span: Span,
        target: Option<Element<'t>>,
        (old, new): ScopeChange<'_>,
    ) {
        let Some(target) = target else { return };
        self.needs.types.insert(self.plan.file_after(target).id);
        if self.plan.gone(target) && self.plan.next(target.file().id).is_some() {
            self.dangling.push(span);
        }
        let (was, is) = (target.full_name(), self.plan.name_after(target));
        let (old_scope, new_scope) = (old.to_owned(), new.to_owned());
        self.references.push(Pending { span, old: was, new: is, old_scope, new_scope });
    }

    /// Records the extension that an option begins with; it keeps its full name.
    pub(super) fn option_name(&mut self, option: &OptionNode, (old, new): ScopeChange<'_>) {
        let Some(part) = self.ast.name_parts(option).first().filter(|it| it.extension) else {
            return;
        };
        let written = part.name.str(self.text);
        let Some(name) = self.names.resolve(old, written) else { return };
        let (old_scope, new_scope) = (old.to_owned(), new.to_owned());
        let span = part.name;
        self.references.push(Pending { span, new: name.clone(), old: name, old_scope, new_scope });
    }

    /// Writes the names of types for a candidate that imports these files.
    pub(super) fn spell(&mut self, imported: Vec<FileId>) {
        let after = VisibleNames::after(self.plan, self.file, imported.into_iter());
        for pending in &self.references {
            let Pending { span, old, new, old_scope, new_scope } = pending;
            let joined = join_dotted_name(self.text, *span);
            let written = joined.as_deref().unwrap_or_else(|| span.str(self.text));
            let next = rewritten(
                written,
                (&self.names, Reference { scope: old_scope, target: old }),
                (&after, Reference { scope: new_scope, target: new }),
            );
            if next != written {
                self.edits.push(Edit::replace(*span, next));
            }
        }
    }

    /// Updates a default that is a renamed enum value.
    pub(super) fn default(&mut self, field: Field<'t>, options: Slice) {
        let Some(it) = field.enum_type() else { return };
        for option in &self.ast.options[options.range()] {
            let value = &self.ast.values[option.value as usize];
            if option.name.str(self.text) != "default" {
                continue;
            }
            let name = value.span.str(self.text);
            let Some(value_of) = it.values().find(|it| it.name() == name) else { continue };
            if self.plan.next(it.file().id).is_some() {
                let next = self.plan.simple_name_after(Element::EnumValue(value_of));
                self.edits.push(Edit::replace(value.span, next));
            }
        }
    }

    /// Updates types that options name in strings.
    pub(super) fn type_names(&mut self, element: Element<'t>) {
        for (option, field) in TYPE_NAMES {
            let tree = self.file.tree;
            let Some(value) = extension(element.options(), tree, option) else { continue };
            let Some(entry) = value.get(tree, field) else { continue };
            let Some(name) = entry.value.as_str() else { continue };
            if let Some(next) = self.links.next_type(name) {
                self.edits.push(Edit::replace(entry.span, format!("\"{next}\"")));
            }
        }
    }
}
