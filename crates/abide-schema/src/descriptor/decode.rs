//! Reads declarations from serialised FileDescriptorProtos.

use std::sync::Arc;

use abide_syntax::{FieldLabel, ImportKind, Slice, Span, Visibility};
use rustc_hash::FxHashMap;

use super::{TYPE_ENUM, TYPE_GROUP, TYPE_MESSAGE};
use crate::decl::{
    DescriptorLocations, EnumDecl, EnumValueDecl, FieldDecl, FieldExtras, FileDecl, FileOrigin,
    FileText, ImportDecl, LocalProblem, LocationKind, MessageDecl, MessageKind, MethodDecl, Name,
    Node, OneofDecl, PackageDecl, Parent, Part, RangeDecl, RawOptions, ReservedNameDecl, Scalar,
    ServiceDecl, StringTable, SyntaxDecl, TypeDecl,
};
use crate::problem::ProblemKind;
use crate::protobuf::descriptor_number::{
    enumeration, field, file, file_set, message, method, oneof, options, range, service,
    value as enum_value,
};
use crate::protobuf::{
    Edition, MAX_DEPTH, WireError, WirePayload, WireReader, WireRecord, default_json_name,
    find_last_varint, list_known_editions,
};
use crate::value::error::DecodeError;

impl FileDecl {
    /// Reads the declarations of the files of a serialised FileDescriptorSet.
    ///
    /// Well-known types, and files that Buf marks as imports, count as
    /// imported. A file that is there twice, as in sets that were joined, is
    /// taken once. Problems of a well-formed file are in [`FileDecl::problems`].
    ///
    /// # Errors
    /// Bytes that are not the wire format, or messages that nest deeper than
    /// 100 levels.
    pub fn from_descriptor_set(bytes: &Arc<[u8]>) -> Result<Vec<FileDecl>, DecodeError> {
        // Names that are not in the set get offsets after its end.
        if bytes.len() > (u32::MAX / 2) as usize {
            let message = "descriptor sets over two gigabytes are not supported".to_owned();
            return Err(DecodeError { offset: 0, message });
        }
        let mut files: Vec<FileDecl> = Vec::new();
        let mut known: FxHashMap<Arc<str>, (usize, Span)> = FxHashMap::default();
        let mut set = WireReader::new(bytes, Span::new(0, bytes.len() as u32));
        while let Some(record) = set.next_record()? {
            let (file_set::FILE, WirePayload::Bytes(span)) = (record.number, record.payload) else {
                continue;
            };
            let file = DescriptorDecoder::new(bytes).decode_file(span)?;
            let (at, first) = *known.entry(Arc::clone(&file.path)).or_insert((files.len(), span));
            if at == files.len()
                || decode_unlinked_extensions(bytes, first)?
                    != decode_unlinked_extensions(bytes, span)?
            {
                files.push(file);
            } else {
                files[at].imported &= file.imported;
            }
        }
        Ok(files)
    }
}

/// The fields of a serialised file that declare something: all but where that stands, and what Buf
/// adds.
fn decode_unlinked_extensions(bytes: &[u8], whole: Span) -> Decoded<Vec<&[u8]>> {
    let mut reader = WireReader::new(bytes, whole);
    let mut fields = Vec::new();
    while let Some(record) = reader.next_record()? {
        if ![file::SOURCE_INFO, buf_extension::NUMBER].contains(&record.number) {
            fields.push(record.span.of(bytes));
        }
    }
    Ok(fields)
}

/// The numbers of the field that Buf's images add to a file, and of its fields.
/// Source: `buf.alpha.image.v1.ImageFile` of Buf.
mod buf_extension {
    pub(super) const NUMBER: u32 = 8042;
    pub(super) const IS_IMPORT: u32 = 1;
    pub(super) const IS_SYNTAX_UNSPECIFIED: u32 = 2;
}

type Decoded<T> = Result<T, WireError>;

struct DescriptorDecoder<'b> {
    bytes: &'b Arc<[u8]>,
    decl: FileDecl,
    locations: DescriptorLocations,
    problems: Vec<(ProblemKind, Node, String)>,
}

/// The scope that encloses elements.
#[derive(Clone, Copy)]
struct DescriptorScope<'n> {
    node: Node,
    parent: Parent,
    /// The full name, empty or with a dot after it.
    prefix: &'n str,
    /// The messages of the scope, by their simple names.
    messages: &'n FxHashMap<&'n [u8], usize>,
}

