"""A backend, a client of `xds:///shop`, and the API that both majors of it stand on.

`backend NAME PORT`, `client SECONDS`, and `api FILE`, which writes the frozen second major
and the third one of the package xds-protos as a descriptor set.
"""

import sys
import time


def backend(name, port):
    from concurrent import futures

    import grpc

    class Everything(grpc.GenericRpcHandler):
        def service(self, details):
            return grpc.unary_unary_rpc_method_handler(lambda request, context: name.encode())

    server = grpc.server(futures.ThreadPoolExecutor(8), handlers=[Everything()])
    server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    server.wait_for_termination()


def client(seconds):
    import grpc

    call = grpc.insecure_channel("xds:///shop").unary_unary("/acme.Shop/Buy")
    answers = [call(b"", timeout=60, wait_for_ready=True).decode()]
    print("ready", flush=True)
    end = time.time() + float(seconds)
    while time.time() < end:
        try:
            answers.append(call(b"", timeout=10).decode())
        except grpc.RpcError as error:
            answers.append(f"failed: {error.details()}")
        time.sleep(0.002)
    failed = [answer for answer in answers if answer.startswith("failed")]
    print(f"{answers[0]} {answers[-1]} {len(answers) - len(failed)} {len(failed)} {failed[:1]}")


def api(path):
    import importlib
    import pkgutil

    import envoy
    from google.protobuf import descriptor_pb2

    files = {}

    def add(file):
        if file.name not in files:
            for dependency in file.dependencies:
                add(dependency)
            files[file.name] = file.serialized_pb

    for module in pkgutil.walk_packages(envoy.__path__, "envoy."):
        if module.name.endswith("_pb2"):
            add(importlib.import_module(module.name).DESCRIPTOR)
    found = descriptor_pb2.FileDescriptorSet()
    for content in files.values():
        found.file.add().MergeFromString(content)
    with open(path, "wb") as out:
        out.write(found.SerializeToString())


if __name__ == "__main__":
    {"backend": backend, "client": client, "api": api}[sys.argv[1]](*sys.argv[2:])
