"""Carries values across pairs of schemas with the Python runtime of protobuf.

Reads a pair per line (JSON). Prints a line per failure, and at the end a line with
counts. All it knows about Abide are its claims: on which surfaces and in which
directions a pair is broken, and which values show it.
"""

import base64
import ctypes
import json
import math
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from google.protobuf import text_format

MESSAGE = 11
GROUP = 10
ENUM = 14
DOUBLE = 1
FLOAT = 2


class Side:
    """One schema of a pair. It keeps its classes: the runtime drops unreferenced ones."""

    def __init__(self, blob):
        self.pool = descriptor_pool.DescriptorPool()
        self.classes = {}
        files = descriptor_pb2.FileDescriptorSet.FromString(base64.b64decode(blob))
        waiting, known = list(files.file), set()
        while waiting:
            # An imported file is added before those that import it.
            file = next(it for it in waiting if known.issuperset(it.dependency))
            waiting.remove(file)
            known.add(file.name)
            self.pool.Add(file)

    def new(self, name):
        if name not in self.classes:
            descriptor = self.pool.FindMessageTypeByName(name)
            self.classes[name] = message_factory.GetMessageClass(descriptor)
        return self.classes[name]()


NAMELESS = frozenset()


class Shape:
    """The properties of a field, cached because the descriptors of the runtime
    are slow."""

    def __init__(self, field):
        self.name = field.name
        self.keys = {"wire": field.number, "json": field.json_name, "text": field.name}
        self.extension = field if field.is_extension else None
        if field.is_extension:
            # Nothing else has this name, so none of its parts is a name of it.
            self.name = f"[{field.full_name}]"
            self.keys = {"wire": field.number, "json": self.name, "text": self.name}
        self.type = field.type
        self.message = field.type in (MESSAGE, GROUP)
        self.map = (
            field.is_repeated
            and field.type == MESSAGE
            and field.message_type.GetOptions().map_entry
        )
        self.repeated = field.is_repeated
        self.presence = field.has_presence
        self.numbers = None
        if field.type == ENUM:
            self.numbers = {v.name: v.number for v in field.enum_type.values}
            self.names = {}
            for name, number in self.numbers.items():
                self.names[number] = self.names.get(number, NAMELESS) | {name}
        if self.map:
            inner = field.message_type.fields_by_name
            self.entry = Shape(inner["key"]), Shape(inner["value"])


# The fields of each message type, for the schemas of one pair.
SHAPES = {}


def shapes(message):
    descriptor = message.DESCRIPTOR
    known = SHAPES.get(descriptor)
    if known is None:
        extensions = descriptor.file.pool.FindAllExtensions(descriptor)
        fields = list(descriptor.fields) + sorted(extensions, key=lambda it: it.number)
        known = SHAPES[descriptor] = [Shape(field) for field in fields]
    return known


def value_of(message, shape):
    if shape.extension is not None:
        return message.Extensions[shape.extension]
    return getattr(message, shape.name)


def has(message, shape):
    if shape.extension is not None:
        return message.HasExtension(shape.extension)
    return message.HasField(shape.name)


def scalar(value, shape, surface):
    if shape.message:
        return ("message", plain(value, surface), value)
    if shape.numbers is not None:
        return ("enum", value, shape.names.get(value, NAMELESS), shape.numbers)
    if isinstance(value, str):
        return ("bytes", value.encode())
    if isinstance(value, bytes):
        return ("bytes", value)
    return ("number", value, shape.type)


def plain(message, surface):
    """The fields of a message by their key on a surface: their kind (one, list or
    map), their values, their name, and whether they are set."""
    found = {}
    for shape in shapes(message):
        value = value_of(message, shape)
        if shape.map:
            kind, (key, item) = "map", shape.entry
            rows = [(scalar(k, key, surface), scalar(value[k], item, surface)) for k in value]
            rows.sort(key=repr)
            is_set = bool(rows)
        elif shape.repeated:
            kind, rows = "list", [scalar(v, shape, surface) for v in value]
            is_set = bool(rows)
        elif shape.message:
            kind, is_set = "one", has(message, shape)
            rows = [scalar(value, shape, surface)] if is_set else []
        else:
            kind, rows = "one", [scalar(value, shape, surface)]
            is_set = has(message, shape) if shape.presence else not zero(rows[0])
        found[shape.keys[surface]] = (kind, rows, shape.name, is_set)
    return found


