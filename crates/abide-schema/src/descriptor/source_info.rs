//! `SourceCodeInfo` of a source file, equal to protoc's byte by byte.
//!
//! The locations and their order are those of `Parser` in protobuf's
//! parser.cc: one for each `LocationRecorder`, in the order of their making.
//! The paths of options are those of the interpreted options, as
//! `OptionInterpreter::UpdateSourceCodeInfo` in descriptor.cc rewrites them.

use std::collections::BTreeMap;

use abide_syntax::{
    Ast, Decl, DeclId, DeclKind, FieldNode, Gap, ImportKind, Lexer, LineIndex, MapNode, MethodNode,
    OptionId, RangeEnd, Run, Slice, Span,
};

use super::option_path::OptionPath;
use crate::decl::{Scalar, end_of_declaration};
use crate::protobuf::Writer;
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
    writer: &mut Writer,
) {
    // Kept only as long as it is used: trees may have thousands of files.
    let lines = LineIndex::new(text);
    let first = ast.decls.first().map_or(0, |decl| decl.gap);
    let start = Gap::at_start(text, first);
    let mut recorder = Recorder {
        text,
        ast,
        positions: Positions::new(text, &lines),
        path: Writer::default(),
        leading: start.leading,
        detached: start.detached,
        option_paths,
        writer,
    };
    recorder.file();
}

/// Columns as protoc counts them, also in very long lines.
struct Positions<'a> {
    lines: &'a LineIndex,
    /// The offset of each tab and the column behind it.
    tabs: Vec<(u32, u32)>,
    /// The line of the last offset; the next is seldom far from it.
    line: u32,
}

