"""How this workspace checks its protos."""

load("@abide//:abide.bzl", "abide_aspect")

abide = abide_aspect(
    abide = "//tools:protoc-gen-abide",
    against = "//tools:released.binpb",
    preset = "standard",
    protoc = "@protobuf//:protoc",
)
