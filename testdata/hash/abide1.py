"""The semantic hash `abide1`, a second time.

Written from `crates/abide-hash/src/hash.md` alone. Reads a FileDescriptorSet that
has all imports and prints a JSON line for each file, message and package:

    python3 abide1.py SET.binpb
    python3 abide1.py --facts FULL_NAME SET.binpb
"""

import hashlib
import json
import re
import struct
import sys
from collections import defaultdict

from google.protobuf import descriptor_pb2 as pb

F = pb.FieldDescriptorProto
SCALARS = {
    F.TYPE_DOUBLE: "double", F.TYPE_FLOAT: "float", F.TYPE_INT64: "int64",
    F.TYPE_UINT64: "uint64", F.TYPE_INT32: "int32", F.TYPE_FIXED64: "fixed64",
    F.TYPE_FIXED32: "fixed32", F.TYPE_BOOL: "bool", F.TYPE_STRING: "string",
    F.TYPE_BYTES: "bytes", F.TYPE_UINT32: "uint32", F.TYPE_SFIXED32: "sfixed32",
    F.TYPE_SFIXED64: "sfixed64", F.TYPE_SINT32: "sint32", F.TYPE_SINT64: "sint64",
}
TEXTS = (F.TYPE_STRING, F.TYPE_BYTES)
MESSAGES = (F.TYPE_MESSAGE, F.TYPE_GROUP)

# ---------------------------------------------------------------- features

FEATURES = {  # name in FeatureSet -> the numbers that mean something
    "field_presence": {1: "EXPLICIT", 2: "IMPLICIT", 3: "LEGACY_REQUIRED"},
    "enum_type": {1: "OPEN", 2: "CLOSED"},
    "repeated_field_encoding": {1: "PACKED", 2: "EXPANDED"},
    "utf8_validation": {2: "VERIFY", 3: "NONE"},
    "message_encoding": {1: "LENGTH_PREFIXED", 2: "DELIMITED"},
    "json_format": {1: "ALLOW", 2: "LEGACY_BEST_EFFORT"},
    "default_symbol_visibility": {
        1: "EXPORT_ALL", 2: "EXPORT_TOP_LEVEL", 3: "LOCAL_ALL", 4: "STRICT"},
}
RESOLVED_ELSEWHERE = {*FEATURES, "enforce_naming_style", "enforce_proto_limits"}
DEFAULTS = {
    "field_presence": ("EXPLICIT", "IMPLICIT", "EXPLICIT", "EXPLICIT", "EXPLICIT"),
    "enum_type": ("CLOSED", "OPEN", "OPEN", "OPEN", "OPEN"),
    "repeated_field_encoding": ("EXPANDED", "PACKED", "PACKED", "PACKED", "PACKED"),
    "utf8_validation": ("NONE", "VERIFY", "VERIFY", "VERIFY", "VERIFY"),
    "message_encoding": ("LENGTH_PREFIXED",) * 5,
    "json_format": ("LEGACY_BEST_EFFORT", "ALLOW", "ALLOW", "ALLOW", "ALLOW"),
    "default_symbol_visibility": (
        "EXPORT_ALL", "EXPORT_ALL", "EXPORT_ALL", "EXPORT_TOP_LEVEL", "STRICT"),
}
LANGUAGE = {  # (extension, field) -> (whose facts they are, defaults)
    ("pb.cpp", "legacy_closed_enum"): ("enum field", (1, 0, 0, 0, 0)),
    ("pb.cpp", "string_type"): ("text field", (3, 3, 3, 1, 1)),
    ("pb.cpp", "enum_name_uses_string_view"): ("enum", (0, 0, 0, 1, 1)),
    ("pb.cpp", "repeated_type"): ("repeated field", (1, 1, 1, 1, 1)),
    ("pb.java", "legacy_closed_enum"): ("enum field", (1, 0, 0, 0, 0)),
    ("pb.java", "utf8_validation"): ("string field", (1, 1, 1, 1, 1)),
    ("pb.java", "large_enum"): ("enum", (0, 0, 0, 0, 0)),
    ("pb.java", "use_old_outer_classname_default"): ("file", (1, 1, 1, 0, 0)),
    ("pb.java", "nest_in_file_class"): ("outermost", (3, 3, 3, 1, 1)),
    ("pb.go", "legacy_unmarshal_json_enum"): ("enum", (1, 0, 0, 0, 0)),
    ("pb.go", "api_level"): ("message", (1, 1, 1, 3, 3)),
    ("pb.go", "strip_enum_prefix"): ("value", (1, 1, 1, 1, 1)),
    ("pb.go", "optimize_mode"): ("message", (0, 0, 0, 0, 0)),
}
FLAGS = {
    "legacy_closed_enum", "enum_name_uses_string_view", "large_enum",
    "use_old_outer_classname_default", "legacy_unmarshal_json_enum",
}
PROTO2, PROTO3, EDITION_2023, EDITION_2024, EDITION_2026 = range(5)


def edition(file):
    """The column of the tables that a file reads."""
    if file.syntax == "proto3" or file.edition == pb.EDITION_PROTO3:
        return PROTO3
    if file.syntax != "editions" or file.edition == pb.EDITION_PROTO2:
        return PROTO2
    if file.edition == pb.EDITION_2023:
        return EDITION_2023
    # The number of edition 2026, which older runtimes do not name.
    return EDITION_2026 if file.edition == 1002 else EDITION_2024


