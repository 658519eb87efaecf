//! Writes files of a tree as serialised FileDescriptorProtos that equal
//! protoc's byte for byte. It writes what `FileDescriptor::CopyTo` of
//! protobuf's descriptor.cc fills in, in the order of field numbers.

use std::convert::Infallible;

use abide_syntax::{FieldLabel, ImportKind, Slice, Visibility};
use rayon::prelude::*;

use super::option_path::collect_option_paths;
use super::source_info;
use super::{TYPE_ENUM, TYPE_GROUP, TYPE_MESSAGE};
use crate::decl::{
    FileOrigin, MessageKind, Node, RangeDecl, RawOptions, ReservedNameDecl, TypeDecl,
};
use crate::dynamic as value;
use crate::ids::FileId;
use crate::protobuf::descriptor_number::{
    enumeration, field, file, file_set, message, method, oneof, options, range, service,
    value as enum_value,
};
use crate::protobuf::{Edition, WireWriter};
use crate::tree::{Enum, Field, File, Message, Method, Oneof, Service, Tree, Type};

/// A file as a serialised FileDescriptorProto, with or without source info.
/// The same bytes as protoc writes, if protoc accepts the file.
pub fn encode_file(tree: &Tree, id: FileId, source_info: bool) -> Vec<u8> {
    let mut writer = WireWriter::default();
    Encoder { tree, file: tree.file(id), writer: &mut writer }.write_file(source_info);
    writer.into_bytes()
}

/// Files as a serialised FileDescriptorSet: each file once, in the order of
/// [`set_files`].
pub fn encode_set(
    tree: &Tree,
    files: &[FileId],
    include_imports: bool,
    source_info: bool,
) -> Vec<u8> {
    let mut set = Vec::new();
    let order = set_files(tree, files, include_imports);
    let written: Result<(), Infallible> = encode_pieces(tree, &order, source_info, |piece| {
        set.extend_from_slice(piece);
        Ok(())
    });
    match written {
        Ok(()) => set,
    }
}

/// Hands a serialised FileDescriptorSet of these files to `write`, piece by
/// piece and in their order. The files of the next pieces are encoded on all
/// threads meanwhile, and the whole set never lies in memory.
///
/// # Errors
/// The first error of `write`, after which it is not called again.
pub fn encode_pieces<E: Send>(
    tree: &Tree,
    files: &[FileId],
    source_info: bool,
    mut write: impl FnMut(&[u8]) -> Result<(), E> + Send,
) -> Result<(), E> {
    /// The number of files encoded at a time, for each thread.
    const FILES: usize = 64;
    /// The number of files in a piece. Few large pieces would leave threads
    /// without work at the end.
    const FILES_IN_PIECE: usize = 4;

    let encode = |files: &[FileId]| -> Vec<Vec<u8>> {
        let piece = |files: &[FileId]| {
            // With source info, a descriptor is a little larger than its text. Room that stays
            // unused was never touched, so it costs nothing.
            let length = |id: &FileId| tree.file(*id).decl().strings.text().len() * 3 / 2;
            let mut writer = WireWriter::with_capacity(files.iter().map(length).sum());
            for &id in files {
                writer.write_message(file_set::FILE, |writer| {
                    Encoder { tree, file: tree.file(id), writer }.write_file(source_info);
                });
            }
            writer.into_bytes()
        };
        files.par_chunks(FILES_IN_PIECE).map(piece).collect()
    };
    let mut ready: Vec<Vec<u8>> = Vec::new();
    for files in files.chunks(FILES * rayon::current_num_threads()) {
        let write_all = || ready.iter().try_for_each(|piece| write(piece));
        let (written, encoded) = rayon::join(write_all, || encode(files));
        written?;
        ready = encoded;
    }
    ready.iter().try_for_each(|piece| write(piece))
}

/// The files of a set made of `files`: each once and after everything it
/// imports, in the order of protoc's `--descriptor_set_out` for files given in
/// this order. Without `include_imports` the set holds nothing else.
pub fn set_files(tree: &Tree, files: &[FileId], include_imports: bool) -> Vec<FileId> {
    // protoc does not follow the imports of a file it leaves out. What such a
    // file imports comes where it is given.
    let mut seen = vec![!include_imports; tree.files().len()];
    files.iter().for_each(|id| seen[id.0 as usize] = false);
    let mut order = Vec::new();
    for &id in files {
        add_with_imports(tree, id, &mut seen, &mut order);
    }
    order
}

