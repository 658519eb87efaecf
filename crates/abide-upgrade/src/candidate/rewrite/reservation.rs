//! The numbers and names of what is removed, which nobody may take again.

use abide_schema::{Element, Enum, EnumValue, Field, Message};
use abide_syntax::{DeclId, DeclKind};

use super::bodies::InsertedStatement;
use super::rewriter::FileRewriter;
use crate::edit::Edit;
use crate::plan::is_removed;

impl<'t> FileRewriter<'_, 't> {
    pub(super) fn reserve_removed_fields(
        &mut self,
        message: Message<'t>,
        children: &[DeclId],
    ) -> Vec<InsertedStatement> {
        let gone: Vec<Field<'t>> =
            message.fields().filter(|it| is_removed(Element::Field(*it))).collect();
        let numbers: Vec<String> = gone.iter().map(|it| it.number().to_string()).collect();
        let names: Vec<&str> = gone.iter().map(|it| it.name()).collect();
        self.add_reserved(&numbers, &names, children)
    }

    pub(super) fn reserve_removed_values(
        &mut self,
        it: Enum<'t>,
        children: &[DeclId],
    ) -> Vec<InsertedStatement> {
        let is_gone = |value: &EnumValue<'t>| is_removed(Element::EnumValue(*value));
        let gone: Vec<_> = it.values().filter(is_gone).collect();
        let live = |number: i32| it.values().any(|it| !is_gone(&it) && it.number() == number);
        let mut numbers: Vec<String> = Vec::new();
        for number in gone.iter().map(|it| it.number()).filter(|number| !live(*number)) {
            let number = number.to_string();
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        let names: Vec<&str> = gone.iter().map(|it| it.name()).collect();
        self.add_reserved(&numbers, &names, children)
    }

    /// Detects the separator of a statement that starts at an offset from one like it: a blank
    /// line, or a space where statements share a line.
    fn find_gap(&self, start: u32) -> String {
        if self.is_line_start(start) {
            format!("\n\n{}", self.read_indent(start))
        } else {
            " ".to_owned()
        }
    }

    /// Reserves numbers and names, at the end of existing statements or in new ones
    /// before the first member.
    pub(super) fn add_reserved(
        &mut self,
        numbers: &[String],
        names: &[&str],
        children: &[DeclId],
    ) -> Vec<InsertedStatement> {
        let decls = &self.ast.decls;
        let kind = |id: &DeclId| decls[*id as usize].kind;
        let mut last_number = None;
        let mut last_numbers = None;
        let mut last_name = None;
        let mut first_names = None;
        for id in children {
            match kind(id) {
                DeclKind::ReservedNumbers { ranges } => {
                    last_numbers = Some(decls[*id as usize].span.start);
                    last_number = self.ast.ranges[ranges.range()].last().map(|it| it.span.end);
                }
                DeclKind::ReservedNames { names, .. } => {
                    first_names = first_names.or(Some(decls[*id as usize].span.start));
                    last_name = self.ast.ranges[names.range()].last().map(|it| it.span.end);
                }
                _ => {}
            }
        }
        let member = |id: &DeclId| {
            matches!(
                kind(id),
                DeclKind::Field(_)
                    | DeclKind::MapField(_)
                    | DeclKind::Oneof { .. }
                    | DeclKind::EnumValue { .. }
            )
        };
        let before = children.iter().position(member).unwrap_or(children.len());
        let bare = self.file.decl().edition.is_edition();
        let names: Vec<String> = names
            .iter()
            .map(|name| if bare { (*name).to_owned() } else { format!("\"{name}\"") })
            .collect();
        let mut blocks = Vec::new();
        if !numbers.is_empty() {
            let numbers = numbers.join(", ");
            match (last_number, first_names) {
                (Some(end), _) => self.edits.push(Edit::insert(end, format!(", {numbers}"))),
                (None, Some(start)) => {
                    let gap = self.find_gap(start);
                    self.edits.push(Edit::insert(start, format!("reserved {numbers};{gap}")));
                }
                (None, None) => blocks.push(InsertedStatement::Reserved(before, numbers)),
            }
        }
        if !names.is_empty() {
            let names = names.join(", ");
            match (last_name, last_number) {
                (Some(end), _) => self.edits.push(Edit::insert(end, format!(", {names}"))),
                (None, Some(end)) => {
                    let start = last_numbers.unwrap_or(end);
                    let end = self.next_symbol(end, b';').unwrap_or(end);
                    let text = format!("{}reserved {names};", self.find_gap(start));
                    self.edits.push(Edit::insert(end, text));
                }
                (None, None) => blocks.push(InsertedStatement::Reserved(before, names)),
            }
        }
        blocks
    }
}