def zero(value):
    return value[0] in ("number", "enum") and value[1] == 0 or value == ("bytes", b"")


def same_scalar(a, b, strict):
    kinds = (a[0], b[0])
    if kinds == ("number", "number"):
        if (a[2], b[2]) == (FLOAT, DOUBLE):
            # The decimal form of a float identifies that float: a reader with more
            # precision gets the same value, and only the digits after it differ.
            b = ("number", ctypes.c_float(b[1]).value, FLOAT)
        both = isinstance(a[1], float) and isinstance(b[1], float)
        return a[1] == b[1] or both and math.isnan(a[1]) and math.isnan(b[1])
    if kinds == ("enum", "enum"):
        return same_enum(a, b, strict)
    if kinds == ("message", "message"):
        return same(a[1], b[1], strict)
    if set(kinds) == {"message", "bytes"}:
        message, data = (a[2], b[1]) if kinds[0] == "message" else (b[2], a[1])
        try:
            return type(message).FromString(data) == message
        except Exception:
            return False
    if set(kinds) == {"number", "enum"}:
        return a[1] == b[1]
    return a[0] == b[0] and a[1] == b[1]


def same_enum(a, b, strict):
    """Values are the same if they share a name. A name that only one side has was
    renamed, and a number that only one side has keeps its meaning."""
    if a[2] & b[2]:
        return True
    if a[1] != b[1] or strict and a[2]:
        return False
    if not a[2]:
        # The writer has no name for it, so it meant the number.
        return True
    moved = [name for name in a[2] if b[3].get(name, a[1]) != a[1]]
    moved += [name for name in b[2] if a[3].get(name, b[1]) != b[1]]
    return not moved


def same_part(a, b, strict):
    if "map" in (a[0], b[0]):
        left, right = entries(a), entries(b)
        return len(left) == len(right) and all(
            same_scalar(p[0], q[0], strict) and same_scalar(p[1], q[1], strict)
            for p, q in zip(left, right)
        )
    left, right = a[1], b[1]
    if strict and a[3] != b[3] and {row[0] for row in left + right} == {"message", "bytes"}:
        # An empty message is a value, no text is none.
        return False
    lists = (a[0], b[0]) == ("list", "list")
    enums = all(row[0] == "enum" for row in left + right) and len(left) == len(right) == 1
    if not lists and not enums and not strict and is_nothing(left) and is_nothing(right):
        # Between a single value and a list, and between a message and bytes, a zero
        # may be read as no value. The zero of an enum may have another name.
        return True
    return len(left) == len(right) and all(
        same_scalar(p, q, strict) for p, q in zip(left, right)
    )


def is_nothing(rows):
    return not rows or len(rows) == 1 and zero(rows[0])


def entries(part):
    """Pairs of key and value. A list of messages with two fields counts as a map too."""
    if part[0] == "map":
        return part[1]
    rows = []
    for row in part[1]:
        if row[0] != "message":
            return [(row, row)]
        fields = list(row[1].values())
        if len(fields) < 2 or not fields[0][1] or not fields[1][1]:
            return [(row, row)]
        rows.append((fields[0][1][0], fields[1][1][0]))
    return sorted(rows, key=repr)


def same(wrote, read, strict=False):
    """Whether the value that was read means the same as the written one. A field that the
    reader does not have is skipped, unless `strict`."""
    taken = set()
    for name, part in wrote.items():
        # Readers of JSON also accept the name of the field.
        found = name if name in read else next((k for k, p in read.items() if p[2] == name), None)
        if found is None:
            if strict and not is_nothing(part[1]):
                return False
            continue
        taken.add(found)
        if not same_part(part, read[found], strict):
            return False
    # A field that the writer does not have differs only if it is set: its default
    # is not data, whatever it is.
    return not any(part[3] for name, part in read.items() if name not in taken)


