//! Java: what `protoc --java_out` writes, and the gRPC stubs.
//!
//! The lite runtime is chosen on the command line (`--java_out=lite:`), not by
//! `optimize_for`.

use abide_schema::{
    Cardinality, Edition, Element, Enum, EnumValue, Field, File, Message, Method, Oneof, Openness,
    Presence, Scalar, Service, Type,
};

use super::elements::{
    camel, find_enclosing_message, find_language_feature, find_place, is_group_like, is_open,
    join_nested_name,
};
use super::emitter::{E, Emitter, MarkedType, P, U, Unit};
use super::generator::{FileFlags, Generator};
use crate::element::find_map_entries;
use crate::languages::{JAVA, LanguageTable, name_java_outer_class};

/// The model of `protoc --java_out` and of gRPC's stubs.
pub(super) struct Java;

impl Generator for Java {
    fn table(&self) -> &'static LanguageTable {
        &JAVA
    }

    fn file_unit(&self, file: File<'_>) -> Unit {
        file_unit(file)
    }

    fn unit(&self, element: Element<'_>) -> Unit {
        unit(element)
    }

    fn passes_on(&self, _: &Unit, _: &Unit) -> bool {
        false
    }

    fn emit_file(&self, emit: &mut Emitter<'_>, it: File<'_>) {
        emit_file(emit, it);
    }

    fn emit_element(&self, emit: &mut Emitter<'_>, it: Element<'_>, _: FileFlags) {
        emit_element(emit, it);
    }
}

fn without_keyword(name: String) -> String {
    if JAVA.keywords.contains(&name.as_str()) { format!("{name}_") } else { name }
}

fn package(file: File<'_>) -> &str {
    file.java_package().map_or(file.package().name(), |(name, _)| name)
}

fn joined(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_owned() } else { format!("{scope}.{name}") }
}

fn in_class(file: File<'_>) -> Unit {
    let prefix = joined(package(file), &name_java_outer_class(file));
    Unit { prefix, import: String::new(), nested: true }
}

fn in_package(file: File<'_>) -> Unit {
    Unit { prefix: package(file).to_owned(), import: String::new(), nested: false }
}

fn file_unit(file: File<'_>) -> Unit {
    let option = file.options().and_then(|it| it.get_bool(file.tree, "java_multiple_files"));
    if file.decl().edition >= Edition::Edition2024 || option == Some(true) {
        in_package(file)
    } else {
        in_class(file)
    }
}

fn unit(element: Element<'_>) -> Unit {
    let mut top = element;
    while let Some(parent) = top.parent() {
        top = parent;
    }
    let file = top.file();
    match top {
        Element::Field(_) => in_class(file),
        Element::Service(_) | Element::Method(_) => in_package(file),
        _ => match find_language_feature(top, "pb.java", "nest_in_file_class") {
            Some("YES") => in_class(file),
            Some("NO") => in_package(file),
            _ => file_unit(file),
        },
    }
}

fn message_type(message: Message<'_>) -> MarkedType {
    let unit = unit(Element::Message(message)).prefix;
    let name = joined(&unit, &join_nested_name(message.parent(), message.name()));
    MarkedType::of(Type::Message(message.id), name)
}

fn enum_type(it: Enum<'_>) -> MarkedType {
    let unit = unit(Element::Enum(it)).prefix;
    MarkedType::of(Type::Enum(it.id), joined(&unit, &join_nested_name(it.parent(), it.name())))
}

fn value_types(field: Field<'_>) -> (MarkedType, MarkedType) {
    match (field.ty(), field.message_type(), field.enum_type()) {
        (_, Some(message), _) => (message_type(message), message_type(message)),
        (_, _, Some(it)) => (enum_type(it), enum_type(it)),
        (Type::Scalar(it), ..) => {
            (MarkedType::plain(JAVA.scalars.of(it)), MarkedType::plain(JAVA.boxed.of(it)))
        }
        _ => (MarkedType::plain("?"), MarkedType::plain("?")),
    }
}

