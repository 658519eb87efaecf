"""Clients that move from one server to another, which read the same etcd.

`moved.py GRPC GRPC HTTP HTTP ETCD KEY`: ports of the servers and of etcd, and a key with a cluster.
Prints what the second server sent: as JSON, a number of resources for each kind of client.
"""

import json
import queue
import subprocess
import sys
import time
import urllib.error
import urllib.request

import grpc
from envoy.service.discovery.v3 import ads_pb2_grpc, discovery_pb2

CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster"
QUIET = 1.5


class Delta:
    """An incremental stream of clusters."""

    def __init__(self, port, held):
        self.requests = queue.Queue()
        channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        stub = ads_pb2_grpc.AggregatedDiscoveryServiceStub(channel)
        self.send(initial_resource_versions=held, node={"id": "moves", "cluster": "fleet"})
        self.answers = stub.DeltaAggregatedResources(iter(self.requests.get, None), timeout=60)
        self.received = queue.Queue()
        import threading

        threading.Thread(target=self.receive, daemon=True).start()

    def send(self, **fields):
        self.requests.put(discovery_pb2.DeltaDiscoveryRequest(type_url=CLUSTER, **fields))

    def receive(self):
        try:
            for answer in self.answers:
                self.received.put(answer)
        except grpc.RpcError:
            pass

    def resources(self, until, wait):
        """The resources that come until there are so many, or for so long."""
        found = {}
        end = time.time() + wait
        while len(found) < until and time.time() < end:
            try:
                answer = self.received.get(timeout=max(0.01, end - time.time()))
            except queue.Empty:
                break
            self.send(response_nonce=answer.nonce)
            found.update((it.name, it.version) for it in answer.resources)
            found.update((name, "removed") for name in answer.removed_resources)
        return found

    def close(self):
        self.requests.put(None)
        self.answers.cancel()


def poll(port, version):
    """The status of a poll by a client that has this version, and the version that it got."""
    body = json.dumps({"node": {"id": "polls"}, "version_info": version}).encode()
    url = f"http://127.0.0.1:{port}/v3/discovery:clusters"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body), timeout=30) as answer:
            return answer.status, json.load(answer)["versionInfo"]
    except urllib.error.HTTPError as error:
        return error.code, version


def main(first, second, first_http, second_http, etcd, key):
    one = Delta(first, {})
    held = one.resources(2, 30)
    one.close()
    other = Delta(second, held)
    again = other.resources(100, QUIET)
    text = f'"@type": {CLUSTER}\nname: moved\nconnect_timeout: 9s\n'
    put = ["etcdctl", "--endpoints", f"127.0.0.1:{etcd}", "put", key]
    subprocess.run(put, input=text.encode(), check=True, stdout=subprocess.DEVNULL)
    changed = other.resources(1, 30)
    more = other.resources(100, QUIET)
    other.close()
    _, version = poll(first_http, "")
    status, _ = poll(second_http, version)
    print(
        json.dumps(
            {
                "held": len(held),
                "again": len(again),
                "changed": sorted(changed),
                "more": len(more),
                "poll": status,
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