fn count_u32<T>(items: &[T]) -> u32 {
    items.len() as u32
}

fn as_bytes(record: &WireRecord) -> Option<Span> {
    match record.payload {
        WirePayload::Bytes(span) => Some(span),
        _ => None,
    }
}

fn as_int(record: &WireRecord) -> Option<i32> {
    match record.payload {
        WirePayload::Varint(value) => Some(value as i32),
        _ => None,
    }
}

/// Returns true if this is `[A-Za-z_][A-Za-z0-9_]*`.
fn is_identifier(name: &[u8]) -> bool {
    let letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    name.first().is_some_and(letter)
        && name.iter().all(|byte| letter(byte) || byte.is_ascii_digit())
}

fn is_dotted(name: &[u8]) -> bool {
    name.split(|&byte| byte == b'.').all(is_identifier)
}

impl<'b> DescriptorDecoder<'b> {
    fn new(bytes: &'b Arc<[u8]>) -> DescriptorDecoder<'b> {
        DescriptorDecoder {
            bytes,
            decl: FileDecl::new_empty(
                FileOrigin::Descriptor(Arc::default()),
                StringTable::new(FileText::Bytes(Arc::clone(bytes))),
            ),
            locations: DescriptorLocations::new(Arc::clone(bytes)),
            problems: Vec::new(),
        }
    }

    fn read_records(&self, span: Span) -> Decoded<Vec<WireRecord>> {
        let mut reader = WireReader::new(self.bytes, span);
        let mut records = Vec::new();
        while let Some(record) = reader.next_record()? {
            records.push(record);
        }
        Ok(records)
    }

    fn report(&mut self, node: Node, message: impl Into<String>) {
        self.problems.push((ProblemKind::DescriptorInvalid, node, message.into()));
    }

    fn add(&mut self, parent: Node, kind: LocationKind, number: u32, index: u32) -> Node {
        self.locations.add(parent, kind, number, Some(index))
    }

    /// A name in the file's bytes.
    fn decode_text(&mut self, node: Node, span: Span, is_valid: fn(&[u8]) -> bool) -> Name {
        let text = span.of(self.bytes);
        if !is_valid(text) {
            let text = String::from_utf8_lossy(text).into_owned();
            self.report(node, format!("`{text}` is not a valid name"));
        }
        self.decl.strings.at(span)
    }

    /// The name among the fields of an element: field 1 in all of them.
    fn decode_name(&mut self, node: Node, records: &[WireRecord]) -> Name {
        match find_last_bytes(records, message::NAME) {
            Some(span) => self.decode_text(node, span, is_identifier),
            None => {
                self.report(node, "an element has no name");
                Name::default()
            }
        }
    }

    /// A reference to a type, with or without a leading dot.
    fn decode_type_name(&mut self, node: Node, span: Span) -> Name {
        self.decode_text(node, span, |name| is_dotted(name.strip_prefix(b".").unwrap_or(name)))
    }

    fn decode_string(&mut self, node: Node, span: Span) -> Box<str> {
        let text = String::from_utf8_lossy(span.of(self.bytes));
        if let std::borrow::Cow::Owned(_) = text {
            self.report(node, format!("`{text}` is not valid UTF-8"));
        }
        text.into()
    }

    fn decode_options(&mut self, node: Node, records: &[WireRecord], number: u32) -> RawOptions {
        let mut found = records.iter().filter(|it| it.number == number).filter_map(as_bytes);
        let Some(first) = found.next() else { return RawOptions::None };
        if found.next().is_some() {
            self.report(node, "the options are set twice; only the first are used");
        }
        RawOptions::Wire(first)
    }

    fn decode_visibility(
        &mut self,
        node: Node,
        records: &[WireRecord],
        number: u32,
    ) -> Option<Visibility> {
        match find_last_int(records, number).unwrap_or_default() {
            0 => None,
            1 => Some(Visibility::Local),
            2 => Some(Visibility::Export),
            other => {
                self.report(node, format!("unknown visibility {other}"));
                None
            }
        }
    }

    fn decode_file(mut self, span: Span) -> Result<FileDecl, DecodeError> {
        let records = self.read_records(span)?;
        if let Some(span) = find_last_bytes(&records, file::SOURCE_INFO) {
            self.locations.set_source_info(span);
            self.locations.check()?;
        }
        match find_last_bytes(&records, file::NAME) {
            Some(span) => self.decl.path = self.decode_string(Node::NONE, span).into(),
            None => self.report(Node::NONE, "a file has no name"),
        }
        self.decl.display = Arc::clone(&self.decl.path);
        self.decl.imported = crate::find_well_known(&self.decl.path).is_some();
        self.decode_package(&records);
        self.decode_imports(&records)?;
        self.decode_edition(&records);
        self.decode_buf_extension(&records)?;
        self.decl.options = self.decode_options(Node::NONE, &records, file::OPTIONS);

        let mut prefix = match self.decl.package {
            Some(package) => self.decl.str(package.name).to_owned(),
            None => String::new(),
        };
        if !prefix.is_empty() {
            prefix.push('.');
        }
        let (node, parent) = (Node::NONE, Parent::File);
        let nested = self.decode_messages(node, parent, &records, file::MESSAGE)?;
        let scope = DescriptorScope { node, parent, prefix: &prefix, messages: &nested.by_name };
        self.decl.top_messages = nested.slice;
        self.decl.top_extensions =
            self.decode_fields(scope, &records, file::EXTENSION, Slice::default())?;
        self.decl.top_enums = self.decode_enums(scope, &records, file::ENUM)?;
        self.decode_message_bodies(&nested, &prefix, 0)?;
        self.decode_services(&records)?;

        let DescriptorDecoder { mut decl, locations, problems, .. } = self;
        decl.problems = problems
            .into_iter()
            .map(|(kind, node, message)| LocalProblem {
                kind,
                span: locations.span(node, Part::Whole),
                message,
                labels: Vec::new(),
                help: None,
            })
            .collect();
        for range in &mut decl.ranges {
            range.span = locations.span(range.node, Part::Whole);
        }
        decl.origin = FileOrigin::Descriptor(Arc::new(locations));
        decl.parses = !decl.problems.iter().any(|it| it.kind.is_unread());
        if !decl.parses {
            decl.set_aside();
        }
        Ok(decl)
    }

    fn decode_package(&mut self, records: &[WireRecord]) {
        let Some(span) = find_last_bytes(records, file::PACKAGE) else { return };
        let node = self.locations.add(Node::NONE, LocationKind::Statement, file::PACKAGE, None);
        let name = self.decode_text(node, span, is_dotted);
        self.decl.package = Some(PackageDecl { name, node });
    }

    fn decode_imports(&mut self, records: &[WireRecord]) -> Decoded<()> {
        for (number, kind) in
            [(file::DEPENDENCY, ImportKind::Plain), (file::OPTION_DEPENDENCY, ImportKind::Option)]
        {
            let paths = records.iter().filter(|it| it.number == number).filter_map(as_bytes);
            for (index, span) in (0..).zip(paths) {
                let node = self.add(Node::NONE, LocationKind::Statement, number, index);
                let path = self.decode_string(node, span);
                self.decl.imports.push(ImportDecl { path, kind, node });
            }
        }
        for (number, kind) in [
            (file::WEAK_DEPENDENCY, ImportKind::Weak),
            (file::PUBLIC_DEPENDENCY, ImportKind::Public),
        ] {
            for index in self.decode_ints(records, number)? {
                let import = usize::try_from(index)
                    .ok()
                    .and_then(|index| self.decl.imports.get_mut(index))
                    .filter(|import| import.kind != ImportKind::Option);
                match import {
                    Some(import) => import.kind = kind,
                    None => self
                        .report(Node::NONE, format!("there is no import with the index {index}")),
                }
            }
        }
        Ok(())
    }

    /// The values of a repeated field, packed or not.
    fn decode_ints(&self, records: &[WireRecord], number: u32) -> Decoded<Vec<i32>> {
        let mut ints = Vec::new();
        for record in records.iter().filter(|record| record.number == number) {
            match record.payload {
                WirePayload::Varint(value) => ints.push(value as i32),
                WirePayload::Bytes(packed) => {
                    let mut reader = WireReader::new(self.bytes, packed);
                    while let Some(value) = reader.next_varint()? {
                        ints.push(value as i32);
                    }
                }
                _ => {}
            }
        }
        Ok(ints)
    }

    fn decode_edition(&mut self, records: &[WireRecord]) {
        let node = self.locations.add(Node::NONE, LocationKind::Statement, file::SYNTAX, None);
        // A descriptor of proto2 does not record whether there was a statement.
        self.decl.syntax = Some(SyntaxDecl { node });
        let syntax = find_last_bytes(records, file::SYNTAX).map(|span| span.of(self.bytes));
        let edition = find_last_int(records, file::EDITION);
        let unknown = match (syntax, edition) {
            (Some(b"proto3"), _) => {
                self.decl.edition = Edition::Proto3;
                return;
            }
            (None | Some(b"" | b"proto2"), None) => return,
            (Some(b"editions"), Some(number)) => match Edition::from_number(number) {
                Some(edition) => {
                    self.decl.edition = edition;
                    return;
                }
                None => {
                    self.decl.edition = Edition::Unknown(number);
                    // What a descriptor declares does not depend on it, but for features.
                    let known = list_known_editions();
                    let text =
                        format!("features of edition {number} are unknown; known are {known}");
                    self.problems.push((ProblemKind::Warning, node, text));
                    return;
                }
            },
            (Some(b"editions"), None) => {
                self.decl.edition = Edition::NEWEST;
                "the file has no edition".to_owned()
            }
            (syntax, _) => {
                let syntax = String::from_utf8_lossy(syntax.unwrap_or_default());
                format!("unknown syntax `{syntax}`; known are `proto2` and `proto3`")
            }
        };
        self.problems.push((ProblemKind::Edition, node, unknown));
    }

    fn decode_buf_extension(&mut self, records: &[WireRecord]) -> Decoded<()> {
        let Some(span) = find_last_bytes(records, buf_extension::NUMBER) else { return Ok(()) };
        let is_set = |number| {
            find_last_varint(self.bytes, span, number).map(|value| value.is_some_and(|it| it != 0))
        };
        let (is_import, no_syntax) =
            (is_set(buf_extension::IS_IMPORT)?, is_set(buf_extension::IS_SYNTAX_UNSPECIFIED)?);
        self.decl.imported |= is_import;
        if no_syntax {
            self.decl.syntax = None;
        }
        Ok(())
    }

    /// Reserves the messages of a scope, so that they are adjacent.
    fn decode_messages(
        &mut self,
        outer: Node,
        parent: Parent,
        records: &[WireRecord],
        number: u32,
    ) -> Decoded<NestedMessages<'b>> {
        let start = count_u32(&self.decl.messages);
        let mut bodies = Vec::new();
        let mut by_name = FxHashMap::default();
        for (index, record) in (0..).zip(records.iter().filter(|it| it.number == number)) {
            let Some(span) = as_bytes(record) else { continue };
            let body = self.read_records(span)?;
            let node = self.add(outer, LocationKind::Named, number, index);
            let name = self.decode_name(node, &body);
            let options = self.decode_options(node, &body, message::OPTIONS);
            let kind = match options {
                RawOptions::Wire(span)
                    if find_last_varint(self.bytes, span, options::MAP_ENTRY).ok().flatten()
                        == Some(1) =>
                {
                    MessageKind::MapEntry
                }
                _ => MessageKind::Plain,
            };
            let visibility = self.decode_visibility(node, &body, message::VISIBILITY);
            by_name.entry(name.0.of(self.bytes)).or_insert(self.decl.messages.len());
            self.decl.messages.push(MessageDecl {
                name,
                node,
                parent,
                kind,
                visibility,
                fields: Slice::default(),
                extensions: Slice::default(),
                oneofs: Slice::default(),
                messages: Slice::default(),
                enums: Slice::default(),
                extension_ranges: Slice::default(),
                reserved_ranges: Slice::default(),
                reserved_names: Slice::default(),
                options,
            });
            bodies.push(body);
        }
        let slice = Slice { start, end: count_u32(&self.decl.messages) };
        Ok(NestedMessages { slice, bodies, by_name })
    }