fn emit_file(emit: &mut Emitter<'_>, file: File<'_>) {
    if let Some(message) = file.messages().next() {
        let name = joined(&unit(Element::Message(message)).prefix, message.name());
        emit.add(name, "class");
    } else if let Some(it) = file.enums().next() {
        emit.add(joined(&unit(Element::Enum(it)).prefix, it.name()), "enum");
    }
    emit.add(in_class(file).prefix, "class");
}

fn emit_element(emit: &mut Emitter<'_>, element: Element<'_>) {
    let scope =
        if find_enclosing_message(element).is_some() { format!("{U}.{P}") } else { U.to_string() };
    match element {
        Element::Message(it) => {
            emit.add(format!("{scope}.{}", it.name()), "class");
            emit.add(format!("{scope}.{}.Builder", it.name()), "class");
            emit.add(format!("{scope}.{}OrBuilder", it.name()), "interface");
        }
        Element::Field(it) => {
            if it.is_extension() {
                emit_extension(emit, it, &scope);
            } else {
                emit_field(emit, it);
            }
            let constant = it.name().to_ascii_uppercase();
            emit.add(format!("{scope}.{constant}_FIELD_NUMBER"), "int");
        }
        Element::Oneof(it) => emit_oneof(emit, it),
        Element::Enum(it) => {
            let kind = if is_large(it) { "class" } else { "enum" };
            emit.add(format!("{scope}.{}", it.name()), kind);
            if it.features().openness == Openness::Open {
                let pattern = constant(!is_large(it));
                let name = format!("{scope}.{}.UNRECOGNIZED", it.name());
                emit.shaped(name, pattern, &[&enum_type(it)]);
            }
        }
        Element::EnumValue(it) => emit_enum_value(emit, it),
        Element::Service(it) => emit_service(emit, it),
        Element::Method(it) => emit_method(emit, it),
    }
}

/// Adds the accessors of one field; accessors of the builder return the builder.
struct Accessors<'e, 't> {
    emit: &'e mut Emitter<'t>,
    name: String,
    shapes: Vec<MarkedType>,
}

impl Accessors<'_, '_> {
    fn get(&mut self, before: &str, after: &str, pattern: &str) {
        let form = format!("{U}.{P}.{before}{}{after}", self.name);
        let shapes: Vec<&MarkedType> = self.shapes.iter().collect();
        self.emit.shaped(form, pattern, &shapes);
    }

    fn build(&mut self, before: &str, after: &str, pattern: &str) {
        let form = format!("{U}.{P}.Builder.{before}{}{after}", self.name);
        let shapes: Vec<&MarkedType> = self.shapes.iter().collect();
        self.emit.shaped(form, pattern, &shapes);
    }
}

fn emit_field(emit: &mut Emitter<'_>, field: Field<'_>) {
    let (value, boxed) = value_types(field);
    let is_open = is_open(field, "pb.java");
    let names = field.parent().map(|parent| (emit.names.of(parent), find_place(field, parent)));
    let name = names.as_ref().and_then(|(names, at)| names.java.accessors.get(*at));
    let name = name.cloned().unwrap_or_default();
    let mut it = Accessors { emit, name, shapes: vec![value, boxed] };
    match field.cardinality() {
        Cardinality::Map => {
            if let Some([key, value]) = find_map_entries(field) {
                emit_map(&mut it, key, value);
            }
        }
        Cardinality::Repeated => emit_repeated(&mut it, field, is_open),
        Cardinality::Singular => emit_singular(&mut it, field, is_open),
    }
    it.build("clear", "", "Builder()");
    if let Some(oneof) = field.oneof()
        && !oneof.is_synthetic()
    {
        it.emit.owner = format!("{}Case", camel(oneof.name(), true));
        let constant = field.name().to_ascii_uppercase();
        it.emit.case(field, format!("{U}.{P}.{E}.{constant}"), "case");
    }
}