def java_class(file):
    """The class of Java that a file before edition 2024 has by itself."""
    base = file.name.split("/")[-1]
    for end in (".protodevel", ".proto"):
        if base.endswith(end):
            base = base[:-len(end)]
            break
    name, is_raised = "", True
    for index, letter in enumerate(base):
        if "a" <= letter <= "z":
            name += letter.upper() if is_raised else letter
            is_raised = False
        elif "A" <= letter <= "Z":
            name += letter.lower() if index == 0 and not is_raised else letter
            is_raised = False
        else:
            name += letter if "0" <= letter <= "9" else ""
            is_raised = True

    def names(message):
        yield message.name
        for inner in message.nested_type:
            yield from names(inner)
        yield from (it.name for it in message.enum_type)

    taken = {inner for it in file.message_type for inner in names(it)}
    taken |= {it.name for it in [*file.enum_type, *file.service]}
    return name + "OuterClass" if name in taken else name


# ---------------------------------------------------------------- exclusions

RELEASE = {
    *("udpa.annotations." + name for name in (
        "file_status", "versioning", "file_migrate", "message_migrate",
        "field_migrate", "enum_migrate", "enum_value_migrate")),
    *("xds.annotations.v3." + name for name in (
        "file_status", "message_status", "field_status", "versioning", "file_migrate",
        "message_migrate", "field_migrate", "enum_migrate", "enum_value_migrate")),
}
ELEMENT_POLICY = {
    "work_in_progress", "migration", "previous_type", "next_major_only", "lossy"}
POLICIES = {
    "abide.annotations.v1.file_policy": {
        "package_version_status", "work_in_progress", "introduced", "version", "hash",
        "move_to_package", "frozen", "by_hand"},
    **{"abide.annotations.v1." + name: ELEMENT_POLICY for name in (
        "message_policy", "field_policy", "oneof_policy", "enum_policy",
        "enum_value_policy", "service_policy", "method_policy")},
}

# ---------------------------------------------------------------- the tree


class Scope:
    """Features in force at a place."""

    def __init__(self, features, language, edition):
        self.features, self.language, self.edition = features, language, edition

    def inside(self, options):
        """What holds inside of an element with these options."""
        if self.edition in (PROTO2, PROTO3) or not options or "features" not in options.named:
            return self
        features, language = dict(self.features), dict(self.language)
        node = options.named["features"]
        for name, numbers in FEATURES.items():
            if name in node.named and node.named[name] in numbers:
                features[name] = numbers[node.named[name]]
        for extension, name in LANGUAGE:
            inner = node.named.get(f"({extension})")
            if inner is not None and name in inner.named:
                value = int(inner.named[name])
                if name in FLAGS or value != 0:
                    language[extension, name] = value
        return Scope(features, language, self.edition)


class Type:
    """A message or an enum of the tree."""

    def __init__(self, full, proto, file, scope, nested):
        self.full, self.proto, self.file, self.scope = full, proto, file, scope
        self.nested = nested  # is it declared inside of a message
        self.own = None
        self.refers = set()


class Node:
    """A decoded message: values by name, and what its definition lacks."""

    def __init__(self, definition):
        self.definition = definition
        self.named = {}
        self.unknown = b""


