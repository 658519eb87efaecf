"""Prints the symbols of generated modules: introspect.py ROOT LIST."""

import importlib
import inspect
import re
import sys

import google.protobuf
from google.protobuf import descriptor, empty_pb2, message
from google.protobuf.internal import enum_type_wrapper

root, listed = sys.argv[1:]
sys.path.insert(0, root)
# The runtime brings no modules for the features of other languages.
google.protobuf.__path__.append(f"{root}/google/protobuf")
found = set()


def say(name, signature):
    found.add((name, signature))


def module_name(path):
    stem = path.removesuffix(".proto")
    return stem.replace("-", "_").replace("/", ".") + "_pb2"


def type_name(of):
    names = []
    scope = of
    while scope is not None:
        names.insert(0, scope.name)
        scope = scope.containing_type
    return ".".join([module_name(of.file.name), *names])


SCALARS = {
    descriptor.FieldDescriptor.CPPTYPE_DOUBLE: float,
    descriptor.FieldDescriptor.CPPTYPE_FLOAT: float,
    descriptor.FieldDescriptor.CPPTYPE_BOOL: bool,
}


def value_type(field, value):
    """The type of a single value, as reading gives it."""
    if field.message_type is not None:
        if isinstance(value, message.Message):
            assert value.DESCRIPTOR is field.message_type
        return type_name(field.message_type)
    if value is not None:
        return type(value).__name__
    if field.type == field.TYPE_BYTES:
        return "bytes"
    if field.type == field.TYPE_STRING:
        return "str"
    return SCALARS.get(field.cpp_type, int).__name__


def one(field, container):
    """A value that a repeated field has taken."""
    if field.message_type is not None:
        return container.add()
    samples = {"str": "", "bytes": b"", "bool": True, "float": 1.5}
    container.append(samples.get(value_type(field, None), 0) if field.enum_type is None
                     else field.enum_type.values[0].number)
    return container[0]


def works(call):
    try:
        call()
        return True
    except (ValueError, TypeError, KeyError):
        return False


def field_symbols(name, cls, field):
    value = getattr(cls(), field.name)
    own = f"{name}.{field.name}"
    entry = field.message_type
    if entry is not None and entry.GetOptions().map_entry:
        key, of = entry.fields_by_name["key"], entry.fields_by_name["value"]
        assert hasattr(value, "items")
        say(own, f"dict[{value_type(key, None)}, {value_type(of, None)}]")
    elif hasattr(value, "append"):
        say(own, f"list[{value_type(field, one(field, value))}]")
    else:
        say(own, value_type(field, value))
    assert works(lambda: cls(**{field.name: None}))
    say(f"{name}({field.name}=)", "keyword")
    if works(lambda: cls().HasField(field.name)):
        say(f"{name}.HasField('{field.name}')", "bool")
    if works(lambda: cls().ClearField(field.name)):
        say(f"{name}.ClearField('{field.name}')", "None")


def extension_symbols(name, scope, field):
    assert getattr(scope, field.name) is field or getattr(scope, field.name) == field
    container = importlib.import_module(module_name(field.containing_type.file.name))
    for part in type_name(field.containing_type).removeprefix(container.__name__ + ".").split("."):
        container = getattr(container, part)
    holder = container()
    value = holder.Extensions[field]
    if hasattr(value, "append"):
        ty = f"list[{value_type(field, one(field, value))}]"
    else:
        ty = value_type(field, value)
    say(name, f"extension of {type_name(field.containing_type)}: {ty}")


def is_passed_on(scope, of):
    """Whether a module has something because of a public import."""
    return of.file.name != scope.DESCRIPTOR.file.name if isinstance(scope, type) else (
        of.file.name != scope.DESCRIPTOR.name
    )


