"""Checks every proto_library with Abide, each as an action of its own.

An action reads the sources of its target and of what that imports, the old tree and abide.toml, and
nothing else: it can run in a sandbox or remotely, and its result can be cached.
"""

load(":proto_info.bzl", "AbideProtoInfo")

def _abide_impl(target, ctx):
    if AbideProtoInfo not in target or not target[AbideProtoInfo].direct_sources:
        return []
    proto = target[AbideProtoInfo]
    report = ctx.actions.declare_file(ctx.label.name + ".abide.json")
    options = ["report=" + report.basename] + ctx.attr._options
    files = []
    for key in ["against", "config"]:
        file = getattr(ctx.file, "_" + key, None)
        if file:
            options.append(key + "=" + file.path)
            files.append(file)

    args = ctx.actions.args()
    args.add("--plugin=protoc-gen-abide=" + ctx.executable._abide.path)
    args.add("--abide_out=" + report.dirname)
    args.add("--abide_opt=" + ",".join(options))
    args.add_all(proto.transitive_proto_path, before_each = "-I")
    args.add_all(proto.direct_sources)
    ctx.actions.run(
        executable = ctx.executable._protoc,
        arguments = [args],
        inputs = depset(files, transitive = [proto.transitive_sources]),
        tools = [ctx.executable._abide],
        outputs = [report],
        mnemonic = "Abide",
        progress_message = "Checking %s with Abide" % ctx.label,
    )
    return [OutputGroupInfo(abide = depset([report]))]

def _program(label):
    return attr.label(default = label, executable = True, cfg = "exec", allow_files = True)

def abide_aspect(abide, protoc, against = None, config = None, preset = None, as_of = None):
    """Makes the aspect, to be assigned to a global name of a .bzl file.

    `bazel build --aspects=//FILE.bzl%NAME --output_groups=abide //...` runs it, and fails for what
    Abide finds. Each target has a report, `TARGET.abide.json`.

    Args:
      abide: the label of protoc-gen-abide, or of an abide that is linked to this name.
      protoc: the label of protoc.
      against: the label of the old tree, a descriptor set. Without it nothing is compared.
      config: the label of an abide.toml.
      preset: a preset, instead of the one that abide.toml names.
      as_of: the day of the check (YYYY-MM-DD). Without it that is the day on which the action runs,
        which a cached result does not know.

    Returns:
      The aspect.
    """
    options = []
    if preset:
        options.append("preset=" + preset)
    if as_of:
        options.append("as_of=" + as_of)
    attrs = {
        "_abide": _program(abide),
        "_options": attr.string_list(default = options),
        "_protoc": _program(protoc),
    }
    if against:
        attrs["_against"] = attr.label(default = against, allow_single_file = True)
    if config:
        attrs["_config"] = attr.label(default = config, allow_single_file = True)
    return aspect(implementation = _abide_impl, attrs = attrs)