impl<'a> Positions<'a> {
    fn new(text: &[u8], lines: &'a LineIndex) -> Positions<'a> {
        let mut positions = Positions { lines, tabs: Vec::new(), line: 0 };
        for at in memchr::memchr_iter(b'\t', text) {
            let (_, column) = positions.of(at as u32);
            positions.tabs.push((at as u32, (column / 8 + 1) * 8));
        }
        positions
    }

    /// Line and column of an offset, from 0; a tab moves to the next multiple
    /// of 8. Source: `Tokenizer::NextChar`.
    fn of(&mut self, offset: u32) -> (u32, u32) {
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

/// How many elements of each kind a scope has so far.
#[derive(Default)]
struct PathScope {
    counts: [u32; PathKind::OptionImport as usize + 1],
    /// How many values each repeated option has, by its path.
    repeated: BTreeMap<Vec<u32>, u32>,
    /// Whether no option of it is in the descriptor.
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
struct Numbers {
    message: u32,
    enumeration: u32,
    extension: u32,
}

const IN_FILE: Numbers =
    Numbers { message: file::MESSAGE, enumeration: file::ENUM, extension: file::EXTENSION };
const IN_MESSAGE: Numbers =
    Numbers { message: message::NESTED, enumeration: message::ENUM, extension: message::EXTENSION };

struct Recorder<'a> {
    text: &'a [u8],
    ast: &'a Ast,
    positions: Positions<'a>,
    /// The path of the current element, serialised.
    path: Writer,
    /// The comment that belongs to the next declaration.
    leading: Option<Run>,
    /// The comments that stand before it on their own.
    detached: Vec<Run>,
    /// By the ids of the options.
    option_paths: &'a [Option<OptionPath>],
    writer: &'a mut Writer,
}

impl<'a> Recorder<'a> {
    fn scope(&self, id: Option<DeclId>) -> PathScope {
        let options: Vec<OptionId> = self
            .ast
            .children(id)
            .filter_map(|id| match self.decl(id).kind {
                DeclKind::Option(option) => Some(option),
                _ => None,
            })
            .collect();
        PathScope { options_stripped: self.are_stripped(options), ..PathScope::default() }
    }

    /// Whether none of these options is in the descriptor; then the element
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
    fn below(&mut self, components: &[u32], record: impl FnOnce(&mut Self)) {
        let length = self.path.as_bytes().len();
        components.iter().for_each(|&number| self.path.raw_varint(number.into()));
        record(self);
        self.path.truncate(length);
    }

    /// A location at the current path.
    fn here(&mut self, span: Span) {
        self.location(span, None, None, &[]);
    }

    /// A location below the current path.
    fn part(&mut self, components: &[u32], span: Span) {
        self.below(components, |recorder| recorder.here(span));
    }

    /// The location of a declaration whose comments end behind `end`.
    fn declaration(&mut self, span: Span, end: u32) {
        let Gap { trailing, detached, leading } = Gap::after(self.text, end);
        let leading = std::mem::replace(&mut self.leading, leading);
        let detached = std::mem::replace(&mut self.detached, detached);
        self.location(span, leading, trailing, &detached);
    }

    /// Passes the end of a block: comments before it belong to nothing.
    fn close(&mut self, end: u32) {
        let gap = Gap::after(self.text, end);
        self.leading = gap.leading;
        self.detached = gap.detached;
    }

    /// Passes a lone semicolon: detached comments around it add up.
    fn empty(&mut self, end: u32) {
        let gap = Gap::after(self.text, end);
        self.leading = gap.leading;
        self.detached.extend(gap.detached);
    }

    fn location(
        &mut self,
        span: Span,
        leading: Option<Run>,
        trailing: Option<Run>,
        detached: &[Run],
    ) {
        let (start_line, start_column) = self.positions.of(span.start);
        let (end_line, end_column) = self.positions.of(span.end);
        self.writer.message(source_info::LOCATION, |writer| {
            let path = self.path.as_bytes();
            if !path.is_empty() {
                writer.bytes(location::PATH, path);
            }
            writer.message(location::SPAN, |writer| {
                writer.raw_varint(start_line.into());
                writer.raw_varint(start_column.into());
                if end_line != start_line {
                    writer.raw_varint(end_line.into());
                }
                writer.raw_varint(end_column.into());
            });
            for (number, run) in [(location::LEADING, leading), (location::TRAILING, trailing)] {
                // protoc does not tell an empty comment from none here.
                if let Some(run) = run.filter(|run| !run.is_empty(self.text)) {
                    comment(writer, number, run, self.text);
                }
            }
            for &run in detached {
                comment(writer, location::DETACHED, run, self.text);
            }
        });
    }

    fn file(&mut self) {
        let ast = self.ast;
        // Without a token the location begins at the end and ends at the start.
        let span = if ast.span.is_empty() { Span::new(ast.end, 0) } else { ast.span };
        self.here(span);
        let mut scope = self.scope(None);
        for id in ast.children(None) {
            let decl = self.decl(id);
            match decl.kind {
                // An edition has the path of the syntax, too.
                DeclKind::Syntax { .. } => self.statement(&[file::SYNTAX], decl),
                DeclKind::Package { .. } => self.statement(&[file::PACKAGE], decl),
                DeclKind::Import { kind, modifier, .. } => {
                    self.import(&mut scope, decl, kind, modifier);
                }
                DeclKind::Service { name, body } => {
                    let index = scope.next(PathKind::Service);
                    self.below(&[file::SERVICE, index], |recorder| {
                        recorder.service(id, name, body);
                    });
                }
                _ => self.member(&mut scope, &IN_FILE, id, file::OPTIONS),
            }
        }
    }

    fn statement(&mut self, path: &[u32], decl: &Decl) {
        self.below(path, |recorder| {
            recorder.declaration(decl.span, end_of_declaration(recorder.ast, decl));
        });
    }

    fn import(&mut self, scope: &mut PathScope, decl: &Decl, kind: ImportKind, modifier: Span) {
        if kind == ImportKind::Option {
            let index = scope.next(PathKind::OptionImport);
            return self.statement(&[file::OPTION_DEPENDENCY, index], decl);
        }
        let index = scope.next(PathKind::Import);
        self.statement(&[file::DEPENDENCY, index], decl);
        let (number, kind) = match kind {
            ImportKind::Public => (file::PUBLIC_DEPENDENCY, PathKind::PublicImport),
            ImportKind::Weak => (file::WEAK_DEPENDENCY, PathKind::WeakImport),
            ImportKind::Plain | ImportKind::Option => return,
        };
        let index = scope.next(kind);
        self.part(&[number, index], modifier);
    }

    /// What may stand in any block, and what messages may hold.
    fn member(&mut self, scope: &mut PathScope, numbers: &Numbers, id: DeclId, options: u32) {
        let decl = self.decl(id);
        match decl.kind {
            DeclKind::Option(option) => self.option_statement(scope, option, decl, options),
            DeclKind::Message { name, body, visibility } => {
                let path = [numbers.message, scope.next(PathKind::Message)];
                let span = without_visibility(self.text, decl.span, visibility.map(|it| it.1));
                self.below(&path, |recorder| {
                    recorder.declaration(span, body.start + 1);
                    recorder.part(&[message::NAME], name);
                    recorder.message_body(id, body);
                });
            }
            DeclKind::Enum { name, body, visibility } => {
                let path = [numbers.enumeration, scope.next(PathKind::Enum)];
                let span = without_visibility(self.text, decl.span, visibility.map(|it| it.1));
                self.below(&path, |recorder| {
                    recorder.declaration(span, body.start + 1);
                    recorder.part(&[enumeration::NAME], name);
                    recorder.enum_body(id, body);
                });
            }
            DeclKind::Extend { extendee, body } => {
                self.extend(scope, numbers, id, extendee, body);
            }
            DeclKind::Oneof { name, body } => {
                let path = [message::ONEOF, scope.next(PathKind::Oneof)];
                let mut inner = self.scope(Some(id));
                self.below(&path, |recorder| {
                    recorder.declaration(decl.span, body.start + 1);
                    recorder.part(&[oneof::NAME], name);
                });
                for id in self.ast.children(Some(id)) {
                    let decl = self.decl(id);
                    match decl.kind {
                        DeclKind::Option(option) => self.below(&path, |recorder| {
                            recorder.option_statement(&mut inner, option, decl, oneof::OPTIONS);
                        }),
                        _ => self.member(scope, numbers, id, oneof::OPTIONS),
                    }
                }
                self.close(body.end);
            }
            DeclKind::Field(_) | DeclKind::MapField(_) => {
                let path = [message::FIELD, scope.next(PathKind::Field)];
                self.field(scope, numbers, &path, id, None);
            }
            DeclKind::Extensions { ranges, options } => {
                self.extension_ranges(scope, decl, ranges, options);
            }
            DeclKind::ReservedNumbers { ranges } => {
                self.reserved_numbers(scope, message::RESERVED_RANGE, decl, ranges);
            }
            DeclKind::ReservedNames { names, .. } => {
                self.reserved_names(scope, message::RESERVED_NAME, decl, names);
            }
            DeclKind::Empty => self.empty(decl.span.end),
            DeclKind::Syntax { .. }
            | DeclKind::Package { .. }
            | DeclKind::Import { .. }
            | DeclKind::Service { .. }
            | DeclKind::EnumValue { .. }
            | DeclKind::Method(_)
            | DeclKind::Error => self.close(decl.span.end),
        }
    }

    fn message_body(&mut self, id: DeclId, body: Span) {
        let mut scope = self.scope(Some(id));
        for id in self.ast.children(Some(id)) {
            self.member(&mut scope, &IN_MESSAGE, id, message::OPTIONS);
        }
        self.close(body.end);
    }

    fn enum_body(&mut self, id: DeclId, body: Span) {
        let mut scope = self.scope(Some(id));
        for id in self.ast.children(Some(id)) {
            let decl = self.decl(id);
            match decl.kind {
                DeclKind::EnumValue { name, number, options } => {
                    let path = [enumeration::VALUE, scope.next(PathKind::Value)];
                    self.below(&path, |recorder| {
                        recorder.declaration(decl.span, end_of_declaration(recorder.ast, decl));
                        recorder.part(&[value::NAME], name);
                        recorder.part(&[value::NUMBER], number);
                        recorder.option_list(options, number.end, value::OPTIONS);
                    });
                }
                DeclKind::ReservedNumbers { ranges } => {
                    self.reserved_numbers(&mut scope, enumeration::RESERVED_RANGE, decl, ranges);
                }
                DeclKind::ReservedNames { names, .. } => {
                    self.reserved_names(&mut scope, enumeration::RESERVED_NAME, decl, names);
                }
                _ => self.member(&mut scope, &IN_MESSAGE, id, enumeration::OPTIONS),
            }
        }
        self.close(body.end);
    }

    fn service(&mut self, id: DeclId, name: Span, body: Span) {
        self.declaration(self.decl(id).span, body.start + 1);
        self.part(&[service::NAME], name);
        let mut scope = self.scope(Some(id));
        for id in self.ast.children(Some(id)) {
            match self.decl(id).kind {
                DeclKind::Method(method) => {
                    let path = [service::METHOD, scope.next(PathKind::Method)];
                    let node = self.ast.methods[method as usize];
                    self.below(&path, |recorder| recorder.method(id, node));
                }
                _ => self.member(&mut scope, &IN_MESSAGE, id, service::OPTIONS),
            }
        }
        self.close(body.end);
    }

    fn method(&mut self, id: DeclId, node: MethodNode) {
        let decl = self.decl(id);
        self.declaration(decl.span, end_of_declaration(self.ast, decl));
        self.part(&[method::NAME], node.name);
        if let Some(stream) = node.client_streaming {
            self.part(&[method::CLIENT_STREAMING], stream);
        }
        self.part(&[method::INPUT], node.input);
        if let Some(stream) = node.server_streaming {
            self.part(&[method::SERVER_STREAMING], stream);
        }
        self.part(&[method::OUTPUT], node.output);
        if let Some(body) = node.body {
            let mut scope = self.scope(Some(id));
            for id in self.ast.children(Some(id)) {
                self.member(&mut scope, &IN_MESSAGE, id, method::OPTIONS);
            }
            self.close(body.end);
        }
    }

    fn extend(
        &mut self,
        scope: &mut PathScope,
        numbers: &Numbers,
        id: DeclId,
        extendee: Span,
        body: Span,
    ) {
        self.statement(&[numbers.extension], self.decl(id));
        for id in self.ast.children(Some(id)) {
            match self.decl(id).kind {
                DeclKind::Field(_) | DeclKind::MapField(_) => {
                    let path = [numbers.extension, scope.next(PathKind::Extension)];
                    self.field(scope, numbers, &path, id, Some(extendee));
                }
                _ => self.close(self.decl(id).span.end),
            }
        }
        self.close(body.end);
    }

    /// A field at `path`; a group is a message of the scope as well.
    fn field(
        &mut self,
        scope: &mut PathScope,
        numbers: &Numbers,
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
        self.below(path, |recorder| {
            // The comments of a group belong to its message.
            match group {
                Some(_) => recorder.here(decl.span),
                None => recorder.declaration(decl.span, end_of_declaration(recorder.ast, decl)),
            }
            if let Some(extendee) = extendee {
                recorder.part(&[field::EXTENDEE], extendee);
            }
            match decl.kind {
                DeclKind::Field(FieldNode { label, ty, name, number, options, group }) => {
                    let scalar = Scalar::from_keyword(ty.str(recorder.text)).is_some();
                    let is_type = scalar || group.is_some();
                    let ty = (if is_type { field::TYPE } else { field::TYPE_NAME }, ty);
                    let label = label.map(|label| label.span(decl));
                    recorder.field_parts(label, ty, name, number, options);
                }
                DeclKind::MapField(map) => {
                    let MapNode { label, ty, name, number, options, .. } =
                        recorder.ast.maps[map as usize];
                    let label = label.map(|label| label.span(decl));
                    recorder.field_parts(label, (field::TYPE_NAME, ty), name, number, options);
                }
                _ => {}
            }
        });
        let Some((name, body)) = group else { return };
        let index = scope.next(PathKind::Message);
        let message_path = [numbers.message, index];
        // protoc makes the location of the message before that of the field's
        // type name, but their comments are known only behind the `{`.
        self.below(&message_path, |recorder| {
            recorder.declaration(decl.span, body.start + 1);
            recorder.part(&[message::NAME], name);
        });
        self.below(path, |recorder| recorder.part(&[field::TYPE_NAME], name));
        self.below(&message_path, |recorder| recorder.message_body(id, body));
    }

    fn field_parts(
        &mut self,
        label: Option<Span>,
        (type_number, ty): (u32, Span),
        name: Span,
        number: Span,
        options: Slice,
    ) {
        if let Some(label) = label {
            self.part(&[field::LABEL], label);
        }
        self.part(&[type_number], ty);
        self.part(&[field::NAME], name);
        self.part(&[field::NUMBER], number);
        self.option_list(options, number.end, field::OPTIONS);
    }

    fn extension_ranges(
        &mut self,
        scope: &mut PathScope,
        decl: &Decl,
        ranges: Slice,
        options: Slice,
    ) {
        let before =
            self.ast.ranges[ranges.range()].last().map_or(decl.span.start, |it| it.span.end);
        let mut indices = Vec::new();
        self.below(&[message::EXTENSION_RANGE], |recorder| {
            recorder.declaration(decl.span, end_of_declaration(recorder.ast, decl));
            for range in ranges.range() {
                let index = scope.next(PathKind::ExtensionRange);
                recorder.range(index, range);
                indices.push(index);
            }
            for index in indices {
                recorder.below(&[index], |recorder| {
                    recorder.option_list(options, before, range::OPTIONS);
                });
            }
        });
    }

    fn reserved_numbers(&mut self, scope: &mut PathScope, number: u32, decl: &Decl, ranges: Slice) {
        self.below(&[number], |recorder| {
            recorder.declaration(decl.span, end_of_declaration(recorder.ast, decl));
            for range in ranges.range() {
                let index = scope.next(PathKind::ReservedRange);
                recorder.range(index, range);
            }
        });
    }

    fn range(&mut self, index: u32, at: usize) {
        let node = self.ast.ranges[at];
        self.below(&[index], |recorder| {
            recorder.here(node.span);
            recorder.part(&[range::START], node.start);
            let end = match node.end {
                RangeEnd::Number(end) | RangeEnd::Max(end) => end,
                // protoc remembers the first token only, which may be a sign.
                RangeEnd::Single if node.start.of(recorder.text).starts_with(b"-") => {
                    Span::new(node.start.start, node.start.start + 1)
                }
                RangeEnd::Single => node.start,
            };
            recorder.part(&[range::END], end);
        });
    }

    fn reserved_names(&mut self, scope: &mut PathScope, number: u32, decl: &Decl, names: Slice) {
        self.below(&[number], |recorder| {
            recorder.declaration(decl.span, end_of_declaration(recorder.ast, decl));
            for name in &recorder.ast.ranges[names.range()] {
                let index = scope.next(PathKind::ReservedName);
                recorder.part(&[index], name.span);
            }
        });
    }

    fn option_statement(
        &mut self,
        scope: &mut PathScope,
        option: OptionId,
        decl: &Decl,
        number: u32,
    ) {
        if !scope.options_stripped {
            self.part(&[number], decl.span);
        }
        let index = scope.next(PathKind::Option);
        match self.path_of_option(&mut scope.repeated, option, index) {
            Some(path) => self.below(&[number], |recorder| recorder.statement(&path, decl)),
            None => self.close(decl.span.end),
        }
    }

    /// Options in brackets, with the two assignments that look like options.
    /// The token before the `[` ends at `before`.
    fn option_list(&mut self, list: Slice, before: u32, number: u32) {
        let Some(last) = self.ast.options[list.range()].last() else { return };
        let is_option = |this: &Self, id: OptionId| {
            let name = this.ast.options[id as usize].name.of(this.text);
            number != field::OPTIONS || !matches!(name, b"default" | b"json_name")
        };
        let ids = list.start..list.end;
        let options: Vec<OptionId> = ids.clone().filter(|&id| is_option(self, id)).collect();
        if options.is_empty() || !self.are_stripped(options) {
            let token = |after| Lexer::new(self.text, after).next_token().span;
            self.part(&[number], token(before).to(token(last.span.end)));
        }
        let mut repeated = BTreeMap::new();
        let mut index = 0;
        for id in ids {
            let option = self.ast.options[id as usize];
            if is_option(self, id) {
                if let Some(path) = self.path_of_option(&mut repeated, id, index) {
                    self.below(&[number], |recorder| recorder.part(&path, option.span));
                }
                index += 1;
                continue;
            }
            let value = self.ast.values[option.value as usize].span;
            if option.name.of(self.text) == b"default" {
                self.part(&[field::DEFAULT], value);
            } else {
                self.part(&[field::JSON_NAME], option.span);
                self.part(&[field::JSON_NAME], value);
            }
        }
    }

    /// The path of an option below the options message; `None` for an option
    /// that is not in the descriptor.
    fn path_of_option(
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
fn comment(writer: &mut Writer, number: u32, run: Run, source: &[u8]) {
    writer.message(number, |writer| run.lines(source).for_each(|line| writer.raw(line)));
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
