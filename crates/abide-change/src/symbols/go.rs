//! Go: what `protoc-gen-go` and `protoc-gen-go-grpc` write.

use abide_schema::{
    Cardinality, Edition, Element, Enum, EnumValue, Field, File, Message, Method, Oneof, Presence,
    Scalar, Service, Type,
};

use super::elements::{find_language_feature, list_public_imports};
use super::emitter::{E, Emitter, G, MarkedType, P, U, Unit};
use super::generator::{FileFlags, Generator};
use super::names::go::{camel, type_name};
use crate::element::find_map_entries;
use crate::languages::{GO, LanguageTable};

/// The model of `protoc-gen-go` and of gRPC's stubs.
pub(super) struct Go;

impl Generator for Go {
    fn table(&self) -> &'static LanguageTable {
        &GO
    }

    fn file_unit(&self, file: File<'_>) -> Unit {
        unit(file)
    }

    fn type_path(&self, message: Message<'_>) -> String {
        type_name(message.parent(), message.name())
    }

    fn passes_on(&self, _: &Unit, _: &Unit) -> bool {
        true
    }

    fn imports_packages(&self) -> bool {
        true
    }

    fn is_unnamed(&self, file: File<'_>) -> bool {
        file.go_package().is_none()
    }

    fn emit_file(&self, emit: &mut Emitter<'_>, it: File<'_>) {
        emit_file(emit, it);
    }

    fn emit_element(&self, emit: &mut Emitter<'_>, it: Element<'_>, _: FileFlags) {
        emit_element(emit, it);
    }
}

/// The Go package of a file: `go_package`, or else the folder of the file, since the
/// package then comes from flags.
fn unit(file: File<'_>) -> Unit {
    let folder = file.path().rsplit_once('/').map_or("", |(folder, _)| folder);
    let (import, name) = match file.go_package() {
        None => (folder, None),
        Some((option, _)) => match option.split_once(';') {
            Some((import, name)) => (import, Some(name)),
            None => (option, None),
        },
    };
    let name = name.unwrap_or_else(|| import.rsplit('/').next().unwrap_or(import));
    // The package of a file in the topmost folder is not known.
    let prefix = if name.is_empty() { String::new() } else { sanitized(name) };
    Unit { prefix, import: import.to_owned(), nested: false }
}

/// A Go identifier. Source: `GoSanitized` of protobuf-go.
fn sanitized(name: &str) -> String {
    let clean: String =
        name.chars().map(|it| if it.is_alphanumeric() { it } else { '_' }).collect();
    let starts_well = clean.starts_with(|it: char| it.is_alphabetic() || it == '_');
    if GO.keywords.contains(&clean.as_str()) || !starts_well { format!("_{clean}") } else { clean }
}

/// The form of an element declared in a message, or at the top level.
fn declared(parent: Option<Message<'_>>, name: &str) -> String {
    let full = type_name(parent, name);
    let scope = parent.map(|message| type_name(message.parent(), message.name()));
    match scope.as_ref().and_then(|scope| full.strip_prefix(scope.as_str())) {
        Some(rest) => format!("{P}{rest}"),
        None => full,
    }
}

fn in_package(file: File<'_>, name: &str) -> String {
    let prefix = unit(file).prefix;
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") }
}

fn message_type(message: Message<'_>) -> MarkedType {
    let name = type_name(message.parent(), message.name());
    MarkedType::of(Type::Message(message.id), in_package(message.file(), &name))
}

fn enum_type(it: Enum<'_>) -> MarkedType {
    MarkedType::of(Type::Enum(it.id), in_package(it.file(), &type_name(it.parent(), it.name())))
}

/// A single value, as getters return it; a message comes without its pointer.
fn value_type(field: Field<'_>) -> MarkedType {
    match (field.ty(), field.message_type(), field.enum_type()) {
        (_, Some(message), _) => message_type(message),
        (_, _, Some(it)) => enum_type(it),
        (Type::Scalar(scalar), ..) => MarkedType::plain(GO.scalars.of(scalar)),
        _ => MarkedType::plain("?"),
    }
}

