//! `SourceCodeInfo` of a source file, equal to protoc's byte by byte.
//!
//! The locations and their order are those of `Parser` in protobuf's
//! parser.cc: one for each `LocationRecorder`, in the order of their making.
//! The paths of options are those of the interpreted options, as
//! `OptionInterpreter::UpdateSourceCodeInfo` in descriptor.cc rewrites them.

use std::collections::BTreeMap;

use abide_syntax::{
    Ast, CommentBlock, CommentGap, Decl, DeclId, DeclKind, FieldNode, ImportKind, Lexer, LineIndex,
    MapNode, MethodNode, OptionId, RangeEnd, Slice, Span,
};

use super::option_path::OptionPath;
use crate::decl::{Scalar, find_declaration_end};
use crate::protobuf::WireWriter;
use crate::protobuf::descriptor_number::{
    enumeration, field, file, location, message, method, oneof, options, range, service,
    source_info, value,
};

/// Writes the fields of the `SourceCodeInfo` of a file. `option_paths` says
/// what an option sets; where it does not know, the option keeps the place
/// among uninterpreted options that protoc's parser gives it.
pub(crate) fn write(
    text: &[u8],
    ast: &Ast,
    option_paths: &[Option<OptionPath>],
    writer: &mut WireWriter,
) {
    // Kept only as long as it is used: trees may have thousands of files.
    let lines = LineIndex::new(text);
    let first = ast.decls.first().map_or(0, |decl| decl.gap);
    let start = CommentGap::read_at_start(text, first);
    let mut recorder = LocationRecorder {
        text,
        ast,
        positions: PositionFinder::new(text, &lines),
        path: WireWriter::default(),
        leading: start.leading,
        detached: start.detached,
        option_paths,
        writer,
    };
    recorder.record_file();
}

/// Columns as protoc counts them, also in very long lines.
struct PositionFinder<'a> {
    lines: &'a LineIndex,
    /// The offset of each tab and the column behind it.
    tabs: Vec<(u32, u32)>,
    /// The line of the last offset; the next is seldom far from it.
    line: u32,
}

impl<'a> PositionFinder<'a> {
    fn new(text: &[u8], lines: &'a LineIndex) -> PositionFinder<'a> {
        let mut positions = PositionFinder { lines, tabs: Vec::new(), line: 0 };
        for at in memchr::memchr_iter(b'\t', text) {
            let (_, column) = positions.resolve(at as u32);
            positions.tabs.push((at as u32, (column / 8 + 1) * 8));
        }
        positions
    }

    /// Line and column of an offset, from 0; a tab moves to the next multiple
    /// of 8. Source: `Tokenizer::NextChar`.
    fn resolve(&mut self, offset: u32) -> (u32, u32) {
        let line = self.lines.line_near(self.line, offset);
        self.line = line;
        let start = self.lines.line_start(line).unwrap_or(0);
        let before = self.tabs.partition_point(|&(tab, _)| tab < offset);
        let column = match before.checked_sub(1).map(|last| self.tabs[last]) {
            Some((tab, column)) if tab >= start => column + (offset - tab - 1),
            _ => offset - start,
        };
        (line, column)
    }
}

/// The elements of a scope that are counted on their own.
#[derive(Clone, Copy)]
enum PathKind {
    Field,
    Extension,
    Message,
    Enum,
    Service,
    Oneof,
    Value,
    Method,
    ExtensionRange,
    ReservedRange,
    ReservedName,
    Option,
    Import,
    PublicImport,
    WeakImport,
    OptionImport,
}

/// The count of elements of each kind in a scope, so far.
#[derive(Default)]
struct PathScope {
    counts: [u32; PathKind::OptionImport as usize + 1],
    /// The count of values of each repeated option, by its path.
    repeated: BTreeMap<Vec<u32>, u32>,
    /// True if no option of it is in the descriptor.
    options_stripped: bool,
}

impl PathScope {
    fn next(&mut self, kind: PathKind) -> u32 {
        let count = &mut self.counts[kind as usize];
        *count += 1;
        *count - 1
    }
}

/// The numbers that differ between the two scopes that hold messages.
struct ScopeNumbers {
    message: u32,
    enumeration: u32,
    extension: u32,
}

const IN_FILE: ScopeNumbers =
    ScopeNumbers { message: file::MESSAGE, enumeration: file::ENUM, extension: file::EXTENSION };
const IN_MESSAGE: ScopeNumbers = ScopeNumbers {
    message: message::NESTED,
    enumeration: message::ENUM,
    extension: message::EXTENSION,
};

struct LocationRecorder<'a> {
    text: &'a [u8],
    ast: &'a Ast,
    positions: PositionFinder<'a>,
    /// The path of the current element, serialised.
    path: WireWriter,
    /// The comment that belongs to the next declaration.
    leading: Option<CommentBlock>,
    /// The comments that stand before it on their own.
    detached: Vec<CommentBlock>,
    /// By the ids of the options.
    option_paths: &'a [Option<OptionPath>],
    writer: &'a mut WireWriter,
}

