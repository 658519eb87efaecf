//! The first stage: one linked file to what it means, as a pure function of it.

use abide_schema::value::{self, default_of};
use abide_schema::{
    Cardinality, Edition, Element, Enum, Field, File, Message, MethodDecl, NumberRanges, Oneof,
    Openness, Parent, Presence, RawOptions, Scalar, Service, Tree, Type, TypeDecl,
    default_json_name,
};
use abide_syntax::ImportKind;

use crate::buffers::{BufferTables, HashBuffers};
use crate::canonical_file::{CanonicalFile, ElementKind, FILE_OWN, HashedElement, split_lines};
use crate::facts::{
    Facts, enclosing_message, push, push_full_name, push_hash, push_message_name, push_number,
    push_value,
};
use crate::hash::SemanticHash;
use crate::languages::{FeatureTarget, LanguageSettings, is_nested_by_option};
use crate::{facts, option_facts};

impl CanonicalFile {
    /// The meaning of a file in a tree that has its imports.
    pub fn of(file: File<'_>) -> CanonicalFile {
        ResolvedFile::of(&mut HashBuffers::default(), file).meaning
    }
}

/// The start of a fact of an option, after its holder.
const OPTION: &str = "option ";

/// The meaning of a file, and the types in the tree that its names mean.
pub(crate) struct ResolvedFile {
    pub(crate) meaning: CanonicalFile,
    /// The type of each of its names; `None` for a service or an extension.
    pub(crate) types: Box<[Option<Type>]>,
}

impl ResolvedFile {
    /// Of a file in a tree that has its imports, with buffers that may have served
    /// other files.
    pub(crate) fn of(scratch: &mut HashBuffers, file: File<'_>) -> ResolvedFile {
        let mut builder = Canonicalizer::new(scratch, file);
        builder.run();
        builder.build()
    }

    /// A file that declares nothing.
    pub(crate) fn empty() -> ResolvedFile {
        ResolvedFile { meaning: CanonicalFile::empty(), types: Box::default() }
    }
}

/// The title and the facts of the own hash of the element with this full name; of
/// the first one if the file has several.
pub(crate) fn print_element_facts(file: File<'_>, name: &str) -> Option<String> {
    let mut scratch = HashBuffers::default();
    let mut builder = Canonicalizer::new(&mut scratch, file);
    builder.wanted = Some(name);
    builder.run();
    builder.found
}

/// What Java puts into a class of its own rather than into that of the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OwnJavaClasses {
    /// Nothing, since the file declares nothing that could have one.
    Impossible,
    /// Nothing, as in a file before edition 2024 that does not set `java_multiple_files`.
    Nothing,
    /// What the option or the features say.
    AsSet,
}

impl OwnJavaClasses {
    /// Messages and enums have classes, and services if the option `java_generic_services` is set.
    fn find(file: File<'_>) -> OwnJavaClasses {
        let generic = file.options().and_then(|it| it.get_bool(file.tree, "java_generic_services"));
        let services = file.services().filter(|_| generic == Some(true)).map(|it| it.options());
        let types = file.messages().map(|it| it.options());
        let types = types.chain(file.enums().map(|it| it.options()));
        let mut classes = types.chain(services).peekable();
        if classes.peek().is_none() {
            return OwnJavaClasses::Impossible;
        }
        let nests_all = file.decl().edition >= Edition::Edition2024
            && classes.all(|it| is_nested_by_option(file.tree, it));
        if nests_all { OwnJavaClasses::Nothing } else { OwnJavaClasses::AsSet }
    }
}

struct Canonicalizer<'r, 't> {
    file: File<'t>,
    tree: &'t Tree,
    /// True if the file has problems, so an option may not be understood.
    has_problems: bool,
    facts: &'r mut Facts,
    tables: &'r mut BufferTables,
    wanted: Option<&'t str>,
    found: Option<String>,
    /// True if Java has all classes of the file inside of the class of the file, although the
    /// edition says otherwise.
    own_classes: OwnJavaClasses,
}

impl<'r, 't> Canonicalizer<'r, 't> {
    fn new(scratch: &'r mut HashBuffers, file: File<'t>) -> Canonicalizer<'r, 't> {
        let tree = file.tree;
        // Problems are in the order of files.
        let problems = tree.problems();
        let at = problems.partition_point(|problem| problem.place.file < file.id);
        let has_problems = problems.get(at).is_some_and(|problem| problem.place.file == file.id);
        let HashBuffers { facts, tables } = scratch;
        tables.reset_for(file);
        let own_classes = OwnJavaClasses::find(file);
        let (wanted, found) = (None, None);
        Canonicalizer { file, tree, has_problems, facts, tables, wanted, found, own_classes }
    }

