"""What the Python runtime of protobuf reads: writes cases for our readers to repeat.

Arguments: the descriptor set of `reading.proto`, the folder to write into. Writes `types.binpb`,
the descriptors of all types, and `cases.txt`, a case a line: notation, type, input, and `error` or
the value, both in hexadecimal.
"""

import importlib
import json
import os
import random
import re
import sys

import yaml
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory, text_format
from google.protobuf.message import DecodeError

import hostile
import values

MODULES = """
envoy.config.bootstrap.v3.bootstrap envoy.config.listener.v3.listener envoy.config.cluster.v3.cluster
envoy.config.route.v3.route envoy.config.endpoint.v3.endpoint envoy.service.discovery.v3.discovery
envoy.extensions.filters.network.http_connection_manager.v3.http_connection_manager
envoy.extensions.filters.network.tcp_proxy.v3.tcp_proxy envoy.extensions.filters.http.router.v3.router
envoy.extensions.transport_sockets.tls.v3.tls envoy.extensions.filters.http.fault.v3.fault
envoy.extensions.access_loggers.file.v3.file envoy.config.rbac.v3.rbac envoy.service.runtime.v3.rtds
""".split()


class Dumper(yaml.SafeDumper):
    """Quotes what YAML 1.2 takes for a number, and not only what YAML 1.1 does."""


def text_node(dumper, text):
    looks_like_number = re.fullmatch(r"[-+.0-9][-+.0-9a-fA-FxoeE_]*", text)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if looks_like_number else None)


Dumper.add_representer(str, text_node)
VALUES, EDITS = 10_000, 6_000

pool = descriptor_pool.Default()
with open(sys.argv[1], "rb") as file:
    own = descriptor_pb2.FileDescriptorSet.FromString(file.read())
for name in ("any", "duration", "empty", "field_mask", "struct", "timestamp", "wrappers"):
    importlib.import_module(f"google.protobuf.{name}_pb2")
for file in own.file:
    if file.name == "reading.proto":
        pool.AddSerializedFile(file.SerializeToString())

files = {}


def add(file):
    if file.name not in files:
        files[file.name] = None
        for needed in file.dependencies:
            add(needed)
        files[file.name] = file


for module in MODULES:
    add(importlib.import_module(module + "_pb2").DESCRIPTOR)
add(pool.FindFileByName("reading.proto"))

folder = sys.argv[2]
with open(os.path.join(folder, "types.binpb"), "wb") as out:
    types = descriptor_pb2.FileDescriptorSet()
    for file in files.values():
        file.CopyToProto(types.file.add())
    out.write(types.SerializeToString())


def messages(file):
    waiting = list(file.message_types_by_name.values())
    while waiting:
        message = waiting.pop()
        if not message.GetOptions().map_entry:
            yield message
            waiting.extend(message.nested_types)


everything = pool.FindMessageTypeByName("reading.Everything")
subjects = [it for file in files.values() if file.name.startswith("envoy/") for it in messages(file)]
subjects = [it for it in subjects if it.fields]
numbers = random.Random(20260101)
packable = [it for it in subjects if it.full_name.endswith(("Cluster", "Listener", "Router", "TcpProxy"))]
packable += [pool.FindMessageTypeByName(name) for name in (
    "reading.Inner", "google.protobuf.Duration", "google.protobuf.StringValue", "google.protobuf.Struct")]
draw = values.Draw(numbers, packable)
cases = open(os.path.join(folder, "cases.txt"), "w")


def put(kind, notation, descriptor, data, value):
    answer = "error" if value is None else value.SerializeToString(deterministic=True).hex()
    cases.write(f"{kind} {notation} {descriptor.full_name} {data.hex()} {answer}\n")


def read(notation, descriptor, data):
    """The value, or nothing if the runtime refuses the input."""
    value = message_factory.GetMessageClass(descriptor)()
    try:
        if notation == "binary":
            value.MergeFromString(data)
            return value if value.IsInitialized() else None
        if notation == "json":
            json_format.Parse(data.decode(), value, descriptor_pool=pool)
        else:
            text_format.Parse(data.decode(), value, descriptor_pool=pool)
        value.SerializeToString()
        return value
    except (json_format.ParseError, text_format.ParseError, DecodeError, UnicodeDecodeError):
        return None
    except Exception as error:  # The runtime refuses it, if not in its own words.
        print(f"{notation}: {type(error).__name__}: {str(error)[:80]}")
        return None


def written(value):
    """The value in each notation."""
    yield "binary", value.SerializeToString(deterministic=True)
    names = numbers.random() < 0.3
    plain = numbers.random() < 0.2
    # The order of maps is another one in each process.
    text = json_format.MessageToJson(
        value, sort_keys=True, preserving_proto_field_name=names, use_integers_for_enums=plain,
        ensure_ascii=numbers.random() < 0.5, indent=numbers.choice([None, 2]), descriptor_pool=pool)
    yield "json", text.encode()
    yield "yaml", yaml.dump(
        json.loads(text), Dumper=Dumper, allow_unicode=numbers.random() < 0.5,
        default_flow_style=numbers.choice([None, True, False])).encode()
    text = text_format.MessageToString(
        value, as_one_line=numbers.random() < 0.3, pointy_brackets=numbers.random() < 0.1,
        use_index_order=numbers.random() < 0.5, descriptor_pool=pool, as_utf8=numbers.random() < 0.5)
    yield "text", text.encode()


for at in range(VALUES):
    subject = everything if at % 4 == 0 else numbers.choice(subjects)
    value = draw.message(subject, 4)
    for notation, data in written(value):
        put("value", notation, subject, data, value)

for at in range(EDITS):
    subject = everything if at % 2 == 0 else numbers.choice(subjects)
    value = draw.message(subject, 2)
    notation, data = numbers.choice([it for it in written(value) if it[0] != "yaml"])
    if notation == "binary":
        data = values.edited_bytes(numbers, data)
    else:
        data = values.edited(numbers, data.decode()).encode()
    put("edit", notation, subject, data, read(notation, subject, data))

for notation, data in hostile.all_cases():
    put("hostile", notation, everything, data, read(notation, everything, data))
cases.close()
print(importlib.import_module("google.protobuf").__version__)
