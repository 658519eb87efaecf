//! Fixes that reserve numbers and names.

use abide_schema::{Edition, Element, Enum, Message, NumberRanges, Part};
use abide_syntax::{DeclId, DeclKind, RangeNode, Slice};
use abide_upgrade::Edit;

use super::Fix;
use super::source_text::SourceText;

/// Reserves the numbers and names of fields that a message no longer has: all of them at once, so
/// that they share a statement. Numbers that extensions may have cannot be reserved.
pub(crate) fn of_message<'t>(old: Message<'t>, new: Message<'t>) -> Option<Fix> {
    let numbers =
        |it: Message<'_>| NumberRanges::from_numbers(it.fields().map(|it| it.number().into()));
    let numbers = numbers(old).without(&numbers(new)).without(&new.reserved_ranges().into());
    // A number that extensions may have cannot be reserved.
    let numbers = numbers.without(&new.extension_ranges().into());
    let is_lost = |name: &&str| new.field_named(name).is_none() && !new.reserves_name(name);
    let names: Vec<&str> = old.fields().map(|it| it.name()).filter(is_lost).collect();
    with_reserved(Element::Message(new), &numbers, &names)
}

/// The same for the values of an enum.
pub(crate) fn of_enum<'t>(old: Enum<'t>, new: Enum<'t>) -> Option<Fix> {
    let numbers =
        |it: Enum<'_>| NumberRanges::from_numbers(it.values().map(|it| it.number().into()));
    let reserved = NumberRanges::from_ranges(new.reserved_ranges());
    let numbers = numbers(old).without(&numbers(new)).without(&reserved);
    let is_lost =
        |name: &&str| new.values().all(|it| it.name() != *name) && !new.is_reserved_name(name);
    let names: Vec<&str> = old.values().map(|it| it.name()).filter(is_lost).collect();
    with_reserved(Element::Enum(new), &numbers, &names)
}

/// Reserves numbers and names in a message or an enum: in the statements that it has, or in new
/// ones at its top.
pub(crate) fn with_reserved(
    holder: Element<'_>,
    numbers: &NumberRanges,
    names: &[&str],
) -> Option<Fix> {
    let source = SourceText::of(holder.file())?;
    let decls = &source.ast.decls;
    let children: Vec<DeclId> = source.ast.children_of(Some(holder.node().0)).collect();
    let kind = |id: &DeclId| decls.get(*id as usize).map(|it| it.kind);
    let numbers_of = |id: &DeclId| match kind(id)? {
        DeclKind::ReservedNumbers { ranges } => Some((*id, ranges)),
        _ => None,
    };
    let names_of = |id: &DeclId| match kind(id)? {
        DeclKind::ReservedNames { names, .. } => Some((*id, names)),
        _ => None,
    };
    let last_numbers = children.iter().filter_map(numbers_of).next_back();
    let last_names = children.iter().filter_map(names_of).next_back();
    let quoted = holder.file().decl().edition < Edition::Edition2023;
    let name = |it: &&str| if quoted { format!("\"{it}\"") } else { (*it).to_owned() };
    let names = names.iter().map(name).collect::<Vec<String>>().join(", ");
    let numbers = if numbers.is_empty() { String::new() } else { numbers.to_string() };
    let (mut edits, mut statements) = (Vec::new(), Vec::new());
    for (words, last) in [(numbers, last_numbers), (names, last_names)] {
        let end = |slice: Slice| -> Option<u32> {
            let ranges: &[RangeNode] = source.ast.ranges.get(slice.range())?;
            ranges.last().map(|it| it.span.end)
        };
        match last.and_then(|(_, slice)| end(slice)) {
            _ if words.is_empty() => {}
            Some(end) => edits.push(Edit::insert(end, format!(", {words}"))),
            None => statements.push(format!("reserved {words};")),
        }
    }
    let noun = holder.noun();
    let title = format!("reserve what {noun} `{}` no longer has", holder.name());
    if !statements.is_empty() {
        // Beside the other statement, or else at the top.
        let beside = last_numbers.or(last_names).and_then(|(id, _)| {
            let start = decls.get(id as usize)?.span.start;
            Some((source.end_of_statement(id)?, source.indent(start).to_owned()))
        });
        let (end, indent) = match beside {
            Some(place) => place,
            None => (source.end_of_head(holder.node())?, source.inner_indent(holder, &children)),
        };
        edits.push(source.addition_after(end, &indent, &statements));
    }
    (!edits.is_empty()).then(|| Fix::of_file(holder.file(), title, edits))
}

impl SourceText<'_> {
    /// The white space before the statements of an element.
    pub(super) fn inner_indent(self, holder: Element<'_>, children: &[DeclId]) -> String {
        let starts = children.iter().filter_map(|id| self.ast.decls.get(*id as usize));
        let mut starts = starts.map(|it| it.span.start).filter(|&it| self.begins_line(it));
        match starts.next() {
            Some(first) => self.indent(first).to_owned(),
            None => {
                let start = holder.place(Part::Whole).span.start;
                format!("{}  ", self.indent(start))
            }
        }
    }
}
