"""Prints the symbols of generated modules: introspect.py ROOT LIST."""

import importlib
import inspect
import io
import pathlib
import re
import sys

import google.protobuf
from google.protobuf import descriptor, descriptor_pb2, message
from google.protobuf.internal import enum_type_wrapper

root, listed = sys.argv[1:]
sys.path.insert(0, root)
# A folder without this file gives way to a package of the same name that is installed.
for top in pathlib.Path(root).iterdir():
    if top.is_dir() and top.name not in ("google", "io"):
        for folder in [top, *(it for it in top.rglob("*") if it.is_dir())]:
            (folder / "__init__.py").touch()
# A package `io` has the name of a module of Python's own library.
io.__path__ = [f"{root}/io"]
# The runtime has no modules for the features of other languages.
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
    """The type that reading a single value returns."""
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
    """A value from a repeated field."""
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
    elif field.is_repeated:
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
    if field.is_repeated:
        ty = f"list[{value_type(field, one(field, value))}]"
    else:
        ty = value_type(field, value)
    say(name, f"extension of {type_name(field.containing_type)}: {ty}")


def enum_symbols(name, scope, of):
    wrapper = getattr(scope, of.name)
    assert isinstance(wrapper, enum_type_wrapper.EnumTypeWrapper)
    assert wrapper.DESCRIPTOR is of
    own = f"{name}.{of.name}"
    say(own, "enum")
    for value in of.values:
        for holder, holder_name in (wrapper, own), (scope, name):
            assert getattr(holder, value.name) == value.number
            say(f"{holder_name}.{value.name}", type(getattr(holder, value.name)).__name__)


def number_symbol(name, scope, field):
    constant = field.name.upper() + "_FIELD_NUMBER"
    value = getattr(scope, constant)
    say(f"{name}.{constant}", type(value).__name__)


def message_symbols(name, cls):
    """Goes by the descriptor of a class: the runtime creates attributes lazily."""
    of = cls.DESCRIPTOR
    for field in of.fields:
        field_symbols(name, cls, field)
        number_symbol(name, cls, field)
    for extension in of.extensions:
        extension_symbols(f"{name}.{extension.name}", cls, extension)
        number_symbol(name, cls, extension)
    for enum in of.enum_types:
        enum_symbols(name, cls, enum)
    for nested in of.nested_types:
        if not nested.GetOptions().map_entry:
            say(f"{name}.{nested.name}", "message")
            message_symbols(f"{name}.{nested.name}", getattr(cls, nested.name))
    proto = descriptor_pb2.DescriptorProto()
    of.CopyToProto(proto)
    synthetic = {field.oneof_index for field in proto.field if field.proto3_optional}
    for oneof in of.oneofs:
        if oneof.index in synthetic:
            continue
        assert cls().WhichOneof(oneof.name) is None
        say(f"{name}.WhichOneof('{oneof.name}')", "Optional[str]")
        if works(lambda: cls().HasField(oneof.name)):
            say(f"{name}.HasField('{oneof.name}')", "bool")
        if works(lambda: cls().ClearField(oneof.name)):
            say(f"{name}.ClearField('{oneof.name}')", "None")


def module_symbols(module):
    """Goes through everything in a module, which may come from other modules."""
    name = module.__name__
    file = module.DESCRIPTOR
    # The number constants that come through `import public` are not claimed.
    numbers = {of.upper() + "_FIELD_NUMBER" for of in file.extensions_by_name}
    known = set()
    for enum in file.enum_types_by_name.values():
        enum_symbols(name, module, enum)
        known |= {enum.name} | {value.name for value in enum.values}
    for attribute, value in vars(module).items():
        own = f"{name}.{attribute}"
        if attribute.startswith("__") or attribute == "DESCRIPTOR" or attribute in known:
            continue
        if isinstance(value, enum_type_wrapper.EnumTypeWrapper):
            say(own, "enum")
        elif isinstance(value, type) and issubclass(value, message.Message):
            say(own, "message")
            if value.DESCRIPTOR.file.name == file.name:
                message_symbols(own, value)
        elif isinstance(value, descriptor.FieldDescriptor):
            if value.file.name == file.name:
                extension_symbols(own, module, value)
        elif isinstance(value, int):
            if not attribute.endswith("_FIELD_NUMBER") or attribute in numbers:
                say(own, "int")
        elif isinstance(value, type) and attribute.endswith("_Stub"):
            say(own, "class")
        elif isinstance(value, type):
            say(own, "google.protobuf.service.Service")
            for method in value.GetDescriptor().methods:
                assert callable(getattr(value, method.name))
                say(f"{own}.{method.name}", "(self, rpc_controller, request, done)")


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
        # A file that the runtime rejects although protoc accepts it.
        print(f"!{path}\t{error}")
        continue
    say(module.__name__, "module")
    module_symbols(module)
    if module.DESCRIPTOR.services_by_name:
        grpc_symbols(importlib.import_module(module.__name__ + "_grpc"))

for name, signature in sorted(found):
    print(f"{name}\t{signature}")