def write(message, surface):
    if surface == "wire":
        return message.SerializeToString(deterministic=True)
    if surface == "json":
        return json_format.MessageToJson(message).encode()
    return text_format.MessageToString(message, as_utf8=True).encode()


def read(message, surface, data):
    if surface == "wire":
        message.ParseFromString(data)
    elif surface == "json":
        json_format.Parse(data.decode(), message)
    else:
        text_format.Parse(data.decode(), message)
    missing = message.FindInitializationErrors()
    if missing:
        raise ValueError("missing " + ", ".join(missing))
    return message


def carry(writer, reader, surface, data, value=None):
    """The error, or None."""
    try:
        back = value if value is not None else read(writer, surface, data)
    except Exception as error:  # whatever a runtime raises
        return None if value is not None else "unreadable:" + str(error)
    try:
        there = read(reader, surface, data)
    except Exception as error:
        return "refused: " + str(error)
    try:
        # A witness may depend on names: a field or an enum value whose number
        # changed is matched by its name.
        witness = value is None
        names = [surface, "text"] if witness else [surface]
        if not all(same(plain(back, name), plain(there, name), witness) for name in names):
            return "differs"
    except UnicodeDecodeError:
        return "differs: no UTF-8"
    return None


def misbehaves(writers, wrote, readers, reads, surface, data):
    """None if the witness breaks, otherwise the reason why it shows nothing."""
    writer, reader = writers.new(wrote), readers.new(reads)
    wrong = carry(writer, reader, surface, data)
    if wrong and wrong.startswith("unreadable"):
        return wrong
    if not wrong and write(writer, surface) == write(reader, surface):
        if same(plain(writer, "wire"), plain(reader, "wire"), True):
            return "nothing goes wrong"
        return "the same by name, another field by number"
    return None


def main():
    counts = {"pairs": 0, "values": 0, "crossings": 0, "witnesses": 0, "failures": 0}
    counts["unreadable"] = 0

    def fail(pair, **facts):
        counts["failures"] += 1
        print(json.dumps({"pair": pair["id"], **facts}), flush=True)

    for line in sys.stdin:
        pair = json.loads(line)
        counts["pairs"] += 1
        SHAPES.clear()
        schemas = {"old": Side(pair["old"]), "new": Side(pair["new"])}
        broken = {tuple(it) for it in pair["broken"]}
        for direction, wrote, reads, blob, surfaces in pair["values"]:
            sides = ("old", "new") if direction == "backward" else ("new", "old")
            data = base64.b64decode(blob)
            value = schemas[sides[0]].new(wrote)
            try:
                value.ParseFromString(data)
            except Exception as error:
                fail(pair, what="the writer's own value", error=str(error), value=blob)
                continue
            counts["values"] += 1
            for surface in surfaces:
                if (surface, direction) in broken:
                    continue
                counts["crossings"] += 1
                sent = data if surface == "wire" else write(value, surface)
                wrong = carry(None, schemas[sides[1]].new(reads), surface, sent, value)
                if wrong and "utf-8" in wrong:
                    # Strings in Python are always UTF-8, even if a feature allows other bytes.
                    counts["unreadable"] += 1
                elif wrong:
                    fail(pair, what="compatible", surface=surface, direction=direction,
                         type=wrote, error=wrong, value=str(value))
        for rule, surface, direction, wrote, reads, blob in pair["witnesses"]:
            sides = ("old", "new") if direction == "backward" else ("new", "old")
            counts["witnesses"] += 1
            data = base64.b64decode(blob)
            fault = misbehaves(schemas[sides[0]], wrote, schemas[sides[1]], reads, surface, data)
            if fault and fault.startswith("unreadable") and "utf-8" in fault:
                # Strings in Python are always UTF-8, even if a feature allows other bytes.
                counts["unreadable"] += 1
            elif fault:
                fail(pair, what="witness", rule=rule, surface=surface, direction=direction,
                     error=fault, value=repr(data))
    print(json.dumps({"counts": counts}), flush=True)


if __name__ == "__main__":
    main()
