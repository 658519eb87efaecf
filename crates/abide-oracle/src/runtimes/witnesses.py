"""Replays the witnesses of findings with libraries that know nothing of Abide.

Reads a pair per line (JSON): the paths of both descriptor sets and the witnesses.
Prints a line for each witness: null if it shows the claimed break, otherwise the
reason why not. Bytes, JSON and text go through the runtime of protobuf. Values for
validation go to the libraries that the annotations belong to, in a process for
each side because both sides use the same type names.
"""

import base64
import json
import os
import runpy
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "soundness"))

import protovalidate  # noqa: F401, imported once for all processes
import reader
from protoc_gen_validate import validator  # noqa: F401, the same

LIBRARIES = ("pgv", "buf")


def verdicts(path, cases):
    """The verdict of each library on each (type, value), or why it has none."""
    with tempfile.TemporaryDirectory() as folder:
        questions, answers = os.path.join(folder, "cases"), os.path.join(folder, "verdicts")
        with open(questions, "w") as file:
            for name, data in cases:
                for library in LIBRARIES:
                    file.write(f"{library} {name} {data.hex()}\n")
        child = os.fork()
        if child == 0:
            code = 1
            try:
                with open(answers, "w") as sys.stdout:
                    sys.argv = ["validation.py", path, questions]
                    runpy.run_path(os.path.join(here, "validation.py"))
                code = 0
            finally:
                os._exit(code)
        if os.waitpid(child, 0)[1]:
            raise SystemExit(f"no verdicts on `{path}`")
        with open(answers) as file:
            lines = file.read().splitlines()
        step = len(LIBRARIES)
        return [lines[at : at + step] for at in range(0, len(lines), step)]


def sides(direction):
    return ("old", "new") if direction == "backward" else ("new", "old")


def rejected(pair, witnesses):
    """For each witness None if the writer's side accepts it and the reader's rejects it."""
    asked = {"old": [], "new": []}
    for _, direction, wrote, reads, data in witnesses:
        for side, name in zip(sides(direction), (wrote, reads)):
            asked[side].append((name, data))
    answers = {side: iter(verdicts(pair[side], asked[side])) for side in asked}
    for _, direction, *_ in witnesses:
        wrote, read = (next(answers[side]) for side in sides(direction))
        # Each library only sees its own annotations: one of them must show the difference.
        if ("yes", "no") in zip(wrote, read) and "no" not in wrote:
            yield None
        else:
            yield f"the writing side says {wrote}, the reading side {read}"


for line in sys.stdin:
    pair = json.loads(line)
    witnesses = [(*it[:4], base64.b64decode(it[4])) for it in pair["witnesses"]]
    pools = {}
    for side in ("old", "new"):
        with open(pair[side], "rb") as file:
            pools[side] = reader.Side(base64.b64encode(file.read()))
    validated = [it for it in witnesses if it[0] == "validation"]
    validated = rejected(pair, validated) if validated else None
    for witness in witnesses:
        surface, direction, wrote, reads, data = witness
        if surface == "validation":
            fault = next(validated)
        else:
            writers, readers = (pools[side] for side in sides(direction))
            fault = reader.misbehaves(writers, wrote, readers, reads, surface, data)
        print(json.dumps(fault), flush=True)
