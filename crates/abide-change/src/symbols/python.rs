//! Python: what an imported module `*_pb2` holds, and the gRPC stubs.

use abide_schema::{
    Cardinality, Element, EnumValue, Field, File, Message, Method, Presence, Service, Type,
};

use super::elements::{find_enclosing_message, join_nested_name, list_public_imports, stem};
use super::emitter::{E, Emitter, G, MarkedType, P, U, Unit};
use super::generator::{FileFlags, Generator};
use crate::element::find_map_entries;
use crate::languages::{LanguageTable, PYTHON};

/// The model of `protoc --python_out` and of gRPC's stubs.
pub(super) struct Python;

impl Generator for Python {
    fn table(&self) -> &'static LanguageTable {
        &PYTHON
    }

    fn file_unit(&self, file: File<'_>) -> Unit {
        unit(file)
    }

    fn passes_on(&self, _: &Unit, _: &Unit) -> bool {
        true
    }

    fn is_typed(&self) -> bool {
        false
    }

    fn emit_file(&self, emit: &mut Emitter<'_>, it: File<'_>) {
        emit_file(emit, it);
    }

    fn emit_element(&self, emit: &mut Emitter<'_>, it: Element<'_>, flags: FileFlags) {
        emit_element(emit, it, flags);
    }
}

fn unit(file: File<'_>) -> Unit {
    Unit { prefix: module(file), import: String::new(), nested: false }
}

/// `a/b-c.proto` is `a.b_c_pb2`. Source: `ModuleName` of the Python generator.
fn module(file: File<'_>) -> String {
    format!("{}{}", stem(file.path()).replace('-', "_").replace('/', "."), PYTHON.suffix)
}

fn emit_file(emit: &mut Emitter<'_>, file: File<'_>) {
    emit.add(U.to_string(), "module");
    if FileFlags::of(&Python, file).generic_services
        && let Some(service) = file.services().next()
    {
        emit.add(format!("{U}.{}", service.name()), "google.protobuf.service.Service");
    }
    for import in list_public_imports(file) {
        // `from x import *` passes these names on.
        let names = import
            .messages()
            .map(|message| (message.name(), "message"))
            .chain(import.enums().map(|it| (it.name(), "enum")))
            .chain(import.enums().flat_map(|it| it.values().map(|value| (value.name(), "int"))));
        for (name, signature) in names {
            emit.add(format!("{U}.{name}"), signature);
        }
    }
}

fn emit_element(emit: &mut Emitter<'_>, element: Element<'_>, flags: FileFlags) {
    let scope =
        if find_enclosing_message(element).is_some() { format!("{U}.{P}") } else { U.to_string() };
    match element {
        Element::Message(it) => emit.add(format!("{scope}.{}", it.name()), "message"),
        Element::Field(it) => emit_field(emit, it, &scope),
        Element::Oneof(it) => {
            emit.add(format!("{scope}.WhichOneof('{}')", it.name()), "Optional[str]");
            emit.add(format!("{scope}.HasField('{}')", it.name()), "bool");
            emit.add(format!("{scope}.ClearField('{}')", it.name()), "None");
        }
        Element::Enum(it) => emit.add(format!("{scope}.{}", it.name()), "enum"),
        Element::EnumValue(it) => emit_enum_value(emit, it),
        Element::Service(it) => emit_service(emit, it, flags),
        Element::Method(it) => emit_method(emit, it, flags),
    }
}

fn message_type(message: Message<'_>) -> MarkedType {
    let name = format!(
        "{}.{}",
        module(message.file()),
        join_nested_name(message.parent(), message.name())
    );
    MarkedType::of(Type::Message(message.id), name)
}

/// The type of a value when it is read. An enum is a number; which of its values
/// can be assigned is decided at run time.
fn value_type(field: Field<'_>) -> MarkedType {
    match (field.ty(), field.message_type()) {
        (_, Some(message)) => message_type(message),
        (Type::Enum(_), _) => MarkedType::plain("int"),
        (Type::Scalar(scalar), _) => MarkedType::plain(PYTHON.scalars.of(scalar)),
        _ => MarkedType::plain("?"),
    }
}

fn emit_field(emit: &mut Emitter<'_>, field: Field<'_>, scope: &str) {
    let name = field.name();
    let own = format!("{scope}.{name}");
    let value = value_type(field);
    if field.is_extension() {
        let extendee = field.extendee().map_or(MarkedType::plain("?"), message_type);
        let pattern = match field.cardinality() {
            Cardinality::Singular => "extension of {0}: {1}",
            _ => "extension of {0}: list[{1}]",
        };
        emit.shaped(own, pattern, &[&extendee, &value]);
    } else {
        if let Some([key, value]) = find_map_entries(field) {
            emit.shaped(own, "dict[{0}, {1}]", &[&value_type(key), &value_type(value)]);
        } else if field.cardinality() == Cardinality::Repeated {
            emit.shaped(own, "list[{0}]", &[&value]);
        } else {
            emit.shaped(own, "{0}", &[&value]);
        }
        emit.add(format!("{scope}({name}=)"), "keyword");
        if field.presence() != Presence::Implicit {
            emit.add(format!("{scope}.HasField('{name}')"), "bool");
        }
        emit.add(format!("{scope}.ClearField('{name}')"), "None");
    }
    emit.add(format!("{scope}.{}_FIELD_NUMBER", name.to_ascii_uppercase()), "int");
}

fn emit_enum_value(emit: &mut Emitter<'_>, value: EnumValue<'_>) {
    let name = value.name();
    emit.owner = join_nested_name(value.parent().parent(), value.parent().name());
    emit.values = match value.parent().parent() {
        Some(_) => format!("{}.{}.", emit.prefix, emit.parent),
        None => format!("{}.", emit.prefix),
    };
    emit.add(format!("{U}.{E}.{name}"), "int");
    emit.add(format!("{G}{name}"), "int");
}

fn emit_service(emit: &mut Emitter<'_>, service: Service<'_>, flags: FileFlags) {
    let name = service.name();
    emit.add(format!("{U}_grpc.{name}Stub"), "class");
    emit.add(format!("{U}_grpc.{name}Servicer"), "class");
    emit.add(format!("{U}_grpc.add_{name}Servicer_to_server"), "None(servicer, server)");
    if flags.generic_services {
        emit.add(format!("{U}.{name}"), "google.protobuf.service.Service");
        emit.add(format!("{U}.{name}_Stub"), "class");
    }
}

/// The type of a request or response; a question mark if it does not link.
fn payload_type(message: Option<Message<'_>>) -> MarkedType {
    message.map_or(MarkedType::plain("?"), message_type)
}

fn emit_method(emit: &mut Emitter<'_>, method: Method<'_>, flags: FileFlags) {
    let name = method.name();
    emit.owner = method.service().name().to_owned();
    let types = [&payload_type(method.input()), &payload_type(method.output())];
    let pattern = match (method.decl().client_streaming, method.decl().server_streaming) {
        (false, false) => "unary_unary({0}, {1})",
        (true, false) => "stream_unary({0}, {1})",
        (false, true) => "unary_stream({0}, {1})",
        (true, true) => "stream_stream({0}, {1})",
    };
    emit.shaped(format!("{U}_grpc.{E}Stub.{name}"), pattern, &types);
    let request = if method.decl().client_streaming { "request_iterator" } else { "request" };
    emit.add(format!("{U}_grpc.{E}Servicer.{name}"), format!("(self, {request}, context)"));
    if flags.generic_services {
        emit.add(format!("{U}.{E}.{name}"), "(self, rpc_controller, request, done)");
    }
}
