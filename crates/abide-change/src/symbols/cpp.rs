//! C++: what `protoc --cpp_out` writes into `*.pb.h`, and the gRPC stubs.

use abide_schema::{
    Cardinality, Edition, Element, Enum, EnumValue, Field, File, Message, Method, Oneof, Presence,
    Scalar, Service, Type,
};

use super::elements::{
    camel, find_language_feature, find_place, is_lite, list_public_imports, stem,
};
use super::emitter::{E, Emitter, G, MarkedType, P, U, Unit};
use super::generator::{FileFlags, Generator};
use super::names::cpp::number_constant;
use crate::element::find_map_entries;
use crate::languages::{CPP, CPP_NAMESPACE, LanguageTable};
use crate::option::OptionOwner;

/// The model of `protoc --cpp_out` and of gRPC's stubs.
pub(super) struct Cpp;

impl Generator for Cpp {
    fn table(&self) -> &'static LanguageTable {
        &CPP
    }

    fn file_unit(&self, file: File<'_>) -> Unit {
        unit(file)
    }

    fn type_path(&self, message: Message<'_>) -> String {
        class(message)
    }

    fn passes_on(&self, old: &Unit, new: &Unit) -> bool {
        old.prefix == new.prefix
    }

    fn emit_file(&self, emit: &mut Emitter<'_>, it: File<'_>) {
        emit_file(emit, it);
    }

    fn emit_element(&self, emit: &mut Emitter<'_>, it: Element<'_>, flags: FileFlags) {
        emit_element(emit, it, flags);
    }
}

fn resolved(name: &str) -> String {
    if CPP.keywords.binary_search(&name).is_ok() { format!("{name}_") } else { name.to_owned() }
}

fn unit(file: File<'_>) -> Unit {
    let option = OptionOwner::File(file).standard(CPP_NAMESPACE);
    let prefix = match option.and_then(|it| it.value.as_str()).filter(|it| !it.is_empty()) {
        Some(namespace) => namespace.to_owned(),
        None => {
            let names: Vec<String> = file.package().name().split('.').map(resolved).collect();
            names.join("::")
        }
    };
    Unit { prefix, import: header(file), nested: false }
}

fn header(file: File<'_>) -> String {
    format!("{}{}", stem(file.path()), CPP.suffix)
}

/// The class of a message in its namespace: nested ones are flattened.
fn class(message: Message<'_>) -> String {
    flattened(message.parent(), message.name())
}

fn flattened(parent: Option<Message<'_>>, name: &str) -> String {
    match parent {
        Some(parent) => resolved(&format!("{}_{name}", class(parent))),
        None => resolved(name),
    }
}

fn qualified(file: File<'_>, name: &str) -> String {
    let namespace = unit(file).prefix;
    if namespace.is_empty() { name.to_owned() } else { format!("{namespace}::{name}") }
}

fn message_type(message: Message<'_>) -> MarkedType {
    MarkedType::of(Type::Message(message.id), qualified(message.file(), &class(message)))
}

fn enum_type(it: Enum<'_>) -> MarkedType {
    let name = qualified(it.file(), &flattened(it.parent(), it.name()));
    MarkedType::of(Type::Enum(it.id), name)
}

fn value_type(field: Field<'_>) -> MarkedType {
    match (field.ty(), field.message_type(), field.enum_type()) {
        (_, Some(message), _) => message_type(message),
        (_, _, Some(it)) => enum_type(it),
        (Type::Scalar(it), ..) => MarkedType::plain(CPP.scalars.of(it)),
        _ => MarkedType::plain("?"),
    }
}

fn emit_file(emit: &mut Emitter<'_>, file: File<'_>) {
    let own = header(file);
    emit.add(own.clone(), "#include");
    let prefix = emit.prefix.clone();
    if !prefix.is_empty() {
        emit.add(U.to_string(), "namespace");
    }
    if let Some(message) = file.messages().next() {
        let base = if is_lite(file) { "MessageLite" } else { "Message" };
        emit.add(format!("{U}::{}", class(message)), format!("class : google::protobuf::{base}"));
    }
    if FileFlags::of(&Cpp, file).generic_services
        && let Some(service) = file.services().next()
    {
        emit.add(format!("{U}::{}", resolved(service.name())), "class : google::protobuf::Service");
    }
    for import in list_public_imports(file) {
        emit.add(header(import), "#include through its importer");
    }
}

fn emit_element(emit: &mut Emitter<'_>, element: Element<'_>, flags: FileFlags) {
    match element {
        Element::Message(it) => emit_message(emit, it, flags),
        Element::Field(it) if it.is_extension() => emit_extension(emit, it),
        Element::Field(it) => emit_field(emit, it),
        Element::Oneof(it) => emit_oneof(emit, it),
        Element::Enum(it) => emit_enumeration(emit, it, flags),
        Element::EnumValue(it) => emit_enum_value(emit, it),
        Element::Service(it) => emit_service(emit, it, flags),
        Element::Method(it) => emit_method(emit, it, flags),
    }
}

