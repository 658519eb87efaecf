//! Runs the example workspace with the real Bazel, where one is installed: the 4.2.3 of Debian
//! (`apt-get install bazel-bootstrap`) does.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use abide_harness::Result;
use abide_harness::corpora;
use abide_harness::programs::{output, stdout, workspace};

/// The files of the example, and those of the aspect, which lie beside them here: without a network
/// there is no registry of modules.
const FILES: &[(&str, &str)] = &[
    ("example/api/BUILD.bazel", "api/BUILD.bazel"),
    ("example/api/acme/type/v1/address.proto", ADDRESS),
    ("example/api/acme/user/v1/user.proto", "api/acme/user/v1/user.proto"),
    ("example/tools/BUILD.bazel", "tools/BUILD.bazel"),
    ("example/tools/abide.bzl", "tools/abide.bzl"),
    ("example/tools/released.binpb", "tools/released.binpb"),
    ("abide.bzl", "abide.bzl"),
    ("BUILD.bazel", "BUILD.bazel"),
];

const ADDRESS: &str = "api/acme/type/v1/address.proto";

/// Builds the example, breaks a target and builds it again; true if only that one fails.
pub(super) fn run(abide: &Path) -> Result<bool> {
    let Ok(version) = stdout(Command::new("bazel").arg("--version")) else {
        println!("SKIPPED: plugins: no Bazel (`apt-get install bazel-bootstrap`)");
        return Ok(true);
    };
    let folder = corpora::make_fresh_folder("plugins-bazel")?;
    let from = workspace()?.join("crates/abide-cli/bazel");
    for (here, there) in FILES {
        corpora::write(&folder.join(there), &fs::read(from.join(here))?)?;
    }
    // What Bazel has built in until version 7.
    let edit = |file: &str, edits: &[(&str, &str)]| -> Result<()> {
        let mut text = fs::read_to_string(folder.join(file))?;
        for (old, new) in edits {
            if !text.contains(old) {
                return Err(format!("{file} has no `{old}`").into());
            }
            text = text.replace(old, new);
        }
        Ok(fs::write(folder.join(file), text)?)
    };
    let load = "load(\"@protobuf//bazel:proto_library.bzl\", \"proto_library\")\n";
    edit("api/BUILD.bazel", &[(load, "")])?;
    edit("tools/abide.bzl", &[("@abide//", "//"), ("@protobuf//:protoc", "//tools:protoc")])?;
    edit("tools/BUILD.bazel", &[("[", "[\n    \"protoc\",")])?;
    fs::write(folder.join("proto_info.bzl"), "AbideProtoInfo = ProtoInfo\n")?;
    fs::write(folder.join("WORKSPACE"), "")?;
    fs::copy(abide, folder.join("tools/protoc-gen-abide"))?;
    let python = stdout(Command::new("python3").args(["-c", "import sys; print(sys.executable)"]))?;
    let protoc = folder.join("tools/protoc");
    fs::write(&protoc, format!("#!/bin/sh\nexec {} -m grpc_tools.protoc \"$@\"\n", python.trim()))?;
    fs::set_permissions(&protoc, fs::Permissions::from_mode(0o755))?;

    let bazel = Bazel { folder };
    let clean = bazel.build()?;
    let mut agreed = clean.status.success();
    for target in ["type", "user"] {
        let report = bazel.folder.join(format!("bazel-bin/api/{target}.abide.json"));
        agreed &= fs::read_to_string(report)?.contains("\"errors\":0");
    }
    edit_in(&bazel.folder.join(ADDRESS), "  string city = 2;\n")?;
    let broken = bazel.build()?;
    let said = String::from_utf8_lossy(&broken.stderr);
    agreed &= !broken.status.success();
    agreed &= said.contains("acme/type/v1/address.proto:6:1: field `Address.city` was removed");
    agreed &= said.matches("[field-removed]").count() == 1;
    if !agreed {
        println!("{}{said}", String::from_utf8_lossy(&clean.stderr));
    }
    let verdict = if agreed { "as expected" } else { "DIFFERENT" };
    println!("plugins: {}: {verdict}", version.trim());
    Ok(agreed)
}

fn edit_in(file: &Path, without: &str) -> Result<()> {
    let text = fs::read_to_string(file)?;
    Ok(fs::write(file, text.replace(without, ""))?)
}

struct Bazel {
    folder: PathBuf,
}

impl Bazel {
    fn build(&self) -> Result<Output> {
        let mut bazel = Command::new("bazel");
        // Without a server, which would stay.
        bazel.arg("--batch").arg(format!("--output_user_root={}", self.cache()?.display()));
        bazel.args(["build", "--keep_going", "--proto_compiler=//tools:protoc"]);
        bazel.args(["--aspects=//tools:abide.bzl%abide", "--output_groups=abide", "//api:all"]);
        output(bazel.current_dir(&self.folder))
    }

    fn cache(&self) -> Result<PathBuf> {
        Ok(corpora::stage()?.join("bazel-cache"))
    }
}