    fn decode_message_bodies(
        &mut self,
        nested: &NestedMessages<'b>,
        prefix: &str,
        depth: u32,
    ) -> Decoded<()> {
        for (index, body) in (nested.slice.start..).zip(&nested.bodies) {
            let name = self.decl.messages[index as usize].name;
            let prefix = format!("{prefix}{}.", self.decl.str(name));
            self.decode_message_body(index, body, &prefix, depth)?;
        }
        Ok(())
    }

    fn decode_message_body(
        &mut self,
        index: u32,
        records: &[WireRecord],
        prefix: &str,
        depth: u32,
    ) -> Decoded<()> {
        if depth >= MAX_DEPTH {
            let offset = records.first().map_or(0, |record| record.span.start);
            return Err(WireError { offset, message: "messages nest too deep" });
        }
        let node = self.decl.messages[index as usize].node;
        let parent = Parent::Message(index);
        let nested = self.decode_messages(node, parent, records, message::NESTED)?;
        let scope = DescriptorScope { node, parent, prefix, messages: &nested.by_name };
        let oneofs = self.decode_oneofs(node, index, records)?;
        let fields = self.decode_fields(scope, records, message::FIELD, oneofs)?;
        for field in fields.range() {
            if let FieldDecl { oneof: Some(oneof), proto3_optional: true, .. } =
                self.decl.fields[field]
            {
                let oneof = &mut self.decl.oneofs[oneof as usize];
                oneof.synthetic = true;
                oneof.node = Node::NONE;
            }
        }
        let extensions =
            self.decode_fields(scope, records, message::EXTENSION, Slice::default())?;
        let enums = self.decode_enums(scope, records, message::ENUM)?;
        let extension_ranges = self.decode_ranges(node, records, message::EXTENSION_RANGE)?;
        let reserved_ranges = self.decode_ranges(node, records, message::RESERVED_RANGE)?;
        let reserved_names = self.decode_reserved_names(node, records, message::RESERVED_NAME);
        let message = &mut self.decl.messages[index as usize];
        message.fields = fields;
        message.extensions = extensions;
        message.oneofs = oneofs;
        message.messages = nested.slice;
        message.enums = enums;
        message.extension_ranges = extension_ranges;
        message.reserved_ranges = reserved_ranges;
        message.reserved_names = reserved_names;
        self.decode_message_bodies(&nested, prefix, depth + 1)
    }