    /// The meaning of the file, after `run`.
    fn build(self) -> ResolvedFile {
        let facts = self.facts.finish();
        let BufferTables { elements, names, types, references, .. } = self.tables;
        let meaning = CanonicalFile {
            package: self.file.package().name().into(),
            is_well_known: self.file.path().starts_with("google/protobuf/"),
            facts: facts[FILE_OWN.len() + 1..].into(),
            own: facts::hash(facts),
            elements: elements.drain(..).collect(),
            names: names.clone(),
            references: references.as_slice().into(),
        };
        ResolvedFile { meaning, types: types.as_slice().into() }
    }

    /// Processes the file; its own facts are in `facts` afterwards.
    fn run(&mut self) {
        let file = self.file;
        let of_file =
            LanguageSettings::of(file.decl().edition).with_file(self.tree, file.options());
        // Messages come after the messages that enclose them.
        for message in file.all_messages() {
            let outer = self.languages_around(of_file, message.decl().parent);
            self.tables.languages.push(outer.with(self.tree, message.options()));
        }
        for item in file.all_enums() {
            self.write_enum(item, of_file);
        }
        for message in file.all_messages().rev().filter(|it| !it.is_map_entry()) {
            self.write_message(message);
        }
        for extension in file.extensions() {
            self.facts.begin_block(ElementKind::Extension.title());
            self.write_extension(extension, of_file);
            let scope = enclosing_message(file, extension.decl().parent);
            let name = self.add_name(scope, extension.name());
            self.finish_element(ElementKind::Extension, name, true);
        }
        for service in file.services() {
            self.write_service(service, of_file);
        }
        self.write_file_facts(of_file)
    }

    fn languages_around(&self, of_file: LanguageSettings, parent: Parent) -> LanguageSettings {
        match parent {
            Parent::File => of_file,
            Parent::Message(index) => {
                self.tables.languages.get(index as usize).copied().unwrap_or(of_file)
            }
        }
    }

    /// Hashes the written facts as those of an element.
    fn finish_element(&mut self, kind: ElementKind, name: u32, is_top: bool) -> SemanticHash {
        let own = self.facts.hash();
        let tables = &mut *self.tables;
        let written = tables.names.get(name);
        if self.wanted == Some(written) && self.found.is_none() {
            self.found = Some(self.facts.print());
        }
        if is_top {
            for part in [kind.noun(), " ", written, " "] {
                push(&mut tables.lines, part);
            }
            push_hash(&mut tables.lines, own);
            tables.lines.push(b'\n');
        }
        tables.referred.sort_unstable();
        tables.referred.dedup();
        let start = tables.references.len() as u32;
        tables.references.append(&mut tables.referred);
        let references = start..tables.references.len() as u32;
        tables.elements.push(HashedElement { kind, is_top, name, own, references });
        own
    }

    /// Records that the current element refers to a type.
    fn add_reference(&mut self, ty: Type) {
        let index = self.add_type_name(ty);
        self.tables.referred.extend(index);
    }

    /// The index of the full name of a message or an enum among the names of the
    /// file. Most names are used many times and are spread over the tree.
    fn add_type_name(&mut self, ty: Type) -> Option<u32> {
        if let Some(&index) = self.tables.indices.get(&ty) {
            return Some(index);
        }
        let names = &mut self.tables.names;
        let index = match ty {
            Type::Message(id) => {
                let message = self.tree.message(id);
                names.push(message.file(), message.parent(), message.name())
            }
            Type::Enum(id) => {
                let item = self.tree.enumeration(id);
                names.push(item.file(), item.parent(), item.name())
            }
            Type::Scalar(_) | Type::Unresolved => return None,
        };
        self.tables.types.push(Some(ty));
        self.tables.indices.insert(ty, index);
        Some(index)
    }

    /// The index of the full name of an element that is not a type.
    fn add_name(&mut self, scope: Option<Message<'t>>, name: &str) -> u32 {
        self.tables.types.push(None);
        self.tables.names.push(self.file, scope, name)
    }