fn pointer(field: Field<'_>) -> &'static str {
    if matches!(field.ty(), Type::Message(_)) { "*" } else { "" }
}

/// Returns what a getter returns, as a pattern over the shapes after it.
fn getter(field: Field<'_>) -> (String, Vec<MarkedType>) {
    if let Some([key, value]) = find_map_entries(field) {
        let pattern = format!("map[{{0}}]{}{{1}}", pointer(value));
        return (pattern, vec![value_type(key), value_type(value)]);
    }
    let list = if field.cardinality() == Cardinality::Repeated { "[]" } else { "" };
    (format!("{list}{}{{0}}", pointer(field)), vec![value_type(field)])
}

/// Returns true if the struct holds a pointer to a value that is not a pointer itself.
fn by_pointer(field: Field<'_>) -> bool {
    field.cardinality() == Cardinality::Singular
        && field.presence() != Presence::Implicit
        && !matches!(field.ty(), Type::Message(_) | Type::Scalar(Scalar::Bytes))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Api {
    Open,
    Hybrid,
    Opaque,
}

fn api(message: Message<'_>) -> Api {
    match find_language_feature(Element::Message(message), "pb.go", "api_level") {
        Some("API_OPEN") => Api::Open,
        Some("API_HYBRID") => Api::Hybrid,
        Some("API_OPAQUE") => Api::Opaque,
        _ if message.file().decl().edition >= Edition::Edition2024 => Api::Opaque,
        _ => Api::Open,
    }
}

fn emit_file(emit: &mut Emitter<'_>, file: File<'_>) {
    let own = unit(file);
    emit.add(own.import.clone(), "import");
    emit.add(U.to_string(), "package");
    let descriptor: String =
        file.path().chars().map(|it| if it.is_alphanumeric() { it } else { '_' }).collect();
    emit.add(format!("{U}.File_{descriptor}"), "protoreflect.FileDescriptor");
    for import in list_public_imports(file) {
        if unit(import).import == own.import {
            continue;
        }
        for message in import.messages() {
            emit.shaped(
                format!("{U}.{}", camel(message.name())),
                "= {0}",
                &[&message_type(message)],
            );
        }
        for it in import.enums() {
            emit.shaped(format!("{U}.{}", camel(it.name())), "= {0}", &[&enum_type(it)]);
        }
    }
}

fn emit_element(emit: &mut Emitter<'_>, element: Element<'_>) {
    match element {
        Element::Message(it) => emit_message(emit, it),
        Element::Field(it) if it.is_extension() => emit_extension(emit, it),
        Element::Field(it) => {
            if let Some(parent) = it.parent() {
                emit_field(emit, it, parent);
            }
        }
        Element::Oneof(it) => emit_oneof(emit, it),
        Element::Enum(it) => emit_enumeration(emit, it),
        Element::EnumValue(it) => emit_enum_value(emit, it),
        Element::Service(it) => emit_service(emit, it),
        Element::Method(it) => emit_method(emit, it),
    }
}

fn emit_message(emit: &mut Emitter<'_>, message: Message<'_>) {
    let name = declared(message.parent(), message.name());
    emit.add(format!("{U}.{name}"), "struct");
    if api(message) != Api::Open {
        emit.add(format!("{U}.{name}_builder"), "struct");
    }
}

/// The form of a member of the struct of a message.
fn member_form(name: &str) -> String {
    format!("{U}.{P}.{name}")
}

fn emit_field(emit: &mut Emitter<'_>, field: Field<'_>, parent: Message<'_>) {
    let names = emit.names.of(parent);
    let name = names.go.field(field, parent);
    let (got, shapes) = getter(field);
    let shapes: Vec<&MarkedType> = shapes.iter().collect();
    let held = format!("{}{got}", if by_pointer(field) { "*" } else { "" });
    let api = api(parent);
    emit.shaped(member_form(&format!("Get{name}")), &format!("func() {got}"), &shapes);
    let is_member = field.oneof().is_some_and(|oneof| !oneof.is_synthetic());
    if api != Api::Opaque {
        if is_member {
            let mut wrapper = name.to_owned();
            let path = type_name(parent.parent(), parent.name());
            let is_type = |name: &str| names.go.types.contains(&format!("{path}_{name}"));
            while is_type(&wrapper) {
                wrapper.push('_');
            }
            emit.case(field, format!("{U}.{P}_{wrapper}"), "struct");
            emit.shaped(format!("{U}.{P}_{wrapper}.{name}"), &got, &shapes);
        } else {
            emit.shaped(member_form(name), &held, &shapes);
        }
    }
    if api != Api::Open {
        emit.shaped(member_form(&format!("Set{name}")), &format!("func({got})"), &shapes);
        if field.cardinality() == Cardinality::Singular && field.presence() != Presence::Implicit {
            emit.add(member_form(&format!("Has{name}")), "func() bool");
            emit.add(member_form(&format!("Clear{name}")), "func()");
        }
        let built = if is_member && by_pointer(field) { format!("*{got}") } else { held };
        emit.shaped(format!("{U}.{P}_builder.{name}"), &built, &shapes);
    }
    if field.decl().default().is_some() {
        emit.shaped(format!("{U}.Default_{P}_{name}"), "{0}", &[&value_type(field)]);
    }
}

fn emit_oneof(emit: &mut Emitter<'_>, oneof: Oneof<'_>) {
    let parent = oneof.message();
    let names = emit.names.of(parent);
    let name = names.go.oneof(oneof);
    let api = api(parent);
    if api != Api::Opaque {
        emit.add(format!("{U}.{P}.{name}"), "oneof");
        emit.add(format!("{U}.{P}.Get{name}"), "func() oneof");
    }
    if api != Api::Open {
        emit.add(format!("{U}.{P}.Which{name}"), "func() case");
        emit.add(format!("{U}.{P}.Has{name}"), "func() bool");
        emit.add(format!("{U}.{P}.Clear{name}"), "func()");
    }
}

fn emit_extension(emit: &mut Emitter<'_>, field: Field<'_>) {
    let held = format!("{}{}", if by_pointer(field) { "*" } else { "" }, getter(field).0);
    let extendee = field.extendee().map_or(MarkedType::plain("?"), message_type);
    let name = camel(field.name());
    let scope = if field.parent().is_some() { format!("{P}_") } else { String::new() };
    emit.shaped(
        format!("{U}.E_{scope}{name}"),
        &format!("extension of {{0}}: {}", held.replace("{0}", "{1}")),
        &[&extendee, &value_type(field)],
    );
}

fn emit_enumeration(emit: &mut Emitter<'_>, it: Enum<'_>) {
    let name = format!("{U}.{}", declared(it.parent(), it.name()));
    emit.add(name.clone(), "int32");
    emit.add(format!("{name}_name"), "map[int32]string");
    emit.add(format!("{name}_value"), "map[string]int32");
    let unmarshals =
        match find_language_feature(Element::Enum(it), "pb.go", "legacy_unmarshal_json_enum") {
            Some(set) => set == "true",
            None => it.file().decl().edition == Edition::Proto2,
        };
    if unmarshals {
        emit.add(format!("{name}.UnmarshalJSON"), "func([]byte) error");
    }
}

fn emit_enum_value(emit: &mut Emitter<'_>, value: EnumValue<'_>) {
    let it = value.parent();
    let ty = enum_type(it);
    let scope = match it.parent() {
        Some(_) => emit.parent.clone(),
        None => type_name(None, it.name()),
    };
    emit.values = format!("{}.{scope}_", emit.prefix);
    let name = value.name();
    let strip = find_language_feature(Element::EnumValue(value), "pb.go", "strip_enum_prefix")
        .unwrap_or_default();
    let stripped = strip_enum_name(name, it.name());
    if strip != "STRIP_ENUM_PREFIX_STRIP" {
        emit.shaped(format!("{G}{name}"), "{0}", &[&ty]);
    }
    if strip == "STRIP_ENUM_PREFIX_STRIP"
        || strip == "STRIP_ENUM_PREFIX_GENERATE_BOTH" && stripped != name
    {
        emit.shaped(format!("{G}{stripped}"), "{0}", &[&ty]);
    }
}

/// A value's name without the name of its enum as a prefix, ignoring underscores
/// and case; the whole name if the rest is not a name.
fn strip_enum_name<'n>(name: &'n str, prefix: &str) -> &'n str {
    let mut expected = prefix.bytes().filter(|byte| *byte != b'_').peekable();
    let mut at = 0;
    for byte in name.bytes() {
        if expected.peek().is_none() {
            break;
        }
        at += 1;
        if byte != b'_' && expected.next().is_some_and(|other| !byte.eq_ignore_ascii_case(&other)) {
            return name;
        }
    }
    let rest = name.get(at..).unwrap_or_default().trim_start_matches('_');
    let is_name =
        expected.peek().is_none() && rest.starts_with(|it: char| it.is_ascii_alphabetic());
    if is_name { rest } else { name }
}