fn emit_message(emit: &mut Emitter<'_>, message: Message<'_>, flags: FileFlags) {
    let name = resolved(message.name());
    let class = if message.parent().is_some() {
        emit.add(format!("{U}::{P}::{name}"), "class");
        format!("{U}::{P}_{}", message.name())
    } else {
        format!("{U}::{name}")
    };
    emit.add(class.clone(), "class");
    let bare = message
        .options()
        .and_then(|options| options.get_bool(emit.tree, "no_standard_descriptor_accessor"));
    if flags.reflection && bare != Some(true) {
        emit.add(format!("{class}::descriptor"), "static const google::protobuf::Descriptor*()");
    }
}

/// The C++ type that holds a string or bytes.
#[derive(PartialEq)]
enum CppString {
    String,
    View,
    Cord,
    /// String cords, and lists of cords, are not released: their accessors are
    /// private.
    Hidden,
}

fn string_type(field: Field<'_>) -> CppString {
    let set = find_language_feature(Element::Field(field), "pb.cpp", "string_type").or_else(|| {
        field.options().and_then(|options| options.get_enum_name(field.file().tree, "ctype"))
    });
    let is_bytes = field.ty() == Type::Scalar(Scalar::Bytes);
    match set {
        Some("CORD") if is_bytes && field.cardinality() == Cardinality::Singular => CppString::Cord,
        Some("CORD") => CppString::Hidden,
        Some("VIEW") => CppString::View,
        None if field.file().decl().edition >= Edition::Edition2024 => CppString::View,
        _ => CppString::String,
    }
}

/// The name in accessors. Source: `FieldName` of the C++ generator, which avoids
/// keywords and members that every message has.
fn accessor(field: Field<'_>) -> String {
    let lower = field.name().to_ascii_lowercase();
    match CPP.members.contains(&lower.as_str()) {
        true => format!("{lower}_"),
        false => resolved(&lower),
    }
}

/// The form of an accessor: a member of the class of the message.
fn accessor_form(before: &str, name: &str) -> String {
    format!("{U}::{P}::{before}{name}")
}

fn emit_field(emit: &mut Emitter<'_>, field: Field<'_>) {
    let name = accessor(field);
    let value = value_type(field);
    if let Some([key, value]) = find_map_entries(field) {
        let (key, value) = (value_type(key), value_type(value));
        let map = "google::protobuf::Map<{0}, {1}>";
        emit.shaped(accessor_form("", &name), &format!("const {map}&() const"), &[&key, &value]);
        emit.shaped(accessor_form("mutable_", &name), &format!("{map}*()"), &[&key, &value]);
    } else if field.cardinality() == Cardinality::Repeated {
        emit_repeated(emit, field, &name, &value);
    } else {
        match field.ty() {
            Type::Message(_) => {
                emit.shaped(accessor_form("", &name), "const {0}&() const", &[&value]);
                emit.shaped(accessor_form("mutable_", &name), "{0}*()", &[&value]);
            }
            Type::Scalar(Scalar::String | Scalar::Bytes) => emit_strings(emit, field, &name),
            _ => {
                emit.shaped(accessor_form("", &name), "{0}() const", &[&value]);
                emit.shaped(accessor_form("set_", &name), "void({0})", &[&value]);
            }
        }
    }
    if field.cardinality() != Cardinality::Singular {
        emit.add(format!("{}_size", accessor_form("", &name)), "int() const");
    } else if field.presence() != Presence::Implicit {
        emit.add(accessor_form("has_", &name), "bool() const");
    }
    emit.add(accessor_form("clear_", &name), "void()");
    if field.cardinality() == Cardinality::Singular && field.message_type().is_some() {
        emit.shaped(accessor_form("set_allocated_", &name), "void({0}*)", &[&value]);
        emit.shaped(accessor_form("release_", &name), "{0}*()", &[&value]);
        emit.shaped(accessor_form("unsafe_arena_set_allocated_", &name), "void({0}*)", &[&value]);
        emit.shaped(accessor_form("unsafe_arena_release_", &name), "{0}*()", &[&value]);
    }
    if field.oneof().is_some_and(|oneof| !oneof.is_synthetic()) {
        emit.case(field, format!("{U}::{P}::k{}", camel(field.name(), true)), "case");
    }
    let names = field.parent().map(|parent| (emit.names.of(parent), find_place(field, parent)));
    let constant = names.as_ref().and_then(|(names, at)| names.cpp.constants.get(*at));
    emit.add(format!("{U}::{P}::{}", constant.map_or("", String::as_str)), "int");
}

