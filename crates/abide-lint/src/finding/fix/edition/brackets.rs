//! Labels and options of fields.

use std::collections::BTreeMap;

use abide_schema::{Edition, Field};
use abide_syntax::{DeclKind, FieldLabel, Lexer, OptionNode, Slice, Span, TokenKind};
use abide_upgrade::Edit;

use super::edition_move::EditionMove;
use super::feature_override::{FeatureOverride, FeatureOwner};
use super::needed_overrides::{FileOverrides, is_of_map_entry};

/// The options of fields in the new edition.
#[derive(Default)]
pub(super) struct FieldOptionEdits {
    /// The edits of fields that are no groups.
    edits: Vec<Edit>,
    /// The options of groups, by the declaration of the group.
    pub(super) of_groups: BTreeMap<u32, Vec<String>>,
}

impl FieldOptionEdits {
    pub(super) fn take_edits(&mut self) -> Vec<Edit> {
        std::mem::take(&mut self.edits)
    }
}

/// The options in the brackets of a field.
struct OptionList<'t> {
    moved: EditionMove<'t>,
    /// Where the brackets begin, or would.
    start: u32,
    options: &'t [OptionNode],
    is_removed: Vec<bool>,
    added: Vec<String>,
}

pub(super) fn edit_fields(
    moved: EditionMove<'_>,
    overrides: &FileOverrides<'_>,
) -> FieldOptionEdits {
    let source = moved.source;
    let mut found = FieldOptionEdits::default();
    for field in source.file.all_fields().filter(|it| !is_of_map_entry(*it)) {
        let id = field.decl().node.0;
        let Some(decl) = source.ast.decls.get(id as usize) else { continue };
        let (number, options, is_group): (Span, Slice, bool) = match decl.kind {
            DeclKind::Field(node) => (node.number, node.options, node.group.is_some()),
            DeclKind::MapField(map) => {
                let map = &source.ast.maps[map as usize];
                (map.number, map.options, false)
            }
            _ => continue,
        };
        let options = &source.ast.options[options.range()];
        let is_removed = vec![false; options.len()];
        let mut list =
            OptionList { moved, start: number.end, options, is_removed, added: Vec::new() };
        list.change(field, overrides);
        if is_group && moved.leaves_syntax() {
            found.of_groups.insert(id, list.list_all());
            continue;
        }
        if moved.leaves_syntax()
            && matches!(field.decl().label, Some(FieldLabel::Optional | FieldLabel::Required))
            && let Some(label) = field.decl().label
        {
            found.edits.push(Edit::delete(with_blanks(moved, label.span(decl))));
        }
        found.edits.extend(list.build_edit());
    }
    found
}

/// A span with the white space behind it.
pub(super) fn with_blanks(moved: EditionMove<'_>, span: Span) -> Span {
    let rest = Span::new(span.end, moved.source.text.len() as u32).of(moved.source.text);
    let blanks = rest.len() - rest.trim_ascii_start().len();
    Span::new(span.start, span.end + blanks as u32)
}

impl OptionList<'_> {
    /// Removes what the edition does not have, and adds the features that stand for it.
    fn change(&mut self, field: Field<'_>, overrides: &FileOverrides<'_>) {
        let source = self.moved.source;
        for (at, option) in self.options.iter().enumerate() {
            let name = option.name.of(source.text);
            if name == b"packed" && self.moved.leaves_syntax() {
                self.is_removed[at] = true;
            }
            if name != b"ctype" || !self.moved.enters(Edition::Edition2024) {
                continue;
            }
            self.is_removed[at] = true;
            // Nothing reads `STRING_PIECE`. The generator of C++ refuses `CORD` on extensions and on
            // what is no text, as the option and as the feature, so it is carried there as well.
            let value = source.ast.values[option.value as usize].span.of(source.text);
            if value == b"CORD" {
                let cord = FeatureOverride::new(FeatureOwner::Cpp, "string_type", "CORD");
                self.added.push(cord.format_option(source.file));
            }
        }
        let features = overrides.of_fields.get(&field.id.index).into_iter().flatten();
        self.added.extend(features.map(|it| it.format_option(source.file)));
    }

    /// Every option in the new edition, each as text.
    fn list_all(&self) -> Vec<String> {
        let kept = self.options.iter().zip(&self.is_removed).filter(|it| !it.1);
        let kept = kept.map(|it| it.0.span.str(self.moved.source.text).to_owned());
        self.added.iter().cloned().chain(kept).collect()
    }

    fn build_edit(mut self) -> Vec<Edit> {
        let source = self.moved.source;
        let Some(last) = self.options.last() else {
            let added = self.added.join(", ");
            let edit = (!added.is_empty()).then(|| Edit::insert(self.start, format!(" [{added}]")));
            return edit.into_iter().collect();
        };
        let mut added = std::mem::take(&mut self.added);
        if self.is_removed.iter().all(|it| *it) {
            if added.is_empty() {
                let end = self.find_token(last.span.end, b"]").unwrap_or(last.span.end);
                return vec![Edit::delete(Span::new(self.start, end))];
            }
            let span = self.options[0].span.to(last.span);
            return vec![Edit::replace(span, added.join(", "))];
        }
        let mut edits = Vec::new();
        for (at, option) in self.options.iter().enumerate().filter(|it| self.is_removed[it.0]) {
            if !added.is_empty() {
                edits.push(Edit::replace(option.span, std::mem::take(&mut added).join(", ")));
            } else if let Some(next) = self.options.get(at + 1) {
                edits.push(Edit::delete(Span::new(option.span.start, next.span.start)));
            } else {
                let before = self.options[at - 1].span.end;
                edits.push(Edit::delete(Span::new(before, option.span.end)));
            }
        }
        if !added.is_empty() {
            let first = self.options[0].span.start;
            edits.push(source.addition_before(first, &format!("{},", added.join(", "))));
        }
        edits
    }

    /// The end of the next token of this text.
    fn find_token(&self, from: u32, token: &[u8]) -> Option<u32> {
        let text = self.moved.source.text;
        let mut lexer = Lexer::new(text, from);
        loop {
            let next = lexer.next_token();
            if next.kind == TokenKind::End {
                return None;
            }
            if next.span.of(text) == token {
                return Some(next.span.end);
            }
        }
    }
}