fn emit_service(emit: &mut Emitter<'_>, service: Service<'_>) {
    let name = camel(service.name());
    emit.add(format!("{U}.{name}Client"), "interface");
    emit.add(
        format!("{U}.New{name}Client"),
        format!("func(grpc.ClientConnInterface) {name}Client"),
    );
    emit.add(format!("{U}.{name}Server"), "interface");
    emit.add(format!("{U}.Register{name}Server"), "func");
    emit.add(format!("{U}.Unimplemented{name}Server"), "struct");
}

/// The type of a request or response; a question mark if it does not link.
fn payload_type(message: Option<Message<'_>>) -> MarkedType {
    message.map_or(MarkedType::plain("?"), message_type)
}

fn emit_method(emit: &mut Emitter<'_>, method: Method<'_>) {
    let name = camel(method.name());
    emit.owner = camel(method.service().name());
    let types = [&payload_type(method.input()), &payload_type(method.output())];
    let (client, server) = match (method.decl().client_streaming, method.decl().server_streaming) {
        (false, false) => (
            "func(context.Context, *{0}, ...grpc.CallOption) (*{1}, error)",
            "func(context.Context, *{0}) (*{1}, error)",
        ),
        (true, false) => (
            "func(context.Context, ...grpc.CallOption) (grpc.ClientStreamingClient[{0}, {1}], error)",
            "func(grpc.ClientStreamingServer[{0}, {1}]) error",
        ),
        (false, true) => (
            "func(context.Context, *{0}, ...grpc.CallOption) (grpc.ServerStreamingClient[{1}], error)",
            "func(*{0}, grpc.ServerStreamingServer[{1}]) error",
        ),
        (true, true) => (
            "func(context.Context, ...grpc.CallOption) (grpc.BidiStreamingClient[{0}, {1}], error)",
            "func(grpc.BidiStreamingServer[{0}, {1}]) error",
        ),
    };
    emit.shaped(format!("{U}.{E}Client.{name}"), client, &types);
    emit.shaped(format!("{U}.{E}Server.{name}"), server, &types);
}