def members(name, scope, known):
    """The public names of a module or class."""
    for attribute in dir(scope):
        if attribute.startswith("_") or attribute in known:
            continue
        value = getattr(scope, attribute)
        own = f"{name}.{attribute}"
        if isinstance(value, enum_type_wrapper.EnumTypeWrapper):
            say(own, "enum")
            if is_passed_on(scope, value.DESCRIPTOR):
                continue
            for key in value.keys():
                say(f"{own}.{key}", type(getattr(value, key)).__name__)
        elif isinstance(value, type) and issubclass(value, message.Message):
            if value.DESCRIPTOR.GetOptions().map_entry:
                continue
            say(own, "message")
            if is_passed_on(scope, value.DESCRIPTOR):
                continue
            message_symbols(own, value)
        elif isinstance(value, descriptor.FieldDescriptor):
            if is_passed_on(scope, value):
                continue
            extension_symbols(own, scope, value)
        elif isinstance(value, int):
            if attribute.endswith("_FIELD_NUMBER") and not isinstance(scope, type) and (
                attribute.removesuffix("_FIELD_NUMBER")
                not in (name.upper() for name in scope.DESCRIPTOR.extensions_by_name)
            ):
                continue
            say(own, "int")
        elif isinstance(value, type):
            # A generic service, or its stub.
            if attribute.endswith("_Stub"):
                say(own, "class")
            else:
                say(own, "google.protobuf.service.Service")
                for method in value.GetDescriptor().methods:
                    assert callable(getattr(value, method.name))
                    say(f"{own}.{method.name}", "(self, rpc_controller, request, done)")
        elif isinstance(scope, type):
            # The attribute of a field; those are asked for by descriptor.
            assert attribute in scope.DESCRIPTOR.fields_by_name, own


def message_symbols(name, cls):
    for field in cls.DESCRIPTOR.fields:
        field_symbols(name, cls, field)
    for oneof in cls.DESCRIPTOR.oneofs:
        if len(oneof.fields) == 1 and oneof.name == "_" + oneof.fields[0].name:
            continue
        assert cls().WhichOneof(oneof.name) is None
        say(f"{name}.WhichOneof('{oneof.name}')", "Optional[str]")
        if works(lambda: cls().HasField(oneof.name)):
            say(f"{name}.HasField('{oneof.name}')", "bool")
        if works(lambda: cls().ClearField(oneof.name)):
            say(f"{name}.ClearField('{oneof.name}')", "None")
    members(name, cls, set(dir(empty_pb2.Empty)))


STUB = re.compile(
    r"self\.(\w+) = channel\.(\w+)\(\s*'[^']*',\s*"
    r"request_serializer=([\w.]+)\.SerializeToString,\s*"
    r"response_deserializer=([\w.]+)\.FromString"
)


def grpc_symbols(module):
    name = module.__name__
    for attribute, value in vars(module).items():
        own = f"{name}.{attribute}"
        if attribute.startswith("_") or inspect.ismodule(value):
            continue
        if attribute.startswith("add_"):
            say(own, "None" + str(inspect.signature(value)))
        elif attribute.endswith("Stub"):
            say(own, "class")
            for method, kind, *types in STUB.findall(inspect.getsource(value)):
                types = [type_name(eval(ty, vars(module)).DESCRIPTOR) for ty in types]
                say(f"{own}.{method}", f"{kind}({', '.join(types)})")
        elif attribute.endswith("Servicer"):
            say(own, "class")
            for method, function in vars(value).items():
                if not method.startswith("_"):
                    say(f"{own}.{method}", str(inspect.signature(function)))


for path in open(listed, encoding="utf-8").read().split("\n"):
    if not path:
        continue
    try:
        module = importlib.import_module(module_name(path))
    except TypeError as error:
        # A file that the runtime does not take, though protoc does.
        print(f"!{path}\t{error}")
        continue
    say(module.__name__, "module")
    members(module.__name__, module, {"DESCRIPTOR"})
    if module.DESCRIPTOR.services_by_name:
        grpc_symbols(importlib.import_module(module.__name__ + "_grpc"))

for name, signature in sorted(found):
    print(f"{name}\t{signature}")
