//! The symbols of one element or file.

use abide_schema::{Element, File, Message};

use super::elements::find_enclosing_message;
use super::emitter::{Emitter, GeneratedSymbol, Unit};
use super::generator::{FileFlags, Generator};
use super::language::Language;
use super::names::GeneratedNames;

/// The symbols of generated code for an element itself, not for its children, most
/// used ones first. A map entry and the oneof of a proto3 `optional` have none.
pub fn list_symbols(language: Language, element: Element<'_>) -> Vec<GeneratedSymbol> {
    list_symbols_with(&GeneratedNames::default(), language, element)
}

/// The same with names that are kept for the next element.
pub(crate) fn list_symbols_with(
    names: &GeneratedNames,
    language: Language,
    element: Element<'_>,
) -> Vec<GeneratedSymbol> {
    let generator = language.generator();
    let unit = generator.unit(element);
    collect_emitted(generator, names, element, &unit, FileFlags::of(generator, element.file()))
}

/// The symbols of generated code for a whole file: what users import, and what only
/// depends on options of the file. Includes the symbols that a public import passes
/// on.
pub fn list_symbols_of_file(language: Language, file: File<'_>) -> Vec<GeneratedSymbol> {
    let generator = language.generator();
    let names = GeneratedNames::default();
    let mut emit = Emitter::new(file.tree, &names, &generator.file_unit(file), String::new());
    generator.emit_file(&mut emit, file);
    emit.symbols
}

/// The same of a unit and of options that are known.
pub(super) fn collect_emitted(
    generator: &dyn Generator,
    names: &GeneratedNames,
    element: Element<'_>,
    unit: &Unit,
    flags: FileFlags,
) -> Vec<GeneratedSymbol> {
    let hidden = match element {
        Element::Message(message) => message.is_map_entry(),
        Element::Oneof(oneof) => oneof.is_synthetic(),
        Element::Field(field) => {
            !field.is_extension() && field.parent().is_some_and(Message::is_map_entry)
        }
        _ => false,
    };
    if hidden {
        return Vec::new();
    }
    let parent = find_enclosing_message(element).map(|message| generator.type_path(message));
    let mut emit = Emitter::new(element.file().tree, names, unit, parent.unwrap_or_default());
    generator.emit_element(&mut emit, element, flags);
    emit.symbols
}
