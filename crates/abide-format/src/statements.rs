//! Statements of files, messages, enums, services and methods.

use abide_syntax::{DeclId, DeclKind, MapNode, MethodNode, Slice, Span, TokenKind};

use crate::printer::Printer;

impl Printer<'_> {
    /// Writes a statement, from its first token to its last.
    pub(crate) fn write_statement(&mut self, id: DeclId) {
        let decl = &self.ast.decls[id as usize];
        match decl.kind {
            DeclKind::Syntax { .. } | DeclKind::Import { .. } => {
                self.write_words(decl.span.end - 1)
            }
            DeclKind::Package { name } => {
                self.token(false);
                self.word(true, name.end);
            }
            DeclKind::Option(option) => {
                self.token(false);
                self.option(option, true);
            }
            DeclKind::Message { body, .. }
            | DeclKind::Enum { body, .. }
            | DeclKind::Service { body, .. }
            | DeclKind::Oneof { body, .. } => {
                self.write_words(body.start);
                return self.write_body(id);
            }
            DeclKind::Extend { extendee, .. } => {
                self.token(false);
                self.word(true, extendee.end);
                return self.write_body(id);
            }
            DeclKind::Field(node) => {
                if node.label.is_some() {
                    self.token(false);
                }
                self.word(node.label.is_some(), node.ty.end);
                self.write_name_number_and_options(node.options);
                if node.group.is_some() {
                    return self.write_body(id);
                }
            }
            DeclKind::MapField(map) => self.map_field(self.ast.maps[map as usize]),
            DeclKind::EnumValue { options, .. } => {
                self.token(false);
                self.write_number_and_options(options);
            }
            DeclKind::Method(method) => {
                self.write_method(self.ast.methods[method as usize]);
                if self.ast.body_of(decl).is_some() {
                    return self.write_body(id);
                }
            }
            DeclKind::Extensions { ranges, options } => {
                self.write_ranges(ranges);
                self.write_options(options);
            }
            DeclKind::ReservedNumbers { ranges } => self.write_ranges(ranges),
            DeclKind::ReservedNames { names, .. } => self.write_ranges(names),
            // A text with errors is not written.
            DeclKind::Empty | DeclKind::Error => {}
        }
        self.token(false);
    }

    /// Writes tokens up to a place, with spaces between them.
    fn write_words(&mut self, end: u32) {
        let mut space = false;
        while self.at < end && self.next().span.start < end {
            self.token(space);
            space = true;
        }
    }

    /// Writes the name of a field, its number and its options.
    fn write_name_number_and_options(&mut self, options: Slice) {
        self.token(true);
        self.write_number_and_options(options);
    }

    fn write_number_and_options(&mut self, options: Slice) {
        self.token(true);
        self.number(true);
        self.write_options(options);
    }

    /// Writes a number with its sign.
    fn number(&mut self, space: bool) {
        if self.token(space).kind == TokenKind::Symbol(b'-') {
            self.token(false);
        }
    }

    fn map_field(&mut self, map: MapNode) {
        if map.label.is_some() {
            self.token(false);
        }
        self.token(map.label.is_some());
        self.token(false);
        self.word(false, map.key.end);
        self.token(false);
        self.word(true, map.value.end);
        self.token(false);
        self.write_name_number_and_options(map.options);
    }

    fn write_method(&mut self, method: MethodNode) {
        self.breaks_lines = true;
        self.token(false);
        self.token(true);
        self.method_type(false, method.client_streaming, method.input);
        self.token(true);
        self.method_type(true, method.server_streaming, method.output);
        self.breaks_lines = false;
    }

    fn method_type(&mut self, space: bool, streaming: Option<Span>, ty: Span) {
        self.token(space);
        if streaming.is_some() {
            self.token(false);
        }
        self.word(streaming.is_some(), ty.end);
        self.token(false);
    }

    /// Writes ranges or names with the word before them.
    fn write_ranges(&mut self, ranges: Slice) {
        self.breaks_lines = true;
        self.token(false);
        for (at, range) in self.ast.ranges[ranges.range()].iter().enumerate() {
            if at > 0 {
                self.token(false);
            }
            while self.at < range.span.end {
                self.number(true);
            }
        }
        self.breaks_lines = false;
    }
}