class Tree:
    def __init__(self, files):
        self.files = {file.name: file for file in files}
        self.types = {}
        self.extensions = defaultdict(dict)
        builtin = pb.FileDescriptorProto()
        pb.DESCRIPTOR.CopyToProto(builtin)
        known = list(self.files.values())
        if "google/protobuf/descriptor.proto" not in self.files:
            known.append(builtin)
        self.judged = set(self.files)
        # First what is declared where, then the features: they are read from
        # options, whose definitions are looked up.
        self.declared = {}
        for file in known:
            base = Scope(
                {name: row[edition(file)] for name, row in DEFAULTS.items()},
                {key: row[edition(file)] for key, (_, row) in LANGUAGE.items()},
                edition(file))
            for message in file.message_type:
                self.declare(file, file.package, message, base, False)
            for enum in file.enum_type:
                self.declared[dot(file.package, enum.name)] = (enum, file, base, False)
            for extension in file.extension:
                self.extend(file, file.package, extension, base)
        self.scopes = {}
        for file in known:
            base = Scope(
                {name: row[edition(file)] for name, row in DEFAULTS.items()},
                {key: row[edition(file)] for key, (_, row) in LANGUAGE.items()},
                edition(file))
            if file.options.java_string_check_utf8 and edition(file) <= PROTO3:
                base.language["pb.java", "utf8_validation"] = 2
            scope = base.inside(self.options("FileOptions", file.options))
            self.scopes[file.name] = scope
            for message in file.message_type:
                self.resolve(file, file.package, message, scope, False)
            for enum in file.enum_type:
                inner = scope.inside(self.options("EnumOptions", enum.options))
                self.types[dot(file.package, enum.name)] = Type(
                    dot(file.package, enum.name), enum, file, inner, False)

    def declare(self, file, prefix, message, scope, nested):
        full = dot(prefix, message.name)
        self.declared[full] = (message, file, scope, nested)
        for inner in message.nested_type:
            self.declare(file, full, inner, scope, True)
        for enum in message.enum_type:
            self.declared[dot(full, enum.name)] = (enum, file, scope, True)
        for extension in message.extension:
            self.extend(file, full, extension, scope)

    def extend(self, file, prefix, extension, scope):
        extendee = extension.extendee.lstrip(".")
        self.extensions[extendee][extension.number] = (dot(prefix, extension.name), extension, file)

    def resolve(self, file, prefix, message, scope, nested):
        full = dot(prefix, message.name)
        scope = scope.inside(self.options("MessageOptions", message.options))
        self.types[full] = Type(full, message, file, scope, nested)
        for inner in message.nested_type:
            self.resolve(file, full, inner, scope, True)
        for enum in message.enum_type:
            self.types[dot(full, enum.name)] = Type(
                dot(full, enum.name), enum, file,
                scope.inside(self.options("EnumOptions", enum.options)), True)

    # ------------------------------------------------------------ decoding

    def options(self, kind, options):
        data = options.SerializeToString(deterministic=True)
        return self.decode(f"google.protobuf.{kind}", data) if data else None

    def presence(self, field, file):
        """Presence of a field of an option's definition, roughly enough to
        tell implicit presence from the others."""
        if field.type in MESSAGES or field.HasField("oneof_index") or field.extendee:
            return "explicit"
        if field.proto3_optional:
            return "explicit"
        column = edition(file)
        value = DEFAULTS["field_presence"][column]
        if column >= EDITION_2023:
            for options in (file.options, field.options):
                number = options.features.field_presence
                value = FEATURES["field_presence"].get(number, value)
        return value.lower()

    def closed(self, full):
        enum, file, _, _ = self.declared[full]
        column = edition(file)
        value = DEFAULTS["enum_type"][column]
        if column >= EDITION_2023:
            for options in (file.options, enum.options):
                value = FEATURES["enum_type"].get(options.features.enum_type, value)
        return value == "CLOSED"

    def decode(self, full, data):
        message, file, _, _ = self.declared[full]
        fields = {field.number: (field.name, field, file) for field in message.field}
        for number, (name, field, where) in self.extensions[full].items():
            fields[number] = (f"({name})", field, where)
        node = Node(full)
        raw, order, unknown = {}, {}, []
        for number, wire, value, span in records(data):
            found = fields.get(number)
            values = found and self.scalars(found[1], wire, value)
            if not found or values is None:
                unknown.append(span)
                continue
            name, field, _ = found
            if field.HasField("oneof_index") and not field.extendee:
                for other in message.field:
                    if (other.HasField("oneof_index") and other.number != number
                            and other.oneof_index == field.oneof_index):
                        raw.pop(other.name, None)
            good = []
            for one in values:
                if field.type == F.TYPE_ENUM and self.is_strange(field, one):
                    unknown.append(span)
                else:
                    good.append(one)
            if good:
                raw.setdefault(name, (field, found[2], []))[2].extend(good)
        node.unknown = b"".join(unknown)
        for name, (field, where, values) in raw.items():
            node.named[name] = self.value(field, values)
            node.named.setdefault("", {})  # filled below: descriptors by name
            node.named[""][name] = (field, where)
        return node

    def is_strange(self, field, number):
        full = field.type_name.lstrip(".")
        if full not in self.declared or not self.closed(full):
            return False
        return all(value.number != number for value in self.declared[full][0].value)

    def is_map(self, field):
        if field.label != F.LABEL_REPEATED or field.type != F.TYPE_MESSAGE:
            return False
        found = self.declared.get(field.type_name.lstrip("."))
        return found is not None and found[0].options.map_entry

    def value(self, field, values):
        full = field.type_name.lstrip(".")
        if self.is_map(field):
            entries = {}
            key, value = sorted(self.declared[full][0].field, key=lambda it: it.number)
            for data in values:
                node = self.decode(full, data)
                entry_key = node.named.get("key", zero(key))
                if "value" in node.named:
                    entry_value = node.named["value"]
                elif value.type in MESSAGES:
                    entry_value = Node(value.type_name.lstrip("."))
                elif value.type == F.TYPE_ENUM:
                    entry_value = self.first(value)
                else:
                    entry_value = zero(value)
                entries[entry_key] = entry_value
            return entries
        if field.type in MESSAGES:
            if field.label == F.LABEL_REPEATED:
                return [self.decode(full, data) for data in values]
            # Merging messages is joining their bytes.
            return self.decode(full, b"".join(values))
        return list(values) if field.label == F.LABEL_REPEATED else values[-1]

    def scalars(self, field, wire, value):
        """The values of a record, or None where its wire type is wrong."""
        kind = field.type
        if kind in MESSAGES:
            return [value] if wire in (2, 3) else None
        if kind in TEXTS:
            return [value] if wire == 2 else None
        own = 5 if kind in (F.TYPE_FIXED32, F.TYPE_SFIXED32, F.TYPE_FLOAT) else \
            1 if kind in (F.TYPE_FIXED64, F.TYPE_SFIXED64, F.TYPE_DOUBLE) else 0
        if wire == own:
            return [number_of(kind, value)]
        if wire == 2 and field.label == F.LABEL_REPEATED:
            out, at = [], 0
            while at < len(value):
                if own == 0:
                    one, at = varint(value, at)
                else:
                    size = 4 if own == 5 else 8
                    one, at = value[at:at + size], at + size
                out.append(number_of(kind, one))
            return out
        return None

    def first(self, field):
        return self.declared[field.type_name.lstrip(".")][0].value[0].number

    # ------------------------------------------------------------ facts of options

    def option_facts(self, kind, options):
        node = self.options(kind, options)
        if node is None:
            return []
        facts = []
        for name, value in each(node):
            field, where = node.named[""][name]
            bare = name.strip("()")
            if self.is_source_only(field) or name in ("uninterpreted_option",):
                continue
            if (kind, name) in (("FieldOptions", "packed"), ("MessageOptions", "map_entry")):
                continue
            if (kind, name) == ("FieldOptions", "ctype") and value in (1, 2):
                continue
            if name.startswith("("):
                if bare in RELEASE:
                    continue
                if bare in POLICIES:
                    facts += self.leaves(name, field, value, False, POLICIES[bare], True)
                    continue
            elif name == "features":
                facts += self.feature_options(value)
                continue
            elif field.label != F.LABEL_REPEATED and field.type not in MESSAGES:
                if value == self.default_of(field):
                    continue
            facts += self.leaves(name, field, value, False)
        if node.unknown:
            facts.append("? = 0x" + node.unknown.hex())
        return [as_bytes(fact) for fact in facts]

    def feature_options(self, node):
        facts = []
        for name, value in each(node):
            field, _ = node.named[""][name]
            if name in RESOLVED_ELSEWHERE or self.is_source_only(field):
                continue
            extension = name.strip("()")
            known = {inner for outer, inner in LANGUAGE if outer == extension}
            if known:
                facts += self.leaves(f"features.{name}", field, value, False, known, True)
            else:
                facts += self.leaves(f"features.{name}", field, value, False)
        if node.unknown:
            facts.append("features.? = 0x" + node.unknown.hex())
        return facts

    def default_of(self, field):
        if not field.HasField("default_value"):
            return self.first(field) if field.type == F.TYPE_ENUM else zero(field)
        if field.type == F.TYPE_ENUM:
            values = self.declared[field.type_name.lstrip(".")][0].value
            return next(it.number for it in values if it.name == field.default_value)
        return parsed_default(field)

    def is_source_only(self, field):
        return field.options.retention == pb.FieldOptions.RETENTION_SOURCE

    def leaves(self, path, field, value, kept, without=(), silent=False):
        """Facts of a value at a path; `kept`: inside of a delimited field."""
        if self.is_map(field):
            inner_key, inner = sorted(
                self.declared[field.type_name.lstrip(".")][0].field, key=lambda it: it.number)
            facts = []
            for key, one in value.items():
                facts += self.leaf(
                    path + b"[".decode() + text(inner_key.type, key) + "]", inner, one, kept)
            return facts
        if field.label == F.LABEL_REPEATED:
            facts = []
            for index, one in enumerate(value):
                facts += self.leaf(f"{path}[{index}]", field, one, kept)
            return facts
        return self.leaf(path, field, value, kept, without, silent)

    def leaf(self, path, field, value, kept, without=(), silent=False):
        if field.type not in MESSAGES:
            return [f"{path} = {text(field.type, value)}"]
        kept = kept or self.is_delimited(field)
        facts = []
        for name, inner in each(value):
            inner_field, where = value.named[""][name]
            if name in without or not kept and self.is_source_only(inner_field):
                continue
            is_single = inner_field.label != F.LABEL_REPEATED and inner_field.type not in MESSAGES
            if is_single and self.presence(inner_field, where) == "implicit" and is_zero(inner):
                continue
            facts += self.leaves(f"{path}.{name}", inner_field, inner, kept)
        if value.unknown:
            facts.append(f"{path}.? = 0x{value.unknown.hex()}")
        return facts or ([] if silent else [path + " = {}"])

    def is_delimited(self, field):
        return field.type == F.TYPE_GROUP or \
            field.options.features.message_encoding == pb.FeatureSet.DELIMITED

    # ------------------------------------------------------------ facts of elements

    def type_of(self, field):
        if field.type in SCALARS:
            return SCALARS[field.type]
        full = field.type_name.lstrip(".")
        if full not in self.types:
            return f"unresolved {full}"
        return ("enum " if field.type == F.TYPE_ENUM else "message ") + full

    def field_facts(self, start, field, scope, message, oneofs, extendee=None):
        """Facts of a field or extension, and the type that it refers to."""
        options = self.options("FieldOptions", field.options)
        scope = scope.inside(options)
        features = dict(scope.features)
        if scope.edition in (PROTO2, PROTO3):
            if field.type == F.TYPE_GROUP:
                features["message_encoding"] = "DELIMITED"
            if field.options.HasField("packed"):
                features["repeated_field_encoding"] = \
                    "PACKED" if field.options.packed else "EXPANDED"
        if field.proto3_optional:
            features["field_presence"] = "EXPLICIT"
        if field.label == F.LABEL_REQUIRED:
            features["field_presence"] = "LEGACY_REQUIRED"
        is_map = self.is_map(field)
        oneof = oneofs.get(field.oneof_index) if field.HasField("oneof_index") else None
        parts = [field]
        if is_map:
            parts = sorted(self.declared[field.type_name.lstrip(".")][0].field,
                           key=lambda it: it.number)
        repeated = field.label == F.LABEL_REPEATED
        if is_map:
            cardinality = "map"
        elif repeated:
            cardinality = "repeated"
        elif features["field_presence"] == "LEGACY_REQUIRED":
            cardinality = "required"
        elif features["field_presence"] == "IMPLICIT" and not (
                field.type in MESSAGES or oneof is not None or extendee):
            cardinality = "implicit"
        else:
            cardinality = "explicit"
        name = field.json_name if field.HasField("json_name") else camel(field.name)
        line = [start]
        if extendee:
            line += [str(field.number), extendee]
        else:
            line.append(field.name)
        line += [cardinality] + [self.type_of(part) for part in parts]
        is_packable = field.type == F.TYPE_ENUM or \
            field.type in SCALARS and field.type not in TEXTS
        if repeated and features["repeated_field_encoding"] == "PACKED" and is_packable:
            line.append("packed")
        if field.type in MESSAGES and not is_map and features["message_encoding"] == "DELIMITED":
            line.append("delimited")
        if any(part.type == F.TYPE_STRING for part in parts) \
                and features["utf8_validation"] == "NONE":
            line.append("unverified")
        if not extendee and name != camel(field.name):
            line += ["json", quoted(name.encode(), False)]
        if oneof is not None:
            line.append(f"oneof {oneof}")
        if field.HasField("default_value"):
            default = self.default_of(field)
            start_value = self.first(field) if field.type == F.TYPE_ENUM else zero(field)
            written, nothing = text(field.type, default), text(field.type, start_value)
            if written != nothing:
                line.append(f"default {written}")
        facts = [as_bytes(" ".join(line))]
        head = start.encode()
        facts += [head + b" option " + fact
                  for fact in self.option_facts("FieldOptions", field.options)]
        kinds = set()
        if any(part.type == F.TYPE_ENUM for part in parts[-1:]):
            kinds.add("enum field")
        if any(part.type in TEXTS for part in parts):
            kinds.add("text field")
        if any(part.type == F.TYPE_STRING for part in parts):
            kinds.add("string field")
        if repeated:
            kinds.add("repeated field")
        language = dict(scope.language)
        own = options.named.get("features") if options else None
        cpp = own.named.get("(pb.cpp)") if own else None
        is_set = cpp is not None and cpp.named.get("string_type") and scope.edition > PROTO3
        if not is_set and field.options.ctype == pb.FieldOptions.CORD:
            language["pb.cpp", "string_type"] = 2
        facts += [head + b" feature " + fact for fact in language_facts(kinds, language)]
        refers = None
        if parts[-1].type_name:
            refers = parts[-1].type_name.lstrip(".")
        return facts, refers

    def extension_facts(self, field, prefix, scope, refers):
        extendee = field.extendee.lstrip(".")
        facts, target = self.field_facts(
            f"extension {dot(prefix, field.name)}", field, scope, None, {}, extendee)
        refers.add(extendee)
        refers.add(target)
        return facts

    def type_facts(self, kind):
        it = self.types[kind]
        if isinstance(it.proto, pb.EnumDescriptorProto):
            return b"abide1 enum own", self.enum_facts(it)
        return b"abide1 message own", self.message_facts(it)

    def shared_facts(self, it, word, options_kind, kinds):
        proto, scope = it.proto, it.scope
        facts = [f"{word} {it.full}".encode()]
        if self.is_local(it):
            facts.append(b"local")
        if scope.features["json_format"] == "LEGACY_BEST_EFFORT":
            facts.append(b"json legacy")
        facts += [b"option " + fact for fact in self.option_facts(options_kind, proto.options)]
        facts += [b"feature " + fact for fact in language_facts(kinds, scope.language)]
        facts += self.nesting(it.file, it.nested, scope)
        facts += [b"reserved " + as_bytes(quoted(name.encode(), False))
                  for name in proto.reserved_name]
        return facts

    def is_local(self, it):
        if it.proto.visibility != pb.VISIBILITY_UNSET:
            return it.proto.visibility == pb.VISIBILITY_LOCAL
        default = self.scopes[it.file.name].features["default_symbol_visibility"]
        return default in ("LOCAL_ALL", "STRICT") or default == "EXPORT_TOP_LEVEL" and it.nested

    def nesting(self, file, nested, scope):
        """The fact of `pb.java.nest_in_file_class`."""
        value = scope.language["pb.java", "nest_in_file_class"]
        if nested or scope.edition < EDITION_2024 or value != 2 or self.nests_all(file):
            return []
        return [b"feature pb.java.nest_in_file_class = 2"]

    def java_classes(self, file):
        """The classes of Java that may stand in that of the file: kinds of options, and options."""
        classes = [("MessageOptions", it.options) for it in file.message_type]
        classes += [("EnumOptions", it.options) for it in file.enum_type]
        if file.options.java_generic_services:
            classes += [("ServiceOptions", it.options) for it in file.service]
        return classes

    def nests_all(self, file):
        """Has Java no class outside of that of the file, against its edition?"""
        def is_nested(kind, options):
            scope = self.scopes[file.name].inside(self.options(kind, options))
            return scope.language["pb.java", "nest_in_file_class"] == 2
        classes = self.java_classes(file)
        if not classes:
            return True
        return edition(file) >= EDITION_2024 and all(is_nested(*it) for it in classes)

    def message_facts(self, it):
        proto, scope, full = it.proto, it.scope, it.full
        facts = self.shared_facts(it, "message", "MessageOptions", {"message"})
        synthetic = {f.oneof_index for f in proto.field if f.proto3_optional}
        oneofs = {index: oneof.name for index, oneof in enumerate(proto.oneof_decl)
                  if index not in synthetic}
        scopes = {index: scope.inside(self.options("OneofOptions", oneof.options))
                  for index, oneof in enumerate(proto.oneof_decl)}
        for field in proto.field:
            around = scope
            if field.HasField("oneof_index") and field.oneof_index in oneofs:
                around = scopes[field.oneof_index]
            found, target = self.field_facts(
                f"field {field.number}", field, around, proto, oneofs)
            facts += found
            it.refers.add(target)
        for index, name in oneofs.items():
            facts.append(f"oneof {name}".encode())
            facts += [f"oneof {name} option ".encode() + fact for fact in
                      self.option_facts("OneofOptions", proto.oneof_decl[index].options)]
        for extension in proto.extension:
            facts += self.extension_facts(extension, full, scope, it.refers)
        facts += [f"reserved {first} {last}".encode() for first, last in
                  normal((it.start, it.end - 1) for it in proto.reserved_range)]
        facts += [f"extensions {first} {last}".encode() for first, last in
                  normal((it.start, it.end - 1) for it in proto.extension_range)]
        by_option = defaultdict(list)
        for one in proto.extension_range:
            for fact in self.option_facts("ExtensionRangeOptions", one.options):
                by_option[fact].append((one.start, one.end - 1))
        for fact, ranges in by_option.items():
            facts += [f"extensions {first} {last} option ".encode() + fact
                      for first, last in normal(ranges)]
        for inner in proto.nested_type:
            if not inner.options.map_entry:
                facts.append(self.reference("message", dot(full, inner.name)))
                it.refers.add(dot(full, inner.name))
        for enum in proto.enum_type:
            facts.append(self.reference("enum", dot(full, enum.name)))
            it.refers.add(dot(full, enum.name))
        return facts

    def reference(self, word, full):
        return f"{word} {full} {self.own(full)}".encode()

    def enum_facts(self, it):
        facts = self.shared_facts(it, "enum", "EnumOptions", {"enum"})
        if it.scope.features["enum_type"] == "CLOSED":
            facts.append(b"closed")
        if it.proto.value:
            facts.append(f"first {it.proto.value[0].number}".encode())
        seen = defaultdict(int)
        for value in it.proto.value:
            start = f"value {value.name}"
            facts.append(f"{start} {value.number} {seen[value.number]}".encode())
            seen[value.number] += 1
            facts += [f"{start} option ".encode() + fact
                      for fact in self.option_facts("EnumValueOptions", value.options)]
            scope = it.scope.inside(self.options("EnumValueOptions", value.options))
            facts += [f"{start} feature ".encode() + fact
                      for fact in language_facts({"value"}, scope.language)]
        facts += [f"reserved {first} {last}".encode() for first, last in
                  normal((it.start, it.end) for it in it.proto.reserved_range)]
        return facts

    def service_facts(self, file, service):
        scope = self.scopes[file.name].inside(self.options("ServiceOptions", service.options))
        facts = [f"service {dot(file.package, service.name)}".encode()]
        for method in service.method:
            line = f"method {method.name} {method.input_type.lstrip('.')} " \
                   f"{method.output_type.lstrip('.')}"
            line += " client-streaming" if method.client_streaming else ""
            line += " server-streaming" if method.server_streaming else ""
            facts.append(line.encode())
            facts += [f"method {method.name} option ".encode() + fact
                      for fact in self.option_facts("MethodOptions", method.options)]
        facts += [b"option " + fact
                  for fact in self.option_facts("ServiceOptions", service.options)]
        return facts + self.nesting(file, False, scope)

    def own(self, full):
        it = self.types[full]
        if it.own is None:
            it.own = digest(*self.type_facts(full))
        return it.own

    def file_facts(self, file):
        """Facts of a file, and the types it refers to."""
        scope, package, refers = self.scopes[file.name], file.package, set()
        facts = [f"package {package}".encode()]
        for message in file.message_type:
            facts.append(self.reference("message", dot(package, message.name)))
            refers.add(dot(package, message.name))
        for enum in file.enum_type:
            facts.append(self.reference("enum", dot(package, enum.name)))
            refers.add(dot(package, enum.name))
        for service in file.service:
            own = digest(b"abide1 service own", self.service_facts(file, service))
            facts.append(f"service {dot(package, service.name)} {own}".encode())
            for method in service.method:
                refers |= {method.input_type.lstrip("."), method.output_type.lstrip(".")}
        for extension in file.extension:
            own = digest(b"abide1 extension own",
                         self.extension_facts(extension, package, scope, refers))
            facts.append(f"extension {dot(package, extension.name)} {own}".encode())
        for index in file.public_dependency:
            path = file.dependency[index]
            if path not in self.files or self.files[path].package != package:
                facts.append(f"import public {path}".encode())
        options = self.option_facts("FileOptions", file.options)
        if file.options.java_outer_classname == java_class(file):
            options = [it for it in options if not it.startswith(b"java_outer_classname = ")]
        if edition(file) <= PROTO3:
            options = [it for it in options if not it.startswith(b"java_string_check_utf8 = ")]
        if not self.java_classes(file):
            options = [it for it in options if not it.startswith(b"java_multiple_files = ")]
        if scope.edition >= EDITION_2024 and not self.nests_all(file):
            options.append(b"java_multiple_files = true")
        facts += [b"option " + fact for fact in whole(options)]
        kinds = set() if file.options.HasField("java_outer_classname") else {"file"}
        facts += [b"feature " + fact for fact in language_facts(kinds, scope.language)]
        return facts, refers

    # ------------------------------------------------------------ closure

    def counted(self, path, refers):
        """Without references that do not count."""
        for full in sorted(name for name in refers if name):
            it = self.types.get(full)
            if it is None or it.file.name not in self.files:
                continue
            into = it.file.name.startswith("google/protobuf/")
            if into and not path.startswith("google/protobuf/"):
                continue
            yield full

    def closures(self):
        names = [name for name, it in self.types.items() if it.file.name in self.files]
        names = [name for name in names if not is_entry(self.types[name].proto)]
        for name in names:
            self.own(name)
        edges = {name: [to for to in self.counted(self.types[name].file.name,
                                                  self.types[name].refers) if to != name]
                 for name in names}
        component_of, closures = {}, {}
        # Components come out of the algorithm after those that they refer to.
        for number, members in enumerate(components(names, edges)):
            for member in members:
                component_of[member] = number
            facts = [f"own {self.own(member)}".encode() for member in members]
            others = {component_of[to] for member in members for to in edges[member]} - {number}
            facts += [f"component {closures[other]}".encode() for other in others]
            closures[number] = digest(b"abide1 type closure", facts)
        return {name: closures[component_of[name]] for name in names}

    def report(self):
        """Every line, in the order of kinds and names."""
        types = self.closures()
        packages = defaultdict(lambda: ([], set()))
        lines = []
        for path, file in sorted(self.files.items()):
            facts, refers = self.file_facts(file)
            refers = set(self.counted(path, refers))
            own = digest(b"abide1 file own", facts)
            lines.append(("file", path, own, closure("file", own, refers, types)))
            packages[file.package][0].extend(facts)
            packages[file.package][1].update(refers)
        for name, it in self.types.items():
            if name in types and isinstance(it.proto, pb.DescriptorProto):
                lines.append(("message", name, self.own(name), types[name]))
        for name, (facts, refers) in packages.items():
            own = digest(b"abide1 package own", facts)
            lines.append(("package", name, own, closure("package", own, refers, types)))
        return sorted(lines)