    fn decode_oneofs(
        &mut self,
        outer: Node,
        message: u32,
        records: &[WireRecord],
    ) -> Decoded<Slice> {
        let start = count_u32(&self.decl.oneofs);
        let oneofs = records.iter().filter(|it| it.number == message::ONEOF);
        for (index, span) in (0..).zip(oneofs.filter_map(as_bytes)) {
            let records = self.read_records(span)?;
            let node = self.add(outer, LocationKind::Named, message::ONEOF, index);
            let name = self.decode_name(node, &records);
            let options = self.decode_options(node, &records, oneof::OPTIONS);
            self.decl.oneofs.push(OneofDecl { name, node, message, synthetic: false, options });
        }
        Ok(Slice { start, end: count_u32(&self.decl.oneofs) })
    }

    fn decode_fields(
        &mut self,
        scope: DescriptorScope<'_>,
        records: &[WireRecord],
        number: u32,
        oneofs: Slice,
    ) -> Decoded<Slice> {
        let start = count_u32(&self.decl.fields);
        let fields = records.iter().filter(|it| it.number == number);
        for (index, span) in (0..).zip(fields.filter_map(as_bytes)) {
            let records = self.read_records(span)?;
            let node = self.add(scope.node, LocationKind::Field, number, index);
            let field = self.decode_field(scope, node, &records, oneofs);
            self.decl.fields.push(field);
        }
        Ok(Slice { start, end: count_u32(&self.decl.fields) })
    }