fn emit_strings(emit: &mut Emitter<'_>, field: Field<'_>, name: &str) {
    match string_type(field) {
        CppString::String => {
            emit.add(accessor_form("", name), "const std::string&() const");
            emit.add(accessor_form("set_", name), "void(string)");
            emit.add(accessor_form("mutable_", name), "std::string*()");
            emit.add(accessor_form("set_allocated_", name), "void(std::string*)");
            emit.add(accessor_form("release_", name), "std::string*()");
        }
        CppString::View => {
            emit.add(accessor_form("", name), "absl::string_view() const");
            emit.add(accessor_form("set_", name), "void(string)");
        }
        CppString::Cord => {
            emit.add(accessor_form("", name), "const absl::Cord&() const");
            emit.add(accessor_form("set_", name), "void(const absl::Cord&)");
            emit.add(accessor_form("set_", name), "void(absl::string_view)");
        }
        CppString::Hidden => {}
    }
}

fn emit_repeated(emit: &mut Emitter<'_>, field: Field<'_>, name: &str, value: &MarkedType) {
    let list = match field.ty() {
        Type::Message(_) => {
            emit.shaped(accessor_form("", name), "const {0}&(int) const", &[value]);
            emit.shaped(accessor_form("add_", name), "{0}*()", &[value]);
            emit.shaped(accessor_form("mutable_", name), "{0}*(int)", &[value]);
            "RepeatedPtrField<{0}>"
        }
        Type::Scalar(Scalar::String | Scalar::Bytes) => {
            let held = string_type(field);
            if held == CppString::Hidden {
                return;
            }
            let is_view = held == CppString::View;
            let got = if is_view { "absl::string_view" } else { "const std::string&" };
            emit.add(accessor_form("", name), format!("{got}(int) const"));
            emit.add(accessor_form("add_", name), "void(string)");
            emit.add(accessor_form("set_", name), "void(int, string)");
            if !is_view {
                emit.add(accessor_form("add_", name), "std::string*()");
                emit.add(accessor_form("mutable_", name), "std::string*(int)");
            }
            "RepeatedPtrField<{0}>"
        }
        ty => {
            emit.shaped(accessor_form("", name), "{0}(int) const", &[value]);
            emit.shaped(accessor_form("add_", name), "void({0})", &[value]);
            emit.shaped(accessor_form("set_", name), "void(int, {0})", &[value]);
            if matches!(ty, Type::Enum(_)) { "RepeatedField<int>" } else { "RepeatedField<{0}>" }
        }
    };
    emit.shaped(
        accessor_form("", name),
        &format!("const google::protobuf::{list}&() const"),
        &[value],
    );
    emit.shaped(accessor_form("mutable_", name), &format!("google::protobuf::{list}*()"), &[value]);
}

fn emit_extension(emit: &mut Emitter<'_>, field: Field<'_>) {
    let scope = if field.parent().is_some() { format!("{U}::{P}") } else { U.to_string() };
    let traits = match field.ty() {
        Type::Message(_) => "MessageTypeTraits<{1}>",
        Type::Enum(_) => "EnumTypeTraits<{1}>",
        Type::Scalar(Scalar::String | Scalar::Bytes) => "StringTypeTraits",
        _ => "PrimitiveTypeTraits<{1}>",
    };
    let repeated = if field.cardinality() == Cardinality::Singular { "" } else { "Repeated" };
    let extendee = field.extendee().map_or(MarkedType::plain("?"), message_type);
    emit.shaped(
        format!("{scope}::{}", resolved(field.name())),
        &format!("ExtensionIdentifier<{{0}}, {repeated}{traits}>"),
        &[&extendee, &value_type(field)],
    );
    emit.add(format!("{scope}::{}", number_constant(field)), "int");
}

fn emit_oneof(emit: &mut Emitter<'_>, oneof: Oneof<'_>) {
    let name = oneof.name();
    let case = format!("{}Case", camel(name, true));
    emit.add(format!("{U}::{P}::{name}_case"), format!("{case}() const"));
    emit.add(format!("{U}::{P}::clear_{name}"), "void()");
    emit.add(format!("{U}::{P}::{case}"), "enum");
    emit.add(format!("{U}::{P}::{}_NOT_SET", name.to_ascii_uppercase()), "case");
}

