# Servers of reflection in Python, one for each descriptor set: `python3 server.py SET…`. Prints their
# ports, one a line, and ends with its standard input.
import concurrent.futures
import sys

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool
from grpc_reflection.v1alpha import reflection

servers = []
for path in sys.argv[1:]:
    files = descriptor_pb2.FileDescriptorSet()
    with open(path, 'rb') as file:
        files.ParseFromString(file.read())
    pool = descriptor_pool.DescriptorPool()
    names = [reflection.SERVICE_NAME]
    for file in files.file:
        pool.AddSerializedFile(file.SerializeToString())
        names += [f'{file.package}.{service.name}' for service in file.service]
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=1))
    reflection.enable_server_reflection(names, server, pool=pool)
    print(server.add_insecure_port('127.0.0.1:0'))
    server.start()
    servers.append(server)
sys.stdout.flush()
sys.stdin.read()
