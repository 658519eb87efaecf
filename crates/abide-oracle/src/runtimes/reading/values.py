"""Draws values of messages, and edits of texts, from seeded numbers."""

import struct

from google.protobuf import any_pb2, message_factory
from google.protobuf.descriptor import FieldDescriptor as F

WORDS = ["", "a", "true", "1", "null", "é", "\U0001f600", "with space", 'quo"te', "back\\slash",
         "line\nend", "tab\there", "\x00", "#", "//", "{}", "yes", "0x10", "1e3", "~", "<&>", "'"]
INTEGERS = {
    32: [0, 1, -1, 7, 2**31 - 1, -(2**31)],
    64: [0, 1, -1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)],
}
DOUBLES = [0.0, -0.0, 1.5, -2.25, 1e-308, 5e-324, 1.7976931348623157e308, 0.1, 1e21, 123456789.0,
           float("inf"), float("-inf"), float("nan")]
FLOATS = [0.0, -0.0, 1.5, 0.1, 3.4028234663852886e38, 1e-45, float("inf"), float("nan")]
SIGNED = {F.TYPE_INT32: 32, F.TYPE_SINT32: 32, F.TYPE_SFIXED32: 32,
          F.TYPE_INT64: 64, F.TYPE_SINT64: 64, F.TYPE_SFIXED64: 64}
UNSIGNED = {F.TYPE_UINT32: 32, F.TYPE_FIXED32: 32, F.TYPE_UINT64: 64, F.TYPE_FIXED64: 64}