    fn decode_field(
        &mut self,
        scope: DescriptorScope<'_>,
        node: Node,
        records: &[WireRecord],
        oneofs: Slice,
    ) -> FieldDecl {
        let name = self.decode_name(node, records);
        let extendee =
            find_last_bytes(records, field::EXTENDEE).map(|span| self.decode_type_name(node, span));
        let proto3_optional =
            find_last_int(records, field::PROTO3_OPTIONAL).is_some_and(|it| it != 0);
        let oneof = find_last_int(records, field::ONEOF).and_then(|index| {
            let found = u32::try_from(index).ok().and_then(|index| oneofs.start.checked_add(index));
            let found = found.filter(|&index| index < oneofs.end);
            if found.is_none() {
                self.report(node, format!("there is no oneof with the index {index}"));
            }
            found
        });
        let in_entry = match scope.parent {
            Parent::Message(index) => {
                self.decl.messages[index as usize].kind == MessageKind::MapEntry
            }
            Parent::File => false,
        };
        // In descriptors, every singular field has `LABEL_OPTIONAL`.
        let optional = in_entry
            || proto3_optional
            || (self.decl.edition == Edition::Proto2 && oneof.is_none());
        let label = match find_last_int(records, field::LABEL) {
            None | Some(1) => optional.then_some(FieldLabel::Optional),
            Some(2) => Some(FieldLabel::Required),
            Some(3) => Some(FieldLabel::Repeated),
            Some(other) => {
                self.report(node, format!("unknown label {other}"));
                None
            }
        };
        let json_name = find_last_bytes(records, field::JSON_NAME)
            .map(|span| self.decode_string(node, span))
            .filter(|json| **json != default_json_name(self.decl.str(name)));
        let default =
            find_last_bytes(records, field::DEFAULT).map(|span| span.of(self.bytes).into());
        FieldDecl {
            name,
            node,
            number: find_last_int(records, field::NUMBER).unwrap_or_default(),
            label,
            ty: self.decode_field_type(scope, node, records),
            parent: scope.parent,
            oneof,
            proto3_optional,
            extras: FieldExtras::new(extendee, default, json_name),
            options: self.decode_options(node, records, field::OPTIONS),
        }
    }

