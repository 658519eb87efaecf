//! Turns syntax trees into declarations, as protoc's parser does.

mod check;
mod default;
mod members;

use std::sync::Arc;

use abide_syntax::{
    Ast, Decl, DeclId, DeclKind, FieldLabel, NumberLiteral, OptionId, OptionNode, RangeEnd, Slice,
    Span, ValueKind, Visibility, join_dotted_name, split_sign, unescape_all,
};

use rustc_hash::FxHashSet;

use crate::decl::{
    EnumDecl, EnumValueDecl, FieldDecl, FieldExtras, FileDecl, FileOrigin, FileText, ImportDecl,
    LocalProblem, MAX_FIELD_NUMBER, MessageDecl, MessageKind, MethodDecl, Name, Node, OneofDecl,
    PackageDecl, Parent, Part, RangeDecl, RawOptions, ReservedNameDecl, Scalar, ServiceDecl,
    SourceFile, StringTable, SyntaxDecl, TypeDecl,
};
use crate::problem::ProblemKind;
use crate::protobuf::{Edition, list_known_editions};
use default::default_text;
use members::{ScopeMember, ScopeMembers, is_field, make_member};

impl FileDecl {
    /// Reads the declarations of a source file. It always returns; errors are
    /// in [`FileDecl::problems`]. Of a text with syntax errors nothing is
    /// declared but the package: see [`FileDecl::parses`].
    pub fn parse(file: SourceFile) -> FileDecl {
        let mut decl = FileDecl::parse_recovering(file);
        if !decl.parses {
            decl.set_aside();
        }
        decl
    }

    /// Reads what can be understood of a source file that may have syntax errors: for an
    /// editor, which answers questions about a text that is being written. Nobody judges by it.
    pub fn parse_recovering(file: SourceFile) -> FileDecl {
        let (mut ast, errors) = abide_syntax::parse(&file.text);
        // Thousands of trees are kept as long as the process runs.
        ast.shrink_to_fit();
        let problems = errors
            .into_iter()
            .map(|error| LocalProblem {
                kind: ProblemKind::Syntax,
                span: error.span,
                message: error.message,
                labels: error
                    .related
                    .into_iter()
                    .map(|(span, text)| (span, text.to_owned()))
                    .collect(),
                help: error.help.map(str::to_owned),
            })
            .collect();
        let origin = FileOrigin::Source(Ast::default());
        let mut decl = FileDecl::new_empty(origin, StringTable::new(file.text));
        decl.path = file.path;
        decl.display = file.display;
        decl.root = file.root;
        decl.imported = file.imported;
        decl.problems = problems;
        let text = decl.strings.text().clone();
        let mut lower = FileLowering { ast: &ast, text: &text, decl, spare: Vec::new() };
        lower.reserve_capacity();
        lower.lower_file();
        let mut decl = lower.decl;
        decl.origin = FileOrigin::Source(ast);
        decl.shrink();
        if decl.edition.is_known() {
            check::check(&mut decl);
            decl.parses = !decl.problems.iter().any(|it| it.kind.is_unread());
        } else {
            // Another edition may have another grammar: what is wrong by this one need not be.
            decl.parses = !decl.problems.iter().any(|it| it.kind == ProblemKind::Syntax);
            decl.problems.retain(|it| it.kind == ProblemKind::Edition);
        }
        decl
    }
}

impl FileDecl {
    /// Leaves of a file that does not parse its text, what is wrong with it and, if no error
    /// touches it, its package.
    pub fn set_aside(&mut self) {
        let is_read = |it: &PackageDecl| self.is_free_of_errors(self.span(it.node, Part::Whole));
        let package = self.package.filter(|it| self.ast().is_none() || is_read(it));
        let origin = std::mem::replace(&mut self.origin, FileOrigin::Source(Ast::default()));
        let strings =
            std::mem::replace(&mut self.strings, StringTable::new(FileText::Utf8("".into())));
        let is_syntax = self.problems.iter().any(|it| it.kind == ProblemKind::Syntax);
        let why = if is_syntax { ProblemKind::Syntax } else { ProblemKind::Edition };
        let mut problems = std::mem::take(&mut self.problems);
        problems.retain(|it| it.kind == why);
        *self = FileDecl {
            path: Arc::clone(&self.path),
            display: Arc::clone(&self.display),
            root: self.root,
            imported: self.imported,
            package,
            problems,
            parses: false,
            ..FileDecl::new_empty(origin, strings)
        };
    }