    /// Writes the full name of a message or an enum with its noun, or a scalar.
    fn push_type(&mut self, ty: Type, written: &str) {
        let noun = match ty {
            Type::Message(_) => "message ",
            Type::Enum(_) => "enum ",
            Type::Scalar(scalar) => {
                self.facts.push(scalar.keyword());
                return;
            }
            Type::Unresolved => "unresolved ",
        };
        let index = self.add_type_name(ty);
        let name = index.map(|index| self.tables.names.get(index));
        let name = name.unwrap_or_else(|| written.trim_start_matches('.'));
        self.facts.push(noun).push(name);
        self.tables.referred.extend(index);
    }

    fn write_file_facts(&mut self, of_file: LanguageSettings) {
        let file = self.file;
        let facts = &mut *self.facts;
        facts.begin_block(FILE_OWN);
        facts.push("package ").push(file.package().name()).end();
        for line in split_lines(&self.tables.lines) {
            facts.push_line(line);
        }
        for import in file.imports().filter(|it| it.decl.kind == ImportKind::Public) {
            if import.file.is_none_or(|it| it.package() != file.package()) {
                facts.push("import public ").push(&import.decl.path).end();
            }
        }
        let class = file.string_option("java_outer_classname").map(|it| it.0);
        if class.is_none() {
            of_file.write(facts, FeatureTarget::File, |_| {});
        }
        let first = facts.count();
        if file.decl().edition >= Edition::Edition2024 && self.own_classes == OwnJavaClasses::AsSet
        {
            facts.push(OPTION).push("java_multiple_files = true").end();
        }
        let is_default = class.is_some_and(|it| it == file.default_java_outer_class());
        let has_no_classes = self.own_classes == OwnJavaClasses::Impossible;
        let omitted = [
            is_default.then_some("java_outer_classname"),
            has_no_classes.then_some("java_multiple_files"),
            (!file.decl().edition.is_edition()).then_some("java_string_check_utf8"),
        ];
        self.write_options_but(&omitted, |_| {}, file.decl().options, file.options());
        // The facts of a package are a set of those of its files. With one fact for
        // each leaf, it would not show which values belong together.
        self.facts.join(first, OPTION.len(), option_facts::is_one_option);
    }

    /// Writes the facts of options after a holder such as `field 1 `.
    fn write_options(
        &mut self,
        holder: impl FnOnce(&mut Vec<u8>),
        raw: RawOptions,
        options: Option<&value::Message>,
    ) {
        self.write_options_but(&[], holder, raw, options);
    }

    fn write_options_but(
        &mut self,
        omitted: &[Option<&str>],
        holder: impl FnOnce(&mut Vec<u8>),
        raw: RawOptions,
        options: Option<&value::Message>,
    ) {
        if raw == RawOptions::None {
            return;
        }
        let facts = &mut *self.facts;
        facts.path.clear();
        holder(&mut facts.path);
        push(&mut facts.path, OPTION);
        if let Some(options) = options {
            option_facts::write(facts, self.tree, options, omitted);
        }
        if self.has_problems {
            option_facts::write_strange(facts, self.file, raw, options);
        }
    }

    /// Writes the facts that messages and enums have in common.
    fn write_type_facts(
        &mut self,
        kind: ElementKind,
        name: u32,
        is_local: bool,
        json_allowed: bool,
        reserved: NumberRanges,
        reserved_names: impl Iterator<Item = &'t str>,
    ) {
        let facts = &mut *self.facts;
        facts.begin_block(kind.title());
        facts.push(kind.noun()).push(" ").push(self.tables.names.get(name)).end();
        if is_local {
            facts.push("local").end();
        }
        if !json_allowed {
            facts.push("json legacy").end();
        }
        for (first, last) in reserved.ends() {
            facts.push("reserved ").append_number(first).push(" ").append_number(last).end();
        }
        for name in reserved_names {
            facts.push("reserved ").append_quoted(name).end();
        }
    }