/// Imports first, in their order; those for options only come last. Iterative:
/// chains of imports may be long.
fn add_with_imports(tree: &Tree, id: FileId, seen: &mut [bool], order: &mut Vec<FileId>) {
    let imports = |id: FileId| {
        let file = tree.file(id);
        let of_kind = |for_options: bool| {
            file.imports()
                .filter(move |import| (import.decl.kind == ImportKind::Option) == for_options)
                .filter_map(|import| import.file.map(|file| file.id))
        };
        of_kind(false).chain(of_kind(true)).collect::<Vec<_>>().into_iter()
    };
    if std::mem::replace(&mut seen[id.0 as usize], true) {
        return;
    }
    let mut path = vec![(id, imports(id))];
    while let Some((id, pending)) = path.last_mut() {
        match pending.next() {
            Some(import) if !std::mem::replace(&mut seen[import.0 as usize], true) => {
                path.push((import, imports(import)));
            }
            Some(_) => {}
            None => {
                order.push(*id);
                path.pop();
            }
        }
    }
}

struct Encoder<'t, 'w> {
    tree: &'t Tree,
    file: File<'t>,
    writer: &'w mut WireWriter,
}

impl<'t> Encoder<'t, '_> {
    /// A nested message.
    fn write_message(&mut self, number: u32, fill: impl FnOnce(&mut Encoder<'t, '_>)) {
        let Encoder { tree, file, ref mut writer } = *self;
        writer.write_message(number, |writer| fill(&mut Encoder { tree, file, writer }));
    }

    /// A name that is written with a leading dot.
    fn write_type_name(&mut self, number: u32, full_name: &str) {
        self.writer.write_message(number, |writer| {
            writer.write_raw(b".");
            writer.write_raw(full_name.as_bytes());
        });
    }

    fn write_file(&mut self, source_info: bool) {
        let file = self.file;
        let decl = file.decl();
        self.writer.write_bytes(file::NAME, file.path());
        if decl.package.is_some() {
            self.writer.write_bytes(file::PACKAGE, file.package().name());
        }
        let for_options = |kind| kind == ImportKind::Option;
        let (options, imports): (Vec<_>, Vec<_>) =
            decl.imports.iter().partition(|import| for_options(import.kind));
        for import in &imports {
            self.writer.write_bytes(file::DEPENDENCY, &*import.path);
        }
        file.messages().for_each(|it| self.write_message_type(file::MESSAGE, it));
        file.enums().for_each(|it| self.write_enum(file::ENUM, it));
        file.services().for_each(|it| self.write_service(it));
        file.extensions().for_each(|it| self.write_field(file::EXTENSION, it));
        self.write_options(file::OPTIONS, decl.options, file.options());
        if source_info {
            self.write_source_info();
        }
        for (number, kind) in [
            (file::PUBLIC_DEPENDENCY, ImportKind::Public),
            (file::WEAK_DEPENDENCY, ImportKind::Weak),
        ] {
            for (index, _) in (0_i64..).zip(&imports).filter(|(_, import)| import.kind == kind) {
                self.writer.write_int(number, index);
            }
        }
        match decl.edition {
            Edition::Proto2 => {}
            Edition::Proto3 => self.writer.write_bytes(file::SYNTAX, "proto3"),
            Edition::Edition2023
            | Edition::Edition2024
            | Edition::Edition2026
            | Edition::Unknown(_) => {
                self.writer.write_bytes(file::SYNTAX, "editions");
                self.writer.write_int(file::EDITION, decl.edition.number());
            }
        }
        for import in options {
            self.writer.write_bytes(file::OPTION_DEPENDENCY, &*import.path);
        }
    }

    fn write_source_info(&mut self) {
        let decl = self.file.decl();
        match &decl.origin {
            FileOrigin::Source(ast) => self.writer.write_message(file::SOURCE_INFO, |writer| {
                let paths = collect_option_paths(self.file);
                source_info::write(decl.strings.text(), ast, &paths, writer);
            }),
            FileOrigin::Descriptor(locations) => {
                if let Some(span) = locations.serialized_span() {
                    self.writer.write_bytes(file::SOURCE_INFO, span.of(decl.strings.text()));
                }
            }
        }
    }

    fn write_options(
        &mut self,
        number: u32,
        raw: RawOptions,
        interpreted: Option<&value::Message>,
    ) {
        match (raw, interpreted) {
            (RawOptions::Wire(span), _) => {
                self.writer.write_bytes(number, span.of(self.file.decl().strings.text()));
            }
            (RawOptions::Syntax(slice), _) if slice.range().is_empty() => {
                self.writer.write_bytes(number, []);
            }
            (_, Some(options)) => {
                let kept = options.without_source_retention(self.tree);
                if !kept.entries.is_empty() || !kept.unknown.is_empty() {
                    self.writer.write_message(number, |writer| kept.write(self.tree, writer));
                }
            }
            (_, None) => {}
        }
    }

    fn write_message_type(&mut self, number: u32, it: Message<'t>) {
        let decl = it.decl();
        self.write_message(number, |this| {
            this.writer.write_bytes(message::NAME, it.name());
            it.fields().for_each(|field| this.write_field(message::FIELD, field));
            it.messages().for_each(|nested| this.write_message_type(message::NESTED, nested));
            it.enums().for_each(|nested| this.write_enum(message::ENUM, nested));
            this.write_extension_ranges(it);
            it.extensions().for_each(|field| this.write_field(message::EXTENSION, field));
            match (decl.kind, decl.node) {
                // A synthesised entry has no options in the source.
                (MessageKind::MapEntry, Node::NONE) => {
                    this.writer.write_message(message::OPTIONS, |writer| {
                        writer.write_varint(options::MAP_ENTRY, 1)
                    });
                }
                _ => this.write_options(message::OPTIONS, decl.options, it.options()),
            }
            it.oneofs().for_each(|oneof| this.write_oneof(oneof));
            this.write_reserved_ranges(message::RESERVED_RANGE, it.reserved_ranges());
            this.write_reserved_names(message::RESERVED_NAME, it.reserved_names());
            this.write_visibility(message::VISIBILITY, decl.visibility);
        });
    }

    fn write_field(&mut self, number: u32, it: Field<'t>) {
        let decl = it.decl();
        self.write_message(number, |this| {
            this.writer.write_bytes(field::NAME, it.name());
            if let Some(written) = decl.extendee() {
                match it.extendee() {
                    Some(extendee) => this.write_type_name(field::EXTENDEE, &extendee.full_name()),
                    None => this.writer.write_bytes(field::EXTENDEE, it.file().decl().str(written)),
                }
            }
            this.writer.write_int(field::NUMBER, decl.number);
            let label = match decl.label {
                None | Some(FieldLabel::Optional) => 1,
                Some(FieldLabel::Required) => 2,
                Some(FieldLabel::Repeated) => 3,
            };
            this.writer.write_int(field::LABEL, label);
            this.write_field_type(it);
            if let Some(default) = decl.default() {
                this.writer.write_bytes(field::DEFAULT, default);
            }
            this.write_options(field::OPTIONS, decl.options, it.options());
            if let (Some(oneof), Some(parent)) = (decl.oneof, it.parent()) {
                this.writer.write_int(field::ONEOF, oneof - parent.decl().oneofs.start);
            }
            this.writer.write_bytes(field::JSON_NAME, it.json_name());
            if decl.proto3_optional {
                this.writer.write_varint(field::PROTO3_OPTIONAL, 1);
            }
        });
    }

    fn write_field_type(&mut self, it: Field<'t>) {
        let written = it.decl().ty;
        match it.ty() {
            Type::Scalar(scalar) => self.writer.write_int(field::TYPE, scalar.number()),
            Type::Message(id) => {
                let group = matches!(written, TypeDecl::Group(_) | TypeDecl::GroupNamed(_));
                self.writer.write_int(field::TYPE, if group { TYPE_GROUP } else { TYPE_MESSAGE });
                self.write_type_name(field::TYPE_NAME, &self.tree.message(id).full_name());
            }
            Type::Enum(id) => {
                self.writer.write_int(field::TYPE, TYPE_ENUM);
                self.write_type_name(field::TYPE_NAME, &self.tree.enumeration(id).full_name());
            }
            Type::Unresolved => {
                if let TypeDecl::Named(name) | TypeDecl::GroupNamed(name) = written {
                    self.writer.write_bytes(field::TYPE_NAME, self.file.decl().str(name));
                }
            }
        }
    }

    fn write_oneof(&mut self, it: Oneof<'t>) {
        self.write_message(message::ONEOF, |this| {
            this.writer.write_bytes(oneof::NAME, it.name());
            this.write_options(oneof::OPTIONS, it.decl().options, it.options());
        });
    }

    fn write_extension_ranges(&mut self, it: Message<'t>) {
        let Slice { start, end } = it.decl().extension_ranges;
        let options = &self.tree.linked(self.file.id).ranges;
        for (decl, options) in
            self.file.decl().ranges.iter().zip(options).take(end as usize).skip(start as usize)
        {
            self.write_message(message::EXTENSION_RANGE, |this| {
                this.writer.write_int(range::START, decl.start);
                this.writer.write_int(range::END, decl.end);
                this.write_options(range::OPTIONS, decl.options, options.as_deref());
            });
        }
    }

    fn write_reserved_ranges(&mut self, number: u32, ranges: &[RangeDecl]) {
        for decl in ranges {
            self.writer.write_message(number, |writer| {
                writer.write_int(range::START, decl.start);
                writer.write_int(range::END, decl.end);
            });
        }
    }

    fn write_reserved_names(&mut self, number: u32, names: &[ReservedNameDecl]) {
        for decl in names {
            self.writer.write_bytes(number, self.file.decl().str(decl.name));
        }
    }

    fn write_visibility(&mut self, number: u32, visibility: Option<Visibility>) {
        match visibility {
            None => {}
            Some(Visibility::Local) => self.writer.write_int(number, 1),
            Some(Visibility::Export) => self.writer.write_int(number, 2),
        }
    }

    fn write_enum(&mut self, number: u32, it: Enum<'t>) {
        let decl = it.decl();
        self.write_message(number, |this| {
            this.writer.write_bytes(enumeration::NAME, it.name());
            for value in it.values() {
                this.write_message(enumeration::VALUE, |this| {
                    this.writer.write_bytes(enum_value::NAME, value.name());
                    this.writer.write_int(enum_value::NUMBER, value.number());
                    this.write_options(enum_value::OPTIONS, value.decl().options, value.options());
                });
            }
            this.write_options(enumeration::OPTIONS, decl.options, it.options());
            this.write_reserved_ranges(enumeration::RESERVED_RANGE, it.reserved_ranges());
            this.write_reserved_names(enumeration::RESERVED_NAME, it.reserved_names());
            this.write_visibility(enumeration::VISIBILITY, decl.visibility);
        });
    }

    fn write_service(&mut self, it: Service<'t>) {
        self.write_message(file::SERVICE, |this| {
            this.writer.write_bytes(service::NAME, it.name());
            it.methods().for_each(|method| this.write_method(method));
            this.write_options(service::OPTIONS, it.decl().options, it.options());
        });
    }

    fn write_method(&mut self, it: Method<'t>) {
        let decl = it.decl();
        self.write_message(service::METHOD, |this| {
            this.writer.write_bytes(method::NAME, it.name());
            for (number, resolved, written) in [
                (method::INPUT, it.input(), decl.input),
                (method::OUTPUT, it.output(), decl.output),
            ] {
                match resolved {
                    Some(message) => this.write_type_name(number, &message.full_name()),
                    None => this.writer.write_bytes(number, this.file.decl().str(written)),
                }
            }
            this.write_options(method::OPTIONS, decl.options, it.options());
            for (number, streaming) in [
                (method::CLIENT_STREAMING, decl.client_streaming),
                (method::SERVER_STREAMING, decl.server_streaming),
            ] {
                if streaming {
                    this.writer.write_varint(number, 1);
                }
            }
        });
    }
}