fn emit_singular(it: &mut Accessors<'_, '_>, field: Field<'_>, is_open: bool) {
    it.get("get", "", "{0}()");
    it.build("set", "", "Builder({0})");
    match field.ty() {
        Type::Message(_) => {
            it.build("set", "", "Builder({0}.Builder)");
            it.build("merge", "", "Builder({0})");
            it.build("get", "Builder", "{0}.Builder()");
            it.get("get", "OrBuilder", "{0}OrBuilder()");
        }
        Type::Scalar(Scalar::String) => {
            it.get("get", "Bytes", "com.google.protobuf.ByteString()");
            it.build("set", "Bytes", "Builder(com.google.protobuf.ByteString)");
        }
        Type::Enum(_) if is_open => {
            it.get("get", "Value", "int()");
            it.build("set", "Value", "Builder(int)");
        }
        _ => {}
    }
    if field.presence() != Presence::Implicit {
        it.get("has", "", "boolean()");
    }
}

fn emit_repeated(it: &mut Accessors<'_, '_>, field: Field<'_>, is_open: bool) {
    let is_string = field.ty() == Type::Scalar(Scalar::String);
    if is_string {
        it.get("get", "List", "com.google.protobuf.ProtocolStringList()");
    } else {
        it.get("get", "List", "java.util.List<{1}>()");
    }
    it.build("add", "", "Builder({0})");
    let bound = if is_string { "" } else { "? extends " };
    it.build("addAll", "", &format!("Builder(Iterable<{bound}{{1}}>)"));
    it.get("get", "", "{0}(int)");
    it.get("get", "Count", "int()");
    it.build("set", "", "Builder(int, {0})");
    if is_string {
        it.get("get", "Bytes", "com.google.protobuf.ByteString(int)");
        it.build("add", "Bytes", "Builder(com.google.protobuf.ByteString)");
    }
    if is_open {
        it.get("get", "ValueList", "java.util.List<Integer>()");
        it.get("get", "Value", "int(int)");
        it.build("add", "Value", "Builder(int)");
        it.build("addAll", "Value", "Builder(Iterable<Integer>)");
        it.build("set", "Value", "Builder(int, int)");
    }
    if matches!(field.ty(), Type::Message(_)) {
        it.build("add", "", "Builder({0}.Builder)");
        it.build("add", "", "Builder(int, {0})");
        it.build("add", "", "Builder(int, {0}.Builder)");
        it.build("set", "", "Builder(int, {0}.Builder)");
        it.build("remove", "", "Builder(int)");
        it.get("get", "OrBuilder", "{0}OrBuilder(int)");
        it.get("get", "OrBuilderList", "java.util.List<? extends {0}OrBuilder>()");
        it.build("get", "Builder", "{0}.Builder(int)");
        it.build("get", "BuilderList", "java.util.List<{0}.Builder>()");
        it.build("add", "Builder", "{0}.Builder()");
        it.build("add", "Builder", "{0}.Builder(int)");
    }
}

fn emit_map(it: &mut Accessors<'_, '_>, key: Field<'_>, value: Field<'_>) {
    let is_open = is_open(value, "pb.java");
    let ((key, boxed_key), (held, boxed)) = (value_types(key), value_types(value));
    it.shapes = vec![key, boxed_key, held, boxed];
    it.get("get", "Map", "java.util.Map<{1}, {3}>()");
    it.build("put", "", "Builder({0}, {2})");
    it.build("putAll", "", "Builder(java.util.Map<{1}, {3}>)");
    it.get("get", "OrDefault", "{2}({0}, {2})");
    it.get("get", "OrThrow", "{2}({0})");
    it.get("contains", "", "boolean({0})");
    it.build("remove", "", "Builder({0})");
    it.get("get", "Count", "int()");
    it.get("get", "", "java.util.Map<{1}, {3}>()");
    if is_open {
        it.get("get", "ValueMap", "java.util.Map<{1}, Integer>()");
        it.build("put", "Value", "Builder({0}, int)");
        it.build("putAll", "Value", "Builder(java.util.Map<{1}, Integer>)");
        it.get("get", "ValueOrDefault", "int({0}, int)");
        it.get("get", "ValueOrThrow", "int({0})");
        it.get("get", "Value", "java.util.Map<{1}, Integer>()");
    }
}

