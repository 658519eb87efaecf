//! Options that a candidate carries over.

use abide_schema::value;
use abide_syntax::{OptionNode, Slice, Span};

use super::annotation_names::{
    ANCESTRIES, CANDIDATE_FIELDS, MIGRATION_FIELDS, MIGRATIONS, POLICIES,
};
use super::rewriter::{FileRewriter, RewriteMode, ScopeChange};
use crate::edit::{Edit, RECORDED_FIELDS, find_field_cuts, is_option_named};
use crate::layout::MAX_LINE_WIDTH;

impl<'t> FileRewriter<'_, 't> {
    /// Records the files that declare the options that are set here and stay.
    pub(super) fn record_option_files(&mut self, options: Option<&'t value::Message>) {
        let tree = self.file.tree;
        let mut open: Vec<&value::Message> = options.into_iter().collect();
        while let Some(message) = open.pop() {
            for entry in &message.entries {
                let field = tree.field(entry.field);
                if field.is_extension() {
                    let name = field.full_name();
                    let name = name.as_str();
                    if self.mode == RewriteMode::Upgrade && MIGRATIONS.contains(&name) {
                        continue;
                    }
                    let is_left =
                        |it: &value::Entry| self.is_field_dropped(tree.field(it.field).name());
                    let value = entry
                        .value
                        .as_message()
                        .filter(|_| self.mode != RewriteMode::UpdateReferences);
                    if POLICIES.contains(&name)
                        && value.is_some_and(|it| it.entries.iter().all(is_left))
                    {
                        continue;
                    }
                    self.needs.options.insert(field.file().id);
                }
                open.extend(entry.value.as_message());
            }
        }
    }

    /// Returns true if an option is removed: it declares a migration, or the policy drops
    /// it.
    pub(super) fn is_option_dropped(&self, option: &OptionNode) -> bool {
        let parts = self.ast.name_parts(option);
        let Some(first) = parts.first() else { return false };
        let name = first.name.str(self.text);
        let second = parts.get(1).map_or("", |part| part.name.str(self.text));
        if !first.extension {
            return self.mode == RewriteMode::Upgrade
                && self.plan.policy.dropped_options.iter().any(|it| it == name);
        }
        let is = |full: &str| is_option_named(full, name);
        if self.mode == RewriteMode::Upgrade && MIGRATIONS.iter().any(|full| is(full)) {
            return true;
        }
        if second == "work_in_progress" && ANCESTRIES.iter().any(|(status, _)| is(status)) {
            return !self.next.package.ends_with("alpha");
        }
        POLICIES.iter().any(|full| is(full))
            && (self.is_field_dropped(second)
                || find_field_cuts(self.ast, self.text, option, |it| self.is_field_dropped(it))
                    .is_none())
    }

    /// Returns true if a field of our own annotations declares a migration, or a fact about
    /// the source that is not true of the candidate.
    pub(super) fn is_field_dropped(&self, field: &str) -> bool {
        self.mode == RewriteMode::Upgrade && MIGRATION_FIELDS.contains(&field)
            || CANDIDATE_FIELDS.contains(&field)
            || RECORDED_FIELDS.contains(&field)
                && !self.recorded.iter().any(|(name, _)| *name == field)
    }

    /// Removes such fields from an aggregate that has other fields too.
    pub(super) fn strip_annotation_fields(&mut self, option: &OptionNode) {
        let name = self.ast.name_parts(option).first().map_or("", |part| part.name.str(self.text));
        if self.mode == RewriteMode::UpdateReferences
            || !POLICIES.iter().any(|full| is_option_named(full, name))
        {
            return;
        }
        let cuts = find_field_cuts(self.ast, self.text, option, |it| self.is_field_dropped(it));
        self.edits.extend(cuts.into_iter().flatten().map(Edit::delete));
    }

    /// Writes the options in brackets after `before`.
    pub(super) fn rewrite_bracket_options(
        &mut self,
        options: Slice,
        before: u32,
        scope: ScopeChange<'_>,
    ) {
        let options = &self.ast.options[options.range()];
        for option in options {
            self.record_option_name(option, scope);
            self.rewrite_any_values(option);
        }
        if self.mode == RewriteMode::UpdateReferences {
            return;
        }
        let stays: Vec<&OptionNode> =
            options.iter().filter(|it| !self.is_option_dropped(it)).collect();
        for option in &stays {
            self.strip_annotation_fields(option);
        }
        let (Some(last), false) = (options.last(), stays.len() == options.len()) else { return };
        let Some(close) = self.next_symbol(last.span.end, b']') else { return };
        let Some((first, last)) = stays.first().zip(stays.last()) else {
            return self.edits.push(Edit::delete(Span::new(before, close)));
        };
        if stays.len() == 1 {
            let width = |from: u32, to: u32| (to - from) as usize;
            let text = first.span.of(self.text);
            let line = memchr::memchr(b'\n', text).unwrap_or(text.len() + "];".len());
            let fits =
                width(self.find_line_start(before), before) + " [".len() + line <= MAX_LINE_WIDTH;
            let (indent, own) = (self.read_indent(before), self.read_indent(first.span.start));
            let open = if fits { " [".to_owned() } else { format!("\n{indent}    [") };
            // The lines of a value move with its first line.
            let deeper = own.len().saturating_sub(indent.len());
            if fits
                && deeper > 0
                && width(self.find_line_start(first.span.start), first.span.start) == own.len()
            {
                for at in memchr::memchr_iter(b'\n', text) {
                    let start = first.span.start + at as u32 + 1;
                    let space = Span::new(start, start + deeper as u32);
                    if space.of(self.text).iter().all(|it| *it == b' ') {
                        self.edits.push(Edit::delete(space));
                    }
                }
            }
            self.edits.push(Edit::replace(Span::new(before, first.span.start), open));
            self.edits.push(Edit::replace(Span::new(last.span.end, close), "]"));
            return;
        }
        // Each is removed with the comma before it, the first ones with the comma
        // after them.
        let mut end = None;
        for (at, option) in options.iter().enumerate() {
            if !self.is_option_dropped(option) {
                end = Some(option.span.end);
                continue;
            }
            let span = match (end, options.get(at + 1)) {
                (Some(end), _) => Span::new(end, option.span.end),
                (None, Some(following)) => Span::new(option.span.start, following.span.start),
                (None, None) => continue,
            };
            end = end.map(|_| option.span.end);
            self.edits.push(Edit::delete(span));
        }
    }
}