# ---------------------------------------------------------------- pieces


def dot(prefix, name):
    return f"{prefix}.{name}" if prefix else name


def is_entry(proto):
    return isinstance(proto, pb.DescriptorProto) and proto.options.map_entry


def each(node):
    return [(name, value) for name, value in node.named.items() if name]


def whole(options):
    """The facts of options of a file: those of one option together."""
    together = defaultdict(set)
    for fact in options:
        together[re.match(rb"\([^)]*\)|[^.\[ ]*", fact).group()].add(fact)
    return [b"; ".join(sorted(facts)) for facts in together.values()]


def as_bytes(fact):
    return fact.encode("utf-8", "surrogateescape") if isinstance(fact, str) else fact


def written(title, facts):
    return b"".join(line + b"\n" for line in [title, *sorted(set(facts))])


def digest(title, facts):
    return hashlib.sha256(written(title, facts)).hexdigest()


def closure(kind, own, refers, types):
    facts = [f"own {own}".encode()]
    facts += [f"type {name} {types[name]}".encode() for name in refers]
    return digest(f"abide1 {kind} closure".encode(), facts)


def language_facts(kinds, language):
    for (extension, name), (kind, row) in LANGUAGE.items():
        value = language[extension, name]
        if kind in kinds and value != row[PROTO3]:
            shown = ("false", "true")[value] if name in FLAGS else str(value)
            yield f"{extension}.{name} = {shown}".encode()


