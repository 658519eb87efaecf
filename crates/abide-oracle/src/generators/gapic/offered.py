"""Prints what clients of gapic-generator-python offer to their callers.

Arguments: the path of a proto, and FileDescriptorSets that hold it with its
imports. Prints a JSON object for each set: the symbols of its clients, each with
its facts, or `null` if the generator refuses the set.
"""

import ast
import json
import sys

import pypandoc
from google.protobuf import descriptor_pb2
from google.protobuf.compiler import plugin_pb2

# Documentation is not compared, and pandoc is a program of its own.
pypandoc.convert_text = lambda text, *_, **__: text

from gapic import generator  # noqa: E402
from gapic.schema import api  # noqa: E402
from gapic.utils import Options  # noqa: E402
from gapic.utils.cache import generation_cache_context  # noqa: E402

TEMPLATES = ("/%service/client.py.j2", "/%service/pagers.py.j2", "/transports/base.py.j2")


def generated(path, proto):
    """The generated modules, by their paths."""
    files = descriptor_pb2.FileDescriptorSet.FromString(open(path, "rb").read()).file
    package = next(file.package for file in files if file.name == proto)
    options = Options.build("autogen-snippets=false")
    with generation_cache_context():
        schema = api.API.build(files, opts=options, package=package)
        clients = generator.Generator(options)
        # Everything else, such as tests and documents, takes most of the time.
        loader = clients._env.loader
        templates = [it for it in loader.list_templates() if it.endswith(TEMPLATES)]
        loader.list_templates = lambda: templates
        response = clients.get_response(schema, options)
    return {file.name: ast.parse(file.content) for file in response.file if file.name.endswith(".py")}


def named(body, kind):
    return {node.name: node for node in body if isinstance(node, kind)}


def constants(body):
    """The constants of a class, each as a list of values."""
    found = {}
    for node in body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and isinstance(node.value, (ast.Constant, ast.Tuple)):
            value = ast.literal_eval(node.value)
            values = value if isinstance(value, tuple) else [value]
            found[target.id] = [str(it) for it in values if it is not None]
    return found


def parameters(method):
    """What a call sets: each keyword with its type, and the field of the request that it is."""
    of_all_calls = {"retry", "timeout", "metadata"}
    found = []
    for argument in method.args.kwonlyargs:
        if argument.arg in of_all_calls:
            continue
        sets = [
            ast.unparse(node.targets[0])
            for node in ast.walk(method)
            if isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == argument.arg
        ]
        found.append(f"{argument.arg} sets {' '.join(sets)}")
    return found


def type_name(node):
    """A type without its module, whose alias depends on other names."""
    return ast.unparse(node).split(".")[-1]


def results(method, pagers):
    """What a call returns, and what the operation or the pages hold."""
    returns = type_name(method.returns)
    found = [f"returns {returns}"]
    for node in ast.walk(method):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".from_gapic"):
            held = node.args[2:] + [keyword.value for keyword in node.keywords]
            found = ["operation of " + ", ".join(map(type_name, held))]
    pager = pagers.get(returns)
    if pager:
        items = named(pager.body, ast.FunctionDef)["__iter__"]
        yields = [ast.unparse(it.value) for it in ast.walk(items) if isinstance(it, ast.YieldFrom)]
        found.append(f"pages of {yields}")
    return found


def offered(modules):
    """The symbols of all clients."""
    found = {}
    for path, module in modules.items():
        folder, _, name = path.rpartition("/")
        if name == "base.py" and folder.endswith("/transports"):
            for transport in named(module.body, ast.ClassDef).values():
                found[f"{transport.name}.AUTH_SCOPES"] = constants(transport.body)["AUTH_SCOPES"]
        if name != "client.py" or "/services/" not in path:
            continue
        pagers = modules.get(f"{folder}/pagers.py")
        pagers = named(pagers.body, ast.ClassDef) if pagers else {}
        for client in named(module.body, ast.ClassDef).values():
            if not client.name.endswith("Client"):
                continue
            found[f"{client.name}.DEFAULT_ENDPOINT"] = constants(client.body)["DEFAULT_ENDPOINT"]
            for method in named(client.body, ast.FunctionDef).values():
                arguments = [it.arg for it in method.args.args]
                symbol = f"{client.name}.{method.name}"
                if method.name.endswith("_path") and "self" not in arguments:
                    if not method.name.startswith(("parse_", "common_")):
                        format = ast.unparse(method.body[-1].value)
                        found[symbol] = [f"{arguments} formats {format}"]
                elif arguments[1:] in (["request"], ["requests"]):
                    found[symbol] = parameters(method) + results(method, pagers)
    return {symbol: facts for symbol, facts in sorted(found.items()) if facts}


proto, *sets = sys.argv[1:]
for path in sets:
    try:
        print(json.dumps(offered(generated(path, proto))))
    except (KeyError, TypeError, ValueError):
        print("null")