    /// Describes why a file does not parse, as one phrase: its first syntax error, or that its
    /// edition is not known.
    pub fn describe_parse_failure(&self) -> String {
        let Some(first) = self.problems.iter().find(|it| it.kind.is_unread()) else {
            return String::new();
        };
        let line = self.line_range(first.span).map_or(1, |(start, _)| start.line);
        match first.kind {
            ProblemKind::Edition => format!("line {line}: {}", first.message),
            _ => format!("it does not parse: line {line}: {}", first.message),
        }
    }

    /// Returns true if nothing is known of it but that its edition is not.
    pub fn has_unknown_edition(&self) -> bool {
        !self.parses && self.problems.iter().all(|it| it.kind == ProblemKind::Edition)
    }

    /// Returns true if a statement was read as it stands: it has its end, and no syntax error in it
    /// or right behind it.
    fn is_free_of_errors(&self, statement: Span) -> bool {
        let touches =
            |it: &LocalProblem| it.span.start <= statement.end && it.span.end >= statement.start;
        statement.of(self.strings.text()).ends_with(b";")
            && !self.problems.iter().any(|it| it.kind == ProblemKind::Syntax && touches(it))
    }
}

struct FileLowering<'a> {
    ast: &'a Ast,
    text: &'a FileText,
    decl: FileDecl,
    /// Empty buffers of finished scopes, for reuse.
    spare: Vec<ScopeMembers>,
}

/// The options of a field, its default and its JSON name.
type FieldOptions = (RawOptions, Option<Box<[u8]>>, Option<Box<str>>);

fn count_u32<T>(items: &[T]) -> u32 {
    items.len() as u32
}

