"""The provider of proto_library, which different versions of Bazel have in different places.

Up to Bazel 7 it is built in: there, this file can be `AbideProtoInfo = ProtoInfo` alone.
"""

load("@protobuf//bazel/common:proto_info.bzl", "ProtoInfo")

AbideProtoInfo = ProtoInfo