    fn decode_field_type(
        &mut self,
        scope: DescriptorScope<'_>,
        node: Node,
        records: &[WireRecord],
    ) -> TypeDecl {
        let ty = find_last_int(records, field::TYPE);
        let written = find_last_bytes(records, field::TYPE_NAME);
        if let Some(scalar) = ty.and_then(Scalar::from_number) {
            if written.is_some() {
                self.report(node, "a field of a scalar type also has a type name");
            }
            return TypeDecl::Scalar(scalar);
        }
        if !matches!(ty, None | Some(TYPE_GROUP | TYPE_MESSAGE | TYPE_ENUM)) {
            self.report(node, format!("unknown field type {}", ty.unwrap_or_default()));
        }
        let Some(written) = written else {
            self.report(node, "a field has no type");
            return TypeDecl::Named(Name::default());
        };
        let name = self.decode_type_name(node, written);
        let sibling = self.decl.str(name).strip_prefix('.').and_then(|full| {
            scope.messages.get(full.strip_prefix(scope.prefix)?.as_bytes()).copied()
        });
        match (ty, sibling) {
            (Some(TYPE_GROUP), Some(at)) => {
                self.decl.messages[at].kind = MessageKind::Group;
                TypeDecl::GroupNamed(name)
            }
            (Some(TYPE_GROUP), None) => TypeDecl::GroupNamed(name),
            (_, Some(at))
                if self.decl.messages[at].kind == MessageKind::MapEntry
                    && find_last_int(records, field::LABEL) == Some(3) =>
            {
                TypeDecl::Map(at as u32)
            }
            _ => TypeDecl::Named(name),
        }
    }

    fn decode_ranges(
        &mut self,
        outer: Node,
        records: &[WireRecord],
        number: u32,
    ) -> Decoded<Slice> {
        let start = count_u32(&self.decl.ranges);
        let ranges = records.iter().filter(|it| it.number == number);
        for (index, span) in (0..).zip(ranges.filter_map(as_bytes)) {
            let records = self.read_records(span)?;
            let node = self.add(outer, LocationKind::Statement, number, index);
            let options = match number {
                message::EXTENSION_RANGE => self.decode_options(node, &records, range::OPTIONS),
                _ => RawOptions::None,
            };
            self.decl.ranges.push(RangeDecl {
                start: find_last_int(&records, range::START).unwrap_or_default(),
                end: find_last_int(&records, range::END).unwrap_or_default(),
                span: Span::default(),
                node,
                options,
            });
        }
        Ok(Slice { start, end: count_u32(&self.decl.ranges) })
    }

    fn decode_reserved_names(&mut self, outer: Node, records: &[WireRecord], number: u32) -> Slice {
        let start = count_u32(&self.decl.reserved_names);
        let names = records.iter().filter(|it| it.number == number);
        for (index, span) in (0..).zip(names.filter_map(as_bytes)) {
            let node = self.add(outer, LocationKind::Statement, number, index);
            let name = self.decode_text(node, span, |name| std::str::from_utf8(name).is_ok());
            let span = self.locations.span(node, Part::Whole);
            self.decl.reserved_names.push(ReservedNameDecl { name, span });
        }
        Slice { start, end: count_u32(&self.decl.reserved_names) }
    }

