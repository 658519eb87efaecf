//! Types and extensions where they are named.

use abide_schema::{Element, Field, FileId};
use abide_syntax::{OptionNode, Slice, Span, join_dotted_name};

use super::annotation_names::TYPE_NAMES;
use super::rewriter::{FileRewriter, PendingReference, ScopeChange, find_option_value};
use crate::candidate::shortest_name::{ScopedReference, VisibleNames, rewrite_name};
use crate::edit::Edit;

impl<'t> FileRewriter<'_, 't> {
    /// Records a reference to a type.
    pub(super) fn record_reference(
        &mut self,
        span: Span,
        target: Option<Element<'t>>,
        (old, new): ScopeChange<'_>,
    ) {
        let Some(target) = target else { return };
        self.needs.types.insert(self.plan.resolve_file(target).id);
        if self.plan.is_removed_with_parent(target) && self.plan.next(target.file().id).is_some() {
            self.dangling.push(span);
        }
        let (was, is) = (target.full_name(), self.plan.resolve_full_name(target));
        let (old_scope, new_scope) = (old.to_owned(), new.to_owned());
        self.references.push(PendingReference { span, old: was, new: is, old_scope, new_scope });
    }

    /// Records the extension that an option begins with; it keeps its full name.
    pub(super) fn record_option_name(&mut self, option: &OptionNode, (old, new): ScopeChange<'_>) {
        let Some(part) = self.ast.name_parts(option).first().filter(|it| it.extension) else {
            return;
        };
        let written = part.name.str(self.text);
        let Some(name) = self.names.resolve(old, written) else { return };
        let (old_scope, new_scope) = (old.to_owned(), new.to_owned());
        let span = part.name;
        self.references.push(PendingReference {
            span,
            new: name.clone(),
            old: name,
            old_scope,
            new_scope,
        });
    }

    /// Writes the names of types for a candidate that imports these files.
    pub(super) fn write_references(&mut self, imported: Vec<FileId>) {
        let after = VisibleNames::from_candidate(self.plan, self.file, imported.into_iter());
        for pending in &self.references {
            let PendingReference { span, old, new, old_scope, new_scope } = pending;
            let joined = join_dotted_name(self.text, *span);
            let written = joined.as_deref().unwrap_or_else(|| span.str(self.text));
            let next = rewrite_name(
                written,
                (&self.names, ScopedReference { scope: old_scope, target: old }),
                (&after, ScopedReference { scope: new_scope, target: new }),
            );
            if next != written {
                self.edits.push(Edit::replace(*span, next));
            }
        }
    }

    /// Updates a default that is a renamed enum value.
    pub(super) fn update_default(&mut self, field: Field<'t>, options: Slice) {
        let Some(it) = field.enum_type() else { return };
        for option in &self.ast.options[options.range()] {
            let value = &self.ast.values[option.value as usize];
            if option.name.str(self.text) != "default" {
                continue;
            }
            let name = value.span.str(self.text);
            let Some(value_of) = it.values().find(|it| it.name() == name) else { continue };
            if self.plan.next(it.file().id).is_some() {
                let next = self.plan.resolve_simple_name(Element::EnumValue(value_of));
                self.edits.push(Edit::replace(value.span, next));
            }
        }
    }

    /// Updates types that options name in strings.
    pub(super) fn update_type_names(&mut self, element: Element<'t>) {
        for (option, field) in TYPE_NAMES {
            let tree = self.file.tree;
            let Some(value) = find_option_value(element.options(), tree, option) else { continue };
            let Some(entry) = value.get(tree, field) else { continue };
            let Some(name) = entry.value.as_str() else { continue };
            if let Some(next) = self.links.find_next_type(name) {
                self.edits.push(Edit::replace(entry.span, format!("\"{next}\"")));
            }
        }
    }
}