def normal(ranges):
    """Maximal runs of a set of numbers given as ranges with both ends."""
    runs = []
    for first, last in sorted(it for it in ranges if it[0] <= it[1]):
        if runs and first <= runs[-1][1] + 1:
            runs[-1][1] = max(runs[-1][1], last)
        else:
            runs.append([first, last])
    return runs


def components(names, edges):
    """Tarjan's algorithm without recursion; callees first."""
    index, low, stack, on_stack = {}, {}, [], set()
    for root in names:
        if root in index:
            continue
        work = [(root, iter(edges[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            name, rest = work[-1]
            for to in rest:
                if to not in index:
                    index[to] = low[to] = len(index)
                    stack.append(to)
                    on_stack.add(to)
                    work.append((to, iter(edges[to])))
                    break
                if to in on_stack:
                    low[name] = min(low[name], index[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == index[name]:
                    at = stack.index(name)
                    members, stack[at:] = stack[at:], []
                    on_stack.difference_update(members)
                    yield members


def camel(name):
    out, raised = [], False
    for letter in name:
        if letter == "_":
            raised = True
            continue
        out.append(letter.upper() if raised and letter.isascii() else letter)
        raised = False
    return "".join(out)


def quoted(data, is_bytes):
    if not is_bytes:
        try:
            data.decode()
        except UnicodeDecodeError:
            is_bytes = True
    out = bytearray(b'"')
    for byte in data:
        if byte in b'"\\':
            out += b"\\" + bytes([byte])
        elif byte < 0x20 or is_bytes and byte >= 0x7F:
            out += b"\\x%02x" % byte
        else:
            out.append(byte)
    return (bytes(out) + b'"').decode("utf-8", "surrogateescape")


def text(kind, value):
    if kind == F.TYPE_BOOL:
        return "true" if value else "false"
    if kind == F.TYPE_FLOAT:
        return "0x7fc00000" if value != value else "0x" + struct.pack(">f", value).hex()
    if kind == F.TYPE_DOUBLE:
        return "0x7ff8000000000000" if value != value else "0x" + struct.pack(">d", value).hex()
    if kind in TEXTS:
        return quoted(value, kind == F.TYPE_BYTES)
    return str(value)


def zero(field):
    if field.type in TEXTS:
        return b""
    if field.type in (F.TYPE_FLOAT, F.TYPE_DOUBLE):
        return 0.0
    return False if field.type == F.TYPE_BOOL else 0


def is_zero(value):
    if isinstance(value, float):
        return struct.pack(">d", value) == bytes(8)
    return not value


def parsed_default(field):
    raw = field.default_value
    if field.type == F.TYPE_STRING:
        # The runtime gives bytes where the text is no UTF-8.
        return raw if isinstance(raw, bytes) else raw.encode()
    if field.type == F.TYPE_BYTES:
        return unescaped(raw)
    if field.type == F.TYPE_BOOL:
        return raw == "true"
    if field.type == F.TYPE_FLOAT:
        number = float(raw)
        try:
            return struct.unpack(">f", struct.pack(">f", number))[0]
        except OverflowError:
            return float("inf") if number > 0 else float("-inf")
    if field.type == F.TYPE_DOUBLE:
        return float(raw)
    return int(raw)


def unescaped(raw):
    simple = {"n": 10, "r": 13, "t": 9, "a": 7, "b": 8, "f": 12, "v": 11,
              '"': 34, "'": 39, "\\": 92, "?": 63}
    out, at = bytearray(), 0
    while at < len(raw):
        letter = raw[at]
        at += 1
        if letter != "\\":
            out += letter.encode()
            continue
        letter = raw[at]
        at += 1
        if letter in simple:
            out.append(simple[letter])
        elif letter in "xX":
            end = at
            while end < len(raw) and end < at + 2 and raw[end] in "0123456789abcdefABCDEF":
                end += 1
            out.append(int(raw[at:end], 16))
            at = end
        else:
            end = at
            while end < len(raw) and end < at + 2 and raw[end] in "01234567":
                end += 1
            out.append(int(raw[at - 1:end], 8) & 0xFF)
            at = end
    return bytes(out)


def varint(data, at):
    shift = value = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value & (2 ** 64 - 1), at


def records(data):
    """(number, wire type, value, bytes) of each record; of a group its inside."""
    at = 0
    while at < len(data):
        begin = at
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        value, at = payload(data, at, number, wire)
        yield number, wire, value, data[begin:at]


def payload(data, at, number, wire):
    if wire == 0:
        return varint(data, at)
    if wire == 1:
        return data[at:at + 8], at + 8
    if wire == 5:
        return data[at:at + 4], at + 4
    if wire == 2:
        size, at = varint(data, at)
        return data[at:at + size], at + size
    begin = at
    while True:
        end = at
        tag, at = varint(data, at)
        if tag & 7 == 4:
            return data[begin:end], at
        _, at = payload(data, at, tag >> 3, tag & 7)


def number_of(kind, value):
    formats = {
        F.TYPE_FLOAT: "<f", F.TYPE_DOUBLE: "<d", F.TYPE_FIXED32: "<I", F.TYPE_FIXED64: "<Q",
        F.TYPE_SFIXED32: "<i", F.TYPE_SFIXED64: "<q",
    }
    if kind in formats:
        return struct.unpack(formats[kind], value)[0]
    if kind == F.TYPE_BOOL:
        return value != 0
    if kind in (F.TYPE_SINT32, F.TYPE_SINT64):
        return (value >> 1) ^ -(value & 1)
    if kind == F.TYPE_INT64:
        return value - 2 ** 64 if value >= 2 ** 63 else value
    if kind in (F.TYPE_INT32, F.TYPE_ENUM):
        value &= 2 ** 32 - 1
        return value - 2 ** 32 if value >= 2 ** 31 else value
    return value & (2 ** 32 - 1) if kind == F.TYPE_UINT32 else value


def main():
    arguments = sys.argv[1:]
    wanted = None
    if arguments[:1] == ["--facts"]:
        wanted, arguments = arguments[1], arguments[2:]
    with open(arguments[0], "rb") as file:
        descriptors = pb.FileDescriptorSet.FromString(file.read())
    tree = Tree(descriptors.file)
    out = sys.stdout.buffer
    if wanted is not None:
        if wanted in tree.files:
            out.write(written(b"abide1 file own", tree.file_facts(tree.files[wanted])[0]))
        else:
            out.write(written(*tree.type_facts(wanted)))
        return
    for kind, name, own, closure_hash in tree.report():
        line = {"kind": kind, "name": name, "own": f"abide1:sha256:{own}",
                "closure": f"abide1:sha256:{closure_hash}"}
        out.write(json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode() + b"\n")


if __name__ == "__main__":
    sys.setrecursionlimit(20_000)
    main()