fn emit_enumeration(emit: &mut Emitter<'_>, it: Enum<'_>, flags: FileFlags) {
    let ty = enum_type(it);
    let view =
        match find_language_feature(Element::Enum(it), "pb.cpp", "enum_name_uses_string_view") {
            Some(set) => set == "true",
            None => it.file().decl().edition >= Edition::Edition2024,
        };
    let named = if view { "absl::string_view(T)" } else { "const std::string&(T)" };
    let has_size = it.values().all(|value| value.number() != i32::MAX);
    let name = it.name();
    // A nested enum has each name twice: in the class, and flattened.
    let scopes = match it.parent() {
        Some(_) => vec![
            (format!("{U}::{P}::"), name.to_owned(), name.to_owned()),
            (format!("{U}::{P}_"), name.to_owned(), format!("{name}_{name}")),
        ],
        None => vec![(format!("{U}::"), resolved(name), name.to_owned())],
    };
    for (scope, own, bounded) in scopes {
        let is_flattened = scope.ends_with('_');
        let ty_name = if is_flattened { name.to_owned() } else { resolved(name) };
        emit.add(format!("{scope}{ty_name}"), "enum");
        emit.add(format!("{scope}{own}_Name"), named);
        emit.shaped(format!("{scope}{own}_Parse"), "bool(absl::string_view, {0}*)", &[&ty]);
        emit.add(format!("{scope}{own}_IsValid"), "bool(int)");
        emit.shaped(format!("{scope}{bounded}_MIN"), "{0}", &[&ty]);
        emit.shaped(format!("{scope}{bounded}_MAX"), "{0}", &[&ty]);
        if has_size {
            emit.add(format!("{scope}{bounded}_ARRAYSIZE"), "int");
        }
        if flags.reflection {
            let descriptor = "const google::protobuf::EnumDescriptor*()";
            emit.add(format!("{scope}{own}_descriptor"), descriptor);
        }
    }
}

fn emit_enum_value(emit: &mut Emitter<'_>, value: EnumValue<'_>) {
    let it = value.parent();
    let ty = enum_type(it);
    let name = resolved(value.name());
    emit.owner = flattened(it.parent(), it.name());
    emit.values = match it.parent() {
        Some(_) => format!("{}::{}::", emit.prefix, emit.parent),
        None => format!("{}::", emit.prefix),
    };
    emit.shaped(format!("{G}{name}"), "{0}", &[&ty]);
    if it.parent().is_some() {
        emit.shaped(format!("{U}::{E}_{name}"), "{0}", &[&ty]);
    }
}

/// The classes of protoc itself, or those of gRPC, whose generator refuses files
/// that turn the former on.
fn emit_service(emit: &mut Emitter<'_>, service: Service<'_>, flags: FileFlags) {
    let name = service.name();
    if flags.generic_services {
        emit.add(format!("{U}::{}", resolved(name)), "class : google::protobuf::Service");
        emit.add(format!("{U}::{name}_Stub"), "class");
        return;
    }
    emit.add(format!("{U}::{name}"), "class");
    emit.add(
        format!("{U}::{name}::NewStub"),
        "std::unique_ptr<Stub>(const std::shared_ptr<grpc::ChannelInterface>&, \
         const grpc::StubOptions&)",
    );
    emit.add(format!("{U}::{name}::Stub"), "class");
    emit.add(format!("{U}::{name}::Service"), "class");
}

/// The type of a request or response; a question mark if it does not link.
fn payload_type(message: Option<Message<'_>>) -> MarkedType {
    message.map_or(MarkedType::plain("?"), message_type)
}

fn emit_method(emit: &mut Emitter<'_>, method: Method<'_>, flags: FileFlags) {
    let name = method.name();
    let service = method.service().name();
    emit.owner = service.to_owned();
    let types = [&payload_type(method.input()), &payload_type(method.output())];
    if flags.generic_services {
        let call = "void(google::protobuf::RpcController*, const {0}*, {1}*, \
                    google::protobuf::Closure*)";
        emit.shaped(format!("{U}::{E}::{name}"), call, &types);
        return;
    }
    let (client, server) = match (method.decl().client_streaming, method.decl().server_streaming) {
        (false, false) => (
            "grpc::Status(grpc::ClientContext*, const {0}&, {1}*)",
            "grpc::Status(grpc::ServerContext*, const {0}*, {1}*)",
        ),
        (true, false) => (
            "std::unique_ptr<grpc::ClientWriter<{0}>>(grpc::ClientContext*, {1}*)",
            "grpc::Status(grpc::ServerContext*, grpc::ServerReader<{0}>*, {1}*)",
        ),
        (false, true) => (
            "std::unique_ptr<grpc::ClientReader<{1}>>(grpc::ClientContext*, const {0}&)",
            "grpc::Status(grpc::ServerContext*, const {0}*, grpc::ServerWriter<{1}>*)",
        ),
        (true, true) => (
            "std::unique_ptr<grpc::ClientReaderWriter<{0}, {1}>>(grpc::ClientContext*)",
            "grpc::Status(grpc::ServerContext*, grpc::ServerReaderWriter<{1}, {0}>*)",
        ),
    };
    emit.shaped(format!("{U}::{E}::Stub::{name}"), client, &types);
    emit.shaped(format!("{U}::{E}::Service::{name}"), server, &types);
}