    fn write_message(&mut self, message: Message<'t>) {
        let decl = message.decl();
        let Some(name) = self.add_type_name(Type::Message(message.id)) else { return };
        let languages = self.tables.languages[message.id.index as usize];
        let file = self.file.decl();
        self.write_type_facts(
            ElementKind::Message,
            name,
            !Element::Message(message).is_exported(),
            message.features().json_allowed,
            message.reserved_ranges().into(),
            message.reserved_names().iter().map(|it| file.str(it.name)),
        );
        self.write_options(|_| {}, decl.options, message.options());
        languages.write(self.facts, FeatureTarget::Message, |_| {});
        if decl.parent == Parent::File && self.own_classes == OwnJavaClasses::AsSet {
            languages.write(self.facts, FeatureTarget::Class, |_| {});
        }
        for field in message.fields() {
            self.write_field(field, languages);
        }
        for oneof in message.oneofs().filter(|oneof| !oneof.is_synthetic()) {
            self.facts.push("oneof ").push(oneof.name()).end();
            let raw = oneof.decl().options;
            if raw != RawOptions::None {
                self.write_options(
                    |out| push_holder(out, "oneof ", oneof.name()),
                    raw,
                    oneof.options(),
                );
            }
        }
        for extension in message.extensions() {
            self.write_extension(extension, languages);
        }
        self.write_extension_ranges(message);
        for nested in message.messages().filter(|it| !it.is_map_entry()) {
            let own = self.tables.owns[nested.id.index as usize];
            self.write_nested(ElementKind::Message, Type::Message(nested.id), own);
        }
        for nested in message.enums() {
            let own = self.tables.enum_owns[nested.id.index as usize];
            self.write_nested(ElementKind::Enum, Type::Enum(nested.id), own);
        }
        let own = self.finish_element(ElementKind::Message, name, decl.parent == Parent::File);
        self.tables.owns[message.id.index as usize] = Some(own);
    }

    fn write_nested(&mut self, kind: ElementKind, ty: Type, own: Option<SemanticHash>) {
        let Some(index) = self.add_type_name(ty) else { return };
        self.tables.referred.push(index);
        let facts = &mut *self.facts;
        facts.push(kind.noun()).push(" ").push(self.tables.names.get(index)).push(" ");
        if let Some(own) = own {
            facts.write(|out| push_hash(out, own));
        }
        facts.end();
    }

    fn write_extension_ranges(&mut self, message: Message<'t>) {
        let ranges = message.extension_ranges();
        if ranges.is_empty() {
            return;
        }
        for (first, last) in NumberRanges::from(ranges).ends() {
            self.facts.push("extensions ").append_number(first).push(" ").append_number(last).end();
        }
        // The numbers with each option. Options belong to ranges, but how numbers
        // are divided into ranges means nothing.
        let mut having: std::collections::BTreeMap<Vec<u8>, Vec<(i64, i64)>> =
            std::collections::BTreeMap::new();
        for (range, options) in ranges.iter().zip(message.extension_range_options()) {
            if range.options == RawOptions::None {
                continue;
            }
            let mut facts = std::mem::take(self.facts);
            self.write_options(|_| {}, range.options, options);
            std::mem::swap(&mut facts, self.facts);
            for line in facts.lines() {
                let ends = (range.start.into(), range.end.into());
                having.entry(line.to_owned()).or_default().push(ends);
            }
        }
        for (option, ranges) in having {
            for (first, last) in NumberRanges::from_pairs(ranges).ends() {
                let facts = &mut *self.facts;
                facts.push("extensions ").append_number(first).push(" ").append_number(last);
                facts.push(" ").push_line(&option);
            }
        }
    }

    fn write_field(&mut self, field: Field<'t>, around: LanguageSettings) {
        let facts = &mut *self.facts;
        let (name, number) = (field.name(), i64::from(field.number()));
        facts.push("field ").append_number(number).push(" ").push(name);
        let shape = FieldShape::of(field);
        self.write_shape(field, &shape);
        let around = around.with(self.tree, shape.oneof.and_then(Oneof::options));
        self.write_holder_facts(field, &shape, around, |out| {
            push(out, "field ");
            push_number(out, number);
            out.push(b' ');
        });
    }

    fn write_extension(&mut self, field: Field<'t>, around: LanguageSettings) {
        let file = self.file;
        let parent = enclosing_message(file, field.decl().parent);
        let name = |out: &mut Vec<u8>| {
            push(out, "extension ");
            push_full_name(out, file, parent, field.name());
            out.push(b' ');
        };
        self.facts.write(name).append_number(field.number().into()).push(" ");
        match field.extendee() {
            Some(extendee) => {
                self.facts.write(|out| push_message_name(out, extendee));
                self.add_reference(Type::Message(extendee.id));
            }
            None => {
                let written = field.decl().extendee().map_or("", |it| file.decl().str(it));
                self.facts.push(written.trim_start_matches('.'));
            }
        }
        let shape = FieldShape::of(field);
        self.write_shape(field, &shape);
        self.write_holder_facts(field, &shape, around, name);
    }

