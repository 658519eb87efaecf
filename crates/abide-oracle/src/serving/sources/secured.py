"""Clients over TLS, with a certificate and without one.

`secured.py GRPC HTTP CA CERT KEY`: ports, and files. Prints as JSON what each client got.
"""

import json
import ssl
import sys
import urllib.error
import urllib.request

import grpc
from envoy.service.discovery.v3 import ads_pb2_grpc, discovery_pb2

CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster"


def stream(port, **files):
    """How many resources a stream gets first."""
    texts = {name: open(file, "rb").read() for name, file in files.items()}
    channel = grpc.secure_channel(f"127.0.0.1:{port}", grpc.ssl_channel_credentials(**texts))
    stub = ads_pb2_grpc.AggregatedDiscoveryServiceStub(channel)
    request = discovery_pb2.DiscoveryRequest(type_url=CLUSTER, node={"id": "a"})
    try:
        return len(next(stub.StreamAggregatedResources(iter([request]), timeout=30)).resources)
    except grpc.RpcError:
        return "refused"


def poll(port, ca, certificate):
    """The status that a poll gets."""
    context = ssl.create_default_context(cafile=ca)
    if certificate:
        context.load_cert_chain(*certificate)
    request = urllib.request.Request(f"https://127.0.0.1:{port}/v3/discovery:clusters", b"{}")
    try:
        with urllib.request.urlopen(request, timeout=30, context=context) as answer:
            return answer.status
    except (OSError, urllib.error.URLError):
        return "refused"


def main(grpc_port, http_port, ca, cert, key):
    shown = {"certificate_chain": cert, "private_key": key}
    print(
        json.dumps(
            {
                "stream": stream(grpc_port, root_certificates=ca, **shown),
                "stream without": stream(grpc_port, root_certificates=ca),
                "poll": poll(http_port, ca, (cert, key)),
                "poll without": poll(http_port, ca, None),
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
