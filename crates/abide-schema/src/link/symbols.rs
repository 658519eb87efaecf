//! The names of all files, put into one table.

use std::sync::Arc;

use abide_syntax::Slice;

use crate::decl::FileDecl;
use crate::ids::{EnumId, EnumValueId, FieldId, FileId, MessageId, ServiceId};
use crate::link::symbol::{PackageNode, ScopeTable, Symbol, SymbolTable};
use crate::tree::indices;

/// Adds the top-level names, package by package; returns the package of each file.
pub(super) fn insert_symbols<'a>(
    files: &'a [Arc<FileDecl>],
    symbols: &mut SymbolTable<'a>,
) -> Vec<PackageNode> {
    let nodes: Vec<PackageNode> =
        files.iter().map(|file| symbols.add_package(file.package_name())).collect();
    for ((index, decl), &node) in (0..).zip(files).zip(&nodes) {
        let scope = (decl.top_messages, decl.top_enums, decl.top_extensions);
        visit_symbols(FileId(index), decl, scope, |name, symbol| {
            symbols.insert(node, name, symbol)
        });
        for (at, service) in (0..).zip(&decl.services) {
            let id = ServiceId { file: FileId(index), index: at };
            symbols.insert(node, decl.str(service.name), Symbol::Service(id));
        }
    }
    nodes
}

/// The names that are declared in the messages of a file.
pub(super) fn collect_nested_names(index: usize, decl: &FileDecl) -> ScopeTable<'_> {
    let mut names = ScopeTable::default();
    for (of, message) in (0..).zip(&decl.messages) {
        let scope = (message.messages, message.enums, message.extensions);
        visit_symbols(FileId(index as u32), decl, scope, |name, symbol| {
            names.insert(of, name, symbol);
        });
    }
    names
}

/// Every symbol of a scope with its name.
fn visit_symbols<'a>(
    file: FileId,
    decl: &'a FileDecl,
    (messages, enums, extensions): (Slice, Slice, Slice),
    mut each: impl FnMut(&'a str, Symbol),
) {
    for index in indices(messages) {
        let name = decl.messages[index as usize].name;
        each(decl.str(name), Symbol::Message(MessageId { file, index }));
    }
    for index in indices(enums) {
        each(decl.str(decl.enums[index as usize].name), Symbol::Enum(EnumId { file, index }));
    }
    // In protobuf, an enum value is in the scope of its enum's parent.
    for item in &decl.enums[enums.range()] {
        for index in indices(item.values) {
            let name = decl.values[index as usize].name;
            each(decl.str(name), Symbol::EnumValue(EnumValueId { file, index }));
        }
    }
    for index in indices(extensions) {
        let name = decl.fields[index as usize].name;
        each(decl.str(name), Symbol::Extension(FieldId { file, index }));
    }
}