fn emit_extension(emit: &mut Emitter<'_>, field: Field<'_>, scope: &str) {
    let extendee = field.extendee().map_or(MarkedType::plain("?"), message_type);
    let pattern = match field.cardinality() {
        Cardinality::Singular => "GeneratedExtension<{0}, {1}>",
        _ => "GeneratedExtension<{0}, java.util.List<{1}>>",
    };
    let name = match field.message_type() {
        Some(group) if is_group_like(field) => camel(group.name(), false),
        _ => camel(field.name(), false),
    };
    let name = without_keyword(name);
    emit.shaped(format!("{scope}.{name}"), pattern, &[&extendee, &value_types(field).1]);
}

fn emit_oneof(emit: &mut Emitter<'_>, oneof: Oneof<'_>) {
    let name = camel(oneof.name(), true);
    emit.add(format!("{U}.{P}.get{name}Case"), format!("{name}Case()"));
    emit.add(format!("{U}.{P}.Builder.clear{name}"), "Builder()");
    emit.add(format!("{U}.{P}.{name}Case"), "enum");
    let unset = name.to_ascii_uppercase();
    emit.add(format!("{U}.{P}.{name}Case.{unset}_NOT_SET"), "case");
}

/// Returns true if it is a class with constants, because Java limits the size of an enum.
fn is_large(it: Enum<'_>) -> bool {
    find_language_feature(Element::Enum(it), "pb.java", "large_enum") == Some("true")
}

/// Only a constant of an enum can be a `case` of a `switch`.
fn constant(is_constant: bool) -> &'static str {
    if is_constant { "constant {0}" } else { "static final {0}" }
}

/// A value that shares its number with an earlier one is a field of the class.
fn emit_enum_value(emit: &mut Emitter<'_>, value: EnumValue<'_>) {
    let it = value.parent();
    emit.owner = join_nested_name(it.parent(), it.name());
    let first = it.value_numbered(value.number());
    let pattern = constant(first == Some(value) && !is_large(it));
    emit.shaped(format!("{U}.{E}.{}", value.name()), pattern, &[&enum_type(it)]);
    emit.add(format!("{U}.{E}.{}_VALUE", value.name()), "int");
}

fn emit_service(emit: &mut Emitter<'_>, service: Service<'_>) {
    let name = service.name();
    emit.add(format!("{U}.{name}Grpc"), "class");
    emit.add(format!("{U}.{name}Grpc.{name}BlockingStub"), "class");
    emit.add(format!("{U}.{name}Grpc.{name}Stub"), "class");
    emit.add(format!("{U}.{name}Grpc.{name}FutureStub"), "class");
    emit.add(format!("{U}.{name}Grpc.{name}ImplBase"), "class");
}

/// The type of a request or response; a question mark if it does not link.
fn payload_type(message: Option<Message<'_>>) -> MarkedType {
    message.map_or(MarkedType::plain("?"), message_type)
}

fn emit_method(emit: &mut Emitter<'_>, method: Method<'_>) {
    let name = without_keyword(camel(method.name(), false));
    emit.owner = method.service().name().to_owned();
    let types = [&payload_type(method.input()), &payload_type(method.output())];
    let (blocking, base) = match (method.decl().client_streaming, method.decl().server_streaming) {
        (false, false) => (Some("{1}({0})"), "void({0}, io.grpc.stub.StreamObserver<{1}>)"),
        (false, true) => {
            (Some("java.util.Iterator<{1}>({0})"), "void({0}, io.grpc.stub.StreamObserver<{1}>)")
        }
        (true, _) => (None, "io.grpc.stub.StreamObserver<{0}>(io.grpc.stub.StreamObserver<{1}>)"),
    };
    if let Some(blocking) = blocking {
        emit.shaped(format!("{U}.{E}Grpc.{E}BlockingStub.{name}"), blocking, &types);
    }
    if !method.decl().client_streaming && !method.decl().server_streaming {
        let future = "com.google.common.util.concurrent.ListenableFuture<{1}>({0})";
        emit.shaped(format!("{U}.{E}Grpc.{E}FutureStub.{name}"), future, &types);
    }
    emit.shaped(format!("{U}.{E}Grpc.{E}Stub.{name}"), base, &types);
    emit.shaped(format!("{U}.{E}Grpc.{E}ImplBase.{name}"), base, &types);
}
