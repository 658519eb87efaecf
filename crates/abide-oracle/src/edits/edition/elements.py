"""Prints a line for each element of a descriptor set: what the runtime of Python resolves for it,
whatever the edition of its file."""

import sys

from google.protobuf import descriptor_pb2, descriptor_pool

FIELD = descriptor_pb2.FieldDescriptorProto
# What editions say in another way.
MARKS = {
    "FileOptions": ("java_multiple_files", "java_outer_classname", "java_string_check_utf8",
                    "cc_enable_arenas"),
    "FieldOptions": ("packed", "ctype"),
}


def options(element):
    """The options, without those that editions say in another way."""
    kept = descriptor_pb2.__dict__[type(element.GetOptions()).__name__]()
    kept.ParseFromString(element.GetOptions().SerializeToString())
    for name in ("features", *MARKS.get(type(kept).__name__, ())):
        kept.ClearField(name)
    return kept.SerializeToString(deterministic=True).hex()


def features(element):
    return element._GetFeatures()


def field(it, is_entry, synthetic):
    facts = [it.full_name, it.number, it.type, it.is_repeated, it.json_name, it.is_packed,
             it.default_value, it.message_type and it.message_type.full_name,
             it.enum_type and it.enum_type.full_name]
    if not is_entry:
        facts += [it.has_presence, it.is_required]
    if it.type == FIELD.TYPE_STRING:
        facts.append(features(it).utf8_validation)
    oneof = it.containing_oneof
    if oneof is not None and oneof.name not in synthetic:
        facts.append(oneof.full_name)
    if it.is_extension:
        facts.append(it.containing_type.full_name)
    print("field", *facts, options(it))


def message(it):
    proto = descriptor_pb2.DescriptorProto()
    it.CopyToProto(proto)
    is_entry = proto.options.map_entry
    # The oneof of an `optional` field of proto3 is nobody's.
    synthetic = {proto.oneof_decl[at.oneof_index].name for at in proto.field if at.proto3_optional}
    reserved = [(at.start, at.end) for at in proto.reserved_range]
    ranges = [(at.start, at.end) for at in proto.extension_range]
    print("message", it.full_name, sorted(reserved), sorted(proto.reserved_name), ranges,
          features(it).json_format, options(it))
    for at in (*it.fields, *it.extensions):
        field(at, is_entry, synthetic)
    for at in it.oneofs:
        if at.name not in synthetic:
            print("oneof", at.full_name, options(at))
    for at in it.nested_types:
        message(at)
    for at in it.enum_types:
        enum(at)


def enum(it):
    proto = descriptor_pb2.EnumDescriptorProto()
    it.CopyToProto(proto)
    reserved = [(at.start, at.end) for at in proto.reserved_range]
    print("enum", it.full_name, it.is_closed, sorted(reserved), sorted(proto.reserved_name),
          features(it).json_format, options(it))
    for at in it.values:
        print("value", it.full_name, at.name, at.number, options(at))


def service(it):
    print("service", it.full_name, options(it))
    for at in it.methods:
        print("method", at.full_name, at.input_type.full_name, at.output_type.full_name,
              at.client_streaming, at.server_streaming, options(at))


def main():
    descriptors = descriptor_pb2.FileDescriptorSet()
    with open(sys.argv[1], "rb") as file:
        descriptors.ParseFromString(file.read())
    pool = descriptor_pool.DescriptorPool()
    for file in descriptors.file:
        try:
            pool.AddSerializedFile(file.SerializeToString())
        except TypeError as error:
            # The runtime refuses some of what protoc compiles, such as small defaults. The line
            # differs if it refuses the file on one side only.
            print("refused", file.name, error)
    for file in descriptors.file:
        # The features of languages are files that only one side may have.
        if file.name.startswith("google/protobuf/"):
            continue
        try:
            it = pool.FindFileByName(file.name)
        except KeyError:
            continue
        print("file", it.name, it.package, options(it))
        for at in it.message_types_by_name.values():
            message(at)
        for at in it.enum_types_by_name.values():
            enum(at)
        for at in it.extensions_by_name.values():
            field(at, False, ())
        for at in it.services_by_name.values():
            service(at)


main()
