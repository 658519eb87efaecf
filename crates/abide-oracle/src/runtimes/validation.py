"""Judges values with the libraries that the annotations belong to.

Arguments: a FileDescriptorSet, and a file of cases, one a line: the library,
the message type, the value in hexadecimal. Prints one line for each case:
`yes`, `no`, or `error` and the reason why the library has no verdict.
"""

import importlib
import inspect
import sys
import warnings

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

for name in ("any", "api", "duration", "empty", "field_mask", "struct", "timestamp", "wrappers"):
    importlib.import_module(f"google.protobuf.{name}_pb2")

# The package calls deprecated functions.
warnings.simplefilter("ignore", FutureWarning)

import protovalidate
from protoc_gen_validate import validator

# protoc-gen-validate reads the label, which new descriptors do not have.
source = inspect.getsource(validator.rule_type).replace("field.label == 3", "field.is_repeated")
exec(source.replace("is_map(field)", "field.message_type.GetOptions().map_entry"), vars(validator))

pool = descriptor_pool.Default()
with open(sys.argv[1], "rb") as file:
    files = descriptor_pb2.FileDescriptorSet.FromString(file.read()).file
for file in files:
    if not file.name.startswith("google/protobuf/"):
        pool.AddSerializedFile(file.SerializeToString())
message_factory.GetMessageClassesForFiles([file.name for file in files], pool)


def judged(library, value):
    try:
        if library == "buf":
            protovalidate.validate(value)
        else:
            validator.validate(value)
        return "yes"
    except (protovalidate.ValidationError, validator.ValidationFailed):
        return "no"
    except Exception as error:
        return "error " + " ".join(str(error).split())[:200]


with open(sys.argv[2]) as cases:
    for line in cases:
        library, name, value = line.rstrip("\n").split(" ")
        type = message_factory.GetMessageClass(pool.FindMessageTypeByName(name))
        print(judged(library, type.FromString(bytes.fromhex(value))))
