"""Writes the API that a native program carries as a set of file descriptors.

Arguments: the program, the file to write. A serialised FileDescriptorProto begins
with its name and ends where no field of that message follows.
"""

import mmap
import re
import sys

from google.protobuf import descriptor_pb2

MESSAGES = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12}
NUMBERS = {10, 11, 14}
BEGIN = re.compile(rb"\x0a([\x01-\x7f])([A-Za-z0-9_/.\-]+?\.proto)(?=[\x12\x1a\x22\x2a\x32\x3a\x42\x62])")


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
        if shift > 63:
            raise ValueError("a number without end")


def end_of(data, start, limit):
    at = start
    while at < limit:
        try:
            key, after = varint(data, at)
            field, kind = key >> 3, key & 7
            if field == 1 and at != start:
                return at
            if field in MESSAGES and kind == 2:
                length, after = varint(data, after)
                if length == 0 and field != 8 or after + length > limit:
                    return at
                at = after + length
            elif field in NUMBERS and kind == 0:
                _, at = varint(data, after)
            else:
                return at
        except (ValueError, IndexError):
            return at
    return at


def main(program, written):
    with open(program, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        found = {}
        for begin in BEGIN.finditer(data):
            if begin.group(1)[0] != len(begin.group(2)):
                continue
            start = begin.start()
            text = data[start : end_of(data, start, min(len(data), start + (4 << 20)))]
            try:
                proto = descriptor_pb2.FileDescriptorProto.FromString(text)
            except Exception:  # It only looked like one.
                continue
            is_any = proto.package or proto.message_type or proto.dependency
            if is_any and len(found.get(proto.name, b"")) < len(text):
                found[proto.name] = text
    files = descriptor_pb2.FileDescriptorSet()
    for name in sorted(found):
        files.file.add().MergeFromString(found[name])
    with open(written, "wb") as file:
        file.write(files.SerializeToString())


main(*sys.argv[1:])