    /// Writes the options and language features of a field or extension.
    fn write_holder_facts(
        &mut self,
        field: Field<'t>,
        shape: &FieldShape<'t>,
        around: LanguageSettings,
        holder: impl Fn(&mut Vec<u8>) + Copy,
    ) {
        let raw = field.decl().options;
        if raw != RawOptions::None {
            self.write_options(holder, raw, field.options());
        }
        let languages = match field.options() {
            None => around,
            options => around.with_field(self.tree, options),
        };
        let held = shape.held;
        let any = |wanted: fn(Type) -> bool| held.into_iter().flatten().any(wanted);
        let facts = &mut *self.facts;
        if held[1].or(held[0]).is_some_and(|ty| matches!(ty, Type::Enum(_))) {
            languages.write(facts, FeatureTarget::EnumField, holder);
        }
        if any(|ty| matches!(ty, Type::Scalar(Scalar::String | Scalar::Bytes))) {
            languages.write(facts, FeatureTarget::TextField, holder);
        }
        if any(|ty| ty == Type::Scalar(Scalar::String)) {
            languages.write(facts, FeatureTarget::StringField, holder);
        }
        if shape.cardinality != Cardinality::Singular {
            languages.write(facts, FeatureTarget::ManyField, holder);
        }
    }

    /// Writes the end of the line of a field: cardinality, type and flags.
    fn write_shape(&mut self, field: Field<'t>, shape: &FieldShape<'t>) {
        let FieldShape { cardinality, held, oneof } = *shape;
        let features = field.features();
        let file = self.file;
        let facts = &mut *self.facts;
        facts.push(match (cardinality, field.presence()) {
            (Cardinality::Map, _) => " map ",
            (Cardinality::Repeated, _) => " repeated ",
            (Cardinality::Singular, Presence::LegacyRequired) => " required ",
            (Cardinality::Singular, Presence::Explicit) => " explicit ",
            (Cardinality::Singular, Presence::Implicit) => " implicit ",
        });
        let written = match field.decl().ty {
            TypeDecl::Named(name) | TypeDecl::GroupNamed(name) => file.decl().str(name),
            TypeDecl::Scalar(_) | TypeDecl::Group(_) | TypeDecl::Map(_) => "",
        };
        let mut separator = "";
        for ty in held.into_iter().flatten() {
            self.facts.push(separator);
            self.push_type(ty, written);
            separator = " ";
        }
        let facts = &mut *self.facts;
        if field.is_packable() && features.packed {
            facts.push(" packed");
        }
        let is_message = matches!(field.ty(), Type::Message(_));
        if is_message && cardinality != Cardinality::Map && features.delimited {
            facts.push(" delimited");
        }
        let is_string = |ty: &Type| *ty == Type::Scalar(Scalar::String);
        if held.iter().flatten().any(is_string) && !features.utf8_validated {
            facts.push(" unverified");
        }
        if let Some(json) = field.decl().json_name()
            && !field.is_extension()
            && json != default_json_name(field.name())
        {
            facts.push(" json ").append_quoted(json);
        }
        if let Some(oneof) = oneof {
            facts.push(" oneof ").push(oneof.name());
        }
        if let Some(written) = field.decl().default() {
            match default_of(field) {
                Some(value)
                    if value::Value::new_zero(self.tree, field.ty())
                        .is_some_and(|zero| is_same(&zero, &value)) => {}
                Some(value) => {
                    facts.push(" default ").write(|out| push_value(out, &value));
                }
                None => {
                    facts.push(" default ? ").append_quoted_bytes(written);
                }
            }
        }
        facts.end();
    }