class Draw:
    def __init__(self, random, packable):
        self.random = random
        # What an Any may hold.
        self.packable = packable

    def scalar(self, field):
        random = self.random
        kind = field.type
        if kind in SIGNED:
            bits = SIGNED[kind]
            return random.choice(INTEGERS[bits] + [random.randrange(-(2 ** (bits - 1)), 2 ** (bits - 1))])
        if kind in UNSIGNED:
            bits = UNSIGNED[kind]
            return random.choice([0, 1, 2 ** (bits - 1), 2**bits - 1, random.randrange(2**bits)])
        if kind == F.TYPE_DOUBLE:
            return random.choice(DOUBLES + [random.uniform(-1e6, 1e6)])
        if kind == F.TYPE_FLOAT:
            value = random.choice(FLOATS + [random.uniform(-1e6, 1e6)])
            return struct.unpack("f", struct.pack("f", value))[0]
        if kind == F.TYPE_BOOL:
            return random.random() < 0.5
        if kind == F.TYPE_STRING:
            return random.choice(WORDS)
        if kind == F.TYPE_BYTES:
            return random.randbytes(random.randrange(6))
        values = [value.number for value in field.enum_type.values]
        if not field.enum_type.is_closed and field.enum_type.name != "NullValue":
            values.append(1234567)
        return random.choice(values)

    def message(self, descriptor, depth):
        value = message_factory.GetMessageClass(descriptor)()
        self.fill(value, depth)
        return value

    def fill(self, value, depth):
        random = self.random
        name = value.DESCRIPTOR.full_name
        known = getattr(self, "fill_" + name.replace("google.protobuf.", ""), None)
        if name.startswith("google.protobuf.") and known:
            known(value, depth)
            return
        fields = [field for field in value.DESCRIPTOR.fields
                  if depth > 0 or field.message_type is None or field.is_required]
        # The pool gives them in another order in each process.
        extensions = sorted(value.DESCRIPTOR.file.pool.FindAllExtensions(value.DESCRIPTOR), key=lambda it: it.number)
        fields += [field for field in extensions if depth > 0 or field.message_type is None]
        count = random.randrange(1, 7)
        chosen = [field for field in fields if field.is_required or random.random() * len(fields) < count]
        for field in chosen:
            self.set(value, field, depth)

    def set(self, value, field, depth):
        random = self.random
        is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
        if is_map:
            key, item = field.message_type.fields_by_number[1], field.message_type.fields_by_number[2]
            entries = getattr(value, field.name)
            for _ in range(random.randrange(1, 4)):
                if item.message_type is not None:
                    self.fill(entries[self.scalar(key)], depth - 1)
                else:
                    entries[self.scalar(key)] = self.scalar(item)
            return
        if field.is_extension:
            target = value.Extensions[field] if field.is_repeated or field.message_type else None
        else:
            target = getattr(value, field.name) if field.is_repeated or field.message_type else None
        if field.is_repeated:
            for _ in range(random.randrange(1, 4)):
                if field.message_type is not None:
                    self.fill(target.add(), depth - 1)
                else:
                    target.append(self.scalar(field))
        elif field.message_type is not None:
            target.SetInParent()
            self.fill(target, depth - 1)
        elif field.is_extension:
            value.Extensions[field] = self.scalar(field)
        else:
            setattr(value, field.name, self.scalar(field))

    def fill_Any(self, value, depth):
        if depth <= 0:
            return
        inner = self.message(self.random.choice(self.packable), depth - 1)
        value.Pack(inner, deterministic=True)

    def fill_Duration(self, value, depth):
        sign = self.random.choice([1, -1])
        value.seconds = sign * self.random.choice([0, 1, 59, 315576000000 - 1])
        value.nanos = sign * self.random.choice([0, 1, 500000000, 999999999, 1000, 1000000])

    def fill_Timestamp(self, value, depth):
        value.seconds = self.random.choice([0, 1, -1, -62135596800, 253402300799, 951782400])
        value.nanos = self.random.choice([0, 1, 500000000, 999999999, 1000, 1000000])

    def fill_FieldMask(self, value, depth):
        value.paths.extend(self.random.choice(["a", "a.b", "foo_bar", "a_b.c_d"])
                           for _ in range(self.random.randrange(3)))

    def fill_Value(self, value, depth):
        kinds = ["null", "number", "text", "bool"] + (["struct", "list"] if depth > 0 else [])
        kind = self.random.choice(kinds)
        if kind == "null":
            value.null_value = 0
        elif kind == "number":
            value.number_value = self.random.choice([0.0, 1.0, -1.5, 1e20, 2.0**53])
        elif kind == "text":
            value.string_value = self.random.choice(WORDS)
        elif kind == "bool":
            value.bool_value = True
        elif kind == "struct":
            value.struct_value.SetInParent()
            self.fill_Struct(value.struct_value, depth - 1)
        else:
            value.list_value.SetInParent()
            self.fill_ListValue(value.list_value, depth - 1)

    def fill_Struct(self, value, depth):
        for _ in range(self.random.randrange(3)):
            self.fill_Value(value.fields[self.random.choice(WORDS)], depth - 1)

    def fill_ListValue(self, value, depth):
        for _ in range(self.random.randrange(3)):
            self.fill_Value(value.values.add(), depth - 1)


TOKENS = ["{", "}", "[", "]", ":", ",", '"', "'", "null", "true", "1", "-", ".", "e5", "\\", "\n",
          " ", "0", "NaN", "inf", "#", "//", "<", ">", ";", "\\u0041", "\\x", "x"]


def edited(random, text):
    """The text with one or two small edits."""
    for _ in range(random.randrange(1, 3)):
        at = random.randrange(len(text) + 1)
        kind = random.randrange(4)
        if kind == 0:
            text = text[:at] + text[at + random.randrange(1, 4):]
        elif kind == 1:
            text = text[:at] + random.choice(TOKENS) + text[at:]
        elif kind == 2:
            end = min(len(text), at + random.randrange(1, 20))
            text = text[:end] + text[at:end] + text[end:]
        else:
            text = text[:at] + random.choice(TOKENS) + text[at + 1:]
    return text


def edited_bytes(random, data):
    data = bytearray(data)
    for _ in range(random.randrange(1, 3)):
        at = random.randrange(len(data) + 1)
        kind = random.randrange(3)
        if kind == 0:
            del data[at:at + random.randrange(1, 4)]
        elif kind == 1:
            data[at:at] = random.randbytes(random.randrange(1, 3))
        elif at < len(data):
            data[at] ^= 1 << random.randrange(8)
    return bytes(data)