impl<'a> FileLowering<'a> {
    fn get_decl(&self, id: DeclId) -> &'a Decl {
        &self.ast.decls[id as usize]
    }

    fn report(&mut self, kind: ProblemKind, span: Span, message: impl Into<String>) {
        self.decl.problems.push(LocalProblem {
            kind,
            span,
            message: message.into(),
            labels: Vec::new(),
            help: None,
        });
    }

    fn lower_name(&mut self, span: Span) -> Name {
        match join_dotted_name(self.text, span) {
            None => self.decl.strings.at(span),
            Some(name) => self.decl.strings.push(&name),
        }
    }

    /// Reserves room for all declarations, so that none of them moves later.
    fn reserve_capacity(&mut self) {
        let (mut fields, mut messages, mut enums, mut values, mut methods) = (0, 0, 0, 0, 0);
        for decl in &self.ast.decls {
            match decl.kind {
                DeclKind::Message { .. } => messages += 1,
                DeclKind::Field(field) => {
                    fields += 1;
                    messages += usize::from(field.group.is_some());
                }
                // Its entry has two fields.
                DeclKind::MapField(_) => {
                    fields += 3;
                    messages += 1;
                }
                DeclKind::Enum { .. } => enums += 1,
                DeclKind::EnumValue { .. } => values += 1,
                DeclKind::Method(_) => methods += 1,
                _ => {}
            }
        }
        self.decl.fields.reserve_exact(fields);
        self.decl.messages.reserve_exact(messages);
        self.decl.enums.reserve_exact(enums);
        self.decl.values.reserve_exact(values);
        self.decl.methods.reserve_exact(methods);
        self.decl.option_ids.reserve_exact(self.ast.options.len());
    }

    fn lower_file(&mut self) {
        let ast = self.ast;
        for id in ast.children_of(None) {
            let node = Node(id);
            match ast.decls[id as usize].kind {
                DeclKind::Syntax { edition, value } => self.lower_syntax(node, edition, value),
                DeclKind::Package { name } => {
                    if self.decl.package.is_some() {
                        let message = "a file can have only one `package` statement";
                        self.report(ProblemKind::Syntax, self.get_decl(id).span, message);
                    } else {
                        let name = self.lower_name(name);
                        self.decl.package = Some(PackageDecl { name, node });
                    }
                }
                DeclKind::Import { kind, path, .. } => {
                    let path = self.lower_string(path).into();
                    self.decl.imports.push(ImportDecl { path, kind, node });
                }
                _ => {}
            }
        }
        let members = self.collect_members(None);
        let messages = self.lower_messages(&members, Parent::File);
        self.decl.top_messages = messages;
        self.decl.top_extensions =
            self.lower_fields(&members.extensions, Parent::File, 0, messages);
        self.decl.top_enums = self.lower_enums(&members.enums, Parent::File);
        self.decl.options = self.collect_options(members.options.iter().copied());
        self.lower_message_bodies(&members, messages);
        self.lower_services();
    }

    fn lower_syntax(&mut self, node: Node, edition: bool, value: Span) {
        let text = self.lower_string(value);
        let found = Edition::from_word(&text).filter(|it| it.is_edition() == edition);
        self.decl.syntax = Some(SyntaxDecl { node });
        match found {
            Some(edition) => self.decl.edition = edition,
            None => {
                let message = if edition {
                    let known = list_known_editions();
                    format!("unknown edition `{text}`; known are {known}")
                } else {
                    format!("unknown syntax `{text}`; known are `proto2` and `proto3`")
                };
                self.report(ProblemKind::Edition, value, message);
                self.decl.edition = if edition { Edition::Unknown(0) } else { Edition::Proto3 };
            }
        }
    }

    /// The value of a string literal that must be text.
    fn lower_string(&mut self, span: Span) -> String {
        match unescape_all(self.text, span).map(String::from_utf8) {
            Ok(Ok(text)) => text,
            Ok(Err(error)) => {
                self.report(ProblemKind::Syntax, span, "the string is not valid UTF-8");
                String::from_utf8_lossy(error.as_bytes()).into_owned()
            }
            Err(error) => {
                self.report(ProblemKind::Syntax, error.span, error.message);
                String::new()
            }
        }
    }

    fn collect_members(&mut self, scope: Option<DeclId>) -> ScopeMembers {
        let ast = self.ast;
        let mut members = self.spare.pop().unwrap_or_default();
        for id in ast.children_of(scope) {
            match ast.decls[id as usize].kind {
                DeclKind::Option(option) => members.options.push(option),
                DeclKind::Message { .. } => members.messages.push((id, MessageKind::Plain)),
                DeclKind::Enum { .. } => members.enums.push(id),
                DeclKind::Field(_) | DeclKind::MapField(_) => {
                    let member = make_member(ast, id, None, None, &mut members.messages);
                    members.fields.push(member);
                }
                DeclKind::Oneof { .. } => {
                    let oneof = Some(count_u32(&members.oneofs));
                    members.oneofs.push(id);
                    for field in ast.children_of(Some(id)) {
                        if is_field(ast, field) {
                            let member =
                                make_member(ast, field, oneof, None, &mut members.messages);
                            members.fields.push(member);
                        }
                    }
                }
                DeclKind::Extend { .. } => {
                    for field in ast.children_of(Some(id)) {
                        if is_field(ast, field) {
                            let member =
                                make_member(ast, field, None, Some(id), &mut members.messages);
                            members.extensions.push(member);
                        }
                    }
                }
                DeclKind::Extensions { .. } => members.extension_ranges.push(id),
                DeclKind::ReservedNumbers { .. } => members.reserved_ranges.push(id),
                DeclKind::ReservedNames { .. } => members.reserved_names.push(id),
                DeclKind::Syntax { .. }
                | DeclKind::Package { .. }
                | DeclKind::Import { .. }
                | DeclKind::Service { .. }
                | DeclKind::EnumValue { .. }
                | DeclKind::Method(_)
                | DeclKind::Empty
                | DeclKind::Error => {}
            }
        }
        members
    }

    /// Reserves the messages of a scope, so that they are adjacent.
    fn lower_messages(&mut self, members: &ScopeMembers, parent: Parent) -> Slice {
        let start = count_u32(&self.decl.messages);
        for &(id, kind) in &members.messages {
            let (name, visibility) = match (self.get_decl(id).kind, kind) {
                (DeclKind::Message { name, visibility, .. }, _) => {
                    (self.decl.strings.at(name), visibility.map(|(which, _)| which))
                }
                (DeclKind::Field(field), _) => (self.decl.strings.at(field.name), None),
                (DeclKind::MapField(map), _) => {
                    let name = map_entry_name(self.text.str(self.ast.maps[map as usize].name));
                    (self.decl.strings.push(&name), None)
                }
                _ => unreachable!("only messages, groups and map fields make messages"),
            };
            self.decl.messages.push(MessageDecl {
                name,
                node: if kind == MessageKind::MapEntry { Node::NONE } else { Node(id) },
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
                options: RawOptions::None,
            });
        }
        Slice { start, end: count_u32(&self.decl.messages) }
    }

    fn lower_message_bodies(&mut self, members: &ScopeMembers, slice: Slice) {
        for (&(id, kind), index) in members.messages.iter().zip(slice.start..) {
            match kind {
                MessageKind::MapEntry => self.map_entry(id, index),
                MessageKind::Plain | MessageKind::Group => self.lower_message_body(id, index),
            }
        }
    }

    /// Nesting is limited by the parser, so this recursion is too.
    fn lower_message_body(&mut self, id: DeclId, index: u32) {
        let members = self.collect_members(Some(id));
        let parent = Parent::Message(index);
        let messages = self.lower_messages(&members, parent);
        let oneof_base = count_u32(&self.decl.oneofs);
        for &oneof in &members.oneofs {
            let DeclKind::Oneof { name, .. } = self.get_decl(oneof).kind else {
                unreachable!("oneofs are gathered by kind")
            };
            let options = self.collect_block_options(oneof);
            let name = self.decl.strings.at(name);
            self.decl.oneofs.push(OneofDecl {
                name,
                node: Node(oneof),
                message: index,
                synthetic: false,
                options,
            });
        }
        let fields = self.lower_fields(&members.fields, parent, oneof_base, messages);
        self.add_synthetic_oneofs(index, fields, oneof_base);
        let oneofs = Slice { start: oneof_base, end: count_u32(&self.decl.oneofs) };
        let extensions = self.lower_fields(&members.extensions, parent, 0, messages);
        let enums = self.lower_enums(&members.enums, parent);
        let max =
            if self.is_message_set(&members.options) { i32::MAX } else { MAX_FIELD_NUMBER + 1 };
        let extension_ranges = self.lower_ranges(&members.extension_ranges, max, 1);
        let reserved_ranges = self.lower_ranges(&members.reserved_ranges, max, 1);
        let reserved_names = self.lower_reserved_names(&members.reserved_names);
        let options = self.collect_options(members.options.iter().copied());
        let message = &mut self.decl.messages[index as usize];
        message.fields = fields;
        message.extensions = extensions;
        message.oneofs = oneofs;
        message.messages = messages;
        message.enums = enums;
        message.extension_ranges = extension_ranges;
        message.reserved_ranges = reserved_ranges;
        message.reserved_names = reserved_names;
        message.options = options;
        self.lower_message_bodies(&members, messages);
        self.spare.push(members.clear());
    }

    fn map_entry(&mut self, id: DeclId, index: u32) {
        let DeclKind::MapField(map) = self.get_decl(id).kind else {
            unreachable!("map entries come from map fields")
        };
        let map = self.ast.maps[map as usize];
        // Both get a copy of each feature option of the map. Source:
        // `Parser::GenerateMapEntry`.
        let (ast, text) = (self.ast, self.text);
        let is_feature = |&id: &OptionId| match ast.name_parts(&ast.options[id as usize]) {
            [first, _, ..] => !first.extension && first.name.of(text) == b"features",
            _ => false,
        };
        let list = map.options;
        let options = self.collect_options((list.start..list.end).filter(is_feature));
        let start = count_u32(&self.decl.fields);
        for (name, ty, number) in [("key", map.key, 1), ("value", map.value, 2)] {
            let ty = self.lower_type(ty);
            let name = self.decl.strings.push(name);
            self.decl.fields.push(FieldDecl {
                name,
                node: Node(id),
                number,
                label: Some(FieldLabel::Optional),
                ty,
                parent: Parent::Message(index),
                oneof: None,
                proto3_optional: false,
                extras: None,
                options,
            });
        }
        self.decl.messages[index as usize].fields = Slice { start, end: start + 2 };
    }

    fn lower_fields(
        &mut self,
        members: &[ScopeMember],
        parent: Parent,
        oneof_base: u32,
        messages: Slice,
    ) -> Slice {
        let start = count_u32(&self.decl.fields);
        for member in members {
            let id = member.decl;
            let message = member.message.map(|index| messages.start + index);
            let (label, name, number, list, ty) = match self.get_decl(id).kind {
                DeclKind::Field(field) => {
                    let ty = match message {
                        Some(index) => TypeDecl::Group(index),
                        None => self.lower_type(field.ty),
                    };
                    let name = match message {
                        Some(_) => {
                            let name = self.text.str(field.name).to_ascii_lowercase();
                            self.decl.strings.push(&name)
                        }
                        None => self.decl.strings.at(field.name),
                    };
                    (field.label, name, field.number, field.options, ty)
                }
                DeclKind::MapField(map) => {
                    let map = self.ast.maps[map as usize];
                    let ty = message.map_or(TypeDecl::Scalar(Scalar::Int32), TypeDecl::Map);
                    let name = self.decl.strings.at(map.name);
                    (Some(FieldLabel::Repeated), name, map.number, map.options, ty)
                }
                _ => unreachable!("only fields are members"),
            };
            let number = self.parse_integer(number);
            let extendee = member.extend.map(|extend| match self.get_decl(extend).kind {
                DeclKind::Extend { extendee, .. } => self.lower_name(extendee),
                _ => unreachable!("extensions stand in `extend`"),
            });
            let (options, default, json_name) = self.lower_field_options(list, ty);
            self.decl.fields.push(FieldDecl {
                name,
                node: Node(id),
                number,
                label,
                ty,
                parent,
                oneof: member.oneof.map(|index| oneof_base + index),
                proto3_optional: self.decl.edition == Edition::Proto3
                    && label == Some(FieldLabel::Optional),
                extras: FieldExtras::new(extendee, default, json_name),
                options,
            });
        }
        Slice { start, end: count_u32(&self.decl.fields) }
    }

    /// Adds a oneof for each `optional` field of proto3, named as protoc does
    /// (`GenerateSyntheticOneofs` in parser.cc).
    fn add_synthetic_oneofs(&mut self, message: u32, fields: Slice, oneof_base: u32) {
        let wanted = |field: &FieldDecl| field.proto3_optional && field.oneof.is_none();
        if !self.decl.fields[fields.range()].iter().any(wanted) {
            return;
        }
        let mut names: FxHashSet<String> = self.decl.fields[fields.range()]
            .iter()
            .map(|field| field.name)
            .chain(self.decl.oneofs[oneof_base as usize..].iter().map(|oneof| oneof.name))
            .map(|name| self.decl.str(name).to_owned())
            .collect();
        for index in fields.range() {
            if !wanted(&self.decl.fields[index]) {
                continue;
            }
            let field = self.decl.str(self.decl.fields[index].name);
            let mut name =
                if field.starts_with('_') { field.to_owned() } else { format!("_{field}") };
            while names.contains(&name) {
                name.insert(0, 'X');
            }
            let pushed = self.decl.strings.push(&name);
            names.insert(name);
            self.decl.fields[index].oneof = Some(count_u32(&self.decl.oneofs));
            self.decl.oneofs.push(OneofDecl {
                name: pushed,
                node: Node::NONE,
                message,
                synthetic: true,
                options: RawOptions::None,
            });
        }
    }

    fn lower_type(&mut self, span: Span) -> TypeDecl {
        match Scalar::from_keyword(self.text.str(span)) {
            Some(scalar) => TypeDecl::Scalar(scalar),
            None => TypeDecl::Named(self.lower_name(span)),
        }
    }

    fn lower_enums(&mut self, ids: &[DeclId], parent: Parent) -> Slice {
        let ast = self.ast;
        let start = count_u32(&self.decl.enums);
        for &id in ids {
            let DeclKind::Enum { name, visibility, .. } = self.get_decl(id).kind else {
                unreachable!("enums are gathered by kind")
            };
            let parent_enum = count_u32(&self.decl.enums);
            let first_value = count_u32(&self.decl.values);
            let mut options = Vec::new();
            let mut reserved_ranges = Vec::new();
            let mut reserved_names = Vec::new();
            for child in ast.children_of(Some(id)) {
                match ast.decls[child as usize].kind {
                    DeclKind::Option(option) => options.push(option),
                    DeclKind::EnumValue { name, number, options } => {
                        let name = self.decl.strings.at(name);
                        let number = self.parse_integer(number);
                        let options = self.collect_bracket_options(options);
                        self.decl.values.push(EnumValueDecl {
                            name,
                            node: Node(child),
                            number,
                            parent: parent_enum,
                            options,
                        });
                    }
                    DeclKind::ReservedNumbers { .. } => reserved_ranges.push(child),
                    DeclKind::ReservedNames { .. } => reserved_names.push(child),
                    _ => {}
                }
            }
            let values = Slice { start: first_value, end: count_u32(&self.decl.values) };
            let reserved_ranges = self.lower_ranges(&reserved_ranges, i32::MAX, 0);
            let reserved_names = self.lower_reserved_names(&reserved_names);
            let options = self.collect_options(options.into_iter());
            let name = self.decl.strings.at(name);
            self.decl.enums.push(EnumDecl {
                name,
                node: Node(id),
                parent,
                visibility: visibility.map(|(which, _): (Visibility, Span)| which),
                values,
                reserved_ranges,
                reserved_names,
                options,
            });
        }
        Slice { start, end: count_u32(&self.decl.enums) }
    }

    fn lower_services(&mut self) {
        let ast = self.ast;
        for id in ast.children_of(None) {
            let DeclKind::Service { name, .. } = ast.decls[id as usize].kind else { continue };
            let service = count_u32(&self.decl.services);
            let start = count_u32(&self.decl.methods);
            let mut options = Vec::new();
            for child in ast.children_of(Some(id)) {
                match ast.decls[child as usize].kind {
                    DeclKind::Option(option) => options.push(option),
                    DeclKind::Method(method) => {
                        let method = ast.methods[method as usize];
                        let name = self.decl.strings.at(method.name);
                        let input = self.lower_name(method.input);
                        let output = self.lower_name(method.output);
                        let options = match (self.collect_block_options(child), method.body) {
                            // protoc gives a method with a block an options
                            // message, even if it sets no option.
                            (RawOptions::None, Some(_)) => RawOptions::Syntax(Slice::default()),
                            (options, _) => options,
                        };
                        self.decl.methods.push(MethodDecl {
                            name,
                            node: Node(child),
                            service,
                            input,
                            output,
                            client_streaming: method.client_streaming.is_some(),
                            server_streaming: method.server_streaming.is_some(),
                            options,
                        });
                    }
                    _ => {}
                }
            }
            let methods = Slice { start, end: count_u32(&self.decl.methods) };
            let options = self.collect_options(options.into_iter());
            let name = self.decl.strings.at(name);
            self.decl.services.push(ServiceDecl { name, node: Node(id), methods, options });
        }
    }

    /// `after` is added to an inclusive end: 1 in messages, whose ends are
    /// exclusive, and 0 in enums.
    fn lower_ranges(&mut self, ids: &[DeclId], max: i32, after: i32) -> Slice {
        let ast = self.ast;
        let start = count_u32(&self.decl.ranges);
        for &id in ids {
            let (ranges, options) = match ast.decls[id as usize].kind {
                DeclKind::Extensions { ranges, options } => {
                    (ranges, self.collect_bracket_options(options))
                }
                DeclKind::ReservedNumbers { ranges } => (ranges, RawOptions::None),
                _ => unreachable!("ranges are gathered by kind"),
            };
            for range in &ast.ranges[ranges.range()] {
                let first = self.parse_integer(range.start);
                let end = match range.end {
                    RangeEnd::Single => self.lower_range_end(first, range.start, after),
                    RangeEnd::Number(span) => {
                        let last = self.parse_integer(span);
                        self.lower_range_end(last, span, after)
                    }
                    RangeEnd::Max(_) => max,
                };
                self.decl.ranges.push(RangeDecl {
                    start: first,
                    end,
                    span: range.span,
                    node: Node(id),
                    options,
                });
            }
        }
        Slice { start, end: count_u32(&self.decl.ranges) }
    }

    fn lower_range_end(&mut self, last: i32, span: Span, after: i32) -> i32 {
        last.checked_add(after).unwrap_or_else(|| {
            // A number that does not fit at all was already reported.
            if self.decl.problems.last().is_none_or(|known| known.span != span) {
                let message = "the end of the range is too large";
                self.report(ProblemKind::RangeInvalid, span, message);
            }
            i32::MAX
        })
    }

    fn lower_reserved_names(&mut self, ids: &[DeclId]) -> Slice {
        let ast = self.ast;
        let start = count_u32(&self.decl.reserved_names);
        for &id in ids {
            let DeclKind::ReservedNames { names, quoted } = ast.decls[id as usize].kind else {
                unreachable!("reserved names are gathered by kind")
            };
            for range in &ast.ranges[names.range()] {
                let name = if quoted {
                    let name = self.lower_string(range.span);
                    self.decl.strings.push(&name)
                } else {
                    self.decl.strings.at(range.span)
                };
                self.decl.reserved_names.push(ReservedNameDecl { name, span: range.span });
            }
        }
        Slice { start, end: count_u32(&self.decl.reserved_names) }
    }

    /// A number of 32 bits, with its sign.
    fn parse_integer(&mut self, span: Span) -> i32 {
        let (negative, digits) = split_sign(self.text, span);
        let number = NumberLiteral::parse(digits.of(self.text));
        let magnitude =
            number.and_then(NumberLiteral::to_integer).and_then(|it| i64::try_from(it).ok());
        let value = magnitude.map(|value| if negative { -value } else { value });
        if let Some(Ok(value)) = value.map(i32::try_from) {
            return value;
        }
        // A malformed number was already reported.
        if number.is_some() {
            let message = "the number does not fit into 32 bits";
            self.report(ProblemKind::NumberInvalid, span, message);
        }
        if negative { i32::MIN } else { i32::MAX }
    }

    // Options.

    fn collect_options(&mut self, ids: impl Iterator<Item = OptionId>) -> RawOptions {
        let start = count_u32(&self.decl.option_ids);
        self.decl.option_ids.extend(ids);
        self.take_options(start)
    }

    /// The options that were added after the first `start`.
    fn take_options(&self, start: u32) -> RawOptions {
        let end = count_u32(&self.decl.option_ids);
        if start == end { RawOptions::None } else { RawOptions::Syntax(Slice { start, end }) }
    }

    /// The `option` statements in the block of a declaration.
    fn collect_block_options(&mut self, id: DeclId) -> RawOptions {
        let ast = self.ast;
        self.collect_options(ast.children_of(Some(id)).filter_map(|child| {
            match ast.decls[child as usize].kind {
                DeclKind::Option(option) => Some(option),
                _ => None,
            }
        }))
    }

    fn collect_bracket_options(&mut self, list: Slice) -> RawOptions {
        self.collect_options(list.start..list.end)
    }

    fn is_message_set(&self, options: &[OptionId]) -> bool {
        options.iter().any(|&id| {
            let option = &self.ast.options[id as usize];
            option.name.of(self.text) == b"message_set_wire_format"
                && self.ast.values[option.value as usize].span.of(self.text) == b"true"
        })
    }

    /// Splits `default` and `json_name` from the options of a field: they are
    /// written like options, but are not.
    fn lower_field_options(&mut self, list: Slice, ty: TypeDecl) -> FieldOptions {
        if list.start == list.end {
            return (RawOptions::None, None, None);
        }
        let (mut default, mut json_name) = (None, None);
        let start = count_u32(&self.decl.option_ids);
        for id in list.start..list.end {
            let option = self.ast.options[id as usize];
            let target = match option.name.of(self.text) {
                b"default" => &mut default,
                b"json_name" => &mut json_name,
                _ => {
                    self.decl.option_ids.push(id);
                    continue;
                }
            };
            if target.replace(option).is_some() {
                let message = format!("`{}` is set twice", self.text.str(option.name));
                self.report(ProblemKind::OptionInvalid, option.span, message);
            }
        }
        let rest = self.take_options(start);
        let default = default.and_then(|option| self.default(&option, ty));
        let json_name = json_name.and_then(|option| self.lower_json_name(&option));
        (rest, default, json_name)
    }

    fn lower_json_name(&mut self, option: &OptionNode) -> Option<Box<str>> {
        let value = self.ast.values[option.value as usize];
        if value.kind == ValueKind::String {
            return Some(self.lower_string(value.span).into());
        }
        let message = "`json_name` takes a string";
        self.report(ProblemKind::JsonName, value.span, message);
        None
    }

    fn default(&mut self, option: &OptionNode, ty: TypeDecl) -> Option<Box<[u8]>> {
        let value = self.ast.values[option.value as usize];
        match default_text(self.text, value.kind, value.span, ty) {
            Ok(text) => Some(text.into()),
            Err(message) => {
                self.report(ProblemKind::DefaultInvalid, value.span, message);
                None
            }
        }
    }
}

/// The name of the entry of a map field: its name in CamelCase and `Entry`.
/// Source: `MapEntryName` in protobuf's parser.cc.
pub(crate) fn map_entry_name(field: &str) -> String {
    let mut name = String::with_capacity(field.len() + 5);
    let mut raise = true;
    for character in field.chars() {
        if character == '_' {
            raise = true;
        } else if raise {
            name.push(character.to_ascii_uppercase());
            raise = false;
        } else {
            name.push(character);
        }
    }
    name.push_str("Entry");
    name
}
