//! The features of every element of a file.

use abide_syntax::FieldLabel;

use crate::decl::{EnumDecl, FieldDecl, FileDecl, MessageKind, Parent, RawOptions, TypeDecl};
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

/// The features of everything in a file, by index.
#[derive(Clone)]
pub(super) struct FileFeatures {
    pub(super) file: Features,
    pub(super) messages: Vec<Features>,
    pub(super) enums: Vec<Features>,
    pub(super) fields: Vec<Features>,
}

impl FileFeatures {
    /// The features that a file was linked with.
    pub(super) fn of(file: &LinkedFile) -> FileFeatures {
        FileFeatures {
            file: file.features,
            messages: file.messages.iter().map(|it| it.features).collect(),
            enums: file.enums.iter().map(|it| it.features).collect(),
            fields: file.fields.iter().map(|it| it.features).collect(),
        }
    }
}

/// Resolves the features of every element of a file, from the defaults of its edition.
pub(crate) fn resolve(file: &mut LinkedFile) {
    let defaults = match file.decl.ast() {
        Some(_) => Features::from_edition(file.decl.edition),
        None => Features::without_source(file.decl.edition),
    };
    let found = resolve_from(&file.decl, defaults);
    file.features = found.file;
    for (message, features) in file.messages.iter_mut().zip(found.messages) {
        message.features = features;
    }
    for (item, features) in file.enums.iter_mut().zip(found.enums) {
        item.features = features;
    }
    for (field, features) in file.fields.iter_mut().zip(found.fields) {
        field.features = features;
    }
}

/// Resolves the features of every element of a file: the defaults, then what encloses the element,
/// then its own options. Syntax that editions replaced by features (`required`, groups, `packed`,
/// `optional` in proto3) sets the same features. Source: "Protobuf Editions: feature resolution" and
/// `InferLegacyProtoFeatures` of protobuf.
pub(super) fn resolve_from(decl: &FileDecl, defaults: Features) -> FileFeatures {
    let of_file = defaults.with(decl, decl.options, options::FEATURES_OF_FILE);
    // Messages stand behind those that enclose them.
    let mut messages: Vec<Features> = Vec::with_capacity(decl.messages.len());
    let scope = |messages: &[Features], parent| match parent {
        Parent::File => of_file,
        Parent::Message(index) => messages[index as usize],
    };
    for message in &decl.messages {
        let outer = scope(&messages, message.parent);
        messages.push(outer.with(decl, message.options, options::FEATURES_OF_MESSAGE));
    }
    let resolve_enum = |item: &EnumDecl| {
        scope(&messages, item.parent).with(decl, item.options, options::FEATURES_OF_ENUM)
    };
    let enums = decl.enums.iter().map(resolve_enum).collect();
    let resolve_field = |field: &FieldDecl| {
        let mut features = scope(&messages, field.parent);
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
        features
    };
    let fields = decl.fields.iter().map(resolve_field).collect();
    FileFeatures { file: of_file, messages, enums, fields }
}