impl<'a> LocationRecorder<'a> {
    fn open_scope(&self, id: Option<DeclId>) -> PathScope {
        let options: Vec<OptionId> = self
            .ast
            .children_of(id)
            .filter_map(|id| match self.decl(id).kind {
                DeclKind::Option(option) => Some(option),
                _ => None,
            })
            .collect();
        PathScope { options_stripped: self.are_stripped(options), ..PathScope::default() }
    }

    /// Returns true if none of these options is in the descriptor; then the element
    /// has no options there. Source: `StripSourceRetentionOptions` in
    /// protobuf's retention.cc.
    fn are_stripped(&self, options: impl IntoIterator<Item = OptionId>) -> bool {
        options.into_iter().all(|option| {
            let path = self.option_path(option);
            path.is_some_and(|path| path.source_only == Some(0))
        })
    }

    fn decl(&self, id: DeclId) -> &'a Decl {
        &self.ast.decls[id as usize]
    }

    fn option_path(&self, id: OptionId) -> Option<&'a OptionPath> {
        self.option_paths.get(id as usize)?.as_ref()
    }

    /// Runs `record` with more components on the path.
    fn with_path_below(&mut self, components: &[u32], record: impl FnOnce(&mut Self)) {
        let length = self.path.as_bytes().len();
        components.iter().for_each(|&number| self.path.write_raw_varint(number.into()));
        record(self);
        self.path.truncate(length);
    }

    /// A location at the current path.
    fn record_at_path(&mut self, span: Span) {
        self.write_location(span, None, None, &[]);
    }

    /// A location below the current path.
    fn record_part(&mut self, components: &[u32], span: Span) {
        self.with_path_below(components, |recorder| recorder.record_at_path(span));
    }

    /// The location of a declaration whose comments end behind `end`.
    fn record_declaration(&mut self, span: Span, end: u32) {
        let CommentGap { trailing, detached, leading } = CommentGap::read_after(self.text, end);
        let leading = std::mem::replace(&mut self.leading, leading);
        let detached = std::mem::replace(&mut self.detached, detached);
        self.write_location(span, leading, trailing, &detached);
    }

    /// Passes the end of a block: comments before it belong to nothing.
    fn close(&mut self, end: u32) {
        let gap = CommentGap::read_after(self.text, end);
        self.leading = gap.leading;
        self.detached = gap.detached;
    }

    /// Passes a lone semicolon: detached comments around it add up.
    fn skip_empty_statement(&mut self, end: u32) {
        let gap = CommentGap::read_after(self.text, end);
        self.leading = gap.leading;
        self.detached.extend(gap.detached);
    }

    fn write_location(
        &mut self,
        span: Span,
        leading: Option<CommentBlock>,
        trailing: Option<CommentBlock>,
        detached: &[CommentBlock],
    ) {
        let (start_line, start_column) = self.positions.resolve(span.start);
        let (end_line, end_column) = self.positions.resolve(span.end);
        self.writer.write_message(source_info::LOCATION, |writer| {
            let path = self.path.as_bytes();
            if !path.is_empty() {
                writer.write_bytes(location::PATH, path);
            }
            writer.write_message(location::SPAN, |writer| {
                writer.write_raw_varint(start_line.into());
                writer.write_raw_varint(start_column.into());
                if end_line != start_line {
                    writer.write_raw_varint(end_line.into());
                }
                writer.write_raw_varint(end_column.into());
            });
            for (number, run) in [(location::LEADING, leading), (location::TRAILING, trailing)] {
                // protoc does not tell an empty comment from none here.
                if let Some(run) = run.filter(|run| !run.is_empty(self.text)) {
                    write_comment(writer, number, run, self.text);
                }
            }
            for &run in detached {
                write_comment(writer, location::DETACHED, run, self.text);
            }
        });
    }

    fn record_file(&mut self) {
        let ast = self.ast;
        // Without a token the location begins at the end and ends at the start.
        let span = if ast.span.is_empty() { Span::new(ast.end, 0) } else { ast.span };
        self.record_at_path(span);
        let mut scope = self.open_scope(None);
        for id in ast.children_of(None) {
            let decl = self.decl(id);
            match decl.kind {
                // An edition has the path of the syntax, too.
                DeclKind::Syntax { .. } => self.record_statement(&[file::SYNTAX], decl),
                DeclKind::Package { .. } => self.record_statement(&[file::PACKAGE], decl),
                DeclKind::Import { kind, modifier, .. } => {
                    self.import(&mut scope, decl, kind, modifier);
                }
                DeclKind::Service { name, body } => {
                    let index = scope.next(PathKind::Service);
                    self.with_path_below(&[file::SERVICE, index], |recorder| {
                        recorder.record_service(id, name, body);
                    });
                }
                _ => self.record_member(&mut scope, &IN_FILE, id, file::OPTIONS),
            }
        }
    }

    fn record_statement(&mut self, path: &[u32], decl: &Decl) {
        self.with_path_below(path, |recorder| {
            recorder.record_declaration(decl.span, find_declaration_end(recorder.ast, decl));
        });
    }

    fn import(&mut self, scope: &mut PathScope, decl: &Decl, kind: ImportKind, modifier: Span) {
        if kind == ImportKind::Option {
            let index = scope.next(PathKind::OptionImport);
            return self.record_statement(&[file::OPTION_DEPENDENCY, index], decl);
        }
        let index = scope.next(PathKind::Import);
        self.record_statement(&[file::DEPENDENCY, index], decl);
        let (number, kind) = match kind {
            ImportKind::Public => (file::PUBLIC_DEPENDENCY, PathKind::PublicImport),
            ImportKind::Weak => (file::WEAK_DEPENDENCY, PathKind::WeakImport),
            ImportKind::Plain | ImportKind::Option => return,
        };
        let index = scope.next(kind);
        self.record_part(&[number, index], modifier);
    }

    /// Records a member of a block: statements allowed in any block, and those of messages.
    fn record_member(
        &mut self,
        scope: &mut PathScope,
        numbers: &ScopeNumbers,
        id: DeclId,
        options: u32,
    ) {
        let decl = self.decl(id);
        match decl.kind {
            DeclKind::Option(option) => self.record_option_statement(scope, option, decl, options),
            DeclKind::Message { name, body, visibility } => {
                let path = [numbers.message, scope.next(PathKind::Message)];
                let span = without_visibility(self.text, decl.span, visibility.map(|it| it.1));
                self.with_path_below(&path, |recorder| {
                    recorder.record_declaration(span, body.start + 1);
                    recorder.record_part(&[message::NAME], name);
                    recorder.record_message_body(id, body);
                });
            }
            DeclKind::Enum { name, body, visibility } => {
                let path = [numbers.enumeration, scope.next(PathKind::Enum)];
                let span = without_visibility(self.text, decl.span, visibility.map(|it| it.1));
                self.with_path_below(&path, |recorder| {
                    recorder.record_declaration(span, body.start + 1);
                    recorder.record_part(&[enumeration::NAME], name);
                    recorder.record_enum_body(id, body);
                });
            }
            DeclKind::Extend { extendee, body } => {
                self.extend(scope, numbers, id, extendee, body);
            }
            DeclKind::Oneof { name, body } => {
                let path = [message::ONEOF, scope.next(PathKind::Oneof)];
                let mut inner = self.open_scope(Some(id));
                self.with_path_below(&path, |recorder| {
                    recorder.record_declaration(decl.span, body.start + 1);
                    recorder.record_part(&[oneof::NAME], name);
                });
                for id in self.ast.children_of(Some(id)) {
                    let decl = self.decl(id);
                    match decl.kind {
                        DeclKind::Option(option) => self.with_path_below(&path, |recorder| {
                            recorder.record_option_statement(
                                &mut inner,
                                option,
                                decl,
                                oneof::OPTIONS,
                            );
                        }),
                        _ => self.record_member(scope, numbers, id, oneof::OPTIONS),
                    }
                }
                self.close(body.end);
            }
            DeclKind::Field(_) | DeclKind::MapField(_) => {
                let path = [message::FIELD, scope.next(PathKind::Field)];
                self.record_field(scope, numbers, &path, id, None);
            }
            DeclKind::Extensions { ranges, options } => {
                self.record_extension_ranges(scope, decl, ranges, options);
            }
            DeclKind::ReservedNumbers { ranges } => {
                self.record_reserved_numbers(scope, message::RESERVED_RANGE, decl, ranges);
            }
            DeclKind::ReservedNames { names, .. } => {
                self.record_reserved_names(scope, message::RESERVED_NAME, decl, names);
            }
            DeclKind::Empty => self.skip_empty_statement(decl.span.end),
            DeclKind::Syntax { .. }
            | DeclKind::Package { .. }
            | DeclKind::Import { .. }
            | DeclKind::Service { .. }
            | DeclKind::EnumValue { .. }
            | DeclKind::Method(_)
            | DeclKind::Error => self.close(decl.span.end),
        }
    }

    fn record_message_body(&mut self, id: DeclId, body: Span) {
        let mut scope = self.open_scope(Some(id));
        for id in self.ast.children_of(Some(id)) {
            self.record_member(&mut scope, &IN_MESSAGE, id, message::OPTIONS);
        }
        self.close(body.end);
    }

    fn record_enum_body(&mut self, id: DeclId, body: Span) {
        let mut scope = self.open_scope(Some(id));
        for id in self.ast.children_of(Some(id)) {
            let decl = self.decl(id);
            match decl.kind {
                DeclKind::EnumValue { name, number, options } => {
                    let path = [enumeration::VALUE, scope.next(PathKind::Value)];
                    self.with_path_below(&path, |recorder| {
                        recorder.record_declaration(
                            decl.span,
                            find_declaration_end(recorder.ast, decl),
                        );
                        recorder.record_part(&[value::NAME], name);
                        recorder.record_part(&[value::NUMBER], number);
                        recorder.record_option_list(options, number.end, value::OPTIONS);
                    });
                }
                DeclKind::ReservedNumbers { ranges } => {
                    self.record_reserved_numbers(
                        &mut scope,
                        enumeration::RESERVED_RANGE,
                        decl,
                        ranges,
                    );
                }
                DeclKind::ReservedNames { names, .. } => {
                    self.record_reserved_names(&mut scope, enumeration::RESERVED_NAME, decl, names);
                }
                _ => self.record_member(&mut scope, &IN_MESSAGE, id, enumeration::OPTIONS),
            }
        }
        self.close(body.end);
    }

    fn record_service(&mut self, id: DeclId, name: Span, body: Span) {
        self.record_declaration(self.decl(id).span, body.start + 1);
        self.record_part(&[service::NAME], name);
        let mut scope = self.open_scope(Some(id));
        for id in self.ast.children_of(Some(id)) {
            match self.decl(id).kind {
                DeclKind::Method(method) => {
                    let path = [service::METHOD, scope.next(PathKind::Method)];
                    let node = self.ast.methods[method as usize];
                    self.with_path_below(&path, |recorder| recorder.record_method(id, node));
                }
                _ => self.record_member(&mut scope, &IN_MESSAGE, id, service::OPTIONS),
            }
        }
        self.close(body.end);
    }

    fn record_method(&mut self, id: DeclId, node: MethodNode) {
        let decl = self.decl(id);
        self.record_declaration(decl.span, find_declaration_end(self.ast, decl));
        self.record_part(&[method::NAME], node.name);
        if let Some(stream) = node.client_streaming {
            self.record_part(&[method::CLIENT_STREAMING], stream);
        }
        self.record_part(&[method::INPUT], node.input);
        if let Some(stream) = node.server_streaming {
            self.record_part(&[method::SERVER_STREAMING], stream);
        }
        self.record_part(&[method::OUTPUT], node.output);
        if let Some(body) = node.body {
            let mut scope = self.open_scope(Some(id));
            for id in self.ast.children_of(Some(id)) {
                self.record_member(&mut scope, &IN_MESSAGE, id, method::OPTIONS);
            }
            self.close(body.end);
        }
    }

    fn extend(
        &mut self,
        scope: &mut PathScope,
        numbers: &ScopeNumbers,
        id: DeclId,
        extendee: Span,
        body: Span,
    ) {
        self.record_statement(&[numbers.extension], self.decl(id));
        for id in self.ast.children_of(Some(id)) {
            match self.decl(id).kind {
                DeclKind::Field(_) | DeclKind::MapField(_) => {
                    let path = [numbers.extension, scope.next(PathKind::Extension)];
                    self.record_field(scope, numbers, &path, id, Some(extendee));
                }
                _ => self.close(self.decl(id).span.end),
            }
        }
        self.close(body.end);
    }

    /// A field at `path`; a group is a message of the scope as well.
    fn record_field(
        &mut self,
        scope: &mut PathScope,
        numbers: &ScopeNumbers,
        path: &[u32],
        id: DeclId,
        extendee: Option<Span>,
    ) {
        let decl = self.decl(id);
        let group = match decl.kind {
            DeclKind::Field(node) => node.body(decl).map(|body| (node.name, body)),
            // Its entry has a place among the messages, but no location.
            DeclKind::MapField(_) => {
                scope.next(PathKind::Message);
                None
            }
            _ => None,
        };
        self.with_path_below(path, |recorder| {
            // The comments of a group belong to its message.
            match group {
                Some(_) => recorder.record_at_path(decl.span),
                None => {
                    recorder.record_declaration(decl.span, find_declaration_end(recorder.ast, decl))
                }
            }
            if let Some(extendee) = extendee {
                recorder.record_part(&[field::EXTENDEE], extendee);
            }
            match decl.kind {
                DeclKind::Field(FieldNode { label, ty, name, number, options, group }) => {
                    let scalar = Scalar::from_keyword(ty.str(recorder.text)).is_some();
                    let is_type = scalar || group.is_some();
                    let ty = (if is_type { field::TYPE } else { field::TYPE_NAME }, ty);
                    let label = label.map(|label| label.span(decl));
                    recorder.record_field_parts(label, ty, name, number, options);
                }
                DeclKind::MapField(map) => {
                    let MapNode { label, ty, name, number, options, .. } =
                        recorder.ast.maps[map as usize];
                    let label = label.map(|label| label.span(decl));
                    recorder.record_field_parts(
                        label,
                        (field::TYPE_NAME, ty),
                        name,
                        number,
                        options,
                    );
                }
                _ => {}
            }
        });
        let Some((name, body)) = group else { return };
        let index = scope.next(PathKind::Message);
        let message_path = [numbers.message, index];
        // protoc makes the location of the message before that of the field's
        // type name, but their comments are known only behind the `{`.
        self.with_path_below(&message_path, |recorder| {
            recorder.record_declaration(decl.span, body.start + 1);
            recorder.record_part(&[message::NAME], name);
        });
        self.with_path_below(path, |recorder| recorder.record_part(&[field::TYPE_NAME], name));
        self.with_path_below(&message_path, |recorder| recorder.record_message_body(id, body));
    }

    fn record_field_parts(
        &mut self,
        label: Option<Span>,
        (type_number, ty): (u32, Span),
        name: Span,
        number: Span,
        options: Slice,
    ) {
        if let Some(label) = label {
            self.record_part(&[field::LABEL], label);
        }
        self.record_part(&[type_number], ty);
        self.record_part(&[field::NAME], name);
        self.record_part(&[field::NUMBER], number);
        self.record_option_list(options, number.end, field::OPTIONS);
    }

    fn record_extension_ranges(
        &mut self,
        scope: &mut PathScope,
        decl: &Decl,
        ranges: Slice,
        options: Slice,
    ) {
        let before =
            self.ast.ranges[ranges.range()].last().map_or(decl.span.start, |it| it.span.end);
        let mut indices = Vec::new();
        self.with_path_below(&[message::EXTENSION_RANGE], |recorder| {
            recorder.record_declaration(decl.span, find_declaration_end(recorder.ast, decl));
            for range in ranges.range() {
                let index = scope.next(PathKind::ExtensionRange);
                recorder.record_range(index, range);
                indices.push(index);
            }
            for index in indices {
                recorder.with_path_below(&[index], |recorder| {
                    recorder.record_option_list(options, before, range::OPTIONS);
                });
            }
        });
    }

    fn record_reserved_numbers(
        &mut self,
        scope: &mut PathScope,
        number: u32,
        decl: &Decl,
        ranges: Slice,
    ) {
        self.with_path_below(&[number], |recorder| {
            recorder.record_declaration(decl.span, find_declaration_end(recorder.ast, decl));
            for range in ranges.range() {
                let index = scope.next(PathKind::ReservedRange);
                recorder.record_range(index, range);
            }
        });
    }

    fn record_range(&mut self, index: u32, at: usize) {
        let node = self.ast.ranges[at];
        self.with_path_below(&[index], |recorder| {
            recorder.record_at_path(node.span);
            recorder.record_part(&[range::START], node.start);
            let end = match node.end {
                RangeEnd::Number(end) | RangeEnd::Max(end) => end,
                // protoc remembers the first token only, which may be a sign.
                RangeEnd::Single if node.start.of(recorder.text).starts_with(b"-") => {
                    Span::new(node.start.start, node.start.start + 1)
                }
                RangeEnd::Single => node.start,
            };
            recorder.record_part(&[range::END], end);
        });
    }

    fn record_reserved_names(
        &mut self,
        scope: &mut PathScope,
        number: u32,
        decl: &Decl,
        names: Slice,
    ) {
        self.with_path_below(&[number], |recorder| {
            recorder.record_declaration(decl.span, find_declaration_end(recorder.ast, decl));
            for name in &recorder.ast.ranges[names.range()] {
                let index = scope.next(PathKind::ReservedName);
                recorder.record_part(&[index], name.span);
            }
        });
    }

    fn record_option_statement(
        &mut self,
        scope: &mut PathScope,
        option: OptionId,
        decl: &Decl,
        number: u32,
    ) {
        if !scope.options_stripped {
            self.record_part(&[number], decl.span);
        }
        let index = scope.next(PathKind::Option);
        match self.find_option_path(&mut scope.repeated, option, index) {
            Some(path) => {
                self.with_path_below(&[number], |recorder| recorder.record_statement(&path, decl))
            }
            None => self.close(decl.span.end),
        }
    }

    /// Options in brackets, with the two assignments that look like options.
    /// The token before the `[` ends at `before`.
    fn record_option_list(&mut self, list: Slice, before: u32, number: u32) {
        let Some(last) = self.ast.options[list.range()].last() else { return };
        let is_option = |this: &Self, id: OptionId| {
            let name = this.ast.options[id as usize].name.of(this.text);
            number != field::OPTIONS || !matches!(name, b"default" | b"json_name")
        };
        let ids = list.start..list.end;
        let options: Vec<OptionId> = ids.clone().filter(|&id| is_option(self, id)).collect();
        if options.is_empty() || !self.are_stripped(options) {
            let token = |after| Lexer::new(self.text, after).next_token().span;
            self.record_part(&[number], token(before).to(token(last.span.end)));
        }
        let mut repeated = BTreeMap::new();
        let mut index = 0;
        for id in ids {
            let option = self.ast.options[id as usize];
            if is_option(self, id) {
                if let Some(path) = self.find_option_path(&mut repeated, id, index) {
                    self.with_path_below(&[number], |recorder| {
                        recorder.record_part(&path, option.span)
                    });
                }
                index += 1;
                continue;
            }
            let value = self.ast.values[option.value as usize].span;
            if option.name.of(self.text) == b"default" {
                self.record_part(&[field::DEFAULT], value);
            } else {
                self.record_part(&[field::JSON_NAME], option.span);
                self.record_part(&[field::JSON_NAME], value);
            }
        }
    }

    /// The path of an option below the options message; `None` for an option
    /// that is not in the descriptor.
    fn find_option_path(
        &self,
        repeated: &mut BTreeMap<Vec<u32>, u32>,
        option: OptionId,
        index: u32,
    ) -> Option<Vec<u32>> {
        let Some(path) = self.option_path(option) else {
            return Some(vec![options::UNINTERPRETED, index]);
        };
        if path.source_only.is_some() {
            return None;
        }
        let mut numbers = path.numbers.clone();
        if path.repeated {
            let count = repeated.entry(path.numbers.clone()).or_default();
            numbers.push(*count);
            *count += 1;
        }
        Some(numbers)
    }
}

/// The text of a comment.
fn write_comment(writer: &mut WireWriter, number: u32, run: CommentBlock, source: &[u8]) {
    writer.write_message(number, |writer| {
        run.comment_lines(source).for_each(|line| writer.write_raw(line))
    });
}

/// The words `export` and `local` are not part of the location.
fn without_visibility(text: &[u8], span: Span, visibility: Option<Span>) -> Span {
    match visibility {
        Some(word) => {
            let keyword = abide_syntax::Lexer::new(text, word.end).next_token();
            Span::new(keyword.span.start, span.end)
        }
        None => span,
    }
}
