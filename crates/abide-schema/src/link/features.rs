//! The features of every element of a file.

use abide_syntax::FieldLabel;

use crate::decl::{FileDecl, MessageKind, Parent, RawOptions, TypeDecl};
use crate::protobuf::descriptor_number::options;
use crate::protobuf::find_last_varint;
use crate::tree::{Features, LinkedFile, Presence};

/// Returns true if the option `packed` of a field is set to `true` or `false`, read
/// before options are interpreted.
fn find_packed(decl: &FileDecl, raw: RawOptions) -> Option<bool> {
    if let RawOptions::Wire(span) = raw {
        let value = find_last_varint(decl.strings.text(), span, options::PACKED).ok()?;
        return value.map(|value| value != 0);
    }
    find_flag(decl, raw, b"packed")
}

/// Returns true if an option of a field is set to `true` or `false`, read before
/// options are interpreted.
fn find_flag(decl: &FileDecl, options: RawOptions, name: &[u8]) -> Option<bool> {
    let (RawOptions::Syntax(slice), Some(ast)) = (options, decl.ast()) else { return None };
    let text: &[u8] = decl.strings.text();
    decl.option_ids[slice.range()].iter().rev().find_map(|&id| {
        let option = &ast.options[id as usize];
        let value = ast.values[option.value as usize].span;
        (option.name.of(text) == name).then(|| value.of(text) == b"true")
    })
}

/// Resolves the features of every element of a file: the defaults of its
/// edition, then what encloses the element, then its own options. Syntax that
/// editions replaced by features (`required`, groups, `packed`, `optional` in
/// proto3) sets the same features. Source: "Protobuf Editions: feature
/// resolution" and `InferLegacyProtoFeatures` of protobuf.
pub(crate) fn resolve(file: &mut LinkedFile) {
    let decl = std::sync::Arc::clone(&file.decl);
    let decl = &*decl;
    let defaults = match decl.ast() {
        Some(_) => Features::from_edition(decl.edition),
        None => Features::without_source(decl.edition),
    };
    file.features = defaults.with(decl, decl.options, options::FEATURES_OF_FILE);
    let of_file = file.features;
    // Messages stand behind those that enclose them.
    for (index, message) in decl.messages.iter().enumerate() {
        let outer = match message.parent {
            Parent::File => of_file,
            Parent::Message(parent) => file.messages[parent as usize].features,
        };
        file.messages[index].features =
            outer.with(decl, message.options, options::FEATURES_OF_MESSAGE);
    }
    let scope = |file: &LinkedFile, parent| match parent {
        Parent::File => of_file,
        Parent::Message(index) => file.messages[index as usize].features,
    };
    for (index, item) in decl.enums.iter().enumerate() {
        file.enums[index].features =
            scope(file, item.parent).with(decl, item.options, options::FEATURES_OF_ENUM);
    }
    for (index, field) in decl.fields.iter().enumerate() {
        let mut features = scope(file, field.parent);
        if let Some(oneof) = field.oneof {
            features = features.with(
                decl,
                decl.oneofs[oneof as usize].options,
                options::FEATURES_OF_ONEOF,
            );
        }
        features = features.with(decl, field.options, options::FEATURES_OF_FIELD);
        if field.label == Some(FieldLabel::Required) {
            features.presence = Presence::LegacyRequired;
        }
        if field.proto3_optional {
            features.presence = Presence::Explicit;
        }
        match field.ty {
            TypeDecl::Group(_) | TypeDecl::GroupNamed(_) => features.delimited = true,
            TypeDecl::Map(_) => features.delimited = false,
            TypeDecl::Scalar(_) | TypeDecl::Named(_) => {}
        }
        if let Parent::Message(index) = field.parent
            && decl.messages[index as usize].kind == MessageKind::MapEntry
        {
            features.delimited = false;
        }
        if !decl.edition.is_edition()
            && let Some(packed) = find_packed(decl, field.options)
        {
            features.packed = packed;
        }
        file.fields[index].features = features;
    }
}
