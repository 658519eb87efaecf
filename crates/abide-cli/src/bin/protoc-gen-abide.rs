//! `protoc-gen-abide`: Abide as a plugin of protoc.

fn main() -> std::process::ExitCode {
    abide_cli::launch("protoc")
}