    fn decode_enums(
        &mut self,
        scope: DescriptorScope<'_>,
        records: &[WireRecord],
        number: u32,
    ) -> Decoded<Slice> {
        let start = count_u32(&self.decl.enums);
        let enums = records.iter().filter(|it| it.number == number);
        for (index, span) in (0..).zip(enums.filter_map(as_bytes)) {
            let records = self.read_records(span)?;
            let node = self.add(scope.node, LocationKind::Named, number, index);
            let name = self.decode_name(node, &records);
            let parent = count_u32(&self.decl.enums);
            let values = self.decode_enum_values(node, parent, &records)?;
            let reserved_ranges =
                self.decode_ranges(node, &records, enumeration::RESERVED_RANGE)?;
            let reserved_names =
                self.decode_reserved_names(node, &records, enumeration::RESERVED_NAME);
            let visibility = self.decode_visibility(node, &records, enumeration::VISIBILITY);
            let options = self.decode_options(node, &records, enumeration::OPTIONS);
            self.decl.enums.push(EnumDecl {
                name,
                node,
                parent: scope.parent,
                visibility,
                values,
                reserved_ranges,
                reserved_names,
                options,
            });
        }
        Ok(Slice { start, end: count_u32(&self.decl.enums) })
    }

    fn decode_enum_values(
        &mut self,
        outer: Node,
        parent: u32,
        records: &[WireRecord],
    ) -> Decoded<Slice> {
        let start = count_u32(&self.decl.values);
        let values = records.iter().filter(|it| it.number == enumeration::VALUE);
        for (index, span) in (0..).zip(values.filter_map(as_bytes)) {
            let records = self.read_records(span)?;
            let node = self.add(outer, LocationKind::EnumValue, enumeration::VALUE, index);
            let name = self.decode_name(node, &records);
            let number = find_last_int(&records, enum_value::NUMBER).unwrap_or_default();
            let options = self.decode_options(node, &records, enum_value::OPTIONS);
            self.decl.values.push(EnumValueDecl { name, node, number, parent, options });
        }
        Ok(Slice { start, end: count_u32(&self.decl.values) })
    }

    fn decode_services(&mut self, records: &[WireRecord]) -> Decoded<()> {
        let services = records.iter().filter(|it| it.number == file::SERVICE);
        for (index, span) in (0..).zip(services.filter_map(as_bytes)) {
            let records = self.read_records(span)?;
            let node = self.add(Node::NONE, LocationKind::Named, file::SERVICE, index);
            let name = self.decode_name(node, &records);
            let methods = self.decode_methods(node, index, &records)?;
            let options = self.decode_options(node, &records, service::OPTIONS);
            self.decl.services.push(ServiceDecl { name, node, methods, options });
        }
        Ok(())
    }

    fn decode_methods(
        &mut self,
        outer: Node,
        service: u32,
        records: &[WireRecord],
    ) -> Decoded<Slice> {
        let start = count_u32(&self.decl.methods);
        let methods = records.iter().filter(|it| it.number == service::METHOD);
        for (index, span) in (0..).zip(methods.filter_map(as_bytes)) {
            let records = self.read_records(span)?;
            let node = self.add(outer, LocationKind::Method, service::METHOD, index);
            let name = self.decode_name(node, &records);
            let mut ty = |number| match find_last_bytes(&records, number) {
                Some(span) => self.decode_type_name(node, span),
                None => {
                    self.report(node, "a method has no request or response type");
                    Name::default()
                }
            };
            let (input, output) = (ty(method::INPUT), ty(method::OUTPUT));
            let streams = |number| find_last_int(&records, number).is_some_and(|it| it != 0);
            let options = self.decode_options(node, &records, method::OPTIONS);
            self.decl.methods.push(MethodDecl {
                name,
                node,
                service,
                input,
                output,
                client_streaming: streams(method::CLIENT_STREAMING),
                server_streaming: streams(method::SERVER_STREAMING),
                options,
            });
        }
        Ok(Slice { start, end: count_u32(&self.decl.methods) })
    }
}

/// The messages of a scope and their fields, not yet read.
struct NestedMessages<'b> {
    slice: Slice,
    bodies: Vec<Vec<WireRecord>>,
    by_name: FxHashMap<&'b [u8], usize>,
}

fn find_last_bytes(records: &[WireRecord], number: u32) -> Option<Span> {
    records.iter().rev().filter(|record| record.number == number).find_map(as_bytes)
}

fn find_last_int(records: &[WireRecord], number: u32) -> Option<i32> {
    records.iter().rev().filter(|record| record.number == number).find_map(as_int)
}