    fn write_enum(&mut self, item: Enum<'t>, of_file: LanguageSettings) {
        let decl = item.decl();
        let Some(name) = self.add_type_name(Type::Enum(item.id)) else { return };
        let features = item.features();
        let file = self.file.decl();
        self.write_type_facts(
            ElementKind::Enum,
            name,
            !Element::Enum(item).is_exported(),
            features.json_allowed,
            NumberRanges::from_ranges(item.reserved_ranges()),
            item.reserved_names().iter().map(|it| file.str(it.name)),
        );
        if features.openness == Openness::Closed {
            self.facts.push("closed").end();
        }
        let outer = self.languages_around(of_file, decl.parent);
        let languages = outer.with(self.tree, item.options());
        self.write_options(|_| {}, decl.options, item.options());
        languages.write(self.facts, FeatureTarget::Enum, |_| {});
        if decl.parent == Parent::File && self.own_classes == OwnJavaClasses::AsSet {
            languages.write(self.facts, FeatureTarget::Class, |_| {});
        }
        if let Some(first) = item.values().next() {
            self.facts.push("first ").append_number(first.number().into()).end();
        }
        self.tables.aliases.clear();
        for value in item.values() {
            let aliases = self.tables.aliases.entry(value.number()).or_insert(0);
            let (name, number) = (value.name(), i64::from(value.number()));
            self.facts.push("value ").push(name).push(" ").append_number(number);
            self.facts.push(" ").append_number(*aliases).end();
            *aliases += 1;
            let raw = value.decl().options;
            if raw != RawOptions::None {
                self.write_options(|out| push_holder(out, "value ", name), raw, value.options());
            }
            let languages = languages.with(self.tree, value.options());
            languages.write(self.facts, FeatureTarget::EnumValue, |out| {
                push_holder(out, "value ", name)
            });
        }
        let own = self.finish_element(ElementKind::Enum, name, decl.parent == Parent::File);
        self.tables.enum_owns[item.id.index as usize] = Some(own);
    }

    fn write_service(&mut self, service: Service<'t>, of_file: LanguageSettings) {
        let name = self.add_name(None, service.name());
        self.facts.begin_block(ElementKind::Service.title());
        self.facts.push("service ").push(self.tables.names.get(name)).end();
        self.write_options(|_| {}, service.decl().options, service.options());
        let languages = of_file.with(self.tree, service.options());
        if self.own_classes == OwnJavaClasses::AsSet {
            languages.write(self.facts, FeatureTarget::Class, |_| {});
        }
        for method in service.methods() {
            let decl = method.decl();
            self.facts.push("method ").push(method.name()).push(" ");
            self.write_method_type(method.input(), |decl| decl.input, decl);
            self.facts.push(" ");
            self.write_method_type(method.output(), |decl| decl.output, decl);
            if decl.client_streaming {
                self.facts.push(" client-streaming");
            }
            if decl.server_streaming {
                self.facts.push(" server-streaming");
            }
            self.facts.end();
            if decl.options != RawOptions::None {
                let holder = |out: &mut Vec<u8>| push_holder(out, "method ", method.name());
                self.write_options(holder, decl.options, method.options());
            }
        }
        self.finish_element(ElementKind::Service, name, true);
    }

    fn write_method_type(
        &mut self,
        ty: Option<Message<'t>>,
        written: fn(&MethodDecl) -> abide_schema::Name,
        decl: &MethodDecl,
    ) {
        match ty {
            Some(message) => {
                self.facts.write(|out| push_message_name(out, message));
                self.add_reference(Type::Message(message.id));
            }
            None => {
                let name = self.file.decl().str(written(decl));
                self.facts.push(name.trim_start_matches('.'));
            }
        }
    }
}

/// Appends the text before the options of something with a name.
fn push_holder(out: &mut Vec<u8>, noun: &str, name: &str) {
    push(out, noun);
    push(out, name);
    out.push(b' ');
}

/// The properties of a field, looked up once.
struct FieldShape<'t> {
    cardinality: Cardinality,
    /// The types of its values: its type, or those of the key and the value of a
    /// map.
    held: [Option<Type>; 2],
    /// The oneof that it is a member of, unless it is synthetic.
    oneof: Option<Oneof<'t>>,
}

impl<'t> FieldShape<'t> {
    fn of(field: Field<'t>) -> FieldShape<'t> {
        let cardinality = field.cardinality();
        let held = match cardinality {
            Cardinality::Map => {
                let entry = field.message_type();
                [1, 2].map(|number| entry?.field_numbered(number).map(Field::ty))
            }
            Cardinality::Singular | Cardinality::Repeated => [Some(field.ty()), None],
        };
        let oneof = field.oneof().filter(|oneof| !oneof.is_synthetic());
        FieldShape { cardinality, held, oneof }
    }
}

/// Returns true if two values are equal, bit for bit.
fn is_same(a: &value::Value, b: &value::Value) -> bool {
    match (a, b) {
        (value::Value::F32(a), value::Value::F32(b)) => a.to_bits() == b.to_bits(),
        (value::Value::F64(a), value::Value::F64(b)) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}
